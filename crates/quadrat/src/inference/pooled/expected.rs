//! The normal posterior where there are no draws: rows linearised on average, not at the mode.
//!
//! Under the current posterior `N(m, S)` of the nodes, `Z_r = sum_i p_i psi(f_i)` has mean and
//! variance in closed form. Its latent value is given the normal belief `(z_r, v_r)` whose linked
//! value has these moments (for `exp` the log-normal match `z = log E Z - v / 2`, `v = log(1 + Var
//! Z / (E Z)^2)`), slopes `j_i = p_i E psi'(f_i) / E psi'(z)`, and the site
//!
//! $$ T_r = -E (\log p)'', \qquad \nu_r = E (\log p)' + T_r z_r $$
//!
//! of the variational approximation, with expectations under the posterior of `z_r`. So the mean of
//! a predicted total agrees with a precise count of it: for Poisson counts `E (log p)'` is zero
//! where `E Z` equals the count. The covariance
//!
//! $$ S = K - K J' (C + Q + T^{-1})^{-1} J K $$
//!
//! has the second-order parts of the sums, of covariance `Q` (`second_order.rs`), as noise beside
//! the linear parts. Unlike posterior linearisation, means are found without `Q`, so that totals
//! are met. `converge.rs` iterates.

use std::sync::Arc;

use rayon::prelude::*;

use super::lift::Lift;
use super::mode::{Begin, Mode, find_mode, find_mode_from};
use super::options::{Draws, PooledOptions};
use super::pools::{Pools, Slopes};
use super::second_order::{SecondOrder, excess};
use super::total::{Total, total};
use crate::error::{FitError, LinalgError};
use crate::inference::converged::{Converged, ConvergedMode};
use crate::inference::sites::resolvent::Scaled;
use crate::inference::sites::rows::Rows;
use crate::inference::sites::site::Term;
use crate::inference::sites::sweep::SolvedSweep;
use crate::inference::sites::swept::Sweep;
use crate::inference::sites::{LatentGaussian, Site};
use crate::inference::{Conditioned, Factor};
use crate::likelihood::local::{Belief, Jet};
use crate::linalg::{Mat, dot, gemm, matvec};
use crate::link::{CLIP, Link, QuasiMean};

/// The same draws every time, so that a saved model answers as it did.
const SEED: u64 = 1;

/// Conditions the prior of the nodes on pooled rows at `theta`.
///
/// The evidence is that of [`find_mode`]; the posterior is linearised on average.
///
/// # Arguments
/// * `problem` - prior of the nodes; its blocks are about the rows
/// * `pools` - what every row sees of the nodes
/// * `theta` - every hyperparameter, natural units
/// * `options` - how accurately
///
/// # Errors
/// As [`find_mode`]; [`FitError::NotConverged`] when mode or posterior did not converge.
///
/// # Numerics
/// `O(nodes rows^2)` for each of some ten iterations (hundreds where functions vary by factors of a
/// hundred within rows), and `O(nodes^2 rows)` where rows bend.
pub fn condition_pooled(
    problem: &dyn LatentGaussian,
    pools: &Pools,
    theta: &[f64],
    options: &PooledOptions,
) -> Result<Conditioned, FitError> {
    condition_pooled_from(problem, pools, theta, options, None)
}

/// As [`condition_pooled`], where the mode may be known: the same numbers, but the mode is not
/// searched.
///
/// # Errors
/// Besides, [`FitError::Input`] where it is of other nodes.
pub fn condition_pooled_from(
    problem: &dyn LatentGaussian,
    pools: &Pools,
    theta: &[f64],
    options: &PooledOptions,
    known: Option<&ConvergedMode>,
) -> Result<Conditioned, FitError> {
    let begin = known.map_or(Begin::Anew, Begin::At);
    let mode = find_mode_from(problem, pools, theta, options, begin)?.converged()?;
    let mut rows = Rows::new(problem, theta);
    rows.count = pools.rows();
    let search = Search {
        mode: &mode,
        prior: problem.prior_mean(),
        pools,
        rows: &rows,
    };
    let lift = lift(problem, (&mode, pools, &rows), theta, options.draws, SEED);
    let is_known = !mode.pinned.is_empty();
    if is_known && lift.is_none() && options.draws.count > 0 {
        // Rows are known exactly, and no draws were found that meet them.
        return Err(FitError::NotConverged {
            method: "laplace",
            sweeps: mode.steps,
            residual: f64::INFINITY,
        });
    }
    let state = match &lift {
        None if !is_known => search.converge()?,
        // Predictions come from the draws: the linearisation at the mode will do.
        _ => search.at_mode()?.1,
    };
    Ok(Conditioned {
        second: None,
        lift: lift.map(Arc::new),
        alpha: state.slopes.scatter(pools, &state.alpha),
        factor: Factor::Pooled {
            pools: pools.clone(),
            slopes: state.slopes,
            factor: state.spread.resolvent.factor,
            scale: state.spread.resolvent.scale,
            second_order: state.second_order,
        },
        log_evidence: mode.log_evidence,
        jitter: mode.jitter,
        levels: Vec::new(),
        noise: Vec::new(),
        converged: Converged::Mode(ConvergedMode {
            jitter: mode.jitter,
            values: mode.values,
            dual: mode.dual,
        }),
    })
}

/// Draws that meet what pooled rows report at `theta`, and nothing else of [`condition_pooled`];
/// none where the mode was not found or rows do not allow draws.
///
/// # Arguments
/// As those of [`condition_pooled`].
#[must_use]
pub fn draw_pooled(
    problem: &dyn LatentGaussian,
    pools: &Pools,
    theta: &[f64],
    options: &PooledOptions,
) -> Option<Lift> {
    draw_pooled_from(problem, pools, theta, options, SEED)
}

/// As [`draw_pooled`], from another seed: for draws that are put beside others.
pub(crate) fn draw_pooled_from(
    problem: &dyn LatentGaussian,
    pools: &Pools,
    theta: &[f64],
    options: &PooledOptions,
    seed: u64,
) -> Option<Lift> {
    if options.draws.count == 0 {
        return None;
    }
    let mode = find_mode(problem, pools, theta, options).and_then(Mode::converged);
    let mut rows = Rows::new(problem, theta);
    rows.count = pools.rows();
    let seen = (&mode.ok()?, pools, &rows);
    lift(problem, seen, theta, options.draws, seed)
}

fn lift(
    problem: &dyn LatentGaussian,
    (mode, pools, rows): (&Mode, &Pools, &Rows<'_>),
    theta: &[f64],
    draws: Draws,
    seed: u64,
) -> Option<Lift> {
    if draws.count == 0 {
        return None;
    }
    let (mean, prior) = (problem.prior_mean(), problem.parted(theta));
    Lift::new(mode, pools, rows, mean, prior, draws, seed)
}

pub(super) struct Search<'a> {
    pub mode: &'a Mode,
    pub prior: &'a [f64],
    pub pools: &'a Pools,
    pub rows: &'a Rows<'a>,
}

/// Where rows are linearised: posterior means of all nodes, and their covariance within every row.
#[derive(Clone)]
pub(super) struct Centre {
    pub mean: Vec<f64>,
    pub within: Vec<Mat<f64>>,
}

#[derive(Clone)]
pub(super) struct SearchState {
    pub slopes: Slopes,
    /// `J' alpha = K^-1 (mean - m)`.
    pub alpha: Vec<f64>,
    /// The sweep over the linear parts of the rows, with `Q` added to their covariance.
    pub spread: Sweep<Scaled>,
    pub centre: Centre,
    pub second_order: SecondOrder,
    /// `Q` around this posterior; none where no row bends.
    pub bent: Option<Mat<f64>>,
}

/// A row linearised.
pub(super) struct LinearisedRow {
    pub slopes: Vec<f64>,
    /// Prior mean of the linear part.
    pub prior: f64,
    /// Mean of the latent value.
    pub mean: f64,
    /// `E (log p)'`.
    pub first: f64,
    /// `-E (log p)''`, at least zero.
    pub precision: f64,
}

impl Search<'_> {
    /// The posterior under given slopes and sites.
    ///
    /// # Arguments
    /// * `bent` - `Q`, of the posterior before
    pub fn state(
        &self,
        slopes: Slopes,
        prior: &[f64],
        sites: &[Site],
        bent: Option<&Mat<f64>>,
    ) -> Result<SearchState, LinalgError> {
        let (pools, k, jitter) = (self.pools, self.mode.covariance.as_ref(), self.mode.jitter);
        let terms: Vec<Term> = sites.iter().map(|site| term(*site)).collect();
        let columns = slopes.columns(pools, k);
        let c = slopes.rows(pools, columns.as_ref());
        let (alpha, spread) = match bent {
            Some(q) => {
                let alpha = SolvedSweep::new(c.as_ref(), prior, &terms, jitter)?.alpha;
                let spread = Sweep::new((c + q).as_ref(), prior, &terms, jitter)?;
                (alpha, spread)
            }
            None => {
                let sweep = Sweep::new(c.as_ref(), prior, &terms, jitter)?;
                (sweep.alpha.clone(), sweep)
            }
        };
        let away = matvec(columns.as_ref(), &alpha);
        let mean: Vec<f64> = away.iter().zip(self.prior).map(|(x, m)| m + x).collect();
        // U = L^-1 D J K.
        let mut reduced = Mat::from_fn(pools.rows(), pools.nodes(), |row, node| {
            spread.resolvent.scale[row] * columns[(node, row)]
        });
        spread
            .resolvent
            .factor
            .half_solve_in_place(reduced.as_mut());
        let within: Vec<Mat<f64>> = (0..pools.rows())
            .into_par_iter()
            .map(|row| {
                let (nodes, _) = pools.row(row);
                let n = nodes.len();
                Mat::from_fn(n, n, |i, j| {
                    let (a, b) = (nodes[i], nodes[j]);
                    k[(a, b)] - dot(reduced.col_as_slice(a), reduced.col_as_slice(b))
                })
            })
            .collect();
        let centre = Centre { mean, within };
        let excess: Vec<f64> = (0..pools.rows())
            .into_par_iter()
            .map(|row| {
                let s = &centre.within[row];
                excess(pools.link(row), &self.seen(row, &centre), |i, j| s[(i, j)])
            })
            .collect();
        let second_order = SecondOrder::new(pools.means(&centre.mean), &excess, &centre.within);
        let bent = (!second_order.is_none()).then(|| {
            let s = k - gemm(reduced.transpose(), reduced.as_ref());
            second_order.covariance(pools, s.as_ref())
        });
        Ok(SearchState {
            slopes,
            alpha,
            spread,
            centre,
            second_order,
            bent,
        })
    }

    /// The sum of a row around a posterior.
    fn seen(&self, row: usize, centre: &Centre) -> Total {
        let (nodes, shares) = self.pools.row(row);
        let s = &centre.within[row];
        let at: Vec<Belief> = nodes
            .iter()
            .enumerate()
            .map(|(i, &node)| Belief {
                mean: centre.mean[node],
                variance: s[(i, i)].max(0.0),
            })
            .collect();
        let mut seen = total(self.pools.link(row), shares, &at, |i, j| s[(i, j)]);
        if !seen.slopes.iter().all(|j| j.is_finite()) {
            seen.slopes = shares.to_vec();
        }
        seen
    }

    /// A row linearised around a posterior; `told` is the posterior variance of the latent value of
    /// a row that bends.
    pub fn linear(&self, row: usize, centre: &Centre, told: Option<f64>) -> LinearisedRow {
        let (nodes, _) = self.pools.row(row);
        let Total { belief, slopes, .. } = self.seen(row, centre);
        let belief = match told {
            Some(told) if told < belief.variance => {
                self.pools.link(row).with_variance(belief, told)
            }
            _ => belief,
        };
        let (likelihood, own, here) = self.rows.at(row);
        let (first, second) = if belief.variance > 0.0 {
            let expected = likelihood.expected(own, here, belief);
            (expected.first, expected.second)
        } else {
            let jet = likelihood.log_density(own, here, belief.mean);
            (jet.first, jet.second)
        };
        let away: f64 = nodes
            .iter()
            .zip(&slopes)
            .map(|(&i, j)| j * (centre.mean[i] - self.prior[i]))
            .sum();
        LinearisedRow {
            slopes,
            prior: belief.mean - away,
            mean: belief.mean,
            first,
            // A value that is not a number is passed on.
            precision: if second > 0.0 { 0.0 } else { -second },
        }
    }

    /// The posterior of Laplace's method, linearised at the mode: where the search begins.
    pub fn at_mode(&self) -> Result<(Vec<Site>, SearchState), LinalgError> {
        let mode = self.mode;
        let site = |(jet, z): (&Jet, &QuasiMean)| {
            let precision = (-jet.second).max(0.0);
            let shift = match precision.is_finite() {
                true => jet.first + precision * z.value,
                false => z.value,
            };
            Site { precision, shift }
        };
        let sites: Vec<Site> = mode.jets.iter().zip(&mode.means).map(site).collect();
        let away: Vec<f64> = mode
            .values
            .iter()
            .zip(self.prior)
            .map(|(f, m)| f - m)
            .collect();
        let seen = mode.slopes.gather(self.pools, &away);
        let prior: Vec<f64> = mode
            .means
            .iter()
            .zip(&seen)
            .map(|(z, s)| z.value - s)
            .collect();
        let state = self.state(mode.slopes.clone(), &prior, &sites, None)?;
        Ok((sites, state))
    }

    /// Whether sums are so large that they were clipped: the posterior is then not that of the
    /// data.
    pub fn is_cut_off(&self, centre: &Centre) -> bool {
        (0..self.pools.rows()).any(|row| {
            let (nodes, _) = self.pools.row(row);
            let large = |(i, &node): (usize, &usize)| {
                // A value that is not a number counts as clipped.
                let size = centre.mean[node] + 0.5 * centre.within[row][(i, i)];
                self.pools.link(row) == Link::Exp && (size.is_nan() || size > 0.5 * CLIP)
            };
            nodes.iter().enumerate().any(large)
        })
    }
}

/// The term of a site; one of infinite precision is known exactly, and its shift is the latent
/// value.
fn term(site: Site) -> Term {
    match site.precision.is_infinite() {
        true => Term::Gaussian {
            value: site.shift,
            variance: 0.0,
        },
        false => Term::Chosen(site),
    }
}
