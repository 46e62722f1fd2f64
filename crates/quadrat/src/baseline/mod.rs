//! The simple methods to beat, behind the same face as a posterior.

mod bin_height;
mod centroid;
mod constant;
mod monotone_spline;
mod reported;
mod reported_as;

pub use bin_height::BinHeight;
pub use centroid::Centroid;
pub use constant::Constant;
pub use monotone_spline::MonotoneSpline;
pub use reported_as::reported_as;

use crate::error::FitError;
use crate::model::{Posterior, Prediction, Scale};
use crate::support::Functionals;

/// Anything that predicts the response at supports.
pub trait Predict {
    /// One marginal predictive distribution per support, on the response scale.
    ///
    /// # Errors
    /// See the implementor.
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError>;
}

impl Predict for Posterior {
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        self.predict(at, Scale::Response)
    }
}
