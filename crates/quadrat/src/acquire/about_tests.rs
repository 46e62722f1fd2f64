//! Information about targets against determinants and brute force.

use super::about::About;
use super::state::State;
use super::*;
use crate::error::InputError;
use crate::linalg::{Cholesky, Mat};
use crate::special::scalar::normal_cdf;

/// Correlated latent values on a line; the last `targets` of them are to be known.
fn survey(n: usize, targets: Vec<usize>, reports: Vec<Report>) -> Survey<'static> {
    let covariance = Mat::from_fn(n, n, |i, j| {
        let apart = 0.6 * (i as f64 - j as f64);
        (1.0 + 0.2 * i as f64).sqrt() * (1.0 + 0.2 * j as f64).sqrt() * (-0.5 * apart * apart).exp()
    });
    let mean = (0..n).map(|i| 0.4 * (3.0 * i as f64).sin()).collect();
    let kinds = (0..reports.len()).map(|i| Kind {
        name: format!("kind {i}"),
        cost: 1.0 + i as f64,
        first: 0,
    });
    Survey {
        places: n - targets.len(),
        kinds: kinds.collect(),
        members: vec![Member {
            weight: 1.0,
            joint: Box::new(Dense::new(mean, covariance).unwrap()),
            reports,
        }],
        targets,
    }
}

/// `log det` of the covariance of latent values, some with noise.
fn log_det(survey: &Survey<'_>, rows: &[(usize, f64)]) -> f64 {
    let joint = &survey.members[0].joint;
    let k = Mat::from_fn(rows.len(), rows.len(), |i, j| {
        let noise = if i == j { rows[i].1 } else { 0.0 };
        joint.column(rows[i].0)[rows[j].0] + noise
    });
    Cholesky::factor(k.as_ref()).unwrap().log_det()
}

/// Of values, one after the other, what the determinants say: `I(y; t) = log(|K_y| |K_t| / |K_yt|) /
/// 2`. A target that is given twice tells nothing more.
#[test]
fn values_tell_of_targets_what_determinants_say() -> Result<(), InputError> {
    let noise = 0.3;
    for targets in [vec![6, 7], vec![6, 7, 6]] {
        let survey = Survey {
            places: 6,
            ..survey(8, targets, vec![Report::Value(Value { noise })])
        };
        let plan = Plan {
            policy: Policy::Target,
            batch: 4,
            ..Plan::default()
        };
        let chosen = choose(&survey, &plan)?;
        let mut told = 0.0;
        let mut made: Vec<(usize, f64)> = Vec::new();
        for choice in &chosen.choices {
            told += choice.information;
            made.push((choice.question.place, noise));
            let known = [(6, 0.0), (7, 0.0)];
            let both: Vec<(usize, f64)> = made.iter().chain(&known).copied().collect();
            let expected = 0.5
                * (log_det(&survey, &made) + log_det(&survey, &known) - log_det(&survey, &both));
            // Determinants of matrices whose condition is some thousands.
            assert!((told - expected).abs() < 1e-11, "{told} {expected}");
        }
        // The first is the best of all places: the one next to the targets.
        assert_eq!(chosen.choices[0].question.place, 5);
        let best = chosen.information.iter().copied().fold(0.0, f64::max);
        assert_eq!(best, chosen.choices[0].information);
    }
    Ok(())
}

/// Of a rank, by summing over a fine lattice of the target.
#[test]
fn ranks_tell_of_a_target_what_a_lattice_says() -> Result<(), InputError> {
    let (thresholds, noise) = (vec![-0.3, 0.8], 0.05);
    let reports = vec![Report::Ranks(Ranks::new(thresholds.clone(), noise))];
    let survey = survey(5, vec![4], reports);
    let state = State::new(&survey);
    let about = About::new(&survey)?;
    let joint = &survey.members[0].joint;
    for place in 0..4 {
        let (mean, variance) = (joint.mean()[place], joint.variance()[place]);
        let shared = joint.column(4)[place] / joint.variance()[4].sqrt();
        let chances = |mean: f64, variance: f64| -> Vec<f64> {
            let sd = (variance + noise).sqrt();
            let below = thresholds.iter().map(|t| normal_cdf((t - mean) / sd));
            let ends: Vec<f64> = std::iter::once(0.0).chain(below).chain([1.0]).collect();
            ends.windows(2).map(|pair| pair[1] - pair[0]).collect()
        };
        let all = chances(mean, variance);
        let step = 0.01;
        let lattice = (-900..=900).map(|i| f64::from(i) * step);
        let expected: f64 = lattice
            .map(|z| {
                let density = step * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
                let given = chances(mean + shared * z, variance - shared * shared);
                let nats = given.iter().zip(&all).filter(|(p, _)| **p > 0.0);
                density * nats.map(|(p, q)| p * (p / q).ln()).sum::<f64>()
            })
            .sum();
        let told = about.information(&survey, &state, Question { kind: 0, place });
        // Two differences of entropies, each of which is right to 1e-10 or so.
        assert!((told - expected).abs() < 1e-9, "{told} {expected}");
        assert!(told < state.information(Question { kind: 0, place }));
    }
    Ok(())
}

/// A target that is a place is told of as the function there is; one apart not at all.
#[test]
fn targets_may_be_places_or_apart() -> Result<(), InputError> {
    let noise = 0.2;
    let covariance = Mat::from_fn(3, 3, |i, j| f64::from(u8::from(i == j)));
    let survey = Survey {
        places: 2,
        kinds: vec![Kind {
            name: "value".to_owned(),
            cost: 1.0,
            first: 0,
        }],
        members: vec![Member {
            weight: 1.0,
            joint: Box::new(Dense::new(vec![0.0; 3], covariance)?),
            reports: vec![Report::Value(Value { noise })],
        }],
        targets: vec![1],
    };
    let (about, state) = (About::new(&survey)?, State::new(&survey));
    let told = |place| about.information(&survey, &state, Question { kind: 0, place });
    assert_eq!(told(0), 0.0);
    // The same formula twice: roundings of a number of order one.
    assert!((told(1) - 0.5 * (1.0 / noise).ln_1p()).abs() < 1e-12);
    Ok(())
}

#[test]
fn information_about_nothing_is_refused() {
    let survey = survey(3, Vec::new(), vec![Report::Value(Value { noise: 0.1 })]);
    let plan = Plan {
        policy: Policy::Target,
        ..Plan::default()
    };
    assert!(matches!(
        choose(&survey, &plan),
        Err(InputError::Unavailable { .. })
    ));
}
