//! Prediction tables: the support's own columns, then mean, sd, lower, median, upper, and
//! probabilities where they are wanted; as CSV, or among the properties of GeoJSON.

use std::borrow::Borrow;
use std::io::Write;

use anyhow::Result;

use serde_json::Value;

use crate::answer::{Answer, Chances, draw_name};
use crate::columns::Column;
use crate::geo_file;
use crate::numbers::{ROUNDING, exact};
use crate::places::Places;
use crate::shapes::Shapes;

/// The columns that every prediction table has behind those of its places.
pub const COLUMNS: [&str; 5] = ["mean", "sd", "lower", "median", "upper"];

/// A cell of the table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A key.
    Text(String),
    /// A coordinate or edge.
    Coordinate(f64),
    /// A predicted value, with the standard deviation that says how many of its digits mean
    /// something.
    Value(f64, f64),
    /// The standard deviation of a value.
    Deviation(f64, f64),
    /// Another predicted number, such as a probability.
    Number(f64),
}

impl Cell {
    /// The number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Text(_) => None,
            Self::Coordinate(value)
            | Self::Value(value, _)
            | Self::Deviation(value, _)
            | Self::Number(value) => Some(*value),
        }
    }
}

/// The column that says which output a row is of.
pub const OUTPUT: &str = "output";

/// The header: columns of the places, then [`COLUMNS`], then those of the wanted probabilities.
pub fn header<'a>(places: &Places, chances: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut header = of_places(places);
    header.extend(COLUMNS.map(str::to_owned));
    header.extend(chances.into_iter().cloned());
    header
}

/// The names of the probabilities that an answer has.
pub fn chances(answer: &Answer) -> impl Iterator<Item = &String> {
    answer.chances.iter().map(|(name, _)| name)
}

/// The output where there are several, columns that were kept, and those that tell the place.
pub fn of_places(places: &Places) -> Vec<String> {
    let output = places.output.iter().map(|_| OUTPUT.to_owned());
    let labels = places.labels.iter().map(|labels| labels.header.clone());
    let key = places.shapes.iter().map(|shapes| shapes.header.clone());
    let own = places.shown().flat_map(|dim| dim.headers.iter().cloned());
    output.chain(labels).chain(key).chain(own).collect()
}

/// A name that would head two columns.
pub fn clash(places: &Places, wanted: &Chances) -> Option<String> {
    let mut names = header(places, &wanted.all_columns());
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1])?;
    Some(twice[0].clone())
}

/// The cells that tell the place of a row, in the order of the header.
pub fn place(places: &Places, row: usize) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(2 + 2 * places.dims.len() + COLUMNS.len());
    cells.extend(places.output.iter().cloned().map(Cell::Text));
    let labels = places.labels.iter();
    cells.extend(labels.map(|labels| Cell::Text(labels.cells[row].clone())));
    cells.extend(
        places
            .shapes
            .iter()
            .map(|shapes| Cell::Text(shapes.keys[row].clone())),
    );
    for dim in places.shown() {
        cells.push(match dim.label(row) {
            Some(label) => Cell::Text(label.to_owned()),
            None => Cell::Coordinate(dim.first[row]),
        });
        cells.extend(
            dim.second
                .as_ref()
                .map(|second| Cell::Coordinate(second[row])),
        );
    }
    cells
}

/// One row, in the order of the header.
pub fn row(places: &Places, answer: &Answer, row: usize) -> Vec<Cell> {
    let mut cells = place(places, row);
    let sd = answer.sd[row];
    cells.extend([
        Cell::Value(answer.mean[row], sd),
        Cell::Deviation(sd, answer.mean[row]),
        Cell::Value(answer.lower[row], sd),
        Cell::Value(answer.median[row], sd),
        Cell::Value(answer.upper[row], sd),
    ]);
    let chances = answer.chances.iter();
    cells.extend(chances.map(|(_, column)| Cell::Number(column[row])));
    cells
}

/// The header of a file, where draws stand too.
pub fn whole_header(places: &Places, answer: &Answer) -> Vec<String> {
    let mut header = header(places, chances(answer));
    let simple = answer.simple.iter();
    header.extend(simple.map(|(simple, _)| simple.name().to_owned()));
    header.extend((1..=answer.draws.len()).map(draw_name));
    header
}

/// A row of a file, in the order of its header.
pub fn whole_row(places: &Places, answer: &Answer, at: usize) -> Vec<Cell> {
    let mut cells = row(places, answer, at);
    let simple = answer.simple.iter();
    cells.extend(simple.map(|(_, means)| match means[at].is_nan() {
        true => Cell::Text(String::new()),
        false => Cell::Number(means[at]),
    }));
    let draws = answer.draws.iter();
    cells.extend(draws.map(|draw| Cell::Number(draw[at])));
    cells
}

/// The columns of the file, one part below the other.
pub fn columns<P: Borrow<Places>>(
    parts: impl IntoIterator<Item = (P, Answer)>,
) -> Vec<(String, Column)> {
    let mut all: Vec<(String, Column)> = Vec::new();
    for (places, answer) in parts {
        let places = places.borrow();
        let header = whole_header(places, &answer);
        let own = place_columns(places).into_iter().chain(told(answer));
        if all.is_empty() {
            all = header.into_iter().zip(own).collect();
            continue;
        }
        let pairs = all.iter_mut().zip(own);
        pairs.for_each(|((_, column), own)| column.append(own));
    }
    all
}

/// The columns that tell the places, in the order of the header.
fn place_columns(places: &Places) -> Vec<Column> {
    let rows = 0..places.len();
    let output = places.output.iter();
    let output = output.map(|name| Column::Texts(vec![name.clone(); rows.len()]));
    let labels = places.labels.iter();
    let labels = labels.map(|labels| Column::Texts(labels.cells.clone()));
    let key = places.shapes.iter();
    let key = key.map(|shapes| Column::Texts(shapes.keys.clone()));
    let mut columns: Vec<Column> = output.chain(labels).chain(key).collect();
    for dim in places.shown() {
        let label = |row| dim.label(row).map(str::to_owned);
        let labels: Option<Vec<String>> = rows.clone().map(label).collect();
        let first = labels.filter(|_| dim.labels.is_some());
        columns.push(first.map_or_else(|| Column::Numbers(dim.first.clone()), Column::Texts));
        columns.extend(dim.second.clone().map(Column::Numbers));
    }
    columns
}

/// The columns of an answer. Where a simple method does not tell it, cells are empty.
fn told(answer: Answer) -> impl Iterator<Item = Column> {
    let text = |mean: &f64| match mean.is_nan() {
        true => String::new(),
        false => exact(*mean),
    };
    let simple = move |means: Vec<f64>| match means.iter().any(|mean| mean.is_nan()) {
        true => Column::Texts(means.iter().map(text).collect()),
        false => Column::Numbers(means),
    };
    let own = [
        answer.mean,
        answer.sd,
        answer.lower,
        answer.median,
        answer.upper,
    ];
    let chances = answer.chances.into_iter().map(|(_, column)| column);
    let own = own.into_iter().chain(chances).map(Column::Numbers);
    let beside = answer
        .simple
        .into_iter()
        .map(move |(_, means)| simple(means));
    let draws = answer.draws.into_iter().map(Column::Numbers);
    own.chain(beside).chain(draws)
}

/// Writes the table, one part after the other; every number reads back as the same number.
pub fn write(out: &mut dyn Write, parts: &[(&Places, &Answer)]) -> Result<()> {
    let mut table = csv::Writer::from_writer(out);
    if let Some((places, answer)) = parts.first() {
        table.write_record(whole_header(places, answer))?;
    }
    let mut buffer = Vec::new();
    let rows = parts
        .iter()
        .flat_map(|(places, answer)| (0..places.len()).map(move |i| (places, answer, i)));
    for (places, answer, i) in rows {
        let mut record = csv::ByteRecord::new();
        for cell in whole_row(places, answer, i) {
            buffer.clear();
            match cell {
                Cell::Text(text) => buffer.extend_from_slice(text.as_bytes()),
                Cell::Coordinate(value)
                | Cell::Value(value, _)
                | Cell::Deviation(value, _)
                | Cell::Number(value) => {
                    write_number(&mut buffer, value)?;
                }
            }
            record.push_field(&buffer);
        }
        table.write_byte_record(&record)?;
    }
    Ok(table.flush()?)
}

/// Whether the places are regions, whose predictions can be written as GeoJSON too.
pub fn has_regions(places: &Places) -> bool {
    let shapes = places.shapes.as_ref();
    shapes.and_then(Shapes::regions).is_some()
}

/// A predicted column that the features have as a property already.
pub fn property_clash(places: &Places, wanted: &Chances) -> Option<String> {
    let regions = places.shapes.as_ref()?.regions()?;
    let mut predicted = COLUMNS
        .map(str::to_owned)
        .into_iter()
        .chain(wanted.all_columns());
    predicted.find(|column| regions.file.properties.iter().any(|name| name == column))
}

/// Writes the features again, in the order of the rows, with the row's numbers as further
/// properties.
pub fn write_geo(out: &mut dyn Write, places: &Places, answer: &Answer) -> Result<()> {
    let shapes = places.shapes.as_ref();
    let Some((shapes, regions)) = shapes.and_then(|s| Some((s, s.regions()?))) else {
        anyhow::bail!("only regions can be written as GeoJSON");
    };
    let header = whole_header(places, answer);
    // The key is the feature's own; a file has one output.
    let properties = |at: usize| {
        let cells = whole_row(places, answer, at).into_iter();
        let named = header.iter().cloned().zip(cells);
        let property = |(name, cell): (_, Cell)| Some((name, Value::from(cell.number()?)));
        named.filter_map(property).collect()
    };
    Ok(geo_file::write(
        out,
        &regions.file,
        &shapes.of_row,
        properties,
    )?)
}

/// The shortest text that reads back as the same number; exponents where zeros would pile up.
fn write_number(out: &mut Vec<u8>, value: f64) -> std::io::Result<()> {
    let size = value.abs();
    if size != 0.0 && !(1e-5..1e16).contains(&size) {
        write!(out, "{value:e}")
    } else {
        write!(out, "{value}")
    }
}

/// The rows of an answer that are shown where there is room for so many: of `observed` rows those
/// first of which something is left to be said.
#[must_use]
pub fn shown(observed: bool, answer: &Answer, most: usize) -> Vec<usize> {
    let all = 0..answer.mean.len();
    if !observed {
        return all.take(most).collect();
    }
    let is_open = |&row: &usize| answer.sd[row] > ROUNDING * answer.mean[row].abs();
    let (mut first, known): (Vec<usize>, Vec<usize>) = all.partition(is_open);
    first.extend(known);
    first.truncate(most);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_read_back_exactly(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO) {
            let mut text = Vec::new();
            write_number(&mut text, value).unwrap();
            let back: f64 = std::str::from_utf8(&text).unwrap().parse().unwrap();
            prop_assert_eq!(back.to_bits(), value.to_bits());
            prop_assert!(text.len() < 26);
        }
    }
}
