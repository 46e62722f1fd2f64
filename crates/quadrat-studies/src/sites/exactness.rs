//! Every approximation on three to six rows of every likelihood, and of every two, against brute
//! force.

use anyhow::{Context, Result};
use quadrat::error::FitError;
use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Likelihood;
use quadrat::linalg::{Cholesky, Mat};
use quadrat::model::{FitOptions, Inference, Mean, Model, Observations, Scale, Setting};
use quadrat::support::Functionals;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::kinds::{Few, few, normals, prior};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::steps::Steps;

/// Rows of the cases of every likelihood.
const ROWS: [usize; 4] = [3, 4, 5, 6];
/// Places lie at random from zero to this, in lengthscales.
const RANGE: f64 = 3.0;
/// The proposal: mostly the posterior of expectation propagation, so many times as wide (as a
/// variance); else the prior, beside which no weight is large.
const WIDER: f64 = 1.5;
const MOSTLY: f64 = 0.8;
const METHODS: [(Method, &str); 3] = [
    (Method::Ep, "expectation propagation"),
    (Method::Laplace, "Laplace"),
    (Method::Variational, "variational"),
];
/// In the median case sds must be as right as [`Few::worse`] says, of pairs within 2 %; in the
/// worst nothing may be broken.
const PAIRS: f64 = 0.02;
const BROKEN: f64 = 0.4;

/// What an approximation misses in a case: in nats, in sds, relative.
#[derive(Clone, Copy, Default)]
struct Errors {
    evidence: f64,
    mean: f64,
    sd: f64,
}

/// A case: the errors of every method that applies and settles, and the effective draws behind
/// them.
struct Case {
    errors: [Option<Errors>; 3],
    draws: f64,
}

/// Runs the study.
///
/// # Errors
/// As the fits, but for those that do not settle.
pub fn run(settings: &Settings) -> Result<Report> {
    let draws = if settings.quick { 1 << 16 } else { 1 << 18 };
    let repeats = settings.repeats(1, 5);
    let mut report = Report::new("Three to six rows of every likelihood, exactly");
    report.setting(format!(
        "{repeats} draws each of se(x) with variance 1 and lengthscale 1 at 3, 4, 5 and 6 random places of [0, {RANGE}], a row at each, hyperparameters known; for pairs one draw with two rows of each of two likelihoods, all pairs that may be mixed"
    ));
    report.setting(format!(
        "brute force: importance sampling with {draws} draws, a fifth of them from the prior, the others from the posterior of expectation propagation, {WIDER} times as wide"
    ));
    report.setting("errors of the log evidence in nats, of the mean that is farthest off in sds, of the sd that is farthest off: median over cases, and largest in brackets; + above the truth, - below");
    let headers: Vec<&str> = METHODS.iter().map(|(_, name)| *name).collect();
    let headers = [&["likelihood", "of"], &headers[..]].concat();
    let mut table = Table::new("Errors of the approximations", &headers);
    let kinds = few();
    let mut sets: Vec<(String, f64, Vec<Case>)> = Vec::new();
    for (k, kind) in kinds
        .iter()
        .enumerate()
        .filter(|(_, f)| settings.wants(f.name))
    {
        let each: Vec<(usize, usize)> = (0..repeats)
            .flat_map(|repeat| ROWS.map(|n| (repeat, n)))
            .collect();
        let steps = Steps::new(kind.name, each.len());
        let cases = each
            .into_par_iter()
            .map(|(repeat, n)| {
                let stream = (1000 * k + 10 * repeat + n) as u64;
                steps.after(case(&[(kind, n)], settings.random(stream), draws))
            })
            .collect::<Result<Vec<Case>>>()
            .with_context(|| kind.name)?;
        sets.push((kind.name.to_owned(), kind.worse, cases));
    }
    if settings.only.is_empty() {
        let pairs: Vec<(usize, usize)> = (0..kinds.len())
            .flat_map(|a| (a + 1..kinds.len()).map(move |b| (a, b)))
            .filter(|&(a, b)| match (kinds[a].link, kinds[b].link) {
                (Some(one), Some(other)) => one == other,
                _ => true,
            })
            .collect();
        let steps = Steps::new("pairs", pairs.len());
        let cases = pairs
            .par_iter()
            .map(|&(a, b)| {
                let random = settings.random((100_000 + 100 * a + b) as u64);
                steps.after(case(&[(&kinds[a], 2), (&kinds[b], 2)], random, draws))
            })
            .collect::<Result<Vec<Case>>>()?;
        sets.push((format!("{} pairs", pairs.len()), PAIRS, cases));
    }
    let mut fewest = f64::INFINITY;
    for (name, asked, cases) in &sets {
        fewest = cases
            .iter()
            .fold(fewest, |least, case| least.min(case.draws));
        let mut rows = ["log evidence", "mean", "sd"].map(|of| vec![name.clone(), of.to_owned()]);
        for m in 0..METHODS.len() {
            let all: Vec<Errors> = cases.iter().filter_map(|c| c.errors[m]).collect();
            let open = cases.len() - all.len();
            let parts = [
                all.iter().map(|e| e.evidence).collect::<Vec<f64>>(),
                all.iter().map(|e| e.mean).collect(),
                all.iter().map(|e| e.sd).collect(),
            ];
            for (row, part) in rows.iter_mut().zip(&parts) {
                row.push(shown(part, open));
            }
            if m == 0 {
                let (middle, largest) = (median(&parts[2]), largest(&parts[2]).abs());
                let what = format!("{name}, expectation propagation");
                // Their own errors: a mean of n effective draws errs by 1 / sqrt(n) sd, an sd by 1
                // / sqrt(2 n) of itself.
                let slack = 2.0 / fewest.sqrt();
                report.check(
                    format!("{what}: error of an sd, median"),
                    middle,
                    0.0,
                    asked + slack,
                );
                report.check(
                    format!("{what}: error of an sd, largest"),
                    largest,
                    0.0,
                    BROKEN,
                );
                report.check(format!("{what}: not settled"), open as f64, 0.0, 0.0);
            }
        }
        rows.into_iter().for_each(|row| table.row(row));
    }
    report.tables.push(table);
    report.note(format!(
        "brute force: at least {fewest:.0} effective draws, so that its own errors are {:.1e} of an sd",
        1.0 / fewest.sqrt()
    ));
    Ok(report)
}

/// The median size.
fn median(errors: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    sizes.get(sizes.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The one farthest from zero.
fn largest(errors: &[f64]) -> f64 {
    let farther = |a: f64, b: &f64| if b.abs() > a.abs() { *b } else { a };
    errors.iter().fold(0.0, farther)
}

fn shown(errors: &[f64], open: usize) -> String {
    let settled = match open {
        0 => String::new(),
        n => format!(", {n} not settled"),
    };
    match errors {
        [] => "-".to_owned(),
        _ => format!("{:.4} ({:+.4}){settled}", median(errors), largest(errors)),
    }
}

/// One case of so many rows of each likelihood.
fn case(parts: &[(&Few, usize)], mut random: ChaCha8Rng, draws: usize) -> Result<Case> {
    let n: usize = parts.iter().map(|(_, n)| n).sum();
    let level = parts
        .iter()
        .fold(0.0, |most: f64, part| most.max(part.0.level));
    let x: Vec<f64> = (0..n).map(|_| RANGE * random.random::<f64>()).collect();
    let prior = prior(&x)?;
    let mut f = prior.multiply(&normals(n, &mut random));
    f.iter_mut().for_each(|f| *f += level);
    let mut model = Model::new(Kernel::se(["x"]))
        .mean(Mean::Fixed(level))
        .set("se.variance", Setting::fixed(1.0))
        .set("se.lengthscale.x", Setting::fixed(1.0));
    let mut rows: Vec<(Likelihood, Vec<f64>)> = Vec::new();
    let mut first = 0;
    for (few, n) in parts {
        let likelihood = (few.rows)(&f[first..first + n], &mut random)?;
        let at = Functionals::points("x", &x[first..first + n])?;
        model = model.observe(Observations::new(at, likelihood.clone())?);
        rows.push((likelihood, few.own.iter().map(|(_, v)| *v).collect()));
        first += n;
    }
    // In the order of the tables, whatever their names.
    let names = model.parameters()?.into_iter().map(|p| p.name);
    let learned: Vec<String> = names.filter(|name| !name.starts_with("se.")).collect();
    let values: Vec<f64> = rows
        .iter()
        .flat_map(|(_, own)| own.iter().copied())
        .collect();
    anyhow::ensure!(learned.len() == values.len(), "{learned:?} have {values:?}");
    for (name, value) in learned.iter().zip(values) {
        model = model.set(name, Setting::fixed(value));
    }
    let at = Functionals::points("x", &x)?;
    let fit = |method: Method| -> Result<Option<_>> {
        let options = FitOptions::default()
            .with_inference(Inference::Sites(method))
            .with_threads(1);
        match model.fit(&options) {
            Ok(posterior) if posterior.summary().converged => Ok(Some(posterior)),
            Ok(_) | Err(FitError::NotConverged { .. } | FitError::Input(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    };
    let fits = [
        fit(Method::Ep)?,
        fit(Method::Laplace)?,
        fit(Method::Variational)?,
    ];
    let guide = fits.iter().flatten().next().context("no method settled")?;
    let p = guide.predict(&at, Scale::Latent)?;
    let covariance = guide.covariance(&at)?;
    let wide = Mat::from_fn(n, n, |i, j| {
        WIDER * covariance[(i, j)] + if i == j { 1e-8 } else { 0.0 }
    });
    let proposal = Cholesky::factor(wide.as_ref())?;
    let truth = sampled(
        &rows,
        (&prior, level),
        (&proposal, p.mean()),
        &mut random,
        draws,
    );
    let mut errors = [None; 3];
    for (own, fit) in errors.iter_mut().zip(&fits) {
        let Some(fit) = fit else { continue };
        let p = fit.predict(&at, Scale::Latent)?;
        let off = |i: usize| (p.mean()[i] - truth.mean[i]) / truth.sd[i];
        let wide = |i: usize| p.sd()[i] / truth.sd[i] - 1.0;
        *own = Some(Errors {
            evidence: fit.summary().log_evidence - truth.evidence,
            mean: largest(&(0..n).map(off).collect::<Vec<f64>>()),
            sd: largest(&(0..n).map(wide).collect::<Vec<f64>>()),
        });
    }
    Ok(Case {
        errors,
        draws: truth.draws,
    })
}

/// What brute force says.
struct Truth {
    evidence: f64,
    mean: Vec<f64>,
    sd: Vec<f64>,
    draws: f64,
}

/// Importance sampling: `log Z` and moments by draws from `MOSTLY N(mean, proposal) + (1 - MOSTLY)
/// N(level, prior)`.
fn sampled(
    rows: &[(Likelihood, Vec<f64>)],
    (prior, level): (&Cholesky, f64),
    (proposal, centre): (&Cholesky, &[f64]),
    random: &mut ChaCha8Rng,
    draws: usize,
) -> Truth {
    let n = centre.len();
    let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
    let mut weights = Vec::with_capacity(draws);
    let mut values = Vec::with_capacity(draws * n);
    for _ in 0..draws {
        let mut f = if random.random::<f64>() < MOSTLY {
            let mut f = proposal.multiply(&normals(n, random));
            f.iter_mut().zip(centre).for_each(|(f, m)| *f += m);
            f
        } else {
            prior
                .multiply(&normals(n, random))
                .iter()
                .map(|f| f + level)
                .collect()
        };
        let off = |from: &dyn Fn(usize) -> f64| -> Vec<f64> {
            f.iter().enumerate().map(|(i, f)| f - from(i)).collect()
        };
        let of_prior = -0.5 * (square(&prior.half_solve(&off(&|_| level))) + prior.log_det());
        let of_proposal =
            -0.5 * (square(&proposal.half_solve(&off(&|i| centre[i]))) + proposal.log_det());
        let top = of_prior.max(of_proposal);
        let share = MOSTLY * (of_proposal - top).exp() + (1.0 - MOSTLY) * (of_prior - top).exp();
        let mut log = of_prior - top - share.ln();
        let mut at = 0;
        for (likelihood, own) in rows {
            let local = likelihood.local();
            for row in 0..local.rows() {
                log += local.log_density(own, row, f[at]).value;
                at += 1;
            }
        }
        weights.push(log);
        values.append(&mut f);
    }
    let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    weights.iter_mut().for_each(|w| *w = (*w - most).exp());
    let total: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    let average = |i: usize, of: &dyn Fn(f64) -> f64| {
        let each = weights.iter().enumerate();
        each.map(|(d, w)| w * of(values[d * n + i])).sum::<f64>() / total
    };
    let mean: Vec<f64> = (0..n).map(|i| average(i, &|v| v)).collect();
    let sd = (0..n)
        .map(|i| average(i, &|v| (v - mean[i]).powi(2)).sqrt())
        .collect();
    Truth {
        evidence: most + (total / draws as f64).ln(),
        mean,
        sd,
        draws: total * total / squares,
    }
}
