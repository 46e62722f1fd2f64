//! What a prediction is of, in words for an axis.

use crate::outcome::Outcome;
use crate::resolve::Asked;
use crate::study::Scale;
use crate::study::likelihood::{Given, Reports, Scale as Means};
use crate::study::support::Aggregate;
use crate::words::value_name;

/// What is predicted, totals per unit of the inputs.
pub fn quantity(outcome: &Outcome, asked: &Asked) -> String {
    special(outcome, asked).unwrap_or_else(|| of_values(outcome, asked.places.output.as_deref()))
}

/// What each row of a prediction is, totals as they are.
pub fn of_rows(outcome: &Outcome, asked: &Asked) -> String {
    special(outcome, asked).unwrap_or_else(|| value_name(outcome, asked.places.output.as_deref()))
}

/// The observed quantity, per unit of the inputs when totals were observed.
pub fn of_values(outcome: &Outcome, output: Option<&str>) -> String {
    let name = value_name(outcome, output);
    let totals = outcome
        .resolved
        .tables_of(output)
        .find(|table| table.places.aggregate == Some(Aggregate::Sum));
    match totals {
        None => name,
        Some(table) => {
            let unit = table.places.volume_unit();
            if unit.starts_with("km²") {
                format!("{name} per {unit}")
            } else {
                format!("{name} per unit of {unit}")
            }
        }
    }
}

/// What is predicted where it is another thing than the values of a table.
fn special(outcome: &Outcome, asked: &Asked) -> Option<String> {
    let (scale, output) = (asked.scale, asked.places.output.as_deref());
    let says = &outcome.resolved.reporting(output)?.says;
    let name = says.value_name();
    if scale == Scale::Latent && says.scale() != Means::Linear {
        return Some(format!("latent value behind {name}"));
    }
    match &says.reports {
        Reports::Ordinal { .. } if scale == Scale::Observation => Some(name),
        Reports::Ordinal { .. } if value_name(outcome, output) == name => {
            Some(format!("latent value behind {name}"))
        }
        Reports::Bernoulli { .. } if scale == Scale::Response => {
            Some(format!("probability of {name}"))
        }
        Reports::Binomial { .. } if scale == Scale::Response => {
            Some(format!("probability of {name}"))
        }
        Reports::Counts {
            exposure: Some(Given::Column(exposure)),
            ..
        } => Some(format!("{name} per unit of {}", exposure.value)),
        Reports::Counts { .. } | Reports::Exponential { .. } if scale == Scale::Response => {
            Some(format!("mean of {name}"))
        }
        _ => None,
    }
}
