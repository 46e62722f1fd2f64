//! Batches against brute force.

use super::state::State;
use super::*;
use crate::error::InputError;
use crate::linalg::{Cholesky, Mat};

fn kind(name: &str, cost: f64) -> Kind {
    Kind {
        name: name.to_owned(),
        cost,
        first: 0,
    }
}

/// Points on a line under a squared exponential, none alike.
fn joint(n: usize) -> Dense {
    let x: Vec<f64> = (0..n)
        .map(|i| 0.7 * i as f64 + 0.3 * (i as f64).sin())
        .collect();
    let k = |i: usize, j: usize| (1.0 + 0.1 * i as f64).sqrt() * (1.0 + 0.1 * j as f64).sqrt();
    let covariance = Mat::from_fn(n, n, |i, j| {
        k(i, j) * (-0.5 * (x[i] - x[j]) * (x[i] - x[j])).exp()
    });
    let mean = (0..n).map(|i| (2.0 * i as f64).cos()).collect();
    Dense::new(mean, covariance).unwrap()
}

fn survey_of(joint: Dense, kinds: Vec<Kind>, reports: Vec<Report>) -> Survey<'static> {
    Survey {
        places: joint.mean().len(),
        kinds,
        members: vec![Member {
            weight: 1.0,
            joint: Box::new(joint),
            reports,
        }],
        targets: Vec::new(),
    }
}

/// A good and a poor instrument.
fn meters(n: usize) -> (Survey<'static>, [f64; 2]) {
    let noise = [0.05, 0.6];
    let reports = noise.map(|noise| Report::Value(Value { noise }));
    let kinds = vec![kind("good", 1.0), kind("poor", 1.0)];
    (survey_of(joint(n), kinds, reports.to_vec()), noise)
}

/// `log det(I + D^-1/2 K D^-1/2) / 2` of some measurements, repeats allowed.
fn log_det(survey: &Survey<'_>, noise: &[f64], asked: &[Question]) -> Result<f64, InputError> {
    let joint = &survey.members[0].joint;
    let k = Mat::from_fn(asked.len(), asked.len(), |i, j| {
        let (a, b) = (asked[i], asked[j]);
        let scale = (noise[a.kind] * noise[b.kind]).sqrt();
        joint.column(a.place)[b.place] / scale + f64::from(u8::from(i == j))
    });
    let factor = Cholesky::factor(k.as_ref()).map_err(|_| InputError::Empty)?;
    Ok(0.5 * factor.log_det())
}

#[test]
fn batches_of_values_tell_the_log_determinant() -> Result<(), InputError> {
    let (survey, noise) = meters(9);
    let plan = Plan {
        policy: Policy::Information,
        batch: 6,
        ..Plan::default()
    };
    let chosen = choose(&survey, &plan)?;
    let asked: Vec<Question> = chosen.choices.iter().map(|c| c.question).collect();
    let told: f64 = chosen.choices.iter().map(|c| c.information).sum();
    let expected = log_det(&survey, &noise, &asked)?;
    // Six steps of a factorisation of numbers of order ten.
    assert!((told - expected).abs() < 1e-12, "{told} {expected}");
    Ok(())
}

#[test]
fn greedy_batches_are_near_the_best() -> Result<(), InputError> {
    for n in [4, 6, 7] {
        let (survey, noise) = meters(n);
        let plan = Plan {
            policy: Policy::Information,
            batch: 3,
            ..Plan::default()
        };
        let told: f64 = choose(&survey, &plan)?
            .choices
            .iter()
            .map(|c| c.information)
            .sum();
        let all: Vec<Question> = (0..survey.len()).map(|q| survey.question(q)).collect();
        let mut best = 0.0_f64;
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate().skip(i) {
                for c in &all[j..] {
                    best = best.max(log_det(&survey, &noise, &[*a, *b, *c])?);
                }
            }
        }
        assert!(told <= best + 1e-12, "{told} {best}");
        // Nemhauser's bound, which it mostly exceeds by far.
        assert!(told >= (1.0 - (-1.0_f64).exp()) * best, "{told} {best}");
    }
    Ok(())
}

/// Kinds of every sort, where the lazy search might stop too early.
fn mixed(n: usize) -> Survey<'static> {
    let reports = vec![
        Report::Value(Value { noise: 0.05 }),
        Report::Bins(Bins {
            width: 0.8,
            noise: 0.05,
        }),
        Report::Ranks(Ranks::new(vec![-0.5, 0.4], 0.05)),
    ];
    let kinds = vec![
        kind("point", 10.0),
        kind("interval", 7.0),
        kind("ordinal", 3.0),
    ];
    survey_of(joint(n), kinds, reports)
}

#[test]
fn the_lazy_search_chooses_what_a_look_at_all_does() -> Result<(), InputError> {
    let survey = mixed(15);
    for policy in [Policy::Information, Policy::PerCost] {
        let plan = Plan {
            policy,
            batch: 8,
            ..Plan::default()
        };
        let chosen = choose(&survey, &plan)?;
        let mut state = State::new(&survey);
        for choice in &chosen.choices {
            let all = of_function(&survey, &state);
            let score = |q: usize| match policy {
                Policy::PerCost => all[q] / survey.kinds[survey.question(q).kind].cost,
                _ => all[q],
            };
            let best = (0..all.len()).map(score).fold(0.0, f64::max);
            let own = score(survey.number(choice.question));
            assert!(own >= best - 1e-13, "{policy:?}: {own} {best}");
            assert_eq!(all[survey.number(choice.question)], choice.information);
            state.make(choice.question);
        }
    }
    Ok(())
}

/// What every measurement tells of the function, by its number.
fn of_function(survey: &Survey<'_>, state: &State<'_, '_>) -> Vec<f64> {
    let numbers = 0..survey.len();
    numbers
        .map(|number| state.information(survey.question(number)))
        .collect()
}

/// No measurement tells more for those that are chosen before it.
#[test]
fn what_is_chosen_leaves_less_to_tell() {
    let survey = mixed(12);
    let mut state = State::new(&survey);
    let mut before = of_function(&survey, &state);
    for number in [3, 17, 30, 3, 26, 14] {
        state.make(survey.question(number));
        let after = of_function(&survey, &state);
        for (a, b) in after.iter().zip(&before) {
            // Entropies are right to some roundings of a nat.
            assert!(*a <= b + 1e-13 && *a >= 0.0, "{a} {b}");
        }
        before = after;
    }
}

#[test]
fn budgets_are_kept_and_policies_do_what_they_say() -> Result<(), InputError> {
    let survey = Survey {
        targets: vec![4, 11],
        ..mixed(15)
    };
    for policy in Policy::ALL {
        let plan = Plan {
            policy,
            batch: 20,
            budget: Some(41.0),
            seed: 3,
            limit: Some(0.1),
            ..Plan::default()
        };
        let chosen = choose(&survey, &plan)?;
        let costs = chosen
            .choices
            .iter()
            .map(|c| survey.kinds[c.question.kind].cost);
        let cost: f64 = costs.sum();
        // Not even the cheapest is left to be paid.
        assert!(cost <= 41.0 && cost > 38.0, "{policy:?} {cost}");
        assert_eq!(chosen, choose(&survey, &plan)?, "{policy:?}");
    }
    let first = |policy| -> Result<usize, InputError> {
        let plan = Plan {
            policy,
            ..Plan::default()
        };
        Ok(choose(&survey, &plan)?.choices[0].question.kind)
    };
    assert_eq!(first(Policy::Information)?, 0);
    assert_eq!(first(Policy::PerCost)?, 2);
    // With five steps and 60 to spend, twelve are spent anyway: the dear one is worth it.
    let plan = Plan {
        policy: Policy::Pace,
        batch: 5,
        budget: Some(60.0),
        ..Plan::default()
    };
    assert_eq!(choose(&survey, &plan)?.choices[0].question.kind, 0);
    Ok(())
}

#[test]
fn a_place_is_repeated_where_that_is_best() -> Result<(), InputError> {
    let k = [[1.0, 0.0], [0.0, 1e-3]];
    let dense = Dense::new(vec![0.0; 2], Mat::from_fn(2, 2, |i, j| k[i][j]))?;
    let reports = vec![Report::Value(Value { noise: 0.5 })];
    let survey = survey_of(dense, vec![kind("point", 1.0)], reports);
    let plan = Plan {
        batch: 3,
        ..Plan::default()
    };
    let chosen = choose(&survey, &plan)?;
    assert!(chosen.choices.iter().all(|c| c.question.place == 0));
    let even = survey_of(
        Dense::new(
            vec![0.0; 2],
            Mat::from_fn(2, 2, |i, j| f64::from(u8::from(i == j))),
        )?,
        vec![kind("point", 1.0)],
        vec![Report::Value(Value { noise: 0.5 })],
    );
    let places: Vec<usize> = choose(&even, &Plan { batch: 2, ..plan })?
        .choices
        .iter()
        .map(|c| c.question.place)
        .collect();
    assert_eq!(places, [0, 1]);
    Ok(())
}

/// The fall of the mean variance is what conditioning on the row leaves.
#[test]
fn falls_of_variance_are_those_of_conditioning() -> Result<(), InputError> {
    let (survey, noise) = meters(7);
    let plan = Plan {
        policy: Policy::Variance,
        batch: 3,
        ..Plan::default()
    };
    let chosen = choose(&survey, &plan)?;
    let joint = &survey.members[0].joint;
    let mut asked: Vec<Question> = Vec::new();
    let left = |asked: &[Question]| -> Result<f64, InputError> {
        let n = asked.len();
        let ky = Mat::from_fn(n, n, |i, j| {
            let own = if i == j { noise[asked[i].kind] } else { 0.0 };
            joint.column(asked[i].place)[asked[j].place] + own
        });
        let factor = Cholesky::factor(ky.as_ref()).map_err(|_| InputError::Empty)?;
        let each = (0..7).map(|t| {
            let c: Vec<f64> = asked.iter().map(|q| joint.column(q.place)[t]).collect();
            let solved = factor.solve(&c);
            joint.variance()[t] - c.iter().zip(&solved).map(|(a, b)| a * b).sum::<f64>()
        });
        Ok(each.sum())
    };
    for choice in &chosen.choices {
        let mut best = f64::INFINITY;
        for number in 0..survey.len() {
            let mut with = asked.clone();
            with.push(survey.question(number));
            best = best.min(left(&with)?);
        }
        asked.push(choice.question);
        let own = left(&asked)?;
        // Costs are equal; sums of seven variances of order one.
        assert!(own <= best + 1e-12, "{own} {best}");
    }
    Ok(())
}

/// Parts that do not fit together, and more choices than memory holds.
#[test]
fn surveys_that_do_not_fit_are_refused() {
    let plan = Plan::default();
    let is_shape =
        |survey: &Survey<'_>| matches!(choose(survey, &plan), Err(InputError::Shape { .. }));
    let is_range =
        |survey: &Survey<'_>| matches!(choose(survey, &plan), Err(InputError::Range { .. }));
    let mut few = mixed(4);
    few.members[0].reports.pop();
    assert!(is_shape(&few));
    let mut sizes = mixed(4);
    let other = mixed(5).members.remove(0);
    sizes.members.push(other);
    assert!(is_shape(&sizes));
    for first in [1, usize::MAX] {
        let mut late = mixed(4);
        late.kinds[1].first = first;
        assert!(is_range(&late));
    }
    let mut target = mixed(4);
    target.targets = vec![3, 4];
    assert!(is_range(&target));
    let covariance = Mat::from_fn(2, 3, |_, _| 1.0);
    assert!(matches!(
        Dense::new(vec![0.0; 2], covariance),
        Err(InputError::Shape { .. })
    ));
    let survey = mixed(4);
    for (kind, place) in [(3, 0), (0, 4)] {
        assert_eq!(survey.of_hyperparameters(Question { kind, place }), None);
    }
    // Four latent values: 125e6 / 4 choices are too many, but for what the budget pays.
    let plan = Plan {
        batch: 40_000_000,
        ..plan
    };
    assert!(matches!(
        choose(&survey, &plan),
        Err(InputError::Unavailable { .. })
    ));
    let budget = Some(6.0);
    assert!(choose(&survey, &Plan { budget, ..plan }).is_ok());
}

#[test]
fn what_cannot_be_chosen_is_refused() {
    let survey = mixed(4);
    let plan = Plan::default();
    let bad = [
        Plan { batch: 0, ..plan },
        Plan {
            budget: Some(2.9),
            ..plan
        },
        Plan {
            budget: Some(f64::NAN),
            ..plan
        },
    ];
    for plan in bad {
        assert!(matches!(
            choose(&survey, &plan),
            Err(InputError::Range { .. })
        ));
    }
    for cost in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let mut survey = mixed(4);
        survey.kinds[1].cost = cost;
        assert!(matches!(
            choose(&survey, &plan),
            Err(InputError::Range { .. })
        ));
    }
    let mut none = mixed(4);
    none.places = 0;
    assert!(matches!(choose(&none, &plan), Err(InputError::Empty)));
}

/// Of readings with next to no noise at one place the second halves what the first left, and so on:
/// `I_n = log(1 + 1 / (n - 1)) / 2`.
#[test]
fn readings_at_one_place_tell_ever_less_whatever_their_noise() -> Result<(), InputError> {
    for noise in [1e-3, 1e-9, 1e-12] {
        let reports = vec![Report::Value(Value { noise })];
        let survey = survey_of(joint(1), vec![kind("good", 1.0)], reports);
        let plan = Plan {
            batch: 4,
            ..Plan::default()
        };
        let chosen = choose(&survey, &plan)?;
        for (n, choice) in chosen.choices.iter().enumerate().skip(1) {
            let expected = 0.5 * (1.0 / n as f64).ln_1p();
            // The share `noise / v` of the variance is left of a difference of numbers of order one.
            let off = (choice.information - expected).abs();
            assert!(off < 1e-3 + 1e-15 / noise, "{noise} {n}: {off}");
        }
    }
    Ok(())
}
