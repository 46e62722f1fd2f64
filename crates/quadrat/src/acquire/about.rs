//! What measurements tell of chosen targets, whatever else they tell.

use rayon::prelude::*;

use super::conditioned::ConditionedJoint;
use super::state::State;
use super::survey::{Question, Survey};
use crate::error::InputError;
use crate::likelihood::local::Belief;

/// Products of numbers at most to condition on all targets: some ten seconds.
const MOST: f64 = 2e10;

/// What is believed were all targets known, for every value of the hyperparameters.
pub(super) struct About {
    open: Vec<ConditionedJoint>,
}

impl About {
    /// Before any measurement.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] without targets, or for too many.
    pub fn new(survey: &Survey<'_>) -> Result<Self, InputError> {
        let targets = &survey.targets;
        if targets.is_empty() {
            return Err(InputError::Unavailable {
                what: "information about targets where there are none",
                remedy: "say what is to be known, or choose by information about the function",
            });
        }
        let sizes = survey.members.iter().map(|m| m.joint.mean().len() as f64);
        if (targets.len() as f64).powi(2) * sizes.sum::<f64>() > MOST {
            return Err(InputError::Unavailable {
                what: "information about so many targets of so many candidates",
                remedy: "take fewer targets or candidates, or a policy by variances",
            });
        }
        let open = survey.members.par_iter().map(|member| {
            let mut open = ConditionedJoint::new(&*member.joint);
            for target in targets {
                open.observe(&*member.joint, *target, f64::INFINITY);
            }
            open
        });
        Ok(Self {
            open: open.collect(),
        })
    }

    /// What a measurement would tell of all targets together, in nats, on average over
    /// hyperparameters. With `v` the variance of its latent value given what was measured, `v'`
    /// were the targets known besides:
    ///
    /// $$ I(y; t) = I_v(y; f) - I_{v'}(y; f) $$
    ///
    /// since given `f` the report depends on nothing else. Counts, logit answers and waiting times
    /// count as the normal observation that tells as much of `f`, as
    /// [`Report::information_after`](super::report::Report::information_after) says.
    pub fn information(&self, survey: &Survey<'_>, state: &State<'_, '_>, asked: Question) -> f64 {
        let row = survey.row(asked);
        let each = survey.members.iter().zip(&self.open).enumerate();
        let nats = each.map(|(k, (member, open))| {
            let before = Belief {
                mean: member.joint.mean()[row],
                variance: member.joint.variance()[row],
            };
            let known = state.known(k, asked);
            let left =
                member.reports[asked.kind].information_after(before, open.variance[row], known);
            member.weight * (state.information_at(k, asked) - left).max(0.0)
        });
        nats.sum()
    }

    /// Follows a measurement that counts as a normal observation of some precision, one for every
    /// value of the hyperparameters.
    pub fn follow(&mut self, survey: &Survey<'_>, asked: Question, precisions: &[f64]) {
        let row = survey.row(asked);
        let members = self.open.iter_mut().zip(&survey.members).zip(precisions);
        for ((open, member), tau) in members {
            open.observe(&*member.joint, row, *tau);
        }
    }
}
