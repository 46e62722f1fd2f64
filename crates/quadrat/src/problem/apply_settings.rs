//! What the user says of hyperparameters, put in the place of defaults.

use super::mean_settings::is_mean;
use super::settings::Setting;
use crate::error::InputError;
use crate::parameter::{Parameter, Transform};

/// Applies what the user said to the defaults.
pub(crate) fn apply_settings(
    parameters: &mut [Parameter],
    settings: &[(String, Setting)],
) -> Result<(), InputError> {
    for (i, (name, setting)) in settings.iter().enumerate() {
        if settings[..i].iter().any(|(n, _)| n == name) {
            return Err(InputError::Parameter {
                name: name.clone(),
                reason: "it is set twice; remove one".into(),
            });
        }
        if is_mean(name) {
            continue;
        }
        let known: Vec<String> = parameters.iter().map(|p| p.name.clone()).collect();
        let Some(parameter) = parameters.iter_mut().find(|p| p.name == *name) else {
            return Err(InputError::UnknownParameter {
                name: name.clone(),
                known,
            });
        };
        apply(parameter, setting)?;
        parameter.validate()?;
    }
    Ok(())
}

fn apply(parameter: &mut Parameter, setting: &Setting) -> Result<(), InputError> {
    let refuse = |reason: String| InputError::Parameter {
        name: parameter.name.clone(),
        reason,
    };
    let value = match (setting.value, setting.start) {
        (Some(_), Some(_)) => {
            return Err(refuse("give either `value` or `start`, not both".into()));
        }
        (value, start) => value.or(start),
    };
    if setting.fixed && setting.value.is_none() {
        return Err(refuse("`fixed = true` needs a `value`".into()));
    }
    if parameter.fixed && setting != &Setting::fixed(parameter.start) {
        let reason = if parameter.name.starts_with("noise") {
            "by ranks or signs alone, which say nothing about their unit: the noise is the unit; give the thresholds, or leave it out"
        } else {
            "in the kernel expression; change it there"
        };
        return Err(refuse(format!(
            "its value {} is fixed {reason}",
            parameter.start
        )));
    }
    if let Some(value) = value
        && (!value.is_finite() || (parameter.transform == Transform::Log && value <= 0.0))
    {
        let hint = if parameter.name.starts_with("noise") {
            "; exact observations are written `variance = 0` in the likelihood"
        } else {
            ""
        };
        return Err(refuse(format!(
            "the value {value} must be a positive, finite number{hint}"
        )));
    }
    // What the user says goes before a default bound.
    if value
        .or(setting.upper)
        .is_some_and(|v| v <= parameter.lower)
    {
        parameter.lower = 0.0;
    }
    parameter.lower = setting.lower.unwrap_or(parameter.lower);
    parameter.upper = setting.upper.unwrap_or(parameter.upper);
    if let Some(prior) = &setting.prior {
        parameter.prior = *prior;
    }
    let usual = parameter.start;
    if let Some(value) = value {
        parameter.start = value;
    } else if parameter.lower < parameter.upper {
        parameter.start = parameter.start.clamp(parameter.lower, parameter.upper);
    }
    parameter.fixed = setting.fixed;
    if !parameter.fixed {
        // What the data suggest, and what the user expects, must not lie beyond where a start ends
        // the search.
        let expected = setting.prior.and_then(|prior| prior.quantile(0.5));
        parameter.search_around(&[usual, expected.unwrap_or(usual)]);
    }
    Ok(())
}
