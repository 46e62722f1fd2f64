//! Numbers in words: four significant digits, thousands separators, real minus signs.

/// Significant digits of a double, nearly; more would be rounding.
const DIGITS: usize = 16;

/// A number for running text: `1,234`, `12.35`, `0.001235`, `1.2 × 10⁻⁷`, `–` for NaN.
pub fn number(value: f64) -> String {
    if let Some(words) = not_finite(value) {
        return words.to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e10).contains(&size) {
        return scientific(value, 4);
    }
    trim(&fixed(value, decimals(size)))
}

/// A number with three significant digits, for the ends of a scale.
pub fn rounded(value: f64) -> String {
    match format!("{value:.2e}").parse::<f64>() {
        Ok(rounded) if rounded.is_finite() => number(rounded),
        _ => number(value),
    }
}

/// A number with as many digits as told, for values that are nearly alike.
pub fn significant(value: f64, digits: usize) -> String {
    let size = value.abs();
    if size == 0.0 || !size.is_finite() {
        return number(value);
    }
    // Many digits are easier to compare in full than as a power of ten.
    let is_plain = (1e-4..1e10).contains(&size) || digits > 6 && (1e10..1e15).contains(&size);
    if !is_plain {
        return scientific(value, digits);
    }
    let before = power(size) + 1;
    trim(&fixed(value, (digits as i32 - before).max(0) as usize))
}

/// A number beside its standard deviation, or another distance that must show: as [`number`], with
/// more digits where two digits of the distance need them.
pub fn beside(value: f64, distance: f64) -> String {
    match needed(value, distance, 2) {
        Some(digits) => significant(value, digits.min(DIGITS)),
        None => number(value),
    }
}

/// Both ends of a scale, each with three significant digits, and as many more as three digits of
/// their distance need.
pub fn ends((low, high): (f64, f64)) -> (String, String) {
    // Halves: the distance of two finite numbers need not be finite.
    let distance = high / 2.0 - low / 2.0;
    let end = |value: f64| match needed(value, distance, 3) {
        // 17 digits tell any two doubles apart.
        Some(digits) => significant(value, digits.min(17)),
        None => rounded(value),
    };
    (end(low), end(high))
}

/// The significant digits that a number needs for some digits of a distance to show; none where
/// four are enough.
fn needed(value: f64, distance: f64, digits: i32) -> Option<usize> {
    if !(distance.is_normal() && value.is_finite() && value != 0.0) {
        return None;
    }
    let needed = power(value.abs()) - power(distance.abs()) + digits;
    (needed > 4).then_some(needed as usize)
}

/// A hyperparameter: as [`number`], but large ones by their power of ten.
pub fn parameter(value: f64) -> String {
    if value.is_finite() && value.abs() >= 1e7 {
        scientific(value, 4)
    } else {
        number(value)
    }
}

/// A number with a fixed number of decimals and thousands separators.
pub fn fixed(value: f64, decimals: usize) -> String {
    if let Some(words) = not_finite(value) {
        return words.to_owned();
    }
    let text = format!("{:.*}", decimals, value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::with_capacity(text.len() + 8);
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('\u{2212}');
    }
    let lead = whole.len() % 3;
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && i % 3 == lead && whole.len() > 3 {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// A column of numbers with the decimals that its typical size needs, and those that two digits of
/// `distance` need where there is one, so that the points align.
pub fn column(values: &[f64], distance: Option<f64>) -> Vec<String> {
    let sizes = || {
        values
            .iter()
            .copied()
            .filter(|v| v.is_finite())
            .map(f64::abs)
    };
    let largest = sizes().fold(0.0, f64::max);
    if largest > 0.0 && !(1e-3..1e10).contains(&largest) {
        let one = |&v: &f64| distance.map_or_else(|| number(v), |d| beside(v, d));
        return values.iter().map(one).collect();
    }
    let whole = sizes().all(|v| v.fract() == 0.0);
    let places = if whole {
        0
    } else {
        let fine = distance.filter(|d| d.is_normal());
        let fine = fine.map_or(0, |d| 1 - power(d.abs()));
        let most = DIGITS as i32 - 1 - power(largest.max(1e-4));
        decimals(largest.max(1e-4)).max(fine.min(most).max(0) as usize)
    };
    values.iter().map(|&v| fixed(v, places)).collect()
}

/// An interval: `1,190 to 1,220`.
pub fn interval(lower: f64, upper: f64) -> String {
    match (lower == f64::NEG_INFINITY, upper == f64::INFINITY) {
        (true, true) => "anything".to_owned(),
        (true, false) => format!("up to {}", number(upper)),
        (false, true) => format!("at least {}", number(lower)),
        (false, false) => {
            let width = upper / 2.0 - lower / 2.0;
            format!("{} to {}", beside(lower, width), beside(upper, width))
        }
    }
}

/// A share as a percentage: `95 %`.
pub fn percent(share: f64) -> String {
    if share.is_finite() {
        format!("{}\u{a0}%", trim(&fixed(share * 100.0, 1)))
    } else {
        number(share)
    }
}

/// A whole number: `1,000`.
pub fn count(value: usize) -> String {
    fixed(value as f64, 0)
}

/// Seconds in the unit that people use.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() || s < 0.0 => number(f64::NAN),
        s if s < 0.001 => "under 1 ms".to_owned(),
        s if s < 1.0 => format!("{} ms", fixed(s * 1e3, 0)),
        s if s < 120.0 => format!("{} s", trim(&fixed(s, 1))),
        s => format!("{} min", trim(&fixed(s / 60.0, 1))),
    }
}

fn not_finite(value: f64) -> Option<&'static str> {
    match value {
        v if v.is_nan() => Some("–"),
        f64::INFINITY => Some("∞"),
        f64::NEG_INFINITY => Some("\u{2212}∞"),
        _ => None,
    }
}

/// The power of ten of the first digit of a positive number.
fn power(size: f64) -> i32 {
    size.log10().floor() as i32
}

/// Decimals that leave four significant digits, and never cut whole ones.
fn decimals(size: f64) -> usize {
    (3 - power(size)).clamp(0, 8) as usize
}

/// Without the zeros that end decimals.
fn trim(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

/// A number times a power of ten: `1.2 × 10⁻⁷`.
pub(crate) fn scientific(value: f64, digits: usize) -> String {
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let raised: String = exponent
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            '0' => '⁰',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4' => '⁴',
            '5' => '⁵',
            '6' => '⁶',
            '7' => '⁷',
            '8' => '⁸',
            _ => '⁹',
        })
        .collect();
    format!("{} × 10{raised}", trim(mantissa).replace('-', "\u{2212}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (1234.0, "1,234"),
            (123_456.7, "123,457"),
            (12_345_678.0, "12,345,678"),
            (123.456, "123.5"),
            (0.001_234_5, "0.001234"),
            (0.5, "0.5"),
            (-2.25, "\u{2212}2.25"),
            (1.2e-7, "1.2 × 10⁻⁷"),
            (-3.0e12, "\u{2212}3 × 10¹²"),
            (f64::NAN, "–"),
            (f64::NEG_INFINITY, "\u{2212}∞"),
        ];
        for (value, words) in cases {
            assert_eq!(number(value), words);
        }
    }

    #[test]
    fn more_digits_tell_near_values_apart() {
        assert_eq!(significant(12.345_678, 6), "12.3457");
        assert_eq!(significant(-101_325.04, 8), "\u{2212}101,325.04");
        assert_eq!(significant(2.068_042_7e-5, 6), "2.06804 × 10⁻⁵");
        assert_eq!(significant(0.0, 9), "0");
    }

    #[test]
    fn a_column_shares_its_decimals() {
        assert_eq!(column(&[1.0, 20.0, 300.0], None), ["1", "20", "300"]);
        assert_eq!(
            column(&[1.25, 20.0, f64::NAN], None),
            ["1.25", "20.00", "–"]
        );
        assert_eq!(column(&[], None), Vec::<String>::new());
        assert_eq!(column(&[0.0, 0.0], None), ["0", "0"]);
        assert_eq!(
            column(&[1e9, 1e9 + 0.001_23], Some(5e-4)),
            ["1,000,000,000.00000", "1,000,000,000.00123"]
        );
        assert_eq!(column(&[12.5, 20.0], Some(3.0)), ["12.50", "20.00"]);
    }

    #[test]
    fn digits_follow_the_distance_beside() {
        assert_eq!(beside(1e9 + 0.001_23, 5e-4), "1,000,000,000.00123");
        assert_eq!(beside(1_234.4, 30.0), "1,234");
        assert_eq!(beside(1_234.4, 3.0), "1,234.4");
        assert_eq!(beside(0.5, 100.0), "0.5");
        assert_eq!(beside(5e-10, 1e-17), "5 × 10⁻¹⁰");
        assert_eq!(beside(1e12 + 2e3, 1e3), "1,000,000,002,000");
        assert_eq!(beside(3.0, f64::NAN), "3");
        assert_eq!(beside(f64::INFINITY, 1.0), "∞");
        assert_eq!(
            interval(999_999.992, 1_000_000.01),
            "999,999.992 to 1,000,000.01"
        );
        assert_eq!(interval(1990.0, 1995.0), "1,990 to 1,995");
        assert_eq!(
            ends((999_999.99, 1_000_000.01)),
            ("999,999.99".to_owned(), "1,000,000.01".to_owned())
        );
        assert_eq!(ends((0.0, 123.456)), ("0".to_owned(), "123".to_owned()));
    }

    #[test]
    fn a_rounded_negative_zero_has_no_sign() {
        assert_eq!(fixed(-0.001, 1), "0.0");
    }

    #[test]
    fn open_intervals_are_told_in_words() {
        assert_eq!(interval(f64::NEG_INFINITY, 3.0), "up to 3");
        assert_eq!(interval(3.0, f64::INFINITY), "at least 3");
        assert_eq!(interval(3.0, 4.5), "3 to 4.5");
    }

    #[test]
    fn durations_choose_their_unit() {
        assert_eq!(duration(0.0123), "12 ms");
        assert_eq!(duration(1.26), "1.3 s");
        assert_eq!(duration(600.0), "10 min");
    }
}
