//! The end of a fit against the ends of searches from 64 random places.

use quadrat::error::FitError;
use quadrat::model::Setting;
use quadrat::parameter::{Parameter, Transform};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::case::{Case, Kind, Shape};
use crate::laws::Law;
use crate::study::{Engine, Place, Study};

const STARTS: u64 = 64;
/// By so many nats another end may be better: what nobody would notice in an answer.
const BETTER: f64 = 0.1;

/// The studies whose optima are looked at; with so many seeds of each.
fn studies(seeds: u64) -> Vec<(String, Study)> {
    let mut out = Vec::new();
    for seed in 0..seeds {
        for kind in Kind::ALL {
            for (shape, engine) in [
                (Shape::Point, Engine::Auto),
                (Shape::Sum, Engine::Auto),
                (Shape::Bag, Engine::Auto),
                (Shape::Point, Engine::Variational),
                (Shape::Point, Engine::Sparse),
            ] {
                let case = Case {
                    kind,
                    engine,
                    integrated: false,
                    shape,
                    law: Law::Seed,
                    seed,
                };
                if case.is_model() {
                    out.push((case.name(), case.study(&mut case.random())));
                }
            }
        }
    }
    out
}

/// Smallest distance of neighbours, and extent, of what rows look at.
fn lengths(study: &Study) -> (f64, f64) {
    let mut at: Vec<f64> = Vec::new();
    for row in &study.rows {
        match &row.place {
            Place::Point(x) => at.push(*x),
            Place::Cell((a, b), _) => at.extend([*a, *b]),
            Place::Bag(nodes) => at.extend(nodes.iter().map(|(x, _)| *x)),
            Place::Ring(ring, _) => at.extend(ring.iter().map(|[x, _]| *x)),
        }
    }
    at.sort_unstable_by(f64::total_cmp);
    let gaps = at
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|gap| *gap > 0.0);
    (gaps.fold(f64::INFINITY, f64::min), at[at.len() - 1] - at[0])
}

/// Starts drawn log-uniformly: lengthscales from the spacing to the range, all else three decades
/// about what the data suggest.
fn random_start(study: &Study, parameters: &[Parameter], seed: u64) -> Study {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let (spacing, range) = lengths(study);
    let mut study = study.clone();
    for p in parameters
        .iter()
        .filter(|p| !p.fixed && p.transform == Transform::Log)
    {
        let start = match p.name.contains("lengthscale") {
            true => rng.random_range(spacing.ln()..range.ln()).exp(),
            false => p.start * 10f64.powf(rng.random_range(-1.5..1.5)),
        };
        let start = start.max(p.lower * 1.001).min(p.upper);
        study.settings.push((p.name.clone(), Setting::start(start)));
    }
    study
}

fn end(study: &Study, starts: usize) -> Result<f64, FitError> {
    let fit = study.model()?.fit(&study.options().with_starts(starts))?;
    Ok(fit.summary().log_posterior)
}

/// By how many nats the best of the random starts is better than an end of the search; and how many
/// starts had an answer.
fn gain(study: &Study, end_of_search: f64) -> (f64, usize) {
    let parameters = study.model().unwrap().parameters().unwrap();
    let ends = (0..STARTS).into_par_iter();
    let ends: Vec<f64> = ends
        .filter_map(|seed| end(&random_start(study, &parameters, seed), 1).ok())
        .collect();
    let best = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (best - end_of_search, ends.len())
}

fn check(studies: &[(String, Study)]) {
    let mut failures = Vec::new();
    for (name, study) in studies {
        match end(study, 6) {
            Ok(own) => {
                let (gain, answered) = gain(study, own);
                println!("{name}: {gain:.2e} nats, {answered} of {STARTS} starts");
                if gain > BETTER || 2 * answered < STARTS as usize {
                    failures.push(format!("{name}: {gain} nats, {answered} starts"));
                }
            }
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    assert!(
        failures.is_empty(),
        "{} fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn no_random_start_ends_higher_than_the_search() {
    let all = studies(1);
    check(&all.into_iter().step_by(9).collect::<Vec<_>>());
}

#[test]
#[ignore = "a quarter of an hour; ./check --long"]
fn no_random_start_ends_higher_than_the_search_of_any_study() {
    let seeds = std::env::var("QUADRAT_REGIME_SEEDS").map_or(1, |text| text.parse().unwrap());
    check(&studies(seeds));
}

/// A search that is kept from the optimum is found out.
#[test]
fn a_search_that_stops_early_is_bettered() {
    let case = Case {
        kind: Kind::Known,
        engine: Engine::Auto,
        integrated: false,
        shape: Shape::Point,
        law: Law::Seed,
        seed: 0,
    };
    let study = case.study(&mut case.random());
    let mut held = study.clone();
    let name = format!("{}.lengthscale.x", study.leaf);
    let upper = Some(1e-2 * lengths(&study).0);
    held.settings.push((
        name,
        Setting {
            upper,
            ..Setting::default()
        },
    ));
    let (gain, _) = gain(&study, end(&held, 6).unwrap());
    assert!(gain > BETTER, "{gain}");
}
