//! Files, functions and lines that are too long.

use std::collections::BTreeSet;
use std::path::Path;

use crate::lexer::closing;
use crate::sources::{File, Sources, children};

const FILE: usize = 500;
const FUNCTION: usize = 100;
const COLUMNS: usize = 100;

/// What is too long in the sources.
pub fn of_sources(sources: &Sources) -> BTreeSet<String> {
    sources.files.iter().flat_map(of_file).collect()
}

fn of_file(file: &File) -> Vec<String> {
    let mut found = Vec::new();
    let lines = file.text.trim_end().lines().count();
    if lines > FILE {
        found.push(format!("{}: {lines} lines", file.path));
    }
    for (name, lines) in functions(&file.code) {
        if lines > FUNCTION {
            found.push(format!("{}: fn {name}: {lines} lines", file.path));
        }
    }
    for line in file.text.lines() {
        let columns = line.chars().count();
        let comment = line.trim_start();
        // Rows of tables cannot be wrapped.
        let is_table = comment.trim_start_matches(['/', '!', ' ']).starts_with('|');
        if columns > COLUMNS && comment.starts_with("//") && !is_table {
            found.push(format!("{}: {columns} columns: {}", file.path, line.trim()));
        }
    }
    found
}

/// The names of the functions of a text without quotes, and their lines.
fn functions(code: &str) -> Vec<(String, usize)> {
    let bytes = code.as_bytes();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let before = code[..at].chars().next_back();
        let name: String = code[at + 3..]
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if name.is_empty() || before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        // A declaration ends before any brace.
        let mut depth = 0_i32;
        let body = bytes[at..].iter().position(|byte| {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                _ => {}
            }
            depth == 0 && matches!(byte, b'{' | b';')
        });
        if let Some(open) = body.map(|n| at + n).filter(|&open| bytes[open] == b'{') {
            let end = closing(bytes, open).min(bytes.len());
            found.push((name, 1 + code[at..end].matches('\n').count()));
        }
    }
    found
}

/// Lines of documents that are too long. Rows of tables, and what is in blocks of code, cannot be
/// wrapped.
pub fn of_documents(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    documents(root, root, &mut found);
    found
}

fn documents(root: &Path, folder: &Path, found: &mut BTreeSet<String>) {
    for path in children(folder) {
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default();
        if path.is_dir() {
            if !name.starts_with('.') && !name.starts_with("target") && !name.ends_with("-out") {
                documents(root, &path, found);
            }
            continue;
        }
        if !name.ends_with(".md") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut is_code = false;
        for line in text.lines() {
            is_code ^= line.starts_with("```");
            let columns = line.chars().count();
            let is_fixed = is_code || line.starts_with('|') || line.starts_with("    ");
            if columns > COLUMNS && !is_fixed {
                let shown = path.strip_prefix(root).unwrap_or(&path);
                let shown = shown.to_string_lossy().replace('\\', "/");
                found.insert(format!("{shown}: {columns} columns: {line}"));
            }
        }
    }
}

#[test]
fn functions_are_measured() {
    let code = "fn a();\npub fn b(x: [u8; 2]) -> u8 {\n  if x {\n  }\n}\n";
    assert_eq!(functions(code), [("b".to_owned(), 4)]);
}
