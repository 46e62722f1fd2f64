//! What is told of the density of two columns.

use quadrat::density::{Answer, Estimate2d, Marginal, Warning};
use serde_json::{Value, json};

use super::super::common::{as_json, interval};
use super::super::rows::Rows;
use super::super::said::everywhere;
use crate::numbers::{count, human, percent};
use crate::study::density::Density;
use crate::words::clean;

/// Shares of the probability whose smallest regions are told.
pub const HELD: [f64; 4] = [0.5, 0.8, 0.95, 0.99];

/// Warnings, with rows and columns as people name them.
pub fn warnings(rows: &Rows, told: &[Warning]) -> Vec<String> {
    let plain = |warning: &Warning| match warning {
        Warning::NotFinite {
            count: n,
            rows: all,
            first,
        } => format!(
            "{} of {all} have a value that is missing or not finite and were left out, the first is {}",
            count(*n, "row"),
            rows.address(*first)
        ),
        Warning::Everywhere {
            count: n,
            rows: all,
            first,
        } => everywhere(rows, (*n, *all, *first)),
        Warning::Rounded { rows, distinct } => format!(
            "the {rows} values are only {distinct} different numbers, as if rounded: cells that are narrower than their steps show the steps (--grid)"
        ),
        Warning::Ties { value, share } => format!(
            "{} of the values are {value}: a density has no atoms, and the band near them is not to be trusted",
            percent(*share)
        ),
        Warning::Coarse { .. } | Warning::Steep { .. } => format!("{warning} (--grid)"),
        Warning::CrowdedPlane { .. } | Warning::Crowded { .. } => {
            format!("{warning} (--log, --range, --grid)")
        }
        other => other.to_string(),
    };
    let named = |warning: &Warning| match warning {
        Warning::Column { column, warning } => {
            format!("`{}`: {}", rows.names[*column], plain(warning))
        }
        other => plain(other),
    };
    let polygons = rows.told().into_iter();
    polygons.chain(told.iter().map(named)).collect()
}

/// The numbers that are told, with their names.
pub fn numbers(args: &Density, rows: &Rows, estimate: &Estimate2d) -> Vec<(String, Answer)> {
    let moments = estimate.moments();
    let mut out = Vec::new();
    for (axis, name) in rows.names.iter().enumerate() {
        let name = clean(name);
        out.push((format!("mean of {name}"), moments.mean[axis]));
        out.push((format!("sd of {name}"), moments.sd[axis]));
    }
    out.push(("correlation".to_owned(), moments.correlation));
    if let [x, y] = *args.within.as_slice() {
        let words = [x, y].map(|(from, to)| format!("{} to {}", human(from), human(to)));
        let name = format!("probability of {} and {}", words[0], words[1]);
        out.push((name, estimate.probability(x, y)));
    }
    out
}

/// Sentences for a page.
pub fn sentences(args: &Density, rows: &Rows, estimate: &Estimate2d) -> Vec<String> {
    let mut out = vec![format!(
        "Density of `{}` and `{}` from {}; all intervals are {}.",
        rows.names[0],
        rows.names[1],
        count(rows.len(), "row"),
        percent(estimate.level())
    )];
    let numbers = numbers(args, rows, estimate);
    out.extend(
        numbers
            .iter()
            .map(|(name, answer)| format!("{name}: {}.", interval(answer))),
    );
    out
}

fn marginal(marginal: &Marginal) -> Value {
    json!({
        "places": marginal.places,
        "density": marginal.density,
        "lower": marginal.lower,
        "upper": marginal.upper,
    })
}

/// Everything as JSON; arrays over cells have those of the second column running fastest.
pub fn json(args: &Density, rows: &Rows, estimate: &Estimate2d) -> Value {
    let moments = estimate.moments();
    let settings: Vec<Value> = estimate
        .settings()
        .iter()
        .map(|s| json!({ "lengthscales": s.lengthscales, "sd": s.sd, "weight": s.weight }))
        .collect();
    let regions: Vec<Value> = HELD
        .iter()
        .map(|level| {
            let region = estimate.highest_density_region(*level);
            json!({
                "level": level,
                "density": region.density,
                "probability": as_json(&region.probability),
                "cells": region.cells.iter().filter(|is_in| **is_in).count(),
            })
        })
        .collect();
    let within = match *args.within.as_slice() {
        [x, y] => as_json(&estimate.probability(x, y)),
        _ => Value::Null,
    };
    let ends = [0, 1].map(|axis| {
        let edges = estimate.edges(axis);
        [edges[0], edges[edges.len() - 1]]
    });
    let marginals = [0, 1].map(|axis| marginal(&estimate.marginal(axis)));
    let places = [0, 1].map(|axis| estimate.places(axis));
    let simultaneous = estimate.simultaneous();
    json!({
        "columns": rows.names,
        "rows": rows.len(),
        "total": estimate.total(),
        "level": estimate.level(),
        "mean": moments.mean.each_ref().map(as_json),
        "sd": moments.sd.each_ref().map(as_json),
        "covariance": as_json(&moments.covariance),
        "correlation": as_json(&moments.correlation),
        "within": within,
        "highest_density_regions": regions,
        "marginals": marginals,
        "range": ends,
        "places": places,
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
        "warnings": warnings(rows, estimate.warnings()),
    })
}
