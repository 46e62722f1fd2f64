//! Values, intervals and ranks of one function: the artificial data of Fletcher 2022, section 4.

pub mod exactness;
mod ranks_only;
mod uses;

use anyhow::Result;

use crate::report::Report;
use crate::settings::Settings;

/// Runs the study.
///
/// # Errors
/// As the fits, but for those that did not settle, which are counted.
pub fn run(settings: &Settings) -> Result<Report> {
    let mut report = Report::new("Mixed data: values, intervals and ranks of one function");
    report.setting(
        "simulated as in the source, section 4 (`quadrat simulate mixed`): draws of se on a grid of the box from 0 to 2, variance 1, noise sd 0.1 on every row; intervals of width 0.5 at random offsets; five ranks between the quantiles of the function",
    );
    uses::add(settings, &mut report)?;
    ranks_only::add(settings, &mut report)?;
    report.note("figures with the observations drawn in: `quadrat simulate mixed`, then `quadrat run` on what it wrote");
    Ok(report)
}
