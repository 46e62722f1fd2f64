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
