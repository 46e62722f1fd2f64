//! Special functions over arrays, and the same as scalars.
//!
//! Each array function runs one generic kernel through `pulp`'s run-time dispatch: AVX2 or AVX-512
//! on x86-64, NEON on AArch64, plain code elsewhere. The kernels (`exp_simd` and its siblings) are
//! open to the rest of the crate, so that a covariance loop can fuse them with its own arithmetic.
//! All take any bit pattern: infinities and subnormal results are right, NaN gives NaN. The result
//! of an element does not depend on its place in the slice nor on the slice's length.
//!
//! Coefficients are our own minimax fits: `tests/reference/special.py`.

mod coefficients;
mod count;
mod count_terms;
pub(crate) mod elementary;
mod erf;
mod erfc;
mod erfcx;
mod exp;
mod exp_table;
mod gamma;
pub(crate) mod gamma_half;
mod hazard;
mod lanes;
mod log;
mod log_cdf;
mod log_cdf_difference;
mod normal;
mod quantile;
pub(crate) mod root;
pub mod scalar;
pub(crate) mod stirling;
mod truncated_normal;

pub use erf::erf_into;
pub use erfc::erfc_into;
pub use erfcx::erfcx_into;
pub use exp::{exp, exp_into};
pub use log_cdf::log_cdf_into;
pub use log_cdf_difference::log_cdf_difference_into;
pub use normal::{normal_cdf_into, normal_pdf_into};
pub use truncated_normal::{TruncatedNormal, truncated_normal};

// For fused loops elsewhere in the crate; not every kernel has such a caller.
#[allow(unused_imports)]
pub(crate) use {
    count::{CountMean, EdgeTail},
    erf::erf_simd,
    erfc::erfc_simd,
    erfcx::{erfcx_positive_simd, erfcx_short_simd, erfcx_simd},
    exp::exp_simd,
    hazard::Hazard,
    lanes::{at_most, polynomial},
    log::log_simd,
    log_cdf::log_cdf_simd,
    log_cdf_difference::log_cdf_difference_simd,
    stirling::{HALF_LOG_TWO_PI, digamma_gap_difference, log1p_gap, log1p_ratio, stirling_gap},
    truncated_normal::truncated_normal_of_width,
};
