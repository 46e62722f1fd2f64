//! Draws of all areas that add up.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::{ReconcileError, Reconciled};
use crate::special::scalar::normal_quantile;

impl Reconciled<'_> {
    /// Draws of all areas from what is known of them, with normal errors; each adds up as the means
    /// do.
    ///
    /// # Returns
    /// Shape `[count][areas]`, the same for the same seed.
    /// # Errors
    /// [`ReconcileError::Undetermined`] where an area is told by nothing.
    pub fn draws(&self, count: usize, seed: u64) -> Result<Vec<Vec<f64>>, ReconcileError> {
        let nodes = self.tree.len();
        if let Some(node) = (0..nodes).find(|&node| !self.is_known(node)) {
            return Err(ReconcileError::Undetermined { node });
        }
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        Ok((0..count).map(|_| self.draw(&mut random)).collect())
    }

    fn draw(&self, random: &mut impl Rng) -> Vec<f64> {
        let mut normal = |mean: f64, variance: f64| {
            // The middles of 2^52 equal parts of the unit interval.
            let uniform = ((random.next_u64() >> 12) as f64 + 0.5) * f64::EPSILON;
            mean + variance.sqrt() * normal_quantile(uniform)
        };
        let mut out = vec![f64::NAN; self.tree.len()];
        for &node in &self.tree.order {
            if out[node].is_nan() {
                // A root: what is below it is all there is.
                out[node] = normal(self.mean(node), self.variance(node));
            }
            let parts = self.tree.parts(node);
            let is_open = |part: usize| self.below[part].variance.is_infinite();
            let (mut sum, mut variance, mut open) = (0.0, 0.0, None);
            for &part in parts {
                if is_open(part) {
                    open = Some(part);
                    continue;
                }
                let below = self.below[part];
                out[part] = normal(below.mean, below.variance);
                sum += out[part];
                variance += below.variance;
            }
            let left = out[node] - sum;
            match open {
                Some(part) => out[part] = left,
                // Moved to the total, each by its part of the variance.
                None if variance > 0.0 => {
                    for &part in parts {
                        out[part] += self.below[part].variance / variance * left;
                    }
                }
                None => {}
            }
        }
        out
    }
}
