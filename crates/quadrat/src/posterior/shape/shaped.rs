//! Draws of a function of a shape, and what they say of supports.

use super::between::Kept;
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
    /// Of the draws at the places, shape `[places, draws]`.
    slopes: Mat<f64>,
    kept: Kept,
    measures: Measures,
}

/// What draws without the shape say of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measures {
    /// Sds by which draws break the shape where they do so most.
    pub broken: f64,
    /// How far draws are from the nearest functions of the shape, in their own spread.
    pub moved: f64,
    /// How far their mean is from a straight line, in their spread.
    pub bent: f64,
}

impl Shaped {
    /// # Arguments
    /// * `kept` - what the functions keep between the places
    pub(super) fn new(
        input: String,
        places: Vec<f64>,
        (draws, kept): (Mat<f64>, Kept),
        measures: Measures,
    ) -> Self {
        let mut slopes = Mat::zeros(draws.nrows(), draws.ncols());
        for draw in 0..draws.ncols() {
            let own = kept.slopes_at(draws.col_as_slice(draw), &places);
            slopes.col_as_slice_mut(draw).copy_from_slice(&own);
        }
        Self {
            input,
            places,
            draws,
            slopes,
            kept,
            measures,
        }
    }

    /// The places of the grid, ascending; between them the functions are quadratic splines of the
    /// shape.
    #[must_use]
    pub fn places(&self) -> &[f64] {
        &self.places
    }

    /// By how many standard deviations the posterior without the shape breaks it, where it does so
    /// most: many say that the rows contradict the shape.
    #[must_use]
    pub fn broken(&self) -> f64 {
        self.measures.broken
    }

    /// How far draws of the posterior without the shape are from the nearest functions of it among
    /// the rows, over how far they are from their mean (both root mean squares): many small
    /// breaches together. Where the true function `f` is monotone or within bounds as they are,
    /// `|P g - g| <= |f - g|`, whose mean square is twice that of draws about their mean: 1.4 is
    /// the most then. Convex functions are nearest in their slopes, so that theirs is no bound but
    /// about as large.
    #[must_use]
    pub fn moved(&self) -> f64 {
        self.measures.moved
    }

    /// How far the mean of the posterior without the shape is from a straight line among the rows,
    /// over how far draws are from that mean (both root mean squares). Intervals of functions held
    /// to a bend are too narrow where this is small.
    #[must_use]
    pub fn bent(&self) -> f64 {
        self.measures.bent
    }

    /// Every function at supports, shape `[m, draws]`: values, averages and integrals of the
    /// splines, exactly.
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
                let own = parts.iter().map(|part| self.told(part, draw));
                out[(row, draw)] = own.sum();
            }
        }
        Ok(out)
    }

    fn ends(&self) -> (f64, f64) {
        let end = |place: Option<&f64>| place.copied().unwrap_or(0.0);
        (end(self.places.first()), end(self.places.last()))
    }

    /// The parts of steps that a row is the weighted sum of.
    fn parts(&self, set: &Functionals, row: usize) -> Vec<Part> {
        let (from, to) = self.ends();
        let mut parts = Vec::new();
        for atom in set.atoms(row) {
            let (lower, width) = (set.lower(0)[atom], set.width(0)[atom]);
            let weight = set.weight()[atom];
            let (low, high) = (lower.clamp(from, to), (lower + width).clamp(from, to));
            let first = self.step_of(low);
            if high <= low {
                parts.push(self.part(first, (low, low), weight));
                continue;
            }
            for (i, step) in self.places.windows(2).enumerate().skip(first) {
                let (a, b) = (low.max(step[0]), high.min(step[1]));
                if b <= a {
                    break;
                }
                parts.push(self.part(i, (a, b), weight * (b - a) / (high - low)));
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

    fn part(&self, step: usize, (from, to): (f64, f64), weight: f64) -> Part {
        let start = self.places[step];
        Part {
            step,
            from: from - start,
            to: to - start,
            weight,
        }
    }

    /// What a draw adds to a row by one of its parts.
    fn told(&self, part: &Part, draw: usize) -> f64 {
        let (first, next) = (part.step, part.step + 1);
        let of = |all: &Mat<f64>| (all[(first, draw)], all[(next, draw)]);
        let length = self.places[next] - self.places[first];
        let step = self.kept.step(length, of(&self.draws), of(&self.slopes));
        let value = match part.from < part.to {
            true => step.mean(part.from, part.to),
            false => step.at(part.from),
        };
        part.weight * value
    }
}

/// A part of a step, or one place in it, and how often it counts.
struct Part {
    step: usize,
    /// How far its ends are from the first place of the step.
    from: f64,
    to: f64,
    weight: f64,
}

#[cfg(test)]
mod tests {
    use super::super::kinds::Shape;
    use super::*;
    use crate::support::Aggregate;

    #[test]
    fn values_averages_and_integrals_are_those_of_a_parabola() {
        let places = [0.0, 1.0, 1.5, 2.0];
        let draws = Mat::from_fn(4, 1, |i, _| places[i] * places[i]);
        let parabola = Shaped::new(
            "x".into(),
            places.to_vec(),
            (draws, Kept::of(&[Shape::Convex])),
            Measures::default(),
        );
        let mut set = Functionals::new(vec!["x".into()]);
        set.push_point(&[0.25]).unwrap();
        set.push_point(&[2.0]).unwrap();
        set.push_box(&[(0.0, 2.0)], Aggregate::Sum).unwrap();
        set.push_box(&[(0.5, 1.75)], Aggregate::Mean).unwrap();
        set.push_nodes(&[vec![0.5], vec![1.0]], &[-1.0, 2.0])
            .unwrap();
        let found = parabola.at(&set).unwrap();
        let average = (1.75_f64.powi(3) - 0.125) / (3.0 * 1.25);
        let expected = [0.0625, 4.0, 8.0 / 3.0, average, 1.75];
        // Sums of a few terms of size four.
        for (row, expected) in expected.into_iter().enumerate() {
            assert!((found[(row, 0)] - expected).abs() < 1e-14, "{row}");
        }
        let mut beyond = Functionals::new(vec!["x".into()]);
        beyond.push_point(&[2.5]).unwrap();
        assert!(matches!(
            parabola.at(&beyond),
            Err(InputError::Range { .. })
        ));
    }
}
