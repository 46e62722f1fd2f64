//! The rows of a density over a plane, checked and cleaned.

use super::super::error::DensityError;
use super::super::rows::{Clean, LeftOut, MOST_IN_BINS, check_length, check_weights, holds_all};
use super::super::warning::Warning;
use super::patches::Boxed;
use crate::support::Polygon;

/// Rows that can be used.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Pairs {
    /// The values of both columns.
    pub values: [Vec<f64>; 2],
    /// Their weights; empty where all are one.
    pub weights: Vec<f64>,
    /// Where each stands among the rows that were given; empty where none was left out.
    rows: Vec<usize>,
    /// Boxes that other rows lie in, all different; or those around the areas that they lie in.
    pub boxes: Vec<Boxed>,
    /// Where the area of each box stands among those given; empty where boxes are what is known.
    areas: Vec<usize>,
    /// What was left out.
    pub warnings: Vec<Warning>,
}

impl Pairs {
    /// The weight of a row.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// Where a row stands among those that were given.
    pub fn row(&self, i: usize) -> usize {
        self.rows.get(i).copied().unwrap_or(i)
    }

    /// Takes many values in boxes as fewer in the same proportions.
    fn limit(&mut self) {
        let total: f64 = self.boxes.iter().map(|b| b.1).sum();
        if total > MOST_IN_BINS {
            let share = MOST_IN_BINS / total;
            self.boxes.iter_mut().for_each(|b| b.1 *= share);
            self.warnings.push(Warning::Proportional {
                total,
                most: MOST_IN_BINS,
            });
        }
    }

    /// How many values.
    pub fn len(&self) -> usize {
        self.values[0].len()
    }

    /// The areas that rows lie in, of all that were given, with their weights and places; none
    /// where what is known of rows are no areas.
    pub fn areas<'a>(&self, given: &'a [Polygon]) -> Option<Vec<(&'a Polygon, f64, usize)>> {
        let with = |(at, boxed): (&usize, &Boxed)| (&given[*at], boxed.1, *at);
        let all = self.areas.iter().zip(&self.boxes).map(with);
        (!self.areas.is_empty()).then(|| all.collect())
    }

    /// The sides of boxes along an axis, but for those that are open at both ends, which say
    /// nothing of this column.
    fn sides(&self, axis: usize, log: bool) -> impl Iterator<Item = (f64, f64, f64)> {
        let all = self.boxes.iter().map(move |b| side(b, axis, log));
        all.filter(|(from, to, _)| from.is_finite() || to.is_finite())
    }

    /// One column, on the axis that it is estimated on.
    pub fn column(&self, axis: usize, log: bool) -> Clean {
        let values = self.values[axis].iter();
        Clean {
            values: match log {
                true => values.map(|x| x.ln()).collect(),
                false => values.copied().collect(),
            },
            weights: self.weights.clone(),
            intervals: self.sides(axis, log).collect(),
            used: self.len() + self.boxes.len(),
            ..Clean::default()
        }
    }
}

/// One side of a box, on the axis that it is estimated on.
fn side((ends, weight): &Boxed, axis: usize, log: bool) -> (f64, f64, f64) {
    let (from, to) = ends[axis];
    match log {
        true => (from.max(0.0).ln(), to.ln(), *weight),
        false => (from, to, *weight),
    }
}

/// Checks both columns against each other and the bounds, and leaves out rows of which a value is
/// not finite or that weigh nothing.
///
/// # Errors
/// Rows outside of the bounds, weights that are none, no row left.
pub(in super::super) fn clean(
    columns: [&[f64]; 2],
    weights: Option<&[f64]>,
    bounds: [(f64, f64); 2],
    log: [bool; 2],
) -> Result<Pairs, DensityError> {
    let n = columns[0].len();
    check_length("second values", n, columns[1].len())?;
    if let Some(weights) = weights {
        check_length("weights", n, weights.len())?;
        check_weights(weights)?;
    }
    let mut out = Pairs::default();
    out.values.iter_mut().for_each(|v| v.reserve(n));
    let mut not_finite = LeftOut::default();
    for i in 0..n {
        let row = [columns[0][i], columns[1][i]];
        if row.iter().any(|x| !x.is_finite()) {
            not_finite.add(i);
            continue;
        }
        for axis in [0, 1] {
            within(i, row[axis], bounds[axis], log[axis]).map_err(|e| e.of_column(axis))?;
        }
        let weight = weights.map_or(1.0, |w| w[i]);
        if weight > 0.0 {
            if i != out.len() && out.rows.is_empty() {
                out.rows = (0..out.len()).collect();
            }
            if i != out.len() {
                out.rows.push(i);
            }
            out.values[0].push(row[0]);
            out.values[1].push(row[1]);
            if weights.is_some() {
                out.weights.push(weight);
            }
        }
    }
    out.warnings.extend(not_finite.not_finite(n));
    if out.len() == 0 || n < 2 {
        return Err(DensityError::TooFew {
            rows: n,
            usable: out.len(),
        });
    }
    Ok(out)
}

/// Checks boxes against the bounds, and leaves out those of which an end is no number, that say
/// nothing, or that weigh nothing. What lies beyond a bound is impossible.
///
/// # Arguments
/// * `ends` - lower and upper ends along the first axis, then along the second
///
/// # Errors
/// As of [`clean`], boxes whose ends are in the wrong order, and those that are lines.
pub(in super::super) fn clean_boxes(
    ends: [&[f64]; 4],
    weights: &[f64],
    bounds: [(f64, f64); 2],
    log: [bool; 2],
) -> Result<Pairs, DensityError> {
    let n = ends[0].len();
    for other in &ends[1..] {
        check_length("ends of boxes", n, other.len())?;
    }
    check_length("counts", n, weights.len())?;
    check_weights(weights)?;
    let mut out = Pairs::default();
    let (mut not_finite, mut everywhere) = (LeftOut::default(), LeftOut::default());
    for i in 0..n {
        let own = [0, 1].map(|a| (ends[2 * a][i], ends[2 * a + 1][i]));
        let is_known =
            |(a, b): &(f64, f64)| !(a.is_nan() || b.is_nan() || a == b && a.is_infinite());
        if !own.iter().all(is_known) {
            not_finite.add(i);
            continue;
        }
        let mut clipped = own;
        for axis in [0, 1] {
            if weights[i] <= 0.0 {
                continue;
            }
            let (lower, upper) = own[axis];
            if lower > upper {
                return Err(DensityError::Interval {
                    row: i,
                    lower,
                    upper,
                }
                .of_column(axis));
            }
            let has_logarithm = !log[axis] || upper > 0.0;
            clipped[axis] = possible(i, own[axis], bounds[axis], has_logarithm)
                .map_err(|e| e.of_column(axis))?;
        }
        let is_open = |axis: &usize| holds_all(own[*axis], bounds[*axis], log[*axis]);
        if weights[i] > 0.0 && [0, 1].iter().all(is_open) {
            everywhere.add(i);
        } else if weights[i] > 0.0 {
            // Many rows at one number of a column are an atom, whose draws are too uneven to be
            // told from each other: the band would not hold the curve.
            let is_flat = own.map(|(lower, upper)| lower == upper);
            if let (Some(axis), true) = (is_flat.iter().position(|f| *f), is_flat != [true; 2]) {
                let value = own[axis].0;
                return Err(DensityError::Line { row: i, value }.of_column(axis));
            }
            out.boxes.push((clipped, weights[i]));
        }
    }
    out.warnings.extend(not_finite.not_finite(n));
    out.warnings.extend(everywhere.everywhere(n));
    if out.boxes.is_empty() && everywhere.count > 0 {
        return Err(DensityError::SaysNothing);
    }
    if out.boxes.is_empty() || n < 2 {
        return Err(DensityError::TooFew {
            rows: n,
            usable: out.boxes.len(),
        });
    }
    let order = |a: &Boxed, b: &Boxed| {
        let keys = [a, b].map(|([x, y], _)| [x.0, x.1, y.0, y.1]);
        keys[0]
            .iter()
            .zip(keys[1])
            .map(|(a, b)| a.total_cmp(&b))
            .find(|o| o.is_ne())
    };
    out.boxes
        .sort_by(|a, b| order(a, b).unwrap_or(std::cmp::Ordering::Equal));
    out.boxes.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    out.limit();
    Ok(out)
}

/// Checks areas against the bounds, and leaves out those that weigh nothing.
///
/// # Errors
/// Lengths that differ, weights that are none, areas beyond the bounds or, on logarithmic axes,
/// that reach zero, none left.
pub(in super::super) fn clean_areas(
    areas: &[Polygon],
    weights: &[f64],
    bounds: [(f64, f64); 2],
    log: [bool; 2],
) -> Result<Pairs, DensityError> {
    let n = areas.len();
    check_length("counts", n, weights.len())?;
    check_weights(weights)?;
    let mut out = Pairs::default();
    for (i, (area, weight)) in areas.iter().zip(weights).enumerate() {
        let mut ends = area.bounds();
        if *weight <= 0.0 {
            continue;
        }
        for axis in [0, 1] {
            let has_logarithm = !log[axis] || ends[axis].0 > 0.0;
            ends[axis] = possible(i, ends[axis], bounds[axis], has_logarithm)
                .map_err(|e| e.of_column(axis))?;
        }
        out.boxes.push((ends, *weight));
        out.areas.push(i);
    }
    if out.boxes.is_empty() || n < 2 {
        return Err(DensityError::TooFew {
            rows: n,
            usable: out.boxes.len(),
        });
    }
    out.limit();
    Ok(out)
}

/// What bounds leave of a side of a box or an area.
///
/// # Errors
/// A side beyond them, or without a logarithm where one is taken.
fn possible(
    row: usize,
    (lower, upper): (f64, f64),
    bounds: (f64, f64),
    has_logarithm: bool,
) -> Result<(f64, f64), DensityError> {
    if upper < bounds.0 || lower > bounds.1 || !has_logarithm {
        let nearest = if upper < bounds.0 { upper } else { lower };
        within(row, nearest, bounds, !has_logarithm)?;
    }
    Ok((lower.max(bounds.0), upper.min(bounds.1)))
}

fn within(row: usize, value: f64, bounds: (f64, f64), log: bool) -> Result<(), DensityError> {
    if log && value <= 0.0 {
        return Err(DensityError::NoLogarithm { row, value });
    }
    if value < bounds.0 || value > bounds.1 {
        return Err(DensityError::Outside {
            row,
            value,
            lower: bounds.0,
            upper: bounds.1,
        });
    }
    Ok(())
}
