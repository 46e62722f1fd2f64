//! Bands as they are given: checked, in order, with ends where they were open.

use std::ops::Range;

use super::axis::Axis;
use super::error::{UngroupError, Warning};
use super::tail::{self, Fall, Tail};

/// More bands than this are refused: a step of the search costs their cube.
const MOST: usize = 150;
/// Edges that differ by less than this part of their band are the same.
const SAME: f64 = 1e-9;
/// Ages end here unless something else is said.
const OLDEST: f64 = 110.0;
/// No band of ages in years begins later: others are ages in months or days, or no ages.
const HUMAN: f64 = 130.0;
/// An open band of ages begins at most so far before [`OLDEST`].
const LATEST: f64 = 105.0;
/// An open band of ages begins from here on.
const EARLIEST: f64 = 60.0;
/// Money ends at so many times the edge of the open band: of a Pareto tail of index 3 a 15,000th
/// lies beyond.
const RICHEST: f64 = 25.0;

/// A closed last band is far wider than the one before by this factor.
const WIDE: f64 = 2.0;

/// What is said of ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ends {
    pub first: Option<f64>,
    pub last: Option<f64>,
    pub tail: Option<Tail>,
    pub log: bool,
}

/// Bands in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bands {
    /// One more than bands, strictly ascending, all finite.
    pub edges: Vec<f64>,
    /// Which row each band is.
    pub rows: Vec<usize>,
    /// How the curve falls off in the last one.
    pub fall: Option<Fall>,
    /// Whether the last one was open.
    pub is_open: bool,
    pub axis: Axis,
}

impl Bands {
    /// # Errors
    /// What is wrong with the bands.
    pub fn new(lower: &[f64], upper: &[f64], ends: &Ends) -> Result<Self, UngroupError> {
        if upper.len() != lower.len() {
            return Err(UngroupError::Lengths {
                what: "upper edges",
                expected: lower.len(),
                got: upper.len(),
            });
        }
        let n = lower.len();
        if n < 2 {
            return Err(UngroupError::TooFew { rows: n });
        }
        if n > MOST {
            return Err(UngroupError::TooMany {
                rows: n,
                most: MOST,
            });
        }
        each(lower, upper)?;
        let mut rows: Vec<usize> = (0..n).collect();
        let ascending = |a: &usize, b: &usize| {
            let by_lower = lower[*a].total_cmp(&lower[*b]);
            by_lower.then(upper[*a].total_cmp(&upper[*b]))
        };
        rows.sort_by(ascending);
        adjoin(&rows, lower, upper)?;
        let mut edges: Vec<f64> = rows.iter().map(|&row| lower[row]).collect();
        edges.push(upper[rows[n - 1]]);
        if edges[0] == f64::NEG_INFINITY {
            edges[0] = beginning(edges[1], ends)?;
        } else if let Some(first) = ends.first.filter(|first| *first != edges[0]) {
            return Err(UngroupError::Setting {
                what: "the beginning of the first band",
                value: first,
                requirement: format!("left out: that band begins at {}", edges[0]),
            });
        }
        if ends.log && edges[0] < 0.0 {
            return Err(UngroupError::NoLogarithm {
                row: rows[0],
                lower: edges[0],
            });
        }
        let is_open = edges[n] == f64::INFINITY;
        let fall = ended(&mut edges, ends)?;
        let axis = match ends.log {
            false => Axis::Linear,
            true => Axis::Log { offset: edges[1] },
        };
        Ok(Self {
            edges,
            rows,
            fall,
            is_open,
            axis,
        })
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Counts in the order of the bands.
    ///
    /// # Errors
    /// Counts that are none.
    pub fn ordered(&self, counts: &[f64]) -> Result<Vec<f64>, UngroupError> {
        if counts.len() != self.len() {
            return Err(UngroupError::Lengths {
                what: "counts",
                expected: self.len(),
                got: counts.len(),
            });
        }
        if let Some(row) = counts.iter().position(|y| !(y.is_finite() && *y >= 0.0)) {
            return Err(UngroupError::Count {
                row,
                value: counts[row],
            });
        }
        let total: f64 = counts.iter().sum();
        if total == 0.0 {
            return Err(UngroupError::Nothing);
        }
        if !(1e-200..1e200).contains(&total) {
            return Err(UngroupError::Size { total });
        }
        Ok(self.rows.iter().map(|&row| counts[row]).collect())
    }

    /// Counts in the order of the bands, which may all be zero.
    pub fn ordered_or_none(&self, counts: &[f64]) -> Result<Vec<f64>, UngroupError> {
        match self.ordered(counts) {
            Err(UngroupError::Nothing) => Ok(vec![0.0; self.len()]),
            other => other,
        }
    }
}

impl Bands {
    /// Bands that are taken to be apart, from the lowest on.
    ///
    /// # Arguments
    /// * `counts` - in the order of the bands
    pub fn apart(&self, runs: &[Range<usize>], counts: &[f64]) -> Vec<Warning> {
        let mut runs = runs.to_vec();
        runs.sort_by_key(|run| run.start);
        let one = |run: Range<usize>| Warning::Apart {
            from: self.edges[run.start],
            to: self.edges[run.end],
            count: counts[run].iter().sum(),
        };
        runs.into_iter().map(one).collect()
    }

    /// A closed last band whose inside nothing tells.
    pub fn wide_last(&self) -> Option<Warning> {
        let n = self.len();
        let [before, from, to] = [n - 2, n - 1, n].map(|i| self.edges[i]);
        let [last, own] =
            [(from, to), (before, from)].map(|(a, b)| self.axis.forward(b) - self.axis.forward(a));
        let is_wide = self.fall.is_none() && last > WIDE * own;
        is_wide.then_some(Warning::WideLast { from, to })
    }
}

/// Every band by itself.
fn each(lower: &[f64], upper: &[f64]) -> Result<(), UngroupError> {
    for (row, (&from, &to)) in lower.iter().zip(upper).enumerate() {
        for (value, open) in [(from, f64::NEG_INFINITY), (to, f64::INFINITY)] {
            let is_usable = value == open || value.abs() < 1e100;
            if !is_usable {
                return Err(UngroupError::Edge { row, value });
            }
        }
        if from >= to {
            return Err(UngroupError::Band {
                row,
                lower: from,
                upper: to,
            });
        }
        if from == f64::NEG_INFINITY && to == f64::INFINITY {
            return Err(UngroupError::Edge { row, value: to });
        }
    }
    Ok(())
}

/// Whether sorted bands adjoin, and only the outermost are open.
fn adjoin(rows: &[usize], lower: &[f64], upper: &[f64]) -> Result<(), UngroupError> {
    for pair in rows.windows(2) {
        let [row, other] = [pair[0], pair[1]];
        if lower[other] == f64::NEG_INFINITY {
            return Err(UngroupError::OpenWithin {
                row: other,
                other: row,
                above: false,
            });
        }
        let (from, to) = (upper[row], lower[other]);
        if from == f64::INFINITY {
            return Err(UngroupError::OpenWithin {
                row,
                other,
                above: true,
            });
        }
        let narrow = (upper[row] - lower[row]).min(upper[other] - lower[other]);
        let same = SAME * if narrow.is_finite() { narrow } else { 1.0 };
        if to - from > same {
            return Err(UngroupError::Gap {
                row,
                other,
                from,
                to,
            });
        }
        if from - to > same {
            return Err(UngroupError::Overlap {
                row,
                other,
                from: to,
                to: from.min(upper[other]),
            });
        }
    }
    Ok(())
}

/// Where an open first band begins: at zero, below which there are neither ages nor incomes.
fn beginning(edge: f64, ends: &Ends) -> Result<f64, UngroupError> {
    match ends.first {
        Some(first) if first.is_finite() && first < edge => Ok(first),
        Some(first) => Err(UngroupError::Setting {
            what: "the beginning of the first band",
            value: first,
            requirement: format!("below {edge}, where that band ends"),
        }),
        None if edge > 0.0 => Ok(0.0),
        None => Err(UngroupError::OpenBelow { edge }),
    }
}

/// Ends the last band where it is open, and says how it falls off.
fn ended(edges: &mut [f64], ends: &Ends) -> Result<Option<Fall>, UngroupError> {
    let n = edges.len();
    let edge = edges[n - 2];
    let fall = |tail: Tail| match tail {
        Tail::Exponential { rate } if !(rate > 0.0 && rate.is_finite()) => {
            Err(UngroupError::Setting {
                what: "the slope of the tail",
                value: rate,
                requirement: "above zero: a flat tail is wrong by years".to_owned(),
            })
        }
        Tail::Pareto if !ends.log => Err(UngroupError::ParetoAxis),
        Tail::Gompertz if edge > HUMAN => Err(UngroupError::Setting {
            what: "the beginning of the last band",
            value: edge,
            requirement: format!("at most {HUMAN}: Gompertz' law is of ages in years"),
        }),
        tail => Ok(Fall { tail, edge }),
    };
    if edges[n - 1].is_finite() {
        if let Some(last) = ends.last.filter(|last| *last != edges[n - 1]) {
            return Err(UngroupError::Setting {
                what: "the end of the last band",
                value: last,
                requirement: format!("left out: that band ends at {}", edges[n - 1]),
            });
        }
        return ends.tail.map(fall).transpose();
    }
    let is_age = edges[0] >= 0.0 && (EARLIEST..=LATEST).contains(&edge);
    let fall = fall(match (ends.tail, ends.log) {
        (Some(tail), _) => tail,
        (None, true) => Tail::Pareto,
        (None, false) if is_age => Tail::Gompertz,
        (None, false) => return Err(UngroupError::Open { edge }),
    })?;
    let last = match (ends.last, fall.tail) {
        (Some(last), _) => last,
        (None, Tail::Gompertz) if edge <= LATEST => OLDEST,
        (None, Tail::Pareto) if edge > 0.0 => RICHEST * edge,
        (None, Tail::Exponential { rate }) => edge + tail::FAR / rate,
        (None, _) => return Err(UngroupError::Open { edge }),
    };
    if !(last.is_finite() && last > edge) {
        return Err(UngroupError::Setting {
            what: "the end of the last band",
            value: last,
            requirement: format!("above {edge}, where that band begins"),
        });
    }
    edges[n - 1] = last;
    Ok(Some(fall))
}
