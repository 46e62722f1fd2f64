//! What a new row of a table is, as its study says: kept with a model, for rows that come later.

use std::collections::BTreeMap;

use quadrat::likelihood::Likelihood as Reported;
use quadrat::model::Posterior;
use serde::{Deserialize, Serialize};

use crate::resolve::Observed;
use crate::study::likelihood::{Counts, Ends, Given, Law, Limits, Reports};
use crate::table::Reading;

/// The note of a saved model.
const NOTE: &str = "new rows";

/// What a row reported.
pub const VALUE: &str = "value";
/// The lower end of what a row reported.
pub const LOWER: &str = "lower";
/// The upper end.
pub const UPPER: &str = "upper";
/// The lower limit of the instrument.
pub const LOWER_LIMIT: &str = "lower limit";
/// The upper one.
pub const UPPER_LIMIT: &str = "upper limit";
/// On which side a value is censored, or whether it is.
pub const SIDE: &str = "side";
/// The known noise variance.
pub const VARIANCE: &str = "variance";
/// Its root.
pub const SD: &str = "sd";
/// The mean absolute error of double exponential noise.
pub const SCALE: &str = "scale";
/// What rates are multiplied by.
pub const EXPOSURE: &str = "exposure";
/// The number of trials.
pub const TRIALS: &str = "trials";
/// How often a row was seen.
pub const TIMES: &str = "times";

/// What a column of a word is called where the study does not say.
pub fn plain(word: &str) -> &str {
    match word {
        LOWER_LIMIT => LOWER,
        UPPER_LIMIT => UPPER,
        word => word,
    }
}

/// How a column says which values are censored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mark {
    /// By their side: `none`, `left` or `right`.
    Side,
    /// By yes and no.
    Flag {
        /// Whether the value is at most the number, not at least.
        is_left: bool,
        /// What the column says of censored values.
        when: bool,
    },
}

/// What a new row of one table is, besides its likelihood with what is learned of it. Columns and
/// numbers are known by the words of this module.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewRow {
    /// What the study calls the columns.
    pub columns: BTreeMap<String, String>,
    /// What is the same for all rows.
    pub numbers: BTreeMap<String, f64>,
    /// What the column [`SIDE`] holds.
    pub mark: Option<Mark>,
}

impl NewRow {
    /// As a study says of a table.
    ///
    /// # Arguments
    /// * `times` - how often its rows were seen, where that is said
    pub fn said(table: &Observed, times: Option<&Given>) -> Self {
        let mut row = Self::default();
        row.reports(table);
        if table.are_increments {
            // The column holds totals, and a new row is what was added to one.
            row.columns.remove(VALUE);
        }
        let noise = table.says.noise.as_ref();
        if let Some(column) = noise.and_then(|n| n.known.as_ref()?.column()) {
            let word = match noise.is_some_and(|n| n.are_sds) {
                true => SD,
                false => VARIANCE,
            };
            row.column(word, &column.value);
        }
        match times {
            Some(Given::Number(number)) => row.number(TIMES, number.value),
            Some(Given::Column(column)) => row.column(TIMES, &column.value),
            None => {}
        }
        row
    }

    /// Limits of an instrument alone, the lower and the upper one of every row, where there are
    /// any.
    pub fn limited(limits: [Option<&[f64]>; 2]) -> Self {
        let mut row = Self::default();
        for (word, all) in [LOWER_LIMIT, UPPER_LIMIT].into_iter().zip(limits) {
            let Some([first, more @ ..]) = all else {
                continue;
            };
            match more.iter().all(|limit| limit == first) {
                true => row.number(word, *first),
                false => row.column(word, plain(word)),
            }
        }
        row
    }

    /// The number that holds for all rows, unless one says another.
    pub fn known(&self, word: &str) -> Option<f64> {
        self.numbers.get(word).copied()
    }

    /// Whether a limit is that of each row, and no number for all.
    pub fn has_limits_of_rows(&self) -> bool {
        let is_of_rows = |word| self.columns.contains_key(word) && self.known(word).is_none();
        is_of_rows(LOWER_LIMIT) || is_of_rows(UPPER_LIMIT)
    }

    fn reports(&mut self, table: &Observed) {
        match &table.says.reports {
            Reports::Gaussian { value }
            | Reports::StudentT { value, .. }
            | Reports::Truncated { value, .. }
            | Reports::Ordinal { rank: value, .. }
            | Reports::Bernoulli { value, .. } => self.column(VALUE, &value.value),
            Reports::Laplace { value, scale } => {
                self.column(VALUE, &value.value);
                self.given(SCALE, scale);
            }
            Reports::Interval(ends) => self.ends([LOWER, UPPER], ends),
            Reports::Censored { value, limits } => {
                self.column(VALUE, &value.value);
                if table.says.ignores_limits.is_none() {
                    self.limits(table, limits);
                }
            }
            Reports::Positive { .. } => {}
            Reports::Binomial {
                successes, trials, ..
            } => {
                self.column(VALUE, &successes.value);
                self.given(TRIALS, trials);
            }
            Reports::Counts {
                counts, exposure, ..
            } => {
                match counts {
                    Counts::One(count) => self.column(VALUE, &count.value),
                    Counts::Between(ends) => self.ends([LOWER, UPPER], ends),
                }
                if let Some(exposure) = exposure {
                    self.given(EXPOSURE, exposure);
                }
            }
            Reports::Amounts { value, law } => {
                self.column(VALUE, &value.value);
                if let Law::LogNormal(Some(Given::Column(sd))) = law {
                    self.column(SD, &sd.value);
                }
            }
        }
    }

    fn limits(&mut self, table: &Observed, limits: &Limits) {
        match limits {
            Limits::Side(column) => {
                self.column(SIDE, &column.value);
                self.mark = Some(Mark::Side);
            }
            Limits::Flag {
                column,
                is_left,
                when,
            } => {
                self.column(SIDE, &column.value);
                self.mark = Some(Mark::Flag {
                    is_left: *is_left,
                    when: *when,
                });
            }
            Limits::Of(ends) => {
                self.ends([LOWER_LIMIT, UPPER_LIMIT], ends);
                for (column, reading) in ends.columns() {
                    let word = match reading {
                        Reading::Lower => LOWER_LIMIT,
                        _ => UPPER_LIMIT,
                    };
                    if let Some(limit) = one_of_all(table, &column.value, reading) {
                        self.number(word, limit);
                    }
                }
            }
            Limits::Written => {}
        }
    }

    fn ends(&mut self, [lower, upper]: [&str; 2], ends: &Ends) {
        for (word, end) in [(lower, &ends.lower), (upper, &ends.upper)] {
            if let Some(end) = end {
                self.given(word, end);
            }
        }
    }

    fn given(&mut self, word: &str, given: &Given) {
        match given {
            Given::Number(number) => self.number(word, number.value),
            Given::Column(column) => self.column(word, &column.value),
        }
    }

    fn column(&mut self, word: &str, column: &str) {
        self.columns.insert(word.to_owned(), column.to_owned());
    }

    fn number(&mut self, word: &str, number: f64) {
        if number.is_finite() {
            self.numbers.insert(word.to_owned(), number);
        }
    }

    /// With exposure and trials as the rows of the table show, where all have the same.
    fn shown(mut self, reported: &Reported) -> Self {
        let (word, all) = match reported {
            Reported::Poisson(rows) => (EXPOSURE, rows.exposure()),
            Reported::NegativeBinomial(rows) => (EXPOSURE, rows.exposure()),
            Reported::Binomial(rows) => (TRIALS, rows.trials()),
            _ => return self,
        };
        if let Some(first) = all.first()
            && all.iter().all(|one| one == first)
        {
            self.numbers.entry(word.to_owned()).or_insert(*first);
        }
        self
    }
}

/// What a column of limits holds, where that is the same for all rows.
fn one_of_all(table: &Observed, column: &str, reading: Reading) -> Option<f64> {
    let at = table.table.named(column).ok()?;
    let mut columns = table.table.cells(&[(at, reading)]).ok()?;
    let cells = columns.pop()?;
    let (first, _) = *cells.first()?;
    cells.iter().all(|cell| cell.0 == first).then_some(first)
}

/// What new rows of the tables of a saved model are; of tables that it says nothing of, what their
/// rows show.
pub fn of(posterior: &Posterior) -> Vec<NewRow> {
    let said = posterior.note(NOTE);
    let said = said.and_then(|note| serde_json::from_str::<Vec<NewRow>>(note).ok());
    let mut rows = said.unwrap_or_default();
    let tables = posterior.observations();
    rows.resize(tables.len(), NewRow::default());
    let shown = rows.into_iter().zip(tables);
    shown
        .map(|(row, table)| row.shown(table.likelihood()))
        .collect()
}

/// Keeps what new rows of the tables are in a model that is to be saved.
pub fn keep(posterior: &mut Posterior, rows: &[NewRow]) {
    // Texts and finite numbers: there is nothing in them that has no JSON.
    if let Ok(note) = serde_json::to_string(rows) {
        posterior.set_note(NOTE, note);
    }
}
