//! Linked values under a normal belief, and their covariances.

use super::moment::Moments;
use super::series::Series;
use super::{CLIP, Link};
use crate::likelihood::local::Belief;
use crate::special::elementary;

/// Values `psi(f_i)` with jointly normal `f_i`.
#[derive(Debug, Clone, PartialEq)]
pub struct Linked {
    link: Link,
    means: Vec<f64>,
    moments: Vec<Moments>,
    /// Of links without closed forms.
    series: Option<Series>,
}

impl Linked {
    /// The values under beliefs about every `f_i`.
    #[must_use]
    pub fn new(link: Link, at: &[Belief]) -> Self {
        let moments: Vec<Moments> = at.iter().map(|belief| link.moments(*belief)).collect();
        let slopes = || at.iter().zip(&moments).map(|(b, seen)| (*b, seen.slope));
        Self {
            link,
            means: at.iter().map(|belief| belief.mean).collect(),
            series: Series::behind(link, &slopes().collect::<Vec<_>>()),
            moments,
        }
    }

    /// [`Link::moments`] of each.
    #[must_use]
    pub fn moments(&self) -> &[Moments] {
        &self.moments
    }

    /// Writes the covariances of value `i` with the first few.
    ///
    /// # Arguments
    /// * `covariance` - of the latent values, as many as `out`
    /// # Numerics
    /// Closed forms: `exp` has `E_a E_b (e^c - 1)`, `square` has `2 c^2 + 4 m_a m_b c`. `softplus`
    /// by 16 or 48 terms of its expansion in Hermite polynomials; what is left out, as a
    /// correlation, is at most 1e-6 where standard deviations are at most 3, and 1e-3 where they
    /// are at most 8 and zero is within four of them. `logit` and `probit` likewise, 1e-4 where
    /// standard deviations are at most 5 and 3.
    /// # Source
    /// Mehler 1866 for the expansion.
    /// # Examples
    /// ```
    /// use quadrat::{likelihood::local::Belief, link::{Link, Linked}};
    /// let belief = Belief { mean: 0.0, variance: 0.5 };
    /// let values = Linked::new(Link::Exp, &[belief, belief]);
    /// let mut out = [0.0];
    /// values.covariances(1, &[0.5], &mut out);
    /// // Of equal values: the variance.
    /// assert!((out[0] / values.moments()[0].variance - 1.0).abs() < 1e-14);
    /// ```
    pub fn covariances(&self, i: usize, covariance: &[f64], out: &mut [f64]) {
        let seen = &self.moments;
        match (self.link, &self.series) {
            (Link::Exp, _) => {
                for ((out, c), other) in out.iter_mut().zip(covariance).zip(seen) {
                    *out = seen[i].mean * other.mean * elementary::expm1(c.min(CLIP));
                }
            }
            (Link::Square, _) => {
                for ((out, c), mean) in out.iter_mut().zip(covariance).zip(&self.means) {
                    *out = 2.0 * c * c + 4.0 * self.means[i] * mean * c;
                }
            }
            (_, Some(series)) => series.covariances(i, covariance, out),
            _ => out.copy_from_slice(covariance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covariances_are_those_of_a_double_sum() {
        for link in Link::ALL.into_iter().chain(Link::PROBABILITIES) {
            for (m, s, r, off) in [
                ([0.4, -0.5], [0.5, 0.8], 0.5, 1e-9),
                ([1.0, 2.0], [0.2, 0.3], -0.4, 1e-9),
                ([-3.0, -2.0], [2.0, 3.0], 0.95, 1e-9),
                ([0.0, 0.0], [25.0, 36.0], 0.9, 1e-6),
                ([-10.0, -5.0], [25.0, 50.0], 0.7, 1e-8),
                ([20.0, -2.0], [100.0, 81.0], -0.6, 1e-8),
                ([0.0, 0.0], [25.0, 25.0], -0.9, 1e-6),
                ([-8.0, -8.0], [4.0, 4.0], -0.9, 1e-8),
                ([-8.0, -5.0], [4.0, 4.0], 0.9, 1e-8),
                ([-20.0, -20.0], [25.0, 25.0], 0.9, 1e-5),
            ] {
                if s[0] > 1.0 && link == Link::Exp {
                    // Its weight lies beyond the ends of the sum.
                    continue;
                }
                let at = [0, 1].map(|i: usize| Belief {
                    mean: m[i],
                    variance: s[i],
                });
                let values = Linked::new(link, &at);
                let seen = values.moments();
                let c = r * f64::sqrt(s[0] * s[1]);
                let mut got = [f64::NAN];
                values.covariances(1, &[c], &mut got);
                // f1 = m1 + sd1 x, f2 = m2 + sd2 (r x + rest y), trapezoid in both.
                let rest = f64::sqrt(1.0 - r * r);
                let h = 0.05;
                let (mut total, mut product) = (0.0, 0.0);
                for i in -180..=180 {
                    for j in -180..=180 {
                        let (x, y) = (h * f64::from(i), h * f64::from(j));
                        let weight = elementary::exp(-0.5 * (x * x + y * y));
                        let a = link.value(m[0] + s[0].sqrt() * x) - seen[0].mean;
                        let b = link.value(m[1] + s[1].sqrt() * (r * x + rest * y)) - seen[1].mean;
                        total += weight;
                        product += weight * a * b;
                    }
                }
                let want = product / total;
                // What the series of softplus leaves out, as a correlation; exact else.
                let most = match link {
                    Link::Softplus => off,
                    // Of sds of 5 and more, and correlations of .9.
                    Link::Logit if s[0] > 20.0 => 1e-4,
                    Link::Probit if s[0] > 20.0 => 1e-3,
                    Link::Logit | Link::Probit if s[0] > 1.0 => 1e-8,
                    _ => 1e-9,
                };
                let unit = (seen[0].variance * seen[1].variance).sqrt();
                let away = (got[0] - want).abs() / unit;
                assert!(away < most, "{link} {m:?} {s:?} {r}: {away}");
            }
        }
    }
}
