//! Averages of smooth functions under a normal belief, by few nodes.

use std::f64::consts::PI;

use super::adaptive::Integrals;
use super::local::Belief;
use crate::special::elementary;

/// Positive nodes of the Gauss-Hermite rules of 8 and 16 nodes for a standard normal variable, and
/// their weights.
const EIGHT: [(f64, f64); 4] = [
    (0.539_079_811_351_375_1, 0.373_012_257_679_077_36),
    (1.636_519_042_435_108, 0.117_239_907_661_759_01),
    (2.802_485_861_287_541_6, 0.009_635_220_120_788_266),
    (4.144_547_186_125_894_5, 0.000_112_614_538_375_367_77),
];
const SIXTEEN: [(f64, f64); 8] = [
    (0.386_760_604_500_557_3, 0.286_568_521_238_012_13),
    (1.163_829_100_554_964_8, 0.158_338_372_750_949_6),
    (1.951_980_345_716_333_4, 0.047_284_752_354_014_026),
    (2.760_245_047_630_701_4, 0.007_266_937_601_184_733),
    (3.600_873_624_171_548, 0.000_525_984_926_573_909_2),
    (4.492_955_302_520_011, 1.530_003_216_248_728_7e-5),
    (5.472_225_705_949_343, 1.309_473_216_286_822_7e-7),
    (6.630_878_198_393_129, 1.497_814_723_161_839_7e-10),
];

/// Widths of the narrowest feature, in sds of the belief, from which on a rule serves.
const FOR_EIGHT: f64 = 20.0;
const FOR_SIXTEEN: f64 = 7.0;
const FOR_TRAPEZOIDS: f64 = 1.0;
/// Steps of the trapezoid rule in a width, and its longest step in sds.
const STEPS: f64 = 6.0;
const LONGEST: f64 = 0.55;
/// Sds within which the integrals lie.
const REACH: f64 = 9.0;
/// What `g` may be at the outermost nodes, relative to the average of its absolute value, of each
/// rule: it grows like `e^(0.7 z)` at most, `e^(2 z)` and `e^(1.4 z)`, of which the rules leave
/// 1e-11, 1e-13 and 1e-13.
const GROWTH: [f64; 3] = [20.0, 7e4, 1e5];

/// Averages of `g` where every feature is wide beside the belief and `g` does not grow fast; `None`
/// elsewhere.
///
/// Of `log(1 + z^2 / rho^2)`, whose singularities are `rho` sds away from the real line, a
/// Gauss-Hermite rule of n nodes leaves `(n - 1)! / rho^(2 n)`, and relatively `(2 n + 1) n! /
/// rho^(2 n)` of the second derivative: 1e-15 with 8 nodes from 20 sds on, 6e-13 with 16 from 7.
/// The trapezoid rule of step h leaves a multiple of `exp(rho^2 / 2 - 2 pi rho / h)`: some 1e-14.
///
/// # Arguments
/// * `features` - (place, width) of what bends in `g`, whose singularities are at least so far from
///   the real line; none: not known
pub(super) fn averages<const N: usize>(
    belief: Belief,
    features: &[(f64, f64)],
    g: impl Fn(f64) -> [f64; N],
) -> Option<Integrals<N>> {
    let sd = belief.variance.sqrt();
    let widths = features.iter().map(|&(_, width)| width);
    let rho = widths.reduce(f64::min)? / sd;
    let at = |z: f64| g(belief.mean + sd * z);
    let mut short = None;
    if rho >= FOR_EIGHT {
        short = Rule::default().pairs(EIGHT, at).end(GROWTH[0]);
    }
    if rho >= FOR_SIXTEEN {
        return short.or_else(|| Rule::default().pairs(SIXTEEN, at).end(GROWTH[1]));
    }
    if rho.is_nan() || rho < FOR_TRAPEZOIDS {
        return None;
    }
    let step = (rho / STEPS).min(LONGEST);
    let middle = step / (2.0 * PI).sqrt();
    let mut rule = Rule::default();
    rule.add(&at(0.0), middle);
    let nodes = (1..=(REACH / step).ceil() as usize).map(|k| {
        let node = step * k as f64;
        (node, middle * elementary::exp(-0.5 * node * node))
    });
    rule.pairs(nodes, at).end(GROWTH[2])
}

/// Widths of the narrowest feature, in sds of the belief, from which on [`averages_of_many`]
/// serves, and below those of the rules of few nodes: from there on panels have fewer.
const FOR_MANY: f64 = 0.3;
/// Its steps in a width: what is left is some `exp(rho^2 / 2 - 10 pi)`, 2e-14; and what `g` may be
/// at its outermost nodes, where it grows like a square: some 1e-19 of that is left out.
const MANY_STEPS: f64 = 5.0;
const FAR_GROWTH: f64 = 1e7;

/// As [`averages`], of functions that are quick at many places at once: the trapezoid rule of some
/// `90 / rho` nodes, also where the belief is three times as wide as a feature.
///
/// # Arguments
/// * `g` - fills in the functions at all of some places
pub(super) fn averages_of_many<const N: usize>(
    belief: Belief,
    features: &[(f64, f64)],
    g: impl Fn(&[f64], &mut [[f64; N]]),
) -> Option<Integrals<N>> {
    let sd = belief.variance.sqrt();
    let widths = features.iter().map(|&(_, width)| width);
    let rho = widths.reduce(f64::min)? / sd;
    // Not a number is neither.
    if !(FOR_MANY..FOR_SIXTEEN).contains(&rho) {
        return None;
    }
    let step = (rho / MANY_STEPS).min(LONGEST);
    let side = (REACH / step).ceil() as i32;
    let nodes: Vec<f64> = (-side..=side).map(|k| step * f64::from(k)).collect();
    let places: Vec<f64> = nodes.iter().map(|z| belief.mean + sd * z).collect();
    let mut weights: Vec<f64> = nodes.iter().map(|z| -0.5 * z * z).collect();
    crate::special::exp(&mut weights);
    let mut values = vec![[0.0; N]; nodes.len()];
    g(&places, &mut values);
    let middle = step / (2.0 * PI).sqrt();
    let mut rule = Rule::default();
    for (y, weight) in values.iter().zip(&weights) {
        rule.add(y, middle * weight);
    }
    let (first, last) = (values.first()?, values.last()?);
    rule.last = std::array::from_fn(|i| first[i].abs().max(last[i].abs()));
    rule.end(FAR_GROWTH)
}

/// Sums over the nodes of a rule.
struct Rule<const N: usize> {
    value: [f64; N],
    size: [f64; N],
    /// Absolute values at the last two nodes.
    last: [f64; N],
}

impl<const N: usize> Default for Rule<N> {
    fn default() -> Self {
        let [value, size, last] = [[0.0; N]; 3];
        Self { value, size, last }
    }
}

impl<const N: usize> Rule<N> {
    fn add(&mut self, y: &[f64; N], weight: f64) {
        for i in 0..N {
            self.value[i] += weight * y[i];
            self.size[i] += weight * y[i].abs();
        }
    }

    /// Adds nodes on both sides, the outermost last.
    fn pairs(
        mut self,
        nodes: impl IntoIterator<Item = (f64, f64)>,
        at: impl Fn(f64) -> [f64; N],
    ) -> Self {
        for (node, weight) in nodes {
            let (left, right) = (at(-node), at(node));
            self.add(&left, weight);
            self.add(&right, weight);
            self.last = std::array::from_fn(|i| left[i].abs().max(right[i].abs()));
        }
        self
    }

    fn end(self, growth: f64) -> Option<Integrals<N>> {
        let is_fair = |i: usize| self.last[i] <= growth * self.size[i];
        (0..N).all(is_fair).then_some(Integrals {
            value: self.value,
            size: self.size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::local::{Jet, Local};
    use super::super::negative_binomial::{Dispersion, NegativeBinomial};
    use super::super::quadrature::adaptive_averages;
    use super::super::sigmoid::Sigmoid;
    use super::super::student_t::{Degrees, StudentT};
    use super::super::window::Window;
    use super::super::{Bernoulli, Noise};
    use super::*;
    use crate::link::Link;

    /// Both ways, for the log-density and its derivatives, where the rules just serve; how often
    /// they did.
    fn agree(features: &[(f64, f64)], mean: f64, jet: impl Fn(f64) -> Jet) -> usize {
        let mut served = 0;
        let g = |f: f64| {
            let at = jet(f);
            [at.value, at.first, at.second]
        };
        let narrowest = features.iter().map(|f| f.1).fold(f64::INFINITY, f64::min);
        for sds in [
            FOR_TRAPEZOIDS,
            2.8,
            3.6,
            5.0,
            FOR_SIXTEEN / 1.001,
            FOR_SIXTEEN,
            FOR_EIGHT,
        ] {
            let belief = |sds: f64| Belief {
                mean,
                variance: (narrowest / sds).powi(2),
            };
            let belief = belief(1.0001 * sds);
            // Where the log-density grows fast, as that of a row that is all but certain does, the
            // adaptive rule serves.
            let Some(got) = averages(belief, features, g) else {
                continue;
            };
            served += 1;
            let want = adaptive_averages(belief, features, g);
            for i in 0..3 {
                // What the adaptive rule leaves.
                let off = (got.value[i] - want.value[i]).abs();
                assert!(
                    off <= 1e-11 * want.size[i],
                    "{belief:?}, {i}: {} {}",
                    got.value[i],
                    want.value[i]
                );
                assert!((got.size[i] - want.size[i]).abs() <= 0.3 * want.size[i] + 1e-16);
            }
        }
        let wider = Belief {
            mean,
            variance: (1.0001 * narrowest / FOR_TRAPEZOIDS).powi(2),
        };
        assert!(averages(wider, features, g).is_none());
        served
    }

    #[test]
    fn values_with_outliers() {
        let mut served = 0;
        for degrees in [0.7, 4.0, 60.0] {
            let noise = Noise::Known(vec![0.09]);
            let likelihood = StudentT::new(vec![1.0], noise, Degrees::Known(degrees)).unwrap();
            let width = 0.3 * f64::sqrt(degrees);
            for mean in [1.0, 1.1, 3.0, -40.0] {
                served += agree(&[(1.0, width)], mean, |f| likelihood.log_density(&[], 0, f));
            }
        }
        assert!(served >= 70, "{served}"); // Of 108.
    }

    #[test]
    fn values_between_two_ends() {
        let mut served = 0;
        for (lower, upper) in [
            (0.0, f64::INFINITY),
            (0.0, 0.01),
            (0.0, 0.5),
            (0.0, 1.5),
            (0.0, 30.0),
        ] {
            let variance = 0.25;
            let window = Window {
                lower,
                upper,
                variance,
            };
            for mean in [0.2, -2.0, 1.5, 3.0, 9.0] {
                served += agree(&[(lower, 1.0), (upper, 1.0)], mean, |f| window.jet(f));
            }
        }
        assert!(served >= 120, "{served}"); // Of 225.
    }

    #[test]
    fn answers_and_counts() {
        for sigmoid in [Sigmoid::Logit, Sigmoid::Probit] {
            let answers = Bernoulli::new(vec![true], sigmoid);
            for mean in [-6.0, 0.3, 4.0] {
                agree(&[(0.0, 1.0)], mean, |f| answers.log_density(&[], 0, f));
            }
        }
        for (lower, upper) in [
            (0.0, 0.0),
            (7.0, 7.0),
            (0.0, 4.0),
            (10.0, 19.0),
            (30.0, f64::INFINITY),
        ] {
            for link in [Link::Exp, Link::Softplus] {
                let dispersion = Dispersion::Known(0.5);
                let counts =
                    NegativeBinomial::ranges(vec![lower], vec![upper], vec![1.0], link, dispersion)
                        .unwrap();
                for mean in [-1.0, 1.2, 2.9] {
                    agree(&[(0.7, 1.0)], mean, |f| counts.log_density(&[], 0, f));
                }
            }
        }
    }

    /// The middle of a rule would lie on the pole of `log f^2`.
    #[test]
    fn squares_at_zero() {
        let counts = |dispersion| {
            NegativeBinomial::new(
                vec![3.0],
                vec![1.0],
                Link::Square,
                Dispersion::Known(dispersion),
            )
            .unwrap()
        };
        for dispersion in [0.1, 0.5] {
            let second = |mean: f64| {
                let belief = Belief {
                    mean,
                    variance: 0.04,
                };
                counts(dispersion).expected(&[], 0, belief).second
            };
            // Even in the mean: the square of the distance is left.
            assert!((second(0.0) / second(1e-4) - 1.0).abs() < 1e-5);
        }
    }
}
