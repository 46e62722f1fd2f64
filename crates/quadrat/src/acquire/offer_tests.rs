//! Measurements of a posterior.

use super::state::State;
use super::*;
use crate::error::{FitError, InputError};
use crate::kernel::Kernel;
use crate::likelihood::{Interval, Ordinal, Thresholds};
use crate::model::{
    FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Posterior, Scale, Setting,
};
use crate::support::{Aggregate, Functionals};

/// A line seen through values, intervals and ranks, in some units of place and value.
fn fitted(along: f64, unit: f64, how: Hyperparameters) -> Result<Posterior, FitError> {
    let x: Vec<f64> = [0.2, 1.1, 1.9, 3.2, 4.1, 5.0]
        .iter()
        .map(|x| x * along)
        .collect();
    let y: Vec<f64> = [0.3, 0.9, 0.7, -0.4, -0.8, -0.2]
        .iter()
        .map(|y| y * unit)
        .collect();
    let noise = || Noise::Known(vec![0.01 * unit * unit; 6]);
    let at = |shift: f64| {
        let x: Vec<f64> = x.iter().map(|x| x + shift * along).collect();
        Functionals::points("x", &x)
    };
    let lower: Vec<f64> = y.iter().map(|y| y - 0.2 * unit).collect();
    let upper: Vec<f64> = y.iter().map(|y| y + 0.3 * unit).collect();
    let thresholds = vec![-0.3 * unit, 0.5 * unit];
    let ranks = y
        .iter()
        .map(|y| 1 + thresholds.iter().filter(|t| y > t).count());
    let ranks = Ordinal::new(
        ranks.collect(),
        Thresholds::Known(thresholds.clone()),
        noise(),
    )?;
    let value = |v| Setting::fixed(v);
    Model::new(Kernel::se(["x"]))
        .mean(Mean::Zero)
        .observe(Observations::gaussian(at(0.0)?, y.clone(), noise())?)
        .observe(Observations::new(
            at(0.03)?,
            Interval::new(lower, upper, noise())?,
        )?)
        .observe(Observations::new(at(0.05)?, ranks)?)
        .set("se.variance", value(unit * unit))
        .set("se.lengthscale.x", value(along))
        .fit(&FitOptions::default().with_hyperparameters(how))
}

fn offers(width: f64) -> Vec<Offer> {
    let one = |name: &str, table, cost, amount| Offer {
        name: name.to_owned(),
        table,
        cost,
        amount,
        as_interval: false,
        limits: None,
    };
    vec![
        one("point", 0, 10.0, None),
        one("interval", 1, 7.0, Some(width)),
        one("ordinal", 2, 3.0, None),
    ]
}

fn chosen_of(posterior: &Posterior, along: f64, width: f64) -> Result<Chosen, FitError> {
    let x: Vec<f64> = (0..60).map(|i| along * f64::from(i) * 0.12).collect();
    let at = Functionals::points("x", &x)?;
    let offers = offers(width);
    let places = Places::new(posterior, &at, &offers, None)?;
    let survey = survey(posterior, &places, &offers)?;
    let plan = Plan {
        batch: 5,
        ..Plan::default()
    };
    Ok(choose(&survey, &plan)?)
}

/// In other units the same is chosen, and it tells as much.
#[test]
fn units_do_not_matter() -> Result<(), FitError> {
    let plain = chosen_of(&fitted(1.0, 1.0, Hyperparameters::Map)?, 1.0, 0.5)?;
    let other = chosen_of(&fitted(1000.0, 0.01, Hyperparameters::Map)?, 1000.0, 0.005)?;
    for (a, b) in plain.information.iter().zip(&other.information) {
        // Sites end where they move by less than 1e-6 sd or so.
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
    let asked =
        |chosen: &Chosen| -> Vec<Question> { chosen.choices.iter().map(|c| c.question).collect() };
    assert_eq!(asked(&plain), asked(&other));
    Ok(())
}

/// Of a posterior: information is that of its variances, and measuring the chosen values leaves
/// the variances that were expected.
#[test]
fn measuring_what_was_chosen_leaves_what_was_expected() -> Result<(), FitError> {
    let posterior = fitted(1.0, 1.0, Hyperparameters::Map)?;
    let x: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.2).collect();
    let at = Functionals::points("x", &x)?;
    let offer = &offers(0.5)[..1];
    let places = Places::new(&posterior, &at, offer, None)?;
    let survey = survey(&posterior, &places, offer)?;
    let plan = Plan {
        batch: 4,
        ..Plan::default()
    };
    let chosen = choose(&survey, &plan)?;
    let sd = posterior.predict(&at, Scale::Latent)?;
    for (told, sd) in chosen.information.iter().zip(sd.sd()) {
        // Rounding of variances that are the prior's, of order one, less what rows say, over a
        // noise of 0.01.
        assert!((told - 0.5 * (sd * sd / 0.01).ln_1p()).abs() < 1e-9);
    }
    let mut state = State::new(&survey);
    let mut own = Vec::new();
    for choice in &chosen.choices {
        state.make(choice.question);
        own.push(x[choice.question.place]);
    }
    let more = Functionals::points("x", &own)?;
    let values = vec![0.1; 4];
    let more = Observations::gaussian(more, values, Noise::Known(vec![0.01; 4]))?;
    let after = posterior.condition(more)?.predict(&at, Scale::Latent)?;
    for (expected, sd) in state.variance(0).iter().zip(after.sd()) {
        // Sites of the ranks and intervals move a little with the new values.
        assert!((expected - sd * sd).abs() < 2e-3, "{expected} {}", sd * sd);
    }
    Ok(())
}

/// An average over a stretch is a measurement like any other.
#[test]
fn stretches_may_be_measured() -> Result<(), FitError> {
    let posterior = fitted(1.0, 1.0, Hyperparameters::Map)?;
    let ends = [(0.0, 1.0), (5.0, 7.0), (6.0, 6.5)];
    let at = Functionals::intervals("x", &ends, Aggregate::Mean)?;
    let offer = &offers(0.5)[..1];
    let places = Places::new(&posterior, &at, offer, None)?;
    let chosen = choose(&survey(&posterior, &places, offer)?, &Plan::default())?;
    let sd = posterior.predict(&at, Scale::Latent)?;
    for (told, sd) in chosen.information.iter().zip(sd.sd()) {
        // As above: rounding of the prior's variance over a noise of 0.01.
        assert!((told - 0.5 * (sd * sd / 0.01).ln_1p()).abs() < 1e-9);
    }
    // The shorter stretch at the edge is known less.
    assert_eq!(chosen.choices[0].question.place, 2);
    Ok(())
}

/// A table that cannot be asked, a width that is not known, a table that is not there.
#[test]
fn offers_without_an_answer_are_refused() -> Result<(), FitError> {
    let posterior = fitted(1.0, 1.0, Hyperparameters::Map)?;
    let at = Functionals::points("x", &[0.5])?;
    let mut offer = offers(0.5)[1].clone();
    offer.amount = Some(-1.0);
    let places = Places::new(&posterior, &at, std::slice::from_ref(&offer), None)?;
    assert!(survey(&posterior, &places, std::slice::from_ref(&offer)).is_err());
    // All rows are 0.5 wide: that of a new one is known.
    offer.amount = None;
    assert!(survey(&posterior, &places, std::slice::from_ref(&offer)).is_ok());
    offer.table = 9;
    assert!(Places::new(&posterior, &at, &[offer], None).is_err());
    Ok(())
}

/// Two sensors of two functions: each tells of its own, and measuring the one leaves less to tell
/// of the other.
#[test]
fn outputs_are_measured_by_their_own_tables() -> Result<(), FitError> {
    let kernel =
        Kernel::parse("coregion(site, north, south) * se(x)").map_err(|_| InputError::Empty)?;
    let table = |name: &str, x: &[f64], y: &[f64]| -> Result<Observations, InputError> {
        let noise = Noise::Known(vec![0.04; x.len()]);
        let rows = Observations::gaussian(Functionals::points("x", x)?, y.to_vec(), noise)?;
        Ok(rows.of_output(name))
    };
    let posterior = Model::new(kernel)
        .observe(table(
            "north",
            &[0.0, 1.0, 2.0, 3.0, 4.0],
            &[0.1, 0.8, 0.9, 0.2, -0.7],
        )?)
        .observe(table("south", &[0.5, 1.5, 3.5], &[0.6, 1.1, -0.3])?)
        .fit(&FitOptions::default().with_hyperparameters(Hyperparameters::Map))?;
    let offer = |name: &str, table, cost| Offer {
        name: name.to_owned(),
        table,
        cost,
        amount: None,
        as_interval: false,
        limits: None,
    };
    let offers = [offer("north", 0, 1.0), offer("south", 1, 1.0)];
    let at = Functionals::points("x", &[0.7, 2.4, 3.8, 5.5])?;
    let places = Places::new(&posterior, &at, &offers, None)?;
    let survey = survey(&posterior, &places, &offers)?;
    let plan = Plan {
        batch: 2,
        ..Plan::default()
    };
    let chosen = choose(&survey, &plan)?;
    for (kind, output) in ["north", "south"].into_iter().enumerate() {
        let own = posterior.predict(&posterior.at_output(&at, output)?, Scale::Latent)?;
        for (place, sd) in own.sd().iter().enumerate() {
            let told = chosen.information[kind * 4 + place];
            // Rounding of variances of order one, over a noise of 0.04.
            assert!(
                (told - 0.5 * (sd * sd / 0.04).ln_1p()).abs() < 1e-9,
                "{output} {place}"
            );
        }
    }
    // Far from all rows both functions are open; the second is asked beside the first.
    let second = chosen.choices[1];
    let alone = chosen.information[second.question.kind * 4 + second.question.place];
    assert!(second.information < alone);
    Ok(())
}
