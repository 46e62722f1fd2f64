//! The summary for people, on standard output.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use quadrat::link::Link;
use quadrat_study::diagnostic::Paint;
use quadrat_study::numbers::{ROUNDING, beside, coordinate, count, human, percent};
use quadrat_study::outcome::Outcome;
use quadrat_study::prediction_csv::{self, Cell};
use quadrat_study::resolve::Asked;
use quadrat_study::study::{Integration, Mean, NonNegative, Study};
use quadrat_study::words::{self, clean};

use crate::check;
use crate::terminal::short;

/// Rows of each prediction that are shown.
const HEAD: usize = 5;

/// What is told of a study with one section in place of a function, and the files written.
pub fn of_section(title: &str, told: &str, written: &[PathBuf]) -> String {
    let mut text = format!("{}\n{told}", clean(title));
    for path in written {
        line(&mut text, &format!("wrote {}", path.display()));
    }
    text
}

/// Everything about a run, as text.
pub fn summary(
    outcome: &Outcome,
    written: &[PathBuf],
    folder: Option<&Path>,
    paint: Paint,
) -> String {
    let mut text = String::new();
    line(
        &mut text,
        &paint.bold(&clean(&outcome.resolved.study.title)),
    );
    for table in &outcome.resolved.tables {
        line(
            &mut text,
            &format!("  observed  {}", clean(&words::observed(table))),
        );
    }
    line(
        &mut text,
        &format!("  model     {}", clean(&model(outcome))),
    );
    if let Some(geographic) = &outcome.resolved.geographic {
        line(&mut text, &format!("  map       {}", geographic.words()));
    }
    line(&mut text, "");
    hyperparameters(&mut text, outcome, paint);
    for slope in words::slopes(outcome) {
        line(&mut text, &format!("  slope     {}", clean(&slope)));
    }
    for pair in words::correlations(outcome.summary()) {
        line(&mut text, &format!("  outputs   {}", clean(&pair)));
    }
    for thresholds in words::thresholds(outcome) {
        line(&mut text, &format!("  thresholds {}", clean(&thresholds)));
    }
    line(&mut text, "");
    evidence(&mut text, outcome);
    for (i, (asked, _)) in outcome.predictions().enumerate() {
        line(&mut text, "");
        prediction(&mut text, outcome, i, asked, paint);
    }
    if let Some(report) = &outcome.mcmc {
        line(&mut text, "");
        text.push_str(&check::text(&outcome.resolved, report, paint));
    }
    if !outcome.warnings.is_empty() {
        line(&mut text, "");
    }
    for warning in &outcome.warnings {
        line(
            &mut text,
            &format!("{}: {}", paint.yellow("warning"), clean(warning)),
        );
    }
    line(&mut text, "");
    files(&mut text, written, folder);
    text
}

fn line(text: &mut String, content: &str) {
    text.push_str(content);
    text.push('\n');
}

/// The model and how it was fitted, in words.
pub fn model(outcome: &Outcome) -> String {
    let summary = outcome.summary();
    let how = if summary.integrated {
        format!(
            "hyperparameters integrated over {}",
            count(summary.nodes, "setting")
        )
    } else {
        format!(
            "hyperparameters at their most probable values{}",
            unasked(outcome)
        )
    };
    let study = &outcome.resolved.study;
    let links = study.observe.iter().map(|table| study.link_of(table));
    let mut links: Vec<&str> = links
        .filter(|l| *l != Link::Identity)
        .map(Link::name)
        .collect();
    links.dedup();
    let link = match links.as_slice() {
        [] => String::new(),
        [link] => format!(", link {link}"),
        several => format!(", links {} in the order of the tables", several.join(", ")),
    };
    let varying = study.vary.iter().map(|vary| {
        format!(
            ", {} a function of its own under {} with link {}{}",
            vary.what.words(),
            vary.kernel.value,
            vary.link.name(),
            bracketed(&fixed(study, &format!("{}.mean.", vary.what.name())))
        )
    });
    let varying: String = varying.collect();
    let structure = match outcome.posterior.inducing() {
        Some(points) => {
            let points = count(points.len(), "inducing point");
            match summary.inducing_gain {
                Some(gain) => format!(" ({points}, moved for {gain:.2} nats)"),
                None => format!(" ({points})"),
            }
        }
        None if summary.structure == "dense" => String::new(),
        None => format!(" ({})", summary.structure),
    };
    let held = match outcome.resolved.study.non_negative() {
        Some(NonNegative::Constrain) => ", constrained not to be negative",
        _ => "",
    };
    let shapes = outcome.shapes.iter();
    let shapes: String = shapes.map(|shape| format!(", {}", shape.words)).collect();
    format!(
        "{} with {}{link}{varying}{held}{shapes}; {}{structure}, {how}, {:.2} s",
        prior(outcome),
        mean(outcome),
        words::inference(summary),
        summary.seconds
    )
}

/// What is said where hyperparameters are not integrated, though the study leaves that open.
/// Warnings tell of other reasons than that it takes long.
fn unasked(outcome: &Outcome) -> &'static str {
    let is_open = outcome.resolved.study.inference.hyperparameters == Integration::Auto;
    match is_open && outcome.posterior.could_be_integrated() {
        true => ": to integrate them as well is left to `hyperparameters = \"integrate\"` here",
        false => "",
    }
}

/// The mean. What a study fixes of it is no hyperparameter, and is told here alone.
fn mean(outcome: &Outcome) -> String {
    let study = &outcome.resolved.study;
    let fixed = fixed(study, "mean.");
    let all = &outcome.summary().hyperparameters;
    let is_learned = all.iter().any(|h| h.name.starts_with("mean.constant"));
    match (&study.latent.mean.value, fixed.as_slice()) {
        (Mean::Zero, _) => "mean zero".to_owned(),
        (Mean::Fixed(value), _) => format!("mean {}", human(*value)),
        (Mean::Constant, [(_, value)]) if !is_learned => format!("a constant mean of {value}"),
        (Mean::Constant, [_, ..]) if !is_learned => format!("a constant mean{}", bracketed(&fixed)),
        (Mean::Constant, _) => format!("a learned constant mean{}", bracketed(&fixed)),
        (Mean::Linear(columns), _) => format!(
            "a learned mean that is linear in {}{}",
            and(columns),
            bracketed(&fixed)
        ),
    }
}

/// What a study fixes of the means whose names begin so, with the values.
fn fixed(study: &Study, names: &str) -> Vec<(String, String)> {
    let all = study.settings.iter().filter(|setting| setting.fixed);
    let own = all.filter(|setting| setting.name.value.starts_with(names));
    own.filter_map(|setting| Some((setting.name.value.clone(), human(setting.value?))))
        .collect()
}

/// The same in words, in brackets; nothing where nothing is fixed.
fn bracketed(fixed: &[(String, String)]) -> String {
    let each = fixed
        .iter()
        .map(|(name, value)| format!("`{name}` {value}"));
    let each: Vec<String> = each.collect();
    match each.is_empty() {
        true => String::new(),
        false => format!(" ({} fixed)", and(&each)),
    }
}

/// Names in a row.
fn and(names: &[String]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}

/// The kernel, and how it is shared by outputs.
fn prior(outcome: &Outcome) -> String {
    let (study, outputs) = (&outcome.resolved.study, &outcome.resolved.outputs);
    if outputs.is_empty() || !study.latent.outputs.is_empty() {
        return outcome.posterior.kernel().to_string();
    }
    let mixing = &study.coregionalization;
    let processes = match mixing.latents {
        1 => "one latent process".to_owned(),
        several => format!("{several} latent processes"),
    };
    format!(
        "{}, {processes} of rank {} mixed into {} outputs,",
        study.latent.kernel.value.trim(),
        mixing.rank,
        outputs.len()
    )
}

fn hyperparameters(text: &mut String, outcome: &Outcome, paint: Paint) {
    let summary = outcome.summary();
    let interval = |lower: f64, upper: f64, fixed: bool| {
        if fixed {
            "fixed".to_owned()
        } else if lower.is_finite() || upper.is_finite() {
            format!("{} to {}", human(lower), human(upper))
        } else {
            String::new()
        }
    };
    let mut rows =
        vec![["hyperparameter", "median", "95 % interval", "meaning"].map(str::to_owned)];
    for hyper in &summary.hyperparameters {
        rows.push([
            short(&hyper.name),
            human(hyper.median),
            interval(hyper.lower, hyper.upper, hyper.fixed),
            clean(&hyper.meaning),
        ]);
    }
    let widths: Vec<usize> = (0..3)
        .map(|i| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0))
        .collect();
    for (i, [name, value, interval, meaning]) in rows.iter().enumerate() {
        let (a, b, c) = (widths[0], widths[1], widths[2]);
        let row = format!("  {name:<a$}  {value:>b$}  {interval:<c$}  {meaning}");
        line(
            text,
            &if i == 0 {
                paint.bold(row.trim_end())
            } else {
                row.trim_end().to_owned()
            },
        );
    }
}

fn evidence(text: &mut String, outcome: &Outcome) {
    let summary = outcome.summary();
    let bound = summary.variational_bound.map_or_else(String::new, |bound| {
        format!("; variational lower bound {}", human(bound))
    });
    line(
        text,
        &format!(
            "  log evidence {} ({}){bound}",
            human(summary.log_evidence),
            words::evidence(summary)
        ),
    );
    let (inside, of) = outcome.coverage();
    if of > 0 {
        line(
            text,
            &format!(
                "  left out one at a time, {inside} of {} lie inside their 95 % interval",
                count(of, "row")
            ),
        );
    }
}

fn prediction(text: &mut String, outcome: &Outcome, i: usize, asked: &Asked, paint: Paint) {
    let answer = &outcome.answers[i];
    let title = format!(
        "{} ({}{}, {} interval{})",
        clean(&asked.title()),
        asked.scale.word(),
        asked
            .like
            .as_ref()
            .map_or_else(String::new, |table| format!(" of {}", clean(table))),
        percent(asked.level),
        if asked.non_negative {
            ", truncated at zero"
        } else {
            ""
        }
    );
    line(text, &paint.bold(&title));
    let header = prediction_csv::header(&asked.places, prediction_csv::chances(answer));
    let mut rows: Vec<Vec<String>> = vec![header.iter().map(|name| short(name)).collect()];
    for row in prediction_csv::shown(asked.rows.is_some(), answer, HEAD) {
        let cells = prediction_csv::row(&asked.places, answer, row).into_iter();
        let shown = |cell| match cell {
            Cell::Text(text) => short(&text),
            Cell::Coordinate(value) => coordinate(value),
            Cell::Value(value, sd) => beside(value, sd),
            // What was known exactly is known up to rounding.
            Cell::Deviation(sd, value) if sd < ROUNDING * value.abs() => "0".to_owned(),
            Cell::Deviation(value, _) | Cell::Number(value) => human(value),
        };
        rows.push(cells.map(shown).collect());
    }
    let columns = rows[0].len();
    let widths: Vec<usize> = (0..columns)
        .map(|c| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0))
        .collect();
    for row in &rows {
        text.push_str("  ");
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{cell:>width$}  ");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    if asked.places.len() > HEAD {
        line(
            text,
            &format!("  ... and {}", count(asked.places.len() - HEAD, "more row")),
        );
    }
}

fn files(text: &mut String, written: &[PathBuf], folder: Option<&Path>) {
    let name = |path: &PathBuf| {
        let short = folder
            .and_then(|folder| path.strip_prefix(folder).ok())
            .unwrap_or(path);
        short.display().to_string()
    };
    let names: Vec<String> = written.iter().map(name).collect();
    let report = written.iter().find(|path| path.ends_with("report.html"));
    match folder {
        Some(folder) => line(
            text,
            &format!("wrote {}: {}", folder.display(), names.join(", ")),
        ),
        None => line(text, &format!("wrote {}", names.join(", "))),
    }
    if let Some(report) = report {
        line(text, &format!("open {} in a browser", report.display()));
    }
}
