//! Means, sds and quantiles of weighted draws.

use super::answer::Answer;
use crate::linalg::Mat;

/// What is told of one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DrawSummary {
    pub mean: f64,
    pub sd: f64,
    pub lower: f64,
    pub median: f64,
    pub upper: f64,
}

/// Draws whose values differ by less than this part of the largest are the same number.
const SAME: f64 = 1e-12;

/// What weighted draws say of a number.
///
/// Quantiles interpolate between the draws, each of which stands for the middle of its weight.
pub(super) fn told(values: &[f64], weights: &[f64], level: f64) -> DrawSummary {
    let mean: f64 = values.iter().zip(weights).map(|(x, w)| w * x).sum();
    let ends = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| {
            (a.min(*x), b.max(*x))
        });
    if ends.1 - ends.0 <= SAME * ends.0.abs().max(ends.1.abs()) {
        let exact = values.first().copied().unwrap_or(f64::NAN);
        return DrawSummary {
            mean: exact,
            sd: 0.0,
            lower: exact,
            median: exact,
            upper: exact,
        };
    }
    let squares = values.iter().zip(weights);
    let variance: f64 = squares.map(|(x, w)| w * (x - mean) * (x - mean)).sum();
    let tail = 0.5 * (1.0 - level);
    let [lower, median, upper] = quantiles(values, weights, [tail, 0.5, 1.0 - tail]);
    DrawSummary {
        mean,
        sd: variance.max(0.0).sqrt(),
        lower,
        median,
        upper,
    }
}

/// Means of every row of weighted draws, shape `[rows, draws]`.
pub(super) fn average(draws: &Mat<f64>, weights: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; draws.nrows()];
    for (draw, w) in weights.iter().enumerate() {
        let own = draws.col_as_slice(draw);
        out.iter_mut().zip(own).for_each(|(sum, n)| *sum += w * n);
    }
    out
}

/// The median with its interval.
pub(super) fn answer(values: &[f64], weights: &[f64], level: f64) -> Answer {
    let DrawSummary {
        median,
        lower,
        upper,
        ..
    } = told(values, weights, level);
    Answer {
        value: median,
        lower,
        upper,
    }
}

/// Which draws stand for all, by their weights, systematically, in an order that does not tell
/// their settings.
pub(super) fn chosen(weights: &[f64], count: usize) -> Vec<usize> {
    // The search for a step below has no end where there is nothing to choose.
    if count == 0 {
        return Vec::new();
    }
    let (mut sum, mut at) = (weights[0], 0);
    let by_weight: Vec<usize> = (0..count)
        .map(|k| {
            let upto = (k as f64 + 0.5) / count as f64;
            while sum < upto && at + 1 < weights.len() {
                at += 1;
                sum += weights[at];
            }
            at
        })
        .collect();
    // Steps far apart, of a length that has no factor in common with the count.
    let apart = (count / 3 + 7..).find(|step| gcd(*step, count) == 1);
    let apart = apart.unwrap_or(1);
    (0..count).map(|k| by_weight[k * apart % count]).collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Quantiles in ascending order.
fn quantiles<const N: usize>(values: &[f64], weights: &[f64], wanted: [f64; N]) -> [f64; N] {
    let pairs = values.iter().copied().zip(weights.iter().copied());
    // A draw of no weight is no place to interpolate from.
    let mut order: Vec<(f64, f64)> = pairs.filter(|(_, w)| *w > 0.0).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    let middles: Vec<f64> = order
        .iter()
        .map(|(_, w)| {
            sum += w;
            sum - 0.5 * w
        })
        .collect();
    wanted.map(|p| {
        let above = middles.partition_point(|m| *m < p * sum);
        if above == 0 {
            return order[0].0;
        }
        let Some((high, _)) = order.get(above) else {
            return order[order.len() - 1].0;
        };
        let (low, _) = order[above - 1];
        let width = middles[above] - middles[above - 1];
        let part = match width > 0.0 {
            true => (p * sum - middles[above - 1]) / width,
            false => 0.5,
        };
        low + part * (high - low)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_chosen_as_often_as_they_weigh() {
        for count in [1, 2, 3, 10, 100] {
            let mut all = chosen(&[0.25, 0.0, 0.75], count);
            all.sort_unstable();
            let heavy = all.iter().filter(|at| **at == 2).count();
            assert!(all.iter().all(|at| *at != 1) && all.len() == count);
            // Within one of its share.
            assert!((heavy as f64 - 0.75 * count as f64).abs() <= 1.0, "{count}");
        }
    }

    #[test]
    fn none_are_chosen_where_none_are_asked_for() {
        assert!(chosen(&[0.25, 0.75], 0).is_empty());
    }

    #[test]
    fn weights_stand_for_repeated_draws() {
        let values = [3.0, 1.0, 2.0];
        let even = [1.0 / 3.0; 3];
        let got = told(&values, &even, 0.5);
        assert_eq!(got.median, 2.0);
        // Middles of the weights are at 1/6, 1/2 and 5/6.
        assert!((got.lower - 1.25).abs() < 1e-12 && (got.upper - 2.75).abs() < 1e-12);
        assert!((got.sd - (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        let heavy = told(&values, &[0.0, 0.0, 1.0], 0.9);
        assert_eq!((heavy.mean, heavy.median), (2.0, 2.0));
        assert_eq!(told(&[5.0; 4], &[0.25; 4], 0.9).sd, 0.0);
        let only = told(&[1.0, 2.0, 3.0], &[0.0, 1.0, 0.0], 0.9);
        assert_eq!((only.lower, only.upper), (2.0, 2.0));
    }
}
