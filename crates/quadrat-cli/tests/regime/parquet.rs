//! Tables as Parquet files.

use std::sync::Arc;

use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::draw::Draw;
use crate::mutate;

/// What is done to every table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    Bytes,
    /// A column of other things: days, or numbers of few digits.
    Sort(&'static str),
    /// A column without its cells, or one of them.
    Missing {
        all: bool,
    },
    LeftOut,
    NoRows,
    Nested,
}

impl Changed {
    pub fn draw(draw: &mut Draw) -> Self {
        match draw.below(9) {
            0..=2 => Self::Bytes,
            3 => Self::Sort("int32 NAME (DATE)"),
            4 => Self::Sort("float NAME"),
            5 => Self::Missing {
                all: draw.percent(40),
            },
            6 => Self::LeftOut,
            7 => Self::NoRows,
            _ => Self::Nested,
        }
    }
}

struct Column {
    name: String,
    cells: Vec<Option<String>>,
    /// As the grammar of schemas says it, `NAME` where the name goes.
    sort: &'static str,
}

/// A table as a Parquet file: columns of whole numbers, numbers or texts; empty cells are none.
pub fn as_parquet(csv: &[u8], change: Option<&Changed>, draw: &mut Draw) -> Vec<u8> {
    let mut columns = read(csv);
    let at = draw.below(columns.len());
    match change {
        Some(Changed::Sort(sort)) => columns[at].sort = sort,
        Some(Changed::Missing { all }) => {
            let rows = columns[at].cells.len();
            let row = draw.below(rows.max(1));
            let gone = columns[at].cells.iter_mut().enumerate();
            gone.filter(|(i, _)| *all || *i == row)
                .for_each(|(_, cell)| *cell = None);
        }
        Some(Changed::LeftOut) if columns.len() > 1 => drop(columns.remove(at)),
        Some(Changed::NoRows) => columns.iter_mut().for_each(|c| c.cells.clear()),
        _ => {}
    }
    let is_nested = change == Some(&Changed::Nested);
    let bytes = written(&columns, is_nested);
    match change {
        Some(Changed::Bytes) => mutate::bytes(&bytes, draw),
        _ => bytes,
    }
}

fn read(csv: &[u8]) -> Vec<Column> {
    let mut reader = csv::Reader::from_reader(csv);
    let headers: Vec<String> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let column = |(at, name): (usize, String)| {
        let cell = |record: &csv::StringRecord| {
            let text = record.get(at).unwrap();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let cells: Vec<Option<String>> = records.iter().map(cell).collect();
        let all = |is: &dyn Fn(&str) -> bool| cells.iter().flatten().all(|text| is(text));
        let sort = if all(&|text| text.parse::<i64>().is_ok()) {
            "int64 NAME"
        } else if all(&|text| text.parse::<f64>().is_ok()) {
            "double NAME"
        } else {
            "binary NAME (UTF8)"
        };
        Column { name, cells, sort }
    };
    headers.into_iter().enumerate().map(column).collect()
}

fn written(columns: &[Column], is_nested: bool) -> Vec<u8> {
    let field = |c: &Column| format!("optional {};", c.sort.replace("NAME", &c.name));
    let fields: String = columns.iter().map(field).collect();
    let schema = match is_nested {
        true => format!("message t {{ optional group g {{ {fields} }} }}"),
        false => format!("message t {{ {fields} }}"),
    };
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::default());
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let rows = columns.first().map_or(0, |c| c.cells.len());
    let deepest = if is_nested { 2 } else { 1 };
    if rows > 0 {
        let mut group = writer.next_row_group().unwrap();
        for column in columns {
            let texts: Vec<&str> = column.cells.iter().flatten().map(String::as_str).collect();
            let levels = column.cells.iter();
            let levels: Vec<i16> = levels
                .map(|cell| if cell.is_some() { deepest } else { 0 })
                .collect();
            let number = |text: &&str| text.parse::<f64>().unwrap_or(0.0);
            if column.sort.starts_with("int64") {
                let all = texts.iter().map(|text| text.parse().unwrap()).collect();
                put::<Int64Type, _>(&mut group, &levels, all);
            } else if column.sort.starts_with("double") {
                put::<DoubleType, _>(&mut group, &levels, texts.iter().map(number).collect());
            } else if column.sort.starts_with("float") {
                let all = texts.iter().map(|text| number(text) as f32).collect();
                put::<FloatType, _>(&mut group, &levels, all);
            } else if column.sort.starts_with("int32") {
                let all = texts.iter().map(|text| number(text) as i32).collect();
                put::<Int32Type, _>(&mut group, &levels, all);
            } else {
                let all = texts.iter().map(|text| ByteArray::from(*text)).collect();
                put::<ByteArrayType, _>(&mut group, &levels, all);
            }
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn put<T: DataType, W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    levels: &[i16],
    values: Vec<T::T>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    let typed = column.typed::<T>();
    typed.write_batch(&values, Some(levels), None).unwrap();
    column.close().unwrap();
}
