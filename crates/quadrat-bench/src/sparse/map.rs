//! Counts of bags of pixels, as a problem whose bound can be asked for.

use anyhow::{Context, Result};
use quadrat::covariance::{Covariance, Induced};
use quadrat::inference::sites::Block;
use quadrat::inference::sparse::{Bags, LogSum, Normal, SparseProblem, Within, bound};
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::Posterior;
use quadrat::parameter::Parameter;
use quadrat::simulate::CountryData;
use quadrat::support::Functionals;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// Columns of a product at a time, about.
pub const CHUNK: usize = 1024;
/// Pixels of a bag, and columns of covariates beside two of space, of a map at random.
pub const BAG: usize = 1000;
pub const COVARIATES: usize = 18;

/// Every lengthscale, both variances, and what every bag reported, of a map at random.
const LENGTHSCALE: f64 = 1.5;
const VARIANCE: f64 = 0.5;
const COUNT: f64 = 40.0;
const EXPOSURE: f64 = 30.0;

/// What is added to the variances of inducing points, relative to them.
const JITTER: f64 = 1e-6;
/// Variance of every whitened inducing value.
const SPREAD: f64 = 0.3;

/// Counts of bags of pixels under `se(covariates) + matern32(x, y)`, and where their bound is asked
/// for.
pub struct Map {
    bags: Bags,
    induced: Induced,
    level: f64,
    means: Vec<Vec<f64>>,
    counts: Vec<f64>,
    exposures: Vec<f64>,
    likelihood: Poisson,
    belief: Normal,
    theta: Vec<f64>,
    /// By column, and of either part, as in `theta`.
    lengthscales: Vec<f64>,
    variances: Vec<f64>,
}

/// What differs from map to map.
struct Plan<'a> {
    kernel: Kernel,
    /// The value of a hyperparameter of this name.
    value: &'a dyn Fn(&str) -> Result<f64>,
    /// Level of the latent function.
    level: f64,
    inducing: Functionals,
    /// Weights of the pixels of every bag; counts and exposures of the bags.
    weights: Vec<Vec<f64>>,
    counts: Vec<f64>,
    exposures: Vec<f64>,
}

impl Map {
    /// Pixels anywhere in the unit cube, and as many inducing points as asked for.
    pub fn random(pixels: usize, inducing: usize) -> Result<Self> {
        let covariates: Vec<String> = (0..COVARIATES).map(|d| format!("c{d}")).collect();
        let kernel: Kernel = format!("se({}) + matern32(x, y)", covariates.join(", ")).parse()?;
        let columns = kernel.columns().to_vec();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut place = || -> Vec<f64> {
            let x = columns.iter().map(|_| random.random_range(0.0..1.0));
            x.collect()
        };
        let mut at = Functionals::new(columns.clone());
        for _ in 0..inducing {
            at.push_point(&place())?;
        }
        let bags = pixels / BAG;
        let value = |name: &str| -> Result<f64> {
            let is_length = name.contains("lengthscale");
            Ok(if is_length { LENGTHSCALE } else { VARIANCE })
        };
        let plan = Plan {
            kernel,
            value: &value,
            level: 0.0,
            inducing: at,
            weights: vec![vec![1.0 / BAG as f64; BAG]; bags],
            counts: vec![COUNT; bags],
            exposures: vec![EXPOSURE; bags],
        };
        Self::new(plan, |_| place())
    }

    /// A simulated country, through the inducing points and with the hyperparameters of a fit.
    pub fn country(data: &CountryData, fit: &Posterior) -> Result<Self> {
        let place = |pixel: usize| -> Vec<f64> {
            let covariates = data.covariates.iter().map(|column| column[pixel]);
            covariates.chain([data.x[pixel], data.y[pixel]]).collect()
        };
        let found = &fit.summary().hyperparameters;
        let value = |name: &str| -> Result<f64> {
            let own = found.iter().find(|h| h.name == name);
            Ok(own
                .with_context(|| format!("no hyperparameter {name}"))?
                .value)
        };
        let inducing = fit
            .inducing()
            .context("a fit through inducing points was meant")?;
        let weights = data.first.windows(2);
        let plan = Plan {
            kernel: fit.kernel().clone(),
            value: &value,
            level: value("mean.constant")?,
            inducing: inducing.clone(),
            weights: weights
                .map(|of| data.people[of[0]..of[1]].to_vec())
                .collect(),
            counts: data.counts.clone(),
            exposures: vec![1.0; data.counts.len()],
        };
        Self::new(plan, place)
    }

    /// `place` is asked for every pixel, in order.
    fn new(plan: Plan<'_>, mut place: impl FnMut(usize) -> Vec<f64>) -> Result<Self> {
        let Plan { kernel, value, .. } = plan;
        let mut bags = Bags::new(Within::default()).with_chunk(CHUNK);
        for weights in &plan.weights {
            bags.push(Link::Exp, weights)?;
        }
        let mut chunks = Vec::with_capacity(bags.chunks());
        for c in 0..bags.chunks() {
            let mut set = Functionals::new(kernel.columns().to_vec());
            for pixel in bags.chunk_points(c) {
                set.push_point(&place(pixel))?;
            }
            chunks.push(set);
        }
        let theta = kernel.parameters().iter().map(|p| value(&p.name));
        let theta = theta.collect::<Result<Vec<_>>>()?;
        let of = |name: &str| -> Option<f64> {
            let at = kernel.parameters().iter().position(|p| p.name == name);
            at.map(|i| theta[i])
        };
        let columns = kernel.columns();
        let mut lengthscales = Vec::with_capacity(columns.len());
        for (k, column) in columns.iter().enumerate() {
            let leaf = if k + 2 < columns.len() {
                "se"
            } else {
                "matern32"
            };
            let own = of(&format!("{leaf}.lengthscale.{column}"));
            let shared = own.or_else(|| of(&format!("{leaf}.lengthscale")));
            lengthscales.push(shared.with_context(|| format!("no lengthscale of {column}"))?);
        }
        let variances = ["se.variance", "matern32.variance"].map(of);
        let variances = variances.into_iter().collect::<Option<Vec<_>>>();
        let belief = Normal::isotropic(plan.inducing.len(), SPREAD)?;
        Ok(Self {
            lengthscales,
            variances: variances.context("no variances")?,
            means: chunks.iter().map(|c| vec![plan.level; c.len()]).collect(),
            induced: Induced::new(Covariance::new(&kernel), plan.inducing, chunks, JITTER),
            likelihood: Poisson::new(plan.counts.clone(), plan.exposures.clone(), Link::Exp)?,
            level: plan.level,
            counts: plan.counts,
            exposures: plan.exposures,
            theta,
            bags,
            belief,
        })
    }

    /// The bound, after a pass with or without its gradient.
    pub fn bound(&self, with_gradient: bool) -> Result<f64> {
        let found = bound(
            self,
            &self.theta,
            &self.belief,
            LogSum::Matched,
            with_gradient,
        )?;
        Ok(found.value)
    }

    /// What a peer must know to pass over the same pixels.
    pub fn setting(&self) -> Value {
        let rows = self.bags.rows();
        let sample: Vec<Vec<usize>> = (0..rows).map(|r| self.bags.sample(r)).collect();
        let ends = (0..rows).map(|r| self.bags.row_points(r).end);
        let offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
        json!({
            "columns": self.lengthscales.len(), "offsets": offsets, "sample": sample, "counts": self.counts, "exposures": self.exposures,
            "lengthscales": self.lengthscales, "variances": self.variances, "level": self.level, "jitter": JITTER, "spread": SPREAD,
        })
    }

    /// Coordinates of the inducing points and of all pixels, point by point, and the weights of the
    /// pixels, as doubles.
    pub fn arrays(&self) -> [(&'static str, Vec<u8>); 3] {
        let dims = self.lengthscales.len();
        let rows = |set: &Functionals| -> Vec<u8> {
            let all = (0..set.len()).flat_map(|i| (0..dims).map(move |d| set.extent(i, d).0));
            all.flat_map(f64::to_le_bytes).collect()
        };
        let points = (0..self.bags.chunks()).flat_map(|c| rows(self.induced.chunk(c)));
        let weights = (0..self.bags.rows()).flat_map(|r| self.bags.weights(r));
        [
            ("inducing", rows(self.induced.inducing())),
            ("points", points.collect()),
            ("weights", weights.flat_map(|w| w.to_le_bytes()).collect()),
        ]
    }
}

impl SparseProblem for Map {
    fn induced(&self) -> &Induced {
        &self.induced
    }
    fn bags(&self) -> &Bags {
        &self.bags
    }
    fn prior_mean(&self, chunk: usize) -> &[f64] {
        &self.means[chunk]
    }
    fn blocks(&self) -> Vec<Block<'_>> {
        vec![Block {
            likelihood: &self.likelihood,
            first: 0,
            own: &[],
            second: None,
        }]
    }
    fn parameters(&self) -> &[Parameter] {
        &[]
    }
    fn describe(&self) -> String {
        "se + matern32".into()
    }
}
