//! Marginals of what cannot be negative.

use std::borrow::Cow;

use super::normal_mixture::{Mixture, Work};
use super::prediction::Prediction;
use crate::special::truncated_normal;

impl Prediction {
    /// Every marginal given that it is not negative.
    ///
    /// With the distribution function $F$ of a marginal, $F_+(y) = (F(y) - F(0)) / (1 - F(0))$ for
    /// $y \ge 0$. This acts on marginals, not on the function: means of the parts of a total no
    /// longer add up to its mean. A response after a link, or an observation that is not normal, is
    /// left as it is.
    ///
    /// # Numerics
    /// Moments in closed form, quantiles to 1e-12 of the sd, also where nearly all of a marginal is
    /// negative; more than 37 sds below zero quantiles are those of an exponential, to 1e-3.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::model::{FitOptions, Model, Noise, Observations, Scale};
    /// use quadrat::support::Functionals;
    ///
    /// let x = Functionals::points("x", &[0.0, 1.0, 2.0])?;
    /// let noise = Noise::Known(vec![0.04; 3]);
    /// let table = Observations::gaussian(x.clone(), vec![0.1, 0.0, 2.0], noise)?;
    /// let posterior = Model::new(Kernel::se(["x"])).observe(table).fit(&FitOptions::default())?;
    /// let p = posterior.predict(&x, Scale::Latent)?.non_negative();
    /// assert!(p.mean()[1] > 0.0 && p.quantile(0.025)[1] > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn non_negative(mut self) -> Self {
        if self.predictive.is_some() {
            return self;
        }
        for row in 0..self.len() {
            let (mean, variance) = self.row(row).above_zero();
            self.mean[row] = mean;
            self.sd[row] = variance.sqrt();
        }
        self.is_truncated = true;
        self
    }
}

impl Mixture<'_> {
    /// Mean and variance given that the value is not negative.
    fn above_zero(&self) -> (f64, f64) {
        // Weight, mean and variance of every component above zero, weights as logarithms.
        let parts: Vec<(f64, f64, f64)> = self
            .components()
            .filter_map(|(w, m, s)| {
                if s == 0.0 {
                    return (m >= 0.0).then_some((w.ln(), m, 0.0));
                }
                let above = truncated_normal(-m / s, f64::INFINITY);
                Some((
                    w.ln() + above.log_z,
                    s * above.above_lower,
                    s * s * above.variance,
                ))
            })
            .collect();
        let most = parts.iter().fold(f64::NEG_INFINITY, |a, p| a.max(p.0));
        let total: f64 = parts.iter().map(|p| (p.0 - most).exp()).sum();
        let share = |log: f64| (log - most).exp() / total;
        let mean: f64 = parts.iter().map(|p| share(p.0) * p.1).sum();
        let variance = parts
            .iter()
            .map(|(log, m, v)| share(*log) * (v + (m - mean).powi(2)));
        (mean, variance.sum())
    }

    /// The mixture of the negated values, whose lower tail is the upper one of this.
    fn mirrored<T>(&self, ask: impl FnOnce(&Mixture<'_>) -> T) -> T {
        let means: Vec<f64> = self.means.iter().map(|m| -m).collect();
        ask(&Mixture {
            weights: self.weights,
            means: means.into(),
            sds: Cow::Borrowed(&self.sds),
        })
    }

    /// The `p`-quantile given that the value is not negative.
    pub fn quantile_above_zero(&self, p: f64, work: &mut Work) -> f64 {
        self.mirrored(|m| {
            let above = m.cdf(0.0, work);
            if above < f64::MIN_POSITIVE {
                // Some 37 sds below zero only an exponential is left.
                return -self.above_zero().0 * (-p).ln_1p();
            }
            (-m.quantile((1.0 - p) * above, work)).max(0.0)
        })
    }

    /// The distribution function at `y` given that the value is not negative.
    pub fn cdf_above_zero(&self, y: f64, work: &mut Work) -> f64 {
        if y < 0.0 {
            return 0.0;
        }
        self.mirrored(|m| {
            let above = m.cdf(0.0, work);
            if above < f64::MIN_POSITIVE {
                return -(-y / self.above_zero().0).exp_m1();
            }
            1.0 - m.cdf(-y, work) / above
        })
    }

    /// The log density at `y` given that the value is not negative.
    pub fn log_density_above_zero(&self, y: f64, work: &mut Work) -> f64 {
        if y < 0.0 {
            return f64::NEG_INFINITY;
        }
        let above = self.mirrored(|m| m.cdf(0.0, work));
        if above < f64::MIN_POSITIVE {
            let mean = self.above_zero().0;
            return -y / mean - mean.ln();
        }
        self.log_density(y) - above.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(mean: f64) -> Prediction {
        Prediction::from_moments(vec![1.0], &[(vec![mean], vec![1.0])]).non_negative()
    }

    #[test]
    fn a_half_normal_has_its_known_moments_and_median() {
        let half = normal(0.0);
        let mean = (2.0 / std::f64::consts::PI).sqrt();
        // Closed forms, to a few roundings; the quantile to 1e-12 of the sd.
        assert!((half.mean()[0] - mean).abs() < 1e-14);
        assert!((half.sd()[0].powi(2) - (1.0 - mean * mean)).abs() < 1e-14);
        // Phi^-1(3/4).
        assert!((half.quantile(0.5)[0] - 0.674_489_750_196_081_7).abs() < 1e-12);
        assert!((half.cdf(&[0.674_489_750_196_081_7])[0] - 0.5).abs() < 1e-14);
        assert_eq!(half.cdf(&[-1.0])[0], 0.0);
    }

    #[test]
    fn what_is_positive_stays_and_what_is_far_below_is_right_too() {
        let far = normal(9.0);
        // Below zero lies phi(9) = 1e-18: rounding of nine.
        assert!((far.mean()[0] - 9.0).abs() < 1e-14);
        // Far below zero only an exponential is left: mean 1 / 40, and its median.
        let deep = normal(-40.0);
        assert!(
            (deep.mean()[0] * 40.0 - 1.0).abs() < 2e-3,
            "{:?}",
            deep.mean()
        );
        let median = deep.quantile(0.5)[0];
        assert!((deep.cdf(&[median])[0] - 0.5).abs() < 1e-9, "{median}");
    }

    #[test]
    fn a_mixture_is_truncated_as_a_whole() {
        let both = Prediction::from_moments(
            vec![0.5, 0.5],
            &[(vec![-3.0], vec![1.0]), (vec![2.0], vec![0.25])],
        );
        let plain = both.clone();
        let both = both.non_negative();
        let below = plain.cdf(&[0.0])[0];
        let h = 1e-3;
        let (mut total, mut mean) = (0.0, 0.0);
        for i in 0..8000 {
            let y = h * (f64::from(i) + 0.5);
            let p = plain.log_density(&[y])[0].exp() / (1.0 - below);
            // The same density but for logarithms, and the midpoint rule: h^2 / 24 = 4e-8 times its
            // slope at zero; beyond eight is nothing. Quantiles are right to 1e-12 of an sd.
            assert!((both.log_density(&[y])[0].exp() - p).abs() < 1e-12);
            total += h * p;
            mean += h * p * y;
        }
        assert!((total - 1.0).abs() < 1e-6);
        assert!((both.mean()[0] - mean).abs() < 1e-6);
        for p in [0.01, 0.4, 0.99] {
            assert!((both.cdf(&both.quantile(p))[0] - p).abs() < 1e-11);
        }
    }
}
