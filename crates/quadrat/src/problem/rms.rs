//! Root mean squares of rows.

/// Root mean square of values with weights; zero of nothing.
pub(crate) fn weighted_rms(values: impl Iterator<Item = (f64, f64)>) -> f64 {
    // Scaled by the largest, so that no unit overflows.
    let all: Vec<(f64, f64)> = values.collect();
    let largest = all.iter().fold(0.0_f64, |m, (v, _)| m.max(v.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let squares = all.iter().map(|(v, n)| n * (v / largest).powi(2));
    let mean = squares.sum::<f64>() / all.iter().map(|(_, n)| n).sum::<f64>();
    largest * mean.sqrt()
}
