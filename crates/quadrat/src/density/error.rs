//! What a density cannot be made of, and what should be known of one that was made.

use serde::{Deserialize, Serialize};
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

/// Something that should be known before a density is trusted.
#[derive(Debug, Clone, PartialEq, Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Warning {
    /// Rows left out.
    #[error(
        "{count} of {rows} rows are not finite and were left out, the first is row {first} (counted from 0)"
    )]
    NotFinite {
        /// How many.
        count: usize,
        /// Rows given.
        rows: usize,
        /// The first of them.
        first: usize,
    },
    /// A range that does not hold all that is possible.
    #[error(
        "the density covers {} to {}, not the range {} to {}: it holds all values, and ends at a bound where there is one",
        covered.0, covered.1, asked.0, asked.1
    )]
    Widened {
        /// What was asked for.
        asked: (f64, f64),
        /// What the cells cover.
        covered: (f64, f64),
    },
    /// A value that repeats too often for a density.
    #[error(
        "{:.0} % of the values are {value}: a density has no atoms; if they are rounded give each as the interval that it stands for, half a unit to either side, else the band near them is not to be trusted",
        100.0 * share
    )]
    Ties {
        /// The value.
        value: f64,
        /// Its share of the weight.
        share: f64,
    },
    /// Many values repeat.
    #[error(
        "the {rows} values are only {distinct} different numbers, as if rounded: give each as the interval that it stands for"
    )]
    Rounded {
        /// Values used.
        rows: usize,
        /// How many differ.
        distinct: usize,
    },
    /// Weights far above one.
    #[error(
        "the weights count {total} values, of which only {distinct} differ, as if rounded: divide them by a constant where they say shares, or give each value as the interval that it stands for"
    )]
    Heavy {
        /// Sum of the weights.
        total: f64,
        /// How many values differ.
        distinct: usize,
    },
    /// Counts of bins so large that they were taken in proportion.
    #[error(
        "the {total} values in bins and intervals are taken as {most} in the same proportions: what more of them say is beside what the bins leave open, and bands are a little wide"
    )]
    Proportional {
        /// Their number.
        total: f64,
        /// What it is taken for.
        most: f64,
    },
    /// Different values that share a cell.
    #[error(
        "{:.0} % of the values, which differ, lie in one cell of the grid, so that detail is lost near {place}: take the logarithm of positive data, set a range, or more cells",
        100.0 * share
    )]
    Crowded {
        /// Where.
        place: f64,
        /// Their share of the weight.
        share: f64,
    },
    /// Few values.
    #[error("{rows} values are few: the prior has as much to say as they have")]
    Few {
        /// How many.
        rows: usize,
    },
    /// Values far from all others.
    #[error(
        "values reach {distance:.0} times the scale of the data from its centre: look at {value}"
    )]
    Outlier {
        /// The farthest value.
        value: f64,
        /// Its distance in units of the scale.
        distance: f64,
    },
    /// The importance sample is too uneven.
    #[error(
        "draws are uneven (effective size {effective:.0} of {draws}, Pareto k {pareto_k:.2}): the curve is the average of modes, and the band that of the Laplace approximation"
    )]
    Uneven {
        /// Effective number of draws.
        effective: f64,
        /// Draws made.
        draws: usize,
        /// Shape of the largest weights.
        pareto_k: f64,
    },
    /// The importance sample of two columns is too uneven.
    #[error(
        "draws are uneven (effective size {effective:.0} of {draws}, Pareto k {pareto_k:.2}) and taken without weights: the curve and the band are those of a normal approximation"
    )]
    Unweighted {
        /// Effective number of draws.
        effective: f64,
        /// Draws made.
        draws: usize,
        /// Shape of the largest weights.
        pareto_k: f64,
    },
    /// Intervals merged.
    #[error("{intervals} different intervals were rounded to the edges of {cells} cells")]
    Merged {
        /// Different intervals.
        intervals: usize,
        /// Cells.
        cells: usize,
    },
    /// An end of the range that data without bound lean on.
    #[error(
        "{} % of the weight lies in intervals without an end: the tail beyond them is the prior's",
        percent(*share)
    )]
    OpenEnd {
        /// Their share of the weight.
        share: f64,
    },
    /// Something of one of two columns.
    #[error("column {}: {warning}", column + 1)]
    #[serde(skip)]
    Column {
        /// Which one, counted from 0.
        column: usize,
        /// What.
        warning: Box<Warning>,
    },
    /// Different rows that share a cell of a plane.
    #[error(
        "{:.0} % of the rows lie in one cell of the grid, near {} and {}, so that detail is lost there: take logarithms, set a range, or more cells",
        100.0 * share, place[0], place[1]
    )]
    CrowdedPlane {
        /// Where.
        place: [f64; 2],
        /// Their share of the weight.
        share: f64,
    },
    /// Places of the given column at which there is no row.
    #[error(
        "{empty} of {slices} slices of the given column hold no row: what is shown there is what those beside them and the prior say"
    )]
    Empty {
        /// How many hold none.
        empty: usize,
        /// Slices.
        slices: usize,
    },
    /// Conditional densities that are narrower than the cells.
    #[error(
        "at {:.0} % of the rows most of the probability lies in one cell of the values: what is shown there is the width of the cells; take more",
        100.0 * share
    )]
    Coarse {
        /// The share of the weight of the rows.
        share: f64,
    },
    /// Conditional densities that move faster than the slices tell.
    #[error(
        "at {:.0} % of the rows the densities of neighbouring slices hardly overlap, so that each is blurred: take more slices of the given column",
        100.0 * share
    )]
    Steep {
        /// The share of the weight of the rows.
        share: f64,
    },
    /// Columns that determine each other.
    #[error(
        "the columns determine each other (correlation {correlation:.6}), and what lies on a line has no density: what is shown is the width of the cells"
    )]
    Dependent {
        /// Their correlation on axes that bend.
        correlation: f64,
    },
    /// Several values that each repeat too often for a density.
    #[error(
        "{:.0} % of the values are {values} numbers that repeat, the most frequent is {value}: a density has no atoms; if they are rounded give each as the interval that it stands for, half a unit to either side, else the band near them is not to be trusted",
        100.0 * share
    )]
    SeveralTies {
        /// How many.
        values: usize,
        /// The most frequent.
        value: f64,
        /// Their share of the weight.
        share: f64,
    },
    /// An end that a logarithmic axis takes from intervals.
    #[error(
        "{} % of the weight lies in intervals with no lower end above 0, which are open on a logarithmic axis: the tail down there is the prior's; give the least value that can be as their end, or take no logarithm",
        percent(*share)
    )]
    FromZero {
        /// Their share of the weight.
        share: f64,
    },
    /// Ends beyond which there is no row, where draws are uneven.
    #[error(
        "no row lies {}, but nothing says that no value can: the approximation lets some lie there, and intervals of mean and quantiles are wider than the rows allow; where values end there, set that bound",
        beyond(*least, *most)
    )]
    Beyond {
        /// The lower end of all rows, where the density goes below it.
        least: Option<f64>,
        /// The upper end, where it goes above.
        most: Option<f64>,
    },
    /// The importance sample is too uneven, and rows lie in intervals or boxes.
    #[error(
        "draws are uneven (effective size {effective:.0} of {draws}, Pareto k {pareto_k:.2}): the curve is the average of modes, and the band that of the Laplace approximation, whose draws were moved to where bins hold what their counts say"
    )]
    Lifted {
        /// Effective number of draws.
        effective: f64,
        /// Draws made.
        draws: usize,
        /// Shape of the largest weights.
        pareto_k: f64,
    },
    /// Bins that the functions cannot follow.
    #[error(
        "bins with {} % of the rows hold far more or less than a smooth curve can: curve and band are raised or lowered to their counts there, and jump at their edges",
        percent(*share)
    )]
    Jumps {
        /// The share of the weight of the rows of bins.
        share: f64,
    },
    /// Bins whose counts no density on the cells has.
    #[error(
        "bins with {} % of the rows are too small for the cells, whose parts outside of them hold rows of other bins: the probability of these bins is not what their counts say; take more cells",
        percent(*share)
    )]
    Unmet {
        /// The share of the weight of the rows of bins.
        share: f64,
    },
    /// A curve outside of its own band.
    #[error(
        "where {} % of the probability is the curve lies outside of its own pointwise band: rows say how much wide bins hold, and next to nothing of where within them; probabilities of bins can be trusted, the density within them cannot",
        percent(*share)
    )]
    Missed {
        /// The probability of the cells where it does.
        share: f64,
    },
    /// Rows that leave open everything that is possible.
    #[error(
        "{count} of {rows} rows hold all that is possible, which says nothing, and were left out, the first is row {first} (counted from 0)"
    )]
    Everywhere {
        /// How many.
        count: usize,
        /// Rows given.
        rows: usize,
        /// The first of them.
        first: usize,
    },
}

/// A share that is not nothing in whole percent.
fn percent(share: f64) -> String {
    match share < 0.005 {
        true => "less than 1".to_owned(),
        false => format!("{:.0}", 100.0 * share),
    }
}

/// Where no row is.
fn beyond(least: Option<f64>, most: Option<f64>) -> String {
    let below = least.map(|x| format!("below {}", short(x)));
    let above = most.map(|x| format!("above {}", short(x)));
    let each: Vec<String> = below.into_iter().chain(above).collect();
    each.join(" or ")
}

/// An end that was found from edges of cells, without their rounding.
fn short(x: f64) -> f64 {
    format!("{x:.9e}").parse().unwrap_or(x)
}
