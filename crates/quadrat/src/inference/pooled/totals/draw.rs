//! Draws of nodes that meet their sums.

use super::mode::ConditionalMode;
use super::prior::NodePrior;
use crate::inference::pooled::lift::meet::Meeting;
use crate::inference::pooled::pools::Pools;
use crate::linalg::{MatRef, dot, gemm};

/// Beyond so many rows a factorisation costs far more than a look at what rows see.
const MANY: usize = 150;

/// A draw whose sums are the known ones, within `1e-9` of their logarithms.
#[derive(Debug, Clone)]
pub(crate) struct ConditionalDraw {
    /// `f`.
    pub values: Vec<f64>,
    /// `log w` less the log evidence at the mode: about zero.
    pub log_weight: f64,
}

impl ConditionalMode {
    /// Draws, in the order of their normals; none in place of one that could not be moved to its
    /// sums.
    ///
    /// # Arguments
    /// * `pools`, `targets`, `prior` - those of the mode
    /// * `root` - [`NodePrior::root`]
    /// * `normals` - independent standard normals, shape `[nodes, draws]`
    ///
    /// # Numerics
    /// `O(nodes^2 + nodes rows)` a draw, and `O(nodes rows + rows^3)` for each of some two to seven
    /// steps.
    pub fn draws(
        &self,
        pools: &Pools,
        targets: &[f64],
        prior: &NodePrior,
        root: MatRef<'_, f64>,
        normals: MatRef<'_, f64>,
    ) -> Vec<Option<ConditionalDraw>> {
        // G = K J' S^-1, by its transpose.
        let mut gain = self.columns.transpose().to_owned();
        self.seen.solve_in_place(gain.as_mut());
        let gain = gain.transpose().to_owned();
        let at_mode = self.slopes.gather(pools, &self.values);
        let moved = gemm(root, normals);
        let one = |draw: usize| {
            let away = moved.col_as_slice(draw);
            let from: Vec<f64> = away.iter().zip(&prior.mean).map(|(x, m)| x + m).collect();
            let start = self.slopes.gather(pools, &from);
            let start = at_mode.iter().zip(&start).map(|(f, g)| f - g).collect();
            let meeting = Meeting {
                pools,
                gain: gain.as_ref(),
                from: &from,
            };
            let start = match targets.len() > MANY {
                true => meeting.nearer(targets, start),
                false => start,
            };
            let (by, log_det) = meeting.solve(targets, start)?;
            let seen = self.slopes.gather(pools, away);
            let eta: Vec<f64> = seen.iter().zip(&by).map(|(s, b)| s + b).collect();
            let log_weight = self.log_normal(&eta) - log_det - self.log_evidence;
            let values = meeting.moved(&by);
            log_weight
                .is_finite()
                .then_some(ConditionalDraw { values, log_weight })
        };
        (0..normals.ncols()).map(one).collect()
    }

    /// `log N(eta; 0, S)`.
    fn log_normal(&self, eta: &[f64]) -> f64 {
        let white = self.seen.half_solve(eta);
        let constants = eta.len() as f64 * std::f64::consts::TAU.ln() + self.seen.log_det();
        -0.5 * (dot(&white, &white) + constants)
    }
}
