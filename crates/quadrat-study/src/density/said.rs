//! What is told of the density of one column: numbers for people, JSON for programs.

use quadrat::density::{Answer, Estimate, Mode, Warning};
use serde_json::{Value, json};

use super::common::{as_json, interval};
use super::rows::Rows;
use crate::numbers::{count, human, percent};
use crate::study::density::Density;

/// Quantiles that are told.
const TOLD: [(f64, &str); 3] = [(0.05, "5 %"), (0.5, "median"), (0.95, "95 %")];

/// What is told of rows that say nothing: how many, of how many, and the first of them.
pub(super) fn everywhere(rows: &Rows, (n, all, first): (usize, usize, usize)) -> String {
    format!(
        "{n} of {all} rows hold all that is possible, which says nothing, and were left out, the first is {}",
        rows.address(first)
    )
}

/// Warnings, with rows as people count them.
pub fn warnings(rows: &Rows, estimate: &Estimate) -> Vec<String> {
    let told = |warning: &Warning| match warning {
        Warning::NotFinite {
            count: n,
            rows: all,
            first,
        } => format!(
            "{} of {all} are missing or not finite and were left out, the first is {}",
            count(*n, "value"),
            rows.address(*first)
        ),
        Warning::Everywhere {
            count: n,
            rows: all,
            first,
        } => everywhere(rows, (*n, *all, *first)),
        Warning::Rounded { .. }
        | Warning::Ties { .. }
        | Warning::SeveralTies { .. }
        | Warning::Heavy { .. } => {
            format!("{warning} (--interval)")
        }
        Warning::Widened { asked, covered } => {
            let [a, b, c, d] = [covered.0, covered.1, asked.0, asked.1].map(human);
            format!(
                "the density covers {a} to {b}, not the range {c} to {d}: it holds all values, and ends at a bound where there is one"
            )
        }
        Warning::Crowded { .. } => format!("{warning} (--log, --range, --grid)"),
        Warning::FromZero { .. } => format!("{warning} (--log)"),
        Warning::Beyond { .. } => format!("{warning} (--bounds)"),
        other => other.to_string(),
    };
    estimate.warnings().iter().map(told).collect()
}

/// The numbers that are told, with their names.
pub fn numbers(args: &Density, estimate: &Estimate) -> Vec<(String, Answer)> {
    let [mean, sd] = estimate.moments();
    let quantiles = estimate.quantiles(TOLD.map(|told| told.0));
    let named = TOLD.iter().map(|told| told.1).zip(quantiles);
    let all = [("mean", mean), ("sd", sd)].into_iter().chain(named);
    let mut out: Vec<(String, Answer)> = all.map(|(name, a)| (name.to_owned(), a)).collect();
    // Positive data of many sizes: how unequal they are.
    if let (true, Ok(gini), Ok(share)) = (args.log, estimate.gini(), estimate.top_share(0.1)) {
        out.push(("Gini coefficient".to_owned(), gini));
        out.push(("share of the top tenth".to_owned(), share));
    }
    if let Some(&(from, to)) = args.within.first() {
        let name = format!("probability of {} to {}", human(from), human(to));
        out.push((name, estimate.probability(from, to)));
    }
    out
}

/// Modes in words.
pub fn modes(estimate: &Estimate) -> String {
    let modes = estimate.modes();
    if modes.is_empty() {
        let ties = |w: &Warning| matches!(w, Warning::Ties { .. } | Warning::SeveralTies { .. });
        let why = match estimate.warnings().iter().any(ties) {
            true => "the curve follows single values",
            false => "draws are too uneven",
        };
        return format!("not told: {why} (see the warnings)");
    }
    let told = |m: &Mode| {
        let sure = if m.probability >= 0.995 {
            "> 99".to_owned()
        } else {
            format!("{:.0}", 100.0 * m.probability)
        };
        match modes.len() {
            1 => human(m.place),
            _ => format!("{} (probability {sure} %)", human(m.place)),
        }
    };
    modes.iter().map(told).collect::<Vec<String>>().join(", ")
}

/// Sentences for a page.
pub fn sentences(args: &Density, rows: &Rows, estimate: &Estimate) -> Vec<String> {
    let level = percent(estimate.level());
    let mut out = vec![format!(
        "Density of `{}` from {}; all intervals are {level}.",
        rows.names[0],
        count(rows.len(), "row")
    )];
    out.extend(
        numbers(args, estimate)
            .iter()
            .map(|(name, answer)| format!("{name}: {}.", interval(answer))),
    );
    out.push(format!("Modes: {}.", modes(estimate)));
    out
}

/// Everything as JSON.
pub fn json(args: &Density, rows: &Rows, estimate: &Estimate) -> Value {
    let asked = [0.05, 0.25, 0.5, 0.75, 0.95];
    let quantiles: Vec<Value> = asked
        .iter()
        .zip(estimate.quantiles(asked))
        .map(|(p, q)| json!({ "p": p, "value": q.value, "lower": q.lower, "upper": q.upper }))
        .collect();
    let [mean, sd] = estimate.moments();
    let modes: Vec<Value> = estimate
        .modes()
        .iter()
        .map(|m| json!({ "place": m.place, "density": m.density, "probability": m.probability }))
        .collect();
    let settings: Vec<Value> = estimate
        .settings()
        .iter()
        .map(|s| json!({ "lengthscale": s.lengthscale, "sd": s.sd, "weight": s.weight }))
        .collect();
    let positive = |a: Result<Answer, _>| a.ok().map(|a| as_json(&a));
    let edges = estimate.edges();
    let (simultaneous_lower, simultaneous_upper) = estimate.simultaneous();
    json!({
        "column": rows.names[0],
        "rows": rows.len(),
        "total": estimate.total(),
        "level": estimate.level(),
        "mean": as_json(&mean),
        "sd": as_json(&sd),
        "quantiles": quantiles,
        "modes": modes,
        "gini": positive(estimate.gini()),
        "top_tenth_share": positive(estimate.top_share(0.1)),
        "within": args.within.first().map(|&(from, to)| as_json(&estimate.probability(from, to))),
        "highest_density_region": estimate.highest_density_region(estimate.level()),
        "range": [edges[0], edges[edges.len() - 1]],
        "places": estimate.places(),
        "density": estimate.density(),
        "lower": estimate.lower(),
        "upper": estimate.upper(),
        "simultaneous_lower": simultaneous_lower,
        "simultaneous_upper": simultaneous_upper,
        "hyperparameters": settings,
        "effective_size": estimate.effective_size(),
        "pareto_k": Some(estimate.pareto_k()).filter(|k| k.is_finite()),
        "is_weighted": estimate.is_weighted(),
        "warnings": warnings(rows, estimate),
    })
}
