//! What `quadrat score` says: a table for people, one for programs, and JSON.

use anyhow::Result;
use quadrat::validation::{HeldOut, Line, Score};
use quadrat_study::diagnostic::Paint;
use quadrat_study::numbers::{count, exact, human, percent};
use quadrat_study::simple::{OURS, Simple};
use quadrat_study::words::clean;
use serde_json::{Value, json};

use super::judged::Judged;

/// The columns of the table of scores.
const COLUMNS: [&str; 5] = ["method", "score", "value", "se", "p_value"];
/// Differences of a smaller probability are told as found.
const FOUND: f64 = 0.05;
/// Coverages of a smaller probability are told as wrong: five levels are looked at.
const WRONG: f64 = 0.01;
/// Below this, only that a probability is smaller is told.
const SMALLEST_P: f64 = 0.001;

/// The table of scores.
pub fn csv(judged: &Judged) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(COLUMNS)?;
    let or_empty = |x: Option<f64>| x.map_or_else(String::new, exact);
    for line in &judged.lines {
        table.write_record([
            line.method.clone(),
            line.score.name(),
            exact(line.value),
            or_empty(line.se),
            or_empty(line.p_value),
        ])?;
    }
    Ok(table.into_inner()?)
}

/// The predictions of every method, row by row.
pub fn predictions(judged: &Judged) -> Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let header = [
        "method",
        "row",
        "fold",
        "value_lower",
        "value_upper",
        "mean",
        "sd",
        "lower",
        "upper",
        "nll",
        "crps",
    ];
    table.write_record(header)?;
    let or_empty = |x: Option<f64>| x.map_or_else(String::new, exact);
    for (method, told) in judged.methods.iter().zip(&judged.told) {
        for ((row, told), scores) in judged.rows.iter().zip(told).zip(&method.rows) {
            let (lower, upper) = match row.reported {
                HeldOut::Value(y) => (y, y),
                HeldOut::Between(lower, upper) | HeldOut::Counts(lower, upper) => (lower, upper),
            };
            table.write_record([
                method.name.clone(),
                row.number.to_string(),
                row.fold.map_or_else(String::new, |fold| fold.to_string()),
                exact(lower),
                exact(upper),
                exact(told.mean),
                or_empty(told.spread.map(|(sd, ..)| sd)),
                or_empty(told.spread.map(|(_, lower, _)| lower)),
                or_empty(told.spread.map(|(.., upper)| upper)),
                or_empty(scores.nll),
                or_empty(scores.crps),
            ])?;
        }
    }
    Ok(table.into_inner()?)
}

/// Scores for programs.
pub fn json(judged: &Judged, title: &str, how: &str) -> Result<String> {
    let line = |line: &Line| {
        json!({
            "method": line.method,
            "score": line.score.name(),
            "value": line.value,
            "se": line.se,
            "p_value": line.p_value,
        })
    };
    let lines: Vec<Value> = judged.lines.iter().map(line).collect();
    let all = json!({
        "title": title,
        "how": how,
        "rows": judged.rows.len(),
        "scores": lines,
        "warnings": judged.warnings,
    });
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

/// The summary for people.
pub fn summary(judged: &Judged, title: &str, how: &str, paint: Paint) -> String {
    let (what, by) = how.split_once(": ").unwrap_or((how, ""));
    let mut text = format!("{}\n  {what}\n", paint.bold(&clean(title)));
    if !by.is_empty() {
        text.push_str(&format!("  {by}\n"));
    }
    text.push('\n');
    text.push_str(&grid(judged));
    text.push('\n');
    for sentence in sentences(judged) {
        text.push_str(&format!("  {sentence}\n"));
    }
    for simple in Simple::ALL {
        if judged.methods.iter().any(|m| m.name == simple.name()) {
            text.push_str(&format!("  {}: {}\n", simple.name(), simple.words()));
        }
    }
    for warning in &judged.warnings {
        text.push_str(&format!(
            "{}: {}\n",
            paint.yellow("warning"),
            clean(warning)
        ));
    }
    text
}

fn line<'a>(judged: &'a Judged, method: &str, score: Score) -> Option<&'a Line> {
    let is_it = |line: &&Line| line.method == method && line.score == score;
    judged.lines.iter().find(is_it)
}

/// One line for each score, one column for each method.
fn grid(judged: &Judged) -> String {
    let names: Vec<&str> = judged.methods.iter().map(|m| m.name.as_str()).collect();
    let mut rows = vec![
        std::iter::once("")
            .chain(names.iter().copied())
            .map(str::to_owned)
            .collect(),
    ];
    for score in Score::all() {
        let cells: Vec<String> = names
            .iter()
            .map(|name| line(judged, name, score).map_or_else(|| "-".to_owned(), cell))
            .collect();
        if cells.iter().any(|cell| cell != "-") {
            rows.push(
                std::iter::once(words(score))
                    .chain(cells)
                    .collect::<Vec<String>>(),
            );
        }
    }
    let columns = names.len() + 1;
    let widest = |c: usize| {
        rows.iter()
            .map(|row: &Vec<String>| row[c].chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..columns).map(|c| widest(c).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &rows {
        let mut padded = String::from("  ");
        for (c, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[c] - cell.chars().count());
            match c {
                0 => padded.push_str(&format!("{cell}{pad}")),
                _ => padded.push_str(&format!("   {pad}{cell}")),
            }
        }
        text.push_str(padded.trim_end());
        text.push('\n');
    }
    text
}

fn words(score: Score) -> String {
    match score {
        Score::Nll => "negative log score (nll)".to_owned(),
        Score::Mse => "squared error (mse)".to_owned(),
        Score::Mae => "absolute error (mae)".to_owned(),
        Score::LogMse => "squared log error (log_mse)".to_owned(),
        Score::Crps => "crps".to_owned(),
        Score::IntervalScore => "interval score (95 %)".to_owned(),
        Score::Coverage(level) => format!("inside {} intervals", percent(level)),
    }
}

fn cell(line: &Line) -> String {
    if let Score::Coverage(_) = line.score {
        let wrong = line.p_value.is_some_and(|p| p < WRONG);
        return format!("{}{}", share(line.value), if wrong { " !" } else { "" });
    }
    match line.se.filter(|se| *se > 0.0) {
        Some(se) => {
            // Two digits of the error, and as many decimals of the value.
            let decimals = (1.0 - se.log10().floor()).clamp(0.0, 12.0) as usize;
            match (1e-3..1e6).contains(&line.value.abs()) || line.value == 0.0 {
                true => format!("{:.decimals$} ± {se:.decimals$}", line.value),
                false => format!("{:.3e} ± {se:.1e}", line.value),
            }
        }
        // No event is impossible, but some are as good as: see `reported_as`.
        None if line.value.abs() < 1e-200 => "0".to_owned(),
        None => human(line.value),
    }
}

/// A share of rows: a tenth of a percent is finer than rows tell.
fn share(value: f64) -> String {
    format!("{:.1} %", 100.0 * value)
}

fn p_words(p: f64) -> String {
    match p < SMALLEST_P {
        true => format!("p < {SMALLEST_P}"),
        false => format!("p = {p:.3}"),
    }
}

/// A score beside another: what is only rounding beside that is zero.
fn beside(score: f64, other: f64) -> String {
    match score.abs() < f64::EPSILON * other.abs() {
        true => human(0.0),
        false => human(score),
    }
}

/// Who is better, how sure, and whether intervals hold.
pub fn sentences(judged: &Judged) -> Vec<String> {
    let mut all = Vec::new();
    for method in judged.methods.iter().skip(1) {
        let score = [Score::Nll, Score::Crps].into_iter().find(|score| {
            let has = |name: &str| line(judged, name, *score).is_some();
            has(OURS) && has(&method.name)
        });
        let Some(score) = score else { continue };
        let (Some(ours), Some(other)) =
            (line(judged, OURS, score), line(judged, &method.name, score))
        else {
            continue;
        };
        let p = other.p_value.unwrap_or(1.0);
        let by_means = ours.value < other.value;
        let verdict = match (p < FOUND, other.first_is_better == Some(by_means), by_means) {
            (true, true, true) => "better than",
            (true, true, false) => "worse than",
            (true, false, _) => "not told apart, since means and ranks disagree, from",
            (false, ..) => "not told apart from",
        };
        all.push(format!(
            "quadrat is {verdict} {} ({} {} against {}, {}).",
            method.name,
            score.name(),
            beside(ours.value, other.value),
            beside(other.value, ours.value),
            p_words(p)
        ));
    }
    if let Some(held) = line(judged, OURS, Score::Coverage(0.95)) {
        let p = held.p_value.unwrap_or(1.0);
        let of = count(judged.rows.len(), "row");
        let told = match (p < WRONG, held.value < 0.95) {
            (false, _) => "as they should, as far as these rows tell".to_owned(),
            (true, true) => format!("too few: intervals are too narrow ({})", p_words(p)),
            (true, false) => format!("too many: intervals are too wide ({})", p_words(p)),
        };
        all.push(format!(
            "95 % intervals hold {} of {of}: {told}.",
            share(held.value)
        ));
    }
    all
}
