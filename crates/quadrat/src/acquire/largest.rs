//! What measurements tell of the largest or the smallest value among targets.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::joint::Joint;
use super::shared::spread;
use super::state::State;
use super::survey::{Member, Question, Survey};
use crate::error::InputError;
use crate::linalg::Mat;
use crate::special::truncated_normal;

/// Functions that are drawn, all values of the hyperparameters together.
const DRAWS: usize = 128;
/// Draws at least of every value of the hyperparameters.
const FEWEST: usize = 8;
/// Targets at most: their covariance is factorised for every value of the hyperparameters.
const TARGETS: usize = 1024;
/// Numbers that may be kept, one for every draw and latent value: 320 MB.
const MOST: usize = 40_000_000;
/// Share of the largest variance below which a target adds nothing to those before it.
const NOTHING: f64 = 1e-10;

/// What is believed of the largest value among targets, as measurements are made.
///
/// Functions `f_k` are drawn from the belief, each with its largest value `f*_k` among the targets.
/// Were that known, a latent value `f` would be normal and below it; its variance `v` would be
/// `v'_k`, that of the truncated normal. A measurement of precision `tau` then tells
///
/// $$ I(y; f^*) \approx \frac1K \sum_k \frac12 \log \frac{1 + v \tau}{1 + v'_k \tau} $$
///
/// as though the truncated normal were normal, which tells somewhat less. What follows on a
/// measurement that is not known yet is averaged over what each `f_k` would have answered.
///
/// # Source
/// Wang and Jegelka 2017, *Max-value entropy search for efficient Bayesian optimization*.
pub(super) struct Largest {
    of: Vec<Drawn>,
    /// 1 for the largest value, -1 for the smallest.
    sign: f64,
}

/// Functions drawn at one value of the hyperparameters.
struct Drawn {
    /// The latent values at which they are known: targets, then what was measured; the rows of the
    /// factor of their covariance, each as long as its place says.
    known: Vec<usize>,
    factor: Vec<Vec<f64>>,
    /// Standard normal values of every draw, one for each row of the factor.
    normal: Vec<Vec<f64>>,
    /// The largest value of each draw, `sign` times.
    largest: Vec<f64>,
    /// Means of all latent values given what each draw answered, shape `[latent values, draws]`.
    mean: Mat<f64>,
    random: ChaCha8Rng,
}

impl Largest {
    /// Before any measurement.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for kinds of several outputs, and for too many targets or
    /// candidates.
    pub fn new(survey: &Survey<'_>, (sign, seed): (f64, u64)) -> Result<Self, InputError> {
        let first = survey.kinds.first().map_or(0, |kind| kind.first);
        if survey.kinds.iter().any(|kind| kind.first != first) {
            return Err(InputError::Unavailable {
                what: "the largest value of several outputs",
                remedy: "offer the kinds of one output",
            });
        }
        let targets = match survey.targets.is_empty() {
            false => survey.targets.clone(),
            true => spread(first..first + survey.places, TARGETS),
        };
        let draws = |member: &Member<'_>| {
            let share = (member.weight * DRAWS as f64).round() as usize;
            share.max(FEWEST)
        };
        let sizes = survey.members.iter();
        let kept: usize = sizes.map(|m| m.joint.mean().len() * draws(m)).sum();
        if targets.len() > TARGETS || kept > MOST {
            return Err(InputError::Unavailable {
                what: "the largest value among so many targets or candidates",
                remedy: "take at most 1,024 targets, or fewer candidates",
            });
        }
        let members = survey.members.par_iter().enumerate();
        let of = members.map(|(k, member)| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(k as u64);
            Drawn::new(&*member.joint, &targets, draws(member), (sign, random))
        });
        Ok(Self {
            of: of.collect(),
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
                let below = (largest - self.sign * drawn.mean[(row, draw)]) / sd;
                0.5 * ((1.0 + ratio) / (1.0 + left(below) * ratio)).ln()
            });
            match sd > 0.0 {
                true => member.weight * each.sum::<f64>() / drawn.largest.len() as f64,
                false => 0.0,
            }
        });
        nats.sum()
    }

    /// Follows a measurement that counts as a normal observation of some precision, one for every
    /// value of the hyperparameters, and took `u u'` of every covariance.
    pub fn follow(
        &mut self,
        survey: &Survey<'_>,
        row: usize,
        (precisions, taken): (&[f64], &[&[f64]]),
    ) {
        let members = self.of.par_iter_mut().zip(&survey.members);
        let members = members.zip(precisions).zip(taken);
        members.for_each(|(((drawn, member), tau), u)| {
            drawn.answer(&*member.joint, row, (*tau, u));
        });
    }
}

/// The variance of a standard normal value that is below a limit.
fn left(limit: f64) -> f64 {
    truncated_normal(f64::NEG_INFINITY, limit)
        .variance
        .clamp(0.0, 1.0)
}

impl Drawn {
    fn new(
        joint: &dyn Joint,
        targets: &[usize],
        draws: usize,
        (sign, random): (f64, ChaCha8Rng),
    ) -> Self {
        let mean = joint.mean();
        let mut own = Self {
            known: Vec::with_capacity(targets.len()),
            factor: Vec::with_capacity(targets.len()),
            normal: vec![Vec::with_capacity(targets.len()); draws],
            largest: vec![f64::NEG_INFINITY; draws],
            mean: Mat::from_fn(mean.len(), draws, |row, _| mean[row]),
            random,
        };
        for target in targets {
            let values = own.values(joint, *target);
            for (largest, value) in own.largest.iter_mut().zip(values) {
                *largest = largest.max(sign * value);
            }
        }
        own
    }

    /// What every draw is at a latent value: the next row of the factor.
    fn values(&mut self, joint: &dyn Joint, row: usize) -> Vec<f64> {
        let column = joint.column(row);
        let mut own: Vec<f64> = Vec::with_capacity(self.known.len() + 1);
        for (at, before) in self.known.iter().zip(&self.factor) {
            let Some((last, before)) = before.split_last() else {
                continue;
            };
            let sum: f64 = before.iter().zip(&own).map(|(a, b)| a * b).sum();
            // What adds nothing to those before has a zero there.
            own.push(match *last > 0.0 {
                true => (column[*at] - sum) / last,
                false => 0.0,
            });
        }
        let variance = joint.variance()[row];
        let apart = variance - own.iter().map(|a| a * a).sum::<f64>();
        own.push(match apart > NOTHING * variance {
            true => apart.sqrt(),
            false => 0.0,
        });
        let (mean, random) = (joint.mean()[row], &mut self.random);
        let values = self.normal.iter_mut().map(|normal| {
            normal.push(StandardNormal.sample(random));
            mean + own.iter().zip(&*normal).map(|(a, z)| a * z).sum::<f64>()
        });
        let values = values.collect();
        self.known.push(row);
        self.factor.push(own);
        values
    }

    /// Means given what each draw answers: with `s^2 = v + 1 / tau` the variance of an answer,
    /// `m += u (y - m) / s`.
    fn answer(&mut self, joint: &dyn Joint, row: usize, (tau, u): (f64, &[f64])) {
        let values = self.values(joint, row);
        // `u = c / s`, of which that of the value itself is `v / s`.
        let (own, noise) = (u[row], 1.0 / tau);
        if own <= 0.0 || !noise.is_finite() {
            return;
        }
        // v = s^2 - noise, v / s = own: s is the larger root of s^2 - own s - noise.
        let s = 0.5 * (own + (own * own + 4.0 * noise).sqrt());
        for (draw, value) in values.into_iter().enumerate() {
            let error: f64 = StandardNormal.sample(&mut self.random);
            let mean = self.mean.col_as_slice_mut(draw);
            let step = (value + noise.sqrt() * error - mean[row]) / s;
            mean.iter_mut().zip(u).for_each(|(m, u)| *m += u * step);
        }
    }
}
