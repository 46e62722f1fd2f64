//! What stands behind observed rows: hidden counts, values beyond limits or between ends, ranks,
//! and values to which noise was added.
//!
//! | what | file |
//! |---|---|
//! | what a row leaves open | `told` |
//! | the distribution of one value | `law`, `cut`, `cells` |
//! | rows by themselves | `values` |
//! | rows together: draws and sums | `draws`, `totals` |

mod beliefs;
mod cells;
mod cut;
mod draws;
mod law;
mod table;
mod told;
mod totals;
mod values;

pub use table::Behind;
pub use totals::RowTotals;
pub use values::RowValues;
