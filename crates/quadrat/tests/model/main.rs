//! The model against brute force: predictions, cross-validation, draws, updates, saved files.

#![allow(clippy::unwrap_used, clippy::panic)]

mod amounts;
mod answers;
mod behind;
mod behind_alone;
mod behind_coverage;
mod behind_together;
mod both_varying;
mod common;
mod crossvalidation;
mod cycles_along_a_line;
mod digits;
mod ends;
mod far_rows;
mod invariance;
mod labels;
#[cfg(feature = "mcmc")]
mod mcmc;
mod mean;
mod mean_lines;
mod mean_lines_fits;
mod mean_lines_kinds;
mod meet;
mod outputs;
mod overlap;
mod periods;
mod pooled;
mod pooled_places;
mod proportions;
mod redundant;
mod refused;
mod relearn;
mod reports;
mod rounding;
mod sites;
mod slopes;
mod sparse;
mod sparse_edges;
mod sparse_likelihoods;
mod sparse_search;
mod sparse_sums;
mod suppressed_sums;
mod times;
mod truncated;
mod varying;
