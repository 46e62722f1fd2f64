//! The same table with some columns replaced and others added; every other byte as it was.

use csv::ByteRecord;

use super::{Csv, MARK};

/// A column for the new table: its name, where it goes, and a text for every row.
#[derive(Debug)]
pub struct NewColumn {
    /// The header, for a column that is added.
    pub name: String,
    /// The column whose cells it takes over, whose header stays; `None` adds it at the end.
    pub replaces: Option<usize>,
    /// One plain text per row, without commas, quotes or line ends.
    pub cells: Vec<String>,
}

impl Csv {
    /// The bytes of the new table. The rows must have been read once without a problem.
    pub fn rewritten(&self, new: &[NewColumn]) -> csv::Result<Vec<u8>> {
        let mut replaced: Vec<(usize, &NewColumn)> = new
            .iter()
            .filter_map(|column| Some((column.replaces?, column)))
            .collect();
        replaced.sort_by_key(|(at, _)| *at);
        let added = || new.iter().filter(|column| column.replaces.is_none());
        let mut out = Vec::with_capacity(2 * self.bytes.len());
        if self.marked {
            out.extend_from_slice(MARK);
        }
        let mut reader = self.reader();
        let mut record = ByteRecord::new();
        let (mut copied, mut row) = (0, None);
        loop {
            let start = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
            if !reader.read_byte_record(&mut record)? {
                break;
            }
            for (at, column) in replaced.iter().filter(|_| row.is_some()) {
                let cell = self.cell(start, Some(*at));
                out.extend_from_slice(&self.bytes[copied..cell.start]);
                out.extend_from_slice(text(column, row).as_bytes());
                copied = cell.end;
            }
            let end = self.cell(start, None).end;
            out.extend_from_slice(&self.bytes[copied..end]);
            copied = end;
            for column in added() {
                out.push(b',');
                out.extend_from_slice(text(column, row).as_bytes());
            }
            row = Some(row.map_or(0, |row| row + 1));
        }
        out.extend_from_slice(&self.bytes[copied..]);
        Ok(out)
    }
}

/// The header (quoted where it must be), or the cell of a row.
fn text(column: &NewColumn, row: Option<usize>) -> std::borrow::Cow<'_, str> {
    match row {
        Some(row) => column.cells.get(row).map_or("", String::as_str).into(),
        None if column.name.contains(['"', ',', '\n', '\r']) => {
            format!("\"{}\"", column.name.replace('"', "\"\"")).into()
        }
        None => column.name.as_str().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str, replaces: usize, name: &str) -> String {
        let (csv, headers) = Csv::parse(text.as_bytes().to_vec(), "t.csv").unwrap();
        let any = |_: usize, cell: &str| Ok(cell.to_owned());
        let rows = csv.columns("t.csv", &headers, &[replaces], any).unwrap()[0].len();
        let cells = |word: &str| (0..rows).map(|i| format!("{word}{i}")).collect();
        let new = [
            NewColumn {
                name: String::new(),
                replaces: Some(replaces),
                cells: cells("n"),
            },
            NewColumn {
                name: name.to_owned(),
                replaces: None,
                cells: cells("v"),
            },
        ];
        String::from_utf8(csv.rewritten(&new).unwrap()).unwrap()
    }

    #[test]
    fn every_other_byte_stays() {
        assert_eq!(
            rewritten(
                "a, \"b\" ,c\r\n\"x, \"\"y\"\"\", 5,\r\n\r\n é ,\"6\", 7 \r\n",
                1,
                "w"
            ),
            "a, \"b\" ,c,w\r\n\"x, \"\"y\"\"\",n0,,v0\r\n\r\n é ,n1, 7 ,v1\r\n"
        );
    }

    #[test]
    fn the_last_line_may_end_without_a_newline_and_the_last_column_may_be_replaced() {
        assert_eq!(
            rewritten("a,b\n\"l1\nl2\",5\nz,6", 1, "b, \"w\""),
            "a,b,\"b, \"\"w\"\"\"\n\"l1\nl2\",n0,v0\nz,n1,v1"
        );
        assert_eq!(rewritten("a\n5\n", 0, "w"), "a,w\nn0,v0\n");
        let marked = rewritten("\u{feff}a\n5\n", 0, "w");
        assert_eq!(marked, "\u{feff}a,w\nn0,v0\n");
        assert_eq!(rewritten("a\r5\r6\r", 0, "w"), "a,w\rn0,v0\rn1,v1\r");
    }
}
