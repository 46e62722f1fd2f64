//! The figure of `quadrat ungroup`: bands as bars, steps with their intervals.

use std::path::Path;

use anyhow::Result;
use quadrat_plot::{Axis, CurveFigure, Figure, Heading, Observed, Panel, Places, Predicted};

use super::found::{All, DRAWN, Found};
use super::rows::{Group, Rows};
use super::said;
use crate::args::Ungroup;
use crate::commands::figures::drawn;
use crate::numbers::percent;

/// The figure as a file.
pub fn figure(path: &Path, args: &Ungroup, rows: &Rows, all: &All) -> Result<Vec<u8>> {
    let panels = all.found.iter().take(DRAWN);
    let panels: Vec<Panel> = panels
        .map(|found| panel(args, &rows.groups[found.group], found))
        .collect();
    let mut caption = format!(
        "Bars are the bands; the line is the mean per unit of {}, in steps, with its {} interval. Every draw adds up to the bands.",
        args.lower,
        percent(args.level)
    );
    if all.found.len() > DRAWN {
        caption.push_str(&format!(
            " The first {DRAWN} of {} populations are drawn.",
            all.found.len()
        ));
    }
    let title = format!("{} ungrouped", args.count);
    let figure = Figure::Curve(CurveFigure {
        heading: Heading::new("ungroup", &title).with_caption(caption),
        x: Axis::new(&args.lower),
        panels,
    });
    let summary = said::sentences(args, rows, all);
    drawn(
        path,
        &title,
        summary,
        said::warnings(rows, all),
        vec![figure],
    )
}

/// Steps and bands as numbers per unit, as far as they have an end.
fn panel(args: &Ungroup, group: &Group, found: &Found) -> Panel {
    let cells: Vec<usize> = (0..found.edges.len())
        .filter(|&i| found.edges[i].1.is_finite())
        .collect();
    let per_unit = |column: &[f64]| -> Vec<f64> {
        let one = |&i: &usize| column[i] / (found.edges[i].1 - found.edges[i].0);
        cells.iter().map(one).collect()
    };
    let [mean, _, lower, _, upper] = &found.numbers;
    let first = found.edges.first().map_or(0.0, |edge| edge.0);
    let last = cells.last().map_or(first, |&i| found.edges[i].1);
    let bars = (0..group.rows.len()).filter_map(|b| {
        let (from, to) = (group.lower[b].max(first), group.upper[b].min(last));
        let is_whole = group.upper[b].is_finite() || to > from;
        (is_whole && to > from).then(|| Observed::total(from, to, group.counts[b]))
    });
    Panel {
        title: group.words(),
        y: Axis::new(format!("{} per unit of {}", args.count, args.lower)),
        observed: bars.collect(),
        predicted: vec![Predicted {
            label: "Steps".to_owned(),
            at: Places::Cells(cells.iter().map(|&i| found.edges[i]).collect()),
            mean: per_unit(mean),
            lower: per_unit(lower),
            upper: per_unit(upper),
            level: args.level,
        }],
        ..Panel::default()
    }
}
