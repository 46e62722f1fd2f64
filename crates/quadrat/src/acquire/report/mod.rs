//! Reports: what one observation would tell of the latent value that it looks at.

mod answers;
mod average;
mod bins;
mod clipped;
mod form;
mod observed;
mod ranks;
mod seen;
mod told;
mod value;

pub use answers::Answers;
pub use bins::Bins;
pub use clipped::Clipped;
pub use form::Report;
pub use ranks::Ranks;
pub(super) use seen::Seen;
pub use value::Value;

#[cfg(test)]
mod answers_tests;
#[cfg(test)]
mod tests;
