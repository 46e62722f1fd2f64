//! Where the rows of a table look, by flags like those of `quadrat predict`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use quadrat_study::codes::Codes;
use quadrat_study::diagnostic::Problems;
use quadrat_study::geographic::Geographic;
use quadrat_study::places::Places;
use quadrat_study::resolve::Files;
use quadrat_study::study::fields::{Check, Spanned};
use quadrat_study::table::{Table, is_geo, open_geo};

use super::predict::flags::{self, Line};
use super::predict::read;
use crate::args::Looks;
use crate::terminal::warn;

/// A table of places, and how people asked for it.
pub struct Asked<'a> {
    /// The model.
    pub model: &'a Path,
    /// The table.
    pub file: &'a Path,
    /// The command, and the flag of the table.
    pub words: [&'a str; 2],
    /// Where its rows look.
    pub looks: &'a Looks,
}

/// The places of a table, with all its other columns but some, and the labels that were known or
/// are new; warns of what was noticed.
pub fn places(
    asked: &Asked<'_>,
    dims: &[String],
    (geographic, codes): (Option<Arc<Geographic>>, Codes),
    but: &[&str],
) -> Result<(Places, Codes)> {
    let looks = filled(asked.looks, dims);
    let mut described = flags::described(&Line {
        words: asked.words,
        model: asked.model,
        at: asked.file,
        looks: &looks,
        fills: false,
        exposure: None,
        trials: None,
        keep: &[],
        further: String::new(),
    });
    // No flag says so: they are no part of the line that problems are shown in.
    described.beside.keep = others(asked.file, &looks, but)?;
    let check = Check::new(&described.source);
    flags::suits(&check, &described.support, dims, &looks);
    flags::same_map(&check, &described.support, geographic.as_deref());
    let mut files = Files::new(&check, Path::new(""), Path::new(""));
    files.geographic = geographic;
    flags::no_width(&check, &described.support, &codes);
    files.codes.replace(codes);
    let places = read(asked.file, &files, &described);
    let codes = files.codes.take();
    for warning in files.warnings() {
        warn(&warning);
    }
    check.finish().by_flags().or(())?;
    Ok((places.context("no places were read")?, codes))
}

/// Where rows look, inputs that nothing names as columns of points.
fn filled(looks: &Looks, dims: &[String]) -> Looks {
    let mut looks = looks.clone();
    if looks.point.is_empty() && looks.bag.is_empty() {
        let is_named = |dim: &&String| {
            looks.region.contains(dim) || looks.boxes.iter().any(|edges| &edges.dim == *dim)
        };
        looks.point = dims.iter().filter(|dim| !is_named(dim)).cloned().collect();
    }
    looks
}

/// A table of places.
pub fn table(file: &Path) -> Result<Table, Problems> {
    let table = match is_geo(file) {
        true => open_geo(file, file).map(Table::from_geo),
        false => Table::open(file, file),
    };
    table.map_err(Problems::by_flags)
}

/// The columns of the table that say no place, but some; of the points of bags none.
fn others(file: &Path, looks: &Looks, but: &[&str]) -> Result<Vec<Spanned<String>>, Problems> {
    if !looks.bag.is_empty() {
        return Ok(Vec::new());
    }
    let table = table(file)?;
    let edges = looks.boxes.iter().flat_map(|e| [&e.first, &e.second]);
    let own: Vec<&String> = looks.point.iter().chain(edges).chain(&looks.key).collect();
    let is_other = |name: &&String| !own.contains(name) && !but.contains(&name.as_str());
    let spanned = |name: &String| Spanned {
        value: name.clone(),
        span: 0..0,
    };
    let others = table.headers().iter().filter(is_other);
    Ok(others.map(spanned).collect())
}
