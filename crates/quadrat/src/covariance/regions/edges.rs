//! What the boundaries of regions add to a block of the covariance.

use std::ops::Range;
use std::sync::Arc;

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use super::cubature::spread_lost;
use super::large::{large_nodes, large_region};
use super::outline::Outline;
use super::pairs::{area_area, region_point, region_region};
use super::planar::Planar;
use super::separable::{LineDifferences, Separable};
use super::side::{Item, ScaledAxes, ScaledSide, new_side, without_lines};
use super::sums::Buffer;
use super::table::PairTable;
use super::tensor::{Tensor, grid_grid};
use super::value::{CovarianceValue, Total};
use crate::covariance::Resolution;
use crate::covariance::plan::{KernelTerm, ProfileFamily};
use crate::covariance::prepared::{PreparedTerm, prepare_term};
use crate::covariance::tile::{Evaluated, Sides, Tabulation, Tile, WithSlopes};
use crate::kernel::Potential;
use crate::support::{AtomSpread, Functionals};

/// The part of one term that needs boundaries.
pub(in crate::covariance) struct Edges {
    planar: Planar,
    others: KernelTerm,
    /// Atoms are regions, boxes, or points along the columns of the regions.
    a: Functionals,
    /// `None` when both sides are one set.
    b: Option<Functionals>,
    /// One, or the members of a mixture; they are added.
    layers: Vec<Layer>,
    /// Of all pairs, where a matrix and its gradient share them.
    table: Option<Arc<PairTable>>,
}

/// Both sides under one planar kernel.
struct Layer {
    weight: f64,
    /// Derivative of the weight in `alpha`.
    slope: f64,
    a: ScaledSide,
    b: Option<ScaledSide>,
}

impl Edges {
    /// The boundaries of both sides, and the sets that the bulk of the matrix sees.
    pub fn new(
        planar: Planar,
        others: KernelTerm,
        theta: &[f64],
        sides: Sides<'_>,
        same: bool,
        resolution: Resolution,
    ) -> (Self, Functionals, Option<Functionals>) {
        let bounds = planar.dims.map(|d| sides.a.range(d));
        let origin = bounds.map(|(lo, hi)| 0.5 * (lo + hi));
        let scale = ScaledAxes {
            dims: planar.dims,
            origin,
            inverse: planar.lengthscales.map(|l| theta[l].recip()),
            resolution,
        };
        let separable = planar.separable();
        let family = planar.family();
        let prepare = |set: &Functionals| {
            // A squared exponential has area nodes on grids, which lose nothing.
            if separable.is_none() && family == ProfileFamily::Se {
                return without_lines(scale, set);
            }
            let term = planar.joined(&others);
            let is_product = separable.is_some();
            let set = spread_lost(&term, theta, set, scale.inverse, is_product);
            without_lines(scale, &set)
        };
        let a = prepare(sides.a);
        let b = (!same).then(|| prepare(sides.b));
        let prepared = Sides {
            a: &a,
            b: b.as_ref().unwrap_or(&a),
        };
        let members = planar.members(theta, prepared);
        let atoms = a.atom_count() + b.as_ref().map_or(0, Functionals::atom_count);
        // A product of two columns has no nodes.
        let most_points = match separable {
            None => Tensor::most_points(atoms, members.len()),
            Some(_) => 0,
        };
        let layers: Vec<Layer> = members
            .par_iter()
            .map(|member| {
                let inverse = scale.inverse.map(|v| v / member.scale);
                let scale = ScaledAxes { inverse, ..scale };
                let side = |set: &Functionals| {
                    with_profile!(family, new_side::<P>(scale, set, most_points))
                };
                Layer {
                    weight: member.weight,
                    slope: member.slope,
                    a: side(&a),
                    b: b.as_ref().map(side),
                }
            })
            .collect();
        let edges = Self {
            planar,
            others,
            a,
            b,
            layers,
            table: None,
        };
        let bulk_a = edges.bulk(&edges.a, |layer| &layer.a);
        let bulk_b = edges.b.as_ref().map(|b| edges.bulk(b, Layer::other));
        (edges, bulk_a, bulk_b)
    }

    /// The set that the bulk of the matrix sees: points, and boxes that have a closed form.
    fn bulk<'a>(
        &'a self,
        set: &Functionals,
        side: impl Fn(&'a Layer) -> &'a ScaledSide,
    ) -> Functionals {
        set.spread(|atom| {
            let is_closed = |layer| side(layer).items[atom].is_closed;
            match self.layers.iter().all(is_closed) {
                true => AtomSpread::Keep,
                false => AtomSpread::Drop,
            }
        })
    }

    /// The whole term, on the sets of the bulk.
    pub fn joined(&self) -> KernelTerm {
        self.planar.joined(&self.others)
    }

    /// Nodes of the atoms of a row that the bulk does not have.
    pub fn region_nodes(&self, row: usize) -> usize {
        let of = |layer: &Layer| -> usize {
            let items = &layer.a.items[self.a.atoms(row)];
            let open = items.iter().filter(|i| !i.is_closed);
            open.map(|i| layer.a.nodes(i)).sum()
        };
        self.layers.iter().map(of).sum()
    }

    /// Whether the bulk leaves anything to add.
    pub fn matters(&self) -> bool {
        let is_open = |side: &ScaledSide| side.items.iter().any(|i| !i.is_closed);
        let mut layers = self.layers.iter();
        layers.any(|layer| is_open(&layer.a) || is_open(layer.other()))
    }

    fn sides(&self) -> Sides<'_> {
        Sides {
            a: &self.a,
            b: self.b.as_ref().unwrap_or(&self.a),
        }
    }

    /// Prepares the factors along the other columns.
    pub fn ready<'a>(&'a self, theta: &'a [f64], slopes: WithSlopes) -> ReadyEdges<'a> {
        let others = prepare_term(&self.others, theta, self.sides(), slopes, Tabulation::Never);
        ReadyEdges {
            edges: self,
            others,
            theta,
        }
    }
}

impl Layer {
    /// The second side.
    fn other(&self) -> &ScaledSide {
        self.b.as_ref().unwrap_or(&self.a)
    }
}

/// [`Edges`] at one value of the hyperparameters.
pub(in crate::covariance) struct ReadyEdges<'a> {
    edges: &'a Edges,
    others: PreparedTerm<'a>,
    theta: &'a [f64],
}

/// Buffers of one thread.
#[derive(Default)]
pub(in crate::covariance) struct EdgeWork {
    buffer: Buffer,
    lines: LineDifferences,
    others: Vec<Evaluated>,
}

/// How a pair is integrated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    /// Not here: the bulk has it, or the kernel is nothing at that distance.
    Nothing,
    Area,
    Boundary,
}

impl ReadyEdges<'_> {
    /// Adds to a block of `K`; of a symmetric one only what is on or above the diagonal.
    pub fn add_block(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        symmetric: bool,
        work: &mut EdgeWork,
        mut out: MatMut<'_, f64>,
    ) {
        let (first_row, first_column) = (rows.start, columns.start);
        self.each(
            rows,
            columns,
            symmetric,
            work,
            false,
            |this, at, value, work| {
                let weight =
                    at.weight * this.others.variance * this.others_at(&at, WithSlopes::No, work);
                out[(at.row - first_row, at.column - first_column)] += weight * value.k;
            },
        );
    }

    /// Adds `factor * sum adjoint * dK` of a block to the gradient; the columns of `adjoint` begin
    /// with the block's.
    pub fn contract_block(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        adjoint: MatRef<'_, f64>,
        factor: f64,
        work: &mut EdgeWork,
        gradient: &mut [f64],
    ) {
        let first = columns.start;
        self.each(rows, columns, false, work, true, |this, at, value, work| {
            let others = this.others_at(&at, WithSlopes::Yes, work);
            let g = factor * at.weight * adjoint[(at.row, at.column - first)];
            for (k, &i) in this.others.term.variances.iter().enumerate() {
                gradient[i] += g * value.k * others * this.others.other_variances(this.theta, k);
            }
            let g = g * this.others.variance;
            if let Some(alpha) = this.edges.planar.alpha() {
                gradient[alpha] += g * others * value.alpha;
            }
            for (d, &l) in value.d.iter().zip(&this.edges.planar.lengthscales) {
                gradient[l] += g * others * d / this.theta[l];
            }
            let count = this.others.factors.len();
            for f in 0..count {
                let rest: f64 = (0..count)
                    .filter(|e| *e != f)
                    .map(|e| work.others[e].value[0])
                    .product();
                let mut own = [g * value.k * rest];
                let evaluated = &work.others[f];
                this.others.factors[f].contract(
                    this.edges.sides(),
                    &at.tile(),
                    evaluated,
                    &mut own,
                    gradient,
                );
            }
        });
    }

    /// The product of the factors along the other columns, left in `work`.
    fn others_at(&self, at: &Pair, slopes: WithSlopes, work: &mut EdgeWork) -> f64 {
        let factors = &self.others.factors;
        if work.others.len() < factors.len() {
            work.others.resize_with(factors.len(), Evaluated::default);
        }
        let sides = self.edges.sides();
        factors
            .iter()
            .zip(&mut work.others)
            .map(|(factor, out)| {
                factor.evaluate(sides, &at.tile(), slopes, out);
                out.value[0]
            })
            .product()
    }

    /// Visits every pair of atoms that needs boundaries.
    fn each(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        upper: bool,
        work: &mut EdgeWork,
        slopes: bool,
        mut visit: impl FnMut(&Self, Pair, Total, &mut EdgeWork),
    ) {
        let Sides { a: set_a, b: set_b } = self.edges.sides();
        for column in columns {
            let rows = rows.start..if upper {
                rows.end.min(column + 1)
            } else {
                rows.end
            };
            for b in set_b.atoms(column) {
                for row in rows.clone() {
                    for a in set_a.atoms(row) {
                        let Some(value) = self.edges.value(a, b, slopes, work) else {
                            continue;
                        };
                        let pair = Pair {
                            row,
                            column,
                            a,
                            b,
                            weight: set_a.weight()[a] * set_b.weight()[b],
                        };
                        visit(self, pair, value, work);
                    }
                }
            }
        }
    }
}

impl Edges {
    /// Computes all pairs with their slopes at once, to be kept; none where these are two sets, or
    /// too many.
    pub fn tabulate(&mut self) -> Option<Arc<PairTable>> {
        let atoms = self.a.atom_count();
        if self.b.is_some() {
            return None;
        }
        let value = |work: &mut EdgeWork, a, b| self.value(a, b, true, work);
        self.table = PairTable::new(atoms, value).map(Arc::new);
        self.table.clone()
    }

    /// Takes pairs that were computed before.
    pub fn reuse(&mut self, table: Arc<PairTable>) {
        self.table = Some(table);
    }

    /// What the boundaries of two atoms add, where they do.
    fn value(&self, a: usize, b: usize, slopes: bool, work: &mut EdgeWork) -> Option<Total> {
        if let Some(table) = &self.table {
            return table.get(a, b);
        }
        let family = self.planar.family();
        let separable = self.planar.separable();
        let reach = match separable {
            None => with_profile!(family, reach::<P>()),
            Some(separable) => separable.reach(),
        };
        let mut total = None;
        for layer in &self.layers {
            let (sa, sb) = (&layer.a, layer.other());
            let (item, other) = (&sa.items[a], &sb.items[b]);
            let task = task((sa, item), (sb, other), reach);
            if task == Task::Nothing {
                continue;
            }
            let (one, two) = ((sa, item), (sb, other));
            let value = match separable {
                None => {
                    let buffer = &mut work.buffer;
                    with_profile!(family, pair::<P>(one, two, task, slopes, buffer))
                }
                Some(separable) => separable_pair(separable, one, two, &mut work.lines),
            };
            let sum = total.get_or_insert_with(Total::default);
            sum.k += layer.weight * value.k;
            sum.d[0] += layer.weight * value.d[0];
            sum.d[1] += layer.weight * value.d[1];
            sum.alpha += layer.slope * value.k;
        }
        total
    }
}

/// Two atoms and their rows.
struct Pair {
    row: usize,
    column: usize,
    a: usize,
    b: usize,
    weight: f64,
}

impl Pair {
    fn tile(&self) -> Tile {
        Tile {
            a: self.a..self.a + 1,
            b: self.b..self.b + 1,
        }
    }
}

fn task((sa, a): (&ScaledSide, &Item), (sb, b): (&ScaledSide, &Item), reach: f64) -> Task {
    if a.is_closed && b.is_closed {
        return Task::Nothing;
    }
    let gap = Outline::gap(a.centre, a.half, b.centre, b.half);
    if gap > reach {
        return Task::Nothing;
    }
    let smooth = a.is_smooth && b.is_smooth;
    if smooth || gap >= sa.clearance(a).max(sb.clearance(b)) {
        Task::Area
    } else {
        Task::Boundary
    }
}

fn reach<P: Potential>() -> f64 {
    P::reach()
}

fn pair<P: Potential>(
    (sa, a): (&ScaledSide, &Item),
    (sb, b): (&ScaledSide, &Item),
    task: Task,
    slopes: bool,
    buffer: &mut Buffer,
) -> CovarianceValue {
    if P::KINK.is_none()
        && let (Some(x), Some(y)) = (sa.grid(a), sb.grid(b))
    {
        return grid_grid(x, y, slopes, &mut buffer.grid);
    }
    if task == Task::Area
        && let (Some(x), Some(y)) = (sa.area(a), sb.area(b))
    {
        return area_area::<P>(x, y);
    }
    match (sa.outline(a), sb.outline(b)) {
        (Some(o), Some(p)) if o.is_large && p.is_tiny() => large_nodes::<P>(o, p, buffer),
        (Some(o), Some(p)) if p.is_large && o.is_tiny() => large_nodes::<P>(p, o, buffer),
        (Some(o), Some(p)) if o.is_large || p.is_large => large_region::<P>(o, p, buffer),
        (Some(o), Some(p)) => region_region::<P>(o, p, slopes, buffer),
        (Some(o), None) => region_point::<P>(o, b.centre, buffer),
        (None, Some(p)) => region_point::<P>(p, a.centre, buffer),
        (None, None) => CovarianceValue::default(),
    }
}

fn separable_pair(
    separable: Separable,
    (sa, a): (&ScaledSide, &Item),
    (sb, b): (&ScaledSide, &Item),
    lines: &mut LineDifferences,
) -> CovarianceValue {
    match (sa.outline(a), sb.outline(b)) {
        (Some(o), Some(p)) => separable.region_region(o, p, lines),
        (Some(o), None) => separable.region_point(o, b.centre, lines),
        (None, Some(p)) => separable.region_point(p, a.centre, lines),
        (None, None) => CovarianceValue::default(),
    }
}
