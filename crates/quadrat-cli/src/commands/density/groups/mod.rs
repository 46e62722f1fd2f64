//! `quadrat density --group`: a density for each group of rows, and how the first differs from the
//! others.

use std::path::Path;

use anyhow::Result;
use quadrat::density::{Comparison, DensityError, Estimate, Warning};
use quadrat_plot::{Axis, CurveFigure, Figure, Heading, Panel, Places, Predicted};
use serde_json::{Value, json};

use super::common::{OWN, as_json, configured, interval, quoted, refused, staged, told};
use super::rows::{Part, Rows};
use crate::args::Density;
use crate::commands::figures::drawn;
use crate::diagnostic::{Paint, Problem, Problems};
use crate::numbers::{count, exact, percent};

/// More groups than this are refused: nobody looks at so many.
const MOST: usize = 40;
/// Places at which two densities are compared.
const COMPARED: usize = 200;
/// Probability left out at each end of a figure.
const UNSEEN: f64 = 5e-3;

/// The rows of one group, and their density.
struct Group {
    name: String,
    members: Vec<usize>,
    estimate: Estimate,
}

/// Runs the command.
pub fn run(args: &Density, rows: &Rows, column: &str) -> Result<()> {
    let groups = estimates(args, rows, column)?;
    let compared: Vec<Comparison> = groups[1..]
        .iter()
        .map(|group| {
            groups[0]
                .estimate
                .compare(&group.estimate, COMPARED, args.seed)
        })
        .collect();
    let written = staged(
        args,
        || Ok(csv(rows, column, &groups)),
        |path| figure(path, rows, column, &groups, &compared),
    )?;
    told(
        args,
        &written,
        || json_of(rows, column, &groups, &compared),
        |paint| summary(rows, column, &groups, &compared, paint),
    )
}

fn summary(
    rows: &Rows,
    column: &str,
    groups: &[Group],
    compared: &[Comparison],
    paint: Paint,
) -> String {
    let mut text = sentences(rows, column, groups, compared).join("\n");
    text.push('\n');
    for warning in warnings(groups) {
        text.push_str(&format!("{}: {warning}\n", paint.yellow("warning")));
    }
    text
}

/// The density of every group, in the order of their first rows.
fn estimates(args: &Density, rows: &Rows, column: &str) -> Result<Vec<Group>, Problems> {
    let labels = rows.labels(column)?;
    let mut named: Vec<(String, Vec<usize>)> = Vec::new();
    let mut place = std::collections::BTreeMap::new();
    for (row, label) in labels.into_iter().enumerate() {
        let at = *place.entry(label.clone()).or_insert_with(|| {
            named.push((label, Vec::new()));
            named.len() - 1
        });
        named[at].1.push(row);
    }
    if named.len() > MOST {
        let message = format!("column `{column}` has {} groups", named.len());
        let remedy = format!("choose a column of at most {MOST} different cells");
        return Err(Problem::new(message).remedy(remedy).into());
    }
    named
        .into_iter()
        .map(|(name, members)| {
            let part: Part = rows.part(&members);
            let estimate = configured(part.density(), args)
                .estimate()
                .map_err(|error| refused_group(rows, &name, &members, error))?;
            Ok(Group {
                name,
                members,
                estimate,
            })
        })
        .collect()
}

/// A refusal of one group: where its row stands, or the name of the group.
fn refused_group(rows: &Rows, name: &str, members: &[usize], error: DensityError) -> Problems {
    let mut moved = error;
    if let DensityError::Outside { row, .. }
    | DensityError::NoLogarithm { row, .. }
    | DensityError::Weight { row, .. }
    | DensityError::Interval { row, .. } = &mut moved
    {
        *row = members[*row];
        return refused(rows, &moved);
    }
    let remedy = "delete the rows of the group, or join it with another";
    Problem::new(format!("group `{name}`: {moved}"))
        .remedy(remedy)
        .into()
}

/// One row per group and cell.
fn csv(rows: &Rows, column: &str, groups: &[Group]) -> String {
    let mut out = format!(
        "{},{},{}\n",
        quoted(column),
        quoted(&rows.names[0]),
        OWN.join(",")
    );
    for group in groups {
        let (name, estimate) = (quoted(&group.name), &group.estimate);
        for (j, place) in estimate.places().into_iter().enumerate() {
            let numbers = [
                place,
                estimate.density()[j],
                estimate.lower()[j],
                estimate.upper()[j],
            ];
            let cells = numbers.map(exact);
            out.push_str(&format!("{name},{}\n", cells.join(",")));
        }
    }
    out
}

/// What is told of groups and of their differences, a line each.
fn sentences(rows: &Rows, column: &str, groups: &[Group], compared: &[Comparison]) -> Vec<String> {
    let clean = |name: &str| crate::terminal::clean(name);
    let mut out = vec![format!(
        "{} of `{}` in {} of `{}`, {} intervals",
        count(rows.len(), "row"),
        clean(&rows.names[0]),
        count(groups.len(), "group"),
        clean(column),
        percent(groups[0].estimate.level())
    )];
    for group in groups {
        out.push(format!(
            "{}: {}, median {}, mean {}",
            clean(&group.name),
            count(group.members.len(), "row"),
            interval(&group.estimate.quantile(0.5)),
            interval(&group.estimate.mean())
        ));
    }
    for (group, compared) in groups[1..].iter().zip(compared) {
        out.push(format!(
            "{} less {}: median {}, larger with probability {:.3}; mean {}, larger with probability {:.3}",
            clean(&groups[0].name),
            clean(&group.name),
            interval(&compared.median),
            compared.median_larger,
            interval(&compared.mean),
            compared.mean_larger
        ));
    }
    out
}

/// Warnings of every group, by its name.
fn warnings(groups: &[Group]) -> Vec<String> {
    let told = |group: &Group, warning: &Warning| {
        let words = match warning {
            // Rows are counted within the group: their number alone says something.
            Warning::NotFinite { count: n, .. } => {
                format!("{} missing or not finite, and left out", count(*n, "value"))
            }
            other => other.to_string(),
        };
        format!("group `{}`: {words}", crate::terminal::clean(&group.name))
    };
    let all = groups.iter();
    all.flat_map(|g| g.estimate.warnings().iter().map(move |w| told(g, w)))
        .collect()
}

fn json_of(rows: &Rows, column: &str, groups: &[Group], compared: &[Comparison]) -> Result<String> {
    let group = |group: &Group| {
        let estimate = &group.estimate;
        json!({
            "group": group.name,
            "rows": group.members.len(),
            "median": as_json(&estimate.quantile(0.5)),
            "mean": as_json(&estimate.mean()),
            "places": estimate.places(),
            "density": estimate.density(),
            "lower": estimate.lower(),
            "upper": estimate.upper(),
            "effective_size": estimate.effective_size(),
        })
    };
    let differences: Vec<Value> = groups[1..]
        .iter()
        .zip(compared)
        .map(|(group, c)| {
            json!({
                "of": groups[0].name,
                "less": group.name,
                "median": as_json(&c.median),
                "median_larger": c.median_larger,
                "mean": as_json(&c.mean),
                "mean_larger": c.mean_larger,
                "places": c.places,
                "difference": c.difference,
                "lower": c.lower,
                "upper": c.upper,
                "larger": c.larger,
            })
        })
        .collect();
    let groups_said: Vec<Value> = groups.iter().map(group).collect();
    let value = json!({
        "column": rows.names[0],
        "group": column,
        "level": groups[0].estimate.level(),
        "groups": groups_said,
        "differences": differences,
        "warnings": warnings(groups),
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&value)?))
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
fn figure(
    path: &Path,
    rows: &Rows,
    column: &str,
    groups: &[Group],
    compared: &[Comparison],
) -> Result<Vec<u8>> {
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
    let title = format!("Density of {} by {column}", rows.names[0]);
    let caption = format!(
        "The density of every group with its pointwise {} band, on one scale.",
        percent(groups[0].estimate.level())
    );
    let figure = Figure::Curve(CurveFigure {
        heading: Heading::new("density", &title).with_caption(caption),
        x: Axis::new(&rows.names[0]),
        panels,
    });
    let (summary, warnings) = (sentences(rows, column, groups, compared), warnings(groups));
    drawn(path, &title, summary, warnings, vec![figure])
}
