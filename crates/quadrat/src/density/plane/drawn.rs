//! Answers and densities from draws, for both kinds of estimates of two columns.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::linalg::{Mat, dot};

use super::super::answers::Answer;
use super::super::curves::Work;
use super::fit::Fit;

impl Fit {
    /// The answer from the number of every draw, and that of the average of modes.
    pub fn answer(&self, numbers: &[f64], mode: f64) -> Answer {
        let value = match self.is_mean {
            true => dot(numbers, &self.curves.weights),
            false => mode,
        };
        self.about(numbers, value)
    }

    /// A value with the interval from the number of every draw.
    pub fn about(&self, numbers: &[f64], value: f64) -> Answer {
        let tail = 0.5 * (1.0 - self.level);
        let weights = &self.curves.weights;
        let [lower, upper] = Work::default().quantiles(numbers, weights, [tail, 1.0 - tail]);
        Answer {
            value,
            lower: lower.min(value),
            upper: upper.max(value),
        }
    }

    /// The share of every cell of an axis that lies in an interval.
    pub fn shares(&self, axis: usize, (from, to): (f64, f64)) -> Vec<f64> {
        let (from, to) = (from.min(to), from.max(to));
        let share = |e: &[f64]| ((e[1].min(to) - e[0].max(from)) / (e[1] - e[0])).clamp(0.0, 1.0);
        self.grid.axes[axis].edges.windows(2).map(share).collect()
    }

    /// Numbers of draws, each as likely as its weight.
    pub fn picks(&self, draws: usize, random: &mut ChaCha8Rng) -> Vec<usize> {
        let mut cumulative = Vec::with_capacity(self.curves.len());
        let mut sum = 0.0;
        for w in &self.curves.weights {
            sum += w;
            cumulative.push(sum);
        }
        let last = self.curves.len() - 1;
        let pick = |at: f64| cumulative.partition_point(|c| *c <= at).min(last);
        (0..draws)
            .map(|_| pick(random.random::<f64>() * sum))
            .collect()
    }

    /// Draws of whole densities, each as likely as its weight, shape `[cells, draws]`.
    pub fn draws(&self, draws: usize, seed: u64) -> Mat<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let picks = self.picks(draws, &mut random);
        let mut out = Mat::zeros(self.mass.len(), draws);
        for (k, draw) in picks.into_iter().enumerate() {
            let mass = self.curves.draw(&self.grid, draw);
            for (cell, u) in mass.into_iter().enumerate() {
                out[(cell, k)] = self.grid.per_size(cell, u);
            }
        }
        out
    }
}
