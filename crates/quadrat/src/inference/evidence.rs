//! What a search for hyperparameters asks of a method of inference.

use super::warm_start::WarmStart;
use crate::error::FitError;
use crate::parameter::Parameter;

/// The log evidence of a model as a function of its hyperparameters, exact or approximate: all that
/// learning and integration need.
pub trait Evidence: Sync {
    /// The log evidence in nats and its gradient, at `theta` (all parameters, natural units), begun
    /// where the search was last and as accurate as it asks for.
    ///
    /// # Errors
    /// A recoverable [`FitError`] where it cannot be evaluated: the search steps back.
    fn evaluate_along(
        &self,
        theta: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<(f64, Vec<f64>), FitError>;

    /// The log evidence alone, where that is cheaper.
    ///
    /// # Errors
    /// As [`Evidence::evaluate_along`].
    fn value_along(&self, theta: &[f64], warm_start: &mut WarmStart) -> Result<f64, FitError> {
        Ok(self.evaluate_along(theta, warm_start)?.0)
    }

    /// As [`Evidence::evaluate_along`], by itself and as accurate as it comes.
    ///
    /// # Errors
    /// The same.
    fn evaluate(&self, theta: &[f64]) -> Result<(f64, Vec<f64>), FitError> {
        self.evaluate_along(theta, &mut WarmStart::precise())
    }

    /// As [`Evidence::value_along`], in the same way.
    ///
    /// # Errors
    /// The same.
    fn value(&self, theta: &[f64]) -> Result<f64, FitError> {
        self.value_along(theta, &mut WarmStart::precise())
    }

    /// Whether evaluations are so costly that second derivatives to four digits are enough.
    fn is_dear(&self) -> bool {
        false
    }

    /// What may be left to gain at an optimum beside which no step is any better, in nats: more
    /// than nothing where rounding makes values and gradients differ by that.
    fn rounding(&self) -> f64 {
        0.0
    }

    /// Step of differences of the gradient, in free coordinates scaled to their priors. With
    /// central ones and the default, truncation and rounding are both about 1e-8; longer where the
    /// evidence is known less accurately.
    fn difference(&self) -> f64 {
        1e-4
    }

    /// Every hyperparameter, in the order of `theta`.
    fn parameters(&self) -> &[Parameter];
}
