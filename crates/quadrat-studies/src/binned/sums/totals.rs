//! Whether intervals of a total hold it, over simulated tables.

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::report;
use crate::report::Report;
use crate::settings::Settings;
use crate::statistics::coverage;
use crate::steps::Steps;
use quadrat::model::{FitOptions, Mean, Model, Observations, Scale};
use quadrat::support::{Aggregate, Functionals};

/// Ends of the bins.
const EDGES: [f64; 9] = [0.0, 4.0, 8.0, 14.0, 22.0, 35.0, 50.0, 70.0, 100.0];
/// Cells of the simulated rates.
const CELLS: usize = 400;
/// Frequencies of the simulated log rate, a random sum of cosines with the spectrum of se.
const WAVES: usize = 60;
/// Lengthscale and mean of the log rate.
const LENGTHSCALE: f64 = 20.0;
const MEAN: f64 = 1.0;
/// Level of the intervals.
const LEVEL: f64 = 0.9;

/// Adds the table and its check.
pub(super) fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let repeats = settings.repeats(10, 200);
    report.setting(format!(
        "totals: {repeats} tables of {} bins; log rates from se(x) with variance 1, lengthscale \
         {LENGTHSCALE}; default fits of se(x), hyperparameters and mean integrated",
        EDGES.len() - 1
    ));
    let steps = Steps::new("totals", repeats);
    let found: Vec<[(f64, f64, f64); 2]> = (0..repeats)
        .into_par_iter()
        .map(|k| steps.after(one(settings, k as u64)))
        .collect::<Result<_>>()?;
    let mut out = report::Table::new(
        "Sums of simulated tables: share of 90 % intervals that hold the rate's own",
        &["sum", "held", "width over the counts' own"],
    );
    // Of a count of n the interval is as wide as 2 * 1.645 roots of n.
    for (which, name) in ["all bins", "the first five"].into_iter().enumerate() {
        let column = |of: fn(&(f64, f64, f64)) -> f64| -> Vec<f64> {
            found.iter().map(|f| of(&f[which])).collect()
        };
        let (truth, lower, upper) = (column(|f| f.0), column(|f| f.1), column(|f| f.2));
        let held = coverage(&truth, &lower, &upper);
        let width = lower.iter().zip(&upper).zip(&truth);
        let widths: Vec<f64> = width
            .map(|((l, u), t)| (u - l) / (3.29 * t.sqrt()))
            .collect();
        out.row(vec![
            name.to_owned(),
            format!("{held:.3}"),
            format!("{:.3}", crate::statistics::mean(&widths)),
        ]);
        // Two standard errors of a share of .9 in 200.
        let slack = 2.0 * (LEVEL * (1.0 - LEVEL) / repeats as f64).sqrt();
        report.check(format!("{name}: held"), held, LEVEL - slack, LEVEL + slack);
    }
    report.tables.push(out);
    Ok(())
}

/// True sum and ends of its interval, of all bins and of the first five.
fn one(settings: &Settings, stream: u64) -> Result<[(f64, f64, f64); 2]> {
    let mut random = settings.random(1000 + stream);
    let waves: Vec<(f64, f64, f64)> = (0..WAVES)
        .map(|_| {
            let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
            let (a, b, frequency) = (normal(), normal(), normal());
            (a, b, frequency / LENGTHSCALE)
        })
        .collect();
    let rate = |x: f64| {
        let each = waves
            .iter()
            .map(|(a, b, w)| a * (w * x).cos() + b * (w * x).sin());
        (MEAN + each.sum::<f64>() / (WAVES as f64).sqrt()).exp()
    };
    let step = EDGES[EDGES.len() - 1] / CELLS as f64;
    let sum = |from: f64, to: f64| -> f64 {
        let middle = |i: usize| (i as f64 + 0.5) * step;
        let inside = (0..CELLS).map(middle).filter(|x| *x > from && *x < to);
        inside.map(|x| step * rate(x)).sum()
    };
    let bins: Vec<(f64, f64)> = EDGES.windows(2).map(|w| (w[0], w[1])).collect();
    let mut counts = Vec::with_capacity(bins.len());
    for &(a, b) in &bins {
        let poisson = rand_distr::Poisson::new(sum(a, b))?;
        counts.push(poisson.sample(&mut random));
    }
    let at = Functionals::intervals("x", &bins, Aggregate::Sum)?;
    let rows = Poisson::new(counts, vec![1.0; bins.len()], Link::Exp)?;
    let posterior = Model::new(Kernel::se(["x"]))
        .mean(Mean::Constant)
        .observe(Observations::new(at, rows)?)
        .fit(&FitOptions::default().with_seed(random.random()))?;
    let asked = [(EDGES[0], EDGES[8]), (EDGES[0], EDGES[5])];
    let at = Functionals::intervals("x", &asked, Aggregate::Sum)?;
    let seen = posterior.predict(&at, Scale::Response)?;
    let half = 0.5 * (1.0 - LEVEL);
    let (lower, upper) = (seen.quantile(half), seen.quantile(1.0 - half));
    Ok([0, 1].map(|i| (sum(asked[i].0, asked[i].1), lower[i], upper[i])))
}
