//! Powers of two by sixteenths, $2^{k / 16}$: a table of sixteen roots, and exponents.
//!
//! AVX-512 holds the table in two registers and scales by one instruction; elsewhere lanes look the
//! root up one by one. The bits are the same.

use pulp::{Simd, bytemuck};

use super::coefficients::{INV_STEP, ROOTS_OF_TWO};
use super::lanes::into_exponent;

/// 1.5 * 2^52 + 32 * 1023: added to a small number it rounds it to an integer k and leaves that
/// integer in the low bits, so that the bits above the last five are k / 32, rounded down, with the
/// exponent bias.
const MAGIC: f64 = 6_755_399_441_088_480.0;

/// `16 x / ln 2` for |x| < 1400, rounded to k: the number that holds it in its bits, for the
/// functions below, and k.
#[inline(always)]
pub(super) fn sixteenths<S: Simd>(s: S, x: S::f64s) -> (S::f64s, S::f64s) {
    let magic = s.splat_f64s(MAGIC);
    let shifted = s.mul_add_f64s(x, s.splat_f64s(INV_STEP), magic);
    (shifted, s.sub_f64s(shifted, magic))
}

/// 2^(j / 16) for the remainder j of k by 16.
#[inline(always)]
pub(super) fn root_of_two<S: Simd>(s: S, shifted: S::f64s) -> S::f64s {
    #[cfg(target_arch = "x86_64")]
    if let Some(root) = avx512::root_of_two(s, shifted) {
        return root;
    }
    let mut lanes = [s.transmute_u64s_f64s(shifted)];
    for word in bytemuck::cast_slice_mut::<S::u64s, u64>(&mut lanes) {
        *word = ROOTS_OF_TWO[(*word & 15) as usize].to_bits();
    }
    s.transmute_f64s_u64s(lanes[0])
}

/// `y 2^n` for k / 16 rounded down to n and .9 < y < 2, rounded once.
#[inline(always)]
pub(super) fn times_power<S: Simd>(s: S, y: S::f64s, shifted: S::f64s, k: S::f64s) -> S::f64s {
    #[cfg(target_arch = "x86_64")]
    if let Some(scaled) = avx512::times_power(s, y, k) {
        return scaled;
    }
    // n is the sum of k / 32 and (k + 16) / 32, each rounded down: exponents of normal numbers also
    // where n is not.
    let half = |shifted: S::f64s| {
        let mut lanes = [s.transmute_u64s_f64s(shifted)];
        for word in bytemuck::cast_slice_mut::<S::u64s, u64>(&mut lanes) {
            *word >>= 5;
        }
        s.transmute_f64s_u64s(into_exponent::<S>(lanes[0]))
    };
    let more = s.add_f64s(shifted, s.splat_f64s(16.0));
    s.mul_f64s(s.mul_f64s(y, half(shifted)), half(more))
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::any::Any;

    use pulp::x86::V4;
    use pulp::{Simd, cast, f64x8};

    use super::ROOTS_OF_TWO;

    // Closures are not inlined where instructions of this set are: each would be a call.

    /// The vector, where vectors are those of this instruction set; decided when it is compiled.
    #[inline(always)]
    fn of<S: Simd>(x: &S::f64s) -> Option<f64x8> {
        (x as &dyn Any).downcast_ref::<f64x8>().copied()
    }

    #[inline(always)]
    fn back<S: Simd>(x: f64x8) -> Option<S::f64s> {
        (&x as &dyn Any).downcast_ref::<S::f64s>().copied()
    }

    #[inline(always)]
    pub(super) fn root_of_two<S: Simd>(s: S, shifted: S::f64s) -> Option<S::f64s> {
        let v4 = *(&s as &dyn Any).downcast_ref::<V4>()?;
        let shifted = of::<S>(&shifted)?;
        let [low, high]: [f64x8; 2] = cast(ROOTS_OF_TWO);
        // Of an index the last four bits are read.
        let root = v4
            .avx512f
            ._mm512_permutex2var_pd(cast(low), cast(shifted), cast(high));
        back::<S>(cast(root))
    }

    #[inline(always)]
    pub(super) fn times_power<S: Simd>(s: S, y: S::f64s, k: S::f64s) -> Option<S::f64s> {
        let v4 = *(&s as &dyn Any).downcast_ref::<V4>()?;
        let (y, k) = (of::<S>(&y)?, of::<S>(&k)?);
        // The instruction rounds the power down.
        let power = v4.mul_f64s(k, v4.splat_f64s(1.0 / 16.0));
        back::<S>(cast(v4.avx512f._mm512_scalef_pd(cast(y), cast(power))))
    }
}
