//! Whether a normal distribution can say what is known about sums after a link.

use super::posterior::Posterior;
use crate::error::FitError;
use crate::inference::sites::LatentGaussian;
use crate::link::Link;

/// Sds of a sum that are larger than its own row allows by more than this factor are told.
const TOO_WIDE: f64 = 1.5;
/// Behind a square, a function nearer to zero than this many sds has no known sign.
const SIGNED: f64 = 2.0;

impl Posterior {
    /// What to say of the observed rows that are sums after a link; rows are taken at the heaviest hyperparameters.
    ///
    /// Of a log-concave row the latent value `z` is known at least to `1 / W`, `W = -(log p)''`, whatever else is known. Behind
    /// a square a normal distribution of the function cannot hold a sum over values that move much within the row: its sum is known worse than that.
    pub(super) fn warnings_of_sums(&self) -> Result<Vec<String>, FitError> {
        let Some(pooled) = &self.problem.pooled else {
            return Ok(Vec::new());
        };
        let theta = &self.components[0].theta;
        let blocks = self.problem.blocks();
        let (mut wide, mut widest, mut unsigned, mut first) = (0, 1.0_f64, 0, 0);
        for (table, block) in self.tables.iter().zip(&blocks) {
            let own = block.own_values(theta);
            let rows: Vec<usize> = (first..first + table.supports.len()).collect();
            first += rows.len();
            let Some(link) = table.likelihood.link() else {
                continue;
            };
            let seen = self.latent_totals(&pooled.observed.rows(&rows), link)?;
            for (at, row) in rows.iter().enumerate() {
                let (mean, sd) = (seen.mean()[at], seen.sd()[at]);
                if link == Link::Square && mean.abs() < SIGNED * sd {
                    unsigned += 1;
                    continue;
                }
                let is_sum = pooled.pools.row(*row).0.len() > 1;
                let precision = -block.likelihood.log_density(&own, at, mean).second;
                let excess = sd * precision.max(0.0).sqrt();
                if is_sum && excess > TOO_WIDE {
                    wide += 1;
                    widest = widest.max(excess);
                }
            }
        }
        let count = pooled.observed.len();
        let mut out = Vec::new();
        if wide > 0 {
            out.push(format!(
                "the function varies so much within {wide} of {count} rows that sums over them are told up to {widest:.1} times less surely than the rows themselves tell: intervals of such sums are too wide, and their means may be off; a longer lengthscale or smaller bins help, and `--check mcmc` shows how far it matters"
            ));
        }
        if unsigned > 0 {
            out.push(format!(
                "behind the link `square` the function may have either sign at {unsigned} of {count} rows, which a normal distribution cannot say: answers near zero are rough; use link `exp` or `softplus`"
            ));
        }
        Ok(out)
    }
}
