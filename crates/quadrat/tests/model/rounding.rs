//! Rounded values whose noise is a function.

use quadrat::kernel::Kernel;
use quadrat::likelihood::{Censored, Degrees, Likelihood, Side, StudentT};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Model, Noise, Observations, Posterior, Scale, Setting, Varying,
};
use quadrat::support::Functionals;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson};

/// Demand by the hour: none by night, counts by day.
fn demand(days: usize) -> (Vec<f64>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let hours: Vec<f64> = (0..24 * days).map(|h| h as f64).collect();
    let one = |hour: &f64| {
        let bump = (std::f64::consts::PI * (hour % 24.0 - 7.0) / 15.0).sin();
        if hour % 24.0 <= 7.0 || bump <= 0.0 {
            return 0.0;
        }
        Poisson::new(6.0 * bump).unwrap().sample(&mut random)
    };
    let demand = hours.iter().map(one).collect();
    (hours, demand)
}

fn of(hours: &[f64], rows: impl Into<Likelihood>) -> Observations {
    Observations::new(Functionals::points("hour", hours).unwrap(), rows).unwrap()
}

fn fit(table: Observations, held: &[(&str, f64)]) -> Posterior {
    let day = || Kernel::periodic("hour", Some(24.0));
    let mut model = Model::new(day())
        .observe(table)
        .vary(Varying::Noise, day(), Link::Exp);
    for (name, value) in held {
        model = model.set(name, Setting::fixed(*value));
    }
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    model.fit(&options).unwrap()
}

#[test]
fn hours_without_any_demand_do_not_make_noise_vanish() {
    let (hours, demand) = demand(8);
    let sides = vec![Side::None; hours.len()];
    let posterior = fit(
        of(
            &hours,
            Censored::new(demand, &sides, Noise::Learned).unwrap(),
        ),
        &[],
    );
    assert!(posterior.summary().converged);
    let at = Functionals::points("hour", &[195.0, 206.5]).unwrap();
    let p = posterior.predict(&at, Scale::Observation).unwrap();
    let (night, day) = (p.sd()[0], p.sd()[1]);
    // Steps of one: 1 / 12, little else by night, and Poisson noise of six by day.
    let rounding = (1.0_f64 / 12.0).sqrt();
    assert!(night >= rounding && night < 1.3 * rounding, "{night}");
    assert!(day > 1.5 && day < 4.0, "{day}");
    assert!(p.mean()[0].abs() < 0.1, "{:?}", p.mean());
}

#[test]
fn rounding_is_a_known_variance_beside_the_function() {
    let (hours, demand) = demand(3);
    let held = [
        ("periodic.variance", 6.0),
        ("periodic.lengthscale.hour", 0.8),
        ("noise.periodic.variance", 0.5),
        ("noise.periodic.lengthscale.hour", 1.0),
    ];
    let known = |n: usize| Noise::KnownPlusLearned(vec![1.0 / 12.0; n]);
    let more = |noise| {
        Observations::gaussian(
            Functionals::points("hour", &[80.0, 85.0]).unwrap(),
            vec![2.0, 5.5],
            noise,
        )
    };
    let kinds: [&dyn Fn(Noise) -> Likelihood; 2] = [
        &|noise| {
            quadrat::likelihood::Gaussian::new(demand.clone(), noise)
                .unwrap()
                .into()
        },
        &|noise| {
            StudentT::new(demand.clone(), noise, Degrees::Known(5.0))
                .unwrap()
                .into()
        },
    ];
    let at = Functionals::points("hour", &[75.0, 84.5, 90.0]).unwrap();
    let same = |a: &Posterior, b: &Posterior, what: &str| {
        for scale in [Scale::Latent, Scale::Observation] {
            let (a, b) = (
                a.predict_as(&at, scale, Some(0)).unwrap(),
                b.predict_as(&at, scale, Some(0)).unwrap(),
            );
            for i in 0..at.len() {
                let off = (a.mean()[i] - b.mean()[i])
                    .abs()
                    .max((a.sd()[i] - b.sd()[i]).abs());
                // The same numbers but for the rounding of the step itself.
                assert!(off < 1e-9, "{what}, {scale:?}: {off}");
            }
        }
    };
    for kind in kinds {
        let rounded = fit(of(&hours, kind(Noise::Learned)), &held);
        let told = fit(of(&hours, kind(known(hours.len()))), &held);
        same(&rounded, &told, "fit");
        let back = Posterior::from_bytes(&rounded.to_bytes()).unwrap();
        same(&back, &rounded, "saved");
        // Rows that are added are rounded as those of the fit, whatever grid they are on.
        let added = rounded.condition(more(Noise::Learned).unwrap()).unwrap();
        let told = told.condition(more(known(2)).unwrap()).unwrap();
        same(&added, &told, "added");
    }
}
