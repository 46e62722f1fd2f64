//! What draws say of the whole population: quantiles, means, inequality.
//!
//! Where a part of it was asked, the bands of another sample would differ: these numbers are those
//! of the population, and their intervals hold what the sample leaves open of its bands.

use super::answer::Answer;
use super::estimate::Estimate;
use super::weighted;

/// Sums of shares that differ by less are the same.
const ROUNDING: f64 = 1e-12;

impl Estimate {
    /// A quantile of the population, such as its median age (`0.5`); `share` is moved between 0 and
    /// 1. NaN where it is NaN.
    ///
    /// Where so large a share ends with a cell, the middle between it and the next cell in which
    /// anybody is: of two persons, the median is between them.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Answer {
        if share.is_nan() {
            return Answer::UNKNOWN;
        }
        let share = share.clamp(0.0, 1.0);
        self.of_draws(|masses| {
            let total = masses.iter().sum::<f64>();
            let wanted = share * total;
            let place = |i: usize, part: f64| self.axis.within(self.cells.cell(i), part);
            let mut sum = 0.0;
            let mut held = (0..masses.len()).filter(|&i| masses[i] > 0.0);
            while let Some(i) = held.next() {
                let left = sum + masses[i] - wanted;
                if left.abs() <= ROUNDING * total {
                    let end = place(i, 1.0);
                    return held
                        .next()
                        .map_or(end, |next| end.midpoint(place(next, 0.0)));
                }
                if left > 0.0 {
                    return place(i, (wanted - sum) / masses[i]);
                }
                sum += masses[i];
            }
            self.cells.edges[masses.len()]
        })
    }

    /// The mean, such as the mean age or income.
    #[must_use]
    pub fn mean_value(&self) -> Answer {
        let middles = self.middles();
        self.of_draws(|masses| {
            let total: f64 = masses.iter().sum();
            let sum: f64 = masses.iter().zip(&middles).map(|(m, x)| m * x).sum();
            sum / total
        })
    }

    /// The Gini coefficient of amounts that are not negative: 0 where all have the same. None where
    /// amounts may be negative.
    #[must_use]
    pub fn gini(&self) -> Option<Answer> {
        let middles = self.middles();
        (self.cells.edges[0] >= 0.0).then(|| {
            self.of_draws(|masses| {
                let (mut people, mut amount, mut area) = (0.0, 0.0, 0.0);
                for (mass, x) in masses.iter().zip(&middles) {
                    let before = amount;
                    amount += mass * x;
                    area += mass * (before + amount);
                    people += mass;
                }
                1.0 - area / (people * amount)
            })
        })
    }

    /// The part of the whole amount that the richest share of the population has. None where
    /// amounts may be negative. `share` is moved between 0 and 1; NaN where it is NaN.
    #[must_use]
    pub fn top_share(&self, share: f64) -> Option<Answer> {
        if share.is_nan() {
            return (self.cells.edges[0] >= 0.0).then_some(Answer::UNKNOWN);
        }
        let share = share.clamp(0.0, 1.0);
        let middles = self.middles();
        (self.cells.edges[0] >= 0.0).then(|| {
            self.of_draws(|masses| {
                let mut left = share * masses.iter().sum::<f64>();
                let (mut rich, mut amount) = (0.0, 0.0);
                for (i, (mass, x)) in masses.iter().zip(&middles).enumerate().rev() {
                    amount += mass * x;
                    if left >= *mass {
                        rich += mass * x;
                    } else if left > 0.0 {
                        // The upper part of the cell.
                        let (from, to) = self.cells.cell(i);
                        let cut = self.axis.within((from, to), 1.0 - left / mass);
                        rich += left * self.axis.mean((cut, to));
                    }
                    left = (left - mass).max(0.0);
                }
                rich / amount
            })
        })
    }

    /// How many lie between two places in either order; within cells they are spread evenly along
    /// the axis. NaN where a place is NaN.
    #[must_use]
    pub fn between(&self, from: f64, to: f64) -> Answer {
        if from.is_nan() || to.is_nan() {
            return Answer::UNKNOWN;
        }
        let (from, to) = (from.min(to), from.max(to));
        let u = |x: f64| self.axis.forward(x.clamp(self.cells.edges[0], self.last()));
        let (from, to) = (u(from), u(to));
        let cells = 0..self.cells.len();
        let parts: Vec<f64> = cells
            .map(|i| {
                let (a, b) = self.cells.cell(i);
                let (a, b) = (u(a), u(b));
                ((to.min(b) - from.max(a)) / (b - a)).clamp(0.0, 1.0)
            })
            .collect();
        let sum = |masses: &[f64]| masses.iter().zip(&parts).map(|(m, part)| m * part).sum();
        self.answer(false, sum)
    }

    fn last(&self) -> f64 {
        self.cells.edges[self.cells.len()]
    }

    /// Means of the values within cells.
    fn middles(&self) -> Vec<f64> {
        let cells = 0..self.cells.len();
        cells.map(|i| self.axis.mean(self.cells.cell(i))).collect()
    }

    /// A number of the population, of every draw.
    fn of_draws(&self, number: impl Fn(&[f64]) -> f64) -> Answer {
        self.answer(true, number)
    }

    /// A number of every draw, of those who were counted or of the population they were drawn from.
    fn answer(&self, is_of_population: bool, number: impl Fn(&[f64]) -> f64) -> Answer {
        let factors = self.resampled.as_ref().filter(|_| is_of_population);
        let one = |draw: usize| {
            let own = self.masses.col_as_slice(draw);
            let Some(factors) = factors else {
                return number(own);
            };
            let mut masses = own.to_vec();
            let ends = self.cells.band.windows(2);
            for (ends, factor) in ends.zip(factors.col_as_slice(draw)) {
                masses[ends[0]..ends[1]]
                    .iter_mut()
                    .for_each(|m| *m *= factor);
            }
            number(&masses)
        };
        let values: Vec<f64> = (0..self.masses.ncols()).map(one).collect();
        weighted::answer(&values, &self.weights, self.level)
    }
}
