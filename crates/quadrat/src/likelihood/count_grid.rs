//! Counts of many dispersions: moments of cavity times likelihood on one grid of latent values.
//!
//! Behind `exp`, with `mu = exposure e^f` and `a = 1 / alpha`, a count and "at least `y`" are
//!
//! $$ \log p(y | f) = y \log \mu - (y + a) \log(1 + \alpha \mu) + \sum_{k=1}^{y-1} \log(1 + \alpha
//! k) - \log y!, \qquad P(Y \ge y | f) = 1 - \sum_{k < y} p(k | f) $$
//!
//! with `p(0) = (1 + alpha mu)^-a` and `p(k + 1) / p(k) = (1 + alpha k) mu / ((1 + alpha mu) (k +
//! 1))`. All that depends on the latent value alone is the same for every dispersion, and the rest
//! is a loop over the grid, several values at a time.
//!
//! # Numerics
//! The trapezoid rule, whose error falls exponentially: cavity times likelihood is analytic in `f`
//! up to `pi i`, and the step is at most 0.5 of the narrowest width, and 0.3. Where counts are
//! small and the cavity is wide the density falls like `exp(y f)` and `exp(-e^f)`, whose transform
//! is `Gamma(y + i omega)`, `omega = 2 pi / h`: 1e-11 for `y = 3`. The mode for every dispersion
//! lies between that for the smallest one and the mean of the cavity, so that 8.5 standard
//! deviations of the cavity around both hold all. `log(1 + x)` is right to some ulp of itself, so
//! that nothing cancels for dispersions near zero; larger counts than [`MOST`] would.

use pulp::{Arch, Simd, WithSimd};

use super::count_rows::CountRows;
use super::local::{Belief, Change};
use super::quadrature::mode;
use crate::link::Link;
use crate::special::{CountMean, elementary, exp_simd, log_simd};

/// Standard deviations of the cavity to either side.
const REACH: f64 = 8.5;
/// Longest step in widths of the narrowest density, and in `f` itself.
const STEP: (f64, f64) = (0.5, 0.3);
/// The same where few nodes will do: good to 1e-6 of the cavity.
const COARSE: (f64, (f64, f64)) = (6.5, (0.75, 0.45));
/// More nodes, or more terms of a sum, cost as much as a grid for every dispersion.
const NODES: usize = 600;
const TERMS: f64 = 400.0;
/// Counts up to this have their constant from a product.
const FACTORS: f64 = 100.0;
/// Counts from here on lose digits in `y log mu - (y + a) log(1 + alpha mu)`.
pub(super) const MOST: f64 = 1e4;
/// An open row must leave this much of the cavity, times `y`: what it says is one minus a sum that
/// is right to some `y` ulp.
const LEFT: f64 = 1e-5;
/// Lanes of the widest vectors.
const LANES: usize = 8;

/// Latent values, and what is the same for every dispersion.
struct Grid {
    /// The latent value less the mean of the cavity.
    away: Vec<f64>,
    /// The mean of the count.
    mean: Vec<f64>,
    /// Of a count, the logarithm of the cavity's density times `mu^y`; of an open row the density;
    /// both up to `scale`.
    base: Vec<f64>,
    /// `step / sqrt(2 pi s)`.
    scale: f64,
}

impl Grid {
    /// `None` for rows and cavities that are not of this kind, and where it would be long.
    fn new(
        rows: &CountRows,
        row: usize,
        smallest: f64,
        cavity: Belief,
        is_coarse: bool,
    ) -> Option<Self> {
        let (y, exposure) = (rows.lower[row], rows.exposure[row]);
        let is_open = rows.upper[row] == f64::INFINITY;
        let suits = rows.link == Link::Exp && (is_open || rows.is_exact(row));
        let Belief { mean, variance } = cavity;
        let usable = mean.is_finite() && variance > 0.0 && variance.is_finite() && smallest > 0.0;
        let most = if is_open { TERMS } else { MOST };
        if !(suits && usable) || y > most {
            return None;
        }
        let offset = elementary::log(exposure);
        let centre = rows.guess(row);
        let (furthest, curvature) = if is_open {
            // The tail is all but one from there on, and bends no more than the count at its edge.
            (centre + 4.0 / y.sqrt(), y.max(1.0))
        } else {
            let peak = mode(cavity, centre, |f| rows.jet(row, smallest, f));
            let at_peak = elementary::exp((peak + offset).min(crate::link::CLIP));
            (peak, at_peak.max(0.5 * y))
        };
        let (reach, longest) = match is_coarse {
            true => COARSE,
            false => (REACH, STEP),
        };
        let reach = reach * variance.sqrt();
        let shift = furthest - mean;
        let width = (1.0 / variance + curvature).sqrt().recip();
        let step = (longest.0 * width).min(longest.1);
        let away = nodes(shift.min(0.0) - reach, shift.max(0.0) + reach, step)?;
        let logs = away.iter().map(|u| mean + u + offset);
        let prior = away.iter().map(|u| -0.5 * u * u / variance);
        let mut grid = Self {
            mean: logs.clone().map(|u| u.min(crate::link::CLIP)).collect(),
            base: match is_open {
                true => prior.collect(),
                false => prior.zip(logs).map(|(p, u)| p + y * u).collect(),
            },
            scale: step / (2.0 * std::f64::consts::PI * variance).sqrt(),
            away,
        };
        crate::special::exp(&mut grid.mean);
        if is_open {
            crate::special::exp(&mut grid.base);
        }
        Some(grid)
    }

    /// A count. `logs` has an entry for every node.
    fn exact(&self, y: f64, dispersion: f64, cavity: Belief, logs: &mut [f64]) -> Option<Change> {
        let (most, sums) = Arch::new().dispatch(Exact {
            grid: self,
            dispersion,
            power: y + 1.0 / dispersion,
            logs,
        });
        let usable = most.is_finite() && sums[0] > 0.0;
        usable.then(|| self.change(cavity, most + log_coefficient(y, dispersion), sums))
    }

    /// At least `y`.
    fn open(
        &self,
        y: f64,
        dispersion: f64,
        cavity: Belief,
        ratios: &mut Vec<f64>,
    ) -> Option<Change> {
        ratios.clear();
        ratios.extend((1..y as usize).map(|k| {
            let k = k as f64;
            (1.0 + dispersion * (k - 1.0)) / k
        }));
        let sums = Arch::new().dispatch(Open {
            grid: self,
            dispersion,
            ratios,
        });
        let leaves = self.scale * sums[0] > LEFT * y.max(1.0);
        leaves.then(|| self.change(cavity, 0.0, sums))
    }

    /// `log Z` and moments, from the sums of weights, of weights times `away`, and times its
    /// square.
    fn change(&self, cavity: Belief, log: f64, [total, first, second]: [f64; 3]) -> Change {
        let moved = first / total;
        Change {
            log_z: log + elementary::log(self.scale * total),
            moved,
            lost: cavity.variance - (second / total - moved * moved),
        }
    }
}

impl CountRows {
    /// [`super::local::Local::tilted_over`] of dispersions.
    pub(super) fn tilted_over(
        &self,
        row: usize,
        dispersions: &[f64],
        cavity: Belief,
        is_coarse: bool,
        out: &mut [Change],
    ) {
        let smallest = dispersions.iter().copied().fold(f64::INFINITY, f64::min);
        let grid = match self.is_void(row) {
            true => None,
            false => Grid::new(self, row, smallest, cavity, is_coarse),
        };
        let grid = match grid {
            Some(grid) => grid,
            None => {
                for (&dispersion, out) in dispersions.iter().zip(out) {
                    *out = Change::of(self.tilted(row, dispersion, cavity), cavity);
                }
                return;
            }
        };
        let y = self.lower[row];
        let is_exact = self.is_exact(row);
        // Logarithms at the nodes, or ratios of terms.
        let mut buffer = if is_exact {
            vec![0.0; grid.away.len()]
        } else {
            Vec::with_capacity(y as usize)
        };
        for (&dispersion, out) in dispersions.iter().zip(out) {
            let on_grid = match is_exact {
                true => grid.exact(y, dispersion, cavity, &mut buffer),
                false => grid.open(y, dispersion, cavity, &mut buffer),
            };
            *out =
                on_grid.unwrap_or_else(|| Change::of(self.tilted(row, dispersion, cavity), cavity));
        }
    }
}

/// Equally spaced numbers from one to the other, or little beyond: a multiple of every number of
/// lanes. `None` where they are many.
pub(super) fn nodes(lower: f64, upper: f64, step: f64) -> Option<Vec<f64>> {
    let count = ((upper - lower) / step).ceil();
    if count.is_nan() || count >= NODES as f64 {
        return None;
    }
    let count = (count as usize + 1).next_multiple_of(LANES);
    Some((0..count).map(|i| lower + i as f64 * step).collect())
}

/// `sum_{0 < k < y} log(1 + alpha k) - log y!`.
pub(super) fn log_coefficient(y: f64, dispersion: f64) -> f64 {
    if y > FACTORS {
        let total = y + 1.0 / dispersion;
        return CountMean::new(y, dispersion).log_probability(y) - y * elementary::log(y)
            + total * elementary::log1p(dispersion * y);
    }
    let (mut log, mut product) = (0.0, 1.0);
    for k in 1..=y as usize {
        product *= (1.0 + dispersion * (k as f64 - 1.0)) / k as f64;
        if !(1e-200..1e200).contains(&product) {
            log += elementary::log(product);
            product = 1.0;
        }
    }
    log + elementary::log(product)
}

/// `log(1 + x)` in each lane for `x >= 0`, to some ulp of itself.
#[inline(always)]
pub(super) fn log1p_simd<S: Simd>(s: S, x: S::f64s) -> S::f64s {
    let one = s.splat_f64s(1.0);
    let sum = s.add_f64s(one, x);
    // What rounding took from the sum.
    let taken = s.sub_f64s(x, s.sub_f64s(sum, one));
    s.add_f64s(log_simd(s, sum), s.div_f64s(taken, sum))
}

/// Sums of weights, and of weights times first and second powers.
#[inline(always)]
fn add<S: Simd>(s: S, sums: &mut [S::f64s; 3], weight: S::f64s, away: S::f64s) {
    let first = s.mul_f64s(weight, away);
    sums[0] = s.add_f64s(sums[0], weight);
    sums[1] = s.add_f64s(sums[1], first);
    sums[2] = s.mul_add_f64s(first, away, sums[2]);
}

/// A count: the largest logarithm, and sums relative to it.
struct Exact<'a> {
    grid: &'a Grid,
    dispersion: f64,
    /// `y + 1 / alpha`.
    power: f64,
    logs: &'a mut [f64],
}

impl WithSimd for Exact<'_> {
    type Output = (f64, [f64; 3]);

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> Self::Output {
        // The grid is a multiple of every number of lanes.
        let (mean, _) = S::as_simd_f64s(&self.grid.mean);
        let (base, _) = S::as_simd_f64s(&self.grid.base);
        let (away, _) = S::as_simd_f64s(&self.grid.away);
        let (logs, _) = S::as_mut_simd_f64s(self.logs);
        let (dispersion, power) = (s.splat_f64s(self.dispersion), s.splat_f64s(self.power));
        let mut most = s.splat_f64s(f64::NEG_INFINITY);
        for ((mean, base), log) in mean.iter().zip(base).zip(logs.iter_mut()) {
            let stretch = log1p_simd(s, s.mul_f64s(dispersion, *mean));
            *log = s.negate_mul_add_f64s(power, stretch, *base);
            most = s.max_f64s(most, *log);
        }
        let most = s.reduce_max_f64s(most);
        let top = s.splat_f64s(most);
        let mut sums = [s.splat_f64s(0.0); 3];
        for (log, away) in logs.iter().zip(away) {
            let weight = exp_simd(s, s.sub_f64s(*log, top));
            add(s, &mut sums, weight, *away);
        }
        (most, sums.map(|sum| s.reduce_sum_f64s(sum)))
    }
}

/// At least so many.
struct Open<'a> {
    grid: &'a Grid,
    dispersion: f64,
    /// `(1 + alpha k) / (k + 1)`, of all terms but the last.
    ratios: &'a [f64],
}

impl WithSimd for Open<'_> {
    type Output = [f64; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) -> Self::Output {
        let (mean, _) = S::as_simd_f64s(&self.grid.mean);
        let (base, _) = S::as_simd_f64s(&self.grid.base);
        let (away, _) = S::as_simd_f64s(&self.grid.away);
        let (zero, one) = (s.splat_f64s(0.0), s.splat_f64s(1.0));
        let dispersion = s.splat_f64s(self.dispersion);
        let shape = s.splat_f64s(-1.0 / self.dispersion);
        let mut sums = [zero; 3];
        for ((mean, base), away) in mean.iter().zip(base).zip(away) {
            let spread = s.mul_f64s(dispersion, *mean);
            let odds = s.div_f64s(*mean, s.add_f64s(one, spread));
            let mut term = exp_simd(s, s.mul_f64s(shape, log1p_simd(s, spread)));
            let mut below = term;
            for ratio in self.ratios {
                term = s.mul_f64s(term, s.mul_f64s(s.splat_f64s(*ratio), odds));
                below = s.add_f64s(below, term);
            }
            let above = s.max_f64s(zero, s.sub_f64s(one, below));
            add(s, &mut sums, s.mul_f64s(*base, above), *away);
        }
        sums.map(|sum| s.reduce_sum_f64s(sum))
    }
}
