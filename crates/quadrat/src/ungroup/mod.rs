//! Counts in bands become counts in single years, or in any steps, with intervals.
//!
//! People by bands of age, households by classes of income: the log density is a Gaussian process
//! (`prior.rs`), the counts of the bands are met exactly by every draw, and nothing is negative. In
//! five lines:
//!
//! ```
//! use quadrat::ungroup::Ungroup;
//! let from = [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0];
//! let to = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, f64::INFINITY];
//! let people = [4557.0, 4512.0, 4474.0, 4569.0, 4157.0, 4284.0, 3886.0, 2410.0, 1005.0, 271.0];
//! let years = Ungroup::new(&from, &to).estimate(&people)?;
//! let (mean, lower, upper) = (years.mean(), years.lower(), years.upper());
//! let median_age = years.quantile(0.5);
//! assert_eq!(mean.len(), 110);
//! assert!((mean[..10].iter().sum::<f64>() - 4557.0).abs() < 1e-6);
//! assert!(lower[42] < mean[42] && mean[42] < upper[42] && lower[42] > 300.0);
//! assert!(median_age.lower > 35.0 && median_age.upper < 41.0);
//! # Ok::<(), quadrat::ungroup::UngroupError>(())
//! ```
//!
//! | word | meaning |
//! |---|---|
//! | band | a row of the table: two edges and how many are in it |
//! | step | what is told: a single year, or another part of the axis |
//! | cell | what is inferred: within one band and one step |
//! | `x`, `u` | the axis of the edges, and that on which the curve is smooth |
//!
//! # Source
//! The job: Rizzi, Gampe and Eilers 2015 (the composite link model); `graduate` of DemoTools. The
//! inference: `inference::pooled`, draws that meet their totals.

mod along;
mod answer;
mod answers;
mod apart;
mod axis;
mod bands;
mod builder;
mod cells;
mod error;
mod estimate;
mod exposed;
mod fit;
mod heaping;
mod life;
mod prior;
mod rate_fit;
mod rate_prior;
mod rates;
mod refine;
mod settings;
mod standard;
mod tail;
#[cfg(test)]
mod tests;
mod unexposed;
mod weighted;

pub use along::Year;
pub use answer::Answer;
pub use builder::{Population, Ungroup};
pub use error::{UngroupError, Warning};
pub use estimate::Estimate;
pub use exposed::Exposure;
pub use heaping::{five_year_ratio, myers, whipple};
pub use life::{Column, LifeTable};
pub use rates::Rates;
pub use standard::Standard;
pub use tail::Tail;
