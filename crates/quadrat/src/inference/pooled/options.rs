//! How the mode is searched, and how many draws are made.

/// How the mode is searched.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PooledOptions {
    /// Stop when the next step would be shorter than this, in posterior standard deviations.
    pub tolerance: f64,
    /// Steps at most.
    pub steps: usize,
    /// Draws that meet what the rows report, of which [`condition_pooled`](super::condition_pooled)
    /// makes a [`Lift`](super::Lift).
    pub draws: Draws,
}

/// Draws that meet what the rows report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Draws {
    /// How many; there are none where this is zero.
    pub count: usize,
    /// Whether the factor of the nodes' covariance is kept, which predictions else make anew.
    pub keeps_factor: bool,
    /// Which stream of random numbers they have: that of a setting of the hyperparameters among
    /// others is its own, so that errors of sampling average out over settings.
    pub stream: u64,
}

impl Draws {
    /// So many, with the factor kept.
    #[must_use]
    pub fn kept(count: usize) -> Self {
        Self {
            count,
            keeps_factor: true,
            stream: 0,
        }
    }

    /// The same from a stream of random numbers.
    #[must_use]
    pub fn of_stream(self, stream: usize) -> Self {
        Self {
            stream: stream as u64,
            ..self
        }
    }
}

impl Default for PooledOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            steps: 200,
            draws: Draws::default(),
        }
    }
}
