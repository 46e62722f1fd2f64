//! Conditional densities of every group on the terminal and as figures.

use quadrat_plot::{Axis, CurveFigure, Figure, Heading, Panel, Places, Predicted};
use quadrat_study::density::Answers;
use quadrat_study::density::groups::given::Given;
use quadrat_study::diagnostic::Paint;
use quadrat_study::numbers::{count, percent};
use quadrat_study::words::clean;

use super::super::given::aligned;
use super::super::given::figure::{curves as curves_of, surface};

/// Groups whose densities are shaded on a page.
const SHADED: usize = 8;

/// The figures, that of all groups first.
pub fn figures(of: &Given) -> Vec<Figure> {
    let mut out = vec![curves(of)];
    for (k, (name, said)) in of.groups.iter().take(SHADED).enumerate() {
        let mut figure = surface(&format!("{} {name}", of.column), said);
        if let Figure::Surface(surface) = &mut figure {
            // Files of a study are named by it.
            surface.heading.id = format!("density-{}", k + 1);
        }
        out.push(figure);
    }
    out
}

/// The summary for a terminal.
pub fn summary(of: &Given, paint: Paint) -> String {
    let [given, value] = [0, 1].map(|axis| clean(&of.rows.names[axis]));
    let mut out = format!(
        "{} of `{value}` given `{given}` in {} of `{}`, {} intervals\n",
        count(of.rows.len(), "row"),
        count(of.groups.len(), "group"),
        clean(&of.column),
        percent(of.groups[0].1.estimate.level())
    );
    for (name, said) in &of.groups {
        out.push_str(&format!(
            "\n{}: {}\n",
            clean(name),
            count(said.rows.len(), "row")
        ));
        out.push_str(&aligned(&said.table()));
    }
    out.push('\n');
    for line in of.told() {
        out.push_str(&format!("{line}\n"));
    }
    for warning in of.warnings() {
        out.push_str(&format!("{}: {warning}\n", paint.yellow("warning")));
    }
    out
}

/// Curves of quantiles of every group on one scale, and the difference of the medians of two.
fn curves(of: &Given) -> Figure {
    let names = &of.rows.names;
    let level = of.groups[0].1.estimate.level();
    let ends = of.groups.iter().map(|(_, said)| said.seen());
    let ends = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |a, b| {
        (a.0.min(b.0), a.1.max(b.1))
    });
    let mut panels: Vec<Panel> = of
        .groups
        .iter()
        .map(|(name, said)| {
            let Figure::Curve(mut figure) = curves_of(said) else {
                return Panel::default();
            };
            let own = figure.panels.pop().unwrap_or_default();
            Panel {
                title: name.clone(),
                domain: Some(ends),
                ..own
            }
        })
        .collect();
    if let [d] = of.differences.as_slice()
        && !d.places.is_empty()
    {
        panels.push(Panel {
            title: format!("{} less {}", of.groups[0].0, of.groups[1].0),
            y: Axis::new("Difference of medians"),
            predicted: vec![Predicted {
                label: "Difference of medians".to_owned(),
                at: Places::Points(d.places.clone()),
                mean: d.value.clone(),
                lower: d.lower.clone(),
                upper: d.upper.clone(),
                level,
            }],
            ..Panel::default()
        });
    }
    let caption = format!(
        "Quantiles of every group as curves on one scale, each with its pointwise {} band.",
        percent(level)
    );
    Figure::Curve(CurveFigure {
        heading: Heading::new("quantiles", of.title()).with_caption(caption),
        x: Axis::new(&names[0]),
        panels,
    })
}
