//! `quadrat density`: the density of a column, with its band.

mod common;
mod given;
mod groups;
mod picture;
mod plane;
mod rows;
mod said;
mod table;

use std::path::Path;

use anyhow::Result;
use quadrat::density::Estimate;
use quadrat_plot::{Axis, CurveFigure, Figure, Heading, Panel, Places, Predicted};

use crate::args::Density;
use crate::commands::figures::drawn;
use crate::diagnostic::{Problem, Problems};
use crate::engine::draw_name;
use crate::numbers::{count, exact, percent};
use common::{OWN, UNSEEN, configured, outputs, quoted, refused, staged, told};
use rows::Rows;

/// Values that are drawn as ticks below the curve.
const MOST_TICKS: usize = 1000;

/// Runs the command.
pub fn run(args: &Density) -> Result<()> {
    let rows = Rows::read(args)?;
    outputs(args, &rows)?;
    if let Some(column) = &args.group {
        one_axis(args)?;
        return groups::run(args, &rows, column);
    }
    if args.given.is_some() {
        return given::run(args, &rows);
    }
    if rows.names.len() == 2 {
        return plane::run(args, &rows);
    }
    let estimate = estimate(args, &rows)?;
    let written = staged(
        args,
        || Ok(csv(args, &rows, &estimate)),
        |path| figure(path, args, &rows, &estimate),
    )?;
    told(
        args,
        &written,
        || said::json(args, &rows, &estimate),
        |paint| said::summary(args, &rows, &estimate, paint),
    )
}

/// What only two columns have.
fn one_axis(args: &Density) -> Result<(), Problems> {
    let two = [
        ("--bounds", args.bounds.len() > 1),
        ("--range", args.range.len() > 1),
        ("--within", args.within.len() > 1),
        ("--column", args.group.is_some() && args.column.len() > 1),
        ("--grid", args.grid.is_some_and(|[m, n]| m != n)),
    ];
    let Some((flag, _)) = two.iter().find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    let message = format!("{flag} speaks of two columns, and the density is of one");
    let remedy = match args.group {
        Some(_) => format!("give {flag} for one: groups are of one column"),
        None => format!("give --column twice, or {flag} for one"),
    };
    Err(Problem::new(message).remedy(remedy).into())
}

fn estimate(args: &Density, rows: &Rows) -> Result<Estimate, Problems> {
    one_axis(args)?;
    let density = configured(rows.density(), args);
    density.estimate().map_err(|error| refused(rows, &error))
}

/// One row per cell: its place, the density, its band, and draws.
fn csv(args: &Density, rows: &Rows, estimate: &Estimate) -> String {
    let draws = args
        .draws
        .map(|n| estimate.draws(usize::from(n), args.seed));
    let count = draws.as_ref().map_or(0, quadrat::linalg::Mat::ncols);
    let mut out = format!("{},{}", quoted(&rows.names[0]), OWN.join(","));
    (1..=count).for_each(|k| out.push_str(&format!(",{}", draw_name(k))));
    out.push('\n');
    for (j, place) in estimate.places().iter().enumerate() {
        let numbers = [
            *place,
            estimate.density()[j],
            estimate.lower()[j],
            estimate.upper()[j],
        ];
        let drawn = draws
            .iter()
            .flat_map(|d| (0..count).map(move |k| d[(j, k)]));
        let cells: Vec<String> = numbers.into_iter().chain(drawn).map(exact).collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

/// Cells within which there is something to see.
fn seen(estimate: &Estimate) -> std::ops::Range<usize> {
    let (mut sum, mut first, mut last) = (0.0, 0, estimate.masses().len());
    for (j, mass) in estimate.masses().iter().enumerate() {
        if sum < UNSEEN {
            first = j;
        }
        sum += mass;
        if sum > 1.0 - UNSEEN {
            last = j + 1;
            break;
        }
    }
    first..last
}

fn figure(path: &Path, args: &Density, rows: &Rows, estimate: &Estimate) -> Result<Vec<u8>> {
    let cells = seen(estimate);
    let places = estimate.places();
    let values: Vec<f64> = rows
        .values()
        .iter()
        .copied()
        .filter(|x| x.is_finite())
        .collect();
    let show = (1..=MOST_TICKS).contains(&values.len());
    let marked = if show { values } else { Vec::new() };
    let band = percent(estimate.level());
    let predicted = Predicted {
        label: "Density".to_owned(),
        at: Places::Points(places[cells.clone()].to_vec()),
        mean: estimate.density()[cells.clone()].to_vec(),
        lower: estimate.lower()[cells.clone()].to_vec(),
        upper: estimate.upper()[cells].to_vec(),
        level: estimate.level(),
    };
    let caption = format!(
        "The density of {} with its pointwise {band} band; the outermost {} of the probability are left out.",
        count(rows.len(), "row"),
        percent(2.0 * UNSEEN)
    );
    let figure = Figure::Curve(CurveFigure {
        heading: Heading::new("density", format!("Density of {}", rows.names[0]))
            .with_caption(caption),
        x: Axis::new(&rows.names[0]),
        panels: vec![Panel {
            y: Axis::new("Density"),
            predicted: vec![predicted],
            marked_label: if marked.is_empty() {
                String::new()
            } else {
                "Values".to_owned()
            },
            marked,
            ..Panel::default()
        }],
    });
    let title = format!("Density of {}", rows.names[0]);
    let (summary, warnings) = (
        said::sentences(args, rows, estimate),
        said::warnings(rows, estimate),
    );
    drawn(path, &title, summary, warnings, vec![figure])
}
