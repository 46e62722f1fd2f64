//! Benches of quadrat: `quadrat-bench <subject>`, always as ratios in one run.

mod acquire;
mod answers;
mod cells;
mod chained;
mod chained_peer;
mod chained_rows;
mod clock;
mod counts;
mod density;
mod fit;
mod gram;
mod kinds;
mod line;
mod peer;
mod points;
mod readings;
mod refusals;
mod regions;
mod sites;
mod sparse;
mod special;
mod table;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Benches of quadrat, as ratios in one run")]
struct Arguments {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Subcommand)]
enum Subject {
    /// Array special functions, ns per element.
    Special,
    /// Gram matrices of boxes and their gradients, against the special functions they need.
    Gram,
    /// Gram matrices of a map of polygons, against the kernel evaluations they need.
    Regions,
    /// Sweeps over sites, against their linear algebra.
    Sites,
    /// Passes over pixels through inducing points, against their matrix products.
    Sparse {
        /// The interpreter that has GPyTorch, to make the same pass beside ours; see
        /// `peers/README.md`.
        #[arg(long, default_value = "python3")]
        peer: PathBuf,
        /// How many inducing points.
        #[arg(long, value_delimiter = ',', default_values_t = [128, 256, 576])]
        inducing: Vec<usize>,
    },
    /// A country of a million pixels: the study `bags-country`, then a pass of a bound of its form
    /// beside that of a peer.
    Country {
        /// The interpreter that has GPyTorch, to make the same pass beside ours; see
        /// `peers/README.md`.
        #[arg(long, default_value = "python3")]
        peer: PathBuf,
        /// Fewer districts and pixels: seconds.
        #[arg(long)]
        quick: bool,
    },
    /// Fits of censored rows, with one or two outputs, with noise that is constant or a function.
    Chained {
        /// Only the model of this name.
        only: Option<String>,
        /// The interpreter that has GPyTorch, to fit the same rows beside ours; see
        /// `peers/README.md`.
        #[arg(long, default_value = "python3")]
        peer: PathBuf,
    },
    /// What to measure next, of many places.
    Acquire,
    /// Answers of integrated posteriors: scores of rows, many places, saved models.
    Answers,
    /// Histograms of counts, through inducing points and over all nodes within bins.
    Counts,
    /// Densities of few and many values.
    Density,
    /// Where the time of a fit goes, as shares.
    Fit,
    /// Fits of thirty rows of every kind of instrument, beside values.
    Kinds,
    /// Bins along a line, against the whole matrix and mgcv.
    Line {
        /// The R that has mgcv, to fit the same bins beside ours; see `peers/README.md`.
        #[arg(long, default_value = "Rscript")]
        peer: PathBuf,
    },
    /// Readings hour after hour, with a cycle of a day.
    Readings,
    /// Refusals of files that are broken all over, against the time to read them.
    Refusals,
    /// Our half of a comparison with another library; `peers/run.py` runs both.
    #[command(subcommand)]
    Peer(peer::Peer),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().subject {
        Subject::Special => special::run(),
        Subject::Gram => gram::run()?,
        Subject::Regions => regions::run()?,
        Subject::Sites => sites::run()?,
        Subject::Sparse { peer, inducing } => sparse::run(&peer, &inducing)?,
        Subject::Country { peer, quick } => sparse::run_country(&peer, quick)?,
        Subject::Chained { only, peer } => chained::run(only.as_deref(), &peer)?,
        Subject::Acquire => acquire::run()?,
        Subject::Answers => answers::run()?,
        Subject::Counts => counts::run()?,
        Subject::Density => density::run()?,
        Subject::Fit => fit::run()?,
        Subject::Readings => readings::run()?,
        Subject::Kinds => kinds::run()?,
        Subject::Line { peer } => line::run(&peer)?,
        Subject::Refusals => refusals::run()?,
        Subject::Peer(peer) => peer::run(peer)?,
    }
    Ok(())
}
