//! The rows of a density as they are given, checked and cleaned.

use super::error::DensityError;
use super::warning::Warning;

/// Rows may weigh so much together: more have no counterpart in the world, and rounding of their
/// likelihood would be larger than what a cell more or less changes.
const MOST: f64 = 1e12;

/// What is known of every row.
#[derive(Debug, Clone, Copy)]
pub(super) enum KnownOfRows<'a> {
    /// Its value.
    Values(&'a [f64]),
    /// That it lies between two numbers.
    Intervals(&'a [f64], &'a [f64]),
}

/// Rows that can be used: in ascending order where they are values with weights.
#[derive(Debug, Clone, Default)]
pub(super) struct Clean {
    /// Values known exactly.
    pub values: Vec<f64>,
    /// Their weights; empty where all are one.
    pub weights: Vec<f64>,
    /// Intervals with their weights, all different, in ascending order.
    pub intervals: Vec<(f64, f64, f64)>,
    /// How many rows these are.
    pub used: usize,
    /// What was left out.
    pub warnings: Vec<Warning>,
}

impl Clean {
    /// The sum of all weights.
    pub fn total(&self) -> f64 {
        let exact = if self.weights.is_empty() {
            self.values.len() as f64
        } else {
            self.weights.iter().sum()
        };
        exact + self.intervals.iter().map(|(_, _, w)| w).sum::<f64>()
    }

    /// The weight of a value.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }
}

/// Rows of one kind that were left out: how many, and the first of them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LeftOut {
    /// How many.
    pub count: usize,
    first: usize,
}

impl LeftOut {
    /// One more.
    pub fn add(&mut self, row: usize) {
        if self.count == 0 {
            self.first = row;
        }
        self.count += 1;
    }

    /// Rows that are not finite.
    pub fn not_finite(self, rows: usize) -> Option<Warning> {
        let Self { count, first } = self;
        (count > 0).then_some(Warning::NotFinite { count, rows, first })
    }

    /// Rows that say nothing.
    pub fn everywhere(self, rows: usize) -> Option<Warning> {
        let Self { count, first } = self;
        (count > 0).then_some(Warning::Everywhere { count, rows, first })
    }
}

/// Whether an interval leaves open all that bounds do: whatever the density, its probability is
/// one, so that it says nothing.
pub(super) fn holds_all((lower, upper): (f64, f64), bounds: (f64, f64), log: bool) -> bool {
    let least = if log { bounds.0.max(0.0) } else { bounds.0 };
    lower <= least && upper >= bounds.1
}

/// Checks rows against each other and the bounds, and leaves out those that are not finite, say
/// nothing or weigh nothing.
///
/// # Arguments
/// * `bounds` - of the values, infinite where there are none; exclusive at the lower end where
///   `log`
///
/// # Errors
/// Rows outside of the bounds, weights that are none, intervals in the wrong order, no row left.
pub(super) fn clean(
    rows: KnownOfRows<'_>,
    weights: Option<&[f64]>,
    bounds: (f64, f64),
    log: bool,
) -> Result<Clean, DensityError> {
    let n = match rows {
        KnownOfRows::Values(x) => x.len(),
        KnownOfRows::Intervals(lower, upper) => {
            check_length("upper ends", lower.len(), upper.len())?;
            lower.len()
        }
    };
    if let Some(weights) = weights {
        check_length("weights", n, weights.len())?;
        check_weights(weights)?;
    }
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let mut out = Clean::default();
    let (mut not_finite, mut everywhere) = (LeftOut::default(), LeftOut::default());
    let outside = |x: f64| x < bounds.0 || x > bounds.1 || (log && x <= 0.0);
    // On a logarithmic axis nothing is at zero or below.
    let least = if log { bounds.0.max(0.0) } else { bounds.0 };
    let refuse = |row: usize, value: f64| match log && value <= 0.0 {
        true => DensityError::NoLogarithm { row, value },
        false => DensityError::Outside {
            row,
            value,
            lower: least,
            upper: bounds.1,
        },
    };
    match rows {
        KnownOfRows::Values(x) => {
            out.values.reserve(n);
            for (i, &x) in x.iter().enumerate() {
                if !x.is_finite() {
                    not_finite.add(i);
                } else if outside(x) {
                    return Err(refuse(i, x));
                } else if weight(i) > 0.0 {
                    out.values.push(x);
                    if weights.is_some() {
                        out.weights.push(weight(i));
                    }
                }
            }
        }
        KnownOfRows::Intervals(lower, upper) => {
            for i in 0..n {
                let (a, b) = (lower[i], upper[i]);
                if a.is_nan() || b.is_nan() || (a == b && a.is_infinite()) {
                    not_finite.add(i);
                    continue;
                }
                if a > b {
                    return Err(DensityError::Interval {
                        row: i,
                        lower: a,
                        upper: b,
                    });
                }
                if a == b && outside(a) || b < bounds.0 || a > bounds.1 || (log && b <= 0.0) {
                    return Err(refuse(i, if b < bounds.0 { b } else { a }));
                }
                if weight(i) > 0.0 && holds_all((a, b), bounds, log) {
                    everywhere.add(i);
                } else if weight(i) > 0.0 {
                    // What lies beyond a bound is impossible.
                    out.intervals
                        .push((a.max(bounds.0), b.min(bounds.1), weight(i)));
                }
            }
        }
    }
    out.warnings.extend(not_finite.not_finite(n));
    out.warnings.extend(everywhere.everywhere(n));
    out.used = out.values.len() + out.intervals.len();
    if out.used == 0 && everywhere.count > 0 {
        return Err(DensityError::SaysNothing);
    }
    if out.used == 0 || n < 2 {
        return Err(DensityError::TooFew {
            rows: n,
            usable: out.used,
        });
    }
    sort_out(&mut out);
    in_proportion(&mut out);
    Ok(out)
}

pub(super) fn check_weights(weights: &[f64]) -> Result<(), DensityError> {
    let bad = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0));
    if let Some(row) = bad {
        let value = weights[row];
        return Err(DensityError::Weight { row, value });
    }
    let total: f64 = weights.iter().sum();
    match total > MOST {
        true => Err(DensityError::TooMany { total, most: MOST }),
        false => Ok(()),
    }
}

pub(super) fn check_length(
    what: &'static str,
    expected: usize,
    got: usize,
) -> Result<(), DensityError> {
    if got == expected {
        return Ok(());
    }
    Err(DensityError::Lengths {
        what,
        expected,
        got,
    })
}

/// More values in bins than this are taken in proportion: beside what bins leave open about their
/// inside the root of so many is nothing, and steep likelihoods draw badly and slowly.
pub(super) const MOST_IN_BINS: f64 = 2e4;

/// Divides the weights of all rows by what is too much of them in intervals.
fn in_proportion(rows: &mut Clean) {
    let total: f64 = rows.intervals.iter().map(|(_, _, weight)| weight).sum();
    if total <= MOST_IN_BINS {
        return;
    }
    let share = MOST_IN_BINS / total;
    rows.intervals
        .iter_mut()
        .for_each(|(_, _, weight)| *weight *= share);
    rows.weights.resize(rows.values.len(), 1.0);
    rows.weights.iter_mut().for_each(|weight| *weight *= share);
    rows.warnings.push(Warning::Proportional {
        total,
        most: MOST_IN_BINS,
    });
}

/// Joins equal intervals, makes those without width values, and orders values that have weights.
fn sort_out(rows: &mut Clean) {
    let order =
        |a: &(f64, f64, f64), b: &(f64, f64, f64)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
    rows.intervals.sort_unstable_by(order);
    rows.intervals.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        if same {
            kept.2 += next.2;
        }
        same
    });
    let points: Vec<(f64, f64, f64)> = rows.intervals.extract_if(.., |(a, b, _)| a == b).collect();
    for (x, _, w) in points {
        rows.values.push(x);
        rows.weights.push(w);
    }
    if !rows.weights.is_empty() {
        let mut pairs: Vec<(f64, f64)> = rows
            .values
            .iter()
            .copied()
            .zip(rows.weights.iter().copied())
            .collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        pairs.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        (rows.values, rows.weights) = pairs.into_iter().unzip();
    }
}
