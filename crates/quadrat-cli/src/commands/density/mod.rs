//! `quadrat density`: the density of a column, with its band.

mod answers;
mod asked;
mod common;
mod given;
mod groups;
mod inside;
pub mod model;
mod picture;
mod plane;
mod rows;
mod said;
pub mod study;
mod table;

use std::sync::Arc;

use asked::Of;

pub use answers::Answers;
pub use rows::Rows;

use anyhow::Result;
use quadrat::density::Estimate;
use quadrat_plot::{Axis, CurveFigure, Figure, Heading, Panel, Places, Predicted};

use serde_json::Value;

use crate::args::Density;
use crate::diagnostic::{Paint, Problem, Problems};
use crate::engine::draw_name;
use crate::numbers::{count, exact, percent};
use common::{OWN, UNSEEN, configured, outputs, quoted, refused, staged, told};

/// Values that are drawn as ticks below the curve.
const MOST_TICKS: usize = 1000;

/// Runs the command.
pub fn run(args: &Density) -> Result<()> {
    let mut rows = Rows::read(args, &args.table).map_err(Problems::by_flags)?;
    if let Some(path) = &args.inside {
        rows = rows.inside(path, path).map_err(Problems::by_flags)?;
    }
    outputs(args, &rows)?;
    let rows = Arc::new(rows);
    let answers = answers(args, &rows)?;
    let written = staged(args, answers.as_ref())?;
    told(args, &written, answers.as_ref())
}

/// Estimates what is asked for.
pub fn answers<'a>(
    args: &'a Density,
    rows: &'a Arc<Rows>,
) -> Result<Box<dyn Answers + 'a>, Problems> {
    if let (Some(column), true) = (&args.group, args.given.is_some()) {
        return Ok(Box::new(groups::given::Given::new(args, rows, column)?));
    }
    if let Some(column) = &args.group {
        one_axis(args)?;
        return Ok(Box::new(groups::Groups::new(args, rows, column)?));
    }
    if args.given.is_some() {
        return Ok(Box::new(given::estimated(args, rows)?));
    }
    if rows.names.len() == 2 {
        return Ok(Box::new(plane::Plane::new(args, rows)?));
    }
    one_axis(args)?;
    let density = configured(rows.density(), args);
    let estimate = density.estimate().map_err(|error| refused(rows, &error))?;
    Ok(Box::new(One {
        args,
        rows,
        estimate,
    }))
}

/// The density of one column.
struct One<'a> {
    args: &'a Density,
    rows: &'a Rows,
    estimate: Estimate,
}

impl Answers for One<'_> {
    fn title(&self) -> String {
        format!("Density of {}", self.rows.names[0])
    }

    fn parts(&self) -> Vec<(String, Of<'_>)> {
        vec![(String::new(), Of::Line(&self.estimate))]
    }

    fn csv(&self) -> Result<String, Problems> {
        Ok(csv(self.args, self.rows, &self.estimate))
    }

    fn figures(&self) -> Vec<Figure> {
        vec![figure(&self.title(), self.rows, &self.estimate)]
    }

    fn sentences(&self) -> Vec<String> {
        said::sentences(self.args, self.rows, &self.estimate)
    }

    fn warnings(&self) -> Vec<String> {
        said::warnings(self.rows, &self.estimate)
    }

    fn json(&self) -> Value {
        said::json(self.args, self.rows, &self.estimate)
    }

    fn summary(&self, paint: Paint) -> String {
        said::summary(self.args, self.rows, &self.estimate, paint)
    }
}

/// What only two columns have.
fn one_axis(args: &Density) -> Result<(), Problems> {
    let two = [
        ("--bounds", args.bounds.len() > 1),
        ("--range", args.range.len() > 1),
        ("--within", args.within.len() > 1),
        ("--column", args.group.is_some() && args.column.len() > 1),
        ("--bins", args.group.is_some() && args.bins.len() > 3),
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

fn figure(title: &str, rows: &Rows, estimate: &Estimate) -> Figure {
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
    Figure::Curve(CurveFigure {
        heading: Heading::new("density", title).with_caption(caption),
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
    })
}
