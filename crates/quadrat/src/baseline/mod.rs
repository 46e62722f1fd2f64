//! The simple methods to beat, behind the same face as a posterior.
//!
//! | method | how | rows |
//! |---|---|---|
//! | [`Constant`] | the overall mean | any |
//! | [`BinHeight`] | areal weighting: evenly within every row | boxes, regions, points, bags |
//! | [`Dasymetric`] | by weights of nodes inside, such as people | boxes and regions |
//! | [`Pycnophylactic`] | the smoothest surface that keeps all totals | boxes and regions of one or two inputs |
//! | [`MonotoneSpline`] | a monotone spline of the cumulated values | adjoining bins of one input |
//! | [`Sprague`] | fifth differences of the cumulated values | five-year bands |
//! | [`CompositeLink`] | smooth rates, by penalised likelihood (`pclm`) | bins, points and bags of one input |
//! | [`Nystrom`] | features of landmarks at the posterior mode | points and bags |
//! | [`Network`] | one hidden layer, trained until other rows are met no better | points and bags |
//! | [`Centroid`] | a Gaussian process at the centre of every row | any |

mod bag_rows;
mod bin_height;
mod cells;
mod centroid;
mod composite_link;
mod constant;
mod cumulated;
mod dasymetric;
mod features;
mod footprint;
mod mode;
mod monotone_spline;
mod network;
mod nystrom;
mod pycnophylactic;
mod reported;
mod reported_as;
mod scoring;
mod smoothest;
mod sprague;
mod sums;

pub use bin_height::BinHeight;
pub use centroid::Centroid;
pub use composite_link::{CompositeLink, Smoothing};
pub use constant::Constant;
pub use dasymetric::Dasymetric;
pub use monotone_spline::MonotoneSpline;
pub use network::{Network, NetworkSettings};
pub use nystrom::{Nystrom, NystromSettings};
pub use pycnophylactic::Pycnophylactic;
pub use reported_as::reported_as;
pub use sprague::Sprague;

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
