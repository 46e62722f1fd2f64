//! How good predictions are of rows that were held out, ours beside simple methods.
//!
//! | what | files |
//! |---|---|
//! | which rows are held out together | `folds` |
//! | what held-out rows reported | `held_out` |
//! | scores of one row | `row_score`, `crps` |
//! | means over rows, and which method is better | `summary` |
//!
//! Nothing here fits: the caller fits a model without the rows of a fold, predicts them
//! ([`Posterior::predict_rows`](crate::model::Posterior::predict_rows) or
//! [`baseline::reported_as`](crate::baseline::reported_as)), and hands the predictions over.

mod crps;
mod folds;
mod held_out;
mod row_score;
mod summary;

pub use folds::Folds;
pub use held_out::{HeldOut, held_out};
pub use row_score::{LEVELS, RowScore, point_scores, row_scores};
pub use summary::{Line, Method, Score, summary};
