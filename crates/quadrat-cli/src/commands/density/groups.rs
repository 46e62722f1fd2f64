//! `quadrat density --group`: a density for each group of rows, and how the first differs from the
//! others.

use std::io::IsTerminal;
use std::path::Path;

use anyhow::Result;
use quadrat::density::{Answer, Comparison, DensityError, Estimate, Warning};
use quadrat_plot::{Axis, CurveFigure, Figure, Heading, Panel, Places, Predicted, Report};
use serde_json::{Value, json};

use super::super::print;
use super::common::{FINE, OWN, configured, quoted, refused};
use super::rows::{Part, Rows};
use crate::args::Density;
use crate::diagnostic::{Paint, Problem, Problems};
use crate::numbers::{beside, count, exact, percent};
use crate::output::Staged;

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
    let mut staged = Staged::new();
    if let Some(output) = &args.output {
        staged.bytes(output, csv(rows, column, &groups).as_bytes())?;
    }
    if let Some(plot) = &args.plot {
        staged.bytes(plot, &figure(plot, rows, column, &groups, &compared)?)?;
    }
    let written = staged.finish()?;
    if args.json {
        return print(&as_json(rows, column, &groups, &compared)?);
    }
    if args.quiet {
        return Ok(());
    }
    let paint = Paint::on(std::io::stdout().is_terminal());
    let mut text = sentences(rows, column, &groups, &compared).join("\n");
    text.push('\n');
    for warning in warnings(&groups) {
        text.push_str(&format!("{}: {warning}\n", paint.yellow("warning")));
    }
    for path in written {
        text.push_str(&format!("wrote {}\n", path.display()));
    }
    print(&text)
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

fn told(answer: &Answer) -> String {
    let sd = (answer.upper - answer.lower) / 4.0;
    let [value, lower, upper] = [answer.value, answer.lower, answer.upper].map(|x| beside(x, sd));
    format!("{value}  ({lower} to {upper})")
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
            told(&group.estimate.quantile(0.5)),
            told(&group.estimate.mean())
        ));
    }
    for (group, compared) in groups[1..].iter().zip(compared) {
        out.push(format!(
            "{} less {}: median {}, larger with probability {:.3}; mean {}, larger with probability {:.3}",
            clean(&groups[0].name),
            clean(&group.name),
            told(&compared.median),
            compared.median_larger,
            told(&compared.mean),
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

fn answer(answer: &Answer) -> Value {
    json!({ "value": answer.value, "lower": answer.lower, "upper": answer.upper })
}

fn as_json(rows: &Rows, column: &str, groups: &[Group], compared: &[Comparison]) -> Result<String> {
    let group = |group: &Group| {
        let estimate = &group.estimate;
        json!({
            "group": group.name,
            "rows": group.members.len(),
            "median": answer(&estimate.quantile(0.5)),
            "mean": answer(&estimate.mean()),
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
                "median": answer(&c.median),
                "median_larger": c.median_larger,
                "mean": answer(&c.mean),
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
    Ok(match path.extension().and_then(|e| e.to_str()) {
        Some("png") => quadrat_plot::png(&figure, FINE)?,
        Some("html") => {
            let report = Report {
                title,
                generated_by: format!("quadrat {}", crate::version::VERSION),
                summary: sentences(rows, column, groups, compared),
                warnings: warnings(groups),
                figures: vec![figure],
                ..Report::default()
            };
            quadrat_plot::html(&report).into_bytes()
        }
        _ => quadrat_plot::svg(&figure).into_bytes(),
    })
}
