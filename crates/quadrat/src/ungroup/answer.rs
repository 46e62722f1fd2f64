//! A number with an interval.

/// A number with an interval of the level of the estimate: the median of the posterior, which one
/// long tail does not draw away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The posterior median.
    pub value: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Answer {
    /// What is told where NaN is asked.
    pub(super) const UNKNOWN: Self = Self {
        value: f64::NAN,
        lower: f64::NAN,
        upper: f64::NAN,
    };
}
