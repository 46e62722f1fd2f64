//! The figure of `quadrat ungroup`: bands as bars, steps with their intervals.

use quadrat_plot::{Axis, CurveFigure, Figure, Heading, Observed, Panel, Places, Predicted};
use quadrat_study::numbers::percent;
use quadrat_study::study::ungroup::Ungroup;
use quadrat_study::ungroup::found::{All, Found};
use quadrat_study::ungroup::group::Group;
use quadrat_study::ungroup::rows::Rows;

/// Populations whose steps are drawn.
pub const DRAWN: usize = 6;

/// What the figure and its page are called.
pub fn title(args: &Ungroup) -> String {
    format!("{} ungrouped", args.count)
}

/// Bands and steps of the first populations.
pub fn figure(args: &Ungroup, rows: &Rows, all: &All) -> Figure {
    let chosen = chosen(args, all);
    let panels: Vec<Panel> = chosen
        .iter()
        .map(|found| panel(args, &rows.groups[found.group], found))
        .collect();
    let level = percent(args.level);
    let mut caption = match &args.exposure {
        None => format!(
            "Bars are the bands; the line is the mean per unit of {}, in steps, with its {level} interval. Every draw adds up to the bands.",
            args.lower
        ),
        Some(_) if args.exposure_table.is_some() => {
            format!("The curve is the mean of the rates, in steps, with its {level} interval.")
        }
        Some(exposure) => format!(
            "Level lines are events over {exposure} of the bands; the curve is the mean of the rates, in steps, with its {level} interval."
        ),
    };
    let mut drawn = chosen.iter().flat_map(|found| &found.edges);
    if drawn.any(|edge| edge.1 == f64::INFINITY) {
        caption.push_str(" A band without an end is not drawn.");
    }
    if all.found.len() > DRAWN {
        let some = some(args, all.found.len());
        let some = some[..1].to_uppercase() + &some[1..];
        caption.push_str(&format!(" {some} are drawn."));
    }
    Figure::Curve(CurveFigure {
        heading: Heading::new("ungroup", title(args)).with_caption(caption),
        x: Axis::new(&args.lower),
        panels,
    })
}

/// What is drawn: years from the first to the last, or the first populations.
fn chosen<'a>(args: &Ungroup, all: &'a All) -> Vec<&'a Found> {
    let n = all.found.len();
    if args.along.is_none() || n <= DRAWN {
        return all.found.iter().take(DRAWN).collect();
    }
    let at = (0..DRAWN).map(|k| (k * (n - 1) + (DRAWN - 1) / 2) / (DRAWN - 1));
    at.map(|at| &all.found[at]).collect()
}

/// How many of how many are drawn, in words.
pub fn some(args: &Ungroup, of: usize) -> String {
    match args.along {
        None => format!("the first {DRAWN} of {of} populations"),
        Some(_) => format!("{DRAWN} of {of} years"),
    }
}

/// Steps and bands as numbers per unit, as far as they have an end.
fn panel(args: &Ungroup, group: &Group, found: &Found) -> Panel {
    let cells: Vec<usize> = (0..found.edges.len())
        .filter(|&i| found.edges[i].1.is_finite())
        .collect();
    let per_unit = |column: &[f64]| -> Vec<f64> {
        let width = |i: usize| match args.exposure {
            None => found.edges[i].1 - found.edges[i].0,
            Some(_) => 1.0,
        };
        let one = |&i: &usize| column[i] / width(i);
        cells.iter().map(one).collect()
    };
    let [mean, _, lower, _, upper] = &found.numbers;
    let first = found.edges.first().map_or(0.0, |edge| edge.0);
    let last = cells.last().map_or(first, |&i| found.edges[i].1);
    let bars = (0..group.rows.len()).filter_map(|b| {
        let (from, to) = (group.lower[b].max(first), group.upper[b].min(last));
        let is_whole = group.upper[b].is_finite() || to > from;
        let (count, exposure) = (group.counts[b], group.exposure.as_ref().map(|e| e[b]));
        // Events and exposures of different bands have no rate.
        let is_told = exposure != Some(0.0) && args.exposure_table.is_none();
        (is_whole && to > from && is_told).then(|| match exposure {
            None => Observed::total(from, to, count),
            Some(exposure) => Observed::Level {
                x0: from,
                x1: to,
                y: count / exposure,
                label: String::new(),
            },
        })
    });
    let y = match args.exposure {
        None => format!("{} per unit of {}", args.count, args.lower),
        Some(_) => format!("Rate of {}", args.count),
    };
    Panel {
        title: group.words(),
        y: Axis::new(y),
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
