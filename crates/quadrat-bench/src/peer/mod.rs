//! Our half of the comparisons with other libraries; `peers/run.py` runs both halves.
//!
//! Every subject reads the data file that the peer reads too, runs on one thread and prints one
//! JSON object, or one for each line that is asked.

mod bindings;
mod boxes;
mod exact;
mod grid;

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Peer {
    /// Evidence and gradient so many times, and a whole MAP fit, of points `x,y,value`.
    Exact {
        data: PathBuf,
        /// Evaluations of evidence and gradient.
        #[arg(long)]
        evaluations: usize,
        /// Where to evaluate: variance, lengthscales, noise variance.
        #[arg(long, num_args = 4)]
        theta: Vec<f64>,
    },
    /// Gram and gradient of boxes `x0,x1,y0,y1` (sums).
    Boxes {
        data: PathBuf,
        /// Variance, then a lengthscale per input (one: the first input alone).
        #[arg(long, num_args = 2..=3)]
        theta: Vec<f64>,
        /// The matrix goes here, as little-endian doubles.
        #[arg(long)]
        out: PathBuf,
    },
    /// MAP fit of a complete grid of boxes `x0,x1,y0,y1,value` (sums).
    Grid { data: PathBuf },
    /// Fits and predictions that the Python package makes too, for each line of the input one.
    Bindings { folder: PathBuf },
}

pub fn run(peer: Peer) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let outcome = pool.install(|| match peer {
        Peer::Bindings { folder } => bindings::run(&folder).map(|()| None),
        Peer::Exact {
            data,
            evaluations,
            theta,
        } => exact::run(&data, evaluations, &theta).map(Some),
        Peer::Boxes { data, theta, out } => boxes::run(&data, &theta, &out).map(Some),
        Peer::Grid { data } => grid::run(&data).map(Some),
    })?;
    if let Some(outcome) = outcome {
        println!("{outcome}");
    }
    Ok(())
}
