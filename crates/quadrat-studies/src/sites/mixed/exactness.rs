//! Expectation propagation on few rows of all kinds, against brute force.

use anyhow::Result;
use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Gaussian, Interval, Ordinal, Thresholds};
use quadrat::linalg::{Cholesky, Mat};
use quadrat::model::{FitOptions, Inference, Mean, Model, Noise, Observations, Scale, Setting};
use quadrat::simulate::{Mixed, MixedData};
use quadrat::special::scalar::log_cdf_difference;
use quadrat::support::Functionals;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::report::{Report, Table};
use crate::settings::Settings;

/// How much wider than the posterior of expectation propagation the proposal is, as a variance.
const WIDER: f64 = 1.5;

/// What expectation propagation misses.
#[derive(Default)]
struct Errors {
    evidence: f64,
    mean: f64,
    sd: f64,
    /// Effective draws.
    draws: f64,
}

/// Standard deviations of the noise, the variance of the function being one; for each how far the
/// largest errors may be: those of earlier prototypes, and where windows are five times as wide as
/// their noise twice as far, since there a normal site stands for something close to a box.
const NOISES: [(f64, f64); 2] = [(0.3, 1.0), (0.1, 2.0)];

/// Runs the study.
///
/// # Errors
/// As the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let mut report =
        Report::new("Expectation propagation on few values, intervals and ranks, exactly");
    let cases = settings.repeats(6, 24) as u64;
    let draws = if settings.quick { 1 << 18 } else { 1 << 20 };
    report.setting(format!(
        "{cases} cases of three to six rows of mixed data in one dimension, kinds at random, intervals of width 0.5, five ranks, hyperparameters known: expectation propagation against importance sampling with {draws} draws from its posterior, {WIDER} times wider"
    ));
    report.setting("prototype on other cases: log evidence within 8e-3 (median 2e-4), means within .006 sd, sds within 2.4 %");
    let mut table = Table::new(
        "Errors of expectation propagation, over cases",
        &["noise sd", "of", "median", "nine tenths", "largest"],
    );
    let mut fewest = f64::INFINITY;
    for (noise, further) in NOISES {
        let errors = (0..cases)
            .into_par_iter()
            .map(|case| one(settings, case, noise, draws))
            .collect::<Result<Vec<Errors>>>()?;
        let of = |f: fn(&Errors) -> f64| -> Vec<f64> {
            let mut all: Vec<f64> = errors.iter().map(|e| f(e).abs()).collect();
            all.sort_unstable_by(f64::total_cmp);
            all
        };
        let own = of(|e| e.draws)[0];
        fewest = fewest.min(own);
        // A mean of n effective draws errs by 1 / sqrt(n) sd, an sd by 1 / sqrt(2 n) of itself:
        // four of them.
        let slack = 4.0 / own.sqrt();
        let all = [of(|e| e.evidence), of(|e| e.mean), of(|e| e.sd)];
        let names = ["log evidence", "means, in sds", "sds, relative"];
        for ((name, errors), limit) in names.iter().zip(&all).zip([1e-2, 1e-2, 3e-2]) {
            let last = errors.len() - 1;
            let at = |p: f64| errors[(last as f64 * p).round() as usize];
            let mut cells = vec![noise.to_string(), (*name).to_owned()];
            cells.extend([0.5, 0.9, 1.0].map(|p| format!("{:.1e}", at(p))));
            table.row(cells);
            let what = format!("noise {noise}, {name}");
            report.check(format!("{what}: median"), at(0.5), 0.0, 0.2 * limit + slack);
            let most = limit * further + slack;
            report.check(format!("{what}: largest"), at(1.0), 0.0, most);
        }
    }
    report.tables.push(table);
    report.note(format!(
        "brute force: at least {fewest:.0} effective draws, so that its own errors are {:.1e} of an sd",
        1.0 / fewest.sqrt()
    ));
    Ok(report)
}

/// One case: its rows, every kind as it comes.
fn one(settings: &Settings, case: u64, noise: f64, draws: usize) -> Result<Errors> {
    let mut random = settings.random(9000 + case);
    let mut kinds = [0; 3];
    for _ in 0..random.random_range(3..=6) {
        kinds[random.random_range(0..3)] += 1;
    }
    let plan = Mixed {
        grid: 21,
        points: kinds[0],
        intervals: kinds[1],
        ordinals: kinds[2],
        noise,
        seed: settings.seed + 1000 * case + 9_000_000,
        ..Mixed::new(1)
    };
    let data = plan.draw()?;
    let posterior = fitted(&plan, &data)?;
    // Rows may look at one place: the latent values are those of the distinct places.
    let rows = rows(&data);
    let mut x: Vec<f64> = rows.iter().map(|row| row.0).collect();
    x.sort_unstable_by(f64::total_cmp);
    x.dedup();
    let at = Functionals::points("x", &x)?;
    let p = posterior.predict(&at, Scale::Latent)?;
    let n = x.len();
    let prior = Cholesky::factor(
        Mat::from_fn(n, n, |i, j| {
            let r = (x[i] - x[j]) / plan.lengthscale;
            plan.variance * (-0.5 * r * r).exp()
        })
        .as_ref(),
    )?;
    let covariance = posterior.covariance(&at)?;
    let proposal =
        Cholesky::factor(Mat::from_fn(n, n, |i, j| WIDER * covariance[(i, j)]).as_ref())?;
    let place: Vec<usize> = rows
        .iter()
        .map(|row| x.partition_point(|&v| v < row.0))
        .collect();
    let offset = 0.5 * (proposal.log_det() - prior.log_det());
    let mut weights = Vec::with_capacity(draws);
    let mut values = Vec::with_capacity(draws * n);
    for _ in 0..draws {
        let z: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut random)).collect();
        let mut f = proposal.multiply(&z);
        f.iter_mut().zip(p.mean()).for_each(|(f, m)| *f += m);
        let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        let mut log = offset + 0.5 * (square(&z) - square(&prior.half_solve(&f)));
        for (row, &at) in rows.iter().zip(&place) {
            log += row.1.log_density(f[at], plan.noise);
        }
        weights.push(log);
        values.extend(f);
    }
    let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    weights.iter_mut().for_each(|w| *w = (*w - most).exp());
    let total: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    let mut errors = Errors {
        evidence: posterior.summary().log_evidence - (most + (total / draws as f64).ln()),
        draws: total * total / squares,
        ..Errors::default()
    };
    for i in 0..n {
        let average = |f: &dyn Fn(f64) -> f64| {
            let each = weights.iter().enumerate();
            each.map(|(d, w)| w * f(values[d * n + i])).sum::<f64>() / total
        };
        let mean = average(&|v| v);
        let sd = average(&|v| (v - mean).powi(2)).sqrt();
        errors.mean = errors.mean.max(((p.mean()[i] - mean) / sd).abs());
        errors.sd = errors.sd.max((p.sd()[i] / sd - 1.0).abs());
    }
    Ok(errors)
}

/// What a row says of its latent value.
enum Says {
    Value(f64),
    Between(f64, f64),
}

impl Says {
    fn log_density(&self, f: f64, noise: f64) -> f64 {
        match *self {
            Self::Value(y) => {
                let z = (y - f) / noise;
                -0.5 * z * z - noise.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
            }
            Self::Between(lower, upper) => {
                log_cdf_difference((lower - f) / noise, (upper - f) / noise)
            }
        }
    }
}

fn rows(data: &MixedData) -> Vec<(f64, Says)> {
    let ends = [&[f64::NEG_INFINITY], &data.thresholds[..], &[f64::INFINITY]].concat();
    let points = data
        .points
        .iter()
        .map(|row| (row.place[0], Says::Value(row.report)));
    let intervals = data.intervals.iter().map(|row| {
        let (lower, upper) = row.report;
        (row.place[0], Says::Between(lower, upper))
    });
    let ordinals = data.ordinals.iter().map(|row| {
        let k = row.report;
        (row.place[0], Says::Between(ends[k - 1], ends[k]))
    });
    points.chain(intervals).chain(ordinals).collect()
}

/// Expectation propagation with everything known.
fn fitted(plan: &Mixed, data: &MixedData) -> Result<quadrat::model::Posterior> {
    let mut model = Model::new(Kernel::se(["x"]))
        .mean(Mean::Zero)
        .set("se.variance", Setting::fixed(plan.variance))
        .set("se.lengthscale.x", Setting::fixed(plan.lengthscale));
    let noise = |rows: usize| Noise::Known(vec![plan.noise * plan.noise; rows]);
    let at = |x: Vec<f64>| Functionals::points("x", &x);
    if plan.points > 0 {
        let (x, y) = data.points.iter().map(|r| (r.place[0], r.report)).unzip();
        let rows = Gaussian::new(y, noise(plan.points))?;
        model = model.observe(Observations::new(at(x)?, rows)?);
    }
    if plan.intervals > 0 {
        let x = data.intervals.iter().map(|r| r.place[0]).collect();
        let (lower, upper) = data.intervals.iter().map(|r| r.report).unzip();
        let rows = Interval::new(lower, upper, noise(plan.intervals))?;
        model = model.observe(Observations::new(at(x)?, rows)?);
    }
    if plan.ordinals > 0 {
        let (x, ranks) = data.ordinals.iter().map(|r| (r.place[0], r.report)).unzip();
        let known = Thresholds::Known(data.thresholds.clone());
        let rows = Ordinal::new(ranks, known, noise(plan.ordinals))?;
        model = model.observe(Observations::new(at(x)?, rows)?);
    }
    let options = FitOptions::default()
        .with_inference(Inference::Sites(Method::Ep))
        .with_threads(1);
    Ok(model.fit(&options)?)
}
