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
