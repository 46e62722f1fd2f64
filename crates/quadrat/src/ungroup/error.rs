//! What cannot be ungrouped, and what should be known of what was.

use thiserror::Error;

use crate::error::LinalgError;

/// Bands cannot be ungrouped; the message states the fact and the remedy.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum UngroupError {
    /// Too few bands.
    #[error(
        "there {} {rows} band{}, which says nothing of how the count changes: give two bands at least",
        if *rows == 1 { "is" } else { "are" },
        if *rows == 1 { "" } else { "s" }
    )]
    TooFew {
        /// Bands given.
        rows: usize,
    },
    /// More bands than can be taken.
    #[error("there are {rows} bands, and at most {most} can be ungrouped: join some of them")]
    TooMany {
        /// Bands given.
        rows: usize,
        /// The most.
        most: usize,
    },
    /// Lengths that must agree.
    #[error("there are {got} {what} for {expected} bands; give one for each")]
    Lengths {
        /// What was counted.
        what: &'static str,
        /// How many are needed.
        expected: usize,
        /// How many were given.
        got: usize,
    },
    /// An edge that is no number, or infinite on the wrong side.
    #[error(
        "an edge of row {row} (counted from 0) is {value}: edges are numbers, and only the last band may be open above and the first below"
    )]
    Edge {
        /// Row, counted from 0.
        row: usize,
        /// The edge.
        value: f64,
    },
    /// A band whose ends are in the wrong order.
    #[error(
        "the band of row {row} (counted from 0) begins at {lower} and ends at {upper}: it must end above its beginning"
    )]
    Band {
        /// Row, counted from 0.
        row: usize,
        /// Its beginning.
        lower: f64,
        /// Its end.
        upper: f64,
    },
    /// A band that is too narrow for the axis.
    #[error(
        "the band of row {row} (counted from 0), {lower} to {upper}, is too narrow beside the whole axis: join it with its neighbour, or let the last band end farther out"
    )]
    Narrow {
        /// Row, counted from 0.
        row: usize,
        /// Its beginning.
        lower: f64,
        /// Its end.
        upper: f64,
    },
    /// An open band with another one beyond it.
    #[error(
        "the band of row {row} (counted from 0), open {}, has the band of row {other} beyond it: only the outermost band may be open",
        if *above { "above" } else { "below" }
    )]
    OpenWithin {
        /// The open band, counted from 0.
        row: usize,
        /// The band beyond it.
        other: usize,
        /// Whether it is open above.
        above: bool,
    },
    /// Bands with nothing between them.
    #[error(
        "nothing is told from {from} to {to}, between the bands of rows {row} and {other} (counted from 0): bands must adjoin; the ages 0 to 4 are the band from 0 to 5"
    )]
    Gap {
        /// The band before, counted from 0.
        row: usize,
        /// The band after.
        other: usize,
        /// Where the gap begins.
        from: f64,
        /// Where it ends.
        to: f64,
    },
    /// Bands that overlap.
    #[error(
        "the bands of rows {row} and {other} (counted from 0) overlap from {from} to {to}: everybody must be in one band; leave totals and parts out"
    )]
    Overlap {
        /// The band that begins first, counted from 0.
        row: usize,
        /// The other.
        other: usize,
        /// Where they begin to overlap.
        from: f64,
        /// Where they cease to.
        to: f64,
    },
    /// A count that is none.
    #[error(
        "the count of row {row} (counted from 0) is {value}; counts are finite and at least zero"
    )]
    Count {
        /// Row, counted from 0.
        row: usize,
        /// The count.
        value: f64,
    },
    /// An exposure that is none.
    #[error(
        "the exposure of row {row} (counted from 0) is {value}; exposures are finite and at least zero"
    )]
    NotExposure {
        /// Row, counted from 0.
        row: usize,
        /// The exposure.
        value: f64,
    },
    /// Nobody was exposed in any band.
    #[error("all exposures are zero: events need somebody to whom they happen")]
    Nobody,
    /// Events where nobody was exposed.
    #[error(
        "row {row} (counted from 0) has {events} events and an exposure of {exposure}: events need somebody to whom they happen"
    )]
    NoExposure {
        /// Row, counted from 0.
        row: usize,
        /// Its events.
        events: f64,
        /// Its exposure.
        exposure: f64,
    },
    /// What is wrong with the exposure in its own bands.
    #[error("the exposure: {0}")]
    Exposure(Box<UngroupError>),
    /// Events outside of the bands of the exposure.
    #[error(
        "the exposure is told from {from} to {to}, and the events from {first} to {last}: its bands must cover theirs; end both at the same place, or leave events out"
    )]
    Uncovered {
        /// Where the exposure begins.
        from: f64,
        /// Where it ends.
        to: f64,
        /// Where the events begin.
        first: f64,
        /// Where they end.
        last: f64,
    },
    /// Events that are no whole numbers.
    #[error(
        "row {row} (counted from 0) has {value} events; rates are learned from whole numbers of events"
    )]
    Events {
        /// Row, counted from 0.
        row: usize,
        /// Its events.
        value: f64,
    },
    /// What is wrong with one of several years; rows are counted within it.
    #[error("of the year {at}: {error}")]
    InYear {
        /// Which of the years, counted from 0.
        year: usize,
        /// When it is.
        at: f64,
        /// What is wrong.
        error: Box<UngroupError>,
    },
    /// A year that is no number.
    #[error("year {year} (counted from 0) is {at}: years are finite numbers")]
    NoYear {
        /// Which of the years, counted from 0.
        year: usize,
        /// What was given.
        at: f64,
    },
    /// A year that is given twice.
    #[error("years {year} and {other} (counted from 0) are both {at}: give each year once")]
    YearTwice {
        /// Which of the years, counted from 0.
        year: usize,
        /// The other.
        other: usize,
        /// When both are.
        at: f64,
    },
    /// More years than can be taken together.
    #[error(
        "{years} years have {bands} bands and {cells} cells in all, and at most {} bands and {} cells can be ungrouped together: take fewer years at a time, or wider steps, or ungroup each year by itself",
        most.0, most.1
    )]
    TooManyYears {
        /// How many years.
        years: usize,
        /// Bands of all.
        bands: usize,
        /// Cells of all.
        cells: usize,
        /// The most bands and cells.
        most: (usize, usize),
    },
    /// Nothing was counted.
    #[error("all counts are zero: there is nothing to be ungrouped")]
    Nothing,
    /// Less was counted than can be told apart.
    #[error(
        "the counts add up to {total:e}, which double precision cannot hold apart: change their unit"
    )]
    Size {
        /// Their sum.
        total: f64,
    },
    /// An open band of which nobody said where it ends.
    #[error(
        "the last band is open above {edge}, and nothing says how it falls off: give a tail (Gompertz for ages, Pareto for money, exponential with its slope) and where it ends, or close the band"
    )]
    Open {
        /// Where the band begins.
        edge: f64,
    },
    /// An open first band of which nobody said where it begins.
    #[error("the first band is open below {edge}: say where it begins")]
    OpenBelow {
        /// Where the band ends.
        edge: f64,
    },
    /// An end that lies within closed bands.
    #[error("{what} is {value}; it must be {requirement}")]
    Setting {
        /// Which one.
        what: &'static str,
        /// What was given.
        value: f64,
        /// What would be accepted.
        requirement: String,
    },
    /// A tail of incomes without their axis.
    #[error("a Pareto tail needs a logarithmic axis: ask for one")]
    ParetoAxis,
    /// A place that a logarithmic axis does not have.
    #[error(
        "the band of row {row} (counted from 0) begins at {lower}, and a logarithmic axis begins at zero"
    )]
    NoLogarithm {
        /// Row, counted from 0.
        row: usize,
        /// Where it begins.
        lower: f64,
    },
    /// More cells than can be inferred.
    #[error(
        "{cells} cells are asked for, and at most {most} can be told at once: ask for wider steps, or for fewer edges"
    )]
    TooFine {
        /// How many cells there would be.
        cells: usize,
        /// The most.
        most: usize,
    },
    /// The search for the mode failed, or no draw could be moved to its totals.
    #[error(
        "no curve was found whose totals are those of the bands: {reason}; look for counts that jump by many orders from band to band"
    )]
    NoCurve {
        /// What failed.
        reason: String,
    },
    /// Linear algebra that failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
}

impl UngroupError {
    /// The same refusal of a column of exposures, which is no column of counts.
    pub(super) fn of_exposure(self) -> Self {
        match self {
            Self::Count { row, value } => Self::NotExposure { row, value },
            Self::Nothing => Self::Nobody,
            other => other,
        }
    }
}

/// Something that should be known before a result is trusted.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Warning {
    /// Few draws carry the weight.
    #[error(
        "intervals inside bands are rough, totals and sums of bands hold (draws that count are {:.0} % of all): counts jump from band to band more than is usual; look for bands that are wrong, or join them",
        100.0 * effective
    )]
    FewDraws {
        /// Effective share of draws.
        effective: f64,
    },
    /// Few settings of the hyperparameters carry the weight.
    #[error(
        "intervals inside bands are rough ({effective:.1} of {settings} settings of the roughness count): bands are many and precise, or smoother or rougher than is usual; look for bands that are wrong, or compare with another seed"
    )]
    FewSettings {
        /// Effective number of settings.
        effective: f64,
        /// How many were tried.
        settings: usize,
    },
    /// Bands with more events than exposure.
    #[error(
        "more events than exposure in {bands} of the bands: is the exposure in another unit, such as thousands?"
    )]
    Impossible {
        /// How many bands.
        bands: usize,
    },
    /// Bands in which nobody was exposed.
    #[error(
        "nobody was exposed in {bands} of the bands: rates there are told by their neighbours and the prior"
    )]
    Nobody {
        /// How many bands.
        bands: usize,
    },
    /// Draws that could not be moved to their totals.
    #[error("{count} of {draws} draws could not be moved to the totals and were left out")]
    Lost {
        /// How many.
        count: usize,
        /// Of how many.
        draws: usize,
    },
    /// Bands that hardly anybody is in, beside full ones.
    #[error(
        "the density steps by far more than is usual where the bands from {from} to {to}, which hold {count}, end: they are taken to have a level of their own; leave them out where nobody was asked there"
    )]
    Apart {
        /// Where they begin.
        from: f64,
        /// Where they end.
        to: f64,
        /// How many are in them.
        count: f64,
    },
    /// End bands in which nobody was exposed.
    #[error(
        "nobody was exposed {} {at}: rates there are left out, nothing tells them",
        if *above { "above" } else { "below" }
    )]
    Unexposed {
        /// Where exposure begins or ends.
        at: f64,
        /// Whether it ends.
        above: bool,
    },
    /// A closed last band that is much wider than the one before.
    #[error(
        "the last band, {from} to {to}, is far wider than the one before: nothing says how it falls off within; write it as an open one, so that its tail is modelled"
    )]
    WideLast {
        /// Where it begins.
        from: f64,
        /// Where it ends.
        to: f64,
    },
    /// A last step that is shorter than the others.
    #[error("the step {step} does not divide {from} to {to}: the last step is shorter")]
    ShortStep {
        /// The step.
        step: f64,
        /// Where steps begin.
        from: f64,
        /// Where they end.
        to: f64,
    },
    /// Single years that prefer digits.
    #[error(
        "single years are heaped on ages that end in 0 and 5 (Whipple's index {whipple:.0}, 100 is none): they are given as they are; smooth them by grouping into five-year bands that have the heaps in their middle"
    )]
    HeapedYears {
        /// Whipple's index.
        whipple: f64,
    },
    /// Five-year bands that alternate.
    #[error(
        "five-year bands that begin at a multiple of ten hold {:.0} % more than their neighbours, as if ages were heaped: the curve within them follows the heaps; join them to ten-year bands",
        100.0 * (ratio - 1.0)
    )]
    HeapedBands {
        /// Mean ratio of such bands to their neighbours.
        ratio: f64,
    },
}
