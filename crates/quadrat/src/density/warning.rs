//! What should be known of a density that was made.

use serde::{Deserialize, Serialize};
use thiserror::Error;

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
