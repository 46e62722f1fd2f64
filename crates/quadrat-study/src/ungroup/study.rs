//! The study of bands: read, ungrouped and told in memory.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use quadrat::progress::Progress;

use super::bounded;
use super::found::All;
use super::rows::Rows;
use super::said;
use super::table::{TABLES, header, life_table, steps};
use crate::columns::Table;
use crate::diagnostic::Problems;
use crate::fit_json::{of_section, pretty, reword};
use crate::study::UngroupStudy;
use crate::study::ungroup::KEYS;
use crate::study::written::as_keys;

/// The study of bands with its tables read, before they are ungrouped.
pub struct CheckedUngroup {
    /// The study.
    pub study: UngroupStudy,
    rows: Rows,
    header: Vec<String>,
    /// From when on its seconds count.
    begun: Instant,
}

/// Bands that were ungrouped.
pub struct UngroupOutcome {
    /// The study.
    pub study: UngroupStudy,
    /// The bands.
    pub rows: Rows,
    /// What came of every population.
    pub all: All,
    /// That of steps, and that of life tables where they are asked for.
    pub tables: Vec<Table>,
    /// The text of `fit.json`.
    pub json: String,
}

impl CheckedUngroup {
    /// Reads its tables.
    ///
    /// # Errors
    /// What cannot be read or asked.
    pub fn new(study: UngroupStudy) -> Result<Self, Problems> {
        let begun = Instant::now();
        let (args, written) = (&study.args, &study.written);
        let keyed = |problems| written.keyed(problems, words);
        let folders = (written.folder.as_path(), written.shown.as_path());
        let rows = Rows::read(args, folders).map_err(keyed)?;
        let header = header(args).map_err(keyed)?;
        bounded(args, &rows).map_err(keyed)?;
        Ok(Self {
            study,
            rows,
            header,
            begun,
        })
    }

    /// The files that it reads.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let files = self.study.files().into_iter();
        files
            .map(|file| self.study.written.folder.join(file))
            .collect()
    }

    /// The names of the tables that there will be.
    pub fn tables(&self) -> impl Iterator<Item = &str> {
        let count = 1 + usize::from(self.study.args.life_table);
        TABLES.into_iter().take(count)
    }

    /// Ungroups the bands.
    ///
    /// # Errors
    /// Why populations were not ungrouped, where none was.
    pub fn run(self, progress: &dyn Progress) -> Result<UngroupOutcome> {
        let (study, rows, header) = (self.study, self.rows, &self.header);
        let (args, written) = (&study.args, &study.written);
        let keyed = |problems| written.keyed(problems, words);
        let all = All::new(args, &rows, progress).map_err(keyed)?;
        if all.found.is_empty() {
            all.whole().map_err(keyed)?;
        }
        let mut tables = vec![steps(args, header, &rows, &all)];
        if args.life_table {
            tables.push(life_table(args, header, &rows, &all));
        }
        let seconds = self.begun.elapsed().as_secs_f64();
        let own = said::json(args, &rows, &all);
        let mut json = of_section(written, ("ungroup", study.files()), seconds, own)?;
        reword(&mut json, &words);
        Ok(UngroupOutcome {
            json: pretty(&json)?,
            study,
            rows,
            all,
            tables,
        })
    }
}

impl UngroupOutcome {
    /// Everything people should know: of what was ungrouped, and what was not and why.
    pub fn warnings(&self) -> Vec<String> {
        let own = said::warnings(&self.study.args, &self.rows, &self.all);
        let own = own.iter().map(|warning| words(warning));
        let failed = self.whole().err().map_or_else(Vec::new, |p| p.0);
        let left_out = failed.iter();
        let left_out = left_out.map(|p| format!("not ungrouped: {}", p.message));
        own.chain(left_out).collect()
    }

    /// Why populations were not ungrouped, in the words of the study.
    ///
    /// # Errors
    /// Where there are such.
    pub fn whole(&self) -> Result<(), Problems> {
        let whole = self.all.whole();
        whole.map_err(|problems| self.study.written.keyed(problems, words))
    }
}

/// Flags of the command as the keys of the section that they are here.
pub fn words(text: &str) -> String {
    as_keys(text, &KEYS)
}
