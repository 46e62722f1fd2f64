//! Derivatives of a pass in the hyperparameters and in the places of the inducing points.

use super::chunk::PointSlopes;
use super::stream::{PreparedNormal, Stream};
use crate::inference::sparse::Normal;
use crate::inference::sparse::features::{ChunkFeatures, ColumnWork, WIDTH};
use crate::inference::sparse::slopes::for_columns;
use crate::inference::sparse::sums::Sums;
use crate::linalg::{
    Mat, MatRef, add_scaled, cut, gemm, gemm_into, lower_transpose_times_into, matvec,
    mirror_lower, reshape, symmetric_from_fn, vectorised,
};

impl Stream<'_> {
    /// Derivatives in the hyperparameters of the covariances of a chunk.
    pub(super) fn contract(
        &self,
        at: &PreparedNormal<'_>,
        chunk: usize,
        features: &ChunkFeatures,
        slopes: &mut PointSlopes,
        (ad, panel, slope): (MatRef<'_, f64>, &mut ColumnWork, &mut Mat<f64>),
        sum: &mut Sums,
    ) {
        let PointSlopes {
            mean: to_mean,
            variance: to_variance,
            within: slopes,
        } = slopes;
        let (size, n) = (ad.nrows(), ad.ncols());
        let back = self.whitener.transpose();
        for slope in slopes.iter_mut().filter(|slope| slope.low_rank.is_some()) {
            slope.along = matvec(back, &slope.along);
            let mut own = Mat::zeros(size, slope.seen.ncols());
            lower_transpose_times_into(own.as_mut(), self.whitener.as_ref(), slope.seen.as_ref());
            slope.seen = own;
        }
        let (induced, theta) = (self.problem.induced(), self.theta);
        // Derivatives in places of inducing points are taken over the whole chunk at once.
        let width = if self.shifts.is_empty() { WIDTH } else { n };
        let ColumnWork {
            cross: adjoint,
            work,
        } = panel;
        let gradient = &mut sum.gradient;
        induced.with_cross(theta, chunk, true, |cross| {
            for range in cut(n, width) {
                reshape(adjoint, size, range.len());
                let ad = ad.subcols(range.start, range.len());
                gemm_into(adjoint.as_mut(), false, 1.0, at.turn.as_ref(), ad);
                for_columns(range.clone(), slopes, |j, explained| {
                    let out = adjoint.col_as_slice_mut(j - range.start);
                    vectorised(|| {
                        add_scaled(to_mean[j], &at.dual, out);
                        if let Some((by, along)) = explained {
                            add_scaled(2.0 * by, along, out);
                        }
                    });
                });
                for (sample, slope) in features.within.iter().zip(&*slopes) {
                    let places = sample.places.iter().enumerate();
                    let here = places.filter(|(_, place)| range.contains(place));
                    for (j, place) in here.filter(|_| slope.low_rank.is_some()) {
                        let out = adjoint.col_as_slice_mut(place - range.start);
                        vectorised(|| add_scaled(2.0, slope.seen.col_as_slice(j), out));
                    }
                }
                for (shift, places) in self.shifts.iter().zip(sum.in_places.chunks_mut(size)) {
                    induced.cross_slope(theta, chunk, shift, slope);
                    add_products(adjoint, slope, 1.0, places);
                }
                cross.contract(range, adjoint.as_ref(), work, gradient);
            }
        });
        for (sample, slope) in features.within.iter().zip(&*slopes) {
            let mut d = slope.block.clone();
            if sample.is_full {
                for (i, &place) in sample.places.iter().enumerate() {
                    d[(i, i)] = std::mem::take(&mut to_variance[place]);
                }
            }
            induced.contract_within(theta, chunk, &sample.places, d.as_ref(), gradient);
        }
        induced.contract_diagonal(theta, chunk, to_variance, gradient);
    }

    /// Adds the derivatives through the covariance of the inducing points, with `away = S - I`.
    /// Both triangles of the sums must be filled.
    pub(super) fn contract_inducing(&self, q: &Normal, away: &Mat<f64>, total: &mut Sums) {
        let size = away.nrows();
        // mu F_mu' + 2 (S - I) F_S + 2 A E A'.
        let mut inner = gemm(away.as_ref(), total.in_covariance.as_ref());
        for j in 0..size {
            for i in 0..size {
                let both = inner[(i, j)] + total.explained[(i, j)];
                inner[(i, j)] = 2.0 * both + q.mean()[i] * total.in_mean[j];
            }
        }
        let mut adjoint = symmetric_from_fn(size, |i, j| -0.5 * inner[(i, j)]);
        self.factor.half_solve_transpose_in_place(adjoint.as_mut());
        let mut adjoint = adjoint.transpose().to_owned();
        self.factor.half_solve_transpose_in_place(adjoint.as_mut());
        mirror_lower(&mut adjoint);
        for i in 0..size {
            adjoint[(i, i)] *= 1.0 + self.jitter;
        }
        let induced = self.problem.induced();
        induced.contract_matrix(self.theta, adjoint.as_ref(), &mut total.gradient);
        for (shift, places) in self.shifts.iter().zip(total.in_places.chunks_mut(size)) {
            let slope = induced.matrix_slope(self.theta, shift);
            add_products(&adjoint, &slope, 2.0, places);
        }
    }
}

/// Adds `factor sum_j a_ij b_ij` to every `out_i`.
fn add_products(a: &Mat<f64>, b: &Mat<f64>, factor: f64, out: &mut [f64]) {
    for j in 0..a.ncols() {
        let pairs = a.col_as_slice(j).iter().zip(b.col_as_slice(j));
        out.iter_mut()
            .zip(pairs)
            .for_each(|(o, (a, b))| *o += factor * a * b);
    }
}
