//! Isotropic kernels between points, in bulk.

use pulp::{Arch, Simd, WithSimd};

use super::plan::{Isotropic, ProfileFamily};
use crate::kernel::{FARTHEST, Matern12, Matern32, Matern52, Profile, RationalQuadratic, Se};

/// Coordinates of points along the dimensions of a factor.
pub(super) struct Coordinates<'a> {
    /// `a[d]`: coordinates of the lanes.
    pub a: Vec<&'a [f64]>,
    /// `b[d]`: coordinates of the columns.
    pub b: Vec<&'a [f64]>,
}

/// `value[j * na + i] = kappa(r_ij)` from `r_ij^2`; `slope`, when given, receives `-kappa'(r) / r`,
/// of which every lengthscale derivative is a multiple, and `d_alpha` the derivative in `alpha`.
pub(super) fn apply(
    family: Isotropic,
    theta: &[f64],
    value: &mut [f64],
    slope: Option<&mut [f64]>,
    d_alpha: Option<&mut [f64]>,
) {
    match family {
        Isotropic::Radial(ProfileFamily::Se) => apply_profile::<Se>(value, slope),
        Isotropic::Radial(ProfileFamily::Matern12) => apply_profile::<Matern12>(value, slope),
        Isotropic::Radial(ProfileFamily::Matern32) => apply_profile::<Matern32>(value, slope),
        Isotropic::Radial(ProfileFamily::Matern52) => apply_profile::<Matern52>(value, slope),
        Isotropic::RationalQuadratic(alpha) => {
            let alpha = theta[alpha];
            match (slope, d_alpha) {
                (Some(slope), Some(d_alpha)) => {
                    for ((v, s), d) in value.iter_mut().zip(slope).zip(d_alpha) {
                        (*v, *s, *d) = RationalQuadratic::radial(v.max(0.0), alpha);
                    }
                }
                _ => value
                    .iter_mut()
                    .for_each(|v| *v = RationalQuadratic::radial(v.max(0.0), alpha).0),
            }
        }
    }
}

/// Adds `sum_ij g_ij s_ij u_ijd^2` of every dimension to `sums`, `u = (x_id - y_jd) inverse_d`, for
/// slopes `s` and an adjoint `g`, both `[j * na + i]`.
pub(super) fn squared_gaps(
    points: &Coordinates<'_>,
    inverse: &[f64],
    slope: &[f64],
    adjoint: &[f64],
    sums: &mut [f64],
) {
    for (d, sum) in sums.iter_mut().enumerate() {
        let gaps = Arch::new().dispatch(SquaredGaps {
            x: points.a[d],
            y: points.b[d],
            inverse: inverse[d],
            slope,
            adjoint,
        });
        *sum += gaps;
    }
}

struct Distances<'a, 'b> {
    inverse: &'a [f64],
    points: &'a Coordinates<'b>,
    out: &'a mut [f64],
}

impl WithSimd for Distances<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let na = self.points.a.first().map_or(0, |a| a.len());
        let Coordinates { a, b } = self.points;
        let square = |x: f64, y: f64, inverse: f64| ((x - y) * inverse) * ((x - y) * inverse);
        for (j, out) in self.out.chunks_exact_mut(na.max(1)).enumerate() {
            // Two dimensions at a time: what they add up to is written once.
            for (k, inverse) in self.inverse.chunks(2).enumerate() {
                let first = 2 * k;
                let at = |d: usize| (a[d], b[d][j]);
                match *inverse {
                    [one, other] => {
                        let ((x, y), (u, v)) = (at(first), at(first + 1));
                        let pairs = out.iter_mut().zip(x.iter().zip(u));
                        let sum = |x, u| square(x, y, one) + square(u, v, other);
                        if k == 0 {
                            pairs.for_each(|(o, (&x, &u))| *o = sum(x, u));
                        } else {
                            pairs.for_each(|(o, (&x, &u))| *o += sum(x, u));
                        }
                    }
                    [one] => {
                        let (x, y) = at(first);
                        let pairs = out.iter_mut().zip(x);
                        if k == 0 {
                            pairs.for_each(|(o, &x)| *o = square(x, y, one));
                        } else {
                            pairs.for_each(|(o, &x)| *o += square(x, y, one));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// `out[j * na + i] = sum_d ((x_id - y_jd) inverse_d)^2`.
pub(super) fn squared_distances(inverse: &[f64], points: &Coordinates<'_>, out: &mut [f64]) {
    Arch::new().dispatch(Distances {
        inverse,
        points,
        out,
    });
}

struct SquaredGaps<'a> {
    x: &'a [f64],
    y: &'a [f64],
    inverse: f64,
    slope: &'a [f64],
    adjoint: &'a [f64],
}

impl WithSimd for SquaredGaps<'_> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> f64 {
        let (x, x_tail) = S::as_simd_f64s(self.x);
        let na = self.x.len().max(1);
        let columns = self.slope.chunks_exact(na);
        let columns = columns.zip(self.adjoint.chunks_exact(na));
        let (inverse, farthest) = (s.splat_f64s(self.inverse), s.splat_f64s(FARTHEST));
        let (mut sum, mut rest) = (s.splat_f64s(0.0), 0.0);
        for (&y, (slope, adjoint)) in self.y.iter().zip(columns) {
            let (slope, slope_tail) = S::as_simd_f64s(slope);
            let (adjoint, adjoint_tail) = S::as_simd_f64s(adjoint);
            let at = s.splat_f64s(y);
            for ((&x, &k), &g) in x.iter().zip(slope).zip(adjoint) {
                let gap = s.mul_f64s(s.sub_f64s(x, at), inverse);
                let gap = s.min_f64s(farthest, s.abs_f64s(gap));
                sum = s.mul_add_f64s(s.mul_f64s(k, g), s.mul_f64s(gap, gap), sum);
            }
            for ((&x, &k), &g) in x_tail.iter().zip(slope_tail).zip(adjoint_tail) {
                let gap = ((x - y) * self.inverse).abs().min(FARTHEST);
                rest += k * g * gap * gap;
            }
        }
        s.reduce_sum_f64s(sum) + rest
    }
}

struct Apply<'a, P> {
    value: &'a mut [f64],
    slope: Option<&'a mut [f64]>,
    profile: std::marker::PhantomData<P>,
}

impl<P: Profile> WithSimd for Apply<'_, P> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        // Distances by products come out below zero by rounding; NaN stays.
        let at_least_zero = |v| s.max_f64s(s.splat_f64s(0.0), v);
        let (head, tail) = S::as_mut_simd_f64s(self.value);
        if let Some(slope) = self.slope {
            let (slope_head, slope_tail) = S::as_mut_simd_f64s(slope);
            for (v, g) in head.iter_mut().zip(slope_head) {
                (*v, *g) = P::radial(s, at_least_zero(*v));
            }
            if !tail.is_empty() {
                let (v, g) = P::radial(s, at_least_zero(s.partial_load_f64s(tail)));
                s.partial_store_f64s(tail, v);
                s.partial_store_f64s(slope_tail, g);
            }
        } else {
            for v in head {
                *v = P::radial(s, at_least_zero(*v)).0;
            }
            if !tail.is_empty() {
                let v = P::radial(s, at_least_zero(s.partial_load_f64s(tail))).0;
                s.partial_store_f64s(tail, v);
            }
        }
    }
}

fn apply_profile<P: Profile>(value: &mut [f64], slope: Option<&mut [f64]>) {
    Arch::new().dispatch(Apply::<P> {
        value,
        slope,
        profile: std::marker::PhantomData,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_those_of_a_loop() {
        let (n, m) = (13, 7);
        let place = |i: usize, d: usize| 3.0 * ((0.618 * i as f64 + 0.37 * d as f64) % 1.0);
        let side = |n: usize, d| -> Vec<f64> { (0..n).map(|i| place(i + 3 * d, d)).collect() };
        let (a, b) = ([side(n, 0), side(n, 1)], [side(m, 2), side(m, 3)]);
        let points = Coordinates {
            a: a.iter().map(Vec::as_slice).collect(),
            b: b.iter().map(Vec::as_slice).collect(),
        };
        let inverse = [0.7, 1.9];
        let gap = |k: usize, d: usize| (a[d][k % n] - b[d][k / n]) * inverse[d];
        let mut distances = vec![f64::NAN; n * m];
        squared_distances(&inverse, &points, &mut distances);
        let slope: Vec<f64> = distances.iter().map(|r| (-0.2 * r).exp()).collect();
        let adjoint: Vec<f64> = (0..n * m).map(|k| (1.7 * k as f64).sin()).collect();
        let mut sums = [1.0; 2];
        squared_gaps(&points, &inverse, &slope, &adjoint, &mut sums);
        for k in 0..n * m {
            let want = gap(k, 0).powi(2) + gap(k, 1).powi(2);
            // Rounding of numbers of some tens.
            assert!((distances[k] - want).abs() < 1e-13, "{k}");
        }
        for (d, got) in sums.iter().enumerate() {
            let terms = (0..n * m).map(|k| slope[k] * adjoint[k] * gap(k, d).powi(2));
            let want = 1.0 + terms.sum::<f64>();
            // The same, and so many terms.
            assert!((got - want).abs() < 1e-13 * (n * m) as f64, "{got} {want}");
        }
    }
}
