//! A cell of text as a finite number, or as a key.

use crate::diagnostic::shown;

/// What is wrong with a cell, and how to mend it.
#[derive(Debug, Clone, PartialEq)]
pub struct BadCell {
    /// The fact, a predicate of the cell: "is not a number".
    pub fact: String,
    /// How to mend it.
    pub remedy: &'static str,
}

/// Words that other programs write for a missing value.
const MISSING: [&str; 8] = ["na", "n/a", "null", "none", ".", "-", "?", "#n/a"];

/// Reads a number; spaces around it are allowed, NaN and infinity are not.
pub fn parse(cell: &str) -> Result<f64, BadCell> {
    let cell = cell.trim();
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) if cell.bytes().any(|b| b.is_ascii_digit()) => Err(BadCell {
            fact: format!("`{}` is too large for a number", shown(cell)),
            remedy: "change the units",
        }),
        Ok(_) => Err(BadCell {
            fact: format!("`{}` is not finite", shown(cell)),
            remedy: "every number must be finite; delete the row if the value is missing",
        }),
        Err(_) if cell.is_empty() => Err(BadCell {
            fact: "the cell is empty".to_owned(),
            remedy: "fill it in, or delete the row if the value is missing",
        }),
        Err(_) => Err(not_a_number(cell)),
    }
}

/// Reads a number, or NaN where the cell says that there is none: empty, `NA`, `NaN`, `null` and so
/// on.
pub fn parse_or_missing(cell: &str) -> Result<f64, BadCell> {
    if is_missing(cell) {
        return Ok(f64::NAN);
    }
    parse(cell)
}

/// Whether a cell says that there is nothing.
pub fn is_missing(cell: &str) -> bool {
    let word = cell.trim();
    word.is_empty() || word.eq_ignore_ascii_case("nan") || is_missing_word(word)
}

fn is_missing_word(word: &str) -> bool {
    MISSING.iter().any(|own| word.eq_ignore_ascii_case(own))
}

/// What is wrong with a cell that holds something else.
pub fn not_a_number(cell: &str) -> BadCell {
    BadCell {
        fact: format!("`{}` is not a number", shown(cell)),
        remedy: remedy(cell),
    }
}

/// Reads a key: any text but none, without the spaces around it.
pub fn key(cell: &str) -> Result<String, BadCell> {
    match cell.trim() {
        "" => Err(BadCell {
            fact: "the key is empty".to_owned(),
            remedy: "fill it in, or delete the row",
        }),
        key => Ok(key.to_owned()),
    }
}

/// How to mend one cell. What to do with a column of names is said where one may stand: in the
/// inputs of a study.
fn remedy(cell: &str) -> &'static str {
    if is_missing_word(cell) {
        "delete the row if the value is missing"
    } else if cell.contains(',') && cell.replace(',', "").parse::<f64>().is_ok() {
        "write numbers with a decimal point and without separators of thousands"
    } else if cell.starts_with(['<', '>', '\u{2264}', '\u{2265}']) {
        "cells such as <5 are read in the counts of a study, and in the `value` of `censored` where nothing else says which values are censored; here write a plain number, such as an estimate of it"
    } else if cell.starts_with(['\u{2212}', '\u{2013}']) {
        "write the sign as the minus of the keyboard, -"
    } else if is_date(cell) {
        "write dates as numbers, such as days since the first one or years with a fraction"
    } else {
        "write a plain number such as 12.5 or 3e-4"
    }
}

/// Whether a cell begins like 2020-01-31, 31.1.2020 or 1/31/2020: three groups of digits.
fn is_date(cell: &str) -> bool {
    let day = cell.split([' ', 'T']).next().unwrap_or(cell);
    let mut parts = day.split(['-', '/', '.']);
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let mut next = || parts.next().is_some_and(digits);
    next() && next() && next() && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_numbers_are_read_exactly() {
        assert_eq!(parse(" 1e-9 "), Ok(1e-9));
        assert_eq!(parse("-0.1"), Ok(-0.1));
    }

    #[test]
    fn missing_values_are_told_from_bad_ones() {
        for cell in ["", " ", "NA", "nan", "null", "-"] {
            assert!(parse_or_missing(cell).unwrap().is_nan(), "{cell}");
        }
        assert_eq!(parse_or_missing("2.5"), Ok(2.5));
        assert!(parse_or_missing("inf").is_err() && parse_or_missing("abc").is_err());
    }

    #[test]
    fn everything_else_says_how_to_mend_it() {
        for (cell, fact, remedy) in [
            ("", "empty", "fill it in"),
            ("NaN", "not finite", "finite"),
            ("-inf", "not finite", "finite"),
            ("1e999", "too large", "units"),
            ("NA", "not a number", "missing"),
            ("1,234", "not a number", "thousands"),
            ("abc", "not a number", "plain number"),
            ("trough", "not a number", "plain number"),
            ("2020-01-31", "not a number", "dates as numbers"),
            ("31/1/2020 08:00", "not a number", "dates as numbers"),
        ] {
            let error = parse(cell).unwrap_err();
            assert!(
                error.fact.contains(fact) && error.remedy.contains(remedy),
                "{cell}: {error:?}"
            );
        }
    }
}
