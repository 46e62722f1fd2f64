//! Scores of the prediction of one row.

use rayon::prelude::*;

use super::held_out::HeldOut;
use crate::error::InputError;
use crate::model::Prediction;
use crate::score::{crps_normal, crps_sample, interval_score, randomised_pit};

/// Levels of the intervals whose coverage is told.
pub const LEVELS: [f64; 5] = [0.5, 0.7, 0.8, 0.9, 0.95];

/// The level of the interval that is scored: the widest.
const SCORED: usize = LEVELS.len() - 1;

/// Quantiles in equal steps of probability that stand for a distribution in its CRPS: that of a
/// normal is told to 5e-4 of itself.
const QUANTILES: usize = 100;

/// Steps of a sequence that fills the unit interval evenly: the fraction of the golden ratio.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// How good the prediction of one row was. What has no meaning for a row is absent: errors of an
/// interval, densities of a method that tells one number alone.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RowScore {
    /// The value less the predicted mean.
    pub error: Option<f64>,
    /// The logarithm of the value over the predicted mean, where both are above zero.
    pub log_ratio: Option<f64>,
    /// Negative log predictive density or probability of what was reported, in nats.
    pub nll: Option<f64>,
    /// Continuous ranked probability score, in the unit of the value. Of one number alone it is
    /// the absolute error.
    pub crps: Option<f64>,
    /// Interval score of the central 95 % interval, in the unit of the value.
    pub interval: Option<f64>,
    /// Whether the value lies in the central interval of each of [`LEVELS`], ends included.
    pub inside: Option<[bool; LEVELS.len()]>,
    /// Probability integral transform, `P(Y <= y)`: uniform where the prediction is right. Of
    /// counts, answers and ranks a place between `P(Y < y)` and `P(Y <= y)`, which places of all
    /// rows are spread evenly.
    pub pit: Option<f64>,
}

/// Scores of predictions, row by row.
///
/// A prediction without any uncertainty (every sd is zero, as those of most simple methods) has no
/// density and no intervals. The log score of an interval `(a, b]` is `-log(F(b) - F(a))`.
///
/// # Errors
/// [`InputError::Shape`] for another number of rows.
pub fn row_scores(
    prediction: &Prediction,
    reported: &[HeldOut],
) -> Result<Vec<RowScore>, InputError> {
    same_rows(prediction.len(), reported)?;
    let mut scores: Vec<RowScore> = reported
        .iter()
        .zip(prediction.mean())
        .map(|(reported, &mean)| errors(*reported, mean))
        .collect();
    if prediction.is_certain() {
        return point_scores(prediction.mean(), reported);
    }
    let nll = log_scores(prediction, reported);
    for (score, nll) in scores.iter_mut().zip(nll) {
        score.nll = nll;
    }
    intervals(prediction, reported, &mut scores);
    pits(prediction, reported, &mut scores);
    crps(prediction, reported, &mut scores);
    Ok(scores)
}

/// Scores of one number for every row.
///
/// # Errors
/// [`InputError::Shape`] for another number of rows.
pub fn point_scores(means: &[f64], reported: &[HeldOut]) -> Result<Vec<RowScore>, InputError> {
    same_rows(means.len(), reported)?;
    let one = |(reported, &mean): (&HeldOut, &f64)| {
        let score = errors(*reported, mean);
        RowScore {
            crps: score.error.map(f64::abs),
            ..score
        }
    };
    Ok(reported.iter().zip(means).map(one).collect())
}

fn same_rows(expected: usize, reported: &[HeldOut]) -> Result<(), InputError> {
    match reported.len() == expected {
        true => Ok(()),
        false => Err(InputError::Shape {
            what: "the held-out rows",
            expected,
            got: reported.len(),
        }),
    }
}

fn errors(reported: HeldOut, mean: f64) -> RowScore {
    let value = reported.value();
    let ratio = value.filter(|y| *y > 0.0 && mean > 0.0);
    RowScore {
        error: value.map(|y| y - mean),
        log_ratio: ratio.map(|y| y.ln() - mean.ln()),
        ..RowScore::default()
    }
}

fn log_scores(prediction: &Prediction, reported: &[HeldOut]) -> Vec<Option<f64>> {
    let value = |r: &HeldOut| r.value().unwrap_or(0.0);
    let density = prediction.log_density(&reported.iter().map(value).collect::<Vec<_>>());
    let ends = |pick: fn(&HeldOut) -> f64| -> Vec<f64> {
        prediction.cdf(&reported.iter().map(pick).collect::<Vec<_>>())
    };
    let is_range = |r: &HeldOut| r.value().is_none();
    let (below, above) = match reported.iter().any(is_range) {
        false => (Vec::new(), Vec::new()),
        true => (
            ends(|r| match *r {
                HeldOut::Value(y) => y,
                HeldOut::Between(lower, _) => lower,
                HeldOut::Counts(lower, _) => lower - 1.0,
            }),
            ends(|r| match *r {
                HeldOut::Value(y) => y,
                HeldOut::Between(_, upper) | HeldOut::Counts(_, upper) => upper,
            }),
        ),
    };
    let one = |(row, r): (usize, &HeldOut)| {
        let log = match *r {
            HeldOut::Value(_) => density[row],
            HeldOut::Between(lower, upper) | HeldOut::Counts(lower, upper) => {
                let below = match lower == f64::NEG_INFINITY {
                    true => 0.0,
                    false => below[row],
                };
                let above = match upper == f64::INFINITY {
                    true => 1.0,
                    false => above[row],
                };
                (above - below).max(f64::MIN_POSITIVE).ln()
            }
        };
        // The response of a link has no density that is told.
        (!log.is_nan()).then_some(-log)
    };
    reported.iter().enumerate().map(one).collect()
}

fn intervals(prediction: &Prediction, reported: &[HeldOut], scores: &mut [RowScore]) {
    let ends = LEVELS.map(|level| {
        let tail = (1.0 - level) / 2.0;
        (prediction.quantile(tail), prediction.quantile(1.0 - tail))
    });
    for (row, (score, reported)) in scores.iter_mut().zip(reported).enumerate() {
        let Some(y) = reported.value() else {
            continue;
        };
        let holds = |(lower, upper): &(Vec<f64>, Vec<f64>)| lower[row] <= y && y <= upper[row];
        score.inside = Some([0, 1, 2, 3, 4].map(|level| holds(&ends[level])));
        let (lower, upper) = &ends[SCORED];
        score.interval = interval_score(lower[row], upper[row], LEVELS[SCORED], y);
    }
}

fn pits(prediction: &Prediction, reported: &[HeldOut], scores: &mut [RowScore]) {
    let values: Vec<f64> = reported.iter().map(|r| r.value().unwrap_or(0.0)).collect();
    let at_most = prediction.cdf(&values);
    let below = match prediction.is_discrete() {
        true => prediction.cdf(&values.iter().map(|y| y - 1.0).collect::<Vec<_>>()),
        false => at_most.clone(),
    };
    for (row, score) in scores.iter_mut().enumerate() {
        let u = (GOLDEN * (row + 1) as f64).fract();
        let told = randomised_pit(below[row].clamp(0.0, at_most[row]), at_most[row], u);
        score.pit = reported[row].value().and(told);
    }
}

fn crps(prediction: &Prediction, reported: &[HeldOut], scores: &mut [RowScore]) {
    if let Some(normal) = prediction.normal_moments() {
        for ((score, reported), (mean, sd)) in scores.iter_mut().zip(reported).zip(normal) {
            score.crps = reported.value().and_then(|y| crps_normal(mean, sd, y));
        }
        return;
    }
    let steps = (0..QUANTILES).into_par_iter();
    let quantiles: Vec<Vec<f64>> = steps
        .map(|i| prediction.quantile((i as f64 + 0.5) / QUANTILES as f64))
        .collect();
    for (row, (score, reported)) in scores.iter_mut().zip(reported).enumerate() {
        let own: Vec<f64> = quantiles.iter().map(|q| q[row]).collect();
        score.crps = reported.value().and_then(|y| crps_sample(&own, y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::reported_as;
    use crate::likelihood::Poisson;
    use crate::link::Link;
    use crate::model::Observations;
    use crate::support::Functionals;

    fn normal(mean: f64, variance: f64, rows: usize) -> Prediction {
        Prediction::from_moments(vec![1.0], &[(vec![mean; rows], vec![variance; rows])])
    }

    /// By hand: of N(1, 4) at 3, z = 1: the density is phi(1) / 2, the value lies outside the 50 %
    /// interval (z < 0.674) and inside that of 70 % (z < 1.036).
    #[test]
    fn a_normal_prediction_has_the_scores_of_its_formulas() {
        let scores = row_scores(&normal(1.0, 4.0, 1), &[HeldOut::Value(3.0)]).unwrap();
        let score = scores[0];
        // A few roundings of numbers near 1.
        let close = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-12, "{a:?} {b}");
        close(score.error, 2.0);
        close(
            score.nll,
            0.5 * std::f64::consts::TAU.ln() + 2.0_f64.ln() + 0.5,
        );
        close(score.crps, crps_normal(1.0, 2.0, 3.0).unwrap());
        close(score.interval, 2.0 * 2.0 * 1.959_963_984_540_054);
        close(score.log_ratio, 3.0_f64.ln());
        close(score.pit, 0.841_344_746_068_543);
        assert_eq!(score.inside, Some([false, true, true, true, true]));
        // One number alone has no density.
        let point = row_scores(&normal(1.0, 0.0, 1), &[HeldOut::Value(3.0)]).unwrap()[0];
        assert_eq!(
            (point.nll, point.inside, point.crps),
            (None, None, Some(2.0))
        );
        assert!(row_scores(&normal(1.0, 4.0, 2), &[HeldOut::Value(3.0)]).is_err());
    }

    /// By hand: P(1 < Y <= 3) of N(1, 4) is Phi(1) - 1/2; P(Y <= 1) is 1/2.
    #[test]
    fn intervals_are_judged_by_their_probability() {
        let ends = [(1.0, 3.0), (f64::NEG_INFINITY, 1.0), (1.0, f64::INFINITY)];
        let reported = ends.map(|(lower, upper)| HeldOut::Between(lower, upper));
        let scores = row_scores(&normal(1.0, 4.0, 3), &reported).unwrap();
        let by_hand = [0.341_344_746_068_543_f64, 0.5, 0.5];
        for (score, p) in scores.iter().zip(by_hand) {
            assert!((score.nll.unwrap() + p.ln()).abs() < 1e-12);
            assert_eq!((score.error, score.crps, score.inside), (None, None, None));
        }
    }

    /// Quantiles in 100 steps tell the CRPS of a normal to the error that is promised. Two equal
    /// nodes are a mixture, whose formula is not used.
    #[test]
    fn quantiles_stand_for_a_distribution() {
        let half = (vec![1.0], vec![4.0]);
        let mixture = Prediction::from_moments(vec![0.5, 0.5], &[half.clone(), half]);
        for y in [1.0, 3.0, -7.0] {
            let told = row_scores(&mixture, &[HeldOut::Value(y)]).unwrap()[0]
                .crps
                .unwrap();
            let exact = crps_normal(1.0, 2.0, y).unwrap();
            assert!((told / exact - 1.0).abs() < 5e-4, "{y}: {told} {exact}");
        }
    }

    /// By hand, of a Poisson count with mean 2: P(2) = 2 e^-2, P(Y < 2) = 3 e^-2. The definition of
    /// its CRPS, a sum over counts.
    #[test]
    fn counts_are_judged_by_their_probabilities() {
        let counts = Poisson::new(vec![2.0, 4.0], vec![1.0; 2], Link::Exp).unwrap();
        let at = Functionals::points("x", &[0.0, 1.0]).unwrap();
        let rows = Observations::new(at, counts).unwrap();
        let told = reported_as(&normal(2.0, 0.0, 2), &rows).unwrap();
        let reported = [HeldOut::Value(2.0), HeldOut::Counts(0.0, 2.0)];
        let scores = row_scores(&told, &reported).unwrap();
        let unit = (-2.0_f64).exp();
        assert!((scores[0].nll.unwrap() + (2.0 * unit).ln()).abs() < 1e-12);
        assert!((scores[1].nll.unwrap() + (5.0 * unit).ln()).abs() < 1e-12);
        let pit = scores[0].pit.unwrap();
        assert!(pit > 3.0 * unit && pit < 5.0 * unit);
        let (mut term, mut below, mut crps) = (unit, 0.0, 0.0);
        for k in 0..60 {
            below += term;
            crps += (below - f64::from(u8::from(k >= 2))).powi(2);
            term *= 2.0 / f64::from(k + 1);
        }
        // Quantiles in 100 steps move a chance by half a step at most.
        let told = scores[0].crps.unwrap();
        assert!((told - crps).abs() < 5e-3 * crps, "{told} {crps}");
    }
}
