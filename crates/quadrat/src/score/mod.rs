//! Scores of predictions against what was seen later, and a test of which method is better.
//!
//! Every score here is a loss: smaller is better. Coverage is the exception: it should equal the
//! level that was asked for.
//!
//! Source: Gneiting and Raftery (2007), "Strictly proper scoring rules, prediction, and
//! estimation", Journal of the American Statistical Association 102, 359-378.

mod binomial_test;
mod crps;
mod interval;
mod log;
mod pit;
mod signed_rank;

pub use binomial_test::binomial_test;
pub use crps::{crps_normal, crps_sample};
pub use interval::{coverage, interval_score};
pub use log::log_score_normal;
pub use pit::randomised_pit;
pub use signed_rank::{SignedRank, signed_rank};
