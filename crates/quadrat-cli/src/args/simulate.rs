//! `quadrat simulate` on the command line.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

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
    /// Two correlated series, parts of which are only known to lie above what was recorded
    #[command(
        after_help = "Two functions, draws of a Gaussian process with the kernel se, correlated with a random sign, are seen at equally spaced\n\
points of [0, 10] through noise whose variance changes. A part of the first is censored: one stretch, from 1.3 to 5.5 (none,\n\
zero, stretch), or six short pieces (half, pieces). The second is censored nowhere (none), elsewhere (zero), in pieces half of\n\
which are those of the first (half), or where the first is (pieces, stretch). What is recorded there is the value less a random\n\
shortfall between 0.05 and 3.55 (random), or a threshold that it exceeds (clipped). Overlap and record leave the truth as it is.\n\
Writes first.csv, second.csv, truth.csv and study.toml.\n\
After Gammelli et al. 2022, Generalized multi-output Gaussian process censored regression, section 4.3."
    )]
    Censored(SimulateCensored),
}

/// Which rows of the two outputs are censored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OverlapArg {
    /// One stretch of the first output; nothing of the second
    None,
    /// One stretch of each, elsewhere
    Zero,
    /// Six short pieces of each, half of them shared
    Half,
    /// Six short pieces, the same of both
    Pieces,
    /// One stretch, the same of both
    Stretch,
}

/// What is recorded of a censored value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecordArg {
    /// The value less a random shortfall
    Random,
    /// A threshold, where the value exceeds it
    Clipped,
}

/// `quadrat simulate censored`.
#[derive(Debug, Args)]
pub struct SimulateCensored {
    /// Which rows are censored
    #[arg(long, value_enum, default_value = "none")]
    pub overlap: OverlapArg,
    /// What is recorded of them
    #[arg(long, value_enum, default_value = "random")]
    pub record: RecordArg,
    /// Everything random comes from it: the same seed, the same files
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Points of each output
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub points: usize,
    /// Lengthscale of the functions
    #[arg(
        long,
        value_name = "L",
        default_value_t = 1.5,
        allow_negative_numbers = true
    )]
    pub lengthscale: f64,
    /// Variance of the functions
    #[arg(
        long,
        value_name = "V",
        default_value_t = 3.24,
        allow_negative_numbers = true
    )]
    pub variance: f64,
    /// Size of the correlation of the functions at one place; its sign is random
    #[arg(
        long,
        value_name = "R",
        default_value_t = 0.9,
        allow_negative_numbers = true
    )]
    pub correlation: f64,
    /// Standard deviation of the noise where its logarithm is at its mean
    #[arg(
        long,
        value_name = "SD",
        default_value_t = 0.25,
        allow_negative_numbers = true
    )]
    pub noise: f64,
    /// Variance of the log variance of the noise; 0 for noise that does not change
    #[arg(
        long,
        value_name = "V",
        default_value_t = 0.49,
        allow_negative_numbers = true
    )]
    pub noise_variance: f64,
    /// Lengthscale of the log variance of the noise
    #[arg(
        long,
        value_name = "L",
        default_value_t = 3.0,
        allow_negative_numbers = true
    )]
    pub noise_lengthscale: f64,
    /// With `--record clipped`: share of the rows of the stretch or pieces that lie above the
    /// threshold
    #[arg(
        long,
        value_name = "S",
        default_value_t = 0.6,
        allow_negative_numbers = true
    )]
    pub share: f64,
    /// Folder to write to
    #[arg(long, short, value_name = "DIR", default_value = "quadrat-censored")]
    pub output: PathBuf,
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
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
