//! The standard normal distribution between two ends.

use crate::special::elementary;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use pulp::{Arch, Simd, WithSimd};

use super::{erfcx_into, exp_simd};

/// ln sqrt(2 pi).
const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;
/// 1 / sqrt(2 pi).
const INVERSE_ROOT: f64 = 0.398_942_280_401_432_7;
/// Positive nodes and weights of the 20-point Gauss-Legendre rule.
const NODES: [(f64, f64); 10] = [
    (0.076_526_521_133_497_34, 0.152_753_387_130_725_84),
    (0.227_785_851_141_645_07, 0.149_172_986_472_603_74),
    (0.373_706_088_715_419_55, 0.142_096_109_318_382_04),
    (0.510_867_001_950_827_1, 0.131_688_638_449_176_64),
    (0.636_053_680_726_515, 0.118_194_531_961_518_41),
    (0.746_331_906_460_150_8, 0.101_930_119_817_240_44),
    (0.839_116_971_822_218_8, 0.083_276_741_576_704_74),
    (0.912_234_428_251_326, 0.062_672_048_334_109_07),
    (0.963_971_927_277_913_8, 0.040_601_429_800_386_94),
    (0.993_128_599_185_094_9, 0.017_614_007_139_152_118),
];
/// From here on the density falls so fast that the moments about the near end are integrated.
const FAR: f64 = 2.0;
/// Below this width the density is so flat that the moments about the near end are integrated.
const NARROW: f64 = 2.0;
/// Where e^-s has fallen out of double precision.
const FALLEN: f64 = 40.0;

/// The standard normal distribution, given that it lies between two ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TruncatedNormal {
    /// Log of the probability between the ends, nats.
    pub log_z: f64,
    /// Mean.
    pub mean: f64,
    /// Variance.
    pub variance: f64,
    /// What truncation took of the variance, `1 - variance`, right where it is tiny.
    pub lost: f64,
    /// Third cumulant.
    pub third: f64,
    /// Fourth cumulant.
    pub fourth: f64,
    /// Density at the lower end; 0 where that is infinite.
    pub at_lower: f64,
    /// Density at the upper end.
    pub at_upper: f64,
    /// Mean less the lower end, right where they nearly agree.
    pub above_lower: f64,
    /// Upper end less the mean.
    pub below_upper: f64,
}

/// Moments of a standard normal variable that lies in `[lower, upper]`.
///
/// $$ Z = \Phi(\beta) - \Phi(\alpha), \qquad p(t) = \phi(t) / Z, \quad \alpha \le t \le \beta $$
///
/// # Arguments
/// * `lower`, `upper` - ends, infinite ones allowed; equal ends give a point, crossed ones or NaN
///   give NaN
/// # Numerics
/// `log_z`, mean and variance to a relative 1e-12, at least out to 1000 sds and for every width;
/// the ends are taken as given. Closed forms around 0; further out, and for narrow windows,
/// Gauss-Legendre on the distance from the near end, scaled by the rate of decay there.
/// # Source
/// `erfcx` form of the moments: Fernandez-de-Cossio-Diaz 2018, arXiv 1802.10026. The rest is our
/// own.
/// # Examples
/// ```
/// let tail = quadrat::special::truncated_normal(200.0, 201.0);
/// assert!((tail.log_z / -20_006.217_280_898_19 - 1.0).abs() < 1e-14);
/// let half = quadrat::special::truncated_normal(0.0, f64::INFINITY);
/// assert!((half.variance - (1.0 - 2.0 / std::f64::consts::PI)).abs() < 1e-14);
/// ```
#[must_use]
pub fn truncated_normal(lower: f64, upper: f64) -> TruncatedNormal {
    truncated_normal_of_width(lower, upper, upper - lower)
}

/// As [`truncated_normal`], with the width known to more digits than the difference of the ends.
#[must_use]
pub(crate) fn truncated_normal_of_width(lower: f64, upper: f64, width: f64) -> TruncatedNormal {
    if lower.abs() > upper.abs() {
        let mirrored = right(-upper, -lower, width);
        return TruncatedNormal {
            mean: -mirrored.mean,
            third: -mirrored.third,
            at_lower: mirrored.at_upper,
            at_upper: mirrored.at_lower,
            above_lower: mirrored.below_upper,
            below_upper: mirrored.above_lower,
            ..mirrored
        };
    }
    right(lower, upper, width)
}

/// Ends with |lower| <= |upper|.
fn right(lower: f64, upper: f64, width: f64) -> TruncatedNormal {
    if lower == f64::NEG_INFINITY {
        // The whole line.
        return TruncatedNormal {
            variance: 1.0,
            above_lower: f64::INFINITY,
            below_upper: f64::INFINITY,
            ..every(0.0)
        };
    }
    if width.is_nan() || width < 0.0 || lower == f64::INFINITY {
        return every(f64::NAN);
    }
    if width == 0.0 {
        return TruncatedNormal {
            log_z: f64::NEG_INFINITY,
            mean: lower,
            lost: 1.0,
            at_lower: f64::INFINITY,
            at_upper: f64::INFINITY,
            ..every(0.0)
        };
    }
    if lower >= FAR || width < NARROW {
        by_quadrature(lower, upper, width)
    } else {
        closed(lower, upper)
    }
}

fn every(x: f64) -> TruncatedNormal {
    TruncatedNormal {
        log_z: x,
        mean: x,
        variance: x,
        lost: x,
        third: x,
        fourth: x,
        at_lower: x,
        at_upper: x,
        above_lower: x,
        below_upper: x,
    }
}

/// Closed forms, lower < 2 and at least two sds of width.
///
/// With densities `a`, `b` at the ends and `g_k = lower^k a - upper^k b`, raw moments obey
/// `M_k = (k - 1) M_(k-2) + g_(k-1)`; the cumulants follow.
fn closed(lower: f64, upper: f64) -> TruncatedNormal {
    let finite = upper < f64::INFINITY;
    // D = (upper^2 - lower^2) / 2.
    let decay = 0.5 * (upper - lower) * (upper + lower);
    let log_z;
    let (a, b);
    let size = [lower.abs() * FRAC_1_SQRT_2, upper * FRAC_1_SQRT_2];
    let mut scaled = [0.0; 2];
    erfcx_into(&size, &mut scaled);
    if lower <= 0.0 {
        // Both tails, and the densities.
        let (left, right) = (
            elementary::exp(-0.5 * lower * lower),
            elementary::exp(-0.5 * upper * upper),
        );
        let tails = 0.5 * (left * scaled[0] + right * scaled[1]);
        let z = 1.0 - tails;
        log_z = elementary::log1p(-tails);
        a = INVERSE_ROOT * left / z;
        b = INVERSE_ROOT * right / z;
    } else {
        let fallen = elementary::exp(-decay);
        let z = scaled[0] - fallen * scaled[1];
        log_z = -0.5 * lower * lower + elementary::log(0.5 * z);
        // sqrt(2 / pi) / z.
        a = FRAC_2_SQRT_PI * FRAC_1_SQRT_2 / z;
        b = a * fallen;
    }
    // a - b, and powers of an infinite end times nothing are nothing.
    let g0 = a * -elementary::expm1(-decay);
    let term = |power: i32| {
        let beyond = if finite { upper.powi(power) * b } else { 0.0 };
        lower.powi(power) * a - beyond
    };
    let (g1, g2, g3) = (term(1), term(2), term(3));
    let mean = g0;
    // 1 - variance: all terms are positive where 0 lies inside.
    let lost = mean * mean - g1;
    let third = g2 - g0 - 3.0 * g0 * g1 + 2.0 * g0 * g0 * g0;
    let m2 = 1.0 + g1;
    let m3 = 2.0 * g0 + g2;
    // M4 - 4 M3 M1 - 3 M2^2 + .. with the ones taken out of M4 and M2.
    let fourth =
        g3 - 3.0 * g1 - 3.0 * g1 * g1 - 4.0 * m3 * g0 + 12.0 * m2 * g0 * g0 - 6.0 * g0.powi(4);
    TruncatedNormal {
        log_z,
        mean,
        variance: 1.0 - lost,
        lost,
        third,
        fourth,
        at_lower: a,
        at_upper: b,
        above_lower: mean - lower,
        below_upper: upper - mean,
    }
}

/// End of the first panel of the integral, and of the second.
const FIRST: f64 = 4.0;
const SECOND: f64 = 12.0;

/// Nodes on both sides, and weights; further ones of no weight fill vectors of eight.
const FULL: usize = 24;
const TABLE: [[f64; FULL]; 2] = {
    let mut table = [[0.0; FULL]; 2];
    let mut i = 0;
    while i < NODES.len() {
        let (node, weight) = NODES[i];
        (table[0][2 * i], table[1][2 * i]) = (-node, weight);
        (table[0][2 * i + 1], table[1][2 * i + 1]) = (node, weight);
        i += 1;
    }
    table
};

/// The density `exp(-s (linear + square s))` from 0 to `reach`.
struct Falling {
    linear: f64,
    square: f64,
    reach: f64,
}

/// Its integral, and mean and central moments.
struct Moments {
    z: f64,
    centre: f64,
    second: f64,
    third: f64,
    fourth: f64,
}

impl WithSimd for Falling {
    type Output = Moments;

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> Moments {
        let [linear, square] = [self.linear, self.square].map(|x| s.splat_f64s(x));
        let [nodes, weights] = [&TABLE[0], &TABLE[1]].map(|x| S::as_simd_f64s(x).0);
        // e^-s needs shorter panels near 0 where the reach is long.
        let ends = [0.0, FIRST, SECOND, self.reach].map(|end| end.min(self.reach));
        let panels = 1 + usize::from(ends[1] < self.reach) + usize::from(ends[2] < self.reach);
        let (mut points, mut masses) = ([[0.0; FULL]; 3], [[0.0; FULL]; 3]);
        let (mut z, mut first) = (s.splat_f64s(0.0), s.splat_f64s(0.0));
        for k in 0..panels {
            let half = s.splat_f64s(0.5 * (ends[k + 1] - ends[k]));
            let middle = s.splat_f64s(0.5 * (ends[k] + ends[k + 1]));
            let points = S::as_mut_simd_f64s(&mut points[k]).0;
            let masses = S::as_mut_simd_f64s(&mut masses[k]).0;
            for i in 0..nodes.len() {
                let x = s.mul_add_f64s(half, nodes[i], middle);
                let exponent = s.neg_f64s(s.mul_f64s(x, s.mul_add_f64s(square, x, linear)));
                let mass = s.mul_f64s(s.mul_f64s(half, weights[i]), exp_simd(s, exponent));
                (points[i], masses[i]) = (x, mass);
                z = s.add_f64s(z, mass);
                first = s.mul_add_f64s(mass, x, first);
            }
        }
        let z = s.reduce_sum_f64s(z);
        let centre = s.reduce_sum_f64s(first) / z;
        let mut sums = [s.splat_f64s(0.0); 3];
        for k in 0..panels {
            let points = S::as_simd_f64s(&points[k]).0;
            for (x, mass) in points.iter().zip(S::as_simd_f64s(&masses[k]).0) {
                let away = s.sub_f64s(*x, s.splat_f64s(centre));
                let square = s.mul_f64s(away, away);
                let second = s.mul_f64s(*mass, square);
                sums[0] = s.add_f64s(sums[0], second);
                sums[1] = s.mul_add_f64s(second, away, sums[1]);
                sums[2] = s.mul_add_f64s(second, square, sums[2]);
            }
        }
        let [second, third, fourth] = sums.map(|sum| s.reduce_sum_f64s(sum) / z);
        Moments {
            z,
            centre,
            second,
            third,
            fourth,
        }
    }
}

/// Moments of the scaled distance from the near end.
///
/// With `s = rate (t - lower)` the density is proportional to `exp(-q s - s^2 / (2 rate^2))`, `q =
/// lower / rate`: far out the rate is `lower`, so that `s` falls like `e^-s`; in a narrow window
/// near 0 it is 1.
fn by_quadrature(lower: f64, upper: f64, width: f64) -> TruncatedNormal {
    let rate = if lower >= FAR { lower } else { 1.0 };
    let linear = lower / rate;
    let square = 0.5 / (rate * rate);
    let reach = if lower >= FAR {
        (rate * width).min(FALLEN)
    } else {
        width
    };
    let Moments {
        z,
        centre,
        second,
        third,
        fourth,
    } = Arch::new().dispatch(Falling {
        linear,
        square,
        reach,
    });
    let scale = 1.0 / rate;
    let variance = second * scale * scale;
    let above = centre * scale;
    TruncatedNormal {
        log_z: -0.5 * lower * lower - LN_SQRT_2PI + elementary::log(z * scale),
        // Not lower + above, which cancels in a window around 0.
        mean: -(rate / z) * elementary::expm1(-0.5 * width * (lower + upper)),
        variance,
        lost: 1.0 - variance,
        third: third * scale.powi(3),
        fourth: (fourth - 3.0 * second * second) * scale.powi(4),
        at_lower: rate / z,
        at_upper: rate / z * elementary::exp(-0.5 * width * (lower + upper)),
        above_lower: above,
        below_upper: width - above,
    }
}
