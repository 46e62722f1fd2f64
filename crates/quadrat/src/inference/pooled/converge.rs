//! The fixed point of the linearisation: the normal posterior around which the rows linearise to
//! itself.
//!
//! A [`Point`] `x` holds all that the next posterior depends on: rows are linearised around it, the
//! posterior follows, and from that the next point `F(x)`. Full steps with Anderson mixing converge
//! within some ten iterations where functions vary by no more than a factor of about ten within a
//! row. Beyond that full steps can alternate for ever, for two reasons. The slopes of a row
//! concentrate on its node of the largest variance, which then has the smallest variance in the
//! next posterior. And a row without an upper limit (or a count of zero under a vague mean) gets a
//! site of the precision `E e^z`, which is large for a wide posterior and next to zero for a narrow
//! one. Then damped steps
//!
//! $$ x \leftarrow x + b\,(F(x) - x) $$
//!
//! converge, with `b` of a half or less, and precisions and variances of rows in logarithms.

use rayon::prelude::*;

use super::expected::{Centre, LinearisedRow, Search, SearchState};
use super::pools::Slopes;
use crate::error::FitError;
use crate::inference::sites::Site;
use crate::inference::sites::accelerate::History;
use crate::linalg::Mat;

/// Iterations end when no mean of a node moves by more than this many standard deviations, and no
/// variance or precision by more than this part.
const TOLERANCE: f64 = 1e-7;
/// Accepted where iterations come no closer: the normal approximation itself errs by more.
const GOOD_ENOUGH: f64 = 1e-3;
/// In one iteration the precision of a site grows by at most this many times the posterior
/// precision of its row.
const GROWTH: f64 = 10.0;
/// Steps are shortened after iterations that add up to so many full steps came no closer; a full
/// step counts as a half here.
const PATIENCE: f64 = 10.0;
/// The factor by which steps are shortened.
const SHORTER: f64 = 0.6;
/// `Q` is accelerated for at most so many rows that bend, for its size: some ten points are kept.
const MOST_BENT: usize = 500;
/// A site whose precision is below this part of the prior's counts as none.
const WEAK: f64 = 1e-6;

/// How the fixed point is searched.
struct Plan {
    /// `b` of the first steps.
    part: f64,
    /// The smallest `b`.
    least: f64,
    iterations: usize,
    /// Iterations are accelerated once the point moves by less than this.
    accelerate: f64,
}

/// Tried in turn, each from the mode.
const PLANS: [Plan; 2] = [
    Plan {
        part: 1.0,
        least: 0.2,
        iterations: 100,
        accelerate: f64::INFINITY,
    },
    Plan {
        part: 0.5,
        least: 0.05,
        iterations: 800,
        accelerate: 0.05,
    },
];

/// What the next posterior depends on.
#[derive(Clone)]
struct Point {
    centre: Centre,
    /// Posterior variance of every row's latent value, `Q` counted; for rows with second-order
    /// parts.
    told: Vec<f64>,
    /// Which rows bend: their latent value has a second-order part (`second_order.rs`).
    is_bent: Vec<bool>,
    /// `T` of the sites.
    precision: Vec<f64>,
    /// `Q`.
    bent: Option<Mat<f64>>,
}

impl Point {
    fn of(state: &SearchState, precision: Vec<f64>) -> Self {
        let rows = 0..precision.len();
        Self {
            centre: state.centre.clone(),
            told: state.spread.variance.clone(),
            is_bent: rows.map(|row| state.second_order.is_bent(row)).collect(),
            precision,
            bent: state.bent.clone(),
        }
    }

    /// The pairs of rows that bend; none where they are too many to keep several points.
    fn bent_pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let rows = self.is_bent.iter().enumerate();
        let rows: Vec<usize> = rows.filter(|(_, b)| **b).map(|(row, _)| row).collect();
        let count = if rows.len() <= MOST_BENT {
            rows.len()
        } else {
            0
        };
        (0..count).flat_map(move |j| {
            let own = rows[j];
            rows[j..].iter().map(move |&i| (i, own)).collect::<Vec<_>>()
        })
    }
}

impl Search<'_> {
    /// The posterior around which the rows linearise to itself.
    pub fn converge(&self) -> Result<SearchState, FitError> {
        let (sites, first) = self.at_mode()?;
        let start = Point::of(&first, sites.iter().map(|s| s.precision).collect());
        let mut residual = f64::INFINITY;
        for plan in &PLANS {
            match self.follow(plan, &start) {
                Ok(state) => return Ok(state),
                Err(left) => residual = residual.min(left),
            }
        }
        Err(FitError::NotConverged {
            method: "laplace",
            sweeps: PLANS.iter().map(|plan| plan.iterations).sum(),
            residual,
        })
    }

    /// The fixed point by one plan, or how far from it the iterations ended.
    fn follow(&self, plan: &Plan, start: &Point) -> Result<SearchState, f64> {
        let mut at = start.clone();
        let mut safe = None;
        let mut part = plan.part;
        let mut history = History::default();
        let mut before = f64::INFINITY;
        let (mut least, mut since) = (f64::INFINITY, 0);
        let mut best: Option<(f64, SearchState)> = None;
        for _ in 0..plan.iterations {
            let mut next = self.step(&at, part);
            if let (None, Some(plain)) = (&next, safe.take()) {
                // Matrices after an accelerated step need not be covariances: take the plain step.
                history.clear();
                at = plain;
                next = self.step(&at, part);
            }
            let Some((state, precision, moved)) = next else {
                break;
            };
            let is_cut_off = || self.is_cut_off(&state.centre);
            if moved <= TOLERANCE && !is_cut_off() {
                return Ok(state);
            }
            let is_best = best.as_ref().is_none_or(|(least, _)| moved < *least);
            if moved <= GOOD_ENOUGH && is_best && !is_cut_off() {
                best = Some((moved, state.clone()));
            }
            if moved < 0.9 * least {
                (least, since) = (moved, 0);
            } else {
                since += 1;
            }
            if since as f64 * part.min(0.5) > PATIENCE {
                if part * SHORTER < plan.least {
                    break;
                }
                part *= SHORTER;
                since = 0;
                history.clear();
            }
            let to = self.between(&at, Point::of(&state, precision), part);
            if moved > 2.0 * before {
                history.clear();
            }
            before = moved;
            // Where other rows bend, the coordinates of the points differ.
            let is_alike = at.is_bent == to.is_bent && at.bent.is_some() == to.bent.is_some();
            if moved > plan.accelerate || !is_alike {
                history.clear();
                at = to;
                continue;
            }
            let (from, image) = (self.coordinates(&at), self.coordinates(&to));
            history.push(from, image);
            at = to;
            if let Some(combined) = history.combined() {
                safe = Some(at.clone());
                self.place(&mut at, &combined);
            }
        }
        best.map(|(_, state)| state).ok_or(least)
    }

    /// The posterior after the rows were linearised around a point, the precisions of its sites,
    /// and how far it is from a fixed point; none where there is no such posterior.
    fn step(&self, at: &Point, part: f64) -> Option<(SearchState, Vec<f64>, f64)> {
        let rows: Vec<LinearisedRow> = (0..self.pools.rows())
            .into_par_iter()
            .map(|row| self.linear(row, &at.centre, at.is_bent[row].then_some(at.told[row])))
            .collect();
        let mut lag = 0.0_f64;
        let sites: Vec<Site> = rows
            .iter()
            .enumerate()
            .map(|(i, row)| {
                let (old, told) = (at.precision[i], at.told[i]);
                // `E e^z` may come from values that the row itself makes impossible: limit the
                // growth.
                let most = old + GROWTH / told.max(f64::MIN_POSITIVE);
                let precision = mixed(old, row.precision.min(most), part);
                // A site of limited precision keeps its pseudo-value.
                let share = if precision < row.precision {
                    precision / row.precision
                } else {
                    1.0
                };
                let unsaid = (1.0 - share) * row.first.abs() * told.sqrt();
                let off = ((row.precision - precision).abs() * told).max(unsaid);
                lag = if (off + row.precision).is_nan() {
                    f64::INFINITY
                } else {
                    lag.max(off)
                };
                Site {
                    precision,
                    shift: precision * row.mean + share * row.first,
                }
            })
            .collect();
        let slopes = Slopes(rows.iter().flat_map(|r| r.slopes.iter().copied()).collect());
        let prior: Vec<f64> = rows.iter().map(|r| r.prior).collect();
        let state = self.state(slopes, &prior, &sites, at.bent.as_ref()).ok()?;
        let moved = self.moved(at, &state).max(lag);
        let precision = sites.iter().map(|s| s.precision).collect();
        moved.is_finite().then_some((state, precision, moved))
    }

    /// How far a posterior lies from the point its rows were linearised around.
    fn moved(&self, from: &Point, to: &SearchState) -> f64 {
        let mut most = 0.0_f64;
        let mut see = |x: f64| {
            most = if x.is_nan() {
                f64::INFINITY
            } else {
                most.max(x)
            }
        };
        for row in 0..self.pools.rows() {
            let (nodes, _) = self.pools.row(row);
            for (i, &node) in nodes.iter().enumerate() {
                let old = from.centre.within[row][(i, i)];
                let new = to.centre.within[row][(i, i)];
                let sd = new.max(1e-12 * self.mode.covariance[(node, node)]).sqrt();
                see((to.centre.mean[node] - from.centre.mean[node]).abs() / sd);
                see((new - old).abs() / (sd * sd));
            }
            if to.second_order.is_bent(row) || from.is_bent[row] {
                let (old, new) = (from.told[row], to.spread.variance[row]);
                see((new - old).abs() / new.max(f64::MIN_POSITIVE));
            }
        }
        match (&from.bent, &to.bent) {
            (Some(old), Some(new)) => {
                let size = |row: usize| new[(row, row)] + to.spread.variance[row];
                for j in 0..new.ncols() {
                    for i in j..new.nrows() {
                        let unit = (size(i) * size(j)).sqrt().max(f64::MIN_POSITIVE);
                        see((new[(i, j)] - old[(i, j)]).abs() / unit);
                    }
                }
            }
            (None, None) => {}
            // Other rows bend than before.
            _ => see(1.0),
        }
        most
    }

    /// A damped step from one point to another, whose precisions were damped before.
    fn between(&self, from: &Point, mut to: Point, part: f64) -> Point {
        if part == 1.0 {
            return to;
        }
        for (new, old) in to.centre.mean.iter_mut().zip(&from.centre.mean) {
            *new = old + part * (*new - old);
        }
        for (new, old) in to.centre.within.iter_mut().zip(&from.centre.within) {
            *new = old + part * (&*new - old);
        }
        for (new, old) in to.told.iter_mut().zip(&from.told) {
            *new = mixed(*old, *new, part);
        }
        if let (Some(new), Some(old)) = (&mut to.bent, &from.bent) {
            *new = old + part * (&*new - old);
        }
        to
    }

    /// A point as a list of numbers of order one: in units of the prior, or logarithms.
    fn coordinates(&self, point: &Point) -> Vec<f64> {
        let k = &self.mode.covariance;
        let sd = |node: usize| k[(node, node)].max(f64::MIN_POSITIVE).sqrt();
        let means = point.centre.mean.iter().enumerate();
        let mut out: Vec<f64> = means.map(|(i, m)| m / sd(i)).collect();
        for (row, s) in point.centre.within.iter().enumerate() {
            let (nodes, _) = self.pools.row(row);
            for (j, b) in nodes.iter().enumerate() {
                for (i, a) in nodes.iter().enumerate().skip(j) {
                    out.push(s[(i, j)] / (sd(*a) * sd(*b)));
                }
            }
        }
        for (row, (precision, told)) in point.precision.iter().zip(&point.told).enumerate() {
            out.push((precision + self.weak(row)).ln());
            if point.is_bent[row] {
                out.push(told.max(f64::MIN_POSITIVE).ln());
            }
        }
        if let Some(q) = &point.bent {
            let size = self.size();
            out.extend(point.bent_pairs().map(|pair| q[pair] / size));
        }
        out
    }

    /// Sets a point to such numbers; which rows bend stays as it is.
    fn place(&self, point: &mut Point, at: &[f64]) {
        let k = &self.mode.covariance;
        let sd = |node: usize| k[(node, node)].max(f64::MIN_POSITIVE).sqrt();
        let mut at = at.iter().copied();
        let mut next = || at.next().unwrap_or_default();
        for (i, mean) in point.centre.mean.iter_mut().enumerate() {
            *mean = next() * sd(i);
        }
        for (row, s) in point.centre.within.iter_mut().enumerate() {
            let (nodes, _) = self.pools.row(row);
            for (j, b) in nodes.iter().enumerate() {
                for (i, a) in nodes.iter().enumerate().skip(j) {
                    let value = next() * sd(*a) * sd(*b);
                    s[(i, j)] = value;
                    s[(j, i)] = value;
                }
            }
        }
        for row in 0..point.precision.len() {
            let (weak, moved) = (self.weak(row), next());
            // A smaller precision would lose its digits in the sum with `weak`.
            if point.precision[row] > 1e-3 * weak {
                point.precision[row] = (moved.exp() - weak).max(0.0);
            }
            if point.is_bent[row] {
                point.told[row] = next().exp();
            }
        }
        let pairs: Vec<(usize, usize)> = point.bent_pairs().collect();
        if let Some(q) = &mut point.bent {
            let size = self.size();
            for (i, j) in pairs {
                let value = next() * size;
                q[(i, j)] = value;
                q[(j, i)] = value;
            }
        }
    }

    /// A site precision that is next to nothing beside the prior.
    fn weak(&self, row: usize) -> f64 {
        let (nodes, _) = self.pools.row(row);
        let k = &self.mode.covariance;
        let most = nodes.iter().map(|&i| k[(i, i)]).fold(0.0, f64::max);
        WEAK / most.max(f64::MIN_POSITIVE)
    }

    /// The largest prior variance.
    fn size(&self) -> f64 {
        let k = &self.mode.covariance;
        let nodes = 0..self.pools.nodes();
        nodes.map(|i| k[(i, i)]).fold(f64::MIN_POSITIVE, f64::max)
    }
}

/// A damped step in the logarithm; the full step where one of them is not above zero.
fn mixed(old: f64, new: f64, part: f64) -> f64 {
    if part < 1.0 && old > 0.0 && new > 0.0 {
        old * (new / old).powf(part)
    } else {
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inference::pooled::find_mode;
    use crate::inference::pooled::testing::{NODES, pools};
    use crate::inference::sites::LatentGaussian;
    use crate::inference::sites::rows::Rows;
    use crate::inference::sites::tests::Toy;
    use crate::likelihood::Poisson;
    use crate::likelihood::local::Local;
    use crate::link::Link;

    /// Rows without an upper end and rows of zero under a function that varies by factors of a
    /// thousand: whole steps alternate.
    #[test]
    fn rows_that_alternate_settle_by_parts_of_steps() {
        let kinds = [
            (vec![0.0, 10.0, 100.0], vec![4.0, 19.0, f64::INFINITY]),
            (vec![0.0, 0.0, 0.0], vec![0.0, 0.0, 0.0]),
        ];
        let mut short = 0;
        for (lower, upper) in kinds {
            for variance in [6.0, 12.0, 20.0] {
                let table = Poisson::ranges(lower.clone(), upper.clone(), vec![10.0; 3], Link::Exp);
                let table: Box<dyn Local> = Box::new(table.unwrap());
                let toy = Toy::new(&NODES, vec![table]);
                let (theta, pools) = ([variance, 0.4], pools(Link::Exp));
                let mode = find_mode(&toy, &pools, &theta, &Default::default()).unwrap();
                let mut rows = Rows::new(&toy, &theta);
                rows.count = pools.rows();
                let search = Search {
                    mode: &mode,
                    prior: toy.prior_mean(),
                    pools: &pools,
                    rows: &rows,
                };
                let (sites, first) = search.at_mode().unwrap();
                let start = Point::of(&first, sites.iter().map(|s| s.precision).collect());
                let whole = search.follow(&PLANS[0], &start);
                short += usize::from(whole.is_err());
                let state = search.converge().unwrap();
                // Whatever the way, what it ends in follows from itself.
                let cavity = state.spread.cavity.iter().zip(&state.spread.variance);
                let precision = cavity.map(|(c, v)| v.recip() - c.variance.recip());
                let precision = precision.collect();
                let at = Point::of(&state, precision);
                let (_, _, moved) = search.step(&at, 1.0).unwrap();
                // What counts as converged.
                assert!(moved < GOOD_ENOUGH, "{lower:?} {variance}: {moved}");
            }
        }
        assert!(short > 0, "whole steps do it: harder rows are wanted here");
    }
}
