//! Kinds of noise by their names, for tables that others released.

use super::{DiscreteGaussian, PrivacyError, discrete_gaussian::SIGMA_SQUARED};

/// A kind of noise, of which a release tells the scale.
///
/// # Examples
/// ```
/// use quadrat::privacy::Family;
/// // A line of the frame that OpenDP's `summarize` gives.
/// assert_eq!(Family::of_opendp("Integer Laplace"), Some(Family::Geometric));
/// assert!((Family::Geometric.variance(10.0)? - 199.833).abs() < 1e-3);
/// # Ok::<(), quadrat::privacy::PrivacyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Family {
    /// Laplace noise of scale `b`: variance `2 b^2`.
    Laplace,
    /// Two-sided geometric noise, `P(k)` proportional to `exp(-|k| / b)`: variance `2 a / (1 -
    /// a)^2` with `a = exp(-1 / b)`. Also called discrete Laplace.
    Geometric,
    /// Normal noise of standard deviation `sigma`.
    Gaussian,
    /// Discrete Gaussian noise, `P(k)` proportional to `exp(-k^2 / (2 sigma^2))`.
    DiscreteGaussian,
}

impl Family {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::Laplace,
        Self::Geometric,
        Self::Gaussian,
        Self::DiscreteGaussian,
    ];

    /// The word for it: `laplace`, `geometric`, `gaussian`, `discrete_gaussian`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Geometric => "geometric",
            Self::Gaussian => "gaussian",
            Self::DiscreteGaussian => "discrete_gaussian",
        }
    }

    /// What OpenDP's `summarize` calls it, in the column `distribution`.
    #[must_use]
    pub const fn opendp(self) -> &'static str {
        match self {
            Self::Laplace => "Float Laplace",
            Self::Geometric => "Integer Laplace",
            Self::Gaussian => "Float Gaussian",
            Self::DiscreteGaussian => "Integer Gaussian",
        }
    }

    /// The kind of a word, see [`Self::name`].
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == word)
    }

    /// The kind of a distribution of OpenDP, see [`Self::opendp`].
    #[must_use]
    pub fn of_opendp(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.opendp() == word)
    }

    /// Variance of the noise of a scale: what inference takes as known.
    ///
    /// # Arguments
    /// * `scale` - `b` of Laplace and geometric noise, `sigma` of both Gaussians, in the unit of
    ///   the counts
    /// # Errors
    /// [`PrivacyError::Scale`] unless the scale is positive and finite, and so is the variance.
    pub fn variance(self, scale: f64) -> Result<f64, PrivacyError> {
        let refused = |requirement| {
            Err(PrivacyError::Scale {
                value: scale,
                requirement,
            })
        };
        if !(scale > 0.0 && scale.is_finite()) {
            return refused("a finite number above zero");
        }
        let squared = scale * scale;
        let variance = match self {
            Self::Laplace => 2.0 * squared,
            Self::Gaussian => squared,
            Self::Geometric => {
                let (alpha, beta) = (libm::exp(-1.0 / scale), -libm::expm1(-1.0 / scale));
                2.0 * alpha / (beta * beta)
            }
            // Beyond, it is that of the normal distribution to the last digit.
            Self::DiscreteGaussian if squared > SIGMA_SQUARED.1 => squared,
            Self::DiscreteGaussian if squared < SIGMA_SQUARED.0 => {
                return refused("0.125 or more for discrete Gaussian noise: below, there is none");
            }
            Self::DiscreteGaussian => DiscreteGaussian::variance_of(scale),
        };
        if variance.is_normal() {
            Ok(variance)
        } else {
            refused("such that the variance is neither zero nor infinite")
        }
    }
}
