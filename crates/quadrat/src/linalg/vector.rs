//! Loops over vectors, compiled for every instruction set and chosen at run time.

use pulp::{Arch, Simd, WithSimd};

/// Runs plain loops with the widest vectors of the machine; results are those of the loops.
#[inline(always)]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// `out = factor x`, without choosing instructions: for [`vectorised`].
#[inline(always)]
pub(crate) fn set_scaled(factor: f64, x: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(x).for_each(|(o, x)| *o = factor * x);
}

/// `out += factor x`, without choosing instructions: for [`vectorised`].
#[inline(always)]
pub(crate) fn add_scaled(factor: f64, x: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(x).for_each(|(o, x)| *o += factor * x);
}

/// Sums that [`dot`] makes side by side: one alone would wait for every addition.
const LANES: usize = 8;
/// The same for vectors that are long enough to be worth the choice of instructions.
const MANY_LANES: usize = 32;
/// From this length on vectors are long.
const LONG: usize = 128;

/// The inner product of two vectors of equal length.
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    if a.len() < LONG {
        return dot_of::<LANES>(a, b);
    }
    Arch::new().dispatch(Dot(a, b))
}

struct Dot<'a>(&'a [f64], &'a [f64]);

impl WithSimd for Dot<'_> {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        dot_of::<MANY_LANES>(self.0, self.1)
    }
}

#[inline(always)]
fn dot_of<const N: usize>(a: &[f64], b: &[f64]) -> f64 {
    let (a_head, a_tail) = a.as_chunks::<N>();
    let (b_head, b_tail) = b.as_chunks::<N>();
    let mut sums = [0.0; N];
    for (a, b) in a_head.iter().zip(b_head) {
        for lane in 0..N {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let tail: f64 = a_tail.iter().zip(b_tail).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_products_of_any_length() {
        for n in (0..20_u32).chain([127, 128, 129, 191, 300]) {
            let a: Vec<f64> = (0..n).map(f64::from).collect();
            // Small integers: exact in any order.
            assert_eq!(
                dot(&a, &a),
                f64::from(n * n.saturating_sub(1) / 2 * (2 * n).saturating_sub(1) / 3)
            );
        }
    }
}
