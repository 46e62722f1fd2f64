//! Mean and variance of a linked value under a normal belief.

use super::{CLIP, Link, softplus};
use crate::likelihood::local::Belief;
use crate::special::elementary;

/// What is expected of a linked value, and of the derivatives of the link, under a normal belief.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// `E link(f)`.
    pub mean: f64,
    /// `Var link(f)`.
    pub variance: f64,
    /// `E link'(f)`: the derivative of the mean in the mean of the belief.
    pub slope: f64,
    /// `E link''(f)`: twice its derivative in the variance of the belief.
    pub bend: f64,
    /// `E link'''(f)`.
    pub third: f64,
}

impl Link {
    /// Mean and variance of the response's mean, `link(f)`, and the expected derivatives of the link, when `f` is normal.
    ///
    /// # Arguments
    /// * `belief` - mean and variance of the latent value; a variance of 0 is a known value
    /// # Numerics
    /// Closed forms: `exp` is log-normal, `e^(m + v/2)` and `e^(2m + v) (e^v - 1)`; `square` has
    /// `m^2 + v` and `2 v (2 m^2 + v)`. `softplus` by quadrature, a relative 1e-10 (its variance 1e-9, and less
    /// where a wide belief lies more than 20 standard deviations below zero). The exponents of `exp` are clipped at 600.
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
        let (mean, variance, slope, bend, third) = match self {
            Self::Identity => (m, v, 1.0, 0.0, 0.0),
            Self::Exp => {
                let log_grown = if v > 1.0 {
                    v + elementary::log1p(-elementary::exp(-v))
                } else {
                    elementary::log(elementary::expm1(v))
                };
                let mean = elementary::exp((m + 0.5 * v).min(CLIP));
                let variance = elementary::exp((2.0 * m + v + log_grown).min(CLIP));
                (mean, variance, mean, mean, mean)
            }
            Self::Square => (m * m + v, 2.0 * v * (2.0 * m * m + v), 2.0 * m, 2.0, 0.0),
            Self::Softplus => return softplus::moments(belief),
        };
        Moments {
            mean,
            variance,
            slope,
            bend,
            third,
        }
    }

    /// Covariance of the linked values of two jointly normal latent values.
    ///
    /// # Arguments
    /// * `a`, `b` - mean and variance of each latent value
    /// * `moments` - [`Link::moments`] of each
    /// * `covariance` - of the latent values
    /// # Numerics
    /// Closed forms: `exp` has `E_a E_b (e^c - 1)`, `square` has `2 c^2 + 4 m_a m_b c`. `softplus` by the first three terms
    /// of `sum_k c^k / k! E link^(k)(a) E link^(k)(b)`; what all further ones have together where values are equal goes with the
    /// fourth power of the correlation. As correlations right to .02 in tests where zero is within two standard deviations of both,
    /// and to .25 farther below.
    /// # Source
    /// Price 1958 for the series.
    #[must_use]
    pub fn covariance(self, a: Belief, b: Belief, moments: [&Moments; 2], covariance: f64) -> f64 {
        let [x, y] = moments;
        let c = covariance;
        match self {
            Self::Identity => c,
            Self::Exp => x.mean * y.mean * elementary::expm1(c.min(CLIP)),
            Self::Square => 2.0 * c * c + 4.0 * a.mean * b.mean * c,
            Self::Softplus => {
                let first = |c: f64, [x, y]: [&Moments; 2]| {
                    let third = x.third * y.third / 6.0;
                    c * (x.slope * y.slope + c * (0.5 * x.bend * y.bend + c * third))
                };
                let rest = |at: Belief, seen: &Moments| {
                    let known = first(at.variance, [seen, seen]);
                    (seen.variance - known).max(0.0).sqrt()
                };
                let both = (a.variance * b.variance).sqrt();
                let beyond = if both > 0.0 {
                    // Elsewhere on the bend their terms have other signs. Like the series itself this is positive semi-definite.
                    let apart = a.mean / a.variance.sqrt() - b.mean / b.variance.sqrt();
                    let alike = elementary::exp(-apart * apart);
                    alike * (c / both).powi(4) * rest(a, x) * rest(b, y)
                } else {
                    0.0
                };
                let series = first(c, moments) + beyond;
                // Softplus increases, and is nowhere below zero.
                if c < 0.0 {
                    series.max(-x.mean * y.mean).min(0.0)
                } else {
                    series
                }
            }
        }
    }

    /// The normal belief about a latent value whose linked value has a given mean and variance: the inverse of
    /// [`Link::moments`].
    ///
    /// For `exp` it describes the log-normal, for `square` the non-central chi-squared distribution of one degree of
    /// freedom with those moments. A variance that no belief reaches (above twice the squared mean, for `square`) is
    /// brought to the nearest.
    ///
    /// # Arguments
    /// * `mean`, `variance` - of the linked value; the mean positive unless the link is the identity
    /// # Numerics
    /// Closed forms; `softplus` by iteration, to a relative 1e-10.
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
                // a^2 + s = mean, 2 s (2 mean - s) = variance.
                let square = (mean * mean - 0.5 * variance).max(0.0).sqrt();
                Belief {
                    mean: square.sqrt(),
                    variance: 0.5 * variance / (mean + square).max(f64::MIN_POSITIVE),
                }
            }
            Self::Softplus => softplus::equivalent(mean, variance),
        }
    }

    /// The belief about a latent value whose linked value is so many times as large, by its mean and variance.
    ///
    /// # Arguments
    /// * `belief` - mean and variance of the latent value
    /// * `factor` - above zero
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
                softplus::equivalent(factor * seen.mean, factor * factor * seen.variance)
            }
        }
    }

    /// The belief of another variance whose linked value has the same mean.
    ///
    /// # Arguments
    /// * `belief` - mean and variance of the latent value
    /// * `variance` - the other variance; for `square` at most `m^2 + v`, and cut off there
    /// # Numerics
    /// Closed forms, those of `exp` at any size; `softplus` by Newton's method, to a relative 1e-11 of the linked mean. For
    /// `square` the root of the sign that the mean has.
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
        };
        Belief { mean, variance }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_a_fine_sum() {
        for link in Link::ALL {
            for m in [-20.0, -3.0, 0.0, 0.4, 5.0, 60.0] {
                for sd in [1e-4, 0.1, 1.0, 4.0] {
                    let belief = Belief {
                        mean: m,
                        variance: sd * sd,
                    };
                    let Moments { mean, variance, .. } = link.moments(belief);
                    // The trapezoid rule on a normal: exact to rounding at this step. The far end holds
                    // the weight of e^(2 f).
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
        for link in Link::ALL {
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
                // Differences of second order: h^2 / 6 and h^2 / 12 of higher derivatives, and rounding / h^2.
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
                let bends =
                    [m + h, m - h].map(|mean| link.moments(Belief { mean, variance: v }).bend);
                let want = (bends[0] - bends[1]) / (2.0 * h);
                assert!(
                    (third - want).abs() < 1e-5 * (1.0 + want.abs()),
                    "{link} {m}"
                );
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
                assert!((m / mean - 1.0).abs() < 1e-9, "{link} {mean}: {m}");
                assert!(
                    (v / variance - 1.0).abs() < 1e-8,
                    "{link} {mean} {variance}: {v}"
                );
            }
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
        for link in Link::ALL {
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

    #[test]
    fn covariances_are_those_of_a_double_sum() {
        for link in Link::ALL {
            for (m, s, r, off) in [
                ([0.4, -0.5], [0.5, 0.8], 0.5, 0.02),
                ([1.0, 2.0], [0.2, 0.3], -0.4, 0.02),
                ([0.0, 0.0], [25.0, 36.0], 0.9, 0.02),
                ([-10.0, -5.0], [25.0, 50.0], 0.7, 0.02),
                ([-3.0, -2.0], [2.0, 3.0], 0.95, 0.02),
                ([20.0, -2.0], [100.0, 81.0], -0.6, 0.02),
                ([0.0, 0.0], [25.0, 25.0], -0.9, 0.02),
                ([-8.0, -8.0], [4.0, 4.0], -0.9, 0.05),
                ([-8.0, -5.0], [4.0, 4.0], 0.9, 0.1),
                ([-20.0, -20.0], [25.0, 25.0], 0.9, 0.25),
            ] {
                if s[0] > 1.0 && link == Link::Exp {
                    // Its weight lies beyond the ends of the sum.
                    continue;
                }
                let at = |i: usize| Belief {
                    mean: m[i],
                    variance: s[i],
                };
                let seen = [link.moments(at(0)), link.moments(at(1))];
                let c = r * f64::sqrt(s[0] * s[1]);
                let got = link.covariance(at(0), at(1), [&seen[0], &seen[1]], c);
                // f1 = m1 + sd1 x, f2 = m2 + sd2 (r x + rest y), trapezoid in both.
                let rest = f64::sqrt(1.0 - r * r);
                let h = 0.05;
                let (mut total, mut product) = (0.0, 0.0);
                let centre = [seen[0].mean, seen[1].mean];
                for i in -180..=180 {
                    for j in -180..=180 {
                        let (x, y) = (h * f64::from(i), h * f64::from(j));
                        let weight = elementary::exp(-0.5 * (x * x + y * y));
                        let a = link.value(m[0] + s[0].sqrt() * x) - centre[0];
                        let b = link.value(m[1] + s[1].sqrt() * (r * x + rest * y)) - centre[1];
                        total += weight;
                        product += weight * a * b;
                    }
                }
                let want = product / total;
                // What the end of the series is taken for, in softplus, as a correlation; exact else.
                let most = if link == Link::Softplus { off } else { 1e-9 };
                let unit = (seen[0].variance * seen[1].variance).sqrt();
                assert!((got - want).abs() < most * unit, "{link}: {got} {want}");
            }
        }
    }
}
