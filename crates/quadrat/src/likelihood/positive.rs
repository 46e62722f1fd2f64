//! Latent values known to exceed a margin.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::check;
use super::distribution::{Distribution, Ranks};
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::window::Window;
use crate::error::InputError;

/// `f >= margin` on every row, up to a small error, `p = Phi((f - margin) / sd)`.
///
/// The smaller the sd, the harder the constraint. No hyperparameters of its own.
///
/// # Source
/// Riihimaki & Vehtari 2010, AISTATS, eq. 2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Positive {
    rows: usize,
    margin: f64,
    sd: f64,
}

impl Positive {
    /// # Arguments
    /// * `margin`, `sd` - in the unit of the latent values
    /// # Errors
    /// [`InputError::Range`] for a margin that is not finite or an sd that is not positive.
    pub fn new(rows: usize, margin: f64, sd: f64) -> Result<Self, InputError> {
        let made = Self { rows, margin, sd };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::new`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        check::finite("the margin", &[self.margin])?;
        check::range(
            "the sd of the sign",
            &[self.sd],
            "a finite number above zero, small beside the latent values",
            |_, x| x > 0.0 && x.is_finite(),
        )
    }

    /// The margin.
    #[must_use]
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// How soft the constraint is.
    #[must_use]
    pub fn sd(&self) -> f64 {
        self.sd
    }

    fn window(&self) -> Window {
        Window {
            lower: self.margin,
            upper: f64::INFINITY,
            variance: self.sd * self.sd,
        }
    }
}

impl Local for Positive {
    fn rows(&self) -> usize {
        self.rows
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn guess(&self, _own: &[f64], _row: usize) -> f64 {
        self.window().guess()
    }

    fn log_density(&self, _own: &[f64], _row: usize, f: f64) -> Jet {
        self.window().jet(f)
    }

    fn tilted(&self, _own: &[f64], _row: usize, cavity: Belief) -> Tilted {
        self.window().tilted(cavity)
    }

    fn expected(&self, _own: &[f64], _row: usize, belief: Belief) -> Expected {
        self.window().expected(belief)
    }

    /// Rank 1 below the margin, 2 above it.
    fn observation(&self, _own: &[f64], _circumstances: &Circumstances, f: f64) -> Distribution {
        Distribution::Ranks(Ranks {
            thresholds: Arc::new([self.margin]),
            location: f,
            sd: self.sd,
        })
    }
}
