//! Benches of quadrat: `quadrat-bench <subject>`.

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
}

fn main() {
    match Arguments::parse().subject {
        Subject::Special => special::run(),
    }
}
