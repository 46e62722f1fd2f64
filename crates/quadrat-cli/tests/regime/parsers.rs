//! The readers of files on bytes, without the fuzzer that `fuzz/` needs: what is kept in
//! `fuzz/corpus`, and changes of it.

use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use quadrat::model::Posterior;
use quadrat_study::fuzz::{READERS, whole_model};

use crate::draw::Draw;
use crate::mutate::several;
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
            fails(&several(content, other, &mut draw), format!("{seed}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "add these to fuzz/corpus:\n{}",
        wrong.join("\n")
    );
}

/// Else changes of them would never get beyond their first bytes. What was once a fault is none.
#[test]
fn models_of_the_corpus_are_of_the_present_format() {
    let is_fault = |path: &PathBuf| path.to_string_lossy().contains("/fault-");
    for path in corpus("model").into_iter().filter(|path| !is_fault(path)) {
        let bytes = std::fs::read(&path).unwrap();
        if let Err(error) = Posterior::from_bytes(&whole_model(&bytes)) {
            panic!("{}: {error}", path.display());
        }
    }
}

/// A reader that breaks its promise is found out.
#[test]
fn a_reader_that_panics_is_noticed() {
    let broken: fn(&[u8]) = |bytes| assert!(bytes.first() != Some(&b'{'));
    assert!(catch_unwind(|| broken(b"{}")).is_err() && catch_unwind(|| broken(b"x")).is_ok());
}
