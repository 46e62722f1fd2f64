//! What the user says about single hyperparameters and about the fit.

use std::sync::Arc;

use crate::inference::sites::Method;
use crate::inference::sparse::{LogSum, Within};
use crate::parameter::PriorDensity;
use crate::progress::{Keeper, Progress, Silent};
use crate::support::Functionals;

/// The prior mean of the latent function.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Mean {
    /// Zero everywhere.
    Zero,
    /// A known constant.
    Fixed(f64),
    /// An unknown constant with a wide normal prior scaled from the data, integrated analytically
    /// together with the latent function. The default.
    #[default]
    Constant,
    /// An unknown constant and a line along every one of these columns,
    ///
    /// $$ m(x) = a + \sum_d b_d (x_d - c_d), $$
    ///
    /// with wide normal priors of all coefficients, integrated analytically together with the
    /// latent function (universal kriging). The columns need not be those of the kernel, and rows
    /// must give them; `c_d` is the average of the column over the rows, so that `a` is the level
    /// there. With several outputs each has coefficients of its own.
    ///
    /// The slopes are `mean.linear.<column>` in the summary and among settings: their priors are
    /// `N(0, (100 s / range)^2)` unless said otherwise, with `s` the spread of the values and
    /// `range` that of the column over the rows (10 in place of 100 where inference is sparse):
    /// that matters to no slope that rows tell of, see
    /// [`Posterior::slopes`](crate::model::Posterior::slopes).
    Linear(Vec<String>),
}

impl Mean {
    /// An unknown constant and lines along these columns, see [`Self::Linear`].
    #[must_use]
    pub fn linear<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        Self::Linear(columns.into_iter().map(Into::into).collect())
    }

    /// The columns along which it is a line.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        match self {
            Self::Linear(columns) => columns,
            Self::Zero | Self::Fixed(_) | Self::Constant => &[],
        }
    }
}

/// What the user says about one hyperparameter; whatever is left out comes from the data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Setting {
    /// Where the first optimiser start begins.
    pub start: Option<f64>,
    /// Like `start`, or the value itself when `fixed`.
    pub value: Option<f64>,
    /// Held at `value`.
    pub fixed: bool,
    /// Prior density.
    pub prior: Option<PriorDensity>,
    /// Lower bound.
    pub lower: Option<f64>,
    /// Upper bound.
    pub upper: Option<f64>,
}

impl Setting {
    /// Holds the hyperparameter at a value.
    #[must_use]
    pub fn fixed(value: f64) -> Self {
        Self {
            value: Some(value),
            fixed: true,
            ..Self::default()
        }
    }

    /// Replaces its prior.
    #[must_use]
    pub fn prior(prior: PriorDensity) -> Self {
        Self {
            prior: Some(prior),
            ..Self::default()
        }
    }

    /// Starts the optimiser at a value.
    #[must_use]
    pub fn start(value: f64) -> Self {
        Self {
            start: Some(value),
            ..Self::default()
        }
    }
}

/// What becomes of the hyperparameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hyperparameters {
    /// Integrated when there are at most [`AUTO_ROWS`] rows and [`AUTO_FREE`] free
    /// hyperparameters, else MAP.
    #[default]
    Auto,
    /// Type-II maximum a posteriori: one value.
    Map,
    /// Mixture over a lattice (up to three free) or a central composite design.
    Integrate,
}

/// How the rows condition the prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Inference {
    /// Exact where every row is Gaussian; else Laplace's method for sums behind a link, and
    /// expectation propagation, or the variational approximation where that does not converge.
    /// Through inducing points where rows are too many for these, and for many counts over boxes
    /// or regions where that tells the same.
    #[default]
    Auto,
    /// Exact: refused unless every row is Gaussian.
    Exact,
    /// One of the approximations, whatever the rows.
    Sites(Method),
    /// The variational approximation through inducing points, rows streamed in chunks: any rows, up
    /// to millions of points.
    Sparse,
}

/// Where the inducing points of [`Inference::Sparse`] lie.
#[derive(Debug, Clone, Default)]
pub enum Inducing {
    /// A hundred, or all distinct points where there are fewer, as [`Inducing::Number`] chooses
    /// them.
    #[default]
    Auto,
    /// So many of the points that rows look at, chosen by k-means++ in columns scaled by their
    /// standard deviations.
    Number(usize),
    /// The centre of what every row looks at; with several outputs as many points as there are
    /// rows, by k-means++.
    PerRow,
    /// These points, with the inputs of the kernel; of every output, where they do not name theirs.
    /// Repeats are left out.
    At(Box<Functionals>),
}

/// Most rows for which [`Hyperparameters::Auto`] integrates.
pub const AUTO_ROWS: usize = 400;
/// Most free hyperparameters for which [`Hyperparameters::Auto`] integrates.
pub const AUTO_FREE: usize = 10;
/// [`FitOptions::dear`] unless told otherwise.
const DEAR: f64 = 2e10;

/// How to fit.
#[derive(Clone)]
#[non_exhaustive]
pub struct FitOptions {
    /// How the rows condition the prior.
    pub inference: Inference,
    /// Where the inducing points lie, for [`Inference::Sparse`].
    pub inducing: Inducing,
    /// Whether inducing points are moved along all inputs to raise the bound of the evidence, in
    /// turn with learning the hyperparameters, for [`Inference::Sparse`].
    pub move_inducing: bool,
    /// What is put for expectations of sums after a link, for [`Inference::Sparse`].
    pub log_sum: LogSum,
    /// How covariances within a row enter, for [`Inference::Sparse`].
    pub within: Within,
    /// MAP or integrated.
    pub hyperparameters: Hyperparameters,
    /// Seed of the optimiser's starts.
    pub seed: u64,
    /// Number of optimiser starts, besides one for each free periodic lengthscale, and up to three
    /// for free periods, where they are two or more. Where rows are many they compete on fewer of
    /// them, and where a noise variance or a dispersion is a function on models in which it is a
    /// number; all rows and the function are then searched from the best.
    pub starts: usize,
    /// Threads; `None`: all. The result does not depend on it.
    pub threads: Option<usize>,
    /// Told of progress.
    pub progress: Option<Arc<dyn Progress + Send + Sync>>,
    /// Keeps where the search of [`Inference::Sparse`] stands, and may stop it.
    pub keeper: Option<Arc<dyn Keeper + Send + Sync>>,
    /// Points times squared inducing points from which on an easier problem goes first; tests lower
    /// it.
    pub(crate) dear: f64,
    /// Whether the bound of sparse inference alone tells the hyperparameters, even where dense
    /// inference of averages can; tests say so.
    pub(crate) by_bound: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            inference: Inference::Auto,
            inducing: Inducing::Auto,
            move_inducing: false,
            log_sum: LogSum::Matched,
            within: Within::default(),
            hyperparameters: Hyperparameters::Auto,
            seed: 1,
            starts: 6,
            threads: None,
            progress: None,
            keeper: None,
            dear: DEAR,
            by_bound: false,
        }
    }
}

impl FitOptions {
    /// Chooses how the rows condition the prior.
    #[must_use]
    pub fn with_inference(mut self, inference: Inference) -> Self {
        self.inference = inference;
        self
    }

    /// Chooses sparse inference and where its inducing points lie.
    #[must_use]
    pub fn with_inducing(mut self, inducing: Inducing) -> Self {
        self.inference = Inference::Sparse;
        self.inducing = inducing;
        self
    }

    /// Chooses sparse inference whose inducing points are moved to raise the bound of the evidence.
    ///
    /// Every move costs what some tens of evaluations of the bound do. It is worth that where few
    /// inducing points have to do.
    #[must_use]
    pub fn with_moved_inducing(mut self) -> Self {
        self.inference = Inference::Sparse;
        self.move_inducing = true;
        self
    }

    /// Chooses what sparse inference puts for expectations of sums after a link.
    #[must_use]
    pub fn with_log_sum(mut self, log_sum: LogSum) -> Self {
        self.log_sum = log_sum;
        self
    }

    /// Chooses how sparse inference takes covariances within a row.
    #[must_use]
    pub fn with_within(mut self, within: Within) -> Self {
        self.within = within;
        self
    }

    /// Chooses between MAP and integration.
    #[must_use]
    pub fn with_hyperparameters(mut self, hyperparameters: Hyperparameters) -> Self {
        self.hyperparameters = hyperparameters;
        self
    }

    /// Sets the seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of optimiser starts.
    #[must_use]
    pub fn with_starts(mut self, starts: usize) -> Self {
        self.starts = starts;
        self
    }

    /// Sets the number of threads.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets who keeps where a search of [`Inference::Sparse`] stands.
    #[must_use]
    pub fn with_keeper(mut self, keeper: Arc<dyn Keeper + Send + Sync>) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Sets who is told of progress.
    #[must_use]
    pub fn with_progress(mut self, progress: Arc<dyn Progress + Send + Sync>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Who is told of progress, if only one who ignores it.
    pub(crate) fn progress(&self) -> &dyn Progress {
        self.progress.as_deref().map_or(&Silent, |p| p)
    }

    /// Who keeps where a search stands, if anyone.
    pub(crate) fn keeper(&self) -> Option<&dyn Keeper> {
        self.keeper.as_deref().map(|k| k as &dyn Keeper)
    }
}

impl std::fmt::Debug for FitOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FitOptions")
            .field("inference", &self.inference)
            .field("inducing", &self.inducing)
            .field("move_inducing", &self.move_inducing)
            .field("log_sum", &self.log_sum)
            .field("within", &self.within)
            .field("hyperparameters", &self.hyperparameters)
            .field("seed", &self.seed)
            .field("starts", &self.starts)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}
