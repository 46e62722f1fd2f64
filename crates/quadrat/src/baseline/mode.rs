//! The posterior mode of a function of features, of which sums are reported.

use super::features::Features;
use super::reported::{NO_NUMBER, Reported};
use crate::error::{FitError, InputError};
use crate::likelihood::{Likelihood, Noise};
use crate::linalg::{Cholesky, Mat, dot, gemm, matvec};
use crate::link::Link;
use crate::model::Observations;
use crate::support::Functionals;

/// Steps of the search.
const MOST_STEPS: usize = 300;
/// Times a step is halved before it is given up.
const MOST_HALVINGS: i32 = 40;
/// Squared length of the last step, in standard deviations.
const TOLERANCE: f64 = 1e-16;
const NO_BAGS: InputError = InputError::Unavailable {
    what: "Nystrom regression",
    remedy: "it needs counts, or values with noise of known variance, over points or bags; use the posterior for other rows",
};

/// All points, and for every row its range of them.
pub(super) type BagPoints = (Vec<Vec<f64>>, Vec<std::ops::Range<usize>>);

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

/// Sums of a function of features behind a link, and what is reported of them.
pub(super) struct Search {
    pub link: Link,
    /// Features of all points, shape `[N, 1 + m]`.
    phi: Mat<f64>,
    rows: Vec<std::ops::Range<usize>>,
    /// Of every point, exposures multiplied in.
    weights: Vec<f64>,
    values: Vec<f64>,
    /// Of values; `None` for counts.
    variances: Option<Vec<f64>>,
    /// The matrix of the penalty.
    penalty: Mat<f64>,
    start: Vec<f64>,
}

impl Search {
    /// # Arguments
    /// * `variance` - prior variance of every coefficient but the level's
    /// * `manifold` - strength of the graph Laplacian
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for rows that are no points or bags, or no numbers.
    pub fn new(
        table: &Observations,
        features: &Features,
        variance: f64,
        manifold: f64,
    ) -> Result<Self, InputError> {
        let supports = table.supports();
        let (places, rows) = places(supports)?;
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
        let values: Vec<f64> = (0..rows.len())
            .map(|row| often(row) * reported.values[row])
            .collect();
        let mut weights = supports.weight().to_vec();
        for (row, atoms) in rows.iter().enumerate() {
            let factor = often(row) * reported.amounts[row];
            weights[atoms.clone()].iter_mut().for_each(|w| *w *= factor);
        }
        let all: Vec<Vec<f64>> = places.iter().map(|x| features.at(x)).collect();
        let phi = Mat::from_fn(all.len(), features.count(), |i, j| all[i][j]);
        let level = values.iter().sum::<f64>() / weights.iter().sum::<f64>();
        let mut start = vec![0.0; phi.ncols()];
        start[0] = link
            .inverse(level)
            .filter(|b| b.is_finite())
            .ok_or(NO_BAGS)?;
        Ok(Self {
            link,
            penalty: penalty(&phi, variance, manifold),
            phi,
            rows,
            weights,
            values,
            variances,
            start,
        })
    }

    /// The expected values of all rows, and their slopes.
    fn means(&self, b: &[f64]) -> (Vec<f64>, Mat<f64>) {
        let f = matvec(self.phi.as_ref(), b);
        let mut means = vec![0.0; self.rows.len()];
        let mut slopes = Mat::zeros(self.rows.len(), b.len());
        for (row, atoms) in self.rows.iter().enumerate() {
            for atom in atoms.clone() {
                let [value, slope, ..] = self.link.jet(f[atom]);
                means[row] += self.weights[atom] * value;
                for j in 0..b.len() {
                    slopes[(row, j)] += self.weights[atom] * slope * self.phi[(atom, j)];
                }
            }
        }
        (means, slopes)
    }

    /// What is least at the mode, but for a constant; infinite for means that cannot be.
    fn objective(&self, b: &[f64], means: &[f64]) -> f64 {
        let of_row = |row: usize| {
            let (y, mean) = (self.values[row], means[row]);
            match &self.variances {
                Some(v) => 0.5 * (y - mean).powi(2) / v[row],
                None if mean > 0.0 => mean - y * mean.ln(),
                None if y == 0.0 && mean == 0.0 => 0.0,
                None => f64::INFINITY,
            }
        };
        let fit: f64 = (0..means.len()).map(of_row).sum();
        fit + 0.5 * dot(b, &matvec(self.penalty.as_ref(), b))
    }

    /// The coefficients at the mode.
    ///
    /// # Errors
    /// [`FitError::NotConverged`], or that of a factorisation.
    ///
    /// # Numerics
    /// Fisher scoring, the step halved where the objective would rise, until it is shorter than
    /// 1e-8 standard deviations.
    pub fn run(&self) -> Result<Vec<f64>, FitError> {
        let mut b = self.start.clone();
        let failed = |residual: f64| FitError::NotConverged {
            method: "Nystrom regression",
            sweeps: MOST_STEPS,
            residual,
        };
        let mut length = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            let (means, slopes) = self.means(&b);
            let objective = self.objective(&b, &means);
            // The variance of a row, and what it is off by.
            let spread = |row: usize| match &self.variances {
                Some(v) => v[row],
                None => means[row].max(f64::MIN_POSITIVE),
            };
            let scaled = Mat::from_fn(slopes.nrows(), slopes.ncols(), |row, j| {
                slopes[(row, j)] / spread(row).sqrt()
            });
            let off: Vec<f64> = (0..means.len())
                .map(|row| (self.values[row] - means[row]) / spread(row).sqrt())
                .collect();
            let mut matrix = gemm(scaled.transpose(), scaled.as_ref());
            matrix += &self.penalty;
            let mut slope = matvec(scaled.transpose(), &off);
            let pull = matvec(self.penalty.as_ref(), &b);
            slope.iter_mut().zip(pull).for_each(|(s, p)| *s -= p);
            let step = Cholesky::factor_owned(matrix)?.solve(&slope);
            length = dot(&step, &slope);
            let stepped =
                |by: f64| -> Vec<f64> { b.iter().zip(&step).map(|(b, s)| b + by * s).collect() };
            if length <= TOLERANCE {
                return Ok(stepped(1.0));
            }
            // What rounding may do to the sum.
            let slack =
                1e-13 * (objective.abs() + self.values.iter().map(|y| y.abs()).sum::<f64>());
            let next = (0..MOST_HALVINGS)
                .map(|k| stepped(0.5_f64.powi(k)))
                .find(|next| self.objective(next, &self.means(next).0) <= objective + slack);
            b = next.ok_or_else(|| failed(length.sqrt()))?;
        }
        Err(failed(length.sqrt()))
    }
}

/// `I / v + 2 gamma / N^2 Phi' (diag(K 1) - K) Phi` with `K = Phi Phi'`, zero for the level.
fn penalty(phi: &Mat<f64>, variance: f64, manifold: f64) -> Mat<f64> {
    let (n, m) = (phi.nrows(), phi.ncols());
    let own = phi.as_ref().subcols(1, m - 1);
    let degrees = matvec(own, &matvec(own.transpose(), &vec![1.0; n]));
    let weighted = Mat::from_fn(n, m - 1, |i, j| degrees[i] * own[(i, j)]);
    let square = gemm(own.transpose(), own);
    let laplacian =
        gemm(own.transpose(), weighted.as_ref()) - gemm(square.as_ref(), square.as_ref());
    let strength = 2.0 * manifold / (n as f64).powi(2);
    Mat::from_fn(m, m, |i, j| {
        if i == 0 || j == 0 {
            return 0.0;
        }
        let ridge = if i == j { 1.0 / variance } else { 0.0 };
        ridge + strength * laplacian[(i - 1, j - 1)]
    })
}
