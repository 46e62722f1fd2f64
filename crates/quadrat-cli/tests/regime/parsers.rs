//! The readers of files on bytes, without the fuzzer that `fuzz/` needs: what is kept in
//! `fuzz/corpus`, and changes of it.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use quadrat_cli::fuzz::READERS;

use crate::draw::Draw;
use crate::variable;

/// Changed inputs of every reader.
const CHANGES: u64 = 1500;

/// Longer ones are read by the fuzzer.
const LONGEST: usize = 20_000;

fn corpus(reader: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(reader);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// Some changes of bytes, each of a kind that fuzzers make.
fn changed(content: &[u8], other: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut bytes = content.to_vec();
    for _ in 0..1 + draw.below(4) {
        let at = draw.below(bytes.len() + 1);
        let end = (at + draw.below(16)).min(bytes.len());
        match draw.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << draw.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.insert(at, *draw.of(b"\0\xff\"'\\{}[]()=,.:#\n\r-+e0919 a\xc3\xa4")),
            3 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            4 => bytes.truncate(at),
            5 => {
                let from = draw.below(other.len() + 1);
                let to = (from + draw.below(40)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            6 => {
                let number = *draw.of(&[
                    &b"1e308"[..],
                    b"-1",
                    b"nan",
                    b"1e-320",
                    b"18446744073709551616",
                    b"null",
                    b"true",
                ]);
                bytes.splice(at..end, number.iter().copied());
            }
            _ => bytes[at..end].reverse(),
        }
    }
    bytes
}

#[test]
fn whatever_bytes_come_the_readers_return() {
    let mut wrong = Vec::new();
    for (name, reader) in READERS {
        let files = corpus(name);
        let contents: Vec<Vec<u8>> = files
            .iter()
            .map(|path| std::fs::read(path).unwrap())
            .filter(|content| content.len() <= LONGEST)
            .collect();
        assert!(contents.len() > 3, "{name}");
        let mut fails = |content: &[u8], what: String| {
            if catch_unwind(|| reader(content)).is_err() {
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{what}"));
                std::fs::write(&path, content).unwrap();
                wrong.push(format!("{name}: {}", path.display()));
            }
        };
        for (path, content) in files.iter().zip(&contents) {
            fails(
                content,
                path.file_name().unwrap().to_string_lossy().into_owned(),
            );
        }
        for seed in 0..CHANGES * variable("QUADRAT_REGIME_SEEDS", 1) {
            let mut draw = Draw::seeded(seed);
            let (content, other) = (draw.of(&contents), draw.of(&contents));
            fails(&changed(content, other, &mut draw), format!("{seed}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "add these to fuzz/corpus:\n{}",
        wrong.join("\n")
    );
}

/// A reader that breaks its promise is found out.
#[test]
fn a_reader_that_panics_is_noticed() {
    let broken: fn(&[u8]) = |bytes| assert!(bytes.first() != Some(&b'{'));
    assert!(catch_unwind(|| broken(b"{}")).is_err() && catch_unwind(|| broken(b"x")).is_ok());
}
