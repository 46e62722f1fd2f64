//! What the boundaries of regions add to a block of the covariance.

use std::ops::Range;

use faer::{MatMut, MatRef};

use super::outline::Outline;
use super::pairs::{Buffer, Value, area_area, region_point, region_region};
use super::planar::Planar;
use super::side::{Item, Scale, Side, new_side};
use super::tensor::grid_grid;
use crate::covariance::Resolution;
use crate::covariance::block::{PreparedTerm, prepare_term};
use crate::covariance::factor::{Evaluated, Sides, Slopes, Tables, Tile};
use crate::covariance::plan::{Family, Term};
use crate::kernel::{Matern12, Matern32, Matern52, Potential, Se};
use crate::support::Functionals;

/// Calls a function that is generic in the profile of a family.
macro_rules! with_profile {
    ($family:expr, $call:ident :: <P> ( $($argument:expr),* )) => {
        match $family {
            Family::Se => $call::<Se>($($argument),*),
            Family::Matern12 => $call::<Matern12>($($argument),*),
            Family::Matern32 => $call::<Matern32>($($argument),*),
            Family::Matern52 => $call::<Matern52>($($argument),*),
        }
    };
}

/// The part of one term that needs boundaries.
pub(in crate::covariance) struct Edges {
    planar: Planar,
    others: Term,
    a: Side,
    /// `None` when both sides are one set.
    b: Option<Side>,
}

impl Edges {
    /// The boundaries of both sides, and the sets that the bulk of the matrix sees.
    pub fn new(
        planar: Planar,
        others: Term,
        theta: &[f64],
        sides: Sides<'_>,
        same: bool,
        resolution: Resolution,
    ) -> (Self, Functionals, Option<Functionals>) {
        let bounds = planar.dims.map(|d| sides.a.range(d));
        let origin = bounds.map(|(lo, hi)| 0.5 * (lo + hi));
        let scale = Scale {
            dims: planar.dims,
            origin,
            inverse: planar.lengthscales.map(|l| theta[l].recip()),
            resolution,
        };
        let side = |set: &Functionals| with_profile!(planar.family, new_side::<P>(scale, set));
        let a = side(sides.a);
        let b = (!same).then(|| side(sides.b));
        let bulk_a = a.bulk();
        let bulk_b = b.as_ref().map(Side::bulk);
        let edges = Self {
            planar,
            others,
            a,
            b,
        };
        (edges, bulk_a, bulk_b)
    }

    /// The whole term, on the sets of the bulk.
    pub fn joined(&self) -> Term {
        self.planar.joined(&self.others)
    }

    /// Nodes of the atoms of a row that the bulk does not have.
    pub fn region_nodes(&self, row: usize) -> usize {
        let items = &self.a.items[self.a.set.atoms(row)];
        let open = items.iter().filter(|i| !i.is_closed);
        open.map(|i| self.a.nodes(i)).sum()
    }

    /// Whether the bulk leaves anything to add.
    pub fn matters(&self) -> bool {
        let b = self.b.as_ref().unwrap_or(&self.a);
        [&self.a, b]
            .iter()
            .any(|side| side.items.iter().any(|i| !i.is_closed))
    }

    fn sides(&self) -> Sides<'_> {
        Sides {
            a: &self.a.set,
            b: self.b.as_ref().map_or(&self.a.set, |b| &b.set),
        }
    }

    /// Prepares the factors along the other columns.
    pub fn ready<'a>(&'a self, theta: &'a [f64], slopes: Slopes) -> ReadyEdges<'a> {
        let others = prepare_term(&self.others, theta, self.sides(), slopes, Tables::Never);
        ReadyEdges {
            edges: self,
            others,
            theta,
        }
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
                    at.weight * this.others.variance * this.others_at(&at, Slopes::No, work);
                out[(at.row - first_row, at.column - first_column)] += weight * value.k;
            },
        );
    }

    /// Adds `factor * sum adjoint * dK` of a block to the gradient; the columns of `adjoint` begin with the block's.
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
            let others = this.others_at(&at, Slopes::Yes, work);
            let g = factor * at.weight * adjoint[(at.row, at.column - first)];
            for (k, &i) in this.others.term.variances.iter().enumerate() {
                gradient[i] += g * value.k * others * this.others.other_variances(this.theta, k);
            }
            let g = g * this.others.variance;
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
    fn others_at(&self, at: &Pair, slopes: Slopes, work: &mut EdgeWork) -> f64 {
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
        mut visit: impl FnMut(&Self, Pair, Value, &mut EdgeWork),
    ) {
        let (sa, sb) = (
            &self.edges.a,
            self.edges.b.as_ref().unwrap_or(&self.edges.a),
        );
        let family = self.edges.planar.family;
        let reach = with_profile!(family, reach::<P>());
        for column in columns {
            let rows = rows.start..if upper {
                rows.end.min(column + 1)
            } else {
                rows.end
            };
            for b in sb.set.atoms(column) {
                let other = &sb.items[b];
                for row in rows.clone() {
                    for a in sa.set.atoms(row) {
                        let item = &sa.items[a];
                        let task = task((sa, item), (sb, other), reach);
                        if task == Task::Nothing {
                            continue;
                        }
                        let value = with_profile!(
                            family,
                            pair::<P>((sa, item), (sb, other), task, slopes, &mut work.buffer)
                        );
                        let pair = Pair {
                            row,
                            column,
                            a,
                            b,
                            weight: sa.set.weight()[a] * sb.set.weight()[b],
                        };
                        visit(self, pair, value, work);
                    }
                }
            }
        }
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

fn task((sa, a): (&Side, &Item), (sb, b): (&Side, &Item), reach: f64) -> Task {
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

/// Distance in lengthscales beyond which the kernel is below 1e-17 of its variance.
fn reach<P: Potential>() -> f64 {
    if P::KINK.is_none() {
        9.2
    } else {
        46.0 / P::RATE
    }
}

fn pair<P: Potential>(
    (sa, a): (&Side, &Item),
    (sb, b): (&Side, &Item),
    task: Task,
    slopes: bool,
    buffer: &mut Buffer,
) -> Value {
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
    match (a.outline, b.outline) {
        (Some(o), Some(p)) => region_region::<P>(&sa.outlines[o], &sb.outlines[p], slopes, buffer),
        (Some(o), None) => region_point::<P>(&sa.outlines[o], b.centre, buffer),
        (None, Some(p)) => region_point::<P>(&sb.outlines[p], a.centre, buffer),
        (None, None) => Value::default(),
    }
}
