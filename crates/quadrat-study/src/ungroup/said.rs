//! What is said of bands that were ungrouped: numbers for people, JSON for programs.

use quadrat::ungroup::{Answer, LifeTable, Tail, five_year_ratio, myers, whipple};
use serde_json::{Map, Value, json};

use super::found::{All, Found};
use super::group::Group;
use super::rows::Rows;
use super::table::LIFE;
use super::whole;
use crate::diagnostic::{Paint, Problem, brief};
use crate::numbers::{beside, coordinate, count, human, percent};
use crate::study::ungroup::Ungroup;
use crate::words::clean;

/// Populations that are told one by one.
const TOLD: usize = 20;

fn interval(answer: &Answer) -> String {
    let sd = (answer.upper - answer.lower) / 4.0;
    let [value, lower, upper] = [answer.value, answer.lower, answer.upper].map(|x| beside(x, sd));
    format!("{value}  ({lower} to {upper})")
}

/// How the last band falls off, in words.
fn tail(found: &Found) -> Option<String> {
    let (tail, edge, end) = found.tail?;
    let how = match tail {
        Tail::Gompertz => "as ages do (Gompertz)".to_owned(),
        Tail::Pareto => "as incomes do (Pareto)".to_owned(),
        Tail::Exponential { rate } => format!("exponentially by {rate} per unit"),
        _ => "as was asked".to_owned(),
    };
    let [edge, end] = [edge, end].map(coordinate);
    Some(format!(
        "above {edge} counts fall {how}, up to {end} (--tail, --last)"
    ))
}

/// Heaping indices where bands tell them.
fn heaping(args: &Ungroup, group: &Group) -> Vec<(&'static str, f64)> {
    // Events prefer no digits: who tells an age does.
    if args.exposure.is_some() {
        return Vec::new();
    }
    let ages = (0..group.rows.len())
        .take_while(|&i| group.lower[i] == i as f64 && group.upper[i] == (i + 1) as f64);
    let years: Vec<f64> = ages.map(|i| group.counts[i]).collect();
    let mut edges = group.lower.clone();
    edges.extend(group.upper.last().copied());
    let told = [
        ("Whipple's index", whipple(&years)),
        ("Myers' index", myers(&years)),
        (
            "ratio of five-year bands",
            five_year_ratio(&edges, &group.counts),
        ),
    ];
    told.into_iter()
        .filter_map(|(name, index)| Some((name, index?)))
        .collect()
}

/// Warnings of all populations; those of several with their names, and the same words once.
pub fn warnings(args: &Ungroup, rows: &Rows, all: &All) -> Vec<String> {
    let mut seen: Vec<(String, Vec<String>)> = Vec::new();
    for found in &all.found {
        let name = rows.groups[found.group].words();
        for warning in &found.warnings {
            match seen.iter_mut().find(|(words, _)| words == warning) {
                Some((_, names)) => names.push(name.clone()),
                None => seen.push((warning.clone(), vec![name.clone()])),
            }
        }
    }
    let told = |(words, names): (String, Vec<String>)| match (names.len(), names[0].as_str()) {
        (1, "") => words,
        (1, name) => format!("`{name}`: {words}"),
        (n, name) => format!("`{name}` and {}: {words}", count(n - 1, "other")),
    };
    let own = seen.into_iter().map(told);
    let whole = whole::warnings(&rows.groups, args.along.is_some());
    own.chain(whole).collect()
}

/// How many populations, and of how many years.
fn populations(args: &Ungroup, rows: &Rows, all: &All) -> String {
    let name = |found: &Found| &rows.groups[found.group].name[..args.by.len()];
    let mut names: Vec<&[String]> = all.found.iter().map(name).collect();
    names.sort_unstable();
    names.dedup();
    let populations = match args.by.is_empty() {
        true => "one population".to_owned(),
        false => count(names.len(), "population"),
    };
    match (&args.along, names.len()) {
        (None, _) => populations,
        (Some(_), 1) => format!("{populations} of {}", count(all.found.len(), "year")),
        (Some(_), _) => format!("{populations}, {} in all", count(all.found.len(), "year")),
    }
}

/// What was ungrouped, and what was assumed.
fn sentences(args: &Ungroup, rows: &Rows, all: &All) -> Vec<String> {
    let Some(first) = all.found.first() else {
        return Vec::new();
    };
    let level = percent(args.level);
    let what = match args.exposure {
        Some(_) => "rate",
        None => "step",
    };
    let groups = || all.found.iter().map(|found| &rows.groups[found.group]);
    let people: f64 = groups().flat_map(|group| &group.counts).sum();
    let bands = groups().map(|group| group.rows.len()).sum();
    let mut out = vec![format!(
        "{} of `{}` ({} in all) in {}: {} with {level} intervals",
        count(bands, "band"),
        clean(&args.count),
        human(people),
        populations(args, rows, all),
        count(all.found.iter().map(|f| f.edges.len()).sum(), what),
    )];
    out.extend(rows.inclusive.map(|unit| {
        format!("upper edges are the last number inside a band: each reaches {unit} further")
    }));
    out.extend(args.along.as_ref().map(|along| {
        format!(
            "years of `{}` inform each other, at the same place and by cohort (along)",
            clean(along)
        )
    }));
    let borrowed = all
        .found
        .iter()
        .filter(|found| found.borrowed == Some(true));
    let borrowed = borrowed.count();
    out.extend((borrowed > 0).then(|| {
        format!(
            "rates of {borrowed} of {} lie around those of the others with the same bands (borrow)",
            count(all.found.len(), "population")
        )
    }));
    out.extend(tail(first));
    let until = first.life.as_ref().and_then(|life| life.until);
    out.extend(until.map(|end| {
        let end = coordinate(end);
        format!("the last band is closed: years lived beyond {end} are not in the life table")
    }));
    out
}

/// What is told of each population: its answers, and of a single one how ages are heaped.
fn told(args: &Ungroup, rows: &Rows, all: &All) -> Vec<String> {
    if let ([found], true) = (all.found.as_slice(), args.names().is_empty()) {
        let answers = found.answers.iter();
        let answers = answers.map(|(name, answer)| format!("{name:<8}  {}", interval(answer)));
        let heaping = heaping(args, &rows.groups[found.group]).into_iter();
        let heaping = heaping.map(|(name, index)| format!("{name}  {}", human(index)));
        return answers.chain(heaping).collect();
    }
    let one = |found: &Found| {
        let told = found.answers.iter().take(2);
        let told = told.map(|(name, answer)| format!("{name} {}", interval(answer)));
        let told: Vec<String> = told.collect();
        let name = rows.groups[found.group].words();
        format!("{name}: {}", told.join(", "))
    };
    let mut out: Vec<String> = all.found.iter().take(TOLD).map(one).collect();
    if all.found.len() > TOLD {
        let rest = count(all.found.len() - TOLD, "more population");
        out.push(format!("and {rest}"));
    }
    out
}

/// The summary for a terminal.
pub fn summary(args: &Ungroup, rows: &Rows, all: &All, paint: Paint) -> String {
    let lines = sentences(args, rows, all).into_iter();
    let lines = lines.chain(told(args, rows, all));
    let mut out: String = lines.map(|line| format!("{line}\n")).collect();
    for warning in warnings(args, rows, all) {
        out.push_str(&format!("{}: {warning}\n", paint.yellow("warning")));
    }
    brief(&out)
}

/// The same for a page: whole sentences, without the warnings.
pub fn page(args: &Ungroup, rows: &Rows, all: &All) -> Vec<String> {
    let ended = |line: String| {
        let words: Vec<&str> = line.split_whitespace().collect();
        format!("{}.", words.join(" "))
    };
    let begun = |line: String| {
        let mut rest = line.chars();
        let first = rest.next().into_iter().flat_map(char::to_uppercase);
        first.chain(rest).collect::<String>()
    };
    // Names of populations stay as they are.
    let told = told(args, rows, all).into_iter();
    let lines = sentences(args, rows, all).into_iter().map(begun);
    lines.chain(told).map(ended).collect()
}

fn as_json(answer: &Answer) -> Value {
    json!({ "value": answer.value, "lower": answer.lower, "upper": answer.upper })
}

/// A life table as JSON.
fn life(table: &LifeTable) -> Value {
    let told = [&table.q, &table.l, &table.d, &table.years, &table.e];
    let columns = LIFE.iter().zip(told).map(|(name, column)| {
        let told = json!({
            "value": column.value,
            "lower": column.lower,
            "upper": column.upper,
        });
        ((*name).to_owned(), told)
    });
    let mut out: Map<String, Value> = columns.collect();
    out.insert("until".to_owned(), json!(table.until));
    Value::Object(out)
}

/// Everything as JSON.
pub fn json(args: &Ungroup, rows: &Rows, all: &All) -> Value {
    let named = |group: usize| -> Map<String, Value> {
        let names = args.names().into_iter().zip(&rows.groups[group].name);
        names.map(|(column, cell)| (column, json!(cell))).collect()
    };
    let one = |found: &Found| {
        let group = &rows.groups[found.group];
        let answers = found.answers.iter().map(|(name, answer)| {
            let key = match name.as_str() {
                "10 %" => "quantile_10",
                "90 %" => "quantile_90",
                "Gini" => "gini",
                "share of the top tenth" => "top_tenth_share",
                name if name.starts_with("life") || name.starts_with("years") => "life_expectancy",
                "sum of the rates" => "sum_of_rates",
                other => other,
            };
            (key.to_owned(), as_json(answer))
        });
        let heaping = heaping(args, group).into_iter().map(|(name, index)| {
            let key = match name {
                "Whipple's index" => "whipple",
                "Myers' index" => "myers",
                _ => "five_year_ratio",
            };
            (key.to_owned(), json!(index))
        });
        let [mean, sd, lower, median, upper] = &found.numbers;
        // Infinity is no number of JSON: an open step has no end.
        let end = |x: f64| Some(x).filter(|x| x.is_finite());
        json!({
            "by": named(found.group),
            "total": group.counts.iter().sum::<f64>(),
            "bands": group.rows.len(),
            "answers": answers.collect::<Map<String, Value>>(),
            "heaping": heaping.collect::<Map<String, Value>>(),
            "tail": tail(found),
            "from": found.edges.iter().map(|e| e.0).collect::<Vec<f64>>(),
            "to": found.edges.iter().map(|e| end(e.1)).collect::<Vec<Option<f64>>>(),
            "mean": mean,
            "sd": sd,
            "lower": lower,
            "median": median,
            "upper": upper,
            "effective": found.effective,
            "effective_settings": found.effective_settings,
            "life_table": found.life.as_ref().map(life),
            "borrowed": found.borrowed,
            "warnings": found.warnings,
        })
    };
    let failed = |(group, problem): &(usize, Problem)| json!({ "by": named(*group), "error": problem.message });
    json!({
        "count": args.count,
        "level": args.level,
        "populations": all.found.iter().map(one).collect::<Vec<Value>>(),
        "failed": all.failed.iter().map(failed).collect::<Vec<Value>>(),
        "warnings": warnings(args, rows, all),
    })
}
