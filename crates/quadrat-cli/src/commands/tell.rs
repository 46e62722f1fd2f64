//! `quadrat tell`: rows that were measured, added to a saved model.

use anyhow::Result;

use crate::args::Tell;

/// Runs the command.
pub fn run(_args: &Tell) -> Result<()> {
    anyhow::bail!("not yet")
}
