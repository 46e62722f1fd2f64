//! A composition that no study file can write: points, a histogram and weighted nodes of one curve,
//! a kernel put together with operators, fixed parameters, draws, and rows added after the fit.
//!
//! The curve is a rate over the hours of a day. Three instruments report on it: a sensor that reads
//! it now and then, a counter that totals it over six-hour shifts, and a model that reports the
//! difference between two moments.
//!
//! `cargo run --release --example custom_composition`

use quadrat::kernel::Kernel;
use quadrat::model::{
    FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Scale, Setting,
};
use quadrat::parameter::PriorDensity;
use quadrat::support::{Aggregate, Functionals};

/// The true rate, to make data from and to compare with.
fn truth(t: f64) -> f64 {
    20.0 + 6.0 * (std::f64::consts::TAU * t / 24.0).sin() + 0.2 * t
}

/// Its total over an interval.
fn total(from: f64, to: f64) -> f64 {
    let c = std::f64::consts::TAU / 24.0;
    let antiderivative = |t: f64| 20.0 * t - 6.0 * (c * t).cos() / c + 0.1 * t * t;
    antiderivative(to) - antiderivative(from)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Four readings, each with its own known variance.
    let times = [1.0, 9.0, 14.5, 22.0];
    let readings = Observations::gaussian(
        Functionals::points("t", &times)?,
        times.iter().map(|&t| truth(t)).collect(),
        Noise::Known(vec![0.25, 0.25, 1.0, 0.25]),
    )?;
    // Totals of shifts, edges in either order; their noise is learned.
    let shifts = [(0.0, 6.0), (12.0, 6.0), (12.0, 18.0), (18.0, 24.0)];
    let totals = Observations::gaussian(
        Functionals::intervals("t", &shifts, Aggregate::Sum)?,
        shifts
            .iter()
            .map(|s| total(s.0.min(s.1), s.0.max(s.1)))
            .collect(),
        Noise::Learned,
    )?;
    // A difference of two moments: nodes with weights of either sign.
    let mut difference = Functionals::new(vec!["t".into()]);
    difference.push_nodes(&[vec![18.0], vec![6.0]], &[1.0, -1.0])?;
    let drop = Observations::gaussian(
        difference,
        vec![truth(18.0) - truth(6.0)],
        Noise::Known(vec![0.01]),
    )?;

    // A daily rhythm that drifts, and a trend. The period is known, and so is the smoothness of a
    // cycle.
    let rhythm = Kernel::se(["t"]) * Kernel::periodic("t", Some(24.0));
    let posterior = Model::new(rhythm + Kernel::linear(["t"]))
        .mean(Mean::Constant)
        .observe(readings)
        .observe(totals)
        .observe(drop)
        .set("periodic.lengthscale.t", Setting::fixed(1.5))
        .set(
            "se.lengthscale.t",
            Setting::prior(PriorDensity::LogNormal {
                mu: 72f64.ln(),
                sigma: 0.5,
            }),
        )
        .fit(
            &FitOptions::default()
                .with_hyperparameters(Hyperparameters::Integrate)
                .with_seed(7),
        )?;
    let summary = posterior.summary();
    assert!(summary.converged);
    println!(
        "{} rows, log evidence {:.2} nats",
        summary.rows, summary.log_evidence
    );
    for hyper in &summary.hyperparameters {
        println!(
            "  {:<24} {:>9.3}  ({})",
            hyper.name, hyper.value, hyper.meaning
        );
    }

    // The same curve through other supports: by the hour, and over the working day.
    let hours: Vec<(f64, f64)> = (0..24).map(|h| (f64::from(h), f64::from(h + 1))).collect();
    let hourly = Functionals::intervals("t", &hours, Aggregate::Mean)?;
    let p = posterior.predict(&hourly, Scale::Response)?;
    let (lower, upper) = (p.quantile(0.025), p.quantile(0.975));
    let inside = (0..24)
        .filter(|&h| (lower[h]..=upper[h]).contains(&total(hours[h].0, hours[h].1)))
        .count();
    println!("{inside} of 24 hourly means lie inside their 95 % interval");
    assert!(inside >= 22);

    // Draws are joint: anything computed from them carries the right uncertainty.
    let draws = posterior.sample(&hourly, 2000, 42)?;
    let mut at_noon_or_later = 0;
    for d in 0..draws.ncols() {
        let busiest = (0..24).max_by(|&a, &b| draws[(a, d)].total_cmp(&draws[(b, d)]));
        at_noon_or_later += usize::from(busiest >= Some(12));
    }
    println!(
        "the busiest hour is before noon in {} of 2000 draws",
        2000 - at_noon_or_later
    );
    assert!(at_noon_or_later < 200);

    // One more reading, without learning the hyperparameters again.
    let night = Functionals::points("t", &[3.5])?;
    let before = posterior.predict(&night, Scale::Latent)?.sd()[0];
    let reading =
        Observations::gaussian(night.clone(), vec![truth(3.5)], Noise::Known(vec![0.04]))?;
    let after = posterior
        .condition(reading)?
        .predict(&night, Scale::Latent)?;
    println!(
        "at 3.5 h: sd {before:.3} before and {:.3} after a reading there",
        after.sd()[0]
    );
    assert!(after.sd()[0] < before && (after.mean()[0] - truth(3.5)).abs() < 0.6);
    Ok(())
}
