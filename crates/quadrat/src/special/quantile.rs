//! Inverse of the standard normal distribution function.

use crate::special::elementary;
use std::f64::consts::PI;

use super::scalar::{erf, erfcx, log_cdf, normal_pdf};

/// The `x` with $\Phi(x) = p$.
///
/// # Arguments
/// * `p` - probability in [0, 1]; 0 and 1 give the infinities, anything outside NaN
/// # Returns
/// The quantile; `normal_quantile(0.5)` is 0
/// # Numerics
/// Within 3 ulp for every double `p`, subnormal ones too. Two Halley steps from a rough start: on
/// $\frac12\mathrm{erf}(x/\sqrt2) = p - \frac12$ for 1/4 <= p <= 3/4, on $\log\Phi$ in the tails.
/// # Source
/// Start: series of the inverse error function (DLMF 7.17.2); Abramowitz & Stegun 26.2.23
/// # Examples
/// ```
/// let x = quadrat::special::scalar::normal_quantile(0.975);
/// assert!((x - 1.959_963_984_540_054).abs() < 1e-15);
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    if (0.25..=0.75).contains(&p) {
        central(p - 0.5)
    } else if p > 0.75 && p <= 1.0 {
        // 1 - p is exact here.
        -lower(1.0 - p)
    } else if (0.0..0.25).contains(&p) {
        lower(p)
    } else {
        f64::NAN
    }
}

/// Solves $\Phi(x) - 1/2 = q$, |q| <= 1/4.
fn central(q: f64) -> f64 {
    let w = (2.0 * PI).sqrt() * q;
    let square = w * w;
    let series = 1.0 / 6.0 + square * (7.0 / 120.0 + square * (127.0 / 5040.0));
    let mut x = w + w * square * series;
    for _ in 0..2 {
        let step = (0.5 * erf(x * std::f64::consts::FRAC_1_SQRT_2) - q) / normal_pdf(x);
        // Halley: the second derivative of the left side over the first is -x.
        x -= step / (1.0 + 0.5 * x * step);
    }
    x
}

/// Solves $\log \Phi(x) = \log p$, p < 1/4; the logarithm keeps every digit of a tail.
fn lower(p: f64) -> f64 {
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    let log_p = elementary::log(p);
    let t = (-2.0 * log_p).sqrt();
    let ratio = (2.515_517 + t * (0.802_853 + t * 0.010_328))
        / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    let mut x = ratio - t;
    for _ in 0..2 {
        // Hazard m = phi(x)/Phi(x); (log Phi)' = m, (log Phi)'' = -m (x + m).
        let hazard = (2.0 / PI).sqrt() / erfcx(-x * std::f64::consts::FRAC_1_SQRT_2);
        let excess = log_cdf(x) - log_p;
        x -= excess / hazard / (1.0 + 0.5 * excess * (x + hazard) / hazard);
    }
    x
}
