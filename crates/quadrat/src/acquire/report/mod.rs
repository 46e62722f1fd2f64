//! Reports: what one observation would tell of the latent value that it looks at.

mod answers;
mod average;
mod belief_observed;
mod bins;
mod clipped;
mod expected_report;
mod form;
mod observed;
mod ranks;
mod value;

pub use answers::Answers;
pub use bins::Bins;
pub use clipped::Clipped;
pub(super) use expected_report::ExpectedReport;
pub use form::Report;
pub use ranks::Ranks;
pub use value::Value;

#[cfg(test)]
mod answers_tests;
#[cfg(test)]
mod tests;
