//! The shape of the house: which file may import which, and how long things may be.
//!
//! - An arrow is an import: a `use`, or a path in the code that begins with `crate`, `super`,
//!   `self` or the name of a module. A `pub use` is followed to the file where the name is defined,
//!   and is no arrow itself.
//! - The modules of the library stand on floors (docs/design.md). No arrow runs up.
//! - Files that import each other, directly or through others, would be in a circle. There is none:
//!   what two files need of each other is moved to a third, below both.
//! - Production files have at most 500 lines, functions at most 100, lines of comments and
//!   documents at most 100 columns. Exceptions stand in `allowed/lengths.txt`, with what they have
//!   today; one that has become shorter must be written down as such.
//! - Outside of its folder no match on likelihoods has a default arm, which would forget a new one
//!   in silence. Exceptions stand in `allowed/arms.txt`.
//!
//! Tests and benchmarks of other programs are not looked at.

#![allow(clippy::unwrap_used)]

mod arms;
mod graph;
mod imports;
mod lengths;
mod lexer;
mod planted;
mod sources;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use graph::Graph;
use sources::Sources;

/// The folder with all crates.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The lines of a list of exceptions that say something.
fn allowed(name: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/house/allowed")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// Fails where what is found is not what is allowed, and says which is missing or superfluous.
fn compare(found: &BTreeSet<String>, allowed: &BTreeSet<String>, list: &str) {
    let new: Vec<&String> = found.difference(allowed).collect();
    assert!(new.is_empty(), "not allowed:\n  {}", join(&new));
    let gone: Vec<&String> = allowed.difference(found).collect();
    assert!(
        gone.is_empty(),
        "no longer so, take them off {list}:\n  {}",
        join(&gone)
    );
}

fn join(lines: &[&String]) -> String {
    lines
        .iter()
        .map(|line| line.as_str())
        .collect::<Vec<_>>()
        .join("\n  ")
}

#[test]
fn no_arrow_runs_up() {
    let sources = Sources::read(&root());
    let up = Graph::of(&sources).upward(&sources, graph::FLOORS);
    assert!(up.is_empty(), "these arrows run up:\n  {}", up.join("\n  "));
}

#[test]
fn no_files_import_each_other() {
    let sources = Sources::read(&root());
    let circles = Graph::of(&sources).circles();
    let circle = |files: &Vec<usize>| {
        let files = files.iter().map(|&file| sources.files[file].path.as_str());
        files.collect::<Vec<_>>().join(", ")
    };
    let told: Vec<String> = circles.iter().map(circle).collect();
    assert!(
        told.is_empty(),
        "these files import each other, directly or through others:\n  {}",
        told.join("\n  ")
    );
}

#[test]
fn nothing_grows_too_long() {
    let sources = Sources::read(&root());
    let mut found = lengths::of_sources(&sources);
    found.extend(lengths::of_documents(&root()));
    compare(
        &found,
        &allowed("lengths.txt"),
        "tests/house/allowed/lengths.txt",
    );
}

#[test]
fn no_match_forgets_a_new_likelihood() {
    let sources = Sources::read(&root());
    compare(
        &arms::of_sources(&sources),
        &allowed("arms.txt"),
        "tests/house/allowed/arms.txt",
    );
}
