//! Expectations of `softplus(f) = log(1 + e^f)` and its derivatives under a normal belief `N(m,
//! v)`.
//!
//! By the trapezoid rule, whose error falls as `e^(-2 pi a / h)` with the step `h`; `a = pi` is how
//! far the singularities of softplus are from the real axis. A belief that is not wider than those
//! takes few steps. For a wide one softplus is little more than a hinge, which is first blurred by
//! a normal value of standard deviation `b`, so that its expectations are closed forms,
//!
//! $$ H(f) = f \Phi(f / b) + b \phi(f / b), \qquad \operatorname E H = m \Phi(m / w) + w \phi(m /
//! w), \quad w^2 = v + b^2 $$
//!
//! The rest vanishes as `e^-|f|`, and is tabulated once. Where a wide belief lies so far below zero
//! that `e^f` is most of softplus that is taken out, `E e^f g(f) = e^(m + v/2) E' g(f)` with `E'`
//! under `N(m + v, v)`; `g` falls from one to zero and is split in the same way.

use std::sync::LazyLock;

use super::Link;
use super::moment::{Deviations, Moments};
use super::scalars::{logistic, softplus};
use super::table::{REACH, STEP, Table};
use crate::likelihood::local::Belief;
use crate::special::elementary;
use crate::special::scalar::{log_cdf, normal_cdf, normal_pdf};

/// Steps in standard deviations. The worst case is a belief as wide as the singularities are far.
const NARROW_STEP: f64 = 0.65;
/// Beliefs are wide from this standard deviation on.
const WIDE: f64 = 1.2;
/// The blur `b`: the hinge is then about softplus at zero.
const BLUR: f64 = 1.7;

/// Moments and expected derivatives of softplus.
pub(super) fn moments(belief: Belief) -> Moments {
    let Belief {
        mean: m,
        variance: v,
    } = belief;
    if v == 0.0 {
        let [mean, slope, bend, third] = Link::Softplus.jet(m);
        return Moments {
            mean,
            variance: 0.0,
            slope,
            bend,
            third,
            variance_in_mean: 0.0,
            variance_in_variance: slope * slope,
        };
    }
    let sd = v.sqrt();
    // e^-f is lost in rounding from there on.
    if m - 10.0 * sd > 40.0 {
        return Moments {
            mean: m,
            variance: v,
            slope: 1.0,
            bend: 0.0,
            third: 0.0,
            variance_in_mean: 0.0,
            variance_in_variance: 1.0,
        };
    }
    if sd <= WIDE {
        narrow(m, sd)
    } else if m > -0.5 * v {
        wide(m, v)
    } else {
        low(m, v)
    }
}

/// By deviations from `softplus(m)`, so that the variance does not cancel.
fn narrow(m: f64, sd: f64) -> Moments {
    let step = STEP.min(NARROW_STEP * sd);
    let (centre, p, other) = (softplus(m), logistic(m), logistic(-m));
    // Far below zero softplus is e^f and its square e^(2 f): they move the weight up by twice the
    // variance.
    let up = REACH * sd + (2.0 * sd * sd).min((-m).max(0.0));
    let first = -(REACH * sd / step).ceil() as i64;
    let last = (up / step).ceil() as i64;
    let mut sums = Deviations::default();
    for i in first..=last {
        let d = step * i as f64;
        let z = d / sd;
        let weight = elementary::exp(-0.5 * z * z);
        // softplus(m + d) - softplus(m) = log1p(p (e^d - 1)).
        let (change, slope, counter) = if d.abs() < 1.0 {
            let growth = elementary::expm1(d);
            let q = p * growth;
            let slope = p * (1.0 + growth) / (1.0 + q);
            (elementary::log1p(q), slope, other / (1.0 + q))
        } else {
            let f = m + d;
            let t = elementary::exp(-f.abs());
            let (near, far) = (1.0 / (1.0 + t), t / (1.0 + t));
            let (slope, counter) = if f > 0.0 { (near, far) } else { (far, near) };
            let value = f.max(0.0) + elementary::log1p(t);
            (value - centre, slope, counter)
        };
        let bend = slope * counter;
        let third = bend * (counter - slope);
        sums.add(weight, [change, slope, bend, third]);
    }
    sums.moments(centre, step / sd * normal_pdf(0.0))
}

/// The expectation of `max(f, 0)` under `N(m, w^2)`, its first three derivatives in `m`, and the
/// expectation of the square.
fn hinge(m: f64, w: f64) -> [f64; 5] {
    let (step, density) = (normal_cdf(m / w), normal_pdf(m / w));
    let mean = m * step + w * density;
    let bump = density / w;
    [
        mean,
        step,
        bump,
        -m / (w * w) * bump,
        m * mean + w * w * step,
    ]
}

/// What softplus, its first three derivatives, its square and the first two derivatives of that
/// differ by from those of the blurred hinge; of the square also `b^2 Phi(f / b)` is taken, so that
/// it vanishes above. `e^-38` is left of them at the ends, below beside a belief that rises as
/// `e^(f / 2)` there.
static REST: LazyLock<Table<7>> = LazyLock::new(|| {
    Table::new(-76, 38, |f| {
        let [value, slope, bend, third] = Link::Softplus.jet(f);
        let [hinge, step, bump, fall, square] = hinge(f, BLUR);
        [
            value - hinge,
            slope - step,
            bend - bump,
            third - fall,
            value * value - (square - BLUR * BLUR * step),
            2.0 * (value * slope - hinge) + BLUR * BLUR * bump,
            2.0 * (slope * slope + value * bend - step) + BLUR * BLUR * fall,
        ]
    })
});

fn wide(m: f64, v: f64) -> Moments {
    let [hinge, step, bump, fall, square] = hinge(m, (v + BLUR * BLUR).sqrt());
    let rest = REST.average(m, v.sqrt(), 0.0);
    let squares = [
        square - BLUR * BLUR * step + rest[4],
        2.0 * hinge - BLUR * BLUR * bump + rest[5],
        2.0 * step - BLUR * BLUR * fall + rest[6],
    ];
    let values = [
        hinge + rest[0],
        step + rest[1],
        bump + rest[2],
        fall + rest[3],
    ];
    of_squares(values, squares)
}

/// Moments from the expectations of softplus and its first three derivatives, and of its square and
/// the first two of that.
fn of_squares([mean, slope, bend, third]: [f64; 4], [square, first, second]: [f64; 3]) -> Moments {
    Moments {
        mean,
        variance: (square - mean * mean).max(0.0),
        slope,
        bend,
        third,
        variance_in_mean: first - 2.0 * mean * slope,
        variance_in_variance: 0.5 * second - mean * bend,
    }
}

/// What softplus and its first three derivatives over `e^f`, the square over `e^(2 f)`, and its
/// first two derivatives over twice and four times that differ by from `Phi(-f / b)`. Above,
/// beliefs rise as `e^(f / 2)`, and as `e^(3 f / 2)` beside the square.
static LOW_REST: LazyLock<Table<7>> = LazyLock::new(|| {
    Table::new(-38, 90, |f| {
        let step = normal_cdf(-f / BLUR);
        let (p, q) = (logistic(f), logistic(-f));
        // log(1 + x) / x.
        let x = elementary::exp(f);
        let share = if x < 1e-5 {
            1.0 - 0.5 * x + x * x / 3.0
        } else {
            softplus(f) / x
        };
        let [square, first, second] = [share * share, share * q, 0.5 * q * q * (1.0 + share)];
        [share, q, q * q, q * q * (q - p), square, first, second].map(|g| g - step)
    })
});

fn low(m: f64, v: f64) -> Moments {
    let (sd, w) = (v.sqrt(), (v + BLUR * BLUR).sqrt());
    // `e^(m + v / 2)` may be too large to be a number, and most of the belief where `g` vanishes.
    let step = |at: f64, log_scale: f64| elementary::exp(log_scale + log_cdf(-at / w));
    let (at, log_scale) = (m + v, m + 0.5 * v);
    let [values @ .., _, _, _] = LOW_REST.average(at, sd, log_scale);
    let all = step(at, log_scale);
    let values = values.map(|rest| all + rest);
    let (at, log_scale) = (m + 2.0 * v, 2.0 * (m + v));
    let [.., square, first, second] = LOW_REST.average(at, sd, log_scale);
    let all = step(at, log_scale);
    of_squares(
        values,
        [all + square, 2.0 * (all + first), 4.0 * (all + second)],
    )
}

/// Iterations of a search at most.
const STEPS: usize = 100;

/// The belief whose softplus has a given mean and variance: Newton's method for the variance in
/// logarithms, between bounds that close in.
///
/// Not a number where the mean is none that softplus has.
pub(super) fn equivalent(mean: f64, variance: f64) -> Belief {
    // That of a log-normal.
    let spread = elementary::log1p(variance / (mean * mean));
    let mut at = Belief {
        mean: Link::Softplus.inverse(mean).unwrap_or(f64::NAN),
        variance: 0.0,
    };
    if at.mean.is_nan() || !(spread > 0.0 && spread.is_finite()) {
        return at;
    }
    let slope = logistic(at.mean);
    at.variance = (variance / (slope * slope)).min(spread * (mean / slope).powi(2));
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for _ in 0..STEPS {
        at.mean = mean_of(mean, at.variance, at.mean);
        let seen = moments(at);
        let spread_here = elementary::log1p(seen.variance / (mean * mean));
        let short = elementary::log(spread / spread_here);
        if short.abs() < 1e-12 || short.is_nan() {
            break;
        }
        if short > 0.0 {
            low = at.variance;
        } else {
            high = at.variance;
        }
        // How the variance of softplus grows with that of the belief while its mean stays, and the
        // logarithm of the spread with that.
        let along =
            seen.variance_in_variance - 0.5 * seen.variance_in_mean * seen.bend / seen.slope;
        let growth = along * at.variance / ((mean * mean + seen.variance) * spread_here);
        let next = at.variance * elementary::exp(short / growth.clamp(1e-3, 10.0));
        let next = if next > low && next < high {
            next
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * at.variance
        };
        if next == at.variance {
            break;
        }
        if at.mean < 0.0 && at.variance > 1.0 {
            // The hinge keeps its share of the belief.
            at.mean *= (next / at.variance).sqrt();
        }
        at.variance = next;
    }
    at
}

/// The mean of the latent value of a given variance whose softplus has the mean `want`, by Newton's
/// method.
///
/// `E softplus` is convex in that mean and its logarithm concave, so that steps by the logarithm
/// from below, and by the value from above, do not pass the solution. Below one, where it is
/// exponential, steps by the logarithm may, and are kept between bounds.
pub(super) fn mean_of(want: f64, variance: f64, start: f64) -> f64 {
    let mut at = Belief {
        mean: start,
        variance,
    };
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..STEPS {
        let Moments { mean, slope, .. } = moments(at);
        if (want / mean - 1.0).abs() < 1e-12 {
            break;
        }
        if mean < want {
            low = at.mean;
        } else {
            high = at.mean;
        }
        let next = if mean.min(slope) < f64::MIN_POSITIVE {
            // Nothing is left of it: back towards zero.
            0.5 * at.mean
        } else if mean > want && mean > 1.0 {
            at.mean + (want - mean) / slope
        } else {
            at.mean + elementary::log(want / mean) * mean / slope
        };
        let inside = next > low && next < high;
        at.mean = if inside || low.is_infinite() || high.is_infinite() {
            next
        } else {
            0.5 * (low + high)
        };
    }
    at.mean
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same integrals by the trapezoid rule in steps that are far below all scales.
    fn fine(m: f64, v: f64) -> [f64; 5] {
        let sd = v.sqrt();
        let centre = softplus(m);
        let h = 1e-3_f64.min(0.05 / sd);
        let last = ((REACH + 2.0 * sd.min(-m / sd).max(0.0)) / h).ceil() as i64;
        let mut sums = [0.0; 5];
        for i in -last..=last {
            let z = h * i as f64;
            let weight = h * elementary::exp(-0.5 * z * z) * normal_pdf(0.0);
            let [value, slope, bend, third] = Link::Softplus.jet(m + sd * z);
            let change = value - centre;
            for (sum, y) in sums
                .iter_mut()
                .zip([change, change * change, slope, bend, third])
            {
                *sum += weight * y;
            }
        }
        let [change, square, slope, bend, third] = sums;
        [
            centre + change,
            square - change * change,
            slope,
            bend,
            third,
        ]
    }

    #[test]
    fn either_way_is_that_of_a_fine_sum() {
        for sd in [0.02, 0.3, 0.8, 1.19, 1.21, 2.0, 6.0, 31.0] {
            for at in [-9.0, -7.9, -3.0, -0.5, 0.0, 0.7, 4.0, 9.9] {
                for m in [
                    at * sd,
                    at,
                    -0.49 * sd * sd,
                    -0.51 * sd * sd,
                    -1.4 * sd * sd,
                ] {
                    let v = sd * sd;
                    let got = moments(Belief {
                        mean: m,
                        variance: v,
                    });
                    let want = fine(m, v);
                    let got = [got.mean, got.variance, got.slope, got.bend, got.third];
                    for (i, (got, want)) in got.iter().zip(want).enumerate() {
                        // Squares and means cancel to the variance, and hinges far below zero.
                        let most = [1e-10, 1e-9, 1e-10, 1e-10, 1e-9][i];
                        assert!(
                            (got / want - 1.0).abs() < most || (got - want).abs() < 1e-15,
                            "{i} {m} {sd}: {got} {want}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn large_means_are_linear_without_a_jump() {
        for sd in [0.5, 3.0, 20.0] {
            let at = |m: f64| {
                moments(Belief {
                    mean: m,
                    variance: sd * sd,
                })
            };
            let (below, above) = (at(40.0 + 10.0 * sd - 1e-9), at(40.0 + 10.0 * sd + 1e-9));
            // Ten standard deviations above 40 what linear means leave out is below e^-40: rounding
            // alone.
            assert!((above.mean - below.mean - 2e-9).abs() < 1e-12 * above.mean);
            // As above.
            assert!((above.variance / below.variance - 1.0).abs() < 1e-12);
            // As above: a slope of one.
            assert!((above.slope - below.slope).abs() < 1e-14);
        }
    }

    #[test]
    fn what_has_no_equivalent_ends_the_search() {
        for (mean, variance) in [
            (1.0, f64::NAN),
            (1.0, f64::INFINITY),
            (1.0, -1.0),
            (1e-165, 1.0),
        ] {
            assert_eq!(equivalent(mean, variance).variance, 0.0);
        }
        assert!(equivalent(-1.0, 1.0).mean.is_nan());
        // Underflow: there it is log-normal.
        let wide = Belief {
            mean: -800.0,
            variance: 1.0,
        };
        let other = Link::Softplus.with_variance(wide, 0.5);
        assert_eq!(other.mean, -799.75);
        // A search by logarithms alone alternates here.
        let mean = mean_of(1e-300, 1e4, 0.0);
        let got = moments(Belief {
            mean,
            variance: 1e4,
        })
        .mean;
        assert!((got / 1e-300 - 1.0).abs() < 1e-9, "{mean} {got}");
    }

    /// Also of sums that are nearly always next to nothing.
    #[test]
    fn the_equivalent_is_found_from_anywhere() {
        for mean in [1e-30, 1e-9, 1e-3, 0.4, 1.0, 30.0, 1e5] {
            for spread in [1e-8, 1e-3, 0.5, 3.0, 12.0, 40.0, 90.0, 130.0] {
                let variance = mean * mean * f64::exp_m1(spread);
                let belief = equivalent(mean, variance);
                let seen = moments(belief);
                let place = format!("{mean} {spread}: {belief:?} {seen:?}");
                // The iteration ends at a relative 1e-11 in logarithms, and moments are right to
                // 1e-10.
                assert!((seen.mean / mean - 1.0).abs() < 1e-10, "{place}");
                let got = f64::ln_1p(seen.variance / (mean * mean));
                // As above; variances are right to 1e-9.
                assert!((got / spread - 1.0).abs() < 1e-8, "{place}");
            }
        }
    }
}
