//! Products of leaves along one dimension, such as `se(t) * periodic(t)`, between intervals.
//!
//! With the trapezoid `T` of [`super::line`], the overlap of two intervals as a function of their
//! shift `u`, an entry is `1/(w w') int T(u) k(u) m(u) du`, where `m` is the mean of the linear
//! leaves, the polynomial `(x (x + u))^p`, over the `x` that `u` leaves room for.
//!
//! # Numerics
//! Composite Gauss-Legendre, cut at the corners of `T` and at zero. Panels begin as long as the
//! shortest scale of a leaf and grow with the distance from zero, or from the nearest peak of a
//! cycle: their number grows with the logarithm of a lengthscale, not with its inverse. Beyond what
//! the leaves reach nothing is integrated. A cycle that repeats more than [`CYCLES`] times within
//! that reach counts with its mean, which is off by `1 / (2 pi CYCLES)^2`, 1e-5 of the variance.

use std::sync::LazyLock;

use pulp::Scalar;

use crate::kernel::{
    IndexedLeaf, Kind, Matern12, Matern32, Matern52, Periodic, Profile, RationalQuadratic, Se,
    Tooth, remainder,
};
use crate::quadrature::gauss_legendre;

/// Nodes and weights on `[0, 1]`.
static RULE: LazyLock<Vec<(f64, f64)>> =
    LazyLock::new(|| gauss_legendre(12).on(0.0, 1.0).collect());
/// Length of a panel as a share of its distance from where leaves peak.
const GROWTH: f64 = 0.5;
/// Most repetitions of a cycle within the reach of the other leaves that are followed one by one.
const CYCLES: f64 = 64.0;
/// Most panels of one stretch, whatever the leaves.
const MOST_PANELS: f64 = 2000.0;

/// A leaf at one value of the hyperparameters, and where its slopes belong.
#[derive(Debug, Clone, Copy)]
struct Leaf {
    shape: Shape,
    /// What it counts with where its cycles are not followed.
    mean: (f64, [f64; 2]),
    /// Of the lengthscale, and of the period or `alpha`.
    slots: [usize; 2],
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Radial(Kind, f64),
    Rational { lengthscale: f64, alpha: f64 },
    Periodic { lengthscale: f64, period: f64 },
}

impl Shape {
    /// Length over which it changes most.
    fn step(self) -> f64 {
        match self {
            Self::Radial(_, l) => l,
            Self::Rational { lengthscale, alpha } => lengthscale * alpha.sqrt().min(1.0),
            Self::Periodic {
                lengthscale,
                period,
            } => 0.2 * period * lengthscale.min(1.0),
        }
    }

    /// Distance beyond which it is below 1e-30.
    fn reach(self) -> f64 {
        match self {
            Self::Radial(Kind::Se, l) => 12.0 * l,
            Self::Radial(Kind::Matern12, l) => 75.0 * l,
            Self::Radial(_, l) => 50.0 * l,
            _ => f64::INFINITY,
        }
    }

    /// Its value at `u`, and the derivatives of its logarithm in its two parameters. `rest`: `u`
    /// less whole periods, where these are known.
    fn at(self, u: f64, rest: Option<f64>) -> (f64, [f64; 2]) {
        match self {
            Self::Radial(kind, l) => {
                let (z, s) = (u / l, Scalar::new());
                let r2 = z * z;
                let (k, slope) = match kind {
                    Kind::Se => return (Se::radial(s, r2).0, [r2 / l, 0.0]),
                    Kind::Matern12 => Matern12::radial(s, r2),
                    Kind::Matern32 => Matern32::radial(s, r2),
                    _ => Matern52::radial(s, r2),
                };
                // At zero the slope of the kink is not a number, and counts for nothing.
                let own = if r2 > 0.0 { slope * r2 / k } else { 0.0 };
                (k, [own / l, 0.0])
            }
            Self::Rational { lengthscale, alpha } => {
                let z = u / lengthscale;
                let (k, slope, d_alpha) = RationalQuadratic::radial(z * z, alpha);
                let own = (slope / k) * z * z / lengthscale;
                (k, [own, d_alpha / k])
            }
            Self::Periodic {
                lengthscale,
                period,
            } => {
                let rest = rest.unwrap_or_else(|| remainder(u, period));
                let (k, dl, dp) = Periodic::across(rest, u, lengthscale, period);
                (k, [dl / k, dp / k])
            }
        }
    }

    /// The mean over a cycle, and the derivative of its logarithm in the lengthscale.
    fn mean(self) -> (f64, [f64; 2]) {
        let Self::Periodic { lengthscale, .. } = self else {
            return (1.0, [0.0; 2]);
        };
        if lengthscale < 0.1 {
            let tooth = Tooth::new(lengthscale.max(1e-250));
            let mean = tooth.area / tooth.period;
            // The area is in units of a length that grows with the lengthscale.
            return (mean, [tooth.area_slope / tooth.area / lengthscale, 0.0]);
        }
        let (a, slope) = Periodic::coefficients(lengthscale);
        (a[0], [slope[0] / a[0], 0.0])
    }
}

/// The product of the leaves at one value of the hyperparameters.
pub(super) struct Product {
    leaves: Vec<Leaf>,
    /// The origins of the linear leaves, and Gauss-Legendre on `[0, 1]`, exact for their product.
    origins: Vec<f64>,
    rule: Vec<(f64, f64)>,
    with_slopes: bool,
    /// Beyond this there is nothing.
    reach: f64,
    /// Length over which all leaves that are followed are smooth.
    step: f64,
    /// The leaf of the narrowest peaks of all cycles that are followed one by one.
    comb: Option<usize>,
    /// Leaves that count with their means.
    is_mean: Vec<bool>,
    logs: Vec<[f64; 2]>,
    pub value: f64,
    pub slope: Vec<f64>,
}

type Interval = (f64, f64);

/// A stretch of shifts: the intervals, and the density `p + q tau` of `tau` in `[0, 1]`, times a
/// factor.
struct Piece {
    intervals: (Interval, Interval),
    from: f64,
    length: f64,
    p: f64,
    q: f64,
    factor: f64,
}

impl Product {
    /// # Arguments
    /// * `leaves` - each of one column
    /// * `parameters` - what the slopes belong to, in this order
    pub fn new(
        leaves: &[IndexedLeaf],
        parameters: &[usize],
        theta: &[f64],
        with_slopes: bool,
    ) -> Self {
        let slot = |p: usize| parameters.iter().position(|q| *q == p).unwrap_or(0);
        let linear = leaves.iter().filter(|l| l.kind == Kind::Linear);
        let origins: Vec<f64> = linear.map(|l| l.origin).collect();
        let one = |leaf: &IndexedLeaf| {
            let own = *leaf.lengthscales.first()?;
            let lengthscale = theta[own];
            let (shape, other) = match leaf.kind {
                Kind::Se | Kind::Matern12 | Kind::Matern32 | Kind::Matern52 => {
                    (Shape::Radial(leaf.kind, lengthscale), own)
                }
                Kind::Rq => {
                    let alpha = leaf.alpha?;
                    let shape = Shape::Rational {
                        lengthscale,
                        alpha: theta[alpha],
                    };
                    (shape, alpha)
                }
                Kind::Periodic => {
                    let period = *leaf.periods.first()?;
                    let shape = Shape::Periodic {
                        lengthscale,
                        period: theta[period],
                    };
                    (shape, period)
                }
                Kind::Linear | Kind::Constant | Kind::Iid | Kind::Coregion => return None,
            };
            Some(Leaf {
                shape,
                mean: shape.mean(),
                slots: [slot(own), slot(other)],
            })
        };
        let leaves: Vec<Leaf> = leaves.iter().filter_map(one).collect();
        let reaches = leaves.iter().map(|leaf| leaf.shape.reach());
        Self {
            rule: gauss_legendre(origins.len() + 1).on(0.0, 1.0).collect(),
            origins,
            with_slopes,
            reach: reaches.fold(f64::INFINITY, f64::min),
            step: f64::INFINITY,
            comb: None,
            is_mean: vec![false; leaves.len()],
            logs: vec![[0.0; 2]; leaves.len()],
            value: 0.0,
            slope: vec![0.0; parameters.len()],
            leaves,
        }
    }

    /// The entry of two intervals, each lower edge and width, in `value` and `slope`.
    pub fn pair(&mut self, a: Interval, b: Interval) {
        self.value = 0.0;
        self.slope.fill(0.0);
        let (w, v) = (a.1, b.1);
        let delta = b.0 - a.0;
        let (small, large) = (w.min(v), w.max(v));
        self.choose(delta - w, delta + v);
        if large == 0.0 {
            let (centre, rest) = self.nearest_peak(delta);
            self.add(centre, rest, self.lines(a.0, b.0));
            return;
        }
        let start = delta - w;
        let flat = large - small;
        let (ramp_end, plateau_end) = (start + small, start + small + flat);
        let ratio = small / large;
        let pieces = [
            (start, small, 0.0, 1.0, ratio),
            (ramp_end, flat, 1.0, 0.0, flat / large),
            (plateau_end, small, 1.0, -1.0, ratio),
        ];
        for (from, length, p, q, factor) in pieces {
            if factor > 0.0 {
                self.piece(&Piece {
                    intervals: (a, b),
                    from,
                    length,
                    p,
                    q,
                    factor,
                });
            }
        }
    }

    /// Which cycles are followed, over shifts from one to the other.
    fn choose(&mut self, from: f64, to: f64) {
        let (from, to) = (from.max(-self.reach), to.min(self.reach));
        self.comb = None;
        self.step = f64::INFINITY;
        let mut narrowest = f64::INFINITY;
        for (i, leaf) in self.leaves.iter().enumerate() {
            let step = leaf.shape.step();
            if let Shape::Periodic { period, .. } = leaf.shape {
                self.is_mean[i] = (to - from) / period > CYCLES;
                if self.is_mean[i] {
                    continue;
                }
                if step < narrowest {
                    (self.comb, narrowest) = (Some(i), step);
                }
            }
            self.step = self.step.min(step);
        }
    }

    fn period(&self) -> Option<f64> {
        match self.leaves[self.comb?].shape {
            Shape::Periodic { period, .. } => Some(period),
            _ => None,
        }
    }

    /// The nearest peak of the cycle that is followed most closely, and the distance from it.
    fn nearest_peak(&self, u: f64) -> (f64, f64) {
        self.period().map_or((0.0, u), |period| {
            let rest = remainder(u, period);
            (u - rest, rest)
        })
    }

    fn piece(&mut self, piece: &Piece) {
        if piece.length <= self.step {
            self.short_piece(piece);
            return;
        }
        let end = piece.from + piece.length;
        let (from, to) = (piece.from.max(-self.reach), end.min(self.reach));
        for (low, high) in [(from, to.min(0.0)), (from.max(0.0), to)] {
            if low >= high {
                continue;
            }
            let Some(period) = self.period() else {
                self.stretch(piece, 0.0, low, high);
                continue;
            };
            // Half a cycle to either side of every peak.
            let (first, last) = (
                (low / period).round() as i64,
                (high / period).round() as i64,
            );
            for k in first..=last {
                let centre = k as f64 * period;
                let half = 0.5 * period;
                let (left, right) = (low.max(centre - half), high.min(centre + half));
                for (low, high) in [(left, right.min(centre)), (left.max(centre), right)] {
                    if low < high {
                        self.stretch(piece, centre, low, high);
                    }
                }
            }
        }
    }

    /// A piece within which no leaf changes much: nodes on all of it, cut at zero.
    fn short_piece(&mut self, piece: &Piece) {
        if piece.from.abs() >= self.reach {
            return;
        }
        let cut = if piece.from < 0.0 && 0.0 < piece.from + piece.length {
            -piece.from / piece.length
        } else {
            0.0
        };
        for (from, extent) in [(0.0, cut), (cut, 1.0 - cut)] {
            if extent == 0.0 {
                continue;
            }
            for &(x, weight) in RULE.iter() {
                let tau = from + extent * x;
                let (centre, rest) = self.nearest_peak(piece.from + piece.length * tau);
                self.node(piece, centre, rest, tau, weight * extent);
            }
        }
    }

    /// Panels from the end that is nearer to the peak at `centre` outwards.
    fn stretch(&mut self, piece: &Piece, centre: f64, low: f64, high: f64) {
        let is_right = low >= centre;
        let sign = if is_right { 1.0 } else { -1.0 };
        let (inner, outer) = if is_right { (low, high) } else { (high, low) };
        let near = (inner - centre).abs();
        let whole = (outer - inner).abs();
        // Where that is in the piece: its ends exactly.
        let start = if inner == piece.from {
            0.0
        } else if inner == piece.from + piece.length {
            1.0
        } else {
            ((inner - piece.from) / piece.length).clamp(0.0, 1.0)
        };
        // Leaves that peak at zero are no nearer than this, wherever in the stretch.
        let from_zero = match centre == 0.0 {
            true => 0.0,
            false => low.abs().min(high.abs()),
        };
        let mut done = 0.0;
        while done < whole {
            let at = near + done;
            let mut length = f64::INFINITY;
            for (i, leaf) in self.leaves.iter().enumerate() {
                let step = leaf.shape.step();
                let allowed = match leaf.shape {
                    Shape::Periodic { .. } if self.is_mean[i] => continue,
                    Shape::Periodic { .. } if self.comb != Some(i) => step,
                    Shape::Periodic { .. } => step.max(GROWTH * at),
                    _ if centre == 0.0 => step.max(GROWTH * at),
                    _ => step.max(GROWTH * from_zero),
                };
                length = length.min(allowed);
            }
            // Never so short that nothing moves.
            let least = (whole / MOST_PANELS).min(GROWTH * at);
            let length = length.max(least).max(4.0 * f64::EPSILON * at);
            let is_last = 1.01 * length >= whole - done;
            let length = if is_last { whole - done } else { length };
            let share = length / piece.length;
            for &(x, weight) in RULE.iter() {
                let along = done + length * x;
                let tau = (start + sign * (along / piece.length)).clamp(0.0, 1.0);
                self.node(piece, centre, sign * (near + along), tau, weight * share);
            }
            done = if is_last { whole } else { done + length };
        }
    }

    fn node(&mut self, piece: &Piece, centre: f64, rest: f64, tau: f64, weight: f64) {
        let mean = self.linear_mean(piece.intervals, centre + rest);
        let density = piece.p + piece.q * tau;
        self.add(centre, rest, piece.factor * weight * density * mean);
    }

    /// Mean of the linear leaves over the pairs of the two intervals with `x' - x = u`.
    fn linear_mean(&self, ((s, w), (t, v)): (Interval, Interval), u: f64) -> f64 {
        if self.origins.is_empty() {
            return 1.0;
        }
        let (low, high) = (s.max(t - u), (s + w).min(t + v - u));
        let each = self.rule.iter().map(|(tau, weight)| {
            let x = low + (high - low) * tau;
            weight * self.lines(x, x + u)
        });
        each.sum()
    }

    /// The product of the linear leaves between two places.
    fn lines(&self, x: f64, y: f64) -> f64 {
        self.origins.iter().map(|o| (x - o) * (y - o)).product()
    }

    /// Adds `weight` times the product at the shift `centre + rest`.
    fn add(&mut self, centre: f64, rest: f64, weight: f64) {
        let u = centre + rest;
        let mut k = weight;
        for (i, leaf) in self.leaves.iter().enumerate() {
            let (own, logs) = if self.is_mean[i] {
                leaf.mean
            } else {
                leaf.shape.at(u, (self.comb == Some(i)).then_some(rest))
            };
            k *= own;
            // Every leaf is positive: where one is nothing, so is the product with its slopes.
            if k == 0.0 {
                return;
            }
            self.logs[i] = logs;
        }
        self.value += k;
        if self.with_slopes {
            for (leaf, logs) in self.leaves.iter().zip(&self.logs) {
                for (slot, log) in leaf.slots.into_iter().zip(logs) {
                    self.slope[slot] += k * log;
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "product_tests.rs"]
mod tests;
