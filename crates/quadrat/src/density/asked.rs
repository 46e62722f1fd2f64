//! Many questions to a density of one column at once.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::linalg::{cut, dot};

use super::drawn::{Drawn, evenly};
use super::estimate::Estimate;

/// Questions whose numbers are held together: 16 MB of them for 8,000 draws.
const BATCH: usize = 256;

/// What may be asked of a density of one column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Question {
    /// The density at a place; zero outside of the cells.
    Density(f64),
    /// The probability of an interval.
    Probability(f64, f64),
    /// The quantile of a probability, which is moved between 0 and 1.
    Quantile(f64),
}

impl Estimate {
    /// Answers questions one after the other, each with the number of every draw.
    ///
    /// # Arguments
    /// * `visit` - is given the number of a question, from 0, and its answer
    ///
    /// # Numerics
    /// One pass over all draws for every 256 questions that are none of densities, and a logarithm
    /// of the cells for each of these; memory for 256 numbers of every draw.
    pub fn ask(&self, questions: &[Question], mut visit: impl FnMut(usize, &Drawn<'_>)) {
        for batch in cut(questions.len(), BATCH) {
            let numbers = self.numbers(&questions[batch.clone()]);
            for (question, numbers) in batch.zip(&numbers) {
                let value = self.told(questions[question], numbers);
                let weights = &self.curves.weights;
                visit(
                    question,
                    &Drawn {
                        value,
                        numbers,
                        weights,
                    },
                );
            }
        }
    }

    /// The number that is told.
    fn told(&self, question: Question, numbers: &[f64]) -> f64 {
        match question {
            Question::Density(x) => self.density_at(x),
            Question::Probability(..) if self.is_weighted() => {
                dot(numbers, &self.curves.weights).min(1.0)
            }
            _ if self.is_weighted() => dot(numbers, &self.curves.weights),
            other => {
                let sums = sums(&self.mass);
                self.of(other, &self.mass, &sums)
            }
        }
    }

    /// The numbers of some questions in every draw.
    fn numbers(&self, questions: &[Question]) -> Vec<Vec<f64>> {
        let draws = self.curves.len();
        let mut out: Vec<Vec<f64>> = vec![Vec::with_capacity(draws); questions.len()];
        let mut is_left = vec![true; questions.len()];
        for ((question, out), is_left) in questions.iter().zip(&mut out).zip(&mut is_left) {
            if let Question::Density(x) = *question {
                *is_left = false;
                match self.cell(x) {
                    Some(j) => {
                        let (log, width) =
                            (self.curves.log_mass.col_as_slice(j), self.cells.width(j));
                        out.extend(log.iter().map(|log| log.exp() / width));
                    }
                    None => out.resize(draws, 0.0),
                }
            }
        }
        if is_left.contains(&true) {
            self.curves.each(|_, mass| {
                let sums = sums(mass);
                let all = questions.iter().zip(&mut out).zip(&is_left);
                for ((question, out), _) in all.filter(|(_, is_left)| **is_left) {
                    out.push(self.of(*question, mass, &sums));
                }
            });
        }
        out
    }

    /// The number of a question but for densities, given the probabilities of the cells and of all
    /// cells before each.
    fn of(&self, question: Question, mass: &[f64], sums: &[f64]) -> f64 {
        let below = |x: f64| {
            let (cell, share) = self.share_below(x);
            sums[cell] + mass.get(cell).map_or(0.0, |u| share * u)
        };
        match question {
            Question::Density(x) => self.density_at(x),
            Question::Probability(from, to) => (below(to) - below(from)).clamp(0.0, 1.0),
            Question::Quantile(p) => {
                let p = p.clamp(0.0, 1.0);
                let edges = self.edges();
                // The first cell at whose end enough lies below.
                let cell = sums[1..].partition_point(|sum| *sum < p);
                let Some(u) = mass.get(cell) else {
                    return edges[mass.len()];
                };
                let share = match *u > 0.0 {
                    true => ((p - sums[cell]) / u).clamp(0.0, 1.0),
                    false => 0.0,
                };
                edges[cell] + share * (edges[cell + 1] - edges[cell])
            }
        }
    }

    /// New values, drawn from the density that is told ([`Self::masses`]) and evenly within a cell:
    /// of the posterior mean they are those that the rows let expect, the posterior predictive.
    #[must_use]
    pub fn new_values(&self, count: usize, seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let sums = sums(&self.mass);
        let mut one = || self.of(Question::Quantile(random.random()), &self.mass, &sums);
        (0..count).map(|_| one()).collect()
    }

    /// Numbers of draws, each as likely as its weight: those of [`Self::draws`].
    #[must_use]
    pub fn picks(&self, count: usize, seed: u64) -> Vec<usize> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        evenly(&self.curves.weights, count, random.random())
    }
}

/// What lies before each cell, and all.
fn sums(mass: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let ends = mass.iter().map(|u| {
        sum += u;
        sum
    });
    std::iter::once(0.0).chain(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Density;
    use super::super::tests::normals;

    #[test]
    fn new_values_are_as_the_density_says() {
        let rows = normals(150, 4);
        let values: Vec<f64> = rows.iter().map(|x| x.abs()).collect();
        let estimate = Density::new(&values)
            .bounds(0.0, f64::INFINITY)
            .cells(80)
            .draws(500);
        let estimate = estimate.estimate().unwrap();
        let n = 4000;
        let mut new = estimate.new_values(n, 3);
        assert_eq!(new, estimate.new_values(n, 3));
        assert_ne!(new, estimate.new_values(n, 4));
        new.sort_by(f64::total_cmp);
        let apart = new.iter().enumerate().map(|(i, x)| {
            let below = estimate.cdf(*x).value;
            (below - i as f64 / n as f64).abs()
        });
        // Kolmogorov's distance, which one of 10,000 samples exceeds.
        assert!(apart.fold(0.0, f64::max) < 2.23 / (n as f64).sqrt());
    }
}
