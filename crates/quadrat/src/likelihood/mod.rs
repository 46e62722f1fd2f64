//! Likelihoods: what the instrument reported about a linear functional of the latent function.

pub(crate) mod adaptive;
mod answers;
mod bernoulli;
mod binomial;
mod censored;
mod centred;
mod check;
mod count_expected;
mod count_grid;
#[cfg(test)]
mod count_grid_tests;
mod count_rows;
mod counting;
pub(crate) mod crossing;
pub mod distribution;
mod exact;
mod exponential;
mod gamma;
mod gaussian;
mod interval;
mod laplace;
mod linked;
pub mod local;
pub(crate) mod log_square;
mod lognormal;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod moments_tests;
mod negative_binomial;
mod noise;
mod one_limit;
mod open_count;
mod ordinal;
mod outcomes;
mod plain_count;
mod poisson;
mod positive;
mod positive_rows;
mod properties;
mod quadrature;
#[cfg(test)]
mod quadrature_tests;
pub(crate) mod repeated;
mod scale_mixture;
mod seldom;
mod select;
mod sigmoid;
mod small_counts;
mod smooth;
mod square_pole;
mod student_t;
mod trapezoid;
mod truncated;
mod window;
mod window_nodes;

pub use bernoulli::Bernoulli;
pub use binomial::Binomial;
pub use censored::{Censored, Side};
pub use exponential::Exponential;
pub use gamma::{Gamma, Shape};
pub use gaussian::Gaussian;
pub use interval::Interval;
pub use laplace::Laplace;
pub use lognormal::{LogNormal, LogSd};
pub use negative_binomial::{Dispersion, NegativeBinomial};
pub use noise::Noise;
pub use ordinal::{Ordinal, Thresholds};
pub(crate) use outcomes::ends_of_rank;
pub use outcomes::{Counts, Outcomes};
pub use poisson::Poisson;
pub use positive::Positive;
pub use sigmoid::Sigmoid;
pub use student_t::{Degrees, StudentT};
pub use truncated::Truncated;

use serde::{Deserialize, Serialize};

use crate::error::InputError;
use crate::link::Link;
use local::Local;

/// Declares the enum of likelihoods, its conversions and the view that inference takes.
macro_rules! likelihoods {
    ($($(#[$note:meta])* $kind:ident $name:literal),+ $(,)?) => {
        /// The likelihoods. CONTRIBUTING.md says how to add one.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum Likelihood {
            $($(#[$note])* $kind($kind)),+
        }

        $(impl From<$kind> for Likelihood {
            fn from(likelihood: $kind) -> Self {
                Self::$kind(likelihood)
            }
        })+

        impl Likelihood {
            /// The names of all likelihoods, as study files have them.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// What inference asks of it.
            #[must_use]
            pub fn local(&self) -> &dyn Local {
                match self {
                    $(Self::$kind(likelihood) => likelihood),+
                }
            }

            /// Its name in study files.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name),+
                }
            }
        }
    };
}

likelihoods! {
    /// Values with normal noise of known or learned variance.
    Gaussian "gaussian",
    /// Values with double exponential noise of known scale.
    Laplace "laplace",
    /// Values with heavy-tailed noise.
    StudentT "student_t",
    /// Values known to lie in an interval.
    Interval "interval",
    /// Values beyond the limits of the instrument.
    Censored "censored",
    /// Values of which none was recorded beyond a limit.
    Truncated "truncated",
    /// Ranks.
    Ordinal "ordinal",
    /// Values known to lie above a margin.
    Positive "positive",
    /// Yes or no.
    Bernoulli "bernoulli",
    /// Successes among trials.
    Binomial "binomial",
    /// Counts.
    Poisson "poisson",
    /// Overdispersed counts.
    NegativeBinomial "negative_binomial",
    /// Waiting times and other positive values.
    Exponential "exponential",
    /// Positive values of a relative spread that is learned.
    Gamma "gamma",
    /// Positive values with a multiplicative error.
    LogNormal "lognormal",
}

impl Likelihood {
    /// Refuses what no constructor would have made: contents of a file are not trusted.
    pub(crate) fn check(&self) -> Result<(), InputError> {
        match self {
            Self::Gaussian(x) => x.check(),
            Self::Laplace(x) => x.check(),
            Self::StudentT(x) => x.check(),
            Self::Interval(x) => x.check(),
            Self::Censored(x) => x.check(),
            Self::Truncated(x) => x.check(),
            Self::Ordinal(x) => x.check(),
            Self::Positive(x) => x.check(),
            // Every list of answers is one.
            Self::Bernoulli(_) => Ok(()),
            Self::Binomial(x) => x.check(),
            Self::Poisson(x) => x.check(),
            Self::NegativeBinomial(x) => x.check(),
            Self::Exponential(x) => x.check(),
            Self::Gamma(x) => x.check(),
            Self::LogNormal(x) => x.check(),
        }
    }

    /// Number of rows it has something to say about.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.local().rows()
    }

    /// How many ranks an observation may have, where it is one.
    #[must_use]
    pub fn rank_count(&self) -> Option<usize> {
        match self {
            Self::Ordinal(ordinal) => Some(ordinal.thresholds_setting().ranks()),
            _ => None,
        }
    }

    /// Whether the latent value is the observed mean itself, so that it may be an integral or an
    /// average.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        if let Self::Gaussian(x) = self {
            return x.is_linear();
        }
        !matches!(
            self,
            Self::Bernoulli(_)
                | Self::Binomial(_)
                | Self::Poisson(_)
                | Self::NegativeBinomial(_)
                | Self::Exponential(_)
                | Self::Gamma(_)
                | Self::LogNormal(_)
        )
    }

    /// From the latent value to the mean, where it is not the mean itself nor a probability.
    #[must_use]
    pub fn link(&self) -> Option<Link> {
        match self {
            Self::Gaussian(x) => (!x.is_linear()).then(|| x.link()),
            Self::Poisson(x) => Some(x.link()),
            Self::NegativeBinomial(x) => Some(x.link()),
            Self::Exponential(x) => Some(x.link()),
            Self::Gamma(x) => Some(x.link()),
            Self::LogNormal(x) => Some(x.link()),
            _ => None,
        }
    }

    /// From the latent value to the mean, where it is not the mean itself: also to a probability.
    /// Values of an area are averaged behind it.
    #[must_use]
    pub fn mean_link(&self) -> Option<Link> {
        match self.sigmoid() {
            Some(sigmoid) => Some(sigmoid.link()),
            None => self.link(),
        }
    }

    /// The same rows about means that are that many times as large: a row over a support of some
    /// size reports about size times the average after the link. Likelihoods without a link stay as
    /// they are.
    pub(crate) fn per_unit(&self, sizes: &[f64]) -> Self {
        match self {
            Self::Gaussian(x) => x.per_unit(sizes).into(),
            Self::Poisson(x) => x.per_unit(sizes).into(),
            Self::NegativeBinomial(x) => x.per_unit(sizes).into(),
            Self::Exponential(x) => x.per_unit(sizes).into(),
            Self::Gamma(x) => x.per_unit(sizes).into(),
            Self::LogNormal(x) => x.per_unit(sizes).into(),
            other => other.clone(),
        }
    }

    /// What is known of the noise variance, where there is one.
    #[must_use]
    pub fn noise(&self) -> Option<&Noise> {
        match self {
            Self::Gaussian(x) => Some(x.noise()),
            Self::StudentT(x) => Some(x.noise()),
            Self::Interval(x) => Some(x.noise()),
            Self::Censored(x) => Some(x.noise()),
            Self::Truncated(x) => Some(x.noise()),
            Self::Ordinal(x) => Some(x.noise()),
            _ => None,
        }
    }

    /// Gives values that are known without noise, or with a variance `below` some number, this
    /// variance; others keep theirs. Whether there were any.
    pub(crate) fn raise_noise(&mut self, below: f64, variance: f64) -> bool {
        let is_value = matches!(self, Self::Gaussian(_));
        let noise = match self {
            Self::Gaussian(x) if x.is_linear() => x.noise_mut(),
            Self::Interval(x) => x.noise_mut(),
            Self::Censored(x) => x.noise_mut(),
            _ => return false,
        };
        let Noise::Known(known) = noise else {
            return false;
        };
        let is_raised = |v: &f64| *v == 0.0 || (is_value && *v < below);
        let mut count = 0;
        for v in known.iter_mut().filter(|v| is_raised(v)) {
            *v = variance;
            count += 1;
        }
        count > 0
    }

    /// Adds a known variance to the noise of every row that has one.
    pub(crate) fn add_noise(&mut self, variance: f64) {
        let rows = self.rows();
        let noise = match self {
            Self::Gaussian(x) => x.noise_mut(),
            Self::StudentT(x) => x.noise_mut(),
            Self::Interval(x) => x.noise_mut(),
            Self::Censored(x) => x.noise_mut(),
            Self::Truncated(x) => x.noise_mut(),
            Self::Ordinal(x) => x.noise_mut(),
            _ => return,
        };
        noise.add(variance, rows);
    }
}
