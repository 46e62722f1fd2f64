//! The artificial data of the paper: functions on a grid.

use anyhow::Result;
use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::linalg::Cholesky;
use quadrat::model::Mean;
use quadrat::support::Functionals;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::ground::{Ground, Learned, thirds};

/// Sd of the noise of every instrument.
pub const NOISE_SD: f64 = 0.1;
/// Width of the interval of an answer: six sds of the noise, as the paper draws them.
pub const WIDTH: f64 = 6.0 * NOISE_SD;
/// Added to the variance of the function, which is one, so that it can be drawn.
const JITTER: f64 = 1e-8;
/// Length of the domain along every dimension.
const LENGTH: f64 = 2.0;

/// Places on a grid, and functions on them.
pub struct World {
    /// The names of the dimensions.
    pub dims: Vec<String>,
    /// Coordinates of the places.
    pub points: Vec<Vec<f64>>,
    /// The lengthscale of the function.
    pub lengthscale: f64,
    factor: Cholesky,
}

impl World {
    /// A grid of `side` places along each of `dimensions` dimensions.
    ///
    /// # Errors
    /// As [`Cholesky::factor`].
    pub fn new(dimensions: usize, side: usize, lengthscale: f64) -> Result<Self> {
        let dims: Vec<String> = ["x", "y", "z"][..dimensions]
            .iter()
            .map(|d| (*d).to_owned())
            .collect();
        let mut at = Functionals::new(dims.clone());
        let mut points = Vec::new();
        for place in 0..side.pow(dimensions as u32) {
            let along = |d: usize| place / side.pow(d as u32) % side;
            let point: Vec<f64> = (0..dimensions)
                .map(|d| LENGTH * along(d) as f64 / (side - 1) as f64)
                .collect();
            at.push_point(&point)?;
            points.push(point);
        }
        let kernel = Kernel::se(dims.iter().map(String::as_str));
        let mut theta = vec![1.0];
        theta.resize(1 + dimensions, lengthscale);
        let mut k = Covariance::new(&kernel).matrix(&theta, &at);
        for i in 0..points.len() {
            k[(i, i)] += JITTER;
        }
        Ok(Self {
            dims,
            points,
            lengthscale,
            factor: Cholesky::factor(k.as_ref())?,
        })
    }

    /// A function drawn from the prior, of which everything but its values is known.
    pub fn ground(&self, random: &mut ChaCha8Rng) -> Ground {
        let z: Vec<f64> = (0..self.points.len())
            .map(|_| StandardNormal.sample(random))
            .collect();
        let values = self.factor.multiply(&z);
        let all: Vec<usize> = (0..self.points.len()).collect();
        Ground {
            dims: self.dims.clone(),
            points: self.points.clone(),
            thresholds: thirds(&values),
            values,
            noise_sd: NOISE_SD,
            is_noisy: true,
            width: WIDTH,
            learned: Learned::Known {
                variance: 1.0,
                lengthscales: vec![self.lengthscale; self.dims.len()],
                mean: Mean::Zero,
            },
            candidates: all.clone(),
            judged: all,
        }
    }
}
