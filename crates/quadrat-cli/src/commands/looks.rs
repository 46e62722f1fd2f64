//! Where the rows of a table look, by flags like those of `quadrat predict`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};

use super::predict::{as_flags, flags, read};
use crate::args::{LEVEL, Looks, Predict, ScaleWord};
use crate::diagnostic::Problems;
use crate::geographic::Geographic;
use crate::places::Places;
use crate::resolve::Files;
use crate::study::fields::Check;
use crate::table::{Table, is_geo, open_geo};
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

/// The places of a table, with all its other columns but some; warns of what was noticed.
pub fn places(
    asked: &Asked<'_>,
    dims: &[String],
    geographic: Option<Arc<Geographic>>,
    but: &[&str],
) -> Result<Places> {
    let mut args = as_predict(asked, dims);
    args.keep = others(asked.file, &args, but)?;
    let described = flags::described(&args, asked.words);
    let check = Check::new(&described.source);
    flags::suits(&check, &described.support, dims, &args);
    flags::same_map(&check, &described.support, geographic.as_deref());
    let mut files = Files::new(&check, Path::new(""), Path::new(""));
    files.geographic = geographic;
    let places = read(&args, &files, &described);
    for warning in files.warnings() {
        warn(&warning);
    }
    let mut problems: Problems = check.finish();
    as_flags(&mut problems, asked.words[1]);
    problems.or(())?;
    places.context("no places were read")
}

/// The flags as those of a prediction; inputs that nothing names are columns of points.
fn as_predict(asked: &Asked<'_>, dims: &[String]) -> Predict {
    let looks = asked.looks;
    let mut point = looks.point.clone();
    if point.is_empty() && looks.bag.is_empty() {
        let is_named = |dim: &&String| {
            looks.region.contains(dim) || looks.boxes.iter().any(|edges| &edges.dim == *dim)
        };
        point = dims.iter().filter(|dim| !is_named(dim)).cloned().collect();
    }
    Predict {
        model: asked.model.to_owned(),
        at: asked.file.to_owned(),
        point,
        region: looks.region.clone(),
        key: looks.key.clone(),
        planar: looks.planar,
        bag: looks.bag.clone(),
        weight: looks.weight.clone(),
        missing: None,
        boxes: looks.boxes.clone(),
        aggregate: looks.aggregate,
        scale: ScaleWord::Response,
        level: LEVEL,
        above: Vec::new(),
        ranks: false,
        draws: None,
        seed: 0,
        of: None,
        like: None,
        exposure: None,
        trials: None,
        keep: Vec::new(),
        non_negative: false,
        output: None::<PathBuf>,
        quiet: false,
    }
}

/// The columns of the table that say no place, but some; of the points of bags none.
fn others(file: &Path, args: &Predict, but: &[&str]) -> Result<Vec<String>> {
    if !args.bag.is_empty() {
        return Ok(Vec::new());
    }
    let table = match is_geo(file) {
        true => Table::from_geo(open_geo(file, file)?),
        false => Table::open(file, file)?,
    };
    let edges = args.boxes.iter().flat_map(|e| [&e.first, &e.second]);
    let own: Vec<&String> = args.point.iter().chain(edges).chain(&args.key).collect();
    let is_other = |name: &&String| !own.contains(name) && !but.contains(&name.as_str());
    Ok(table.headers().iter().filter(is_other).cloned().collect())
}
