//! What is asked of a density over a plane: probabilities, marginals, moments, regions, draws.

use crate::linalg::Mat;

use super::super::answers::Answer;
use super::estimate::Estimate2d;

/// The density of one of the two columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Marginal {
    /// The middle of each cell.
    pub places: Vec<f64>,
    /// The density.
    pub density: Vec<f64>,
    /// Lower ends of the pointwise band.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
}

/// Moments within the range of the cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Means of the two columns.
    pub mean: [Answer; 2],
    /// Their standard deviations.
    pub sd: [Answer; 2],
    /// Their covariance.
    pub covariance: Answer,
    /// Their correlation.
    pub correlation: Answer,
}

/// A region of highest density.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// The smallest density within.
    pub density: f64,
    /// Whether each cell is within.
    pub cells: Vec<bool>,
    /// Its probability, at least what was asked for.
    pub probability: Answer,
}

impl Estimate2d {
    /// The probability of a rectangle, whose sides may be infinite, and their ends in either order;
    /// NaN where one is NaN.
    #[must_use]
    pub fn probability(&self, x: (f64, f64), y: (f64, f64)) -> Answer {
        if [x.0, x.1, y.0, y.1].iter().any(|end| end.is_nan()) {
            return Answer::UNKNOWN;
        }
        let (a, b) = (self.fit.shares(0, x), self.fit.shares(1, y));
        self.linear(|i, j| a[i] * b[j]).as_probability()
    }

    /// A weighted sum of the probabilities of the cells.
    ///
    /// # Arguments
    /// * `weight` - of a cell, by its numbers along the two axes
    #[must_use]
    pub fn linear(&self, weight: impl Fn(usize, usize) -> f64) -> Answer {
        let columns = self.shape()[1];
        let cells = 0..self.fit.mass.len();
        let weights: Vec<f64> = cells.map(|c| weight(c / columns, c % columns)).collect();
        let mode = crate::linalg::dot(&weights, &self.fit.mass);
        let numbers = self.fit.curves.sums_of(&self.fit.grid, &[weights]);
        self.fit.answer(&numbers[0], mode)
    }

    /// The density of one column (0 or 1), with its band.
    ///
    /// # Panics
    /// Where there is no such column.
    #[must_use]
    pub fn marginal(&self, axis: usize) -> Marginal {
        let along = &self.fit.curves.along[axis];
        let [rows, columns] = self.shape();
        let mut modes = vec![0.0; along.ncols()];
        for i in 0..rows {
            for j in 0..columns {
                modes[[i, j][axis]] += self.fit.mass[i * columns + j];
            }
        }
        let answers: Vec<Answer> = (0..along.ncols())
            .map(|k| self.fit.answer(along.col_as_slice(k), modes[k]))
            .collect();
        let width = |k: usize| self.fit.grid.axes[axis].width(k);
        let of = |f: fn(&Answer) -> f64| {
            answers
                .iter()
                .enumerate()
                .map(|(k, a)| f(a) / width(k))
                .collect()
        };
        Marginal {
            places: self.places(axis),
            density: of(|a| a.value),
            lower: of(|a| a.lower),
            upper: of(|a| a.upper),
        }
    }

    /// Means, standard deviations, covariance and correlation within the range of the cells.
    #[must_use]
    pub fn moments(&self) -> Moments {
        let units = [0, 1].map(|a| self.fit.grid.axes[a].unit(&self.fit.scales[a]));
        let within = [0, 1].map(|a| {
            let cells = &self.fit.grid.axes[a];
            let spread = |k| (cells.width(k) / units[a].1).powi(2) / 12.0;
            (0..cells.len()).map(spread).collect::<Vec<f64>>()
        });
        let draws = self.fit.curves.len();
        // Mean and variance along an axis in its unit, from the probabilities of its cells.
        let moments = |axis: usize, mass: &dyn Fn(usize) -> f64| {
            let middles = &self.fit.middles[axis];
            let mean: f64 = middles.iter().enumerate().map(|(k, x)| mass(k) * x).sum();
            let terms = middles.iter().zip(&within[axis]).enumerate();
            let variance: f64 = terms
                .map(|(k, (x, w))| mass(k) * ((x - mean).powi(2) + w))
                .sum();
            (mean, variance)
        };
        let mut numbers: [Vec<f64>; 6] = Default::default();
        let mut push = |first: (f64, f64), second: (f64, f64), product: f64| {
            let covariance = product - first.0 * second.0;
            let (a, b) = (first.1.sqrt(), second.1.sqrt());
            let all = [
                units[0].0 + units[0].1 * first.0,
                units[1].0 + units[1].1 * second.0,
                units[0].1 * a,
                units[1].1 * b,
                units[0].1 * units[1].1 * covariance,
                covariance / (a * b),
            ];
            numbers.iter_mut().zip(all).for_each(|(n, x)| n.push(x));
        };
        for draw in 0..draws {
            let [along, across] = &self.fit.curves.along;
            let first = moments(0, &|k| along[(draw, k)]);
            let second = moments(1, &|k| across[(draw, k)]);
            push(first, second, self.fit.curves.products[draw]);
        }
        let [rows, columns] = self.shape();
        let (mut along, mut across, mut product) = (vec![0.0; rows], vec![0.0; columns], 0.0);
        for (cell, u) in self.fit.mass.iter().enumerate() {
            let (i, j) = (cell / columns, cell % columns);
            along[i] += u;
            across[j] += u;
            product += u * self.fit.middles[0][i] * self.fit.middles[1][j];
        }
        push(
            moments(0, &|k| along[k]),
            moments(1, &|k| across[k]),
            product,
        );
        let [a, b, c, d, e, f] = numbers.map(|mut n| {
            let mode = n.pop().unwrap_or(f64::NAN);
            self.fit.answer(&n, mode)
        });
        Moments {
            mean: [a, b],
            sd: [c, d],
            covariance: e,
            correlation: f,
        }
    }

    /// Cells in descending order of their density until their probability is at least `level`, and
    /// the smallest density among them.
    fn densest(&self, level: f64) -> (Vec<bool>, f64) {
        let p = self.density();
        let (mut cells, mut density) = (vec![false; p.len()], f64::INFINITY);
        for cell in self.fit.densest(0..p.len(), level) {
            cells[cell] = true;
            density = p[cell];
        }
        (cells, density)
    }

    /// Whether each cell belongs to the smallest region whose probability is at least `level`.
    #[must_use]
    pub fn smallest_region(&self, level: f64) -> Vec<bool> {
        self.densest(level).0
    }

    /// The smallest region of cells whose probability is at least `level`, with the interval of
    /// that probability.
    #[must_use]
    pub fn highest_density_region(&self, level: f64) -> Region {
        let (cells, density) = self.densest(level);
        let columns = self.shape()[1];
        let probability = self.linear(|i, j| f64::from(u8::from(cells[i * columns + j])));
        Region {
            density,
            cells,
            probability,
        }
    }

    /// Draws of whole densities, each as likely as its weight, shape `[cells, draws]`.
    #[must_use]
    pub fn draws(&self, draws: usize, seed: u64) -> Mat<f64> {
        self.fit.draws(draws, seed)
    }
}
