//! Arguments of `quadrat reconcile`.

use std::path::PathBuf;

use clap::Args;
use quadrat_study::study::LEVEL;

use super::level;

/// `quadrat reconcile`.
#[derive(Debug, Args)]
#[command(
    override_usage = "quadrat reconcile <FILE> --area <COLUMN> --within <COLUMN> --value <COLUMN> --variance <COLUMN> [OPTIONS]"
)]
pub struct Reconcile {
    /// The table: a row for every measurement
    #[arg(value_name = "FILE")]
    pub table: PathBuf,
    /// Column of the area of each row
    #[arg(long, value_name = "COLUMN")]
    pub area: String,
    /// Column of the area that it lies within; empty for those within no other
    #[arg(long, value_name = "COLUMN")]
    pub within: String,
    /// Column of the values, such as counts; empty where an area was not measured
    #[arg(long, value_name = "COLUMN")]
    pub value: String,
    /// Column of the variances of their errors, or one number for all; 0 is exact
    #[arg(long, value_name = "COLUMN", allow_negative_numbers = true)]
    pub variance: String,
    /// Columns whose every combination adds up by itself, such as age and sex
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', num_args = 1..)]
    pub by: Vec<String>,
    /// Probability of intervals
    #[arg(long, default_value_t = LEVEL, value_parser = level)]
    pub level: f64,
    /// Draw all areas, as columns `draw_1` and so on; every draw adds up
    #[arg(long, value_name = "N", requires = "output", value_parser = clap::value_parser!(u16).range(1..=4000))]
    pub draws: Option<u16>,
    /// The seed of all draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// File for the table, one row per area; nothing is written when absent
    #[arg(long, short, value_name = "OUT.csv")]
    pub output: Option<PathBuf>,
    /// Print what is said as JSON in place of the summary
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors (and JSON with --json)
    #[arg(long, short)]
    pub quiet: bool,
}
