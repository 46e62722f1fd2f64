//! Section 5.4, Table 3: durations of trips from their means over bins of start and end.

use anyhow::Result;

use super::trips::{Trips, Way, error_of, learn};
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{half_width, mean};

/// Trips binned.
const SAMPLES: [usize; 6] = [80, 160, 320, 640, 1280, 2560];
/// Bins along each of the four inputs.
const BINS: [usize; 5] = [2, 3, 4, 5, 6];
/// Table 3: centroid and integral for every number of bins, by samples.
const PUBLISHED: [[f64; 10]; 6] = [
    [
        487.4, 465.1, 494.9, 482.8, 485.9, 469.9, 478.5, 452.8, 471.3, 474.7,
    ],
    [
        487.4, 475.5, 471.1, 481.6, 451.0, 464.2, 425.5, 435.7, 406.9, 408.9,
    ],
    [
        473.1, 466.2, 453.4, 438.3, 422.4, 388.9, 408.9, 431.9, 378.8, 374.0,
    ],
    [
        468.6, 465.5, 449.5, 435.5, 413.4, 374.7, 372.5, 379.9, 366.7, 365.2,
    ],
    [
        469.8, 467.5, 450.7, 446.3, 418.1, 375.2, 382.1, 385.3, 375.6, 370.1,
    ],
    [
        468.9, 467.7, 456.9, 436.4, 420.3, 373.1, 363.1, 360.3, 353.0, 359.3,
    ],
];

/// Mean absolute errors in seconds, `[samples][bins][way][repeat]`.
type Errors = Vec<Vec<[Vec<f64>; 2]>>;

/// Runs the study.
///
/// # Errors
/// [`crate::data::Missing`]; as the fits.
pub fn run(settings: &Settings) -> Result<Report> {
    let trips = Trips::read(settings)?;
    let repeats = settings.repeats(12, 40);
    let (samples, bins) = if settings.quick {
        (&SAMPLES[..3], &BINS[..3])
    } else {
        (&SAMPLES[..], &BINS[..])
    };
    let mut errors: Errors = vec![vec![Default::default(); bins.len()]; samples.len()];
    let mut constant = Vec::new();
    for repeat in 0..repeats {
        let split = trips.split(&mut settings.random(repeat as u64));
        constant.push(split.error_of_the_mean());
        for (b, &per_side) in bins.iter().enumerate() {
            for (s, &n) in samples.iter().enumerate() {
                for (w, way) in Way::BOTH.into_iter().enumerate() {
                    let learned = learn(&split, n, per_side, way)?;
                    let error = error_of(&split.train[..n], &split.test, per_side, way, learned)?;
                    errors[s][b][w].push(error);
                }
            }
        }
    }

    let mut report = Report::new("Duration of bicycle trips (binned data, section 5.4, Table 3)");
    report.setting(trips.statement.clone());
    report.setting(format!(
        "{repeats} random splits: 1000 trips to test, the first N of the others binned; {per} other trips choose the hyperparameters: of min(N, {binned}) binned in the same way, those that predict the rest best",
        per = super::trips::LEARN,
        binned = super::trips::LEARN_BINNED,
    ));
    report.setting("grid over lengthscale {.1, .2, .4, .8} of the range of every input, sd of the latent duration {150, 300, 600} s, sd of a trip about it {300, 600} s; noise of a bin with n trips: sd^2 / n; unknown constant mean; integral and centroid choose apart");
    report.setting(
        "differences +- half of a 95 % interval (Student's t over splits, which share trips)",
    );
    report.setting(format!(
        "mean absolute error of the mean of all trips: {:.1} s",
        mean(&constant)
    ));
    report.tables.push(levels(&errors, samples, bins));
    report
        .tables
        .push(differences(&errors, samples, bins, &mut report.notes));
    Ok(report)
}

fn levels(errors: &Errors, samples: &[usize], bins: &[usize]) -> Table {
    let mut head = vec!["samples".to_owned()];
    for b in bins {
        head.push(format!("{b}^4 centroid"));
        head.push("integral".to_owned());
    }
    let mut table = Table {
        title: "Mean absolute error in seconds, as in Table 3 (other trips: compare patterns, not levels)".into(),
        head,
        rows: Vec::new(),
    };
    for (s, n) in samples.iter().enumerate() {
        let published = PUBLISHED[s][..2 * bins.len()]
            .iter()
            .map(|v| format!("{v:.1}"));
        table.row(
            std::iter::once(format!("{n}, paper"))
                .chain(published)
                .collect(),
        );
        let ours = errors[s]
            .iter()
            .flatten()
            .map(|v| format!("{:.1}", mean(v)));
        table.row(std::iter::once(n.to_string()).chain(ours).collect());
    }
    table
}

/// Integral less centroid: negative where the integral is better.
fn differences(
    errors: &Errors,
    samples: &[usize],
    bins: &[usize],
    notes: &mut Vec<String>,
) -> Table {
    let head = std::iter::once("samples".to_owned()).chain(bins.iter().map(|b| format!("{b}^4")));
    let mut table = Table {
        title: "Error of the integral less that of the centroid, s: paper; measured, winner where the interval excludes 0".into(),
        head: head.collect(),
        rows: Vec::new(),
    };
    let mut won = [0, 0, 0];
    for (s, n) in samples.iter().enumerate() {
        let mut row = vec![n.to_string()];
        for b in 0..bins.len() {
            let [centroid, integral] = &errors[s][b];
            let own: Vec<f64> = integral.iter().zip(centroid).map(|(i, c)| i - c).collect();
            let (middle, half) = (mean(&own), half_width(&own));
            let winner = match (middle + half < 0.0, middle - half > 0.0) {
                (true, _) => 0,
                (_, true) => 1,
                _ => 2,
            };
            won[winner] += 1;
            let published = PUBLISHED[s][2 * b + 1] - PUBLISHED[s][2 * b];
            let word = ["integral", "centroid", "open"][winner];
            row.push(format!("{published:+.1}; {middle:+.1} +- {half:.1} {word}"));
        }
        table.row(row);
    }
    notes.push(format!(
        "of {} settings the integral is better in {}, the centroid in {}, {} are open at 95 %",
        samples.len() * bins.len(),
        won[0],
        won[1],
        won[2]
    ));
    table
}
