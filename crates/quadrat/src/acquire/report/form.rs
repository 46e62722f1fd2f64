//! The kinds of reports.

use super::answers::Answers;
use super::bins::Bins;
use super::clipped::Clipped;
use super::expected_report::ExpectedReport;
use super::ranks::Ranks;
use super::value::Value;
use crate::likelihood::local::Belief;

/// What an observation would report, at known hyperparameters: the kind of instrument with its
/// noise.
///
/// # Examples
/// Of a value as noisy as it is uncertain half a bit; of a rank at a threshold less than one:
/// ```
/// use quadrat::acquire::{Ranks, Report, Value};
/// use quadrat::likelihood::local::Belief;
///
/// let belief = Belief { mean: 0.0, variance: 1.0 };
/// let value = Report::Value(Value { noise: 1.0 });
/// assert!((value.information(belief) - 0.5 * 2.0_f64.ln()).abs() < 1e-15);
/// let rank = Report::Ranks(Ranks::new(vec![0.0], 0.01));
/// let told = rank.information(belief);
/// assert!(told > 0.6 && told < 2.0_f64.ln());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Report {
    /// A value with normal noise.
    Value(Value),
    /// In which interval of some width a value lies.
    Bins(Bins),
    /// The rank of a value.
    Ranks(Ranks),
    /// A value with normal noise that is recorded between limits.
    Clipped(Clipped),
    /// A count, an answer, a waiting time, or a value with other noise.
    Answers(Answers),
}

impl Report {
    /// The mutual information of the report and the latent value `f ~ N(mean, variance)`, in nats:
    /// by how much the entropy of either falls, on average, once the other is known.
    ///
    /// $$ I(y; f) = H(y) - E_f H(y \mid f) $$
    ///
    /// Never negative; zero at variance zero. Grows with the variance for values and intervals; for
    /// ranks and limits it need not, since a wide belief leaves the middle ranks out.
    ///
    /// # Source
    /// Houlsby, Huszar, Ghahramani and Lengyel 2011, arXiv 1112.5745 (BALD).
    #[must_use]
    pub fn information(&self, belief: Belief) -> f64 {
        self.information_after(belief, belief.variance, self.known(belief))
    }

    /// What [`Self::information_after`] takes of the belief before any other answer, in nats:
    ///
    /// - of values nothing, zero;
    /// - of intervals, ranks and limits the average entropy of the report were the latent value
    ///   known;
    /// - of [`Self::Answers`] their information before any other answer.
    #[must_use]
    pub fn known(&self, belief: Belief) -> f64 {
        match self {
            Self::Value(_) => 0.0,
            Self::Bins(bins) => bins.open(0.0),
            Self::Ranks(ranks) => ranks.known(belief),
            Self::Clipped(clipped) => clipped.known(belief),
            Self::Answers(answers) => answers.information(belief),
        }
    }

    /// The expected information of the report once other answers, not known yet, have taken the
    /// variance of the latent value from that of `before` to `variance`.
    ///
    /// # Arguments
    /// * `known` - [`Self::known`] of `before`
    #[must_use]
    pub fn information_after(&self, before: Belief, variance: f64, known: f64) -> f64 {
        if variance <= 0.0 {
            return 0.0;
        }
        match self {
            Self::Value(value) => value.information(variance),
            Self::Bins(bins) => (bins.open(variance) - known).max(0.0),
            Self::Ranks(ranks) => (ranks.open(before, variance) - known).max(0.0),
            Self::Clipped(clipped) => (clipped.open(before, variance) - known).max(0.0),
            // As the normal observation that tells as much before tells later.
            Self::Answers(_) => {
                let precision = (2.0 * known).exp_m1() / before.variance;
                0.5 * (variance * precision).ln_1p()
            }
        }
    }

    /// The distribution of the report where the latent value is believed to be so, in a form of
    /// which mixtures have an entropy; none where there is no such form.
    pub(in crate::acquire) fn seen(&self, belief: Belief) -> Option<ExpectedReport> {
        let Belief { mean, variance } = belief;
        match self {
            Self::Value(value) => Some(ExpectedReport::Even {
                mean,
                sd: (variance + value.noise).sqrt(),
                width: 0.0,
            }),
            Self::Bins(bins) => Some(ExpectedReport::Even {
                mean,
                sd: (variance + bins.noise).sqrt(),
                width: bins.width,
            }),
            Self::Ranks(ranks) => Some(ExpectedReport::Ranks(ranks.probabilities(mean, variance))),
            Self::Clipped(_) | Self::Answers(_) => None,
        }
    }

    /// What [`Policy::Normalised`](super::super::Policy::Normalised) divides by, in nats, of latent
    /// values of at most this variance: `log(trials + 1)` of successes, the log of the number of
    /// ranks; of values and intervals the information at that variance, of values between limits
    /// that without limits; of others the information about a latent value of mean zero, which is
    /// no bound.
    #[must_use]
    pub fn most(&self, variance: f64) -> f64 {
        match self {
            Self::Value(value) => value.information(variance),
            Self::Bins(bins) => (bins.open(variance) - bins.open(0.0)).max(0.0),
            Self::Ranks(ranks) => (ranks.count() as f64).ln(),
            // Limits take information away: a value without them tells at least as much.
            Self::Clipped(clipped) => Value {
                noise: clipped.noise,
            }
            .information(variance),
            Self::Answers(answers) => answers.most(variance),
        }
    }
}
