//! What is known of the function given the rows, and answers at any support.
//!
//! | what | files |
//! |---|---|
//! | the posterior, a mixture over hyperparameters | `mixture`, `component`, `summary`, `levels` |
//! | predictions of the function | `marginals`, `along`, `smoothed`, `beside`, `believed`, `draws`, `lost_digits`, `explained` |
//! | predictions of sums after a link | `totals`, `lifted`, `within`, `row_sums`, `shared_out`, `shared_counts`, `unions` |
//! | rows at points that such draws meet | `one_sided` |
//! | from the function to observations | `normal_mixture`, `predictive`, `prediction`, `reporting`, `varying_noise` |
//! | what is asked of a row, or of all | `marginal`, `tabulate`, `stretch`, `probabilities` |
//! | exposures, trials and noise of new rows | `amounts`, `new_rows` |
//! | conditions on predictions, chances | `truncation`, `response_draws` |
//! | coefficients and correlations | `slopes`, `correlation`, `inputs`, `parts` |
//! | what stands behind observed rows; reports to come | `behind`, `limits`, `report` |
//! | groups of predictions that meet totals; functions of a shape | `meet`, `shape` |
//! | rows left out | `crossvalidation` |
//! | warnings | `excerpts`, `extrapolation`, `fine_noise`, `finer`, `misfit`, `sums` |

mod along;
pub(crate) mod amounts;
pub(crate) mod behind;
pub(crate) mod believed;
pub(crate) mod beside;
pub(crate) mod component;
pub(crate) mod correlation;
pub(crate) mod crossvalidation;
mod drawn_total;
pub(crate) mod draws;
pub(crate) mod excerpts;
mod explained;
mod extrapolation;
pub(crate) mod fine_noise;
pub(crate) mod finer;
pub(crate) mod inputs;
mod labels;
pub(crate) mod levels;
pub(crate) mod lifted;
pub(crate) mod limits;
pub(crate) mod lost_digits;
pub(crate) mod marginal;
pub(crate) mod marginals;
pub(crate) mod meet;
pub(crate) mod misfit;
pub(crate) mod mixture;
mod new_rows;
mod normal_mixture;
mod one_sided;
pub(crate) mod parts;
pub(crate) mod prediction;
pub(crate) mod predictive;
pub(crate) mod probabilities;
pub(crate) mod report;
pub(crate) mod reporting;
pub(crate) mod response_draws;
pub(crate) mod row_sums;
mod rows_like;
pub(crate) mod shape;
mod shared_counts;
pub(crate) mod shared_out;
pub(crate) mod slopes;
mod smoothed;
mod stretch;
pub(crate) mod summary;
mod sums;
pub(crate) mod tabulate;
pub(crate) mod totals;
pub(crate) mod truncation;
pub(crate) mod unions;
pub(crate) mod varying_noise;
pub(crate) mod within;
