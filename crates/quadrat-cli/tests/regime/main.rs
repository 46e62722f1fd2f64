//! The border of the program: whatever files it is given, it answers or refuses in words; and
//! faults of the machine: it is killed, the disk is full, another run writes into the same folder,
//! nobody reads what it says.
//!
//! A case is a number, from which a small study is drawn, with its tables and maps, and one change
//! of one of its files. Variables of the environment:
//!
//! | variable | meaning |
//! |---|---|
//! | `QUADRAT_REGIME_PART` | which part of the cases the ordinary run takes, modulo their number; 0 unless told |
//! | `QUADRAT_REGIME_SEEDS` | how many times as many cases the long run takes, 1 unless told |
//! | `QUADRAT_REGIME_CASE` | `border/1234`, or several with a comma between: `cargo test -p quadrat-cli --test regime named -- --ignored --nocapture` |
//!
//! What fails is left below `target/tmp/border`. When the fault is mended, its files go into
//! `kept`, and run from then on. What takes too long and cannot be mended here stands in [`SLOW`],
//! with the reason.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod border;
mod data;
mod draw;
mod judge;
mod judged;
mod kernels;
mod likelihood;
mod machine;
mod mutate;
mod others;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "fuzz")]
mod parsers;
mod predict;
mod run;
mod study;

use std::env;
use std::path::Path;

use border::{Case, check};

/// Cases that take more than ten seconds of a processor, and why. They are left out.
const SLOW: &[(u64, &str)] = &[
    (
        1242,
        "six regions, one of which has a spike of 700 km: covariances of thin regions at short lengthscales",
    ),
    (
        1507,
        "censored sums, one of them over a width of 1e16: the search of half a minute does not converge, which it says",
    ),
    (1513, "the same as 1242"),
];

/// The whole table.
const CASES: u64 = 3000;
/// These of it are studies and saved models; the others are Parquet files, privacy noise and
/// artificial data.
const STUDIES: u64 = 2000;
/// The ordinary run takes one of so many parts.
const PARTS: u64 = 10;

fn variable(name: &str, usual: u64) -> u64 {
    env::var(name).map_or(usual, |text| text.parse().unwrap())
}

fn cases(end: u64) -> impl Iterator<Item = u64> {
    (0..end).filter(|n| SLOW.iter().all(|(slow, _)| slow != n))
}

#[test]
fn a_part_of_the_border_holds() {
    let part = variable("QUADRAT_REGIME_PART", 0) % PARTS;
    println!("part {part} of {PARTS}");
    check(cases(CASES).filter(|n| n % PARTS == part).collect());
}

#[test]
#[ignore = "minutes; ./check --long"]
fn the_whole_border_holds() {
    check(cases(CASES * variable("QUADRAT_REGIME_SEEDS", 1)).collect());
}

#[test]
#[ignore = "for what QUADRAT_REGIME_CASE names"]
fn named() {
    let asked = env::var("QUADRAT_REGIME_CASE").unwrap_or_default();
    for name in asked
        .split(',')
        .filter_map(|name| name.strip_prefix("border/"))
    {
        let case = Case::numbered(name.parse().unwrap());
        println!("{}", case.told());
    }
}

#[test]
fn what_once_failed_holds() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/regime/kept");
    let mut wrong = Vec::new();
    let mut all = 0;
    for entry in std::fs::read_dir(kept).unwrap() {
        let case = Case::kept(&entry.unwrap().path());
        all += 1;
        wrong.extend(
            case.outcome()
                .wrong
                .iter()
                .map(|what| format!("{}: {what}", case.name)),
        );
    }
    assert!(
        all > 0 && wrong.is_empty(),
        "of {all}:\n{}",
        wrong.join("\n")
    );
}
