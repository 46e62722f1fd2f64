//! By how much measurements are expected to lower the variance of what is to be known.

use rayon::prelude::*;

use super::lazy::{Ranked, best};
use super::state::State;
use super::survey::Survey;
use crate::error::InputError;
use crate::linalg::Mat;

/// Numbers that may be kept: 320 MB.
const MOST: usize = 40_000_000;
/// Most and fewest places that stand for all of them.
const PLACES: (usize, usize) = (1024, 16);

/// Covariances of all latent values with the targets, as measurements are made.
pub(super) struct Targets {
    /// For every value of the hyperparameters, shape `[targets, rows]`.
    covariance: Vec<Mat<f64>>,
    rows: Vec<usize>,
    /// For every value of the hyperparameters what every measurement tells, by its number, when it
    /// was last looked at: no less than it does now.
    bounds: Vec<Vec<f64>>,
    /// How many had been chosen then.
    seen: Vec<usize>,
}

impl Targets {
    /// The targets of a survey, or some of its places, evenly spread.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where their covariances with all places are too many.
    pub fn new(survey: &Survey<'_>, state: &State<'_, '_>) -> Result<Self, InputError> {
        let Some(first) = survey.members.first() else {
            return Err(InputError::Empty);
        };
        let size = first.joint.mean().len();
        let room = MOST / (size * survey.members.len()).max(1);
        let rows = match survey.targets.is_empty() {
            false => survey.targets.clone(),
            true => {
                let count = size.min(PLACES.0).min(room.max(PLACES.1));
                (0..count).map(|i| i * size / count).collect()
            }
        };
        if rows.len() > room {
            return Err(InputError::Unavailable {
                what: "a choice by variances over so many candidates",
                remedy: "take fewer candidates or targets, or a policy by information",
            });
        }
        let covariance = survey.members.iter().map(|member| {
            let columns: Vec<Vec<f64>> = rows
                .par_iter()
                .map(|row| member.joint.column(*row))
                .collect();
            Mat::from_fn(rows.len(), size, |t, row| columns[t][row])
        });
        let covariance = covariance.collect();
        let members = 0..survey.members.len();
        let bounds = members.map(|k| {
            let numbers = (0..survey.len()).into_par_iter();
            let each = numbers.map(|number| state.information_at(k, survey.question(number)));
            each.collect()
        });
        Ok(Self {
            covariance,
            rows,
            bounds: bounds.collect(),
            seen: vec![0; survey.len()],
        })
    }

    /// Follows a measurement that took `u u'` of every covariance.
    pub fn follow(&mut self, taken: &[&[f64]]) {
        for (covariance, u) in self.covariance.iter_mut().zip(taken) {
            let of: Vec<f64> = self.rows.iter().map(|row| u[*row]).collect();
            for (row, at) in u.iter().enumerate() {
                let column = covariance.col_as_slice_mut(row);
                column.iter_mut().zip(&of).for_each(|(c, of)| *c -= at * of);
            }
        }
    }

    /// The measurement, by its number, that is expected to lower the mean variance of the targets
    /// most for its divisor, on average over hyperparameters:
    ///
    /// $$ \frac1T \sum_t \frac{c_t^2}{v} (1 - e^{-2 I}) $$
    pub fn best(
        &mut self,
        survey: &Survey<'_>,
        state: &State<'_, '_>,
        step: usize,
        (kinds, divisors): (&[usize], &[f64]),
    ) -> Option<usize> {
        let shares: Vec<Vec<f64>> = (0..survey.members.len())
            .map(|k| self.shares(k, state.variance(k)))
            .collect();
        let score = |number: usize, bounds: &[Vec<f64>]| -> f64 {
            let asked = survey.question(number);
            let row = survey.row(asked);
            let members = survey.members.iter().zip(&shares).zip(bounds);
            let falls = members.map(|((member, shares), nats)| {
                member.weight * shares[row] * -(-2.0 * nats[number]).exp_m1()
            });
            falls.sum::<f64>() / divisors[asked.kind]
        };
        let all = survey.numbers(kinds).map(|(_, number)| Ranked {
            score: score(number, &self.bounds),
            number,
        });
        let all = all.collect();
        let (bounds, seen) = (&mut self.bounds, &mut self.seen);
        best(all, |number| {
            if seen[number] == step {
                return None;
            }
            let asked = survey.question(number);
            for (k, nats) in bounds.iter_mut().enumerate() {
                nats[number] = state.information_at(k, asked);
            }
            seen[number] = step;
            Some(score(number, bounds))
        })
    }

    /// By how much the mean variance of the targets would fall were a latent value known: `sum_t
    /// c_t^2 / v` over the number of targets, of all of them.
    fn shares(&self, member: usize, variance: &[f64]) -> Vec<f64> {
        let covariance = &self.covariance[member];
        let rows = (0..covariance.ncols()).into_par_iter();
        rows.map(|row| {
            let column = covariance.col_as_slice(row);
            let square = column.iter().map(|c| c * c).sum::<f64>() / column.len().max(1) as f64;
            match variance[row] > 0.0 {
                true => square / variance[row],
                false => 0.0,
            }
        })
        .collect()
    }
}
