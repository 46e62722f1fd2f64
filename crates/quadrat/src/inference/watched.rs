//! Evidence that somebody may stop.

use std::ops::Deref;

use super::{Evidence, WarmStart};
use crate::error::FitError;
use crate::parameter::Parameter;
use crate::progress::Keeper;

/// Evidence whose evaluations end soon after the keeper stops.
///
/// `E` is a reference to evidence, or a box of it.
pub(crate) struct Watched<'a, E> {
    pub evidence: E,
    pub keeper: Option<&'a dyn Keeper>,
}

impl<E> Watched<'_, E> {
    fn unless_stopped(&self) -> Result<(), FitError> {
        match self.keeper.is_some_and(Keeper::is_stopped) {
            true => Err(FitError::Stopped),
            false => Ok(()),
        }
    }
}

impl<E: Deref<Target: Evidence> + Sync> Evidence for Watched<'_, E> {
    fn evaluate_along(
        &self,
        theta: &[f64],
        warm_start: &mut WarmStart,
    ) -> Result<(f64, Vec<f64>), FitError> {
        self.unless_stopped()?;
        self.evidence.evaluate_along(theta, warm_start)
    }

    fn value_along(&self, theta: &[f64], warm_start: &mut WarmStart) -> Result<f64, FitError> {
        self.unless_stopped()?;
        self.evidence.value_along(theta, warm_start)
    }

    fn is_dear(&self) -> bool {
        self.evidence.is_dear()
    }

    fn rounding(&self) -> f64 {
        self.evidence.rounding()
    }

    fn difference(&self) -> f64 {
        self.evidence.difference()
    }

    fn parameters(&self) -> &[Parameter] {
        self.evidence.parameters()
    }
}
