//! Rows with normal noise, conditioned in closed form.

use super::super::normal_rows::NormalRows;
use super::super::prior::Prior;
use super::super::tables::Tables;
use super::chain_rows::ChainRows;
use super::interface::Engine;
use super::limits::{check_atoms, check_dense, check_line};
use crate::covariance::{Chain, Covariance, Grid, KeptPairs, LEAST_PERIODIC, ROUGH};
use crate::error::{FitError, InputError};
use crate::inference::converged::of_another;
use crate::inference::pooled::Draws;
use crate::inference::sites::Method;
use crate::inference::{
    self, Conditioned, Converged, Evidence, Further, Gram, LinearGaussian, RowFactor,
};
use crate::likelihood::repeated::{rest_of_values, rest_of_values_slope};
use crate::linalg::Mat;
use crate::parameter::Parameter;
use crate::support::Functionals;

/// From this many rows on, a complete grid uses its Kronecker structure.
const GRID_ROWS: usize = 64;
/// From this many rows on eigenvectors along a single axis cost more than what they save.
const AXIS_ROWS: usize = 256;
/// From how many rows on starts are first compared on a subset of the rows, and its size.
const THINNED: (usize, usize) = (1000, 500);
/// Rough covariances do where the noise is so many times what they are off by: an evidence is then
/// off by a fraction of a nat, and its optimum by a fraction of an sd.
const NOISY: f64 = 30.0;

/// Values `y = L f + e` with `e ~ N(0, V)`, in working order: that of the grid on a complete grid,
/// else the user's.
pub(crate) struct ExactEngine {
    prior: Prior,
    tables: Tables,
    supports: Functionals,
    rows: NormalRows,
    /// On a complete grid, its axes with the covariances along them.
    axes: Option<(Vec<Functionals>, Vec<Covariance>)>,
    /// Along a line, what has the evidence without a matrix.
    line: Option<ChainRows>,
}

impl ExactEngine {
    /// Returns also the working order: the user's row at each of its places.
    ///
    /// # Arguments
    /// * `may_be_sharp` - whether periodic leaves may have more harmonics than are kept apart
    pub fn new(
        mut prior: Prior,
        tables: Tables,
        mut supports: Functionals,
        mut rows: NormalRows,
        may_be_sharp: bool,
    ) -> (Self, Vec<usize>) {
        let n = rows.values.len();
        let dims = prior.kernel.columns().len();
        let line = ChainRows::new(&mut prior, &supports, &rows, may_be_sharp);
        let is_grid = dims > 1 || n < AXIS_ROWS || rows.has_exact();
        let is_separable = is_grid
            && line.is_none()
            && prior.kernel.outputs().is_empty()
            // A grid has room for one function beside the kernel, the constant.
            && prior.mean.lines().is_empty()
            && rows.is_homoscedastic();
        let grid = (n >= GRID_ROWS && is_separable)
            .then(|| Grid::find(&supports))
            .flatten()
            .zip(prior.of_kernel.along_axes(dims));
        let mut order: Vec<usize> = (0..n).collect();
        let axes = grid.map(|(grid, covariances)| {
            for (row, &at) in grid.position.iter().enumerate() {
                order[at] = row;
            }
            supports = supports.rows(&order);
            // Noise and numbers are those of every row.
            for values in [&mut rows.values, &mut rows.residual] {
                *values = order.iter().map(|&r| values[r]).collect();
            }
            (grid.axes, covariances)
        });
        let own = Self {
            prior,
            tables,
            supports,
            rows,
            axes,
            line,
        };
        (own, order)
    }

    /// Whether the noise of every row is so much larger than what rough covariances are off by that
    /// the optimum is nearly where it is.
    fn bears_rough(&self, theta: &[f64]) -> bool {
        if !self.supports.has_regions() {
            return false;
        }
        let mut noise = vec![0.0; self.rows.values.len()];
        self.noise(theta, &mut noise);
        let variances = self.prior.variance_apart(theta, &self.supports);
        let mut rows = noise.iter().zip(variances);
        rows.all(|(noise, variance)| *noise >= NOISY * ROUGH * variance)
    }

    /// Adds the slopes of what values that stand for several have beside the residual's evidence.
    fn add_rest_of_values(&self, theta: &[f64], gradient: &mut [f64]) {
        for (n, variance, group) in self.rows.several(theta) {
            if let Some(group) = group {
                gradient[group] += rest_of_values_slope(n, variance);
            }
        }
    }
}

impl Engine for ExactEngine {
    fn prior(&self) -> &Prior {
        &self.prior
    }

    fn prior_mut(&mut self) -> &mut Prior {
        &mut self.prior
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn supports(&self) -> &Functionals {
        &self.supports
    }

    fn method(&self) -> Option<Method> {
        None
    }

    fn structure(&self) -> &'static str {
        if self.axes.is_some() {
            "kronecker"
        } else if self.line.is_some() {
            "line"
        } else {
            "dense"
        }
    }

    fn check_size(&self) -> Result<(), InputError> {
        if self.axes.is_some() {
            return Ok(());
        }
        if self.line.is_some() {
            return check_line(self.tables.rows());
        }
        check_dense(self.tables.rows())?;
        check_atoms(&self.supports, self.tables.rows())
    }

    fn condition(&self, theta: &[f64], _: Draws) -> Result<Conditioned, FitError> {
        inference::condition(self, theta)
    }

    fn condition_converged(
        &self,
        theta: &[f64],
        converged: &Converged,
        draws: Draws,
    ) -> Result<Conditioned, FitError> {
        match converged {
            Converged::Closed => self.condition(theta, draws),
            _ => Err(of_another()),
        }
    }

    fn condition_after(
        &self,
        theta: &[f64],
        first: &dyn Engine,
        conditioned: &Conditioned,
    ) -> Option<Conditioned> {
        let (all, n) = (&self.supports, first.supports().len());
        let is_matrix = self.axes.is_none() && self.line.is_none();
        let before = all.rows(&(0..n.min(all.len())).collect::<Vec<_>>());
        if !is_matrix || before != *first.supports() {
            return None;
        }
        let added = all.rows(&(n..all.len()).collect::<Vec<_>>());
        let further = Further {
            across: self.prior.between_apart(theta, &before, &added),
            corner: self.prior.covariance_apart(theta, &added),
            variances: self.prior.variance_apart(theta, all),
        };
        inference::append(self, theta, conditioned, further)
    }

    fn evidence(&self) -> Option<Box<dyn Evidence + '_>> {
        Some(Box::new(inference::Exact(self)))
    }

    fn thinned(&self) -> Option<(usize, usize)> {
        (self.axes.is_none() && self.line.is_none()).then_some(THINNED)
    }

    fn least_periodic(&self) -> Option<f64> {
        let is_apart = !self.prior.most_apart().periodic.is_empty();
        is_apart.then_some(LEAST_PERIODIC)
    }

    fn chain_beside(&self, asked: &Functionals) -> Option<Chain> {
        self.line.as_ref()?.chain_beside(&self.supports, asked)
    }

    fn normal(&self) -> Option<&NormalRows> {
        Some(&self.rows)
    }
}

impl LinearGaussian for ExactEngine {
    fn rows(&self) -> usize {
        self.rows.values.len()
    }

    fn residual(&self) -> &[f64] {
        &self.rows.residual
    }

    fn gram(&self, theta: &[f64]) -> Gram {
        if let Some((axes, covariances)) = &self.axes {
            let mean = &self.prior.mean;
            return Gram::Kronecker {
                axes: axes
                    .iter()
                    .zip(covariances)
                    .map(|(set, c)| c.matrix(theta, set))
                    .collect(),
                rank_one: mean.is_unknown().then(|| mean.scales(&self.supports)),
            };
        }
        Gram::Dense(self.prior.covariance_apart(theta, &self.supports))
    }

    fn gram_kept(&self, theta: &[f64], is_rough: bool) -> (Gram, KeptPairs) {
        if self.axes.is_some() {
            return (self.gram(theta), KeptPairs::default());
        }
        let is_rough = is_rough && self.bears_rough(theta);
        let (k, kept) = self.prior.covariance_kept(theta, &self.supports, is_rough);
        (Gram::Dense(k), kept)
    }

    fn basis(&self, theta: &[f64]) -> Option<Mat<f64>> {
        (self.axes.is_none() && self.prior.has_functions(theta))
            .then(|| self.prior.functions(theta, &self.supports))
    }

    fn structured(&self, theta: &[f64], with_gradient: bool) -> Option<(f64, Vec<f64>)> {
        let of = (&self.prior, &self.supports, &self.rows);
        let (value, mut gradient) = self.line.as_ref()?.evidence(of, theta, with_gradient)?;
        self.add_rest_of_values(theta, &mut gradient);
        Some((value + self.constant(theta), gradient))
    }

    fn check_matrix(&self) -> Result<(), FitError> {
        match self.axes {
            Some(_) => Ok(()),
            None => Ok(check_dense(self.tables.rows())?),
        }
    }

    fn factor(&self, theta: &[f64], noise: &[f64]) -> Option<RowFactor> {
        let line = self.line.as_ref()?;
        Some(RowFactor::Line(line.factor(&self.prior, theta, noise)?))
    }

    fn noise(&self, theta: &[f64], variances: &mut [f64]) {
        let rows = &self.rows;
        let rows = rows.known.iter().zip(&rows.group).zip(&rows.times);
        for (out, ((&known, &group), n)) in variances.iter_mut().zip(rows) {
            *out = known + group.map_or(0.0, |g| theta[g] / n);
        }
    }

    fn constant(&self, theta: &[f64]) -> f64 {
        self.rows
            .several(theta)
            .map(|(n, variance, _)| rest_of_values(n, variance))
            .sum()
    }

    fn contract(&self, theta: &[f64], adjoint: &Gram, noise_adjoint: &[f64], gradient: &mut [f64]) {
        self.contract_kept(
            theta,
            &KeptPairs::default(),
            adjoint,
            noise_adjoint,
            gradient,
        );
    }

    fn contract_kept(
        &self,
        theta: &[f64],
        kept: &KeptPairs,
        adjoint: &Gram,
        noise_adjoint: &[f64],
        gradient: &mut [f64],
    ) {
        match (adjoint, &self.axes) {
            (Gram::Dense(g), _) => {
                let covariance = &self.prior.of_kernel;
                covariance.contract_kept(theta, &self.supports, kept, g.as_ref(), gradient);
            }
            (Gram::Kronecker { axes: adjoints, .. }, Some((axes, covariances))) => {
                for ((g, set), covariance) in adjoints.iter().zip(axes).zip(covariances) {
                    covariance.contract(theta, set, g.as_ref(), gradient);
                }
            }
            (Gram::Kronecker { .. }, None) => {}
        }
        let rows = self.rows.group.iter().zip(&self.rows.times);
        for ((&group, n), g) in rows.zip(noise_adjoint) {
            if let Some(group) = group {
                gradient[group] += g / n;
            }
        }
        self.add_rest_of_values(theta, gradient);
    }

    fn describe(&self) -> String {
        self.prior.kernel.to_string()
    }

    fn parameters(&self) -> &[Parameter] {
        &self.prior.parameters
    }
}
