//! Stationary kernels of one dimension between intervals, in bulk.
//!
//! An atom is the average over `[s, s + w]`; a point has `w = 0`. In units of the lengthscale,
//! with `u = x' - x`,
//!
//! `K = 1/(w w') integral T(u) kappa(|u|) du`,
//!
//! where `T` is a trapezoid: a ramp of length `wm = min(w, w')` from `s' - t`, a plateau of length
//! `|w - w'|`, and a ramp down. Two forms, of which one is always accurate:
//!
//! * both wider than [`NARROW`]: second antiderivatives at the four corners, with the linear part
//!   taken out so that nothing grows with the separation;
//! * otherwise Gauss-Legendre on ramps and plateau (cut where `u` changes sign), the plateau by the
//!   first antiderivative when it is long: all terms are positive, so nothing cancels, and a width
//!   going to zero leads smoothly to `kappa(|x - x'|)`.
//!
//! Error below `2e-14 sqrt(K_ii K_jj)` for every width from `1e-8` to `1e4` lengthscales and every
//! separation (of which `1e-14` is the rounding of the widest widths). The derivative in the
//! lengthscale is the same functional of `kappa_2 = -z kappa'(z)`, from the same exponentials.

use std::sync::LazyLock;

use pulp::{Arch, Simd, WithSimd};

use crate::kernel::Profile;
use crate::quadrature::gauss_legendre;

/// Width, in lengthscales, up to which ramps are integrated by quadrature. Above it the corner
/// form loses at most `4 eps / NARROW^2 = 7e-15`; below it 7 nodes leave less than `1e-15`.
pub(super) const NARROW: f64 = 0.35;
/// Width up to which 4 nodes do (error `(w/2)^8` times an eighth derivative: below `1e-15`).
const TINY: f64 = 0.04;
/// Width, in lengthscales, up to which an interval is a point: no kernel changes over it, and the
/// inverse of a narrower one may be infinite.
const NO_WIDTH: f64 = 1e-150;
/// Widths and distances, in lengthscales, are taken for no longer: nothing is left of any kernel,
/// and sums of some of them are numbers.
const FARTHEST: f64 = 1e300;

/// Nodes and weights on `[0, 1]`.
fn unit_rule(n: usize) -> Vec<(f64, f64)> {
    gauss_legendre(n).on(0.0, 1.0).collect()
}

static TINY_RULE: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| unit_rule(4));
pub(super) static NARROW_RULE: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| unit_rule(7));

/// Intervals along one dimension.
#[derive(Clone, Copy)]
pub(super) struct Intervals<'a> {
    pub lower: &'a [f64],
    pub width: &'a [f64],
}

impl Intervals<'_> {
    pub fn len(&self) -> usize {
        self.lower.len()
    }
}

/// Fills `value[j * na + i]` with the covariance of interval `i` of `a` and `j` of `b`, and
/// `slope`, when given, with its derivative in the lengthscale.
pub(super) fn fill<P: Profile>(
    lengthscale: f64,
    a: Intervals<'_>,
    b: Intervals<'_>,
    value: &mut [f64],
    slope: Option<&mut [f64]>,
) {
    // Of a subnormal number it would be infinite.
    let inverse = lengthscale.recip().min(f64::MAX);
    let narrow = |x: Intervals<'_>| {
        let mut widths = x.width.iter();
        widths.any(|w| Width::of(scaled(*w, inverse)) == Width::Narrow)
    };
    // Only quadrature over a kink cares; sorting pays from a few columns on.
    let sorted = !P::SMOOTH && b.len() > 4 && (narrow(a) || narrow(b));
    let lanes = Lanes::new(a, inverse, sorted);
    let arch = Arch::new();
    match slope {
        None => arch.dispatch(Fill::<P, false> {
            inverse,
            lanes: &lanes,
            b,
            value,
            slope: &mut [],
            profile: std::marker::PhantomData,
        }),
        Some(slope) => arch.dispatch(Fill::<P, true> {
            inverse,
            lanes: &lanes,
            b,
            value,
            slope,
            profile: std::marker::PhantomData,
        }),
    }
}

/// A width in lengthscales; one below the least is none.
#[inline(always)]
fn scaled(width: f64, inverse: f64) -> f64 {
    let scaled = (width * inverse).min(FARTHEST);
    if scaled <= NO_WIDTH { 0.0 } else { scaled }
}

/// How wide an interval is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    Point,
    Narrow,
    Wide,
}

impl Width {
    #[inline(always)]
    fn of(scaled: f64) -> Self {
        if scaled <= NO_WIDTH {
            Self::Point
        } else if scaled <= NARROW {
            Self::Narrow
        } else {
            Self::Wide
        }
    }
}

/// Most lanes any instruction set has.
const PAD: usize = 8;

/// The `a` intervals by width class and padded, so that every vector is of one class; on request
/// by lower edge within a class, so that few vectors hold a change of sign.
struct Lanes {
    lower: Vec<f64>,
    /// In lengthscales.
    width: Vec<f64>,
    /// Original position of every lane; padding repeats the last one.
    order: Vec<u32>,
    /// Class, lanes (padded), and the largest width among them.
    classes: Vec<(Width, std::ops::Range<usize>, f64)>,
    count: usize,
    identity: bool,
}

impl Lanes {
    fn new(a: Intervals<'_>, inverse: f64, sorted: bool) -> Self {
        let n = a.len();
        let mut lanes = Self {
            lower: Vec::with_capacity(n + 3 * PAD),
            width: Vec::with_capacity(n + 3 * PAD),
            order: Vec::with_capacity(n + 3 * PAD),
            classes: Vec::with_capacity(3),
            count: n,
            identity: false,
        };
        for class in [Width::Point, Width::Narrow, Width::Wide] {
            let start = lanes.order.len();
            let mut widest = 0.0_f64;
            for i in 0..n {
                let w = scaled(a.width[i], inverse);
                if Width::of(w) == class {
                    lanes.order.push(i as u32);
                    widest = widest.max(w);
                }
            }
            if sorted {
                let lower = |i: &u32| a.lower[*i as usize];
                lanes.order[start..].sort_unstable_by(|i, j| lower(i).total_cmp(&lower(j)));
            }
            let Some(&last) = lanes.order.get(start..).and_then(<[u32]>::last) else {
                continue;
            };
            lanes.identity = !sorted && lanes.order.len() - start == n;
            while !lanes.order.len().is_multiple_of(PAD) {
                lanes.order.push(last);
            }
            for &i in &lanes.order[start..] {
                lanes.lower.push(a.lower[i as usize]);
                lanes.width.push(scaled(a.width[i as usize], inverse));
            }
            lanes
                .classes
                .push((class, start..lanes.order.len(), widest));
        }
        lanes
    }
}

struct Fill<'a, P, const SLOPE: bool> {
    inverse: f64,
    lanes: &'a Lanes,
    b: Intervals<'a>,
    value: &'a mut [f64],
    slope: &'a mut [f64],
    profile: std::marker::PhantomData<P>,
}

impl<P: Profile, const SLOPE: bool> WithSimd for Fill<'_, P, SLOPE> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let lanes = self.lanes;
        let na = lanes.count;
        let mut k = vec![0.0; lanes.order.len()];
        let mut dk = vec![0.0; if SLOPE { k.len() } else { 0 }];
        for j in 0..self.b.len() {
            let lower_b = self.b.lower[j];
            let v = scaled(self.b.width[j], self.inverse);
            let class_b = Width::of(v);
            for (class_a, range, widest) in &lanes.classes {
                let pair = Pair {
                    lower_b: s.splat_f64s(lower_b),
                    v: s.splat_f64s(v),
                    inverse: s.splat_f64s(self.inverse),
                };
                let lower = S::as_simd_f64s(&lanes.lower[range.clone()]).0;
                let width = S::as_simd_f64s(&lanes.width[range.clone()]).0;
                let k = S::as_mut_simd_f64s(&mut k[range.clone()]).0;
                let dk = if SLOPE {
                    S::as_mut_simd_f64s(&mut dk[range.clone()]).0
                } else {
                    &mut []
                };
                let rule: &[(f64, f64)] =
                    if widest.max(v) <= TINY || (widest.min(v) <= TINY && widest.max(v) > NARROW) {
                        &TINY_RULE
                    } else {
                        &NARROW_RULE
                    };
                // A macro and not a closure: a closure would not be compiled for the instruction
                // set that was dispatched to, and every operation would become a call.
                macro_rules! each {
                    ($lower:ident, $w:ident => $pair:expr) => {
                        for i in 0..lower.len() {
                            let ($lower, $w) = (lower[i], width[i]);
                            let both = $pair;
                            k[i] = both.0;
                            if SLOPE {
                                dk[i] = both.1;
                            }
                        }
                    };
                }
                match (class_a, class_b) {
                    (Width::Point, Width::Point) => each!(lower, _w => {
                        P::value(s, s.abs_f64s(pair.delta(s, lower)))
                    }),
                    (Width::Wide, Width::Wide) => each!(lower, w => {
                        wide::<P, S>(s, pair.delta(s, lower), w, pair.v)
                    }),
                    (Width::Point, Width::Narrow) | (Width::Narrow, Width::Point) => {
                        let (one, zero) = (s.splat_f64s(1.0), s.splat_f64s(0.0));
                        each!(lower, w => {
                            // w = 0 or v = 0: the plateau is all there is.
                            let lo = s.sub_f64s(pair.delta(s, lower), w);
                            segment::<P, S>(s, lo, s.add_f64s(w, pair.v), one, zero, rule)
                        });
                    }
                    (Width::Point, Width::Wide) | (Width::Wide, Width::Point) => {
                        each!(lower, w => {
                            let lo = s.sub_f64s(pair.delta(s, lower), w);
                            let length = s.add_f64s(w, pair.v);
                            long::<P, S>(s, lo, length, length)
                        });
                    }
                    (Width::Narrow, _) | (_, Width::Narrow) => {
                        let long_plateau = *class_a == Width::Wide || class_b == Width::Wide;
                        each!(lower, w => {
                            let delta = pair.delta(s, lower);
                            narrow::<P, S>(s, delta, w, pair.v, long_plateau, rule)
                        });
                    }
                }
            }
            let out = &mut self.value[j * na..(j + 1) * na];
            scatter(lanes, &k, 1.0, out);
            if SLOPE {
                let out = &mut self.slope[j * na..(j + 1) * na];
                scatter(lanes, &dk, self.inverse, out);
            }
        }
    }
}

#[inline(always)]
fn scatter(lanes: &Lanes, from: &[f64], factor: f64, out: &mut [f64]) {
    if lanes.identity {
        for (o, &v) in out.iter_mut().zip(from) {
            *o = v * factor;
        }
    } else {
        for (&i, &v) in lanes.order.iter().zip(from) {
            out[i as usize] = v * factor;
        }
    }
}

/// What is common to all lanes of one column.
#[derive(Clone, Copy)]
struct Pair<V> {
    lower_b: V,
    v: V,
    inverse: V,
}

impl<V: Copy> Pair<V> {
    /// `(s' - s) / lengthscale`: subtract first, so that far origins cost nothing.
    #[inline(always)]
    fn delta<S: Simd<f64s = V>>(self, s: S, lower: V) -> V {
        let delta = s.mul_f64s(s.sub_f64s(self.lower_b, lower), self.inverse);
        let (low, high) = (s.splat_f64s(-FARTHEST), s.splat_f64s(FARTHEST));
        s.min_f64s(high, s.max_f64s(low, delta))
    }
}

/// Both wide: corner form.
#[inline(always)]
fn wide<P: Profile, S: Simd>(s: S, delta: S::f64s, w: S::f64s, v: S::f64s) -> (S::f64s, S::f64s) {
    let zero = s.splat_f64s(0.0);
    let end = s.add_f64s(delta, v);
    let r1 = P::tail(s, s.abs_f64s(s.sub_f64s(delta, w)));
    let r2 = P::tail(s, s.abs_f64s(end));
    let r3 = P::tail(s, s.abs_f64s(delta));
    let r4 = P::tail(s, s.abs_f64s(s.sub_f64s(end, w)));
    let overlap = s.max_f64s(
        zero,
        s.sub_f64s(s.min_f64s(w, end), s.max_f64s(zero, delta)),
    );
    let linear = s.mul_f64s(s.splat_f64s(2.0 * P::HALF_AREA), overlap);
    // One after the other: the product of two widths may be infinite.
    let one = s.splat_f64s(1.0);
    let scale = [s.div_f64s(one, w), s.div_f64s(one, v)];
    (
        corners(s, scale, linear, [r1.0, r2.0, r3.0, r4.0]),
        corners(s, scale, linear, [r1.1, r2.1, r3.1, r4.1]),
    )
}

#[inline(always)]
fn corners<S: Simd>(s: S, scale: [S::f64s; 2], linear: S::f64s, r: [S::f64s; 4]) -> S::f64s {
    let positive = s.add_f64s(r[0], r[1]);
    let negative = s.add_f64s(r[2], r[3]);
    let sum = s.add_f64s(linear, s.sub_f64s(positive, negative));
    s.mul_f64s(s.mul_f64s(sum, scale[0]), scale[1])
}

/// One at least narrow, none a point: ramps by quadrature, plateau by quadrature or by the first
/// antiderivative.
#[inline(always)]
fn narrow<P: Profile, S: Simd>(
    s: S,
    delta: S::f64s,
    w: S::f64s,
    v: S::f64s,
    long_plateau: bool,
    rule: &[(f64, f64)],
) -> (S::f64s, S::f64s) {
    let zero = s.splat_f64s(0.0);
    let one = s.splat_f64s(1.0);
    let small = s.min_f64s(w, v);
    let large = s.max_f64s(w, v);
    let start = s.sub_f64s(delta, w);
    let flat = s.sub_f64s(large, small);
    let ramp_end = s.add_f64s(start, small);
    let plateau_end = s.add_f64s(ramp_end, flat);
    let up = segment::<P, S>(s, start, small, zero, one, rule);
    let down = segment::<P, S>(s, plateau_end, small, one, s.splat_f64s(-1.0), rule);
    let inverse = s.div_f64s(one, large);
    let (middle, fraction) = if long_plateau {
        (long::<P, S>(s, ramp_end, flat, large), one)
    } else {
        (
            segment::<P, S>(s, ramp_end, flat, one, zero, rule),
            s.mul_f64s(flat, inverse),
        )
    };
    let ratio = s.mul_f64s(small, inverse);
    let value = s.mul_f64s(fraction, middle.0);
    let slope = s.mul_f64s(fraction, middle.1);
    (
        s.mul_add_f64s(ratio, s.add_f64s(up.0, down.0), value),
        s.mul_add_f64s(ratio, s.add_f64s(up.1, down.1), slope),
    )
}

/// `1/divisor integral_lo^(lo + length) kappa(|u|) du` by the first antiderivative.
#[inline(always)]
fn long<P: Profile, S: Simd>(
    s: S,
    lo: S::f64s,
    length: S::f64s,
    divisor: S::f64s,
) -> (S::f64s, S::f64s) {
    let hi = s.add_f64s(lo, length);
    let a = P::integral(s, s.abs_f64s(lo));
    let b = P::integral(s, s.abs_f64s(hi));
    // k1 is odd.
    let inverse = s.div_f64s(s.splat_f64s(1.0), divisor);
    let value = s.sub_f64s(with_sign(s, b.0, hi), with_sign(s, a.0, lo));
    let slope = s.sub_f64s(with_sign(s, b.1, hi), with_sign(s, a.1, lo));
    (s.mul_f64s(inverse, value), s.mul_f64s(inverse, slope))
}

/// `x` with its sign turned where `of` is negative.
#[inline(always)]
fn with_sign<S: Simd>(s: S, x: S::f64s, of: S::f64s) -> S::f64s {
    s.xor_f64s(x, s.and_f64s(of, s.splat_f64s(-0.0)))
}

/// `integral_0^1 (p + q tau) kappa(|lo + length tau|) d tau`, cut where the argument changes sign
/// unless the kernel is smooth there.
#[inline(always)]
fn segment<P: Profile, S: Simd>(
    s: S,
    lo: S::f64s,
    length: S::f64s,
    p: S::f64s,
    q: S::f64s,
    rule: &[(f64, f64)],
) -> (S::f64s, S::f64s) {
    let zero = s.splat_f64s(0.0);
    let one = s.splat_f64s(1.0);
    if P::SMOOTH {
        return part::<P, S>(s, lo, length, p, q, zero, one, rule);
    }
    let hi = s.add_f64s(lo, length);
    let straddles = s.and_m64s(s.less_than_f64s(lo, zero), s.less_than_f64s(zero, hi));
    if s.first_true_m64s(straddles) >= S::F64_LANES {
        return part::<P, S>(s, lo, length, p, q, zero, one, rule);
    }
    let cut = s.select_f64s(straddles, s.div_f64s(s.neg_f64s(lo), length), zero);
    let left = part::<P, S>(s, lo, length, p, q, zero, cut, rule);
    let right = part::<P, S>(s, lo, length, p, q, cut, s.sub_f64s(one, cut), rule);
    (s.add_f64s(left.0, right.0), s.add_f64s(left.1, right.1))
}

/// The part of [`segment`] over `tau` in `[from, from + extent]`.
#[inline(always)]
fn part<P: Profile, S: Simd>(
    s: S,
    lo: S::f64s,
    length: S::f64s,
    p: S::f64s,
    q: S::f64s,
    from: S::f64s,
    extent: S::f64s,
    rule: &[(f64, f64)],
) -> (S::f64s, S::f64s) {
    let mut sum = (s.splat_f64s(0.0), s.splat_f64s(0.0));
    for &(x, weight) in rule {
        let tau = s.mul_add_f64s(extent, s.splat_f64s(x), from);
        let u = s.mul_add_f64s(length, tau, lo);
        let (k, dk) = P::value(s, s.abs_f64s(u));
        let f = s.mul_f64s(s.splat_f64s(weight), s.mul_add_f64s(q, tau, p));
        sum.0 = s.mul_add_f64s(f, k, sum.0);
        sum.1 = s.mul_add_f64s(f, dk, sum.1);
    }
    (s.mul_f64s(extent, sum.0), s.mul_f64s(extent, sum.1))
}
