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
/// with `e_r` the exposure or trials of a row (1 for values) and `|s_r|` the size of its support.
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
        let looked = |row: usize| supports.size(row) * reported.amounts[row];
        let all: f64 = (0..supports.len()).map(looked).sum();
        let value = reported.values.iter().sum::<f64>() / all;
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
}
