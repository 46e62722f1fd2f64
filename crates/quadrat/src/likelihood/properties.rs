//! What sets likelihoods apart: the sort of their noise, their dispersion, their sigmoid.

use super::{Dispersion, Gaussian, Likelihood, LogSd, Noise, Sigmoid};

impl Likelihood {
    /// Values of the function and noise, where the noise is normal and no link lies between: rows
    /// that condition exactly.
    #[must_use]
    pub fn as_gaussian(&self) -> Option<&Gaussian> {
        match self {
            Self::Gaussian(gaussian) => gaussian.is_linear().then_some(gaussian),
            Self::Laplace(_)
            | Self::StudentT(_)
            | Self::Interval(_)
            | Self::Censored(_)
            | Self::Truncated(_)
            | Self::Ordinal(_)
            | Self::Positive(_)
            | Self::Bernoulli(_)
            | Self::Binomial(_)
            | Self::Poisson(_)
            | Self::NegativeBinomial(_)
            | Self::Exponential(_)
            | Self::Gamma(_)
            | Self::LogNormal(_) => None,
        }
    }

    /// Whether a new observation, before any interval or limit of the instrument, is its mean plus
    /// normal noise of the variance [`Likelihood::noise`].
    #[must_use]
    pub fn has_normal_noise(&self) -> bool {
        match self {
            Self::Gaussian(_) | Self::Interval(_) | Self::Censored(_) | Self::Truncated(_) => true,
            Self::Laplace(_)
            | Self::StudentT(_)
            | Self::Ordinal(_)
            | Self::Positive(_)
            | Self::Bernoulli(_)
            | Self::Binomial(_)
            | Self::Poisson(_)
            | Self::NegativeBinomial(_)
            | Self::Exponential(_)
            | Self::Gamma(_)
            | Self::LogNormal(_) => false,
        }
    }

    /// Whether noise of a variance is added behind a link, so that values may be negative though
    /// their means are not.
    #[must_use]
    pub fn has_noise_behind_link(&self) -> bool {
        self.link().is_some() && self.noise().is_some()
    }

    /// Whether `log p(y | f)` has a kink in `f`, where it has no curvature.
    #[must_use]
    pub fn has_kink(&self) -> bool {
        match self {
            Self::Laplace(_) => true,
            Self::Gaussian(_)
            | Self::StudentT(_)
            | Self::Interval(_)
            | Self::Censored(_)
            | Self::Truncated(_)
            | Self::Ordinal(_)
            | Self::Positive(_)
            | Self::Bernoulli(_)
            | Self::Binomial(_)
            | Self::Poisson(_)
            | Self::NegativeBinomial(_)
            | Self::Exponential(_)
            | Self::Gamma(_)
            | Self::LogNormal(_) => false,
        }
    }

    /// The known part of the noise variance of every row, where there is one: of Student's noise
    /// the squared scale, of double exponential noise of scale `b`
    ///
    /// $$ \operatorname{var}(y - f) = 2 b^2 $$
    ///
    /// ```
    /// use quadrat::likelihood::{Laplace, Likelihood};
    /// let values = Likelihood::from(Laplace::new(vec![1.0], vec![0.5])?);
    /// assert_eq!(values.known_variance(), Some(vec![0.5]));
    /// # Ok::<(), quadrat::error::InputError>(())
    /// ```
    #[must_use]
    pub fn known_variance(&self) -> Option<Vec<f64>> {
        match self {
            // Of the logarithm.
            Self::LogNormal(x) => match x.sd() {
                LogSd::Each(sds) => Some(sds.iter().map(|sd| sd * sd).collect()),
                LogSd::Known(_) | LogSd::Learned => None,
            },
            Self::Laplace(x) => Some(x.scale().iter().map(|scale| 2.0 * scale * scale).collect()),
            Self::Gaussian(_)
            | Self::StudentT(_)
            | Self::Interval(_)
            | Self::Censored(_)
            | Self::Truncated(_)
            | Self::Ordinal(_) => self.noise().and_then(Noise::known).map(<[f64]>::to_vec),
            Self::Positive(_)
            | Self::Bernoulli(_)
            | Self::Binomial(_)
            | Self::Poisson(_)
            | Self::NegativeBinomial(_)
            | Self::Exponential(_)
            | Self::Gamma(_) => None,
        }
    }

    /// How far counts vary beyond Poisson's, where they may.
    #[must_use]
    pub fn dispersion(&self) -> Option<Dispersion> {
        match self {
            Self::NegativeBinomial(x) => Some(x.dispersion()),
            Self::Gaussian(_)
            | Self::Laplace(_)
            | Self::StudentT(_)
            | Self::Interval(_)
            | Self::Censored(_)
            | Self::Truncated(_)
            | Self::Ordinal(_)
            | Self::Positive(_)
            | Self::Bernoulli(_)
            | Self::Binomial(_)
            | Self::Poisson(_)
            | Self::Exponential(_)
            | Self::Gamma(_)
            | Self::LogNormal(_) => None,
        }
    }

    /// From the latent value to the probability of a success, where trials are reported.
    #[must_use]
    pub fn sigmoid(&self) -> Option<Sigmoid> {
        match self {
            Self::Bernoulli(x) => Some(x.sigmoid()),
            Self::Binomial(x) => Some(x.sigmoid()),
            Self::Gaussian(_)
            | Self::Laplace(_)
            | Self::StudentT(_)
            | Self::Interval(_)
            | Self::Censored(_)
            | Self::Truncated(_)
            | Self::Ordinal(_)
            | Self::Positive(_)
            | Self::Poisson(_)
            | Self::NegativeBinomial(_)
            | Self::Exponential(_)
            | Self::Gamma(_)
            | Self::LogNormal(_) => None,
        }
    }
}
