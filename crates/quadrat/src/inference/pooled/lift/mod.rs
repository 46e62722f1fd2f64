//! Draws that meet what rows report of their sums, each with its weight.
//!
//! A row may leave little uncertainty about the sum over its nodes. That sum is no linear function
//! of the nodes: under a normal distribution of these, sums of rows and unions of rows would be
//! less certain than the rows make them. Draws of the function can meet the sums. With `J` the
//! slopes of the rows' latent values `z` at the mode, `S = J K J'` and `G = K J' S^-1`, a draw of
//! the prior, `g ~ N(m, K)`, splits into `eta = J g` and `g - G eta`, which are independent under
//! the prior. The second part is kept. The first is chosen anew, such that the rows' latent values
//! are a draw `t ~ N(mu, V)` from an approximation of their posterior:
//!
//! $$ f = g + G (\eta - J g), \qquad z(f) = t $$
//!
//! `N(mu, V)` is the variational normal of the rows' linearised values (`variational.rs`), and `q`
//! the density of all targets (`proposal.rs`). The weight of a draw is its posterior density over
//! that by which it was proposed:
//!
//! $$ \log w = \log N(\eta; J m, S) - \log|\det J(f) G| + \sum_r \log p(y_r \mid t_r)
//!    - \log q(t) $$
//!
//! Rows that are known exactly have their value for `t`, and no factors in the last two terms.
//! Where rows are open to one side most of the targets come from other normals.
//!
//! Unknown constants of the mean, whose prior may be a million times as wide as the function
//! varies, are no part of `K` here: with `K = K0 + B B'` a draw of the prior is `m + L0 xi + B
//! beta`, `S` is factorised with the direction of the constants apart (`rotated_factor.rs`), and
//! the large numbers of `beta` meet those that take them back, `beta + (J B)' S^-1 (eta - J g)`,
//! before anything else does.
//!
//! Rows that follow from others, as a total from its parts, and rows that say next to nothing are
//! not met: they only weigh (`choose.rs`). The mean of the weights is a consistent estimate of the
//! evidence; it is unbiased where the normal values of the draws are independent, and not where
//! their moments are matched. Where few draws would carry the weight, weights are raised to a power
//! below one at which a tenth of the draws count. Their distribution is then between the posterior
//! and the proposal, which has the rows' sums nearly right; a warning says so. Other places follow
//! from the same draws of the prior (Matheron's rule), so that sums of parts are sums within each
//! draw.
//!
//! # Source
//! Matheron's rule: Journel and Huijbregts 1978; Wilson and others 2020. Weights by a change of
//! variables under a constraint: Robert and Casella 2004, chapter 3. Powers of weights: Koblents
//! and Miguez 2015, Statistics and Computing 25:407.

mod choose;
mod margin;
pub(super) mod meet;
mod proposal;
mod rotated_factor;
#[cfg(test)]
mod tests;
mod variational;
pub(super) mod weigh;

use std::borrow::Cow;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use self::choose::choose;
use self::meet::Meeting;
use self::proposal::Proposal;
use self::rotated_factor::RotatedFactor;
use self::variational::Variational;
use self::weigh::{ENOUGH, MatchingDraw, WeighedDraws};
use super::mode::Mode;
use super::options::Draws;
use super::pools::{Pools, Slopes};
use crate::error::LinalgError;
use crate::inference::sites::Parted;
use crate::inference::sites::rows::Rows;
use crate::linalg::{Cholesky, Mat, MatMut, gemm, par_gemm};
use crate::link::Link;

/// Added to the diagonal of the kernel's covariance, relative to it, so that it can be factorised:
/// draws of the function err by a ten-thousandth of its prior sd.
const JITTER: f64 = 1e-8;
/// Besides, relative to its largest entry, where the function is known to be zero.
const NEXT_TO_NOTHING: f64 = 1e-20;
/// Draws have missed the posterior where their evidence is below that of Laplace's method by more
/// than the first number plus the second for every row, in nats. Laplace's errs by some hundredths
/// of a nat a row.
const MISSED: (f64, f64) = (10.0, 0.2);
/// Moments of the standard normals are matched where there are at least so many times more pairs
/// than dimensions.
const MATCHED: usize = 4;

/// Weighted draws of the function that meet what the rows report.
#[derive(Debug, Clone)]
pub struct Lift {
    /// The rows that are met, and which of all rows they are, ascending.
    pools: Pools,
    met: Vec<usize>,
    /// Their `J` at the mode.
    slopes: Slopes,
    /// `L0 L0' = K0`, over the nodes; none where it is made anew when it is asked for.
    prior: Option<Cholesky>,
    /// `xi` of the draws `g = m + L0 xi + B beta`, shape `[nodes, draws]`.
    normals: Mat<f64>,
    /// `S^-1 (eta - J g)`, shape `[rows, draws]`.
    pulled: Mat<f64>,
    /// The constants in prior sds, `beta + (J B)' S^-1 (eta - J g)`, shape `[constants, draws]`.
    levels: Mat<f64>,
    /// The rows' averages in each draw, `link(t)`, shape `[rows, draws]`.
    averages: Mat<f64>,
    /// Weights, which sum to one.
    weights: Vec<f64>,
    /// How many draws of equal weight would say as much, over how many there are.
    effective: f64,
    /// Log of the mean weight: the log evidence, in nats.
    log_evidence: f64,
}

impl Lift {
    /// Draws around a mode; none where rows do not allow it: a link whose sign is open, a row
    /// without density, or a covariance that cannot be factorised. None also where all draws are
    /// far from the posterior: as weights sum to one, the nearest of them would get all the weight.
    ///
    /// # Arguments
    /// * `mode` - the joint mode of the nodes
    /// * `prior_mean` - `m`, of the nodes
    /// * `prior` - `K0` and `B`, of the nodes
    /// * `draws` - how many, in pairs of opposite normals, and whether `L` is kept
    ///
    /// # Numerics
    /// `O(nodes^3)` once, and `O(nodes^2 + nodes rows)` a draw and step of some two to seven.
    pub(in crate::inference) fn new(
        mode: &Mode,
        pools: &Pools,
        rows: &Rows<'_>,
        prior_mean: &[f64],
        prior: Parted,
        draws: Draws,
        seed: u64,
    ) -> Option<Self> {
        let is_open = |row: usize| pools.link(row) == Link::Square;
        let no_density = mode.jets.iter().any(|jet| !jet.value.is_finite());
        if no_density || (0..pools.rows()).any(is_open) {
            return None;
        }
        let k = raised(prior.kernel);
        let columns = mode.slopes.columns(pools, k.as_ref());
        // S0 and A = J B.
        let parts = Parted {
            kernel: mode.slopes.rows(pools, columns.as_ref()),
            constants: mode.slopes.rows(pools, prior.constants.as_ref()),
        };
        let believed = Variational::new(mode, pools, rows, prior_mean, &parts).ok()?;
        let (s, vague) = (parts.kernel, parts.constants);
        let met = choose(&s, &vague, &believed.precisions());
        if met.is_empty() {
            return None;
        }
        let pairs = draws.count.div_ceil(2);
        let proposal = Proposal::new(&believed, &met, pairs).ok()?;
        let of_met = Mat::from_fn(met.len(), met.len(), |i, j| s[(met[i], met[j])]);
        let vague = Mat::from_fn(met.len(), vague.ncols(), |i, j| vague[(met[i], j)]);
        let seen = RotatedFactor::new(of_met, &vague).ok()?;
        let root = Cholesky::factor_owned(k).ok()?;
        let columns = Mat::from_fn(pools.nodes(), met.len(), |node, i| columns[(node, met[i])]);

        let counts = [pools.nodes(), vague.ncols(), proposal.open()];
        let [normals, betas, told] = normals(counts, &proposal.pairs(), (seed, draws.stream));
        let centred = par_gemm(lower(&root).as_ref(), normals.as_ref());
        let own = pools.only(&met);
        let slopes = mode.slopes.only(pools, &met);
        // Every draw first moves to where rows, linearised at the mode, have their values there.
        let at_mode = mode.values.iter().zip(prior_mean).map(|(f, m)| f - m);
        let at_mode = slopes.gather(&own, &at_mode.collect::<Vec<f64>>());
        let mut left = slopes.rows(&own, centred.as_ref());
        left += gemm(vague.as_ref(), betas.as_ref());
        let left = Mat::from_fn(met.len(), 2 * pairs, |row, draw| {
            at_mode[row] - left[(row, draw)]
        });
        let mut pulled = seen.solve(left);
        let mut levels = betas + gemm(vague.transpose(), pulled.as_ref());
        let mut moved = centred + par_gemm(columns.as_ref(), pulled.as_ref());
        moved += gemm(prior.constants.as_ref(), levels.as_ref());
        // G = K J' S^-1 = K0 J' S^-1 + B A' S^-1, by its transpose.
        let of_constants = seen.solve(vague.clone());
        let mut gain = seen.solve(columns.transpose().to_owned());
        gain += gemm(of_constants.as_ref(), prior.constants.transpose());
        let task = Task {
            pools,
            rows,
            slopes,
            own,
            met: &met,
            gain: gain.transpose().to_owned(),
            seen: &seen,
            proposal: &proposal,
            prior_mean,
        };
        let found: Vec<Option<MatchingDraw>> = (0..told.ncols())
            .into_par_iter()
            .map(|draw| {
                let told = (proposal.which(draw), told.col_as_slice(draw));
                task.meet(moved.col_as_slice(draw), told)
            })
            .collect();
        let weighed = WeighedDraws::new(&found, met.len())?;
        let missed = MISSED.0 + MISSED.1 * pools.rows() as f64;
        if mode.pinned.is_empty() && weighed.log_evidence < mode.log_evidence - missed {
            return None;
        }
        let further = seen.solve(weighed.moved);
        levels += gemm(vague.transpose(), further.as_ref());
        pulled += further;
        let (own, slopes) = (task.own, task.slopes);
        let targets = &weighed.targets;
        let average = |row: usize, draw: usize| own.link(row).value(targets[(row, draw)]);
        let averages = Mat::from_fn(targets.nrows(), targets.ncols(), average);
        Some(Self {
            pools: own,
            met,
            slopes,
            prior: draws.keeps_factor.then_some(root),
            normals,
            pulled,
            levels,
            averages,
            weights: weighed.weights,
            effective: weighed.effective,
            log_evidence: weighed.log_evidence,
        })
    }

    /// The weights of the draws, which sum to one.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The log evidence in nats: the log of the mean of the weights, which is consistent.
    #[must_use]
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }

    /// How many draws of equal weight say as much, over how many there are; before weights were
    /// evened out.
    #[must_use]
    pub fn effective(&self) -> f64 {
        self.effective
    }

    /// Whether so few draws carry the weight that their averages are not to be trusted.
    #[must_use]
    pub fn is_poor(&self) -> bool {
        self.effective() < ENOUGH
    }

    /// A row's average in every draw, `link(t)`; none where the row is not met. Values of draws of
    /// no weight have no meaning.
    #[must_use]
    pub fn averages(&self, row: usize) -> Option<impl Iterator<Item = f64> + '_> {
        let own = self.met.binary_search(&row).ok()?;
        let averages = &self.averages;
        Some((0..averages.ncols()).map(move |draw| averages[(own, draw)]))
    }

    /// The draws, ready to be asked: with the factor of the nodes' covariance.
    ///
    /// # Arguments
    /// * `kernel` - `K0`, asked for where its factor was not kept
    ///
    /// # Errors
    /// As [`Cholesky::factor`]; not of a covariance with which draws were made.
    pub fn ready(&self, kernel: impl FnOnce() -> Mat<f64>) -> Result<Ready<'_>, LinalgError> {
        let prior = match &self.prior {
            Some(kept) => Cow::Borrowed(kept),
            None => Cow::Owned(Cholesky::factor_owned(raised(kernel()))?),
        };
        Ok(Ready { lift: self, prior })
    }
}

/// A [`Lift`] with the factor of the nodes' covariance.
#[derive(Debug)]
pub struct Ready<'a> {
    lift: &'a Lift,
    prior: Cow<'a, Cholesky>,
}

impl Ready<'_> {
    /// The weights of the draws, which sum to one.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.lift.weights
    }

    /// As [`Lift::averages`].
    #[must_use]
    pub fn averages(&self, row: usize) -> Option<impl Iterator<Item = f64> + '_> {
        self.lift.averages(row)
    }

    /// Other linear functionals of the function given each draw: their means, and their covariance.
    ///
    /// # Arguments
    /// * `mean` - their prior means, length `m`
    /// * `cross` - prior covariance of the nodes with them, shape `[nodes, m]`, and what they see
    ///   of the constants
    ///
    /// # Returns
    /// Means given each draw, shape `[m, draws]`, and `W = L0^-1 cross`, shape `[nodes, m]`, so
    /// that what a draw leaves open of them has the covariance `K0_** - W' W`: it leaves nothing
    /// open of the constants.
    #[must_use]
    pub fn given(&self, mean: &[f64], cross: Parted) -> (Mat<f64>, Mat<f64>) {
        let lift = self.lift;
        let seen = lift.slopes.rows(&lift.pools, cross.kernel.as_ref());
        let mut whitened = cross.kernel;
        self.prior.half_solve_in_place(whitened.as_mut());
        let mut out = par_gemm(whitened.transpose(), lift.normals.as_ref());
        out += gemm(seen.transpose(), lift.pulled.as_ref());
        out += gemm(cross.constants.as_ref(), lift.levels.as_ref());
        for draw in 0..out.ncols() {
            for (x, m) in out.col_as_slice_mut(draw).iter_mut().zip(mean) {
                *x += m;
            }
        }
        (out, whitened)
    }

    /// An unknown constant given each draw, in its prior sds from its prior mean.
    #[must_use]
    pub fn levels(&self, constant: usize) -> Vec<f64> {
        let levels = &self.lift.levels;
        let draws = 0..levels.ncols();
        draws.map(|draw| levels[(constant, draw)]).collect()
    }
}

/// The covariance that is factorised.
fn raised(mut k: Mat<f64>) -> Mat<f64> {
    let most = (0..k.nrows()).fold(f64::MIN_POSITIVE, |most, i| most.max(k[(i, i)]));
    for i in 0..k.nrows() {
        k[(i, i)] += JITTER * k[(i, i)] + NEXT_TO_NOTHING * most;
    }
    k
}

/// What all draws share.
struct Task<'a> {
    pools: &'a Pools,
    rows: &'a Rows<'a>,
    /// The rows that are met, their `J` at the mode, and which of all rows they are.
    own: Pools,
    slopes: Slopes,
    met: &'a [usize],
    /// `G`, shape `[nodes, met]`.
    gain: Mat<f64>,
    /// Of the rows that are met.
    seen: &'a RotatedFactor,
    proposal: &'a Proposal,
    prior_mean: &'a [f64],
}

impl Task<'_> {
    /// One draw, moved and weighed; none where it cannot be moved to what the rows see.
    ///
    /// # Arguments
    /// * `away` - of the nodes, how far a draw of the prior that was moved along `G` is from `m`
    /// * `told` - from which normal the target `t` comes, and by which standard normals
    fn meet(&self, away: &[f64], told: (usize, &[f64])) -> Option<MatchingDraw> {
        let from: Vec<f64> = away
            .iter()
            .zip(self.prior_mean)
            .map(|(x, m)| x + m)
            .collect();
        let (which, told) = told;
        let target = self.proposal.draw(which, told);
        let linear = self.proposal.linear(&target);
        let start = self.slopes.gather(&self.own, &from);
        let meeting = Meeting {
            pools: &self.own,
            gain: self.gain.as_ref(),
            from: &from,
        };
        let by = linear.iter().zip(&start).map(|(eta, seen)| eta - seen);
        let (by, log_det) = meeting.solve(&target, by.collect())?;
        // J (g - m) + (eta - J g) = eta - J m.
        let seen = self.slopes.gather(&self.own, away);
        let eta: Vec<f64> = seen.iter().zip(&by).map(|(s, b)| s + b).collect();
        let rows = if self.met.len() == self.pools.rows() {
            self.rows.log_density(&target)
        } else {
            // Rows that are not met get their latent values from the draw.
            let seen = self.pools.means(&meeting.moved(&by));
            let mut latent: Vec<f64> = seen.iter().map(|z| z.value).collect();
            for (&row, t) in self.met.iter().zip(&target) {
                latent[row] = *t;
            }
            self.rows.log_density(&latent)
        };
        // The constants of both normals, which differ by the rows that are known exactly.
        let known = (self.met.len() - self.proposal.open()) as f64;
        let constants = -0.5 * known * std::f64::consts::TAU.ln();
        let proposed = self.proposal.log_density(which, told, &target);
        let weight = self.seen.log_normal(&eta) + constants - log_det + rows - proposed;
        weight
            .is_finite()
            .then_some(MatchingDraw { by, target, weight })
    }
}

/// Standard normals of nodes, constants and rows in pairs of opposites, each of shape
/// `[count, 2 pairs]`.
///
/// Where pairs are many their second moments are made those of the distribution, so that the sds of
/// what is nearly linear in them have no error of sampling. The pairs of each normal, so many as
/// `of_each` says, are matched by themselves.
fn normals(counts: [usize; 3], of_each: &[usize], (seed, stream): (u64, u64)) -> [Mat<f64>; 3] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(stream);
    let [nodes, constants, rows] = counts;
    let prior = nodes + constants;
    let pairs = of_each.iter().sum();
    let mut half = Mat::zeros(prior + rows, pairs);
    for pair in 0..pairs {
        let column = half.col_as_slice_mut(pair);
        column
            .iter_mut()
            .for_each(|x| *x = StandardNormal.sample(&mut random));
    }
    let mut first = 0;
    for &own in of_each {
        let columns = half.as_mut().subcols_mut(first, own);
        if (prior + rows) * MATCHED <= own {
            match_moments(columns);
        } else if rows * MATCHED <= own {
            match_moments(columns.subrows_mut(prior, rows));
        }
        first += own;
    }
    let signed = |first: usize, count: usize| {
        Mat::from_fn(count, 2 * pairs, |i, draw| match draw % 2 {
            0 => half[(first + i, draw / 2)],
            _ => -half[(first + i, draw / 2)],
        })
    };
    [
        signed(0, nodes),
        signed(nodes, constants),
        signed(prior, rows),
    ]
}

/// `X <- L^-1 X` with `L L' = X X' / n`.
fn match_moments(x: MatMut<'_, f64>) {
    let mut second = gemm(x.as_ref(), x.as_ref().transpose());
    let count = x.ncols() as f64;
    for j in 0..second.ncols() {
        second
            .col_as_slice_mut(j)
            .iter_mut()
            .for_each(|v| *v /= count);
    }
    if let Ok(factor) = Cholesky::factor_owned(second) {
        factor.half_solve_in_place(x);
    }
}

/// The factor as a matrix that can be multiplied: zeros above its diagonal.
fn lower(factor: &Cholesky) -> Mat<f64> {
    let l = factor.lower();
    Mat::from_fn(
        l.nrows(),
        l.ncols(),
        |i, j| if i < j { 0.0 } else { l[(i, j)] },
    )
}
