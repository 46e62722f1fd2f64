//! The artificial data of the paper: a function on a grid, and what instruments say of it.

use anyhow::Result;
use quadrat::acquire::{Bins, Ranks, Report, Value};
use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::linalg::Cholesky;
use quadrat::support::Functionals;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

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
    /// The places as supports.
    pub at: Functionals,
    /// The lengthscale of the function.
    pub lengthscale: f64,
    factor: Cholesky,
}

/// A function that is to be learned.
pub struct Truth {
    /// Its values at the places.
    pub values: Vec<f64>,
    /// Where its ranks part: at the thirds of its values.
    pub thresholds: Vec<f64>,
}

/// What was seen at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seen {
    /// A value with noise.
    Point(f64),
    /// Between which two marks of an even scale, which begins anywhere, a noisy value lies.
    Interval(f64, f64),
    /// The rank of a noisy value.
    Rank(usize),
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
            at,
            lengthscale,
            factor: Cholesky::factor(k.as_ref())?,
        })
    }

    /// A function drawn from the prior.
    pub fn truth(&self, random: &mut ChaCha8Rng) -> Truth {
        let z: Vec<f64> = (0..self.points.len())
            .map(|_| StandardNormal.sample(random))
            .collect();
        let values = self.factor.multiply(&z);
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let thresholds = [1, 2]
            .map(|third| sorted[third * sorted.len() / 3])
            .to_vec();
        Truth { values, thresholds }
    }
}

impl Truth {
    /// What the kinds would report: point, interval, rank.
    pub fn reports(&self) -> Vec<Report> {
        let noise = NOISE_SD * NOISE_SD;
        vec![
            Report::Value(Value { noise }),
            Report::Bins(Bins {
                width: WIDTH,
                noise,
            }),
            Report::Ranks(Ranks::new(self.thresholds.clone(), noise)),
        ]
    }

    /// A measurement of a kind at a place.
    pub fn measure(&self, kind: usize, place: usize, random: &mut ChaCha8Rng) -> Seen {
        let z: f64 = StandardNormal.sample(random);
        let value = self.values[place] + NOISE_SD * z;
        match kind {
            0 => Seen::Point(value),
            1 => {
                let offset = WIDTH * random.random_range(0.0..1.0);
                let lower = offset + WIDTH * ((value - offset) / WIDTH).floor();
                Seen::Interval(lower, lower + WIDTH)
            }
            _ => Seen::Rank(1 + self.thresholds.iter().filter(|t| value > **t).count()),
        }
    }
}
