//! The readers of files as functions of bytes: whatever comes in, each returns, and what it accepts
//! keeps the promises that are asserted here. Called by `fuzz/`, by its driver in `tests/regime`,
//! and by `properties`.

mod broken;

use std::path::Path;
use std::sync::Arc;

use quadrat::density::{AnyEstimate, SAVED_FORMAT, Saved};
use quadrat::kernel::Kernel;
use quadrat::model::FORMAT;
use quadrat::parameter::PriorDensity;
use quadrat::support::{Polygon, Ring};

use crate::diagnostic::Problems;
use crate::engine;
use crate::geo_file::wkb::parts;
use crate::geo_file::{self, Bare, GeoFile, outlines};
use crate::geographic::{continue_over_antimeridian, goes_round};
use crate::resolve::resolve;
use crate::study::{self, Study};
use crate::table::{Reading, Table};

pub use broken::{Broken, broken_all_over, whole};

/// Takes any bytes, and panics where a promise is broken.
pub type Reader = fn(&[u8]);

/// Every reader, by the name of its folder in `fuzz/corpus`.
pub const READERS: [(&str, Reader); 8] = [
    ("study", study),
    ("table", table),
    ("map", map),
    ("wkb", wkb),
    ("model", model),
    ("density", density),
    ("kernel", kernel),
    ("prior", prior),
];

/// What a refusal may take to say: of any number of problems so many are listed, and of long lines
/// a part.
const WORDS: usize = 100_000;

/// How a column of a table may be read.
const READINGS: [Reading; 10] = [
    Reading::Number,
    Reading::NumberOrMissing,
    Reading::Edge,
    Reading::Wait,
    Reading::Lower,
    Reading::Upper,
    Reading::Limited,
    Reading::Count,
    Reading::Flag,
    Reading::Side,
];

/// A refusal says something, and not too much.
fn is_worded(problems: &Problems) {
    let text = problems.to_string();
    assert!(
        !problems.0.is_empty() && text.starts_with("error: "),
        "{text}"
    );
    assert!(text.len() < WORDS, "{} bytes of words", text.len());
}

/// A study file.
pub fn study(bytes: &[u8]) {
    let Err(problems) = read_study(bytes) else {
        return;
    };
    is_worded(&problems);
    // What is wrong in a study stands somewhere in it.
    assert!(
        problems.0.iter().all(|problem| problem.place.is_some()),
        "{problems}"
    );
}

/// Reads a study and its files, up to where it would be fitted; the words of a refusal.
///
/// # Errors
/// What the program would say.
pub fn resolved(path: &Path) -> Result<(), String> {
    let study = study::open(path, path).map_err(|problems| problems.to_string())?;
    resolve(study)
        .map(drop)
        .map_err(|problems| problems.to_string())
}

/// A study as it is read from a file.
fn read_study(bytes: &[u8]) -> Result<Study, Problems> {
    study::read_bytes(Path::new("s.toml"), bytes.to_vec())
}

/// A CSV table.
pub fn table(bytes: &[u8]) {
    match Table::from_csv(bytes.to_vec(), "t.csv".to_owned()) {
        Ok(table) => columns(&table),
        Err(problems) => is_worded(&problems),
    }
}

/// Reads every column of a table in every way, alone and with all others.
fn columns(table: &Table) {
    let all: Vec<usize> = (0..table.headers().len()).collect();
    let mut rows = None;
    let mut same = |n: usize| assert_eq!(*rows.get_or_insert(n), n);
    match table.numbers(&all) {
        Ok(columns) => {
            assert!(columns.iter().flatten().all(|value| value.is_finite()));
            columns.iter().for_each(|column| same(column.len()));
        }
        Err(problems) => is_worded(&problems),
    }
    // A wide table is read in so many ways only once in a while.
    for &at in all.iter().take(8) {
        match table.keys(at) {
            Ok(keys) => {
                same(keys.len());
                assert!(keys.iter().all(|key| !key.is_empty()));
            }
            Err(problems) => is_worded(&problems),
        }
        for reading in READINGS {
            match table.cells(&[(at, reading)]) {
                Ok(columns) => {
                    let cells = columns.iter().flatten();
                    let is_range = |(low, high): &(f64, f64)| {
                        low <= high || (reading == Reading::NumberOrMissing && low.is_nan())
                    };
                    assert!(cells.clone().all(is_range), "{reading:?} {columns:?}");
                    same(cells.count());
                }
                Err(problems) => is_worded(&problems),
            }
        }
        assert!(table.place(0, at).spot.is_some());
    }
}

/// A GeoJSON file, whose polygons are mended, in degrees and in the plane.
pub fn map(bytes: &[u8]) {
    let file = match GeoFile::parse(bytes.to_vec(), "m.geojson") {
        Ok(file) => Arc::new(file),
        Err(problems) => return is_worded(&problems),
    };
    columns(&Table::from_geo(Arc::clone(&file)));
    let mut is_good = false;
    for (degrees, bare) in [
        (true, Bare::Unasked),
        (false, Bare::Refused),
        (false, Bare::LeftOut),
    ] {
        match outlines(&file, degrees, None, bare, &mut Vec::new()) {
            Ok(outlines) => {
                is_good = true;
                assert!(bare == Bare::LeftOut || outlines.iter().all(Option::is_some));
                let areas = outlines
                    .iter()
                    .flatten()
                    .map(|outline| outline.polygon.area());
                assert!(areas.clone().all(|area| area.is_finite() && area > 0.0));
            }
            Err(problems) => is_worded(&problems),
        }
    }
    if is_good {
        written_again(&file);
    }
}

/// A map with predictions among its properties is a map with as many features.
fn written_again(file: &GeoFile) {
    let all: Vec<usize> = (0..file.features.len()).collect();
    let mut out = Vec::new();
    let mean = |_| vec![("mean".to_owned(), 0.5.into())];
    assert!(geo_file::write(&mut out, file, &all, mean).is_ok());
    let again = GeoFile::parse(out, "m.geojson");
    let Ok(again) = again.map_err(|problems| assert!(problems.0.is_empty(), "{problems}")) else {
        return;
    };
    assert_eq!(again.features.len(), file.features.len());
    let has_mean = |i: &usize| again.property(*i, "mean").is_some();
    assert!(all.iter().all(has_mean) || file.properties.iter().any(|name| name == "mean"));
}

/// Well-known binary, whose polygons are mended, in degrees and in the plane.
pub fn wkb(bytes: &[u8]) {
    let mut parts = match parts(bytes) {
        Ok(parts) => parts,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let vertices: usize = parts.iter().flatten().map(Vec::len).sum();
    // Each has two numbers at least.
    assert!(16 * vertices <= bytes.len());
    is_mended(parts.clone());
    let mut rings = parts.iter().flatten();
    if rings.all(|ring| goes_round(ring).is_none()) {
        let rings = parts.iter_mut().flatten();
        rings.for_each(continue_over_antimeridian);
        is_mended(parts);
    }
}

/// Parts have an area once they are mended, or are refused in words.
fn is_mended(parts: Vec<Vec<Ring>>) {
    match Polygon::mended(parts) {
        Ok((polygon, _)) => assert!(polygon.area() > 0.0 && polygon.area().is_finite()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// What a saved model holds, under a header with the right length and checksum, and as it is.
pub fn model(bytes: &[u8]) {
    for bytes in [&whole_model(bytes)[..], bytes] {
        match engine::from_bytes(bytes) {
            Ok(posterior) => assert!(!posterior.dims().is_empty() || posterior.summary().rows > 0),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// What the saved model of densities holds, under a header with the right length and checksum, and
/// as it is.
pub fn density(bytes: &[u8]) {
    let whole = sealed(&format!("quadrat-density {SAVED_FORMAT}\n"), bytes);
    for bytes in [&whole[..], bytes] {
        match Saved::from_bytes(bytes) {
            Ok(saved) => densities(&saved),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Densities are none below zero, or refused in words.
fn densities(saved: &Saved) {
    // Each is as large as what a command estimates: a file of a hundred takes long, not more.
    for at in 0..saved.len().min(3) {
        let density = match saved.estimate(at) {
            Ok(AnyEstimate::Line(estimate)) => estimate.density().to_vec(),
            Ok(AnyEstimate::Plane(estimate)) => estimate.density().to_vec(),
            Ok(AnyEstimate::Conditional(estimate)) => estimate.density().to_vec(),
            Ok(_) => Vec::new(),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        assert!(density.iter().all(|p| *p >= 0.0 && p.is_finite()));
    }
}

/// The file of a model that holds these bytes.
pub fn whole_model(bytes: &[u8]) -> Vec<u8> {
    sealed(&format!("quadrat-model {FORMAT}\n"), bytes)
}

/// Bytes behind a first line, their checksum and their length.
fn sealed(line: &str, bytes: &[u8]) -> Vec<u8> {
    let mut whole = line.as_bytes().to_vec();
    whole.extend_from_slice(&crc32(bytes).to_le_bytes());
    whole.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    whole.extend_from_slice(bytes);
    whole
}

/// The checksum of saved models: CRC-32 as in IEEE 802.3.
fn crc32(bytes: &[u8]) -> u32 {
    let shifted = |crc: u32| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    let step = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| shifted(crc));
    !bytes.iter().fold(!0, step)
}

/// A kernel expression, which is read again from what is printed of it.
pub fn kernel(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Kernel::parse(&text) {
        Ok(kernel) => {
            let printed = kernel.to_string();
            let again = Kernel::parse(&printed).map(|again| again.to_string());
            assert_eq!(again.ok(), Some(printed));
        }
        Err(error) => {
            assert!(error.at <= text.len() && text.is_char_boundary(error.at));
            assert!(!error.message.is_empty() && !error.to_string().is_empty());
        }
    }
}

/// A prior, which is read again from what is printed of it and has a density.
pub fn prior(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<PriorDensity>() {
        Ok(prior) => {
            assert_eq!(prior.to_string().parse(), Ok(prior));
            for theta in [1e-300, 1.0, 1e300] {
                let (value, _) = prior.log_density(theta);
                assert!(
                    !value.is_nan() && value != f64::INFINITY,
                    "{prior} at {theta}"
                );
            }
        }
        Err(message) => assert!(!message.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
