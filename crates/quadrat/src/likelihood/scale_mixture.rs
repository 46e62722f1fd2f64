//! A normal belief about a value seen with Student's t noise, as a mixture of normal noises.

use super::local::Tilted;
use crate::special::elementary;
use crate::special::stirling::{HALF_LOG_TWO_PI, digamma_gap, stirling_gap};

/// Nats below the largest weight that do not count.
const FALL: f64 = 38.0;
/// The share of the sum below which it ends: `e^-FALL`.
const NEGLIGIBLE: f64 = 3e-17;
/// Nats by which a weight may exceed its unit.
const HIGH: f64 = 50.0;
/// Half the degrees of freedom from which on the digits of `e^t - 1` count.
const MANY: f64 = 100.0;
/// Nodes at most; more are needed for outliers of nearly normal noise.
const MOST: f64 = 600.0;
/// Half the degrees of freedom at most: rounding hides how far noise is from normal beyond.
const NORMAL: f64 = 1e12;

/// Normal belief and Student's t noise; the noise is normal with variance `v / lambda`, and
/// `lambda` has a gamma distribution with shape and rate `a = nu / 2`.
///
/// Given `t = log lambda` everything is normal, so that with `d` the distance of the value from the
/// belief's mean and `s` the variance of the belief one smooth integral is left:
///
/// $$ Z = \frac{a^a e^{-a}}{\Gamma(a)} \int e^{a (t - e^t + 1)} N(d; 0, s + v e^{-t}) dt $$
///
/// # Numerics
/// The integrand is analytic beside the real line, so that the trapezoid rule converges fast: with
/// `k = 2 pi / step` its relative error is some `2 |Gamma(a + 1/2 + i k)| / Gamma(a + 1/2)`, below
/// 1e-12 for the steps that are taken.
/// # Source
/// The mixture: Andrews & Mallows 1974, J. R. Stat. Soc. B 36, 99.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScaleMixture {
    /// Distance of the value from the mean of the belief.
    pub away: f64,
    /// Variance of the belief.
    pub belief: f64,
    /// Squared scale of the noise.
    pub noise: f64,
    /// Degrees of freedom.
    pub degrees: f64,
}

/// Averages over `lambda` given the value.
#[derive(Debug, Clone, Copy, Default)]
struct Averages {
    /// The sum of weights is `total e^top`.
    top: f64,
    total: f64,
    /// Of the shares of the variance that are the belief's and the noise's.
    own_share: f64,
    noise_share: f64,
    /// Sums of squared differences of these shares from their averages.
    own_squares: f64,
    noise_squares: f64,
    /// Of `t - e^t + 1`, and of twice the derivative of `log N` in the log of the noise variance.
    excess: f64,
    pull: f64,
}

impl Averages {
    /// Moves the unit of the weights to `e^top`.
    fn lift(&mut self, top: f64) {
        let shrink = elementary::exp(self.top - top);
        self.total *= shrink;
        self.own_squares *= shrink;
        self.noise_squares *= shrink;
        self.top = top;
    }

    /// With a node of some weight, where the belief has the share `own` and the noise `noise`.
    fn add(&mut self, weight: f64, [own, noise, excess, pull]: [f64; 4]) {
        self.total += weight;
        let share = weight / self.total;
        let (from_own, from_noise) = (own - self.own_share, noise - self.noise_share);
        self.own_share += share * from_own;
        self.noise_share += share * from_noise;
        self.own_squares += weight * from_own * (own - self.own_share);
        self.noise_squares += weight * from_noise * (noise - self.noise_share);
        self.excess += share * (excess - self.excess);
        self.pull += share * (pull - self.pull);
    }

    /// Variance of either share: of the smaller one, which has more digits.
    fn spread(&self) -> f64 {
        let squares = match self.noise_share < self.own_share {
            true => self.noise_squares,
            false => self.own_squares,
        };
        squares / self.total
    }
}

impl ScaleMixture {
    /// `log Z`, and the site in coordinates that begin at the value; `None` where too many nodes
    /// are needed.
    ///
    /// With `w = 1 / (s + v / lambda)`, `log Z` has the derivatives `d E w` and
    /// `d^2 Var w - E w` in the belief's mean. Written with shares of the variance nothing cancels
    /// but what makes the precision of an outlier negative.
    pub fn tilted(&self) -> Option<Tilted> {
        let (averages, step) = self.averages()?;
        let a = 0.5 * self.degrees;
        let outlying = self.away * self.away / self.belief * averages.spread();
        let left = self.belief * (averages.noise_share + outlying);
        let scale = 0.5 * elementary::log(a / self.noise);
        let constant = scale - 2.0 * HALF_LOG_TWO_PI - stirling_gap(a);
        Some(Tilted {
            log_z: averages.top + elementary::log(averages.total * step) + constant,
            precision: (averages.own_share - outlying) / left,
            shift: self.away * outlying / left,
        })
    }

    /// Derivatives of `log Z` in the squared scale and in the degrees of freedom.
    pub fn slopes(&self) -> Option<[f64; 2]> {
        let (averages, _) = self.averages()?;
        let in_degrees = averages.excess + digamma_gap(0.5 * self.degrees);
        Some([0.5 * averages.pull / self.noise, 0.5 * in_degrees])
    }

    /// Averages by the trapezoid rule, and its step.
    fn averages(&self) -> Option<(Averages, f64)> {
        let Self {
            away,
            belief,
            noise,
            degrees,
        } = *self;
        let a = 0.5 * degrees;
        let step = f64::min(0.25, 0.5 / (a + 0.5).sqrt());
        if a > NORMAL {
            return None;
        }
        let square = away * away;
        // Above, the prior of `lambda` ends whatever the value says.
        let mut upper = step;
        while a * upper.exp_m1() - (a + 0.5) * upper < FALL {
            upper += 2.0 * step;
        }
        // The noise is at most as wide as it takes to explain the value alone. Below, weights fall
        // at least as fast as the prior, and where the noise is wider than the belief by half a
        // power more; the square of its share, which is at most `1 + belief / noise` times that
        // at the top, must fall too.
        let widest = elementary::log((a + 0.5) / (a + 0.5 * square / noise)).min(0.0);
        let wider = elementary::log1p(belief / noise);
        let down = |rate: f64| {
            let linear = (FALL + 2.0 * wider) / rate;
            linear + (2.0 * linear).sqrt()
        };
        let count = (upper - widest + down(a).min(wider + down(a + 0.5))) / step + 2.0;
        if count > MOST {
            return None;
        }
        let mut averages = Averages::default();
        let shrink = elementary::exp(-step);
        let mut e = elementary::exp(upper);
        for k in 0..count.ceil() as usize {
            let t = upper - step * k as f64;
            let rise = if a > MANY {
                elementary::expm1(t)
            } else {
                e - 1.0
            };
            let inverse = (belief * e + noise).recip();
            let (own, other) = (belief * e * inverse, noise * inverse);
            let (excess, pull) = (t - rise, square * e * inverse);
            let log = a * excess + 0.5 * (t - pull);
            if k == 0 {
                averages.top = log;
            } else if log > averages.top + HIGH {
                averages.lift(log);
            }
            let weight = elementary::exp(log - averages.top) * other.sqrt();
            averages.add(weight, [own, other, excess, other * (pull - 1.0)]);
            let share = (other / averages.noise_share).powi(2) * weight / averages.total;
            if share < NEGLIGIBLE && t < widest {
                break;
            }
            e *= shrink;
        }
        Some((averages, step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beliefs and values of all sizes.
    fn cases() -> Vec<ScaleMixture> {
        let mut cases = Vec::new();
        for degrees in [0.4, 1.0, 2.5, 4.0, 10.5, 40.0, 1e3] {
            for belief in [1e-6, 0.1, 3.0, 1e6] {
                for distance in [0.0, 0.7, 5.0, 60.0] {
                    cases.push(ScaleMixture {
                        away: distance * f64::sqrt(1.0 + belief),
                        belief,
                        noise: 1.0,
                        degrees,
                    });
                }
            }
        }
        cases
    }

    /// Against a lattice twenty to fifty times as fine.
    #[test]
    fn steps_are_fine_enough() {
        for case in cases() {
            let Some(coarse) = case.tilted() else {
                assert!(case.degrees > 100.0 && case.away > 4.0, "{case:?}");
                continue;
            };
            let fine = case.log_z_by_steps_of(1.0 / 64.0 / (1.0 + case.degrees).sqrt());
            let off = (coarse.log_z - fine).abs();
            // What the steps are chosen for, and rounding of some hundred terms.
            assert!(off < 1e-12 * (1.0 + fine.abs()), "{case:?}: {off:e}");
        }
    }

    /// The site has the slope of `log Z` in the mean of the belief, and slopes in the
    /// hyperparameters are differences.
    #[test]
    fn slopes_are_differences() {
        for case in cases() {
            let (Some(site), Some([in_noise, in_degrees])) = (case.tilted(), case.slopes()) else {
                continue;
            };
            let difference = |moved: &dyn Fn(f64) -> ScaleMixture, step: f64| {
                let log_z = |sign: f64| moved(sign * step).tilted().unwrap().log_z;
                (log_z(1.0) - log_z(-1.0)) / (2.0 * step)
            };
            // The mean of cavity times site, from the value: -away + belief * slope.
            let growth = 1.0 + case.belief * site.precision;
            let slope = (site.shift + site.precision * case.away) / growth;
            let sd = (1.0 + case.belief).sqrt();
            let away = |step: f64| ScaleMixture {
                away: case.away - step,
                ..case
            };
            // Digits of log Z over the step, and the cube of the step.
            let rough = 1e-6 * (1.0 + case.away / sd) / sd;
            assert!(
                (difference(&away, 1e-4 * sd) - slope).abs() < rough,
                "{case:?}"
            );
            let noise = |step: f64| ScaleMixture {
                noise: 1.0 + step,
                ..case
            };
            let off = (difference(&noise, 1e-4) - in_noise).abs();
            // The square of the step, 1e-8, times a third derivative; digits of log Z over the step
            // are 1e-12.
            assert!(off < 1e-6 * (1.0 + in_noise.abs()), "{case:?}: {off:e}");
            let degrees = |step: f64| ScaleMixture {
                degrees: case.degrees + step,
                ..case
            };
            let step = 1e-4 * case.degrees;
            let off = (difference(&degrees, step) - in_degrees).abs() * case.degrees;
            let size = 1.0 + in_degrees.abs() * case.degrees;
            // As above, the step relative to the degrees.
            assert!(off < 1e-5 * size, "{case:?}: {off:e}");
        }
    }

    /// More degrees than double precision can tell from normal noise end at once.
    #[test]
    fn nearly_normal_noise_is_left_to_others() {
        let case = ScaleMixture {
            away: 1.0,
            belief: 1.0,
            noise: 1.0,
            degrees: 1e100,
        };
        assert!(case.tilted().is_none() && case.slopes().is_none());
    }

    impl ScaleMixture {
        fn log_z_by_steps_of(&self, step: f64) -> f64 {
            let a = 0.5 * self.degrees;
            let log = |t: f64| {
                let variance = self.belief + self.noise * (-t).exp();
                let square = self.away * self.away / variance;
                a * (t - t.exp_m1()) - 0.5 * (variance.ln() + square)
            };
            let ends = (100.0 / step) as i32;
            let nodes = (-ends..=ends).map(|k| log(step * f64::from(k)));
            let top = nodes.clone().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = nodes.map(|log| (log - top).exp()).sum();
            let constant = 0.5 * a.ln() - 2.0 * HALF_LOG_TWO_PI - stirling_gap(a);
            top + (sum * step).ln() + constant
        }
    }
}
