//! What new rows of tables of every kind would report.

use super::*;
use crate::error::{FitError, InputError};
use crate::kernel::Kernel;
use crate::likelihood::local::{Belief, Circumstances};
use crate::likelihood::{Degrees, Laplace, Likelihood, Ordinal, Poisson, StudentT, Thresholds};
use crate::link::Link;
use crate::model::{FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Setting};
use crate::support::Functionals;

const X: [f64; 4] = [0.2, 1.1, 1.9, 3.2];
const Y: [f64; 4] = [0.3, 0.9, 0.7, -0.4];

/// What a new row like those of a table would report, noise that is learned at 0.2.
fn offered(
    likelihood: impl Into<Likelihood>,
    amount: Option<f64>,
    as_interval: bool,
) -> Result<Report, FitError> {
    let likelihood = likelihood.into();
    let is_learned = likelihood.noise().is_some_and(Noise::is_learned);
    let mut model = Model::new(Kernel::se(["x"]))
        .mean(Mean::Zero)
        .observe(Observations::new(
            Functionals::points("x", &X)?,
            likelihood,
        )?)
        .set("se.variance", Setting::fixed(1.0))
        .set("se.lengthscale.x", Setting::fixed(1.0));
    if is_learned {
        model = model.set("noise.variance", Setting::fixed(0.2));
    }
    let posterior = model.fit(&FitOptions::default().with_hyperparameters(Hyperparameters::Map))?;
    let offer = [Offer {
        name: "own".to_owned(),
        table: 0,
        cost: 1.0,
        amount,
        as_interval,
        limits: None,
    }];
    let at = Functionals::points("x", &[0.5])?;
    let places = Places::new(&posterior, &at, &offer, None)?;
    let survey = survey(&posterior, &places, &offer)?;
    Ok(survey.members[0].reports[0].clone())
}

fn nats(report: &Report) -> f64 {
    report.information(Belief {
        mean: 0.2,
        variance: 0.8,
    })
}

fn student(noise: Noise) -> Result<StudentT, InputError> {
    StudentT::new(Y.to_vec(), noise, Degrees::Known(4.0))
}

fn is_refused(report: Result<Report, FitError>) -> bool {
    matches!(
        report,
        Err(FitError::Input(
            InputError::Unavailable { .. } | InputError::Range { .. }
        ))
    )
}

/// The noise of a new value is known and learned noise together, or what is given of it.
#[test]
fn heavy_tailed_noise_is_all_of_it() -> Result<(), FitError> {
    let expected = |noise: f64| -> Result<f64, FitError> {
        let one = student(Noise::Known(vec![noise; 4]))?;
        let circumstances = Circumstances {
            variance: noise,
            ..Circumstances::default()
        };
        let one = Likelihood::from(one);
        Ok(nats(&Report::Answers(Answers::new(
            one,
            Vec::new(),
            circumstances,
        ))))
    };
    let both = || Noise::KnownPlusLearned(vec![0.5; 4]);
    let cases = [
        (both(), None, 0.7),
        (both(), Some(0.3), 0.3),
        (Noise::Learned, None, 0.2),
        (Noise::Learned, Some(0.3), 0.3),
        (Noise::Known(vec![0.5; 4]), None, 0.5),
    ];
    for (noise, amount, all) in cases {
        let told = nats(&offered(student(noise)?, amount, false)?);
        // The same quadrature at a noise of some roundings.
        assert!((told - expected(all)?).abs() < 1e-12, "{amount:?} {all}");
    }
    let differ = vec![0.5, 0.5, 0.1, 0.5];
    assert!(is_refused(offered(
        student(Noise::KnownPlusLearned(differ.clone()))?,
        None,
        false
    )));
    assert!(is_refused(offered(
        student(Noise::Known(differ))?,
        None,
        false
    )));
    // Its intervals are not those of normal noise.
    let known = student(Noise::Known(vec![0.5; 4]))?;
    assert!(is_refused(offered(known, Some(1.0), true)));
    Ok(())
}

/// Twice the squared scale is the variance; scales that differ are no one's.
#[test]
fn double_exponential_noise_is_that_of_all_rows() -> Result<(), FitError> {
    let of = |scale: [f64; 4], amount| -> Result<Report, FitError> {
        offered(Laplace::new(Y.to_vec(), scale.to_vec())?, amount, false)
    };
    let plain = nats(&of([0.6; 4], None)?);
    let given = nats(&of([0.6, 0.5, 0.6, 0.6], Some(0.72))?);
    assert!((plain - given).abs() < 1e-12, "{plain} {given}");
    assert!(nats(&of([0.6; 4], Some(2.0))?) < plain);
    assert!(is_refused(of([1.0, 100.0, 1.0, 1.0], None)));
    Ok(())
}

/// Counts of which some are hidden are not offered as if new ones were told in full.
#[test]
fn hidden_counts_are_refused() -> Result<(), FitError> {
    let (lower, upper) = (vec![0.0, 7.0, 9.0, 5.0], vec![4.0, 7.0, 9.0, 5.0]);
    let hidden = Poisson::ranges(lower, upper.clone(), vec![1.0; 4], Link::Exp)?;
    assert!(is_refused(offered(hidden, None, false)));
    let told = Poisson::new(upper, vec![1.0; 4], Link::Exp)?;
    assert!(nats(&offered(told, None, false)?) > 0.1);
    Ok(())
}

/// Ranks whose noise is nothing beside the thresholds.
#[test]
fn ranks_of_next_to_no_noise_are_refused() -> Result<(), FitError> {
    let ranks = || {
        let thresholds = Thresholds::Known(vec![0.5, 5.2]);
        Ordinal::new(vec![1, 2, 2, 1], thresholds, Noise::Known(vec![0.1; 4]))
    };
    assert!(is_refused(offered(ranks()?, Some(1e-32), false)));
    assert!(offered(ranks()?, Some(1e-20), false).is_ok());
    Ok(())
}
