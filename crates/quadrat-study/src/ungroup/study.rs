//! The study of bands: read, ungrouped and told in memory.

use std::time::Instant;

use anyhow::Result;
use quadrat::progress::Progress;

use super::bounded;
use super::found::All;
use super::rows::Rows;
use super::said;
use super::table::{csv, header, life_csv};
use crate::diagnostic::Problems;
use crate::fit_json::{of_section, pretty, reword};
use crate::study::UngroupStudy;
use crate::study::ungroup::{KEYS, Ungroup};
use crate::study::written::as_keys;

/// The table of steps, and the life tables.
pub const TABLES: [&str; 2] = ["steps", "life_table"];

/// What the study of bands gives.
#[derive(Debug)]
pub struct Computed {
    /// The bands.
    pub rows: Rows,
    /// What came of every population.
    pub all: All,
    /// The text of `fit.json`.
    pub json: String,
    /// Names of tables and their texts as CSV.
    pub tables: Vec<(&'static str, String)>,
    /// Everything people should know.
    pub warnings: Vec<String>,
}

/// The names of the tables that there will be.
pub fn names(args: &Ungroup) -> Vec<&'static str> {
    let [steps, life] = TABLES;
    [steps]
        .into_iter()
        .chain(args.life_table.then_some(life))
        .collect()
}

/// Ungroups the bands of a study, in memory.
///
/// # Errors
/// What cannot be read or asked; and why populations were not ungrouped, where none was.
pub fn compute(study: &UngroupStudy, progress: &dyn Progress) -> Result<Computed> {
    let begun = Instant::now();
    let (args, written) = (&study.args, &study.written);
    let keyed = |problems| written.keyed(problems, words);
    let folders = (written.folder.as_path(), written.shown.as_path());
    let rows = Rows::read(args, folders).map_err(keyed)?;
    let header = header(args).map_err(keyed)?;
    bounded(args, &rows).map_err(keyed)?;
    let all = All::new(args, &rows, progress).map_err(keyed)?;
    if all.found.is_empty() {
        all.whole().map_err(keyed)?;
    }
    let text = |bytes| -> Result<String> { Ok(String::from_utf8(bytes)?) };
    let edges = &header[..args.names().len() + 2];
    let tables = names(args).into_iter().map(|name| {
        let bytes = match name == TABLES[0] {
            true => csv(&header, &rows, &all)?,
            false => life_csv(edges, &rows, &all)?,
        };
        Ok((name, text(bytes)?))
    });
    let tables = tables.collect::<Result<_>>()?;
    let seconds = begun.elapsed().as_secs_f64();
    let own = said::json(args, &rows, &all);
    let mut json = of_section(written, ("ungroup", study.files()), seconds, own)?;
    reword(&mut json, &words);
    let warnings = said::warnings(args, &rows, &all);
    Ok(Computed {
        json: pretty(&json)?,
        warnings: warnings.iter().map(|warning| words(warning)).collect(),
        tables,
        rows,
        all,
    })
}

impl Computed {
    /// The same as sentences: populations that were left out, and why.
    pub fn left_out(&self, study: &UngroupStudy) -> Vec<String> {
        let failed = self.whole(study).err().map_or_else(Vec::new, |p| p.0);
        let told = failed
            .iter()
            .map(|p| format!("not ungrouped: {}", p.message));
        told.collect()
    }

    /// Why populations were not ungrouped, in the words of the study.
    ///
    /// # Errors
    /// Where there are such.
    pub fn whole(&self, study: &UngroupStudy) -> Result<(), Problems> {
        self.all
            .whole()
            .map_err(|problems| study.written.keyed(problems, words))
    }
}

/// Flags of the command as the keys of the section that they are here.
pub fn words(text: &str) -> String {
    as_keys(text, &KEYS)
}
