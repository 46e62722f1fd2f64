//! Means of scores over rows, and which method is better.

use super::row_score::{LEVELS, RowScore};
use crate::error::InputError;
use crate::score::{SignedRank, binomial_test, signed_rank};

/// A method, with the scores of its prediction of every row.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// One for every row, the same rows in the same order for all methods.
    pub rows: Vec<RowScore>,
}

/// What is averaged over rows. Smaller is better, but for coverage, which should be its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score {
    /// Negative log predictive density or probability, nats.
    Nll,
    /// Squared error of the mean.
    Mse,
    /// Absolute error of the mean.
    Mae,
    /// Squared difference of the logarithms of value and mean.
    LogMse,
    /// Continuous ranked probability score.
    Crps,
    /// Interval score of the 95 % interval.
    IntervalScore,
    /// Share of rows in the interval of this level, see [`RowScore::is_inside`].
    Coverage(f64),
}

impl Score {
    /// All of them, in the order in which they are told.
    pub fn all() -> impl Iterator<Item = Self> {
        use Score::{Coverage, Crps, IntervalScore, LogMse, Mae, Mse, Nll};
        let means = [Nll, Crps, Mse, Mae, LogMse, IntervalScore];
        means.into_iter().chain(LEVELS.map(Coverage))
    }

    /// Its name in tables: `nll`, `coverage_95` and so on.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Nll => "nll".to_owned(),
            Self::Mse => "mse".to_owned(),
            Self::Mae => "mae".to_owned(),
            Self::LogMse => "log_mse".to_owned(),
            Self::Crps => "crps".to_owned(),
            Self::IntervalScore => "interval_score".to_owned(),
            Self::Coverage(level) => format!("coverage_{:.0}", 100.0 * level),
        }
    }

    /// The score of one row.
    #[must_use]
    pub fn of(self, row: &RowScore) -> Option<f64> {
        match self {
            Self::Nll => row.nll,
            Self::Mse => row.error.map(|e| e * e),
            Self::Mae => row.error.map(f64::abs),
            Self::LogMse => row.log_ratio.map(|l| l * l),
            Self::Crps => row.crps,
            Self::IntervalScore => row.interval,
            Self::Coverage(level) => row
                .is_inside(level)
                .map(|inside| f64::from(u8::from(inside))),
        }
    }
}

/// One score of one method.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The name of the method.
    pub method: String,
    /// What was averaged.
    pub score: Score,
    /// Its mean over rows.
    pub value: f64,
    /// The standard error of that mean; none from a single unit.
    pub se: Option<f64>,
    /// Of a score: two-sided, that the method is as good as the first one; none for the first. Of a
    /// coverage: that the intervals hold their level.
    pub p_value: Option<f64>,
    /// Whether that test finds the first method better, by the ranks of the differences, which may
    /// disagree with the means: a few large losses outweigh many small gains in these alone.
    pub first_is_better: Option<bool>,
}

/// Every score of every method, in the order of the methods.
///
/// With $s_r$ the score of row r, $m$ the mean over all n rows, and units (rows that were held out
/// together for a reason) $g$ of $G$,
///
/// $$ se^2 = \frac{G}{G - 1} \, \frac{1}{n^2} \sum_g \Big( \sum_{r \in g} (s_r - m) \Big)^2 $$
///
/// which is the usual standard error where every row is a unit. The first method is compared with
/// each of the others by Wilcoxon's signed-rank test of the differences, averaged in each unit.
/// The test of a coverage is binomial and takes rows as independent.
///
/// A score is told of the rows that have it: errors and CRPS of those that reported a value, all
/// others of intervals too. A method that lacks it where the first has it is left out of that
/// score, so that all are judged by the same rows. `log_mse` needs every value and mean above zero.
///
/// # Arguments
/// * `units` - the unit of every row, see [`Folds::units`](super::Folds::units)
///
/// # Errors
/// [`InputError::Shape`] where methods have other numbers of rows than there are units;
/// [`InputError::Empty`] without rows.
pub fn summary(methods: &[Method], units: &[usize]) -> Result<Vec<Line>, InputError> {
    if units.is_empty() {
        return Err(InputError::Empty);
    }
    if let Some(method) = methods.iter().find(|m| m.rows.len() != units.len()) {
        return Err(InputError::Shape {
            what: "the scores of a method",
            expected: units.len(),
            got: method.rows.len(),
        });
    }
    let mut lines = Vec::new();
    for score in Score::all() {
        let first = methods.first().map(|first| scored(score, first));
        for (at, method) in methods.iter().enumerate() {
            let own = scored(score, method);
            let rows: Vec<usize> = match &first {
                Some(first) if first.iter().any(Option::is_some) => present(first),
                _ => present(&own),
            };
            let values: Option<Vec<f64>> = rows.iter().map(|&row| own[row]).collect();
            let Some(values) = values.filter(|values| !values.is_empty()) else {
                continue;
            };
            let of: Vec<usize> = rows.iter().map(|&row| units[row]).collect();
            let (p_value, first_is_better) = match (score, &first) {
                (Score::Coverage(level), _) => {
                    let held = values.iter().filter(|inside| **inside == 1.0).count();
                    (binomial_test(held, values.len(), level), None)
                }
                (_, Some(first)) if at > 0 => {
                    let test = compared(&values, first, (&rows, &of));
                    let middle = |n: usize| (n * (n + 1)) as f64 / 4.0;
                    let is_better = |t: SignedRank| t.positive > middle(t.pairs);
                    (test.map(|t| t.p_value), test.map(is_better))
                }
                _ => (None, None),
            };
            lines.push(Line {
                method: method.name.clone(),
                score,
                value: mean(&values),
                se: standard_error(&values, &of),
                p_value,
                first_is_better,
            });
        }
    }
    // In the order of the methods; a stable sort keeps that of the scores.
    let place = |line: &Line| methods.iter().position(|m| m.name == line.method);
    lines.sort_by_key(place);
    Ok(lines)
}

/// The score of every row; of none where logarithms are missing of some values.
fn scored(score: Score, method: &Method) -> Vec<Option<f64>> {
    let no_logarithm = |row: &RowScore| row.error.is_some() && row.log_ratio.is_none();
    match score == Score::LogMse && method.rows.iter().any(no_logarithm) {
        true => vec![None; method.rows.len()],
        false => method.rows.iter().map(|row| score.of(row)).collect(),
    }
}

fn present(scores: &[Option<f64>]) -> Vec<usize> {
    (0..scores.len())
        .filter(|&row| scores[row].is_some())
        .collect()
}

/// The test that a method is as good as the first one, from scores of the same rows: of the
/// differences method less first.
fn compared(
    values: &[f64],
    first: &[Option<f64>],
    (rows, units): (&[usize], &[usize]),
) -> Option<SignedRank> {
    let less = values
        .iter()
        .zip(rows)
        .map(|(own, &row)| Some(own - first[row]?));
    let less: Option<Vec<f64>> = less.collect();
    signed_rank(&unit_means(&less?, units))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sums and sizes of units.
fn unit_sums(values: &[f64], units: &[usize]) -> Vec<(f64, f64)> {
    let count = units.iter().max().map_or(0, |last| last + 1);
    let mut sums = vec![(0.0, 0.0); count];
    for (value, &unit) in values.iter().zip(units) {
        sums[unit].0 += value;
        sums[unit].1 += 1.0;
    }
    sums.retain(|(_, rows)| *rows > 0.0);
    sums
}

fn unit_means(values: &[f64], units: &[usize]) -> Vec<f64> {
    let sums = unit_sums(values, units).into_iter();
    sums.map(|(sum, rows)| sum / rows).collect()
}

fn standard_error(values: &[f64], units: &[usize]) -> Option<f64> {
    let m = mean(values);
    let away: Vec<f64> = values.iter().map(|value| value - m).collect();
    let sums = unit_sums(&away, units);
    let g = sums.len() as f64;
    let squares: f64 = sums.iter().map(|(sum, _)| sum * sum).sum();
    let se = (g / (g - 1.0) * squares).sqrt() / values.len() as f64;
    se.is_finite().then_some(se)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(name: &str, errors: &[f64]) -> Method {
        let row = |&error: &f64| RowScore {
            error: Some(error),
            ..RowScore::default()
        };
        Method {
            name: name.into(),
            rows: errors.iter().map(row).collect(),
        }
    }

    fn line<'a>(lines: &'a [Line], method: &str, score: Score) -> &'a Line {
        let is_it = |l: &&Line| l.method == method && l.score == score;
        lines.iter().find(is_it).unwrap()
    }

    /// By hand: absolute errors 1, 2, 3, 4 have mean 2.5 and standard error sqrt(5/3) / 2; in the
    /// units {1, 2} and {3, 4} the sums of deviations are -2 and 2: sqrt(2 * 8) / 4 = 1. All four
    /// differences are positive: p = 2 / 2^4; both units: 2 / 2^2.
    #[test]
    fn equals_hand_computed_values() {
        let methods = [
            method("ours", &[1.0, -2.0, 3.0, -4.0]),
            method("other", &[2.0, 4.0, -6.0, 8.0]),
        ];
        let apart = summary(&methods, &[0, 1, 2, 3]).unwrap();
        let ours = line(&apart, "ours", Score::Mae);
        // A few roundings.
        assert!((ours.value - 2.5).abs() < 1e-15);
        assert!((ours.se.unwrap() - (5.0_f64 / 3.0).sqrt() / 2.0).abs() < 1e-15);
        assert_eq!(ours.p_value, None);
        assert_eq!(line(&apart, "other", Score::Mae).p_value, Some(0.125));
        assert_eq!(
            line(&apart, "other", Score::Mae).first_is_better,
            Some(true)
        );
        assert_eq!(line(&apart, "ours", Score::Mse).value, 7.5);
        let together = summary(&methods, &[0, 0, 1, 1]).unwrap();
        assert_eq!(line(&together, "ours", Score::Mae).se, Some(1.0));
        assert_eq!(line(&together, "other", Score::Mae).p_value, Some(0.5));
        // Nobody told a density, and one unit has no error.
        assert!(apart.iter().all(|l| l.score != Score::Nll));
        let one = summary(&methods[..1], &[0, 0, 0, 0]).unwrap();
        assert_eq!(line(&one, "ours", Score::Mae).se, None);
    }

    /// 70 of 100 values in a 95 % interval are too few; 95 are what was promised.
    #[test]
    fn a_coverage_is_tested_against_its_level() {
        let held = |count: usize| {
            let row = |i: usize| RowScore {
                pit: Some(if i < count { 0.5 } else { 0.0 }),
                ..RowScore::default()
            };
            let rows = (0..100).map(row).collect();
            let name = "ours".to_owned();
            let units: Vec<usize> = (0..100).collect();
            let lines = summary(&[Method { name, rows }], &units).unwrap();
            let line = line(&lines, "ours", Score::Coverage(0.95));
            (line.value, line.p_value.unwrap())
        };
        let (share, p) = held(70);
        assert!(share == 0.7 && p < 1e-12);
        let (share, p) = held(95);
        assert!(share == 0.95 && p > 0.9);
    }

    #[test]
    fn other_numbers_of_rows_are_refused() {
        let methods = [method("ours", &[1.0])];
        assert!(summary(&methods, &[0, 1]).is_err());
        assert!(summary(&[], &[]).is_err());
    }
}
