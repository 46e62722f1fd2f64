//! Predictions whose groups add up to given totals (benchmarking).
//!
//! | what | file |
//! |---|---|
//! | groups of rows and their totals | `given` |
//! | what is asked, and by which way it is answered | `ask` |
//! | values without a link: conditioning on the totals | `normal`, `conditioning` |
//! | positive values behind a link: draws scaled to the totals | `raked`, `scaling`, `known` |
//! | totals that others determine | `pivots` |
//! | the answer | `met` |

mod ask;
mod conditioning;
mod given;
mod known;
mod met;
mod normal;
mod pivots;
mod raked;
mod scaling;

pub use given::GroupTotals;
pub use met::Met;
