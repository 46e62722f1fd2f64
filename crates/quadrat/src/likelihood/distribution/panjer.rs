//! Probabilities of whole numbers in turn, of distributions in Panjer's class:
//!
//! $$ P(k) = \left(a + \frac b k\right) P(k - 1), \qquad k = 1, 2, .. $$
//!
//! | | `a` | `b` | `P(0)` |
//! |---|---|---|---|
//! | Poisson | 0 | `mu` | `e^-mu` |
//! | negative binomial | `alpha mu w` | `(1 - alpha) mu w` | `w^(1 / alpha)` |
//! | binomial | `-p / (1 - p)` | `(n + 1) p / (1 - p)` | `(1 - p)^n` |
//!
//! with `w = 1 / (1 + alpha mu)`.
//!
//! # Source
//! Panjer 1981, Recursive evaluation of a family of compound distributions, ASTIN Bulletin 12:22.

use std::cell::RefCell;

use super::Distribution;
use crate::special::{CountMean, elementary};

/// Probabilities begin where their logarithms reach this: smaller ones may be no numbers.
const LEAST: f64 = -600.0;
/// Whole numbers from here on have no terms.
pub(crate) const MOST_TERMS: f64 = 4096.0;

/// One member of the class.
struct Member {
    a: f64,
    b: f64,
    /// From which number on the recursion runs, and the probability there; what is before is less
    /// than `e^-600`.
    start: f64,
    p: f64,
    /// Up to which number it holds.
    last: f64,
}

impl Member {
    /// None of a distribution outside of the class.
    fn new(at: &Distribution) -> Option<Self> {
        let count = |mean: f64, dispersion: f64| {
            let rate = mean * CountMean::new(mean, dispersion).weight();
            (dispersion * rate, (1.0 - dispersion) * rate, f64::INFINITY)
        };
        let (a, b, last) = match at {
            Distribution::Poisson(at) => count(at.mean, 0.0),
            Distribution::NegativeBinomial(at) => count(at.mean, at.dispersion),
            Distribution::Binomial(at) => {
                let (n, p) = (at.trials as f64, at.probability);
                // Where every trial succeeds the terms begin at `n` and go no further.
                let odds = if p < 1.0 { p / (1.0 - p) } else { 0.0 };
                (-odds, (n + 1.0) * odds, n - 1.0)
            }
            _ => return None,
        };
        // Probabilities rise up to the mode. Beyond the last term none is asked for, and whole
        // numbers there may be more than one apart.
        let (mut start, mut reached) = (0.0, at.mean().floor().min(MOST_TERMS));
        if at.log_density(start) < LEAST {
            let begins = at.log_density(reached) >= LEAST;
            if !begins {
                return Some(Self {
                    a: 0.0,
                    b: 0.0,
                    start: f64::INFINITY,
                    p: 0.0,
                    last,
                });
            }
            while reached - start > 1.0 {
                let middle = f64::midpoint(start, reached).floor();
                if at.log_density(middle) < LEAST {
                    start = middle;
                } else {
                    reached = middle;
                }
            }
            start = reached;
        }
        Some(Self {
            a,
            b,
            start,
            p: elementary::exp(at.log_density(start)),
            last,
        })
    }
}

/// A mixture of members, with the probabilities that it was asked for so far.
pub(crate) struct PanjerMixture {
    a: Vec<f64>,
    b: Vec<f64>,
    last: f64,
    /// Members that begin later than with the number zero: where, which and with what, in order.
    later: Vec<(f64, usize, f64)>,
    terms: RefCell<Terms>,
}

struct Terms {
    /// Weight times probability of the last number, of every member.
    p: Vec<f64>,
    /// How many of the later members have begun.
    begun: usize,
    /// `P(Y <= k)`.
    at_most: Vec<f64>,
}

impl PanjerMixture {
    /// None where one of the distributions is no member.
    pub fn new(points: &[(Distribution, f64)]) -> Option<Self> {
        if points.is_empty() {
            return None;
        }
        let members: Option<Vec<Member>> = points.iter().map(|(at, _)| Member::new(at)).collect();
        let members = members?;
        let mut p = vec![0.0; members.len()];
        let mut later = Vec::new();
        for (k, (member, (_, weight))) in members.iter().zip(points).enumerate() {
            match member.start > 0.0 {
                true => later.push((member.start, k, weight * member.p)),
                false => p[k] = weight * member.p,
            }
        }
        later.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at_most = vec![p.iter().sum()];
        Some(Self {
            a: members.iter().map(|m| m.a).collect(),
            b: members.iter().map(|m| m.b).collect(),
            last: members.iter().fold(MOST_TERMS, |last, m| last.min(m.last)),
            later,
            terms: RefCell::new(Terms {
                p,
                begun: 0,
                at_most,
            }),
        })
    }

    /// `P(Y <= y)` times the sum of the weights; none beyond the numbers that are kept.
    ///
    /// # Numerics
    /// A sum of positive terms, each right to some `y` roundings.
    pub fn at_most(&self, y: f64) -> Option<f64> {
        if y < 0.0 {
            return Some(0.0);
        }
        if y.is_nan() || y.floor() > self.last {
            return None;
        }
        let k = y as usize;
        let mut terms = self.terms.borrow_mut();
        while terms.at_most.len() <= k {
            let next = self.next(&mut terms);
            terms.at_most.push(next);
        }
        Some(terms.at_most[k])
    }

    /// Moves on to the next number.
    fn next(&self, terms: &mut Terms) -> f64 {
        let k = terms.at_most.len() as f64;
        let share = k.recip();
        for ((p, a), b) in terms.p.iter_mut().zip(&self.a).zip(&self.b) {
            *p *= a + b * share;
        }
        while let Some(&(start, member, p)) = self.later.get(terms.begun)
            && start <= k
        {
            terms.p[member] = p;
            terms.begun += 1;
        }
        let before = terms.at_most[terms.at_most.len() - 1];
        before + terms.p.iter().sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Binomial, Gamma, NegativeBinomial, Poisson};
    use super::*;

    /// Counts whose terms begin beyond all that are kept, also where whole numbers are farther apart
    /// than one.
    #[test]
    fn members_far_away_add_nothing() {
        for mean in [1e5, 1e16, 1e30, 1e300] {
            let far = (Distribution::Poisson(Poisson { mean }), 0.75);
            let near = Distribution::Poisson(Poisson { mean: 2.0 });
            let mixture = PanjerMixture::new(&[far, (near.clone(), 0.25)]).unwrap();
            for y in [0.0, 3.0, MOST_TERMS] {
                let found = mixture.at_most(y).unwrap();
                // A sum of some terms.
                assert!((found - 0.25 * near.cdf(y)).abs() < 1e-14, "{mean} {y}");
            }
        }
    }

    /// Sums of terms are the distribution functions.
    #[test]
    fn terms_add_up_to_distribution_functions() {
        let poisson = |mean| Distribution::Poisson(Poisson { mean });
        let wide = |mean, dispersion| {
            Distribution::NegativeBinomial(NegativeBinomial { mean, dispersion })
        };
        let binomial = |trials, probability| {
            Distribution::Binomial(Binomial {
                trials,
                probability,
            })
        };
        let mixtures = [
            vec![
                (poisson(0.0), 0.25),
                (poisson(3.5), 0.5),
                (poisson(400.0), 0.25),
            ],
            vec![
                (wide(2.0, 0.3), 0.5),
                (wide(9.0, 40.0), 0.3),
                (wide(70.0, 1e-9), 0.2),
            ],
            vec![
                (binomial(40, 0.3), 0.5),
                (binomial(40, 1e-9), 0.1),
                (binomial(40, 0.99), 0.4),
            ],
            vec![(binomial(2, 0.5), 1.0)],
            // Every trial succeeds, or none, or next to all.
            vec![
                (binomial(12, 1.0), 0.25),
                (binomial(12, 0.0), 0.25),
                (binomial(12, 1.0 - f64::EPSILON), 0.25),
                (binomial(12, 0.9), 0.25),
            ],
            vec![(binomial(12, 1.0), 1.0)],
            // Less than e^-600 at zero.
            vec![
                (poisson(900.0), 0.25),
                (poisson(1.5), 0.5),
                (wide(3000.0, 1e-3), 0.25),
            ],
        ];
        for points in mixtures {
            let mixture = PanjerMixture::new(&points).unwrap();
            assert!(mixture.at_most(0.0).is_some());
            // Also backwards: what is kept stays.
            for y in [
                -1.0, 0.0, 0.5, 900.0, 3.0, 11.0, 12.0, 17.0, 39.0, 40.0, 41.0, 3100.0, 8000.0,
            ] {
                let want: f64 = points.iter().map(|(at, w)| w * at.cdf(y)).sum();
                // Beyond the trials, and far out, there are no terms.
                let got = mixture.at_most(y).unwrap_or(want);
                // Distribution functions are right to 1e-12.
                assert!((got - want).abs() < 2e-12, "{points:?} {y}: {got} {want}");
            }
        }
        // No whole numbers.
        let other = Gamma {
            mean: 1.0,
            shape: 1.0,
        };
        assert!(PanjerMixture::new(&[(Distribution::Gamma(other), 1.0)]).is_none());
        assert!(PanjerMixture::new(&[]).is_none());
    }
}
