//! `quadrat simulate` on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `quadrat simulate`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct Simulate {
    /// What to simulate
    #[command(subcommand)]
    pub what: Simulated,
}

/// What can be simulated.
#[derive(Debug, Subcommand)]
pub enum Simulated {
    /// One function of one to three inputs, seen as values, intervals and ranks
    #[command(
        after_help = "The function is a draw of a Gaussian process with the kernel se, exact on a grid of the box. Rows look at random\n\
places of the grid, through normal noise of one standard deviation: values as they are, intervals of one width at a random\n\
offset, ranks between the quantiles of the function. Kinds do not disturb each other: more rows of one leave the others as\n\
they are. Writes points.csv, intervals.csv, ordinals.csv, truth.csv and study.toml; a kind without rows has no file.\n\
After Fletcher 2022, Active Learning for Gaussian Processes with Mixed Data, section 4."
    )]
    Mixed(SimulateMixed),
}

/// `quadrat simulate mixed`.
#[derive(Debug, Args)]
pub struct SimulateMixed {
    /// Inputs of the function: 1, 2 or 3
    #[arg(long, value_name = "D", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    pub dims: u8,
    /// Everything random comes from it: the same seed, the same files
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Rows that report values; 10 per input when absent
    #[arg(long, value_name = "N")]
    pub points: Option<usize>,
    /// Rows that report intervals; 15 per input when absent
    #[arg(long, value_name = "N")]
    pub intervals: Option<usize>,
    /// Rows that report ranks; 20 per input when absent
    #[arg(long, value_name = "N")]
    pub ordinals: Option<usize>,
    /// Ranks that are told apart, 2 to 30
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub levels: usize,
    /// Lengthscale of the function; 0.2, 0.4 or 0.8 for one, two or three inputs when absent
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    pub lengthscale: Option<f64>,
    /// Variance of the function
    #[arg(
        long,
        value_name = "V",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    pub variance: f64,
    /// Standard deviation of the noise
    #[arg(
        long,
        value_name = "SD",
        default_value_t = 0.1,
        allow_negative_numbers = true
    )]
    pub noise: f64,
    /// Width of the intervals
    #[arg(
        long,
        value_name = "W",
        default_value_t = 0.5,
        allow_negative_numbers = true
    )]
    pub width: f64,
    /// Lower end of the box, the same for every input
    #[arg(
        long,
        value_name = "X",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    pub low: f64,
    /// Upper end of the box
    #[arg(
        long,
        value_name = "X",
        default_value_t = 2.0,
        allow_negative_numbers = true
    )]
    pub high: f64,
    /// Places of the grid along every input; 101, 31 or 13 for one, two or three when absent
    #[arg(long, value_name = "N")]
    pub grid: Option<usize>,
    /// Folder to write to
    #[arg(long, short, value_name = "DIR", default_value = "quadrat-mixed")]
    pub output: PathBuf,
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}
