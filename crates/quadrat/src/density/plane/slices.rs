//! What is asked of conditional densities: quantiles, moments and probabilities at every place of
//! the given column.

use std::ops::Range;

use crate::linalg::{Mat, add_scaled, vectorised};

use super::super::answers::Answer;
use super::super::loops;
use super::estimate::ConditionalEstimate;

/// Which number an interval is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// The mean over draws.
    Mean,
    /// That of the density that is told. For quantiles: where a value lies far from all others
    /// their mean is that of the few draws that reach there.
    Told,
}

/// A number of the density at every place of the given column, with its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The middle of each slice of the given column.
    pub places: Vec<f64>,
    /// Quantiles of the density that is told; else posterior means, or the numbers of the average
    /// of modes without correction.
    pub value: Vec<f64>,
    /// Lower ends.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
}

impl ConditionalEstimate {
    /// The slice that a place of the given column lies in; none outside of all.
    #[must_use]
    pub fn slice(&self, given: f64) -> Option<usize> {
        self.fit.grid.axes[0].find(given)
    }

    /// The weight of the rows of each slice: where it is zero the prior fills in.
    #[must_use]
    pub fn slice_totals(&self) -> &[f64] {
        &self.fit.grid.totals
    }

    /// Quantiles of the values at every place of the given column.
    #[must_use]
    pub fn quantile_curves<const N: usize>(&self, p: [f64; N]) -> [Curve; N] {
        let edges = self.edges(1);
        self.curves(Value::Told, |mass| quantiles(mass, edges, p))
    }

    /// Mean and standard deviation of the values within the range of the cells, at every place of
    /// the given column.
    #[must_use]
    pub fn moment_curves(&self) -> [Curve; 2] {
        self.curves(Value::Mean, |mass| self.moments_of(mass))
    }

    /// The probability of an interval, whose ends come in either order, at every place of the given
    /// column.
    #[must_use]
    pub fn probability_curve(&self, within: (f64, f64)) -> Curve {
        let shares = self.fit.shares(1, within);
        let [mut curve] = self.curves(Value::Mean, |mass| [sums(mass, &shares)]);
        // Rounding may leave more than all.
        let all = [&mut curve.value, &mut curve.lower, &mut curve.upper];
        all.into_iter()
            .flatten()
            .for_each(|p| *p = p.clamp(0.0, 1.0));
        curve
    }

    /// A quantile of the values at a place; none outside of the slices.
    #[must_use]
    pub fn quantile(&self, given: f64, p: f64) -> Option<Answer> {
        let edges = self.edges(1);
        let [answer] = self.at(given, Value::Told, |mass| quantiles(mass, edges, [p]))?;
        Some(answer)
    }

    /// Mean and standard deviation of the values at a place; none outside of the slices.
    #[must_use]
    pub fn moments(&self, given: f64) -> Option<[Answer; 2]> {
        self.at(given, Value::Mean, |mass| self.moments_of(mass))
    }

    /// The probability of an interval at a place, whose ends come in either order; none outside of
    /// the slices.
    #[must_use]
    pub fn probability(&self, given: f64, within: (f64, f64)) -> Option<Answer> {
        let shares = self.fit.shares(1, within);
        let [answer] = self.at(given, Value::Mean, |mass| [sums(mass, &shares)])?;
        Some(answer.as_probability())
    }

    /// Draws of whole densities, each as likely as its weight, shape `[cells, draws]`.
    #[must_use]
    pub fn draws(&self, draws: usize, seed: u64) -> Mat<f64> {
        self.fit.draws(draws, seed)
    }

    fn at<const N: usize>(
        &self,
        given: f64,
        value: Value,
        of: impl Fn(&Mat<f64>) -> [Vec<f64>; N],
    ) -> Option<[Answer; N]> {
        let slice = self.slice(given)?;
        self.answers(slice..slice + 1, value, of).pop()
    }

    fn curves<const N: usize>(
        &self,
        value: Value,
        of: impl Fn(&Mat<f64>) -> [Vec<f64>; N],
    ) -> [Curve; N] {
        let answers = self.answers(0..self.shape()[0], value, of);
        let places = self.places(0);
        std::array::from_fn(|k| {
            let all = |of: fn(&Answer) -> f64| answers.iter().map(|a| of(&a[k])).collect();
            Curve {
                places: places.clone(),
                value: all(|a| a.value),
                lower: all(|a| a.lower),
                upper: all(|a| a.upper),
            }
        })
    }

    /// Numbers of some slices.
    ///
    /// # Arguments
    /// * `of` - numbers from probabilities of the cells of a slice, of shape `[draws, cells]`
    fn answers<const N: usize>(
        &self,
        slices: Range<usize>,
        value: Value,
        of: impl Fn(&Mat<f64>) -> [Vec<f64>; N],
    ) -> Vec<[Answer; N]> {
        let columns = self.shape()[1];
        let mut out = Vec::with_capacity(slices.len());
        self.fit.curves.each(&self.fit.grid, slices, |i, mass| {
            let own = Mat::from_fn(1, columns, |_, j| self.fit.mass[i * columns + j]);
            let (numbers, modes) = (of(mass), of(&own));
            out.push(std::array::from_fn(|k| {
                let (numbers, told) = (&numbers[k], modes[k][0]);
                match value {
                    Value::Mean => self.fit.answer(numbers, told),
                    Value::Told => self.fit.about(numbers, told),
                }
            }));
        });
        out
    }

    fn moments_of(&self, mass: &Mat<f64>) -> [Vec<f64>; 2] {
        let cells = &self.fit.grid.axes[1];
        let (centre, scale) = cells.unit(&self.fit.scales[1]);
        let middles = &self.fit.middles[1];
        let square = |(j, x): (usize, &f64)| x * x + (cells.width(j) / scale).powi(2) / 12.0;
        let squares: Vec<f64> = middles.iter().enumerate().map(square).collect();
        let mut means = sums(mass, middles);
        let mut sds = sums(mass, &squares);
        for (mean, sd) in means.iter_mut().zip(&mut sds) {
            *sd = scale * (*sd - *mean * *mean).max(0.0).sqrt();
            *mean = centre + scale * *mean;
        }
        [means, sds]
    }
}

/// Weighted sums over the cells.
pub(super) fn sums(mass: &Mat<f64>, weights: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; mass.nrows()];
    for (j, by) in weights.iter().enumerate() {
        vectorised(|| add_scaled(*by, mass.col_as_slice(j), &mut out));
    }
    out
}

/// Quantiles, linear within a cell.
pub(super) fn quantiles<const N: usize>(
    mass: &Mat<f64>,
    edges: &[f64],
    p: [f64; N],
) -> [Vec<f64>; N] {
    let (draws, cells) = (mass.nrows(), mass.ncols());
    let mut sum = vec![0.0; draws];
    // Of each quantile: what lies below its cell, and the number of that cell.
    let mut found = [(); N].map(|()| (vec![0.0; draws], vec![0.0; draws]));
    for j in 0..cells {
        loops::add(&mut sum, mass.col_as_slice(j));
        for ((before, cell), p) in found.iter_mut().zip(p) {
            loops::passed(&sum, p, (j + 1) as f64, before, cell);
        }
    }
    let mut p = p.into_iter();
    found.map(|(before, cell)| {
        let p = p.next().unwrap_or(f64::NAN);
        let pairs = before.iter().zip(&cell).enumerate();
        pairs
            .map(|(draw, (before, cell))| {
                // Rounding may leave the sum of all a little below one.
                let j = (*cell as usize).min(cells - 1);
                let share = (p - before) / mass[(draw, j)];
                let share = if share.is_finite() {
                    share.clamp(0.0, 1.0)
                } else {
                    0.5
                };
                edges[j] + share * (edges[j + 1] - edges[j])
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_linear_within_cells() {
        let mass = Mat::from_fn(2, 3, |i, j| [[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]][i][j]);
        let edges = [0.0, 1.0, 3.0, 4.0];
        let [low, middle, all] = quantiles(&mass, &edges, [0.1, 0.35, 1.0]);
        // A sum and a quotient of numbers of order one.
        let near = |a: &[f64], b: [f64; 2]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(
            near(&low, [0.5, 1.2]) && near(&middle, [2.0, 1.7]),
            "{low:?} {middle:?}"
        );
        assert!(near(&all, [4.0, 3.0]), "{all:?}");
    }
}
