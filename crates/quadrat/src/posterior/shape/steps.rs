//! How far rows contradict a shape, and how far they are from a straight line.

use super::kinds::Shape;
use crate::linalg::MatRef;

/// The variance of draws, summed over the places by their shares of the range.
pub(super) fn spread(drawn: MatRef<'_, f64>, shares: &[f64]) -> f64 {
    let count = drawn.ncols() as f64;
    let at = |place: usize| {
        let values = drawn.row(place);
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|f| (f - mean) * (f - mean));
        squares.sum::<f64>() / count
    };
    let each = shares.iter().enumerate();
    each.map(|(place, share)| share * at(place)).sum()
}

/// How far the mean of draws is from the nearest straight line, in their spread.
///
/// # Arguments
/// * `spread` - as [`spread`] tells
pub(super) fn bent(drawn: MatRef<'_, f64>, (places, shares): (&[f64], &[f64]), spread: f64) -> f64 {
    let total: f64 = shares.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return 0.0;
    }
    let count = drawn.ncols() as f64;
    let mean = |place: usize| drawn.row(place).iter().sum::<f64>() / count;
    let means: Vec<f64> = (0..drawn.nrows()).map(mean).collect();
    let average = |values: &[f64]| {
        let terms = values.iter().zip(shares).map(|(v, share)| v * share);
        terms.sum::<f64>() / total
    };
    let from = |values: &[f64]| -> Vec<f64> {
        let middle = average(values);
        values.iter().map(|v| v - middle).collect()
    };
    let product = |a: &[f64], b: &[f64]| {
        let terms: Vec<f64> = a.iter().zip(b).map(|(a, b)| a * b).collect();
        total * average(&terms)
    };
    // In units of the range, whose squares are numbers.
    let along: Vec<f64> = from(places).iter().map(|x| x / total).collect();
    let values = from(&means);
    let slope = product(&along, &values) / product(&along, &along);
    let left = values.iter().zip(&along).map(|(v, x)| v - slope * x);
    let left: Vec<f64> = left.collect();
    (product(&left, &left) / spread).sqrt()
}

/// By how many sds draws break shapes most, over steps of all sizes.
///
/// # Arguments
/// * `rounding` - that of the values, below which no sd is
pub(super) fn broken(
    shapes: &[Shape],
    drawn: MatRef<'_, f64>,
    (places, rounding): (&[f64], f64),
) -> f64 {
    let count = drawn.ncols() as f64;
    let mut most = 0.0_f64;
    let mut step = 1;
    while step < drawn.nrows() {
        for shape in shapes {
            let mut told = Vec::new();
            let mut sums: Vec<(f64, f64)> = Vec::new();
            for draw in 0..drawn.ncols() {
                told.clear();
                let values: Vec<f64> = drawn.col(draw).iter().copied().collect();
                shape.told(&values, places, step, &mut told);
                sums.resize(told.len(), (0.0, 0.0));
                for (sum, value) in sums.iter_mut().zip(&told) {
                    *sum = (sum.0 + value, sum.1 + value * value);
                }
            }
            let least = shape.rounding(places, step, rounding);
            for ((sum, square), least) in sums.into_iter().zip(least) {
                let mean = sum / count;
                let sd = (square / count - mean * mean).max(0.0).sqrt();
                most = most.max(-mean / sd.max(least));
            }
        }
        step *= 2;
    }
    most
}
