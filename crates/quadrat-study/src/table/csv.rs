//! Comma-separated tables, read whole; cells are found again in the bytes when one is at fault.

mod rewrite;

use std::ops::Range;

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::bad_cells::BadCells;
use super::number::BadCell;
use crate::diagnostic::{Place, Problem, Problems, Spot};

pub use rewrite::NewColumn;

/// What some programs put before UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes of a CSV file, known to be UTF-8, without a byte order mark.
#[derive(Debug)]
pub struct Csv {
    bytes: Vec<u8>,
    /// Whether the file had a byte order mark.
    marked: bool,
}

impl Csv {
    /// Checks the encoding and reads the header.
    pub fn parse(mut bytes: Vec<u8>, name: &str) -> Result<(Self, Vec<String>), Problem> {
        let whole = |message: String| {
            Problem::new(message).at(Place {
                file: name.to_owned(),
                spot: None,
                column_name: None,
            })
        };
        let marked = bytes.starts_with(MARK);
        if marked {
            bytes.drain(..MARK.len());
        }
        // A zip archive (xlsx, ods) or an OLE file (xls) under the wrong name.
        if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"\xd0\xcf\x11\xe0") {
            return Err(whole(format!("{name} is a spreadsheet, not a CSV table"))
                .remedy("open it in the spreadsheet program and save it as \"CSV UTF-8\""));
        }
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err(
                whole(format!("{name} is UTF-16, not UTF-8")).remedy("save it as \"CSV UTF-8\"")
            );
        }
        if let Err(error) = std::str::from_utf8(&bytes) {
            let at = error.valid_up_to();
            let spot = Spot::in_bytes(&bytes, at..at + 1);
            let place = Place {
                file: name.to_owned(),
                spot: Some(spot),
                column_name: None,
            };
            return Err(Problem::new(format!(
                "{name} is not valid UTF-8 (byte 0x{:02x})",
                bytes[at]
            ))
            .at(place)
            .remedy("save it as \"CSV UTF-8\""));
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(whole(format!("{name} is empty"))
                .remedy("it needs a header line and at least one row"));
        }
        let csv = Self { bytes, marked };
        let mut header = ByteRecord::new();
        let mut reader = csv.reader();
        if let Err(error) = reader.read_byte_record(&mut header) {
            return Err(whole(format!("{name} cannot be read as CSV: {error}"))
                .remedy("save it again as CSV"));
        }
        let headers = header
            .iter()
            .map(|cell| String::from_utf8_lossy(cell).trim().to_owned())
            .collect();
        Ok((csv, headers))
    }

    fn reader(&self) -> Reader<&[u8]> {
        ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(self.bytes.as_slice())
    }

    /// Every row's cells of the wanted columns, read by `parse`, which is told which of the wanted
    /// columns it reads; every row must be as long as the header.
    pub fn columns<T: Clone>(
        &self,
        name: &str,
        headers: &[String],
        wanted: &[usize],
        parse: impl Fn(usize, &str) -> Result<T, BadCell>,
    ) -> Result<Vec<Vec<T>>, Problems> {
        let mut columns: Vec<Vec<T>> = vec![Vec::new(); wanted.len()];
        let mut found = Found {
            csv: self,
            name,
            headers,
            bad: BadCells::default(),
        };
        let mut reader = self.reader();
        let mut record = ByteRecord::new();
        let mut header = true;
        loop {
            let start = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
            match reader.read_byte_record(&mut record) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    let bad = BadCell {
                        fact: format!("this row cannot be read: {error}"),
                        remedy: "save the file again as CSV",
                    };
                    found.add(start, None, bad);
                    break;
                }
            }
            if std::mem::take(&mut header) {
                continue;
            }
            let stop = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
            if stop >= self.bytes.len()
                && let Some(at) = self.open_quote(start)
            {
                let bad = BadCell {
                    fact: "the quote that opens here is never closed".to_owned(),
                    remedy: "close it, or write it twice where the cell itself holds a quote",
                };
                found.at(|| at..at + 1, None, bad);
                break;
            }
            if record.len() > 1 && record.iter().all(<[u8]>::is_empty) {
                let bad = BadCell {
                    fact: "every cell of this row is empty".to_owned(),
                    remedy: "delete the row",
                };
                found.add(start, None, bad);
                continue;
            }
            if record.len() != headers.len() {
                let fact = format!(
                    "this row has {}, the header has {}",
                    cells(record.len()),
                    headers.len()
                );
                let remedy =
                    "give every row as many cells as the header; quote cells that contain commas";
                found.add(start, None, BadCell { fact, remedy });
                continue;
            }
            for (i, (column, &at)) in columns.iter_mut().zip(wanted).enumerate() {
                let cell = std::str::from_utf8(&record[at]).unwrap_or("");
                match parse(i, cell) {
                    Ok(value) => column.push(value),
                    Err(bad) => found.add(start, Some(at), bad),
                }
            }
        }
        found.finish(columns)
    }

    /// Where a cell of a row (from 0, below the header) stands.
    pub fn spot(&self, row: usize, column: usize) -> Option<Spot> {
        let mut reader = self.reader();
        let mut record = ByteRecord::new();
        for _ in 0..=row {
            reader.read_byte_record(&mut record).ok()?;
        }
        let start = usize::try_from(reader.position().byte()).ok()?;
        Some(Spot::in_bytes(&self.bytes, self.cell(start, Some(column))))
    }

    /// Where a name of the header stands.
    pub fn header_spot(&self, column: usize) -> Spot {
        Spot::in_bytes(&self.bytes, self.cell(0, Some(column)))
    }

    /// Where a quote opens, from `start` on, that nothing closes.
    fn open_quote(&self, start: usize) -> Option<usize> {
        let mut cell_start = true;
        let mut open = None;
        for (i, &byte) in self.bytes.iter().enumerate().skip(start) {
            match (open, byte) {
                // A doubled quote closes and opens again at once.
                (Some(_), b'"') => open = None,
                (None, b'"') if cell_start || i > 0 && self.bytes[i - 1] == b'"' => open = Some(i),
                _ => {}
            }
            cell_start = matches!(byte, b',' | b'\n' | b'\r');
        }
        open
    }

    /// The bytes of one cell of the row that starts at `start`, or of the whole row.
    fn cell(&self, start: usize, column: Option<usize>) -> Range<usize> {
        let at = |i: usize| self.bytes.get(i).copied();
        let mut i = start;
        while matches!(at(i), Some(b'\n' | b'\r')) {
            i += 1;
        }
        let row_start = i;
        for k in 0.. {
            let cell_start = i;
            if at(i) == Some(b'"') {
                i += 1;
                loop {
                    match (at(i), at(i + 1)) {
                        (None, _) => break,
                        (Some(b'"'), Some(b'"')) => i += 2,
                        (Some(b'"'), _) => {
                            i += 1;
                            break;
                        }
                        _ => i += 1,
                    }
                }
            }
            while !matches!(at(i), None | Some(b',' | b'\n' | b'\r')) {
                i += 1;
            }
            if column == Some(k) {
                return cell_start..i;
            }
            if at(i) != Some(b',') {
                break;
            }
            i += 1;
        }
        row_start..i
    }
}

/// Problems of one reading, with their places.
struct Found<'a> {
    csv: &'a Csv,
    name: &'a str,
    headers: &'a [String],
    bad: BadCells,
}

impl Found<'_> {
    fn add(&mut self, row_start: usize, column: Option<usize>, bad: BadCell) {
        let csv = self.csv;
        self.at(|| csv.cell(row_start, column), column, bad);
    }

    /// `bytes` are looked for only where they are shown.
    fn at(&mut self, bytes: impl FnOnce() -> Range<usize>, column: Option<usize>, bad: BadCell) {
        let (csv, name, headers) = (self.csv, self.name, self.headers);
        self.bad.add(column, bad, || Place {
            file: name.to_owned(),
            spot: Some(Spot::in_bytes(&csv.bytes, bytes())),
            column_name: column.and_then(|at| headers.get(at).cloned()),
        });
    }

    fn finish<T>(self, columns: Vec<Vec<T>>) -> Result<Vec<Vec<T>>, Problems> {
        self.bad.or(self.name, self.headers, columns)
    }
}

fn cells(n: usize) -> String {
    if n == 1 {
        "1 cell".to_owned()
    } else {
        format!("{n} cells")
    }
}
