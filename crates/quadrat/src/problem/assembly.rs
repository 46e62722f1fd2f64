//! The model as inference sees it: a Gaussian prior over the observed functionals, with noise.

use std::sync::{Arc, OnceLock};

use super::centred::Centred;
use super::mean::Means;
use super::normal_rows::NormalRows;
use super::observations::Observations;
use super::outputs;
use super::pooled::{Pooled, is_pooled};
use super::repeated;
use super::seconds::Seconds;
use super::sparse::{Sparse, SparseChoice};
use super::specified::Specified;
use crate::covariance::{Covariance, Grid, LineTerm};
use crate::error::{FitError, InputError};
use crate::inference::pooled::{Draws, PooledEvidence, PooledOptions, condition_pooled};
use crate::inference::sites::{Method, Site, SiteEvidence, SiteOptions, condition_sites, converge};
use crate::inference::sparse::condition_sparse;
use crate::inference::{self, Conditioned, Evidence, Exact, LinearGaussian};
use crate::kernel::Kernel;
use crate::likelihood::Likelihood;
use crate::likelihood::repeated::Repeated;
use crate::parameter::Parameter;
use crate::support::Functionals;

/// From this many rows on, a complete grid uses its Kronecker structure.
const GRID_ROWS: usize = 64;

/// Tolerance of the sites behind the variational bound, in posterior standard deviations. It is a
/// bound at any sites: so far from the best ones it loses about the square of this for every row,
/// and a little more where negative precisions are cut at zero.
const CERTAIN: f64 = 1e-3;
/// Sweeps towards the best bound at most, and how far from rest they may end.
const BOUND_SWEEPS: usize = 40;
const NEAR_REST: f64 = 0.05;

/// A model ready for inference: prior, hyperparameters, and rows in working order (that of the
/// grid on a complete grid, else the user's).
pub(crate) struct Problem {
    pub kernel: Kernel,
    pub covariance: Covariance,
    /// For exact inference: the covariance without its linear leaves in one column, and those
    /// leaves, which join the unknown constants as functions with coefficients.
    pub(super) apart: (Covariance, Vec<LineTerm>),
    /// What the prior covariance is of: the rows; nodes, where `pooled`; inducing points, where
    /// `sparse`. Where the rows looked: [`Self::observed`].
    pub supports: Functionals,
    pub mean: Means,
    pub parameters: Vec<Parameter>,
    /// `order[k]` is the user's row at place `k`.
    pub order: Vec<usize>,
    /// Where the hyperparameters of every table's likelihood stand in `theta`.
    pub own: Vec<Vec<usize>>,
    /// How rows that are not Gaussian are treated; `None`: all are, and inference is exact.
    pub method: Option<Method>,
    pub(super) likelihoods: Arc<[Likelihood]>,
    /// Where sites are sought for rows less the level of their values.
    pub(super) centred: Option<Centred>,
    /// Prior means of `supports`.
    pub(super) prior_mean: Vec<f64>,
    /// Sites at the starts of the hyperparameters, where every search for sites begins: what is
    /// found does not depend on the order of the searches.
    pub(super) anchor: OnceLock<[Vec<Site>; 2]>,
    pub(super) values: Vec<f64>,
    /// Values less prior means; of no use where `supports` are not the rows.
    pub(super) residual: Vec<f64>,
    /// Known noise variances; of values that were seen `n` times the `n`th part.
    pub(super) known: Vec<f64>,
    pub(super) group: Vec<Option<usize>>,
    /// How often the value of every row was seen, in working order, where inference is exact.
    pub(super) times: Vec<f64>,
    /// The rows of tables of which some were seen several times.
    pub(super) repeated: Vec<Option<Repeated>>,
    /// The noise variance and the dispersion, where they are functions.
    pub seconds: Seconds,
    /// The output of every table's rows.
    pub(super) output_of_table: Vec<usize>,
    pub(super) axes: Option<(Vec<Functionals>, Vec<Covariance>)>,
    /// Where rows see sums after a link: then `supports` are their nodes.
    pub pooled: Option<Pooled>,
    /// Where searches with several starts also begin, all parameters.
    pub besides: Vec<Vec<f64>>,
    /// And where periods that are learned are those that the rows suggest, the likeliest first.
    pub cycles: Vec<Vec<f64>>,
    /// Where inference is sparse: then `supports` are inducing points.
    pub sparse: Option<Sparse>,
}

impl Problem {
    /// The rows of a model, through `sparse` inducing points where there are any.
    pub fn new(model: Specified, sparse: Option<Sparse>) -> Self {
        let Specified {
            kernel,
            tables,
            mean,
            parameters,
            own,
            method,
            seconds,
            besides,
            cycles,
        } = model;
        let tables = tables.as_slice();
        let covariance = Covariance::new(&kernel);
        let apart = Covariance::with_lines_apart(&kernel);
        let mut supports = Functionals::new(kernel.columns().to_vec());
        let NormalRows {
            mut values,
            known,
            group,
            times,
        } = NormalRows::new(tables, &own);
        for table in tables {
            // Same columns by construction.
            let _ = supports.extend(table.supports());
        }
        let n = values.len();
        let homoscedastic = method.is_none()
            && kernel.outputs().is_empty()
            // A grid has room for one function beside the kernel, the constant.
            && mean.lines().is_empty()
            && group.iter().all(|g| *g == group[0])
            && known.iter().all(|v| *v == known[0])
            && times.iter().all(|n| *n == times[0]);
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
            // Noise and numbers are those of every row.
            values = order.iter().map(|&r| values[r]).collect();
            (grid.axes, covariances)
        });
        let is_pooled = sparse.is_none() && tables.iter().any(is_pooled);
        let pooled = is_pooled.then(|| {
            let observed = supports.clone();
            let (pooled, nodes) = Pooled::new(&kernel, &covariance, &parameters, tables, observed);
            supports = nodes;
            pooled
        });
        if let Some(sparse) = &sparse {
            supports = sparse.inducing().clone();
        }
        let prior_mean = mean.means(&supports);
        let residual = values.iter().zip(&prior_mean).map(|(y, m)| y - m).collect();
        let first = |table: &Observations| mean.output(table.supports(), 0);
        let output_of_table = tables.iter().map(first).collect();
        let likelihoods: Arc<[Likelihood]> = tables.iter().map(|t| seconds.rounded(t)).collect();
        let is_plain = method.is_some() && pooled.is_none() && sparse.is_none();
        let centred = is_plain.then(|| Centred::new(&likelihoods, &prior_mean, &values));
        let centred = centred.flatten();
        let seen = match &centred {
            Some(centred) => centred.likelihoods.as_slice(),
            None => &likelihoods,
        };
        let repeated = repeated::repeated(tables, seen);
        Self {
            kernel,
            covariance,
            apart,
            supports,
            mean,
            parameters,
            order,
            own,
            method,
            likelihoods,
            times,
            repeated,
            centred,
            prior_mean,
            anchor: OnceLock::new(),
            seconds,
            values,
            residual,
            known,
            group,
            output_of_table,
            axes,
            pooled,
            besides,
            cycles,
            sparse,
        }
    }

    /// Where the rows looked, whatever stands for them.
    pub fn observed(&self) -> &Functionals {
        if let Some(sparse) = &self.sparse {
            return &sparse.observed;
        }
        self.pooled.as_ref().map_or(&self.supports, |p| &p.observed)
    }

    /// Numbers whose covariance is computed: rows, or their nodes.
    pub fn size(&self) -> usize {
        self.values.len().max(self.supports.len())
    }

    /// The same prior on other tables: `tables` begins with those of this problem.
    pub fn with_tables(&self, tables: &[Observations]) -> Result<Self, InputError> {
        if self.sparse.is_some() {
            return Err(InputError::Unavailable {
                what: "adding rows to a sparse posterior",
                remedy: "fit all rows together",
            });
        }
        super::checks::links(tables)?;
        let restricted = outputs::restrict(&self.kernel, tables)?;
        let mut own = self.own.clone();
        for table in &restricted[own.len()..] {
            own.push(self.own_of(table)?);
        }
        let is_exact = restricted.iter().all(|t| t.as_gaussian().is_some());
        let is_pooled = restricted.iter().any(is_pooled);
        let mut model = self.model_of(restricted, self.seconds.on(tables)?);
        model.own = own;
        // Rows that are not Gaussian cannot stay with exact inference.
        model.method = match is_pooled {
            true => Some(Method::Laplace),
            false => self.method.or((!is_exact).then_some(Method::Ep)),
        };
        Ok(Self::new(model, None))
    }

    /// The same problem in the order of the tables, without the structure of a grid.
    #[cfg(feature = "mcmc")]
    pub fn in_table_order(&self, tables: &[Observations]) -> Result<Self, InputError> {
        let restricted = outputs::restrict(&self.kernel, tables)?;
        let mut model = self.model_of(restricted, self.seconds.on(tables)?);
        // With sites, rows are never reordered.
        model.method = self.method.or(Some(Method::Ep));
        let mut problem = Self::new(model, None);
        // Latent values are drawn as they are.
        problem.centred = None;
        for (one, likelihood) in problem.repeated.iter_mut().zip(problem.likelihoods.iter()) {
            if let Some(repeated) = one {
                *repeated = repeated.like(likelihood.clone());
            }
        }
        Ok(problem)
    }

    /// Noise variance of a new normal row like those of a table: what it learned and what is known
    /// of all its rows; none where that differs from row to row.
    pub fn new_row_noise(&self, theta: &[f64], table: usize) -> Option<f64> {
        let noise = self.likelihoods[table].noise()?;
        let known = noise.known().unwrap_or(&[0.0]);
        let learned = self.own[table].first().filter(|_| noise.is_learned());
        let is_one = known.iter().all(|v| *v == known[0]);
        is_one.then(|| known[0] + learned.map_or(0.0, |&i| theta[i]))
    }

    /// How often the value of every row was seen, in working order, where inference is exact.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Observed values, in working order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Observed values minus their prior means, in working order.
    pub fn residuals(&self) -> &[f64] {
        &self.residual
    }

    /// The known noise variance of every row of exact inference, in working order; `None` where a
    /// part of it is learned.
    pub fn known_variances(&self) -> Vec<Option<f64>> {
        let pairs = self.known.iter().zip(&self.group);
        pairs
            .map(|(known, group)| group.is_none().then_some(*known))
            .collect()
    }

    /// Whether the covariance is a Kronecker product.
    pub fn is_grid(&self) -> bool {
        self.axes.is_some()
    }

    /// The same prior on about `rows` of the rows of the user's tables, evenly spread over each.
    pub fn thinned(&self, tables: &[Observations], rows: usize) -> Result<Self, InputError> {
        let share = (rows as f64 / self.rows() as f64).min(1.0);
        let mut kept = Vec::with_capacity(rows);
        let mut first = 0;
        let mut thin = |table: &Observations| {
            let n = table.supports.len();
            let own = table.evenly(share);
            kept.extend(own.iter().map(|row| first + row));
            first += n;
            table.rows(&own)
        };
        let thinned = tables.iter().map(&mut thin);
        let thinned = thinned.collect::<Result<Vec<Observations>, InputError>>()?;
        let mut problem = self.on(&thinned, None)?;
        problem.order.iter_mut().for_each(|row| *row = kept[*row]);
        problem.besides.clone_from(&self.besides);
        problem.cycles.clone_from(&self.cycles);
        Ok(problem)
    }

    /// The same prior on other tables, dense or through inducing points.
    pub fn on(
        &self,
        tables: &[Observations],
        sparse: Option<&SparseChoice>,
    ) -> Result<Self, InputError> {
        let restricted = outputs::restrict(&self.kernel, tables)?;
        let make = |choice| {
            let (mean, parameters) = (&self.mean, &self.parameters);
            Sparse::new(&self.kernel, mean, parameters, &restricted, choice)
        };
        let sparse = sparse.map(make).transpose()?;
        let model = self.model_of(restricted, self.seconds.on(tables)?);
        Ok(Self::new(model, sparse))
    }

    /// The same prior and method for other rows; searches begin at the starts alone.
    fn model_of(&self, tables: Vec<Observations>, seconds: Seconds) -> Specified {
        Specified {
            kernel: self.kernel.clone(),
            tables,
            mean: self.mean.clone(),
            parameters: self.parameters.clone(),
            own: self.own.clone(),
            method: self.method,
            seconds,
            besides: Vec::new(),
            cycles: Vec::new(),
        }
    }

    /// Conditions at one value of the hyperparameters; errors speak of the user's rows.
    pub fn condition(&self, theta: &[f64]) -> Result<Conditioned, FitError> {
        self.condition_with(theta, Draws::default())
    }

    /// As [`Self::condition`], with draws that meet what rows report of their sums after a link,
    /// where there are such rows.
    pub fn condition_with(&self, theta: &[f64], draws: Draws) -> Result<Conditioned, FitError> {
        if let Some(streamed) = self.streamed() {
            // A millionth of a nat decides nothing, but what is loaded again should be what was
            // saved.
            let mut options = streamed.sparse.options;
            options.tolerance = 1e-7;
            return condition_sparse(&streamed, theta, &options, streamed.sparse.start(theta));
        }
        let conditioned = match (self.method, &self.pooled) {
            (None, _) => inference::condition(self, theta),
            (Some(_), Some(pooled)) => {
                let options = PooledOptions {
                    draws,
                    ..PooledOptions::default()
                };
                condition_pooled(self, &pooled.pools, theta, &options)
            }
            (Some(method), None) => converge(self, theta, &self.site_options(method))
                .and_then(crate::inference::sites::SiteFit::into_conditioned),
        };
        conditioned.map_err(|error| self.in_user_rows(error))
    }

    /// Draws that are to meet what rows report of their sums, see [`Pooled::draws`].
    pub fn draws(&self, share: f64, count: usize) -> Draws {
        let pooled = self.pooled.as_ref();
        pooled.map_or_else(Draws::default, |pooled| pooled.draws(share, count))
    }

    /// Puts the inducing points of sparse inference elsewhere, each in its own output.
    pub fn move_inducing(&mut self, inducing: Functionals) {
        if let Some(sparse) = &mut self.sparse {
            self.supports = inducing.clone();
            sparse.move_inducing(inducing);
        }
    }

    /// The evidence under the chosen dense inference.
    pub fn evidence(&self) -> Box<dyn Evidence + '_> {
        match (self.method, &self.pooled) {
            (None, _) => Box::new(Exact(self)),
            (Some(_), Some(pooled)) => {
                let options = PooledOptions::default();
                Box::new(PooledEvidence::new(self, &pooled.pools, options))
            }
            (Some(method), None) => Box::new(SiteEvidence::new(self, self.site_options(method))),
        }
    }

    /// Whether another approximation can take the place of expectation propagation.
    pub fn may_fall_back(&self) -> bool {
        self.method == Some(Method::Ep) && self.pooled.is_none() && self.sparse.is_none()
    }

    /// The variational lower bound of the evidence, from the sites of expectation propagation on;
    /// `None` where there is no second latent function, or where the evidence is that bound itself.
    ///
    /// # Errors
    /// [`FitError::NotConverged`] where the sites are far from rest: it is a bound at any, but then
    /// says little; those of [`condition_sites`].
    pub fn certificate(&self, theta: &[f64]) -> Option<Result<f64, FitError>> {
        if !self.may_fall_back() {
            return None;
        }
        self.seconds.prior()?;
        let bound = || {
            let mut options = self.site_options(Method::Ep);
            options.tolerance = CERTAIN;
            options.is_coarse = true;
            let fit = condition_sites(self, theta, &options)?;
            let is_good = fit.found.converged && !fit.is_adrift(self);
            // Few nodes cut off what noise near zero would cost: that is no bound.
            options.is_coarse = false;
            options.method = Method::Variational;
            options.sweeps = BOUND_SWEEPS;
            (options.start, options.start_second) = match is_good {
                true => (fit.found.sites, fit.found.second),
                false => Default::default(),
            };
            let fit = condition_sites(self, theta, &options)?;
            let (sweeps, residual) = (fit.found.sweeps, fit.found.residual);
            if residual <= NEAR_REST && fit.log_evidence.is_finite() {
                return Ok(fit.log_evidence);
            }
            Err(FitError::NotConverged {
                method: Method::Variational.name(),
                sweeps,
                residual,
            })
        };
        Some(bound())
    }

    /// Lets searches begin at values of the hyperparameters, those of the same names.
    pub fn start_at(&mut self, known: &[(String, f64)]) {
        for parameter in self.parameters.iter_mut().filter(|p| !p.fixed) {
            if let Some((_, value)) = known.iter().find(|(name, _)| *name == parameter.name) {
                parameter.start = *value;
            }
        }
        self.anchor = OnceLock::new();
    }

    /// The hyperparameters by name.
    pub fn named(&self, theta: &[f64]) -> Vec<(String, f64)> {
        let pairs = self.parameters.iter().zip(theta);
        pairs.map(|(p, value)| (p.name.clone(), *value)).collect()
    }

    /// Settings of a search for sites, begun at the anchor.
    fn site_options(&self, method: Method) -> SiteOptions {
        let anchor = self.anchor.get_or_init(|| {
            let start: Vec<f64> = self.parameters.iter().map(|p| p.start).collect();
            let fit = converge(self, &start, &SiteOptions::new(method));
            fit.map(|fit| [fit.found.sites, fit.found.second])
                .unwrap_or_default()
        });
        let mut options = SiteOptions::new(method);
        let [first, second] = anchor;
        options.start.clone_from(first);
        options.start_second.clone_from(second);
        options
    }

    /// Whether the sites converge at the starts of the hyperparameters; exact inference always
    /// does.
    pub fn converges(&self) -> bool {
        let Some(method) = self.method else {
            return true;
        };
        if self.pooled.is_some() || self.sparse.is_some() {
            // There is no other method to turn to.
            return true;
        }
        !self.site_options(method).start.is_empty()
    }

    /// The tables of an output, in order.
    pub fn tables_of(&self, output: usize) -> impl Iterator<Item = usize> + '_ {
        let own = move |t: &usize| self.output_of_table[*t] == output;
        (0..self.likelihoods.len()).filter(own)
    }

    /// What the rows of a table report, with the noise of their rounding.
    pub fn likelihood(&self, table: usize) -> &Likelihood {
        &self.likelihoods[table]
    }

    /// What to say when supports were integrated more coarsely than the kernel needs.
    pub fn quadrature_warning(&self, theta: &[f64]) -> Option<String> {
        if self.sparse.is_some() {
            return None;
        }
        if let Some(pooled) = &self.pooled {
            return pooled.warning(&self.covariance, theta);
        }
        if let Some(ratio) = self.covariance.coarseness(theta, &self.supports) {
            return Some(format!(
                "some boxes are too wide for the quadrature of kernels that share columns: panels are {ratio:.1} times as long as the kernel needs, or its kinks are cut through; prefer products of kernels on separate columns"
            ));
        }
        // Below this the noise of any data hides it.
        let error = self.covariance.region_error(theta, &self.supports);
        error.filter(|e| *e > 1e-5).map(|error| {
            format!(
                "variances of regions under `{}` are known to about {error:.0e} only: the kernel is rough, or its lengthscales are far below the size of the regions, and it has no rule on boundaries; one leaf over both coordinates has one, as `matern32(x, y)`, or one leaf for each, as `matern32(x) * se(y)`",
                self.kernel
            )
        })
    }

    /// The inference in a word.
    pub fn inference_name(&self) -> &'static str {
        match (&self.sparse, self.method) {
            (Some(_), _) => "sparse",
            (None, method) => method.map_or("exact", Method::name),
        }
    }

    /// How the covariance is represented, in a word.
    pub fn structure(&self) -> &'static str {
        if self.sparse.is_some() {
            return "inducing points";
        }
        if self.pooled.is_some() {
            return "nodes";
        }
        if self.is_grid() { "kronecker" } else { "dense" }
    }
}
