//! One change of one file of a study.

mod bytes;
mod geo;
mod table;
mod toml;

use crate::draw::Draw;

/// What was changed, in words, and whether the files still say the same.
pub struct Change {
    pub file: String,
    pub what: String,
    pub is_same: bool,
}

/// A file with one change, and what it is.
type Changed = (Vec<u8>, String);

/// Changes one of the files, by the grammar of its format or byte by byte.
pub fn one(files: &mut [(String, Vec<u8>)], draw: &mut Draw) -> Change {
    let at = match draw.percent(45) {
        true => 0,
        false => draw.below(files.len()),
    };
    let (name, content) = &mut files[at];
    if draw.percent(6) {
        let (changed, what) = bytes::same(content, draw);
        *content = changed;
        return Change {
            file: name.clone(),
            what,
            is_same: true,
        };
    }
    let by_grammar = match name.rsplit('.').next() {
        _ if draw.percent(15) => None,
        Some("toml") => toml::change(content, draw),
        Some("csv") => table::change(content, draw),
        Some("geojson") => geo::change(content, draw),
        _ => None,
    };
    let (changed, what) = by_grammar.unwrap_or_else(|| bytes::change(content, content, draw));
    *content = changed;
    Change {
        file: name.clone(),
        what,
        is_same: false,
    }
}

/// Bytes with one change.
pub fn bytes(content: &[u8], draw: &mut Draw) -> Vec<u8> {
    bytes::change(content, content, draw).0
}

/// Bytes with some changes, some of which take pieces of others.
#[cfg(feature = "fuzz")]
pub fn several(content: &[u8], other: &[u8], draw: &mut Draw) -> Vec<u8> {
    let mut bytes = content.to_vec();
    for _ in 0..1 + draw.below(4) {
        bytes = bytes::change(&bytes, other, draw).0;
    }
    bytes
}
