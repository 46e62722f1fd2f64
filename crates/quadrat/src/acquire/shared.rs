//! Covariances of what may be measured with what is to be known.

use rayon::prelude::*;

use super::survey::Survey;
use crate::error::InputError;
use crate::linalg::Mat;

/// Numbers that may be kept: 320 MB.
const MOST: usize = 40_000_000;
/// Places that stand for all of them, as many as are worth it, and the fewest.
pub(super) const PLACES: (usize, usize) = (1024, 16);

/// Covariances of all latent values with the targets, as measurements are made.
pub(super) struct Shared {
    /// For every value of the hyperparameters, shape `[targets, rows]`.
    covariance: Vec<Mat<f64>>,
    rows: Vec<usize>,
}

impl Shared {
    /// The targets of a survey, or some of its places, evenly spread.
    ///
    /// # Arguments
    /// * `most` - of these places, at most
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where their covariances with all places are too many.
    pub fn new(survey: &Survey<'_>, most: usize) -> Result<Self, InputError> {
        let Some(first) = survey.members.first() else {
            return Err(InputError::Empty);
        };
        let size = first.joint.mean().len();
        let room = MOST / (size * survey.members.len()).max(1);
        let rows = match survey.targets.is_empty() {
            false => survey.targets.clone(),
            true => {
                let count = size.min(most).min(room.max(PLACES.1));
                (0..count).map(|i| i * size / count).collect()
            }
        };
        if rows.len() > room {
            return Err(InputError::Unavailable {
                what: "a choice for so many targets of so many candidates",
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

    /// The latent values that are to be known.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// How many latent values there are in all.
    pub fn size(&self) -> usize {
        self.covariance.first().map_or(0, Mat::ncols)
    }

    /// Covariances of a latent value with all targets, at one value of the hyperparameters.
    pub fn of(&self, member: usize, row: usize) -> &[f64] {
        self.covariance[member].col_as_slice(row)
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
}
