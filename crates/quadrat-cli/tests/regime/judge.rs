//! What must be true of every run, whatever it was given.

use std::collections::BTreeMap;
use std::path::Path;

use crate::run::{End, Ran};
use crate::study::Facts;

/// Names and contents of all files of a folder and the folders in it.
pub type Snapshot = BTreeMap<String, Vec<u8>>;

pub fn snapshot(folder: &Path) -> Snapshot {
    let mut all = Snapshot::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(here) = folders.pop() {
        for entry in std::fs::read_dir(here).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            all.insert(name, std::fs::read(path).unwrap());
        }
    }
    all
}

/// A refusal of so many bytes is no message any more.
const WORDS: usize = 64 << 10;

/// What is wrong with how the program ended and what it said.
pub fn manners(ran: &Ran, files: &[String], is_of_flags: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    let said = format!("{}{}", ran.stdout, ran.stderr);
    match ran.end {
        End::Code(0 | 2) => {}
        End::Code(1) => wrong.extend(refusal(&ran.stderr, files, is_of_flags)),
        other => wrong.push(format!(
            "it ended with {other:?} after {:.1} s",
            ran.seconds
        )),
    }
    for word in [
        "panicked at",
        "RUST_BACKTRACE",
        "stack overflow",
        "memory allocation of",
    ] {
        if said.contains(word) {
            wrong.push(format!("it said `{word}`"));
        }
    }
    if said.len() > WORDS {
        wrong.push(format!("it said {} bytes", said.len()));
    }
    // A terminal obeys them: a file is not to be trusted with that.
    if let Some(c) = said
        .chars()
        .find(|c| c.is_control() && !matches!(c, '\n' | '\t'))
    {
        wrong.push(format!("it said the control character {c:?}"));
    }
    wrong
}

/// Every refusal is an error in words, with a place in one of the files, or else a flag where there
/// are such to mend.
fn refusal(said: &str, files: &[String], is_of_flags: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    if !said.lines().any(|line| line.starts_with("error: ")) {
        wrong.push("a refusal without a word".to_owned());
    }
    let is_placed = |line: &str| {
        let place = line.trim_start().strip_prefix("--> ");
        place.is_some_and(|place| files.iter().any(|file| place.starts_with(file.as_str())))
    };
    // A saved model has no lines.
    let is_model = said.contains("cannot use `m.quadrat`");
    let is_flag = is_of_flags && said.contains("--");
    if !said.lines().any(is_placed) && !is_model && !is_flag {
        wrong.push("a refusal without a place".to_owned());
    }
    wrong
}

/// What is wrong with what was written: only below `out`, whole, and nothing where the run was
/// refused.
pub fn written(before: &Snapshot, after: &Snapshot, is_done: bool) -> Vec<String> {
    let is_output =
        |name: &String| name.starts_with("out/") || name == "m.quadrat" || name == "out.csv";
    let mut wrong = Vec::new();
    for (name, content) in before {
        if after.get(name) != Some(content) {
            wrong.push(format!("it changed {name}"));
        }
    }
    for name in after.keys().filter(|name| !before.contains_key(*name)) {
        if !is_output(name) || !is_done || name.contains("/.") {
            wrong.push(format!("it left {name}"));
        }
        if after[name].is_empty() {
            wrong.push(format!("{name} is empty"));
        }
    }
    wrong
}

/// What a command writes.
pub enum Judged {
    Predictions,
    /// A table of counts with noise in some columns.
    Released {
        columns: Vec<String>,
        /// Whether the table is as it was drawn.
        is_whole: bool,
        is_geometric: bool,
        is_clipped: bool,
    },
    /// Artificial data, twice, and the results of their study.
    Simulated,
}

impl Judged {
    /// Whether flags may be to blame for a refusal.
    pub fn is_of_flags(&self) -> bool {
        !matches!(self, Self::Predictions)
    }

    /// What is wrong with what a command wrote.
    pub fn results(&self, files: &Snapshot, facts: &Facts) -> Vec<String> {
        match self {
            Self::Predictions => results(files, facts),
            Self::Released { .. } => self.released(files),
            Self::Simulated => simulated(files, facts),
        }
    }

    fn released(&self, files: &Snapshot) -> Vec<String> {
        let Self::Released {
            columns,
            is_whole,
            is_geometric,
            is_clipped,
        } = self
        else {
            return Vec::new();
        };
        let (Some(before), Some(after)) = (files.get("d.csv"), files.get("out.csv")) else {
            return vec!["there is no out.csv".into()];
        };
        let (old, new) = match (cells(before), cells(after)) {
            (Ok(old), Ok(new)) => (old, new),
            // What the table was changed into need not be plain CSV.
            (Err(_), _) if !is_whole => return Vec::new(),
            (Err(error), _) | (_, Err(error)) => return vec![error],
        };
        let mut wrong = Vec::new();
        for column in columns {
            for name in [
                column.clone(),
                format!("{column}_scale"),
                format!("{column}_variance"),
            ] {
                let Some(all) = new.get(&name) else {
                    wrong.push(format!("there is no column `{name}`"));
                    continue;
                };
                let is_noisy = name == *column;
                let is_right = |text: &String| {
                    let number: Option<f64> = text.parse().ok();
                    number.is_some_and(|x| {
                        x.is_finite()
                            && (is_noisy || x > 0.0)
                            && (x >= 0.0 || !(*is_clipped && is_noisy))
                            && (x.fract() == 0.0 || !(*is_geometric && is_noisy && *is_whole))
                    })
                };
                if let Some(cell) = all.iter().find(|text| !is_right(text)) {
                    wrong.push(format!("{name} is `{cell}`"));
                }
            }
        }
        if *is_whole {
            for (name, all) in &old {
                let same = columns.contains(name) || new.get(name) == Some(all);
                if !same {
                    wrong.push(format!("it changed the column `{name}`"));
                }
            }
        }
        wrong
    }
}

/// The cells of every column of plain CSV.
fn cells(content: &[u8]) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut reader = csv::Reader::from_reader(content);
    let headers = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        for (name, cell) in headers.iter().zip(&record) {
            all.entry(name.to_owned())
                .or_default()
                .push(cell.to_owned());
        }
    }
    Ok(all)
}

/// What is wrong with artificial data in `out/a` and, from the same seed, in `out/b`, and with the
/// results in `out/c`.
fn simulated(files: &Snapshot, facts: &Facts) -> Vec<String> {
    let of = |folder: &str| -> Snapshot {
        let own = files.iter();
        let named = |(name, content): (&String, &Vec<u8>)| {
            Some((name.strip_prefix(folder)?.to_owned(), content.clone()))
        };
        own.filter_map(named).collect()
    };
    let (first, second, fitted) = (of("out/a/"), of("out/b/"), of("out/c/"));
    let mut wrong = Vec::new();
    if !first.contains_key("study.toml") || !first.contains_key("truth.csv") {
        wrong.push("data without a study or their truth".into());
    }
    if !second.is_empty() && first != second {
        wrong.push("the same seed made other files".into());
    }
    let tables = first.iter().filter(|(name, _)| name.ends_with(".csv"));
    for (name, content) in tables {
        match cells(content) {
            Ok(columns) => {
                let bad = |text: &&String| text.parse::<f64>().is_ok_and(|x| !x.is_finite());
                if let Some(cell) = columns.values().flatten().find(bad) {
                    wrong.push(format!("{name} holds `{cell}`"));
                }
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    let fitted: Snapshot = fitted
        .into_iter()
        .map(|(name, content)| (format!("out/{name}"), content))
        .collect();
    wrong.extend(results(&fitted, facts));
    wrong
}

/// What is wrong with the results of a run.
pub fn results(files: &Snapshot, facts: &Facts) -> Vec<String> {
    let mut wrong = Vec::new();
    let inputs = files.iter().filter(|(name, _)| !name.starts_with("out/"));
    let has_nan = inputs.clone().any(|(_, content)| {
        String::from_utf8_lossy(content)
            .to_lowercase()
            .contains("nan")
    });
    for (name, content) in files {
        let Some(name) = name
            .strip_prefix("out/")
            .or(name.strip_prefix("out.csv").map(|_| "out.csv"))
        else {
            continue;
        };
        let text = String::from_utf8_lossy(content);
        let found = match name.rsplit('.').next() {
            Some("csv") => table(&text, &facts.of(name)),
            Some("json" | "geojson") => match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(_) => Vec::new(),
                Err(error) => vec![format!("no JSON: {error}")],
            },
            Some("svg") if !has_nan && (text.contains("NaN") || text.contains("inf\"")) => {
                vec!["a number that is none".into()]
            }
            _ => Vec::new(),
        };
        wrong.extend(found.into_iter().map(|what| format!("{name}: {what}")));
    }
    wrong
}

impl Facts {
    /// What is known of one file.
    fn of(&self, name: &str) -> Self {
        let known = self.known.clone();
        Self {
            known: known.filter(|(of, _)| name.strip_suffix(".csv") == Some(of)),
            ..self.clone()
        }
    }
}

/// What is wrong with a table of predictions.
pub fn table(text: &str, facts: &Facts) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers: Vec<String> = match reader.headers() {
        Ok(headers) => headers.iter().map(str::to_owned).collect(),
        Err(error) => return vec![error.to_string()],
    };
    let Some(first) = headers.iter().position(|header| header == "mean") else {
        return vec!["there is no column `mean`".into()];
    };
    let expected = ["mean", "sd", "lower", "median", "upper"];
    if !headers[first..]
        .iter()
        .map(String::as_str)
        .take(5)
        .eq(expected)
    {
        return vec![format!("its columns are {headers:?}")];
    }
    let mut wrong = Vec::new();
    let mut rows = 0;
    for (i, record) in reader.records().enumerate() {
        rows += 1;
        match record {
            Ok(record) => wrong.extend(row(
                &headers[first..],
                &record.iter().skip(first).collect::<Vec<_>>(),
                facts,
                i,
            )),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    if rows == 0 {
        wrong.push("it has no rows".into());
    }
    wrong.truncate(5);
    wrong
}

/// What is wrong with the numbers of one row.
fn row(headers: &[String], cells: &[&str], facts: &Facts, at: usize) -> Vec<String> {
    let numbers: Vec<Option<f64>> = cells
        .iter()
        .map(|cell| cell.parse().ok().filter(|x: &f64| x.is_finite()))
        .collect();
    if let Some(bad) = numbers.iter().position(Option::is_none) {
        return vec![format!("row {at}: {} is `{}`", headers[bad], cells[bad])];
    }
    let numbers: Vec<f64> = numbers.into_iter().flatten().collect();
    let [mean, sd, lower, median, upper] = numbers[..5] else {
        return vec![format!("row {at} is short")];
    };
    let mut wrong = Vec::new();
    let mut must = |is_so: bool, what: &str| {
        if !is_so {
            wrong.push(format!("row {at}: {what}: {cells:?}"));
        }
    };
    must(
        lower <= median && median <= upper,
        "its interval is out of order",
    );
    must(sd >= 0.0, "its sd is negative");
    must(facts.may_be_exact || sd > 0.0, "its sd is zero");
    if let Some(sds) = facts.known.as_ref().map(|(_, sds)| sds) {
        // What is known of a row beside its own report only narrows it: to the rounding of a
        // factorisation of six rows.
        let bound = sds.get(at).map_or(0.0, |known| known * (1.0 + 1e-9));
        must(
            sd <= bound.max(1e-6 * (1.0 + mean.abs())),
            "it is known less surely than its own report",
        );
    }
    let chances = headers
        .iter()
        .zip(&numbers)
        .skip(5)
        .filter(|(header, _)| !header.starts_with("draw_"));
    // Sums of probabilities are right to rounding.
    must(
        chances
            .clone()
            .all(|(_, p)| (-1e-12..=1.0 + 1e-12).contains(p)),
        "a probability is none",
    );
    let ranks: Vec<f64> = chances
        .filter(|(header, _)| header.starts_with("rank_"))
        .map(|(_, p)| *p)
        .collect();
    must(
        ranks.is_empty() || (ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9,
        "ranks do not add up",
    );
    wrong
}
