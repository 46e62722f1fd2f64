//! What a density cannot be made of.

use thiserror::Error;

use crate::error::LinalgError;

/// A density cannot be estimated; the message states the fact and the remedy.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DensityError {
    /// Too few finite rows of positive weight.
    #[error(
        "{usable} of {rows} rows can be used, and a density needs at least two that differ: add rows{}",
        if *usable < *rows { ", or mend those that are not finite or without weight" } else { "" }
    )]
    TooFew {
        /// Rows given.
        rows: usize,
        /// Rows that are finite and have a positive weight.
        usable: usize,
    },
    /// Every value is the same.
    #[error(
        "all {rows} values are {value}: a constant has no density; give values that differ, or an interval for each if they were rounded"
    )]
    Constant {
        /// Rows used.
        rows: usize,
        /// The value.
        value: f64,
    },
    /// Rows that all lie at one place of the given column.
    #[error(
        "all {rows} rows have {value} in the given column: there is one density, not one for each place; estimate it without a given column"
    )]
    OnePlace {
        /// Rows used.
        rows: usize,
        /// The place.
        value: f64,
    },
    /// Intervals without width that share their only end.
    #[error(
        "no interval has an end but {value}, which says nothing of how far values lie from it: give narrower intervals"
    )]
    OneEnd {
        /// The end.
        value: f64,
    },
    /// Weights that are too large.
    #[error(
        "the weights add up to {total:e}, and a density takes at most {most:e}: weights say how many rows like each there are; divide them all by a constant"
    )]
    TooMany {
        /// Their sum.
        total: f64,
        /// The most it may be.
        most: f64,
    },
    /// Values that differ by less than their last digits.
    #[error(
        "the values differ by about {spread:e} near {centre:e}, less than 400 cells need to be told apart by double precision: subtract a constant first"
    )]
    Unresolved {
        /// Their scale.
        spread: f64,
        /// Their centre.
        centre: f64,
    },
    /// Values whose extent is no double.
    #[error(
        "the values extend over more than double precision can hold: divide them by a constant first"
    )]
    TooWide,
    /// A row that has no place on a logarithmic axis.
    #[error(
        "row {row} (counted from 0) is {value}, and a logarithmic axis has no place for it: take the axis as it is, or leave the row out"
    )]
    NoLogarithm {
        /// Row, counted from 0.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A row that lies outside of the bounds.
    #[error(
        "row {row} (counted from 0) is {value}, outside of the bounds {lower} to {upper}: widen the bounds, or leave the row out"
    )]
    Outside {
        /// Row, counted from 0.
        row: usize,
        /// The value.
        value: f64,
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },
    /// A weight or count that is none.
    #[error(
        "the weight of row {row} (counted from 0) is {value}; weights and counts are finite and at least zero"
    )]
    Weight {
        /// Row, counted from 0.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// An interval whose ends are in the wrong order.
    #[error(
        "the interval of row {row} (counted from 0) begins at {lower} and ends at {upper}: the lower end must not exceed the upper"
    )]
    Interval {
        /// Row, counted from 0.
        row: usize,
        /// Its beginning.
        lower: f64,
        /// Its end.
        upper: f64,
    },
    /// A box of a plane that is a line.
    #[error(
        "the box of row {row} (counted from 0) begins and ends at {value}: all its values lie on a line, and a density has no lines; give both edges"
    )]
    Line {
        /// Row, counted from 0.
        row: usize,
        /// Where it lies.
        value: f64,
    },
    /// Lengths that must agree.
    #[error("there are {got} {what} for {expected} rows; give one for each")]
    Lengths {
        /// What was counted.
        what: &'static str,
        /// How many are needed.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// A setting that cannot be used.
    #[error("{what} is {value}; it must be {requirement}")]
    Setting {
        /// Which one.
        what: &'static str,
        /// What was given.
        value: f64,
        /// What would be accepted.
        requirement: &'static str,
    },
    /// Rows outside of the polygons that hold everything.
    #[error(
        "{count} rows lie outside of the polygons, the first is row {first} (counted from 0): delete them, or give polygons that hold them"
    )]
    Beyond {
        /// How many.
        count: usize,
        /// The first, counted from 0.
        first: usize,
    },
    /// A box that does not meet the polygons.
    #[error(
        "a box with a count of {weight} lies outside of the polygons: delete it, or give polygons that reach it"
    )]
    NoReach {
        /// Its count.
        weight: f64,
    },
    /// Polygons that hold no area.
    #[error("the polygons enclose nothing within the bounds: give some with an area there")]
    NoArea,
    /// The intervals say nothing: each contains all that is possible.
    #[error(
        "every interval covers the whole range, so nothing is known of the density: give narrower intervals, or a wider range"
    )]
    SaysNothing,
    /// The search for the mode failed at every setting of the hyperparameters.
    #[error("no mode of the density was found: {reason}; look for extreme weights or values")]
    NoMode {
        /// What stopped the last search.
        reason: String,
    },
    /// Draws from the posterior that cannot be had.
    #[error("the posterior of the density cannot be sampled: {reason}")]
    NotSampled {
        /// Why.
        reason: String,
    },
    /// An answer that exists for positive data only.
    #[error("{what} needs data that cannot be negative: set the lower bound to 0")]
    NotPositive {
        /// What was asked for.
        what: &'static str,
    },
    /// One of two columns that cannot be used.
    #[error("column {}: {error}", column + 1)]
    Column {
        /// Which one, counted from 0.
        column: usize,
        /// Why.
        error: Box<DensityError>,
    },
    /// Linear algebra that failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}
