//! What the rows of a likelihood report, in the few sorts that likelihoods have in common.

use super::{Interval, Likelihood, NegativeBinomial, Ordinal, Poisson, Thresholds};
use crate::error::InputError;

/// What rows report, whatever its distribution.
///
/// Who needs the reported numbers alone asks for these, and not for the likelihood. The sorts are
/// few and rarely change, so that a match on them needs no default arm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcomes<'a> {
    /// One number each, in the unit of the response.
    Values(&'a [f64]),
    /// The interval each in which a value lies: of equal ends where it is the value itself, with an
    /// infinite end where it is beyond a limit.
    Intervals(&'a Interval),
    /// Events each that were counted at an exposure.
    Counts(Counts<'a>),
    /// Yes or no each.
    Answers(&'a [bool]),
    /// Successes each among trials.
    Successes {
        /// How many succeeded.
        successes: &'a [f64],
        /// Among how many.
        trials: &'a [f64],
    },
    /// A rank each.
    Ranks(&'a Ordinal),
    /// No value: only that the function lies above a margin.
    Bounds,
}

/// Counts of events, one for each row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counts<'a> {
    /// The least that each may be, >= 0.
    pub lower: &'a [f64],
    /// The most that each may be: the same where it is known, infinite where it is open.
    pub upper: &'a [f64],
    /// What each was counted among, >= 0: its mean is exposure times rate.
    pub exposure: &'a [f64],
}

impl Likelihood {
    /// What its rows report.
    ///
    /// ```
    /// use quadrat::likelihood::{Likelihood, Outcomes, Poisson};
    /// use quadrat::link::Link;
    /// let counts = Poisson::new(vec![3.0], vec![2.0], Link::Exp)?;
    /// let counts = Likelihood::from(counts);
    /// let Outcomes::Counts(counts) = counts.outcomes() else { unreachable!() };
    /// assert_eq!((counts.lower[0], counts.exposure[0]), (3.0, 2.0));
    /// # Ok::<(), quadrat::error::InputError>(())
    /// ```
    #[must_use]
    pub fn outcomes(&self) -> Outcomes<'_> {
        match self {
            Self::Gaussian(x) => Outcomes::Values(x.values()),
            Self::Laplace(x) => Outcomes::Values(x.values()),
            Self::StudentT(x) => Outcomes::Values(x.values()),
            Self::Truncated(x) => Outcomes::Values(x.values()),
            Self::Exponential(x) => Outcomes::Values(x.values()),
            Self::Gamma(x) => Outcomes::Values(x.values()),
            Self::LogNormal(x) => Outcomes::Values(x.values()),
            Self::Interval(x) => Outcomes::Intervals(x),
            Self::Censored(x) => Outcomes::Intervals(x.readings()),
            Self::Poisson(x) => Outcomes::Counts(Counts {
                lower: x.lower(),
                upper: x.upper(),
                exposure: x.exposure(),
            }),
            Self::NegativeBinomial(x) => Outcomes::Counts(Counts {
                lower: x.lower(),
                upper: x.upper(),
                exposure: x.exposure(),
            }),
            Self::Bernoulli(x) => Outcomes::Answers(x.values()),
            Self::Binomial(x) => Outcomes::Successes {
                successes: x.successes(),
                trials: x.trials(),
            },
            Self::Ordinal(x) => Outcomes::Ranks(x),
            Self::Positive(_) => Outcomes::Bounds,
        }
    }

    /// The counts of events that it reports; `None` where it reports something else. Successes are
    /// no counts of events, whose rates have no upper limit.
    #[must_use]
    pub fn counts(&self) -> Option<Counts<'_>> {
        match self.outcomes() {
            Outcomes::Counts(counts) => Some(counts),
            Outcomes::Values(_)
            | Outcomes::Intervals(_)
            | Outcomes::Answers(_)
            | Outcomes::Successes { .. }
            | Outcomes::Ranks(_)
            | Outcomes::Bounds => None,
        }
    }

    /// The same distribution of other counts; `None` where none are reported.
    ///
    /// # Errors
    /// Those of [`Poisson::ranges`].
    pub(crate) fn with_counts(
        &self,
        lower: Vec<f64>,
        upper: Vec<f64>,
        exposure: Vec<f64>,
    ) -> Result<Option<Self>, InputError> {
        Ok(Some(match self {
            Self::Poisson(x) => Poisson::ranges(lower, upper, exposure, x.link())?.into(),
            Self::NegativeBinomial(x) => {
                NegativeBinomial::ranges(lower, upper, exposure, x.link(), x.dispersion())?.into()
            }
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
            | Self::Exponential(_)
            | Self::Gamma(_)
            | Self::LogNormal(_) => return Ok(None),
        }))
    }

    /// Whether its rows only bound the function, and report no value of it.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        matches!(self.outcomes(), Outcomes::Bounds)
    }

    /// Between which ends a row by itself puts the mean, on the scale of the response: equal for a
    /// value, infinite where it is open. `None` where it cannot be said: ranks whose thresholds are
    /// learned, bounds, rows without exposure or trials.
    ///
    /// # Arguments
    /// * `row` - counted from 0
    /// * `size` - of the support of the row, > 0: ends are per unit of it, and per unit of
    ///   exposure; those of successes are probabilities
    ///
    /// # Numerics
    /// Two roundings.
    ///
    /// ```
    /// use quadrat::likelihood::{Likelihood, Poisson};
    /// use quadrat::link::Link;
    /// let counts = Poisson::ranges(vec![0.0], vec![4.0], vec![2.0], Link::Exp)?;
    /// assert_eq!(Likelihood::from(counts).range(0, 10.0), Some((0.0, 0.2)));
    /// # Ok::<(), quadrat::error::InputError>(())
    /// ```
    #[must_use]
    pub fn range(&self, row: usize, size: f64) -> Option<(f64, f64)> {
        let value = |value: f64| (value / size, value / size);
        match self.outcomes() {
            Outcomes::Values(values) => values.get(row).map(|y| value(*y)),
            Outcomes::Intervals(x) => {
                Some((x.lower().get(row)? / size, x.upper().get(row)? / size))
            }
            Outcomes::Counts(x) => {
                let exposure = x.exposure.get(row)? * size;
                (exposure > 0.0).then(|| (x.lower[row] / exposure, x.upper[row] / exposure))
            }
            Outcomes::Answers(answers) => {
                let yes = answers.get(row)?;
                Some(value(f64::from(u8::from(*yes))))
            }
            Outcomes::Successes { successes, trials } => {
                let (k, n) = (successes.get(row)?, trials.get(row)?);
                (*n > 0.0).then(|| (k / n, k / n))
            }
            Outcomes::Ranks(x) => {
                let Thresholds::Known(thresholds) = x.thresholds_setting() else {
                    return None;
                };
                let (lower, upper) = ends_of_rank(*x.ranks().get(row)?, thresholds);
                Some((lower / size, upper / size))
            }
            Outcomes::Bounds => None,
        }
    }

    /// Whether a row leaves everything open: a count without exposure or ends, no trials, an
    /// interval without ends.
    ///
    /// # Arguments
    /// * `row` - counted from 0, below [`Likelihood::rows`]
    #[must_use]
    pub fn says_nothing(&self, row: usize) -> bool {
        let is_open = |lower: f64, upper: f64, least: f64| lower <= least && upper == f64::INFINITY;
        match self.outcomes() {
            Outcomes::Intervals(x) => is_open(x.lower()[row], x.upper()[row], f64::NEG_INFINITY),
            Outcomes::Counts(x) => {
                x.exposure[row] == 0.0 || is_open(x.lower[row], x.upper[row], 0.0)
            }
            Outcomes::Successes { trials, .. } => trials[row] == 0.0,
            Outcomes::Values(_) | Outcomes::Answers(_) | Outcomes::Ranks(_) | Outcomes::Bounds => {
                false
            }
        }
    }
}

/// Between which thresholds a value of a rank lies; infinite beyond the first and the last.
///
/// # Arguments
/// * `rank` - counted from 1
/// * `thresholds` - ascending
pub(crate) fn ends_of_rank(rank: usize, thresholds: &[f64]) -> (f64, f64) {
    let lower = rank.checked_sub(2).and_then(|k| thresholds.get(k));
    let upper = thresholds.get(rank - 1);
    (
        lower.copied().unwrap_or(f64::NEG_INFINITY),
        upper.copied().unwrap_or(f64::INFINITY),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::likelihood::{Binomial, Censored, Noise, Positive, Side, Sigmoid};
    use crate::link::Link;

    #[test]
    fn rows_put_their_mean_between_ends() {
        let counts = Poisson::ranges(
            vec![0.0, 3.0, 0.0, 0.0],
            vec![4.0, 3.0, 4.0, f64::INFINITY],
            vec![2.0, 2.0, 0.0, 2.0],
            Link::Exp,
        );
        let counts: Likelihood = counts.unwrap().into();
        assert_eq!(counts.range(0, 10.0), Some((0.0, 0.2)));
        assert_eq!(counts.range(1, 1.0), Some((1.5, 1.5)));
        assert_eq!(counts.range(2, 1.0), None);
        assert_eq!(counts.range(4, 1.0), None);
        assert_eq!(
            [0, 1, 2, 3].map(|row| counts.says_nothing(row)),
            [false, false, true, true]
        );

        let sides = [Side::Left, Side::None];
        let censored = Censored::new(vec![0.8, 1.5], &sides, Noise::Learned);
        let censored: Likelihood = censored.unwrap().into();
        assert_eq!(censored.range(0, 2.0), Some((f64::NEG_INFINITY, 0.4)));
        assert_eq!(censored.range(1, 2.0), Some((0.75, 0.75)));

        // A share is that of the trials, whatever the size of the support.
        let shares = Binomial::new(vec![1.0, 0.0], vec![4.0, 0.0], Sigmoid::Logit);
        let shares: Likelihood = shares.unwrap().into();
        assert_eq!(shares.range(0, 3.0), Some((0.25, 0.25)));
        assert_eq!(shares.range(1, 3.0), None);
        assert!(shares.says_nothing(1) && !shares.says_nothing(0));

        let known = Thresholds::Known(vec![-2.0, 2.0]);
        let ranks = Ordinal::new(vec![1, 2, 3], known, Noise::Known(vec![1.0; 3]));
        let ranks: Likelihood = ranks.unwrap().into();
        assert_eq!(ranks.range(0, 2.0), Some((f64::NEG_INFINITY, -1.0)));
        assert_eq!(ranks.range(1, 2.0), Some((-1.0, 1.0)));
        assert_eq!(ranks.range(2, 2.0), Some((1.0, f64::INFINITY)));

        let bounds: Likelihood = Positive::new(1, 0.1, 1.0).unwrap().into();
        assert!(bounds.is_bound() && bounds.range(0, 1.0).is_none());
    }

    #[test]
    fn only_counts_of_events_are_counted_again() {
        let again = |one: Likelihood| one.with_counts(vec![1.0], vec![2.0], vec![3.0]).unwrap();
        let one: Likelihood = Poisson::new(vec![5.0], vec![1.0], Link::Softplus)
            .unwrap()
            .into();
        let other = again(one).unwrap();
        assert_eq!(other.link(), Some(Link::Softplus));
        let counts = other.counts().unwrap();
        assert_eq!(
            (counts.lower[0], counts.upper[0], counts.exposure[0]),
            (1.0, 2.0, 3.0)
        );
        let shares = Binomial::new(vec![1.0], vec![4.0], Sigmoid::Logit).unwrap();
        assert!(Likelihood::from(shares.clone()).counts().is_none());
        assert!(again(shares.into()).is_none());
    }
}
