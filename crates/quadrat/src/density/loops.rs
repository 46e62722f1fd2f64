//! Loops over vectors with the widest instructions of the machine.

use pulp::{Arch, Simd, WithSimd};

use crate::linalg::vectorised;

/// Numbers handled side by side.
const LANES: usize = 16;

/// The sum.
pub(super) fn sum(x: &[f64]) -> f64 {
    vectorised(|| sum_of(x))
}

#[inline(always)]
fn sum_of(x: &[f64]) -> f64 {
    let (whole, rest) = x.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in whole {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    lanes.iter().chain(rest).sum()
}

/// The smallest and the largest number.
pub(super) fn extremes(x: &[f64]) -> (f64, f64) {
    // As a closure it would be too long to be compiled into the instructions that are chosen.
    Arch::new().dispatch(Extremes(x))
}

struct Extremes<'a>(&'a [f64]);

impl WithSimd for Extremes<'_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (f64, f64) {
        let (whole, rest) = self.0.as_chunks::<LANES>();
        let (mut least, mut most) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        for chunk in whole {
            for lane in 0..LANES {
                let x = chunk[lane];
                least[lane] = if x < least[lane] { x } else { least[lane] };
                most[lane] = if x > most[lane] { x } else { most[lane] };
            }
        }
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in least.iter().chain(rest) {
            low = low.min(*x);
        }
        for x in most.iter().chain(rest) {
            high = high.max(*x);
        }
        (low, high)
    }
}

/// Takes a number off all.
pub(super) fn lower(x: &mut [f64], by: f64) {
    vectorised(|| lower_of(x, by));
}

#[inline(always)]
fn lower_of(x: &mut [f64], by: f64) {
    for x in x {
        *x -= by;
    }
}

/// `x -= y`.
pub(super) fn subtract(x: &mut [f64], y: &[f64]) {
    vectorised(|| subtract_of(x, y));
}

#[inline(always)]
fn subtract_of(x: &mut [f64], y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x -= y;
    }
}

/// `x -= y - by`.
pub(super) fn shift(x: &mut [f64], y: &[f64], by: f64) {
    vectorised(|| shift_of(x, y, by));
}

#[inline(always)]
fn shift_of(x: &mut [f64], y: &[f64], by: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        *x = *x - y + by;
    }
}

/// Where a sum is below a number: `before = sum`, `cell = next`.
pub(super) fn passed(sum: &[f64], p: f64, next: f64, before: &mut [f64], cell: &mut [f64]) {
    vectorised(|| passed_of(sum, p, next, before, cell));
}

#[inline(always)]
fn passed_of(sum: &[f64], p: f64, next: f64, before: &mut [f64], cell: &mut [f64]) {
    for ((sum, before), cell) in sum.iter().zip(before).zip(cell) {
        let is_below = *sum < p;
        *before = if is_below { *sum } else { *before };
        *cell = if is_below { next } else { *cell };
    }
}

/// `a += x`, `b += x`, `c += by x`.
pub(super) fn share(x: &[f64], a: &mut [f64], b: &mut [f64], by: f64, c: &mut [f64]) {
    vectorised(|| share_of(x, a, b, by, c));
}

#[inline(always)]
fn share_of(x: &[f64], a: &mut [f64], b: &mut [f64], by: f64, c: &mut [f64]) {
    for (((x, a), b), c) in x.iter().zip(a).zip(b).zip(c) {
        *a += x;
        *b += x;
        *c += by * x;
    }
}

/// `out = x - y`.
pub(super) fn difference(x: &[f64], y: &[f64], out: &mut [f64]) {
    vectorised(|| difference_of(x, y, out));
}

#[inline(always)]
fn difference_of(x: &[f64], y: &[f64], out: &mut [f64]) {
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        *out = x - y;
    }
}

/// `x += y`.
pub(super) fn add(x: &mut [f64], y: &[f64]) {
    vectorised(|| add_of(x, y));
}

#[inline(always)]
fn add_of(x: &mut [f64], y: &[f64]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
}

/// `out = base + x + by y`.
pub(super) fn combine(base: f64, x: &[f64], by: f64, y: &[f64], out: &mut [f64]) {
    vectorised(|| combine_of(base, x, by, y, out));
}

#[inline(always)]
fn combine_of(base: f64, x: &[f64], by: f64, y: &[f64], out: &mut [f64]) {
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        *out = base + x + by * y;
    }
}

/// The weighted sum of squares about a number.
pub(super) fn spread(x: &[f64], weights: &[f64], about: f64) -> f64 {
    Arch::new().dispatch(Spread(x, weights, about))
}

struct Spread<'a>(&'a [f64], &'a [f64], f64);

impl WithSimd for Spread<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Self(x, weights, about) = self;
        let ((x, x_rest), (w, w_rest)) = (x.as_chunks::<LANES>(), weights.as_chunks::<LANES>());
        let mut lanes = [0.0; LANES];
        for (x, w) in x.iter().zip(w) {
            for lane in 0..LANES {
                lanes[lane] += w[lane] * (x[lane] - about) * (x[lane] - about);
            }
        }
        for (x, w) in x_rest.iter().zip(w_rest) {
            lanes[0] += w * (x - about) * (x - about);
        }
        lanes.iter().sum()
    }
}

/// `largest = max(largest, |x - about| by)`.
pub(super) fn farther(largest: &mut [f64], x: &[f64], about: f64, by: f64) {
    vectorised(|| farther_of(largest, x, about, by));
}

#[inline(always)]
fn farther_of(largest: &mut [f64], x: &[f64], about: f64, by: f64) {
    for (largest, x) in largest.iter_mut().zip(x) {
        let away = ((x - about) * by).abs();
        *largest = if away > *largest { away } else { *largest };
    }
}

/// The bucket of each number, `(x - least) by`, at most `last`.
pub(super) fn buckets(x: &[f64], least: f64, by: f64, last: i32, out: &mut [i32]) {
    vectorised(|| buckets_of(x, least, by, last, out));
}

#[inline(always)]
fn buckets_of(x: &[f64], least: f64, by: f64, last: i32, out: &mut [i32]) {
    for (out, x) in out.iter_mut().zip(x) {
        let bucket = ((x - least) * by) as i32;
        *out = if bucket < last { bucket } else { last };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_agree_with_iterators() {
        for n in [0, 1, 15, 16, 17, 40] {
            let x: Vec<f64> = (0..n).map(|i| f64::from(i * 7 % 11) - 4.0).collect();
            // Small integers: exact in any order.
            assert_eq!(sum(&x), x.iter().sum::<f64>());
            let (low, high) = extremes(&x);
            assert_eq!(low, x.iter().copied().fold(f64::INFINITY, f64::min));
            assert_eq!(high, x.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            let want: f64 = x.iter().map(|x| 2.0 * (x - 1.0) * (x - 1.0)).sum();
            assert_eq!(spread(&x, &vec![2.0; x.len()], 1.0), want);
            let mut out = vec![0; x.len()];
            buckets(&x, -4.0, 0.5, 3, &mut out);
            for (x, b) in x.iter().zip(out) {
                assert_eq!(b, (((x + 4.0) * 0.5) as i32).min(3));
            }
        }
    }
}
