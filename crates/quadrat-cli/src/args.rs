//! The command line.

mod density;
mod looks;
mod next;
mod reconcile;
mod score;
mod simulate;
mod ungroup;

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use quadrat_study::study::LEVEL;

pub use density::Density;
pub use looks::{Aggregation, Looks};
pub use next::{Next, Tell};
pub use reconcile::Reconcile;
pub use score::{Score, TruthScale};
pub use simulate::{OverlapArg, RecordArg, Simulate, SimulateCensored, SimulateMixed, Simulated};
pub use ungroup::Ungroup;

/// Fine-grained truth, with honest uncertainty, from data only seen through bins and boxes.
#[derive(Debug, Parser)]
#[command(
    name = "quadrat",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
#[command(
    after_help = "Start with `quadrat demo`. A study is one TOML file; `quadrat demo` writes one to begin from.\n\
Exit codes: 0 done; 1 input refused, or not converged (nothing is written then); 2 wrong usage."
)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a built-in example and write its files, results and report
    Demo(Demo),
    /// Fit a study, predict, and write tables and a report
    Run(Run),
    /// Fit a study and save the model
    Fit(Fit),
    /// Predict from a saved model at the rows of a table
    Predict(Predict),
    /// Judge a study on rows it has not seen, beside simple methods
    Score(Score),
    /// Choose what to measure next, by what it tells and costs
    Next(Next),
    /// Add measured rows to a saved model
    Tell(Tell),
    /// Estimate the density of a column, with its band
    Density(Density),
    /// Turn counts in bands into counts in single years, or other steps, with intervals
    Ungroup(Ungroup),
    /// Make noisy counts of areas within areas add up, by their variances
    Reconcile(Reconcile),
    /// Release a table of counts with differential-privacy noise of known variance
    Noise(Noise),
    /// Write artificial data with their truth, and a study that fits them
    Simulate(Simulate),
}

/// How much to say.
#[derive(Debug, Clone, Copy, Args)]
pub struct Saying {
    /// Print fit.json to standard output instead of the summary
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors (and fit.json with --json)
    #[arg(long, short)]
    pub quiet: bool,
    /// Number of threads; all cores when absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// `quadrat demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Name of the example; the first one when absent
    #[arg(conflicts_with = "list")]
    pub name: Option<String>,
    /// List the examples
    #[arg(long)]
    pub list: bool,
    /// Folder to write to
    #[arg(long, short, value_name = "DIR", default_value = "quadrat-demo")]
    pub output: PathBuf,
    /// How much to say.
    #[command(flatten)]
    pub saying: Saying,
}

/// `quadrat run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The study file
    #[arg(value_name = "STUDY.toml")]
    pub study: PathBuf,
    /// Folder to write to; `<name of the study>-out` in the current folder when absent
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Set the fit beside draws from the posterior itself, by the no-U-turn sampler; seconds for
    /// tens of rows, minutes for hundreds; at most 1000 rows, or places within rows that are sums
    /// after a link
    #[arg(long, value_enum, value_name = "HOW")]
    pub check: Option<CheckWord>,
    /// Draws of each of the four chains of the check
    #[arg(long, value_name = "N", requires = "check", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..=50_000))]
    pub draws: u32,
    /// Simple methods whose means stand beside in the tables, such as `areal,mono`; those of
    /// `[baseline]` when absent
    #[arg(long, value_name = "METHOD", value_delimiter = ',')]
    pub baseline: Vec<String>,
    /// Go on from where a fit with `method = "sparse"` stood when it was stopped or killed
    #[arg(long)]
    pub resume: bool,
    /// How much to say.
    #[command(flatten)]
    pub saying: Saying,
}

/// How to check a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckWord {
    /// Sampling
    Mcmc,
}

/// `quadrat fit`.
#[derive(Debug, Args)]
pub struct Fit {
    /// The study file
    #[arg(value_name = "STUDY.toml")]
    pub study: PathBuf,
    /// File for the model
    #[arg(long, short, value_name = "M.quadrat")]
    pub output: PathBuf,
    /// Go on from where a fit with `method = "sparse"` stood when it was stopped or killed
    #[arg(long)]
    pub resume: bool,
    /// How much to say.
    #[command(flatten)]
    pub saying: Saying,
}

/// `quadrat predict`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("where").args(["point", "boxes", "region", "bag", "quantile"]).required(true).multiple(true))]
pub struct Predict {
    /// A model saved by `quadrat fit`
    #[arg(value_name = "M.quadrat")]
    pub model: PathBuf,
    /// Table of the places to predict at; GeoJSON with --region
    #[arg(long, value_name = "FILE", required_unless_present = "quantile")]
    pub at: Option<PathBuf>,
    /// Where its rows look.
    #[command(flatten)]
    pub looks: Looks,
    /// Takes missing coordinates of the points of bags as the mean of those of their bag
    #[arg(long, value_name = "HOW", value_parser = ["mean"], requires = "bag")]
    pub missing: Option<String>,
    /// What to predict
    #[arg(long, value_enum, default_value = "response")]
    pub scale: ScaleWord,
    /// Quantiles of a density: probabilities such as `0.1,0.5,0.9`, at every place of FILE where it
    /// is given another column
    #[arg(long, value_name = "P", value_delimiter = ',', value_parser = probability)]
    pub quantile: Vec<f64>,
    /// Probability of the interval: 0.95, and of a density that of its study, unless it is given
    #[arg(long, value_parser = level)]
    pub level: Option<f64>,
    /// Limits: adds the probability that each is exceeded, on that scale, as columns `above_LIMIT`
    #[arg(long, value_name = "LIMIT", value_delimiter = ',', allow_negative_numbers = true, value_parser = limit)]
    pub above: Vec<f64>,
    /// Add the probability of every rank, as columns `rank_1` and so on; needs `--scale
    /// observation`
    #[arg(long)]
    pub ranks: bool,
    /// Draw functions from the posterior, one for all rows, as columns `draw_1` and so on
    #[arg(long, value_name = "N")]
    pub draws: Option<std::num::NonZeroU16>,
    /// The seed of the draws
    #[arg(long, value_name = "N", default_value_t = 0, requires = "draws")]
    pub seed: u64,
    /// The output to predict, where the model has several; all of them when absent
    #[arg(long, value_name = "OUTPUT")]
    pub of: Option<String>,
    /// The table of the study whose reports are predicted, by its name or file; needed at `--scale
    /// observation` where tables of one output differ in their noise or in what they report
    #[arg(long = "as", id = "like", value_name = "TABLE")]
    pub like: Option<String>,
    /// What rates are multiplied by, a number or a column of FILE: counts are predicted at this
    /// exposure
    #[arg(long, value_name = "COLUMN")]
    pub exposure: Option<String>,
    /// Among how many trials successes are predicted, a number or a column of FILE; needs `--scale
    /// observation`
    #[arg(long, value_name = "COLUMN")]
    pub trials: Option<String>,
    /// Columns of FILE to copy into the answer, such as names
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', num_args = 1..)]
    pub keep: Vec<String>,
    /// Truncate every prediction at zero; a model whose study says `non_negative` does so without
    #[arg(long)]
    pub non_negative: bool,
    /// File for the table, `.geojson` to have regions with their predictions; CSV on standard
    /// output when absent
    #[arg(long, short, value_name = "OUT.csv")]
    pub output: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

impl Predict {
    /// The table of the places; an empty path where there is none.
    pub fn at(&self) -> &Path {
        self.at.as_deref().unwrap_or(Path::new(""))
    }

    /// Probability of the intervals of a function.
    pub fn level(&self) -> f64 {
        self.level.unwrap_or(LEVEL)
    }
}

/// `quadrat noise`.
#[derive(Debug, Args)]
pub struct Noise {
    /// The table of true counts (CSV)
    #[arg(value_name = "FILE.csv")]
    pub table: PathBuf,
    /// Privacy spent per column; smaller is more private and more noisy
    #[arg(
        long,
        value_name = "E",
        required_unless_present = "rho",
        conflicts_with = "rho"
    )]
    pub epsilon: Option<f64>,
    /// The same as zero-concentrated privacy, for discrete Gaussian noise
    #[arg(long, value_name = "R")]
    pub rho: Option<f64>,
    /// With --epsilon, for discrete Gaussian noise: the chance that privacy fails
    #[arg(long, value_name = "D", conflicts_with = "rho")]
    pub delta: Option<f64>,
    /// The most by which one person changes a column, all its rows together (for discrete Gaussian
    /// noise the root of the sum of squares); 1 where everybody is counted in one row
    #[arg(long, value_name = "S")]
    pub sensitivity: f64,
    /// Columns of counts; may be left out where only one column can be meant
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', num_args = 1..)]
    pub column: Vec<String>,
    /// Distribution of the noise
    #[arg(long, value_enum, default_value = "laplace")]
    pub mechanism: MechanismWord,
    /// Raise negative noisy values to zero; this biases small counts and all sums upwards
    #[arg(long)]
    pub clip: bool,
    /// The same noise again, for studies and tests only: who knows the seed can take the noise away
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// File for the released table; standard output when absent
    #[arg(long, short, value_name = "OUT.csv")]
    pub output: Option<PathBuf>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// A distribution of noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MechanismWord {
    /// Laplace noise, on any numbers
    Laplace,
    /// Two-sided geometric noise: whole numbers stay whole, and no low digits betray them
    Geometric,
    /// Discrete Gaussian noise: whole numbers stay whole, fewer noisy values are far off
    DiscreteGaussian,
}

/// A scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScaleWord {
    /// The latent function
    Latent,
    /// After aggregation, without noise
    Response,
    /// A new observation, with noise
    Observation,
    /// What an instrument with limits reports of a new observation
    Report,
    /// The values behind observed rows: in studies only
    #[value(hide = true)]
    Row,
}

fn figure(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|e| e.to_str()) {
        Some("svg" | "png" | "html") => Ok(path),
        _ => Err("the file must end in .svg, .png or .html".to_owned()),
    }
}

fn limit(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(limit) if limit.is_finite() => Ok(limit),
        _ => Err("a limit must be a finite number, such as 50".to_owned()),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err("a probability must lie between 0 and 1, such as 0.5".to_owned()),
    }
}

fn level(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err("the level must lie between 0 and 1, such as 0.95".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
