//! Where a row looks: which columns are coordinates or edges of which dimension.

use std::ops::Range;

use super::fields::{Section, Spanned, kind, text};
use super::shape::{self, Shape};
use crate::grid::Axis;
use crate::numbers::LARGEST;

/// Sum over a box, or average.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// Integral, total.
    Sum,
    /// Average.
    Mean,
}

/// A support described by columns of a table: points or edges, and perhaps a region or bag over
/// further dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct Support {
    /// A region or a bag.
    pub shape: Option<Shape>,
    /// One entry per dimension that is a point or has edges, in the order of the file.
    pub dims: Vec<Dim>,
    /// Sum or average over what has a width; `None` when every dimension is a point.
    pub aggregate: Option<Aggregate>,
    /// Where it is described.
    pub span: Range<usize>,
}

/// One dimension and the columns that give it.
#[derive(Debug, Clone, PartialEq)]
pub struct Dim {
    /// The dimension as the kernel names it.
    pub name: Spanned<String>,
    /// Its columns.
    pub extent: Extent,
}

/// Columns of one dimension.
#[derive(Debug, Clone, PartialEq)]
pub enum Extent {
    /// A coordinate, in a column of the same name.
    Point,
    /// Two edges, in either order.
    Edges(Edge, Edge),
}

/// An edge of a box.
#[derive(Debug, Clone, PartialEq)]
pub enum Edge {
    /// One per row, in a column.
    Column(Spanned<String>),
    /// One for all rows.
    Number(Spanned<f64>),
}

impl Edge {
    /// Its column, where it has one.
    pub fn column(&self) -> Option<&Spanned<String>> {
        match self {
            Self::Column(name) => Some(name),
            Self::Number(_) => None,
        }
    }

    /// The header of its column in tables of answers: that of its own, else that of a cell.
    pub fn header(&self, dim: &str, side: &str) -> String {
        self.column()
            .map_or_else(|| format!("{dim}_{side}"), |name| name.value.clone())
    }
}

impl Support {
    /// That of a grid.
    ///
    /// # Arguments
    /// * `otherwise` - where it is described if it has no axis
    pub fn of_grid(
        axes: &[(Spanned<String>, Axis)],
        aggregate: Option<Aggregate>,
        otherwise: &Range<usize>,
    ) -> Self {
        let dim = |(name, axis): &(Spanned<String>, Axis)| Dim {
            name: name.clone(),
            extent: match axis.cells {
                true => Extent::Edges(Edge::Column(name.clone()), Edge::Column(name.clone())),
                false => Extent::Point,
            },
        };
        Self {
            shape: None,
            dims: axes.iter().map(dim).collect(),
            aggregate,
            span: axes
                .first()
                .map_or(otherwise.clone(), |(name, _)| name.span.clone()),
        }
    }

    /// Whether any dimension has a width.
    pub fn has_boxes(&self) -> bool {
        self.dims.iter().any(|dim| dim.extent != Extent::Point)
    }

    /// The names of all dimensions.
    pub fn names(&self) -> impl Iterator<Item = &Spanned<String>> {
        let shape = self.shape.as_ref().map_or(&[][..], Shape::dims);
        shape.iter().chain(self.dims.iter().map(|dim| &dim.name))
    }
}

/// What `support` says besides `grid` and `file`; refused when it says nothing.
pub fn read(inner: &Section<'_>, outer: &Section<'_>, like: &str) -> Option<Support> {
    read_as(inner, like, |has_boxes| aggregate(outer, has_boxes))
}

/// The same, where it is told otherwise how values are aggregated: of supports with a width or
/// without.
pub(super) fn read_as(
    inner: &Section<'_>,
    like: &str,
    aggregate: impl Fn(bool) -> Option<Aggregate>,
) -> Option<Support> {
    const KEYS: [&str; 4] = ["point", "box", "region", "bag"];
    let dims = dims(inner);
    if KEYS.iter().all(|key| inner.get(key).is_none()) {
        inner.check.refuse(
            &inner.span,
            "`support` says nothing about where the rows looked",
            like,
        );
        return None;
    }
    let has_shape = inner.get("region").is_some() || inner.get("bag").is_some();
    let shape = shape::read(inner);
    let aggregate = aggregate(has_shape || inner.get("box").is_some());
    if has_shape && shape.is_none() {
        return None;
    }
    let support = Support {
        shape,
        dims,
        aggregate,
        span: inner.span.clone(),
    };
    let twice = |dim: &&Spanned<String>| support.dims.iter().any(|d| d.name.value == dim.value);
    if let Some(shape) = &support.shape {
        for dim in shape.dims().iter().filter(twice) {
            let message = format!("dimension `{}` is given twice", dim.value);
            inner.check.refuse(
                &dim.span,
                message,
                "keep it either in `dims` or in `point` or `box`",
            );
        }
        if let (Shape::Bag(_), Some(dim)) = (
            shape,
            support.dims.iter().find(|dim| dim.extent != Extent::Point),
        ) {
            inner.check.later(
                &dim.name.span,
                "a `box` beside a `bag`",
                "give the other dimensions as `point`, or as further columns of the bag",
            );
        }
    }
    Some(support)
}

/// The dimensions of the keys `point` and `box` of a support.
fn dims(section: &Section<'_>) -> Vec<Dim> {
    let mut dims = Vec::new();
    boxes(section, &mut dims);
    points(section, &mut dims);
    for (i, dim) in dims.iter().enumerate() {
        if dims[..i]
            .iter()
            .any(|earlier| earlier.name.value == dim.name.value)
        {
            let message = format!("dimension `{}` is given twice", dim.name.value);
            section.check.refuse(
                &dim.name.span,
                message,
                "keep it either in `point` or in `box`",
            );
        }
    }
    dims
}

fn boxes(section: &Section<'_>, dims: &mut Vec<Dim>) {
    const LIKE: &str = "`box = { age = [\"from\", \"to\"] }` with the columns of the two edges, or a number in place of one that all rows share";
    let Some(item) = section.get("box") else {
        return;
    };
    let Some(table) = Section::from_item(section.check, "box", item, LIKE) else {
        return;
    };
    let entries = table.entries();
    if entries.is_empty() {
        section.check.refuse(
            &table.span,
            "`box` names no dimension",
            format!("write {LIKE}"),
        );
    }
    for (name, item) in entries {
        let edges: Option<Vec<_>> = item
            .as_array()
            .filter(|array| array.len() == 2)
            .map(|array| array.iter().filter_map(edge).collect());
        match edges.as_deref() {
            Some([a, b]) => dims.push(Dim {
                name,
                extent: Extent::Edges(a.clone(), b.clone()),
            }),
            _ => {
                let span = item.span().unwrap_or(name.span);
                let got = match item.as_array().map(toml_edit::Array::len) {
                    Some(2) => "other values".to_owned(),
                    Some(n) => format!("an array of {n}"),
                    None => kind(item),
                };
                let message = format!(
                    "the edges of `{}` must be two names of columns, or numbers, not {got}",
                    name.value,
                );
                section
                    .check
                    .refuse(&span, message, format!("write {LIKE}"));
            }
        }
    }
}

/// A name of a column, or a number.
fn edge(value: &toml_edit::Value) -> Option<Edge> {
    let span = value.span().unwrap_or_default();
    if let Some(text) = value.as_str().filter(|text| !text.is_empty()) {
        let value = text.to_owned();
        return Some(Edge::Column(Spanned { value, span }));
    }
    let whole = value.as_integer().map(|number| number as f64);
    let value = value.as_float().or(whole)?;
    (value.abs() <= LARGEST).then_some(Edge::Number(Spanned { value, span }))
}

fn points(section: &Section<'_>, dims: &mut Vec<Dim>) {
    const LIKE: &str = "write `point = [\"age\"]` with the columns of the coordinates";
    let Some(item) = section.get("point") else {
        return;
    };
    let span = item.span().unwrap_or_default();
    let Some(array) = item.as_array().filter(|array| !array.is_empty()) else {
        let message = match item.as_array() {
            Some(_) => "`point` names no column".to_owned(),
            None => format!("`point` must be an array of columns, not {}", kind(item)),
        };
        section.check.refuse(&span, message, LIKE);
        return;
    };
    for value in array {
        let item = toml_edit::Item::Value(value.clone());
        let Some(mut name) = text(section.check, "a column in `point`", &item) else {
            continue;
        };
        name.span = value.span().unwrap_or_else(|| span.clone());
        dims.push(Dim {
            name,
            extent: Extent::Point,
        });
    }
}

/// The key `aggregate`, needed with boxes and meaningless without.
pub fn aggregate(section: &Section<'_>, has_boxes: bool) -> Option<Aggregate> {
    let word = section.word("aggregate", &["sum", "mean"], &[]);
    match (word, has_boxes) {
        (Some(word), true) => Some(if word.value == "sum" {
            Aggregate::Sum
        } else {
            Aggregate::Mean
        }),
        (Some(word), false) if word.value == "sum" => {
            let message = "a point has no width, so `aggregate = \"sum\"` over it is zero";
            section.check.refuse(
                &word.span,
                message,
                "leave `aggregate` out, or give the support a `box` (cells = true in a grid)",
            );
            None
        }
        (None, true) if section.get("aggregate").is_none() => {
            section.missing("aggregate", "say whether the values are totals (`aggregate = \"sum\"`) or averages (`aggregate = \"mean\"`) of where they looked");
            None
        }
        _ => None,
    }
}
