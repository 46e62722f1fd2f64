//! What is measured: places with a function on them, and what instruments say of it.

use anyhow::Result;
use quadrat::acquire::{Bins, Ranks, Report, Value};
use quadrat::model::Mean;
use quadrat::support::Functionals;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// What is known of the hyperparameters of a squared exponential.
#[derive(Debug, Clone)]
pub enum Learned {
    /// All.
    Known {
        /// Its variance.
        variance: f64,
        /// One for every dimension.
        lengthscales: Vec<f64>,
        /// Its mean.
        mean: Mean,
    },
    /// Nothing: they are learned anew after every measurement, under the usual priors.
    Anew,
}

/// Places with values that are to be learned.
#[derive(Debug, Clone)]
pub struct Ground {
    /// The names of the dimensions.
    pub dims: Vec<String>,
    /// Coordinates of the places.
    pub points: Vec<Vec<f64>>,
    /// The values there.
    pub values: Vec<f64>,
    /// Where ranks part.
    pub thresholds: Vec<f64>,
    /// Sd of the noise of every instrument.
    pub noise_sd: f64,
    /// Whether instruments add that noise to the values, which recorded ones have already.
    pub is_noisy: bool,
    /// Width of the interval of an answer.
    pub width: f64,
    /// What is known of the hyperparameters.
    pub learned: Learned,
    /// Where measurements can be made.
    pub candidates: Vec<usize>,
    /// Where what was learned is judged.
    pub judged: Vec<usize>,
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

impl Ground {
    /// Some of the places as supports.
    ///
    /// # Errors
    /// As [`Functionals::push_point`].
    pub fn at(&self, places: &[usize]) -> Result<Functionals> {
        let mut at = Functionals::new(self.dims.clone());
        for place in places {
            at.push_point(&self.points[*place])?;
        }
        Ok(at)
    }

    /// What the kinds would report: point, interval, rank.
    pub fn reports(&self) -> Vec<Report> {
        let noise = self.noise_sd * self.noise_sd;
        vec![
            Report::Value(Value { noise }),
            Report::Bins(Bins {
                width: self.width,
                noise,
            }),
            Report::Ranks(Ranks::new(self.thresholds.clone(), noise)),
        ]
    }

    /// A measurement of a kind at a place.
    pub fn measure(&self, kind: usize, place: usize, random: &mut ChaCha8Rng) -> Seen {
        let z: f64 = StandardNormal.sample(random);
        let noise = if self.is_noisy {
            self.noise_sd * z
        } else {
            0.0
        };
        let value = self.values[place] + noise;
        match kind {
            0 => Seen::Point(value),
            1 => {
                let width = self.width;
                let offset = width * random.random_range(0.0..1.0);
                let lower = offset + width * ((value - offset) / width).floor();
                Seen::Interval(lower, lower + width)
            }
            _ => Seen::Rank(1 + self.thresholds.iter().filter(|t| value > **t).count()),
        }
    }
}

/// The values that part the lower third from the middle, and that from the upper.
pub fn thirds(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    [1, 2]
        .map(|third| sorted[third * sorted.len() / 3])
        .to_vec()
}
