//! What the boundaries of regions add to a block of the covariance.

use std::collections::HashMap;
use std::ops::Range;

use faer::{MatMut, MatRef};
use rayon::prelude::*;

use super::outline::{LINES, Outline};
use super::pairs::{Area, Buffer, Value, area_area, region_point, region_region};
use super::planar::Planar;
use crate::covariance::factor::{Evaluated, Sides, Slopes, Tables, Tile};
use crate::covariance::plan::{Family, Term};
use crate::covariance::{PreparedTerm, prepare_term};
use crate::kernel::{Matern12, Matern32, Matern52, Potential, Se};
use crate::support::{Functionals, Placed, Region, Spread};

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

/// Nodes of a line, per half lengthscale.
const LINE_NODES: usize = 8;
/// Most panels of a line.
const LINE_PANELS: f64 = 64.0;

/// The part of one term that needs boundaries.
pub(in crate::covariance) struct Edges {
    planar: Planar,
    others: Term,
    a: Side,
    /// `None` when both sides are one set.
    b: Option<Side>,
}

/// One side in scaled coordinates.
struct Side {
    /// Atoms are regions, boxes, or points along the columns of the regions.
    set: Functionals,
    outlines: Vec<Outline>,
    items: Vec<Item>,
}

/// An atom along the columns of the regions.
#[derive(Clone, Copy)]
struct Item {
    centre: [f64; 2],
    half: [f64; 2],
    /// Position in `outlines`, `None` for points.
    outline: Option<usize>,
    /// Whether the bulk of the matrix covers it, by area nodes or in closed form.
    in_bulk: bool,
    /// Whether the bulk is exact for every partner in the bulk.
    is_exact: bool,
    /// A box that the bulk integrates in closed form, or a point.
    is_closed: bool,
}

impl Edges {
    /// The boundaries of both sides, and the sets that the bulk of the matrix sees.
    pub fn new(
        planar: Planar,
        others: Term,
        theta: &[f64],
        sides: Sides<'_>,
        same: bool,
    ) -> (Self, Functionals, Option<Functionals>) {
        let bounds = planar.dims.map(|d| sides.a.range(d));
        let origin = bounds.map(|(lo, hi)| 0.5 * (lo + hi));
        let scale = Scale {
            dims: planar.dims,
            origin,
            inverse: planar.lengthscales.map(|l| theta[l].recip()),
        };
        let side = |set: &Functionals| with_profile!(planar.family, new_side::<P>(scale, set));
        let a = side(sides.a);
        let b = (!same).then(|| side(sides.b));
        let bulk_a = a.bulk(scale);
        let bulk_b = b.as_ref().map(|b| b.bulk(scale));
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

    /// Whether the bulk leaves anything to add.
    pub fn matters(&self) -> bool {
        let b = self.b.as_ref().unwrap_or(&self.a);
        let complete = |side: &Side| side.items.iter().all(|i| i.in_bulk && i.is_exact);
        !(complete(&self.a) && complete(b))
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

/// From columns of the supports to scaled coordinates.
#[derive(Clone, Copy)]
struct Scale {
    dims: [usize; 2],
    origin: [f64; 2],
    inverse: [f64; 2],
}

impl Scale {
    fn to(&self, v: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|d| (v[d] - self.origin[d]) * self.inverse[d])
    }

    fn outline<P: Potential>(
        &self,
        edges: impl Iterator<Item = ([f64; 2], [f64; 2])>,
        area: f64,
        bounds: [(f64, f64); 2],
    ) -> Outline {
        let edges: Vec<_> = edges.map(|(p, q)| (self.to(p), self.to(q))).collect();
        let area = area * self.inverse[0] * self.inverse[1];
        let (low, high) = (
            self.to([bounds[0].0, bounds[1].0]),
            self.to([bounds[0].1, bounds[1].1]),
        );
        Outline::new::<P>(&edges, area, [(low[0], high[0]), (low[1], high[1])])
    }

    fn placed<P: Potential>(&self, placed: &Placed) -> Outline {
        match placed.region.as_ref() {
            Region::Polygon(polygon) => {
                self.outline::<P>(polygon.edges(), polygon.area(), polygon.bounds())
            }
            Region::Simplices(triangles) => {
                let bounds = triangles.bounds();
                let edges = triangles.iter().flat_map(|v| anticlockwise(v));
                // Planar by construction: two bounds.
                let bounds = [bounds[0], bounds[bounds.len() - 1]];
                self.outline::<P>(edges, triangles.volume(), bounds)
            }
        }
    }
}

/// The edges of a triangle given by six numbers, with the triangle on the left.
fn anticlockwise(v: &[f64]) -> [([f64; 2], [f64; 2]); 3] {
    let [a, mut b, mut c] = [0, 1, 2].map(|i| [v[2 * i], v[2 * i + 1]]);
    if (b[0] - a[0]) * (c[1] - a[1]) < (c[0] - a[0]) * (b[1] - a[1]) {
        (b, c) = (c, b);
    }
    [(a, b), (b, c), (c, a)]
}

fn new_side<P: Potential>(scale: Scale, set: &Functionals) -> Side {
    let set = without_lines(scale, set);
    let mut outlines: Vec<Outline> = set
        .regions()
        .par_iter()
        .map(|placed| scale.placed::<P>(placed))
        .collect();
    let mut rectangles: HashMap<[u64; 4], usize> = HashMap::new();
    let [cx, cy] = scale.dims;
    let items = (0..set.atom_count())
        .map(|atom| {
            let corner = [set.lower(cx)[atom], set.lower(cy)[atom]];
            let width = [set.width(cx)[atom], set.width(cy)[atom]];
            let region = set.region(atom);
            if region.is_none() && width[0] == 0.0 {
                return Item {
                    centre: scale.to(corner),
                    half: [0.0; 2],
                    outline: None,
                    in_bulk: true,
                    is_exact: true,
                    is_closed: true,
                };
            }
            let outline = region.unwrap_or_else(|| {
                let key = [corner[0], corner[1], width[0], width[1]].map(f64::to_bits);
                *rectangles.entry(key).or_insert_with(|| {
                    let [l, b] = corner;
                    let [r, t] = [l + width[0], b + width[1]];
                    let ring = [[l, b], [r, b], [r, t], [l, t]];
                    let edges = (0..4).map(|i| (ring[i], ring[(i + 1) % 4]));
                    let area = width[0] * width[1];
                    outlines.push(scale.outline::<P>(edges, area, [(l, r), (b, t)]));
                    outlines.len() - 1
                })
            });
            let own = &outlines[outline];
            // Boxes of a squared exponential have their closed form.
            let closed = region.is_none() && P::KINK.is_none();
            let clear = own.compact.as_ref().is_some_and(|c| c.clearance == 0.0);
            Item {
                centre: own.centre,
                half: own.half,
                outline: Some(outline),
                in_bulk: closed || own.compact.is_some(),
                is_exact: closed || clear,
                is_closed: closed,
            }
        })
        .collect();
    Side {
        set,
        outlines,
        items,
    }
}

/// Spreads boxes that have a width along one of the two columns only over nodes.
fn without_lines(scale: Scale, set: &Functionals) -> Functionals {
    let [cx, cy] = scale.dims;
    let is_line = |atom: usize| {
        set.region(atom).is_none() && (set.width(cx)[atom] == 0.0) != (set.width(cy)[atom] == 0.0)
    };
    if !(0..set.atom_count()).any(is_line) {
        return set.clone();
    }
    let nodes: Vec<Option<(usize, Vec<f64>, Vec<f64>)>> = (0..set.atom_count())
        .map(|atom| {
            if !is_line(atom) {
                return None;
            }
            let k = usize::from(set.width(cx)[atom] == 0.0);
            let column = scale.dims[k];
            let (lower, width) = (set.lower(column)[atom], set.width(column)[atom]);
            let panels = (2.0 * width * scale.inverse[k]).ceil();
            let panels = panels.clamp(1.0, LINE_PANELS);
            let (x, w) = (0..panels as usize)
                .flat_map(|p| {
                    LINES[LINE_NODES]
                        .iter()
                        .map(move |(t, w)| (lower + width * (p as f64 + t) / panels, w / panels))
                })
                .unzip();
            Some((column, x, w))
        })
        .collect();
    set.spread(|atom| match &nodes[atom] {
        None => Spread::Keep,
        Some((column, x, weights)) => Spread::Nodes {
            along: vec![(*column, x)],
            weights,
        },
    })
}

impl Side {
    /// The set that the bulk of the matrix sees: small regions as area nodes, large ones nowhere.
    fn bulk(&self, scale: Scale) -> Functionals {
        let nodes: Vec<Option<[Vec<f64>; 2]>> = self
            .outlines
            .iter()
            .map(|o| {
                o.compact.as_ref().map(|c| {
                    let back = |k: usize, x: &[f64]| {
                        let unit = scale.inverse[k].recip();
                        x.iter().map(|x| scale.origin[k] + x * unit).collect()
                    };
                    [back(0, &c.nodes.x), back(1, &c.nodes.y)]
                })
            })
            .collect();
        self.set.spread(|atom| {
            let item = &self.items[atom];
            let Some(outline) = item.outline else {
                return Spread::Keep;
            };
            match (&nodes[outline], &self.outlines[outline].compact) {
                _ if item.is_closed => Spread::Keep,
                (Some([x, y]), Some(compact)) => Spread::Nodes {
                    along: vec![(scale.dims[0], x), (scale.dims[1], y)],
                    weights: &compact.nodes.weights,
                },
                _ => Spread::Drop,
            }
        })
    }

    fn area(&self, item: &Item) -> Option<Area<'_>> {
        match item.outline {
            None => Some(Area::Point(item.centre)),
            Some(o) => self.outlines[o].compact.as_ref().map(Area::Compact),
        }
    }

    fn clearance(&self, item: &Item) -> f64 {
        let compact = item.outline.and_then(|o| self.outlines[o].compact.as_ref());
        compact.map_or(0.0, |c| c.clearance)
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

/// What to do about a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    /// The bulk has it.
    Nothing,
    /// The bulk has nothing.
    Add,
    /// The bulk has it, not well enough.
    Replace,
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

    /// Adds `factor * sum adjoint * dK` of a block to the gradient.
    pub fn contract_block(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        adjoint: MatRef<'_, f64>,
        factor: f64,
        work: &mut EdgeWork,
        gradient: &mut [f64],
    ) {
        self.each(rows, columns, false, work, true, |this, at, value, work| {
            let others = this.others_at(&at, Slopes::Yes, work);
            let g = factor * at.weight * adjoint[(at.row, at.column)];
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
                let own = [g * value.k * rest];
                let evaluated = &work.others[f];
                this.others.factors[f].contract(
                    this.edges.sides(),
                    &at.tile(),
                    evaluated,
                    &own,
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
                let clear = sb.clearance(other);
                for row in rows.clone() {
                    for a in sa.set.atoms(row) {
                        let item = &sa.items[a];
                        let gap = Outline::gap(item.centre, item.half, other.centre, other.half);
                        let clear = clear.max(sa.clearance(item));
                        let task = task(item, other, gap, clear, reach);
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

fn task(a: &Item, b: &Item, gap: f64, clear: f64, reach: f64) -> Task {
    match (a.in_bulk && b.in_bulk, a.is_exact && b.is_exact) {
        (true, true) => Task::Nothing,
        // Two points never come here: both are exact.
        (true, false) if gap >= clear => Task::Nothing,
        (true, false) => Task::Replace,
        (false, _) if gap > reach => Task::Nothing,
        (false, _) => Task::Add,
    }
}

/// Distance beyond which the kernel is below 1e-18.
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
    let exact = match (a.outline, b.outline) {
        (Some(o), Some(p)) => region_region::<P>(&sa.outlines[o], &sb.outlines[p], slopes, buffer),
        (Some(o), None) => region_point::<P>(&sa.outlines[o], b.centre, buffer),
        (None, Some(p)) => region_point::<P>(&sb.outlines[p], a.centre, buffer),
        (None, None) => return Value::default(),
    };
    match (task, sa.area(a), sb.area(b)) {
        (Task::Replace, Some(x), Some(y)) => exact - area_area::<P>(x, y),
        _ => exact,
    }
}
