//! A joint belief given observations of some of its latent values.

use super::joint::Joint;

/// Share of a variance below which an exact observation before has left nothing of it.
const NOTHING: f64 = 1e-10;

/// What observations with normal noise, whatever they turn out to be, leave of a joint belief.
pub(super) struct ConditionedJoint {
    /// Variances of all latent values.
    pub variance: Vec<f64>,
    /// One for every observation: the covariance has lost `sum u u'`.
    pub taken: Vec<Vec<f64>>,
}

impl ConditionedJoint {
    /// Given none.
    pub fn new(joint: &dyn Joint) -> Self {
        Self {
            variance: joint.variance().to_vec(),
            taken: Vec::new(),
        }
    }

    /// Observes a latent value with noise of precision `tau`, which may be infinite:
    ///
    /// $$ u = c / \sqrt{v + 1 / \tau} $$
    ///
    /// `c` its covariances with all latent values, `v` its variance.
    pub fn observe(&mut self, joint: &dyn Joint, row: usize, tau: f64) {
        let mut column = joint.column(row);
        for u in &self.taken {
            let at = u[row];
            column.iter_mut().zip(u).for_each(|(c, u)| *c -= at * u);
        }
        let variance = self.variance[row];
        // An exact observation of what is known takes rounding alone.
        let least = if tau.is_infinite() {
            NOTHING * joint.variance()[row]
        } else {
            0.0
        };
        let scale = match variance <= least {
            true => 0.0,
            false => 1.0 / (variance + 1.0 / tau).sqrt(),
        };
        for (c, v) in column.iter_mut().zip(&mut self.variance) {
            *c *= scale;
            // No more than there is: columns have roundings of their own.
            *v = (*v - *c * *c).max(0.0);
        }
        self.taken.push(column);
    }
}
