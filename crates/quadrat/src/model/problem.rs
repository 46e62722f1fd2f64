//! The model as inference sees it: a Gaussian prior over the observed functionals, with noise.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::observations::Observations;
use crate::covariance::{Covariance, Grid};
use crate::error::{FitError, InputError};
use crate::inference::{self, Conditioned, Gram, LinearGaussian};
use crate::kernel::Kernel;
use crate::parameter::Parameter;
use crate::support::Functionals;

/// From this many rows on, a complete grid uses its Kronecker structure.
const GRID_ROWS: usize = 64;

/// Prior of the constant mean: `m ~ N(mean, sd^2)`, or fixed when `sd` is zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct MeanPrior {
    pub mean: f64,
    pub sd: f64,
}

/// The learned part of a row's noise variance: the index of its parameter.
type NoiseGroup = Option<usize>;

/// Rows in the order inference works in (grid order on a grid, else the user's).
pub(super) struct Problem {
    pub kernel: Kernel,
    pub covariance: Covariance,
    pub supports: Functionals,
    pub mean: MeanPrior,
    pub parameters: Vec<Parameter>,
    /// `order[k]` is the user's row at place `k`.
    pub order: Vec<usize>,
    /// Noise parameter of every table.
    pub groups: Vec<NoiseGroup>,
    values: Vec<f64>,
    residual: Vec<f64>,
    known: Vec<f64>,
    group: Vec<NoiseGroup>,
    /// Functional of the constant one, times the sd of the mean.
    mean_vector: Option<Vec<f64>>,
    axes: Option<(Vec<Functionals>, Vec<Covariance>)>,
}

impl Problem {
    /// `tables` must be restricted to the columns of the kernel; `groups[t]` is the noise
    /// parameter of table `t`.
    pub fn new(
        kernel: Kernel,
        tables: &[Observations],
        groups: &[NoiseGroup],
        mean: MeanPrior,
        parameters: Vec<Parameter>,
    ) -> Self {
        let covariance = Covariance::new(&kernel);
        let mut supports = Functionals::new(kernel.columns().to_vec());
        let (mut values, mut known, mut group) = (Vec::new(), Vec::new(), Vec::new());
        for (table, &g) in tables.iter().zip(groups) {
            let n = table.values().len();
            // Same columns by construction.
            let _ = supports.extend(table.supports());
            values.extend_from_slice(table.values());
            match table.noise().known() {
                Some(v) => known.extend_from_slice(v),
                None => known.resize(known.len() + n, 0.0),
            }
            group.resize(group.len() + n, g);
        }
        let n = values.len();
        let homoscedastic =
            group.iter().all(|g| *g == group[0]) && known.iter().all(|v| *v == known[0]);
        let grid = (n >= GRID_ROWS && homoscedastic)
            .then(|| Grid::find(&supports))
            .flatten()
            .zip(covariance.along_axes(kernel.columns().len()));
        let mut order: Vec<usize> = (0..n).collect();
        let axes = grid.map(|(grid, covariances)| {
            for (row, &at) in grid.position.iter().enumerate() {
                order[at] = row;
            }
            supports = supports.rows(&order);
            values = order.iter().map(|&r| values[r]).collect();
            (grid.axes, covariances)
        });
        let residual = (0..n)
            .map(|i| values[i] - mean.mean * supports.size(i))
            .collect();
        let mean_vector =
            (mean.sd > 0.0).then(|| (0..n).map(|i| mean.sd * supports.size(i)).collect());
        Self {
            kernel,
            covariance,
            supports,
            mean,
            parameters,
            order,
            groups: groups.to_vec(),
            values,
            residual,
            known,
            group,
            mean_vector,
            axes,
        }
    }

    /// The same prior on other tables: `tables` begins with those of this problem.
    pub fn with_tables(&self, tables: &[Observations]) -> Result<Self, InputError> {
        let restricted = super::checks::restrict(&self.kernel, tables)?;
        let learned = self.groups.iter().copied().flatten().next();
        let mut groups = self.groups.clone();
        for table in &restricted[groups.len()..] {
            groups.push(match (table.noise().is_learned(), learned) {
                (false, _) => None,
                (true, Some(group)) => Some(group),
                (true, None) => {
                    return Err(InputError::Unavailable {
                        what: "a learned noise variance for the new rows",
                        remedy: "no table of the fit learned one; give their variance",
                    });
                }
            });
        }
        Ok(Self::new(
            self.kernel.clone(),
            &restricted,
            &groups,
            self.mean,
            self.parameters.clone(),
        ))
    }

    /// Noise variance of a new row: the learned one of the first table that learns one, else
    /// the known one when all rows have the same.
    pub fn new_row_noise(&self, theta: &[f64]) -> Option<f64> {
        let learned = self
            .groups
            .iter()
            .copied()
            .flatten()
            .next()
            .map(|g| theta[g]);
        let same = self.known.iter().all(|v| *v == self.known[0]);
        match (learned, same) {
            (Some(learned), true) => Some(learned + self.known[0]),
            (Some(learned), false) => {
                let own = self
                    .group
                    .iter()
                    .zip(&self.known)
                    .any(|(g, v)| g.is_some() && *v > 0.0);
                (!own).then_some(learned)
            }
            (None, true) => Some(self.known[0]),
            (None, false) => None,
        }
    }

    /// An error in terms of the user's rows.
    pub fn in_user_rows(&self, error: FitError) -> FitError {
        match error {
            FitError::Factorisation {
                kernel,
                parameters,
                jitter,
                rows,
                correlation,
            } => FitError::Factorisation {
                kernel,
                parameters,
                jitter,
                rows: (self.order[rows.0], self.order[rows.1]),
                correlation,
            },
            other => other,
        }
    }

    /// Observed values, in working order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Whether the covariance is a Kronecker product.
    pub fn is_grid(&self) -> bool {
        self.axes.is_some()
    }

    /// About `rows` of the rows, evenly spread over the table, under the same prior.
    pub fn thinned(&self, rows: usize) -> Self {
        let n = self.values.len();
        let kept: Vec<usize> = (0..rows.min(n)).map(|i| i * n / rows.min(n)).collect();
        let pick = |all: &[f64]| kept.iter().map(|&i| all[i]).collect::<Vec<f64>>();
        Self {
            kernel: self.kernel.clone(),
            covariance: self.covariance.clone(),
            supports: self.supports.rows(&kept),
            mean: self.mean,
            parameters: self.parameters.clone(),
            order: kept.iter().map(|&i| self.order[i]).collect(),
            groups: self.groups.clone(),
            values: pick(&self.values),
            residual: pick(&self.residual),
            known: pick(&self.known),
            group: kept.iter().map(|&i| self.group[i]).collect(),
            mean_vector: self.mean_vector.as_deref().map(pick),
            axes: None,
        }
    }

    /// Conditions at one value of the hyperparameters; errors speak of the user's rows.
    pub fn condition(&self, theta: &[f64]) -> Result<Conditioned, FitError> {
        inference::condition(self, theta).map_err(|error| self.in_user_rows(error))
    }

    /// What to say when supports were integrated more coarsely than the kernel needs.
    pub fn quadrature_warning(&self, theta: &[f64]) -> Option<String> {
        if let Some(ratio) = self.covariance.coarseness(theta, &self.supports) {
            return Some(format!(
                "some boxes are too wide for the quadrature of kernels that share columns: panels are {ratio:.1} times as long as the kernel needs, or its kinks are cut through; prefer products of kernels on separate columns"
            ));
        }
        // Below this the noise of any data hides it.
        let error = self.covariance.region_error(theta, &self.supports);
        error.filter(|e| *e > 1e-5).map(|error| {
            format!(
                "variances of regions under `{}` are known to about {error:.0e} only: the kernel is rough and has no rule on boundaries; `matern32(x, y)` in place of `matern32(x) * matern32(y)` has one",
                self.kernel
            )
        })
    }

    /// How the covariance is represented, in a word.
    pub fn structure(&self) -> &'static str {
        if self.is_grid() { "kronecker" } else { "dense" }
    }

    /// `K_(rows, at)`, the unknown mean included; shape `[n, at.len()]`.
    pub fn cross(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        let mut cross = self.covariance.cross(theta, &self.supports, at);
        if let Some(u) = &self.mean_vector {
            for j in 0..at.len() {
                let scale = self.mean.sd * at.size(j);
                for (k, u) in cross.col_as_slice_mut(j).iter_mut().zip(u) {
                    *k += u * scale;
                }
            }
        }
        cross
    }

    /// Prior variance of every functional, the unknown mean included.
    pub fn prior_variance(&self, theta: &[f64], at: &Functionals) -> Vec<f64> {
        let mut diagonal = self.covariance.diagonal(theta, at);
        for (j, v) in diagonal.iter_mut().enumerate() {
            *v += (self.mean.sd * at.size(j)).powi(2);
        }
        diagonal
    }

    /// Prior covariance of the functionals, the unknown mean included.
    pub fn prior_covariance(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        let mut k = self.covariance.matrix(theta, at);
        self.add_mean(&mut k, at);
        k
    }

    fn add_mean(&self, k: &mut Mat<f64>, at: &Functionals) {
        if self.mean.sd > 0.0 {
            let u: Vec<f64> = (0..at.len()).map(|i| self.mean.sd * at.size(i)).collect();
            for j in 0..u.len() {
                for (k, v) in k.col_as_slice_mut(j).iter_mut().zip(&u) {
                    *k += v * u[j];
                }
            }
        }
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
                rank_one: self.mean_vector.clone(),
            };
        }
        Gram::Dense(self.prior_covariance(theta, &self.supports))
    }

    fn noise(&self, theta: &[f64], variances: &mut [f64]) {
        for ((out, &known), &group) in variances.iter_mut().zip(&self.known).zip(&self.group) {
            *out = known + group.map_or(0.0, |g| theta[g]);
        }
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
        for (&group, g) in self.group.iter().zip(noise_adjoint) {
            if let Some(group) = group {
                gradient[group] += g;
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
