//! Up to three hyperparameters: a lattice around the mode, filled outwards from the peaks.
//!
//! The trapezoid rule on a lattice converges faster than any power of the step for a smooth density,
//! so steps near one standard deviation are enough; what matters is to follow tails to where nothing
//! is left. A coordinate whose bound cuts the density gets lattice planes parallel to the bound, half a
//! step away from it (midpoint rule).

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::free::FreeSpace;
use super::profile::{Profile, Side, log_posterior, principal_steps};
use crate::error::FitError;
use crate::linalg::{Cholesky, Mat};
use crate::progress::{Event, Progress};

/// Largest number of dimensions.
pub(super) const MOST: usize = 3;

/// Cells by which a filled region is wider than where the density fell off: the rim on both sides.
const RIM: f64 = 1.5;
/// One round of filling expands the points within this of the best one not yet expanded, in nats.
const BAND: f64 = 1.0;

/// A lattice point, unused dimensions 0.
type Site = [i32; MOST];

/// `z = origin + basis * site`.
#[derive(Debug, Clone)]
pub(super) struct Lattice {
    origin: Vec<f64>,
    /// One step per column, shape `[d, d]`.
    pub(super) basis: Mat<f64>,
}

/// What the filling found.
pub(super) struct Filled {
    /// `(z, log posterior, log evidence)` in the order of the sites.
    pub(super) points: Vec<(Vec<f64>, f64, f64)>,
    pub(super) capped: bool,
}

/// What decides the size of the lattice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Keep what lies less than this below the peak, in nats.
    pub(super) drop: f64,
    /// Points at most.
    pub(super) most: usize,
}

impl Lattice {
    /// Chooses directions and steps from the curvature and from profiles of the density.
    pub(super) fn plan(
        profile: &mut Profile<'_, '_>,
        curvature: &Mat<f64>,
        extent: Extent,
    ) -> Result<Self, FitError> {
        let d = profile.mode.len();
        let principal = principal_steps(curvature)?;
        let mut cut = vec![false; d];
        for j in 0..d {
            for side in profile.sides(principal.col_as_slice(j), extent.drop)? {
                if let Some(i) = side.bound {
                    cut[i] = true;
                }
            }
        }
        // Directions of the cut coordinates follow the ridge of the others.
        let inner: Vec<usize> = (0..d).filter(|i| !cut[*i]).collect();
        let block = Mat::from_fn(inner.len(), inner.len(), |i, j| {
            curvature[(inner[i], inner[j])]
        });
        let steps = principal_steps(&block)?;
        let mut basis = Mat::<f64>::zeros(d, d);
        for (j, column) in inner.iter().enumerate() {
            for (i, row) in inner.iter().enumerate() {
                basis[(*row, *column)] = steps[(i, j)];
            }
        }
        let ridge = Cholesky::factor(block.as_ref()).ok();
        for b in (0..d).filter(|b| cut[*b]) {
            basis[(b, b)] = 1.0;
            if let Some(factor) = &ridge {
                let pull: Vec<f64> = inner.iter().map(|i| -curvature[(*i, b)]).collect();
                for (i, value) in inner.iter().zip(factor.solve(&pull)) {
                    basis[(*i, b)] = value;
                }
            }
        }
        let mut sides = Vec::with_capacity(d);
        for j in 0..d {
            sides.push(profile.sides(basis.col_as_slice(j), extent.drop)?);
        }
        Ok(Self::scaled(profile, basis, &sides, &cut, extent))
    }

    fn scaled(
        profile: &Profile<'_, '_>,
        mut basis: Mat<f64>,
        sides: &[[Side; 2]],
        cut: &[bool],
        extent: Extent,
    ) -> Self {
        let d = cut.len();
        let sd: Vec<f64> = sides.iter().map(typical_sd).collect();
        // The finest step whose points, rim included, are expected to fit.
        let (mut step, coarsest) = [(1.0, 1.0), (0.5, 1.0), (0.75, 1.25), (1.0, 1.5)][d];
        let filling = [1.0, 1.0, 0.785, 0.524][d];
        let expected = |step: f64| -> f64 {
            (0..d)
                .map(|j| (sides[j][0].reach + sides[j][1].reach) / (step * sd[j]) + RIM)
                .product::<f64>()
                * filling
        };
        while step < coarsest && expected(step) > extent.most as f64 {
            step += 0.05;
        }
        let mut origin = profile.mode.clone();
        for j in 0..d {
            let mut length = step * sd[j];
            if cut[j] {
                let (lower, upper) = profile.bounds[j];
                let below = profile.mode[j] - lower;
                let above = upper - profile.mode[j];
                length *= 0.5;
                if below <= sides[j][0].reach && above <= sides[j][1].reach {
                    let cells = ((upper - lower) / length).ceil().max(1.0);
                    length = (upper - lower) / cells;
                }
                // The plane half a step inside the nearer bound.
                let shift = if below <= above {
                    0.5 * length - below.rem_euclid(length)
                } else {
                    above.rem_euclid(length) - 0.5 * length
                };
                for i in 0..d {
                    origin[i] += shift * basis[(i, j)];
                }
            }
            for i in 0..d {
                basis[(i, j)] *= length;
            }
        }
        Self { origin, basis }
    }

    fn at(&self, site: &Site) -> Vec<f64> {
        (0..self.origin.len())
            .map(|i| {
                let shift: f64 = (0..self.origin.len())
                    .map(|j| self.basis[(i, j)] * f64::from(site[j]))
                    .sum();
                self.origin[i] + shift
            })
            .collect()
    }

    /// The site nearest to `z`, in lattice coordinates.
    fn nearest(&self, z: &[f64]) -> Site {
        let shift = Mat::from_fn(z.len(), 1, |i, _| z[i] - self.origin[i]);
        let inverse = faer::linalg::solvers::Solve::solve(&self.basis.partial_piv_lu(), &shift);
        let mut site = [0; MOST];
        for i in 0..z.len() {
            site[i] = inverse[(i, 0)].round() as i32;
        }
        site
    }

    /// Fills the lattice from the sites nearest to `peaks`, while the density is within `extent.drop` of
    /// its maximum. The rim, which had to be evaluated, is kept too. Order and result do not depend on
    /// threads; the highest points are expanded first, so that a cap loses the least.
    pub(super) fn fill(
        &self,
        space: &FreeSpace<'_>,
        bounds: &[(f64, f64)],
        peaks: &[Vec<f64>],
        extent: Extent,
        progress: &dyn Progress,
    ) -> Result<Filled, FitError> {
        let d = self.origin.len();
        let inside = |site: &Site| {
            self.at(site)
                .iter()
                .zip(bounds)
                .all(|(z, (lower, upper))| z >= lower && z <= upper)
        };
        let mut known: BTreeMap<Site, (f64, f64)> = BTreeMap::new();
        let mut expanded: BTreeMap<Site, ()> = BTreeMap::new();
        let mut peak = f64::NEG_INFINITY;
        let mut capped = false;
        let mut frontier: Vec<Site> = peaks.iter().map(|z| self.nearest(z)).collect();
        loop {
            frontier.retain(|site| inside(site) && !known.contains_key(site));
            let mut seen = std::collections::BTreeSet::new();
            frontier.retain(|site| seen.insert(*site));
            if frontier.len() > extent.most - known.len() {
                capped = true;
                frontier.truncate(extent.most - known.len());
            }
            let values: Vec<(f64, f64)> = frontier
                .par_iter()
                .map(|site| log_posterior(space, &self.at(site)))
                .collect::<Result<_, FitError>>()?;
            for (site, value) in frontier.iter().zip(values) {
                peak = peak.max(value.0);
                known.insert(*site, value);
            }
            progress.report(Event::Node {
                done: known.len(),
                total: known.len(),
            });
            let mut sources: Vec<(Site, f64)> = known
                .iter()
                .filter(|(site, value)| {
                    value.0 > peak - extent.drop && !expanded.contains_key(*site)
                })
                .map(|(site, value)| (*site, value.0))
                .collect();
            if sources.is_empty() || known.len() >= extent.most {
                break;
            }
            sources.sort_by(|a, b| b.1.total_cmp(&a.1));
            let level = sources[0].1 - BAND;
            sources.retain(|(_, value)| *value >= level);
            frontier = Vec::new();
            for (site, _) in sources {
                expanded.insert(site, ());
                for j in 0..d {
                    for sign in [-1, 1] {
                        let mut next = site;
                        next[j] += sign;
                        frontier.push(next);
                    }
                }
            }
        }
        let points = known
            .into_iter()
            .map(|(site, (posterior, evidence))| (self.at(&site), posterior, evidence))
            .collect();
        Ok(Filled { points, capped })
    }
}

/// The standard deviation of a direction from its two sides: their geometric mean.
fn typical_sd(sides: &[Side; 2]) -> f64 {
    match (sides[0].sd, sides[1].sd) {
        (Some(a), Some(b)) => (a * b).sqrt().min(2.0 * a.min(b)),
        (Some(a), None) | (None, Some(a)) => a,
        // Flat from bound to bound.
        (None, None) => ((sides[0].reach + sides[1].reach) / 4.0).clamp(f64::MIN_POSITIVE, 3.0),
    }
}
