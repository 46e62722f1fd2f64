//! Independent effects of labels.

/// Independent effects, `k(a, b) = variance` where the labels `a` and `b` are equal, else 0: one
/// unknown number for every label, a random intercept. Times another kernel it is a function of its
/// own for every label.
///
/// Labels are numbers in one column, equal where the numbers are. They have no width between them:
/// a box may not extend along the column, but the points of a bag may have different ones.
///
/// # Source
/// Rasmussen and Williams 2006, section 2.7 (basis functions with a prior); Gelman and Hill 2007,
/// chapter 12 (varying intercepts).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iid;

/// The code of no label: its effect is zero, and that of no other place. Inducing points without a
/// label have it.
pub(crate) const NO_LABEL: f64 = f64::MIN;

impl Iid {
    /// Whether two places have the same effect: 1 or 0.
    #[inline]
    pub(crate) fn correlation(a: f64, b: f64) -> f64 {
        if a == b && a != NO_LABEL { 1.0 } else { 0.0 }
    }
}
