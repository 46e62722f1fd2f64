//! What measurements are to tell of.

use super::about::About;
use super::exceed::Exceed;
use super::largest::Largest;
use super::policy::{Plan, Policy};
use super::state::State;
use super::survey::{Question, Survey};
use super::targets::Targets;
use crate::error::InputError;

/// What is looked for, as measurements are made.
pub(super) enum Aim {
    /// Information about the function.
    Function,
    /// Information about all targets together.
    Targets(About),
    /// Information about whether each target exceeds a limit.
    Exceedance(Box<Exceed>),
    /// Information about the largest or smallest value of the candidates.
    Largest(Largest),
    /// Small variances of the targets.
    Variance(Targets),
}

impl Aim {
    /// What a rule looks for, before any measurement.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] without what the rule looks at, or for too much of it;
    /// [`InputError::Range`] for a limit that is not finite.
    pub fn new(
        survey: &Survey<'_>,
        state: &State<'_, '_>,
        plan: &Plan,
    ) -> Result<Self, InputError> {
        Ok(match plan.policy {
            Policy::Target => Self::Targets(About::new(survey)?),
            Policy::Exceedance => Self::Exceedance(Box::new(Exceed::new(survey, plan.limit)?)),
            Policy::Maximum => Self::Largest(Largest::new(survey, (1.0, plan.seed))?),
            Policy::Minimum => Self::Largest(Largest::new(survey, (-1.0, plan.seed))?),
            policy if policy.is_variance() => Self::Variance(Targets::new(survey, state)?),
            _ => Self::Function,
        })
    }

    /// What a measurement would tell beside those that were made, in nats: of what is
    /// looked for, or of the function where that is a variance.
    pub fn information(&self, survey: &Survey<'_>, state: &State<'_, '_>, asked: Question) -> f64 {
        match self {
            Self::Targets(about) => about.information(survey, state, asked),
            Self::Exceedance(exceed) => exceed.information(survey, state, asked),
            Self::Largest(largest) => largest.information(survey, state, asked),
            Self::Function | Self::Variance(_) => state.information(asked),
        }
    }

    /// Follows a measurement that was made.
    pub fn follow(
        &mut self,
        survey: &Survey<'_>,
        asked: Question,
        (precisions, state): (&[f64], &State<'_, '_>),
    ) {
        match self {
            Self::Function => {}
            Self::Targets(about) => about.follow(survey, asked, precisions),
            Self::Exceedance(exceed) => exceed.follow(state),
            Self::Largest(largest) => {
                largest.follow(asked.place, (precisions, &state.taken()));
            }
            Self::Variance(targets) => targets.follow(&state.taken()),
        }
    }
}
