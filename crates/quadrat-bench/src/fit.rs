//! Where the time of a fit goes: one dense evaluation, one on a grid, a small integrated fit.

use anyhow::Result;
use quadrat::covariance::Covariance;
use quadrat::inference::{Evidence, Exact, Gram, KroneckerFactor, LinearGaussian};
use quadrat::kernel::Kernel;
use quadrat::linalg::{Cholesky, symmetric_eigen};
use quadrat::model::{FitOptions, Model, Noise, Observations, Scale};
use quadrat::support::{Aggregate, Functionals};

use crate::cells::Cells;
use crate::clock::best;
use crate::points::Points;

const ROWS: usize = 1000;
const SIDE: usize = 100;

/// Prints milliseconds of processor time and shares, on one thread.
pub fn run() -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        dense()?;
        grid()?;
        small()
    })
}

/// Milliseconds of the shortest of several runs.
fn milliseconds<T>(rounds: usize, work: impl FnMut() -> T) -> f64 {
    1e3 * best(rounds, work).processor
}

fn print(title: &str, whole: f64, parts: &[(&str, f64)]) {
    println!("{title}: {whole:.2} ms");
    let known: f64 = parts.iter().map(|p| p.1).sum();
    for (name, time) in parts.iter().chain(&[("the rest", whole - known)]) {
        println!(
            "  {name:<28} {time:>9.3} ms {:>5.1} %",
            100.0 * time / whole
        );
    }
}

fn dense() -> Result<()> {
    const ROUNDS: usize = 10;
    let points = Points::random(ROWS)?;
    let theta = [1.3, 2.0, 3.0, 0.01];
    let gram = || match points.gram(&theta) {
        Gram::Dense(k) => k,
        Gram::Kronecker { .. } => unreachable!("points are no grid"),
    };
    let mut k = gram();
    for i in 0..ROWS {
        k[(i, i)] += theta[3];
    }
    let factor = Cholesky::factor(k.as_ref())?;
    let adjoint = Gram::Dense(factor.inverse());
    let noise = vec![0.0; ROWS];
    let contract = || {
        let mut gradient = vec![0.0; theta.len()];
        points.contract(&theta, &adjoint, &noise, &mut gradient);
        gradient
    };
    let parts = [
        ("Gram matrix", milliseconds(ROUNDS, gram)),
        (
            "Cholesky, with one copy",
            milliseconds(ROUNDS, || Cholesky::factor(k.as_ref())),
        ),
        (
            "two triangular solves",
            milliseconds(ROUNDS, || factor.solve(&points.values)),
        ),
        (
            "inverse, with one copy",
            milliseconds(ROUNDS, || factor.clone().into_inverse_lower()),
        ),
        ("contraction", milliseconds(ROUNDS, contract)),
    ];
    let whole = milliseconds(ROUNDS, || Exact(&points).evaluate(&theta));
    print(
        &format!("evidence and gradient of {ROWS} points"),
        whole,
        &parts,
    );
    Ok(())
}

fn grid() -> Result<()> {
    const ROUNDS: usize = 20;
    let cells = Cells::wave(SIDE)?;
    let theta = [1.3, 2.0, 3.0, 1e-6];
    let axes = match cells.gram(&theta) {
        Gram::Kronecker { axes, .. } => axes,
        Gram::Dense(_) => unreachable!("cells are a grid"),
    };
    let eigen = KroneckerFactor::decompose(&axes)?;
    let factor = KroneckerFactor::new(eigen.clone(), None, theta[3])?;
    let alpha = factor.solve(cells.residual());
    let (adjoint, noise) = factor.adjoint(&alpha);
    let contract = || {
        let mut gradient = vec![0.0; theta.len()];
        cells.contract(&theta, &adjoint, &noise, &mut gradient);
        gradient
    };
    let decompose = || {
        axes.iter()
            .map(|a| symmetric_eigen(a.as_ref()))
            .collect::<Vec<_>>()
    };
    let parts = [
        (
            "Gram matrices of the axes",
            milliseconds(ROUNDS, || cells.gram(&theta)),
        ),
        ("eigenvectors of the axes", milliseconds(ROUNDS, decompose)),
        (
            "solve",
            milliseconds(ROUNDS, || factor.solve(cells.residual())),
        ),
        ("log determinant", milliseconds(ROUNDS, || factor.log_det())),
        ("adjoint", milliseconds(ROUNDS, || factor.adjoint(&alpha))),
        ("contraction", milliseconds(ROUNDS, contract)),
    ];
    let whole = milliseconds(ROUNDS, || Exact(&cells).evaluate(&theta));
    let title = format!("evidence and gradient of a grid of {SIDE} x {SIDE} boxes");
    print(&title, whole, &parts);
    Ok(())
}

/// Ten bins, hyperparameters integrated, 200 predictions with an interval.
fn small() -> Result<()> {
    const ROUNDS: usize = 10;
    let bins: Vec<(f64, f64)> = (0..10).map(|i| (f64::from(i), f64::from(i + 1))).collect();
    let counts = vec![3.0, 8.0, 14.0, 21.0, 24.0, 20.0, 15.0, 7.0, 5.0, 2.0];
    let supports = Functionals::intervals("t", &bins, Aggregate::Sum)?;
    let model = Model::new(Kernel::se(["t"])).observe(Observations::gaussian(
        supports.clone(),
        counts,
        Noise::Learned,
    )?);
    let options = FitOptions::default();
    let posterior = model.fit(&options)?;
    let at: Vec<f64> = (0..200).map(|i| 0.05 * f64::from(i)).collect();
    let at = Functionals::points("t", &at)?;
    let prediction = posterior.predict(&at, Scale::Response)?;
    let quantiles = || [0.025, 0.975].map(|p| prediction.quantile(p));
    let parts = [
        ("fit", milliseconds(ROUNDS, || model.fit(&options))),
        (
            "predict 200 points",
            milliseconds(ROUNDS, || posterior.predict(&at, Scale::Response)),
        ),
        ("two quantiles", milliseconds(ROUNDS, quantiles)),
    ];
    let summary = posterior.summary();
    let title = format!(
        "10 bins, {} evaluations, {} nodes",
        summary.evaluations, summary.nodes
    );
    print(&title, parts.iter().map(|p| p.1).sum(), &parts);
    let covariance = Covariance::new(&Kernel::se(["t"]));
    let one = 1e3 * milliseconds(200, || covariance.matrix(&[1.0, 2.0], &supports));
    println!("  (one Gram matrix of the bins: {one:.2} us)");
    Ok(())
}
