//! Regions as cubature nodes, for every kernel.

use super::padua::{self, Padua};
use crate::covariance::plan::Term;
use crate::support::{Functionals, Placed, Region, Spread};

/// The supports with every region spread over nodes fit for a term.
pub(super) fn spread(term: &Term, theta: &[f64], set: &Functionals) -> Functionals {
    let nodes: Vec<(Vec<(usize, Vec<f64>)>, Vec<f64>)> = set
        .regions()
        .iter()
        .map(|placed| nodes(term, theta, placed))
        .collect();
    set.spread(|atom| match set.region(atom) {
        None => Spread::Keep,
        Some(region) => {
            let (along, weights) = &nodes[region];
            Spread::Nodes {
                along: along.iter().map(|(c, x)| (*c, x.as_slice())).collect(),
                weights,
            }
        }
    })
}

fn nodes(term: &Term, theta: &[f64], placed: &Placed) -> (Vec<(usize, Vec<f64>)>, Vec<f64>) {
    let _ = (term, theta);
    let Region::Polygon(polygon) = placed.region.as_ref() else {
        return (Vec::new(), vec![1.0]);
    };
    let [x, y] = polygon.bounds();
    let (centre, half) = (
        [0.5 * (x.0 + x.1), 0.5 * (y.0 + y.1)],
        [0.5 * (x.1 - x.0), 0.5 * (y.1 - y.0)],
    );
    let map = |v: [f64; 2]| [0, 1].map(|d| (v[d] - centre[d]) / half[d]);
    let nodes = Padua::of(padua::MAX_DEGREE).nodes(polygon.edges().map(|(p, q)| (map(p), map(q))));
    let along = [(0, &nodes.x), (1, &nodes.y)];
    let along = along
        .into_iter()
        .filter_map(|(d, x)| {
            let column = placed.columns[d]?;
            Some((column, x.iter().map(|x| centre[d] + half[d] * x).collect()))
        })
        .collect();
    (along, nodes.weights)
}
