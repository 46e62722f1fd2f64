//! The model as inference sees it: an engine with its prior and rows.

use std::sync::Arc;

use super::engine::Engine;
use super::engine::exact::ExactEngine;
use super::engine::latents::Latents;
use super::engine::pooled::PooledEngine;
use super::engine::sites::SitesEngine;
use super::engine::sparse::SparseEngine;
use super::mean::Means;
use super::normal_rows::NormalRows;
use super::observations::Observations;
use super::outputs;
use super::pooled::{Pooled, is_pooled};
use super::prior::Prior;
use super::seconds::Seconds;
use super::sparse::{Sparse, SparseChoice};
use super::specified::{Specified, Taken};
use super::tables::Tables;
use crate::error::{FitError, InputError};
use crate::inference::pooled::Draws;
use crate::inference::sites::{Block, Method, Parted};
use crate::inference::{Conditioned, Converged, Evidence};
use crate::kernel::Kernel;
use crate::likelihood::Likelihood;
use crate::linalg::Mat;
use crate::parameter::Parameter;
use crate::support::Functionals;

/// A model ready for inference.
pub(crate) struct Problem {
    engine: Box<dyn Engine>,
    /// `order[k]` is the user's row at place `k` of the working order.
    pub order: Vec<usize>,
    /// Where searches with several starts also begin, all parameters.
    pub besides: Vec<Vec<f64>>,
    /// Further starts, with learned periods at peaks of the rows' periodogram, the highest first.
    pub cycles: Vec<Vec<f64>>,
    /// The same model, dense, over the nodes of its sums after a link where inference is sparse,
    /// or over its rows at points: its weighted draws answer predictions.
    pub(super) drawn: Option<Box<Self>>,
}

impl Problem {
    /// The rows of a model, through `sparse` inducing points where there are any.
    pub fn new(model: Specified, sparse: Option<Sparse>) -> Self {
        let tables = model.tables.as_slice();
        let mut supports = Functionals::new(model.kernel.columns().to_vec());
        for table in tables {
            // Same columns by construction.
            let _ = supports.extend(table.supports());
        }
        let prior = Prior::new(model.kernel, model.mean, model.parameters);
        let rows = || NormalRows::new(tables, &model.own, &prior.mean.means(&supports));
        let of_tables = |own| Tables::new(&prior, tables, own, model.seconds);
        let is_sum = |table: &Observations| match model.taken {
            Taken::AsTheyAre => is_pooled(table),
            Taken::Sums => true,
            Taken::Averages => false,
        };
        let mut order: Vec<usize> = (0..supports.len()).collect();
        let engine: Box<dyn Engine> = if let Some(sparse) = sparse {
            let reports = of_tables(model.own);
            Box::new(SparseEngine::new(prior, reports, sparse))
        } else if tables.iter().any(is_sum) {
            let method = model.method.unwrap_or(Method::Laplace);
            let (kernel, parameters) = (&prior.kernel, &prior.parameters);
            let of_kernel = &prior.of_kernel;
            let (pooled, nodes) = Pooled::new(kernel, of_kernel, parameters, tables, supports);
            let reports = of_tables(model.own);
            let latents = Latents::new(prior, reports, nodes);
            Box::new(PooledEngine::new(latents, method, pooled))
        } else if let Some(method) = model.method {
            let typical = rows().values;
            let reports = of_tables(model.own);
            let mut latents = Latents::new(prior, reports, supports);
            if model.is_centred {
                latents = latents.centred(tables, &typical);
            }
            Box::new(SitesEngine::new(latents, method))
        } else {
            let rows = rows();
            let reports = of_tables(model.own);
            let engine;
            (engine, order) = ExactEngine::new(prior, reports, supports, rows, model.may_be_sharp);
            Box::new(engine)
        };
        Self {
            engine,
            order,
            besides: model.besides,
            cycles: model.cycles,
            drawn: None,
        }
    }

    /// The same prior on other tables: `tables` begins with those of this problem.
    pub fn with_tables(&self, tables: &[Observations]) -> Result<Self, InputError> {
        if self.engine.sparse().is_some() {
            return Err(InputError::Unavailable {
                what: "adding rows to a sparse posterior",
                remedy: "fit all rows together; where inducing points were chosen for counts over areas, `method = \"laplace\"` takes further rows",
            });
        }
        super::checks::links(tables)?;
        let restricted = outputs::restrict(self.kernel(), tables)?;
        let mut own = self.tables().own.clone();
        for table in &restricted[own.len()..] {
            let output = self.mean().output(table.supports(), 0);
            own.push(self.tables().own_of(table, output)?);
        }
        let is_exact = restricted.iter().all(|t| t.as_gaussian().is_some());
        let is_pooled = restricted.iter().any(is_pooled);
        let mut model = self.model_of(restricted, self.seconds().on(tables)?);
        model.own = own;
        // Rows that are not Gaussian cannot stay with exact inference.
        model.method = match is_pooled {
            true => Some(Method::Laplace),
            false => self.method().or((!is_exact).then_some(Method::Ep)),
        };
        Ok(Self::new(model, None))
    }

    /// The same problem by sites, in the order of the tables: latent values as they are, without
    /// the structure of a grid.
    #[cfg(feature = "mcmc")]
    pub fn in_table_order(&self, tables: &[Observations]) -> Result<Self, InputError> {
        let restricted = outputs::restrict(self.kernel(), tables)?;
        let mut model = self.model_of(restricted, self.seconds().on(tables)?);
        // With sites, rows are never reordered.
        model.method = self.method().or(Some(Method::Ep));
        model.is_centred = false;
        Ok(Self::new(model, None))
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
        let restricted = outputs::restrict(self.kernel(), tables)?;
        let model = self.model_of(restricted, self.seconds().on(tables)?);
        let sparse = sparse.map(|choice| Sparse::new(&model, choice));
        let sparse = sparse.transpose()?;
        Ok(Self::new(model, sparse))
    }

    /// The same problem over other nodes within the rows, where these are sums after a link and
    /// what was learned wants others; searches begin there.
    ///
    /// # Arguments
    /// * `tables` - the user's
    /// * `theta` - what was learned
    pub fn with_nodes_for(
        &self,
        tables: &[Observations],
        theta: &[f64],
    ) -> Result<Option<Self>, InputError> {
        let (kernel, parameters) = (self.kernel(), self.parameters());
        let of_kernel = &self.prior().of_kernel;
        let wants = |pooled: &Pooled| pooled.wants_others(kernel, of_kernel, parameters, theta);
        if !self.pooled().is_some_and(wants) {
            return Ok(None);
        }
        let restricted = outputs::restrict(kernel, tables)?;
        let mut model = self.model_of(restricted, self.seconds().on(tables)?);
        let free = model.parameters.iter_mut().zip(theta);
        for (parameter, value) in free.filter(|(parameter, _)| !parameter.fixed) {
            parameter.start = *value;
        }
        let placed = Self::new(model, None);
        Ok(placed.engine.check_size().is_ok().then_some(placed))
    }

    /// The same prior and method for other rows; searches begin at the starts alone.
    pub(super) fn model_of(&self, tables: Vec<Observations>, seconds: Seconds) -> Specified {
        Specified::known(
            self.kernel().clone(),
            tables,
            self.mean().clone(),
            self.parameters().to_vec(),
            self.tables().own.clone(),
            self.method(),
            seconds,
        )
    }

    /// The way of inference, with prior and rows.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    pub fn prior(&self) -> &Prior {
        self.engine.prior()
    }

    pub(super) fn prior_mut(&mut self) -> &mut Prior {
        self.engine.prior_mut()
    }

    pub fn tables(&self) -> &Tables {
        self.engine.tables()
    }

    pub fn kernel(&self) -> &Kernel {
        &self.prior().kernel
    }

    pub fn mean(&self) -> &Means {
        &self.prior().mean
    }

    pub fn parameters(&self) -> &[Parameter] {
        &self.prior().parameters
    }

    pub fn seconds(&self) -> &Seconds {
        &self.tables().seconds
    }

    /// What the prior covariance is of: rows; nodes within them; inducing points.
    pub fn supports(&self) -> &Functionals {
        self.engine.supports()
    }

    /// Where the rows looked, whatever stands for them.
    pub fn observed(&self) -> &Functionals {
        self.engine.observed()
    }

    /// Rows of all tables.
    pub fn rows(&self) -> usize {
        self.tables().rows()
    }

    /// The rows of every table, as inference asks them.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        self.tables().blocks()
    }

    /// What the rows of a table report, with the noise of their rounding.
    pub fn likelihood(&self, table: usize) -> &Likelihood {
        &self.tables().likelihoods[table]
    }

    /// How rows that are not Gaussian are treated; `None`: all are, and inference is exact.
    pub fn method(&self) -> Option<Method> {
        self.engine.method()
    }

    /// What rows see of nodes, where they are sums after a link in dense inference.
    pub fn pooled(&self) -> Option<&Pooled> {
        self.engine.pooled()
    }

    /// Points of the rows and inducing points, where inference is sparse.
    pub fn sparse(&self) -> Option<&Sparse> {
        self.engine.sparse()
    }

    pub fn sparse_mut(&mut self) -> Option<&mut Sparse> {
        self.engine.sparse_mut()
    }

    /// Prior covariance of the rows under the kernel, with the unknown means as columns beside it.
    pub fn parted(&self, theta: &[f64]) -> Parted {
        self.prior().parted(theta, self.supports())
    }

    /// `K_(rows, at)`, the unknown mean included; shape `[n, at.len()]`.
    pub fn cross(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        self.prior().cross(theta, self.supports(), at)
    }

    /// `K_(rows, at)` with the unknown means beside it.
    pub fn parted_cross(&self, theta: &[f64], at: &Functionals) -> Parted {
        self.prior().parted_cross(theta, self.supports(), at)
    }

    /// `K_(rows, at)` without the functions of exact inference, and these beside it.
    pub fn cross_apart(&self, theta: &[f64], at: &Functionals) -> Parted {
        self.prior().cross_apart(theta, self.supports(), at)
    }

    /// Conditions at one value of the hyperparameters; errors speak of the user's rows.
    pub fn condition(&self, theta: &[f64]) -> Result<Conditioned, FitError> {
        self.condition_with(theta, Draws::default())
    }

    /// As [`Self::condition`], with draws that meet what rows report of their sums after a link,
    /// where there are such rows.
    pub fn condition_with(&self, theta: &[f64], draws: Draws) -> Result<Conditioned, FitError> {
        self.with_draws(self.engine.condition(theta, draws), theta, draws)
    }

    /// As [`Self::condition_with`], where the iterations of the engine are known to have ended.
    pub fn condition_converged(
        &self,
        theta: &[f64],
        converged: &Converged,
        draws: Draws,
    ) -> Result<Conditioned, FitError> {
        let conditioned = self.engine.condition_converged(theta, converged, draws);
        self.with_draws(conditioned, theta, draws)
    }

    /// As [`Self::condition`], where the first rows are those of another problem, conditioned at
    /// the same hyperparameters; none where there is no way of less cost.
    pub fn condition_after(
        &self,
        theta: &[f64],
        first: &Self,
        conditioned: &Conditioned,
    ) -> Option<Conditioned> {
        let engine = first.engine.as_ref();
        self.engine.condition_after(theta, engine, conditioned)
    }

    fn with_draws(
        &self,
        conditioned: Result<Conditioned, FitError>,
        theta: &[f64],
        draws: Draws,
    ) -> Result<Conditioned, FitError> {
        let mut conditioned = conditioned.map_err(|error| self.in_user_rows(error))?;
        if self.drawn.is_some() {
            conditioned.lift = self.lift(theta, draws).map(Arc::new);
        }
        Ok(conditioned)
    }

    /// The evidence as a function of the hyperparameters.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for sparse inference, whose search is its own.
    pub fn evidence(&self) -> Result<Box<dyn Evidence + '_>, InputError> {
        self.engine.evidence().ok_or(InputError::Unavailable {
            what: "the evidence of sparse inference outside of its search",
            remedy: "choose dense inference",
        })
    }

    /// Lets searches begin at values of the hyperparameters, those of the same names.
    pub fn start_at(&mut self, known: &[(String, f64)]) {
        let parameters = self.prior_mut().parameters.iter_mut();
        for parameter in parameters.filter(|p| !p.fixed) {
            if let Some((_, value)) = known.iter().find(|(name, _)| *name == parameter.name) {
                parameter.start = *value;
            }
        }
    }

    /// Fixes all hyperparameters, and returns them as they were.
    pub fn hold_at(&mut self, theta: &[f64]) -> Vec<Parameter> {
        let parameters = &mut self.prior_mut().parameters;
        let free = parameters.clone();
        for (parameter, value) in parameters.iter_mut().zip(theta) {
            (parameter.start, parameter.fixed) = (*value, true);
        }
        free
    }

    /// Hyperparameters that were held, as they were before.
    pub fn release(&mut self, free: Vec<Parameter>) {
        self.prior_mut().parameters = free;
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
            FitError::Contradiction {
                row,
                partner,
                misfit,
            } => FitError::Contradiction {
                row: self.order[row],
                partner: self.order[partner],
                misfit,
            },
            other => other,
        }
    }
}
