//! The robot of the binned paper (Table 1), at the optimum established in high precision:
//! variance 60.73, lengthscale 9.522 (standard convention), noise 0.578, log evidence -10.729,
//! speed at 5 s 5.052 +- 0.574 (95 %, latent) and +- 1.597 with noise.

#![allow(clippy::unwrap_used, clippy::panic)]

use quadrat::kernel::Kernel;
use quadrat::model::{
    FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::parameter::PriorDensity;
use quadrat::support::{Aggregate, Functionals};

fn fit(hyperparameters: Hyperparameters) -> Posterior {
    let edges = [(0.0, 8.0), (2.5, 3.5), (4.0, 6.0), (7.0, 8.0)];
    let distance = vec![33.47, 3.49, 9.56, 8.27];
    let supports = Functionals::intervals("time", &edges, Aggregate::Sum).unwrap();
    let mut model = Model::new(Kernel::se(["time"]))
        .mean(Mean::Zero)
        .observe(Observations::gaussian(supports, distance, Noise::Learned).unwrap());
    for name in ["se.variance", "se.lengthscale.time", "noise.variance"] {
        model = model.set(name, Setting::prior(PriorDensity::Flat));
    }
    model
        .fit(&FitOptions::default().with_hyperparameters(hyperparameters))
        .unwrap()
}

#[test]
fn maximum_likelihood_reaches_the_known_optimum() {
    let posterior = fit(Hyperparameters::Map);
    // All to the last digit that is known, the evidence to half of it.
    let summary = posterior.summary();
    assert!(summary.converged);
    assert!(
        (summary.log_evidence + 10.729).abs() < 5e-4,
        "{}",
        summary.log_evidence
    );
    let value = |name: &str| {
        summary
            .hyperparameters
            .iter()
            .find(|h| h.name == name)
            .unwrap()
            .value
    };
    // One unit of the last digit that is known, here and below.
    assert!((value("se.variance") - 60.73).abs() < 0.01);
    assert!((value("se.lengthscale.time") - 9.522).abs() < 1e-3);
    assert!((value("noise.variance") - 0.578).abs() < 1e-3);
    let at = Functionals::points("time", &[5.0]).unwrap();
    let p = posterior.predict(&at, Scale::Latent).unwrap();
    assert!((p.mean()[0] - 5.052).abs() < 1e-3);
    assert!((1.959_964 * p.sd()[0] - 0.574).abs() < 1e-3);
    let noisy = posterior.predict(&at, Scale::Observation).unwrap();
    // As above.
    assert!((1.959_964 * noisy.sd()[0] - 1.597).abs() < 1e-3);
}
