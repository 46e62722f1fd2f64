//! Ranges of what is drawn.

/// Values that differ by less than this share of their size differ by rounding only.
pub(super) const ALIKE: f64 = 1e-9;

/// Smallest and largest of the finite numbers, none if there are none.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .filter(|v| v.is_finite())
        .fold(None, |range, v| match range {
            None => Some((v, v)),
            Some((low, high)) => Some((v.min(low), v.max(high))),
        })
}

/// An axis range that has a width and, where asked, holds zero.
pub(crate) fn widened(range: Option<(f64, f64)>, with_zero: bool) -> (f64, f64) {
    let (mut low, mut high) = range.unwrap_or((0.0, 1.0));
    if with_zero {
        low = low.min(0.0);
        high = high.max(0.0);
    }
    if low == high {
        let half = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
        return (low - half, high + half);
    }
    (low, high)
}

/// One value where the ends differ by rounding only.
pub(crate) fn flattened(range: Option<(f64, f64)>) -> Option<(f64, f64)> {
    range.map(|(low, high)| {
        if high - low <= ALIKE * low.abs().max(high.abs()) {
            let middle = f64::midpoint(low, high);
            (middle, middle)
        } else {
            (low, high)
        }
    })
}

/// As [`widened`], for standard deviations: where all are alike, from zero.
pub(crate) fn spread(range: Option<(f64, f64)>) -> (f64, f64) {
    match flattened(range) {
        Some((low, high)) if low == high => (0.0, if high > 0.0 { high } else { 1.0 }),
        other => widened(other, false),
    }
}
