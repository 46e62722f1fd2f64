//! Coregionalisation: how alike several outputs are.

use super::IndexedLeaf;
use super::mixing::Mixing;

/// Coregionalisation matrix over the levels of one column, the outputs:
///
/// $$ k(i, j) = B_{ij}, \quad B = A A' + \mathrm{diag}(\kappa) $$
///
/// with `A` of shape `[outputs, rank]`, of either sign, and `kappa > 0`. Times a kernel over the
/// inputs it is one latent process of the linear model of coregionalisation; a sum of such
/// products is the whole model, one of them alone the intrinsic one. `B` takes the place of the
/// variance: rank 0 makes the outputs independent.
///
/// # Source
/// Alvarez, Rosasco and Lawrence 2012, section 4.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coregion;

impl IndexedLeaf {
    /// `B` at two levels, with slopes.
    pub(super) fn coregion_at(
        &self,
        mixing: &Mixing,
        theta: &[f64],
        x: &[f64],
        y: &[f64],
        slopes: Option<&mut [f64]>,
    ) -> f64 {
        let c = self.columns[0];
        let at = mixing.level(x[c]) * mixing.levels() + mixing.level(y[c]);
        if let Some(slopes) = slopes {
            let mut one = vec![0.0; mixing.levels().pow(2)];
            one[at] = 1.0;
            mixing.contract(theta, &one, slopes);
        }
        mixing.matrix(theta)[at]
    }
}
