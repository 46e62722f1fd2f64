//! Mean and variance of a linked value under a normal belief.

use super::{CLIP, Link, softplus};
use crate::likelihood::local::Belief;
use crate::quadrature::gauss_legendre;

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
                let mean = libm::exp((m + 0.5 * v).min(CLIP));
                let log_grown = if v > 1.0 {
                    v + libm::log1p(-libm::exp(-v))
                } else {
                    libm::log(libm::expm1(v))
                };
                (mean, libm::exp((2.0 * m + v + log_grown).min(CLIP)))
            }
            Self::Square => (m * m + v, 2.0 * v * (2.0 * m * m + v)),
            Self::Softplus => softplus_moments(m, v),
        }
    }
}

/// Composite Gauss-Legendre around the mean, deviations from `softplus(m)` so that the variance does not
/// cancel; panels shrink towards the bend at 0.
fn softplus_moments(m: f64, v: f64) -> (f64, f64) {
    let sd = v.sqrt();
    let centre = softplus(m);
    if v == 0.0 {
        return (centre, 0.0);
    }
    // e^-f is lost in rounding from there on.
    if m - 10.0 * sd > 40.0 {
        return (m, v);
    }
    let rule = gauss_legendre(16);
    let (lower, upper) = (m - 9.5 * sd, m + 9.5 * sd + (2.0 * v).min((-m).max(0.0)));
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    let mut from = lower;
    while from < upper {
        // The poles of softplus are pi away from the real axis at 0.
        let reach = 0.5 * from.abs().max(2.0);
        let to = (from + sd.min(reach)).min(upper).max(from.next_up());
        for (f, w) in rule.on(from, to) {
            let z = (f - m) / sd;
            let weight = w * libm::exp(-0.5 * z * z);
            let change = softplus_change(m, f - m, centre);
            total += weight;
            first += weight * change;
            second += weight * change * change;
        }
        from = to;
    }
    let mean = first / total;
    (centre + mean, (second / total - mean * mean).max(0.0))
}

/// `softplus(m + d) - softplus(m) = log1p(p (e^d - 1))`, `p = logistic(m)`.
fn softplus_change(m: f64, d: f64, centre: f64) -> f64 {
    if d.abs() < 1.0 {
        libm::log1p(super::logistic(m) * libm::expm1(d))
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
                        let weight = libm::exp(-0.5 * z * z);
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
}
