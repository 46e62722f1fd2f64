//! The parts of the page that are words and tables.

use crate::escape::text;
use crate::format::{column, count, duration, interval, number, parameter};
use crate::report::{Cell, Evidence, HyperRow, Report, TablePreview};

/// Rows shown of a prediction table.
const PREVIEW_ROWS: usize = 12;

/// Title, summary, key numbers and warnings.
pub(super) fn top(report: &Report, title: &str) -> String {
    let mut out = String::from("<header class=\"top\">\n");
    out.push_str(&format!(
        "<p class=\"kind\">Report</p>\n<h1>{}</h1>\n",
        text(title)
    ));
    if !report.summary.is_empty() {
        out.push_str(&format!(
            "<p class=\"lead\">{}</p>\n",
            text(&report.summary.join(" "))
        ));
    }
    if !report.warnings.is_empty() {
        let head = if report.warnings.len() == 1 {
            "One warning"
        } else {
            "Warnings"
        };
        out.push_str(&format!(
            "<aside class=\"warnings\" role=\"alert\"><h2>{head}</h2>{}</aside>\n",
            list("", &report.warnings)
        ));
    }
    if !report.facts.is_empty() {
        out.push_str("<dl class=\"facts\">");
        for fact in &report.facts {
            let detail = if fact.detail.is_empty() {
                String::new()
            } else {
                format!("<small>{}</small>", text(&fact.detail))
            };
            out.push_str(&format!(
                "<div><dt>{}</dt><dd>{}{detail}</dd></div>",
                text(&fact.label),
                text(&fact.value)
            ));
        }
        out.push_str("</dl>\n");
    }
    out.push_str("</header>\n");
    out
}

/// What is told of figures that are left out.
pub(super) fn left_out(sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    format!(
        "<section>\n<h2>Not drawn</h2>\n{}</section>\n",
        list(" class=\"notes\"", sentences)
    )
}

/// The table of hyperparameters.
pub(super) fn hyperparameters(rows: &[HyperRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<section>\n<h2>What the model learned</h2>\n<div class=\"scroll\"><table class=\"hyper\">\
         <thead><tr><th>Meaning</th><th class=\"n\">Median</th><th class=\"n\">95&nbsp;% interval</th><th>Parameter</th></tr></thead>\n<tbody>\n",
    );
    for row in rows {
        let range = match (row.fixed, row.lower, row.upper) {
            (true, ..) => "<span class=\"tag\">fixed by the study</span>".to_owned(),
            (false, Some(lower), Some(upper)) => text(&range(lower, upper)),
            _ => "–".to_owned(),
        };
        let meaning = if row.meaning.is_empty() {
            "–".to_owned()
        } else {
            text(&row.meaning)
        };
        out.push_str(&format!(
            "<tr><td>{meaning}</td><td class=\"n\">{}</td><td class=\"n\">{range}</td><td><code>{}</code></td></tr>\n",
            text(&parameter(row.value)),
            text(&row.name)
        ));
    }
    out.push_str("</tbody></table></div>\n</section>\n");
    out
}

/// An interval of a hyperparameter.
fn range(lower: f64, upper: f64) -> String {
    if lower.is_finite() && upper.is_finite() {
        format!("{} to {}", parameter(lower), parameter(upper))
    } else {
        interval(lower, upper)
    }
}

/// The evidence box.
pub(super) fn evidence(evidence: Option<&Evidence>) -> String {
    let Some(evidence) = evidence else {
        return String::new();
    };
    let mut entries = vec![
        (
            "Log evidence",
            format!("{} nats", number(evidence.log_evidence)),
            false,
        ),
        ("Kind of evidence", evidence.kind.clone(), false),
    ];
    if let Some(bound) = evidence.bound {
        let bound = format!("{} nats", number(bound));
        entries.push(("Variational lower bound", bound, false));
    }
    entries.push(("Inference", evidence.inference.clone(), false));
    entries.push(("Rows of data", count(evidence.rows), false));
    let settings = if evidence.integrated {
        format!("integrated over {} settings", count(evidence.nodes))
    } else {
        "best single setting".to_owned()
    };
    entries.push(("Hyperparameters", settings, false));
    if evidence.iterations > 0 {
        entries.push(("Optimiser steps", count(evidence.iterations), false));
    }
    entries.push(("Time", duration(evidence.seconds), false));
    let converged = if evidence.converged {
        "yes"
    } else {
        "no: do not rely on these results"
    };
    entries.push(("Converged", converged.to_owned(), !evidence.converged));
    let mut out = String::from("<section>\n<h2>How it was computed</h2>\n<dl class=\"boxes\">");
    for (label, value, bad) in entries.iter().filter(|(_, value, _)| !value.is_empty()) {
        let class = if *bad { " class=\"bad\"" } else { "" };
        out.push_str(&format!(
            "<div><dt>{label}</dt><dd{class}>{}</dd></div>",
            text(value)
        ));
    }
    out.push_str("</dl>\n</section>\n");
    out
}

/// The first rows of every prediction table.
pub(super) fn predictions(tables: &[TablePreview]) -> String {
    if tables.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section>\n<h2>Predictions</h2>\n");
    out.extend(tables.iter().map(preview));
    out.push_str("</section>\n");
    out
}

fn preview(table: &TablePreview) -> String {
    let shown = table.rows.len().min(PREVIEW_ROWS);
    let rows = &table.rows[..shown];
    let width = table.columns.len();
    let columns: Vec<(Vec<String>, bool)> = (0..width).map(|j| formatted(rows, j)).collect();
    let class = |j: usize| if columns[j].1 { " class=\"n\"" } else { "" };
    let mut out = format!("<div class=\"preview\">\n<h3>{}</h3>\n", text(&table.name));
    if !table.note.is_empty() {
        out.push_str(&format!("<p class=\"note\">{}</p>\n", text(&table.note)));
    }
    out.push_str("<div class=\"scroll\"><table class=\"numbers\"><thead><tr>");
    out.extend(
        table
            .columns
            .iter()
            .enumerate()
            .map(|(j, name)| format!("<th{}>{}</th>", class(j), text(name))),
    );
    out.push_str("</tr></thead>\n<tbody>\n");
    for i in 0..shown {
        out.push_str("<tr>");
        out.extend((0..width).map(|j| format!("<td{}>{}</td>", class(j), text(&columns[j].0[i]))));
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    let total = table.total_rows.max(table.rows.len());
    let words = if total > shown {
        format!("The first {} of {} rows", count(shown), count(total))
    } else {
        format!("All {} rows", count(total))
    };
    let file = if table.file.is_empty() {
        ".".to_owned()
    } else {
        format!(
            "; the table is in <span class=\"name\">{}</span>.",
            text(&table.file)
        )
    };
    out.push_str(&format!("<p class=\"note\">{words}{file}</p>\n</div>\n"));
    out
}

/// A column as text, and whether it is one of numbers.
fn formatted(rows: &[Vec<Cell>], j: usize) -> (Vec<String>, bool) {
    let cells = || rows.iter().map(|row| row.get(j));
    let numbers: Vec<f64> = cells()
        .map(|cell| match cell {
            Some(Cell::Number(value) | Cell::Estimate([value, _])) => *value,
            _ => f64::NAN,
        })
        .collect();
    let is_number = |cell: Option<&Cell>| matches!(cell, Some(Cell::Number(_) | Cell::Estimate(_)));
    let sds = cells().filter_map(|cell| match cell {
        Some(Cell::Estimate([_, sd])) if sd.is_normal() => Some(sd.abs()),
        _ => None,
    });
    let sds: Vec<f64> = sds.collect();
    // Rows that are known to a millionth of what the others are need no digits of their own.
    let largest = sds.iter().copied().fold(0.0, f64::max);
    let known = sds.into_iter().filter(|sd| *sd > 1e-6 * largest);
    let words = column(&numbers, known.reduce(f64::min))
        .into_iter()
        .zip(cells())
        .map(|(number, cell)| match cell {
            Some(Cell::Text(words)) => words.clone(),
            Some(Cell::Number(_) | Cell::Estimate(_)) => number,
            None => String::new(),
        })
        .collect();
    (words, cells().any(is_number))
}

/// Study file, notes, and how to read the page.
pub(super) fn how_to_read(report: &Report) -> String {
    let mut out = String::from("<section>\n");
    out.push_str("<details><summary>How to read this report</summary>\n<dl class=\"words\">");
    for (term, words) in [
        (
            "Mean and interval",
            "The line or colour is the average of what the model holds possible. A 95 % interval should hold the truth 95 times in 100. Where it is wide, the data say little.",
        ),
        (
            "Bars",
            "A total over an interval is drawn as a bar whose area, not height, is the total. So bars of different widths, and the line, share one vertical axis.",
        ),
        (
            "Log evidence",
            "How well the model as a whole predicted the data, in nats. It means something only next to another model of the same data: 3 more are strong support.",
        ),
        (
            "Integrated hyperparameters",
            "The intervals also cover not knowing the hyperparameters. The best single setting does not, and can be too sure of itself on small data.",
        ),
        (
            "Left-out rows",
            "Each observed row is predicted from all the others. When intervals hold as many rows as they promise, and rows fall evenly over their predicted distributions, the model is calibrated.",
        ),
    ] {
        out.push_str(&format!("<dt>{term}</dt><dd>{words}</dd>"));
    }
    out.push_str("</dl></details>\n");
    if !report.notes.is_empty() {
        out.push_str(&format!(
            "<details><summary>Sources and notes</summary>{}</details>\n",
            list(" class=\"notes\"", &report.notes)
        ));
    }
    if !report.study.is_empty() {
        out.push_str(&format!(
            "<details><summary>The study file</summary><pre><code>{}</code></pre></details>\n",
            text(&report.study)
        ));
    }
    out.push_str("</section>\n");
    out
}

/// The last line.
pub(super) fn end(report: &Report) -> String {
    if report.generated_by.is_empty() {
        return String::new();
    }
    format!(
        "<footer class=\"end\">Written by {}. This page is one file: it loads nothing and can be sent or archived as it is.</footer>\n",
        text(&report.generated_by)
    )
}

fn list(class: &str, items: &[String]) -> String {
    let items: String = items
        .iter()
        .map(|item| format!("<li>{}</li>", text(item)))
        .collect();
    format!("<ul{class}>{items}</ul>")
}
