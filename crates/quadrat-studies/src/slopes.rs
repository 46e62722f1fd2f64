//! Coverage of the slope of a mean that is linear in a covariate, over simulated data sets.

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::linalg::{Cholesky, Mat};
use quadrat::model::{FitOptions, Mean, Model, Noise, Observations, Scale};
use quadrat::support::Functionals;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, Uniform};
use rayon::prelude::*;

use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, rms, standard_error};
use crate::steps::Steps;

const ROWS: usize = 40;
const RANGE: f64 = 10.0;
const SLOPE: f64 = 0.5;
/// Levels of the central intervals.
const LEVELS: [f64; 3] = [0.5, 0.8, 0.95];
/// Coverage may be off by this much: of two hundred data sets about one and a half standard errors
/// of the simulation at 50 %.
const SLACK: f64 = 0.04;

/// How smooth the covariate is along `t`: lengthscales of its smooth part; none is all noise.
const COVARIATES: [(&str, Option<f64>); 2] = [
    ("independent from row to row", None),
    (
        "a smooth curve of lengthscale 3, with as much noise",
        Some(3.0),
    ),
];

/// Whether the slope lies inside the interval of every level, its error, and the sd that was told.
struct Outcome {
    inside: [bool; 3],
    error: f64,
    sd: f64,
}

/// Runs the study.
///
/// # Errors
/// As the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let repeats = settings.repeats(10, 200);
    let mut report = Report::new("Slopes of a mean that is linear in a covariate");
    report.setting(format!(
        "{repeats} data sets each: {ROWS} rows at random `t` on [0, {RANGE}], y = 3 + {SLOPE} x + f(t) + noise of sd 0.3, f a draw of se(t) of variance 1 and lengthscale 1.5; default fits with mean = linear(x), hyperparameters integrated"
    ));
    let mut table = Table::new(
        "Share of data sets whose slope lies inside its central interval",
        &[
            "covariate",
            "50 %",
            "80 %",
            "95 %",
            "error (rms)",
            "sd (mean)",
        ],
    );
    for (k, (name, smooth)) in COVARIATES.into_iter().enumerate() {
        let steps = Steps::new(name, repeats);
        let outcomes = (0..repeats as u64)
            .into_par_iter()
            .map(|repeat| steps.after(one(smooth, settings.random(1000 * k as u64 + repeat))))
            .collect::<Result<Vec<Outcome>>>()?;
        let mut cells = vec![name.to_owned()];
        for (at, want) in LEVELS.iter().enumerate() {
            let each = outcomes.iter().map(|o| f64::from(u8::from(o.inside[at])));
            let each: Vec<f64> = each.collect();
            let (share, error) = (mean(&each), standard_error(&each));
            cells.push(format!("{share:.3} +- {error:.3}"));
            // Few data sets tell a share no better than their own error.
            let slack = if settings.quick {
                SLACK + 2.0 * error
            } else {
                SLACK
            };
            report.check(
                format!("{name}: coverage of {want}"),
                share,
                want - slack,
                want + slack,
            );
        }
        let of = |f: fn(&Outcome) -> f64| outcomes.iter().map(f).collect::<Vec<f64>>();
        cells.push(format!("{:.4}", rms(&of(|o| o.error))));
        cells.push(format!("{:.4}", mean(&of(|o| o.sd))));
        table.row(cells);
    }
    report.tables.push(table);
    Ok(report)
}

/// Standard normal numbers.
fn normals(n: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(random)).collect()
}

/// A draw of `se(t)` of variance one.
fn curve(t: &[f64], lengthscale: f64, random: &mut ChaCha8Rng) -> Result<Vec<f64>> {
    let covariance = Mat::from_fn(t.len(), t.len(), |i, j| {
        let r = (t[i] - t[j]) / lengthscale;
        (-0.5 * r * r).exp() + if i == j { 1e-8 } else { 0.0 }
    });
    Ok(Cholesky::factor_owned(covariance)?.multiply(&normals(t.len(), random)))
}

fn one(smooth: Option<f64>, mut random: ChaCha8Rng) -> Result<Outcome> {
    let uniform = Uniform::new(0.0, RANGE)?;
    let t: Vec<f64> = (0..ROWS).map(|_| uniform.sample(&mut random)).collect();
    let mut x = normals(ROWS, &mut random);
    if let Some(lengthscale) = smooth {
        let curve = curve(&t, lengthscale, &mut random)?;
        x.iter_mut().zip(curve).for_each(|(x, c)| *x += c);
    }
    let (f, noise) = (curve(&t, 1.5, &mut random)?, normals(ROWS, &mut random));
    let mut rows = Functionals::new(vec!["t".into(), "x".into()]);
    let mut y = Vec::with_capacity(ROWS);
    for i in 0..ROWS {
        rows.push_point(&[t[i], x[i]])?;
        y.push(3.0 + SLOPE * x[i] + f[i] + 0.3 * noise[i]);
    }
    let posterior = Model::new(Kernel::se(["t"]))
        .mean(Mean::linear(["x"]))
        .observe(Observations::gaussian(rows, y, Noise::Learned)?)
        .fit(&FitOptions::default().with_threads(1))?;
    // The slope is the difference of the function between two places, whatever `t`.
    let mut rise = Functionals::new(vec!["t".into(), "x".into()]);
    rise.push_nodes(&[vec![5.0, 1.0], vec![5.0, 0.0]], &[1.0, -1.0])?;
    let slope = posterior.predict(&rise, Scale::Latent)?;
    let inside = LEVELS.map(|level| {
        let (lower, upper) = (0.5 * (1.0 - level), 0.5 * (1.0 + level));
        (slope.quantile(lower)[0]..=slope.quantile(upper)[0]).contains(&SLOPE)
    });
    Ok(Outcome {
        inside,
        error: slope.mean()[0] - SLOPE,
        sd: slope.sd()[0],
    })
}
