//! Tables of answers, column by column, and as CSV.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;

use crate::numbers::{exact, own_number};

/// What writes a file.
pub type Writer<'a> = Box<dyn Fn(&mut dyn Write) -> Result<()> + 'a>;

/// A table, column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name: that of the prediction.
    pub name: String,
    /// Its columns, in the order of the CSV.
    pub columns: Vec<(String, Column)>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Keys, labels and names of outputs.
    Texts(Vec<String>),
}

impl Column {
    /// How many rows it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(all) => all.len(),
            Self::Texts(all) => all.len(),
        }
    }

    /// Whether it has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A cell, as it is written: a number with every digit.
    fn cell(&self, row: usize) -> Cow<'_, str> {
        match self {
            Self::Numbers(all) => Cow::Owned(exact(all[row])),
            Self::Texts(all) => Cow::Borrowed(&all[row]),
        }
    }

    /// Puts the rows of another below its own; a column of numbers and texts is one of texts.
    pub(crate) fn append(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Numbers(all), Self::Numbers(more)) => all.extend(more),
            (Self::Texts(all), Self::Texts(more)) => all.extend(more),
            (all, more) => {
                let cells =
                    |of: &Self| (0..of.len()).map(|row| of.cell(row).into_owned()).collect();
                let [mut texts, rest]: [Vec<String>; 2] = [cells(all), cells(&more)];
                texts.extend(rest);
                *self = Self::Texts(texts);
            }
        }
    }

    /// Numbers where every text is one, such as the years of populations: as who reads the table
    /// takes them.
    pub(crate) fn read(self) -> Self {
        let Self::Texts(texts) = &self else {
            return self;
        };
        let numbers: Option<Vec<f64>> = texts.iter().map(|text| own_number(text)).collect();
        numbers.map_or(self, Self::Numbers)
    }
}

impl Table {
    /// Without rows; columns of texts stand before those of numbers.
    pub(crate) fn new(
        name: &str,
        texts: impl IntoIterator<Item = String>,
        numbers: impl IntoIterator<Item = String>,
    ) -> Self {
        let texts = texts
            .into_iter()
            .map(|name| (name, Column::Texts(Vec::new())));
        let numbers = numbers.into_iter();
        let numbers = numbers.map(|name| (name, Column::Numbers(Vec::new())));
        Self {
            name: name.to_owned(),
            columns: texts.chain(numbers).collect(),
        }
    }

    /// Adds a row: a text or number for every column, in their order.
    pub(crate) fn push<'t>(
        &mut self,
        texts: impl IntoIterator<Item = &'t String>,
        numbers: impl IntoIterator<Item = f64>,
    ) {
        let (mut texts, mut numbers) = (texts.into_iter(), numbers.into_iter());
        for (_, column) in &mut self.columns {
            match column {
                Column::Texts(all) => all.extend(texts.next().cloned()),
                Column::Numbers(all) => all.extend(numbers.next()),
            }
        }
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Writes it as CSV; every number reads back as the same number.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(self.columns.iter().map(|(name, _)| name))?;
        for row in 0..self.rows() {
            for (_, column) in &self.columns {
                table.write_field(&*column.cell(row))?;
            }
            table.write_record(None::<&[u8]>)?;
        }
        Ok(table.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_look_like_numbers_stay_as_they_are() {
        let texts = |all: [&str; 2]| Column::Texts(all.map(str::to_owned).to_vec());
        assert_eq!(texts(["007", "010"]).read(), texts(["007", "010"]));
        assert_eq!(texts(["a", "1"]).read(), texts(["a", "1"]));
        let years = Column::Numbers(vec![1990.0, -0.25]);
        assert_eq!(texts(["1990", "-0.25"]).read(), years);
    }

    #[test]
    fn a_table_is_written_row_by_row() {
        let mut table = Table::new("t", ["who, where".to_owned()], ["x".to_owned()]);
        table.push([&"1.50".to_owned()], [0.1 + 0.2]);
        table.push([&"\"b\"".to_owned()], [1e-7]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        let want = "\"who, where\",x\n1.50,0.30000000000000004\n\"\"\"b\"\"\",1e-7\n";
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }

    #[test]
    fn numbers_below_texts_are_texts() {
        let texts = |all: [&str; 2]| Column::Texts(all.map(str::to_owned).to_vec());
        let mut column = Column::Texts(vec![String::new()]);
        column.append(Column::Numbers(vec![0.5]));
        assert_eq!(column, texts(["", "0.5"]));
        let mut column = Column::Numbers(vec![0.5]);
        column.append(Column::Numbers(vec![2.0]));
        assert_eq!(column, Column::Numbers(vec![0.5, 2.0]));
    }
}
