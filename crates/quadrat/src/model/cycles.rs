//! Periods that the rows suggest: the peaks of their periodogram.
//!
//! The evidence as a function of a period has an optimum for every cycle that rows as far apart as
//! these might have, each some `period^2 / range` wide. No search from a few starts finds the right
//! one among dozens. What a wave of one frequency explains of the values is cheap to look at for
//! all of them, and its peaks are where searches for a period begin.
//!
//! A wave is fitted beside a parabola, whose part is taken out of both before:
//!
//! $$ \tilde y_i \approx a \tilde c_i + b \tilde s_i, \qquad c_i = \cos 2 \pi f t_i, \quad s_i =
//! \sin 2 \pi f t_i $$
//!
//! The best one is subtracted, and the next one is looked for in what it leaves: a slow curve,
//! which is no wave, hides the cycle then no more, nor do the waves that the best one would seem to
//! have beside it.
//!
//! # Source
//! Lomb 1976; Zechmeister and Kuerster 2009 for waves beside a mean; Roberts, Lehar and Dreher 1987
//! for subtracting them in turn.

use std::f64::consts::TAU;

use crate::kernel::{Kernel, KernelParameter, Role};
use crate::linalg::dot;
use crate::parameter::Parameter;
use crate::problem::extent::Extent;

/// Places with which waves are compared at most: neighbours are averaged where there are more.
const PLACES: usize = 2000;
/// Fewer say nothing: a wave and a parabola have six numbers.
const FEWEST: usize = 8;
/// Frequencies in the width of a peak, one over the range.
const FINE: f64 = 6.0;
/// Highest frequency in turns per place: twice that of evenly spaced ones, whose waves look alike
/// from half a turn on.
const FASTEST: f64 = 1.0;
/// Waves that are told at most.
const MOST: usize = 3;
/// Periods that differ by less than this part are one.
const ALIKE: f64 = 0.02;
/// Of a wave, what the parabola leaves at least.
const LEFT: f64 = 1e-3;
/// How far above the largest of waves of noise one is that is told: of nine tables of noise one has
/// some.
const SURE: f64 = 4.0;
/// Part of the squares of all values that is rounding.
const ROUNDING: f64 = 1e-24;
/// Waves within a cycle of known period that are its own.
const WITHIN: usize = 5;

/// Where a search for periods that are learned begins besides: at the starts of all parameters, but
/// for these periods, which are those that the rows suggest. Where several are learned along one
/// column, each begins at another of them.
///
/// # Arguments
/// * `parameters` - those of the kernel first
/// * `places` - what rows report along a column
pub(super) fn starts(
    kernel: &Kernel,
    parameters: &[Parameter],
    places: impl Fn(usize) -> Vec<PlaceValue>,
) -> Vec<Vec<f64>> {
    let pairs = || kernel.parameters().iter().zip(parameters).enumerate();
    let period = |(i, (own, p)): (usize, (&KernelParameter, &Parameter))| match &own.role {
        Role::Period(c) => Some((i, *c, p.fixed)),
        _ => None,
    };
    let periods_of: Vec<(usize, usize, bool)> = pairs().filter_map(period).collect();
    let mut columns: Vec<usize> = periods_of
        .iter()
        .filter(|(_, _, fixed)| !fixed)
        .map(|(_, column, _)| *column)
        .collect();
    columns.sort_unstable();
    columns.dedup();
    let mut thetas: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let here = periods_of.iter().filter(|(_, c, _)| *c == column);
        let (known, free): (Vec<usize>, Vec<usize>) = (
            here.clone().filter(|p| p.2).map(|p| p.0).collect(),
            here.filter(|p| !p.2).map(|p| p.0).collect(),
        );
        let least = free.iter().map(|&i| parameters[i].lower);
        let least = least.fold(f64::INFINITY, f64::min);
        let is_known = |period: &f64| {
            let mut waves = known
                .iter()
                .flat_map(|&i| (1..=WITHIN).map(move |wave| parameters[i].start / wave as f64));
            waves.any(|known| (known / period - 1.0).abs() < ALIKE)
        };
        let mut found = periods(places(column), least);
        found.retain(|period| !is_known(period));
        for k in 0..found.len() {
            if thetas.len() == k {
                thetas.push(parameters.iter().map(|p| p.start).collect());
            }
            for (rank, &i) in free.iter().enumerate() {
                thetas[k][i] = found[(k + rank) % found.len()];
            }
        }
    }
    thetas
}

/// What rows say at a place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlaceValue {
    pub at: f64,
    pub value: f64,
    /// How often it was seen.
    pub times: f64,
}

/// The periods of the waves that explain most of the values, the best first; those that explain no
/// more than waves do of noise are left out, and so are places far from all others.
///
/// # Arguments
/// * `places` - in any order
/// * `least` - the shortest period that is looked for
///
/// # Numerics
/// `36 n^2` steps of some ten flops for `n` places, of which there are at most 2,000.
pub(super) fn periods(places: Vec<PlaceValue>, least: f64) -> Vec<f64> {
    let (mut places, are_averages) = merged(places);
    // Beside one place far away all others would look like one.
    let extent = Extent::of(&places.iter().map(|p| (p.at, p.at)).collect::<Vec<_>>());
    places.retain(|p| extent.holds((p.at, p.at)));
    let n = places.len();
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        return Vec::new();
    };
    let range = last.at - first.at;
    if n < FEWEST || !(range > 0.0 && range.is_finite()) {
        return Vec::new();
    }
    let waves = Waves::new(&places, first.at, range);
    let most = if are_averages { 0.5 } else { FASTEST };
    let fastest = (range / least).min(most * n as f64);
    let whole: f64 = places.iter().map(|p| p.times * p.value * p.value).sum();
    let rounding = ROUNDING * whole;
    let mut residual = waves.values.clone();
    let mut found: Vec<f64> = Vec::new();
    for _ in 0..MOST {
        let Some((turns, gained)) = waves.best(&residual, fastest) else {
            break;
        };
        let left = dot(&residual, &residual) - gained;
        // Half of what a wave explains of noise of unit variance is an exponential variable, the
        // largest of so many some log of their number.
        let of_noise = left.max(0.0) / n as f64 * 2.0 * ((fastest + 1.0).ln() + SURE);
        if gained <= of_noise + rounding {
            break;
        }
        let period = range / turns;
        if found.iter().all(|p| (p / period - 1.0).abs() > ALIKE) {
            found.push(period);
        }
        waves.subtract(&mut residual, turns);
    }
    found
}

/// Sorted, one for each place, and no more than are compared; whether neighbours were averaged.
fn merged(mut places: Vec<PlaceValue>) -> (Vec<PlaceValue>, bool) {
    places.retain(|p| p.at.is_finite() && p.value.is_finite() && p.times > 0.0);
    places.sort_unstable_by(|a, b| a.at.total_cmp(&b.at).then(a.value.total_cmp(&b.value)));
    let join = |group: &[PlaceValue]| {
        let times: f64 = group.iter().map(|p| p.times).sum();
        let mean = |of: &dyn Fn(&PlaceValue) -> f64| {
            group.iter().map(|p| p.times * of(p)).sum::<f64>() / times
        };
        PlaceValue {
            at: mean(&|p| p.at),
            value: mean(&|p| p.value),
            times,
        }
    };
    let alike = places.chunk_by(|a, b| a.at == b.at);
    let places: Vec<PlaceValue> = alike.map(join).collect();
    let size = places.len().div_ceil(PLACES).max(1);
    (places.chunks(size).map(join).collect(), size > 1)
}

/// Values less their parabola, and waves at their places.
struct Waves {
    /// Places as parts of the range.
    at: Vec<f64>,
    /// Square roots of how often each was seen: all sums are of squares of what these multiply.
    root: Vec<f64>,
    /// Orthonormal, a parabola together.
    slow: [Vec<f64>; 3],
    /// What the parabola leaves of the values.
    values: Vec<f64>,
}

impl Waves {
    fn new(places: &[PlaceValue], first: f64, range: f64) -> Self {
        let at: Vec<f64> = places.iter().map(|p| (p.at - first) / range).collect();
        let root: Vec<f64> = places.iter().map(|p| p.times.sqrt()).collect();
        let mut slow: [Vec<f64>; 3] = Default::default();
        for power in 0..slow.len() {
            let each = root.iter().zip(&at);
            let mut own: Vec<f64> = each
                .map(|(r, x)| r * (x - 0.5).powi(power as i32))
                .collect();
            for other in &slow[..power] {
                take_out(&mut own, other);
            }
            to_unit(&mut own);
            slow[power] = own;
        }
        let each = root.iter().zip(places);
        let mut values: Vec<f64> = each.map(|(r, p)| r * p.value).collect();
        slow.iter().for_each(|one| take_out(&mut values, one));
        Self {
            at,
            root,
            slow,
            values,
        }
    }

    /// Turns of the wave over the range that explains most of the residual, and how much in
    /// squares; none where there is nothing to explain.
    fn best(&self, residual: &[f64], fastest: f64) -> Option<(f64, f64)> {
        let count = (FINE * fastest).floor() as usize;
        let turns = |k: usize| k as f64 / FINE;
        let first = FINE as usize;
        if count < first {
            return None;
        }
        let gains: Vec<f64> = self.gains(residual, first, count);
        let (best, gain) = gains
            .iter()
            .copied()
            .enumerate()
            .fold((0, 0.0), |top, one| if one.1 > top.1 { one } else { top });
        if gain <= 0.0 {
            return None;
        }
        // A parabola through the top and its neighbours.
        let mut shift = 0.0;
        if best > 0 && best + 1 < gains.len() {
            let (a, b) = (gains[best - 1] - gain, gains[best + 1] - gain);
            if a + b < 0.0 {
                shift = (0.5 * (a - b) / (a + b)).clamp(-0.5, 0.5);
            }
        }
        Some((turns(first + best) + shift / FINE, gain))
    }

    /// What waves of `k / FINE` turns explain, `k` from `first` to `last`: angles grow by the same
    /// step from each to the next, so that turning takes the place of sines.
    fn gains(&self, residual: &[f64], first: usize, last: usize) -> Vec<f64> {
        let angle = |turns: f64| self.at.iter().map(move |x| (TAU * turns * x).sin_cos());
        let steps: Vec<(f64, f64)> = angle(1.0 / FINE).collect();
        let mut now: Vec<(f64, f64)> = Vec::new();
        (first..=last)
            .map(|k| {
                // What turning rounds is forgotten now and then.
                if (k - first).is_multiple_of(256) {
                    now = angle(k as f64 / FINE).collect();
                }
                let mut sums = Sums::default();
                for i in 0..now.len() {
                    let (s, c) = now[i];
                    let slow = [self.slow[0][i], self.slow[1][i], self.slow[2][i]];
                    sums.add(self.root[i] * c, self.root[i] * s, residual[i], slow);
                    let (up, along) = steps[i];
                    now[i] = (s * along + c * up, c * along - s * up);
                }
                sums.gain()
            })
            .collect()
    }

    /// Takes a wave out of a residual.
    fn subtract(&self, residual: &mut [f64], turns: f64) {
        let wave = |of: fn(f64) -> f64| -> Vec<f64> {
            let each = self.root.iter().zip(&self.at);
            let mut own: Vec<f64> = each.map(|(r, x)| r * of(TAU * turns * x)).collect();
            self.slow.iter().for_each(|one| take_out(&mut own, one));
            own
        };
        let (mut c, mut s) = (wave(f64::cos), wave(f64::sin));
        to_unit(&mut c);
        to_unit(&mut s);
        take_out(residual, &c);
        take_out(&mut s, &c);
        if to_unit(&mut s) > LEFT {
            take_out(residual, &s);
        }
    }
}

/// Sums over the places of products of a wave, the residual and the parabola.
#[derive(Default)]
struct Sums {
    squares: [f64; 3],
    with_value: [f64; 2],
    with_slow: [[f64; 2]; 3],
}

impl Sums {
    fn add(&mut self, c: f64, s: f64, y: f64, slow: [f64; 3]) {
        let products = [c * c, s * s, c * s];
        self.squares
            .iter_mut()
            .zip(products)
            .for_each(|(a, b)| *a += b);
        self.with_value[0] += c * y;
        self.with_value[1] += s * y;
        for (sum, p) in self.with_slow.iter_mut().zip(slow) {
            sum[0] += c * p;
            sum[1] += s * p;
        }
    }

    /// The square of the part of the residual that lies along both waves, less what the parabola
    /// has of them.
    fn gain(&self) -> f64 {
        let [mut cc, mut ss, mut cs] = self.squares;
        let whole = cc + ss;
        for [c, s] in self.with_slow {
            (cc, ss, cs) = (cc - c * c, ss - s * s, cs - c * s);
        }
        // The wave of these two that has most left is taken first: the other may be nothing.
        let [mut a, mut b] = self.with_value;
        if ss > cc {
            (a, b, cc, ss) = (b, a, ss, cc);
        }
        if cc <= LEFT * whole {
            return 0.0;
        }
        let rest = ss - cs * cs / cc;
        let along = b - a * cs / cc;
        let second = if rest > LEFT * whole {
            along * along / rest
        } else {
            0.0
        };
        a * a / cc + second
    }
}

/// Scales a vector to unit length, but for one of zeros; the length it had.
fn to_unit(x: &mut [f64]) -> f64 {
    let length = dot(x, x).sqrt();
    if length > 0.0 {
        x.iter_mut().for_each(|x| *x /= length);
    }
    length
}

/// Less the part along a vector of unit length.
fn take_out(from: &mut [f64], unit: &[f64]) {
    let part = dot(from, unit);
    from.iter_mut().zip(unit).for_each(|(x, u)| *x -= part * u);
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;

    /// Places that no rule of sampling repeats: a golden sequence in place of random numbers.
    fn golden(i: usize) -> f64 {
        (0.618_033_988_749_894_9 * i as f64).fract()
    }

    fn table(at: impl Iterator<Item = f64>, of: impl Fn(f64) -> f64) -> Vec<PlaceValue> {
        at.map(|at| PlaceValue {
            at,
            value: of(at),
            times: 1.0,
        })
        .collect()
    }

    /// Whether some period is within a tenth of a turn over the range, and as one of how many.
    fn rank(found: &[f64], period: f64, range: f64) -> Option<usize> {
        let within = 0.1 * period / range;
        found.iter().position(|p| (p / period - 1.0).abs() < within)
    }

    #[test]
    fn waves_of_all_lengths_are_found_first() {
        let count = 150;
        let even = || (0..count).map(|i| i as f64);
        let uneven = || (0..count).map(|i| i as f64 + 0.8 * golden(i));
        // From little more than two rows to half of all.
        for period in [2.1, 3.3, 7.0, 12.5, 31.0, 75.0] {
            let wave = |t: f64| (TAU * t / period).sin() + 0.4 * (2.0 * TAU * t / period).cos();
            let range = count as f64;
            let found = periods(table(even(), wave), 2.0);
            assert_eq!(rank(&found, period, range), Some(0), "{period}: {found:?}");
            let found = periods(table(uneven(), wave), 0.4);
            assert_eq!(rank(&found, period, range), Some(0), "{period}: {found:?}");
        }
    }

    #[test]
    fn a_place_far_away_hides_no_wave() {
        let wave = |t: f64| (TAU * t / 13.0).sin();
        let mut rows = table((0..40).map(f64::from), wave);
        for far in [-9999.3, -500.3, 1e9] {
            let row = PlaceValue {
                at: far,
                value: 0.3,
                times: 1.0,
            };
            rows.insert(7, row);
            let found = periods(rows.clone(), 1.0);
            assert_eq!(rank(&found, 13.0, 40.0), Some(0), "{far}: {found:?}");
            rows.remove(7);
        }
    }

    /// Beside a curve of twenty times its size it is one of three; noise has no waves.
    #[test]
    fn slow_curves_hide_no_wave() {
        let places = || (0..200).map(|i| i as f64 + 0.5 * golden(i));
        let curve = |t: f64| 20.0 * (2.5 * t / 200.0).sin() + 3.0 * (8.0 * t / 200.0).cos();
        let found = periods(table(places(), |t| curve(t) + (TAU * t / 11.0).sin()), 1.0);
        assert!(rank(&found, 11.0, 200.0).is_some(), "{found:?}");
        let has_waves = |seed: &u64| {
            let mut random = ChaCha8Rng::seed_from_u64(*seed);
            let noise = |_| StandardNormal.sample(&mut random);
            let values: Vec<f64> = (0..200).map(noise).collect();
            let rows = (0..200).map(f64::from);
            !periods(table(rows, |t| values[t as usize]), 2.0).is_empty()
        };
        // One in nine of forty, and five sds of such a count.
        assert!((0..40).filter(has_waves).count() < 15);
    }

    /// Rows that are seen again, thousands of rows, and no rows to speak of.
    #[test]
    fn tables_of_all_sizes() {
        let wave = |t: f64| (TAU * t / 41.0).sin();
        let many = periods(table((0..9000).map(f64::from), wave), 2.0);
        assert_eq!(rank(&many, 41.0, 9000.0), Some(0), "{many:?}");
        let again = (0..300).map(|i| f64::from(i % 100));
        let again = periods(table(again, wave), 2.0);
        assert_eq!(rank(&again, 41.0, 100.0), Some(0), "{again:?}");
        assert!(periods(table((0..7).map(f64::from), wave), 2.0).is_empty());
        assert!(periods(table((0..100).map(|_| 3.0), wave), 2.0).is_empty());
        assert!(periods(table((0..100).map(f64::from), |_| 1.0), 2.0).is_empty());
        assert!(periods(Vec::new(), 0.0).is_empty());
    }
}
