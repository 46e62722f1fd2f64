//! Intervals on a lattice: hours, days, equal bins.
//!
//! A stationary factor depends on the difference of two intervals of given widths. Where all of
//! them begin on one lattice there are no more differences than lags: `O(n)` of them in place of
//! `O(n^2)` pairs.

use super::line::Intervals;
use crate::support::UniqueIntervals;

/// How far from each other two coordinates may lie that are one place, in units of their own
/// rounding: half of it each, and that of the sum they come from. What is farther apart is told
/// apart, however large other coordinates are.
const SAME: f64 = 2.0;
/// How far from the lattice a coordinate may lie, in units of the rounding of the larger of it and
/// of the first: four roundings of half of it each, of the coordinate, of the first, of the step
/// and of the place.
const OFF: f64 = 2.0;
/// The same in units of the step, and of widths: what rounds more is evaluated as it is stored, as
/// it is beside rows that lie elsewhere.
const OFF_STEP: f64 = 1e-10;
/// Lags at most: beyond, tables leave the caches.
const MOST: usize = 1 << 20;

/// The lags between the distinct intervals of two sides: that of `i` and `j` is `a[i] + b[j]`.
pub(super) struct Lags {
    /// Places of the intervals of the first side, from 0 on.
    pub a: Vec<u32>,
    /// Places of those of the second, from the last on downwards.
    pub b: Vec<u32>,
    lower: Vec<f64>,
    width: Vec<f64>,
    width_b: f64,
}

impl Lags {
    /// The lags on the common lattice of both sides; none where widths differ within a side, or
    /// lags are more than `most`.
    pub fn find(a: &UniqueIntervals, b: &UniqueIntervals, most: usize) -> Option<Self> {
        let most = most.min(MOST);
        // There are at least as many differences.
        if a.len() + b.len() > most.saturating_add(1) {
            return None;
        }
        let all = || a.lower.iter().chain(&b.lower);
        let off = OFF * f64::EPSILON * all().fold(0.0, |most: f64, x| most.max(x.abs()));
        let (width, width_b) = (common(&a.width, off)?, common(&b.width, off)?);
        let mut sorted: Vec<f64> = all().copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        // Differences that are smaller are rounding, or would make too many lags.
        let range = last - first;
        let least = range / (2 * most) as f64;
        let gaps = sorted.windows(2).map(|w| w[1] - w[0]);
        let step = gaps
            .filter(|g| *g > least)
            .fold(0.0, |step, gap| divisor(gap, step, least));
        // All may begin at one place.
        let step = if step > 0.0 {
            range / (range / step).round()
        } else {
            1.0
        };
        let place = |x: &f64| {
            let k = ((x - first) / step).round();
            let off = OFF * f64::EPSILON * x.abs().max(first.abs());
            let off = off.min(OFF_STEP * step);
            let is_place = (x - first - k * step).abs() <= off && k <= 2.0 * most as f64;
            is_place.then_some(k as u32)
        };
        if !keeps_apart(&sorted, place) {
            return None;
        }
        let places =
            |side: &UniqueIntervals| -> Option<Vec<u32>> { side.lower.iter().map(place).collect() };
        let (a, mut b) = (places(a)?, places(b)?);
        let (end_a, end_b) = (*a.iter().max()?, *b.iter().max()?);
        let count = end_a as usize + end_b as usize + 1;
        if count > most {
            return None;
        }
        let lower = (0..count).map(|lag| (lag as f64 - f64::from(end_b)) * step);
        let lower = lower.collect();
        b.iter_mut().for_each(|place| *place = end_b - *place);
        Some(Self {
            a,
            b,
            lower,
            width: vec![width; count],
            width_b,
        })
    }

    /// Intervals between which are the lags, in order: many and one.
    pub fn sides(&self) -> (Intervals<'_>, Intervals<'_>) {
        let many = Intervals {
            lower: &self.lower,
            width: &self.width,
        };
        let one = Intervals {
            lower: &[0.0],
            width: std::slice::from_ref(&self.width_b),
        };
        (many, one)
    }
}

/// Whether coordinates, in order, that differ by more than their own rounding are at different
/// places.
fn keeps_apart(sorted: &[f64], place: impl Fn(&f64) -> Option<u32>) -> bool {
    let is_one = |x: f64, y: f64| y - x <= SAME * f64::EPSILON * x.abs().max(y.abs());
    let mut pairs = sorted.windows(2);
    pairs.all(|w| is_one(w[0], w[1]) || place(&w[0]) != place(&w[1]))
}

/// The greatest common divisor of two lengths, remainders below `least` taken for none; `b` may be
/// zero.
fn divisor(mut a: f64, mut b: f64, least: f64) -> f64 {
    while b > least {
        let rest = (a - b * (a / b).round()).abs();
        (a, b) = (b, rest);
    }
    a
}

/// The width that all have, but for rounding.
fn common(widths: &[f64], off: f64) -> Option<f64> {
    let first = *widths.first()?;
    // A point is no narrow box.
    let off = off.min(OFF_STEP * first);
    let alike = |w: &f64| (w - first).abs() <= off && (*w == 0.0) == (first == 0.0);
    widths.iter().all(alike).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(lower: &[f64], width: f64) -> UniqueIntervals {
        UniqueIntervals::new(lower, &vec![width; lower.len()])
    }

    #[test]
    fn lags_are_the_differences_of_what_lies_on_a_lattice() {
        // Steps of .1 that rounding makes unequal, some of them left out, and another width on the
        // other side.
        let a: Vec<f64> = [0, 1, 2, 5, 9, 30]
            .map(|k| -1.7 + 0.1 * f64::from(k))
            .to_vec();
        let b: Vec<f64> = [2, 12, 7].map(|k| -1.7 + 0.1 * f64::from(k)).to_vec();
        let lags = Lags::find(&places(&a, 0.0), &places(&b, 0.3), 100).unwrap();
        let (many, one) = lags.sides();
        assert_eq!((many.len(), one.width), (43, [0.3].as_slice()));
        for (x, i) in a.iter().zip(&lags.a) {
            for (y, j) in b.iter().zip(&lags.b) {
                let lag = (i + j) as usize;
                // Rounding of steps and places up to five: a few eps / 2 of that.
                assert!((many.lower[lag] - one.lower[0] - (x - y)).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn distinct_places_stay_distinct_beside_far_ones() {
        let near: Vec<f64> = (0..10).map(f64::from).collect();
        for size in [1e17, 1e300] {
            let far: Vec<f64> = (0..4).map(|k| size * f64::from(k)).collect();
            let found = Lags::find(&places(&near, 0.0), &places(&far, 0.0), 1000);
            assert!(found.is_none(), "{size}");
        }
        let tiny: Vec<f64> = near.iter().map(|x| 1e-300 * x).collect();
        assert!(Lags::find(&places(&tiny, 0.0), &places(&near, 0.0), 1000).is_none());
        // What rounding alone keeps apart is one place.
        let sums: Vec<f64> = near.iter().map(|x| 0.1 * x).collect();
        let read: Vec<f64> = near.iter().map(|x| x / 10.0).collect();
        assert!(Lags::find(&places(&sums, 0.0), &places(&read, 0.0), 1000).is_some());
    }

    #[test]
    fn other_places_have_none() {
        let even = places(&[0.0, 1.0, 2.0, 3.0], 0.0);
        // Off the lattice by more than rounding, at another step, and not a number.
        for other in [
            1.0 + 1e-12,
            std::f64::consts::SQRT_2,
            f64::NAN,
            f64::INFINITY,
        ] {
            assert!(Lags::find(&even, &places(&[0.0, other], 0.0), 1000).is_none());
        }
        let unequal = UniqueIntervals::new(&[0.0, 1.0], &[1.0, 2.0]);
        assert!(Lags::find(&unequal, &even, 1000).is_none());
        let narrow = UniqueIntervals::new(&[0.0, 1.0], &[0.0, 1e-300]);
        assert!(Lags::find(&even, &narrow, 1000).is_none());
        // What is stored of a fine lattice far from zero is none.
        let far: Vec<f64> = (0..50).map(|k| 1.7e9 + 0.01 * f64::from(k)).collect();
        assert!(Lags::find(&places(&far, 0.0), &places(&far, 0.0), 1000).is_none());
        let widths = UniqueIntervals::new(&[1e9, 1e9 + 1.0], &[1e-7, 4e-7]);
        assert!(Lags::find(&widths, &widths, 1000).is_none());
        // Few places far apart.
        assert!(Lags::find(&places(&[1e10], 0.0), &places(&[0.0, 2e10], 0.0), 1).is_none());
        assert!(Lags::find(&even, &places(&[1e6], 0.0), 1000).is_none());
        let one = places(&[4.0], 0.0);
        assert_eq!(Lags::find(&one, &one, 1).map(|l| l.lower), Some(vec![0.0]));
    }
}
