//! Blocks of a covariance, tile by tile, and their contraction with an adjoint.

use std::ops::Range;

use faer::{MatMut, MatRef};

use super::aligned::Aligned;
use super::factor::PreparedFactor;
use super::prepared::{PreparedTerm, prepare_term, product};
use super::regions::{EdgeWork, ReadyEdges, TermGroup};
use super::resolution::{COLUMNS, LANES};
use super::tile::{Evaluated, Sides, Tabulation, Tile, WithSlopes};
use crate::linalg::{add_scaled, set_scaled, vectorised};
use crate::support::Functionals;

/// A [`TermGroup`] at one value of the hyperparameters.
pub(super) struct PreparedGroup<'a> {
    terms: Vec<PreparedTerm<'a>>,
    sides: Sides<'a>,
    /// Whether every row of a side is one atom.
    single: Single,
    edges: Option<ReadyEdges<'a>>,
}

#[derive(Clone, Copy)]
struct Single {
    a: bool,
    b: bool,
}

pub(super) fn prepare<'a>(
    groups: &'a [TermGroup<'a>],
    theta: &'a [f64],
    slopes: WithSlopes,
    tables: Tabulation,
) -> Vec<PreparedGroup<'a>> {
    let one = |group: &'a TermGroup<'a>| {
        let sides = group.sides();
        let terms = group.terms.iter();
        PreparedGroup {
            terms: terms
                .map(|term| prepare_term(term, theta, sides, slopes, tables))
                .collect(),
            sides,
            single: Single {
                a: sides.a.all_single(),
                b: sides.b.all_single(),
            },
            edges: group.edges.as_ref().map(|e| e.ready(theta, slopes)),
        }
    };
    groups.iter().map(one).collect()
}

impl PreparedGroup<'_> {
    /// The column of an atom.
    fn column_of(&self, atom: usize) -> usize {
        if self.single.b {
            atom
        } else {
            row_at(self.sides.b, atom)
        }
    }

    /// Adds a block of the covariance to `out`, whose rows and columns begin with the block's; or
    /// writes it there, where every entry is of one pair of atoms.
    pub fn add_block(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        symmetric: bool,
        adds: bool,
        work: &mut Work,
        mut out: MatMut<'_, f64>,
    ) {
        let (r, c) = (rows.clone(), columns.clone());
        let of_points = self.single.a && self.single.b && !self.terms.is_empty();
        if of_points && self.terms.iter().all(|term| term.factors.len() == 1) {
            direct_block(&self.terms, self.sides, r, c, adds, work, out.as_mut());
        } else {
            block(self, r, c, adds, work, out.as_mut());
        }
        if let Some(edges) = &self.edges {
            edges.add_block(rows, columns, symmetric, &mut work.edges, out);
        }
    }

    /// Adds `factor * <adjoint, dK>` of a block; `adjoint` has all rows, and its columns begin with
    /// the block's.
    pub fn contract_block(
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
        contract_block(self, r, c, theta, adjoint, factor, work, gradient);
        if let Some(edges) = &self.edges {
            edges.contract_block(rows, columns, adjoint, factor, &mut work.edges, gradient);
        }
    }
}

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Work {
    factors: Vec<Evaluated>,
    product: Aligned,
    total: Aligned,
    adjoint: Aligned,
    /// The adjoint of one factor.
    own: Aligned,
    sum: Aligned,
    row_of: Vec<u32>,
    edges: EdgeWork,
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
/// begin with those of the block, or writes it there.
fn block(
    ready: &PreparedGroup<'_>,
    rows: Range<usize>,
    columns: Range<usize>,
    adds: bool,
    work: &mut Work,
    mut out: MatMut<'_, f64>,
) {
    let (prepared, sides) = (&ready.terms, ready.sides);
    for b in tiles(sides.b, &columns, COLUMNS) {
        for a in tiles(sides.a, &rows, LANES) {
            let tile = Tile { a, b: b.clone() };
            work.total.resize(tile.len());
            if prepared.is_empty() {
                // A kernel without terms is zero.
                work.total.fill(0.0);
            }
            for (index, term) in prepared.iter().enumerate() {
                evaluate(
                    &term.factors,
                    sides,
                    &tile,
                    WithSlopes::No,
                    &mut work.factors,
                );
                let product = product(term, tile.len(), &work.factors, &mut work.product);
                let (by, total) = (term.variance, &mut *work.total);
                if index == 0 {
                    vectorised(|| set_scaled(by, product, total));
                } else {
                    vectorised(|| add_scaled(by, product, total));
                }
            }
            let weight_a = &sides.a.weight()[tile.a.clone()];
            if !ready.single.a {
                rows_of(sides.a, &tile.a, &mut work.row_of);
            }
            let mut atom = tile.b.start;
            let lanes = tile.a.len();
            while atom < tile.b.end {
                // The atoms of one row of the other side are summed first.
                let column = ready.column_of(atom);
                let end = sides.b.offsets()[column + 1].min(tile.b.end);
                let at = (atom - tile.b.start) * lanes;
                let (mut by, mut sum) = (sides.b.weight()[atom], &work.total[at..at + lanes]);
                if end > atom + 1 {
                    work.sum.resize(lanes);
                    set_scaled(by, sum, &mut work.sum);
                    for k in atom + 1..end {
                        let w = sides.b.weight()[k];
                        let at = (k - tile.b.start) * lanes;
                        let pairs = work.sum.iter_mut().zip(&work.total[at..at + lanes]);
                        pairs.for_each(|(s, t)| *s += w * t);
                    }
                    (by, sum) = (1.0, &work.sum);
                }
                atom = end;
                let out = out.as_mut().col_mut(column - columns.start);
                let Some(out) = out.try_as_col_major_mut() else {
                    continue; // Columns of a matrix of ours are contiguous.
                };
                let out = out.as_slice_mut();
                if ready.single.a {
                    let from = tile.a.start - rows.start;
                    vectorised(|| {
                        let pairs = out[from..].iter_mut().zip(weight_a).zip(sum);
                        if adds {
                            pairs.for_each(|((o, v), t)| *o += v * (by * t));
                        } else {
                            pairs.for_each(|((o, v), t)| *o = v * (by * t));
                        }
                    });
                } else {
                    for ((&row, &v), &t) in work.row_of.iter().zip(weight_a).zip(sum) {
                        out[row as usize - rows.start] += v * (by * t);
                    }
                }
            }
        }
    }
}

/// As [`block`] where every row is one atom and every term one factor: into `out` without a tile of
/// sums between.
fn direct_block(
    prepared: &[PreparedTerm<'_>],
    sides: Sides<'_>,
    rows: Range<usize>,
    columns: Range<usize>,
    adds: bool,
    work: &mut Work,
    mut out: MatMut<'_, f64>,
) {
    for b in tiles(sides.b, &columns, COLUMNS) {
        for a in tiles(sides.a, &rows, LANES) {
            let tile = Tile { a, b: b.clone() };
            let factors = prepared.iter().flat_map(|term| &term.factors);
            evaluate(factors, sides, &tile, WithSlopes::No, &mut work.factors);
            let lanes = tile.a.len();
            let weight_a = &sides.a.weight()[tile.a.clone()];
            let from = tile.a.start - rows.start;
            for (j, column) in tile.b.clone().enumerate() {
                let Some(out) = out
                    .as_mut()
                    .col_mut(column - columns.start)
                    .try_as_col_major_mut()
                else {
                    continue; // Columns of a matrix of ours are contiguous.
                };
                let out = &mut out.as_slice_mut()[from..from + lanes];
                let by = sides.b.weight()[column];
                let scaled = |k: usize| {
                    let value = &work.factors[k].value[j * lanes..][..lanes];
                    (by * prepared[k].variance, value)
                };
                let written = if adds {
                    0
                } else if prepared.len() == 1 {
                    let (by, value) = scaled(0);
                    let all = out.iter_mut().zip(weight_a).zip(value);
                    vectorised(|| all.for_each(|((o, w), v)| *o = w * (by * v)));
                    1
                } else {
                    let ((one, first), (other, second)) = (scaled(0), scaled(1));
                    let all = out.iter_mut().zip(weight_a).zip(first.iter().zip(second));
                    let sum = |(v1, v2): (&f64, &f64)| one * v1 + other * v2;
                    vectorised(|| all.for_each(|((o, w), v)| *o = w * sum(v)));
                    2
                };
                for k in written..prepared.len() {
                    let (by, value) = scaled(k);
                    let all = out.iter_mut().zip(weight_a).zip(value);
                    vectorised(|| all.for_each(|((o, w), v)| *o += w * (by * v)));
                }
            }
        }
    }
}

fn contract_block(
    ready: &PreparedGroup<'_>,
    rows: Range<usize>,
    columns: Range<usize>,
    theta: &[f64],
    adjoint: MatRef<'_, f64>,
    factor: f64,
    work: &mut Work,
    gradient: &mut [f64],
) {
    let (prepared, sides) = (&ready.terms, ready.sides);
    for b in tiles(sides.b, &columns, COLUMNS) {
        for a in tiles(sides.a, &rows, LANES) {
            let tile = Tile { a, b: b.clone() };
            let weight_a = &sides.a.weight()[tile.a.clone()];
            if !ready.single.a {
                rows_of(sides.a, &tile.a, &mut work.row_of);
            }
            work.adjoint.resize(tile.len());
            let mut atom = tile.b.start;
            let lanes = tile.a.len();
            while atom < tile.b.end {
                let column = ready.column_of(atom);
                let end = sides.b.offsets()[column + 1].min(tile.b.end);
                work.sum.resize(lanes);
                if ready.single.a {
                    let own = adjoint
                        .col(column - columns.start)
                        .subrows(tile.a.start, lanes);
                    let sum = work.sum.iter_mut().zip(weight_a);
                    match own.try_as_col_major() {
                        Some(own) => {
                            let all = sum.zip(own.as_slice());
                            vectorised(|| all.for_each(|((s, v), g)| *s = g * v));
                        }
                        None => sum.zip(own.iter()).for_each(|((s, v), g)| *s = g * v),
                    }
                } else {
                    let weighted = work.row_of.iter().zip(weight_a);
                    for (sum, (&row, v)) in work.sum.iter_mut().zip(weighted) {
                        *sum = v * adjoint[(row as usize, column - columns.start)];
                    }
                }
                for k in atom..end {
                    let w = factor * sides.b.weight()[k];
                    let at = (k - tile.b.start) * lanes;
                    let target = &mut work.adjoint[at..at + lanes];
                    vectorised(|| set_scaled(w, &work.sum, target));
                }
                atom = end;
            }
            for term in prepared {
                evaluate(
                    &term.factors,
                    sides,
                    &tile,
                    WithSlopes::Yes,
                    &mut work.factors,
                );
                let product = product(term, tile.len(), &work.factors, &mut work.product);
                let total = crate::linalg::dot(&work.adjoint, product);
                for (k, &i) in term.term.variances.iter().enumerate() {
                    gradient[i] += total * term.other_variances(theta, k);
                }
                for f in 0..term.factors.len() {
                    let own = &mut work.own;
                    own.resize(tile.len());
                    vectorised(|| set_scaled(term.variance, &work.adjoint, own));
                    for (e, other) in work.factors[..term.factors.len()].iter().enumerate() {
                        if e != f {
                            own.iter_mut().zip(&*other.value).for_each(|(g, v)| *g *= v);
                        }
                    }
                    term.factors[f].contract(sides, &tile, &work.factors[f], own, gradient);
                }
            }
        }
    }
}

/// Evaluates factors on a tile, one after the other into `out`.
fn evaluate<'a>(
    factors: impl IntoIterator<Item = &'a PreparedFactor<'a>>,
    sides: Sides<'_>,
    tile: &Tile,
    slopes: WithSlopes,
    out: &mut Vec<Evaluated>,
) {
    for (k, factor) in factors.into_iter().enumerate() {
        if out.len() == k {
            out.push(Evaluated::default());
        }
        factor.evaluate(sides, tile, slopes, &mut out[k]);
    }
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
