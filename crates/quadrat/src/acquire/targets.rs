//! By how much measurements are expected to lower the variance of what is to be known.

use rayon::prelude::*;

use super::state::State;
use super::survey::{Question, Survey};
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
}

impl Targets {
    /// The targets of a survey, or some of its places, evenly spread.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where their covariances with all places are too many.
    pub fn new(survey: &Survey<'_>) -> Result<Self, InputError> {
        let Some(first) = survey.members.first() else {
            return Ok(Self {
                covariance: Vec::new(),
                rows: Vec::new(),
            });
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
        Ok(Self {
            covariance: covariance.collect(),
            rows,
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

    /// By how much each measurement is expected to lower the mean variance of the targets, on
    /// average over hyperparameters, by its number:
    ///
    /// $$ \frac1T \sum_t \frac{c_t^2}{v} (1 - e^{-2 I}) $$
    pub fn falls(&self, survey: &Survey<'_>, state: &State<'_, '_>) -> Vec<f64> {
        let size = self.covariance.first().map_or(0, Mat::ncols);
        let squares: Vec<Vec<f64>> = self
            .covariance
            .iter()
            .map(|covariance| {
                let rows = (0..size).into_par_iter();
                rows.map(|row| {
                    let column = covariance.col_as_slice(row);
                    column.iter().map(|c| c * c).sum::<f64>() / column.len().max(1) as f64
                })
                .collect()
            })
            .collect();
        let one = |asked: Question| -> f64 {
            let row = survey.row(asked);
            let members = survey.members.iter().enumerate();
            members
                .map(|(k, member)| {
                    let variance = state.variance(k)[row];
                    let share = -(-2.0 * state.information_at(k, asked)).exp_m1();
                    if variance > 0.0 {
                        member.weight * squares[k][row] / variance * share
                    } else {
                        0.0
                    }
                })
                .sum()
        };
        let numbers = (0..survey.len()).into_par_iter();
        numbers.map(|number| one(survey.question(number))).collect()
    }
}
