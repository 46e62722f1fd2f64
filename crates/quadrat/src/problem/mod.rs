//! The model as inference sees it: a Gaussian prior over what the rows looked at, the rows, and
//! what is said of hyperparameters.
//!
//! | what | files |
//! |---|---|
//! | what users say of data and predictions | `observations`, `scale`, `varying` |
//! | and of hyperparameters and the mean | `settings`, `mean_words`, `mean_settings` |
//! | what must hold before work starts | `checks`, `outputs` |
//! | which way of inference | `method` |
//! | hyperparameters of the kernel | `defaults` |
//! | those of likelihoods, and what users say of all | `own_parameters`, `apply_settings` |
//! | read off the data for these | `extent`, `column_averages`, `rms`, `seldom`, `rounding` |
//! | prior mean | `mean`, `mean_lines`, `trend` |
//! | a second latent function | `second`, `seconds` |
//! | the model in full, and as a problem | `specified`, `assembly` |
//! | what a problem is made of | `prior`, `tables`, and an `engine` for each way of inference |
//! | rows of a problem | `normal_rows`, `repeated`, `centred`, `row_products`, `kernel_products` |
//! | sums after a link | `pooled`, `drawn`, `averages` |
//! | inducing points | `sparse`, `sparse_labels` |

mod alike;
pub(crate) mod apply_settings;
pub(crate) mod assembly;
mod averages;
pub(crate) mod centred;
pub(crate) mod checks;
pub(crate) mod column_averages;
pub(crate) mod defaults;
pub(crate) mod drawn;
pub(crate) mod engine;
pub(crate) mod extent;
pub(crate) mod kernel_products;
pub(crate) mod mean;
pub(crate) mod mean_lines;
pub(crate) mod mean_settings;
pub(crate) mod mean_words;
pub(crate) mod method;
pub(crate) mod normal_rows;
pub(crate) mod observations;
pub(crate) mod outputs;
pub(crate) mod own_parameters;
pub(crate) mod pooled;
pub(crate) mod prior;
pub(crate) mod repeated;
pub(crate) mod rms;
pub(crate) mod rounding;
pub(crate) mod row_products;
pub(crate) mod scale;
pub(crate) mod second;
pub(crate) mod seconds;
pub(crate) mod seldom;
pub(crate) mod settings;
pub(crate) mod sparse;
mod sparse_labels;
pub(crate) mod specified;
pub(crate) mod tables;
pub(crate) mod trend;
pub(crate) mod varying;
