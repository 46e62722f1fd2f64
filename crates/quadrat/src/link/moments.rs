//! Mean and variance of a linked value under a normal belief.

use super::moment::Moments;
use super::{CLIP, Link, logit, probit, softplus};
use crate::likelihood::local::Belief;
use crate::special::elementary;

impl Link {
    /// Mean and variance of the response's mean, `link(f)`, and the expected derivatives of the
    /// link, when `f` is normal.
    ///
    /// # Arguments
    /// * `belief` - mean and variance of the latent value; a variance of 0 is a known value
    /// # Numerics
    /// Closed forms: `exp` is log-normal, `e^(m + v/2)` and `e^(2m + v) (e^v - 1)`; `square` has
    /// `m^2 + v` and `2 v (2 m^2 + v)`. `softplus` by quadrature, a relative 1e-10 (its variance
    /// 1e-9, and less where a wide belief lies more than 20 standard deviations below zero), and
    /// `logit` likewise; `probit` in closed form but for the variance, one smooth integral. The
    /// exponents of `exp` are clipped at 600.
    /// # Examples
    /// ```
    /// use quadrat::{likelihood::local::Belief, link::Link};
    /// let seen = Link::Square.moments(Belief { mean: 1.0, variance: 2.0 });
    /// assert_eq!((seen.mean, seen.variance), (3.0, 16.0));
    /// assert_eq!((seen.slope, seen.bend), (2.0, 2.0));
    /// ```
    #[must_use]
    pub fn moments(self, belief: Belief) -> Moments {
        let Belief {
            mean: m,
            variance: v,
        } = belief;
        let (mean, variance, [slope, bend, third], [in_mean, in_variance]) = match self {
            Self::Identity => (m, v, [1.0, 0.0, 0.0], [0.0, 1.0]),
            Self::Exp => {
                let log_grown = if v > 1.0 {
                    v + elementary::log1p(-elementary::exp(-v))
                } else {
                    elementary::log(elementary::expm1(v))
                };
                let mean = elementary::exp((m + 0.5 * v).min(CLIP));
                let variance = elementary::exp((2.0 * m + v + log_grown).min(CLIP));
                let square = elementary::exp((2.0 * (m + v)).min(CLIP));
                (
                    mean,
                    variance,
                    [mean; 3],
                    [2.0 * variance, variance + square],
                )
            }
            Self::Square => (
                m * m + v,
                2.0 * v * (2.0 * m * m + v),
                [2.0 * m, 2.0, 0.0],
                [8.0 * m * v, 4.0 * (m * m + v)],
            ),
            Self::Softplus => return softplus::moments(belief),
            Self::Logit => return logit::moments(belief),
            Self::Probit => return probit::moments(belief),
        };
        Moments {
            mean,
            variance,
            slope,
            bend,
            third,
            variance_in_mean: in_mean,
            variance_in_variance: in_variance,
        }
    }

    /// The normal belief about a latent value whose linked value has a given mean and variance: the
    /// inverse of [`Link::moments`].
    ///
    /// For `exp` it describes the log-normal, for `square` the non-central chi-squared distribution
    /// of one degree of freedom with those moments. A variance that no belief reaches (above twice
    /// the squared mean, for `square`) is brought to the nearest.
    ///
    /// # Arguments
    /// * `mean`, `variance` - of the linked value; the mean positive unless the link is the
    ///   identity
    /// # Numerics
    /// Closed forms; `softplus`, `logit` and `probit` by iteration, to a relative 1e-10. A variance
    /// that no normal value has behind `square` is brought to the largest that one has, beside the
    /// same mean. What is no mean of a probability gives what is no number.
    /// # Examples
    /// ```
    /// use quadrat::link::Link;
    /// let belief = Link::Exp.equivalent(1.0, 1f64.exp() - 1.0);
    /// assert!((belief.mean + 0.5).abs() < 1e-15 && (belief.variance - 1.0).abs() < 1e-15);
    /// ```
    #[must_use]
    pub fn equivalent(self, mean: f64, variance: f64) -> Belief {
        match self {
            Self::Identity => Belief { mean, variance },
            Self::Exp => {
                let spread = elementary::log1p(variance / (mean * mean));
                Belief {
                    mean: elementary::log(mean) - 0.5 * spread,
                    variance: spread,
                }
            }
            Self::Square => {
                // a^2 + s = mean, 2 s (2 mean - s) = variance, which is at most 2 mean^2.
                let variance = variance.min(2.0 * mean * mean);
                let square = (mean * mean - 0.5 * variance).max(0.0).sqrt();
                Belief {
                    mean: square.sqrt(),
                    variance: 0.5 * variance / (mean + square).max(f64::MIN_POSITIVE),
                }
            }
            Self::Softplus => softplus::equivalent(mean, variance),
            Self::Logit => logit::equivalent(mean, variance),
            Self::Probit => probit::equivalent(mean, variance),
        }
    }

    /// The belief about a latent value whose linked value is so many times as large, by its mean
    /// and variance.
    ///
    /// # Arguments
    /// * `belief` - mean and variance of the latent value
    /// * `factor` - above zero; the belief about a probability, of which no multiple is one, stays
    ///   as it is
    /// # Numerics
    /// Exact but for `softplus`, see [`Link::equivalent`].
    /// # Examples
    /// ```
    /// use quadrat::{likelihood::local::Belief, link::Link};
    /// let one = Belief { mean: 3.0, variance: 2.0 };
    /// assert_eq!(Link::Square.scaled(one, 4.0), Belief { mean: 6.0, variance: 8.0 });
    /// ```
    #[must_use]
    pub fn scaled(self, belief: Belief, factor: f64) -> Belief {
        if factor == 1.0 {
            return belief;
        }
        let Belief { mean, variance } = belief;
        match self {
            Self::Identity => Belief {
                mean: factor * mean,
                variance: factor * factor * variance,
            },
            Self::Exp => Belief {
                mean: mean + elementary::log(factor),
                variance,
            },
            Self::Square => Belief {
                mean: factor.sqrt() * mean,
                variance: factor * variance,
            },
            Self::Softplus => {
                let seen = softplus::moments(belief);
                if factor * seen.mean < f64::MIN_POSITIVE {
                    // As `exp`, of which it is next to nothing.
                    return Self::Exp.scaled(belief, factor);
                }
                softplus::equivalent(factor * seen.mean, factor * factor * seen.variance)
            }
            Self::Logit | Self::Probit => belief,
        }
    }

    /// The belief of another variance whose linked value has the same mean.
    ///
    /// # Arguments
    /// * `belief` - mean and variance of the latent value
    /// * `variance` - the other variance; for `square` at most `m^2 + v`, and cut off there
    /// # Numerics
    /// Closed forms, those of `exp` at any size; `softplus` by Newton's method, to a relative 1e-11
    /// of the linked mean. For `square` the root of the sign that the mean has.
    /// # Examples
    /// ```
    /// use quadrat::{likelihood::local::Belief, link::Link};
    /// let wide = Belief { mean: 1.0, variance: 2.0 };
    /// assert_eq!(Link::Exp.with_variance(wide, 0.5), Belief { mean: 1.75, variance: 0.5 });
    /// ```
    #[must_use]
    pub fn with_variance(self, belief: Belief, variance: f64) -> Belief {
        let Belief {
            mean: m,
            variance: v,
        } = belief;
        let mean = match self {
            Self::Identity => m,
            Self::Exp => m + 0.5 * (v - variance),
            Self::Square => (m * m + v - variance).max(0.0).sqrt().copysign(m),
            Self::Softplus => {
                let want = softplus::moments(belief).mean;
                if want < f64::MIN_POSITIVE {
                    // As `exp`, of which it is next to nothing.
                    m + 0.5 * (v - variance)
                } else {
                    softplus::mean_of(want, variance, m)
                }
            }
            Self::Logit => logit::mean_of(logit::moments(belief).mean, variance, m),
            Self::Probit => probit::moved(belief, variance),
        };
        Belief { mean, variance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_a_fine_sum() {
        for link in Link::ALL.into_iter().chain(Link::PROBABILITIES) {
            for m in [-20.0, -3.0, 0.0, 0.4, 5.0, 60.0] {
                if m > 30.0 && link.is_probability() {
                    // One, but for less than rounding.
                    continue;
                }
                for sd in [1e-4, 0.1, 1.0, 4.0] {
                    let belief = Belief {
                        mean: m,
                        variance: sd * sd,
                    };
                    let Moments { mean, variance, .. } = link.moments(belief);
                    // The trapezoid rule on a normal: exact to rounding at this step. The far end
                    // holds the weight of e^(2 f).
                    let h = 1e-3;
                    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
                    let centre = link.value(m);
                    for i in -10_000..20_000 {
                        let z = h * f64::from(i);
                        let weight = elementary::exp(-0.5 * z * z);
                        let change = link.value(m + sd * z) - centre;
                        total += weight;
                        first += weight * change;
                        second += weight * change * change;
                    }
                    let brute = (
                        centre + first / total,
                        second / total - (first / total) * (first / total),
                    );
                    // The sum itself loses eps / sd to the difference of two values.
                    assert!(
                        (mean / brute.0 - 1.0).abs() < 1e-9 || (mean - brute.0).abs() < 1e-12,
                        "{link} {m} {sd}"
                    );
                    assert!(
                        (variance / brute.1 - 1.0).abs() < 1e-8,
                        "{link} {m} {sd}: {variance} {}",
                        brute.1
                    );
                }
            }
        }
    }

    #[test]
    fn slopes_are_derivatives_of_the_mean() {
        for link in Link::ALL.into_iter().chain(Link::PROBABILITIES) {
            for (m, v) in [(-3.0, 0.5), (0.3, 2.0), (4.0, 0.01), (2.0, 9.0)] {
                let mean = |m: f64| {
                    let at = Belief {
                        mean: m,
                        variance: v,
                    };
                    link.moments(at).mean
                };
                let h = 1e-3;
                let Moments {
                    slope, bend, third, ..
                } = link.moments(Belief {
                    mean: m,
                    variance: v,
                });
                // Differences of second order: h^2 / 6 and h^2 / 12 of higher derivatives, and
                // rounding / h^2.
                let want = (mean(m + h) - mean(m - h)) / (2.0 * h);
                assert!(
                    (slope - want).abs() < 1e-5 * (1.0 + want.abs()),
                    "{link} {m}"
                );
                let want = (mean(m + h) - 2.0 * mean(m) + mean(m - h)) / (h * h);
                assert!(
                    (bend - want).abs() < 1e-4 * (1.0 + want.abs()),
                    "{link} {m}"
                );
                let second_order =
                    [m + h, m - h].map(|mean| link.moments(Belief { mean, variance: v }).bend);
                let want = (second_order[0] - second_order[1]) / (2.0 * h);
                // As above: h^2 / 6 of the fifth derivative, found to be 2e-7 of the third.
                assert!(
                    (third - want).abs() < 1e-5 * (1.0 + want.abs()),
                    "{link} {m}"
                );
            }
        }
    }

    #[test]
    fn slopes_of_the_variance_are_its_differences() {
        for link in Link::ALL.into_iter().chain(Link::PROBABILITIES) {
            for (m, v) in [
                (-3.0, 0.5),
                (0.3, 2.0),
                (4.0, 0.01),
                (2.0, 9.0),
                (-20.0, 16.0),
            ] {
                let at = |mean: f64, variance: f64| link.moments(Belief { mean, variance });
                let slope = |f: &dyn Fn(f64) -> f64, h: f64| {
                    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
                };
                let seen = at(m, v);
                let h = 2e-3 * v;
                for (got, want) in [
                    (
                        seen.variance_in_mean,
                        slope(&|h| at(m + h, v).variance, 1e-2),
                    ),
                    (
                        seen.variance_in_variance,
                        slope(&|h| at(m, v + h).variance, h),
                    ),
                ] {
                    // Fourth order differences: a relative 1e-8 h^4 of values that grow as e^(2 v),
                    // the largest 100 times the step.
                    let most = 1e-5 * (want.abs() + 1e-3 * seen.variance);
                    assert!((got - want).abs() < most, "{link} {m} {v}: {got} {want}");
                }
            }
        }
    }

    #[test]
    fn the_equivalent_belief_has_the_moments() {
        for link in Link::ALL {
            for (mean, variance) in [
                (1e-3, 1e-7),
                (0.2, 0.02),
                (1.0, 1.5),
                (7.0, 30.0),
                (50.0, 4.0),
            ] {
                let belief = link.equivalent(mean, variance);
                let Moments {
                    mean: m,
                    variance: v,
                    ..
                } = link.moments(belief);
                // Iterations end at a relative 1e-10 and 1e-11; means behind softplus are right to
                // 1e-10, variances to 1e-9.
                assert!((m / mean - 1.0).abs() < 1e-9, "{link} {mean}: {m}");
                // As above.
                assert!(
                    (v / variance - 1.0).abs() < 1e-8,
                    "{link} {mean} {variance}: {v}"
                );
            }
        }
    }

    /// Also of next to nothing, and of what is nearly always zero or one.
    #[test]
    fn the_equivalent_belief_of_a_probability_has_the_moments() {
        for link in Link::PROBABILITIES {
            for mean in [1e-12, 1e-6, 1e-3, 0.2, 0.5, 0.9, 0.999] {
                for part in [1e-8, 1e-4, 0.01, 0.3, 0.8, 0.95] {
                    let variance = part * mean * (1.0 - mean);
                    let belief = link.equivalent(mean, variance);
                    let seen = link.moments(belief);
                    let place = format!("{link} {mean} {part}: {belief:?} {seen:?}");
                    // Iterations end at a relative 1e-10; variances are right to some 1e-9.
                    assert!((seen.mean / mean - 1.0).abs() < 1e-9, "{place}");
                    assert!((seen.variance / variance - 1.0).abs() < 1e-8, "{place}");
                }
                // More than any has: nearly always zero or one.
                let most = link.equivalent(mean, mean);
                assert!(most.variance > 99.0, "{link} {mean}: {most:?}");
                assert!(most.mean.is_finite());
                assert_eq!(link.equivalent(mean, 0.0).variance, 0.0);
            }
            assert!(link.equivalent(1.0, 0.1).mean.is_nan());
            assert!(link.equivalent(0.0, 0.1).mean.is_nan());
        }
    }

    #[test]
    fn a_scaled_belief_has_scaled_moments() {
        for link in Link::ALL {
            for (mean, variance) in [(0.4, 0.5), (-6.0, 1.0), (2.0, 9.0)] {
                let one = Belief { mean, variance };
                let seen = link.moments(one);
                for factor in [0.1, 1.0, 30.0] {
                    let got = link.moments(link.scaled(one, factor));
                    // What the search for that of softplus stops at.
                    assert!((got.mean / (factor * seen.mean) - 1.0).abs() < 1e-9);
                    let want = factor * factor * seen.variance;
                    assert!((got.variance / want - 1.0).abs() < 1e-8, "{link} {factor}");
                }
            }
        }
    }

    #[test]
    fn another_variance_leaves_the_linked_mean() {
        for link in Link::ALL.into_iter().chain(Link::PROBABILITIES) {
            for (m, v, other) in [
                (3.0, 2.0, 0.1),
                (0.4, 0.5, 0.0),
                (-6.0, 1.0, 0.3),
                (2.0, 0.1, 0.9),
            ] {
                let before = Belief {
                    mean: m,
                    variance: v,
                };
                let after = link.with_variance(before, other);
                assert_eq!(after.variance, other);
                let (want, got) = (link.moments(before).mean, link.moments(after).mean);
                // What Newton's method stops at.
                assert!((got / want - 1.0).abs() < 1e-10, "{link} {m}: {got} {want}");
                assert!(link != Link::Square || after.mean.signum() == m.signum());
            }
        }
    }
}
