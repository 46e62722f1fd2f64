//! A linked value under a normal belief, and its covariances with others.

use super::series::Series;
use super::{CLIP, Link, Moments};
use crate::likelihood::local::Belief;
use crate::special::elementary;

/// A linked value `psi(f)` with normal `f`.
#[derive(Debug, Clone, PartialEq)]
pub struct Linked {
    link: Link,
    belief: Belief,
    moments: Moments,
    /// Of `softplus`.
    series: Option<Series>,
}

impl Linked {
    /// The value under a belief about `f`.
    #[must_use]
    pub fn new(link: Link, belief: Belief) -> Self {
        Self {
            link,
            belief,
            moments: link.moments(belief),
            series: (link == Link::Softplus).then(|| Series::softplus(belief)),
        }
    }

    /// Its [`Link::moments`].
    #[must_use]
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Covariance with another value behind the same link.
    ///
    /// # Arguments
    /// * `covariance` - of the latent values
    /// # Numerics
    /// Closed forms: `exp` has `E_a E_b (e^c - 1)`, `square` has `2 c^2 + 4 m_a m_b c`. `softplus` by 16 terms of its expansion in
    /// Hermite polynomials; what is left out, as a correlation, is 1e-6 where standard deviations are at most 1.5, 1e-4 where zero is within
    /// two of them and they are below 6, and 5e-3 in the worst case tested (20 below zero, standard deviations of 5).
    /// # Source
    /// Mehler 1866 for the expansion.
    /// # Examples
    /// ```
    /// use quadrat::{likelihood::local::Belief, link::{Link, Linked}};
    /// let one = Linked::new(Link::Exp, Belief { mean: 0.0, variance: 0.5 });
    /// // With itself: the variance.
    /// assert!((one.covariance(&one, 0.5) / one.moments().variance - 1.0).abs() < 1e-14);
    /// ```
    #[must_use]
    pub fn covariance(&self, other: &Self, covariance: f64) -> f64 {
        let c = covariance;
        match (self.link, &self.series, &other.series) {
            (Link::Exp, ..) => {
                self.moments.mean * other.moments.mean * elementary::expm1(c.min(CLIP))
            }
            (Link::Square, ..) => 2.0 * c * c + 4.0 * self.belief.mean * other.belief.mean * c,
            (_, Some(series), Some(others)) => series.covariance(others, c),
            _ => c,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covariances_are_those_of_a_double_sum() {
        for link in Link::ALL {
            for (m, s, r, off) in [
                ([0.4, -0.5], [0.5, 0.8], 0.5, 1e-9),
                ([1.0, 2.0], [0.2, 0.3], -0.4, 1e-9),
                ([-3.0, -2.0], [2.0, 3.0], 0.95, 1e-6),
                ([0.0, 0.0], [25.0, 36.0], 0.9, 1e-4),
                ([-10.0, -5.0], [25.0, 50.0], 0.7, 1e-5),
                ([20.0, -2.0], [100.0, 81.0], -0.6, 1e-6),
                ([0.0, 0.0], [25.0, 25.0], -0.9, 1e-4),
                ([-8.0, -8.0], [4.0, 4.0], -0.9, 1e-5),
                ([-8.0, -5.0], [4.0, 4.0], 0.9, 1e-5),
                ([-20.0, -20.0], [25.0, 25.0], 0.9, 5e-3),
            ] {
                if s[0] > 1.0 && link == Link::Exp {
                    // Its weight lies beyond the ends of the sum.
                    continue;
                }
                let at = |i: usize| Belief {
                    mean: m[i],
                    variance: s[i],
                };
                let values = [0, 1].map(|i| Linked::new(link, at(i)));
                let seen = values.each_ref().map(Linked::moments);
                let c = r * f64::sqrt(s[0] * s[1]);
                let got = values[0].covariance(&values[1], c);
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
                // What the series of softplus leaves out, as a correlation; exact else.
                let most = if link == Link::Softplus { off } else { 1e-9 };
                let unit = (seen[0].variance * seen[1].variance).sqrt();
                assert!((got - want).abs() < most * unit, "{link}: {got} {want}");
            }
        }
    }
}
