//! The columns of a table that a likelihood names, with the way back to their cells.

use std::ops::Range;

use crate::diagnostic::{Place, Problem, Problems};
use crate::study::fields::{Check, Spanned};
use crate::study::likelihood::{Ends, Given};
use crate::table::Table;

/// How many rows of one problem are listed.
const SHOWN_ROWS: usize = 20;

/// Columns that were read, by the place where the study names them.
pub struct Cells<'a> {
    check: &'a Check<'a>,
    table: &'a Table,
    rows: usize,
    columns: Vec<Column>,
}

/// A column: where the study names it, where it stands, and its cells.
pub struct Column {
    pub named: Range<usize>,
    pub at: usize,
    pub cells: Vec<(f64, f64)>,
}

/// A number per row, or a range, from a column or all the same.
pub struct Values {
    /// The number, or the lower end of the range.
    pub lower: Vec<f64>,
    /// The number, or the upper end.
    pub upper: Vec<f64>,
    /// The column, unless the study gives the number.
    at: Option<usize>,
    /// Where the study names the column or gives the number.
    span: Range<usize>,
}

impl<'a> Cells<'a> {
    /// The columns of a table of so many rows.
    pub fn new(check: &'a Check<'a>, table: &'a Table, rows: usize, columns: Vec<Column>) -> Self {
        Self {
            check,
            table,
            rows,
            columns,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// A column by its name in the study.
    pub fn column(&self, name: &Spanned<String>) -> Option<Values> {
        let column = self.columns.iter().find(|c| c.named == name.span)?;
        let (lower, upper) = column.cells.iter().copied().unzip();
        Some(Values {
            lower,
            upper,
            at: Some(column.at),
            span: column.named.clone(),
        })
    }

    /// A column, or a number for every row.
    pub fn given(&self, given: &Given) -> Option<Values> {
        match given {
            Given::Column(name) => self.column(name),
            Given::Number(number) => Some(Values {
                lower: vec![number.value; self.rows],
                upper: vec![number.value; self.rows],
                at: None,
                span: number.span.clone(),
            }),
        }
    }

    /// Two ends; one that is not given is open.
    pub fn ends(&self, ends: &Ends) -> Option<(Values, Values)> {
        let open = |value: f64, beside: &Values| Values {
            lower: vec![value; self.rows],
            upper: vec![value; self.rows],
            at: beside.at,
            span: beside.span.clone(),
        };
        match (&ends.lower, &ends.upper) {
            (Some(lower), Some(upper)) => Some((self.given(lower)?, self.given(upper)?)),
            (Some(lower), None) => {
                let lower = self.given(lower)?;
                let upper = open(f64::INFINITY, &lower);
                Some((lower, upper))
            }
            (None, Some(upper)) => {
                let upper = self.given(upper)?;
                Some((open(f64::NEG_INFINITY, &upper), upper))
            }
            (None, None) => None,
        }
    }

    /// Notes every row in which `wrong` finds a fact, with its remedy.
    pub fn refuse(
        &self,
        problems: &mut Problems,
        values: &Values,
        wrong: impl Fn(usize) -> Option<(String, &'static str)>,
    ) {
        let found = (0..self.rows).filter_map(|row| Some((row, wrong(row)?)));
        // A number of the study is wrong once, however many rows have it.
        let most = if values.at.is_some() { SHOWN_ROWS } else { 1 };
        for (row, (fact, remedy)) in found.take(most) {
            let place = match values.at {
                Some(at) => self.table.place(row, at),
                None => self.check.source.place(&values.span),
            };
            problems.push(Problem::new(fact).at(place).remedy(remedy));
        }
    }

    /// Where a row stands, when no single cell is at fault.
    pub fn row_place(&self, row: usize) -> Place {
        let at = self.columns.first().map_or(0, |column| column.at);
        self.table.place(row, at)
    }
}
