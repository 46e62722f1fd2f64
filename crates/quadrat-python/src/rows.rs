//! The values behind the rows of an observed table, one by one or added up.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use quadrat::likelihood::Likelihood;
use quadrat::model::{Behind, Observations, Posterior as Fitted, RowTotals, RowValues};

use crate::buffers::{Numbers, bytes};
use crate::errors::{Failure, Outcome, few_enough};
use crate::work;

/// Which rows are asked for.
pub struct AskedRows {
    /// The table among those of the posterior.
    pub table: usize,
    /// Whether values are known not to be negative.
    pub non_negative: bool,
    /// The rows of every sum; none where they are asked for one by one.
    pub groups: Option<Vec<Vec<usize>>>,
    /// Of the draws that sums are made of.
    pub seed: u64,
}

enum Found {
    Values(RowValues),
    Totals(RowTotals),
}

/// What is known of the values behind rows, or of their sums.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct Rows {
    fitted: Arc<Fitted>,
    asked: Arc<AskedRows>,
    found: Arc<Found>,
}

impl AskedRows {
    fn behind<'a>(&self, fitted: &'a Fitted) -> Outcome<Behind<'a>> {
        let behind = fitted.behind(self.table)?;
        Ok(match self.non_negative {
            true => behind.non_negative(),
            false => behind,
        })
    }

    fn all(&self, fitted: &Fitted) -> Vec<usize> {
        (0..rows(&fitted.observations()[self.table])).collect()
    }
}

fn rows(table: &Observations) -> usize {
    table.likelihood().rows()
}

impl Rows {
    /// The answer.
    pub fn of(fitted: Arc<Fitted>, asked: AskedRows) -> Outcome<Self> {
        let behind = asked.behind(&fitted)?;
        let found = match &asked.groups {
            None => Found::Values(behind.values(&asked.all(&fitted))?),
            Some(groups) => Found::Totals(behind.totals(groups, asked.seed)?),
        };
        Ok(Self {
            found: Arc::new(found),
            asked: Arc::new(asked),
            fitted,
        })
    }

    fn column<'py>(
        &self,
        py: Python<'py>,
        of: impl FnOnce(&Found) -> Vec<f64> + Send + 'static,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let found = Arc::clone(&self.found);
        let column = work::run(py, move || Ok(of(&found)))?;
        bytes(py, &column)
    }
}

#[pymethods]
impl Rows {
    fn __len__(&self) -> usize {
        match self.found.as_ref() {
            Found::Values(values) => values.len(),
            Found::Totals(totals) => totals.len(),
        }
    }

    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        self.column(py, |found| match found {
            Found::Values(values) => values.mean().to_vec(),
            Found::Totals(totals) => totals.mean(),
        })
    }

    #[getter]
    fn sd<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        self.column(py, |found| match found {
            Found::Values(values) => values.sd().to_vec(),
            Found::Totals(totals) => totals.sd(),
        })
    }

    /// The quantile of every row or sum.
    fn quantile<'py>(&self, py: Python<'py>, p: f64) -> PyResult<Bound<'py, PyByteArray>> {
        self.column(py, move |found| match found {
            Found::Values(values) => values.quantile(p),
            Found::Totals(totals) => totals.quantile(p),
        })
    }

    /// The probability of more than a limit, which every row or sum has its own of.
    fn exceedance<'py>(
        &self,
        py: Python<'py>,
        limits: Numbers,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let (Numbers(limits), found) = (limits, Arc::clone(&self.found));
        let (given, expected) = (limits.len(), self.__len__());
        let above = work::run(py, move || {
            let above = match found.as_ref() {
                Found::Values(values) => values.exceedance_of_each(&limits),
                Found::Totals(totals) => totals.exceedance_of_each(&limits),
            };
            let wrong = || format!("{given} limits for {expected} rows; give one for each");
            above.ok_or_else(|| Failure::Data(wrong()))
        })?;
        bytes(py, &above)
    }

    /// Joint draws of all rows or sums, one after the other.
    fn draws<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let (fitted, asked) = (Arc::clone(&self.fitted), Arc::clone(&self.asked));
        let (found, len) = (Arc::clone(&self.found), self.__len__());
        let drawn = work::run(py, move || {
            few_enough(count, len)?;
            match found.as_ref() {
                Found::Values(_) => {
                    let drawn = asked.behind(&fitted)?;
                    let drawn = drawn.sample(&asked.all(&fitted), count, seed)?;
                    let all = (0..count).flat_map(|draw| (0..len).map(move |row| (row, draw)));
                    Ok(all.map(|at| drawn[at]).collect())
                }
                Found::Totals(totals) if seed == asked.seed => sums(totals, count),
                Found::Totals(_) => {
                    let groups = asked.groups.as_deref().unwrap_or_default();
                    sums(&asked.behind(&fitted)?.totals(groups, seed)?, count)
                }
            }
        })?;
        bytes(py, &drawn)
    }
}

/// So many draws of all sums, one after the other.
fn sums(totals: &RowTotals, count: usize) -> Outcome<Vec<f64>> {
    let drawn: Vec<Vec<f64>> = totals.draws(count);
    if let Some(made) = drawn.iter().map(Vec::len).find(|made| *made < count) {
        return Err(Failure::Data(format!(
            "n is {count}; {made} draws are made of these sums: ask for as many at most, with another seed for others"
        )));
    }
    let draws = 0..count;
    Ok(draws
        .flat_map(|draw| drawn.iter().map(move |own| own[draw]))
        .collect())
}

/// Which of the tables of a posterior is one of those that were given to a fit: some may have been
/// left out of it, or changed.
///
/// # Arguments
/// * `given` - what those tables report; none where they are not known
/// * `table` - which of these, or of the posterior's
pub fn kept(fitted: &Fitted, given: &[Likelihood], table: usize) -> Outcome<usize> {
    let tables = fitted.observations();
    let count = if given.is_empty() {
        tables.len()
    } else {
        given.len()
    };
    if table >= count {
        let known = match count {
            1 => "1 table".to_owned(),
            n => format!("{n} tables"),
        };
        return Err(Failure::Data(format!(
            "table is {table}; the model has {known}, counted from 0"
        )));
    }
    let kept = match given.get(table) {
        None => Some(table),
        Some(own) => {
            let before = given[..table].iter().filter(|other| *other == own);
            let same = (0..tables.len()).filter(|&at| tables[at].likelihood() == own);
            same.clone().nth(before.count())
        }
    };
    let Some(kept) = kept else {
        return Err(Failure::Data(format!(
            "table {table}: some of its rows follow from others and were left out of the fit, or count the events of others again, and what stands behind rows that share events is not told; leave these rows out"
        )));
    };
    let counted = (0..rows(&tables[kept])).map(|row| tables[kept].times(row));
    if counted.clone().any(|times| times < 1.0) {
        return Err(Failure::Data(format!(
            "table {table}: some of its rows count the events of others again, and what stands behind rows that share events is not told; leave the totals out"
        )));
    }
    if counted.clone().any(|times| times != 1.0) {
        return Err(Failure::Data(format!(
            "table {table}: its rows were seen several times (times), and each time has a value of its own behind it; give every row once for each time it was seen, without times"
        )));
    }
    Ok(kept)
}
