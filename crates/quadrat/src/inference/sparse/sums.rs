//! Sums over some of the rows: plain numbers that add up.

use serde::{Deserialize, Serialize};

use crate::linalg::{Mat, packed};

/// How much a pass computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Depth {
    /// The bound alone.
    Value,
    /// Also the derivatives in `q`.
    Sites,
    /// Also those in the hyperparameters.
    All,
}

/// Sums over the rows of some chunks, at one belief and one value of the hyperparameters.
///
/// Those of other chunks are added by [`Self::add`]; where they were computed, and by how many
/// threads, changes nothing as long as they are added in the same order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// `sum E log p`, nats.
    pub value: f64,
    /// `A g`, one number per inducing point; empty for the value alone.
    pub in_mean: Vec<f64>,
    /// `A (D + E) A'`, lower triangle.
    #[serde(with = "packed")]
    pub in_covariance: Mat<f64>,
    /// The part of `dF / d theta` that goes through rows; empty unless asked for.
    pub gradient: Vec<f64>,
    /// The part of `dF / dz` that goes through `K_uX`, column by column.
    pub in_places: Vec<f64>,
    /// `A E A'`, lower triangle.
    #[serde(with = "packed")]
    pub explained: Mat<f64>,
}

impl Sums {
    /// Of no rows.
    ///
    /// # Arguments
    /// * `inducing`, `parameters`, `shifts` - numbers of inducing points, of hyperparameters, and
    ///   of columns along which inducing points move
    pub fn none(depth: Depth, inducing: usize, parameters: usize, shifts: usize) -> Self {
        let size = if depth == Depth::Value { 0 } else { inducing };
        let (parameters, shifts, explained) = if depth == Depth::All {
            (parameters, shifts, inducing)
        } else {
            (0, 0, 0)
        };
        Self {
            value: 0.0,
            in_mean: vec![0.0; size],
            in_covariance: Mat::zeros(size, size),
            gradient: vec![0.0; parameters],
            in_places: vec![0.0; shifts * size],
            explained: Mat::zeros(explained, explained),
        }
    }

    /// Whether those are of as many numbers, so that both add up.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let sizes = |s: &Self| {
            let squares = [&s.in_covariance, &s.explained];
            let squares = squares.map(|m| (m.nrows(), m.ncols()));
            let lists = [&s.in_mean, &s.gradient, &s.in_places].map(Vec::len);
            (squares, lists)
        };
        sizes(self) == sizes(other)
    }

    /// Adds those of other rows.
    pub fn add(&mut self, other: &Self) {
        let add = |to: &mut [f64], from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(t, s)| *t += s);
        };
        self.value += other.value;
        add(&mut self.in_mean, &other.in_mean);
        self.in_covariance += &other.in_covariance;
        add(&mut self.gradient, &other.gradient);
        add(&mut self.in_places, &other.in_places);
        self.explained += &other.explained;
    }
}
