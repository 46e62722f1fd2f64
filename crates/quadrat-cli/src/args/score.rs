//! Arguments of `quadrat score`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::figure;

/// `quadrat score`.
#[derive(Debug, Args)]
pub struct Score {
    /// The study file
    #[arg(value_name = "STUDY.toml")]
    pub study: PathBuf,
    /// Table of true values, at the places of a [[predict]] or [[observe]] of the study: the model
    /// is fitted once, to all rows, and judged by them. When absent, rows are held out in turn
    #[arg(long, value_name = "FILE", conflicts_with_all = ["folds", "by"])]
    pub truth: Option<PathBuf>,
    /// Column of the true values; when absent the one that is named as the values of the study, or
    /// `truth`, `true` or `value`
    #[arg(long, value_name = "COLUMN", requires = "truth")]
    pub value: Option<String>,
    /// What the true values are of: means, or observations with their noise. When absent counts are
    /// taken as observations if all are whole numbers, all else as means
    #[arg(long, value_enum, value_name = "SCALE", requires = "truth")]
    pub scale: Option<TruthScale>,
    /// Simple methods to compare with: `constant`, `areal`, `mono`, `pclm`, `pycnophylactic`,
    /// `centroid`; those of the first three that can do the study when absent
    #[arg(long, value_name = "METHOD,..", value_delimiter = ',', num_args = 1..)]
    pub against: Vec<String>,
    /// Number of folds: 10, or as many as there are rows (or groups) if they are fewer
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub folds: Option<u32>,
    /// Which rows are held out together: `rows` at random, `block`s that lie together in space or
    /// time, or those with the same cell in a COLUMN of the table
    #[arg(long, value_name = "rows|block|COLUMN", default_value = "rows")]
    pub by: String,
    /// The table whose rows are held out or are like the truth, by its name or file; the first one
    /// that reports values when absent
    #[arg(long, value_name = "TABLE")]
    pub table: Option<String>,
    /// The seed of the folds
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// File for the scores, with columns `method,score,value,se,p_value`
    #[arg(long, short, value_name = "OUT.csv")]
    pub output: Option<PathBuf>,
    /// File for the predictions of every method, row by row
    #[arg(long, value_name = "OUT.csv")]
    pub predictions: Option<PathBuf>,
    /// File for a figure of the coverage: `.svg`, `.png` or `.html`
    #[arg(long, value_name = "OUT.svg", value_parser = figure)]
    pub plot: Option<PathBuf>,
    /// Go on from where a cross-validation with the same -o was stopped; folds that were predicted
    /// are kept in `OUT.csv.folds` until the end
    #[arg(long, requires = "output", conflicts_with = "truth")]
    pub resume: bool,
    /// Print the scores as JSON in place of the summary
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors (and JSON with --json)
    #[arg(long, short)]
    pub quiet: bool,
    /// Number of threads; all cores when absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// What true values are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TruthScale {
    /// Means, without noise
    Response,
    /// Observations, with their noise
    Observation,
}
