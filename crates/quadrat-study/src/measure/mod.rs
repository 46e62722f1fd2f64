//! Measurements: which kinds there are, and what those that were made say.

mod answers;
mod kinds;
mod noise;
mod offer;
mod record;
mod reported;
mod told;

pub use answers::{Answered, CHOSEN, Own, names, read};
pub use kinds::{Price, Tables, table_of};
pub use offer::{offer, offers};
pub use record::Record;
pub use told::{by_kind, conditioned};
