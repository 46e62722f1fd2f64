//! Beliefs of functions without what one row said.

use super::beliefs::{BeliefComponent, Beliefs, Way};
use crate::likelihood::local::Belief;

/// Steps that look for a cavity.
const MOST_STEPS: usize = 400;
/// By how much steps shrink where one led away, and to which part of a whole one at least.
const SHRUNK: f64 = 0.7;
const LEAST_STEP: f64 = 0.05;
/// The part of its precision that a step may take from a cavity.
const MOST_LOST: f64 = 0.75;
/// A cavity is found when with the row it has the mean and variance that it should, to this share
/// of the standard deviation.
const FOUND: f64 = 1e-7;
/// A cavity precision below this share of the marginal precision is rounding.
const LEAST_LEFT: f64 = 1e-6;

impl Beliefs<'_> {
    /// What would be believed of the function without one row (seen once): the component less what
    /// the fit made of the row; none where that is more than all that is known, and where the
    /// spread is a function and sites are no moments: they are then expectations over it. With
    /// moments it is one at every value of the spread, as if that and the function were independent
    /// given the row.
    pub fn cavity(&self, i: usize, part: &BeliefComponent) -> Option<Belief> {
        let (row, way) = (self.rows[i].0, self.ways[part.node]);
        let target = Belief {
            mean: part.mean,
            variance: part.sd * part.sd,
        };
        let local = self.likelihood.local();
        let (first, second) = match way {
            Way::Moments => return self.cavity_of_moments(row, part, target),
            _ if self.spread.is_some() => return None,
            Way::Slopes => {
                let jet = local.log_density(&part.own, row, target.mean);
                (jet.first, jet.second)
            }
            Way::Expectations => {
                let expected = local.expected(&part.own, row, target);
                (expected.first, expected.second)
            }
        };
        let open = self.left_open.get(part.node).map_or(0.0, |open| open[i]);
        without_site(target, open, (first, second))
    }

    /// The normal belief that with the row has the mean and variance of the component; none where
    /// it was not found.
    fn cavity_of_moments(
        &self,
        row: usize,
        part: &BeliefComponent,
        target: Belief,
    ) -> Option<Belief> {
        let local = self.likelihood.local();
        let mut at = target;
        let (mut part_of_step, mut last) = (0.5, f64::INFINITY);
        for _ in 0..MOST_STEPS {
            let site = local.tilted(&part.own, row, at);
            let precision = 1.0 / at.variance + site.precision;
            let mean = (at.mean / at.variance + site.shift) / precision;
            let off = (mean - target.mean).abs() / part.sd;
            let off = off.max((precision * target.variance - 1.0).abs());
            if off <= FOUND {
                return Some(at);
            }
            if off > last {
                part_of_step = (SHRUNK * part_of_step).max(LEAST_STEP);
            }
            last = off;
            // What the row says of the belief is taken from the target. Where the row says much
            // more than the cavity, whole steps swing to and fro.
            let (old, old_shift) = (1.0 / at.variance, at.mean / at.variance);
            let by = 1.0 / target.variance - site.precision - old;
            let shift_by = target.mean / target.variance - site.shift - old_shift;
            let most = if by < 0.0 { MOST_LOST * old / -by } else { 1.0 };
            let step = part_of_step.min(most);
            let left = old + step * by;
            at = Belief {
                mean: (old_shift + step * shift_by) / left,
                variance: 1.0 / left,
            };
            if !(at.mean.is_finite() && at.variance.is_finite() && at.variance > 0.0) {
                return None;
            }
        }
        None
    }
}

/// A belief less the site of a row, of slope `l'` and curvature `l''`.
///
/// With `r` the variance that is open to inducing points (0 where there are none), the site acts on
/// what is left of the variance,
///
/// $$ s = v - r, \qquad v_{cavity} = \frac{1}{1/s + \ell''} + r, \qquad m_{cavity} = m -
///    \frac{\ell'}{1/s + \ell''} $$
///
/// None where that is more than all that is known.
pub(in crate::posterior) fn without_site(
    target: Belief,
    open: f64,
    (first, second): (f64, f64),
) -> Option<Belief> {
    let seen = (target.variance - open).max(0.0);
    let left = 1.0 + seen * second;
    let mean = target.mean - seen * first / left;
    let is_left = left > LEAST_LEFT && mean.is_finite();
    is_left.then(|| Belief {
        mean,
        variance: seen / left + open,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A prior `N(m, k)` of which inducing points explain `a'a`: after a site the cavity is the
    /// prior again, of any share that is open.
    #[test]
    fn a_site_that_is_taken_leaves_the_prior() {
        let (mean, variance) = (1.8, 1.0);
        let (precision, shift) = (0.7, -0.4);
        for open in [0.0, 0.1, 0.6] {
            let explained = 1.0 / (1.0 / (variance - open) + precision);
            let centre = explained * (mean / (variance - open) + shift);
            let target = Belief {
                mean: centre,
                variance: explained + open,
            };
            let slopes = (shift - precision * centre, -precision);
            let cavity = without_site(target, open, slopes);
            let cavity = cavity.map(|c| (c.mean - mean, c.variance - variance));
            // Some ulps.
            assert!(cavity.is_some_and(|(m, v)| m.abs() < 1e-13 && v.abs() < 1e-13));
        }
        let vague = Belief { mean, variance };
        assert_eq!(without_site(vague, 0.0, (0.0, -1.0)), None);
    }
}
