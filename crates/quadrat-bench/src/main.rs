//! Benches of quadrat: `quadrat-bench <subject>`, always as ratios in one run.

mod gram;
mod special;

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
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().subject {
        Subject::Special => special::run(),
        Subject::Gram => gram::run()?,
    }
    Ok(())
}
