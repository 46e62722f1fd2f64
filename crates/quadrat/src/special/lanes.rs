//! Loops over slices and small helpers shared by the kernels.

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd, bytemuck};

/// A function of one number, written once for every instruction set.
pub(super) trait Unary {
    /// Value in each lane.
    fn eval<S: Simd>(s: S, x: S::f64s) -> S::f64s;
}

/// A function of two numbers, written once for every instruction set.
pub(super) trait Binary {
    /// Value in each lane.
    fn eval<S: Simd>(s: S, a: S::f64s, b: S::f64s) -> S::f64s;
}

struct MapUnary<'a, F>(&'a [f64], &'a mut [f64], PhantomData<F>);

impl<F: Unary> WithSimd for MapUnary<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let (x, x_tail) = S::as_simd_f64s(self.0);
        let (out, out_tail) = S::as_mut_simd_f64s(self.1);
        for (x, out) in x.iter().zip(out) {
            *out = F::eval(s, *x);
        }
        if !x_tail.is_empty() {
            let x = s.partial_load_f64s(x_tail);
            s.partial_store_f64s(out_tail, F::eval(s, x));
        }
    }
}

struct MapInPlace<'a, F>(&'a mut [f64], PhantomData<F>);

impl<F: Unary> WithSimd for MapInPlace<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let (x, tail) = S::as_mut_simd_f64s(self.0);
        for x in x {
            *x = F::eval(s, *x);
        }
        if !tail.is_empty() {
            let x = s.partial_load_f64s(tail);
            s.partial_store_f64s(tail, F::eval(s, x));
        }
    }
}

struct MapBinary<'a, F>(&'a [f64], &'a [f64], &'a mut [f64], PhantomData<F>);

impl<F: Binary> WithSimd for MapBinary<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, s: S) {
        let (a, a_tail) = S::as_simd_f64s(self.0);
        let (b, b_tail) = S::as_simd_f64s(self.1);
        let (out, out_tail) = S::as_mut_simd_f64s(self.2);
        for ((a, b), out) in a.iter().zip(b).zip(out) {
            *out = F::eval(s, *a, *b);
        }
        if !a_tail.is_empty() {
            let (a, b) = (s.partial_load_f64s(a_tail), s.partial_load_f64s(b_tail));
            s.partial_store_f64s(out_tail, F::eval(s, a, b));
        }
    }
}

/// `out[i] = F(x[i])`; the slices must have one length.
pub(super) fn map_into<F: Unary>(x: &[f64], out: &mut [f64]) {
    assert_eq!(x.len(), out.len(), "input and output differ in length");
    Arch::new().dispatch(MapUnary::<F>(x, out, PhantomData));
}

/// `x[i] = F(x[i])`.
pub(super) fn map_in_place<F: Unary>(x: &mut [f64]) {
    Arch::new().dispatch(MapInPlace::<F>(x, PhantomData));
}

/// `out[i] = F(a[i], b[i])`; the slices must have one length.
pub(super) fn map_binary_into<F: Binary>(a: &[f64], b: &[f64], out: &mut [f64]) {
    assert_eq!(a.len(), out.len(), "input and output differ in length");
    assert_eq!(b.len(), out.len(), "input and output differ in length");
    Arch::new().dispatch(MapBinary::<F>(a, b, out, PhantomData));
}

/// One value, through the same instructions as the array form, so that both give the same bits.
pub(super) fn map_one<F: Unary>(x: f64) -> f64 {
    let mut value = [x];
    map_in_place::<F>(&mut value);
    value[0]
}

/// As [`map_one`], of two arguments.
pub(super) fn map_binary_one<F: Binary>(a: f64, b: f64) -> f64 {
    let mut value = [0.0];
    map_binary_into::<F>(&[a], &[b], &mut value);
    value[0]
}

/// Polynomial with ascending coefficients `c`, as two interleaved Horner chains (half the latency
/// of one).
#[inline(always)]
pub(crate) fn polynomial<S: Simd, const N: usize>(s: S, x: S::f64s, c: &[f64; N]) -> S::f64s {
    let square = s.mul_f64s(x, x);
    let mut high = s.splat_f64s(c[N - 1]);
    let mut low = s.splat_f64s(c[N - 2]);
    let mut i = N - 2;
    while i >= 2 {
        high = s.mul_add_f64s(high, square, s.splat_f64s(c[i - 1]));
        low = s.mul_add_f64s(low, square, s.splat_f64s(c[i - 2]));
        i -= 2;
    }
    let y = s.mul_add_f64s(high, x, low);
    if i == 1 {
        s.mul_add_f64s(y, x, s.splat_f64s(c[0]))
    } else {
        y
    }
}

/// Polynomial without its constant term, divided by `x`: `c[1] + c[2] x + ...`.
#[inline(always)]
pub(super) fn polynomial_rest<S: Simd, const N: usize>(s: S, x: S::f64s, c: &[f64; N]) -> S::f64s {
    let square = s.mul_f64s(x, x);
    let mut high = s.splat_f64s(c[N - 1]);
    let mut low = s.splat_f64s(c[N - 2]);
    let mut i = N - 2;
    while i >= 3 {
        high = s.mul_add_f64s(high, square, s.splat_f64s(c[i - 1]));
        low = s.mul_add_f64s(low, square, s.splat_f64s(c[i - 2]));
        i -= 2;
    }
    let y = s.mul_add_f64s(high, x, low);
    if i == 2 {
        s.mul_add_f64s(y, x, s.splat_f64s(c[1]))
    } else {
        y
    }
}

/// Rounded sum of `a` and `b` and what the rounding took; needs `|a| >= |b|` (or `a = 0`).
#[inline(always)]
pub(super) fn fast_two_sum<S: Simd>(s: S, a: S::f64s, b: S::f64s) -> (S::f64s, S::f64s) {
    let sum = s.add_f64s(a, b);
    (sum, s.sub_f64s(b, s.sub_f64s(sum, a)))
}

/// Rounded sum of `a` and `b` and what the rounding took, for any order of sizes.
#[inline(always)]
pub(super) fn two_sum<S: Simd>(s: S, a: S::f64s, b: S::f64s) -> (S::f64s, S::f64s) {
    let sum = s.add_f64s(a, b);
    let b_part = s.sub_f64s(sum, a);
    let a_part = s.sub_f64s(sum, b_part);
    (
        sum,
        s.add_f64s(s.sub_f64s(a, a_part), s.sub_f64s(b, b_part)),
    )
}

/// `min(x, limit)` that keeps NaN.
///
/// The vector instructions return the second operand (x86) or NaN (others) when one is NaN; plain
/// `f64::min` returns the other number. A comparison with a selection would be portable but costs
/// four times as much.
#[inline(always)]
pub(crate) fn at_most<S: Simd>(s: S, x: S::f64s, limit: f64) -> S::f64s {
    let limit = s.splat_f64s(limit);
    if S::IS_SCALAR {
        s.select_f64s(s.greater_than_f64s(x, limit), limit, x)
    } else {
        s.min_f64s(limit, x)
    }
}

/// `max(x, limit)` that keeps NaN, like [`at_most`].
#[inline(always)]
pub(super) fn at_least<S: Simd>(s: S, x: S::f64s, limit: f64) -> S::f64s {
    let limit = s.splat_f64s(limit);
    if S::IS_SCALAR {
        s.select_f64s(s.less_than_f64s(x, limit), limit, x)
    } else {
        s.max_f64s(limit, x)
    }
}

/// Whether the mask holds in some lane.
#[inline(always)]
pub(super) fn any<S: Simd>(s: S, mask: S::m64s) -> bool {
    s.reduce_max_f64s(s.select_f64s(mask, s.splat_f64s(1.0), s.splat_f64s(0.0))) > 0.0
}

/// `bits << 52` in each lane: an integer moved into the exponent field.
#[inline(always)]
pub(super) fn into_exponent<S: Simd>(bits: S::u64s) -> S::u64s {
    // pulp has no shift of 64-bit lanes; the compiler turns this loop into one.
    let mut lanes = [bits];
    for word in bytemuck::cast_slice_mut::<S::u64s, u64>(&mut lanes) {
        *word <<= 52;
    }
    lanes[0]
}

/// `bits >> 52` in each lane: sign and exponent field as an integer.
#[inline(always)]
pub(super) fn from_exponent<S: Simd>(bits: S::u64s) -> S::u64s {
    let mut lanes = [bits];
    for word in bytemuck::cast_slice_mut::<S::u64s, u64>(&mut lanes) {
        *word >>= 52;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use pulp::Scalar;

    use super::super::{
        erf::Erf, erfc::Erfc, erfcx::Erfcx, exp::Exp, log_cdf::LogCdf, normal::NormalCdf,
        normal::NormalPdf,
    };
    use super::*;

    fn same_bits<F: Unary>(name: &str) {
        for i in -400..400 {
            for x in [
                f64::from(i) * 0.0987654321,
                f64::from(i) * 7.7,
                1.3f64.powi(i),
            ] {
                let (wide, narrow) = (map_one::<F>(x), F::eval(Scalar, x));
                assert_eq!(
                    wide.to_bits(),
                    narrow.to_bits(),
                    "{name}({x}): {wide} and {narrow}"
                );
            }
        }
    }

    #[test]
    fn special_plain_code_gives_the_bits_of_the_vector_code() {
        same_bits::<Exp>("exp");
        same_bits::<Erf>("erf");
        same_bits::<Erfc>("erfc");
        same_bits::<Erfcx>("erfcx");
        same_bits::<NormalCdf>("normal_cdf");
        same_bits::<NormalPdf>("normal_pdf");
        same_bits::<LogCdf>("log_cdf");
    }
}
