//! The rows that were added to a model, which is saved with it as they were written.

use std::io::Write;

use crate::diagnostic::Problems;
use crate::engine::Posterior;
use crate::table::Table;
use anyhow::Result;
use serde::{Deserialize, Serialize};

/// The name of the note.
const TOLD: &str = "told";
/// The column of kinds.
const KIND: &str = "kind";

/// A table of all rows that were added: columns as they were named, cells as they were written.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    headers: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Record {
    /// What is saved with a model.
    pub fn of(posterior: &Posterior) -> Self {
        let saved = posterior.note(TOLD);
        saved
            .and_then(|note| serde_json::from_str(note).ok())
            .unwrap_or_default()
    }

    /// Whether no row was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds rows of a table, in its order, each with its kind.
    pub fn add(&mut self, table: &Table, rows: &[(usize, String)]) -> Result<(), Problems> {
        let mut columns = Vec::new();
        for (at, header) in table.headers().iter().enumerate() {
            if header != KIND {
                columns.push((self.column(header), table.texts(at)?));
            }
        }
        let of_kind = self.column(KIND);
        for (row, kind) in rows {
            let mut cells = vec![String::new(); self.headers.len()];
            for (column, texts) in &columns {
                cells[*column].clone_from(&texts[*row]);
            }
            cells[of_kind].clone_from(kind);
            self.rows.push(cells);
        }
        Ok(())
    }

    /// Saves it with a model.
    pub fn keep(&self, posterior: &mut Posterior) -> Result<()> {
        posterior.set_note(TOLD, serde_json::to_string(self)?);
        Ok(())
    }

    /// As a table that `quadrat tell` reads.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let mut table = csv::WriterBuilder::new().flexible(false).from_writer(out);
        table.write_record(&self.headers)?;
        for row in &self.rows {
            // Rows of earlier tables end before the columns of later ones.
            let more = self.headers.len() - row.len();
            let cells = row.iter().map(String::as_str);
            table.write_record(cells.chain(std::iter::repeat_n("", more)))?;
        }
        Ok(table.flush()?)
    }

    /// Where a column stands, which is a new one where there is none of that name.
    fn column(&mut self, header: &str) -> usize {
        let known = self.headers.iter().position(|own| own == header);
        known.unwrap_or_else(|| {
            self.headers.push(header.to_owned());
            self.headers.len() - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        Table::from_csv(text.into(), "t.csv".to_owned()).unwrap()
    }

    #[test]
    fn rows_of_several_tables_are_one_table() {
        let mut record = Record::default();
        let first = table("x,kind,value\n1,point,2.50\n2,point,\n3,grade,1\n");
        record
            .add(&first, &[(0, "point".into()), (2, "grade".into())])
            .unwrap();
        let second = table("value,x,note\n<4,7,\"a, b\"\n");
        record.add(&second, &[(0, "point".into())]).unwrap();
        let mut out = Vec::new();
        record.write(&mut out).unwrap();
        let told = "x,value,kind,note\n1,2.50,point,\n3,1,grade,\n7,<4,point,\"a, b\"\n";
        assert_eq!(String::from_utf8(out).unwrap(), told);
    }
}
