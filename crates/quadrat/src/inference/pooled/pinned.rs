//! Rows whose sums are known exactly.
//!
//! Their latent values `z_r = t_r` are known, so that the mode is searched among the functions that
//! meet them: a step is a step along the rows that are linear at a place, and what it leaves of the
//! totals is taken back along `K J' S^-1`, `S = J K J'`, by Newton's method. The multipliers of the
//! constraints,
//!
//! $$ \nabla \Phi(f) + \sum_r \lambda_r \nabla z_r(f) = 0, $$
//!
//! take the place of the rows' slopes, and an infinite precision that of their curvature. All else,
//! the evidence and its gradient, is computed as for other rows.
//!
//! # Source
//! Nocedal and Wright 2006, section 18.1 (sequential quadratic programming). The evidence of an
//! exact row is a density, that of the reported value by a change of variables.

use super::lift::meet::Meeting;
use super::pools::{Pools, Slopes};
use crate::error::LinalgError;
use crate::inference::sites::rows::Rows;
use crate::inference::sites::site::Term;
use crate::likelihood::local::Jet;
use crate::linalg::{Cholesky, Mat, MatRef};
use crate::link::QuasiMean;

/// Added to the diagonal of `S`, relative to it, until it can be factorised: `S` only sets the
/// direction in which nodes are moved.
const JITTERS: [f64; 4] = [0.0, 1e-12, 1e-9, 1e-6];

/// Values of nodes, and their dual coordinates.
type WithDual = (Vec<f64>, Vec<f64>);

/// The rows that are known exactly, and their latent values.
#[derive(Debug, Clone)]
pub(super) struct Pinned {
    /// Which of all rows, ascending.
    rows: Vec<usize>,
    /// `t`.
    targets: Vec<f64>,
    /// What they see.
    pools: Pools,
    /// Nats of the change of variables from the latent value to what was reported, of each.
    rest: Vec<f64>,
}

impl Pinned {
    pub fn of(rows: &Rows<'_>, pools: &Pools) -> Self {
        let known = (0..pools.rows()).filter_map(|row| {
            let (likelihood, own, at) = rows.at(row);
            let (value, variance) = likelihood.gaussian(own, at)?;
            (variance == 0.0).then(|| (row, value, likelihood.gaussian_rest(at)))
        });
        let known: Vec<(usize, f64, f64)> = known.collect();
        let own: Vec<usize> = known.iter().map(|(row, ..)| *row).collect();
        Self {
            pools: pools.only(&own),
            targets: known.iter().map(|(_, value, _)| *value).collect(),
            rest: known.iter().map(|(.., rest)| *rest).collect(),
            rows: own,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The place of a row among these.
    fn place(&self, row: usize) -> Option<usize> {
        self.rows.binary_search(&row).ok()
    }

    /// The latent value of a row, if it is known.
    pub fn target(&self, row: usize) -> Option<f64> {
        self.place(row).map(|at| self.targets[at])
    }

    /// What stands for the density of a row, if it is known.
    pub fn jet(&self, row: usize) -> Option<Jet> {
        self.place(row).map(|at| Jet {
            value: self.rest[at],
            first: 0.0,
            second: f64::NEG_INFINITY,
            third: 0.0,
        })
    }

    /// The term of a row, if it is known.
    pub fn term(&self, row: usize) -> Option<Term> {
        let value = self.target(row)?;
        Some(Term::Gaussian {
            value,
            variance: 0.0,
        })
    }

    /// Writes the multipliers where the slopes of the rows stand.
    ///
    /// # Arguments
    /// * `pulled` - `-R J K g` of all rows, `g` the slope of the density without them
    pub fn place_multipliers(&self, pulled: &[f64], jets: &mut [Jet]) {
        for &row in &self.rows {
            jets[row].first = pulled[row];
        }
    }

    /// `-log(2 pi k) / 2` of every row: what a sweep over exact rows leaves out of their density.
    ///
    /// # Arguments
    /// * `scale` - `D` of the sweep, `k^-1/2` of these rows
    pub fn normaliser(&self, scale: &[f64]) -> f64 {
        let each = self.rows.iter().map(|&row| scale[row].ln());
        each.sum::<f64>() - 0.5 * std::f64::consts::TAU.ln() * self.rows.len() as f64
    }

    /// Nodes near `values` that meet what is known, with their dual coordinates; none where none
    /// were found.
    ///
    /// # Arguments
    /// * `k` - covariance of the nodes
    /// * `means` - what all rows see at a place near, along whose slopes nodes are moved
    ///
    /// # Errors
    /// As [`Cholesky::factor`], of `S`.
    pub fn met(
        &self,
        k: MatRef<'_, f64>,
        means: &[QuasiMean],
        (values, dual): WithDual,
    ) -> Result<Option<WithDual>, LinalgError> {
        if self.is_empty() {
            return Ok(Some((values, dual)));
        }
        let entries = self.rows.iter().flat_map(|&row| &means[row].slopes);
        let slopes = Slopes(entries.copied().collect());
        let columns = slopes.columns(&self.pools, k);
        let seen = factor(&slopes.rows(&self.pools, columns.as_ref()))?;
        let mut gain = columns.transpose().to_owned();
        seen.solve_in_place(gain.as_mut());
        let gain = gain.transpose().to_owned();
        let meeting = Meeting {
            pools: &self.pools,
            gain: gain.as_ref(),
            from: &values,
        };
        let Some((by, _)) = meeting.solve(&self.targets, vec![0.0; self.rows.len()]) else {
            return Ok(None);
        };
        let moved = meeting.moved(&by);
        let along = slopes.scatter(&self.pools, &seen.solve(&by));
        let dual = dual.iter().zip(&along).map(|(b, a)| b + a).collect();
        Ok(Some((moved, dual)))
    }
}

fn factor(s: &Mat<f64>) -> Result<Cholesky, LinalgError> {
    let n = s.nrows();
    let mut last = Err(LinalgError::NotPositiveDefinite { size: n, pivot: 0 });
    for jitter in JITTERS {
        last = Cholesky::factor_owned(Mat::from_fn(n, n, |i, j| {
            let raised = 1.0 + if i == j { jitter } else { 0.0 };
            s[(i, j)] * raised
        }));
        if last.is_ok() {
            break;
        }
    }
    last
}
