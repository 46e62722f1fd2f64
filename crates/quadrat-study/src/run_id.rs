//! The number of a run, by which files of different runs are told apart.

use std::path::{Path, PathBuf};

use crate::diagnostic::{Problem, Problems};
use crate::study::fields::Spanned;
use crate::study::shape::Shape;
use crate::study::support::Support;
use crate::study::{Inducing, Study, Where};

/// Offset and prime of FNV-1a with 128 bits.
const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// Sixteen hexadecimal digits that the version of the program, the text of the study (its seed is a
/// part of it) and the contents of every file that it names make: the same run has the same,
/// wherever and whenever.
///
/// # Errors
/// A file that can no longer be read.
pub fn of(study: &Study) -> Result<String, Problems> {
    of_files(
        &study.source.text,
        (&study.folder, &study.shown),
        files(study),
    )
}

/// The same of a text and files in a folder, which people see under another name.
///
/// # Errors
/// A file that can no longer be read.
pub fn of_files(
    text: &str,
    (folder, shown): (&Path, &Path),
    mut files: Vec<PathBuf>,
) -> Result<String, Problems> {
    let mut hash = OFFSET;
    add(&mut hash, crate::version::VERSION.as_bytes());
    add(&mut hash, text.as_bytes());
    files.sort();
    files.dedup();
    for file in files {
        let bytes = std::fs::read(folder.join(&file)).map_err(|error| {
            let path = shown.join(&file);
            Problem::new(format!("cannot read {} again: {error}", path.display()))
        })?;
        add(&mut hash, file.to_string_lossy().as_bytes());
        add(&mut hash, &bytes);
    }
    let folded = (hash >> 64) as u64 ^ hash as u64;
    Ok(format!("{folded:016x}"))
}

/// Adds a text and its length, so that no text runs into the next.
fn add(hash: &mut u128, bytes: &[u8]) {
    let length = (bytes.len() as u64).to_le_bytes();
    for byte in bytes.iter().chain(&length) {
        *hash = (*hash ^ u128::from(*byte)).wrapping_mul(PRIME);
    }
}

/// The files that a study names, as it names them.
pub fn files(study: &Study) -> Vec<PathBuf> {
    let predicted = study
        .predict
        .iter()
        .flat_map(|predict| match &predict.place {
            Where::File { file, support } => [file.as_ref(), shape_file(support)],
            Where::Grid { .. } | Where::Rows { .. } => [None, None],
        });
    let observed = study
        .observe
        .iter()
        .flat_map(|observe| [Some(&observe.file), shape_file(&observe.support)]);
    let totals = study.predict.iter();
    let totals = totals.filter_map(|predict| Some(&predict.meet.as_ref()?.file));
    let inducing = match &study.inference.inducing {
        Inducing::File(file) => Some(file),
        _ => None,
    };
    let summaries = study.observe.iter();
    let summaries = summaries.filter_map(|observe| observe.likelihood.summary());
    let all = observed
        .chain(predicted)
        .flatten()
        .chain(summaries.map(|summary| &summary.file))
        .chain(totals)
        .chain(inducing);
    all.map(|file| Path::new(&file.value).to_owned()).collect()
}

/// The file of the regions or bags of a support.
fn shape_file(support: &Support) -> Option<&Spanned<String>> {
    support.shape.as_ref().and_then(Shape::file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_do_not_run_into_each_other() {
        let of = |parts: &[&str]| {
            let mut hash = OFFSET;
            parts
                .iter()
                .for_each(|part| add(&mut hash, part.as_bytes()));
            hash
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["ab"]), of(&["ab", ""]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
    }

    /// The values of the authors (isthe.com/chongo/tech/comp/fnv), without the length.
    #[test]
    fn it_is_fnv() {
        let plain = |text: &str| {
            let step = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
            text.bytes().fold(OFFSET, step)
        };
        assert_eq!(plain("a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_eq!(plain("foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
    }
}
