//! Softplus of a normal value in Hermite polynomials, of which covariances are made.
//!
//! $$ h_k = \frac{1}{\sqrt{k!}} \operatorname E \psi(m + s z) \mathrm{He}_k(z) = \frac{s^k}{\sqrt{k!}} \operatorname E \psi^{(k)}(f), \qquad
//!    \mathrm{Cov}(\psi(f), \psi(f')) = \sum_{k \ge 1} \rho^k h_k h_k' $$
//!
//! for `f ~ N(m, s^2)` and a correlation `rho`. As means and variances change, with the covariance of the latent values as it is,
//!
//! $$ \frac{\partial}{\partial m} \rho^k h_k = \rho^k \frac{\sqrt{k + 1}}{s} h_{k + 1}, \qquad
//!    \frac{\partial}{\partial s^2} \rho^k h_k = \rho^k \frac{\sqrt{(k + 1)(k + 2)}}{2 s^2} h_{k + 2} $$

use super::{logistic, softplus};
use crate::likelihood::local::Belief;
use crate::special::elementary;
use crate::special::scalar::normal_pdf;

/// Terms of a covariance.
pub(crate) const TERMS: usize = 16;
/// Steps, in standard deviations and of the latent value: [`softplus::moments`](super::softplus::moments).
const STEP: f64 = 0.5;
/// Standard deviations to either side: the last polynomial times the density is `1e-15` there.
const REACH: f64 = 11.0;

/// The coefficients `h_1, h_2, ...` of one value; two more than terms, for derivatives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    sd: f64,
    terms: [f64; TERMS + 2],
}

impl Series {
    /// By the trapezoid rule, in some 50 nodes, and `50 s` where `s` is above one.
    pub fn softplus(belief: Belief) -> Self {
        let (m, sd) = (belief.mean, belief.variance.sqrt());
        let mut terms = [0.0; TERMS + 2];
        if m - REACH * sd > 40.0 {
            // Softplus is linear to rounding there.
            terms[0] = sd;
            return Self { sd, terms };
        }
        let roots: [f64; TERMS + 4] = std::array::from_fn(|k| (k as f64).sqrt());
        let step = STEP * sd.recip().min(1.0);
        // Far below zero softplus is e^f, which moves the weight up by the variance.
        let up = REACH + sd.min((-m / sd).max(0.0));
        let (first, last) = (-(REACH / step).ceil() as i64, (up / step).ceil() as i64);
        let (centre, p) = (softplus(m), logistic(m));
        for i in first..=last {
            let z = step * i as f64;
            let d = sd * z;
            // softplus(m + d) - softplus(m) = log1p(p (e^d - 1)).
            let change = match d.abs() < 1.0 {
                true => elementary::log1p(p * elementary::expm1(d)),
                false => softplus(m + d) - centre,
            };
            let weighted = change * elementary::exp(-0.5 * z * z);
            let (mut before, mut now) = (weighted, weighted * z);
            for (k, term) in terms.iter_mut().enumerate() {
                *term += now;
                let next = (z * now - roots[k + 1] * before) / roots[k + 2];
                (before, now) = (now, next);
            }
        }
        let unit = step * normal_pdf(0.0);
        terms.iter_mut().for_each(|term| *term *= unit);
        Self { sd, terms }
    }

    fn correlation(&self, other: &Self, covariance: f64) -> f64 {
        let both = self.sd * other.sd;
        if both > 0.0 {
            (covariance / both).clamp(-1.0, 1.0)
        } else {
            0.0
        }
    }

    /// The covariance of two values whose latent values have a given one.
    ///
    /// # Numerics
    /// What the terms left out amount to, as a correlation: 1e-6 where standard deviations are at most 1.5, 1e-4 at most where zero is
    /// within two of them and they are below 6, 5e-3 for standard deviations of 5 to 10 and means four and three of them below zero.
    pub fn covariance(&self, other: &Self, covariance: f64) -> f64 {
        let rho = self.correlation(other, covariance);
        let pairs = self.terms[..TERMS].iter().zip(&other.terms[..TERMS]);
        pairs.rev().fold(0.0, |sum, (a, b)| rho * (sum + a * b))
    }

    /// Adds `weight rho^k h_k'` of another value to `sums`, and returns the derivative of the covariance in that of the latent values.
    pub fn add_slopes(
        &self,
        other: &Self,
        covariance: f64,
        weight: f64,
        sums: &mut [f64; TERMS],
    ) -> f64 {
        let rho = self.correlation(other, covariance);
        let (mut power, mut slope) = (1.0, 0.0);
        let pairs = self.terms.iter().zip(&other.terms).zip(sums);
        for (k, ((a, b), sum)) in pairs.enumerate() {
            slope += (k + 1) as f64 * power * a * b;
            power *= rho;
            *sum += weight * power * b;
        }
        let both = self.sd * other.sd;
        if both > 0.0 { slope / both } else { 0.0 }
    }

    /// Derivatives of `sum_k sums_k h_k` in mean and variance, where `sums` have the powers of correlations in them.
    pub fn slopes(&self, sums: &[f64; TERMS]) -> (f64, f64) {
        if self.sd == 0.0 {
            return (0.0, 0.0);
        }
        let (mut in_mean, mut in_variance) = (0.0, 0.0);
        for (k, sum) in (1..).zip(sums) {
            let (one, two) = (f64::from(k + 1).sqrt(), f64::from(k + 2).sqrt());
            in_mean += sum * one * self.terms[k as usize];
            in_variance += sum * one * two * self.terms[k as usize + 1];
        }
        (in_mean / self.sd, 0.5 * in_variance / (self.sd * self.sd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Link;

    fn at(mean: f64, variance: f64) -> Belief {
        Belief { mean, variance }
    }

    /// The first coefficients are expected derivatives, and all of them make the variance.
    #[test]
    fn coefficients_are_expected_derivatives() {
        for (m, v) in [
            (0.3, 1e-6),
            (-3.0, 0.5),
            (0.4, 2.0),
            (4.0, 9.0),
            (-9.0, 16.0),
            (60.0, 1.0),
        ] {
            let series = Series::softplus(at(m, v));
            let seen = Link::Softplus.moments(at(m, v));
            let sd = f64::sqrt(v);
            let want = [
                sd * seen.slope,
                v * seen.bend / 2f64.sqrt(),
                v * sd * seen.third / 6f64.sqrt(),
            ];
            for (got, want) in series.terms.iter().zip(want) {
                // Moments are right to 1e-10; rounding of the first where the others are far smaller.
                let most = 1e-9 * want.abs() + 1e-15 * series.terms[0];
                assert!((got - want).abs() < most, "{m} {v}: {got} {want}");
            }
            let whole = series.covariance(&series, v);
            // Both are far below zero, or wide: what is left of the series is its end.
            let most = if v > 4.0 { 2e-3 } else { 1e-6 };
            assert!(
                (whole / seen.variance - 1.0).abs() < most,
                "{m} {v}: {whole}"
            );
        }
        assert_eq!(
            Series::softplus(at(0.3, 0.0)).covariance(&Series::softplus(at(0.3, 1.0)), 0.0),
            0.0
        );
    }

    #[test]
    fn slopes_are_differences() {
        let other = Series::softplus(at(-0.4, 1.7));
        for (m, v, c) in [(0.3, 0.02, 0.1), (-2.0, 3.0, -1.2), (1.5, 20.0, 4.0)] {
            let value = |m: f64, v: f64, c: f64| Series::softplus(at(m, v)).covariance(&other, c);
            let one = Series::softplus(at(m, v));
            let mut sums = [0.0; TERMS];
            let in_covariance = one.add_slopes(&other, c, 1.0, &mut sums);
            let (in_mean, in_variance) = one.slopes(&sums);
            let slope = |f: &dyn Fn(f64) -> f64, h: f64| {
                (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
            };
            let h = 1e-3 * v;
            // Fourth order differences: 1e-12 of their own, rounding over the step, and quadrature.
            for (got, want) in [
                (in_mean, slope(&|h| value(m + h, v, c), 1e-3)),
                (in_variance, slope(&|h| value(m, v + h, c), h)),
                (in_covariance, slope(&|h| value(m, v, c + h), h)),
            ] {
                assert!(
                    (got - want).abs() < 1e-10 * (1.0 + want.abs() / v),
                    "{m} {v}: {got} {want}"
                );
            }
        }
    }
}
