//! Numbers for people: a few significant digits, and as many more as their standard deviations
//! need; thousands apart.

/// Significant digits of a double, nearly; more would be rounding.
const DIGITS: i32 = 16;

/// Deviations below this part of their value, a thousand units of its last place, are the rounding
/// of what was known exactly.
pub const ROUNDING: f64 = 2e-13;

/// Numbers beyond this are refused: their squares, which every variance needs, do not fit.
pub const LARGEST: f64 = 1e150;

/// About four significant digits; whole numbers from 1000 on, with thin groups of thousands.
pub fn human(value: f64) -> String {
    beside(value, f64::INFINITY)
}

/// A number beside its standard deviation: as [`human`], with the decimals that show two digits of
/// the deviation.
pub fn beside(value: f64, sd: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    let power = |size: f64| size.log10().floor() as i32;
    let (first, most) = (power(size), DIGITS - 1 - power(size));
    // A deviation that is all rounding shows no digits of the value.
    let wanted = if sd.is_normal() && sd.abs() > ROUNDING * size {
        1 - power(sd.abs())
    } else {
        i32::MIN
    };
    if !(1e-4..1e15).contains(&size) {
        let digits = (wanted.min(most).saturating_add(first)).max(3) as usize;
        return format!("{value:.digits$e}");
    }
    let own = if size >= 999.95 {
        0
    } else {
        (3 - first).max(0)
    };
    let digits = own.max(wanted.min(most)) as usize;
    let text = thousands(&format!("{value:.digits$}"));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A place along an axis, to seven digits where it has many: years are not counted in thousands,
/// and steps of a grid show no rounding errors.
pub fn coordinate(value: f64) -> String {
    let exact = value.to_string();
    if exact.len() <= 12 {
        return exact;
    }
    let rounded: f64 = format!("{value:.11e}").parse().unwrap_or(value);
    let text = rounded.to_string();
    let size = value.abs();
    if text.len() <= 12 {
        text
    } else if (1e-4..1e7).contains(&size) {
        let digits = (6 - size.log10().floor() as i32).max(0) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.6e}")
    }
}

/// Every digit, with an exponent where it would take a line of zeros.
pub fn exact(value: f64) -> String {
    if value == 0.0 || (1e-5..1e16).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// A number of a table that we have written. None of ours begins as the label 007 does.
pub fn own_number(cell: &str) -> Option<f64> {
    let mut first = cell.bytes().take(2);
    let is_label =
        first.next() == Some(b'0') && first.next().is_some_and(|byte| byte.is_ascii_digit());
    cell.parse().ok().filter(|_| !is_label)
}

/// The same number with its whole part in groups of three digits.
fn thousands(text: &str) -> String {
    let (sign, size) = text.split_at(text.len() - text.trim_start_matches('-').len());
    let whole = size.find('.').unwrap_or(size.len());
    let mut grouped = sign.to_owned();
    for (i, digit) in size.chars().enumerate() {
        if i > 0 && i < whole && (whole - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count with its noun: "1 row", "2,000 rows".
pub fn count(n: usize, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        thousands(&n.to_string()),
        if n == 1 { "" } else { "s" }
    )
}

/// The level of an interval in percent: "95 %"; with as many digits as part it from nothing and
/// from all.
pub fn percent(level: f64) -> String {
    let rest = level.min(1.0 - level);
    let digits = match rest > 0.0 {
        // Two digits of what is left.
        true => (-(100.0 * rest).log10()).ceil().clamp(2.0, 15.0) as usize + 1,
        false => 3,
    };
    let percent = format!("{:.digits$}", 100.0 * level);
    format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (value, text) in [
            (0.0, "0"),
            (60.7, "60.7"),
            (9.523_45, "9.523"),
            (-10.729_3, "-10.73"),
            (999.96, "1,000"),
            (4_218_812.4, "4,218,812"),
            (1e-9, "1.000e-9"),
            (0.001_234_5, "0.001234"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(human(value), text);
        }
        for (value, sd, text) in [
            (1e9 + 0.001_23, 5e-4, "1,000,000,000.00123"),
            (4_218_812.4, 900.0, "4,218,812"),
            (-1_234.56, 0.5, "-1,234.56"),
            (1_234.0, 0.5, "1,234"),
            (12.345_678, 1e-4, "12.34568"),
            (12.345_678, 30.0, "12.35"),
            (0.3, 0.0, "0.3"),
            (0.3, 1e-300, "0.3"),
            (1.25e20, 1e14, "1.2500000e20"),
            (1.25e20, 1e22, "1.250e20"),
            (f64::NEG_INFINITY, 1.0, "-inf"),
        ] {
            assert_eq!(beside(value, sd), text);
        }
        assert_eq!(coordinate(2020.5), "2020.5");
        assert_eq!(coordinate(33.8 + 2.0 * 0.2), "34.2");
        assert_eq!(coordinate(1.0 / 3.0), "0.3333333");
        assert_eq!(coordinate(10.137_762_565_703_492), "10.13776");
        assert_eq!(coordinate(1e-9 / 3.0), "3.333333e-10");
        assert_eq!(exact(0.1), "0.1");
        assert_eq!(exact(-1e300), "-1e300");
        assert_eq!(count(1, "row"), "1 row");
        assert_eq!(percent(0.95), "95 %");
        assert_eq!(percent(0.999), "99.9 %");
    }
}
