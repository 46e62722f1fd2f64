//! Fits whose rows are in shards: parts of them in other processes or on other machines.
//!
//! The rows of the model that is fitted stand for all: the same bags, each with some of its points.
//! They choose default priors, starts and inducing points, and the coarse searches; up to 2,000
//! rows of points they learn the hyperparameters too, by averages, as in one process. The bound and
//! its derivatives come from the shards: every pass sends them the hyperparameters and the belief
//! about `M` inducing values, and gets sums of some `M^2` numbers back, which add up.
//!
//! ```
//! use std::sync::Arc;
//! use quadrat::kernel::Kernel;
//! use quadrat::likelihood::Poisson;
//! use quadrat::link::Link;
//! use quadrat::model::{FitOptions, Model, Observations, Shard, Shards, add_sums};
//! use quadrat::support::Functionals;
//!
//! /// Two shards in this process.
//! struct Here(Vec<Model>);
//! impl Shards for Here {
//!     fn sums(&self, outline: &[u8], pass: &[u8]) -> Result<Vec<u8>, String> {
//!         let one = |(i, model): (usize, &Model)| Shard::new(model, outline, 10 * i)?.sums(pass);
//!         let sums: Result<Vec<_>, _> = self.0.iter().enumerate().map(one).collect();
//!         add_sums(&sums.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
//!     }
//!     fn points(&self) -> usize { 20 }
//!     fn is_thinned(&self) -> bool { false }
//! }
//!
//! let model = |from: usize, to: usize| {
//!     let mut at = Functionals::new(vec!["x".into()]);
//!     (from..to).try_for_each(|i| at.push_point(&[i as f64]))?;
//!     let counts: Vec<f64> = (from..to).map(|i| (i % 4) as f64).collect();
//!     let counts = Poisson::new(counts, vec![1.0; to - from], Link::Exp)?;
//!     let rows = Observations::new(at, counts)?;
//!     Ok::<_, quadrat::error::InputError>(Model::new(Kernel::se(["x"])).observe(rows))
//! };
//! let shards = Here(vec![model(0, 10)?, model(10, 20)?]);
//! let options = FitOptions::default();
//! let posterior = model(0, 20)?.fit_in_shards(Arc::new(shards), &options)?;
//! assert!(posterior.summary().converged);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::Model;
use crate::error::{FitError, InputError};
use crate::inference::sites::Method;
use crate::inference::sparse::{self, LogSum, Pass, Sums, Within};
use crate::kernel::Kernel;
use crate::parameter::Parameter;
use crate::posterior::mixture::Posterior;
use crate::problem::assembly::Problem;
use crate::problem::mean::Means;
use crate::problem::outputs;
use crate::problem::seconds::Seconds;
use crate::problem::settings::{FitOptions, Inducing, Inference};
use crate::problem::sparse::{Sparse, SparseChoice};
use crate::problem::specified::Specified;
use crate::sealed;
use crate::support::Functionals;

/// What goes to shards and back begins so; the number rises with every change of it.
const MAGIC: &[u8] = b"quadrat-shard ";
const FORMAT: u32 = 1;

/// Whoever keeps the shards, and brings bytes to them and back.
pub trait Shards: Send + Sync {
    /// What [`Shard::sums`] gives of every shard, added by [`add_sums`] always in the same order.
    ///
    /// # Arguments
    /// * `outline` - what every shard needs besides its rows, see [`Shard::new`]; the same in every
    ///   pass of a fit
    /// * `pass` - what is asked for
    ///
    /// # Errors
    /// Why there are none, in words.
    fn sums(&self, outline: &[u8], pass: &[u8]) -> Result<Vec<u8>, String>;

    /// Points of all rows of all shards.
    fn points(&self) -> usize;

    /// Whether the rows of the model that is fitted have fewer points than those of the shards.
    fn is_thinned(&self) -> bool;
}

/// What a shard needs of the model besides its rows.
#[derive(Serialize, Deserialize)]
struct Outline {
    kernel: Kernel,
    /// Columns of the mean that the kernel is not over.
    spare: Vec<String>,
    mean: Means,
    parameters: Vec<Parameter>,
    own: Vec<Vec<usize>>,
    inducing: Functionals,
    form: LogSum,
    within: Within,
}

impl Outline {
    fn of(problem: &Problem, sparse: &Sparse) -> Self {
        Self {
            kernel: problem.kernel().clone(),
            spare: problem.kernel().spare().to_vec(),
            mean: problem.mean().clone(),
            parameters: problem.parameters().to_vec(),
            own: problem.tables().own.clone(),
            inducing: sparse.inducing().clone(),
            form: sparse.options.form,
            within: sparse.within,
        }
    }
}

/// A part of the rows, ready for passes.
pub struct Shard {
    problem: Problem,
}

impl Shard {
    /// # Arguments
    /// * `model` - with the rows of this shard, in the same tables as those of the whole model;
    ///   what it says of the prior does not count
    /// * `outline` - what [`Shards::sums`] was told
    /// * `before` - rows in the shards before this one, so that the points that are drawn from
    ///   large rows are those of one fit of all
    ///
    /// # Errors
    /// [`FitError::Shards`] for bytes that are no outline, or of other tables;
    /// [`FitError::Input`] for rows that cannot be used.
    pub fn new(model: &Model, outline: &[u8], before: usize) -> Result<Self, FitError> {
        let outline: Outline = read(outline, "what it was to begin with")?;
        let kernel = outline.kernel.with_spare(&outline.spare);
        if outline.own.len() != model.tables.len() {
            return Err(FitError::Shards {
                reason: format!(
                    "it has {} tables, and the whole model {}",
                    model.tables.len(),
                    outline.own.len()
                ),
            });
        }
        let tables = outputs::restrict(&kernel, &model.tables)?;
        let choice = SparseChoice {
            inducing: Inducing::At(Box::new(outline.inducing)),
            form: outline.form,
            within: outline.within,
            before,
            ..SparseChoice::default()
        };
        let specified = Specified::known(
            kernel,
            tables,
            outline.mean,
            outline.parameters,
            outline.own,
            Some(Method::Variational),
            Seconds::new(Vec::new(), &model.tables)?,
        );
        let sparse = Sparse::new(&specified, &choice)?;
        Ok(Self {
            problem: Problem::new(specified, Some(sparse)),
        })
    }

    /// The sums over these rows in one pass, as bytes; of some `M^2` numbers.
    ///
    /// # Errors
    /// [`FitError::Shards`] for bytes that are no pass of this fit; else as the whole pass.
    pub fn sums(&self, pass: &[u8]) -> Result<Vec<u8>, FitError> {
        let pass: Pass = read(pass, "the pass")?;
        let problem = self.problem.engine().streamed();
        let problem = problem.ok_or_else(|| unreadable("the pass"))?;
        let is_of_these = pass.theta.len() == problem.parameters().len()
            && pass.belief.size() == problem.prior().inducing();
        if !is_of_these {
            return Err(unreadable("the pass"));
        }
        Ok(written(&sparse::sums(problem, &pass)?))
    }
}

/// Adds what [`Shard::sums`] gave, in this order.
///
/// # Errors
/// [`FitError::Shards`] for bytes that are no sums, of several fits, or none at all.
pub fn add_sums<S: AsRef<[u8]>>(sums: &[S]) -> Result<Vec<u8>, FitError> {
    let mut total: Option<Sums> = None;
    for one in sums {
        let one: Sums = read(one.as_ref(), "its sums")?;
        match &mut total {
            None => total = Some(one),
            Some(total) if total.is_like(&one) => total.add(&one),
            Some(_) => return Err(unreadable("its sums")),
        }
    }
    let total = total.ok_or_else(|| unreadable("its sums"))?;
    Ok(written(&total))
}

fn unreadable(what: &str) -> FitError {
    FitError::Shards {
        reason: format!("{what} cannot be read: all processes need the same version"),
    }
}

fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8], what: &str) -> Result<T, FitError> {
    let payload = sealed::open(MAGIC, FORMAT, bytes).map_err(|_| unreadable(what))?;
    postcard::from_bytes(payload).map_err(|_| unreadable(what))
}

fn written<T: Serialize>(value: &T) -> Vec<u8> {
    // Plain numbers and strings in memory always serialise.
    sealed::seal(
        MAGIC,
        FORMAT,
        &postcard::to_stdvec(value).unwrap_or_default(),
    )
}

/// Shards as inference asks them.
struct Asked {
    shards: Arc<dyn Shards>,
    outline: Vec<u8>,
    inducing: usize,
    parameters: usize,
}

impl sparse::Shards for Asked {
    fn sums(&self, pass: &Pass) -> Result<Vec<Sums>, String> {
        let bytes = self.shards.sums(&self.outline, &written(pass))?;
        let sums: Sums = read(&bytes, "its sums").map_err(|error| error.to_string())?;
        let wanted = Sums::none(pass.depth, self.inducing, self.parameters, 0);
        if !sums.is_like(&wanted) {
            return Err("its sums are not those that were asked for".to_owned());
        }
        Ok(vec![sums])
    }

    fn points(&self) -> usize {
        self.shards.points()
    }
}

impl Model {
    /// As [`Model::fit`] under [`Inference::Sparse`], where the rows are in shards and those of
    /// this model stand for them: the same rows in the same order, each with all or some of its
    /// points.
    ///
    /// The answer is that of one process up to rounding, however the rows are split. Where rows
    /// here have fewer points, default priors, starts and inducing points are read off these.
    ///
    /// # Errors
    /// [`FitError::Shards`] where a shard gives no answer; [`InputError::Unavailable`] for noise
    /// that varies and for inducing points that are to be moved; else those of [`Model::fit`].
    pub fn fit_in_shards(
        &self,
        shards: Arc<dyn Shards>,
        options: &FitOptions,
    ) -> Result<Posterior, FitError> {
        let started = Instant::now();
        let unavailable = |what| InputError::Unavailable {
            what,
            remedy: "leave it out, or fit all rows in one process",
        };
        if options.move_inducing {
            return Err(unavailable("moving inducing points of rows in shards").into());
        }
        let choice = SparseChoice::new(options);
        let mut problem = self.problem(Inference::Sparse, Some(&choice))?;
        if !problem.seconds().each().is_empty() {
            return Err(unavailable("noise or dispersion that varies, of rows in shards").into());
        }
        let (inducing, parameters) = (problem.supports().len(), problem.parameters().len());
        let Some(outline) = problem.sparse().map(|own| Outline::of(&problem, own)) else {
            return Err(unavailable("rows in shards without inducing points").into());
        };
        let outline = written(&outline);
        if let Some(sparse) = problem.sparse_mut() {
            sparse.is_thinned = shards.is_thinned();
            sparse.shards = Some(Arc::new(Asked {
                shards,
                outline,
                inducing,
                parameters,
            }));
        }
        self.learn_in_pool(problem, &choice, options, Vec::new(), started)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "shards_tests.rs"]
mod tests;
