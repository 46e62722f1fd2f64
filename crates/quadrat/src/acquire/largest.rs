//! What measurements tell of the largest or the smallest value among the candidates.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::joint::Joint;
use super::state::State;
use super::survey::{Member, Question, Survey};
use crate::error::InputError;
use crate::linalg::Mat;
use crate::special::truncated_normal;

/// Functions that are drawn, all values of the hyperparameters together.
const DRAWS: usize = 128;
/// Draws at least of every value of the hyperparameters.
const FEWEST: usize = 8;
/// Directions at most in which functions are drawn.
const DIRECTIONS: usize = 1024;
/// Numbers that may be kept, for every candidate some for every draw and direction: 320 MB.
const MOST: usize = 40_000_000;
/// Share of the largest variance below which what is left of the others is nothing.
const NOTHING: f64 = 1e-10;

/// What is believed of the largest value among candidates, as measurements are made.
///
/// Functions `f_k` are drawn from the belief, each with its largest value `f*_k`. Were that known,
/// the value `f` of a candidate is taken to be normal and below it; its variance `v` would be
/// `v'_k`, that of the truncated normal. A measurement of precision `tau` then tells
///
/// $$ I(y; f^*) \approx \frac1K \sum_k \frac12 \log \frac{1 + v \tau}{1 + v'_k \tau} $$
///
/// What follows on a measurement that is not known yet is averaged over what each `f_k` would have
/// answered.
///
/// This ranks candidates by whether they may be the largest themselves. It is no exact mutual
/// information: of flat beliefs within a third of it, but far too little of a candidate that is
/// surely not the largest and tells of one that may be.
///
/// # Source
/// Wang and Jegelka 2017, *Max-value entropy search for efficient Bayesian optimization*.
pub(super) struct Largest {
    of: Vec<Drawn>,
    /// The latent value of the first candidate.
    first: usize,
    /// 1 for the largest value, -1 for the smallest.
    sign: f64,
}

/// Functions drawn at one value of the hyperparameters, shape `[candidates, draws]`.
struct Drawn {
    values: Mat<f64>,
    /// The largest value of each, `sign` times.
    largest: Vec<f64>,
    /// Means given what each function answered.
    mean: Mat<f64>,
    random: ChaCha8Rng,
}

impl Largest {
    /// Before any measurement.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for kinds of several outputs, and for too many candidates.
    pub fn new(survey: &Survey<'_>, (sign, seed): (f64, u64)) -> Result<Self, InputError> {
        let first = survey.kinds.first().map_or(0, |kind| kind.first);
        if survey.kinds.iter().any(|kind| kind.first != first) {
            return Err(InputError::Unavailable {
                what: "the largest value of several outputs",
                remedy: "offer the kinds of one output",
            });
        }
        let draws = |member: &Member<'_>| {
            let share = (member.weight * DRAWS as f64).round() as usize;
            share.max(FEWEST)
        };
        let all: usize = survey.members.iter().map(draws).sum();
        let directions = DIRECTIONS.min(survey.places);
        if survey.places * (2 * all + directions) > MOST {
            return Err(InputError::Unavailable {
                what: "the largest value among so many candidates",
                remedy: "take fewer candidates, or the most probable hyperparameters",
            });
        }
        let of = survey.members.iter().enumerate().map(|(k, member)| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(k as u64);
            let places = first..first + survey.places;
            Drawn::new(&*member.joint, places, draws(member), (sign, random))
        });
        Ok(Self {
            of: of.collect(),
            first,
            sign,
        })
    }

    /// What a measurement would tell of the largest value, in nats, on average over
    /// hyperparameters.
    pub fn information(&self, survey: &Survey<'_>, state: &State<'_, '_>, asked: Question) -> f64 {
        let row = survey.row(asked);
        let members = survey.members.iter().zip(&self.of).enumerate();
        let nats = members.map(|(k, (member, drawn))| {
            let sd = state.variance(k)[row].sqrt();
            // `v tau`, of a normal observation that tells as much of the latent value.
            let ratio = (2.0 * state.information_at(k, asked)).exp_m1();
            let all = drawn.largest.iter().enumerate();
            let each = all.map(|(draw, largest)| {
                let below = (largest - self.sign * drawn.mean[(asked.place, draw)]) / sd;
                0.5 * ((1.0 + ratio) / (1.0 + left(below) * ratio)).ln()
            });
            match sd > 0.0 {
                true => member.weight * each.sum::<f64>() / drawn.largest.len() as f64,
                false => 0.0,
            }
        });
        nats.sum()
    }

    /// Follows a measurement at a place that counts as a normal observation of some precision, one
    /// for every value of the hyperparameters, and took `u u'` of every covariance.
    pub fn follow(&mut self, place: usize, (precisions, taken): (&[f64], &[&[f64]])) {
        let members = self.of.par_iter_mut().zip(precisions).zip(taken);
        members.for_each(|((drawn, tau), u)| {
            let size = drawn.values.nrows();
            drawn.answer(place, *tau, &u[self.first..][..size]);
        });
    }
}

/// The variance of a standard normal value that is below a limit.
fn left(limit: f64) -> f64 {
    let known = truncated_normal(f64::NEG_INFINITY, limit);
    known.variance.clamp(0.0, 1.0)
}

impl Drawn {
    fn new(
        joint: &dyn Joint,
        places: std::ops::Range<usize>,
        draws: usize,
        (sign, mut random): (f64, ChaCha8Rng),
    ) -> Self {
        let mean = &joint.mean()[places.clone()];
        let root = root(joint, places);
        let directions = root.first().map_or(0, Vec::len);
        let mut mean_of_all = Mat::zeros(mean.len(), draws);
        let mut values = Mat::zeros(mean.len(), draws);
        for draw in 0..draws {
            let z: Vec<f64> = (0..directions)
                .map(|_| StandardNormal.sample(&mut random))
                .collect();
            mean_of_all.col_as_slice_mut(draw).copy_from_slice(mean);
            let own = values.col_as_slice_mut(draw).iter_mut();
            for ((value, mean), row) in own.zip(mean).zip(&root) {
                *value = mean + row.iter().zip(&z).map(|(a, z)| a * z).sum::<f64>();
            }
        }
        let largest = |draw: usize| {
            let own = values.col_as_slice(draw).iter();
            own.fold(f64::NEG_INFINITY, |most, value| most.max(sign * value))
        };
        Self {
            largest: (0..draws).map(largest).collect(),
            values,
            mean: mean_of_all,
            random,
        }
    }

    /// Means given what each function answers: with `s^2 = v + 1 / tau` the variance of an answer,
    /// `m += u (y - m) / s`.
    fn answer(&mut self, place: usize, tau: f64, u: &[f64]) {
        // `u = c / s`, of which that of the value itself is `v / s`.
        let (own, noise) = (u[place], 1.0 / tau);
        if !(own > 0.0 && noise.is_finite()) {
            return;
        }
        // v = s^2 - noise, v / s = own: s is the larger root of s^2 - own s - noise.
        let s = 0.5 * (own + (own * own + 4.0 * noise).sqrt());
        for draw in 0..self.values.ncols() {
            let error: f64 = StandardNormal.sample(&mut self.random);
            let answer = self.values[(place, draw)] + noise.sqrt() * error;
            let mean = self.mean.col_as_slice_mut(draw);
            let step = (answer - mean[place]) / s;
            mean.iter_mut().zip(u).for_each(|(m, u)| *m += u * step);
        }
    }
}

/// Rows `l` of a root of the covariance, `K = L L'`: by Cholesky's method, each time at the place
/// of which most is left, until nothing is. Neighbours of a smooth function are nearly the same,
/// and in any other order what is left of one would be rounding.
fn root(joint: &dyn Joint, places: std::ops::Range<usize>) -> Vec<Vec<f64>> {
    let mut left = joint.variance()[places.clone()].to_vec();
    let largest = left.iter().copied().fold(0.0, f64::max);
    let mut rows: Vec<Vec<f64>> = vec![Vec::new(); left.len()];
    for _ in 0..DIRECTIONS {
        let most = (0..left.len()).max_by(|a, b| left[*a].total_cmp(&left[*b]));
        let Some(pivot) = most.filter(|at| left[*at] > NOTHING * largest) else {
            break;
        };
        let column = &joint.column(places.start + pivot)[places.clone()];
        let (own, scale) = (rows[pivot].clone(), left[pivot].sqrt());
        for ((row, left), c) in rows.iter_mut().zip(&mut left).zip(column) {
            let known: f64 = row.iter().zip(&own).map(|(a, b)| a * b).sum();
            let next = (c - known) / scale;
            row.push(next);
            *left = (*left - next * next).max(0.0);
        }
        left[pivot] = 0.0;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquire::Dense;

    /// Smooth functions have a covariance of few directions: the root has it to rounding.
    #[test]
    fn the_root_has_the_covariance_of_smooth_functions() {
        let n = 201;
        let k = |i: usize, j: usize| (-0.5 * ((i as f64 - j as f64) / 20.0).powi(2)).exp();
        let joint = Dense::new(vec![0.0; n], Mat::from_fn(n, n, k)).unwrap();
        let rows = root(&joint, 0..n);
        assert!(rows[0].len() < 40, "{}", rows[0].len());
        for i in 0..n {
            for j in 0..n {
                let found: f64 = rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum();
                // What is left of each is a ten thousand millionth.
                assert!((found - k(i, j)).abs() < 2e-10, "{i} {j}: {found}");
            }
        }
    }
}
