//! A model with what was read off its data.

use super::mean::Means;
use super::observations::Observations;
use super::seconds::Seconds;
use crate::inference::sites::Method;
use crate::kernel::Kernel;
use crate::parameter::Parameter;

/// A model whose every prior and start is known; no covariance was computed yet.
pub(crate) struct Specified {
    /// Lines far from the origin pass through the middle of the rows.
    pub kernel: Kernel,
    /// With the columns of the kernel alone.
    pub tables: Vec<Observations>,
    pub mean: Means,
    pub parameters: Vec<Parameter>,
    /// Where the hyperparameters of every table's likelihood stand among the parameters.
    pub own: Vec<Vec<usize>>,
    /// How rows that are not Gaussian are treated; `None`: all are, and inference is exact.
    pub method: Option<Method>,
    /// The noise variance and the dispersion, where they are functions.
    pub seconds: Seconds,
    /// Where searches with several starts also begin, all parameters.
    pub besides: Vec<Vec<f64>>,
    /// Further starts, with learned periods at peaks of the rows' periodogram, the highest first.
    pub cycles: Vec<Vec<f64>>,
    /// Whether periodic leaves may have more harmonics than are kept apart along a line.
    pub may_be_sharp: bool,
    /// Whether sites are sought for rows less the level of their values, where that is large.
    pub is_centred: bool,
    /// What rows behind a link are taken for.
    pub taken: Taken,
}

impl Specified {
    /// What is known already, of these rows: searches begin at the starts alone.
    pub fn known(
        kernel: Kernel,
        tables: Vec<Observations>,
        mean: Means,
        parameters: Vec<Parameter>,
        own: Vec<Vec<usize>>,
        method: Option<Method>,
        seconds: Seconds,
    ) -> Self {
        Self {
            kernel,
            tables,
            mean,
            parameters,
            own,
            method,
            seconds,
            besides: Vec::new(),
            cycles: Vec::new(),
            may_be_sharp: false,
            is_centred: true,
            taken: Taken::AsTheyAre,
        }
    }
}

/// What rows behind a link are taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    /// What they are.
    AsTheyAre,
    /// Sums after the link, rows at points too, of one node each, so that draws can meet them.
    Sums,
    /// The link of an average before it, sums too, to first order in the differences within a row.
    Averages,
}
