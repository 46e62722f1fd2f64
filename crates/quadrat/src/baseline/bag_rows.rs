//! Rows over points or bags, for methods that follow a function at every point.

use std::ops::Range;

use super::reported::{NO_NUMBER, Reported};
use crate::error::InputError;
use crate::likelihood::{Likelihood, Noise};
use crate::link::Link;
use crate::model::Observations;
use crate::support::Functionals;

const NO_BAGS: InputError = InputError::Unavailable {
    what: "a regression on the points of bags",
    remedy: "it needs counts, or values with noise of known variance, over points or bags; use the posterior for other rows",
};

const NO_LEVEL: InputError = InputError::Unavailable {
    what: "a regression on the points of bags",
    remedy: "no function behind this link has the total of these rows, such as a total of zero behind `exp`",
};

/// Counts, or values with noise of known variance, whose means are sums over points:
/// `E y_r = sum_j w_rj Psi(f(x_rj))`.
pub(super) struct BagRows {
    pub link: Link,
    /// All points of all rows.
    pub places: Vec<Vec<f64>>,
    /// Of every row, the range of its points.
    pub rows: Vec<Range<usize>>,
    /// Of every point, exposures multiplied in.
    pub weights: Vec<f64>,
    pub values: Vec<f64>,
    /// Of values; `None` for counts.
    variances: Option<Vec<f64>>,
}

impl BagRows {
    /// # Arguments
    /// * `dims` - the inputs, in the order of the coordinates of places
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for rows that are no points or bags, or no such numbers;
    /// [`InputError::UnknownDimension`].
    pub fn of(table: &Observations, dims: &[String]) -> Result<Self, InputError> {
        let supports = table.supports();
        let (places, rows) = places(&supports.select(dims)?)?;
        let reported = Reported::of(table).ok_or(NO_NUMBER)?;
        let times = |row: usize| table.times(row);
        let (link, variances) = match table.likelihood() {
            Likelihood::Poisson(counts) => (counts.link(), None),
            Likelihood::Gaussian(values) => match values.noise() {
                Noise::Known(v) if v.iter().all(|v| *v > 0.0) => {
                    let of_mean = v.iter().enumerate().map(|(row, v)| v / times(row));
                    (values.link(), Some(of_mean.collect()))
                }
                Noise::Known(_) | Noise::Learned | Noise::KnownPlusLearned(_) => {
                    return Err(NO_BAGS);
                }
            },
            Likelihood::Laplace(_)
            | Likelihood::StudentT(_)
            | Likelihood::Interval(_)
            | Likelihood::Censored(_)
            | Likelihood::Truncated(_)
            | Likelihood::Ordinal(_)
            | Likelihood::Positive(_)
            | Likelihood::Bernoulli(_)
            | Likelihood::Binomial(_)
            | Likelihood::NegativeBinomial(_)
            | Likelihood::Exponential(_)
            | Likelihood::Gamma(_)
            | Likelihood::LogNormal(_) => return Err(NO_BAGS),
        };
        // A count seen several times is one of as many times the exposure.
        let often = |row: usize| if variances.is_none() { times(row) } else { 1.0 };
        let values = (0..rows.len()).map(|row| often(row) * reported.values[row]);
        let values = values.collect();
        let mut weights = supports.weight().to_vec();
        for (row, atoms) in rows.iter().enumerate() {
            let factor = often(row) * reported.amounts[row];
            weights[atoms.clone()].iter_mut().for_each(|w| *w *= factor);
        }
        Ok(Self {
            link,
            places,
            rows,
            weights,
            values,
            variances,
        })
    }

    /// The function that is the same everywhere and has the total of all rows.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where no function has it, as where all counts are zero.
    pub fn level(&self) -> Result<f64, InputError> {
        let mean = self.values.iter().sum::<f64>() / self.weights.iter().sum::<f64>();
        let level = self.link.inverse(mean);
        level.filter(|b| b.is_finite()).ok_or(NO_LEVEL)
    }

    /// The mean of a row.
    ///
    /// # Arguments
    /// * `f` - the function at the points of the row
    pub fn mean(&self, row: usize, f: impl Iterator<Item = f64>) -> f64 {
        let weights = &self.weights[self.rows[row].clone()];
        let pairs = weights.iter().zip(f);
        pairs.map(|(w, f)| w * self.link.value(f)).sum()
    }

    /// Minus the log-likelihood of a row of such a mean, but for a constant; infinite for means
    /// that cannot be.
    pub fn loss(&self, row: usize, mean: f64) -> f64 {
        let y = self.values[row];
        match &self.variances {
            Some(v) => 0.5 * (y - mean).powi(2) / v[row],
            None if mean > 0.0 => mean - y * mean.ln(),
            None if y == 0.0 && mean == 0.0 => 0.0,
            None => f64::INFINITY,
        }
    }

    /// The variance of a row of such a mean.
    pub fn variance(&self, row: usize, mean: f64) -> f64 {
        match &self.variances {
            Some(v) => v[row],
            None => mean.max(f64::MIN_POSITIVE),
        }
    }

    /// The slope of the loss along the mean, `(mean - y) / variance`.
    pub fn slope(&self, row: usize, mean: f64) -> f64 {
        (mean - self.values[row]) / self.variance(row, mean)
    }
}

/// All points, and for every row its range of them.
pub(super) type BagPoints = (Vec<Vec<f64>>, Vec<Range<usize>>);

/// # Errors
/// [`InputError::Unavailable`] for boxes and regions.
pub(super) fn places(set: &Functionals) -> Result<BagPoints, InputError> {
    let dims = set.dims().len();
    let is_wide = |atom: usize| (0..dims).any(|d| set.width(d)[atom] > 0.0);
    if set.has_regions() || (0..set.atom_count()).any(is_wide) {
        return Err(NO_BAGS);
    }
    let place = |atom: usize| (0..dims).map(|d| set.lower(d)[atom]).collect();
    let rows = (0..set.len()).map(|row| set.atoms(row));
    Ok(((0..set.atom_count()).map(place).collect(), rows.collect()))
}

/// Sums of a function of points behind a link, one for every support.
///
/// # Errors
/// [`InputError::Unavailable`] for boxes and regions.
pub(super) fn sums(
    at: &Functionals,
    link: Link,
    f: impl Fn(&[f64]) -> f64,
) -> Result<Vec<f64>, InputError> {
    let (places, rows) = places(at)?;
    let value = |atom: usize| at.weight()[atom] * link.value(f(&places[atom]));
    Ok(rows
        .into_iter()
        .map(|atoms| atoms.map(value).sum())
        .collect())
}
