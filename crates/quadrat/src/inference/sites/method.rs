//! The ways of approximating a likelihood by a Gaussian.

/// How sites are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Curvature at the mode: the fastest.
    Laplace,
    /// Expectation propagation: the most accurate where likelihoods are log-concave.
    Ep,
    /// Variational: a lower bound of the evidence, for any likelihood.
    Variational,
}

impl Method {
    /// Its name in study files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Ep => "ep",
            Self::Variational => "variational",
        }
    }

    /// What its evidence is called.
    #[must_use]
    pub fn evidence(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Ep => "ep",
            Self::Variational => "elbo",
        }
    }
}
