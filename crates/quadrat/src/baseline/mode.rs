//! The posterior mode of a function of features, of which sums are reported.

use std::ops::Range;

use super::bag_rows::BagRows;
use super::features::Features;
use crate::error::{FitError, InputError};
use crate::linalg::{Cholesky, Mat, dot, gemm, matvec};

/// Steps of the search.
const MOST_STEPS: usize = 300;
/// Times a step is halved before it is given up.
const MOST_HALVINGS: i32 = 40;
/// Squared length of the last step, in standard deviations.
const TOLERANCE: f64 = 1e-16;

/// Sums of a function of features behind a link, and what is reported of them.
pub(super) struct Search {
    rows: BagRows,
    /// Features of all points, shape `[N, 1 + m]`.
    phi: Mat<f64>,
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
    /// [`InputError::Unavailable`] where no level has the total of all rows.
    pub fn new(
        rows: BagRows,
        features: &Features,
        variance: f64,
        manifold: f64,
    ) -> Result<Self, InputError> {
        let all: Vec<Vec<f64>> = rows.places.iter().map(|x| features.at(x)).collect();
        let phi = Mat::from_fn(all.len(), features.count(), |i, j| all[i][j]);
        let mut start = vec![0.0; phi.ncols()];
        start[0] = rows.level()?;
        Ok(Self {
            penalty: penalty(&phi, variance, manifold),
            phi,
            rows,
            start,
        })
    }

    /// The expected values of all rows, and their slopes.
    fn means(&self, b: &[f64]) -> (Vec<f64>, Mat<f64>) {
        let f = matvec(self.phi.as_ref(), b);
        let BagRows {
            link,
            rows,
            weights,
            ..
        } = &self.rows;
        let (mut means, mut along) = (vec![0.0; rows.len()], vec![0.0; f.len()]);
        for (mean, atoms) in means.iter_mut().zip(rows) {
            for atom in atoms.clone() {
                let [value, slope, ..] = link.jet(f[atom]);
                *mean += weights[atom] * value;
                along[atom] = weights[atom] * slope;
            }
        }
        let mut slopes = Mat::zeros(rows.len(), b.len());
        for j in 0..b.len() {
            let feature = self.phi.col_as_slice(j);
            let of_row = |atoms: &Range<usize>| dot(&feature[atoms.clone()], &along[atoms.clone()]);
            let column = slopes.col_as_slice_mut(j);
            column
                .iter_mut()
                .zip(rows)
                .for_each(|(s, atoms)| *s = of_row(atoms));
        }
        (means, slopes)
    }

    /// What is least at the mode, but for a constant; infinite for means that cannot be.
    fn objective(&self, b: &[f64], means: &[f64]) -> f64 {
        let fit: f64 = (0..means.len())
            .map(|row| self.rows.loss(row, means[row]))
            .sum();
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
            let spread = |row: usize| self.rows.variance(row, means[row]).sqrt();
            let scaled = Mat::from_fn(slopes.nrows(), slopes.ncols(), |row, j| {
                slopes[(row, j)] / spread(row)
            });
            let off: Vec<f64> = (0..means.len())
                .map(|row| (self.rows.values[row] - means[row]) / spread(row))
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
                1e-13 * (objective.abs() + self.rows.values.iter().map(|y| y.abs()).sum::<f64>());
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
