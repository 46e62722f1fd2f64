//! The level of a rate or a chance where no row has an event.
//!
//! Rows without events say how rare these are at most, and nothing of how rare: a level that is
//! unknown beforehand then runs to nothing, and takes the upper limits with it. Two events among
//! all rows, within a factor of 50 (two sds of the logarithm), is a level whose upper limit of 97.5
//! % is 2.2 events, where Jeffreys' prior has 2.5 and a chance of .025 to see none 3.7.

use super::count_rows::CountRows;
use super::local::Belief;
use super::sigmoid::Sigmoid;

/// Events that the level stands for.
const EVENTS: f64 = 2.0;
/// Sd of its logarithm.
const WIDTH: f64 = 2.0;

/// Of counts: none where one is above zero, or may be, or where no row says anything.
pub(super) fn of_counts(rows: &CountRows, weights: &[f64]) -> Option<Belief> {
    let has_none = rows.upper.iter().all(|upper| *upper == 0.0);
    let exposure = rows.exposure.iter().zip(weights);
    let exposure: f64 = exposure.map(|(exposure, weight)| exposure * weight).sum();
    if !has_none || exposure <= 0.0 {
        return None;
    }
    let rate = EVENTS / exposure;
    let mean = rows.link.inverse(rate)?;
    belief(mean, rate, rows.link.jet(mean)[1])
}

/// Of successes among trials, all or none of which are: `trials` with weights.
pub(super) fn of_trials(
    sigmoid: Sigmoid,
    rows: impl Iterator<Item = (f64, f64)>,
) -> Option<Belief> {
    let (successes, trials) = rows.fold((0.0, 0.0), |(k, n), (a, b)| (k + a, n + b));
    let (is_never, is_always) = (successes == 0.0, successes == trials);
    if trials <= 0.0 || !(is_never || is_always) {
        return None;
    }
    // Of few trials not more than one half.
    let rare = EVENTS / (trials + 2.0 * EVENTS);
    let mean = sigmoid.inverse(rare);
    let slope = sigmoid.jet(1.0, 0.0, mean).first * rare;
    let told = belief(mean, rare, slope)?;
    Some(match is_never {
        true => told,
        false => Belief {
            mean: -told.mean,
            ..told
        },
    })
}

/// About a latent value whose rate has this slope there: so wide that the logarithm of the rate is
/// as wide as it should be.
fn belief(mean: f64, rate: f64, slope: f64) -> Option<Belief> {
    let sd = WIDTH * rate / slope;
    let is_number = mean.is_finite() && sd.is_finite() && sd > 0.0;
    is_number.then_some(Belief {
        mean,
        variance: sd * sd,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::local::Local;
    use super::super::{Bernoulli, Binomial, Poisson};
    use super::*;
    use crate::link::Link;

    #[test]
    fn a_level_stands_for_two_events_among_all_rows() {
        let none = Poisson::new(vec![0.0; 3], vec![100.0, 200.0, 50.0], Link::Exp).unwrap();
        let level = none.seldom(&[1.0, 1.0, 4.0]).unwrap();
        assert!((level.mean - (2.0_f64 / 500.0).ln()).abs() < 1e-12);
        assert!((level.variance - 4.0).abs() < 1e-12);
        let some = Poisson::new(vec![0.0, 1.0], vec![100.0; 2], Link::Exp).unwrap();
        assert!(some.seldom(&[1.0; 2]).is_none());
        let hidden =
            Poisson::ranges(vec![0.0; 2], vec![0.0, 4.0], vec![1.0; 2], Link::Exp).unwrap();
        assert!(hidden.seldom(&[1.0; 2]).is_none());
    }

    /// Whatever the link, the same chance within the same factor.
    #[test]
    fn chances_are_those_of_two_more_of_each() {
        for sigmoid in [Sigmoid::Logit, Sigmoid::Probit] {
            let of = |k: f64| Binomial::new(vec![k; 2], vec![48.0; 2], sigmoid).unwrap();
            let never = of(0.0).seldom(&[1.0; 2]).unwrap();
            let chance = |f: f64| sigmoid.jet(1.0, 0.0, f).value.exp();
            assert!((chance(never.mean) - 0.02).abs() < 1e-12);
            let step = 1e-5;
            let log = |f: f64| chance(f).ln();
            let slope = (log(never.mean + step) - log(never.mean - step)) / (2.0 * step);
            // A difference of logarithms of order one, over 1e-5.
            assert!((never.variance.sqrt() * slope - WIDTH).abs() < 1e-8);
            let always = of(48.0).seldom(&[1.0; 2]).unwrap();
            assert_eq!(always.mean, -never.mean);
            assert_eq!(always.variance, never.variance);
            assert!(of(3.0).seldom(&[1.0; 2]).is_none());
        }
        let answers = Bernoulli::new(vec![true; 5], Sigmoid::Logit);
        assert!(answers.seldom(&[1.0; 5]).unwrap().mean > 0.0);
    }
}
