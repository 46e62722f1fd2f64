//! What should be known of the rows, and of what the cells cover, before a density is trusted.

use super::cells::Cells;
use super::counts::CellCounts;
use super::rows::Clean;
use super::scale::ColumnScale;
use super::warning::Warning;

/// Values below which the prior has as much to say.
const FEW: f64 = 10.0;
/// Share of the weight from which one value, or one cell, is told.
const TIED: f64 = 0.1;
/// Average weight of a value from which that is told.
const HEAVY: f64 = 20.0;
/// Distance in scales from which a value is told.
const FAR: f64 = 100.0;

/// Share of the probability outside of its band from which that is told: of the pointwise bands of
/// so many cells some err.
const MISSED: f64 = 0.05;

/// Share of the outermost cell from which a row reaches its end: edges go through the axis and
/// back.
const WHOLE: f64 = 1.0 - 1e-6;

/// What is told of a range that the cells do not keep to.
pub(super) fn widened(range: Option<(f64, f64)>, cells: &Cells) -> Option<Warning> {
    let asked = range?;
    let covered = (cells.edges[0], cells.edges[cells.len()]);
    // Ends go through the axis and back.
    let rounding = 1e-9 * (asked.1 - asked.0);
    let is_kept = |a: f64, b: f64| (a - b).abs() <= rounding;
    let kept = is_kept(asked.0, covered.0) && is_kept(asked.1, covered.1);
    (!kept).then_some(Warning::Widened { asked, covered })
}

/// Warnings about the rows.
pub(super) fn look_out(
    rows: &Clean,
    scale: &ColumnScale,
    cells: &Cells,
    counts: &CellCounts,
    log: bool,
    warnings: &mut Vec<Warning>,
) {
    let total = rows.total();
    if total < FEW {
        warnings.push(Warning::Few {
            rows: total.floor() as usize,
        });
    }
    let into = |x: f64| if log { x.ln() } else { x };
    // Of values that are told to repeat nothing else is told.
    let mut left = counts.exact.clone();
    if rows.values.len() > 1 || !rows.weights.is_empty() {
        let (distinct, tied) = ties(rows, TIED * total);
        let heaviest = tied.iter().fold((f64::NAN, 0.0), heavier);
        let (value, share) = (heaviest.0, heaviest.1 / total);
        if !tied.is_empty() && total >= FEW {
            for (x, weight) in &tied {
                left[cells.index(*x)] -= weight;
            }
            warnings.push(match tied.len() {
                1 => Warning::Ties { value, share },
                values => Warning::SeveralTies {
                    values,
                    value,
                    share: (tied.iter().map(|(_, weight)| weight).sum::<f64>() / total).min(1.0),
                },
            });
        } else if rows.weights.is_empty()
            && distinct * 2 < rows.values.len()
            && rows.values.len() >= 20
        {
            warnings.push(Warning::Rounded {
                rows: rows.values.len(),
                distinct,
            });
        } else if rows.intervals.is_empty() && total > HEAVY * distinct as f64 {
            warnings.push(Warning::Heavy { total, distinct });
        }
    }
    let fullest = (0..cells.len()).max_by(|a, b| left[*a].total_cmp(&left[*b]));
    if let Some(j) = fullest {
        let share = left[j] / total;
        if share > TIED && counts.total >= FEW {
            let place = cells.axis.backward(cells.centres[j]);
            warnings.push(Warning::Crowded { place, share });
        }
    }
    let farther = if scale.most - scale.centre > scale.centre - scale.least {
        scale.most
    } else {
        scale.least
    };
    let distance = (farther - scale.centre).abs() / scale.scale;
    if distance > FAR {
        let value = if log { farther.exp() } else { farther };
        debug_assert!((into(value) - farther).abs() < 1e-6 * farther.abs().max(1.0));
        warnings.push(Warning::Outlier { value, distance });
    }
    warnings.extend(open_ends(scale, log));
}

/// What is told of intervals without an end. On a logarithmic axis those from 0 have none.
pub(super) fn open_ends(scale: &ColumnScale, log: bool) -> impl Iterator<Item = Warning> {
    let (below, above) = (scale.open_below, scale.open_above);
    let open = if log { above } else { below + above };
    let from_zero = (log && below > 0.0).then_some(Warning::FromZero { share: below });
    let open = (open > 0.0).then_some(Warning::OpenEnd { share: open });
    from_zero.into_iter().chain(open)
}

/// What is told of rows that are all intervals, and none of which reaches the ends of the cells,
/// where draws are too uneven to be weighted: the approximation lets probability lie there, which
/// rows and weights would not.
pub(super) fn beyond_all(counts: &CellCounts, cells: &Cells) -> Option<Warning> {
    if counts.exact_total > 0.0 {
        return None;
    }
    let (first, last) = (0, cells.len() - 1);
    let least = counts.spans.iter().map(|s| match (s.first, s.head) {
        (j, head) if j == first && head >= WHOLE => f64::NEG_INFINITY,
        (j, head) => cells.edges[j + 1] - head * cells.width(j),
    });
    let most = counts.spans.iter().map(|s| match (s.last, s.tail) {
        (j, tail) if j == last && tail >= WHOLE => f64::INFINITY,
        (j, tail) => cells.edges[j] + tail * cells.width(j),
    });
    // Zero comes back from the axis with a rounding.
    let tiny = 1e-9 * (cells.edges[last + 1] - cells.edges[0]);
    let exact = |x: f64| if x.abs() < tiny { 0.0 } else { x };
    let finite = |x: f64| x.is_finite().then(|| exact(x));
    let least = finite(least.fold(f64::INFINITY, f64::min));
    let most = finite(most.fold(f64::NEG_INFINITY, f64::max));
    (least.is_some() || most.is_some()).then_some(Warning::Beyond { least, most })
}

/// What is told of uneven draws.
///
/// # Arguments
/// * `effective`, `pareto_k` - of how many draws
/// * `moved` - what is told besides of those that were moved; none where none was
pub(super) fn told_of_uneven(
    (effective, pareto_k): (f64, f64),
    draws: usize,
    moved: Option<Vec<Warning>>,
) -> impl Iterator<Item = Warning> {
    let first = match &moved {
        Some(_) => Warning::Lifted {
            effective,
            draws,
            pareto_k,
        },
        None => Warning::Uneven {
            effective,
            draws,
            pareto_k,
        },
    };
    std::iter::once(first).chain(moved.into_iter().flatten())
}

/// What is told of a curve outside of its own band, where draws were moved.
///
/// # Arguments
/// * `warnings` - what was told of the draws
/// * `mass` - the probability of each cell
/// * `curve` - the density, and the ends of the band
pub(super) fn missed(warnings: &[Warning], mass: &[f64], curve: [&[f64]; 3]) -> Option<Warning> {
    if !warnings.iter().any(|w| matches!(w, Warning::Lifted { .. })) {
        return None;
    }
    let [density, lower, upper] = curve;
    // The band may have no width.
    let is_out = |j: &usize| {
        let rounding = 1e-9 * density[*j];
        density[*j] > upper[*j] + rounding || density[*j] < lower[*j] - rounding
    };
    let share = (0..mass.len()).filter(is_out).map(|j| mass[j]).sum::<f64>();
    (share > MISSED).then_some(Warning::Missed { share })
}

/// The heavier of two values with their weights, the first where they are equal.
fn heavier(a: (f64, f64), b: &(f64, f64)) -> (f64, f64) {
    if b.1 > a.1 { *b } else { a }
}

/// How many different values there are, and those that weigh more than so much, with their weights.
fn ties(rows: &Clean, most: f64) -> (usize, Vec<(f64, f64)>) {
    let mut values = rows.values.clone();
    if rows.weights.is_empty() {
        values.sort_unstable_by(f64::total_cmp);
    }
    let (mut distinct, mut heavy, mut weight) = (0, Vec::new(), 0.0);
    for (i, x) in values.iter().enumerate() {
        if i == 0 || values[i - 1] != *x {
            distinct += 1;
            weight = 0.0;
        }
        weight += rows.weight(i);
        let is_last = values.get(i + 1).is_none_or(|next| next != x);
        if is_last && weight > most {
            heavy.push((*x, weight));
        }
    }
    (distinct, heavy)
}
