//! `quadrat-studies STUDY`: one experiment of a paper, published and measured numbers together.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use quadrat_studies::data::Missing;
use quadrat_studies::{STUDIES, Settings, Study};

/// Some study did not hold, or could not be run.
const FAILED: u8 = 1;
/// Some data set is not there (clap exits with the same code for wrong usage).
const SKIPPED: u8 = 2;

#[derive(Parser)]
#[command(about = "The papers' experiments, with the published tables beside ours")]
struct Arguments {
    /// Studies to run, in order.
    #[arg(required_unless_present = "list", value_parser = names())]
    studies: Vec<String>,
    /// Lists the studies.
    #[arg(long)]
    list: bool,
    /// Few repeats: well under a minute.
    #[arg(long)]
    quick: bool,
    /// Everything random comes from it.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Repeats in place of the study's own number.
    #[arg(long, visible_alias = "seeds", value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,
    /// Only the likelihoods of sites-calibration, the kinds of sites-hidden, or the cases of
    /// censored-newyork ("Poisson CGP"), whose names contain this; or the models of
    /// censored-synthetic, -coverage and -correlation of this name (HMOCGP); may be repeated.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Width of the bins of binned-privacy-ages in years.
    #[arg(long, default_value = "10", value_parser = ["2", "5", "10", "20"])]
    bins: String,
    /// Folder of the public data sets.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Prints JSON, one object per study.
    #[arg(long)]
    json: bool,
}

fn names() -> clap::builder::PossibleValuesParser {
    STUDIES.iter().map(|s| s.name).collect::<Vec<_>>().into()
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.list {
        for study in STUDIES {
            println!("{:<22} {}", study.name, study.about);
        }
        return ExitCode::SUCCESS;
    }
    let defaults = Settings::default();
    let settings = Settings {
        quick: arguments.quick,
        seed: arguments.seed,
        repeats: arguments.repeats.map(|r| r as usize),
        only: arguments.only.clone(),
        width: arguments.bins.parse().unwrap_or(defaults.width),
        data: arguments.data.unwrap_or(defaults.data),
    };
    let asked = |study: &&Study| arguments.studies.iter().any(|name| name == study.name);
    let codes: Vec<u8> = STUDIES
        .iter()
        .filter(asked)
        .map(|study| run(study, &settings, arguments.json))
        .collect();
    // A failure says more than a skip.
    let worst = if codes.contains(&FAILED) {
        FAILED
    } else {
        codes.into_iter().max().unwrap_or(0)
    };
    ExitCode::from(worst)
}

fn run(study: &Study, settings: &Settings, json: bool) -> u8 {
    let started = Instant::now();
    match (study.run)(settings) {
        Ok(report) => {
            let seconds = started.elapsed().as_secs_f64();
            if json {
                let value = serde_json::json!({
                    "study": study.name,
                    "seed": settings.seed,
                    "quick": settings.quick,
                    "seconds": seconds,
                    "passes": report.passes(),
                    "report": report,
                });
                println!("{value}");
            } else {
                let quick = if settings.quick { ", quick" } else { "" };
                println!("{report}\nseed {}{quick}, {seconds:.1} s\n", settings.seed);
            }
            u8::from(!report.passes())
        }
        Err(error) if error.downcast_ref::<Missing>().is_some() => {
            eprintln!("{}: skipped: {error}", study.name);
            SKIPPED
        }
        Err(error) => {
            eprintln!("{}: {error:#}", study.name);
            FAILED
        }
    }
}
