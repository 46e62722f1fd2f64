//! `quadrat ungroup` on populations whose single years, or bins of income, are known.

mod ages;
pub mod borrow;
mod incomes;
mod table;

use anyhow::Result;

use crate::data::Missing;
use crate::report::Report;
use crate::settings::Settings;

/// Runs the study.
///
/// # Errors
/// When a table is not there or bands cannot be ungrouped.
pub fn run(settings: &Settings) -> Result<Report> {
    let mut report = Report::new("Ungrouping by the library's presets");
    report.setting("c95, c50: share of true years (bins) inside 95 % and 50 % intervals; wid: mean width of 95 % intervals, rmse: error of the mean, iscore: interval score (width + 40 times what is missed by), all three over S, the root mean square of the truth about its band's average; worst: c95 of the worst population. Means over populations");
    ages::run(settings, &mut report)?;
    match incomes::run(settings, &mut report) {
        Err(error) if error.downcast_ref::<Missing>().is_some() => {
            report.note(format!("incomes were left out: {error}"));
        }
        other => other?,
    }
    Ok(report)
}
