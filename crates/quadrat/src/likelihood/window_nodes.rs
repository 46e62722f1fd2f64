//! Windows at many places at once: arrays of special functions in place of one value after the
//! other.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::adaptive::Integrals;
use super::local::{Belief, Expected};
use super::quadrature::adaptive_averages_of_many;
use super::smooth;
use super::window::{FARTHEST, HIDDEN, OUTSIDE, Window, WindowSlopes, lost};
use crate::special::{HALF_LOG_TWO_PI, erfcx_into, exp, log_cdf_difference_into};

/// Width of a window in noise sds from which on both ends are seen within forty noise sds only:
/// curvatures, which cancel to the square of that, keep ten digits where it matters.
const WIDE: f64 = 1.0;

/// Width of the bends in sds of the belief from which on few nodes do.
const NARROW: f64 = 7.0;

/// What a window makes of one place, derivatives in the latent value.
struct Seen {
    log: f64,
    first: f64,
    second: f64,
    /// Densities at the ends over the probability between them, in noise sds.
    at_lower: f64,
    at_upper: f64,
}

impl Window {
    /// `E log p` and its derivatives in the mean of a belief, by many nodes at once; `None` where
    /// the belief is so narrow that few do, or the window.
    ///
    /// # Numerics
    /// Some `90 / rho` nodes of the trapezoid rule, `rho` the width of the bends in sds of the
    /// belief, or some 300 in panels where these are fewer; to 1e-11 of the average of absolute
    /// values.
    pub(super) fn expected_of_many(&self, belief: Belief) -> Option<Expected> {
        let found = self.averages_of_many(belief, |f, seen| {
            let pull = seen.first * (f - belief.mean) / belief.variance;
            [seen.log, seen.first, seen.second, pull]
        })?;
        // As `quadrature::expected` has it.
        let smaller = if found.size[3] < found.size[2] { 3 } else { 2 };
        Some(Expected {
            value: found.value[0],
            first: found.value[1],
            second: found.value[smaller],
        })
    }

    /// The derivatives of `E log p` in the ends and in the noise variance, in the same way.
    pub(super) fn slopes_of_many(&self, belief: Belief) -> Option<WindowSlopes<f64>> {
        let sd = self.variance.sqrt();
        let found = self.averages_of_many(belief, |_, seen| {
            let variance = 0.5 * (seen.second + seen.first * seen.first);
            [-seen.at_lower / sd, seen.at_upper / sd, variance]
        })?;
        let [lower, upper, variance] = found.value;
        Some(WindowSlopes {
            lower,
            upper,
            variance,
        })
    }

    fn averages_of_many<const N: usize>(
        &self,
        belief: Belief,
        g: impl Fn(f64, &Seen) -> [f64; N],
    ) -> Option<Integrals<N>> {
        let width = self.upper - self.lower;
        if width.is_nan() || width < WIDE * self.variance.sqrt() {
            return None;
        }
        let second_order = self.second_order();
        let many = |places: &[f64], out: &mut [[f64; N]]| {
            let seen = self.seen(places);
            for ((out, f), seen) in out.iter_mut().zip(places).zip(&seen) {
                *out = g(*f, seen);
            }
        };
        if second_order[0].1 >= NARROW * belief.variance.sqrt() {
            return None;
        }
        let evenly = smooth::averages_of_many(belief, &second_order, many);
        Some(evenly.unwrap_or_else(|| adaptive_averages_of_many(belief, &second_order, many)))
    }

    /// With `a` and `b` the distances to the ends in noise sds and `h` their densities over the
    /// probability between them, `(log p)' = (h_a - h_b) / v` and `(log p)'' = (a h_a - b h_b) /
    /// v^2 - ((log p)')^2`; outside of an end as [`Self::outside`] has it.
    fn seen(&self, places: &[f64]) -> Vec<Seen> {
        let sd = self.variance.sqrt();
        let distances = |end: f64| -> Vec<f64> { places.iter().map(|f| (end - f) / sd).collect() };
        let (a, b) = (distances(self.lower), distances(self.upper));
        let mut log = vec![0.0; places.len()];
        log_cdf_difference_into(&a, &b, &mut log);
        let share = |x: &[f64]| -> Vec<f64> {
            let pairs = x.iter().zip(&log);
            let mut share: Vec<f64> = pairs
                .map(|(x, log)| -0.5 * x * x - HALF_LOG_TWO_PI - log)
                .collect();
            exp(&mut share);
            share
        };
        let (at_lower, at_upper) = (share(&a), share(&b));
        let outside: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a.max(-b)).collect();
        let beyond = outside.iter().map(|x| x.max(0.0) * FRAC_1_SQRT_2);
        let mut scaled = vec![0.0; places.len()];
        erfcx_into(&beyond.collect::<Vec<f64>>(), &mut scaled);
        let width = (self.upper - self.lower) / sd;
        let times = |x: f64, h: f64| if h == 0.0 { 0.0 } else { x * h };
        let one = |i: usize| {
            let x = outside[i];
            let sees_one = x >= OUTSIDE && x * width >= HIDDEN;
            let (lower, upper, second) = if sees_one && x <= FARTHEST {
                let hazard = (2.0 / PI).sqrt() / scaled[i];
                let second = -lost(hazard, x);
                match a[i] >= -b[i] {
                    true => (hazard, 0.0, second),
                    false => (0.0, hazard, second),
                }
            } else {
                let (lower, upper) = (at_lower[i], at_upper[i]);
                let bend = times(a[i], lower) - times(b[i], upper);
                (lower, upper, bend - (lower - upper).powi(2))
            };
            Seen {
                log: log[i],
                first: (lower - upper) / sd,
                second: second / self.variance,
                at_lower: lower,
                at_upper: upper,
            }
        };
        (0..places.len()).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::quadrature::{adaptive_averages, expected};

    /// Against adaptive integration of the moments between two ends, one place after the other.
    #[test]
    fn many_nodes_agree_with_panels_that_are_halved() {
        let mut served = 0;
        for width in [1.0, 2.5, 4.0, 9.0, 60.0, f64::INFINITY] {
            for mean in [-40.0, -3.0, 0.0, 1.3, 30.0] {
                for sds in [0.4, 1.0, 2.5, 6.0, 20.0, 300.0] {
                    let variance = 0.09;
                    let sd = f64::sqrt(variance);
                    let window = Window {
                        lower: -0.5 * width.min(8.0) * sd,
                        upper: (width - 0.5 * width.min(8.0)) * sd,
                        variance,
                    };
                    let belief = Belief {
                        mean: mean * sd,
                        variance: variance * sds * sds,
                    };
                    let Some(got) = window.expected_of_many(belief) else {
                        continue;
                    };
                    let second = got.second;
                    served += 1;
                    let want = adaptive_averages(belief, &window.second_order(), |f| {
                        let at = window.jet(f);
                        [at.value, at.first, at.second]
                    });
                    let other = expected(belief, &window.second_order(), |f| window.jet(f));
                    let pairs = [got.value, got.first].into_iter().zip(&want.value);
                    for ((x, y), size) in pairs.zip(&want.size) {
                        // What the adaptive rule leaves.
                        assert!(
                            (x - y).abs() <= 2e-11 * size,
                            "{window:?} {belief:?}: {x} {y}"
                        );
                    }
                    let slopes = window.slopes_of_many(belief).unwrap();
                    let want = adaptive_averages(belief, &window.second_order(), |f| {
                        let at = window.tilted_slopes(Belief {
                            mean: f,
                            variance: 0.0,
                        });
                        [at.lower, at.upper, at.variance]
                    });
                    let got = [slopes.lower, slopes.upper, slopes.variance];
                    let size = want.size.iter().fold(0.0, |a: f64, b| a.max(*b));
                    for (x, y) in got.iter().zip(&want.value) {
                        // Adaptive panels are asked for 3e-10 of every integral.
                        assert!(
                            (x - y).abs() <= 1e-9 * size,
                            "{window:?} {belief:?}: {x} {y}"
                        );
                    }
                    // Curvatures of far nodes are known to the square of their distance.
                    let off = (second - other.second).abs();
                    assert!(
                        off <= 1e-9 * other.second.abs(),
                        "{window:?} {belief:?}: {second} {other:?}"
                    );
                }
            }
        }
        assert!(served > 170, "{served} of 180");
    }
}
