//! Matches on likelihoods whose default arm would forget a new one.

use std::collections::BTreeSet;

use crate::sources::{File, Sources};

/// Where all likelihoods and sorts of outcomes are known by name.
const LIBRARY: &str = "crates/quadrat/src/";
const HOME: &str = "crates/quadrat/src/likelihood/";
/// How patterns name them.
const KINDS: [&str; 2] = ["Likelihood::", "Outcomes::"];

/// The matches of the library, outside of the folder of likelihoods, that name some of them and
/// have an arm for all others.
pub fn of_sources(sources: &Sources) -> BTreeSet<String> {
    let files = sources.files.iter();
    files
        .filter(|file| file.path.starts_with(LIBRARY) && !file.path.starts_with(HOME))
        .flat_map(of_file)
        .collect()
}

fn of_file(file: &File) -> Vec<String> {
    let code = &file.code;
    let matches = code.match_indices("match ").filter(|(at, _)| {
        let before = code[..*at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    });
    let with_default = matches.filter_map(|(at, word)| {
        let from = at + word.len();
        let open = from + end(&code[from..], '{')?;
        let patterns = patterns(&code[open + 1..]);
        let names_some = patterns
            .iter()
            .any(|p| KINDS.iter().any(|kind| p.contains(kind)));
        let is_forgetful = names_some && patterns.iter().any(|p| is_default(p));
        let of = code[from..open].split_whitespace().collect::<Vec<_>>();
        let told = format!(
            "{}: fn {}: match {}",
            file.path,
            function(&code[..at]),
            of.join(" ")
        );
        is_forgetful.then_some(told)
    });
    with_default.collect()
}

/// How far it is to a character that is in no brackets; none where these close before.
fn end(code: &str, wanted: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            c if c == wanted && depth == 0 => return Some(at),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// The patterns of a match whose arms begin here, with their guards.
fn patterns(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(arrow) = arrow(rest) {
        // A list of types in the arm before may have a comma of its own.
        let before = &rest[..arrow];
        let mut start = 0;
        while let Some(comma) = end(&before[start..], ',') {
            start += comma + 1;
        }
        found.push(before[start..].trim());
        let arm = rest[arrow + 2..].trim_start();
        let length = match arm.starts_with('{') {
            true => end(&arm[1..], '}').map(|at| at + 2),
            false => end(arm, ',').map(|at| at + 1),
        };
        // The last arm ends with the match.
        let Some(length) = length else {
            return found;
        };
        rest = arm[length..].trim_start().trim_start_matches(',');
    }
    found
}

/// How far it is to the next `=>` of the same match.
fn arrow(code: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + end(&code[from..], '=')?;
        if code[at..].starts_with("=>") {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Whether a pattern is of everything: `_`, a name, or a tuple of these.
fn is_default(pattern: &str) -> bool {
    let is_of_names = |c: char| c.is_ascii_lowercase() || "_(), &".contains(c) || c.is_whitespace();
    let mut words = pattern.split(|c: char| !c.is_alphanumeric() && c != '_');
    !pattern.is_empty()
        && pattern.chars().all(is_of_names)
        && words.all(|word| !["if", "true", "false"].contains(&word))
}

/// The last function that begins in a text.
fn function(code: &str) -> String {
    let name = code.rsplit_once("fn ").map_or("", |(_, after)| after);
    let is_of_name = |c: &char| c.is_alphanumeric() || *c == '_';
    name.chars().take_while(is_of_name).collect()
}

#[test]
fn arms_are_told_apart() {
    let code = "
        A::B(x) if x > y(a, b) => f::<C, D>(x),
        (A::E { x, .. }, _) => { match x { _ => 1 }; }
        A::F | A::G => match x { A::B => 1, _ => 2 },
        other => g(|h| h == 1),
    } _ => no";
    let found = patterns(code);
    assert_eq!(
        found,
        [
            "A::B(x) if x > y(a, b)",
            "(A::E { x, .. }, _)",
            "A::F | A::G",
            "other"
        ]
    );
    let defaults: Vec<bool> = found.iter().map(|p| is_default(p)).collect();
    assert_eq!(defaults, [false, false, false, true]);
    for (pattern, is) in [
        ("_", true),
        ("(_, rest)", true),
        ("_ if is_new", false),
        ("true", false),
        ("(_, Some(x))", false),
        ("0", false),
    ] {
        assert_eq!(is_default(pattern), is, "{pattern}");
    }
}
