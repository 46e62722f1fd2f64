//! What must hold before any work starts.

use super::MEAN_NAME;
use super::defaults::Scales;
use super::observations::Observations;
use super::settings::Setting;
use crate::error::InputError;
use crate::kernel::Kernel;
use crate::parameter::{Parameter, Transform};

/// Most rows whose dense covariance is factorised: 20,000 rows need 3.2 GB per matrix.
pub(super) const MAX_DENSE_ROWS: usize = 20_000;

/// The tables as functions of the kernel's columns.
pub(super) fn restrict(
    kernel: &Kernel,
    tables: &[Observations],
) -> Result<Vec<Observations>, InputError> {
    if tables.is_empty() {
        return Err(InputError::Empty);
    }
    tables
        .iter()
        .map(|table| {
            Ok(Observations {
                supports: table.supports.select(kernel.columns())?,
                likelihood: table.likelihood.clone(),
                share_noise: table.share_noise,
            })
        })
        .collect()
}

/// Appends a noise parameter for every table that learns its own; returns its index per table.
pub(super) fn noise_groups(
    tables: &[Observations],
    scales: &Scales,
    parameters: &mut Vec<Parameter>,
) -> Vec<Option<usize>> {
    let mut first = None;
    tables
        .iter()
        .enumerate()
        .map(|(t, table)| {
            if !table.noise().is_learned() {
                return None;
            }
            if let (true, Some(shared)) = (table.share_noise, first) {
                return Some(shared);
            }
            let name = match t {
                0 => "noise.variance".to_owned(),
                _ => format!("noise#{}.variance", t + 1),
            };
            parameters.push(scales.noise_parameter(t, &name));
            let index = parameters.len() - 1;
            first = first.or(Some(index));
            Some(index)
        })
        .collect()
}

/// Applies what the user said to the defaults.
pub(super) fn apply_settings(
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
        if name == MEAN_NAME {
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
        return Err(refuse(format!(
            "its value {} is fixed in the kernel expression; change it there",
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
    let below = value.or(setting.upper).filter(|v| *v <= parameter.lower);
    let default_lower = if below.is_some() {
        0.0
    } else {
        parameter.lower
    };
    parameter.lower = setting.lower.unwrap_or(default_lower);
    parameter.upper = setting.upper.unwrap_or(parameter.upper);
    if let Some(prior) = &setting.prior {
        parameter.prior = *prior;
    }
    if let Some(value) = value {
        parameter.start = value;
    } else if parameter.lower < parameter.upper {
        parameter.start = parameter.start.clamp(parameter.lower, parameter.upper);
    }
    parameter.fixed = setting.fixed;
    Ok(())
}

/// Whether the rows can tell anything about the free hyperparameters.
pub(super) fn learnable(
    tables: &[Observations],
    parameters: &[Parameter],
) -> Result<(), InputError> {
    let rows: usize = tables.iter().map(|t| t.values().len()).sum();
    let free: Vec<String> = parameters
        .iter()
        .filter(|p| !p.fixed)
        .map(|p| p.name.clone())
        .collect();
    if free.is_empty() {
        return Ok(());
    }
    if rows < 2 {
        return Err(InputError::TooFewRows { rows, free });
    }
    let first = &tables[0];
    let support = first.supports.rows(&[0]);
    let same = tables.iter().all(|t| {
        (0..t.values().len())
            .all(|i| t.values()[i] == first.values()[0] && t.supports.rows(&[i]) == support)
    });
    if same {
        return Err(InputError::AllRowsEqual { rows, free });
    }
    Ok(())
}
