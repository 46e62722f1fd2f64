//! Cells that say more than a number: open ends, limits, ranges of counts, sides, yes and no.

use super::number::{BadCell, is_missing, not_a_number, parse, parse_or_missing};
use super::open_bands::is_open;
use crate::diagnostic::shown;

/// How the cells of a column are read. Every cell becomes a lower and an upper end, which are equal
/// for a plain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// A finite number.
    Number,
    /// A finite number; NaN where it is missing.
    NumberOrMissing,
    /// A label: a text, which has a code in place of a number.
    Label,
    /// An edge of a box: a finite number, since an open band has no size.
    Edge,
    /// The same of a box that an average is over.
    EdgeOfMean,
    /// A variance or standard deviation that is known.
    Known,
    /// A waiting time: a number, of a wait that is over.
    Wait,
    /// A lower end; an empty cell or `-inf` is none.
    Lower,
    /// An upper end; an empty cell or `inf` is none.
    Upper,
    /// A reading: a number, or one beyond a limit, `<0.5` or `>10`.
    Limited,
    /// A count: a whole number, or a range of them, `<5`, `>=100`, `10-19`.
    Count,
    /// Yes or no, as 1 and 0.
    Flag,
    /// The side on which a value is censored: -1 left, 0 none, 1 right.
    Side,
}

/// Counts beyond this are no longer told apart from their neighbours.
const LARGEST_COUNT: f64 = 9.0e15;

/// Reads a cell.
pub fn read(reading: Reading, cell: &str) -> Result<(f64, f64), BadCell> {
    let cell = cell.trim();
    let exact = |value: f64| (value, value);
    match reading {
        Reading::Number => parse(cell).map(exact),
        Reading::NumberOrMissing => parse_or_missing(cell).map(exact),
        Reading::Label => Err(BadCell {
            fact: format!("`{}` is a label and no number", shown(cell)),
            remedy: "read it by its text",
        }),
        Reading::Edge => edge(cell, OPEN).map(exact),
        Reading::EdgeOfMean => edge(cell, OPEN_OF_MEAN).map(exact),
        Reading::Known => known(cell).map(exact),
        Reading::Wait => wait(cell).map(exact),
        Reading::Lower => end(cell, f64::NEG_INFINITY).map(exact),
        Reading::Upper => end(cell, f64::INFINITY).map(exact),
        Reading::Limited => limited(cell),
        Reading::Count => count(cell),
        Reading::Flag => flag(cell).map(exact),
        Reading::Side => side(cell).map(exact),
    }
}

/// A finite number, or the open end that an empty cell stands for.
fn end(cell: &str, open: f64) -> Result<f64, BadCell> {
    match cell.parse::<f64>() {
        _ if cell.is_empty() => Ok(open),
        Ok(value) if value == open && !cell.bytes().any(|b| b.is_ascii_digit()) => Ok(open),
        Ok(value) if value.is_infinite() && !cell.bytes().any(|b| b.is_ascii_digit()) => {
            Err(BadCell {
                fact: format!("`{}` leaves nothing on this side", shown(cell)),
                remedy: "a lower end is open with -inf or an empty cell, an upper end with inf or an empty cell",
            })
        }
        _ => parse(cell),
    }
}

/// What to do about an open band, and about an edge that is missing.
type OfOpen = [&'static str; 2];

const OPEN: OfOpen = [
    "an open band needs an edge: give one beyond which there is next to nothing, such as 110 for ages; what the band holds is spread up to there; or take `[ungroup]` (`quadrat ungroup`), which takes open bands of counts as they are",
    "delete the row if the edge is missing; if the band is open, give an edge beyond which there is next to nothing, such as 110 for ages, or take `[ungroup]` (`quadrat ungroup`), which takes open bands of counts as they are",
];
const OPEN_OF_MEAN: OfOpen = [
    "an average needs both ends of what it is over: give the open band the edge up to which its average was taken, such as 110 for ages; or delete the row; or put it into an [[observe]] of its own, as a point at the middle of what it was taken over, where that is known",
    "delete the row if the edge is missing; if the band is open, give the edge up to which its average was taken, such as 110 for ages",
];

/// An edge of a box; the last band of many tables has none.
fn edge(cell: &str, [open, missing]: OfOpen) -> Result<f64, BadCell> {
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    let dash = cell.split_once(['-', '\u{2013}']);
    let is_band = dash.is_some_and(|(a, b)| is_number(a) && is_number(b));
    parse(cell).map_err(|error| match is_open(cell) || beyond(cell).is_some() {
        _ if is_band => BadCell {
            remedy: "write a band as two columns, its edges: the ages 0-4 are 0 and 5, where the next band begins",
            ..error
        },
        true => BadCell {
            remedy: open,
            ..error
        },
        false if is_missing(cell) => BadCell {
            remedy: missing,
            ..error
        },
        false => error,
    })
}

/// The size of an error; that of some rows is not known in many tables.
fn known(cell: &str) -> Result<f64, BadCell> {
    parse(cell).map_err(|error| match cell.is_empty() {
        true => BadCell {
            remedy: "fill it in; rows whose error is not known go into a table, an [[observe]], of their own, where it is learned",
            ..error
        },
        false => error,
    })
}

/// Where a wait goes on.
const WAITING: &str = "waits that are not over are for `poisson = { count = \"ended\", exposure = \"time\" }`, 1 in `ended` where the wait is over and 0 where it goes on: that is `exponential` in terms of the rate at which waits end; `gamma` and `lognormal` take only waits that are over";

fn wait(cell: &str) -> Result<f64, BadCell> {
    let remedy = match beyond(cell) {
        Some((true, ..)) => {
            "values of which only an upper limit is known are for `censored`, whose values may be logarithms in a column of their own"
        }
        Some(_) => WAITING,
        None if cell.ends_with('+') => WAITING,
        None => return parse(cell),
    };
    parse(cell).map_err(|error| BadCell { remedy, ..error })
}

/// The rest of a cell after a sign of comparison, and whether the number itself belongs to it.
fn beyond(cell: &str) -> Option<(bool, bool, &str)> {
    let signs = [
        ("<=", true, true),
        ("\u{2264}", true, true),
        ("<", true, false),
        (">=", false, true),
        ("\u{2265}", false, true),
        (">", false, false),
    ];
    signs.into_iter().find_map(|(sign, below, inclusive)| {
        let rest = cell.strip_prefix(sign)?;
        Some((below, inclusive, rest.trim()))
    })
}

/// A sign of comparison without a number.
fn lonely(cell: &str) -> BadCell {
    BadCell {
        fact: format!("`{}` stands without a number", shown(cell)),
        remedy: "write the limit behind it, as in <5, or delete the row if the value is missing",
    }
}

/// How a value beyond a limit is written.
const LIMIT: &str = "a value below the limit of detection is written <0.5, with its limit; or give the limit as the number, and a column of yes and no as `left`";

fn limited(cell: &str) -> Result<(f64, f64), BadCell> {
    match beyond(cell) {
        None if cell.strip_suffix('+').is_some_and(|x| parse(x).is_ok()) => Err(BadCell {
            fact: not_a_number(cell).fact,
            remedy: "a value above a limit is written >30, one below <30",
        }),
        None => parse(cell).map(|value| (value, value)).map_err(|error| {
            match cell.starts_with(|c: char| c.is_alphabetic()) {
                true => BadCell {
                    remedy: LIMIT,
                    ..error
                },
                false => error,
            }
        }),
        Some((_, _, "")) => Err(lonely(cell)),
        Some((below, _, rest)) => match parse(rest) {
            Ok(limit) if below => Ok((f64::NEG_INFINITY, limit)),
            Ok(limit) => Ok((limit, f64::INFINITY)),
            // A number that is none for its size says so itself.
            Err(error) if rest.parse::<f64>().is_ok() => Err(error),
            Err(_) => Err(BadCell {
                fact: not_a_number(cell).fact,
                remedy: LIMIT,
            }),
        },
    }
}

fn count(cell: &str) -> Result<(f64, f64), BadCell> {
    if let Some((below, inclusive, rest)) = beyond(cell) {
        if rest.is_empty() {
            return Err(lonely(cell));
        }
        let limit = whole(rest)?;
        return match (below, inclusive) {
            (true, false) if limit == 0.0 => Err(BadCell {
                fact: format!("`{}` leaves no count: none is below zero", shown(cell)),
                remedy: "write 0 where nothing was counted",
            }),
            (true, false) => Ok((0.0, limit - 1.0)),
            (true, true) => Ok((0.0, limit)),
            (false, false) => Ok((limit + 1.0, f64::INFINITY)),
            (false, true) => Ok((limit, f64::INFINITY)),
        };
    }
    if let Some(from) = cell.strip_suffix('+') {
        return Ok((whole(from)?, f64::INFINITY));
    }
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    for dash in ["-", "\u{2013}", ".."] {
        if let Some((from, to)) = cell.split_once(dash)
            && is_digits(from.trim())
            && is_digits(to.trim())
        {
            let (from, to) = (whole(from)?, whole(to)?);
            if from > to {
                return Err(BadCell {
                    fact: format!("the range `{}` ends before it begins", shown(cell)),
                    remedy: "exchange its ends",
                });
            }
            return Ok((from, to));
        }
    }
    whole(cell).map(|value| (value, value))
}

/// A whole number, zero or more.
fn whole(text: &str) -> Result<f64, BadCell> {
    let value = parse(text).map_err(|error| match error.fact.contains("not a number") {
        false if text.is_empty() => BadCell {
            remedy: "fill it in, write <5 or another range where the count is withheld, or delete the row",
            ..error
        },
        true => BadCell {
            remedy: "write a whole number, or a range such as <5, >=100 or 10-19 where the count itself is withheld",
            ..error
        },
        false => error,
    })?;
    if value < 0.0 {
        return Err(BadCell {
            fact: format!("the count is {value}; it cannot be negative"),
            remedy: "mend it, or delete the row if it stands for a missing count",
        });
    }
    if value > LARGEST_COUNT {
        return Err(BadCell {
            fact: format!("the count is {value:e}, too large to be told from its neighbours"),
            remedy: "give so many as values, with a `gaussian` likelihood",
        });
    }
    if value.fract() != 0.0 {
        return Err(BadCell {
            fact: format!("the count is {value}; it must be a whole number"),
            remedy: "give what was counted, not a rate: what it is divided by goes to `exposure`",
        });
    }
    Ok(value)
}

fn flag(cell: &str) -> Result<f64, BadCell> {
    match cell.to_lowercase().as_str() {
        "1" | "1.0" | "true" | "t" | "yes" | "y" => Ok(1.0),
        "0" | "0.0" | "false" | "f" | "no" | "n" => Ok(0.0),
        "" => parse(cell),
        _ => Err(BadCell {
            fact: format!("`{}` is neither yes nor no", shown(cell)),
            remedy: "write 1 or 0, true or false, yes or no",
        }),
    }
}

fn side(cell: &str) -> Result<f64, BadCell> {
    match cell.to_lowercase().as_str() {
        "none" => Ok(0.0),
        "left" => Ok(-1.0),
        "right" => Ok(1.0),
        _ => Err(BadCell {
            fact: format!("`{}` does not say how the value is censored", shown(cell)),
            remedy: "write none, left (the value is at most the number) or right (at least the number); name a column of yes and no, or 1 and 0, as `left` or `right` where yes means censored, as `event` where yes means that the value is not",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn cells_are_read_as_their_column_says() {
        for (reading, cell, expected) in [
            (Reading::Number, " 2.5", (2.5, 2.5)),
            (Reading::Lower, "", (-INF, -INF)),
            (Reading::Lower, "-inf", (-INF, -INF)),
            (Reading::Upper, "Inf", (INF, INF)),
            (Reading::Upper, "3", (3.0, 3.0)),
            (Reading::Limited, "< 0.006", (-INF, 0.006)),
            (Reading::Limited, "\u{2265}7", (7.0, INF)),
            (Reading::Limited, "-1", (-1.0, -1.0)),
            (Reading::Count, "12", (12.0, 12.0)),
            (Reading::Count, "1e3", (1000.0, 1000.0)),
            (Reading::Count, "<5", (0.0, 4.0)),
            (Reading::Count, "<=5", (0.0, 5.0)),
            (Reading::Count, ">= 100", (100.0, INF)),
            (Reading::Count, ">99", (100.0, INF)),
            (Reading::Count, "100+", (100.0, INF)),
            (Reading::Count, "10-19", (10.0, 19.0)),
            (Reading::Flag, "Yes", (1.0, 1.0)),
            (Reading::Flag, "0", (0.0, 0.0)),
            (Reading::Flag, "T", (1.0, 1.0)),
            (Reading::Flag, "F", (0.0, 0.0)),
            (Reading::Flag, "y", (1.0, 1.0)),
            (Reading::Flag, "N", (0.0, 0.0)),
            (Reading::Side, "Left", (-1.0, -1.0)),
        ] {
            assert_eq!(read(reading, cell), Ok(expected), "{reading:?} {cell}");
        }
    }

    #[test]
    fn everything_else_says_how_to_mend_it() {
        for (reading, cell, fact, remedy) in [
            (Reading::Lower, "inf", "leaves nothing", "-inf"),
            (Reading::Upper, "high", "not a number", "plain number"),
            (Reading::Upper, "1e999", "too large", "units"),
            (Reading::Count, "-3", "cannot be negative", "missing"),
            (Reading::Count, "2.5", "whole number", "exposure"),
            (Reading::Count, "few", "not a number", "<5"),
            (Reading::Count, "<0", "no count", "write 0"),
            (Reading::Count, "9-3", "before it begins", "exchange"),
            (Reading::Count, "", "empty", "fill it in"),
            (Reading::Flag, "maybe", "neither", "yes or no"),
            (Reading::Side, "True", "censored", "`event`"),
            (Reading::Edge, "inf", "not finite", "such as 110"),
            (Reading::Edge, "", "empty", "such as 110"),
            (Reading::Edge, "inf", "not finite", "[ungroup]"),
            (Reading::EdgeOfMean, "inf", "not finite", "an average needs"),
            (Reading::EdgeOfMean, "", "empty", "its average was taken"),
            (Reading::Edge, "100+", "not a number", "such as 110"),
            (Reading::Edge, "high", "not a number", "plain number"),
            (Reading::Edge, "\u{221e}", "not a number", "such as 110"),
            (Reading::Edge, "-\u{221e}", "not a number", "such as 110"),
            (Reading::Edge, "and over", "not a number", "such as 110"),
            (Reading::Edge, "90 or more", "not a number", "such as 110"),
            (Reading::Edge, "NA", "not a number", "such as 110"),
            (Reading::Wait, ">11.5", "not a number", "poisson"),
            (Reading::Wait, "<0.5", "not a number", "censored"),
        ] {
            let error = read(reading, cell).unwrap_err();
            assert!(
                error.fact.contains(fact) && error.remedy.contains(remedy),
                "{cell}: {error:?}"
            );
        }
    }
}
