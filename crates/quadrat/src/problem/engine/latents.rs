//! Latent values of functionals under a dense prior covariance, with the rows that report of them.

use super::super::centred::Centred;
use super::super::observations::Observations;
use super::super::prior::Prior;
use super::super::repeated::repeated;
use super::super::tables::Tables;
use crate::inference::sites::{Block, LatentGaussian, Parted, SecondPrior};
use crate::likelihood::repeated::Repeated;
use crate::linalg::{Mat, MatRef};
use crate::parameter::Parameter;
use crate::support::Functionals;

/// What approximate inference without inducing points sees: of every row its functional, or the
/// nodes of all rows.
pub(crate) struct Latents {
    pub prior: Prior,
    pub tables: Tables,
    pub supports: Functionals,
    /// Prior means of `supports`.
    prior_mean: Vec<f64>,
    /// Where rows are seen from the level of their values: what they then report, and with these
    /// the rows that were seen several times.
    centred: Option<(Centred, Vec<Option<Repeated>>)>,
}

impl Latents {
    pub fn new(prior: Prior, tables: Tables, supports: Functionals) -> Self {
        Self {
            prior_mean: prior.mean.means(&supports),
            prior,
            tables,
            supports,
            centred: None,
        }
    }

    /// With the rows seen from the level of their values, where that is large.
    ///
    /// # Arguments
    /// * `tables` - of these rows
    /// * `typical` - of every row a value that is plausible there
    pub fn centred(self, tables: &[Observations], typical: &[f64]) -> Self {
        let centred = Centred::new(&self.tables.likelihoods, &self.prior_mean, typical);
        let centred = centred.map(|centred| {
            let repeated = repeated(tables, &centred.likelihoods);
            (centred, repeated)
        });
        Self { centred, ..self }
    }
}

impl LatentGaussian for Latents {
    fn prior_mean(&self) -> &[f64] {
        match &self.centred {
            Some((centred, _)) => &centred.prior_mean,
            None => &self.prior_mean,
        }
    }

    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        self.prior.covariance(theta, &self.supports)
    }

    fn parted(&self, theta: &[f64]) -> Parted {
        self.prior.parted(theta, &self.supports)
    }

    fn contract_covariance(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]) {
        let covariance = &self.prior.of_kernel;
        covariance.contract(theta, &self.supports, adjoint, gradient);
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        match &self.centred {
            Some((centred, repeated)) => self.tables.blocks_of(&centred.likelihoods, repeated),
            None => self.tables.blocks(),
        }
    }

    fn parameters(&self) -> &[Parameter] {
        &self.prior.parameters
    }

    fn describe(&self) -> String {
        self.prior.kernel.to_string()
    }

    fn second(&self) -> Option<&dyn SecondPrior> {
        self.tables.seconds.prior()
    }

    fn mirrored(&self) -> Vec<Vec<usize>> {
        self.tables.mirrored(&self.prior)
    }
}
