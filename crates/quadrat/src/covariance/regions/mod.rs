//! Regions: terms of a kernel on supports that are not boxes.
//!
//! Every term sees its own version of the supports. A term that does not touch the columns of the
//! regions sees them as they are. Over a planar region, a factor that is isotropic in its two
//! columns is integrated by the boundary ([`pairs`]); a region that is small against the
//! lengthscale has few area nodes too ([`padua`]), which serve all partners that stay clear of the
//! kernel's kink. A squared exponential has no kink and is a product: it has nodes on grids
//! ([`tensor`]). A region of many lengthscales has no nodes of its own ([`large`]). A rational
//! quadratic kernel is a sum of squared exponentials; a kernel of one column times a kernel of the
//! other has edge rules of its own ([`separable`]). Under other kernels regions are spread over
//! cubature nodes ([`cubature`]).

/// Calls a function that is generic in the profile of a family.
macro_rules! with_profile {
    ($family:expr, $call:ident :: <P> ( $($argument:expr),* )) => {
        match $family {
            $crate::covariance::plan::ProfileFamily::Se => {
                $call::<$crate::kernel::Se>($($argument),*)
            }
            $crate::covariance::plan::ProfileFamily::Matern12 => {
                $call::<$crate::kernel::Matern12>($($argument),*)
            }
            $crate::covariance::plan::ProfileFamily::Matern32 => {
                $call::<$crate::kernel::Matern32>($($argument),*)
            }
            $crate::covariance::plan::ProfileFamily::Matern52 => {
                $call::<$crate::kernel::Matern52>($($argument),*)
            }
        }
    };
}

mod cubature;
mod edges;
mod large;
mod outline;
mod padua;
mod pairs;
mod planar;
mod separable;
mod shared_area;
mod side;
mod sums;
mod table;
mod tensor;
mod value;

use std::borrow::Cow;

use cubature::Level;
pub(super) use cubature::resolution;
use edges::Edges;
pub(super) use edges::{EdgeWork, ReadyEdges};
use planar::Planar;
pub(super) use table::PairTable;

use super::Resolution;
use super::plan::KernelTerm;
use super::tile::Sides;
use crate::support::{Functionals, Placed};

/// Terms and the supports they see.
pub(super) struct TermGroup<'a> {
    pub terms: Vec<Cow<'a, KernelTerm>>,
    a: Cow<'a, Functionals>,
    /// `None` when both sides are one set.
    b: Option<Cow<'a, Functionals>>,
    /// What the boundaries of regions add; then there is one term.
    pub edges: Option<Edges>,
}

impl TermGroup<'_> {
    /// Nodes of a row of the first side.
    pub fn nodes(&self, row: usize) -> usize {
        let regions = self.edges.as_ref().map_or(0, |e| e.region_nodes(row));
        self.a.atoms(row).len() + regions
    }

    pub fn sides(&self) -> Sides<'_> {
        Sides {
            a: &self.a,
            b: self.b.as_deref().unwrap_or(&self.a),
        }
    }
}

/// Groups the terms by the supports they see.
pub(super) fn resolve<'a>(
    terms: &'a [KernelTerm],
    theta: &[f64],
    sides: Sides<'a>,
    resolution: Resolution,
) -> Vec<TermGroup<'a>> {
    let same = std::ptr::eq(sides.a, sides.b);
    let mut regions: Vec<&Placed> = sides.a.regions().iter().collect();
    if !same {
        regions.extend(sides.b.regions());
    }
    let columns: Vec<usize> = regions
        .iter()
        .flat_map(|r| r.columns.iter().flatten().copied())
        .collect();
    let touched = |term: &&KernelTerm| {
        let mut dims = term.factors.iter().flat_map(|f| f.dims());
        dims.any(|d| columns.contains(d))
    };
    let (touching, plain): (Vec<&KernelTerm>, Vec<&KernelTerm>) = terms.iter().partition(touched);
    let mut groups = Vec::with_capacity(1 + touching.len());
    if !plain.is_empty() || touching.is_empty() {
        groups.push(TermGroup {
            terms: plain.into_iter().map(Cow::Borrowed).collect(),
            a: Cow::Borrowed(sides.a),
            b: (!same).then_some(Cow::Borrowed(sides.b)),
            edges: None,
        });
    }
    let plane = plane(&regions);
    for term in touching {
        let split = plane.and_then(|dims| Planar::split(term, dims));
        // Of a smooth kernel few area nodes are enough for small regions; a mixture is many
        // kernels.
        let is_small = |r: &&Placed| cubature::is_small(term, theta, r);
        let split = split.filter(|(p, _)| !p.is_smooth_mixture() || !regions.iter().all(is_small));
        groups.push(match split {
            Some((planar, others)) => {
                let (edges, a, b) = Edges::new(planar, others, theta, sides, same, resolution);
                TermGroup {
                    terms: vec![Cow::Owned(edges.joined())],
                    a: Cow::Owned(a),
                    b: b.map(Cow::Owned),
                    edges: edges.matters().then_some(edges),
                }
            }
            None => {
                // Every set by its own limit, so that its nodes are the same beside any other set.
                let spread = |set| {
                    let most = cubature::most_nodes(set);
                    Cow::Owned(cubature::spread(term, theta, set, Level::Usual, most))
                };
                TermGroup {
                    terms: vec![Cow::Borrowed(term)],
                    a: spread(sides.a),
                    b: (!same).then(|| spread(sides.b)),
                    edges: None,
                }
            }
        });
    }
    groups
}

/// Terms that have no edge rule and are rough where points meet, or too short for nodes to resolve
/// them; each with some of the largest regions as they are spread and spread more finely.
pub(super) fn rough(
    terms: &[KernelTerm],
    theta: &[f64],
    set: &Functionals,
) -> Vec<(KernelTerm, Functionals, Functionals)> {
    let Some(rows) = largest_regions(set) else {
        return Vec::new();
    };
    let regions: Vec<&Placed> = set.regions().iter().collect();
    let plane = plane(&regions);
    let is_rough = |term: &&KernelTerm| {
        plane.and_then(|dims| Planar::split(term, dims)).is_none()
            && regions
                .iter()
                .any(|r| cubature::is_kinked(term, r) || cubature::is_limited(term, theta, r, set))
    };
    let some = set.rows(&rows);
    let most = cubature::most_nodes(set);
    let spread = |term: &KernelTerm, level| cubature::spread(term, theta, &some, level, most);
    terms
        .iter()
        .filter(is_rough)
        .map(|t| (t.clone(), spread(t, Level::Usual), spread(t, Level::Finer)))
        .collect()
}

/// Up to four rows whose regions have the largest bounding boxes.
fn largest_regions(set: &Functionals) -> Option<Vec<usize>> {
    let has_region = |row: &usize| set.atoms(*row).any(|atom| set.region(atom).is_some());
    let mut rows: Vec<usize> = (0..set.len()).filter(has_region).collect();
    let size = |row: usize| -> f64 {
        let extents = (0..set.dims().len()).map(|d| set.extent(row, d));
        extents.map(|(low, high)| high - low).product()
    };
    rows.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    rows.truncate(4);
    (!rows.is_empty()).then_some(rows)
}

/// The two columns of all regions, when every one is planar and lies along the same two.
fn plane(regions: &[&Placed]) -> Option<[usize; 2]> {
    let of = |r: &Placed| match r.columns.as_slice() {
        [Some(x), Some(y)] => Some([*x, *y]),
        _ => None,
    };
    let first = of(regions.first()?)?;
    regions
        .iter()
        .all(|r| of(r) == Some(first))
        .then_some(first)
}
