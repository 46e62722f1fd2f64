//! One pass over all rows: the bound, and its derivatives in `q` and in the hyperparameters.
//!
//! With `g_i = dF / dm_i`, `q = N(mu, S)`, `D` the derivative in the covariances within rows, and
//! `E` that in their part `A'SA` besides, where a sample stands for the rest
//! ([`control`](super::control)):
//!
//! $$ F_\mu = A g, \quad F_S = A (D + E) A', \quad F_{K_{uX}} = L^{-T} (\mu g' + 2 (S - I) A (D +
//! E) + 2 A E), \quad F_{K_{uu}} = -L^{-T} \mathrm{sym}(\mu F_\mu' + 2 (S - I) F_S + 2 A E A')
//! L^{-1} / 2, \quad F_{K_{bb}} = D $$
//!
//! where `sym` mirrors the lower triangle. Inducing points that move change the bound through
//! `K_uX` and `K_uu` alone:
//!
//! $$ \frac{\partial F}{\partial z_m} = \sum_n (F_{K_{uX}})_{mn} \frac{\partial k(z_m,
//! x_n)}{\partial z_m} + 2 \sum_{m'} (F_{K_{uu}})_{mm'} \frac{\partial k(z_m, z_{m'})}{\partial
//! z_m} $$

use rayon::prelude::*;

use super::expectation::{of_point, of_sum};
use super::features::{Features, Panel, WIDTH, columns};
use super::points::LowRank;
use super::points::{Marginals, Points};
use super::slopes::{Slope, add_explained, for_columns};
use super::{LogSum, Normal, SparseProblem};
use crate::covariance::Shift;
use crate::error::FitError;
use crate::inference::sites::rows::Rows;
use crate::likelihood::local::Belief;
use crate::linalg::{
    Cholesky, Mat, MatRef, add_scaled, cut, dot, gemm, gemm_into, gemm_lower_into,
    lower_times_into, lower_transpose_times_into, matvec, mirror_lower, reshape, set_scaled,
    symmetric_from_fn, vectorised,
};
use crate::parameter;

/// Groups of chunks that are summed apart: as many threads can work, and sums do not depend on how
/// many do.
const GROUPS: usize = 16;

/// How much a pass computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Depth {
    Value,
    /// Also the derivatives in `q`.
    Sites,
    /// Also those in the hyperparameters.
    All,
}

/// The bound at one `q` and its derivatives.
#[derive(Debug, Clone)]
pub struct Bound {
    /// `F` in nats, every constant included.
    pub value: f64,
    /// `d sum E log p / d mu`; the divergence adds `-mu`.
    pub in_mean: Vec<f64>,
    /// `d sum E log p / dS`, symmetric; the divergence adds `(P - I) / 2`.
    pub in_covariance: Mat<f64>,
    /// `dF / d theta`, natural units; empty unless asked for.
    pub gradient: Vec<f64>,
    /// `dF / dz`, of every inducing point along every column that moves, column by column; empty
    /// unless asked for.
    pub in_places: Vec<f64>,
}

/// Evaluates the bound.
///
/// # Arguments
/// * `theta` - every hyperparameter, natural units
/// * `q` - belief about the whitened inducing values
/// * `form` - what is put for expectations of sums
///
/// # Errors
/// [`FitError::Inducing`] when the covariance of the inducing points has no Cholesky factor;
/// [`FitError::Input`] where `form` does not exist for a row.
///
/// # Numerics
/// `2 N M^2` flops for the value, `5 N M^2` with the gradient, besides the covariances and the
/// pairs within rows. Sums are made in an order that depends neither on threads nor on their
/// number.
pub fn bound(
    problem: &dyn SparseProblem,
    theta: &[f64],
    q: &Normal,
    form: LogSum,
    with_gradient: bool,
) -> Result<Bound, FitError> {
    let stream = Stream::new(problem, theta, form, 0)?;
    Ok(stream.run(
        q,
        if with_gradient {
            Depth::All
        } else {
            Depth::Value
        },
    ))
}

/// Jitters tried in turn besides that of the prior, relative to the variance of every inducing
/// point, that of an unknown mean included.
const JITTERS: [f64; 3] = [0.0, 1e-8, 1e-6];

/// The factor `L` of `K_uu`, and the jitter that it took besides that of the prior: none, but where
/// a mean or a part of the kernel is so wide that its rounding outgrows that one.
///
/// # Errors
/// [`FitError::Inducing`] where there is none.
pub(super) fn inducing_factor(
    problem: &dyn SparseProblem,
    theta: &[f64],
) -> Result<(Cholesky, f64), FitError> {
    let prior = problem.prior();
    for jitter in JITTERS {
        let mut k = prior.inducing_covariance(theta);
        for i in 0..k.nrows() {
            k[(i, i)] *= 1.0 + jitter;
        }
        if let Ok(factor) = Cholesky::factor_owned(k) {
            return Ok((factor, jitter));
        }
    }
    Err(FitError::Inducing {
        points: prior.inducing(),
        kernel: problem.describe(),
        parameters: parameter::describe(problem.parameters(), theta),
    })
}

/// The rows at one value of the hyperparameters.
pub(super) struct Stream<'a> {
    problem: &'a dyn SparseProblem,
    theta: &'a [f64],
    form: LogSum,
    pub factor: Cholesky,
    /// Jitter of `K_uu` besides that of the prior.
    jitter: f64,
    /// `L^-1`.
    whitener: Mat<f64>,
    rows: Rows<'a>,
    kept: Option<Vec<Features>>,
    /// Of the columns along which inducing points move.
    shifts: Vec<Shift>,
}

/// What `q` is to every chunk.
struct Ready<'a> {
    q: &'a Normal,
    /// `C^-1` with `P = C C'`.
    spread: Mat<f64>,
    /// `L^-T mu`.
    dual: Vec<f64>,
    /// `2 L^-T (S - I)`.
    turn: Mat<f64>,
    depth: Depth,
}

/// Memory of one thread.
struct Work {
    features: Features,
    panel: Panel,
    b: Mat<f64>,
    slope: Mat<f64>,
}

impl Work {
    fn new() -> Self {
        Self {
            features: Features::empty(),
            panel: Panel::new(),
            b: Mat::new(),
            slope: Mat::new(),
        }
    }
}

struct Sum {
    value: f64,
    in_mean: Vec<f64>,
    in_covariance: Mat<f64>,
    gradient: Vec<f64>,
    in_places: Vec<f64>,
    /// `A E A'`, lower triangle.
    explained: Mat<f64>,
}

impl<'a> Stream<'a> {
    /// Features are kept where they take no more than `memory` bytes.
    pub fn new(
        problem: &'a dyn SparseProblem,
        theta: &'a [f64],
        form: LogSum,
        memory: usize,
    ) -> Result<Self, FitError> {
        let (factor, jitter) = inducing_factor(problem, theta)?;
        let bags = problem.bags();
        let rows = Rows::of_blocks(problem.blocks(), theta, bags.rows());
        if form != LogSum::Matched {
            for row in (0..bags.rows()).filter(|&row| !bags.is_single(row)) {
                let (likelihood, _, at) = rows.at(row);
                form.check(bags.link(row), likelihood, at)?;
            }
        }
        let whitener = factor.inverse_factor();
        let is_small = Features::demand(problem).saturating_mul(8) <= memory;
        let kept = is_small.then(|| {
            let chunks = 0..bags.chunks();
            chunks
                .into_par_iter()
                .map(|chunk| Features::new(problem, theta, whitener.as_ref(), chunk))
                .collect()
        });
        Ok(Self {
            problem,
            theta,
            form,
            factor,
            jitter,
            whitener,
            rows,
            kept,
            shifts: Vec::new(),
        })
    }

    /// Takes the derivatives in the hyperparameters with those along the columns in which inducing
    /// points were shifted.
    pub fn moving(self, shifts: Vec<Shift>) -> Self {
        Self { shifts, ..self }
    }

    pub fn run(&self, q: &Normal, depth: Depth) -> Bound {
        let size = self.problem.prior().inducing();
        let mut dual = Mat::from_fn(size, 1, |i, _| q.mean()[i]);
        self.factor.half_solve_transpose_in_place(dual.as_mut());
        let (mut away, mut turn) = (Mat::new(), Mat::new());
        if depth == Depth::All {
            away = q.covariance();
            for i in 0..size {
                away[(i, i)] -= 1.0;
            }
            turn = away.clone();
            self.factor.half_solve_transpose_in_place(turn.as_mut());
            turn *= faer::Scale(2.0);
        }
        let ready = Ready {
            q,
            spread: q.factor().inverse_factor(),
            dual: dual.col_as_slice(0).to_vec(),
            turn,
            depth,
        };
        let chunks = self.problem.bags().chunks();
        let groups = GROUPS.min(chunks);
        let sums: Vec<Sum> = (0..groups)
            .into_par_iter()
            .map_init(Work::new, |work, group| {
                let mut sum = self.empty(depth);
                for chunk in group * chunks / groups..(group + 1) * chunks / groups {
                    self.chunk(&ready, chunk, work, &mut sum);
                }
                sum
            })
            .collect();
        let mut total = self.empty(depth);
        for sum in sums {
            total.value += sum.value;
            let pairs = total.in_mean.iter_mut().zip(&sum.in_mean);
            pairs.for_each(|(t, s)| *t += s);
            total.in_covariance += sum.in_covariance;
            let pairs = total.gradient.iter_mut().zip(&sum.gradient);
            pairs.for_each(|(t, s)| *t += s);
            let pairs = total.in_places.iter_mut().zip(&sum.in_places);
            pairs.for_each(|(t, s)| *t += s);
            total.explained += sum.explained;
        }
        mirror_lower(&mut total.in_covariance);
        mirror_lower(&mut total.explained);
        if depth == Depth::All {
            // mu F_mu' + 2 (S - I) F_S + 2 A E A'.
            let mut inner = gemm(away.as_ref(), total.in_covariance.as_ref());
            for j in 0..size {
                for i in 0..size {
                    let both = inner[(i, j)] + total.explained[(i, j)];
                    inner[(i, j)] = 2.0 * both + q.mean()[i] * total.in_mean[j];
                }
            }
            let mut adjoint = symmetric_from_fn(size, |i, j| -0.5 * inner[(i, j)]);
            self.factor.half_solve_transpose_in_place(adjoint.as_mut());
            let mut adjoint = adjoint.transpose().to_owned();
            self.factor.half_solve_transpose_in_place(adjoint.as_mut());
            mirror_lower(&mut adjoint);
            for i in 0..size {
                adjoint[(i, i)] *= 1.0 + self.jitter;
            }
            let induced = self.problem.induced();
            induced.contract_matrix(self.theta, adjoint.as_ref(), &mut total.gradient);
            for (shift, places) in self.shifts.iter().zip(total.in_places.chunks_mut(size)) {
                let slope = induced.matrix_slope(self.theta, shift);
                add_products(&adjoint, &slope, 2.0, places);
            }
        }
        Bound {
            value: total.value - q.divergence(),
            in_mean: total.in_mean,
            in_covariance: total.in_covariance,
            gradient: total.gradient,
            in_places: total.in_places,
        }
    }

    /// Every hyperparameter, natural units.
    pub fn theta(&self) -> &[f64] {
        self.theta
    }

    /// The rows at these hyperparameters.
    pub fn rows(&self) -> &Rows<'a> {
        &self.rows
    }

    fn empty(&self, depth: Depth) -> Sum {
        let size = if depth == Depth::Value {
            0
        } else {
            self.problem.prior().inducing()
        };
        let (parameters, shifts, explained) = if depth == Depth::All {
            (self.theta.len(), self.shifts.len(), size)
        } else {
            (0, 0, 0)
        };
        Sum {
            value: 0.0,
            in_mean: vec![0.0; size],
            in_covariance: Mat::zeros(size, size),
            gradient: vec![0.0; parameters],
            in_places: vec![0.0; shifts * size],
            explained: Mat::zeros(explained, explained),
        }
    }

    fn chunk(&self, ready: &Ready<'_>, chunk: usize, work: &mut Work, sum: &mut Sum) {
        let (problem, bags) = (self.problem, self.problem.bags());
        let Work {
            features: made,
            panel,
            b,
            slope,
        } = work;
        let features = match &self.kept {
            Some(kept) => &kept[chunk],
            None => {
                let whitener = self.whitener.as_ref();
                made.fill(problem, self.theta, whitener, chunk, panel);
                &*made
            }
        };
        let a = features.a.as_ref();
        let n = a.ncols();
        let first = bags.chunk_points(chunk).start;
        // B = C^-1 A: A'SA = B'B.
        reshape(b, a.nrows(), n);
        lower_times_into(b.as_mut(), ready.spread.as_ref(), a);
        let mut mean = matvec(a.transpose(), ready.q.mean());
        let prior = problem.prior_mean(chunk);
        mean.iter_mut().zip(prior).for_each(|(m, p)| *m += p);
        let variance: Vec<f64> = (0..n)
            .map(|j| {
                let column = b.col_as_slice(j);
                features.residual[j] + dot(column, column)
            })
            .collect();
        let (mut to_mean, mut to_variance) = (vec![0.0; n], vec![0.0; n]);
        let mut slopes: Vec<Slope> = Vec::with_capacity(features.within.len());
        let wanted = ready.depth != Depth::Value;
        let mut samples = features.within.iter();
        let mut to_own = Vec::new();
        for row in bags.chunk_rows(chunk) {
            let (likelihood, own, at) = self.rows.at(row);
            let points = bags.row_points(row);
            let here = points.start - first..points.end - first;
            to_own.clear();
            // Slopes in own hyperparameters cost as much as all else.
            to_own.resize(own.len() * usize::from(ready.depth == Depth::All), 0.0);
            if bags.is_single(row) {
                let i = here.start;
                let belief = Belief {
                    mean: mean[i],
                    variance: variance[i],
                };
                let out = wanted.then_some((&mut to_mean[i], &mut to_variance[i], &mut to_own[..]));
                sum.value += of_point(likelihood, own, at, belief, out);
            } else if let Some(sample) = samples.next() {
                let seen = columns(b.as_ref(), &sample.places);
                let size = sample.points.len();
                let mut part = Mat::zeros(size, size);
                gemm_lower_into(
                    part.as_mut(),
                    false,
                    1.0,
                    seen.as_ref().transpose(),
                    seen.as_ref(),
                );
                mirror_lower(&mut part);
                let covariance = &sample.residual + &part;
                let low_rank = (!sample.is_full).then(|| LowRank {
                    columns: b.subcols(here.start, here.len()),
                    less: None,
                    sample: &part,
                });
                let seen = Points {
                    link: bags.link(row),
                    weights: bags.weights(row),
                    mean: &mean[here.clone()],
                    variance: &variance[here.clone()],
                    sample: &sample.points,
                    covariance: &covariance,
                    low_rank,
                };
                let mut slope = Slope {
                    here: here.clone(),
                    block: Mat::new(),
                    low_rank: None,
                    along: Vec::new(),
                    seen: Mat::new(),
                };
                if wanted {
                    slope.block = Mat::zeros(size, size);
                }
                let out = wanted.then(|| Marginals {
                    to_mean: &mut to_mean[here.clone()],
                    to_variance: &mut to_variance[here],
                    to_covariance: &mut slope.block,
                    to_low_rank: &mut slope.low_rank,
                    to_own: &mut to_own,
                });
                sum.value += of_sum(self.form, likelihood, own, at, &seen, out);
                slopes.push(slope);
            }
            for (&index, slope) in self.rows.own(row).iter().zip(&to_own) {
                sum.gradient[index] += slope;
            }
        }
        if !wanted {
            return;
        }
        for (t, x) in sum.in_mean.iter_mut().zip(matvec(a, &to_mean)) {
            *t += x;
        }
        // A (D + E), column by column and block by block; B is not needed any more.
        let ad = b;
        for slope in &mut slopes {
            if let Some(low) = &slope.low_rank {
                slope.along = matvec(
                    a.subcols(slope.here.start, slope.here.len()),
                    &low.direction,
                );
            }
        }
        for_columns(0..n, &slopes, |j, explained| {
            let out = ad.col_as_slice_mut(j);
            vectorised(|| {
                set_scaled(to_variance[j], features.a.col_as_slice(j), out);
                if let Some((by, along)) = explained {
                    add_scaled(by, along, out);
                }
            });
        });
        for (sample, slope) in features.within.iter().zip(&mut slopes) {
            let seen = columns(a, &sample.places);
            let mut moved = gemm(seen.as_ref(), slope.block.as_ref());
            if let Some(low) = &slope.low_rank {
                let own = gemm(seen.as_ref(), low.block.as_ref());
                moved += &own;
                if ready.depth == Depth::All {
                    add_explained(&mut sum.explained, &own, &seen, low.by, &slope.along);
                    slope.seen = own;
                }
            }
            for (j, &place) in sample.places.iter().enumerate() {
                let out = ad.col_as_slice_mut(place);
                vectorised(|| add_scaled(1.0, moved.col_as_slice(j), out));
            }
        }
        gemm_lower_into(
            sum.in_covariance.as_mut(),
            true,
            1.0,
            ad.as_ref(),
            a.transpose(),
        );
        if ready.depth == Depth::All {
            self.contract(
                ready,
                chunk,
                features,
                &mut slopes,
                (&to_mean, &mut to_variance),
                (ad.as_ref(), panel, slope),
                sum,
            );
        }
    }

    /// Derivatives in the hyperparameters of the covariances of a chunk.
    fn contract(
        &self,
        ready: &Ready<'_>,
        chunk: usize,
        features: &Features,
        slopes: &mut [Slope],
        (to_mean, to_variance): (&[f64], &mut [f64]),
        (ad, panel, slope): (MatRef<'_, f64>, &mut Panel, &mut Mat<f64>),
        sum: &mut Sum,
    ) {
        let (size, n) = (ad.nrows(), ad.ncols());
        let back = self.whitener.transpose();
        for slope in slopes.iter_mut().filter(|slope| slope.low_rank.is_some()) {
            slope.along = matvec(back, &slope.along);
            let mut own = Mat::zeros(size, slope.seen.ncols());
            lower_transpose_times_into(own.as_mut(), self.whitener.as_ref(), slope.seen.as_ref());
            slope.seen = own;
        }
        let (induced, theta) = (self.problem.induced(), self.theta);
        // Slopes along columns are those of the whole chunk.
        let width = if self.shifts.is_empty() { WIDTH } else { n };
        let Panel {
            cross: adjoint,
            work,
        } = panel;
        let gradient = &mut sum.gradient;
        induced.with_cross(theta, chunk, true, |cross| {
            for range in cut(n, width) {
                reshape(adjoint, size, range.len());
                let ad = ad.subcols(range.start, range.len());
                gemm_into(adjoint.as_mut(), false, 1.0, ready.turn.as_ref(), ad);
                for_columns(range.clone(), slopes, |j, explained| {
                    let out = adjoint.col_as_slice_mut(j - range.start);
                    vectorised(|| {
                        add_scaled(to_mean[j], &ready.dual, out);
                        if let Some((by, along)) = explained {
                            add_scaled(2.0 * by, along, out);
                        }
                    });
                });
                for (sample, slope) in features.within.iter().zip(&*slopes) {
                    let places = sample.places.iter().enumerate();
                    let here = places.filter(|(_, place)| range.contains(place));
                    for (j, place) in here.filter(|_| slope.low_rank.is_some()) {
                        let out = adjoint.col_as_slice_mut(place - range.start);
                        vectorised(|| add_scaled(2.0, slope.seen.col_as_slice(j), out));
                    }
                }
                for (shift, places) in self.shifts.iter().zip(sum.in_places.chunks_mut(size)) {
                    induced.cross_slope(theta, chunk, shift, slope);
                    add_products(adjoint, slope, 1.0, places);
                }
                cross.contract(range, adjoint.as_ref(), work, gradient);
            }
        });
        for (sample, slope) in features.within.iter().zip(&*slopes) {
            let mut d = slope.block.clone();
            if sample.is_full {
                for (i, &place) in sample.places.iter().enumerate() {
                    d[(i, i)] = std::mem::take(&mut to_variance[place]);
                }
            }
            induced.contract_within(theta, chunk, &sample.places, d.as_ref(), gradient);
        }
        induced.contract_diagonal(theta, chunk, to_variance, gradient);
    }
}

/// Adds `factor sum_j a_ij b_ij` to every `out_i`.
fn add_products(a: &Mat<f64>, b: &Mat<f64>, factor: f64, out: &mut [f64]) {
    for j in 0..a.ncols() {
        let pairs = a.col_as_slice(j).iter().zip(b.col_as_slice(j));
        out.iter_mut()
            .zip(pairs)
            .for_each(|(o, (a, b))| *o += factor * a * b);
    }
}
