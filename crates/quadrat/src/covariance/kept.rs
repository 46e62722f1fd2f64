//! A matrix and its gradient over regions, whose pairs are computed once for both.

use std::sync::Arc;

use faer::{Mat, MatRef};

use super::plan::KernelTerm;
use super::regions::{self, PairTable};
use super::tile::Sides;
use super::{Covariance, Resolution, fill_groups};
use crate::linalg::mirror_upper;
use crate::support::Functionals;

/// What rough covariances of regions may be off by, relative to `sqrt(K_ii K_jj)`.
pub(crate) const ROUGH: f64 = 1e-4;

/// Covariances of all pairs of regions with their slopes, term by term: what a matrix has computed
/// and a gradient at the same hyperparameters and supports would compute again.
#[derive(Debug, Clone, Default)]
pub struct KeptPairs(Vec<(KernelTerm, Arc<PairTable>)>);

impl Covariance {
    /// [`Self::matrix`], and what [`Self::contract_kept`] can use again.
    ///
    /// # Arguments
    /// * `is_rough` - whether four digits of the covariances of regions are enough, where all are
    ///   kept: a third of the cost
    #[must_use]
    pub fn matrix_kept(
        &self,
        theta: &[f64],
        a: &Functionals,
        is_rough: bool,
    ) -> (Mat<f64>, KeptPairs) {
        let sides = Sides { a, b: a };
        let resolution = match is_rough && PairTable::has_room(a.atom_count()) {
            true => Resolution {
                tolerance: self.resolution.tolerance.max(ROUGH),
                ..self.resolution
            },
            false => self.resolution,
        };
        let mut groups = regions::resolve(&self.terms, theta, sides, resolution);
        let mut kept = Vec::new();
        for edges in groups.iter_mut().filter_map(|group| group.edges.as_mut()) {
            if let Some(table) = edges.tabulate() {
                kept.push((edges.joined(), table));
            }
        }
        let mut out = Mat::zeros(a.len(), a.len());
        fill_groups(&groups, theta, sides, true, true, out.as_mut());
        mirror_upper(&mut out);
        (out, KeptPairs(kept))
    }

    /// [`Self::contract`] with what was kept of a matrix at the same hyperparameters and supports,
    /// of this kernel or of some of its terms.
    pub fn contract_kept(
        &self,
        theta: &[f64],
        a: &Functionals,
        kept: &KeptPairs,
        adjoint: MatRef<'_, f64>,
        gradient: &mut [f64],
    ) {
        let sides = Sides { a, b: a };
        let mut groups = regions::resolve(&self.terms, theta, sides, self.resolution);
        for edges in groups.iter_mut().filter_map(|group| group.edges.as_mut()) {
            let term = edges.joined();
            if let Some((_, table)) = kept.0.iter().find(|(known, _)| *known == term) {
                edges.reuse(Arc::clone(table));
            }
        }
        self.contract_groups(&groups, theta, sides, adjoint, true, gradient);
    }
}
