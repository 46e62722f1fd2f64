//! What a prediction is of, in words for an axis.

use quadrat_study::outcome::Outcome;
use quadrat_study::resolve::{Asked, Observed};
use quadrat_study::study::Scale;
use quadrat_study::study::likelihood::{Given, Reports, Scale as Means};
use quadrat_study::study::support::Aggregate;
use quadrat_study::words::value_name;

/// What is predicted, totals per unit of the inputs.
pub fn quantity(outcome: &Outcome, asked: &Asked) -> String {
    let output = asked.places.output.as_deref();
    let named = special(outcome, asked);
    let is_rate = asked.scale != Scale::Latent && is_pooled(outcome, output);
    match named {
        Some(name) if is_rate => match unit_of_totals(outcome, output) {
            Some(unit) => format!("{name}, {unit}"),
            None => name,
        },
        Some(name) => name,
        None => of_values(outcome, output),
    }
}

/// Whether totals were observed after a link: then rates are per unit of the inputs too.
fn is_pooled(outcome: &Outcome, output: Option<&str>) -> bool {
    let mut tables = outcome.resolved.tables_of(output);
    tables.any(|table| {
        table.says.scale() == Means::Linked && table.places.aggregate == Some(Aggregate::Sum)
    })
}

/// What each row of a prediction is, totals as they are.
pub fn of_rows(outcome: &Outcome, asked: &Asked) -> String {
    special(outcome, asked).unwrap_or_else(|| value_name(outcome, asked.places.output.as_deref()))
}

/// The observed quantity, per unit of the inputs when totals were observed.
pub fn of_values(outcome: &Outcome, output: Option<&str>) -> String {
    let name = value_name(outcome, output);
    match unit_of_totals(outcome, output) {
        None => name,
        Some(unit) => format!("{name} {unit}"),
    }
}

/// What the rows of a table report, per unit of exposure and of the inputs.
pub fn of_rates(outcome: &Outcome, table: &Observed) -> String {
    let name = table.says.value_name();
    let unit = unit_of_totals(outcome, table.places.output.as_deref());
    match (&table.says.reports, unit) {
        (
            Reports::Counts {
                exposure: Some(Given::Column(exposure)),
                ..
            },
            unit,
        ) => {
            let unit = unit.map_or_else(String::new, |unit| format!(", {unit}"));
            format!("{name} per unit of {}{unit}", exposure.value)
        }
        (_, Some(unit)) => format!("{name} {unit}"),
        (_, None) => name,
    }
}

/// "per km²", "per unit of age", where totals were observed.
fn unit_of_totals(outcome: &Outcome, output: Option<&str>) -> Option<String> {
    let mut tables = outcome.resolved.tables_of(output);
    let table = tables.find(|table| table.places.aggregate == Some(Aggregate::Sum))?;
    let unit = table.places.volume_unit();
    Some(if unit.starts_with("km²") {
        format!("per {unit}")
    } else {
        format!("per unit of {unit}")
    })
}

/// What is predicted where it is another thing than the values of a table.
fn special(outcome: &Outcome, asked: &Asked) -> Option<String> {
    let (scale, output) = (asked.scale, asked.places.output.as_deref());
    let says = &outcome.resolved.reporting(asked)?.says;
    let name = says.value_name();
    if scale == Scale::Latent && says.scale() != Means::Linear {
        return Some(format!("latent value behind {name}"));
    }
    match &says.reports {
        Reports::Ordinal { .. } if scale.is_observed() => Some(name),
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
        Reports::Gaussian { .. } if says.link.is_some() && scale == Scale::Response => Some(name),
        Reports::Counts { .. } | Reports::Amounts { .. } if scale == Scale::Response => {
            Some(format!("mean of {name}"))
        }
        _ => None,
    }
}
