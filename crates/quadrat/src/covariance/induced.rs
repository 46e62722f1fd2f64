//! Covariances of many functionals with a few inducing ones, chunk by chunk.

use std::sync::Arc;

use faer::{Mat, MatRef};

use super::{Covariance, Cross};
use crate::support::Functionals;

/// A kernel at inducing points and at chunks of functionals.
///
/// # Examples
/// ```
/// use quadrat::covariance::{Covariance, CrossWork, Induced};
/// use quadrat::{kernel::Kernel, linalg::Mat, support::Functionals};
/// let covariance = Covariance::new(&Kernel::se(["t"]));
/// let inducing = Functionals::points("t", &[0.0, 1.0])?;
/// let chunks = vec![Functionals::points("t", &[0.5])?, Functionals::points("t", &[2.0, 3.0])?];
/// let induced = Induced::new(covariance, inducing, chunks, 1e-6);
/// let mut k = Mat::zeros(2, 2);
/// induced.with_cross(&[2.0, 1.0], 1, false, |cross| {
///     cross.fill(0..2, &mut CrossWork::default(), k.as_mut());
/// });
/// assert!((k[(1, 0)] - 2.0 * (-0.5f64).exp()).abs() < 1e-15);
/// assert_eq!(induced.matrix(&[2.0, 1.0])[(0, 0)], 2.0 * (1.0 + 1e-6));
/// # Ok::<(), quadrat::error::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Induced {
    covariance: Covariance,
    inducing: Functionals,
    chunks: Arc<[Functionals]>,
    jitter: f64,
}

/// Inducing points shifted along a column there and back, for slopes of their covariances.
#[derive(Debug, Clone)]
pub struct Shift {
    there: Functionals,
    back: Functionals,
    /// How far every one of them came, with the rounding of its coordinates.
    gap: Vec<f64>,
}

impl Induced {
    /// # Arguments
    /// * `inducing` - supports with the columns of the kernel
    /// * `chunks` - the same, in the order in which they are streamed
    /// * `jitter` - added to the variance of every inducing point, relative to it: as if their
    ///   values were seen through so much noise, so that bounds of the evidence remain bounds
    #[must_use]
    pub fn new(
        covariance: Covariance,
        inducing: Functionals,
        chunks: Vec<Functionals>,
        jitter: f64,
    ) -> Self {
        Self {
            covariance,
            inducing,
            chunks: chunks.into(),
            jitter,
        }
    }

    /// With other inducing points; the functionals are shared.
    #[must_use]
    pub fn through(&self, inducing: Functionals) -> Self {
        Self {
            covariance: self.covariance.clone(),
            inducing,
            chunks: Arc::clone(&self.chunks),
            jitter: self.jitter,
        }
    }

    /// The inducing points shifted along a column by a small distance.
    #[must_use]
    pub fn shift(&self, column: usize, by: f64) -> Shift {
        let there = self.inducing.moved(column, |_, x| x + by);
        let back = self.inducing.moved(column, |_, x| x - by);
        let pairs = there.lower(column).iter().zip(back.lower(column));
        Shift {
            gap: pairs.map(|(t, b)| t - b).collect(),
            there,
            back,
        }
    }

    /// `d K_uX / d z` of a chunk, where `z` is the coordinate of the inducing point of a row that
    /// was shifted, into `out`.
    ///
    /// # Numerics
    /// Central differences, of every kernel alike: with shifts of 1e-4 to 1e-6 lengthscales right
    /// to 1e-8 of the slope of the kernel. Where a kernel has a kink the slope is zero.
    pub fn cross_slope(&self, theta: &[f64], chunk: usize, shift: &Shift, out: &mut Mat<f64>) {
        self.slope(theta, shift, &self.chunks[chunk], out);
    }

    /// `d k(z_i, z_j) / d z_i`, as [`Self::cross_slope`]; the covariance of a point with itself
    /// changes twice as much.
    #[must_use]
    pub fn matrix_slope(&self, theta: &[f64], shift: &Shift) -> Mat<f64> {
        let mut out = Mat::new();
        self.slope(theta, shift, &self.inducing, &mut out);
        for i in 0..out.nrows() {
            out[(i, i)] *= 1.0 + self.jitter;
        }
        out
    }

    fn slope(&self, theta: &[f64], shift: &Shift, at: &Functionals, out: &mut Mat<f64>) {
        self.covariance.cross_into(theta, &shift.there, at, out);
        let back = self.covariance.cross(theta, &shift.back, at);
        for j in 0..out.ncols() {
            let column = out.col_as_slice_mut(j).iter_mut();
            let pairs = column.zip(back.col_as_slice(j)).zip(&shift.gap);
            pairs.for_each(|((o, b), gap)| *o = (*o - b) / gap);
        }
    }

    /// The inducing points.
    #[must_use]
    pub fn inducing(&self) -> &Functionals {
        &self.inducing
    }

    /// What is added to the variance of every inducing point, relative to it.
    #[must_use]
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// The functionals of a chunk.
    #[must_use]
    pub fn chunk(&self, chunk: usize) -> &Functionals {
        &self.chunks[chunk]
    }

    /// Shows every coordinate of the inducing points and of the functionals, chunk by chunk.
    pub fn coordinates(&self, show: &mut dyn FnMut(f64)) {
        for set in std::iter::once(&self.inducing).chain(self.chunks.iter()) {
            for d in 0..set.dims().len() {
                let ends = set.lower(d).iter().chain(set.width(d));
                ends.for_each(|x| show(*x));
            }
        }
    }

    /// `K_uu`, jitter included.
    #[must_use]
    pub fn matrix(&self, theta: &[f64]) -> Mat<f64> {
        let mut k = self.covariance.matrix(theta, &self.inducing);
        for i in 0..k.nrows() {
            k[(i, i)] *= 1.0 + self.jitter;
        }
        k
    }

    /// Prepares `K_uX` of a chunk for ranges of its columns, and lends it; `with_slopes` says
    /// whether it will be contracted.
    pub fn with_cross<T>(
        &self,
        theta: &[f64],
        chunk: usize,
        with_slopes: bool,
        act: impl FnOnce(&Cross<'_>) -> T,
    ) -> T {
        let sides = (&self.inducing, &self.chunks[chunk]);
        self.covariance.with_cross(theta, sides, with_slopes, act)
    }

    /// Prior variances of a chunk.
    #[must_use]
    pub fn diagonal(&self, theta: &[f64], chunk: usize) -> Vec<f64> {
        self.covariance.diagonal(theta, &self.chunks[chunk])
    }

    /// Prior covariance of some functionals of a chunk.
    #[must_use]
    pub fn within(&self, theta: &[f64], chunk: usize, rows: &[usize]) -> Mat<f64> {
        let at = self.chunks[chunk].rows(rows);
        self.covariance.matrix(theta, &at)
    }

    /// Adds `<G, d matrix>` for a symmetric `G`.
    pub fn contract_matrix(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]) {
        let mut adjoint = adjoint.to_owned();
        for i in 0..adjoint.nrows() {
            adjoint[(i, i)] *= 1.0 + self.jitter;
        }
        let inducing = &self.inducing;
        self.covariance
            .contract(theta, inducing, adjoint.as_ref(), gradient);
    }

    /// Adds `sum_i g_i d diagonal_i`.
    pub fn contract_diagonal(
        &self,
        theta: &[f64],
        chunk: usize,
        adjoint: &[f64],
        gradient: &mut [f64],
    ) {
        let at = &self.chunks[chunk];
        self.covariance
            .contract_diagonal(theta, at, adjoint, gradient);
    }

    /// Adds `<G, d within>` for a symmetric `G`.
    pub fn contract_within(
        &self,
        theta: &[f64],
        chunk: usize,
        rows: &[usize],
        adjoint: MatRef<'_, f64>,
        gradient: &mut [f64],
    ) {
        let at = self.chunks[chunk].rows(rows);
        self.covariance.contract(theta, &at, adjoint, gradient);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::support::Aggregate;

    #[test]
    fn the_diagonal_contracts_as_a_diagonal_matrix_does() {
        for expression in [
            "se(t) + matern32(t)",
            "linear(t) + se(t)",
            "linear(t) * periodic(t)",
        ] {
            let kernel: Kernel = expression.parse().unwrap();
            let covariance = Covariance::new(&kernel);
            let theta: Vec<f64> = (0..covariance.parameters())
                .map(|i| 0.7 + 0.2 * i as f64)
                .collect();
            let mut set = Functionals::new(vec!["t".into()]);
            for i in 0..41 {
                if i % 10 == 7 {
                    let ends = (0.1 * i as f64, 0.1 * i as f64 + 0.5);
                    set.push_box(&[ends], crate::support::Aggregate::Mean)
                        .unwrap();
                } else {
                    set.push_point(&[0.3 * i as f64]).unwrap();
                }
            }
            let adjoint: Vec<f64> = (0..41).map(|i| (i as f64).cos()).collect();
            let (mut got, mut want) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
            covariance.contract_diagonal(&theta, &set, &adjoint, &mut got);
            let full = Mat::from_fn(41, 41, |i, j| if i == j { adjoint[i] } else { 0.0 });
            covariance.contract(&theta, &set, full.as_ref(), &mut want);
            for (g, w) in got.iter().zip(&want) {
                // Sums of 41 terms in another order.
                assert!(
                    (g - w).abs() < 1e-12 * (1.0 + w.abs()),
                    "{expression}: {got:?} {want:?}"
                );
            }
        }
    }

    /// Against what `se(x) + linear(y)` has in closed form, between points and with the mean over
    /// an interval.
    #[test]
    fn slopes_are_those_of_the_kernel() {
        let kernel: Kernel = "se(x) + linear(y)".parse().unwrap();
        // Far from the origin, where shifts are rounded.
        let place = |i: usize| [4000.0 + 0.7 * i as f64, 0.3 - 0.2 * i as f64];
        let mut inducing = Functionals::new(kernel.columns().to_vec());
        let mut at = inducing.clone();
        for i in 0..4 {
            inducing.push_point(&place(i)).unwrap();
        }
        at.push_point(&[4000.4, 0.9]).unwrap();
        at.push_box(&[(4000.5, 4001.1), (-0.2, 0.6)], Aggregate::Mean)
            .unwrap();
        let (v, l) = (1.7, 0.6);
        let theta: Vec<f64> = kernel
            .parameters()
            .iter()
            .map(|p| match p.name.as_str() {
                "se.variance" => v,
                "se.lengthscale.x" => l,
                _ => 0.8,
            })
            .collect();
        let k = |d: f64| v * (-0.5 * (d / l).powi(2)).exp();
        let induced = Induced::new(Covariance::new(&kernel), inducing, vec![at], 1e-6);
        let mut got = Mat::new();
        induced.cross_slope(&theta, 0, &induced.shift(0, 1e-6), &mut got);
        for i in 0..4 {
            let x = place(i)[0];
            let want = [
                -(x - 4000.4) / l.powi(2) * k(x - 4000.4),
                (k(x - 4000.5) - k(x - 4001.1)) / 0.6,
            ];
            for (j, want) in want.into_iter().enumerate() {
                // Rounding of covariances over the shift.
                let off = (got[(i, j)] - want).abs();
                assert!(off < 1e-8, "{i} {j}: {} {want}", got[(i, j)]);
            }
        }
        let own = induced.matrix_slope(&theta, &induced.shift(1, 1e-6));
        for i in 0..4 {
            for j in 0..4 {
                let jitter = if i == j { 1.0 + 1e-6 } else { 1.0 };
                let want = 0.8 * place(j)[1] * jitter;
                assert!(
                    // Rounding of covariances over the shift, again.
                    (own[(i, j)] - want).abs() < 1e-8,
                    "{i} {j}: {} {want}",
                    own[(i, j)]
                );
            }
        }
    }
}
