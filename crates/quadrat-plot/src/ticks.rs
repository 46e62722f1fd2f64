//! Round numbers along a scale, with their labels.

use crate::format::{fixed, number, scientific};

/// Decimals up to which a label is shortened by a letter: 1.725M, but 1,725,250.
const SHORT: i32 = 3;

/// A distance between ticks: `factor` times `10^power`.
#[derive(Clone, Copy)]
struct Step {
    factor: f64,
    power: i32,
}

impl Step {
    /// The smallest round step that is no smaller than `rough`.
    fn of(rough: f64) -> Self {
        let power = rough.log10().floor() as i32;
        let factor = [1.0, 2.0, 2.5, 5.0]
            .into_iter()
            .find(|factor| factor * ten(power) >= rough * 0.999);
        match factor {
            Some(factor) => Self { factor, power },
            None => Self {
                factor: 1.0,
                power: power + 1,
            },
        }
    }

    fn size(self) -> f64 {
        self.factor * ten(self.power)
    }

    /// The power of ten of its last digit.
    fn last(self) -> i32 {
        self.power - i32::from(self.factor == 2.5)
    }
}

/// A power of ten, as near as a double can be: products of tens would be off in the last digits.
fn ten(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::NAN)
}

/// Round numbers in a range, about `wanted` of them and two at least. Their labels have the digits
/// that the distance of neighbours needs, so that no two are alike.
pub(crate) fn ticks(range: (f64, f64), wanted: f64) -> Vec<(f64, String)> {
    let (low, high) = range;
    let wanted = wanted.clamp(3.0, 12.0);
    let distance = |wanted: f64| high / wanted - low / wanted;
    if !(distance(wanted).is_finite() && distance(wanted) > 0.0) {
        return Vec::new();
    }
    // Between neighbouring doubles there is no room for ticks.
    let least = (4.0 * f64::EPSILON * low.abs().max(high.abs())).max(f64::MIN_POSITIVE);
    // One tick alone tells no scale.
    let tries = [1.0, 1.5, 2.0].map(|more| Step::of(distance(more * wanted).max(least)));
    let found = tries.map(|step| (step, places(range, step)));
    let enough = found.iter().find(|(_, values)| values.len() > 1);
    let Some((step, values)) = enough.or(found.last()) else {
        return Vec::new();
    };
    let size = values.iter().fold(0.0, |size: f64, v| size.max(v.abs()));
    let tick = |v: &f64| (*v, label(*v, *step, size));
    values.iter().map(tick).collect()
}

/// The multiples of a step in a range.
fn places((low, high): (f64, f64), step: Step) -> Vec<f64> {
    let size = step.size();
    let first = (low / size - 1e-9).ceil();
    let values = (0..40).map(|i| (first + f64::from(i)) * size);
    let inside = values.take_while(|v| *v <= high + 1e-9 * size);
    inside.filter(|v| v.is_finite()).collect()
}

/// The label of a tick, on a scale whose ticks reach up to `size`.
fn label(value: f64, step: Step, size: f64) -> String {
    if value.abs() < 0.5 * step.size() {
        return "0".to_owned();
    }
    let decimals = |power: i32| (power - step.last()).max(0);
    let plain = || {
        let text = fixed(value, decimals(0) as usize);
        // Years have no separators.
        if size < 1e4 {
            text.replace(',', "")
        } else {
            text
        }
    };
    let short = |power: i32, letter: &str| {
        let text = fixed(value / ten(power), decimals(power) as usize);
        format!("{text}{letter}")
    };
    let power_of_ten = || {
        let first = value.abs().log10().floor() as i32;
        scientific(value, (first - step.last() + 1).max(1) as usize)
    };
    match size {
        s if s < 1e-4 => power_of_ten(),
        s if s < 1e6 => plain(),
        s if s < 1e9 && decimals(6) <= SHORT => short(6, "M"),
        s if (1e9..1e12).contains(&s) && decimals(9) <= SHORT => short(9, "G"),
        s if s < 1e12 => plain(),
        s if s < 1e15 && decimals(12) > SHORT => plain(),
        _ => power_of_ten(),
    }
}

/// One, two and five times the powers of ten in a positive range; fewer where these are more than
/// `limit`.
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
    use proptest::prelude::*;

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
    fn labels_have_the_digits_of_their_step() {
        assert_eq!(
            labels((1.7e9, 1.7e9 + 14.0), 3.0),
            ["1,700,000,000", "1,700,000,005", "1,700,000,010"]
        );
        assert_eq!(
            labels((1e6 - 0.01, 1e6 + 0.01), 4.0)[..2],
            ["999,999.990", "999,999.995"]
        );
        assert_eq!(
            labels((1.7e9, 2.0e9), 3.0),
            ["1.7G", "1.8G", "1.9G", "2.0G"]
        );
        assert_eq!(labels((2000.0, 2000.014), 3.0)[1], "2000.005");
        assert_eq!(
            labels((0.0, 1e15), 4.0)[..3],
            ["0", "2.5 × 10¹⁴", "5 × 10¹⁴"]
        );
        assert_eq!(
            labels((0.0, 2e-9), 4.0)[..3],
            ["0", "5 × 10⁻¹⁰", "1 × 10⁻⁹"]
        );
        assert_eq!(labels((1e12 - 1e3, 1e12 + 1e3), 4.0)[0], "999,999,999,000");
    }

    proptest! {
        /// Whatever is added to a range, and however narrow it is beside that.
        #[test]
        fn neighbours_never_have_equal_labels(
            offset in -1.0..1.0_f64, offset_power in -280..300_i32, narrower in 0..18_i32, negative in any::<bool>(),
            low in -1.0..1.0_f64, span in 0.01..1.0_f64, wanted in 2.0..14.0_f64,
        ) {
            let offset = offset * 10_f64.powi(offset_power) * if negative { -1.0 } else { 1.0 };
            let unit = 10_f64.powi(offset_power - narrower);
            let (from, to) = (offset + low * unit, offset + (low + span) * unit);
            let found = ticks((from, to), wanted);
            for pair in found.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1, "{found:?}");
            }
            let rounding = 8.0 * f64::EPSILON * from.abs().max(to.abs());
            if to - from > rounding {
                prop_assert!(found.len() >= 2 || to - from < 40.0 * rounding, "{found:?}");
                let slack = 1e-9 * (to - from) + rounding;
                prop_assert!(found.iter().all(|(v, _)| from - slack <= *v && *v <= to + slack));
            }
            // A label is the tick itself, to a hundredth of their distance.
            if let [first, second, ..] = found.as_slice() {
                for (value, words) in &found {
                    let read = read(words);
                    let off = (read - value).abs();
                    prop_assert!(off <= 0.01 * (second.0 - first.0) + rounding, "{words} for {value}");
                }
            }
        }
    }

    /// The number that a label tells.
    fn read(words: &str) -> f64 {
        const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
        let digit = |c: char| match RAISED.iter().position(|r| *r == c) {
            Some(digit) => digit.to_string(),
            None if c == '⁻' || c == '\u{2212}' => "-".to_owned(),
            None => c.to_string(),
        };
        let plain: String = words.replace(',', "").chars().map(digit).collect();
        let (plain, letter) = match plain.strip_suffix(['M', 'G']) {
            Some(number) => (number, if words.ends_with('M') { "e6" } else { "e9" }),
            None => (plain.as_str(), ""),
        };
        let text = format!("{}{letter}", plain.replace(" × 10", "e"));
        text.parse().unwrap_or(f64::NAN)
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
