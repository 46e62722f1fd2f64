//! Isotropic kernels between points, in bulk.

use pulp::{Arch, Simd, WithSimd};

use super::plan::{Family, Isotropic};
use crate::kernel::{Matern12, Matern32, Matern52, Profile, RationalQuadratic, Se};

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
    squared_distances(inverse, points, value);
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
