//! The same functions of one number. Those with an array form give its bits. And the logarithm of a
//! sum that is known by the logarithms of its terms.

pub use super::count::{regularised_beta, regularised_gamma};
pub use super::gamma::{digamma, ln_gamma};
pub use super::quantile::normal_quantile;

use super::erf::Erf;
use super::erfc::Erfc;
use super::erfcx::Erfcx;
use super::exp::Exp;
use super::lanes::{map_binary_one, map_one};
use super::log_cdf::LogCdf;
use super::log_cdf_difference::LogCdfDifference;
use super::normal::{NormalCdf, NormalPdf};

/// $e^x$, as [`exp_into`](super::exp_into).
pub fn exp(x: f64) -> f64 {
    map_one::<Exp>(x)
}

/// Error function, as [`erf_into`](super::erf_into).
pub fn erf(x: f64) -> f64 {
    map_one::<Erf>(x)
}

/// Complementary error function, as [`erfc_into`](super::erfc_into).
pub fn erfc(x: f64) -> f64 {
    map_one::<Erfc>(x)
}

/// Scaled complementary error function, as [`erfcx_into`](super::erfcx_into).
pub fn erfcx(x: f64) -> f64 {
    map_one::<Erfcx>(x)
}

/// `log sum_i exp(l_i)`, safe for large arguments.
pub(crate) fn log_sum_exp(logs: &[f64]) -> f64 {
    let most = logs.iter().fold(f64::NEG_INFINITY, |m, l| m.max(*l));
    if !most.is_finite() {
        return most;
    }
    most + logs.iter().map(|l| (l - most).exp()).sum::<f64>().ln()
}

/// $\Phi(x)$, as [`normal_cdf_into`](super::normal_cdf_into).
pub fn normal_cdf(x: f64) -> f64 {
    map_one::<NormalCdf>(x)
}

/// Standard normal density, as [`normal_pdf_into`](super::normal_pdf_into).
pub fn normal_pdf(x: f64) -> f64 {
    map_one::<NormalPdf>(x)
}

/// $\log \Phi(x)$, as [`log_cdf_into`](super::log_cdf_into).
pub fn log_cdf(x: f64) -> f64 {
    map_one::<LogCdf>(x)
}

/// $\log(\Phi(b) - \Phi(a))$, as [`log_cdf_difference_into`](super::log_cdf_difference_into).
pub fn log_cdf_difference(a: f64, b: f64) -> f64 {
    map_binary_one::<LogCdfDifference>(a, b)
}
