//! One table of observations.

use serde::{Deserialize, Serialize};

use super::rms::weighted_rms;
use crate::error::InputError;
use crate::likelihood::{Gaussian, Likelihood, Noise, Outcomes, Thresholds};
use crate::support::Functionals;

/// Rows that share a likelihood: where each looked and what it reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observations {
    pub(crate) supports: Functionals,
    pub(crate) likelihood: Likelihood,
    pub(crate) share_noise: bool,
    pub(crate) output: Option<String>,
    /// How often each row counts, seen several times or in shares; empty: once.
    pub(crate) times: Vec<f64>,
}

impl Observations {
    /// Supports and what was reported there.
    ///
    /// # Errors
    /// [`InputError::Empty`] without rows, [`InputError::Shape`] when the likelihood speaks of
    /// another number of rows.
    pub fn new(
        supports: Functionals,
        likelihood: impl Into<Likelihood>,
    ) -> Result<Self, InputError> {
        let likelihood = likelihood.into();
        if supports.is_empty() {
            return Err(InputError::Empty);
        }
        if likelihood.rows() != supports.len() {
            return Err(InputError::Shape {
                what: "the values",
                expected: supports.len(),
                got: likelihood.rows(),
            });
        }
        Ok(Self {
            supports,
            likelihood,
            share_noise: false,
            output: None,
            times: Vec::new(),
        })
    }

    /// Values of linear functionals with normal noise.
    ///
    /// # Errors
    /// As [`Self::new`] and [`Gaussian::new`].
    pub fn gaussian(
        supports: Functionals,
        values: Vec<f64>,
        noise: Noise,
    ) -> Result<Self, InputError> {
        if supports.is_empty() {
            return Err(InputError::Empty);
        }
        Self::new(supports, Gaussian::new(values, noise)?)
    }

    /// Whether the parts fit together; deserialised tables are not trusted.
    pub(crate) fn is_consistent(&self) -> bool {
        !self.supports.is_empty()
            && self.supports.is_consistent()
            && self.supports.len() == self.likelihood.rows()
            && (self.times.is_empty() || self.times.len() == self.supports.len())
            && self
                .times
                .iter()
                .all(|n| is_number_of_times(*n) || is_share(*n))
    }

    /// Says how often each row was seen: as if it stood there so many times, at the cost of one.
    ///
    /// Rows that are known exactly say the same once as several times.
    ///
    /// # Arguments
    /// * `times` - whole numbers from 1 to 1e15, shape `[n]`
    ///
    /// # Errors
    /// [`InputError::Shape`], [`InputError::Range`].
    pub fn seen(self, times: Vec<f64>) -> Result<Self, InputError> {
        let what = ["the number of times", "how often the row was seen"];
        let requirement = "a whole number from 1 to 1e15; leave out rows that were never seen";
        self.counting(times, what, is_number_of_times, requirement)
    }

    /// Says what share of each row counts, whose likelihood becomes `p(y | f)^share`: of rows that
    /// count the events of others again.
    ///
    /// # Arguments
    /// * `shares` - above 0, at most 1, shape `[n]`
    ///
    /// # Errors
    /// [`InputError::Shape`], [`InputError::Range`].
    pub fn in_shares(self, shares: Vec<f64>) -> Result<Self, InputError> {
        let what = ["the shares", "the share of the row that counts"];
        self.counting(shares, what, is_share, "above 0 and at most 1")
    }

    /// Says how often each row counts.
    ///
    /// # Arguments
    /// * `what` - all of the numbers, and one of them, in words
    fn counting(
        mut self,
        times: Vec<f64>,
        what: [&'static str; 2],
        is_possible: fn(f64) -> bool,
        requirement: &'static str,
    ) -> Result<Self, InputError> {
        if times.len() != self.supports.len() {
            return Err(InputError::Shape {
                what: what[0],
                expected: self.supports.len(),
                got: times.len(),
            });
        }
        if let Some(row) = times.iter().position(|n| !is_possible(*n)) {
            return Err(InputError::Range {
                what: what[1].into(),
                row,
                value: times[row],
                requirement,
            });
        }
        self.times = match times.iter().all(|n| *n == 1.0) {
            true => Vec::new(),
            false => times,
        };
        Ok(self)
    }

    /// Whether rows count in shares.
    pub(crate) fn is_in_shares(&self) -> bool {
        self.times.iter().any(|n| *n < 1.0)
    }

    /// How often a row was seen, or the share of it that counts.
    #[must_use]
    pub fn times(&self, row: usize) -> f64 {
        self.times.get(row).copied().unwrap_or(1.0)
    }

    /// Some of the rows.
    ///
    /// # Errors
    /// [`InputError`] where the rows that are left say too little.
    pub(crate) fn rows(&self, rows: &[usize]) -> Result<Self, InputError> {
        Ok(Self {
            supports: self.supports.rows(rows),
            likelihood: self.likelihood.select(rows)?,
            times: match self.times.is_empty() {
                true => Vec::new(),
                false => rows.iter().map(|&row| self.times[row]).collect(),
            },
            ..self.clone()
        })
    }

    /// About a share of the rows, evenly spread: their numbers.
    pub(crate) fn evenly(&self, share: f64) -> Vec<usize> {
        let n = self.supports.len();
        let left = ((n as f64 * share).ceil() as usize).clamp(1, n);
        (0..left).map(|i| i * n / left).collect()
    }

    /// The same rows with at most so many points each.
    pub(crate) fn thinned(self, most: usize) -> Self {
        let supports = self.supports.thinned(most);
        Self { supports, ..self }
    }

    /// Uses the learned noise variance of another table instead of one of its own: that of the
    /// first table that does not share, wherever it stands; where every table shares, they have one
    /// together.
    #[must_use]
    pub fn share_noise(mut self) -> Self {
        self.share_noise = true;
        self
    }

    /// Says which output the rows are of, where the kernel has several.
    #[must_use]
    pub fn of_output(mut self, name: impl Into<String>) -> Self {
        self.output = Some(name.into());
        self
    }

    /// The output the rows are of.
    #[must_use]
    pub fn output(&self) -> Option<&str> {
        self.output.as_deref()
    }

    /// Where the rows looked.
    #[must_use]
    pub fn supports(&self) -> &Functionals {
        &self.supports
    }

    /// What the rows reported.
    #[must_use]
    pub fn likelihood(&self) -> &Likelihood {
        &self.likelihood
    }

    /// Values of the function and noise, where the noise is normal and no link lies between.
    #[must_use]
    pub fn as_gaussian(&self) -> Option<&Gaussian> {
        self.likelihood.as_gaussian()
    }

    /// A plausible value of every functional, to judge scales by: what was reported where that is a
    /// value. Empty for rows that only bound it.
    pub(crate) fn typical(&self) -> Vec<f64> {
        if let Some(gaussian) = self.as_gaussian() {
            return gaussian.values().to_vec();
        }
        if self.likelihood.is_bound() {
            return Vec::new();
        }
        let local = self.likelihood.local();
        let guesses = |own: &[f64]| -> Vec<f64> {
            (0..local.rows()).map(|row| local.guess(own, row)).collect()
        };
        let starts = |scale: f64| -> Vec<f64> {
            let own = local.parameters(scale);
            own.iter().map(|p| p.start).collect()
        };
        let mut own = starts(1.0);
        let learns = self.likelihood.noise().is_some_and(Noise::is_learned);
        if learns && self.likelihood.is_linear() && knows_its_scale(self) {
            // Values beyond a limit lie about an sd of the noise from it, in the unit of the
            // limits.
            own[0] = 0.0;
            own = starts(self.spread_of(&guesses(&own)));
        }
        guesses(&own)
    }

    /// Root mean square of values about the same density everywhere; the largest of them where they
    /// are all alike, one where they are all zero, which tells no unit.
    fn spread_of(&self, values: &[f64]) -> f64 {
        let rows = || values.iter().zip(0..);
        let total: f64 = rows()
            .map(|(_, row)| self.times(row) * self.supports.size(row))
            .sum();
        let density = if total == 0.0 {
            0.0
        } else {
            rows().map(|(y, row)| self.times(row) * y).sum::<f64>() / total
        };
        let residuals =
            rows().map(|(y, row)| (y - density * self.supports.size(row), self.times(row)));
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let spread = weighted_rms(residuals);
        match largest {
            0.0 => 1.0,
            largest if spread > ROUNDING * largest => spread,
            largest => largest,
        }
    }
}

/// Whether a row can have been seen so often.
fn is_number_of_times(n: f64) -> bool {
    n.fract() == 0.0 && (1.0..=MOST_TIMES).contains(&n)
}

fn is_share(n: f64) -> bool {
    n > 0.0 && n <= 1.0
}

/// The most times: whole numbers beyond are no longer told apart.
const MOST_TIMES: f64 = 1e15;

/// Values are alike where they differ by less than this share of the largest.
const ROUNDING: f64 = 1e-12;

/// Whether rows of a table fix the unit of the latent function.
pub(crate) fn knows_its_scale(table: &Observations) -> bool {
    match table.likelihood.outcomes() {
        Outcomes::Ranks(ordinal) => matches!(ordinal.thresholds_setting(), Thresholds::Known(_)),
        Outcomes::Bounds => false,
        Outcomes::Values(_)
        | Outcomes::Intervals(_)
        | Outcomes::Counts(_)
        | Outcomes::Answers(_)
        | Outcomes::Successes { .. } => true,
    }
}
