//! Many questions to a density of two columns at once.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::linalg::{Mat, dot};
use crate::support::Polygon;

use super::super::drawn::Drawn;
use super::estimate::{ConditionalEstimate, Estimate2d};
use super::fit::Fit;
use super::mask;
use super::slices::{quantiles, sums};

/// Questions whose numbers are held together: 4 MB of them for 8,000 draws, and the weights of all
/// cells for each.
const BATCH: usize = 64;

/// What may be asked of a density of two columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Question2d<'a> {
    /// The density at a place; zero outside of the cells.
    Density(f64, f64),
    /// The density of one column (0 or 1) at a place of it; zero outside of the cells.
    Marginal(usize, f64),
    /// The probability of a rectangle, whose sides may be infinite.
    Probability((f64, f64), (f64, f64)),
    /// The probability of polygons that do not overlap each other.
    Inside(&'a [Polygon]),
}

/// What may be asked of densities of one column given another, at a place of the given one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QuestionGiven {
    /// The density at a value; zero outside of the cells.
    Density(f64),
    /// The probability of an interval.
    Probability(f64, f64),
    /// The quantile of a probability, which is moved between 0 and 1.
    Quantile(f64),
}

impl Fit {
    /// Densities of cells in every draw, cell by cell; nothing for questions about no cell.
    fn densities(
        &self,
        cells: impl Iterator<Item = (usize, usize)>,
        visit: &mut impl FnMut(usize, &Drawn<'_>),
    ) {
        let mut asked: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (question, cell) in cells {
            asked.entry(cell).or_default().push(question);
        }
        if asked.is_empty() {
            return;
        }
        let grid = &self.grid;
        self.curves.each_log(grid, |cell, log| {
            let Some(questions) = asked.get(&cell) else {
                return;
            };
            let measure = grid.log_measure[cell];
            let density = |log: &f64| grid.per_size(cell, (log + measure).exp());
            let numbers: Vec<f64> = log.iter().map(density).collect();
            questions
                .iter()
                .for_each(|q| visit(*q, &self.number(self.density[cell], &numbers)));
        });
    }

    fn number<'a>(&'a self, value: f64, numbers: &'a [f64]) -> Drawn<'a> {
        Drawn {
            value,
            numbers,
            weights: &self.curves.weights,
        }
    }

    /// The posterior mean, or the number of the average of modes.
    fn told(&self, numbers: &[f64], mode: f64) -> f64 {
        match self.is_mean {
            true => dot(numbers, &self.curves.weights),
            false => mode,
        }
    }

    /// Zero in every draw.
    fn nothing(&self, question: usize, visit: &mut impl FnMut(usize, &Drawn<'_>)) {
        visit(question, &self.number(0.0, &vec![0.0; self.curves.len()]));
    }
}

impl Estimate2d {
    /// Answers questions, each with the number of every draw; not in their order.
    ///
    /// # Arguments
    /// * `visit` - is given the number of a question, from 0, and its answer
    ///
    /// # Numerics
    /// One pass over all draws for all densities, and one for every 64 probabilities.
    pub fn ask(&self, questions: &[Question2d<'_>], mut visit: impl FnMut(usize, &Drawn<'_>)) {
        let mut cells = Vec::new();
        let mut probabilities = Vec::new();
        for (number, question) in questions.iter().enumerate() {
            match *question {
                Question2d::Density(x, y) => match self.cell(x, y) {
                    Some(cell) => cells.push((number, cell)),
                    None => self.fit.nothing(number, &mut visit),
                },
                Question2d::Marginal(axis, x) => self.along(number, (axis, x), &mut visit),
                _ => probabilities.push(number),
            }
        }
        self.fit.densities(cells.into_iter(), &mut visit);
        for batch in probabilities.chunks(BATCH) {
            let weights: Vec<Vec<f64>> =
                batch.iter().map(|q| self.weights(&questions[*q])).collect();
            let numbers = self.fit.curves.sums_of(&self.fit.grid, &weights);
            for ((question, weights), numbers) in batch.iter().zip(&weights).zip(&numbers) {
                let value = self.fit.told(numbers, dot(weights, &self.fit.mass));
                visit(*question, &self.fit.number(value, numbers));
            }
        }
    }

    /// The density of one column at a place of it.
    fn along(
        &self,
        question: usize,
        (axis, x): (usize, f64),
        visit: &mut impl FnMut(usize, &Drawn<'_>),
    ) {
        let fit = &self.fit;
        let cells = &fit.grid.axes[axis];
        let Some(k) = cells.find(x) else {
            return fit.nothing(question, visit);
        };
        let columns = fit.grid.shape()[1];
        let is_in = |cell: &usize| [cell / columns, cell % columns][axis] == k;
        let mode: f64 = (0..fit.mass.len()).filter(is_in).map(|c| fit.mass[c]).sum();
        let masses = fit.curves.along[axis].col_as_slice(k);
        let value = fit.told(masses, mode) / cells.width(k);
        let numbers: Vec<f64> = masses.iter().map(|u| u / cells.width(k)).collect();
        visit(question, &fit.number(value, &numbers));
    }

    /// The share of every cell that a question asks for.
    fn weights(&self, question: &Question2d<'_>) -> Vec<f64> {
        let fit = &self.fit;
        match question {
            Question2d::Probability(x, y) => {
                let (a, b) = (fit.shares(0, *x), fit.shares(1, *y));
                let line = |a: f64| b.iter().map(move |b| a * b);
                a.iter().flat_map(|a| line(*a)).collect()
            }
            Question2d::Inside(polygons) => {
                let shares = mask::shares(fit.grid.edges(), polygons).into_iter();
                let of_land = |(cell, share)| mask::of_land(share, fit.grid.inside(cell));
                shares.enumerate().map(of_land).collect()
            }
            Question2d::Density(..) | Question2d::Marginal(..) => vec![0.0; fit.mass.len()],
        }
    }

    /// Numbers of draws, each as likely as its weight: those of [`Self::draws`].
    #[must_use]
    pub fn picks(&self, count: usize, seed: u64) -> Vec<usize> {
        self.fit.picks(count, &mut ChaCha8Rng::seed_from_u64(seed))
    }
}

impl ConditionalEstimate {
    /// Answers questions, each at a place of the given column and with the number of every draw,
    /// not in their order; those outside of the slices have no answer.
    ///
    /// # Arguments
    /// * `visit` - is given the number of a question, from 0, and its answer
    ///
    /// # Numerics
    /// One pass over all draws for all densities, and one over those of each slice that is asked
    /// for anything else.
    pub fn ask(
        &self,
        questions: &[(f64, QuestionGiven)],
        mut visit: impl FnMut(usize, &Drawn<'_>),
    ) {
        let fit = &self.fit;
        let mut cells = Vec::new();
        let mut slices: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, (given, question)) in questions.iter().enumerate() {
            let Some(slice) = self.slice(*given) else {
                continue;
            };
            match *question {
                QuestionGiven::Density(y) => match self.cell(*given, y) {
                    Some(cell) => cells.push((number, cell)),
                    None => fit.nothing(number, &mut visit),
                },
                _ => slices.entry(slice).or_default().push(number),
            }
        }
        fit.densities(cells.into_iter(), &mut visit);
        let columns = self.shape()[1];
        for (slice, asked) in slices {
            let own = &fit.mass[slice * columns..(slice + 1) * columns];
            let own = Mat::from_fn(1, columns, |_, j| own[j]);
            fit.curves.each(&fit.grid, slice..slice + 1, |_, mass| {
                for question in &asked {
                    let of = questions[*question].1;
                    let (numbers, mode) = (self.of(of, mass), self.of(of, &own)[0]);
                    let value = match of {
                        QuestionGiven::Quantile(_) => mode,
                        _ => fit.told(&numbers, mode),
                    };
                    visit(*question, &fit.number(value, &numbers));
                }
            });
        }
    }

    /// The number of a question in every draw of the probabilities of a slice.
    fn of(&self, question: QuestionGiven, mass: &Mat<f64>) -> Vec<f64> {
        match question {
            QuestionGiven::Probability(from, to) => sums(mass, &self.fit.shares(1, (from, to))),
            QuestionGiven::Quantile(p) => {
                let [out] = quantiles(mass, self.edges(1), [p.clamp(0.0, 1.0)]);
                out
            }
            QuestionGiven::Density(_) => vec![0.0; mass.nrows()],
        }
    }

    /// Numbers of draws, each as likely as its weight: those of [`Self::draws`].
    #[must_use]
    pub fn picks(&self, count: usize, seed: u64) -> Vec<usize> {
        self.fit.picks(count, &mut ChaCha8Rng::seed_from_u64(seed))
    }
}
