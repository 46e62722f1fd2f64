//! Gaussian terms in place of likelihoods.

use serde::{Deserialize, Serialize};

use crate::linalg::{Mat, gemm};

/// A prior covariance `K0 + B C'` in two parts, so that constants of which next to nothing is
/// known, whose variance is a million times that of the function, leave the digits of the kernel
/// alone.
#[derive(Debug, Clone)]
pub struct Parted {
    /// `K0`, of the kernel, shape `[n, m]`.
    pub kernel: Mat<f64>,
    /// `C`: what each of the `m` columns sees of every unknown constant, in its prior sds, shape
    /// `[m, constants]`. Where rows and columns are the same places this is `B` too.
    pub constants: Mat<f64>,
}

impl Parted {
    /// `K0 + B B'` of places with themselves, and the parts where there are constants.
    pub(in crate::inference) fn whole(self) -> (Mat<f64>, Option<Self>) {
        if self.constants.ncols() == 0 {
            return (self.kernel, None);
        }
        let of_constants = gemm(self.constants.as_ref(), self.constants.transpose());
        (&self.kernel + of_constants, Some(self))
    }
}

/// What one row says to a sweep.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reply {
    /// `c_r`, its share of the evidence.
    pub(super) share: f64,
    /// The site it asks for.
    pub(super) site: Site,
    /// How far the posterior of the row is from a fixed point, in its standard deviations.
    pub(super) residual: f64,
}

/// A Gaussian site `exp(shift z - precision z^2 / 2)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// `T >= 0`.
    pub precision: f64,
    /// `nu`.
    pub shift: f64,
}

/// What stands in for a row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(in crate::inference) enum Term {
    /// A row that is Gaussian: its value and noise variance, which may be zero.
    Gaussian { value: f64, variance: f64 },
    /// A site that is chosen.
    Chosen(Site),
}

impl Term {
    /// Its variance, infinite where it says nothing.
    pub fn noise(&self) -> f64 {
        match self {
            Self::Gaussian { variance, .. } => *variance,
            Self::Chosen(site) => site.precision.recip(),
        }
    }
}

/// `log N(y; mu, v) - log(1 + k / v) / 2` of a Gaussian row, whose residual `y - mu` is `v alpha`.
pub(crate) fn gaussian_share(k: f64, v: f64, alpha: f64) -> f64 {
    let total = (v + k).max(f64::MIN_POSITIVE);
    -0.5 * ((2.0 * std::f64::consts::PI * total).ln() + v * alpha * alpha)
}
