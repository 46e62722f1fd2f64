//! Cells of rows that were measured, by what they say of a row.

use std::collections::BTreeMap;

use quadrat::likelihood::Likelihood;

use crate::diagnostic::{Place, Problem, Problems};
use crate::engine::Posterior;
use crate::new_row::{
    self, EXPOSURE, LOWER, LOWER_LIMIT, NewRow, SCALE, SD, SIDE, TIMES, TRIALS, UPPER, UPPER_LIMIT,
    VALUE, VARIANCE, plain,
};
use crate::numbers::LARGEST;
use crate::suggest;
use crate::table::Table;

/// Rows of one kind: the table that they are like, whether they are intervals of its values, and
/// which rows.
pub type Own = BTreeMap<(usize, bool), (String, Vec<usize>)>;

/// The column of kinds.
pub const KIND: &str = "kind";
/// The columns that a choice of measurements has behind those of the candidates.
pub const CHOSEN: [&str; 5] = [KIND, "information_bits", "cost", "bits_per_cost", "rank"];
/// The one of them that tells such a table from others.
const BITS: &str = CHOSEN[1];
/// The words that columns of answers may always have.
const WORDS: [&str; 10] = [
    VALUE, LOWER, UPPER, VARIANCE, SD, SCALE, EXPOSURE, TRIALS, TIMES, SIDE,
];

/// Cells of answers, by the names of their columns, and what rows of every table are.
pub struct Answered<'a> {
    table: &'a Table,
    columns: Vec<(String, Vec<String>)>,
    rows: Vec<NewRow>,
}

/// Answers as those of the rows of one table.
pub struct Answers<'a> {
    answered: &'a Answered<'a>,
    /// What the rows of the table reported.
    pub like: &'a Likelihood,
    /// What a new row of it is.
    pub row: &'a NewRow,
    /// Whether only intervals of its values are told.
    pub as_interval: bool,
}

/// All names that a column of answers may have: of words for all kinds, and as the study says.
pub fn names(posterior: &Posterior) -> Vec<String> {
    let rows = new_row::of(posterior);
    let own = rows.iter().flat_map(|row| row.columns.values().cloned());
    let words = WORDS.iter().map(|word| (*word).to_owned());
    words.chain(own).collect()
}

/// The answers of all rows.
///
/// # Arguments
/// * `columns` - names and cells of all columns that say no place
pub fn read<'t>(
    posterior: &Posterior,
    table: &'t Table,
    mut columns: Vec<(String, Vec<String>)>,
) -> Answered<'t> {
    let is_choice = table.headers().iter().any(|header| header == BITS);
    columns.retain(|(name, _)| name != KIND && !(is_choice && CHOSEN.contains(&name.as_str())));
    Answered {
        table,
        columns,
        rows: new_row::of(posterior),
    }
}

/// Whether a cell says nothing.
fn is_empty(cell: &str) -> bool {
    let cell = cell.trim();
    cell.is_empty() || cell == "NA"
}

/// A cell as the two ends of what it says; nothing where it is no number.
fn number(cell: &str) -> Option<(f64, f64)> {
    let cell = cell.trim();
    let plain = |text: &str| text.trim().parse::<f64>().ok().filter(|x| !x.is_nan());
    if let Some(limit) = cell.strip_prefix('<') {
        return plain(limit).map(|x| (f64::NEG_INFINITY, x));
    }
    if let Some(limit) = cell.strip_prefix('>') {
        return plain(limit).map(|x| (x, f64::INFINITY));
    }
    match cell.to_lowercase().as_str() {
        "yes" | "y" | "true" | "t" => Some((1.0, 1.0)),
        "no" | "n" | "false" | "f" => Some((0.0, 0.0)),
        _ => plain(cell).map(|x| (x, x)),
    }
}

impl Answered<'_> {
    /// The answers of rows like those of a table.
    pub fn like<'a>(
        &'a self,
        posterior: &'a Posterior,
        (table, as_interval): (usize, bool),
    ) -> Option<Answers<'a>> {
        Some(Answers {
            answered: self,
            like: posterior.observations().get(table)?.likelihood(),
            row: self.rows.get(table)?,
            as_interval,
        })
    }

    /// Whether a row of a kind that is none says anything.
    pub fn is_told(&self, row: usize) -> bool {
        let mut columns = self.columns.iter();
        columns.any(|(name, cells)| {
            [VALUE, LOWER, UPPER].contains(&name.as_str()) && !is_empty(&cells[row])
        })
    }

    /// What to say of columns that are filled in and say nothing of their rows.
    pub fn unused(&self, posterior: &Posterior, own: &Own) -> Vec<String> {
        let (mut nowhere, mut warnings) = (Vec::new(), Vec::new());
        for (name, cells) in &self.columns {
            let (mut is_used, mut deaf) = (false, Vec::new());
            for (like, (kind, rows)) in own {
                let Some(answers) = self.like(posterior, *like) else {
                    continue;
                };
                if answers.takes(name) {
                    is_used = true;
                } else if rows.iter().any(|row| !is_empty(&cells[*row])) {
                    deaf.push(kind);
                }
            }
            match (deaf.is_empty(), is_used) {
                (true, _) => {}
                (false, false) => nowhere.push(name),
                (false, true) => warnings.push(format!(
                    "the column `{name}` says nothing of rows of the kind {}, and was left aside there",
                    suggest::list(&deaf)
                )),
            }
        }
        if !nowhere.is_empty() {
            let verb = if nowhere.len() == 1 { "says" } else { "say" };
            let columns = if nowhere.len() == 1 {
                "column"
            } else {
                "columns"
            };
            warnings.push(format!(
                "the {columns} {} of {} {verb} nothing of what was measured to this model, and were left aside",
                suggest::list(&nowhere),
                self.table.name()
            ));
        }
        warnings
    }

    fn position(&self, name: &str) -> usize {
        let mut headers = self.table.headers().iter();
        headers.position(|header| header == name).unwrap_or(0)
    }
}

impl Answers<'_> {
    /// What the rows say, by the words of [`new_row`].
    fn words(&self) -> &'static [&'static str] {
        if self.as_interval {
            return &[VALUE, LOWER, UPPER, VARIANCE, SD, TIMES];
        }
        match self.like {
            Likelihood::Gaussian(_) | Likelihood::StudentT(_) | Likelihood::Ordinal(_) => {
                &[VALUE, VARIANCE, SD, TIMES]
            }
            Likelihood::Interval(_) => &[VALUE, LOWER, UPPER, VARIANCE, SD, TIMES],
            Likelihood::Censored(_) => &[
                VALUE,
                LOWER,
                UPPER,
                LOWER_LIMIT,
                UPPER_LIMIT,
                SIDE,
                VARIANCE,
                SD,
                TIMES,
            ],
            Likelihood::Laplace(_) => &[VALUE, SCALE, VARIANCE, SD, TIMES],
            Likelihood::Binomial(_) => &[VALUE, TRIALS, TIMES],
            Likelihood::Poisson(_) | Likelihood::NegativeBinomial(_) => {
                &[VALUE, LOWER, UPPER, EXPOSURE, TIMES]
            }
            Likelihood::LogNormal(_) => &[VALUE, SD, TIMES],
            _ => &[VALUE, TIMES],
        }
    }

    /// The columns of a word: as the study calls it, and the word itself, where that is no name of
    /// another.
    fn columns<'s>(&'s self, word: &'s str) -> [Option<&'s str>; 2] {
        let own = self.row.columns.get(word).map(String::as_str);
        let plain = plain(word);
        let mut others = self.row.columns.iter();
        let is_anothers = others.any(|(of, column)| column == plain && of != word);
        [own, (own != Some(plain) && !is_anothers).then_some(plain)]
    }

    /// Whether a column says something of the rows.
    fn takes(&self, name: &str) -> bool {
        let mut words = self.words().iter();
        words.any(|word| self.columns(word).contains(&Some(name)))
    }

    /// Whether there is a column as the study calls it.
    pub fn has_own(&self, word: &str) -> bool {
        let own = self.row.columns.get(word);
        let mut columns = self.answered.columns.iter();
        own.is_some_and(|own| columns.any(|(name, _)| name == own))
    }

    /// What the study calls the column of a word, or the word.
    pub fn name<'a>(&'a self, word: &'a str) -> &'a str {
        self.row
            .columns
            .get(word)
            .map_or(plain(word), String::as_str)
    }

    fn filled(&self, word: &str, row: usize) -> Vec<(&str, &str)> {
        let names = self.columns(word);
        let columns = self.answered.columns.iter();
        let own = columns
            .filter(|(name, cells)| names.contains(&Some(name.as_str())) && !is_empty(&cells[row]));
        own.map(|(name, cells)| (name.as_str(), cells[row].trim()))
            .collect()
    }

    /// Where the cell of a word stands; where it is empty that of the value, or the row.
    pub fn place(&self, word: &str, row: usize) -> Place {
        let mut words = [word, VALUE, LOWER, UPPER].into_iter();
        let found = words.find_map(|word| self.filled(word, row).first().map(|f| f.0));
        let at = found.map_or(0, |name| self.answered.position(name));
        self.answered.table.place(row, at)
    }

    /// A cell as it is written.
    ///
    /// # Errors
    /// Two columns of one word that say different things.
    pub fn text(&self, word: &str, row: usize) -> Result<Option<&str>, Problem> {
        let filled = self.filled(word, row);
        if let [(name, text), (other, more)] = filled.as_slice()
            && text != more
        {
            let message = format!(
                "`{name}` is `{text}`, and `{other}` is `{more}`: both are the `{}` of the row",
                plain(word)
            );
            let problem = Problem::new(message).at(self.place(word, row));
            return Err(problem.remedy("leave one of the columns out"));
        }
        Ok(filled.first().map(|(_, text)| *text))
    }

    /// Whether a cell says anything.
    pub fn has(&self, word: &str, row: usize) -> bool {
        !self.filled(word, row).is_empty()
    }

    /// Whether a row has an answer.
    pub fn is_told(&self, row: usize) -> bool {
        [VALUE, LOWER, UPPER].iter().any(|word| self.has(word, row))
    }

    /// Both ends of what a cell says.
    pub fn cell(&self, word: &str, row: usize) -> Result<Option<(f64, f64)>, Problem> {
        let Some(text) = self.text(word, row)? else {
            return Ok(None);
        };
        let name = self.filled(word, row).first().map_or(word, |f| f.0);
        let wrong = |message: String, remedy: &str| {
            Err(Problem::new(message)
                .at(self.place(word, row))
                .remedy(remedy))
        };
        let Some((lower, upper)) = number(text) else {
            return wrong(
                format!("`{name}` is `{text}`"),
                "write a number, `<` or `>` and a number, or leave it empty",
            );
        };
        let is_giant = |x: f64| x.is_finite() && x.abs() > LARGEST;
        if is_giant(lower) || is_giant(upper) {
            return wrong(
                format!("`{name}` is too large: its square is no number"),
                "change the unit, or mend the row",
            );
        }
        Ok(Some((lower, upper)))
    }

    /// One finite number, where there is one.
    pub fn one(&self, word: &str, row: usize) -> Result<Option<f64>, Problem> {
        match self.cell(word, row)? {
            None => Ok(None),
            Some((lower, upper)) if lower == upper && lower.is_finite() => Ok(Some(lower)),
            Some(_) => {
                let message = format!("`{}` must be one finite number", plain(word));
                Err(Problem::new(message).at(self.place(word, row)))
            }
        }
    }

    /// What is said of every row.
    pub fn each<T>(
        &self,
        rows: &[usize],
        of: impl Fn(usize) -> Result<T, Problem>,
    ) -> Result<Vec<T>, Problems> {
        let (mut all, mut problems) = (Vec::with_capacity(rows.len()), Problems::default());
        for row in rows {
            match of(*row) {
                Ok(one) => all.push(one),
                Err(problem) => problems.push(problem),
            }
        }
        problems.or(all)
    }
}

#[cfg(test)]
mod tests {
    use super::{is_empty, number};

    #[test]
    fn cells_are_numbers_limits_or_nothing() {
        assert_eq!(number(" 2.5 "), Some((2.5, 2.5)));
        assert_eq!(number("<3"), Some((f64::NEG_INFINITY, 3.0)));
        assert_eq!(number("> 3"), Some((3.0, f64::INFINITY)));
        assert_eq!(number("yes"), Some((1.0, 1.0)));
        assert_eq!(number("F"), Some((0.0, 0.0)));
        assert_eq!(number("much"), None);
        assert_eq!(number("nan"), None);
        assert!(is_empty(" ") && is_empty("NA") && !is_empty("0"));
    }
}
