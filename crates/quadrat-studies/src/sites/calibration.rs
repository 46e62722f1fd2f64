//! Coverage of the latent function for every likelihood, over simulated data sets.

use anyhow::{Context, Result};
use quadrat::kernel::Kernel;
use quadrat::likelihood::local::Circumstances;
use quadrat::likelihood::{
    Bernoulli, Binomial, Censored, Degrees, Dispersion, Exponential, Gaussian, Interval, Laplace,
    Likelihood, NegativeBinomial, Ordinal, Poisson, Sigmoid, StudentT, Thresholds,
};
use quadrat::linalg::{Cholesky, Mat};
use quadrat::link::Link;
use quadrat::model::{FitOptions, Model, Noise, Observations, Scale};
use quadrat::support::Functionals;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::report::{Report, Table};
use crate::statistics::{mean, standard_error};
use crate::steps::Steps;
use crate::study::Settings;

/// Rows, places that are judged, and the range of both.
const ROWS: usize = 40;
const PLACES: usize = 25;
const RANGE: f64 = 6.0;
/// Exposure of every count.
const EXPOSURE: f64 = 3.0;
/// Levels of the central intervals.
const LEVELS: [f64; 3] = [0.5, 0.8, 0.95];
/// Coverage may be off by this much, plus two standard errors of the simulation.
const SLACK: f64 = 0.04;

/// A likelihood: how rows arise from latent values.
struct Kind {
    name: &'static str,
    rows: fn(&[f64], &mut ChaCha8Rng) -> Result<Likelihood>,
}

const KINDS: [Kind; 12] = [
    Kind {
        name: "gaussian, noise learned",
        rows: |f, random| Ok(Gaussian::new(noisy(f, 0.3, random), Noise::Learned)?.into()),
    },
    Kind {
        name: "laplace, scale known",
        rows: |f, random| {
            let scale = vec![0.3; f.len()];
            let clean = Laplace::new(f.to_vec(), scale.clone())?;
            Ok(Laplace::new(drawn(&clean.into(), &[], f, random), scale)?.into())
        },
    },
    Kind {
        name: "student_t, four degrees, scale learned",
        rows: |f, random| {
            let clean = StudentT::new(f.to_vec(), Noise::Learned, Degrees::Known(4.0))?;
            let values = drawn(&clean.into(), &[0.04], f, random);
            Ok(StudentT::new(values, Noise::Learned, Degrees::Known(4.0))?.into())
        },
    },
    Kind {
        name: "interval, width .8, noise learned",
        rows: |f, random| {
            let values = noisy(f, 0.2, random);
            let lower: Vec<f64> = values.iter().map(|y| (y / 0.8).floor() * 0.8).collect();
            let upper = lower.iter().map(|l| l + 0.8).collect();
            Ok(Interval::new(lower, upper, Noise::Learned)?.into())
        },
    },
    Kind {
        name: "censored below -.3, noise learned",
        rows: |f, random| {
            let values = noisy(f, 0.2, random);
            let (low, high) = (vec![-0.3; f.len()], vec![f64::INFINITY; f.len()]);
            Ok(Censored::clipped(&values, &low, &high, Noise::Learned)?.into())
        },
    },
    Kind {
        name: "ordinal, four ranks",
        rows: |f, random| {
            let thresholds = vec![-0.8, 0.0, 0.8];
            let rank = |y: f64| 1 + thresholds.iter().filter(|t| **t < y).count();
            let ranks = noisy(f, 0.3, random).into_iter().map(rank).collect();
            let noise = Noise::Known(vec![0.09; f.len()]);
            Ok(Ordinal::new(ranks, Thresholds::Known(thresholds.clone()), noise)?.into())
        },
    },
    Kind {
        name: "bernoulli",
        rows: |f, random| {
            let clean = Bernoulli::new(vec![true; f.len()], Sigmoid::Logit).into();
            let yes = drawn(&clean, &[], f, random);
            let yes = yes.into_iter().map(|y| y > 0.5).collect();
            Ok(Bernoulli::new(yes, Sigmoid::Logit).into())
        },
    },
    Kind {
        name: "binomial, one to nine trials",
        rows: |f, random| {
            let trials: Vec<f64> = (0..f.len()).map(|i| (1 + i * 7 % 9) as f64).collect();
            let sigmoid = Sigmoid::Logit;
            let local = Likelihood::from(Binomial::new(trials.clone(), trials.clone(), sigmoid)?);
            let one = |(f, n): (&f64, &f64)| {
                let circumstances = Circumstances {
                    trials: *n as u64,
                    ..Circumstances::default()
                };
                let new = local.local().observation(&[], &circumstances, *f);
                new.sample(random)
            };
            let successes = f.iter().zip(&trials).map(one).collect();
            Ok(Binomial::new(successes, trials, sigmoid)?.into())
        },
    },
    Kind {
        name: "poisson",
        rows: |f, random| {
            let counts = counts(f, random)?;
            Ok(Poisson::new(counts, vec![EXPOSURE; f.len()], Link::Exp)?.into())
        },
    },
    Kind {
        name: "poisson, fewer than 3 suppressed",
        rows: |f, random| {
            let counts = counts(f, random)?;
            let end = |small: f64| move |c: &f64| if *c < 3.0 { small } else { *c };
            let lower = counts.iter().map(end(0.0)).collect();
            let upper = counts.iter().map(end(2.0)).collect();
            Ok(Poisson::ranges(lower, upper, vec![EXPOSURE; f.len()], Link::Exp)?.into())
        },
    },
    Kind {
        name: "negative_binomial, dispersion learned",
        rows: |f, random| {
            let exposure = vec![EXPOSURE; f.len()];
            let of = |counts| {
                NegativeBinomial::new(counts, exposure.clone(), Link::Exp, Dispersion::Learned)
            };
            let clean = of(vec![0.0; f.len()])?.into();
            Ok(of(drawn(&clean, &[0.3], f, random))?.into())
        },
    },
    Kind {
        name: "exponential",
        rows: |f, random| {
            let clean = Exponential::new(vec![1.0; f.len()], Link::Exp)?.into();
            Ok(Exponential::new(drawn(&clean, &[], f, random), Link::Exp)?.into())
        },
    },
];

fn noisy(f: &[f64], sd: f64, random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut noise = || -> f64 { StandardNormal.sample(random) };
    f.iter().map(|f| f + sd * noise()).collect()
}

fn counts(f: &[f64], random: &mut ChaCha8Rng) -> Result<Vec<f64>> {
    let clean = Poisson::new(vec![0.0; f.len()], vec![EXPOSURE; f.len()], Link::Exp)?;
    Ok(drawn(&clean.into(), &[], f, random))
}

/// Observations at latent values, with the exposure of the counts.
fn drawn(likelihood: &Likelihood, own: &[f64], f: &[f64], random: &mut ChaCha8Rng) -> Vec<f64> {
    let circumstances = Circumstances {
        exposure: EXPOSURE,
        variance: 2.0 * 0.3 * 0.3,
        ..Circumstances::default()
    };
    // The variance is that of the Laplace noise; Student's scale is its own.
    let circumstances = match likelihood {
        Likelihood::Laplace(_) => circumstances,
        _ => Circumstances {
            variance: 0.0,
            ..circumstances
        },
    };
    let local = likelihood.local();
    f.iter()
        .map(|&f| local.observation(own, &circumstances, f).sample(random))
        .collect()
}

/// Share of the places inside the interval of every level, and whether the fit settled.
struct Outcome {
    inside: [f64; 3],
    settled: bool,
    seconds: f64,
}

/// Runs the study.
///
/// # Errors
/// As the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let repeats = settings.repeats(6, 200);
    let mut report = Report::new("Coverage of the latent function, for every likelihood");
    report.setting(format!(
        "{repeats} data sets per likelihood: a draw of se(x) with variance 1 and lengthscale 1 on [0, {RANGE}], {ROWS} rows at random places; default fits (expectation propagation, hyperparameters and unknown mean integrated)"
    ));
    report.setting(format!(
        "share of {PLACES} evenly spaced latent values inside the central interval +- standard error over data sets; counts have exposure {EXPOSURE}"
    ));
    let mut table = Table::new(
        "Coverage of central intervals of the latent function",
        &[
            "likelihood",
            "50 %",
            "80 %",
            "95 %",
            "not converged",
            "s per fit",
        ],
    );
    for (k, kind) in KINDS
        .iter()
        .enumerate()
        .filter(|(_, kind)| settings.wants(kind.name))
    {
        let steps = Steps::new(kind.name, repeats);
        let outcomes = (0..repeats as u64)
            .into_par_iter()
            .map(|repeat| steps.after(one(kind, settings.random(1000 * k as u64 + repeat))))
            .collect::<Result<Vec<Outcome>>>()
            .with_context(|| kind.name)?;
        let mut cells = vec![kind.name.to_owned()];
        for (level, want) in LEVELS.iter().enumerate() {
            let shares: Vec<f64> = outcomes.iter().map(|o| o.inside[level]).collect();
            let (share, error) = (mean(&shares), standard_error(&shares));
            cells.push(format!("{share:.3} +- {error:.3}"));
            let slack = SLACK + 2.0 * error;
            report.check(
                format!("{}: coverage of {want}", kind.name),
                share,
                want - slack,
                want + slack,
            );
        }
        let open = outcomes.iter().filter(|o| !o.settled).count();
        cells.push(open.to_string());
        let seconds: Vec<f64> = outcomes.iter().map(|o| o.seconds).collect();
        cells.push(format!("{:.2}", mean(&seconds)));
        table.row(cells);
    }
    report.tables.push(table);
    Ok(report)
}

fn one(kind: &Kind, mut random: ChaCha8Rng) -> Result<Outcome> {
    let uniform = rand_distr::Uniform::new(0.0, RANGE)?;
    let mut x: Vec<f64> = (0..ROWS).map(|_| uniform.sample(&mut random)).collect();
    let places: Vec<f64> = (0..PLACES)
        .map(|i| RANGE * (i as f64 + 0.5) / PLACES as f64)
        .collect();
    x.extend(&places);
    let k = Mat::from_fn(x.len(), x.len(), |i, j| {
        let d: f64 = x[i] - x[j];
        let jitter = if i == j { 1e-9 } else { 0.0 };
        (-0.5 * d * d).exp() + jitter
    });
    let z: Vec<f64> = (0..x.len())
        .map(|_| StandardNormal.sample(&mut random))
        .collect();
    let f = Cholesky::factor(k.as_ref())?.multiply(&z);
    let likelihood = (kind.rows)(&f[..ROWS], &mut random)?;
    let table = Observations::new(Functionals::points("x", &x[..ROWS])?, likelihood)?;
    let options = FitOptions::default().with_threads(1);
    let posterior = Model::new(Kernel::se(["x"])).observe(table).fit(&options)?;
    let p = posterior.predict(&Functionals::points("x", &places)?, Scale::Latent)?;
    let inside = LEVELS.map(|level| {
        let (lower, upper) = (
            p.quantile(0.5 * (1.0 - level)),
            p.quantile(0.5 * (1.0 + level)),
        );
        let within = (0..PLACES).filter(|&i| (lower[i]..=upper[i]).contains(&f[ROWS + i]));
        within.count() as f64 / PLACES as f64
    });
    let summary = posterior.summary();
    Ok(Outcome {
        inside,
        settled: summary.converged,
        seconds: summary.seconds,
    })
}
