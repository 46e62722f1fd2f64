//! What a careful reader should know of areas that were made to add up.

use quadrat::reconcile::{Gap, Measurement, Reconciled};

use crate::numbers::{count, human};

/// Gaps of more standard deviations than this are told: of a million normal ones one is.
const FAR: f64 = 5.0;
/// How many of them are named.
const NAMED: usize = 5;
/// Gaps less likely than this, all together, are told.
const UNLIKELY: f64 = 1e-3;

/// Areas, what was measured of them, and what came of it.
#[derive(Clone, Copy)]
pub struct Told<'a> {
    /// Number of areas.
    pub areas: usize,
    /// What was measured.
    pub measurements: &'a [Measurement],
    /// What came of it.
    pub found: &'a Reconciled<'a>,
}

impl Told<'_> {
    /// How many areas were measured.
    #[must_use]
    pub fn measured(&self) -> usize {
        let mut is_measured = vec![false; self.areas];
        for measurement in self.measurements {
            is_measured[measurement.node] = true;
        }
        is_measured.iter().filter(|is| **is).count()
    }

    /// How many areas nothing tells.
    #[must_use]
    pub fn unknown(&self) -> usize {
        let unknown = |&node: &usize| !self.found.is_known(node);
        (0..self.areas).filter(unknown).count()
    }

    /// The gaps that are far, the farthest first.
    #[must_use]
    pub fn far(&self) -> Vec<Gap> {
        let gaps = self.found.gaps().iter().copied();
        let mut far: Vec<Gap> = gaps.filter(|gap| gap.standardised().abs() > FAR).collect();
        far.sort_by(|a, b| b.standardised().abs().total_cmp(&a.standardised().abs()));
        far
    }

    /// What to look at before the estimates are used.
    ///
    /// # Arguments
    /// * `named` - what an area is called
    #[must_use]
    pub fn warnings(&self, named: impl Fn(usize) -> String) -> Vec<String> {
        let mut told = Vec::new();
        let far = self.far();
        if !far.is_empty() {
            let one =
                |gap: &Gap| format!("{} by {} sd", named(gap.node), human(gap.standardised()));
            let names: Vec<String> = far.iter().take(NAMED).map(one).collect();
            let more = if far.len() > NAMED { ", .." } else { "" };
            told.push(format!(
                "more than {FAR} standard deviations between {} and the sums of their parts: {}{more}; look at the rows",
                count(far.len(), "area"),
                names.join(", ")
            ));
        }
        let (_, chance) = self.found.chi_square();
        let has_gaps = !self.found.gaps().is_empty();
        if has_gaps && chance < UNLIKELY {
            told.push("areas differ more from the sums of their parts than variances allow: intervals are too narrow, or rows are wrong".to_owned());
        } else if has_gaps && 1.0 - chance < UNLIKELY {
            told.push("areas differ less from the sums of their parts than variances say: was the table reconciled before? Intervals are too wide, or hold nothing".to_owned());
        }
        let unknown = self.unknown();
        if unknown > 0 {
            told.push(format!(
                "nothing tells {}: of several parts without a measurement only the sum is known; they are left empty",
                count(unknown, "area")
            ));
        }
        let is_below = |&node: &usize| self.found.mean(node) < 0.0;
        let below = (0..self.areas).filter(is_below).count();
        if below > 0 && self.measurements.iter().all(|told| told.value >= 0.0) {
            told.push(format!(
                "{} of {} estimates are below zero, although no value was: add up before you cut off",
                human(below as f64),
                human(self.areas as f64)
            ));
        }
        told
    }
}
