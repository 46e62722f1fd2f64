//! Information about exceeding a limit against brute force.

use super::exceed::Exceed;
use super::state::State;
use super::*;
use crate::error::{FitError, InputError};
use crate::kernel::Kernel;
use crate::likelihood::{Noise, Poisson};
use crate::linalg::Mat;
use crate::link::Link;
use crate::model::{FitOptions, Hyperparameters, Model, Observations, Posterior, Scale};
use crate::special::scalar::normal_cdf;
use crate::support::Functionals;

const NOISE: f64 = 0.3;

/// Three correlated latent values, of which the last is to be known.
fn three() -> Survey<'static> {
    let k = [[1.0, 0.3, 0.7], [0.3, 1.5, 0.6], [0.7, 0.6, 1.2]];
    let joint = Dense::new(vec![0.2, -0.4, 0.5], Mat::from_fn(3, 3, |i, j| k[i][j]));
    Survey {
        places: 2,
        kinds: vec![Kind {
            name: "value".to_owned(),
            cost: 1.0,
            first: 0,
        }],
        members: vec![Member {
            weight: 1.0,
            joint: Box::new(joint.unwrap()),
            reports: vec![Report::Value(Value { noise: NOISE })],
        }],
        targets: vec![2],
    }
}

fn entropy(p: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    part(p) + part(1.0 - p)
}

/// Of one and of two readings: `H(b) - E H(b | y)`, `b` whether the target exceeds the limit, by a
/// lattice over the readings.
#[test]
fn readings_tell_of_a_limit_what_a_lattice_says() -> Result<(), InputError> {
    let survey = three();
    let (mean, limit) = (survey.members[0].joint.mean().to_vec(), 0.1);
    let k = |i: usize, j: usize| survey.members[0].joint.column(i)[j];
    // Readings in units of their sds, and what each says of the target: by the factor of their
    // covariance.
    let first = (k(0, 0) + NOISE).sqrt();
    let across = k(0, 1) / first;
    let second = (k(1, 1) + NOISE - across * across).sqrt();
    let slopes = [k(2, 0) / first, 0.0];
    let slopes = [slopes[0], (k(2, 1) - across * slopes[0]) / second];
    let doubt = |seen: usize| -> f64 {
        let own = &slopes[..seen];
        let left = (k(2, 2) - own.iter().map(|s| s * s).sum::<f64>()).sqrt();
        let step = 0.05;
        let nodes: Vec<f64> = (-160..=160).map(|i| f64::from(i) * step).collect();
        let weight = |z: f64| step * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
        let at = |shift: f64| entropy(normal_cdf((mean[2] - limit + shift) / left));
        match own {
            [] => at(0.0),
            [a] => nodes.iter().map(|z| weight(*z) * at(a * z)).sum(),
            [a, b] => {
                let inner =
                    |z: f64| -> f64 { nodes.iter().map(|w| weight(*w) * at(a * z + b * w)).sum() };
                nodes.iter().map(|z| weight(*z) * inner(*z)).sum()
            }
            _ => unreachable!(),
        }
    };
    let mut state = State::new(&survey);
    let mut exceed = Exceed::new(&survey, Some(limit))?;
    for place in 0..2 {
        let asked = Question { kind: 0, place };
        let told = exceed.information(&survey, &state, asked);
        let expected = doubt(place) - doubt(place + 1);
        // The polynomial of a doubt is right to 1e-11.
        assert!((told - expected).abs() < 1e-10, "{told} {expected}");
        state.make(asked);
        exceed.follow(&state);
    }
    Ok(())
}

fn fitted(rows: Observations) -> Result<Posterior, FitError> {
    Model::new(Kernel::se(["x"]))
        .observe(rows)
        .fit(&FitOptions::default().with_hyperparameters(Hyperparameters::Map))
}

fn offer(table: usize) -> Offer {
    Offer {
        name: "point".to_owned(),
        table,
        cost: 1.0,
        amount: None,
        as_interval: false,
        limits: None,
    }
}

/// The measurement is made where the function crosses the limit and is not well known, not where
/// it is least known.
#[test]
fn measurements_are_made_where_the_limit_is_crossed() -> Result<(), FitError> {
    let x: Vec<f64> = (0..11).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| x + (0.8 * x).sin()).collect();
    let rows = Observations::gaussian(
        Functionals::points("x", &x)?,
        y,
        Noise::Known(vec![0.2; 11]),
    )?;
    let posterior = fitted(rows)?;
    let at: Vec<f64> = (0..61).map(|i| -1.0 + f64::from(i) * 0.2).collect();
    let at = Functionals::points("x", &at)?;
    let offers = [offer(0)];
    let places = Places::new(&posterior, &at, &offers, None)?;
    let survey = survey(&posterior, &places, &offers)?;
    let limit = Some(latent_limit(&posterior, &offers, 5.0)?);
    assert_eq!(limit, Some(5.0));
    let plan = |policy| Plan {
        policy,
        limit,
        ..Plan::default()
    };
    let chosen = choose(&survey, &plan(Policy::Exceedance))?.choices[0];
    let p = posterior.predict(&at, Scale::Latent)?;
    let place = chosen.question.place;
    // Places are 0.2 apart and the slope is at most 1.8, so that the nearest mean lies within 0.2
    // of the limit; the choice also weighs how little is known there.
    assert!((p.mean()[place] - 5.0).abs() < 0.5, "{}", p.mean()[place]);
    let plain = choose(&survey, &plan(Policy::Information))?.choices[0];
    assert!(plain.question.place == 0 || plain.question.place == 60);
    for limit in [None, Some(f64::NAN)] {
        let plan = Plan {
            limit,
            ..plan(Policy::Exceedance)
        };
        assert!(choose(&survey, &plan).is_err(), "{limit:?}");
    }
    Ok(())
}

/// A limit of a rate is that of the function behind the link, where predictions have the same
/// chance to exceed it; no rate is negative.
#[test]
fn limits_of_rates_are_behind_the_link() -> Result<(), FitError> {
    let at = Functionals::points("x", &[0.0, 1.0, 2.0, 3.0, 4.0])?;
    let rows = Poisson::new(vec![3.0, 5.0, 9.0, 4.0, 2.0], vec![1.0; 5], Link::Exp)?;
    let posterior = fitted(Observations::new(at.clone(), rows)?)?;
    let latent = latent_limit(&posterior, &[offer(0)], 4.0)?;
    let response = posterior.predict(&at, Scale::Response)?.exceedance(4.0);
    let function = posterior.predict(&at, Scale::Latent)?.exceedance(latent);
    for (a, b) in response.iter().zip(&function) {
        // One normal distribution function, at arguments that differ by rounding.
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
    assert!(latent_limit(&posterior, &[offer(0)], -1.0).is_err());
    assert!(latent_limit(&posterior, &[offer(7)], 1.0).is_err());
    assert!(latent_limit(&posterior, &[], 1.0).is_err());
    Ok(())
}
