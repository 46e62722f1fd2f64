//! The noise of rows that were measured: their own, or that of their table.

use anyhow::Result;
use quadrat::likelihood::{LogSd, Noise};

use super::answers::Answers;
use crate::diagnostic::{Problem, Problems};
use crate::new_row::{SCALE, SD, VARIANCE};

impl Answers<'_> {
    /// The mean absolute error of double exponential noise.
    pub fn scale(&self, row: usize, same: Option<f64>) -> Result<f64, Problem> {
        if let Some(scale) = self.one(SCALE, row)? {
            return Ok(scale);
        }
        // The variance is twice the square of the scale.
        let given = self.given_variance(row)?.map(|v| (0.5 * v).sqrt());
        given.or(same).ok_or_else(|| self.unknown(SCALE, row))
    }

    /// The sds of logarithms.
    pub fn log_sd(&self, own: &LogSd, rows: &[usize]) -> Result<LogSd, Problems> {
        let same = match own {
            LogSd::Each(sds) => same(sds),
            LogSd::Known(sd) => Some(*sd),
            LogSd::Learned => {
                let given = rows.iter().find(|row| self.has(SD, **row));
                return match given {
                    Some(row) => Err(self.needless(SD, *row).into()),
                    None => Ok(LogSd::Learned),
                };
            }
        };
        let sds = self.each(rows, |row| {
            let known = self.one(SD, row)?.or(same);
            known.ok_or_else(|| self.unknown(SD, row))
        })?;
        Ok(match sds.first() {
            Some(first) if sds.iter().all(|sd| sd == first) => LogSd::Known(*first),
            _ => LogSd::Each(sds),
        })
    }

    /// The noise of new rows: as in their table, or that of a column `variance` or `sd`.
    pub fn noise(&self, rows: &[usize]) -> Result<Noise> {
        let Some(own) = self.like.noise() else {
            anyhow::bail!("rows that are `{}` have no noise", self.like.name());
        };
        let each = |all: &[f64]| {
            let same = same(all);
            self.each(rows, |row| match self.given_variance(row)?.or(same) {
                Some(variance) => Ok(variance),
                None => Err(self.unknown(VARIANCE, row)),
            })
        };
        Ok(match own {
            Noise::Learned => {
                let is_given = |row: &&usize| self.has(VARIANCE, **row) || self.has(SD, **row);
                if let Some(row) = rows.iter().find(is_given) {
                    let word = if self.has(SD, *row) { SD } else { VARIANCE };
                    return Err(Problems::from(self.needless(word, *row)).into());
                }
                Noise::Learned
            }
            Noise::Known(all) => Noise::Known(each(all)?),
            Noise::KnownPlusLearned(all) => Noise::KnownPlusLearned(each(all)?),
        })
    }

    /// The noise variance that a row says.
    fn given_variance(&self, row: usize) -> Result<Option<f64>, Problem> {
        let (variance, sd) = (self.one(VARIANCE, row)?, self.one(SD, row)?);
        let remedy = "a variance is the square of the standard deviation";
        match (variance, sd) {
            (Some(_), Some(_)) => Err(self.wrong(
                SD,
                row,
                "the row has a `variance` and an `sd`",
                "leave one of the columns out",
            )),
            (Some(variance), _) if variance < 0.0 => Err(self.wrong(
                VARIANCE,
                row,
                format!("the variance is {variance}; it cannot be negative"),
                remedy,
            )),
            (_, Some(sd)) if sd < 0.0 => Err(self.wrong(
                SD,
                row,
                format!("the sd is {sd}; it cannot be negative"),
                remedy,
            )),
            (variance, sd) => Ok(variance.or(sd.map(|sd| sd * sd))),
        }
    }

    fn needless(&self, word: &str, row: usize) -> Problem {
        let message = "rows have noise of their own, and that of their table is learned";
        self.wrong(word, row, message, "leave the column out")
    }

    /// What of its noise a row does not say.
    fn unknown(&self, word: &str, row: usize) -> Problem {
        let what = match word {
            VARIANCE => "noise variance",
            word => word,
        };
        let remedy = match (
            word,
            self.row.columns.get(SD).or(self.row.columns.get(word)),
        ) {
            (_, Some(own)) => format!("give it in a column `{own}`"),
            (VARIANCE, None) => "give it in a column `variance` or `sd`".to_owned(),
            (word, None) => format!("give it in a column `{word}`"),
        };
        let message = format!("the {what} of a new row is not known: it differs from row to row");
        self.wrong(word, row, message, &remedy)
    }
}

/// The number that all of them are.
pub fn same(all: &[f64]) -> Option<f64> {
    let first = *all.first()?;
    all.iter().all(|one| *one == first).then_some(first)
}
