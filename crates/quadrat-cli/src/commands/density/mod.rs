//! `quadrat density`: the density of a column, with its band.

mod checked;
mod common;
mod given;
mod groups;
mod line;
pub mod model;
mod picture;
mod plane;
mod shown;
pub mod study;

use std::sync::Arc;

use anyhow::Result;
use quadrat_study::density::checked::by_mcmc;
use quadrat_study::density::{Rows, estimated};
use quadrat_study::diagnostic::Problems;
use quadrat_study::engine::sampling;

use crate::args::Density;
use crate::progress::Bar;
use common::{outputs, staged, told};

/// Draws of each chain of a check.
const DRAWS: u32 = 2000;

/// Runs the command.
pub fn run(args: &Density) -> Result<()> {
    let asked = Arc::new(args.asked());
    let mut rows = Rows::read(&asked, &args.table).map_err(Problems::by_flags)?;
    if let Some(path) = &args.inside {
        rows = rows.inside(path, path).map_err(Problems::by_flags)?;
    }
    outputs(args, &rows)?;
    let rows = Arc::new(rows);
    let bar = Bar::new(args.quiet);
    let estimated = estimated(&asked, &rows, &*bar)?;
    let mut parts = Vec::new();
    if args.check.is_some() {
        parts = by_mcmc(estimated.answers(), &sampling(args.seed, DRAWS), &*bar)?;
    }
    bar.finish();
    let written = staged(args, &estimated)?;
    told(args, &written, &estimated, &parts)
}
