//! One number everywhere.

use super::Predict;
use super::reported::{NO_NUMBER, Reported};
use crate::error::{FitError, InputError};
use crate::model::{Observations, Prediction};
use crate::support::Functionals;

/// The same response everywhere: all that was reported over all that was looked at,
///
/// $$ c = \frac{\sum_r y_r}{\sum_r e_r \, |s_r|} $$
///
/// with `e_r` the exposure or trials of a row (1 for values) and `|s_r|` the size of its support; a
/// row that was seen several times counts as often.
/// For points it is the mean, for counts the overall rate. There is no uncertainty: every sd is
/// zero.
///
/// The least that any method must beat: it uses nothing of where the rows looked.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    value: f64,
}

impl Constant {
    /// # Errors
    /// [`InputError::Unavailable`] where rows report no single number, or were exposed to nothing.
    pub fn new(table: &Observations) -> Result<Self, InputError> {
        let reported = Reported::of(table).ok_or(NO_NUMBER)?;
        let supports = table.supports();
        let rows = || 0..supports.len();
        let looked = |row: usize| table.times(row) * supports.size(row) * reported.amounts[row];
        let all: f64 = rows().map(looked).sum();
        let total: f64 = rows()
            .map(|row| table.times(row) * reported.values[row])
            .sum();
        let value = total / all;
        match value.is_finite() {
            true => Ok(Self { value }),
            false => Err(NOTHING_SEEN),
        }
    }
}

const NOTHING_SEEN: InputError = InputError::Unavailable {
    what: "the overall mean",
    remedy: "give rows supports, exposures or trials that do not add up to zero",
};

impl Predict for Constant {
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let means = (0..at.len()).map(|row| self.value * at.size(row));
        Ok(Prediction::certain(means.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::Poisson;
    use crate::link::Link;
    use crate::model::Noise;
    use crate::support::Aggregate;

    /// By hand: 30 cases among 2 * 10 + 1 * 40 person-years are one half.
    #[test]
    fn is_the_overall_rate() -> Result<(), FitError> {
        let bins = Functionals::intervals("age", &[(0.0, 10.0), (10.0, 50.0)], Aggregate::Sum)?;
        let cases = Poisson::new(vec![10.0, 20.0], vec![2.0, 1.0], Link::Exp)?;
        let constant = Constant::new(&Observations::new(bins, cases)?)?;
        let mut at = Functionals::points("age", &[3.0])?;
        at.push_box(&[(0.0, 4.0)], Aggregate::Sum)?;
        assert_eq!(constant.predict_response(&at)?.mean(), [0.5, 2.0]);
        Ok(())
    }

    /// By hand: (1 + 10 * 9 + 3 * 8) / 14.
    #[test]
    fn rows_count_as_often_as_they_were_seen() -> Result<(), FitError> {
        let at = Functionals::points("x", &[0.0, 1.0, 2.0])?;
        let rows = Observations::gaussian(at.clone(), vec![1.0, 9.0, 8.0], Noise::Learned)?;
        let constant = Constant::new(&rows.seen(vec![1.0, 10.0, 3.0])?)?;
        let mean = constant.predict_response(&at)?.mean()[0];
        // A few roundings.
        assert!((mean - 115.0 / 14.0).abs() < 1e-14 * mean, "{mean}");
        Ok(())
    }
}
