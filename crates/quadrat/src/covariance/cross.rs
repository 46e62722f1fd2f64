//! The covariance of two sets, some columns at a time.

use std::ops::Range;

use faer::{MatMut, MatRef};

use super::Covariance;
use super::block::{PreparedGroup, Work, prepare};
use super::plain::is_plain;
use super::regions::{self};
use super::tile::{Sides, Tabulation, WithSlopes};
use crate::support::Functionals;

/// [`Covariance::cross`] at one value of the hyperparameters, by ranges of columns.
///
/// What does not depend on the range is prepared once, and entries are still in the cache for what
/// is done with them next.
pub struct Cross<'a> {
    ready: Vec<PreparedGroup<'a>>,
    theta: &'a [f64],
    rows: usize,
    is_plain: bool,
}

/// Memory of one thread for [`Cross`].
#[derive(Default)]
pub struct CrossWork(Work);

impl Cross<'_> {
    /// Writes the columns of a range into `out`, shape `[a.len(), columns.len()]`.
    pub fn fill(&self, columns: Range<usize>, work: &mut CrossWork, mut out: MatMut<'_, f64>) {
        if !self.is_plain {
            out.fill(0.0);
        }
        for group in &self.ready {
            let (rows, columns) = (0..self.rows, columns.clone());
            let adds = !self.is_plain;
            group.add_block(rows, columns, false, adds, &mut work.0, out.as_mut());
        }
    }

    /// Adds `<G, d cross>` over the columns of a range; `adjoint` is `G` there, shape `[a.len(),
    /// columns.len()]`.
    pub fn contract(
        &self,
        columns: Range<usize>,
        adjoint: MatRef<'_, f64>,
        work: &mut CrossWork,
        gradient: &mut [f64],
    ) {
        for group in &self.ready {
            let (rows, columns) = (0..self.rows, columns.clone());
            group.contract_block(
                rows,
                columns,
                self.theta,
                adjoint,
                1.0,
                &mut work.0,
                gradient,
            );
        }
    }
}

impl Covariance {
    /// Prepares the covariance of two sets for ranges of its columns, and lends it.
    ///
    /// # Arguments
    /// * `with_slopes` - whether it will be contracted
    pub fn with_cross<T>(
        &self,
        theta: &[f64],
        (a, b): (&Functionals, &Functionals),
        with_slopes: bool,
        act: impl FnOnce(&Cross<'_>) -> T,
    ) -> T {
        let slopes = if with_slopes {
            WithSlopes::Yes
        } else {
            WithSlopes::No
        };
        let groups = regions::resolve(&self.terms, theta, Sides { a, b }, self.resolution);
        act(&Cross {
            ready: prepare(&groups, theta, slopes, Tabulation::WhenRepeated),
            theta,
            rows: a.len(),
            is_plain: is_plain(&groups),
        })
    }
}
