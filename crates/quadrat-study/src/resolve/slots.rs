//! Coordinates and edges of supports: columns of a table, and numbers that all rows share.

use crate::codes::Codes;
use crate::study::fields::Spanned;
use crate::study::support::{Aggregate, Edge, Extent, Support};
use crate::table::Reading;

/// A coordinate or an edge: from a column, with how its cells are read, or the same for all rows.
enum Slot<'s> {
    Column(&'s Spanned<String>, Reading),
    Number(f64),
}

/// Coordinates and edges of all dimensions, in order.
pub(super) struct Slots<'s>(Vec<Slot<'s>>);

impl<'s> Slots<'s> {
    /// Those of a support.
    ///
    /// # Arguments
    /// * `codes` - of the inputs that hold labels
    pub fn of(support: &'s Support, codes: &Codes) -> Self {
        let of_edge = match support.aggregate {
            Some(Aggregate::Mean) => Reading::EdgeOfMean,
            _ => Reading::Edge,
        };
        let edge = |edge: &'s Edge| match edge {
            Edge::Column(name) => Slot::Column(name, of_edge),
            Edge::Number(number) => Slot::Number(number.value),
        };
        let mut slots = Vec::new();
        for dim in &support.dims {
            match &dim.extent {
                Extent::Point => {
                    let reading = match codes.holds(&dim.name.value) {
                        true => Reading::Label,
                        false => Reading::Number,
                    };
                    slots.push(Slot::Column(&dim.name, reading));
                }
                Extent::Edges(a, b) => slots.extend([edge(a), edge(b)]),
            }
        }
        Self(slots)
    }

    /// The columns among them.
    pub fn columns(&self) -> Vec<(&'s Spanned<String>, Reading)> {
        let column = |slot: &Slot<'s>| match slot {
            Slot::Column(name, reading) => Some((*name, *reading)),
            Slot::Number(_) => None,
        };
        self.0.iter().filter_map(column).collect()
    }

    /// All of them, from what the columns hold, of so many rows.
    pub fn filled(&self, columns: Vec<Vec<f64>>, rows: usize) -> Vec<Vec<f64>> {
        let mut columns = columns.into_iter();
        let one = |slot: &Slot<'_>| match slot {
            Slot::Column(..) => columns.next().unwrap_or_default(),
            Slot::Number(number) => vec![*number; rows],
        };
        self.0.iter().map(one).collect()
    }

    /// The column of the table in which each is shown: of a number that of the one before, or the
    /// first.
    pub fn shown_in(&self, found: &[usize]) -> Vec<usize> {
        let mut last = found.first().copied().unwrap_or(0);
        let mut found = found.iter();
        let one = |slot: &Slot<'_>| {
            if let Slot::Column(..) = slot {
                last = found.next().copied().unwrap_or(last);
            }
            last
        };
        self.0.iter().map(one).collect()
    }
}
