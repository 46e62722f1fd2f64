//! What to say of hyperparameters that stopped at the end of the range in which they were searched.

use crate::inference::{Evidence, Optimum};
use crate::parameter::Parameter;
use crate::problem::settings::Setting;

/// A slope below this, in nats per unit of the logarithm, is none: searches end at a tenth of it.
const SLOPE: f64 = 1e-2;

/// Says who would prefer a value beyond: the data, the prior, or nobody. Without an evidence, whose
/// evaluation may be dear, only what the slope of the prior leaves open is said. Without the
/// settings of the user it is not said whose bound it is.
pub(super) fn warn_about_bounds(
    parameters: &[Parameter],
    settings: Option<&[(String, Setting)]>,
    optimum: &Optimum,
    evidence: Option<&dyn Evidence>,
    warnings: &mut Vec<String>,
) {
    if optimum.at_bound.is_empty() {
        return;
    }
    let theta = &optimum.theta;
    let slopes = evidence.and_then(|e| e.evaluate(theta).ok());
    for &i in &optimum.at_bound {
        let parameter = &parameters[i];
        let phi = parameter.to_free(theta[i]);
        let (lower, upper) = parameter.free_bounds();
        let is_lower = phi - lower < upper - phi;
        let outward = if is_lower { -1.0 } else { 1.0 };
        let of_prior = outward * parameter.log_prior_free(phi).1;
        let of_data = slopes
            .as_ref()
            .map(|(_, slope)| outward * slope[i] * parameter.jacobian(theta[i]));
        let told = match of_data {
            Some(slope) if slope > SLOPE => "the data would prefer a value beyond it",
            // At a bound the sum of both points beyond it.
            None if of_prior <= 0.0 => "the data would prefer a value beyond it",
            None => "the data or its prior would prefer a value beyond it",
            Some(_) if of_prior > SLOPE => {
                "its prior would prefer a value beyond it, the data would not"
            }
            Some(_) => "values beyond it explain the data as well",
        };
        let key = if is_lower { "lower" } else { "upper" };
        let is_given = settings.is_none_or(|settings| {
            let own = settings.iter().find(|(name, _)| *name == parameter.name);
            own.is_some_and(|(_, setting)| match is_lower {
                true => setting.lower.is_some(),
                false => setting.upper.is_some(),
            })
        });
        let origin = match is_given {
            true => String::new(),
            false => format!(", where the search ends unless `{key}` says otherwise"),
        };
        warnings.push(format!(
            "`{}` stopped at a bound ({}{origin}): {told}",
            parameter.name, theta[i]
        ));
    }
}
