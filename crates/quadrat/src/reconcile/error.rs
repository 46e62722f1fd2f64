//! What cannot be reconciled.

use thiserror::Error;

/// Why areas cannot be made to add up.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ReconcileError {
    /// There is no area.
    #[error("there are no areas")]
    Empty,
    /// A parent that is no area.
    #[error("area {node} lies within area {parent}, of {nodes} areas; both are counted from 0")]
    Parent {
        /// The area.
        node: usize,
        /// What it is said to lie within.
        parent: usize,
        /// How many there are.
        nodes: usize,
    },
    /// An area within itself, by way of others.
    #[error("area {node} (counted from 0) lies within itself, by way of what it lies within")]
    Circle {
        /// The area.
        node: usize,
    },
    /// A measurement of an area that does not exist.
    #[error("measurement {row} (counted from 0) is of area {node}, of {nodes} areas")]
    Area {
        /// The measurement.
        row: usize,
        /// The area.
        node: usize,
        /// How many there are.
        nodes: usize,
    },
    /// A measurement that cannot be used.
    #[error("measurement {row} (counted from 0) has the {what} {value}; it must be {requirement}")]
    Number {
        /// The measurement.
        row: usize,
        /// Which of its numbers.
        what: &'static str,
        /// The number.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// An area that is known exactly, twice and differently.
    #[error(
        "measurements {first} and {second} (counted from 0) of one area are exact, and {values:?}"
    )]
    Twice {
        /// One of them.
        first: usize,
        /// The other.
        second: usize,
        /// Their values.
        values: (f64, f64),
    },
    /// An exact total of parts that are exact too, and add up to something else.
    #[error("area {node} (counted from 0) is exactly {total}, and its parts, exact too, {parts}")]
    Contradiction {
        /// The area.
        node: usize,
        /// Its measurement, counted from 0.
        row: usize,
        /// What it is.
        total: f64,
        /// What its parts add up to.
        parts: f64,
    },
    /// Draws of areas of which the measurements say nothing.
    #[error("area {node} (counted from 0) is not told by any measurement, so it cannot be drawn")]
    Undetermined {
        /// The first such area.
        node: usize,
    },
}
