//! Covariances between supports: the only place where kernel and support are both known.
//!
//! [`Covariance`] turns a kernel and sets of functionals into matrices, diagonals and, given an
//! adjoint `G = dL/dK`, the derivative of `L` in every hyperparameter in one pass. Nothing of the
//! size of one matrix per hyperparameter is ever stored: tiles of the matrix are evaluated with
//! the slopes of their factors, contracted and dropped.

mod aligned;
mod axes;
mod block;
mod chain;
mod comb;
mod coupled;
mod cross;
mod factor;
mod induced;
mod kept;
mod lags;
mod line;
mod line_term;
mod mixture;
mod nodes;
mod one_dim;
mod periodic_term;
mod plain;
mod plan;
mod prepared;
mod product;
mod radial;
mod regions;
mod resolution;
mod series;
mod tile;
mod wide;

use std::ops::Range;

pub use axes::Grid;
use block::{Work, prepare};
pub(crate) use chain::MOST_PARAMETERS;
pub use chain::{Chain, ChainFactor, Products};
pub use cross::{Cross, CrossWork};
use factor::all_are;
use faer::{Mat, MatMut, MatRef};
pub use induced::{Induced, Shift};
pub use kept::KeptPairs;
pub(crate) use kept::ROUGH;
pub(crate) use line_term::LineTerm;
pub(crate) use nodes::NodeRule;
pub(crate) use periodic_term::{LEAST_PERIODIC, MOST_HARMONICS, PeriodicTerm};
use plan::{KernelFactor, KernelTerm, plan};
use rayon::prelude::*;
use regions::TermGroup;
use resolution::COLUMNS;
pub use resolution::PlanarRule;
pub(in crate::covariance) use resolution::Resolution;
use tile::{Sides, Tabulation, WithSlopes};

use crate::kernel::Kernel;
use crate::linalg::{mirror_upper, reshape};
use crate::support::Functionals;

/// Below so many pairs of atoms handing work to other threads costs more than it saves.
const PARALLEL_FROM: usize = 8192;

/// Covariances of linear functionals of `f ~ GP(0, k)`.
///
/// `K_ij = L_i L_j' k(x, x')`; between boxes `integral integral k` (sums) or the average (means).
/// Supports must have exactly the columns of the kernel, in its order
/// ([`Functionals::select`] with [`Kernel::columns`]).
///
/// # Examples
/// ```
/// use quadrat::{covariance::Covariance, kernel::Kernel, support::{Aggregate, Functionals}};
/// let covariance = Covariance::new(&Kernel::se(["t"]));
/// let mut a = Functionals::new(vec!["t".into()]);
/// a.push_box(&[(0.0, 2.0)], Aggregate::Sum)?;
/// a.push_point(&[1.0])?;
/// // variance 3, lengthscale 0.5
/// let k = covariance.matrix(&[3.0, 0.5], &a);
/// assert!((k[(1, 1)] - 3.0).abs() < 1e-15);
/// // integral_0^2 3 exp(-(u - 1)^2 / (2 * 0.25)) du = 3 * 0.5 * sqrt(2 pi) * erf(sqrt 2)
/// let expected = 1.5 * (2.0 * std::f64::consts::PI).sqrt() * 0.954_499_736_103_641_6;
/// assert!((k[(0, 1)] - expected).abs() < 1e-14);
/// # Ok::<(), quadrat::error::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Covariance {
    terms: Vec<KernelTerm>,
    parameters: usize,
    /// Columns along which functions may have a slope beside the kernel.
    beside: Range<usize>,
    resolution: Resolution,
}

/// What entries over planar regions aim at, see [`Covariance::tolerance`].
const REGION_TOLERANCE: f64 = 1e-7;

impl Covariance {
    /// Plans the computation for a kernel.
    #[must_use]
    pub fn new(kernel: &Kernel) -> Self {
        Self {
            terms: plan(kernel),
            parameters: kernel.parameters().len(),
            beside: kernel.spare_columns(),
            resolution: Resolution {
                tolerance: REGION_TOLERANCE,
                rule: PlanarRule::Automatic,
            },
        }
    }

    /// Chooses what entries over planar regions may be off by, relative to `sqrt(K_ii K_jj)`, for
    /// kernels that integrate by boundaries; 1e-7 unless said, clamped to `[1e-13, 1e-3]`.
    ///
    /// Three times as much where a Matern kernel meets its kink. Boxes and points are right to
    /// rounding in any case. Squared exponentials beyond some sixty lengthscales, and Matern
    /// kernels where edges are long, are right to some 1e-9 whatever the tolerance is.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.resolution.tolerance = tolerance.clamp(1e-13, 1e-3);
        self
    }

    /// Chooses how planar regions are integrated.
    #[must_use]
    pub fn planar_rule(mut self, rule: PlanarRule) -> Self {
        self.resolution.rule = rule;
        self
    }

    /// Number of hyperparameters, the length of `theta`.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// `K`, shape `[n, n]`, symmetric; units of the functionals' values squared.
    ///
    /// # Arguments
    /// * `theta` - hyperparameters in natural units, in the order of [`Kernel::parameters`]
    /// * `a` - `n` functionals
    #[must_use]
    pub fn matrix(&self, theta: &[f64], a: &Functionals) -> Mat<f64> {
        let mut out = Mat::zeros(a.len(), a.len());
        self.fill(theta, Sides { a, b: a }, true, true, out.as_mut());
        mirror_upper(&mut out);
        out
    }

    /// `K_ab`, shape `[a.len(), b.len()]`.
    #[must_use]
    pub fn cross(&self, theta: &[f64], a: &Functionals, b: &Functionals) -> Mat<f64> {
        let mut out = Mat::zeros(a.len(), b.len());
        self.fill(theta, Sides { a, b }, false, true, out.as_mut());
        out
    }

    /// Writes [`Self::cross`] into `out`, whatever its shape was.
    pub fn cross_into(&self, theta: &[f64], a: &Functionals, b: &Functionals, out: &mut Mat<f64>) {
        reshape(out, a.len(), b.len());
        self.fill(theta, Sides { a, b }, false, false, out.as_mut());
    }

    /// The diagonal of [`Self::matrix`] without the matrix.
    #[must_use]
    pub fn diagonal(&self, theta: &[f64], a: &Functionals) -> Vec<f64> {
        let is_same = self.shifts_alone(a);
        // Rows whose value is not that of the row before.
        let fresh: Vec<usize> = (0..a.len())
            .filter(|&row| row == 0 || !is_same(row - 1, row))
            .collect();
        let few = (fresh.len() < a.len()).then(|| a.rows(&fresh));
        let own = few.as_ref().unwrap_or(a);
        let sides = Sides { a: own, b: own };
        let groups = regions::resolve(&self.terms, theta, sides, self.resolution);
        let ready = prepare(&groups, theta, WithSlopes::No, Tabulation::Never);
        let evaluate = |work: &mut Work, row: usize| {
            let mut one = Mat::zeros(1, 1);
            for group in &ready {
                group.add_block(row..row + 1, row..row + 1, true, true, work, one.as_mut());
            }
            one[(0, 0)]
        };
        let rows = 0..own.len();
        let values: Vec<f64> = if rows.len() < PARALLEL_FROM / 64 {
            let mut work = Work::default();
            rows.map(|row| evaluate(&mut work, row)).collect()
        } else {
            let rows = rows.into_par_iter();
            rows.map_init(Work::default, evaluate).collect()
        };
        let ends = fresh.iter().skip(1).copied().chain([a.len()]);
        let mut out = Vec::with_capacity(a.len());
        for (value, end) in values.into_iter().zip(ends) {
            out.resize(end, value);
        }
        out
    }

    /// A test of whether two rows of a set have the same variance because they differ by a shift.
    fn shifts_alone<'a>(&self, set: &'a Functionals) -> impl Fn(usize, usize) -> bool + use<'a> {
        let stationary = self.is_stationary();
        let all = stationary && is_of_one_shape(set);
        move |one, other| all || stationary && same_shape(set, one, other)
    }

    /// Whether the covariance of two supports stays when both are shifted.
    fn is_stationary(&self) -> bool {
        let mut factors = self.terms.iter().flat_map(|term| &term.factors);
        factors.all(KernelFactor::is_stationary)
    }

    /// `gradient[p] += sum_ij adjoint[i, j] dK_ij / d theta_p` for a symmetric adjoint.
    ///
    /// # Arguments
    /// * `adjoint` - `dL/dK`, shape `[n, n]`, both triangles of a symmetric matrix
    /// * `gradient` - length [`Self::parameters`]
    pub fn contract(
        &self,
        theta: &[f64],
        a: &Functionals,
        adjoint: MatRef<'_, f64>,
        gradient: &mut [f64],
    ) {
        let sides = Sides { a, b: a };
        let groups = regions::resolve(&self.terms, theta, sides, self.resolution);
        self.contract_groups(&groups, theta, sides, adjoint, true, gradient);
    }

    /// `gradient[p] += sum_i adjoint[i] dK_ii / d theta_p`.
    ///
    /// # Arguments
    /// * `adjoint` - `dL / dK_ii`, length `a.len()`
    pub fn contract_diagonal(
        &self,
        theta: &[f64],
        a: &Functionals,
        adjoint: &[f64],
        gradient: &mut [f64],
    ) {
        let is_same = self.shifts_alone(a);
        let mut row = 0;
        while row < a.len() {
            let mut end = row + 1;
            let mut sum = adjoint[row];
            while end < a.len() && is_same(row, end) {
                sum += adjoint[end];
                end += 1;
            }
            if end == row + 1 {
                // Next to each other, so that lanes are filled; what is beside the diagonal has no
                // weight. Rows of many atoms fill them alone.
                let is_one = |row: usize| a.atoms(row).len() == 1;
                while end < a.len()
                    && end - row < COLUMNS
                    && is_one(row)
                    && is_one(end)
                    && !is_same(end - 1, end)
                {
                    end += 1;
                }
                let rows: Vec<usize> = (row..end).collect();
                let own = Mat::from_fn(rows.len(), rows.len(), |i, j| {
                    if i == j { adjoint[row + i] } else { 0.0 }
                });
                self.contract(theta, &a.rows(&rows), own.as_ref(), gradient);
            } else if sum != 0.0 {
                let one = Mat::from_fn(1, 1, |_, _| sum);
                self.contract(theta, &a.rows(&[row]), one.as_ref(), gradient);
            }
            row = end;
        }
    }

    /// `gradient[p] += sum_ij adjoint[i, j] d(K_ab)_ij / d theta_p`.
    pub fn contract_cross(
        &self,
        theta: &[f64],
        a: &Functionals,
        b: &Functionals,
        adjoint: MatRef<'_, f64>,
        gradient: &mut [f64],
    ) {
        let sides = Sides { a, b };
        let groups = regions::resolve(&self.terms, theta, sides, self.resolution);
        self.contract_groups(&groups, theta, sides, adjoint, false, gradient);
    }

    /// Nodes that stand for every row at these hyperparameters, over all terms of the kernel: one
    /// for a box or point, those on its area or else on its boundary for a region.
    #[must_use]
    pub fn nodes_per_row(&self, theta: &[f64], a: &Functionals) -> Vec<usize> {
        let groups = regions::resolve(&self.terms, theta, Sides { a, b: a }, self.resolution);
        let count = |row| groups.iter().map(|group| group.nodes(row)).sum();
        (0..a.len()).map(count).collect()
    }

    /// How many times longer the panels of a quadrature are than the kernel needs, for the widest
    /// box of `a`; `None` when every box is integrated to rounding.
    ///
    /// Only kernels that share columns in two or more dimensions, such as
    /// `matern32(x, y) * periodic(x)`, are not.
    #[must_use]
    pub fn coarseness(&self, theta: &[f64], a: &Functionals) -> Option<f64> {
        let factors = self.terms.iter().flat_map(|term| &term.factors);
        let worst = factors
            .filter_map(|factor| match factor {
                plan::KernelFactor::Coupled(coupled) => {
                    let widest = |&d: &usize| a.width(d).iter().fold(0.0, |w: f64, &v| w.max(v));
                    let widths: Vec<f64> = coupled.dims().iter().map(widest).collect();
                    Some(coupled.coarseness(theta, &widths))
                }
                _ => None,
            })
            .fold(1.0, f64::max);
        (worst > 1.0).then_some(worst)
    }

    /// An estimate of the relative error of the variances of regions under terms that have no edge
    /// rule, such as `se(x, y) * matern12(x)`, where they are rough where points meet or too short
    /// for the nodes of a region; `None` when there are none.
    ///
    /// The usual nodes are compared with a rule of higher degree on the same pieces.
    #[must_use]
    pub fn region_error(&self, theta: &[f64], a: &Functionals) -> Option<f64> {
        let rough = regions::rough(&self.terms, theta, a);
        let worst = rough.into_iter().map(|(term, usual, finer)| {
            let own = Self {
                terms: vec![term],
                parameters: self.parameters,
                beside: self.beside.clone(),
                resolution: self.resolution,
            };
            let (usual, finer) = (own.diagonal(theta, &usual), own.diagonal(theta, &finer));
            let errors = usual.iter().zip(&finer).map(|(u, f)| (u / f - 1.0).abs());
            // A variance that is not a number is not known at all.
            errors.fold(0.0, |worst, e| {
                if e.is_nan() {
                    f64::INFINITY
                } else {
                    worst.max(e)
                }
            })
        });
        worst.reduce(f64::max)
    }

    /// Writes `K_ab`; of a symmetric one only blocks on and above the diagonal. `is_zero`: whether
    /// `out` is.
    fn fill(
        &self,
        theta: &[f64],
        sides: Sides<'_>,
        symmetric: bool,
        is_zero: bool,
        out: MatMut<'_, f64>,
    ) {
        let groups = regions::resolve(&self.terms, theta, sides, self.resolution);
        fill_groups(&groups, theta, sides, symmetric, is_zero, out);
    }

    /// Adds the derivatives of what [`fill_groups`] writes.
    fn contract_groups(
        &self,
        groups: &[TermGroup<'_>],
        theta: &[f64],
        sides: Sides<'_>,
        adjoint: MatRef<'_, f64>,
        symmetric: bool,
        gradient: &mut [f64],
    ) {
        let (n, m) = (sides.a.len(), sides.b.len());
        let ready = prepare(groups, theta, WithSlopes::Yes, Tabulation::WhenRepeated);
        let contract = |work: &mut Work, index: usize| {
            let columns = index * COLUMNS..((index + 1) * COLUMNS).min(m);
            let mut own = vec![0.0; self.parameters];
            let adjoint = adjoint.subcols(columns.start, columns.len());
            let mut part = |rows: Range<usize>, factor: f64, own: &mut [f64]| {
                for group in &ready {
                    let (rows, columns) = (rows.clone(), columns.clone());
                    group.contract_block(rows, columns, theta, adjoint, factor, work, own);
                }
            };
            if symmetric {
                part(0..columns.start, 2.0, &mut own);
                part(columns.clone(), 1.0, &mut own);
            } else {
                part(0..n, 1.0, &mut own);
            }
            own
        };
        let indices = 0..m.div_ceil(COLUMNS);
        let blocks: Vec<Vec<f64>> = if is_small(groups) {
            let mut work = Work::default();
            indices.map(|index| contract(&mut work, index)).collect()
        } else {
            indices
                .into_par_iter()
                .map_init(Work::default, contract)
                .collect()
        };
        // Summed in order, so that the result does not depend on the number of threads.
        for block in blocks {
            gradient.iter_mut().zip(&block).for_each(|(g, b)| *g += b);
        }
    }
}

/// Writes `K_ab` from resolved terms, see [`Covariance::fill`].
fn fill_groups(
    groups: &[TermGroup<'_>],
    theta: &[f64],
    sides: Sides<'_>,
    symmetric: bool,
    is_zero: bool,
    mut out: MatMut<'_, f64>,
) {
    let (n, m) = (sides.a.len(), sides.b.len());
    if n == 0 || m == 0 {
        return;
    }
    let ready = prepare(groups, theta, WithSlopes::No, Tabulation::WhenRepeated);
    let is_plain = plain::is_plain(groups);
    if !is_zero && !is_plain {
        out.fill(0.0);
    }
    let fill = |work: &mut Work, (index, mut out): (usize, MatMut<'_, f64>)| {
        let columns = index * COLUMNS..((index + 1) * COLUMNS).min(m);
        let rows = if symmetric { 0..columns.end } else { 0..n };
        for group in &ready {
            let (rows, columns) = (rows.clone(), columns.clone());
            group.add_block(rows, columns, symmetric, !is_plain, work, out.as_mut());
        }
    };
    if is_small(groups) {
        let mut work = Work::default();
        for (index, first) in (0..m).step_by(COLUMNS).enumerate() {
            let chunk = out.as_mut().subcols_mut(first, COLUMNS.min(m - first));
            fill(&mut work, (index, chunk));
        }
    } else {
        let chunks = out.par_col_chunks_mut(COLUMNS);
        chunks.enumerate().for_each_init(Work::default, fill);
    }
}

fn is_small(groups: &[TermGroup<'_>]) -> bool {
    groups.iter().all(|group| {
        let Sides { a, b } = group.sides();
        group.edges.is_none() && a.atom_count().saturating_mul(b.atom_count()) < PARALLEL_FROM
    })
}

/// Whether all rows are single boxes that differ by shifts only; column by column, which is faster
/// than [`same_shape`] of all.
fn is_of_one_shape(set: &Functionals) -> bool {
    let is_constant = |x: &[f64]| x.first().is_none_or(|&first| all_are(x, first));
    set.all_single()
        && !set.has_regions()
        && is_constant(set.weight())
        && (0..set.dims().len()).all(|d| is_constant(set.width(d)))
}

/// Whether two rows are single boxes that differ by a shift only.
fn same_shape(set: &Functionals, one: usize, other: usize) -> bool {
    let (a, b) = (set.offsets()[one], set.offsets()[other]);
    if set.offsets()[one + 1] != a + 1 || set.offsets()[other + 1] != b + 1 {
        return false;
    }
    set.weight()[a] == set.weight()[b]
        && set.region(a).is_none()
        && set.region(b).is_none()
        && (0..set.dims().len()).all(|d| set.width(d)[a] == set.width(d)[b])
}

#[cfg(test)]
mod tests;
