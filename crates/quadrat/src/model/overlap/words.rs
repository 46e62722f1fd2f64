//! What is told of rows of counts that overlap.

use super::{Overlap, Treatment, WhyKept};
use crate::error::plain;

/// Totals that are named.
const NAMED: usize = 3;

/// What tells rows apart that are no counts of the same events.
const APART: &str = "; where rows count different events, name what tells them apart, such as the year or the sex, as a further dimension of the support (`point`), which the kernel need not use";

/// What to say of all overlaps of some tables.
pub(super) fn warnings(overlaps: &[Overlap], name: &dyn Fn(usize) -> String) -> Vec<String> {
    let mut told = Vec::new();
    let with = |of: &dyn Fn(Treatment) -> bool| -> Vec<&Overlap> {
        overlaps.iter().filter(|o| of(o.treatment)).collect()
    };
    told.extend(differences(&with(&|t| t == Treatment::Differences), name));
    told.extend(left_out(&with(&|t| t == Treatment::LeftOut), name));
    told.extend(in_shares(&with(&|t| t == Treatment::Shares), name));
    let kinds: [fn(WhyKept) -> bool; 6] = [
        |why| why == WhyKept::Partly,
        |why| why == WhyKept::Repeated,
        |why| matches!(why, WhyKept::TooFew { .. }),
        |why| matches!(why, WhyKept::TooMany { .. }),
        |why| why == WhyKept::Exposures,
        |why| why == WhyKept::Hidden,
    ];
    for kind in kinds {
        let of_kind = |t: Treatment| matches!(t, Treatment::Kept(why) if kind(why));
        told.extend(kept(&with(&of_kind), name));
    }
    if let Some(last) = told.last_mut() {
        last.push_str(APART);
    }
    told
}

/// The rows of all, each once.
fn rows(overlaps: &[&Overlap]) -> Vec<usize> {
    let mut rows: Vec<usize> = overlaps.iter().flat_map(|o| o.rows.clone()).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// "rows a to b" by their names.
fn span(rows: &[usize], name: &dyn Fn(usize) -> String) -> String {
    match rows {
        [] => String::new(),
        [one] => name(*one),
        [first, .., last] => format!(
            "{} rows of counts, {} to {},",
            rows.len(),
            name(*first),
            name(*last)
        ),
    }
}

fn differences(overlaps: &[&Overlap], name: &dyn Fn(usize) -> String) -> Option<String> {
    let (wide, narrow) = overlaps.first()?.pair;
    Some(format!(
        "{} overlap, so that the same events are counted again, such as those of {} in {}: differences of rows were fitted, in which every event counts once",
        span(&rows(overlaps), name),
        name(narrow),
        name(wide),
    ))
}

fn left_out(overlaps: &[&Overlap], name: &dyn Fn(usize) -> String) -> Option<String> {
    overlaps.first()?;
    let one = |overlap: &&Overlap| {
        let others = match overlap.rows.len() - 1 {
            0 => String::new(),
            1 => " and 1 other row".to_owned(),
            n => format!(" and {n} other rows"),
        };
        let (whole, part) = overlap.pair;
        format!("{} of {}{others}", name(whole), name(part))
    };
    let mut named: Vec<String> = overlaps.iter().take(NAMED).map(one).collect();
    if overlaps.len() > NAMED {
        named.push("..".to_owned());
    }
    let what = match overlaps.len() {
        1 => "1 row of counts is the total of others, which count the same events, and was".into(),
        n => format!(
            "{n} rows of counts are totals of others, which count the same events, and were"
        ),
    };
    Some(format!("{what} left out: {}", named.join("; ")))
}

fn in_shares(overlaps: &[&Overlap], name: &dyn Fn(usize) -> String) -> Option<String> {
    let (one, other) = overlaps.first()?.pair;
    Some(format!(
        "{} overlap, so that the same events are counted again, such as those that {} and {} have in common: of each row so small a share was counted that no event counts more than once, which tells somewhat less than counts of pieces that do not overlap",
        span(&rows(overlaps), name),
        name(one),
        name(other),
    ))
}

fn kept(overlaps: &[&Overlap], name: &dyn Fn(usize) -> String) -> Option<String> {
    let first = overlaps.first()?;
    let Treatment::Kept(why) = first.treatment else {
        return None;
    };
    let (one, other) = (name(first.pair.0), name(first.pair.1));
    let (fact, remedy) = match why {
        WhyKept::Partly => (
            format!("{one} and {other} have a part in common"),
            "give counts of pieces that do not overlap",
        ),
        WhyKept::Repeated => (
            format!("{one} and {other} are of one place"),
            "give every place once",
        ),
        WhyKept::TooFew { by } => (
            format!(
                "{one} counts {} fewer than the rows within it, the first of which is {other}",
                plain(by)
            ),
            "mend the counts, or give those of every piece by itself",
        ),
        WhyKept::TooMany { by } => (
            format!(
                "{one} counts {} more than its parts, the first of which is {other}",
                plain(by)
            ),
            "leave out the total, or its parts",
        ),
        WhyKept::Exposures => (
            format!("the exposures of {one} and of {other} and others within it do not add up"),
            "leave out the rows that count again what others do",
        ),
        WhyKept::Hidden => (
            format!("{one} counts the events of {other} too, which are not told exactly"),
            "leave out the totals, or the rows with ranges",
        ),
    };
    Some(format!(
        "{} overlap, so that the same events are counted again, and were taken as they are, which makes the function too sure: {fact}; {remedy}",
        span(&rows(overlaps), name),
    ))
}
