//! Scores of a method over populations.

use crate::binned::ungroup::scores::Scores;
use crate::report::Table;
use crate::statistics::mean;

/// Names of the columns.
pub const HEAD: [&str; 8] = [
    "bands", "method", "c95", "c50", "wid", "iscore", "worst", "rmse",
];

/// A row of the table.
pub fn row(table: &mut Table, bands: &str, method: &str, all: &[Scores]) {
    let average = |of: fn(&Scores) -> f64| {
        let values: Vec<f64> = all.iter().map(of).collect();
        mean(&values)
    };
    let worst = all.iter().map(|s| s.c95).fold(f64::INFINITY, f64::min);
    let told = |value: f64| match value.is_finite() {
        true => format!("{value:.3}"),
        false => "-".to_owned(),
    };
    table.row(vec![
        bands.to_owned(),
        method.to_owned(),
        told(average(|s| s.c95)),
        told(average(|s| s.c50)),
        told(average(|s| s.width)),
        told(average(|s| s.score)),
        told(worst),
        told(average(|s| s.rmse)),
    ]);
}

/// The mean of one score.
pub fn average(all: &[Scores], of: fn(&Scores) -> f64) -> f64 {
    let values: Vec<f64> = all.iter().map(of).collect();
    mean(&values)
}
