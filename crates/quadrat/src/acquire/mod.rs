//! What to measure next: which place, in which way, is worth its cost.
//!
//! | what | files |
//! |---|---|
//! | what one observation would tell, by likelihood | `report` |
//! | what is believed of all places together | `joint`, `survey`, `offer`, `limit` |
//! | given measurements that are not known yet | `state`, `conditioned`, `targets`, `about`, `exceed` |
//! | the rules, and the greedy choice of a batch | `policy`, `choose`, `lazy` |
//!
//! Information is in nats here, and told in bits to people.

mod about;
mod aim;
mod choose;
mod conditioned;
mod exceed;
mod joint;
mod largest;
mod lazy;
mod limit;
mod offer;
mod policy;
mod report;
mod shared;
mod state;
mod survey;
mod targets;

pub use choose::{Choice, Chosen, choose, choose_watched};
pub use joint::{Dense, Joint};
pub use limit::{latent_limit, suits};
pub use offer::{Offer, Places, survey};
pub use policy::{Plan, Policy};
pub use report::{Answers, Bins, Clipped, Ranks, Report, Value};
pub use survey::{Kind, Member, Question, Survey};

#[cfg(test)]
mod about_tests;
#[cfg(test)]
mod exceed_tests;
#[cfg(test)]
mod largest_tests;
#[cfg(test)]
mod offer_kinds_tests;
#[cfg(test)]
mod offer_tests;
#[cfg(test)]
mod tests;
