//! The two passes: from the leaves to the roots, and back.

use super::{ReconcileError, Tree};
use crate::special::scalar::regularised_gamma;

/// Two sums of the same terms differ by at most this part of their size for each of them: half a
/// unit in the last place, here and where the total was made.
const ROUNDING: f64 = f64::EPSILON;

/// Numbers of one area, both exact, are the same if this part of their size is between them.
const SAME: f64 = 4.0 * f64::EPSILON;

/// What was measured of an area.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measurement {
    /// The area, counted from 0.
    pub node: usize,
    /// The value.
    pub value: f64,
    /// Variance of its error, in the unit of the values squared; 0 where it is exact.
    pub variance: f64,
}

/// How far a measured area is from the sum of its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The area.
    pub node: usize,
    /// Its own measurement less what its parts add up to.
    pub difference: f64,
    /// Standard deviation of that.
    pub sd: f64,
}

impl Gap {
    /// The difference in standard deviations.
    #[must_use]
    pub fn standardised(&self) -> f64 {
        self.difference / self.sd
    }
}

/// A mean and a variance; the variance is infinite where nothing is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    pub mean: f64,
    pub variance: f64,
}

pub(super) const NOTHING: Message = Message {
    mean: 0.0,
    variance: f64::INFINITY,
};

/// What an area was added up from, wherever that was done: rounding grows with both.
#[derive(Debug, Clone, Copy)]
struct Terms {
    /// Leaves within it, 1 for a leaf.
    number: f64,
    /// Sum of their sizes where they are known exactly, else its own size.
    size: f64,
}

impl Terms {
    /// By how much exact sums of these may differ.
    fn slack(self) -> f64 {
        ROUNDING * (1.0 + self.number) * self.size
    }
}

/// Areas that add up.
#[derive(Debug, Clone)]
pub struct Reconciled<'a> {
    pub(super) tree: &'a Tree,
    /// What each area and all within it say of it.
    pub(super) below: Vec<Message>,
    /// What everything says of it.
    beliefs: Vec<Message>,
    gaps: Vec<Gap>,
}

impl Tree {
    /// The best linear unbiased estimate of every area from measurements of some or all.
    ///
    /// # Arguments
    /// * `measurements` - any number of each area
    ///
    /// # Errors
    /// [`ReconcileError::Area`], [`ReconcileError::Number`] for measurements that cannot be used;
    /// [`ReconcileError::Twice`], [`ReconcileError::Contradiction`] where exact ones contradict
    /// each other.
    ///
    /// # Numerics
    /// Two passes over the areas, `O(areas + measurements)` in time and memory. Sums are met to
    /// rounding: a few units in the last place of their largest terms. Exact areas contradict each
    /// other where they differ by more than adding up all leaves can: one unit for each.
    ///
    /// # Examples
    /// ```
    /// use quadrat::reconcile::{Measurement, Tree};
    /// // Area 0 is the sum of 1 and 2; 100 was measured where parts make 90.
    /// let tree = Tree::new(&[None, Some(0), Some(0)])?;
    /// let of = |node, value, variance| Measurement { node, value, variance };
    /// let found = tree.reconcile(&[of(0, 100.0, 1.0), of(1, 60.0, 2.0), of(2, 30.0, 2.0)])?;
    /// // The gap of 10 has variance 1 + 4: the total gives up a fifth of it.
    /// assert!((found.mean(0) - 98.0).abs() < 1e-12);
    /// assert!((found.mean(1) - 64.0).abs() < 1e-12);
    /// assert!((found.variance(0) - 0.8).abs() < 1e-12);
    /// # Ok::<(), quadrat::reconcile::ReconcileError>(())
    /// ```
    pub fn reconcile(
        &self,
        measurements: &[Measurement],
    ) -> Result<Reconciled<'_>, ReconcileError> {
        let own = self.own(measurements)?;
        let (mut below, mut gaps) = (vec![NOTHING; self.len()], Vec::new());
        let leaf = Terms {
            number: 1.0,
            size: 0.0,
        };
        let mut terms = vec![leaf; self.len()];
        for &node in self.order.iter().rev() {
            let parts = self.sum(node, &below);
            below[node] = match (own[node], parts) {
                ((own, _), None) => {
                    terms[node].size = own.mean.abs();
                    own
                }
                ((own, row), Some(parts)) => {
                    terms[node] = self.terms(node, &terms);
                    let variance = own.variance + parts.variance;
                    let difference = own.mean - parts.mean;
                    if variance == 0.0 && difference.abs() > terms[node].slack() {
                        return Err(ReconcileError::Contradiction {
                            node,
                            row,
                            total: own.mean,
                            parts: parts.mean,
                        });
                    }
                    if variance.is_finite() && variance > 0.0 {
                        gaps.push(Gap {
                            node,
                            difference,
                            sd: variance.sqrt(),
                        });
                    }
                    let all = both(own, parts);
                    if parts.variance > 0.0 {
                        terms[node].size = all.mean.abs();
                    }
                    all
                }
            };
        }
        gaps.reverse();
        let mut out = Reconciled {
            tree: self,
            beliefs: below.clone(),
            below,
            gaps,
        };
        for &node in &self.order {
            out.down(node);
        }
        Ok(out)
    }

    /// The measurements of each area together, and the last of them.
    fn own(&self, measurements: &[Measurement]) -> Result<Vec<(Message, usize)>, ReconcileError> {
        let mut own = vec![(NOTHING, 0); self.len()];
        for (row, told) in measurements.iter().enumerate() {
            let Some((before, first)) = own.get_mut(told.node) else {
                return Err(ReconcileError::Area {
                    row,
                    node: told.node,
                    nodes: self.len(),
                });
            };
            let refuse = |what, value, requirement| {
                Err(ReconcileError::Number {
                    row,
                    what,
                    value,
                    requirement,
                })
            };
            if told.value.is_nan() || told.value.abs() > 1e150 {
                return refuse("value", told.value, "a number, at most 1e150 in size");
            }
            if !(0.0..=1e300).contains(&told.variance) {
                return refuse("variance", told.variance, "zero or more, and at most 1e300");
            }
            let this = Message {
                mean: told.value,
                variance: told.variance,
            };
            let slack = SAME * told.value.abs().max(before.mean.abs());
            let are_exact = before.variance + this.variance == 0.0;
            if are_exact && (before.mean - this.mean).abs() > slack {
                return Err(ReconcileError::Twice {
                    first: *first,
                    second: row,
                    values: (before.mean, told.value),
                });
            }
            // What is exact decides.
            if this.variance <= before.variance {
                *first = row;
            }
            *before = both(*before, this);
        }
        Ok(own)
    }

    /// The leaves of the parts of an area together.
    fn terms(&self, node: usize, terms: &[Terms]) -> Terms {
        let parts = self.parts(node).iter().map(|&part| terms[part]);
        let sum = |a: Terms, b: Terms| Terms {
            number: a.number + b.number,
            size: a.size + b.size,
        };
        let none = Terms {
            number: 0.0,
            size: 0.0,
        };
        parts.fold(none, sum)
    }

    /// What the parts of an area add up to; none for a leaf.
    fn sum(&self, node: usize, below: &[Message]) -> Option<Message> {
        let parts = self.parts(node);
        if parts.is_empty() {
            return None;
        }
        let mut sum = Message {
            mean: 0.0,
            variance: 0.0,
        };
        for part in parts.iter().map(|&part| below[part]) {
            sum.mean += part.mean;
            sum.variance += part.variance;
        }
        if sum.variance.is_infinite() {
            sum = NOTHING;
        }
        Some(sum)
    }
}

/// Two beliefs of one number together.
fn both(a: Message, b: Message) -> Message {
    match (a.variance.is_infinite(), b.variance.is_infinite()) {
        (true, _) => b,
        (_, true) => a,
        _ if a.variance == 0.0 => a,
        _ if b.variance == 0.0 => b,
        _ => {
            let share = a.variance / (a.variance + b.variance);
            Message {
                mean: a.mean + share * (b.mean - a.mean),
                variance: share * b.variance,
            }
        }
    }
}

impl Reconciled<'_> {
    /// Hands what is known of an area to its parts.
    fn down(&mut self, node: usize) {
        let parts = self.tree.parts(node);
        if parts.is_empty() {
            return;
        }
        let (whole, below) = (self.beliefs[node], &self.below);
        let is_open = |part: &&usize| below[**part].variance.is_infinite();
        let mut open = parts.iter().filter(is_open);
        if let Some(&first) = open.next() {
            // What is not measured takes up what is left; two of such cannot be told apart.
            if open.next().is_none() && whole.variance.is_finite() {
                let mut left = whole;
                for &part in parts.iter().filter(|part| **part != first) {
                    left.mean -= below[part].mean;
                    left.variance += below[part].variance;
                }
                self.beliefs[first] = left;
            }
            return;
        }
        let variance: f64 = parts.iter().map(|&part| below[part].variance).sum();
        let mean: f64 = parts.iter().map(|&part| below[part].mean).sum();
        if variance == 0.0 {
            return;
        }
        // Sums of the variances after each part.
        let mut after = vec![0.0; parts.len()];
        for i in (1..parts.len()).rev() {
            after[i - 1] = after[i] + below[parts[i]].variance;
        }
        let mut before = 0.0;
        for (&part, after) in parts.iter().zip(after) {
            let own = below[part];
            let share = own.variance / variance;
            // Added up without it: a part that is far vaguer than the rest would swallow them.
            let rest = before + after;
            before += own.variance;
            self.beliefs[part] = Message {
                mean: own.mean + share * (whole.mean - mean),
                variance: share * rest + share * share * whole.variance,
            };
        }
    }

    /// The estimate of an area; NaN where nothing tells it.
    #[must_use]
    pub fn mean(&self, node: usize) -> f64 {
        match self.is_known(node) {
            true => self.beliefs[node].mean,
            false => f64::NAN,
        }
    }

    /// The variance of its error, in the unit of the values squared; infinite where nothing tells
    /// it.
    #[must_use]
    pub fn variance(&self, node: usize) -> f64 {
        self.beliefs[node].variance
    }

    /// Whether measurements tell the area.
    #[must_use]
    pub fn is_known(&self, node: usize) -> bool {
        self.beliefs[node].variance.is_finite()
    }

    /// Differences of measured areas from the sums of their parts, before these were reconciled;
    /// where variances are right they are independent, and normal if the errors are.
    #[must_use]
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The sum of squares of the standardised gaps, and the probability of as large a one: that of
    /// chi-square with as many degrees of freedom as there are gaps.
    #[must_use]
    pub fn chi_square(&self) -> (f64, f64) {
        let sum: f64 = self.gaps.iter().map(|gap| gap.standardised().powi(2)).sum();
        if self.gaps.is_empty() {
            return (0.0, 1.0);
        }
        (
            sum,
            regularised_gamma(0.5 * self.gaps.len() as f64, 0.5 * sum).1,
        )
    }
}
