//! Isotropic kernels between points, in bulk.

use faer::{Mat, MatMut, MatRef};
use pulp::{Arch, Simd, WithSimd};

use super::plan::{Family, Isotropic};
use crate::kernel::{Matern12, Matern32, Matern52, Profile, RationalQuadratic, Se};
use crate::linalg::{dot, gemm, gemm_into, matvec};

/// Coordinates of points along the dimensions of a factor.
pub(super) struct Points<'a> {
    /// `a[d]`: coordinates of the lanes.
    pub a: Vec<&'a [f64]>,
    /// `b[d]`: coordinates of the columns.
    pub b: Vec<&'a [f64]>,
}

/// `value[j * na + i] = kappa(r_ij)`; `slope`, when given, receives `-kappa'(r) / r`, of which
/// every lengthscale derivative is a multiple, and `d_alpha` the derivative in `alpha`.
pub(super) fn fill(
    family: Isotropic,
    theta: &[f64],
    inverse: &[f64],
    points: &Points<'_>,
    value: &mut [f64],
    slope: Option<&mut [f64]>,
    d_alpha: Option<&mut [f64]>,
) {
    if inverse.len() >= WIDE && family != Isotropic::Radial(Family::Matern12) {
        squared_distances_by_product(inverse, points, value);
    } else {
        squared_distances(inverse, points, value);
    }
    match family {
        Isotropic::Radial(Family::Se) => apply::<Se>(value, slope),
        Isotropic::Radial(Family::Matern12) => apply::<Matern12>(value, slope),
        Isotropic::Radial(Family::Matern32) => apply::<Matern32>(value, slope),
        Isotropic::Radial(Family::Matern52) => apply::<Matern52>(value, slope),
        Isotropic::RationalQuadratic(alpha) => {
            let alpha = theta[alpha];
            match (slope, d_alpha) {
                (Some(slope), Some(d_alpha)) => {
                    for ((v, s), d) in value.iter_mut().zip(slope).zip(d_alpha) {
                        (*v, *s, *d) = RationalQuadratic::radial(*v, alpha);
                    }
                }
                _ => value
                    .iter_mut()
                    .for_each(|v| *v = RationalQuadratic::radial(*v, alpha).0),
            }
        }
    }
}

/// From so many dimensions on, distances and their derivatives are matrix products,
/// `|x - y|^2 = |x|^2 + |y|^2 - 2 x'y`: cheaper by several times, and exact to rounding of `|x|^2`, about the middle of the tile. That is
/// too little for the kernel that has a kink at zero.
const WIDE: usize = 8;

/// Coordinates about the middle of the points `b`, scaled, shape `[points, dims]`.
fn centred(points: &Points<'_>, scale: impl Fn(usize) -> f64) -> [Mat<f64>; 2] {
    let middles: Vec<f64> = points
        .b
        .iter()
        .map(|b| b.iter().sum::<f64>() / b.len().max(1) as f64)
        .collect();
    [&points.a, &points.b].map(|side| {
        let n = side.first().map_or(0, |x| x.len());
        let mut out = Mat::zeros(n, side.len());
        for (d, (x, middle)) in side.iter().zip(&middles).enumerate() {
            let by = scale(d);
            let pairs = out.col_as_slice_mut(d).iter_mut().zip(*x);
            pairs.for_each(|(o, x)| *o = (x - middle) * by);
        }
        out
    })
}

/// Squared lengths of rows.
fn lengths(x: &Mat<f64>) -> Vec<f64> {
    let mut out = vec![0.0; x.nrows()];
    for d in 0..x.ncols() {
        let pairs = out.iter_mut().zip(x.col_as_slice(d));
        pairs.for_each(|(o, x)| *o += x * x);
    }
    out
}

struct AddLengths<'a> {
    a: &'a [f64],
    b: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for AddLengths<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (b, out) in self.b.iter().zip(self.out.chunks_exact_mut(self.a.len())) {
            for (o, a) in out.iter_mut().zip(self.a) {
                *o = (*o + a + b).max(0.0);
            }
        }
    }
}

fn squared_distances_by_product(inverse: &[f64], points: &Points<'_>, out: &mut [f64]) {
    let [a, b] = centred(points, |d| inverse[d]);
    let (n, m) = (a.nrows(), b.nrows());
    if n == 0 || m == 0 {
        return;
    }
    let target = MatMut::from_column_major_slice_mut(out, n, m);
    gemm_into(target, false, -2.0, a.as_ref(), b.transpose());
    let (a, b) = (lengths(&a), lengths(&b));
    Arch::new().dispatch(AddLengths { a: &a, b: &b, out });
}

/// Overwrites `adjoint` with `g_ij s_ij` for slopes `s`, both `[j * na + i]`, and adds `sum_ij g_ij s_ij (x_i - y_j)^2` of every dimension to
/// `sums`.
pub(super) fn squared_gaps(
    points: &Points<'_>,
    slope: &[f64],
    adjoint: &mut [f64],
    sums: &mut [f64],
) {
    let dims = points.a.len();
    if dims < WIDE {
        for (d, sum) in sums.iter_mut().enumerate() {
            *sum += Arch::new().dispatch(SquaredGaps {
                x: points.a[d],
                y: points.b[d],
                slope,
                adjoint,
            });
        }
        return;
    }
    adjoint.iter_mut().zip(slope).for_each(|(g, s)| *g *= s);
    let [a, b] = centred(points, |_| 1.0);
    let (n, m) = (a.nrows(), b.nrows());
    let weights = MatRef::from_column_major_slice(adjoint, n, m);
    // sum_i x_i^2 r_i + sum_j y_j^2 c_j - 2 sum_i x_i (G y)_i, with sums r of rows and c of columns.
    let turned = gemm(weights, b.as_ref());
    let rows = matvec(weights, &vec![1.0; m]);
    let columns: Vec<f64> = adjoint.chunks_exact(n).map(|g| g.iter().sum()).collect();
    let weigh = |x: &[f64], w: &[f64]| -> f64 {
        let terms = x.iter().zip(w);
        terms.map(|(x, w)| x * x * w).sum()
    };
    for (d, sum) in sums.iter_mut().enumerate() {
        let (x, y) = (a.col_as_slice(d), b.col_as_slice(d));
        *sum += weigh(x, &rows) + weigh(y, &columns) - 2.0 * dot(x, turned.col_as_slice(d));
    }
}

struct Distances<'a, 'b> {
    inverse: &'a [f64],
    points: &'a Points<'b>,
    out: &'a mut [f64],
}

impl WithSimd for Distances<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let na = self.points.a.first().map_or(0, |a| a.len());
        for (j, out) in self.out.chunks_exact_mut(na.max(1)).enumerate() {
            out.fill(0.0);
            for (d, &inverse) in self.inverse.iter().enumerate() {
                let y = self.points.b[d][j];
                for (o, &x) in out.iter_mut().zip(self.points.a[d]) {
                    let u = (x - y) * inverse;
                    *o += u * u;
                }
            }
        }
    }
}

fn squared_distances(inverse: &[f64], points: &Points<'_>, out: &mut [f64]) {
    Arch::new().dispatch(Distances {
        inverse,
        points,
        out,
    });
}

struct SquaredGaps<'a> {
    x: &'a [f64],
    y: &'a [f64],
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
        let (mut sum, mut rest) = (s.splat_f64s(0.0), 0.0);
        for (&y, (slope, adjoint)) in self.y.iter().zip(columns) {
            let (slope, slope_tail) = S::as_simd_f64s(slope);
            let (adjoint, adjoint_tail) = S::as_simd_f64s(adjoint);
            let at = s.splat_f64s(y);
            for ((&x, &k), &g) in x.iter().zip(slope).zip(adjoint) {
                let gap = s.sub_f64s(x, at);
                sum = s.mul_add_f64s(s.mul_f64s(k, g), s.mul_f64s(gap, gap), sum);
            }
            for ((&x, &k), &g) in x_tail.iter().zip(slope_tail).zip(adjoint_tail) {
                rest += k * g * (x - y) * (x - y);
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
        let (head, tail) = S::as_mut_simd_f64s(self.value);
        if let Some(slope) = self.slope {
            let (slope_head, slope_tail) = S::as_mut_simd_f64s(slope);
            for (v, g) in head.iter_mut().zip(slope_head) {
                (*v, *g) = P::radial(s, *v);
            }
            if !tail.is_empty() {
                let (v, g) = P::radial(s, s.partial_load_f64s(tail));
                s.partial_store_f64s(tail, v);
                s.partial_store_f64s(slope_tail, g);
            }
        } else {
            for v in head {
                *v = P::radial(s, *v).0;
            }
            if !tail.is_empty() {
                let v = P::radial(s, s.partial_load_f64s(tail)).0;
                s.partial_store_f64s(tail, v);
            }
        }
    }
}

fn apply<P: Profile>(value: &mut [f64], slope: Option<&mut [f64]>) {
    Arch::new().dispatch(Apply::<P> {
        value,
        slope,
        profile: std::marker::PhantomData,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways, with points that coincide and others that are far away.
    #[test]
    fn products_agree_with_differences() {
        let (n, m, dims) = (13, 7, WIDE + 1);
        let place =
            |i: usize, d: usize| 3.0 * ((0.618 * i as f64 + 0.37 * d as f64) % 1.0) + d as f64;
        let side = |n: usize, from: usize| -> Vec<Vec<f64>> {
            let column = |d| (0..n).map(|i| place(from + i, d)).collect();
            (0..dims).map(column).collect()
        };
        // The last of one side are the first of the other.
        let (a, b) = (side(n, 0), side(m, n - 3));
        let points = Points {
            a: a.iter().map(Vec::as_slice).collect(),
            b: b.iter().map(Vec::as_slice).collect(),
        };
        let inverse: Vec<f64> = (0..dims).map(|d| 0.5 + 0.3 * d as f64).collect();
        let (mut want, mut got) = (vec![0.0; n * m], vec![f64::NAN; n * m]);
        squared_distances(&inverse, &points, &mut want);
        squared_distances_by_product(&inverse, &points, &mut got);
        for (got, want) in got.iter().zip(&want) {
            // Rounding of squared lengths of some hundreds.
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
        let slope: Vec<f64> = want.iter().map(|r| (-0.02 * r).exp()).collect();
        let adjoint: Vec<f64> = (0..n * m).map(|i| (1.7 * i as f64).sin()).collect();
        let mut sums = vec![1.0; dims];
        squared_gaps(&points, &slope, &mut adjoint.clone(), &mut sums);
        for (d, got) in sums.iter().enumerate() {
            let (x, y) = (&a[d], &b[d]);
            let term =
                |i: usize, j: usize| slope[j * n + i] * adjoint[j * n + i] * (x[i] - y[j]).powi(2);
            let want: f64 = (0..n * m).map(|k| term(k % n, k / n)).sum();
            assert!(
                (got - 1.0 - want).abs() < 1e-12 * (n * m) as f64,
                "{got} {want}"
            );
        }
    }
}
