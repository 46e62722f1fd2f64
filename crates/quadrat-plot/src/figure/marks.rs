//! What was observed otherwise than as a number: intervals, limits, ranks, counts with an exposure,
//! and signs.

mod check;
mod seen;

use serde::{Deserialize, Serialize};

pub(crate) use seen::Seen;
pub use seen::{Side, Support};

use crate::error::MarkError;

/// Rows observed in one way, drawn in a panel of a curve figure.
///
/// Checked when it is made, so marks that exist can be drawn. Every list has one entry for each
/// row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Marks {
    pub(crate) label: String,
    pub(crate) at: Vec<Support>,
    pub(crate) rows: Vec<String>,
    pub(crate) seen: Seen,
}

/// Marks as they are read, before they are checked.
#[derive(Deserialize)]
struct Unchecked {
    #[serde(default)]
    label: String,
    at: Vec<Support>,
    #[serde(default)]
    rows: Vec<String>,
    seen: Seen,
}

impl TryFrom<Unchecked> for Marks {
    type Error = MarkError;

    fn try_from(raw: Unchecked) -> Result<Self, MarkError> {
        let marks = Self {
            label: raw.label,
            at: raw.at,
            rows: raw.rows,
            seen: raw.seen,
        };
        check::marks(&marks.at, &marks.rows, &marks.seen)?;
        Ok(marks)
    }
}

impl Marks {
    /// Values known only to lie between two ends: a bar from end to end at a place, a box over a
    /// stretch. An end that is infinite is an arrow to the edge of the plot and does not stretch
    /// the axis.
    ///
    /// # Errors
    /// [`MarkError`] for lists of different lengths, ends that are NaN or leave nothing between
    /// them, and unusable places.
    pub fn intervals<S: Into<Support>>(
        at: impl IntoIterator<Item = S>,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<Self, MarkError> {
        let lower = open(lower, f64::NEG_INFINITY);
        let upper = open(upper, f64::INFINITY);
        Self::checked(at, Seen::Intervals { lower, upper })
    }

    /// Values known only to lie on one side of a limit: a ring at the limit with an arrow to that
    /// side.
    ///
    /// # Errors
    /// [`MarkError`] for lists of different lengths and for limits or places that are not finite.
    pub fn censored<S: Into<Support>>(
        at: impl IntoIterator<Item = S>,
        limit: &[f64],
        side: &[Side],
    ) -> Result<Self, MarkError> {
        let (limit, side) = (limit.to_vec(), side.to_vec());
        Self::checked(at, Seen::Censored { limit, side })
    }

    /// Ranks from 1: a tick in the band of its rank, among level lines at the thresholds between
    /// the bands. `thresholds` lie on the vertical axis, one fewer than there are ranks; `names` of
    /// the ranks are written at the right edge, empty for their numbers.
    ///
    /// # Errors
    /// [`MarkError`] for lists of different lengths, thresholds that do not increase, a rank that
    /// has no band, and unusable places.
    pub fn ranks<S: Into<Support>>(
        at: impl IntoIterator<Item = S>,
        rank: &[usize],
        thresholds: &[f64],
        names: &[&str],
    ) -> Result<Self, MarkError> {
        let seen = Seen::Ranks {
            rank: rank.to_vec(),
            thresholds: thresholds.to_vec(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
        };
        Self::checked(at, seen)
    }

    /// Counts as rates: a dot at `per * count / exposure` whose area grows with the exposure. A
    /// count known only to lie from `lower` to `upper` (suppressed) is a bar of the rate, or an
    /// arrow up from a ring where `upper` is infinite. `per` is the exposure that the vertical axis
    /// refers to: 1, or 100000 for cases per 100,000 people.
    ///
    /// # Errors
    /// [`MarkError`] for lists of different lengths, counts below 0 or upside down, an exposure or
    /// a `per` that is not positive and finite, and unusable places.
    pub fn rates<S: Into<Support>>(
        at: impl IntoIterator<Item = S>,
        lower: &[f64],
        upper: &[f64],
        exposure: &[f64],
        per: f64,
    ) -> Result<Self, MarkError> {
        let seen = Seen::Rates {
            lower: lower.to_vec(),
            upper: open(upper, f64::INFINITY),
            exposure: exposure.to_vec(),
            per,
        };
        Self::checked(at, seen)
    }

    /// Answers of yes or no: a tick at the top edge for yes, at the bottom edge for no.
    ///
    /// # Errors
    /// [`MarkError`] for lists of different lengths and for places that are not finite.
    pub fn signs<S: Into<Support>>(
        at: impl IntoIterator<Item = S>,
        yes: &[bool],
    ) -> Result<Self, MarkError> {
        Self::checked(at, Seen::Signs { yes: yes.to_vec() })
    }

    /// The same marks with other words in the legend.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The same marks with the names of their rows, told in tooltips.
    ///
    /// # Errors
    /// [`MarkError::Length`] unless there is one name for each row.
    pub fn with_rows(mut self, rows: Vec<String>) -> Result<Self, MarkError> {
        self.rows = rows;
        check::rows(&self.rows, self.at.len())?;
        Ok(self)
    }

    fn checked<S: Into<Support>>(
        at: impl IntoIterator<Item = S>,
        seen: Seen,
    ) -> Result<Self, MarkError> {
        let marks = Self {
            label: String::new(),
            at: at.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
            seen,
        };
        check::marks(&marks.at, &marks.rows, &marks.seen)?;
        Ok(marks)
    }
}

/// Ends as they are kept: none where they are open.
fn open(ends: &[f64], beyond: f64) -> Vec<Option<f64>> {
    ends.iter()
        .map(|&end| (end != beyond).then_some(end))
        .collect()
}
