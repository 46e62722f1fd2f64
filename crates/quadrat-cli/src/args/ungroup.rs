//! Arguments of `quadrat ungroup`.

use std::path::PathBuf;

use clap::Args;
use quadrat_study::study::{LEVEL, ungroup};

use super::{figure, level};

/// `quadrat ungroup`.
#[derive(Debug, Args)]
// The one that clap makes puts the file behind flags that take no value.
#[command(override_usage = "quadrat ungroup <FILE> --lower <COLUMN> --count <COLUMN> [OPTIONS]")]
pub struct Ungroup {
    /// The table of bands
    #[arg(value_name = "FILE")]
    pub table: PathBuf,
    /// Column of the lower edges; `<15` opens the first band below, `90+` the last one above
    #[arg(long, value_name = "COLUMN")]
    pub lower: String,
    /// Column of the upper edges, each of which is where the next band begins; an empty cell or
    /// `inf` opens the last band. When absent every band ends where the next begins, and the last
    /// is open
    #[arg(long, value_name = "COLUMN")]
    pub upper: Option<String>,
    /// Column of the counts
    #[arg(long, value_name = "COLUMN")]
    pub count: String,
    /// Column of the exposure: people or person-years, in the same bands. Then `--count` are events
    /// such as deaths or births, whole numbers, and rates are told
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["log", "sampled"])]
    pub exposure: Option<String>,
    /// The table of the exposure, where it is told in bands of its own, which cover those of the
    /// events; its columns of edges and populations have the same names
    #[arg(long, value_name = "FILE", requires = "exposure")]
    pub exposure_table: Option<PathBuf>,
    /// File for a life table of the rates, with intervals; needs --exposure
    #[arg(long, value_name = "OUT.csv", requires = "exposure")]
    pub life_table: Option<PathBuf>,
    /// Columns that name the population of each row: one for each of their combinations
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', num_args = 1..)]
    pub by: Vec<String>,
    /// Column of the years, numbers, which are ungrouped together and inform each other: all years
    /// of each population of --by. Each may have bands of its own. Not with --exposure
    #[arg(long, value_name = "COLUMN")]
    pub along: Option<String>,
    /// Rates of each population lie around those of all of them together: for populations of few
    /// events, of one country; needs --exposure and --by
    #[arg(long, requires_all = ["exposure", "by"])]
    pub borrow: bool,
    /// Where an open first band begins; 0 when absent
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub first: Option<f64>,
    /// Where an open last band ends; 110 for ages, 25 times its edge with --log when absent
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub last: Option<f64>,
    /// How the curve falls off in the last band: `gompertz` (ages in years), `pareto` (money,
    /// with --log), or `exponential=0.2`, its slope. When absent it is chosen for an open band:
    /// gompertz from an age of 60 to 105, pareto with --log
    #[arg(long, value_name = "TAIL", value_parser = ungroup::tail)]
    pub tail: Option<quadrat::ungroup::Tail>,
    /// Width of the steps to tell; 1 where all edges are whole numbers of at most 200, else a fifth
    /// of every band
    #[arg(
        long,
        value_name = "WIDTH",
        conflicts_with = "edges",
        allow_negative_numbers = true
    )]
    pub step: Option<f64>,
    /// Edges of the steps to tell, such as `0,18,65,110`; `inf` ends an open band
    #[arg(
        long,
        value_name = "X,X,..",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub edges: Vec<f64>,
    /// Bands of money: the curve is smooth in the logarithm of the amount (and the first edge)
    #[arg(long)]
    pub log: bool,
    /// How many were asked per one counted: 0.12 where a sample of 12 % was blown up, 1000 where
    /// counts are in thousands
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 1.0,
        value_parser = positive,
        allow_negative_numbers = true
    )]
    pub sampled: f64,
    /// Probability of intervals
    #[arg(long, default_value_t = LEVEL, value_parser = level)]
    pub level: f64,
    /// Draw whole populations from the posterior, as columns `draw_1` and so on of the table
    /// written with -o; every one adds up to the bands
    #[arg(long, value_name = "N", requires = "output", value_parser = clap::value_parser!(u16).range(1..=4000))]
    pub draws: Option<u16>,
    /// The seed of all draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// File for the table, one row per step; nothing is written when absent
    #[arg(long, short, value_name = "OUT.csv")]
    pub output: Option<PathBuf>,
    /// File for a figure: `.svg`, `.png` or `.html`
    #[arg(long, value_name = "OUT.svg", value_parser = figure)]
    pub plot: Option<PathBuf>,
    /// Print the answers as JSON in place of the summary
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors (and JSON with --json)
    #[arg(long, short)]
    pub quiet: bool,
}

impl Ungroup {
    /// What is asked, as studies say it.
    pub fn asked(&self) -> ungroup::Ungroup {
        ungroup::Ungroup {
            table: self.table.clone(),
            lower: self.lower.clone(),
            upper: self.upper.clone(),
            count: self.count.clone(),
            exposure: self.exposure.clone(),
            exposure_table: self.exposure_table.clone(),
            life_table: self.life_table.is_some(),
            by: self.by.clone(),
            along: self.along.clone(),
            borrow: self.borrow,
            first: self.first,
            last: self.last,
            tail: self.tail,
            step: self.step,
            edges: self.edges.clone(),
            log: self.log,
            sampled: self.sampled,
            level: self.level,
            draws: self.draws,
            seed: self.seed,
        }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("write a number above zero, such as 0.12 or 1000".to_owned()),
    }
}
