//! What is planted in a small house is found.

use std::path::Path;

use crate::arms;
use crate::graph::Graph;
use crate::lengths;
use crate::sources::Sources;

/// A house of some files.
fn house(files: &[(&str, &str)]) -> (Sources, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).unwrap();
        std::fs::write(path, text).unwrap();
    }
    (Sources::read(folder.path()), folder)
}

const LIBRARY: &str = "crates/quadrat/src/lib.rs";
const FLOORS: &[&[&str]] = &[&["low"], &["high"]];

#[test]
fn a_planted_arrow_that_runs_up_is_found() {
    let low = "pub struct Low;\n";
    let high = (
        "crates/quadrat/src/high.rs",
        "use crate::low::Low;\npub struct High(Low);\n",
    );
    let root = (LIBRARY, "pub mod high;\npub mod low;\n");
    let (sources, _folder) = house(&[root, high, ("crates/quadrat/src/low.rs", low)]);
    assert!(Graph::of(&sources).upward(&sources, FLOORS).is_empty());
    for planted in [
        "use crate::high::High;\n",
        "pub fn f() -> crate::high::High { todo!() }\n",
    ] {
        let low = format!("{planted}{low}");
        let (sources, _folder) = house(&[root, high, ("crates/quadrat/src/low.rs", &low)]);
        let up = Graph::of(&sources).upward(&sources, FLOORS);
        assert_eq!(
            up,
            ["crates/quadrat/src/low.rs -> crates/quadrat/src/high.rs"]
        );
    }
}

#[test]
fn a_module_on_no_floor_is_found() {
    let files = [
        (LIBRARY, "pub mod attic;\n"),
        ("crates/quadrat/src/attic.rs", "pub struct A;\n"),
    ];
    let (sources, _folder) = house(&files);
    let up = Graph::of(&sources).upward(&sources, FLOORS);
    assert_eq!(up, ["crates/quadrat/src/attic.rs is on no floor"]);
}

#[test]
fn a_planted_circle_is_found_through_what_is_handed_on() {
    let files = |c: &'static str| {
        [
            ("crates/q/src/lib.rs", "mod a;\nmod b;\nmod c;\n"),
            (
                "crates/q/src/a/mod.rs",
                "mod inner;\npub use inner::Inner;\n",
            ),
            (
                "crates/q/src/a/inner.rs",
                "use crate::b::B;\npub struct Inner(B);\n",
            ),
            ("crates/q/src/b.rs", "use crate::c::C;\npub struct B(C);\n"),
            ("crates/q/src/c.rs", c),
        ]
    };
    let (sources, _folder) = house(&files("pub struct C;\n"));
    assert!(Graph::of(&sources).circles().is_empty());
    let (sources, _folder) = house(&files("use crate::a::Inner;\npub struct C(Inner);\n"));
    let circles = Graph::of(&sources).circles();
    let mut paths: Vec<&str> = circles
        .iter()
        .flatten()
        .map(|&f| sources.files[f].path.as_str())
        .collect();
    paths.sort_unstable();
    assert_eq!(circles.len(), 1);
    assert_eq!(
        paths,
        [
            "crates/q/src/a/inner.rs",
            "crates/q/src/b.rs",
            "crates/q/src/c.rs"
        ]
    );
}

#[test]
fn imports_of_tests_are_no_arrows() {
    let with_tests = "pub struct A;\n#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n#[cfg(test)]\nmod more;\n";
    let files = [
        ("crates/q/src/lib.rs", "mod a;\nmod b;\n"),
        ("crates/q/src/a/mod.rs", with_tests),
        ("crates/q/src/a/more.rs", "use crate::b::B;\n"),
        ("crates/q/src/b.rs", "use crate::a::A;\npub struct B(A);\n"),
    ];
    let (sources, _folder) = house(&files);
    assert_eq!(sources.files.len(), 3);
    assert!(Graph::of(&sources).circles().is_empty());
}

#[test]
fn planted_lengths_are_found() {
    let line = format!("// {}\n", "x".repeat(100));
    let long = format!("fn f() {{\n{}}}\n", "    g();\n".repeat(100));
    let (sources, _folder) = house(&[
        ("crates/q/src/line.rs", &line),
        ("crates/q/src/long.rs", &long),
        ("crates/q/src/file.rs", &"// x\n".repeat(501)),
        ("crates/q/src/fine.rs", "// x\nfn g() {\n}\n"),
    ]);
    let found: Vec<String> = lengths::of_sources(&sources).into_iter().collect();
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(found[0], "crates/q/src/file.rs: 501 lines");
    assert!(
        found[1].starts_with("crates/q/src/line.rs: 103 columns"),
        "{found:?}"
    );
    assert!(
        found[2].starts_with("crates/q/src/long.rs: fn f: 10"),
        "{found:?}"
    );
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "{}\n| {} |\n```\n{}\n```\n",
        "x".repeat(101),
        "y".repeat(101),
        "z".repeat(101)
    );
    std::fs::write(folder.path().join("a.md"), text).unwrap();
    assert_eq!(lengths::of_documents(folder.path()).len(), 1);
}

#[test]
fn a_planted_default_arm_is_found() {
    let asks = |arm: &str| {
        format!(
            "fn is_count(l: &Likelihood) -> bool {{\n    match l {{\n        \
             Likelihood::Poisson(x) => match x.link() {{\n            Link::Exp => true,\n            \
             _ => false,\n        }},\n        {arm} => false,\n    }}\n}}\n"
        )
    };
    let found = |path: &str, arm: &str| -> Vec<String> {
        let (sources, _folder) = house(&[(path, &asks(arm))]);
        arms::of_sources(&sources).into_iter().collect()
    };
    let model = "crates/quadrat/src/model/a.rs";
    for arm in ["_", "other", "Likelihood::Gaussian(_) => true,\n        _"] {
        let planted = format!("{model}: fn is_count: match l");
        assert_eq!(found(model, arm), [planted], "{arm}");
    }
    // Written out; at home; in another crate, which must have one.
    let written = "Likelihood::Gaussian(_) | Likelihood::Ordinal(_)";
    assert!(found(model, written).is_empty());
    assert!(found("crates/quadrat/src/likelihood/a.rs", "_").is_empty());
    assert!(found("crates/quadrat-study/src/a.rs", "_").is_empty());
}
