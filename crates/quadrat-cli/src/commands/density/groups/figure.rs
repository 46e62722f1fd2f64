//! Groups as figures: violins side by side, and on a page the densities below each other.

use quadrat::density::Comparison;
use quadrat_plot::{
    Axis, CurveFigure, Figure, Heading, Panel, Places, Predicted, Violin, ViolinFigure,
};
use quadrat_study::density::groups::parts::Group;
use quadrat_study::numbers::percent;

/// Probability left out at each end of a figure.
const UNSEEN: f64 = 5e-3;

/// Each density within what holds nearly all of it.
pub fn violins(title: &str, value: &str, column: &str, groups: &[Group]) -> Figure {
    let violin = |group: &Group| {
        let e = &group.estimate;
        let asked = [UNSEEN, 0.25, 0.5, 0.75, 1.0 - UNSEEN];
        let [low, a, median, b, high] = e.quantiles(asked);
        let at = e.places();
        let seen = |j: &usize| (low.value..=high.value).contains(&at[*j]);
        let seen: Vec<usize> = (0..at.len()).filter(seen).collect();
        let pick = |of: &[f64]| seen.iter().map(|j| of[*j]).collect::<Vec<f64>>();
        Violin {
            label: group.name.clone(),
            at: pick(&at),
            density: pick(e.density()),
            lower: pick(e.lower()),
            upper: pick(e.upper()),
            quartiles: [a.value, median.value, b.value],
            median: (median.lower, median.upper),
            rows: group.rows,
        }
    };
    let level = groups[0].estimate.level();
    let caption = format!(
        "The density of every group, mirrored, with its pointwise {} band; the outermost {} of its probability are left out.",
        percent(level),
        percent(2.0 * UNSEEN)
    );
    Figure::Violins(ViolinFigure {
        heading: Heading::new("violins", title).with_caption(caption),
        value: Axis::new(value),
        group: Axis::new(column),
        violins: groups.iter().map(violin).collect(),
        level,
    })
}

/// Cells within which there is something to see of any group.
fn shared(groups: &[Group]) -> (f64, f64) {
    let ends = groups.iter().map(|g| {
        let [low, high] = g.estimate.quantiles([UNSEEN, 1.0 - UNSEEN]);
        (low.value, high.value)
    });
    ends.fold((f64::INFINITY, f64::NEG_INFINITY), |a, b| {
        (a.0.min(b.0), a.1.max(b.1))
    })
}

/// A panel for each group, and one for the difference where there are two.
pub fn curves(value: &str, groups: &[Group], compared: &[Comparison]) -> Figure {
    let (from, to) = shared(groups);
    let curve = |label: &str, level: f64, at: &[f64], of: [&[f64]; 3]| {
        let seen: Vec<usize> = (0..at.len())
            .filter(|j| (from..=to).contains(&at[*j]))
            .collect();
        let pick = |x: &[f64]| seen.iter().map(|j| x[*j]).collect::<Vec<f64>>();
        Predicted {
            label: label.to_owned(),
            at: Places::Points(pick(at)),
            mean: pick(of[0]),
            lower: pick(of[1]),
            upper: pick(of[2]),
            level,
        }
    };
    let most = groups
        .iter()
        .flat_map(|g| g.estimate.upper())
        .copied()
        .fold(0.0, f64::max);
    let mut panels: Vec<Panel> = groups
        .iter()
        .map(|group| {
            let e = &group.estimate;
            let of = [e.density(), e.lower(), e.upper()];
            Panel {
                title: group.name.clone(),
                y: Axis::new("Density"),
                predicted: vec![curve("Density", e.level(), &e.places(), of)],
                domain: Some((0.0, most)),
                ..Panel::default()
            }
        })
        .collect();
    if let [c] = compared {
        let of = [c.difference.as_slice(), &c.lower, &c.upper];
        let level = groups[0].estimate.level();
        panels.push(Panel {
            title: format!("{} less {}", groups[0].name, groups[1].name),
            y: Axis::new("Difference"),
            predicted: vec![curve("Difference", level, &c.places, of)],
            ..Panel::default()
        });
    }
    let caption = format!(
        "The density of every group with its pointwise {} band, on one scale.",
        percent(groups[0].estimate.level())
    );
    Figure::Curve(CurveFigure {
        heading: Heading::new("density", "The same, below each other").with_caption(caption),
        x: Axis::new(value),
        panels,
    })
}
