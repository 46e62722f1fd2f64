//! What stands behind observed rows: hidden counts, values beyond limits or between ends, ranks,
//! and values to which noise was added.
//!
//! | what | file |
//! |---|---|
//! | the rows of a table, and what each leaves open | `table`, `told` |
//! | what is believed of the function, with and without a row | `beliefs`, `cavity` |
//! | the distribution of one value | `value_distribution`, `truncated_normal`, `drawn` |
//! | that of a count | `counts`, `cells` |
//! | rows by themselves | `values` |
//! | rows together: draws and sums | `draws`, `totals` |

mod beliefs;
mod cavity;
mod cells;
mod counts;
mod drawn;
mod draws;
mod table;
mod told;
mod totals;
mod truncated_normal;
mod value_distribution;
mod values;

pub(super) use cavity::without_site;
pub use table::Behind;
pub use totals::RowTotals;
pub use values::RowValues;
