//! Regions: terms of a kernel on supports that are not boxes.
//!
//! Every term sees its own version of the supports. A term that does not touch the columns of the
//! regions sees them as they are. Over a planar region, a factor that is isotropic in its two
//! columns is integrated by the boundary ([`pairs`]); a region that is small against the
//! lengthscale is spread over few area nodes first ([`padua`]), which serve all partners that stay
//! clear of the kernel's kink. Everything else is spread over cubature nodes ([`cubature`]).

mod cubature;
mod edges;
mod outline;
mod padua;
mod pairs;
mod planar;

use std::borrow::Cow;

use super::factor::Sides;
use super::plan::Term;
use crate::support::{Functionals, Placed};
use edges::Edges;
use planar::Planar;

pub(super) use edges::{EdgeWork, ReadyEdges};

/// Terms and the supports they see.
pub(super) struct Group<'a> {
    pub terms: Vec<Cow<'a, Term>>,
    a: Cow<'a, Functionals>,
    /// `None` when both sides are one set.
    b: Option<Cow<'a, Functionals>>,
    /// What the boundaries of regions add; then there is one term.
    pub edges: Option<Edges>,
}

impl Group<'_> {
    pub fn sides(&self) -> Sides<'_> {
        Sides {
            a: &self.a,
            b: self.b.as_deref().unwrap_or(&self.a),
        }
    }
}

/// Groups the terms by the supports they see.
pub(super) fn resolve<'a>(terms: &'a [Term], theta: &[f64], sides: Sides<'a>) -> Vec<Group<'a>> {
    let same = std::ptr::eq(sides.a, sides.b);
    let mut regions: Vec<&Placed> = sides.a.regions().iter().collect();
    if !same {
        regions.extend(sides.b.regions());
    }
    let columns: Vec<usize> = regions
        .iter()
        .flat_map(|r| r.columns.iter().flatten().copied())
        .collect();
    let touched = |term: &&Term| {
        let mut dims = term.factors.iter().flat_map(|f| f.dims());
        dims.any(|d| columns.contains(d))
    };
    let (touching, plain): (Vec<&Term>, Vec<&Term>) = terms.iter().partition(touched);
    let mut groups = Vec::with_capacity(1 + touching.len());
    if !plain.is_empty() || touching.is_empty() {
        groups.push(Group {
            terms: plain.into_iter().map(Cow::Borrowed).collect(),
            a: Cow::Borrowed(sides.a),
            b: (!same).then_some(Cow::Borrowed(sides.b)),
            edges: None,
        });
    }
    let plane = plane(&regions);
    for term in touching {
        let split = plane.and_then(|dims| Planar::split(term, dims));
        groups.push(match split {
            Some((planar, others)) => {
                let (edges, a, b) = Edges::new(planar, others, theta, sides, same);
                Group {
                    terms: vec![Cow::Owned(edges.joined())],
                    a: Cow::Owned(a),
                    b: b.map(Cow::Owned),
                    edges: edges.matters().then_some(edges),
                }
            }
            None => {
                let spread = |set| Cow::Owned(cubature::spread(term, theta, set));
                Group {
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
