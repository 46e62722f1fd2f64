//! What dense inference asks of a problem.

use super::assembly::Problem;
use crate::inference::sites::{Block, LatentGaussian, Parted, SecondPrior};
use crate::inference::{Gram, LinearGaussian};
use crate::kernel::Mixing;
use crate::likelihood::repeated::{rest_of_values, rest_of_values_slope};
use crate::linalg::{Mat, MatRef};
use crate::parameter::Parameter;
use crate::support::Functionals;

impl LatentGaussian for Problem {
    fn prior_mean(&self) -> &[f64] {
        match &self.centred {
            Some(centred) => &centred.prior_mean,
            None => &self.prior_mean,
        }
    }

    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        self.prior_covariance(theta, &self.supports)
    }

    fn parted(&self, theta: &[f64]) -> Parted {
        Parted {
            kernel: self.covariance.matrix(theta, &self.supports),
            constants: self.mean.columns(&self.supports),
        }
    }

    fn contract_covariance(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]) {
        self.covariance
            .contract(theta, &self.supports, adjoint, gradient);
    }

    fn blocks(&self) -> Vec<Block<'_>> {
        let mut first = 0;
        let likelihoods = match &self.centred {
            Some(centred) => centred.likelihoods.as_slice(),
            None => &self.likelihoods,
        };
        let tables = likelihoods.iter().zip(&self.own).enumerate();
        tables
            .map(|(t, (likelihood, own))| {
                let block = Block {
                    likelihood: match &self.repeated[t] {
                        Some(repeated) => repeated,
                        None => likelihood.local(),
                    },
                    first,
                    own,
                    second: self.seconds.of_table(t),
                };
                first += likelihood.rows();
                block
            })
            .collect()
    }

    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    fn describe(&self) -> String {
        self.kernel.to_string()
    }

    fn second(&self) -> Option<&dyn SecondPrior> {
        self.seconds.prior()
    }

    /// Columns of mixing matrices: `A A'` does not know their signs.
    fn mirrored(&self) -> Vec<Vec<usize>> {
        let seconds = self.seconds.each().iter().map(|second| &second.spec);
        let seconds = seconds.map(|spec| (&spec.kernel, spec.offset));
        let kernels = std::iter::once((&self.kernel, 0)).chain(seconds);
        let columns = kernels.flat_map(|(kernel, offset)| {
            let matrices = kernel.leaves().iter().filter_map(|l| l.mixing.as_ref());
            let columns = matrices.flat_map(Mixing::columns);
            columns.map(move |column| column.into_iter().map(|i| offset + i).collect())
        });
        columns
            .filter(|column: &Vec<usize>| column.iter().all(|&i| self.parameters[i].is_mirrored()))
            .collect()
    }
}

impl LinearGaussian for Problem {
    fn rows(&self) -> usize {
        self.values.len()
    }

    fn residual(&self) -> &[f64] {
        &self.residual
    }

    fn gram(&self, theta: &[f64]) -> Gram {
        if let Some((axes, covariances)) = &self.axes {
            return Gram::Kronecker {
                axes: axes
                    .iter()
                    .zip(covariances)
                    .map(|(set, c)| c.matrix(theta, set))
                    .collect(),
                rank_one: self
                    .mean
                    .is_unknown()
                    .then(|| self.mean.scales(&self.supports)),
            };
        }
        Gram::Dense(self.apart.0.matrix(theta, &self.supports))
    }

    fn basis(&self, theta: &[f64]) -> Option<Mat<f64>> {
        let is_apart = self.mean.is_unknown() || !self.apart.1.is_empty();
        (self.axes.is_none() && is_apart).then(|| self.functions(theta, &self.supports))
    }

    fn noise(&self, theta: &[f64], variances: &mut [f64]) {
        let rows = self.known.iter().zip(&self.group).zip(&self.times);
        for (out, ((&known, &group), n)) in variances.iter_mut().zip(rows) {
            *out = known + group.map_or(0.0, |g| theta[g] / n);
        }
    }

    fn constant(&self, theta: &[f64]) -> f64 {
        self.several(theta)
            .map(|(n, variance, _)| rest_of_values(n, variance))
            .sum()
    }

    fn contract(&self, theta: &[f64], adjoint: &Gram, noise_adjoint: &[f64], gradient: &mut [f64]) {
        match (adjoint, &self.axes) {
            (Gram::Dense(g), _) => {
                self.covariance
                    .contract(theta, &self.supports, g.as_ref(), gradient);
            }
            (Gram::Kronecker { axes: adjoints, .. }, Some((axes, covariances))) => {
                for ((g, set), covariance) in adjoints.iter().zip(axes).zip(covariances) {
                    covariance.contract(theta, set, g.as_ref(), gradient);
                }
            }
            (Gram::Kronecker { .. }, None) => {}
        }
        for ((&group, n), g) in self.group.iter().zip(&self.times).zip(noise_adjoint) {
            if let Some(group) = group {
                gradient[group] += g / n;
            }
        }
        for (n, variance, group) in self.several(theta) {
            if let Some(group) = group {
                gradient[group] += rest_of_values_slope(n, variance);
            }
        }
    }

    fn describe(&self) -> String {
        self.kernel.to_string()
    }

    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
}

impl Problem {
    /// Of every value that was seen more than once how often, the noise variance of each time, and
    /// the parameter in it.
    fn several<'a>(
        &'a self,
        theta: &'a [f64],
    ) -> impl Iterator<Item = (f64, f64, Option<usize>)> + 'a {
        let rows = self.times.iter().zip(&self.known).zip(&self.group);
        let several = rows.filter(|((n, _), _)| **n != 1.0);
        several.map(move |((n, known), group)| {
            (*n, n * known + group.map_or(0.0, |g| theta[g]), *group)
        })
    }

    /// What functionals see of the unknown constants and of lines, in prior sds of their
    /// coefficients, shape `[at.len(), functions]`; the constants come first.
    fn functions(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        let constants = self.mean.columns(at);
        let lines = self.apart.1.iter().map(|line| line.values(theta, at));
        let lines: Vec<Vec<f64>> = lines.collect();
        let first = constants.ncols();
        Mat::from_fn(at.len(), first + lines.len(), |i, j| match j < first {
            true => constants[(i, j)],
            false => lines[j - first][i],
        })
    }

    /// `K_(rows, at)` without what [`LinearGaussian::basis`] has, and that beside it.
    pub fn cross_apart(&self, theta: &[f64], at: &Functionals) -> Parted {
        Parted {
            kernel: self.apart.0.cross(theta, &self.supports, at),
            constants: self.functions(theta, at),
        }
    }

    /// Prior variance of every functional in the same sense.
    pub fn variance_apart(&self, theta: &[f64], at: &Functionals) -> Vec<f64> {
        self.apart.0.diagonal(theta, at)
    }

    /// Prior covariance of the functionals in the same sense.
    pub fn covariance_apart(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        self.apart.0.matrix(theta, at)
    }

    /// `K_(rows, at)`, the unknown mean included; shape `[n, at.len()]`.
    pub fn cross(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        let mut cross = self.covariance.cross(theta, &self.supports, at);
        self.mean.add_covariance(&mut cross, &self.supports, at);
        cross
    }

    /// `K_(rows, at)` with the unknown means beside it.
    pub fn parted_cross(&self, theta: &[f64], at: &Functionals) -> Parted {
        Parted {
            kernel: self.covariance.cross(theta, &self.supports, at),
            constants: self.mean.columns(at),
        }
    }

    /// Prior variance of every functional under the kernel alone.
    pub fn kernel_variance(&self, theta: &[f64], at: &Functionals) -> Vec<f64> {
        self.covariance.diagonal(theta, at)
    }

    /// Prior covariance of the functionals under the kernel alone.
    pub fn kernel_covariance(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        self.covariance.matrix(theta, at)
    }

    /// Prior variance of every functional, the unknown mean included.
    pub fn prior_variance(&self, theta: &[f64], at: &Functionals) -> Vec<f64> {
        let mut diagonal = self.covariance.diagonal(theta, at);
        for (j, v) in diagonal.iter_mut().enumerate() {
            *v += self.mean.variance(at, j);
        }
        diagonal
    }

    /// Prior covariance of the functionals, the unknown mean included.
    pub fn prior_covariance(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        let mut k = self.covariance.matrix(theta, at);
        self.mean.add_covariance(&mut k, at, at);
        k
    }
}
