//! Mean and variance of a linked value under a normal belief.

use super::{CLIP, Link, softplus};
use crate::likelihood::local::Belief;
use crate::quadrature::gauss_legendre;
use crate::special::elementary;

impl Link {
    /// Mean and variance of the response's mean, `link(f)`, when `f` is normal.
    ///
    /// # Arguments
    /// * `belief` - mean and variance of the latent value; a variance of 0 is a known value
    /// # Numerics
    /// Closed forms: `exp` is log-normal, `e^(m + v/2)` and `e^(2m + v) (e^v - 1)`; `square` has
    /// `m^2 + v` and `2 v (2 m^2 + v)`. `softplus` by quadrature of its deviation from `max(f, 0)`,
    /// a relative 1e-10. The exponents of `exp` are clipped at 600.
    /// # Examples
    /// ```
    /// use quadrat::{likelihood::local::Belief, link::Link};
    /// let (mean, variance) = Link::Square.mean_variance(Belief { mean: 1.0, variance: 2.0 });
    /// assert_eq!((mean, variance), (3.0, 16.0));
    /// ```
    #[must_use]
    pub fn mean_variance(self, belief: Belief) -> (f64, f64) {
        let Belief {
            mean: m,
            variance: v,
        } = belief;
        match self {
            Self::Identity => (m, v),
            Self::Exp => {
                let log_grown = if v > 1.0 {
                    v + elementary::log1p(-elementary::exp(-v))
                } else {
                    elementary::log(elementary::expm1(v))
                };
                let variance = elementary::exp((2.0 * m + v + log_grown).min(CLIP));
                (log_normal_mean(m, v), variance)
            }
            Self::Square => (m * m + v, 2.0 * v * (2.0 * m * m + v)),
            Self::Softplus => softplus_moments(m, v),
        }
    }

    /// Expected first and second derivatives of the link, `E link'(f)` and `E link''(f)`, when `f` is normal.
    ///
    /// `E link'` is the derivative of the mean of [`Link::mean_variance`] in the mean of the belief.
    ///
    /// # Numerics
    /// Closed forms but for `softplus`, which is integrated as its mean is.
    /// # Examples
    /// ```
    /// use quadrat::{likelihood::local::Belief, link::Link};
    /// let (first, second) = Link::Square.expected_slopes(Belief { mean: 3.0, variance: 2.0 });
    /// assert_eq!((first, second), (6.0, 2.0));
    /// ```
    #[must_use]
    pub fn expected_slopes(self, belief: Belief) -> (f64, f64) {
        let Belief {
            mean: m,
            variance: v,
        } = belief;
        match self {
            Self::Identity => (1.0, 0.0),
            Self::Exp => {
                let mean = log_normal_mean(m, v);
                (mean, mean)
            }
            Self::Square => (2.0 * m, 2.0),
            Self::Softplus => {
                let [_, first, second, _] = softplus_averages(m, v, |f| Self::Softplus.jet(f));
                (first, second)
            }
        }
    }

    /// Covariance of the linked values of two jointly normal latent values.
    ///
    /// # Arguments
    /// * `a`, `b` - mean and variance of each latent value
    /// * `slopes` - [`Link::expected_slopes`] of each
    /// * `covariance` - of the latent values
    /// # Numerics
    /// Closed forms: `exp` has `E_a E_b (e^c - 1)`, `square` has `2 c^2 + 4 m_a m_b c`. `softplus` by the first two terms
    /// of `sum_k c^k / k! E link^(k)(a) E link^(k)(b)`, right to 2e-3 in the cases tested, variances up to 0.8.
    /// # Source
    /// Price 1958 for the series.
    #[must_use]
    pub fn covariance(self, a: Belief, b: Belief, slopes: [(f64, f64); 2], covariance: f64) -> f64 {
        let c = covariance;
        match self {
            Self::Identity => c,
            Self::Exp => slopes[0].0 * slopes[1].0 * elementary::expm1(c.min(CLIP)),
            Self::Square => 2.0 * c * c + 4.0 * a.mean * b.mean * c,
            Self::Softplus => {
                c * slopes[0].0 * slopes[1].0 + 0.5 * c * c * slopes[0].1 * slopes[1].1
            }
        }
    }

    /// The normal belief about a latent value whose linked value has a given mean and variance: the inverse of
    /// [`Link::mean_variance`].
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
            Self::Softplus => softplus_equivalent(mean, variance),
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
                let (want, _) = softplus_moments(m, v);
                softplus_mean(want, variance, m)
            }
        };
        Belief { mean, variance }
    }
}

/// The mean of the latent value of a given variance whose softplus has a given mean, by Newton's method.
fn softplus_mean(want: f64, variance: f64, start: f64) -> f64 {
    let mut at = Belief {
        mean: start,
        variance,
    };
    for _ in 0..100 {
        let (m, _) = softplus_moments(at.mean, variance);
        if (want / m - 1.0).abs() < 1e-11 {
            break;
        }
        let (slope, _) = Link::Softplus.expected_slopes(at);
        at.mean += softplus_step(want, m, slope);
    }
    at.mean
}

/// A step of Newton's method from the mean `m` to the mean `want`; far below zero the mean is exponential in the latent value.
fn softplus_step(want: f64, m: f64, slope: f64) -> f64 {
    if m < 1.0 && slope > 0.5 * m {
        elementary::log(want / m) * m / slope
    } else {
        (want - m) / slope
    }
}

/// `E e^f`.
fn log_normal_mean(m: f64, v: f64) -> f64 {
    elementary::exp((m + 0.5 * v).min(CLIP))
}

/// Solves for the mean by Newton's method, for the variance by what the log-normal would need.
fn softplus_equivalent(mean: f64, variance: f64) -> Belief {
    let log_spread = elementary::log1p(variance / (mean * mean));
    let mut at = Belief {
        mean: Link::Softplus.inverse(mean).unwrap_or(f64::NAN),
        variance: 0.0,
    };
    if variance == 0.0 || at.mean.is_nan() {
        return at;
    }
    let slope = super::logistic(at.mean);
    at.variance = (variance / (slope * slope)).min(log_spread * (mean / slope).powi(2));
    for _ in 0..100 {
        let (m, v) = softplus_moments(at.mean, at.variance);
        let ratio = log_spread / elementary::log1p(v / (m * m));
        let (slope, _) = Link::Softplus.expected_slopes(at);
        at.mean += softplus_step(mean, m, slope);
        at.variance *= ratio;
        if (mean / m - 1.0).abs() < 1e-11 && (ratio - 1.0).abs() < 1e-10 {
            break;
        }
    }
    at
}

/// Expectations of functions of a normal value that bend at 0 as softplus does: composite Gauss-Legendre around the
/// mean; panels shrink towards the bend.
fn softplus_averages<const N: usize>(m: f64, v: f64, g: impl Fn(f64) -> [f64; N]) -> [f64; N] {
    if v == 0.0 {
        return g(m);
    }
    let sd = v.sqrt();
    let rule = gauss_legendre(16);
    let (lower, upper) = (m - 9.5 * sd, m + 9.5 * sd + (2.0 * v).min((-m).max(0.0)));
    let mut total = 0.0;
    let mut sums = [0.0; N];
    let mut from = lower;
    while from < upper {
        // The poles of softplus are pi away from the real axis at 0.
        let reach = 0.5 * from.abs().max(2.0);
        let to = (from + sd.min(reach)).min(upper).max(from.next_up());
        for (f, w) in rule.on(from, to) {
            let z = (f - m) / sd;
            let weight = w * elementary::exp(-0.5 * z * z);
            total += weight;
            for (sum, value) in sums.iter_mut().zip(g(f)) {
                *sum += weight * value;
            }
        }
        from = to;
    }
    sums.map(|sum| sum / total)
}

/// By deviations from `softplus(m)`, so that the variance does not cancel.
fn softplus_moments(m: f64, v: f64) -> (f64, f64) {
    let centre = softplus(m);
    // e^-f is lost in rounding from there on.
    if v > 0.0 && m - 10.0 * v.sqrt() > 40.0 {
        return (m, v);
    }
    let [mean, square] = softplus_averages(m, v, |f| {
        let change = softplus_change(m, f - m, centre);
        [change, change * change]
    });
    (centre + mean, (square - mean * mean).max(0.0))
}

/// `softplus(m + d) - softplus(m) = log1p(p (e^d - 1))`, `p = logistic(m)`.
fn softplus_change(m: f64, d: f64, centre: f64) -> f64 {
    if d.abs() < 1.0 {
        elementary::log1p(super::logistic(m) * elementary::expm1(d))
    } else {
        softplus(m + d) - centre
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
                    let (mean, variance) = link.mean_variance(belief);
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
            for (m, v) in [(-3.0, 0.5), (0.3, 2.0), (4.0, 0.01)] {
                let mean = |m: f64| {
                    link.mean_variance(Belief {
                        mean: m,
                        variance: v,
                    })
                    .0
                };
                let h = 1e-3;
                let (first, second) = link.expected_slopes(Belief {
                    mean: m,
                    variance: v,
                });
                // Differences of second order: h^2 / 6 and h^2 / 12 of higher derivatives, and rounding / h^2.
                let want = (mean(m + h) - mean(m - h)) / (2.0 * h);
                assert!(
                    (first - want).abs() < 1e-5 * (1.0 + want.abs()),
                    "{link} {m}"
                );
                let want = (mean(m + h) - 2.0 * mean(m) + mean(m - h)) / (h * h);
                assert!(
                    (second - want).abs() < 1e-4 * (1.0 + want.abs()),
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
                let (m, v) = link.mean_variance(belief);
                assert!((m / mean - 1.0).abs() < 1e-9, "{link} {mean}: {m}");
                assert!(
                    (v / variance - 1.0).abs() < 1e-8,
                    "{link} {mean} {variance}: {v}"
                );
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
                let (want, got) = (link.mean_variance(before).0, link.mean_variance(after).0);
                // What Newton's method stops at.
                assert!((got / want - 1.0).abs() < 1e-10, "{link} {m}: {got} {want}");
                assert!(link != Link::Square || after.mean.signum() == m.signum());
            }
        }
    }

    #[test]
    fn covariances_are_those_of_a_double_sum() {
        for link in Link::ALL {
            for (m, s, c) in [
                ([0.4, -0.5], [0.5, 0.8], 0.3),
                ([1.0, 2.0], [0.2, 0.3], -0.1),
            ] {
                let at = |i: usize| Belief {
                    mean: m[i],
                    variance: s[i],
                };
                let slopes = [link.expected_slopes(at(0)), link.expected_slopes(at(1))];
                let got = link.covariance(at(0), at(1), slopes, c);
                // f1 = m1 + sqrt(s1) x, f2 = m2 + c / sqrt(s1) x + rest y, trapezoid in both.
                let lead = c / s[0].sqrt();
                let rest = (s[1] - lead * lead).sqrt();
                let h = 0.05;
                let (mut total, mut product) = (0.0, 0.0);
                let centre = [link.mean_variance(at(0)).0, link.mean_variance(at(1)).0];
                for i in -180..=180 {
                    for j in -180..=180 {
                        let (x, y) = (h * f64::from(i), h * f64::from(j));
                        let weight = elementary::exp(-0.5 * (x * x + y * y));
                        let a = link.value(m[0] + s[0].sqrt() * x) - centre[0];
                        let b = link.value(m[1] + lead * x + rest * y) - centre[1];
                        total += weight;
                        product += weight * a * b;
                    }
                }
                let want = product / total;
                // Two terms of the series for softplus, exact else.
                let most = if link == Link::Softplus { 2e-3 } else { 1e-9 };
                assert!(
                    (got - want).abs() < most * want.abs(),
                    "{link}: {got} {want}"
                );
            }
        }
    }
}
