//! The edges of a band as tables write them.

use crate::diagnostic::shown;
use crate::table::open_bands::{BEFORE, BEHIND, ENDLESS};
use crate::table::parse_number;

/// What a cell of edges says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edge {
    /// Nothing: an open end.
    None,
    /// A number.
    At(f64),
    /// This band has no lower end, and ends there: `<15`.
    Below(f64),
    /// This band begins there and has no upper end: `90+`.
    From(f64),
    /// Both ends: `0-4`, `10,000 to 14,999`, `[0, 5)`.
    Both(f64, f64),
}

/// What is wrong with a cell, and how to mend it.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The fact.
    pub fact: String,
    /// How to mend it.
    pub remedy: &'static str,
}

/// How edges are written.
const WRITE: &str = "write plain numbers; an open band is `90+` or an empty upper edge, `<15` or an empty lower one; one column may have both edges, as in `0-4`";
/// Why a band that holds its upper edge, or leaves out its lower one, cannot be read.
const HALF_OPEN: &str = "bands hold their lower edge and not their upper one, `[0, 5)`, as `cut(x, breaks, right = FALSE)` of R makes them; of whole numbers `(0, 5]` is `1-5`, and `[0, 5]` is `0-5`";

/// What stands between two edges in one cell.
const BETWEEN: [&str; 5] = [" to ", "\u{2013}", "\u{2014}", "..", "-"];
/// Words that say nothing of where an edge is.
const IDLE: [&str; 6] = ["aged", "ages", "age", "years", "year", "yrs"];

/// Reads a cell; what is wrong with it, where nothing can be read.
pub fn edge(cell: &str) -> Result<Edge, Fault> {
    let text = cell.trim().to_lowercase().replace('&', " and ");
    let words = text.split_whitespace().filter(|word| !IDLE.contains(word));
    let text = words.collect::<Vec<&str>>().join(" ");
    let word = text.trim_start_matches(['+', '-']);
    if text.is_empty() || ENDLESS.contains(&word) {
        return Ok(Edge::None);
    }
    let fault = |says: &str, remedy: &'static str| Fault {
        fact: format!("`{}` {says}", shown(cell.trim())),
        remedy,
    };
    let no_edge = || fault("is no edge of a band", WRITE);
    if let Some(own) = interval(&text) {
        return match (own.ends, own.says) {
            (None, _) => Err(no_edge()),
            (Some(_), Some(says)) => Err(fault(says, HALF_OPEN)),
            (Some(edge), None) => Ok(edge),
        };
    }
    let opened = BEFORE.iter().find_map(|&(word, is_below)| {
        let rest = text.strip_prefix(word)?;
        Some((rest, is_below))
    });
    let opened = opened.or_else(|| {
        BEHIND.iter().find_map(|&(word, is_below)| {
            let rest = text.strip_suffix(word)?;
            Some((rest, is_below))
        })
    });
    match opened {
        None => match both(&text) {
            Some((from, to)) => Ok(Edge::Both(from, to)),
            None => number(&text).map(Edge::At),
        },
        Some((rest, true)) => number(rest).map(Edge::Below),
        Some((rest, false)) => number(rest).map(Edge::From),
    }
    .map_err(|()| no_edge())
}

/// An interval with its brackets.
struct Interval {
    /// Its ends, where they are numbers.
    ends: Option<Edge>,
    /// Which of its edges it holds or leaves out, where that is not how bands are read.
    says: Option<&'static str>,
}

/// Reads `[0, 5)`, `[65, inf)`, `[65,)`, `(-inf, 15)`, and those with other brackets.
fn interval(text: &str) -> Option<Interval> {
    let inner = text.strip_prefix(['[', '(', ']'])?;
    let inner = inner.strip_suffix([')', ']', '['])?;
    let (from, to) = inner.split_once([',', ';'])?;
    let (from, to) = (from.trim(), to.trim());
    let is_infinite = |end: &str| ["inf", "infinity", "\u{221e}"].contains(&end);
    let is_below = from.is_empty() || from.strip_prefix('-').is_some_and(is_infinite);
    let is_above = to.is_empty() || is_infinite(to.strip_prefix('+').unwrap_or(to));
    let known = |end: &str| number(end).ok();
    let ends = match (is_below, is_above) {
        (true, true) => None,
        (true, false) => known(to).map(Edge::Below),
        (false, true) => known(from).map(Edge::From),
        (false, false) => known(from).zip(known(to)).map(|(a, b)| Edge::Both(a, b)),
    };
    let leaves_lower = !is_below && !text.starts_with('[');
    let holds_upper = !is_above && text.ends_with(']');
    let says = match (leaves_lower, holds_upper) {
        (false, false) => None,
        (true, true) => Some("leaves out its lower edge and holds its upper one"),
        (true, false) => Some("leaves out its lower edge"),
        (false, true) => Some("holds its upper edge"),
    };
    Some(Interval { ends, says })
}

/// Two numbers with a sign or a word between them.
fn both(text: &str) -> Option<(f64, f64)> {
    let pair = |from: &str, to: &str| Some((number(from).ok()?, number(to).ok()?));
    let mut between = BETWEEN.iter().flat_map(|sign| text.match_indices(sign));
    between.find_map(|(at, sign)| pair(&text[..at], &text[at + sign.len()..]))
}

/// A finite number, whose thousands may stand apart.
fn number(text: &str) -> Result<f64, ()> {
    let text = text.trim().trim_start_matches(['$', '\u{20ac}', '\u{a3}']);
    if let Ok(value) = parse_number(text) {
        return Ok(value);
    }
    if let Some(thousands) = text.strip_suffix('k') {
        return parse_number(thousands).map(|n| 1000.0 * n).map_err(|_| ());
    }
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let mut groups = whole.split([',', ' ', '\u{a0}', '\u{202f}', '_']);
    let first = groups.next().unwrap_or("");
    let rest: Vec<&str> = groups.collect();
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_grouped = !rest.is_empty()
        && is_digits(decimals)
        && (1..=3).contains(&first.len())
        && is_digits(first)
        && rest
            .iter()
            .all(|group| group.len() == 3 && is_digits(group));
    match is_grouped {
        true => parse_number(&format!("{first}{}.{decimals}", rest.concat())).map_err(|_| ()),
        false => Err(()),
    }
}

/// The two ends of a band; what is wrong with its cells, and whether with the second.
///
/// # Arguments
/// * `upper` - none where there is no such column: then the end is not known yet, and NaN
pub fn ends(lower: &str, upper: Option<&str>) -> Result<(f64, f64), (bool, Fault)> {
    let first = edge(lower).map_err(|fault| (false, fault))?;
    let second = upper.map(|cell| edge(cell).map_err(|fault| (true, fault)));
    let second = second.transpose()?;
    let contradicts = |cell: &str| {
        let cells = [lower, cell].map(|c| shown(c.trim()));
        format!("`{}` and `{}` contradict each other", cells[0], cells[1])
    };
    let fault = |is_upper: bool, fact: String| {
        let remedy = WRITE;
        Err((is_upper, Fault { fact, remedy }))
    };
    let upper = upper.unwrap_or("");
    match (first, second) {
        (Edge::None, Some(Edge::At(to) | Edge::Below(to))) => Ok((f64::NEG_INFINITY, to)),
        (Edge::None, _) => fault(false, "the band has no edge on either side".to_owned()),
        (Edge::At(from), None) => Ok((from, f64::NAN)),
        (Edge::At(from) | Edge::From(from), Some(Edge::None)) => Ok((from, f64::INFINITY)),
        (Edge::At(from), Some(Edge::At(to))) => Ok((from, to)),
        (Edge::At(from) | Edge::From(from), Some(Edge::From(same))) if from == same => {
            Ok((from, f64::INFINITY))
        }
        (Edge::From(from), None) => Ok((from, f64::INFINITY)),
        (Edge::Both(from, to), None) => Ok((from, to)),
        (Edge::Both(..), Some(_)) => {
            let cell = shown(lower.trim());
            let fact = format!("`{cell}` are two edges, and --upper names the upper ones");
            fault(false, fact)
        }
        (Edge::Below(to), None | Some(Edge::None)) => Ok((f64::NEG_INFINITY, to)),
        (Edge::Below(to), Some(Edge::At(same) | Edge::Below(same))) if to == same => {
            Ok((f64::NEG_INFINITY, to))
        }
        _ => fault(true, contradicts(upper)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn bands_are_read_as_tables_write_them() {
        for (lower, upper, want) in [
            ("0", "5", (0.0, 5.0)),
            ("90", "", (90.0, INF)),
            ("90", "inf", (90.0, INF)),
            ("90+", "", (90.0, INF)),
            ("90+", "90+", (90.0, INF)),
            ("90 and over", "Inf", (90.0, INF)),
            (">= 90", "", (90.0, INF)),
            ("100,000 and more", "", (100_000.0, INF)),
            ("$100,000 or more", "", (100_000.0, INF)),
            ("100 000", "150 000", (100_000.0, 150_000.0)),
            ("90 years and over", "", (90.0, INF)),
            ("Aged 90 and over", "", (90.0, INF)),
            ("65 plus", "", (65.0, INF)),
            ("65 & over", "", (65.0, INF)),
            ("100k+", "\u{221e}", (100_000.0, INF)),
            ("<15", "", (-INF, 15.0)),
            ("<15", "15", (-INF, 15.0)),
            ("under 15", "15", (-INF, 15.0)),
            ("", "15", (-INF, 15.0)),
            ("-inf", "15", (-INF, 15.0)),
            ("-5", "0", (-5.0, 0.0)),
        ] {
            assert_eq!(ends(lower, Some(upper)), Ok(want), "{lower} {upper}");
        }
        assert_eq!(ends("90+", None), Ok((90.0, INF)));
        assert!(ends("5", None).unwrap().1.is_nan());
    }

    #[test]
    fn one_cell_may_have_both_edges() {
        for (cell, want) in [
            ("0-4", (0.0, 4.0)),
            ("10 \u{2013} 14", (10.0, 14.0)),
            ("Aged 10 to 14", (10.0, 14.0)),
            ("5 to 9 years", (5.0, 9.0)),
            ("$10,000 to $14,999", (10_000.0, 14_999.0)),
            ("10,000-14,999.99", (10_000.0, 14_999.99)),
            ("-5--1", (-5.0, -1.0)),
            ("-5 to 5", (-5.0, 5.0)),
            ("[0, 5)", (0.0, 5.0)),
            ("[0,5[", (0.0, 5.0)),
            ("Aged [60, 65)", (60.0, 65.0)),
            ("[65, inf)", (65.0, INF)),
            ("[65, Inf)", (65.0, INF)),
            ("[65,Inf]", (65.0, INF)),
            ("[65,)", (65.0, INF)),
            ("[65, \u{221e})", (65.0, INF)),
            ("[-Inf,15)", (-INF, 15.0)),
            ("(-inf, 15)", (-INF, 15.0)),
            ("(, 15)", (-INF, 15.0)),
            ("1e-3-2e-3", (1e-3, 2e-3)),
            ("0..5", (0.0, 5.0)),
            ("$200,000 or more", (200_000.0, INF)),
            ("85 years and over", (85.0, INF)),
            ("Less than $10,000", (-INF, 10_000.0)),
        ] {
            assert_eq!(ends(cell, None), Ok(want), "{cell}");
        }
        for bad in [
            "0-",
            "4-x",
            "0-4-9",
            "2020-11-27",
            "[,)",
            "(-inf, inf)",
            "[inf, 5)",
            "[infinity, 5)",
            "[a, 5)",
            "[5)",
            "[0, 5",
            "[65 and over)",
            "[0, -inf)",
        ] {
            let (_, told) = ends(bad, None).unwrap_err();
            assert!(told.fact.contains("is no edge"), "{bad}: {told:?}");
        }
    }

    /// Read as bands that hold their lower edge, these would be a year too low.
    #[test]
    fn bands_that_hold_their_upper_edge_are_told() {
        for (cell, says) in [
            (
                "(0, 5]",
                "`(0, 5]` leaves out its lower edge and holds its upper one",
            ),
            ("(0,5]", "holds its upper one"),
            ("]0;5]", "holds its upper one"),
            ("[0, 5]", "`[0, 5]` holds its upper edge"),
            ("(0, 5)", "`(0, 5)` leaves out its lower edge"),
            ("(65, Inf]", "leaves out its lower edge"),
            ("(-Inf,15]", "holds its upper edge"),
        ] {
            let (_, told) = ends(cell, None).unwrap_err();
            assert!(told.fact.contains(says), "{cell}: {told:?}");
            assert!(told.remedy.contains("right = FALSE"), "{cell}: {told:?}");
        }
    }

    #[test]
    fn what_is_no_band_is_refused() {
        for (lower, upper, is_second, fact) in [
            ("", "", false, "no edge"),
            ("old", "5", false, "`old` is no edge"),
            ("0", "five", true, "`five` is no edge"),
            ("0-4", "5", false, "`0-4` are two edges"),
            ("90+", "95", true, "contradict"),
            ("<15", "20", true, "contradict"),
            ("0", "<5", true, "contradict"),
            ("10,00", "20", false, "no edge"),
            ("nan", "5", false, "no edge"),
            ("1e999", "5", false, "no edge"),
        ] {
            let (second, told) = ends(lower, Some(upper)).unwrap_err();
            assert_eq!(second, is_second, "{lower} {upper}");
            assert!(told.fact.contains(fact), "{told:?}");
        }
    }
}
