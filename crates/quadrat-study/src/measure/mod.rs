//! Measurements: which kinds there are, and what those that were made say.

mod answers;
mod kinds;
mod record;
mod told;

pub use answers::{Answered, read};
pub use kinds::{Price, Tables, offers, table_of};
pub use record::Record;
pub use told::{Own, by_kind, conditioned};
