//! All second latent functions, as inference sees them: one whose values are independent where they
//! are of different functions.

use super::observations::Observations;
use super::second::{SecondLatent, SecondSpec};
use super::varying::Varying;
use crate::error::InputError;
use crate::inference::sites::{Second, SecondPrior};
use crate::likelihood::Likelihood;
use crate::linalg::{Mat, MatRef};
use crate::support::Functionals;

/// A function of each [`Varying`] at most: a row has the one that is of its likelihood.
///
/// The values of one stand behind those of the other, so that
/// `K = diag(K_1, K_2)`, and a hyperparameter changes the block of its own function only.
#[derive(Default)]
pub(crate) struct Seconds {
    each: Vec<SecondLatent>,
    prior_mean: Vec<f64>,
}

impl Seconds {
    /// `tables` are those of the user.
    pub fn new(specs: Vec<SecondSpec>, tables: &[Observations]) -> Result<Self, InputError> {
        let mut seconds = Self::default();
        for spec in specs {
            let second = SecondLatent::new(spec, tables, seconds.rows())?;
            seconds.prior_mean.extend_from_slice(second.prior_mean());
            seconds.each.push(second);
        }
        Ok(seconds)
    }

    /// The same functions at the rows of other tables.
    pub fn on(&self, tables: &[Observations]) -> Result<Self, InputError> {
        Self::new(self.specs(), tables)
    }

    /// What the user said of each.
    pub fn specs(&self) -> Vec<SecondSpec> {
        self.each.iter().map(|second| second.spec.clone()).collect()
    }

    /// One after the other.
    pub fn each(&self) -> &[SecondLatent] {
        &self.each
    }

    /// Values of all functions.
    pub fn rows(&self) -> usize {
        self.prior_mean.len()
    }

    /// That of the noise variance, or of the dispersion.
    pub fn get(&self, varying: Varying) -> Option<&SecondLatent> {
        let mut each = self.each.iter();
        each.find(|second| second.spec.varying == varying)
    }

    /// That of the rows of a likelihood.
    pub fn of(&self, likelihood: &Likelihood) -> Option<&SecondLatent> {
        let mut each = self.each.iter();
        each.find(|second| second.spec.varying.is_of(likelihood))
    }

    /// What a table's rows report, with the noise of their rounding where their noise is a
    /// function.
    pub fn rounded(&self, table: &Observations) -> Likelihood {
        match self.get(Varying::Noise) {
            Some(second) => second.spec.rounded(table),
            None => table.likelihood.clone(),
        }
    }

    /// Where the values of a table's rows stand.
    pub fn of_table(&self, table: usize) -> Option<Second> {
        self.each.iter().find_map(|second| second.of_table(table))
    }

    /// The prior of all; none where there is no second function.
    pub fn prior(&self) -> Option<&dyn SecondPrior> {
        (!self.each.is_empty()).then_some(self as &dyn SecondPrior)
    }

    /// Covariance of all values with one function at other places, shape `[rows, at.len()]`: zero
    /// for those of the other.
    pub fn cross(&self, second: &SecondLatent, theta: &[f64], at: &Functionals) -> Mat<f64> {
        let own = second.cross(theta, at);
        if own.nrows() == self.rows() {
            return own;
        }
        let mut cross = Mat::zeros(self.rows(), at.len());
        let mut place = cross.as_mut().subrows_mut(second.start, own.nrows());
        place.copy_from(&own);
        cross
    }
}

impl SecondPrior for Seconds {
    fn prior_mean(&self) -> &[f64] {
        &self.prior_mean
    }

    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        if let [only] = self.each.as_slice() {
            return only.covariance(theta);
        }
        let mut k = Mat::zeros(self.rows(), self.rows());
        for second in &self.each {
            let (start, own) = (second.start, second.covariance(theta));
            let n = own.nrows();
            let mut block = k.as_mut().submatrix_mut(start, start, n, n);
            block.copy_from(&own);
        }
        k
    }

    fn contract_covariance(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]) {
        for second in &self.each {
            let (start, n) = (second.start, second.supports.len());
            let own = adjoint.submatrix(start, start, n, n);
            second.contract_covariance(theta, own, gradient);
        }
    }
}
