//! What shapes of the function need of the tables.

use quadrat::likelihood::{Likelihood, Noise};
use quadrat::model::Shape;

use super::asked::{Asked, reporting};
use super::observed::Observed;
use crate::diagnostic::Problem;
use crate::numbers::count;
use crate::study::fields::Check;
use crate::study::shapes::Held;
use crate::study::{Scale, Study};

/// Places whose values are known exactly, at most: as many as `Posterior::shaped` takes.
const MOST_EXACT: usize = 1000;

/// Refuses bounds that the values are not within, and sums behind a link; whether rows are known
/// exactly is told.
pub(super) fn suit(
    check: &Check<'_>,
    study: &Study,
    (tables, predictions): (&[Observed], &[Asked]),
    warnings: &mut Vec<String>,
) {
    let Some(first) = study.latent.shapes.first() else {
        return;
    };
    let is_exact = |table: &Observed| match &table.likelihood {
        Likelihood::Gaussian(own) => {
            matches!(own.noise(), Noise::Known(known) if known.contains(&0.0))
        }
        _ => false,
    };
    if tables
        .iter()
        .any(|t| t.places.aggregate.is_some() && is_exact(t))
    {
        warnings.push(format!(
            "functions held to a shape (`{}`) do not add up to sums and averages that rows know exactly",
            first.key
        ));
    }
    let input = study.latent.of_kernel().first().map_or("", String::as_str);
    let of_output = |output| exact_of_output(tables, output, input).len();
    let exact = outputs(tables).into_iter().map(of_output).max();
    if let Some(exact) = exact.filter(|exact| *exact > MOST_EXACT) {
        check.refuse(
            &first.span,
            format!(
                "`{}` goes with values that are known exactly at {MOST_EXACT} places at most, and here are {exact}",
                first.key
            ),
            "give the values a small variance, or leave some out",
        );
        return;
    }
    for asked in predictions
        .iter()
        .filter(|asked| asked.places.aggregate.is_some())
    {
        let told = reporting(tables, asked).and_then(|table| table.likelihood.mean_link());
        if told.is_some() && asked.scale == Scale::Response {
            check.refuse(
                &study.predict[asked.of].name.span,
                format!(
                    "`{}` is told at points behind a link, not of sums or averages",
                    first.key
                ),
                "ask for points, or for `scale = \"latent\"`",
            );
        }
    }
    for asked in predictions {
        if asked.chances.draws > 0 && asked.places.output.is_some() {
            check.refuse(
                &study.predict[asked.of].name.span,
                format!("draws of several outputs do not know of `{}`", first.key),
                "leave `draws` out",
            );
        }
    }
    for held in &study.latent.shapes {
        let Shape::Between { lower, upper } = held.shape else {
            if let Some(problem) = exact_against(study, held, tables) {
                check.add(problem);
            }
            continue;
        };
        if let Some(problem) = tables
            .iter()
            .find_map(|t| outside(study, held, t, (lower, upper)))
        {
            check.add(problem);
        }
    }
}

/// Values at points that are known exactly and that no function of a monotone or bent shape has.
fn exact_against(study: &Study, held: &Held, tables: &[Observed]) -> Option<Problem> {
    let input = held.input.as_ref()?.value.as_str();
    outputs(tables).into_iter().find_map(|output| {
        let known = exact_of_output(tables, output, input);
        let places: Vec<f64> = known.iter().map(|own| own.0).collect();
        let values: Vec<f64> = known.iter().map(|own| own.1).collect();
        let at = held.shape.not_of(&places, &values)?;
        let name = |i: usize| {
            let (_, value, table, row) = &known[i];
            format!("{} ({value})", table.address(*row))
        };
        let problem = match held.shape {
            Shape::Rising | Shape::Falling => format!(
                "{} and {} are known exactly, and no function that is {} has both values",
                name(at),
                name(at + 1),
                held.words()
            ),
            _ => format!(
                "{}, {} and {} are known exactly, and no function that is {} has all three values",
                name(at - 1),
                name(at),
                name(at + 1),
                held.words()
            ),
        };
        let remedy = format!("give the values a variance, or leave `{}` out", held.key);
        let place = study.source.place(&held.span);
        Some(Problem::new(problem).at(place).remedy(remedy))
    })
}

/// The outputs of the tables, each once.
fn outputs(tables: &[Observed]) -> Vec<Option<&str>> {
    let mut outputs: Vec<Option<&str>> = Vec::new();
    for table in tables {
        let own = table.places.output.as_deref();
        if !outputs.contains(&own) {
            outputs.push(own);
        }
    }
    outputs
}

/// Place, value and row of the points of an output that are known exactly, in their order.
fn exact_of_output<'t>(
    tables: &'t [Observed],
    output: Option<&str>,
    input: &str,
) -> Vec<(f64, f64, &'t Observed, usize)> {
    let own = tables.iter();
    let own = own.filter(|table| table.places.output.as_deref() == output);
    let mut known: Vec<_> = own.flat_map(|table| exact_points(table, input)).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    // What two rows say of one place is compared elsewhere.
    known.dedup_by(|b, a| a.0 == b.0);
    known
}

/// Place, value and row of the points of a table that are known exactly.
fn exact_points<'t>(
    table: &'t Observed,
    input: &str,
) -> impl Iterator<Item = (f64, f64, &'t Observed, usize)> {
    let known = match &table.likelihood {
        Likelihood::Gaussian(own) if table.places.aggregate.is_none() => Some(own),
        _ => None,
    };
    let along = table.places.dim(input);
    let pairs = known.zip(along).into_iter();
    pairs.flat_map(move |(own, along)| {
        let is_exact = |row: &usize| matches!(own.noise(), Noise::Known(known) if known.get(*row) == Some(&0.0));
        let rows = (0..own.values().len()).filter(is_exact);
        rows.map(move |row| (along.ends(row).0, own.values()[row], table, row))
    })
}

/// A value that is known exactly and outside, or a table most of whose values are: noise is about
/// as often above as below.
fn outside(
    study: &Study,
    held: &Held,
    table: &Observed,
    (lower, upper): (f64, f64),
) -> Option<Problem> {
    let Likelihood::Gaussian(gaussian) = &table.likelihood else {
        return None;
    };
    let values = gaussian.values().iter().enumerate();
    // A sum over a box of a volume is within so many times the bounds.
    let is_outside = |(row, value): (usize, &f64)| {
        let average = value / table.places.volume(row);
        (average < lower || average > upper).then_some((row, *value))
    };
    let rows: Vec<(usize, f64)> = values.filter_map(is_outside).collect();
    let is_exact = |row: usize| matches!(gaussian.noise(), Noise::Known(known) if known.get(row) == Some(&0.0));
    let exact = rows.iter().find(|(row, _)| is_exact(*row));
    let place = study.source.place(&held.span);
    if let Some((row, value)) = exact {
        return Some(
            Problem::new(format!(
                "{}: the value {value} is known exactly and not {}",
                table.address(*row),
                held.words()
            ))
            .at(place)
            .remedy("widen `between`, or give the values a variance"),
        );
    }
    (2 * rows.len() > gaussian.values().len()).then(|| {
        Problem::new(format!(
            "{} of {} in {} are not {}, which noise alone does not explain",
            rows.len(),
            count(gaussian.values().len(), "value"),
            table.table.name(),
            held.words()
        ))
        .at(place)
        .remedy("widen `between`: it is in the unit of the values, per unit of a box")
    })
}
