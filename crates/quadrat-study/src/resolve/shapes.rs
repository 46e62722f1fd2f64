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

/// What holding a bend costs (`docs/keys/shapes.md`).
const STRAIGHT: &str = "makes intervals too narrow where the function is nearly a straight line: those of 95 % then held 90 % of the truth";

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
    let is_bent = |held: &&Held| matches!(held.shape, Shape::Convex | Shape::Concave);
    if let Some(held) = study.latent.shapes.iter().find(is_bent) {
        warnings.push(format!("`{}` {STRAIGHT}", held.key));
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
