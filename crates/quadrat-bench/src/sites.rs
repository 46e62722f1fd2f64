//! Time of a sweep over sites as a multiple of the linear algebra it cannot do without.

use anyhow::{Context, Result, ensure};
use faer::{Mat, MatRef};
use quadrat::inference::sites::{Block, LatentGaussian, Method, SiteOptions, condition_sites};
use quadrat::likelihood::local::Local;
use quadrat::likelihood::{Gaussian, Interval, Noise, Poisson};
use quadrat::linalg::Cholesky;
use quadrat::link::Link;
use quadrat::parameter::Parameter;

use crate::clock::once;
use crate::points::Points;

const ROWS: usize = 1000;
/// Sweeps of a short and of a long search: what one more costs is their difference. Too few to
/// converge is the same work.
const SWEEPS: [usize; 2] = [2, 8];

/// A table of rows on [`Points`].
struct Rows {
    points: Points,
    tables: Vec<Box<dyn Local>>,
    mean: Vec<f64>,
    k: Mat<f64>,
}

impl LatentGaussian for Rows {
    fn prior_mean(&self) -> &[f64] {
        &self.mean
    }
    fn covariance(&self, _: &[f64]) -> Mat<f64> {
        self.k.clone()
    }
    fn contract_covariance(&self, theta: &[f64], g: MatRef<'_, f64>, gradient: &mut [f64]) {
        let points = &self.points;
        let kernel = &mut gradient[..3];
        points
            .covariance
            .contract(&theta[..3], &points.supports, g, kernel);
    }
    fn blocks(&self) -> Vec<Block<'_>> {
        let mut first = 0;
        let block = |likelihood: &'_ dyn Local| {
            let at = first;
            first += likelihood.rows();
            at
        };
        let firsts: Vec<usize> = self.tables.iter().map(|t| t.as_ref()).map(block).collect();
        let tables = self.tables.iter().zip(firsts);
        tables
            .map(|(table, first)| Block {
                likelihood: table.as_ref(),
                first,
                own: &[],
                second: None,
            })
            .collect()
    }
    fn parameters(&self) -> &[Parameter] {
        &[]
    }
    fn describe(&self) -> String {
        "se(x, y)".into()
    }
}

/// Prints the time of a sweep for several kinds of rows, on one thread and on all.
pub fn run() -> Result<()> {
    println!(
        "{ROWS} rows; the floor is a scaled copy of K, its Cholesky factorisation, and what marginal variances need: the inverse of the factor, or one triangular solve"
    );
    for threads in [1, rayon::current_num_threads()] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        for kind in ["intervals", "intervals and values", "counts"] {
            pool.install(|| one(kind, threads))?;
        }
    }
    Ok(())
}

fn one(kind: &str, threads: usize) -> Result<()> {
    let points = Points::random(ROWS)?;
    let y = points.values.clone();
    let half = ROWS / 2;
    let cut = |y: &[f64]| -> Result<Interval> {
        let low: Vec<f64> = y.iter().map(|y| (4.0 * y).floor() / 4.0).collect();
        let high = low.iter().map(|l| l + 0.25).collect();
        Ok(Interval::new(low, high, Noise::Known(vec![0.01; y.len()]))?)
    };
    let tables: Vec<Box<dyn Local>> = match kind {
        "intervals" => vec![Box::new(cut(&y)?)],
        "counts" => {
            let counts = y.iter().map(|y| (3.0 * y.exp()).floor()).collect();
            vec![Box::new(Poisson::new(counts, vec![3.0; ROWS], Link::Exp)?)]
        }
        _ => vec![
            Box::new(cut(&y[..half])?),
            Box::new(Gaussian::new(
                y[half..].to_vec(),
                Noise::Known(vec![0.01; half]),
            )?),
        ],
    };
    let theta = [1.0, 1.5, 1.5];
    let k = points.covariance.matrix(&theta, &points.supports);
    let rows = Rows {
        points,
        tables,
        mean: vec![0.0; ROWS],
        k: k.clone(),
    };
    let mut floor = f64::INFINITY;
    let mut searches = [f64::INFINITY; 2];
    for _ in 0..4 {
        let (factor, times) = once(|| {
            let b = Mat::from_fn(ROWS, ROWS, |i, j| {
                let scaled = 0.3 * k[(i, j)] * 0.7;
                if i == j { scaled + 1.0 } else { scaled }
            });
            let factor = Cholesky::factor_owned(b);
            if let Ok(factor) = &factor {
                std::hint::black_box(factor.inverse_diagonal());
            }
            factor
        });
        factor.context("the floor")?;
        floor = floor.min(times.wall);
        for (sweeps, search) in SWEEPS.into_iter().zip(&mut searches) {
            let mut options = SiteOptions::new(Method::Ep);
            options.sweeps = sweeps;
            options.tolerance = 0.0;
            let (fit, times) = once(|| condition_sites(&rows, &theta, &options));
            ensure!(fit?.found.sweeps == sweeps, "a search ended early");
            *search = search.min(times.wall);
        }
    }
    let sweep = (searches[1] - searches[0]) / (SWEEPS[1] - SWEEPS[0]) as f64;
    let first = searches[0] - SWEEPS[0] as f64 * sweep;
    println!(
        "{kind:22} {threads} threads: floor {:6.1} ms, sweep with evidence {:6.1} ms, {:.2}x; once per search {:6.1} ms",
        1e3 * floor,
        1e3 * sweep,
        sweep / floor,
        1e3 * first
    );
    Ok(())
}
