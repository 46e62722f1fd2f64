//! Regions as cubature nodes, for every kernel.

use std::borrow::Cow;

use rayon::prelude::*;

use super::outline::area_error;
use super::padua::{self, Padua};
use crate::covariance::plan::{Isotropic, KernelFactor, KernelTerm, ProfileFamily};
use crate::kernel::Matern52;
use crate::quadrature::{needle_nodes, simplex_nodes};
use crate::support::{AtomSpread, Edge, Functionals, Placed, Region};

/// Of an average with itself or with the value at a point, under a smooth kernel.
const TOLERANCE: f64 = 1e-7;
/// The same under a kernel that is not differentiable: rules of low degree, with positive weights,
/// on small pieces serve it better than ones of high degree on large pieces.
const ROUGH_TOLERANCE: f64 = 1e-4;
/// Most nodes of a region: a lengthscale the optimiser merely tries, or a rough kernel in three
/// dimensions, must not fill the memory. [`crate::covariance::Covariance::region_error`] tells
/// what it costs.
const MAX_NODES: usize = 4096;
/// Most nodes of all regions of a set together: work grows with their square.
const MAX_TOGETHER: usize = 8192;
/// Nodes that every region may have in any case.
const ENOUGH: usize = 64;

/// Area, in lengthscales, of a region whose covariance with itself loses half its digits on its
/// edges under a product of two kernels.
const TINY_AREA: f64 = 1e-4;
/// Area over perimeter, in lengthscales, below which that happens to a long region under any kernel
/// with a kink: what opposite edges say cancels, and `(perimeter / area)^2` times a rounding is
/// left.
const SLIVER: f64 = 3e-5;
/// Squared perimeter over area from which a region is long; 16 of a square.
const LONG: f64 = 100.0;
/// The part of the usual length of pieces of a sliver, each of which has one node, and how many
/// there are at least of one as long as the usual length of a piece; of shorter ones fewer, as the
/// root of their length. Errors at a kink, some 1e-4 of a variance where the kernel is `matern12`,
/// are the same then.
const PIECE: f64 = 0.0625;
const PIECES: f64 = 32.0;

/// How finely regions are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Usual,
    /// A rule of higher degree on the same pieces, to judge the usual one by.
    Finer,
    /// At the centres of short slices, of what is nearly a line.
    Sliver,
}

/// The supports with every region spread over nodes fit for a term.
pub(super) fn spread(
    term: &KernelTerm,
    theta: &[f64],
    set: &Functionals,
    level: Level,
    most: usize,
) -> Functionals {
    let nodes: Vec<Placement> = set
        .regions()
        .par_iter()
        .map(|placed| Placement::new(term, theta, placed, level, most))
        .collect();
    set.spread(|atom| match set.region(atom) {
        None => AtomSpread::Keep,
        Some(region) => nodes[region].spread(),
    })
}

/// The supports with regions spread over nodes whose covariance with themselves is lost in rounding
/// where edges have the rules: slivers, and tiny ones under products.
///
/// # Arguments
/// * `inverse` - inverse lengthscales of the two columns of the regions
/// * `is_product` - whether the term is a product of a kernel of either column
pub(super) fn spread_lost<'a>(
    term: &KernelTerm,
    theta: &[f64],
    set: &'a Functionals,
    inverse: [f64; 2],
    is_product: bool,
) -> Cow<'a, Functionals> {
    let level = |placed: &Placed| {
        let area = placed.region.volume() * inverse[0] * inverse[1];
        let perimeter = perimeter(placed, inverse);
        let is_long = perimeter * perimeter > LONG * area;
        if is_long && area < SLIVER * perimeter {
            return Some(Level::Sliver);
        }
        (is_product && area < TINY_AREA).then_some(Level::Usual)
    };
    let levels: Vec<Option<Level>> = set.regions().par_iter().map(level).collect();
    let count = levels.iter().flatten().count();
    if count == 0 {
        return Cow::Borrowed(set);
    }
    let most = most_of(count);
    let place = |(placed, level): (&Placed, Option<Level>)| {
        level.map(|level| Placement::new(term, theta, placed, level, most))
    };
    let nodes: Vec<Option<Placement>> = set.regions().par_iter().zip(levels).map(place).collect();
    Cow::Owned(
        set.spread(|atom| match set.region(atom).map(|r| &nodes[r]) {
            Some(Some(placement)) => placement.spread(),
            _ => AtomSpread::Keep,
        }),
    )
}

/// The length of the edges of a polygon in lengthscales; 0 of other regions.
fn perimeter(placed: &Placed, inverse: [f64; 2]) -> f64 {
    let Region::Polygon(polygon) = placed.region.as_ref() else {
        return 0.0;
    };
    let length = |(from, to): Edge| {
        let along = [0, 1].map(|d| (to[d] - from[d]) * inverse[d]);
        along[0].hypot(along[1])
    };
    polygon.edges().map(length).sum()
}

/// Nodes of the average over one region, along the columns it has in a set.
struct Placement {
    along: Vec<(usize, Vec<f64>)>,
    weights: Vec<f64>,
}

impl Placement {
    fn spread(&self) -> AtomSpread<'_> {
        AtomSpread::Nodes {
            along: self
                .along
                .iter()
                .map(|(column, x)| (*column, x.as_slice()))
                .collect(),
            weights: &self.weights,
        }
    }

    fn new(term: &KernelTerm, theta: &[f64], placed: &Placed, level: Level, most: usize) -> Self {
        let bounds = placed.region.bounds();
        let steps = steps(term, theta, placed);
        let small = match (placed.region.as_ref(), is_kinked(term, placed)) {
            (Region::Polygon(_), false) => small(placed, &steps),
            _ => None,
        };
        let sliver = (level == Level::Sliver)
            .then(|| along_sliver(placed, &steps, most))
            .flatten();
        let (columns, weights) = small
            .or(sliver)
            .or_else(|| affordable(placed, steps, tolerance(term, placed), level, most))
            .unwrap_or_else(|| {
                // Not reached for consistent regions: one node keeps the volume right.
                let centre = bounds.iter().map(|(a, b)| vec![0.5 * (a + b)]).collect();
                (centre, vec![1.0])
            });
        let along = columns.into_iter().zip(&placed.columns);
        Self {
            along: along.filter_map(|(x, c)| c.map(|c| (c, x))).collect(),
            weights,
        }
    }
}

/// Most nodes of a region of a set.
pub(super) fn most_nodes(set: &Functionals) -> usize {
    most_of(set.regions().len())
}

/// Most nodes of one of so many regions.
fn most_of(regions: usize) -> usize {
    (MAX_TOGETHER / regions.max(1)).clamp(ENOUGH, MAX_NODES)
}

/// Whether a region has so many lengthscales that its nodes may not resolve them.
pub(super) fn is_limited(
    term: &KernelTerm,
    theta: &[f64],
    placed: &Placed,
    set: &Functionals,
) -> bool {
    cells(placed, &steps(term, theta, placed)) > most_nodes(set) as f64
}

/// Cells of the size of the steps that fill the bounding box.
fn cells(placed: &Placed, steps: &[f64]) -> f64 {
    let bounds = placed.region.bounds();
    let extents = bounds.iter().zip(steps);
    extents.map(|((a, b), s)| ((b - a) / s).max(1.0)).product()
}

/// The longest side of the bounding box in steps.
fn longest(placed: &Placed, steps: &[f64]) -> f64 {
    let bounds = placed.region.bounds();
    let sides = bounds
        .iter()
        .zip(steps)
        .map(|((a, b), step)| (b - a) / step);
    sides.fold(f64::MIN_POSITIVE, f64::max)
}

/// Nodes along a sliver, no more than `most`, or two for each of its simplices.
fn along_sliver(placed: &Placed, steps: &[f64], most: usize) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
    let simplices = placed.region.simplices();
    let length = longest(placed, steps);
    let mut piece = PIECE.min(length.max(length.sqrt()) / PIECES);
    piece = piece.max(length / most as f64);
    let most = most.max(2 * simplices.len());
    for _ in 0..24 {
        if let Some(nodes) = needle_nodes(&simplices, steps, piece, most) {
            return Some((nodes.columns, nodes.weights));
        }
        piece *= 1.3;
    }
    None
}

/// Nodes on simplices, no more than `most`.
fn affordable(
    placed: &Placed,
    mut steps: Vec<f64>,
    tolerance: f64,
    level: Level,
    most: usize,
) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
    let excess = (cells(placed, &steps) / most as f64).powf(1.0 / steps.len() as f64);
    steps.iter_mut().for_each(|s| *s *= excess.max(1.0));
    let simplices = placed.region.simplices();
    // Very many simplices may need more than that at one node each.
    let most = most.max(2 * simplices.len());
    for _ in 0..24 {
        match simplex_nodes(&simplices, &steps, tolerance, false) {
            Some(nodes) if nodes.weights.len() <= most => {
                let nodes = match level {
                    Level::Usual | Level::Sliver => nodes,
                    Level::Finer => simplex_nodes(&simplices, &steps, tolerance, true)?,
                };
                return Some((nodes.columns, nodes.weights));
            }
            _ => steps.iter_mut().for_each(|s| *s *= 1.3),
        }
    }
    None
}

/// The length over which a term varies along every column of a region.
fn steps(term: &KernelTerm, theta: &[f64], placed: &Placed) -> Vec<f64> {
    let bounds = placed.region.bounds();
    let columns = bounds.iter().zip(&placed.columns);
    columns
        .map(|((low, high), column)| {
            let step = column.map_or(f64::INFINITY, |c| resolution(term, theta, c));
            // What the kernel does not vary along needs no more than its degree.
            step.min(8.0 * (high - low))
        })
        .collect()
}

/// Whether a region is so small that few nodes serve a smooth kernel.
pub(super) fn is_small(term: &KernelTerm, theta: &[f64], placed: &Placed) -> bool {
    let is_polygon = matches!(placed.region.as_ref(), Region::Polygon(_));
    is_polygon && degree(placed, &steps(term, theta, placed)).is_some()
}

/// The degree at which a smooth kernel is right over the bounding box, where one suffices.
fn degree(placed: &Placed, lengths: &[f64]) -> Option<usize> {
    let sides = placed.region.bounds().into_iter().zip(lengths);
    let halves = sides.map(|((a, b), length)| 0.5 * (b - a) / length);
    let size = halves.fold(0.0, f64::hypot);
    // Products of two linear leaves are polynomials of degree two.
    (2..=12.min(padua::MAX_DEGREE)).find(|&p| area_error::<Matern52>(p, size) <= TOLERANCE)
}

/// Few nodes for a smooth kernel over a polygon of moderate size.
fn small(placed: &Placed, lengths: &[f64]) -> Option<(Vec<Vec<f64>>, Vec<f64>)> {
    let Region::Polygon(polygon) = placed.region.as_ref() else {
        return None;
    };
    let bounds = polygon.bounds();
    let centre = bounds.map(|(a, b)| 0.5 * (a + b));
    let half = bounds.map(|(a, b)| 0.5 * (b - a));
    let degree = degree(placed, lengths)?;
    let edges: Vec<Edge> = polygon.edges().collect();
    let moments = placed.moments.table(degree + 1, &edges, centre, half);
    let nodes = Padua::of(degree).nodes(moments);
    let back = |d: usize, x: &[f64]| x.iter().map(|x| centre[d] + half[d] * x).collect();
    Some((vec![back(0, &nodes.x), back(1, &nodes.y)], nodes.weights))
}

/// Whether a factor of the term that acts on the region is not smooth where points meet.
pub(super) fn is_kinked(term: &KernelTerm, placed: &Placed) -> bool {
    term.factors.iter().any(|factor| {
        let touches = placed
            .columns
            .iter()
            .flatten()
            .any(|c| factor.dims().contains(c));
        touches
            && match factor {
                KernelFactor::Line { family, .. }
                | KernelFactor::Isotropic {
                    family: Isotropic::Radial(family),
                    ..
                } => *family != ProfileFamily::Se,
                KernelFactor::Coupled(coupled) => coupled.is_kinked(),
                _ => false,
            }
    })
}

/// What the nodes of a region aim at.
fn tolerance(term: &KernelTerm, placed: &Placed) -> f64 {
    let is_rough = |factor: &KernelFactor| {
        let touches = placed.columns.iter().flatten();
        touches.into_iter().any(|c| factor.dims().contains(c))
            && matches!(
                factor,
                KernelFactor::Line {
                    family: ProfileFamily::Matern12,
                    ..
                } | KernelFactor::Isotropic {
                    family: Isotropic::Radial(ProfileFamily::Matern12),
                    ..
                }
            )
    };
    if term.factors.iter().any(is_rough) {
        ROUGH_TOLERANCE
    } else {
        TOLERANCE
    }
}

/// Length along a column over which a term varies as a squared exponential does over one
/// lengthscale; shorter for rough kernels, which cubature resolves by splitting.
pub(in crate::covariance) fn resolution(term: &KernelTerm, theta: &[f64], column: usize) -> f64 {
    let of = |factor: &KernelFactor| -> f64 {
        let Some(k) = factor.dims().iter().position(|d| *d == column) else {
            return f64::INFINITY;
        };
        let roughness = |family: ProfileFamily| match family {
            ProfileFamily::Se => 1.0,
            ProfileFamily::Matern52 => 0.6,
            ProfileFamily::Matern32 => 0.4,
            ProfileFamily::Matern12 => 0.2,
        };
        match factor {
            KernelFactor::Line {
                family,
                lengthscale,
                ..
            } => theta[*lengthscale] * roughness(*family),
            KernelFactor::Isotropic {
                family,
                lengthscales,
                ..
            } => {
                let share = match family {
                    Isotropic::Radial(family) => roughness(*family),
                    Isotropic::RationalQuadratic(alpha) => theta[*alpha].sqrt().min(1.0),
                };
                theta[lengthscales[k]] * share
            }
            KernelFactor::Periodic {
                lengthscale,
                period,
                ..
            // k falls from its peak like a squared exponential of period * lengthscale / 2 pi.
            } => 0.14 * theta[*period] * theta[*lengthscale].min(1.0),
            KernelFactor::Linear { .. } | KernelFactor::Label { .. } | KernelFactor::Coregion { .. } => f64::INFINITY,
            KernelFactor::Coupled(coupled) => coupled.step(theta, k),
        }
    };
    term.factors.iter().map(of).fold(f64::INFINITY, f64::min)
}
