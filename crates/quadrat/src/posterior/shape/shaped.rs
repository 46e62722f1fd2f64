//! Draws of a function of a shape, and what they say of supports.

use crate::error::InputError;
use crate::linalg::Mat;
use crate::support::Functionals;

/// By how much of the range a support may reach beyond it: rounding.
const ROUNDING: f64 = 1e-9;

/// Functions drawn from a posterior and held to a shape, see
/// [`Posterior::shaped`](crate::model::Posterior::shaped).
#[derive(Debug, Clone)]
pub struct Shaped {
    input: String,
    /// Ascending.
    places: Vec<f64>,
    /// Shape `[places, draws]`.
    draws: Mat<f64>,
    contradiction: Contradiction,
}

/// How far the rows contradict the shape.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Contradiction {
    /// Sds by which draws break the shape where they do so most.
    pub broken: f64,
    /// How far draws are from the nearest functions of the shape, in their own spread.
    pub moved: f64,
}

impl Shaped {
    pub(super) fn new(
        input: String,
        places: Vec<f64>,
        draws: Mat<f64>,
        contradiction: Contradiction,
    ) -> Self {
        Self {
            input,
            places,
            draws,
            contradiction,
        }
    }

    /// The places of the grid, ascending; the functions are lines between them.
    #[must_use]
    pub fn places(&self) -> &[f64] {
        &self.places
    }

    /// By how many standard deviations the posterior without the shape breaks it, where it does so
    /// most: many say that the rows contradict the shape.
    #[must_use]
    pub fn broken(&self) -> f64 {
        self.contradiction.broken
    }

    /// How far draws of the posterior without the shape are from the nearest functions of it among
    /// the rows, over how far they are from their mean (both root mean squares): many small
    /// breaches together. Where the true function `f` is monotone or within bounds as they are,
    /// `|P g - g| <= |f - g|`, whose mean square is twice that of draws about their mean: 1.4 is
    /// the most then. Convex functions are nearest in their slopes, so that theirs is no bound but
    /// about as large.
    #[must_use]
    pub fn moved(&self) -> f64 {
        self.contradiction.moved
    }

    /// Every function at supports, shape `[m, draws]`: values, averages and integrals of the lines,
    /// exactly.
    ///
    /// # Errors
    /// [`InputError::UnknownDimension`] for a missing input; [`InputError::Range`] for a support
    /// that reaches beyond the grid.
    pub fn at(&self, supports: &Functionals) -> Result<Mat<f64>, InputError> {
        let set = supports.select(std::slice::from_ref(&self.input))?;
        let (from, to) = self.ends();
        let rounding = ROUNDING * (to - from);
        let mut out = Mat::zeros(set.len(), self.draws.ncols());
        for row in 0..set.len() {
            let (low, high) = set.extent(row, 0);
            if low < from - rounding || high > to + rounding {
                return Err(InputError::Range {
                    what: format!("`{}`", self.input),
                    row,
                    value: if low < from { low } else { high },
                    requirement: "within the range that the shape is held over",
                });
            }
            let parts = self.parts(&set, row);
            for draw in 0..self.draws.ncols() {
                let values = self.draws.col_as_slice(draw);
                out[(row, draw)] = parts.iter().map(|part| part.of(values)).sum();
            }
        }
        Ok(out)
    }

    fn ends(&self) -> (f64, f64) {
        let end = |place: Option<&f64>| place.copied().unwrap_or(0.0);
        (end(self.places.first()), end(self.places.last()))
    }

    /// The points of the lines that a row is the weighted sum of.
    fn parts(&self, set: &Functionals, row: usize) -> Vec<Part> {
        let (from, to) = self.ends();
        let mut parts = Vec::new();
        for atom in set.atoms(row) {
            let (lower, width) = (set.lower(0)[atom], set.width(0)[atom]);
            let weight = set.weight()[atom];
            let (low, high) = (lower.clamp(from, to), (lower + width).clamp(from, to));
            if high <= low {
                parts.push(self.part(low, weight));
                continue;
            }
            // The average of a line over a part of a step is its value in the middle of that.
            let first = self.step_of(low);
            for step in self.places.windows(2).skip(first) {
                let (a, b) = (low.max(step[0]), high.min(step[1]));
                if b <= a {
                    break;
                }
                parts.push(self.part(0.5 * (a + b), weight * (b - a) / (high - low)));
            }
        }
        parts
    }

    /// The step of the grid that a place is in.
    fn step_of(&self, at: f64) -> usize {
        let after = self.places.partition_point(|place| *place <= at);
        after
            .saturating_sub(1)
            .min(self.places.len().saturating_sub(2))
    }

    fn part(&self, at: f64, weight: f64) -> Part {
        let step = self.step_of(at);
        let (a, b) = (self.places[step], self.places[step + 1]);
        Part {
            step,
            share: ((at - a) / (b - a)).clamp(0.0, 1.0),
            weight,
        }
    }
}

/// A point of a line between two places, and how often it counts.
struct Part {
    step: usize,
    /// How far along the step it is.
    share: f64,
    weight: f64,
}

impl Part {
    fn of(&self, values: &[f64]) -> f64 {
        let (a, b) = (values[self.step], values[self.step + 1]);
        // Rounding must not leave what lies between.
        let value = a + self.share * (b - a);
        self.weight * value.max(a.min(b)).min(a.max(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::Aggregate;

    #[test]
    fn values_averages_and_integrals_are_those_of_the_lines() {
        // Up to one, and back down half as steeply.
        let draws = Mat::from_fn(3, 1, |i, _| [0.0, 1.0, 0.5][i]);
        let lines = Shaped::new(
            "x".into(),
            vec![0.0, 1.0, 2.0],
            draws,
            Contradiction::default(),
        );
        let mut set = Functionals::new(vec!["x".into()]);
        set.push_point(&[0.25]).unwrap();
        set.push_point(&[2.0]).unwrap();
        set.push_box(&[(0.0, 2.0)], Aggregate::Sum).unwrap();
        set.push_box(&[(0.5, 1.5)], Aggregate::Mean).unwrap();
        set.push_nodes(&[vec![0.5], vec![1.0]], &[-1.0, 2.0])
            .unwrap();
        let found = lines.at(&set).unwrap();
        // Areas of triangles and trapezia; sums of a few terms below two.
        for (row, expected) in [0.25, 0.5, 1.25, 0.8125, 1.5].into_iter().enumerate() {
            assert!((found[(row, 0)] - expected).abs() < 1e-14, "{row}");
        }
        let mut beyond = Functionals::new(vec!["x".into()]);
        beyond.push_point(&[2.5]).unwrap();
        assert!(matches!(lines.at(&beyond), Err(InputError::Range { .. })));
    }
}
