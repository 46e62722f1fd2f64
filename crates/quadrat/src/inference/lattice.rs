//! Up to three hyperparameters: a lattice around the mode, filled outwards from the peaks.
//!
//! The trapezoid rule on a lattice converges faster than any power of the step for a smooth
//! density, so steps near one standard deviation are enough; what matters is to follow tails to
//! where nothing is left. Heavy tails are walked with longer steps, by a smooth stretch of the axis
//! whose slope enters the weights. A coordinate whose bound cuts the density gets lattice planes
//! parallel to the bound, half a step away from it (midpoint rule).

use std::collections::{BTreeMap, BTreeSet};

use faer::linalg::solvers::Solve;
use rayon::prelude::*;

use super::WarmStart;
use super::profile::{ModeProfile, ProfileSide, log_posterior, principal_steps};
use crate::error::FitError;
use crate::linalg::{Cholesky, Mat};
use crate::progress::{Event, Progress};

/// Largest number of dimensions.
pub(super) const MOST: usize = 3;

/// Cells by which a filled region is wider than where the density fell off: the rim on both sides.
const RIM: f64 = 1.5;
/// Sites farther from the origin are not numbered: beside a peak there the density is a needle.
const FARTHEST: f64 = 1e6;
/// One round of filling expands the points within this of the best one not yet expanded, in nats.
const BAND: f64 = 1.0;

/// The index of a lattice point, unused dimensions 0.
type Site = [i32; MOST];

/// `z = origin + basis * g(step * site)`, `g` acting on every axis by its own.
#[derive(Debug, Clone)]
pub(super) struct Lattice {
    origin: Vec<f64>,
    /// One standard deviation (of a cut coordinate: one step) per column, shape `[d, d]`.
    basis: Mat<f64>,
    axes: Vec<Axis>,
}

/// `g(t) = t + above S(t) - below S(-t)`, `S` a smooth ramp that starts at `t = 2` with slope 1.
#[derive(Debug, Clone, Copy)]
struct Axis {
    step: f64,
    below: f64,
    above: f64,
}

impl Axis {
    /// Where the ramp starts.
    const KNEE: f64 = 2.0;
    /// Slope of the ramp at most: one cell of a tail should not fall by more than about two nats.
    const STEEPEST: f64 = 1.5;

    /// The ramp and its slope.
    fn ramp(t: f64) -> (f64, f64) {
        let root = |u: f64| (1.0 + u * u).sqrt();
        let u = t - Self::KNEE;
        let start = 0.5 * (root(Self::KNEE) - Self::KNEE);
        (0.5 * (root(u) + u) - start, 0.5 * (1.0 + u / root(u)))
    }

    /// The slope of the ramp that brings a side of `reach` standard deviations to where a normal
    /// density would have fallen by `drop`.
    fn slope_for(reach: f64, drop: f64) -> f64 {
        let normal = (2.0 * drop).sqrt();
        ((reach - normal) / Self::ramp(normal).0).clamp(0.0, Self::STEEPEST)
    }

    /// `g(t)` and `g'(t)`.
    fn stretch(&self, t: f64) -> (f64, f64) {
        let (up, down) = (Self::ramp(t), Self::ramp(-t));
        (
            t + self.above * up.0 - self.below * down.0,
            1.0 + self.above * up.1 + self.below * down.1,
        )
    }

    /// `t` with `g(t) = y`.
    fn invert(&self, y: f64) -> f64 {
        // g moves away from 0 at least as fast as t does, up to the offset of the ramps.
        let (mut low, mut high) = (-y.abs() - 1.0, y.abs() + 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.stretch(middle).0 < y {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
}

/// An evaluated lattice point.
#[derive(Debug, Clone)]
pub(super) struct LatticePoint {
    pub(super) z: Vec<f64>,
    pub(super) log_posterior: f64,
    pub(super) log_evidence: f64,
    /// Log volume of its cell, up to a constant.
    pub(super) log_volume: f64,
    /// Variance of a uniform density on its cell, along every coordinate.
    pub(super) spread: Vec<f64>,
}

/// What the filling found.
pub(super) struct Filled {
    /// In the order of the sites.
    pub(super) points: Vec<LatticePoint>,
    pub(super) capped: bool,
}

/// What decides the size of the lattice.
#[derive(Debug, Clone, Copy)]
pub(super) struct LatticeSize {
    /// Keep what lies less than this below the peak, in nats.
    pub(super) drop: f64,
    /// Points at most.
    pub(super) most: usize,
}

impl Lattice {
    /// Chooses directions and steps from the curvature and from profiles of the density.
    pub(super) fn plan(
        profile: &mut ModeProfile<'_, '_>,
        curvature: &Mat<f64>,
        extent: LatticeSize,
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
        profile: &ModeProfile<'_, '_>,
        mut basis: Mat<f64>,
        sides: &[[ProfileSide; 2]],
        cut: &[bool],
        extent: LatticeSize,
    ) -> Self {
        let d = cut.len();
        let sd: Vec<f64> = sides.iter().map(typical_sd).collect();
        // The finest step whose points, rim included, are expected to fit.
        let (mut step, coarsest) = [(1.0, 1.0), (0.5, 1.0), (0.75, 1.25), (1.0, 1.5)][d];
        let filling = [1.0, 1.0, 0.785, 0.524][d];
        let mut axes: Vec<Axis> = (0..d)
            .map(|j| {
                let slope = |side: &ProfileSide| Axis::slope_for(side.reach / sd[j], extent.drop);
                let free = if cut[j] { 0.0 } else { 1.0 };
                Axis {
                    step: 1.0,
                    below: free * slope(&sides[j][0]),
                    above: free * slope(&sides[j][1]),
                }
            })
            .collect();
        let lengths: Vec<f64> = (0..d)
            .map(|j| {
                axes[j].invert(sides[j][1].reach / sd[j])
                    - axes[j].invert(-sides[j][0].reach / sd[j])
            })
            .collect();
        let expected = |step: f64| -> f64 {
            lengths.iter().map(|l| l / step + RIM).product::<f64>() * filling
        };
        while step < coarsest && expected(step) > extent.most as f64 {
            step += 0.05;
        }
        let mut origin = profile.mode.clone();
        for j in 0..d {
            let mut length = sd[j];
            axes[j].step = step;
            if cut[j] {
                axes[j].step = 1.0;
                let (lower, upper) = profile.bounds[j];
                let below = profile.mode[j] - lower;
                let above = upper - profile.mode[j];
                length *= 0.5 * step;
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
        Self {
            origin,
            basis,
            axes,
        }
    }

    fn at(&self, site: &Site) -> Vec<f64> {
        let y: Vec<f64> = self
            .axes
            .iter()
            .zip(site)
            .map(|(axis, i)| axis.stretch(axis.step * f64::from(*i)).0)
            .collect();
        (0..self.origin.len())
            .map(|i| {
                let shift: f64 = y
                    .iter()
                    .enumerate()
                    .map(|(j, y)| self.basis[(i, j)] * y)
                    .sum();
                self.origin[i] + shift
            })
            .collect()
    }

    /// The slopes of the stretches at a site.
    fn slopes(&self, site: &Site) -> Vec<f64> {
        let slope = |(axis, i): (&Axis, &i32)| axis.stretch(axis.step * f64::from(*i)).1;
        self.axes.iter().zip(site).map(slope).collect()
    }

    /// Where `z` lies between the sites.
    fn coordinates(&self, z: &[f64]) -> [f64; MOST] {
        let shift = Mat::from_fn(z.len(), 1, |i, _| z[i] - self.origin[i]);
        let y = self.basis.partial_piv_lu().solve(&shift);
        let mut out = [0.0; MOST];
        for (i, axis) in self.axes.iter().enumerate() {
            out[i] = axis.invert(y[(i, 0)]) / axis.step;
        }
        out
    }

    /// Fills the lattice from the sites nearest to `peaks`, while the mass of a cell is within
    /// `extent.drop` of the largest. The rim, which had to be evaluated, is kept too. Order and
    /// result do not depend on threads; the highest points are expanded first, so that a cap loses
    /// the least. Every evaluation begins with what was found at the neighbour that led to it, the
    /// highest where there are several.
    pub(super) fn fill(
        &self,
        profile: &ModeProfile<'_, '_>,
        peaks: &[Vec<f64>],
        extent: LatticeSize,
        progress: &dyn Progress,
    ) -> Result<Filled, FitError> {
        let d = self.origin.len();
        let inside = |site: &Site| {
            self.at(site)
                .iter()
                .zip(&profile.bounds)
                .all(|(z, (lower, upper))| z >= lower && z <= upper)
        };
        let mut known: BTreeMap<Site, (f64, f64)> = BTreeMap::new();
        // Of those that are to be expanded.
        let mut warm_starts: BTreeMap<Site, WarmStart> = BTreeMap::new();
        let mut peak = f64::NEG_INFINITY;
        let mut capped = false;
        // The nearest site of a peak on a bound may lie outside: the site towards the origin is
        // inside.
        let mut frontier: Vec<(Site, WarmStart)> = vec![([0; MOST], profile.begin.clone())];
        for z in peaks {
            let y = self.coordinates(z);
            // No number of sites leads there: the density is a needle beside that.
            if !y.iter().all(|y| y.abs() < FARTHEST) {
                capped = true;
                continue;
            }
            frontier.push((y.map(|y| y.round() as i32), profile.begin.clone()));
            frontier.push((y.map(|y| y.trunc() as i32), profile.begin.clone()));
        }
        loop {
            frontier.retain(|(site, _)| inside(site) && !known.contains_key(site));
            let mut seen = BTreeSet::new();
            frontier.retain(|(site, _)| seen.insert(*site));
            if frontier.len() > extent.most - known.len() {
                capped = true;
                frontier.truncate(extent.most - known.len());
            }
            let values: Vec<(f64, f64)> = frontier
                .par_iter_mut()
                .map(|(site, warm_start)| log_posterior(profile.space, &self.at(site), warm_start))
                .collect::<Result<_, FitError>>()?;
            for ((site, warm_start), (posterior, evidence)) in frontier.drain(..).zip(values) {
                let volume = self.slopes(&site).iter().map(|s| s.ln()).sum::<f64>();
                peak = peak.max(posterior + volume);
                known.insert(site, (posterior + volume, evidence));
                warm_starts.insert(site, warm_start);
            }
            warm_starts.retain(|site, _| known[site].0 > peak - extent.drop);
            progress.report(Event::Node {
                done: known.len(),
                total: known.len(),
            });
            let mut sources: Vec<(Site, f64)> = warm_starts
                .keys()
                .map(|site| (*site, known[site].0))
                .collect();
            if sources.is_empty() || known.len() >= extent.most {
                break;
            }
            sources.sort_by(|a, b| b.1.total_cmp(&a.1));
            let level = sources[0].1 - BAND;
            sources.retain(|(_, value)| *value >= level);
            for (site, _) in sources {
                let Some(warm_start) = warm_starts.remove(&site) else {
                    continue;
                };
                for j in 0..d {
                    for sign in [-1, 1] {
                        let mut next = site;
                        next[j] += sign;
                        frontier.push((next, warm_start.clone()));
                    }
                }
            }
        }
        let points = known
            .into_iter()
            .map(|(site, (mass, log_evidence))| {
                let slopes = self.slopes(&site);
                let log_volume = slopes.iter().map(|s| s.ln()).sum::<f64>();
                let edge = |i: usize, j: usize| self.basis[(i, j)] * self.axes[j].step * slopes[j];
                LatticePoint {
                    z: self.at(&site),
                    log_posterior: mass - log_volume,
                    log_evidence,
                    log_volume,
                    spread: (0..d)
                        .map(|i| (0..d).map(|j| edge(i, j).powi(2)).sum::<f64>() / 12.0)
                        .collect(),
                }
            })
            .collect();
        Ok(Filled { points, capped })
    }
}

/// The standard deviation of a direction from its two sides: their geometric mean.
fn typical_sd(sides: &[ProfileSide; 2]) -> f64 {
    match (sides[0].sd, sides[1].sd) {
        (Some(a), Some(b)) => (a * b).sqrt().min(2.0 * a.min(b)),
        (Some(a), None) | (None, Some(a)) => a,
        // Flat from bound to bound.
        (None, None) => ((sides[0].reach + sides[1].reach) / 4.0).clamp(f64::MIN_POSITIVE, 3.0),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "lattice_tests.rs"]
mod tests;
