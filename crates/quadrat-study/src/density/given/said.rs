//! What is told of the density of one column given another: numbers for people, JSON for programs.

use std::sync::Arc;

use quadrat::density::{Answer, ConditionalEstimate, Curve};
use serde_json::{Value, json};

use super::super::common::{as_json, interval, seen};
use super::super::plane::said::warnings;
use super::super::rows::Rows;
use crate::numbers::{count, human, percent};
use crate::study::density::Density;
use crate::words::clean;

/// Shares of the rows at whose places numbers are told.
const PLACES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];
/// Quantiles whose curves are drawn and told in JSON.
pub const CURVES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// What is told, from one pass over the draws.
pub struct Said {
    pub args: Arc<Density>,
    pub rows: Arc<Rows>,
    pub estimate: ConditionalEstimate,
    /// Curves of quantiles, of [`CURVES`].
    pub quantiles: [Curve; 5],
    /// The probability that was asked for.
    pub within: Option<Curve>,
}

impl Said {
    pub fn new(args: Arc<Density>, rows: Arc<Rows>, estimate: ConditionalEstimate) -> Self {
        let within = args.within.first();
        Self {
            rows,
            quantiles: estimate.quantile_curves(CURVES),
            within: within.map(|w| estimate.probability_curve(*w)),
            args,
            estimate,
        }
    }

    /// The names of the given column and of the other, for a terminal.
    pub fn names(&self) -> [String; 2] {
        [0, 1].map(|axis| clean(&self.rows.names[axis]))
    }

    /// Ends of the values between which there is something to see at the places of rows.
    pub fn seen(&self) -> (f64, f64) {
        let (n, edges) = (self.estimate.shape()[1], self.estimate.edges(1));
        let mut along = vec![0.0; n];
        let slices = self.estimate.masses().chunks(n);
        for (mass, total) in slices.zip(self.estimate.slice_totals()) {
            along
                .iter_mut()
                .zip(mass)
                .for_each(|(a, u)| *a += u * total);
        }
        let cells = seen(&along, along.iter().sum());
        (edges[cells.start], edges[cells.end])
    }

    /// Places below which shares of the rows lie, each slice once.
    pub fn told_of(&self) -> Vec<(f64, usize)> {
        let given = self.rows.pairs().map_or(&[][..], |[x, _]| x);
        let mut places: Vec<f64> = given.iter().copied().filter(|x| x.is_finite()).collect();
        places.sort_unstable_by(f64::total_cmp);
        let last = places.len().saturating_sub(1);
        let place = |share: &f64| places.get((share * last as f64).round() as usize).copied();
        let slice = |place: f64| self.estimate.slice(place).map(|i| (place, i));
        let mut out: Vec<(f64, usize)> =
            PLACES.iter().filter_map(place).filter_map(slice).collect();
        out.dedup_by_key(|(_, i)| *i);
        out
    }

    /// A header, and the numbers at some places.
    pub fn table(&self) -> Vec<Vec<String>> {
        let [given, value] = self.names();
        let mut out = vec![vec![
            given,
            format!("median of {value}"),
            format!("90 % of {value}"),
        ]];
        if let Some((from, to)) = self.args.within.first() {
            out[0].push(format!("probability of {} to {}", human(*from), human(*to)));
        }
        let [low, _, median, _, high] = &self.quantiles;
        for (place, i) in self.told_of() {
            let mut line = vec![
                human(place),
                interval(&answer(median, i)),
                format!("{} to {}", human(low.value[i]), human(high.value[i])),
            ];
            line.extend(self.within.iter().map(|curve| interval(&answer(curve, i))));
            out.push(line);
        }
        out
    }
}

/// Warnings, with rows and columns as people name them.
pub fn warnings_of(said: &Said) -> Vec<String> {
    warnings(&said.rows, said.estimate.warnings())
}

/// Sentences for a page.
pub fn sentences(said: &Said) -> Vec<String> {
    let mut out = vec![format!(
        "Density of `{}` given `{}` from {}; all intervals are {}.",
        said.rows.names[1],
        said.rows.names[0],
        count(said.rows.len(), "row"),
        percent(said.estimate.level())
    )];
    let table = said.table();
    let header = &table[0];
    for line in &table[1..] {
        let told = line[1..].iter().zip(&header[1..]);
        let told: Vec<String> = told.map(|(cell, name)| format!("{name} {cell}")).collect();
        out.push(format!(
            "At {} {}: {}.",
            header[0],
            line[0],
            told.join(", ")
        ));
    }
    out
}

fn answer(curve: &Curve, i: usize) -> Answer {
    Answer {
        value: curve.value[i],
        lower: curve.lower[i],
        upper: curve.upper[i],
    }
}

/// Everything as JSON; arrays over cells have those of the values running fastest.
pub fn json(said: &Said) -> Value {
    let estimate = &said.estimate;
    let curve =
        |curve: &Curve| json!({ "value": curve.value, "lower": curve.lower, "upper": curve.upper });
    let quantiles: Vec<Value> = CURVES
        .iter()
        .zip(&said.quantiles)
        .map(|(p, q)| json!({ "p": p, "value": q.value, "lower": q.lower, "upper": q.upper }))
        .collect();
    let settings: Vec<Value> = estimate
        .settings()
        .iter()
        .map(|s| json!({ "lengthscales": s.lengthscales, "sd": s.sd, "weight": s.weight }))
        .collect();
    let at = |(place, i): (f64, usize)| {
        let [low, _, median, _, high] = &said.quantiles;
        json!({
            "place": place,
            "p05": as_json(&answer(low, i)),
            "median": as_json(&answer(median, i)),
            "p95": as_json(&answer(high, i)),
            "highest_density_region": estimate.highest_density_region(place, estimate.level()),
            "within": said.within.as_ref().map(|curve| as_json(&answer(curve, i))),
        })
    };
    let told: Vec<Value> = said.told_of().into_iter().map(at).collect();
    let [mean, sd] = estimate.moment_curves();
    let places = [0, 1].map(|axis| estimate.places(axis));
    let ends = [0, 1].map(|axis| {
        let edges = estimate.edges(axis);
        [edges[0], edges[edges.len() - 1]]
    });
    let simultaneous = estimate.simultaneous();
    json!({
        "given": said.rows.names[0],
        "column": said.rows.names[1],
        "rows": said.rows.len(),
        "total": estimate.total(),
        "level": estimate.level(),
        "places": places,
        "range": ends,
        "told": told,
        "slice_totals": estimate.slice_totals(),
        "mean": curve(&mean),
        "sd": curve(&sd),
        "quantiles": quantiles,
        "within": said.within.as_ref().map(curve),
        "density": estimate.density(),
        "lower": estimate.lower(),
        "upper": estimate.upper(),
        "simultaneous_lower": simultaneous.0,
        "simultaneous_upper": simultaneous.1,
        "hyperparameters": settings,
        "functions": estimate.functions(),
        "effective_size": estimate.effective_size(),
        "pareto_k": Some(estimate.pareto_k()).filter(|k| k.is_finite()),
        "is_weighted": estimate.is_weighted(),
        "warnings": warnings_of(said),
    })
}
