//! What a prediction is of, in words for an axis.

use crate::outcome::Outcome;
use crate::resolve::Asked;
use crate::study::Scale;
use crate::study::likelihood::{Given, Reports, Scale as Means};
use crate::study::support::Aggregate;
use crate::words::value_name;

/// What is predicted, totals per unit of the inputs.
pub fn quantity(outcome: &Outcome, asked: &Asked) -> String {
    special(outcome, asked.scale).unwrap_or_else(|| of_values(outcome))
}

/// What each row of a prediction is, totals as they are.
pub fn of_rows(outcome: &Outcome, asked: &Asked) -> String {
    special(outcome, asked.scale).unwrap_or_else(|| value_name(outcome))
}

/// The observed quantity, per unit of the inputs when totals were observed.
pub fn of_values(outcome: &Outcome) -> String {
    let name = value_name(outcome);
    let totals = outcome
        .resolved
        .tables
        .iter()
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
fn special(outcome: &Outcome, scale: Scale) -> Option<String> {
    let says = &outcome.resolved.study.reporting()?.likelihood;
    let name = says.value_name();
    if scale == Scale::Latent && says.scale() != Means::Linear {
        return Some(format!("latent value behind {name}"));
    }
    match &says.reports {
        Reports::Ordinal { .. } if scale == Scale::Observation => Some(name),
        Reports::Ordinal { .. } if value_name(outcome) == name => {
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
