//! Bins along a line under a Matern kernel: the evidence by a chain of states beside that of the
//! whole matrix, whole fits, and mgcv where an R has it.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use quadrat::covariance::{Chain, Covariance};
use quadrat::inference::{Gram, LinearGaussian, evidence_and_gradient, log_evidence};
use quadrat::kernel::Kernel;
use quadrat::likelihood::Noise;
use quadrat::linalg::Dual;
use quadrat::model::{FitOptions, Hyperparameters, Model, Observations};
use quadrat::parameter::{Parameter, PriorDensity};
use quadrat::support::{Aggregate, Functionals};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::clock::{best, once};

/// Numbers of bins.
const BINS: [usize; 6] = [100, 300, 1000, 1001, 2000, 4000];
/// Up to so many the matrix is timed as well.
const MATRIX: usize = 2000;
/// Functions of mgcv's basis.
const BASIS: usize = 50;

/// Averages of a curve over bins of one width, with noise of sd 1.
struct Bins {
    supports: Functionals,
    edges: Vec<f64>,
    values: Vec<f64>,
    covariance: Covariance,
    parameters: Vec<Parameter>,
}

impl Bins {
    fn new(n: usize) -> Result<Self> {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let edges: Vec<f64> = (0..=n).map(|i| 60.0 * i as f64 / n as f64).collect();
        let boxes: Vec<(f64, f64)> = edges.windows(2).map(|w| (w[0], w[1])).collect();
        let value = |(a, b): &(f64, f64)| {
            let x = f64::midpoint(*a, *b);
            20.0 * (x / 7.0).sin() + 10.0 * (x / 2.3).cos() + random.random_range(-1.73..1.73)
        };
        let kernel = Kernel::matern32(["x"]);
        let parameter = |name: &str| Parameter::positive(name, "", 1.0, PriorDensity::Flat);
        Ok(Self {
            supports: Functionals::intervals("x", &boxes, Aggregate::Mean)?,
            values: boxes.iter().map(value).collect(),
            edges,
            covariance: Covariance::new(&kernel),
            parameters: ["variance", "lengthscale", "noise"].map(parameter).to_vec(),
        })
    }
}

impl LinearGaussian for Bins {
    fn rows(&self) -> usize {
        self.values.len()
    }

    fn residual(&self) -> &[f64] {
        &self.values
    }

    fn gram(&self, theta: &[f64]) -> Gram {
        Gram::Dense(self.covariance.matrix(&theta[..2], &self.supports))
    }

    fn noise(&self, theta: &[f64], variances: &mut [f64]) {
        variances.fill(theta[2]);
    }

    fn contract(&self, theta: &[f64], adjoint: &Gram, noise_adjoint: &[f64], gradient: &mut [f64]) {
        if let Gram::Dense(g) = adjoint {
            let of_kernel = &mut gradient[..2];
            self.covariance
                .contract(&theta[..2], &self.supports, g.as_ref(), of_kernel);
        }
        gradient[2] += noise_adjoint.iter().sum::<f64>();
    }

    fn describe(&self) -> String {
        "matern32(x)".to_owned()
    }

    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
}

/// Prints a line for each number of bins, all on one thread.
pub fn run(peer: &Path) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| BINS.iter().try_for_each(|n| one(*n, peer)))
}

fn one(n: usize, peer: &Path) -> Result<()> {
    let bins = Bins::new(n)?;
    let theta = [300.0, 8.0, 1.0];
    let chain = Chain::new(&bins.covariance, &bins.supports).context("bins have a chain")?;
    let by_chain = || -> Option<Dual<3>> {
        let dual: Vec<Dual<3>> = (0..3).map(|i| Dual::parameter(theta[i], i)).collect();
        let found = chain.products(&dual, &vec![dual[2]; n], &[&bins.values])?;
        Some(log_evidence(n, found.log_det, &found.products))
    };
    let value = by_chain().context("bins with noise are told")?;
    let time = 1e3 * best(3, by_chain).processor;
    print!("{n} bins: evidence and gradient {time:.3} ms");
    if n <= MATRIX {
        let (right, gradient) = evidence_and_gradient(&bins, &theta)?;
        let whole = 1e3 * best(1, || evidence_and_gradient(&bins, &theta)).processor;
        let pairs = value.slopes.iter().zip(&gradient);
        let slopes = pairs.map(|(a, b)| (a - b).abs() / b.abs());
        let off = slopes.fold((value.value / right - 1.0).abs(), f64::max);
        print!(
            ", by the matrix {whole:.1} ms ({:.0}x), {off:.0e} apart",
            whole / time
        );
    }
    let table = Observations::gaussian(bins.supports.clone(), bins.values.clone(), Noise::Learned)?;
    let model = Model::new(Kernel::matern32(["x"])).observe(table);
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let (fitted, times) = once(|| model.fit(&options));
    let noise = fitted?
        .summary()
        .hyperparameters
        .iter()
        .find(|h| h.name == "noise.variance")
        .map(|h| h.value.sqrt());
    print!(
        "; fit {:.3} s, noise sd {:.3}",
        times.processor,
        noise.unwrap_or(f64::NAN)
    );
    match mgcv(&bins, peer) {
        Ok(told) => println!("; mgcv {told}"),
        Err(error) => println!("; mgcv: {error:#}"),
    }
    Ok(())
}

/// Seconds and the noise's sd of mgcv.
fn mgcv(bins: &Bins, peer: &Path) -> Result<String> {
    let mut file = tempfile::NamedTempFile::new()?;
    writeln!(file, "from,to,y")?;
    for (w, y) in bins.edges.windows(2).zip(&bins.values) {
        writeln!(file, "{},{},{y}", w[0], w[1])?;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/line.R");
    let told = Command::new(peer)
        .arg(script)
        .arg(file.path())
        .arg(BASIS.to_string())
        .env("OMP_NUM_THREADS", "1")
        .output()
        .context("Rscript did not start")?;
    let text = String::from_utf8_lossy(&told.stdout);
    let numbers: Vec<&str> = text.split_whitespace().collect();
    match numbers[..] {
        [seconds, sd, _] => Ok(format!("{seconds} s, noise sd {sd}")),
        _ => anyhow::bail!("{}", String::from_utf8_lossy(&told.stderr).trim()),
    }
}
