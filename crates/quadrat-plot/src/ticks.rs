//! Round numbers along a scale, with their labels.

use crate::format::{fixed, number};

/// Round numbers in a range, about `wanted` of them, with labels.
pub(crate) fn ticks(range: (f64, f64), wanted: f64) -> Vec<(f64, String)> {
    let (low, high) = range;
    let rough = (high - low) / wanted.clamp(3.0, 12.0);
    if !(rough.is_finite() && rough > 0.0) {
        return Vec::new();
    }
    let power = 10.0_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .iter()
        .map(|m| m * power)
        .find(|s| *s >= rough * 0.999)
        .unwrap_or(10.0 * power);
    let first = (low / step - 1e-9).ceil();
    let values = (0..40)
        .map(|i| (first + f64::from(i)) * step)
        .take_while(|v| *v <= high + 1e-9 * step);
    let size = low.abs().max(high.abs());
    values.map(|v| (v, label(v, step, size))).collect()
}

fn label(value: f64, step: f64, size: f64) -> String {
    let (unit, suffix) = match size {
        s if s >= 1e9 => (1e9, "G"),
        s if s >= 1e6 => (1e6, "M"),
        _ => (1.0, ""),
    };
    if size < 1e-3 {
        return number(if value.abs() < step * 1e-6 {
            0.0
        } else {
            value
        });
    }
    let decimals = (0..8)
        .find(|d| (step / unit * 10_f64.powi(*d) + 1e-9).fract() < 1e-6)
        .unwrap_or(8);
    let text = fixed(value / unit, decimals as usize);
    // Years have no separators.
    let text = if size < 1e4 {
        text.replace(',', "")
    } else {
        text
    };
    if value == 0.0 {
        "0".to_owned()
    } else {
        format!("{text}{suffix}")
    }
}

/// One, two and five times the powers of ten in a positive range; fewer where these are more than `limit`.
pub(crate) fn log_ticks((low, high): (f64, f64), limit: usize) -> Vec<(f64, String)> {
    if !(low > 0.0 && low < high && high.is_finite()) {
        return Vec::new();
    }
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let slack = 1e-9;
    let values = |steps: &[f64], every: i32| -> Vec<f64> {
        powers
            .clone()
            .filter(|p| p.rem_euclid(every) == 0)
            .flat_map(|p| steps.iter().map(move |s| s * 10_f64.powi(p)))
            .filter(|v| *v >= low * (1.0 - slack) && *v <= high * (1.0 + slack))
            .collect()
    };
    let mut chosen = values(&[1.0, 2.0, 5.0], 1);
    if chosen.len() > limit {
        chosen = values(&[1.0], 1);
    }
    let mut every = 2;
    while chosen.len() > limit && every < 512 {
        chosen = values(&[1.0], every);
        every *= 2;
    }
    chosen.into_iter().map(|v| (v, number(v))).collect()
}

#[cfg(test)]
mod tests {
    use super::{log_ticks, ticks};

    fn labels(range: (f64, f64), wanted: f64) -> Vec<String> {
        ticks(range, wanted).into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside_the_range() {
        assert_eq!(
            labels((0.0, 100.0), 5.0),
            ["0", "20", "40", "60", "80", "100"]
        );
        assert_eq!(
            labels((1950.0, 2021.0), 4.0),
            ["1960", "1980", "2000", "2020"]
        );
        assert_eq!(
            labels((0.0, 460_000.0), 5.0),
            ["0", "100,000", "200,000", "300,000", "400,000"]
        );
        assert_eq!(
            labels((-1.0, 1.0), 4.0),
            ["\u{2212}1.0", "\u{2212}0.5", "0", "0.5", "1.0"]
        );
        assert_eq!(
            labels((2.2e6, 4.1e6), 4.0),
            ["2.5M", "3.0M", "3.5M", "4.0M"]
        );
        assert!(labels((1.0, 1.0), 4.0).is_empty());
        assert!(labels((f64::NAN, 1.0), 4.0).is_empty());
    }

    #[test]
    fn logarithmic_ticks_are_round_and_few() {
        let labels =
            |range| -> Vec<String> { log_ticks(range, 6).into_iter().map(|t| t.1).collect() };
        assert_eq!(labels((0.3, 12.0)), ["0.5", "1", "2", "5", "10"]);
        assert_eq!(labels((0.01, 150.0)), ["0.01", "0.1", "1", "10", "100"]);
        assert!(log_ticks((1e-300, 1e300), 6).len() <= 6);
        assert!(labels((0.0, 1.0)).is_empty() && labels((2.0, f64::NAN)).is_empty());
    }
}
