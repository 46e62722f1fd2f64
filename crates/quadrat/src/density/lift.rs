//! Draws that are moved to where bins, intervals and boxes hold what is known of them.
//!
//! The rows say how much each bin holds, and a normal approximation in the logarithm `eta` of the
//! density knows that to first order only: with `u` the probabilities of the cells at the mode `m`,
//! `p_b = sum_j A_bj u_j` those of the bins and `r_b` the density within a bin, the log odds of a
//! bin change by
//!
//! $$ x_b = (r_b - u)' (\eta - m) / (1 - p_b) $$
//!
//! Within a wide bin draws are uncertain, exponentials of them are far from linear, and the bin of
//! a draw holds many times what its rows say. Each draw is told what its bins should hold, from its
//! own `x_b` and the likelihood of their rows ([`super::odds`]), as `log q_b`, and its function is
//! raised or lowered within every bin until they do:
//!
//! $$ \eta \leftarrow \eta + \Phi (\Phi' \Phi)^{-1} \Phi' A' \big(\log q - \log p(\eta)\big) $$
//!
//! which is exact in one step where the functions `Phi` can be constant within bins. What no bin
//! holds is one more bin, and where bins overlap each cell takes the mean of what they ask for.
//!
//! Functions cannot follow a bin of few cells beside which the density is many times as small, and
//! such draws run away. They begin again, and are raised as they are, cells within a bin alike,
//! whatever the functions can be: `eta + A' f`. What the functions left open in the others is moved
//! likewise, and so is the curve.

use crate::error::LinalgError;
use crate::linalg::{Cholesky, Mat};

use super::odds::Odds;
use super::warning::Warning;

/// The most draws that are moved: weights of one leave more of few than uneven ones of many.
pub(super) const LIFTED: usize = 2000;
/// More bins than this are left as they are: what each holds is kept of every draw.
pub(super) const MOST: usize = 1500;
/// A cell with this share of all rows is a bin of its own.
pub(super) const HEAVY: f64 = 0.05;
/// Steps; each takes about as long as one look at all draws.
const STEPS: usize = 40;
/// They end early where so many leave more than this of all that is missing: where a cell that two
/// bins share outweighs all others of both, nothing changes until it no longer does.
const PATIENCE: usize = 8;
const STALLED: f64 = 0.97;
/// Where the steps end: a share of the standard deviation that so many rows leave of a logarithm.
const SETTLED: f64 = 0.1;
/// Draws of which a bin is farther off in the end, in such standard deviations, went astray.
const ASTRAY: f64 = 1.0;
/// Added to the diagonal of `Phi' Phi`, as a share of its mean.
const RIDGE: f64 = 1e-9;
/// Share of the rows from which it is told that functions or cells do not follow them.
const TOLD: f64 = 0.1;
const UNMET: f64 = 0.01;

/// The most that the logarithm of a bin is moved in one step: along functions, and of cells as they
/// are.
pub(super) const ALONG: f64 = 3.0;
pub(super) const AS_THEY_ARE: f64 = 30.0;

/// What the bins of all draws should hold.
pub(super) struct Wanted {
    /// Logarithms of probabilities, shape `[draws, bins]`.
    pub logs: Mat<f64>,
    /// The weight of the rows of each bin, at least one.
    pub weights: Vec<f64>,
    /// Whether the functions are far from what the rows of each bin say.
    pub loose: Vec<bool>,
}

/// What is missing in the end.
pub(super) struct Missing {
    /// Of the logarithm of each bin, shape `[draws, bins]`.
    logs: Mat<f64>,
    /// The most of any bin of a draw, in standard deviations that the rows leave.
    far: Vec<f64>,
}

impl Missing {
    /// What is missing of all draws that have not settled, on a logarithmic scale.
    fn all(&self) -> f64 {
        let open = self.far.iter().filter(|far| **far >= SETTLED);
        open.map(|far| (far / SETTLED).min(1e9).ln()).sum()
    }

    /// Draws that went astray.
    pub fn astray(&self) -> impl Iterator<Item = usize> {
        let far = self.far.iter().enumerate();
        far.filter(|(_, far)| **far > ASTRAY).map(|(draw, _)| draw)
    }
}

impl Wanted {
    /// None yet.
    pub fn new(draws: usize, weights: Vec<f64>) -> Self {
        Self {
            logs: Mat::zeros(draws, weights.len()),
            loose: vec![false; weights.len()],
            weights,
        }
    }

    /// Says what the bins of some draws should hold.
    ///
    /// # Arguments
    /// * `first` - the first of the draws
    /// * `changes` - of the log odds of each bin from those of their mode, shape `[draws, bins]`
    /// * `sds` - their standard deviations
    /// * `left` - variances that the functions leave out of their prior
    pub fn say(
        &mut self,
        first: usize,
        changes: &Mat<f64>,
        odds: &[Odds],
        sds: &[f64],
        left: &[f64],
    ) {
        for (b, (odds, sd)) in odds.iter().zip(sds).enumerate() {
            let map = odds.map(*sd, left[b]);
            // The first mode has the largest weight.
            self.loose[b] |= first == 0 && map.is_loose;
            let column = self.logs.col_as_slice_mut(b)[first..].iter_mut();
            let pairs = column.zip(changes.col_as_slice(b));
            pairs.for_each(|(log, change)| *log = map.at(change / sd));
        }
    }

    /// The logarithms of the means of draws, as what one more should hold.
    pub fn mean(&self, logs: &Mat<f64>) -> Self {
        let mean = |b: usize| {
            let column = logs.col_as_slice(b);
            let sum: f64 = column.iter().map(|log| log.exp()).sum();
            (sum / column.len() as f64).max(f64::MIN_POSITIVE).ln()
        };
        Self {
            logs: Mat::from_fn(1, self.weights.len(), |_, b| mean(b)),
            weights: self.weights.clone(),
            loose: Vec::new(),
        }
    }

    /// What is missing of logarithms, shape `[draws, bins]`. What all bins ask for changes no
    /// probability.
    fn missing(&self, mut logs: Mat<f64>) -> Missing {
        let draws = logs.nrows();
        let all: f64 = self.weights.iter().sum();
        let mut mean = vec![0.0; draws];
        for (b, weight) in self.weights.iter().enumerate() {
            let pairs = logs.col_as_slice_mut(b).iter_mut();
            let wanted = self.logs.col_as_slice(b);
            for ((log, wanted), mean) in pairs.zip(wanted).zip(&mut mean) {
                *log = (wanted - *log).clamp(-1e3, 1e3);
                *mean += weight / all * *log;
            }
        }
        let mut far = vec![0.0_f64; draws];
        for (b, weight) in self.weights.iter().enumerate() {
            let pairs = logs.col_as_slice_mut(b).iter_mut().zip(&mean);
            for ((log, mean), far) in pairs.zip(&mut far) {
                *log -= mean;
                *far = match log.is_nan() {
                    true => f64::INFINITY,
                    false => far.max(log.abs() * weight.sqrt()),
                };
            }
        }
        Missing { logs, far }
    }

    /// What should be known of bins that are not followed.
    ///
    /// # Arguments
    /// * `rows` - the weight of the rows of each bin
    pub fn warnings(&self, missing: &Missing, rows: &[f64]) -> Vec<Warning> {
        let all: f64 = rows.iter().sum();
        let of = |is: &dyn Fn(usize) -> bool| {
            let bins = (0..rows.len()).filter(|b| is(*b));
            bins.map(|b| rows[b]).sum::<f64>() / all
        };
        let loose = of(&|b| self.loose[b]);
        let unmet = of(&|b| {
            let column = missing.logs.col_as_slice(b);
            let off: f64 = column.iter().map(|log| log.abs()).sum();
            let mean = off / column.len() as f64 * self.weights[b].sqrt();
            mean > ASTRAY || mean.is_nan()
        });
        let loose = (loose > TOLD).then_some(Warning::Jumps { share: loose });
        let unmet = (unmet > UNMET).then_some(Warning::Unmet { share: unmet });
        loose.into_iter().chain(unmet).collect()
    }
}

/// Moves draws in steps.
///
/// # Arguments
/// * `draws` - in whatever form
/// * `largest` - the most that a logarithm is moved in a step
/// * `look` - the logarithm of the probability of every bin of every draw, shape `[draws, bins]`
/// * `raise` - raises every draw within every bin by a number, of that shape
pub(super) fn settle(
    draws: &mut Mat<f64>,
    wanted: &Wanted,
    largest: f64,
    look: impl Fn(&Mat<f64>) -> Mat<f64>,
    raise: impl Fn(&mut Mat<f64>, &Mat<f64>),
) -> Missing {
    let mut missing = wanted.missing(look(draws));
    let mut before = [f64::INFINITY; PATIENCE];
    for step in 0..STEPS {
        let (all, at) = (missing.all(), step % PATIENCE);
        if missing.far.iter().all(|far| *far < SETTLED) || all > STALLED * before[at] {
            break;
        }
        before[at] = all;
        for b in 0..missing.logs.ncols() {
            for log in missing.logs.col_as_slice_mut(b) {
                *log = match log.is_nan() {
                    true => 0.0,
                    false => log.clamp(-largest, largest),
                };
            }
        }
        raise(draws, &missing.logs);
        missing = wanted.missing(look(draws));
    }
    missing
}

/// `(Phi' Phi + ridge)^-1 x` for every column of a matrix.
///
/// # Arguments
/// * `square` - the lower triangle of `Phi' Phi`
///
/// # Errors
/// Functions that are not independent.
pub(super) fn project(mut square: Mat<f64>, mut x: Mat<f64>) -> Result<Mat<f64>, LinalgError> {
    let n = square.nrows();
    let mean = (0..n).map(|i| square[(i, i)]).sum::<f64>() / n as f64;
    (0..n).for_each(|i| square[(i, i)] += RIDGE * mean);
    Cholesky::factor_owned(square)?.solve_in_place(x.as_mut());
    Ok(x)
}
