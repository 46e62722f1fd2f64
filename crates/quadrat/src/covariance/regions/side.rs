//! One side of a covariance as the boundary rules see it.

use std::collections::HashMap;

use rayon::prelude::*;

use super::outline::{LINES, Outline};
use super::pairs::Area;
use super::tensor::{NodeGrid, Tensor};
use crate::covariance::Resolution;
use crate::kernel::Potential;
use crate::support::{AtomSpread, ChebyshevMoments, Edge, Functionals, Placed, Region};

/// Nodes of a line, per half lengthscale.
const LINE_NODES: usize = 8;
/// Most panels of a line.
const LINE_PANELS: f64 = 64.0;

/// One side in scaled coordinates.
pub(super) struct ScaledSide {
    pub outlines: Vec<Outline>,
    pub items: Vec<Item>,
}

/// An atom along the columns of the regions.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub centre: [f64; 2],
    pub half: [f64; 2],
    /// Position in `outlines`, `None` for points.
    pub outline: Option<usize>,
    /// A point, or a box that the bulk of the matrix integrates in closed form.
    pub is_closed: bool,
    /// Whether its area nodes serve any partner; else those at some distance.
    pub is_smooth: bool,
}

/// From columns of the supports to scaled coordinates.
#[derive(Clone, Copy)]
pub(super) struct ScaledAxes {
    pub dims: [usize; 2],
    pub origin: [f64; 2],
    pub inverse: [f64; 2],
    pub resolution: Resolution,
}

impl ScaledAxes {
    fn to(&self, v: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|d| (v[d] - self.origin[d]) * self.inverse[d])
    }

    fn outline<P: Potential>(
        &self,
        edges: impl Iterator<Item = Edge>,
        area: f64,
        bounds: [(f64, f64); 2],
        moments: &ChebyshevMoments,
        most_points: usize,
    ) -> Outline {
        let own: Vec<Edge> = edges.collect();
        let edges: Vec<Edge> = own
            .iter()
            .map(|(p, q)| (self.to(*p), self.to(*q)))
            .collect();
        // Of the unscaled set: made once, by whichever lengthscale asks first, they must not depend
        // on it, not even in the last bits.
        let centre = bounds.map(|(a, b)| 0.5 * (a + b));
        let half = bounds.map(|(a, b)| 0.5 * (b - a));
        let moments = |needed: usize| moments.table(needed, &own, centre, half);
        let area = area * self.inverse[0] * self.inverse[1];
        let (low, high) = (
            self.to([bounds[0].0, bounds[1].0]),
            self.to([bounds[0].1, bounds[1].1]),
        );
        Outline::new::<P>(
            &edges,
            area,
            [(low[0], high[0]), (low[1], high[1])],
            self.resolution,
            &moments,
            most_points,
        )
    }

    fn placed<P: Potential>(&self, placed: &Placed, most_points: usize) -> Outline {
        match placed.region.as_ref() {
            Region::Polygon(polygon) => self.outline::<P>(
                polygon.edges(),
                polygon.area(),
                polygon.bounds(),
                &placed.moments,
                most_points,
            ),
            Region::Simplices(triangles) => {
                let bounds = triangles.bounds();
                let edges = triangles.iter().flat_map(anticlockwise);
                // Planar by construction: two bounds.
                let bounds = [bounds[0], bounds[bounds.len() - 1]];
                self.outline::<P>(
                    edges,
                    triangles.volume(),
                    bounds,
                    &placed.moments,
                    most_points,
                )
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

pub(super) fn new_side<P: Potential>(
    scale: ScaledAxes,
    set: &Functionals,
    most_points: usize,
) -> ScaledSide {
    let mut outlines: Vec<Outline> = set
        .regions()
        .par_iter()
        .map(|placed| scale.placed::<P>(placed, most_points))
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
                    is_closed: true,
                    is_smooth: true,
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
                    let bounds = [(l, r), (b, t)];
                    let moments = ChebyshevMoments::default();
                    outlines.push(scale.outline::<P>(edges, area, bounds, &moments, most_points));
                    outlines.len() - 1
                })
            });
            let own = &outlines[outline];
            let compact = own.compact.as_ref();
            Item {
                centre: own.centre,
                half: own.half,
                outline: Some(outline),
                // Boxes of a squared exponential have their closed form.
                is_closed: region.is_none() && P::KINK.is_none(),
                is_smooth: own.tensor.is_some() || compact.is_some_and(|c| c.clearance == 0.0),
            }
        })
        .collect();
    ScaledSide { outlines, items }
}

/// Spreads boxes that have a width along one of the two columns only over nodes.
pub(super) fn without_lines(scale: ScaledAxes, set: &Functionals) -> Functionals {
    let [cx, cy] = scale.dims;
    let is_line = |atom: usize| {
        set.region(atom).is_none() && (set.width(cx)[atom] == 0.0) != (set.width(cy)[atom] == 0.0)
    };
    if !(0..set.atom_count()).any(is_line) {
        return set.clone();
    }
    // Column, coordinates and weights of the atoms that are lines.
    type Line = (usize, Vec<f64>, Vec<f64>);
    let nodes: Vec<Option<Line>> = (0..set.atom_count())
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
        None => AtomSpread::Keep,
        Some((column, x, weights)) => AtomSpread::Nodes {
            along: vec![(*column, x)],
            weights,
        },
    })
}

impl ScaledSide {
    /// Nodes that stand for an item: area nodes where there are some.
    pub fn nodes(&self, item: &Item) -> usize {
        item.outline.map_or(1, |o| {
            let outline = &self.outlines[o];
            match (&outline.tensor, &outline.compact) {
                (Some(tensor), _) => tensor.len(),
                (None, Some(compact)) => compact.nodes.weights.len(),
                (None, None) if outline.is_large => outline.panels.len(),
                (None, None) => outline.x.len(),
            }
        })
    }

    pub fn area(&self, item: &Item) -> Option<Area<'_>> {
        match item.outline {
            None => Some(Area::Point(item.centre)),
            Some(o) => self.outlines[o].compact.as_ref().map(Area::Compact),
        }
    }

    /// The boundary of an item, `None` of a point.
    pub fn outline(&self, item: &Item) -> Option<&Outline> {
        item.outline.map(|o| &self.outlines[o])
    }

    /// Nodes on a grid, where the item has them; a point is one.
    pub fn grid<'a>(&'a self, item: &'a Item) -> Option<NodeGrid<'a>> {
        match item.outline {
            None => Some(NodeGrid::of_point(&item.centre)),
            Some(o) => self.outlines[o].tensor.as_ref().map(Tensor::grid),
        }
    }

    pub fn clearance(&self, item: &Item) -> f64 {
        let compact = item.outline.and_then(|o| self.outlines[o].compact.as_ref());
        match item.outline {
            None => 0.0,
            Some(_) => compact.map_or(f64::INFINITY, |c| c.clearance),
        }
    }
}
