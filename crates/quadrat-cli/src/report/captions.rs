//! What figures and tables say in words: headings, captions, and the names of rows.

use quadrat_plot::Heading;
use quadrat_study::numbers::percent;
use quadrat_study::resolve::Asked;
use quadrat_study::study::Scale;
use quadrat_study::study::support::Aggregate;

use super::slices::{self, Slices};

/// Title and caption of a prediction, or of one of its slices.
pub fn heading(asked: &Asked, slices: &Slices, i: usize, words: &str) -> Heading {
    let row = slices.rows.get(i).and_then(|rows| rows.first());
    let heading = match (slices.rows.len(), row) {
        (2.., Some(&row)) => {
            let at = slices::words(&asked.places, &slices.dims, row);
            let title = format!("{}: {at}", asked.title());
            Heading::new(format!("{}-{}", asked.id, i + 1), title)
        }
        _ => Heading::new(asked.id.as_str(), asked.title()),
    };
    heading.with_caption(format!("{}.{words}", note(asked)))
}

/// What a caption says of dimensions that differ from row to row and are no axes.
pub fn covariates(asked: &Asked, dims: &[usize]) -> String {
    let names: Vec<&str> = dims
        .iter()
        .map(|&d| asked.places.dims[d].name.as_str())
        .collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(" Every row has its own {}.", names.join(", ")),
    }
}

/// What a prediction table holds, in words.
pub fn note(asked: &Asked) -> String {
    let over = match &asked.places.shapes {
        Some(shapes) => format!("{}s", shapes.noun()),
        None => "boxes".to_owned(),
    };
    let what = match asked.places.aggregate {
        _ if asked.rows.as_ref().is_some_and(|r| r.groups.is_some()) => {
            "Sums of the values behind observed rows".to_owned()
        }
        _ if asked.rows.is_some() => "Values behind observed rows".to_owned(),
        None => "Values at points".to_owned(),
        Some(Aggregate::Sum) => format!("Totals over {over}"),
        Some(Aggregate::Mean) => format!("Averages over {over}"),
    };
    let what = match (&asked.like, asked.scale) {
        (Some(table), Scale::Observation) => format!("New observations of {table}. {what}"),
        (Some(table), Scale::Report) => format!("New reports of {table}. {what}"),
        _ => what,
    };
    format!(
        "{what}, {} scale, {} intervals{}",
        asked.scale.word(),
        percent(asked.level),
        if asked.non_negative {
            ", truncated at zero"
        } else {
            ""
        }
    )
}

/// The key and the place of a row, in words.
pub fn row(asked: &Asked, row: usize) -> String {
    let places = &asked.places;
    // A name that was kept says which row it is; its place would be a second one.
    if let Some(first) = places.labels.first() {
        return first.cells[row].clone();
    }
    let key = places.shapes.iter();
    let key = key.map(|shapes| format!("{} {}", shapes.header, shapes.keys[row]));
    let dims = places.shown().map(|dim| slices::along(dim, row));
    key.chain(dims).collect::<Vec<_>>().join(", ")
}
