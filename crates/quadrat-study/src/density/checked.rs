//! `--check mcmc` of densities: estimates beside draws from their posterior.

use quadrat::density::{DensityCheck, DensityError};
use quadrat::inference::mcmc::McmcOptions;
use quadrat::progress::Progress;
use serde_json::{Value, json};

use super::answers::Answers;
use super::asked::Of;
use crate::diagnostic::{Problem, Problems};

/// An estimate that was checked.
pub struct CheckedPart {
    /// The name of its group; empty where there are none.
    pub group: String,
    /// What was found.
    pub check: DensityCheck,
}

/// Checks every estimate.
///
/// # Errors
/// Estimates that cannot be sampled.
pub fn by_mcmc(
    answers: &dyn Answers,
    options: &McmcOptions,
    progress: &dyn Progress,
) -> Result<Vec<CheckedPart>, Problems> {
    let one = |of: Of<'_>| match of {
        Of::Line(estimate) => estimate.check_by_mcmc(options, progress),
        Of::Plane(estimate) => estimate.check_by_mcmc(options, progress),
        Of::Given(estimate) => estimate.check_by_mcmc(options, progress),
    };
    let parts = answers.parts().into_iter();
    let checked = parts.map(|(group, of)| match one(of) {
        Ok(check) => Ok(CheckedPart { group, check }),
        Err(error) => Err(refused(&group, &error).into()),
    });
    checked.collect()
}

fn refused(group: &str, error: &DensityError) -> Problem {
    let of = match group {
        "" => String::new(),
        group => format!(" of `{group}`"),
    };
    Problem::new(format!("--check mcmc{of}: {error}"))
}

/// Adds what was found to what is told as JSON: `mcmc`, and warnings.
pub fn add_to(told: &mut Value, parts: &[CheckedPart]) {
    told["mcmc"] = json(parts);
    if let Some(all) = told["warnings"].as_array_mut() {
        all.extend(warnings(parts).into_iter().map(Value::String));
    }
}

/// One object, or one for each group with its name.
fn json(parts: &[CheckedPart]) -> Value {
    match parts {
        [one] if one.group.is_empty() => json!(one.check),
        all => {
            let each = all.iter();
            let each = each.map(|part| json!({ "group": part.group, "check": part.check }));
            Value::Array(each.collect())
        }
    }
}

/// Where estimates are wrong by the draws, and where draws cannot tell.
#[must_use]
pub fn warnings(parts: &[CheckedPart]) -> Vec<String> {
    let each = parts.iter().flat_map(|part| {
        let in_front = match part.group.as_str() {
            "" => String::new(),
            group => format!("`{group}`: "),
        };
        let warnings = part.check.warnings().into_iter();
        warnings.map(move |warning| format!("{in_front}{warning}"))
    });
    each.collect()
}
