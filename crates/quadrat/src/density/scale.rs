//! Centre, scale and extent of the rows, which set the units of the prior.

use serde::{Deserialize, Serialize};

use super::error::DensityError;
use super::rows::Clean;

/// Points that stand for what an interval says of centre and scale.
const POINTS: usize = 8;
/// The interquartile range of a normal distribution in standard deviations.
const NORMAL_QUARTILES: f64 = 1.349;
/// A mean is told to such parts of the standard deviation.
const FINE: f64 = (1_u64 << 40) as f64;

/// Centre, scale and extent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct ColumnScale {
    /// Median.
    pub centre: f64,
    /// The smaller of standard deviation and interquartile range over 1.349, where the latter is
    /// not zero.
    pub scale: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Smallest finite value or end.
    pub least: f64,
    /// Largest finite value or end.
    pub most: f64,
    /// Share of the weight in intervals without a lower end.
    pub open_below: f64,
    /// Share of the weight in intervals without an upper end.
    pub open_above: f64,
}

/// The scale of rows, intervals standing for points spread over them evenly; those without an end
/// reach as far beyond their finite end as half the extent of all others.
///
/// # Errors
/// Constant rows; an extent that is no finite number.
pub(super) fn scale(rows: &Clean) -> Result<ColumnScale, DensityError> {
    let ends = rows.intervals.iter().flat_map(|(a, b, _)| [*a, *b]);
    let finite = ends.filter(|x| x.is_finite());
    let (least, most) = finite
        .chain(rows.values.iter().copied())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| {
            (a.min(x), b.max(x))
        });
    if least > most {
        return Err(DensityError::SaysNothing);
    }
    if !(most - least).is_finite() {
        return Err(DensityError::TooWide);
    }
    let total = rows.total();
    let open = |is_open: fn(&(f64, f64, f64)) -> bool| {
        let open = rows.intervals.iter().filter(|i| is_open(i));
        open.map(|i| i.2).sum::<f64>() / total
    };
    let (open_below, open_above) = (
        open(|i| i.0 == f64::NEG_INFINITY),
        open(|i| i.1 == f64::INFINITY),
    );
    let (quartiles, (mean, sd)) = match (rows.weights.is_empty(), rows.intervals.is_empty()) {
        (true, true) => of_values(&rows.values),
        (false, true) => of_pairs(spread(rows, least, most), repeated),
        (_, false) => of_pairs(spread(rows, least, most), passed),
    };
    let interquartile = (quartiles[2] - quartiles[0]) / NORMAL_QUARTILES;
    let scale = if interquartile > 0.0 {
        interquartile.min(sd)
    } else {
        sd
    };
    if scale <= 0.0 || scale.is_nan() {
        return Err(match rows.values.is_empty() {
            true => DensityError::OneEnd { value: least },
            false => DensityError::Constant {
                rows: rows.used,
                value: least,
            },
        });
    }
    Ok(ColumnScale {
        centre: quartiles[1],
        scale,
        mean,
        sd,
        least,
        most,
        open_below,
        open_above,
    })
}

/// Pairs of a place and a weight.
fn spread(rows: &Clean, least: f64, most: f64) -> Vec<(f64, f64)> {
    let mut pairs: Vec<(f64, f64)> = rows
        .values
        .iter()
        .enumerate()
        .map(|(i, x)| (*x, rows.weight(i)))
        .collect();
    let beyond = 0.5 * (most - least);
    for &(a, b, w) in &rows.intervals {
        let a = if a.is_finite() {
            a
        } else {
            b.min(most) - beyond
        };
        let b = if b.is_finite() {
            b
        } else {
            a.max(least) + beyond
        };
        for i in 0..POINTS {
            let t = (i as f64 + 0.5) / POINTS as f64;
            pairs.push((a + t * (b - a), w / POINTS as f64));
        }
    }
    pairs
}

/// Quartiles and standard deviation of equally weighted values; `O(n)`.
fn of_values(values: &[f64]) -> ([f64; 3], (f64, f64)) {
    let n = values.len();
    let mut sorted = values.to_vec();
    let mut quantile = |p: f64| {
        let at = p * (n - 1) as f64;
        let low = at.floor() as usize;
        let (_, x, above) = sorted.select_nth_unstable_by(low, f64::total_cmp);
        let x = *x;
        let next = above.iter().copied().fold(f64::INFINITY, f64::min);
        if next.is_finite() {
            x + (at - low as f64) * (next - x)
        } else {
            x
        }
    };
    let quartiles = [quantile(0.25), quantile(0.5), quantile(0.75)];
    let pairs = values.iter().map(|x| (*x, 1.0));
    (quartiles, deviation(pairs, quartiles[1]))
}

/// The same of weighted values, with the quantile of sorted pairs that is told.
fn of_pairs(
    mut pairs: Vec<(f64, f64)>,
    quantile: impl Fn(&[(f64, f64)], f64) -> f64,
) -> ([f64; 3], (f64, f64)) {
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let quartiles = [0.25, 0.5, 0.75].map(|p| quantile(&pairs, p));
    (quartiles, deviation(pairs.iter().copied(), quartiles[1]))
}

/// The first value below which a share of the weight lies, of intervals that are spread out.
fn passed(pairs: &[(f64, f64)], p: f64) -> f64 {
    let total: f64 = pairs.iter().map(|p| p.1).sum();
    let mut sum = 0.0;
    let is_passed = |(_, w): &&(f64, f64)| {
        sum += w;
        sum >= p * total
    };
    let found = pairs.iter().find(is_passed).or(pairs.last());
    found.map_or(f64::NAN, |(x, _)| *x)
}

/// The quantile of as many copies of each value as its weight says, interpolated between them, so
/// that weights of one are none; a value of less than one copy stands where it begins.
fn repeated(pairs: &[(f64, f64)], p: f64) -> f64 {
    let copies = |w: f64| (w - 1.0).max(0.0);
    let all: f64 = pairs.iter().map(|(_, w)| w).sum();
    let at = p * pairs.last().map_or(0.0, |(_, w)| all - w + copies(*w));
    let (mut first, mut before) = (0.0, None);
    for &(x, w) in pairs {
        if at <= first {
            return match before {
                Some((last, value)) if at < first => {
                    value + (at - last) / (first - last) * (x - value)
                }
                _ => x,
            };
        }
        let last = first + copies(w);
        if at <= last {
            return x;
        }
        (first, before) = (first + w, Some((last, x)));
    }
    before.map_or(f64::NAN, |(_, x)| x)
}

/// Mean and standard deviation (divided by the sum of weights), without overflow for values of any
/// finite extent.
fn deviation(pairs: impl Iterator<Item = (f64, f64)> + Clone, about: f64) -> (f64, f64) {
    let unit = pairs
        .clone()
        .map(|(x, _)| (x - about).abs())
        .fold(0.0, f64::max);
    if unit <= 0.0 || unit.is_nan() {
        return (about, 0.0);
    }
    let (mut weight, mut first, mut second) = (0.0, 0.0, 0.0);
    for (x, w) in pairs {
        let d = (x - about) / unit;
        weight += w;
        first += w * d;
        second += w * d * d;
    }
    let mean = first / weight;
    let sd = (second / weight - mean * mean).max(0.0).sqrt();
    // The last digits are those of the order of the sum. Where cells lie, and so which draws are
    // made in them, must not hang on the order of rows.
    let sd = f64::from_bits((sd.to_bits() + (1 << 11)) & !((1 << 12) - 1));
    let mean = match sd > 0.0 {
        true => (mean / sd * FINE).round() / FINE * sd,
        false => mean,
    };
    (about + unit * mean, unit * sd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_numbers_of_copies() {
        let values = [3.0, -1.0, 4.0, 1.5, 9.0, 2.6];
        let ones: Vec<(f64, f64)> = values.iter().map(|x| (*x, 1.0)).collect();
        assert_eq!(of_pairs(ones, repeated), of_values(&values));
        let weights = [2.0, 1.0, 5.0, 3.0, 1.0, 4.0];
        let copies = values.iter().zip(weights);
        let copies = copies.flat_map(|(x, w)| std::iter::repeat_n(*x, w as usize));
        let weighted = values.iter().copied().zip(weights).collect();
        let (quartiles, (mean, sd)) = of_pairs(weighted, repeated);
        let (expected, (all_mean, all_sd)) = of_values(&copies.collect::<Vec<f64>>());
        assert_eq!(quartiles, expected);
        assert_eq!((mean, sd), (all_mean, all_sd));
        // Weights that add up to one have the quartiles of those that do not.
        let small = values.iter().map(|x| (*x, 1.0 / 6.0)).collect();
        let (small, _) = of_pairs(small, repeated);
        let (whole, _) = of_values(&values);
        assert!(small.iter().zip(whole).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
