//! One total after a link, as weighted draws of its nodes see it.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::likelihood::local::Belief;
use crate::linalg::{Cholesky, Mat, MatRef, dot, matvec};
use crate::link::{Link, QuasiMean};
use crate::special::{self, elementary};

/// Smaller means, whose squares are no numbers, are told as this, which is nothing too.
const LEAST: f64 = 1e-150;
/// Sums that are known exceed what holds them by no more than this.
const ROUNDING: f64 = 1e-12;
/// The same where their means are quadratures.
const QUADRATURE: f64 = 1e-6;
/// Above this variance of what is left open, the means of sums after `exp` are no numbers.
const LARGE: f64 = 200.0;
/// Added to the diagonal of what is left open, relative to it, until it can be factorised: that may
/// be known to a hundredth only, as small differences are.
const JITTERS: [f64; 4] = [1e-10, 1e-8, 1e-6, 1e-4];

/// One total as the draws see it.
pub(super) struct TotalDraws<'a> {
    pub shares: &'a [f64],
    /// Values of its nodes, shape `[nodes, draws]`.
    pub values: MatRef<'a, f64>,
    /// Covariance of its nodes given a draw, where it is not nothing.
    pub open: Option<Mat<f64>>,
    /// Weights of the draws.
    pub draws: &'a [f64],
    /// What it is at most in each draw, where rows hold it.
    pub most: Option<Vec<f64>>,
    /// Where cells of rows share out what lies at each node.
    pub factors: Option<Factors<'a>>,
}

/// What multiplies nodes in every draw.
pub(super) struct Factors<'a> {
    /// The cell in which each node lies.
    pub owners: Vec<Option<usize>>,
    /// Whether all of that cell is in the total.
    pub are_whole: Vec<bool>,
    /// Of cells, shape `[cells, draws]`.
    pub factors: &'a Mat<f64>,
}

impl Factors<'_> {
    /// Whether every node lies in a cell.
    fn are_all(&self) -> bool {
        self.owners.iter().all(Option::is_some)
    }
}

impl TotalDraws<'_> {
    /// By what a node is multiplied in a draw.
    fn factor(&self, node: usize, draw: usize) -> f64 {
        match &self.factors {
            Some(shared) => shared.owners[node].map_or(1.0, |cell| shared.factors[(cell, draw)]),
            None => 1.0,
        }
    }

    /// Whether nothing of a node is left open in the total.
    fn is_settled(&self, node: usize) -> bool {
        self.factors
            .as_ref()
            .is_some_and(|shared| shared.are_whole[node])
    }

    /// In closed form given each draw: with `R` what is left open and `e_i = p_i e^(f_i + R_ii /
    /// 2)` the sum has mean `sum_i e_i` and variance `sum_ij e_i e_j (e^(R_ij) - 1)`.
    ///
    /// Where the sum is at most `T`, a larger mean is impossible: what is left open is then so much
    /// that only `sum_i p_i e^(f_i)` says how `T` is shared. A variance is at most `mean (T -
    /// mean)`.
    pub fn of_exp(&self) -> Option<DrawnTotal> {
        let n = self.shares.len();
        let half: Vec<f64> = match &self.open {
            None => vec![0.0; n],
            Some(open) => (0..n).map(|i| 0.5 * open[(i, i)].max(0.0)).collect(),
        };
        if self.most.is_none() && half.iter().any(|h| 2.0 * h > LARGE) {
            return None;
        }
        let ties = self
            .open
            .as_ref()
            .map(|open| Mat::from_fn(n, n, |i, j| open[(i, j)].exp_m1()));
        let logs = self.log_terms();
        let draws = 0..self.values.ncols();
        // Draws of no weight need not be numbers that matter.
        let heard = draws.clone().filter(|draw| self.draws[*draw] > 0.0);
        let top = heard
            .flat_map(|draw| logs.col_as_slice(draw))
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return None;
        }
        let is_shared = self.factors.as_ref().is_some_and(Factors::are_all);
        let mut drawn = DrawnTotal::new(draws.len(), top);
        for draw in draws {
            if self.draws[draw] == 0.0 {
                continue;
            }
            let logs = logs.col_as_slice(draw);
            let mut e: Vec<f64> = logs
                .iter()
                .zip(&half)
                .map(|(log, h)| log + h - top)
                .collect();
            special::exp(&mut e);
            let mut sum: f64 = e.iter().sum();
            let mut own = match &ties {
                Some(ties) => {
                    let open = |(i, e): (usize, f64)| if self.is_settled(i) { 0.0 } else { e };
                    let e: Vec<f64> = e.into_iter().enumerate().map(open).collect();
                    dot(&e, &matvec(ties.as_ref(), &e))
                }
                None => 0.0,
            };
            if let Some(most) = &self.most {
                let most = elementary::exp(most[draw].ln() - top);
                // What makes up all of it exceeds it by rounding, and by what draws have of jitter
                // where cells share it out.
                if sum.is_nan() || (sum > most * (1.0 + ROUNDING) && !is_shared) {
                    sum = logs.iter().map(|log| elementary::exp(log - top)).sum();
                }
                sum = sum.min(most);
                // The smaller one also of what is no number.
                own = own.min(sum * (most - sum));
            }
            (drawn.sums[draw], drawn.open[draw]) = (sum, own);
        }
        Some(drawn)
    }

    /// Logarithms of what nodes add to the sum in each draw, shape `[nodes, draws]`.
    fn log_terms(&self) -> Mat<f64> {
        let shares: Vec<f64> = self.shares.iter().map(|share| share.ln()).collect();
        let mut logs = self.values.to_owned();
        for draw in 0..logs.ncols() {
            // Neighbours lie in the same cell mostly, and have its factor in common.
            let mut known = (1.0, 0.0);
            for (i, log) in logs.col_as_slice_mut(draw).iter_mut().enumerate() {
                let factor = self.factor(i, draw);
                if factor != known.0 {
                    known = (factor, factor.ln());
                }
                *log += shares[i] + known.1;
            }
        }
        logs
    }

    /// Given each draw the sum of the nodes' means, which add up to what is shared out, and a
    /// variance along their slopes: `sum_ij s_i s_j R_ij` with `R` what is left open.
    pub fn by_moments(&self, link: Link) -> DrawnTotal {
        let n = self.shares.len();
        let mut drawn = DrawnTotal::new(self.values.ncols(), 0.0);
        for draw in 0..self.values.ncols() {
            if self.draws[draw] == 0.0 {
                continue;
            }
            let (mut sum, mut slopes) = (0.0, Vec::with_capacity(n));
            for (i, share) in self.shares.iter().enumerate() {
                let mean = self.values[(i, draw)];
                let variance = self.open.as_ref().map_or(0.0, |open| open[(i, i)].max(0.0));
                let seen = link.moments(Belief { mean, variance });
                let size = share * self.factor(i, draw);
                sum += size * seen.mean;
                let is_settled = self.is_settled(i);
                slopes.push(if is_settled { 0.0 } else { size * seen.slope });
            }
            let mut own = match &self.open {
                Some(open) => dot(&slopes, &matvec(open.as_ref(), &slopes)),
                None => 0.0,
            };
            if let Some(most) = &self.most {
                let most = most[draw];
                // What makes up all of it does so but for the quadrature behind the means.
                let is_whole = (sum / most - 1.0).abs() < QUADRATURE;
                sum = if is_whole { most } else { sum.min(most) };
                own = own.min(sum * (most - sum));
            }
            (drawn.sums[draw], drawn.open[draw]) = (sum, own);
        }
        drawn
    }

    /// With a draw of what is left open for each draw, opposite for opposite draws; the same for
    /// every total, so that one is told alike wherever it is asked for.
    pub fn by_draws(&self, link: Link) -> Option<DrawnTotal> {
        let (n, count) = (self.shares.len(), self.values.ncols());
        let mut values = self.values.to_owned();
        if let Some(open) = &self.open {
            let root = JITTERS.iter().find_map(|jitter| {
                let mut raised = open.clone();
                (0..n).for_each(|i| raised[(i, i)] += jitter * open[(i, i)].abs());
                Cholesky::factor_owned(raised).ok()
            })?;
            let mut random = ChaCha8Rng::seed_from_u64(0);
            for pair in 0..count / 2 {
                let z: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut random)).collect();
                for (i, x) in root.multiply(&z).into_iter().enumerate() {
                    values[(i, 2 * pair)] += x;
                    values[(i, 2 * pair + 1)] -= x;
                }
            }
        }
        let one = |draw: usize| {
            let z = QuasiMean::new(link, self.shares, values.col_as_slice(draw));
            link.value(z.value)
        };
        let mut drawn = DrawnTotal::new(count, 0.0);
        drawn.sums = (0..count).map(one).collect();
        for (sum, most) in drawn.sums.iter_mut().zip(self.most.iter().flatten()) {
            *sum = sum.min(*most);
        }
        Some(drawn)
    }
}

/// A total in every draw.
pub(super) struct DrawnTotal {
    /// Its mean, in units of `e^log_unit`; of draws of no weight nothing.
    sums: Vec<f64>,
    /// The variance that the draw leaves open.
    open: Vec<f64>,
    log_unit: f64,
}

impl DrawnTotal {
    fn new(draws: usize, log_unit: f64) -> Self {
        Self {
            sums: vec![0.0; draws],
            open: vec![0.0; draws],
            log_unit,
        }
    }

    /// A value of every draw, which leaves the same variance open.
    pub fn values(values: Vec<f64>, open: f64) -> Self {
        Self {
            open: vec![open; values.len()],
            sums: values,
            log_unit: 0.0,
        }
    }

    /// The latent values with the mean and variance of the total, in strata of these shares of
    /// the weight: of the smallest draws, and so on. None where one is no number.
    pub fn beliefs(&self, weights: &[f64], link: Link, strata: &[f64]) -> Option<Vec<Belief>> {
        let one = |(mut mean, mut variance): (f64, f64)| {
            // Next to nothing and next to all are numbers too: of the smallest draws of a sum
            // behind `softplus` nothing may be left.
            if link.is_probability() {
                mean = mean.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON);
            } else if link != Link::Identity && mean < LEAST {
                (mean, variance) = (LEAST, 0.0);
            }
            let belief = link.equivalent(mean, variance);
            (belief.mean.is_finite() && belief.variance.is_finite()).then_some(Belief {
                mean: belief.mean + self.log_unit,
                ..belief
            })
        };
        self.moments(weights, strata).into_iter().map(one).collect()
    }

    /// Mean and variance of each stratum. Together they are those of all draws.
    pub fn moments(&self, weights: &[f64], strata: &[f64]) -> Vec<(f64, f64)> {
        let mut order: Vec<usize> = (0..weights.len()).filter(|&d| weights[d] > 0.0).collect();
        if strata.len() > 1 {
            order.sort_by(|a, b| self.sums[*a].total_cmp(&self.sums[*b]));
        }
        let whole: f64 = order.iter().map(|&draw| weights[draw]).sum();
        let mut out = Vec::with_capacity(strata.len());
        let mut left = order
            .into_iter()
            .map(|draw| (draw, weights[draw]))
            .peekable();
        for (stratum, share) in strata.iter().enumerate() {
            // Draws at an end belong to both sides in part; the last takes what rounding leaves.
            let mut room = if stratum + 1 == strata.len() {
                f64::INFINITY
            } else {
                share * whole
            };
            let mut members: Vec<(usize, f64)> = Vec::new();
            while room > 0.0
                && let Some((draw, weight)) = left.peek_mut()
            {
                let taken = weight.min(room);
                members.push((*draw, taken));
                room -= taken;
                *weight -= taken;
                if *weight <= 0.0 {
                    left.next();
                }
            }
            let total: f64 = members.iter().map(|(_, w)| w).sum();
            let shares: Vec<f64> = members.iter().map(|(_, w)| w / total).collect();
            let pick = |all: &[f64]| {
                members
                    .iter()
                    .map(|(draw, _)| all[*draw])
                    .collect::<Vec<_>>()
            };
            let (mean, between) = weighted(&shares, &pick(&self.sums));
            out.push((mean, between + dot(&shares, &pick(&self.open)).max(0.0)));
        }
        out
    }
}

/// Mean and variance of weighted values; those of no weight are not looked at.
pub(super) fn weighted(weights: &[f64], values: &[f64]) -> (f64, f64) {
    let heard = || weights.iter().zip(values).filter(|(w, _)| **w > 0.0);
    let mean: f64 = heard().map(|(w, x)| w * x).sum();
    let variance = heard().map(|(w, x)| w * (x - mean).powi(2)).sum();
    (mean, variance)
}

#[cfg(test)]
mod tests {
    use super::{DrawnTotal, weighted};
    use crate::link::Link;

    /// Sums of which nothing is left in half of the draws have beliefs, with means that add up to
    /// the mean of all draws.
    #[test]
    fn sums_that_vanish_have_beliefs_in_every_stratum() {
        let mut drawn = DrawnTotal::new(100, 0.0);
        for (i, sum) in drawn.sums.iter_mut().enumerate() {
            // From 0 by way of 1e-300 and 1e-155 to 2.
            *sum = match i {
                0..50 => 0.0,
                50..55 => 1e-300,
                55..60 => 1e-155,
                _ => 0.05 * (i - 59) as f64,
            };
        }
        let (weights, shares) = ([0.01; 100], [0.1; 10]);
        for link in [Link::Exp, Link::Softplus, Link::Square] {
            let beliefs = drawn.beliefs(&weights, link, &shares).unwrap();
            let means = beliefs.iter().map(|belief| link.moments(*belief).mean);
            let want = drawn.sums.iter().sum::<f64>() / 100.0;
            // Means of linked beliefs are right to 1e-9; nothing is left of what vanishes.
            let together = means.sum::<f64>() / 10.0;
            assert!((together / want - 1.0).abs() < 1e-8, "{link} {together}");
        }
    }

    #[test]
    fn strata_have_the_moments_of_all_draws_together() {
        let draws: u32 = 101;
        let mut drawn = DrawnTotal::new(draws as usize, 0.0);
        let mut weights = Vec::new();
        for i in 0..draws {
            let u = f64::from(i * 37 % draws) / f64::from(draws);
            drawn.sums[i as usize] = 1.0 + u * u;
            drawn.open[i as usize] = 0.01 * u;
            weights.push(f64::from(i % 7));
        }
        let whole: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= whole);
        let [(mean, variance)] = drawn.moments(&weights, &[1.0])[..] else {
            panic!("one stratum has one mean");
        };
        let (plain, between) = weighted(&weights, &drawn.sums);
        let open: f64 = weights.iter().zip(&drawn.open).map(|(w, v)| w * v).sum();
        // Rounding of a hundred terms.
        assert!((mean - plain).abs() < 1e-14 && (variance - between - open).abs() < 1e-14);
        let shares = [0.05, 0.2, 0.25, 0.3, 0.2];
        let strata = drawn.moments(&weights, &shares);
        assert_eq!(strata.len(), 5);
        assert!(strata.is_sorted_by(|a, b| a.0 <= b.0));
        let together: f64 = shares.iter().zip(&strata).map(|(p, s)| p * s.0).sum();
        let own = |(p, s): (&f64, &(f64, f64))| p * (s.1 + (s.0 - mean).powi(2));
        let spread = shares.iter().zip(&strata).map(own);
        // As above, of a hundred terms in five parts.
        assert!((together - mean).abs() < 1e-13);
        // As above.
        assert!((spread.sum::<f64>() - variance).abs() < 1e-13);
        // No stratum is beyond the largest draw by more than what is left open there.
        assert!(strata[4].0 < 2.0);
        assert_eq!(
            drawn.beliefs(&weights, Link::Exp, &shares).unwrap().len(),
            5
        );
    }
}
