//! Covariances between supports: the only place where kernel and support are both known.
//!
//! [`Covariance`] turns a kernel and sets of functionals into matrices, diagonals and, given an
//! adjoint `G = dL/dK`, the derivative of `L` in every hyperparameter in one pass. Nothing of the
//! size of one matrix per hyperparameter is ever stored: tiles of the matrix are evaluated with
//! the slopes of their factors, contracted and dropped.

mod axes;
mod coupled;
mod factor;
mod line;
mod mixture;
mod one_dim;
mod plan;
mod radial;
mod regions;
mod series;

use std::ops::Range;

use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

use crate::kernel::Kernel;
use crate::linalg::mirror_upper;
use crate::support::Functionals;
use factor::{Evaluated, Prepared, Sides, Slopes, Tables, Tile};
use plan::{Factor, Term, plan};
use regions::{EdgeWork, Group, ReadyEdges};

pub use axes::Grid;

/// Atoms per tile along the lanes and along the columns: a tile and its slopes stay in the
/// second-level cache.
const LANES: usize = 256;
const COLUMNS: usize = 16;
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
    terms: Vec<Term>,
    parameters: usize,
}

impl Covariance {
    /// Plans the computation for a kernel.
    #[must_use]
    pub fn new(kernel: &Kernel) -> Self {
        Self {
            terms: plan(kernel),
            parameters: kernel.parameters().len(),
        }
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
        let mut out = self.blocks(theta, Sides { a, b: a }, true);
        mirror_upper(&mut out);
        out
    }

    /// `K_ab`, shape `[a.len(), b.len()]`.
    #[must_use]
    pub fn cross(&self, theta: &[f64], a: &Functionals, b: &Functionals) -> Mat<f64> {
        self.blocks(theta, Sides { a, b }, false)
    }

    /// The diagonal of [`Self::matrix`] without the matrix.
    #[must_use]
    pub fn diagonal(&self, theta: &[f64], a: &Functionals) -> Vec<f64> {
        let groups = regions::resolve(&self.terms, theta, Sides { a, b: a });
        let ready = prepare(&groups, theta, Slopes::No, Tables::Never);
        let stationary = self.is_stationary();
        // Rows whose value is not that of the row before.
        let fresh: Vec<usize> = (0..a.len())
            .filter(|&row| row == 0 || !(stationary && same_shape(a, row - 1, row)))
            .collect();
        let evaluate = |work: &mut Work, &row: &usize| {
            let mut one = Mat::zeros(1, 1);
            for group in &ready {
                group.add_block(row..row + 1, row..row + 1, true, work, one.as_mut());
            }
            one[(0, 0)]
        };
        let values: Vec<f64> = if fresh.len() < PARALLEL_FROM / 64 {
            let mut work = Work::default();
            fresh.iter().map(|row| evaluate(&mut work, row)).collect()
        } else {
            fresh.par_iter().map_init(Work::default, evaluate).collect()
        };
        let ends = fresh.iter().skip(1).copied().chain([a.len()]);
        let mut out = Vec::with_capacity(a.len());
        for (value, end) in values.into_iter().zip(ends) {
            out.resize(end, value);
        }
        out
    }

    /// Whether the covariance of two supports stays when both are shifted.
    fn is_stationary(&self) -> bool {
        let mut factors = self.terms.iter().flat_map(|term| &term.factors);
        factors.all(|factor| match factor {
            Factor::Line { .. } | Factor::Isotropic { .. } | Factor::Periodic { .. } => true,
            Factor::Linear { .. } | Factor::Coupled(_) => false,
        })
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
        self.contract_blocks(theta, Sides { a, b: a }, adjoint, true, gradient);
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
        self.contract_blocks(theta, Sides { a, b }, adjoint, false, gradient);
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
                plan::Factor::Coupled(coupled) => {
                    let widest = |&d: &usize| a.width(d).iter().fold(0.0, |w: f64, &v| w.max(v));
                    let widths: Vec<f64> = coupled.dims().iter().map(widest).collect();
                    Some(coupled.coarseness(theta, &widths))
                }
                _ => None,
            })
            .fold(1.0, f64::max);
        (worst > 1.0).then_some(worst)
    }

    /// `K_ab`; of a symmetric one only blocks on and above the diagonal.
    fn blocks(&self, theta: &[f64], sides: Sides<'_>, symmetric: bool) -> Mat<f64> {
        let (n, m) = (sides.a.len(), sides.b.len());
        let mut out = Mat::zeros(n, m);
        if n == 0 || m == 0 {
            return out;
        }
        let groups = regions::resolve(&self.terms, theta, sides);
        let ready = prepare(&groups, theta, Slopes::No, Tables::WhenRepeated);
        let fill = |work: &mut Work, (index, mut out): (usize, MatMut<'_, f64>)| {
            let columns = index * COLUMNS..((index + 1) * COLUMNS).min(m);
            let rows = if symmetric { 0..columns.end } else { 0..n };
            for group in &ready {
                group.add_block(rows.clone(), columns.clone(), symmetric, work, out.as_mut());
            }
        };
        if is_small(&groups) {
            let mut work = Work::default();
            for (index, first) in (0..m).step_by(COLUMNS).enumerate() {
                let chunk = out.as_mut().subcols_mut(first, COLUMNS.min(m - first));
                fill(&mut work, (index, chunk));
            }
        } else {
            let chunks = out.as_mut().par_col_chunks_mut(COLUMNS);
            chunks.enumerate().for_each_init(Work::default, fill);
        }
        out
    }

    fn contract_blocks(
        &self,
        theta: &[f64],
        sides: Sides<'_>,
        adjoint: MatRef<'_, f64>,
        symmetric: bool,
        gradient: &mut [f64],
    ) {
        let (n, m) = (sides.a.len(), sides.b.len());
        let groups = regions::resolve(&self.terms, theta, sides);
        let ready = prepare(&groups, theta, Slopes::Yes, Tables::WhenRepeated);
        let contract = |work: &mut Work, index: usize| {
            let columns = index * COLUMNS..((index + 1) * COLUMNS).min(m);
            let mut own = vec![0.0; self.parameters];
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
        let blocks: Vec<Vec<f64>> = if is_small(&groups) {
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

/// A [`Group`] at one value of the hyperparameters.
struct Ready<'a> {
    terms: Vec<PreparedTerm<'a>>,
    sides: Sides<'a>,
    edges: Option<ReadyEdges<'a>>,
}

fn prepare<'a>(
    groups: &'a [Group<'a>],
    theta: &'a [f64],
    slopes: Slopes,
    tables: Tables,
) -> Vec<Ready<'a>> {
    let one = |group: &'a Group<'a>| {
        let sides = group.sides();
        let terms = group.terms.iter();
        Ready {
            terms: terms
                .map(|term| prepare_term(term, theta, sides, slopes, tables))
                .collect(),
            sides,
            edges: group.edges.as_ref().map(|e| e.ready(theta, slopes)),
        }
    };
    groups.iter().map(one).collect()
}

fn prepare_term<'a>(
    term: &'a Term,
    theta: &'a [f64],
    sides: Sides<'_>,
    slopes: Slopes,
    tables: Tables,
) -> PreparedTerm<'a> {
    let factors = term.factors.iter();
    PreparedTerm {
        term,
        variance: term.variances.iter().map(|&i| theta[i]).product(),
        factors: factors
            .map(|f| Prepared::new(f, theta, sides, slopes, tables))
            .collect(),
    }
}

impl Ready<'_> {
    /// Adds a block of the covariance to `out`, whose rows and columns begin with the block's.
    fn add_block(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        symmetric: bool,
        work: &mut Work,
        mut out: MatMut<'_, f64>,
    ) {
        let (r, c) = (rows.clone(), columns.clone());
        block(&self.terms, self.sides, r, c, work, out.as_mut());
        if let Some(edges) = &self.edges {
            edges.add_block(rows, columns, symmetric, &mut work.edges, out);
        }
    }

    fn contract_block(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        theta: &[f64],
        adjoint: MatRef<'_, f64>,
        factor: f64,
        work: &mut Work,
        gradient: &mut [f64],
    ) {
        let (r, c) = (rows.clone(), columns.clone());
        contract_block(
            &self.terms,
            self.sides,
            r,
            c,
            theta,
            adjoint,
            factor,
            work,
            gradient,
        );
        if let Some(edges) = &self.edges {
            edges.contract_block(rows, columns, adjoint, factor, &mut work.edges, gradient);
        }
    }
}

struct PreparedTerm<'a> {
    term: &'a Term,
    variance: f64,
    factors: Vec<Prepared<'a>>,
}

impl PreparedTerm<'_> {
    /// `d variance / d theta` of the `k`-th variance parameter: the product of the others.
    fn other_variances(&self, theta: &[f64], k: usize) -> f64 {
        let all = self.term.variances.iter().enumerate();
        all.filter(|(e, _)| *e != k)
            .map(|(_, &i)| theta[i])
            .product()
    }
}

/// Buffers of one thread.
#[derive(Default)]
struct Work {
    factors: Vec<Evaluated>,
    product: Vec<f64>,
    total: Vec<f64>,
    adjoint: Vec<f64>,
    row_of: Vec<u32>,
    edges: EdgeWork,
}

fn is_small(groups: &[Group<'_>]) -> bool {
    groups.iter().all(|group| {
        let Sides { a, b } = group.sides();
        group.edges.is_none() && a.atom_count().saturating_mul(b.atom_count()) < PARALLEL_FROM
    })
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

/// Cuts the atoms of a range of rows into tiles.
fn tiles(
    set: &Functionals,
    rows: &Range<usize>,
    size: usize,
) -> impl Iterator<Item = Range<usize>> {
    let (start, end) = (set.offsets()[rows.start], set.offsets()[rows.end]);
    (start..end)
        .step_by(size)
        .map(move |s| s..(s + size).min(end))
}

/// Adds a block of the covariance to `out`, whose columns are those of the block and whose rows
/// begin with those of the block.
fn block(
    prepared: &[PreparedTerm<'_>],
    sides: Sides<'_>,
    rows: Range<usize>,
    columns: Range<usize>,
    work: &mut Work,
    mut out: MatMut<'_, f64>,
) {
    let single = sides.a.all_single();
    for b in tiles(sides.b, &columns, COLUMNS) {
        for a in tiles(sides.a, &rows, LANES) {
            let tile = Tile { a, b: b.clone() };
            work.total.clear();
            work.total.resize(tile.len(), 0.0);
            for term in prepared {
                evaluate(term, sides, &tile, Slopes::No, work);
                for (t, p) in work.total.iter_mut().zip(&work.product) {
                    *t += term.variance * p;
                }
            }
            let weight_a = &sides.a.weight()[tile.a.clone()];
            if !single {
                rows_of(sides.a, &tile.a, &mut work.row_of);
            }
            let mut column = row_at(sides.b, tile.b.start);
            for (atom, total) in tile.b.clone().zip(work.total.chunks_exact(tile.a.len())) {
                while atom >= sides.b.offsets()[column + 1] {
                    column += 1;
                }
                let w = sides.b.weight()[atom];
                let out = out.as_mut().col_mut(column - columns.start);
                let Some(out) = out.try_as_col_major_mut() else {
                    continue; // Columns of a matrix of ours are contiguous.
                };
                let out = out.as_slice_mut();
                if single {
                    let from = tile.a.start - rows.start;
                    for ((o, &v), &t) in out[from..].iter_mut().zip(weight_a).zip(total) {
                        *o += w * v * t;
                    }
                } else {
                    for ((&row, &v), &t) in work.row_of.iter().zip(weight_a).zip(total) {
                        out[row as usize - rows.start] += w * v * t;
                    }
                }
            }
        }
    }
}

fn contract_block(
    prepared: &[PreparedTerm<'_>],
    sides: Sides<'_>,
    rows: Range<usize>,
    columns: Range<usize>,
    theta: &[f64],
    adjoint: MatRef<'_, f64>,
    factor: f64,
    work: &mut Work,
    gradient: &mut [f64],
) {
    let single = sides.a.all_single();
    let mut own = Vec::new();
    for b in tiles(sides.b, &columns, COLUMNS) {
        for a in tiles(sides.a, &rows, LANES) {
            let tile = Tile { a, b: b.clone() };
            let weight_a = &sides.a.weight()[tile.a.clone()];
            if !single {
                rows_of(sides.a, &tile.a, &mut work.row_of);
            }
            work.adjoint.resize(tile.len(), 0.0);
            let mut column = row_at(sides.b, tile.b.start);
            for (k, atom) in tile.b.clone().enumerate() {
                while atom >= sides.b.offsets()[column + 1] {
                    column += 1;
                }
                let w = factor * sides.b.weight()[atom];
                let target = &mut work.adjoint[k * tile.a.len()..(k + 1) * tile.a.len()];
                if single {
                    let own = adjoint.col(column).subrows(tile.a.start, tile.a.len());
                    for ((g, &v), &own) in target.iter_mut().zip(weight_a).zip(own.iter()) {
                        *g = w * v * own;
                    }
                    continue;
                }
                for ((g, &row), &v) in target.iter_mut().zip(&work.row_of).zip(weight_a) {
                    *g = w * v * adjoint[(row as usize, column)];
                }
            }
            for term in prepared {
                evaluate(term, sides, &tile, Slopes::Yes, work);
                let total = crate::linalg::dot(&work.adjoint, &work.product);
                for (k, &i) in term.term.variances.iter().enumerate() {
                    gradient[i] += total * term.other_variances(theta, k);
                }
                for f in 0..term.factors.len() {
                    own.clear();
                    own.extend(work.adjoint.iter().map(|g| g * term.variance));
                    for (e, other) in work.factors[..term.factors.len()].iter().enumerate() {
                        if e != f {
                            own.iter_mut().zip(&other.value).for_each(|(g, v)| *g *= v);
                        }
                    }
                    term.factors[f].contract(sides, &tile, &work.factors[f], &own, gradient);
                }
            }
        }
    }
}

/// Evaluates the factors of a term on a tile, and their product.
fn evaluate(
    term: &PreparedTerm<'_>,
    sides: Sides<'_>,
    tile: &Tile,
    slopes: Slopes,
    work: &mut Work,
) {
    if work.factors.len() < term.factors.len() {
        work.factors
            .resize_with(term.factors.len(), Evaluated::default);
    }
    work.product.clear();
    for (prepared, out) in term.factors.iter().zip(&mut work.factors) {
        prepared.evaluate(sides, tile, slopes, out);
        if work.product.is_empty() {
            work.product.extend_from_slice(&out.value);
            continue;
        }
        work.product
            .iter_mut()
            .zip(&out.value)
            .for_each(|(p, v)| *p *= v);
    }
    // A constant has no factors.
    work.product.resize(tile.len(), 1.0);
}

fn row_at(set: &Functionals, atom: usize) -> usize {
    set.offsets().partition_point(|&o| o <= atom) - 1
}

fn rows_of(set: &Functionals, atoms: &Range<usize>, out: &mut Vec<u32>) {
    out.clear();
    let mut row = row_at(set, atoms.start);
    for atom in atoms.clone() {
        while atom >= set.offsets()[row + 1] {
            row += 1;
        }
        out.push(row as u32);
    }
}

#[cfg(test)]
mod tests;
