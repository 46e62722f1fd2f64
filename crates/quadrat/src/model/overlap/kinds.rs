//! Rows that share a part of the inputs, and what is done with them.

/// Rows of counts that look at the same place.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Overlap {
    /// All of them, ascending, counted from 0 over all tables.
    pub rows: Vec<usize>,
    /// One row, and another within it or that meets it.
    pub pair: (usize, usize),
    /// What was done.
    pub treatment: Treatment,
}

/// What is done with rows of counts that overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Treatment {
    /// Every row was made what it counts beyond the rows within it.
    Differences,
    /// The first row of the pair is the total of the rows, and was left out.
    LeftOut,
    /// They have parts in common along a line, and of each counts as large a share that no event
    /// counts more than once.
    Shares,
    /// They stay, as if they counted different events.
    Kept(WhyKept),
}

/// Why overlapping rows of counts stay as they are.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum WhyKept {
    /// The two rows of the pair have a part in common, and each has a part of its own, but not
    /// along a line; or one is within the other, but what is left of it is no box.
    Partly,
    /// The two rows of the pair are of one place, and which of them others belong to is not known.
    Repeated,
    /// The first row of the pair counts so many events fewer than the rows within it.
    TooFew {
        /// How many.
        by: f64,
    },
    /// The first row of the pair counts so many events more than its parts.
    TooMany {
        /// How many.
        by: f64,
    },
    /// The exposures of the rows do not add up.
    Exposures,
    /// The second row of the pair does not say its count exactly.
    Hidden,
}

impl Overlap {
    pub(super) fn new(
        rows: impl IntoIterator<Item = usize>,
        pair: (usize, usize),
        treatment: Treatment,
    ) -> Self {
        let mut rows: Vec<usize> = rows.into_iter().collect();
        rows.sort_unstable();
        Self {
            rows,
            pair,
            treatment,
        }
    }
}
