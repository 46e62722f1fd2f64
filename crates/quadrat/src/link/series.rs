//! Softplus of normal values in Hermite polynomials, of which covariances are made.
//!
//! $$ h_k = \frac{1}{\sqrt{k!}} \operatorname E \psi(m + s z) \mathrm{He}_k(z) =
//! \frac{s^k}{\sqrt{k!}} \operatorname E \psi^{(k)}(f), \qquad \mathrm{Cov}(\psi(f), \psi(f')) =
//! \sum_{k \ge 1} \rho^k h_k h_k' $$
//!
//! for `f ~ N(m, s^2)` and a correlation `rho`. As means and variances change, with the covariance
//! of the latent values as it is,
//!
//! $$ \frac{\partial}{\partial m} \rho^k h_k = \rho^k \frac{\sqrt{k + 1}}{s} h_{k + 1}, \qquad
//! \frac{\partial}{\partial s^2} \rho^k h_k = \rho^k \frac{\sqrt{(k + 1)(k + 2)}}{2 s^2} h_{k + 2}
//! $$
//!
//! The second derivative of softplus is a bump `g` of width 2, so that from the second on the
//! coefficients are integrals over it, however wide the belief is:
//!
//! $$ h_1 = s \operatorname E \psi'(f), \qquad h_k = \frac{s}{\sqrt{k (k - 1)}} \int g(f)\,
//! \frac{\mathrm{He}_{k - 2}(z)}{\sqrt{(k - 2)!}}\, \phi(z)\, df, \qquad z = \frac{f - m}{s} $$
//!
//! # Numerics
//! Sixteen terms where no standard deviation is above .75, else 48. What is left out, as a part of
//! the variance, so where values are equal or nearly, at worst over the means: 1e-11 below .75,
//! 2e-10 at 2, 4e-7 at 3; 7e-5 at 5 and 9e-4 at 8 where zero is within four standard deviations,
//! and more farther below, where such values have next to no chance to be seen.
//!
//! # Source
//! Mehler 1866 for the expansion; Stein's identity for the coefficients.

use super::Link;
use crate::likelihood::local::Belief;
use crate::linalg::{Mat, dot, vectorised};
use crate::special::elementary;
use crate::special::scalar::normal_pdf;

/// Terms of a covariance where all values are narrow, or else, and what narrow is.
const FEW: usize = 16;
const MANY: usize = 48;
const NARROW: f64 = 0.75;
/// Steps of the trapezoid rule, of the latent value and in standard deviations: the bump has poles
/// at `pi i`, and polynomials up to the 48th times the density few waves shorter than .45. The last
/// coefficients are right to 4e-10 of the standard deviation where that is just above one, all
/// others to 1e-12.
const STEP: f64 = 0.5;
const UNIT_STEP: f64 = 0.4;
/// Nodes end where bump and density have fallen by so many nats: the largest polynomial grows as
/// the root of the density falls.
const FALL: f64 = 64.0;
/// Below this logarithm the mean of a value is zero.
const NOTHING: f64 = -700.0;

/// The coefficients `h_1, h_2, ...` of some values; two more than terms, for derivatives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    sd: Vec<f64>,
    /// One value in a row.
    terms: Mat<f64>,
}

/// Memory for the nodes of one value.
#[derive(Default)]
struct Nodes {
    z: Vec<f64>,
    weight: Vec<f64>,
    before: Vec<f64>,
    now: Vec<f64>,
}

impl Series {
    /// Of beliefs with the slopes `E psi'(f)`. Not a number where a belief is none.
    pub fn softplus(at: &[(Belief, f64)]) -> Self {
        let sd: Vec<f64> = at
            .iter()
            .map(|(belief, _)| belief.variance.sqrt())
            .collect();
        let widest = sd.iter().fold(0.0, |a: f64, s| a.max(*s));
        let count = if widest <= NARROW { FEW } else { MANY };
        let mut terms = Mat::zeros(at.len(), count + 2);
        let mut nodes = Nodes::default();
        for (i, (belief, slope)) in at.iter().enumerate() {
            let s = sd[i];
            if !(belief.mean.is_finite() && s.is_finite()) {
                terms.row_mut(i).fill(f64::NAN);
                continue;
            }
            terms[(i, 0)] = s * slope;
            if s > 0.0 && nodes.place(belief.mean, s) {
                nodes.integrate(count + 2, |k, integral| {
                    terms[(i, k - 1)] = s / ((k * (k - 1)) as f64).sqrt() * integral;
                });
            }
        }
        Self { sd, terms }
    }

    /// Of a link whose covariances are no closed forms; none of another.
    pub fn behind(link: Link, at: &[(Belief, f64)]) -> Option<Self> {
        let beliefs = || -> Vec<Belief> { at.iter().map(|(belief, _)| *belief).collect() };
        match link {
            Link::Softplus => Some(Self::softplus(at)),
            Link::Logit => Some(Self::logit(&beliefs())),
            Link::Probit => Some(Self::probit(&beliefs())),
            Link::Identity | Link::Exp | Link::Square => None,
        }
    }

    /// Of probabilities `1 / (1 + e^-f)`, the slopes of softplus: with the bump `g` of that,
    /// `h_k = (1 / sqrt k) int g He_(k-1) / sqrt((k-1)!) phi(z) df`. What is left out, as a part of
    /// the variance: 1e-10 at sds of 2, 1e-4 at 5, 1e-2 at 12.
    pub fn logit(at: &[Belief]) -> Self {
        Self::of(at, |belief, count, nodes, tell| {
            if nodes.place(belief.mean, belief.variance.sqrt()) {
                nodes.integrate(count + 1, |k, integral| {
                    tell(k - 2, integral / ((k - 1) as f64).sqrt());
                });
            }
        })
    }

    /// Of probabilities `Phi(f)`, in closed form: with `w^2 = 1 + s^2` and `a = m / w`, `h_k = (s /
    /// w)^k (-1)^(k-1) He_(k-1)(a) phi(a) / sqrt(k!)`. What is left out is some `(s / w)^100` of
    /// the variance.
    pub fn probit(at: &[Belief]) -> Self {
        Self::of(at, |belief, count, _, tell| {
            let w = (1.0 + belief.variance).sqrt();
            let (a, part) = (belief.mean / w, belief.variance.sqrt() / w);
            // He_(k-1)(a) / sqrt((k-1)!), signs and powers included.
            let (mut before, mut now) = (0.0, normal_pdf(a) * part);
            for k in 1..=count {
                let order = k as f64;
                tell(k - 1, now / order.sqrt());
                let next = -part * (a * now + part * (order - 1.0).sqrt() * before) / order.sqrt();
                (before, now) = (now, next);
            }
        })
    }

    /// Coefficients that are told one by one.
    fn of(
        at: &[Belief],
        tell: impl Fn(&Belief, usize, &mut Nodes, &mut dyn FnMut(usize, f64)),
    ) -> Self {
        let sd: Vec<f64> = at.iter().map(|belief| belief.variance.sqrt()).collect();
        let widest = sd.iter().fold(0.0, |a: f64, s| a.max(*s));
        let count = if widest <= NARROW { FEW } else { MANY } + 2;
        let mut terms = Mat::zeros(at.len(), count);
        let mut nodes = Nodes::default();
        for (i, belief) in at.iter().enumerate() {
            if !(belief.mean.is_finite() && sd[i].is_finite()) {
                terms.row_mut(i).fill(f64::NAN);
            } else if sd[i] > 0.0 {
                tell(belief, count, &mut nodes, &mut |k, h| terms[(i, k)] = h);
            }
        }
        Self { sd, terms }
    }

    /// Terms of a covariance.
    fn count(&self) -> usize {
        self.terms.ncols() - 2
    }

    fn correlations(&self, j: usize, covariance: &[f64]) -> Vec<f64> {
        let pairs = self.sd.iter().zip(covariance);
        let one = |(sd, c): (&f64, &f64)| {
            let both = sd * self.sd[j];
            if both > 0.0 {
                (c / both).clamp(-1.0, 1.0)
            } else {
                0.0
            }
        };
        pairs.map(one).collect()
    }

    /// Writes the covariances of value `j` with the first few.
    ///
    /// # Arguments
    /// * `covariance` - of the latent values, as many as `out`
    pub fn covariances(&self, j: usize, covariance: &[f64], out: &mut [f64]) {
        let rho = self.correlations(j, covariance);
        out.fill(0.0);
        for k in (0..self.count()).rev() {
            let (by, column) = (self.terms[(j, k)], self.terms.col_as_slice(k));
            vectorised(|| {
                let all = out.iter_mut().zip(&rho).zip(column);
                all.for_each(|((sum, r), h)| *sum = r * (*sum + by * h));
            });
        }
    }

    /// Writes the derivatives of the covariances of value `j` with the first few in those of the
    /// latent values.
    ///
    /// # Returns
    /// The derivatives of the sum of these covariances, weighted, in mean and variance of value
    /// `j`.
    pub fn slopes(
        &self,
        j: usize,
        covariance: &[f64],
        weights: &[f64],
        out: &mut [f64],
    ) -> (f64, f64) {
        let rho = self.correlations(j, covariance);
        let mut power = vec![1.0; rho.len()];
        let mut product = vec![0.0; rho.len()];
        let s = self.sd[j];
        let (mut in_mean, mut in_variance) = (0.0, 0.0);
        out.fill(0.0);
        for k in 0..self.count() {
            let order = (k + 1) as f64;
            let (by, column) = (order * self.terms[(j, k)], self.terms.col_as_slice(k));
            vectorised(|| {
                let all = out.iter_mut().zip(&mut power).zip(&mut product);
                for (((o, p), x), (r, h)) in all.zip(rho.iter().zip(column)) {
                    *o += by * *p * h;
                    *p *= r;
                    *x = *p * h;
                }
            });
            let sum = dot(weights, &product);
            let (one, two) = ((order + 1.0).sqrt(), (order + 2.0).sqrt());
            in_mean += sum * one * self.terms[(j, k + 1)];
            in_variance += sum * one * two * self.terms[(j, k + 2)];
        }
        for (o, sd) in out.iter_mut().zip(&self.sd) {
            let both = sd * s;
            *o = if both > 0.0 { *o / both } else { 0.0 };
        }
        if s > 0.0 {
            (in_mean / s, 0.5 * in_variance / (s * s))
        } else {
            (0.0, 0.0)
        }
    }
}

impl Nodes {
    /// Puts nodes where bump and density are; whether they are anywhere.
    fn place(&mut self, m: f64, s: f64) -> bool {
        self.z.clear();
        self.weight.clear();
        let v = s * s;
        // Below zero the bump is e^f, which moves the density up by its variance; above zero e^-f.
        let top = if m < -v {
            m + v
        } else if m > v {
            m - v
        } else {
            0.0
        };
        let gap = (top - m) / s;
        if -top.abs() - 0.5 * gap * gap < NOTHING {
            return false;
        }
        // Away from the top, a steep and a flat part: nats fall as a x + x^2 / (2 v).
        let reach = |a: f64| {
            let a = a.max(0.0);
            2.0 * FALL / (a + (a * a + 2.0 * FALL / v).sqrt())
        };
        let (mut low, mut high) = (top - reach(0.0), top + reach(0.0));
        if top == 0.0 {
            (low, high) = (-reach(1.0 + m / v), reach(1.0 - m / v));
        } else if top < 0.0 {
            high = high.min(FALL);
        } else {
            low = low.max(-FALL);
        }
        let step = STEP.min(UNIT_STEP * s);
        let unit = step * normal_pdf(0.0);
        // About the mean: nodes move with the belief.
        let (first, last) = ((low - m) / step, (high - m) / step);
        for i in first.floor() as i64..=last.ceil() as i64 {
            let f = m + step * i as f64;
            let z = (f - m) / s;
            let e = elementary::exp(-f.abs());
            self.z.push(z);
            self.weight
                .push(unit * elementary::exp(-f.abs() - 0.5 * z * z) / ((1.0 + e) * (1.0 + e)));
        }
        true
    }

    /// Tells the integrals for `k = 2, 3, ..., count`.
    fn integrate(&mut self, count: usize, mut tell: impl FnMut(usize, f64)) {
        let n = self.z.len();
        self.before.clear();
        self.before.resize(n, 0.0);
        self.now.clear();
        self.now.resize(n, 1.0);
        for k in 2..=count {
            tell(k, dot(&self.weight, &self.now));
            // He_(d + 1) = z He_d - d He_(d - 1), over the roots of the factorials.
            let degree = (k - 2) as f64;
            let (root, inverse) = (degree.sqrt(), (degree + 1.0).sqrt().recip());
            let Self { z, before, now, .. } = self;
            vectorised(|| {
                let all = before.iter_mut().zip(&*now).zip(&*z);
                all.for_each(|((b, x), z)| *b = inverse * (z * x - root * *b));
            });
            std::mem::swap(before, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(mean: f64, variance: f64) -> (Belief, f64) {
        let belief = Belief { mean, variance };
        (belief, Link::Softplus.moments(belief).slope)
    }

    fn covariance(a: (Belief, f64), b: (Belief, f64), latent: f64) -> f64 {
        let mut out = [f64::NAN];
        Series::softplus(&[a, b]).covariances(1, &[latent], &mut out);
        out[0]
    }

    /// The first coefficients are expected derivatives, and all of them make the variance.
    #[test]
    fn coefficients_are_expected_derivatives() {
        for (m, v, left_out) in [
            (0.3, 1e-6, 1e-9),
            (-3.0, 0.5, 1e-9),
            (0.4, 2.0, 1e-9),
            (60.0, 1.0, 1e-9),
            (-1.0, 9.0, 1e-6),
            (-9.0, 9.0, 1e-6),
            (4.0, 25.0, 1e-4),
            (-20.0, 25.0, 2e-4),
            (-32.0, 64.0, 2e-3),
            (-40.0, 16.0, 1e-3),
            (-60.0, 25.0, 1e-2),
        ] {
            let one = at(m, v);
            let series = Series::softplus(&[one]);
            let seen = Link::Softplus.moments(one.0);
            let sd = f64::sqrt(v);
            let want = [
                sd * seen.slope,
                v * seen.bend / 2f64.sqrt(),
                v * sd * seen.third / 6f64.sqrt(),
            ];
            for (k, want) in want.into_iter().enumerate() {
                // Moments are right to 1e-10; rounding of the first where the others are far
                // smaller.
                let most = 1e-9 * want.abs() + 1e-15 * series.terms[(0, 0)];
                let got = series.terms[(0, k)];
                assert!((got - want).abs() < most, "{m} {v} {k}: {got} {want}");
            }
            // Of equal values.
            let whole = covariance(one, one, v) / seen.variance;
            assert!((whole - 1.0).abs() < left_out, "{m} {v}: {whole}");
        }
        assert_eq!(covariance(at(0.3, 0.0), at(0.3, 1.0), 0.0), 0.0);
    }

    /// However wide: a search may look there.
    #[test]
    fn wide_beliefs_have_few_nodes() {
        for (m, v) in [
            (0.0, 1e12),
            (1e5, 1e12),
            (-3e3, 1e4),
            (-700.0, 900.0),
            (-1e9, 1e8),
        ] {
            let mut nodes = Nodes::default();
            nodes.place(m, f64::sqrt(v));
            assert!(nodes.z.len() < 2500, "{m} {v}: {}", nodes.z.len());
            assert!(covariance(at(m, v), at(m, v), 0.5 * v).is_finite());
        }
        assert!(covariance(at(0.0, f64::INFINITY), at(0.0, 1.0), 0.5).is_nan());
        // A hinge: half of the variance and less is that of a line.
        let (one, v) = (at(0.0, 1e12), 1e12);
        let line = 0.25 * v * 0.5;
        assert!(covariance(one, one, 0.5 * v) > line);
    }

    #[test]
    fn slopes_are_differences() {
        let others = [at(-0.4, 1.7), at(0.7, 0.4)];
        let weights = [0.8, 1.9];
        for (m, v, c) in [
            (0.3, 0.02, [0.1, -0.02]),
            (-2.0, 3.0, [-1.2, 0.6]),
            (1.5, 20.0, [4.0, -1.0]),
        ] {
            let value = |m: f64, v: f64, c: &[f64; 2]| {
                let mut out = [f64::NAN; 2];
                Series::softplus(&[others[0], others[1], at(m, v)]).covariances(2, c, &mut out);
                dot(&weights, &out)
            };
            let series = Series::softplus(&[others[0], others[1], at(m, v)]);
            let mut out = [f64::NAN; 2];
            let (in_mean, in_variance) = series.slopes(2, &c, &weights, &mut out);
            let slope = |f: &dyn Fn(f64) -> f64, h: f64| {
                (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
            };
            let h = 1e-3 * v;
            // Fourth order differences: 1e-12 of their own, rounding over the step, and moments.
            for (got, want) in [
                (in_mean, slope(&|h| value(m + h, v, &c), 1e-3)),
                (in_variance, slope(&|h| value(m, v + h, &c), h)),
                (
                    weights[0] * out[0],
                    slope(&|h| value(m, v, &[c[0] + h, c[1]]), h),
                ),
                (
                    weights[1] * out[1],
                    slope(&|h| value(m, v, &[c[0], c[1] + h]), h),
                ),
            ] {
                let most = 1e-9 * (1.0 + want.abs() / v);
                // As above: rounding of moments over a step of a thousandth of the variance.
                assert!((got - want).abs() < most, "{m} {v}: {got} {want}");
            }
        }
    }
}
