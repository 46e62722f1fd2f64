//! What rows that were measured reported, as the rows of their table do.

use anyhow::Result;
use quadrat::error::InputError;
use quadrat::likelihood::{
    Bernoulli, Binomial, Censored, Exponential, Gamma, Gaussian, Interval, Laplace, Likelihood,
    LogNormal, NegativeBinomial, Ordinal, Poisson, StudentT,
};
use quadrat::model::Scale;

use super::answers::Answers;
use super::noise::same;
use crate::diagnostic::{Problem, Problems};
use crate::engine::Posterior;
use crate::new_row::{
    EXPOSURE, LOWER, LOWER_LIMIT, Mark, SCALE, SD, SIDE, TIMES, TRIALS, UPPER, UPPER_LIMIT, VALUE,
    VARIANCE,
};
use crate::table::{Reading, read_cell};

/// Both ends of what each row says.
type Ends = (Vec<f64>, Vec<f64>);

/// What rows report, and how often each was seen where that is said.
pub fn reported(
    posterior: &Posterior,
    table: usize,
    answers: &Answers<'_>,
    rows: &[usize],
) -> Result<(Likelihood, Option<Vec<f64>>)> {
    learned_once(posterior, table)?;
    let times = answers.each(rows, |row| answers.times(row))?;
    let made = answers.likelihood(rows)?;
    let made = made.map_err(|error| answers.refused(rows, error))?;
    let is_repeated = times.iter().any(|n| *n != 1.0);
    Ok((made, is_repeated.then_some(times)))
}

/// Refuses rows like those of a table whose learned noise is not the first of its likelihood: they
/// would be taken to have that.
fn learned_once(posterior: &Posterior, table: usize) -> Result<()> {
    let tables = posterior.observations();
    let (like, output) = (tables[table].likelihood(), tables[table].output());
    if like.local().parameters(1.0).is_empty() {
        return Ok(());
    }
    let is_same =
        |t: &usize| tables[*t].likelihood().name() == like.name() && tables[*t].output() == output;
    let first = (0..tables.len()).find(is_same).unwrap_or(table);
    let groups = posterior.instruments(output, Scale::Observation);
    let is_alike = |group: &Vec<usize>| group.contains(&first) && group.contains(&table);
    if first == table || groups.iter().any(is_alike) {
        return Ok(());
    }
    anyhow::bail!(
        "learned noise, thresholds or dispersion differ between tables of this likelihood; add the rows to their table and fit again"
    )
}

impl Answers<'_> {
    fn likelihood(&self, rows: &[usize]) -> Result<Result<Likelihood, InputError>> {
        let values = || self.each(rows, |row| self.value(row));
        let made = |made: Result<Likelihood, InputError>| Ok(made);
        if self.as_interval {
            let (lower, upper) = self.ends(rows)?;
            return made(Interval::new(lower, upper, self.noise(rows)?).map(Into::into));
        }
        match self.like {
            Likelihood::Gaussian(own) => {
                let rows = Gaussian::new(values()?, self.noise(rows)?);
                made(
                    rows.and_then(|rows| rows.behind(own.link()))
                        .map(Into::into),
                )
            }
            Likelihood::StudentT(own) => {
                let degrees = own.degrees_setting();
                made(StudentT::new(values()?, self.noise(rows)?, degrees).map(Into::into))
            }
            Likelihood::Interval(_) => {
                let (lower, upper) = self.ends(rows)?;
                made(Interval::new(lower, upper, self.noise(rows)?).map(Into::into))
            }
            Likelihood::Censored(_) => {
                let (lower, upper) = self.ends(rows)?;
                made(Censored::between(lower, upper, self.noise(rows)?).map(Into::into))
            }
            Likelihood::Ordinal(own) => {
                let ranks = self.each(rows, |row| self.rank(row))?;
                let thresholds = own.thresholds_setting().clone();
                made(Ordinal::new(ranks, thresholds, self.noise(rows)?).map(Into::into))
            }
            Likelihood::Bernoulli(own) => {
                let values = self.each(rows, |row| self.yes(row))?;
                made(Ok(Bernoulli::new(values, own.sigmoid()).into()))
            }
            Likelihood::Binomial(own) => {
                let trials = self.each(rows, |row| self.same_or_given(TRIALS, row))?;
                made(Binomial::new(values()?, trials, own.sigmoid()).map(Into::into))
            }
            Likelihood::Poisson(own) => {
                let ((lower, upper), exposure) = self.counts(rows)?;
                made(Poisson::ranges(lower, upper, exposure, own.link()).map(Into::into))
            }
            Likelihood::NegativeBinomial(own) => {
                let ((lower, upper), exposure) = self.counts(rows)?;
                let (link, dispersion) = (own.link(), own.dispersion());
                let rows = NegativeBinomial::ranges(lower, upper, exposure, link, dispersion);
                made(rows.map(Into::into))
            }
            Likelihood::Exponential(own) => {
                made(Exponential::new(values()?, own.link()).map(Into::into))
            }
            Likelihood::Gamma(own) => made(Gamma::new(values()?, own.shape()).map(Into::into)),
            Likelihood::LogNormal(own) => {
                let sd = self.log_sd(own.sd(), rows)?;
                made(LogNormal::new(values()?, sd).map(Into::into))
            }
            Likelihood::Laplace(own) => {
                let same = same(own.scale());
                let scale = self.each(rows, |row| self.scale(row, same))?;
                made(Laplace::new(values()?, scale).map(Into::into))
            }
            other => anyhow::bail!("no row can be added to those that are `{}`", other.name()),
        }
    }

    fn value(&self, row: usize) -> Result<f64, Problem> {
        self.one(VALUE, row)?.ok_or_else(|| {
            let message = format!("there is no `{}`; fill it in", self.name(VALUE));
            Problem::new(message).at(self.place(VALUE, row))
        })
    }

    fn rank(&self, row: usize) -> Result<usize, Problem> {
        let rank = self.value(row)?;
        match rank.fract() == 0.0 && rank >= 1.0 {
            true => Ok(rank as usize),
            false => Err(self.wrong(
                VALUE,
                row,
                "this is no rank; ranks are 1, 2, ..",
                "number the grades 1, 2, 3, .. from the lowest",
            )),
        }
    }

    fn yes(&self, row: usize) -> Result<bool, Problem> {
        match self.value(row)? {
            1.0 => Ok(true),
            0.0 => Ok(false),
            _ => Err(self.wrong(
                VALUE,
                row,
                "this is neither yes nor no",
                "write 1 or 0, yes or no",
            )),
        }
    }

    pub fn wrong(
        &self,
        word: &str,
        row: usize,
        message: impl Into<String>,
        remedy: &str,
    ) -> Problem {
        let problem = Problem::new(message).at(self.place(word, row));
        problem.remedy(remedy.to_owned())
    }

    fn times(&self, row: usize) -> Result<f64, Problem> {
        let times = self.one(TIMES, row)?.or_else(|| self.row.known(TIMES));
        match times.unwrap_or(1.0) {
            times if times >= 1.0 && times.fract() == 0.0 => Ok(times),
            times => Err(self.wrong(
                TIMES,
                row,
                format!("the row was seen {times} times; it must be a whole number from 1 on"),
                "leave rows out that were not seen",
            )),
        }
    }

    /// The exposure or the trials of a row: its own, else those of all rows of its table.
    fn same_or_given(&self, word: &str, row: usize) -> Result<f64, Problem> {
        let given = self.one(word, row)?;
        given.or_else(|| self.row.known(word)).ok_or_else(|| {
            let name = self.name(word);
            self.wrong(
                word,
                row,
                format!("the {word} of a new row is not known: it differs from row to row"),
                &format!("give it in a column `{name}`"),
            )
        })
    }

    fn counts(&self, rows: &[usize]) -> Result<(Ends, Vec<f64>), Problems> {
        let ends = self.each(rows, |row| self.count(row))?;
        let exposure = self.each(rows, |row| self.same_or_given(EXPOSURE, row))?;
        Ok((ends.into_iter().unzip(), exposure))
    }

    /// A count, or a range of them: `<5`.
    fn count(&self, row: usize) -> Result<(f64, f64), Problem> {
        let Some(text) = self.text(VALUE, row)? else {
            let (lower, upper) = self.between(row)?;
            return Ok((lower.max(0.0), upper));
        };
        let is_range = text.parse::<f64>().is_err();
        match read_cell(Reading::Count, text) {
            Ok(range) if is_range => Ok(range),
            Err(bad) if is_range => Err(self.wrong(VALUE, row, bad.fact, bad.remedy)),
            _ => self.value(row).map(|count| (count, count)),
        }
    }

    /// Both ends of what lies between `lower` and `upper`, or of `value`.
    ///
    /// # Errors
    /// Cells that are no numbers, ends in the wrong order, and values of which it is not known
    /// whether they were reported in place of others.
    pub fn ends(&self, rows: &[usize]) -> Result<Ends, Problems> {
        let ends = self.each(rows, |row| match (self.like, self.as_interval) {
            (Likelihood::Poisson(_) | Likelihood::NegativeBinomial(_), _) => self.count(row),
            (Likelihood::Censored(_), false) => self.reading(row),
            _ => match self.cell(VALUE, row)? {
                Some(ends) => Ok(ends),
                None => self.between(row),
            },
        })?;
        Ok(ends.into_iter().unzip())
    }

    fn between(&self, row: usize) -> Result<(f64, f64), Problem> {
        let (lower, upper) = (self.cell(LOWER, row)?, self.cell(UPPER, row)?);
        let ends = (
            lower.map_or(f64::NEG_INFINITY, |l| l.0),
            upper.map_or(f64::INFINITY, |u| u.1),
        );
        match ends.0 <= ends.1 {
            true => Ok(ends),
            false => Err(self.wrong(
                LOWER,
                row,
                "`lower` lies above `upper`; exchange the two",
                "the lower end is the smaller number",
            )),
        }
    }

    /// A reading of an instrument with limits: at or beyond one only that is known.
    fn reading(&self, row: usize) -> Result<(f64, f64), Problem> {
        let Some((value, upper)) = self.cell(VALUE, row)? else {
            return self.between(row);
        };
        if value != upper {
            return Ok((value, upper));
        }
        match self.side(row)? {
            Some(side) if side < 0.0 => return Ok((f64::NEG_INFINITY, value)),
            Some(side) if side > 0.0 => return Ok((value, f64::INFINITY)),
            _ => {}
        }
        let least = self.limit(LOWER_LIMIT, row)?.unwrap_or(f64::NEG_INFINITY);
        let most = self.limit(UPPER_LIMIT, row)?.unwrap_or(f64::INFINITY);
        if most <= least {
            let message = format!("the upper limit is {most}, not above the lower one, {least}");
            return Err(self.wrong(UPPER_LIMIT, row, message, "exchange the two limits"));
        }
        Ok(match value {
            value if value <= least => (f64::NEG_INFINITY, least),
            value if value >= most => (most, f64::INFINITY),
            value => (value, value),
        })
    }

    /// Below zero where a value is censored from the left, above where from the right.
    fn side(&self, row: usize) -> Result<Option<f64>, Problem> {
        let Some(text) = self.text(SIDE, row)? else {
            return Ok(None);
        };
        let mark = self.row.mark.unwrap_or(Mark::Side);
        let reading = match mark {
            Mark::Side => Reading::Side,
            Mark::Flag { .. } => Reading::Flag,
        };
        let read = read_cell(reading, text);
        let (said, _) = read.map_err(|bad| self.wrong(SIDE, row, bad.fact, bad.remedy))?;
        Ok(Some(match mark {
            Mark::Side => said,
            Mark::Flag { when, .. } if (said != 0.0) != when => 0.0,
            Mark::Flag { is_left: true, .. } => -1.0,
            Mark::Flag { .. } => 1.0,
        }))
    }

    /// A limit of the instrument, where it has one.
    fn limit(&self, word: &str, row: usize) -> Result<Option<f64>, Problem> {
        if let Some(limit) = self.one(word, row)?.or_else(|| self.row.known(word)) {
            return Ok(Some(limit));
        }
        // An empty cell of the column is no limit, as in the table.
        if !self.row.columns.contains_key(word) || self.has_own(word) {
            return Ok(None);
        }
        let name = self.name(word);
        Err(self.wrong(
            VALUE,
            row,
            format!("the {word} of this reading is not known: it differs from row to row"),
            &format!("give it in a column `{name}`, or write `<` or `>` where it was reached"),
        ))
    }

    /// What the library refuses, at the cell that it is about.
    fn refused(&self, rows: &[usize], error: InputError) -> anyhow::Error {
        let (what, at, fact) = match &error {
            InputError::NotFinite { what, row, value } => {
                let fact = format!("{what} is {value}; every number must be finite");
                (what, *row, fact)
            }
            InputError::Range {
                what,
                row,
                value,
                requirement,
            } => {
                let fact = format!("{what} is {value}; it must be {requirement}");
                (what, *row, fact)
            }
            _ => return error.into(),
        };
        let Some(row) = rows.get(at) else {
            return error.into();
        };
        let mut words = [VARIANCE, SD, SCALE, EXPOSURE, TRIALS].into_iter();
        let word = words.find(|word| {
            let is_noise = *word == SD && what.contains(VARIANCE);
            (what.contains(word) || is_noise) && self.has(word, *row)
        });
        let problem = Problem::new(fact).at(self.place(word.unwrap_or(VALUE), *row));
        Problems::from(problem).into()
    }
}
