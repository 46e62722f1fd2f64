//! Scores of the prediction of one row.

use super::crps::crps;
use super::held_out::HeldOut;
use crate::error::InputError;
use crate::model::Prediction;
use crate::posterior::marginal::Marginal;
use crate::score::{crps_normal, interval_score, randomised_pit};

/// Levels of the intervals whose coverage is told.
pub const LEVELS: [f64; 5] = [0.5, 0.7, 0.8, 0.9, 0.95];

/// The level of the interval that is scored.
const SCORED: f64 = 0.95;

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
    /// Probability integral transform, `P(Y <= y)`: uniform where the prediction is right. Of a
    /// count, answer or rank it is a random place between `P(Y < y)` and `P(Y <= y)`, of an
    /// interval `(a, b]` one between `P(Y <= a)` and `P(Y <= b)`; the places are spread evenly
    /// over rows.
    pub pit: Option<f64>,
}

impl RowScore {
    /// Whether the row lies in the central interval of a level: whether its transform lies between
    /// `(1 - level) / 2` and `(1 + level) / 2`.
    ///
    /// Of a value that is whether the interval holds it. Of counts, ranks and intervals it is so
    /// with the right probability, while an interval that includes both its ends holds a count more
    /// often than it promises.
    #[must_use]
    pub fn is_inside(&self, level: f64) -> Option<bool> {
        let tail = (1.0 - level) / 2.0;
        self.pit.map(|pit| (tail..=1.0 - tail).contains(&pit))
    }
}

/// Scores of predictions, row by row.
///
/// A prediction without any uncertainty (every sd is zero, as those of most simple methods) has no
/// density and no intervals. The log score of an interval `(a, b]` is `-log(F(b) - F(a))`.
///
/// # Arguments
/// * `first` - the number of rows that were scored before these: places of counts in their
///   transforms go on from there
///
/// # Errors
/// [`InputError::Shape`] for another number of rows.
pub fn row_scores(
    prediction: &Prediction,
    reported: &[HeldOut],
    first: usize,
) -> Result<Vec<RowScore>, InputError> {
    same_rows(prediction.len(), reported)?;
    if prediction.is_certain() {
        return point_scores(prediction.mean(), reported);
    }
    let normal = prediction.normal_moments();
    let is_discrete = prediction.is_discrete();
    Ok(prediction.each_row(|row, mut marginal| {
        let reported = reported[row];
        let mut score = errors(reported, prediction.mean()[row]);
        let chances = chances(&mut marginal, reported, is_discrete);
        score.nll = log_score(&mut marginal, reported, chances);
        score.pit = pit(chances, (GOLDEN * (first + row + 1) as f64).fract());
        let Some(value) = reported.value() else {
            return score;
        };
        let tail = (1.0 - SCORED) / 2.0;
        let [lower, upper] = [tail, 1.0 - tail].map(|p| marginal.quantile(p));
        score.interval = interval_score(lower, upper, SCORED, value);
        score.crps = match &normal {
            Some(normal) => crps_normal(normal[row].0, normal[row].1, value),
            None => crps(&mut marginal, value, is_discrete),
        };
        score
    }))
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

/// `P(Y < y)` and `P(Y <= y)` of a value; of a range the probabilities of what lies below it and of
/// what lies in it or below.
fn chances(marginal: &mut Marginal<'_>, reported: HeldOut, is_discrete: bool) -> (f64, f64) {
    let (below, at_most) = match reported {
        HeldOut::Value(y) if is_discrete => (y - 1.0, y),
        HeldOut::Value(y) => (y, y),
        HeldOut::Between(lower, upper) => (lower, upper),
        HeldOut::Counts(lower, upper) => (lower - 1.0, upper),
    };
    let mut share = |end: f64| match end.is_finite() {
        true => marginal.cdf(end),
        false => f64::from(u8::from(end > 0.0)),
    };
    (share(below), share(at_most))
}

fn log_score(
    marginal: &mut Marginal<'_>,
    reported: HeldOut,
    (below, at_most): (f64, f64),
) -> Option<f64> {
    let log = match reported {
        HeldOut::Value(y) => marginal.log_density(y),
        HeldOut::Between(lower, upper) => marginal.log_between(lower, upper),
        HeldOut::Counts(..) => (at_most - below).max(f64::MIN_POSITIVE).ln(),
    };
    // The response of a link has no density that is told.
    (!log.is_nan()).then_some(-log)
}

/// The transform of a row, by a number from 0 to 1.
fn pit((below, at_most): (f64, f64), u: f64) -> Option<f64> {
    // No bounds that are not numbers, for which `clamp` panics.
    let at_most = at_most.clamp(0.0, 1.0);
    randomised_pit(below.max(0.0).min(at_most), at_most, u)
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
        let scores = row_scores(&normal(1.0, 4.0, 1), &[HeldOut::Value(3.0)], 0).unwrap();
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
        let inside = LEVELS.map(|level| score.is_inside(level).unwrap());
        assert_eq!(inside, [false, true, true, true, true]);
        // One number alone has no density.
        let point = row_scores(&normal(1.0, 0.0, 1), &[HeldOut::Value(3.0)], 0).unwrap()[0];
        assert_eq!((point.nll, point.pit, point.crps), (None, None, Some(2.0)));
        assert!(row_scores(&normal(1.0, 4.0, 2), &[HeldOut::Value(3.0)], 0).is_err());
    }

    /// By hand: P(1 < Y <= 3) of N(1, 4) is Phi(1) - 1/2; P(Y <= 1) is 1/2.
    #[test]
    fn intervals_are_judged_by_their_probability() {
        let ends = [(1.0, 3.0), (f64::NEG_INFINITY, 1.0), (1.0, f64::INFINITY)];
        let reported = ends.map(|(lower, upper)| HeldOut::Between(lower, upper));
        let scores = row_scores(&normal(1.0, 4.0, 3), &reported, 0).unwrap();
        let by_hand = [0.341_344_746_068_543_f64, 0.5, 0.5];
        for (score, p) in scores.iter().zip(by_hand) {
            assert!((score.nll.unwrap() + p.ln()).abs() < 1e-12);
            assert_eq!(
                (score.error, score.crps, score.interval),
                (None, None, None)
            );
            assert!(score.pit.is_some());
        }
    }

    /// Two equal nodes are a mixture, whose CRPS is integrated, to the error that is promised.
    #[test]
    fn an_integral_agrees_with_the_closed_form() {
        let half = (vec![1.0], vec![4.0]);
        let mixture = Prediction::from_moments(vec![0.5, 0.5], &[half.clone(), half]);
        for y in [1.0, 3.0, -7.0] {
            let told = row_scores(&mixture, &[HeldOut::Value(y)], 0).unwrap()[0]
                .crps
                .unwrap();
            let exact = crps_normal(1.0, 2.0, y).unwrap();
            // What the integral leaves out is 1e-7 of a probability at either end: found is 3e-7.
            assert!((told / exact - 1.0).abs() < 1e-6, "{y}: {told} {exact}");
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
        let scores = row_scores(&told, &reported, 0).unwrap();
        let unit = (-2.0_f64).exp();
        // A few roundings of numbers of order one.
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
        let told = scores[0].crps.unwrap();
        // What is left out has probability 1e-7 at either end.
        assert!((told - crps).abs() < 1e-9, "{told} {crps}");
    }

    /// Limits far from what was predicted: `-log Phi(-9) = 43.628149...`, where a difference of
    /// distribution functions is nothing.
    #[test]
    fn limits_far_from_the_prediction_keep_their_scores() {
        let both = [
            HeldOut::Between(18.0, f64::INFINITY),
            HeldOut::Between(f64::NEG_INFINITY, -18.0),
        ];
        let scores = row_scores(&normal(0.0, 4.0, 2), &both, 0).unwrap();
        for score in scores {
            // Seven decimals are written here.
            assert!(
                (score.nll.unwrap() - 43.628_149_1).abs() < 1e-6,
                "{score:?}"
            );
        }
    }
}
