//! Numbers for people: a few significant digits, thousands apart.

/// About four significant digits; whole numbers from 1000 on, with thin groups of thousands.
pub fn human(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{value:.3e}");
    }
    if size >= 999.95 {
        return thousands(value.round());
    }
    let digits = (3 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A place along an axis, to seven digits where it has many: years are not counted in thousands, and steps of a grid show no rounding errors.
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

fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value < 0.0 { "-" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: "1 row", "2,000 rows".
pub fn count(n: usize, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        thousands(n as f64),
        if n == 1 { "" } else { "s" }
    )
}

/// The level of an interval in percent: "95 %".
pub fn percent(level: f64) -> String {
    let percent = format!("{:.3}", 100.0 * level);
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
