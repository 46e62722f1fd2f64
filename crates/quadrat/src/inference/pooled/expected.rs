//! The posterior that answers: linearised on average instead of at the mode.
//!
//! Under the current posterior `N(m, S)` of the nodes, `Z_r = sum_i p_i psi(f_i)` has mean and variance in closed
//! form. Its latent value is given the normal belief `(z_r, v_r)` whose linked value has these moments (for `exp` the log-normal match
//! `z = log E Z - v / 2`, `v = log(1 + Var Z / (E Z)^2)`), slopes `j_i = p_i E psi'(f_i) / E psi'(z)`, and the site
//!
//! $$ T_r = -E (\log p)'', \qquad \nu_r = E (\log p)' + T_r z_r $$
//!
//! of the variational approximation, its expectations under what the posterior tells of `z_r`. So a total that a count pins down is
//! met by the mean of the predicted total: for Poisson counts `E (log p)'` vanishes where `E Z` meets them. The covariance
//!
//! $$ S = K - K J' (C + Q + T^{-1})^{-1} J K $$
//!
//! counts what the rows say about the second-order parts of their sums, of covariance `Q`, as said of those (`bends.rs`). Means
//! are found without `Q`, other than in posterior linearisation: so that totals are met.

use rayon::prelude::*;

use super::bends::{Bends, excess};
use super::mode::{Mode, PooledOptions, find_mode};
use super::pools::{Pools, Slopes};
use super::total::{Total, total};
use crate::error::{FitError, LinalgError};
use crate::inference::sites::accelerate::History;
use crate::inference::sites::rows::Rows;
use crate::inference::sites::sweep::{Sweep, Term};
use crate::inference::sites::{LatentGaussian, Site};
use crate::inference::{Conditioned, Factor};
use crate::likelihood::local::Belief;
use crate::linalg::{Mat, dot, gemm, matvec};
use crate::link::{CLIP, Link};

/// Stop when no node moves by more than this many standard deviations, nor its variance by more than this part.
const TOLERANCE: f64 = 1e-7;
/// Iterations at most.
const ITERATIONS: usize = 300;
/// What is good enough when iterations come no closer: the normal approximation itself errs by more.
const GOOD_ENOUGH: f64 = 1e-3;
/// The smallest part of a step.
const SMALLEST_STEP: f64 = 0.05;

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
/// As [`find_mode`]; [`FitError::NotConverged`] when mode or posterior did not settle.
///
/// # Numerics
/// `O(nodes rows^2)` for each of some ten iterations, and `O(nodes^2 rows)` where rows bend.
pub fn condition_pooled(
    problem: &dyn LatentGaussian,
    pools: &Pools,
    theta: &[f64],
    options: &PooledOptions,
) -> Result<Conditioned, FitError> {
    let mode = find_mode(problem, pools, theta, options)?.converged()?;
    let mut rows = Rows::new(problem, theta);
    rows.count = pools.rows();
    let search = Search {
        mode: &mode,
        prior: problem.prior_mean(),
        pools,
        rows: &rows,
    };
    let state = search.run()?;
    Ok(Conditioned {
        second: None,
        alpha: state.slopes.scatter(pools, &state.alpha),
        factor: Factor::Pooled {
            pools: pools.clone(),
            slopes: state.slopes,
            factor: state.spread.factor,
            scale: state.spread.scale,
            bends: state.bends,
        },
        log_evidence: mode.log_evidence,
        jitter: mode.jitter,
    })
}

struct Search<'a> {
    mode: &'a Mode,
    prior: &'a [f64],
    pools: &'a Pools,
    rows: &'a Rows<'a>,
}

/// Where rows are linearised: posterior means of all nodes, and their covariance within every row.
#[derive(Clone)]
struct Centre {
    mean: Vec<f64>,
    within: Vec<Mat<f64>>,
}

#[derive(Clone)]
struct State {
    slopes: Slopes,
    /// `J' alpha = K^-1 (mean - m)`.
    alpha: Vec<f64>,
    /// The sweep in which rows say what they do about their linear parts, `Q` counted.
    spread: Sweep,
    centre: Centre,
    bends: Bends,
    /// `Q` around this posterior; none where no row bends.
    bent: Option<Mat<f64>>,
}

/// A row linearised.
struct Linear {
    slopes: Vec<f64>,
    prior: f64,
    site: Site,
}

impl Search<'_> {
    /// The posterior under given slopes and sites.
    ///
    /// # Arguments
    /// * `bent` - `Q`, of the posterior before
    fn state(
        &self,
        slopes: Slopes,
        prior: &[f64],
        terms: &[Term],
        bent: Option<&Mat<f64>>,
    ) -> Result<State, LinalgError> {
        let (pools, k) = (self.pools, self.mode.covariance.as_ref());
        let columns = slopes.columns(pools, k);
        let c = slopes.rows(pools, columns.as_ref());
        let sweep = Sweep::new(c.as_ref(), prior, terms, self.mode.jitter)?;
        let away = matvec(columns.as_ref(), &sweep.alpha);
        let mean: Vec<f64> = away.iter().zip(self.prior).map(|(x, m)| m + x).collect();
        let alpha = sweep.alpha.clone();
        let spread = match bent {
            Some(q) => Sweep::new((c + q).as_ref(), prior, terms, self.mode.jitter)?,
            None => sweep,
        };
        // U = L^-1 D J K.
        let mut reduced = Mat::from_fn(pools.rows(), pools.nodes(), |row, node| {
            spread.scale[row] * columns[(node, row)]
        });
        spread.factor.half_solve_in_place(reduced.as_mut());
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
        let bends = Bends::new(pools.means(&centre.mean), &excess, &centre.within);
        let bent = (!bends.is_none()).then(|| {
            let s = k - gemm(reduced.transpose(), reduced.as_ref());
            bends.covariance(pools, s.as_ref())
        });
        Ok(State {
            slopes,
            alpha,
            spread,
            centre,
            bends,
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

    /// A row around a posterior; `told` is what that tells of the latent value of a row that bends, as a variance.
    fn linear(&self, row: usize, centre: &Centre, told: Option<f64>) -> Linear {
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
        let precision = (-second).max(0.0);
        let away: f64 = nodes
            .iter()
            .zip(&slopes)
            .map(|(&i, j)| j * (centre.mean[i] - self.prior[i]))
            .sum();
        Linear {
            slopes,
            prior: belief.mean - away,
            site: Site {
                precision,
                shift: first + precision * belief.mean,
            },
        }
    }

    /// The posterior after the rows were linearised around `centre`, near the posterior `last`.
    fn next(&self, centre: &Centre, last: &State) -> Result<State, LinalgError> {
        let rows: Vec<Linear> = (0..self.pools.rows())
            .into_par_iter()
            .map(|row| {
                let told = last.bends.is_bent(row).then(|| last.spread.variance[row]);
                self.linear(row, centre, told)
            })
            .collect();
        let slopes = Slopes(rows.iter().flat_map(|r| r.slopes.iter().copied()).collect());
        let prior: Vec<f64> = rows.iter().map(|r| r.prior).collect();
        let terms: Vec<Term> = rows.iter().map(|r| Term::Chosen(r.site)).collect();
        self.state(slopes, &prior, &terms, last.bent.as_ref())
    }

    /// How far a posterior lies from the one its rows were linearised around.
    fn moved(&self, from: &Centre, to: &Centre) -> f64 {
        let mut most = 0.0_f64;
        for row in 0..self.pools.rows() {
            let (nodes, _) = self.pools.row(row);
            for (i, &node) in nodes.iter().enumerate() {
                let (old, new) = (from.within[row][(i, i)], to.within[row][(i, i)]);
                let sd = new.max(1e-12 * self.mode.covariance[(node, node)]).sqrt();
                let shift = (to.mean[node] - from.mean[node]).abs() / sd;
                let stretch = (new - old).abs() / (sd * sd);
                let both = shift.max(stretch);
                most = if both.is_nan() {
                    f64::INFINITY
                } else {
                    most.max(both)
                };
            }
        }
        most
    }

    /// A centre as numbers of order one: in units of the prior.
    fn coordinates(&self, centre: &Centre) -> Vec<f64> {
        let k = &self.mode.covariance;
        let sd = |node: usize| k[(node, node)].max(f64::MIN_POSITIVE).sqrt();
        let means = centre.mean.iter().enumerate().map(|(i, m)| m / sd(i));
        let mut out: Vec<f64> = means.collect();
        for (row, s) in centre.within.iter().enumerate() {
            let (nodes, _) = self.pools.row(row);
            for (j, b) in nodes.iter().enumerate() {
                for (i, a) in nodes.iter().enumerate().skip(j) {
                    out.push(s[(i, j)] / (sd(*a) * sd(*b)));
                }
            }
        }
        out
    }

    /// The centre at such numbers.
    fn place(&self, centre: &mut Centre, at: &[f64]) {
        let k = &self.mode.covariance;
        let sd = |node: usize| k[(node, node)].max(f64::MIN_POSITIVE).sqrt();
        let (means, rest) = at.split_at(centre.mean.len());
        for (i, (mean, x)) in centre.mean.iter_mut().zip(means).enumerate() {
            *mean = x * sd(i);
        }
        let mut rest = rest.iter();
        for (row, s) in centre.within.iter_mut().enumerate() {
            let (nodes, _) = self.pools.row(row);
            for (j, b) in nodes.iter().enumerate() {
                for (i, a) in nodes.iter().enumerate().skip(j) {
                    let value = rest.next().copied().unwrap_or(0.0) * sd(*a) * sd(*b);
                    s[(i, j)] = value;
                    s[(j, i)] = value;
                }
            }
        }
    }

    /// The posterior of Laplace's method, linearised at the mode: where the search begins.
    fn at_mode(&self) -> Result<State, LinalgError> {
        let mode = self.mode;
        let term = |(jet, z): (&crate::likelihood::local::Jet, &crate::link::QuasiMean)| {
            let precision = (-jet.second).max(0.0);
            Term::Chosen(Site {
                precision,
                shift: jet.first + precision * z.value,
            })
        };
        let terms: Vec<Term> = mode.jets.iter().zip(&mode.means).map(term).collect();
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
        self.state(mode.slopes.clone(), &prior, &terms, None)
    }

    /// Whether sums are so large that they were cut off: no posterior of what was seen.
    fn is_cut_off(&self, centre: &Centre) -> bool {
        (0..self.pools.rows()).any(|row| {
            let (nodes, _) = self.pools.row(row);
            let large = |(i, &node): (usize, &usize)| {
                // Not a number is no less wrong.
                let size = centre.mean[node] + 0.5 * centre.within[row][(i, i)];
                self.pools.link(row) == Link::Exp && (size.is_nan() || size > 0.5 * CLIP)
            };
            nodes.iter().enumerate().any(large)
        })
    }

    fn run(&self) -> Result<State, FitError> {
        let mut last = self.at_mode()?;
        let mut centre = last.centre.clone();
        let mut step = 1.0_f64;
        let mut history = History::default();
        let mut before = f64::INFINITY;
        let mut best: Option<(f64, State)> = None;
        for _ in 0..ITERATIONS {
            let next = self.next(&centre, &last)?;
            let moved = self.moved(&centre, &next.centre).max(retold(&last, &next));
            if moved <= TOLERANCE && !self.is_cut_off(&next.centre) {
                return Ok(next);
            }
            if moved > 0.9 * before {
                step = (0.6 * step).max(SMALLEST_STEP);
            }
            if moved > 2.0 * before {
                history.clear();
            }
            before = moved;
            let (from, to) = (self.coordinates(&centre), self.coordinates(&next.centre));
            history.push(from.clone(), to.clone());
            let plain = || {
                from.iter()
                    .zip(&to)
                    .map(|(a, b)| a + step * (b - a))
                    .collect()
            };
            let at: Vec<f64> = history.combined().unwrap_or_else(plain);
            self.place(&mut centre, &at);
            last = next;
            if best.as_ref().is_none_or(|(least, _)| moved < *least) {
                best = Some((moved, last.clone()));
            }
        }
        let residual = match best {
            Some((moved, state)) if moved <= GOOD_ENOUGH && !self.is_cut_off(&state.centre) => {
                return Ok(state);
            }
            Some((moved, _)) => moved,
            None => f64::INFINITY,
        };
        Err(FitError::NotConverged {
            method: "laplace",
            sweeps: ITERATIONS,
            residual,
        })
    }
}

/// How far what is told of the rows that bend moved, as a part of it.
fn retold(from: &State, to: &State) -> f64 {
    let bent = (0..to.spread.variance.len()).filter(|row| to.bends.is_bent(*row));
    let each = bent.map(|row| {
        let (old, new) = (from.spread.variance[row], to.spread.variance[row]);
        (new - old).abs() / new.max(f64::MIN_POSITIVE)
    });
    each.fold(0.0, |most, x| {
        if x.is_nan() {
            f64::INFINITY
        } else {
            most.max(x)
        }
    })
}
