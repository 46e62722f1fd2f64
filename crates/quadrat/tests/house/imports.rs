//! What a file imports.

use crate::sources::Sources;

/// A name that a file takes from elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// As it is written, such as `super`, `fit`, `Fit`.
    pub path: Vec<String>,
    /// What it is called here; `*` for all.
    pub name: String,
    /// Whether it is handed on.
    pub is_public: bool,
}

/// All `use` of a text without quotes.
pub fn uses(code: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for statement in code.split(';') {
        // The statement begins behind whatever ended without a semicolon.
        let begin = statement
            .rfind(['{', '}', ']'])
            .filter(|_| !statement.contains("use "))
            .unwrap_or(0);
        let Some(at) = statement[begin..].find("use ").map(|at| at + begin) else {
            continue;
        };
        let before = statement[..at].trim_end();
        let is_word = statement[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if is_word {
            continue;
        }
        let is_public =
            before.ends_with("pub") || (before.ends_with(')') && before.contains("pub("));
        tree(&[], statement[at + 4..].trim(), is_public, &mut found);
    }
    found
}

/// The names of `a::b::{c, d as e, f::*}`.
fn tree(prefix: &[String], text: &str, is_public: bool, found: &mut Vec<Import>) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    if let Some((head, rest)) = text.split_once('{') {
        let path = extended(prefix, head.trim().trim_end_matches("::"));
        for part in parts(rest.trim().strip_suffix('}').unwrap_or(rest)) {
            tree(&path, part, is_public, found);
        }
        return;
    }
    let (path, name) = match text.split_once(" as ") {
        Some((path, name)) => (path, Some(name.trim().to_owned())),
        None => (text, None),
    };
    let mut path = extended(prefix, path.trim());
    if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
        path.pop();
    }
    let last = path.last().cloned().unwrap_or_default();
    found.push(Import {
        path,
        name: name.unwrap_or(last),
        is_public,
    });
}

fn extended(prefix: &[String], path: &str) -> Vec<String> {
    let more = path
        .split("::")
        .map(str::trim)
        .filter(|part| !part.is_empty());
    prefix
        .iter()
        .cloned()
        .chain(more.map(str::to_owned))
        .collect()
}

/// What stands between the commas outside braces.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut found) = (0_i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[begin..]);
    found
}

/// Paths in the code itself, outside `use` and `pub(in ..)`: `crate::a::b`, `super::c::d`.
pub fn inline(code: &str) -> Vec<Vec<String>> {
    let code = without(&without(code, "use ", ";"), "pub(in ", ")");
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = code
        .split(|c: char| !is_word(c))
        .filter(|word| word.contains("::"));
    let path = |word: &str| -> Vec<String> {
        word.split("::")
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    };
    words.map(path).filter(|path| path.len() > 1).collect()
}

/// A text without what stands from a word to an end.
fn without(code: &str, begin: &str, end: &str) -> String {
    let mut left = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(begin) {
        let is_inside = rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = rest[at..].find(end).unwrap_or(rest.len() - at);
        left.push_str(&rest[..at]);
        // The end of a longer word is none.
        let (skip, from) = if is_inside {
            (begin.len(), at)
        } else {
            (length, at + length)
        };
        left.push_str(&rest[from..at + skip]);
        rest = &rest[at + skip..];
    }
    left + rest
}

/// The file in which a path of a file ends, with `pub use` followed; none, where it leaves the
/// crate.
pub fn target(
    sources: &Sources,
    public: &[Vec<Import>],
    from: usize,
    path: &[String],
) -> Option<usize> {
    follow(sources, public, from, path, 0)
}

fn follow(
    sources: &Sources,
    public: &[Vec<Import>],
    from: usize,
    path: &[String],
    depth: usize,
) -> Option<usize> {
    // Longer chains of `pub use` than any that a person would write go round in a circle.
    if depth > 16 {
        return None;
    }
    let own = &sources.files[from].module;
    let (mut module, mut rest) = match path.first()?.as_str() {
        "crate" => (own[..1].to_vec(), &path[1..]),
        "self" => (own.clone(), &path[1..]),
        "super" => {
            let up = path.iter().take_while(|part| *part == "super").count();
            (
                own[..own.len().checked_sub(up)?.max(1)].to_vec(),
                &path[up..],
            )
        }
        first => {
            let child = [own.as_slice(), &[first.to_owned()]].concat();
            sources.find(&child)?;
            (child, &path[1..])
        }
    };
    while let Some((name, more)) = rest.split_first() {
        let below = [module.as_slice(), std::slice::from_ref(name)].concat();
        if sources.find(&below).is_some() {
            (module, rest) = (below, more);
            continue;
        }
        let file = sources.find(&module)?;
        for import in &public[file] {
            let mut path = import.path.clone();
            if import.name == *name {
                path.extend(more.iter().cloned());
            } else if import.name == "*" {
                path.pop();
                path.extend(rest.iter().cloned());
            } else {
                continue;
            }
            let end = follow(sources, public, file, &path, depth + 1);
            // What a glob does not hold is not there: the module itself has no such name to find.
            if let Some(end) = end.filter(|&end| import.name != "*" || defines(sources, end, name))
            {
                return Some(end);
            }
        }
        return Some(file);
    }
    sources.find(&module)
}

/// Whether a file defines a name.
fn defines(sources: &Sources, file: usize, name: &str) -> bool {
    let words = [
        "struct", "enum", "trait", "fn", "type", "const", "static", "mod", "union",
    ];
    let code = &sources.files[file].code;
    words.iter().any(|word| {
        code.match_indices(&format!("{word} {name}"))
            .any(|(at, found)| {
                !code[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            })
    })
}

#[test]
fn paths_outside_of_imports_are_read() {
    let code = "pub use a::b;\npub(in c::d) fn f(reuse: e::F) { use g::h; i::j() }";
    assert_eq!(inline(code), [["e", "F"], ["i", "j"]]);
}

#[test]
fn trees_of_names_are_read() {
    let code = "use a::{b, c::{self, d as e}, f::*};\npub use super::g;\nfn h() { use i::j; }";
    let names: Vec<(String, String)> = uses(code)
        .into_iter()
        .map(|import| (import.path.join("::"), import.name))
        .collect();
    let expected = [
        ("a::b", "b"),
        ("a::c", "c"),
        ("a::c::d", "e"),
        ("a::f::*", "*"),
        ("super::g", "g"),
        ("i::j", "j"),
    ];
    let expected = expected.map(|(path, name)| (path.to_owned(), name.to_owned()));
    assert_eq!(names, expected);
    assert!(uses(code)[4].is_public);
}
