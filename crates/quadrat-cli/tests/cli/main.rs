//! Black-box tests of the program.

#![allow(clippy::unwrap_used)]

mod bag_reports;
mod behind;
mod broken_kinds;
mod broken_outputs;
mod broken_regions;
mod broken_studies;
mod broken_tables;
mod censored;
mod chances;
mod covariates;
mod cumulative;
mod density;
mod density_given;
mod density_land;
mod density_plane;
mod density_saved;
mod density_study;
mod doors;
mod draws;
mod effects;
mod effects_cases;
mod effects_of_keys;
mod figures;
mod harness;
mod instruments;
mod kinds;
mod long_runs;
mod map_kernel;
mod mcmc;
mod meet;
mod methods;
mod missing;
mod more_doors;
mod next;
mod noise;
mod non_negative;
mod outputs;
mod overlap;
#[cfg(feature = "parquet")]
mod parquet_pixels;
mod pooled;
mod predict_flags;
mod presets;
mod redundant;
mod regions;
mod several;
mod simulate;
mod sparse_choices;
mod sums;
mod tell;
mod ungroup;
mod ungroup_refused;
mod varying;
mod warned;
