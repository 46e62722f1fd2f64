//! By how much measurements are expected to lower the variance of what is to be known.

use rayon::prelude::*;

use super::lazy::{Ranked, best};
use super::shared::{PLACES, Shared};
use super::state::State;
use super::survey::Survey;
use crate::error::InputError;

/// What is expected of the variance of the targets, as measurements are made.
pub(super) struct Targets {
    shared: Shared,
    /// For every value of the hyperparameters what every measurement tells, by its number, when it
    /// was last looked at: no less than it does now.
    bounds: Vec<Vec<f64>>,
    /// How many had been chosen then.
    seen: Vec<usize>,
}

impl Targets {
    /// Before any measurement.
    ///
    /// # Errors
    /// As [`Shared::new`].
    pub fn new(survey: &Survey<'_>, state: &State<'_, '_>) -> Result<Self, InputError> {
        let shared = Shared::new(survey, PLACES.0)?;
        let members = 0..survey.members.len();
        let bounds = members.map(|k| {
            let numbers = (0..survey.len()).into_par_iter();
            let each = numbers.map(|number| state.information_at(k, survey.question(number)));
            each.collect()
        });
        Ok(Self {
            shared,
            bounds: bounds.collect(),
            seen: vec![0; survey.len()],
        })
    }

    /// Follows a measurement that took `u u'` of every covariance.
    pub fn follow(&mut self, taken: &[&[f64]]) {
        self.shared.follow(taken);
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
        let rows = (0..self.shared.size()).into_par_iter();
        rows.map(|row| {
            let column = self.shared.of(member, row);
            let square = column.iter().map(|c| c * c).sum::<f64>() / column.len().max(1) as f64;
            match variance[row] > 0.0 {
                true => square / variance[row],
                false => 0.0,
            }
        })
        .collect()
    }
}
