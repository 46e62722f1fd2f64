//! The density of one column on the terminal and as a figure.

use quadrat::density::Estimate;
use quadrat_plot::{Axis, CurveFigure, Figure, Heading, Panel, Places, Predicted};
use quadrat_study::density::common::{UNSEEN, interval, seen};
use quadrat_study::density::line::Line;
use quadrat_study::density::said::{modes, numbers, warnings};
use quadrat_study::density::{Answers, Rows};
use quadrat_study::diagnostic::Paint;
use quadrat_study::numbers::{count, percent};
use quadrat_study::words::clean;

use super::picture::picture;

/// Values that are drawn as ticks below the curve.
const MOST_TICKS: usize = 1000;

/// The figures.
pub fn figures(of: &Line) -> Vec<Figure> {
    vec![figure(&of.title(), &of.rows, &of.estimate)]
}

/// The summary for a terminal.
pub fn summary(of: &Line, paint: Paint) -> String {
    let (args, rows, estimate) = (&of.args, &of.rows, &of.estimate);
    let level = percent(estimate.level());
    let mut out = format!(
        "{} of `{}`, {} band\n\n",
        count(rows.len(), "row"),
        clean(&rows.names[0]),
        level
    );
    out.push_str(&picture(estimate, seen(estimate.masses(), 1.0)));
    out.push('\n');
    for (name, answer) in numbers(args, estimate) {
        out.push_str(&format!(
            "{name:<8}{}{}\n",
            if name.len() > 7 { "  " } else { "" },
            interval(&answer)
        ));
    }
    out.push_str(&format!("{:<8}{}\n", "modes", modes(estimate)));
    for warning in warnings(rows, estimate) {
        out.push_str(&format!("{}: {warning}\n", paint.yellow("warning")));
    }
    out
}

fn figure(title: &str, rows: &Rows, estimate: &Estimate) -> Figure {
    let cells = seen(estimate.masses(), 1.0);
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
