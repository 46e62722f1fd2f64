//! The bound of the evidence as a function of the hyperparameters.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::collapsed::{collapsed, is_normal};
use super::pass::{Depth, Stream};
use super::settle::{SparseOptions, reduction, search};
use super::{Normal, SparseProblem};
use crate::error::FitError;
use crate::inference::{Conditioned, Evidence, Factor, Trail};
use crate::linalg::Mat;
use crate::parameter::Parameter;

/// Tolerance in nats while a search goes on that others will finish.
const ROUGH: f64 = 1e-3;
/// Points above which an evaluation is dear.
const DEAR: usize = 2000;

/// The bound at the best `q`, whose gradient is that at fixed `q`.
pub struct SparseEvidence<'a> {
    problem: &'a dyn SparseProblem,
    options: SparseOptions,
    is_normal: bool,
    passes: AtomicUsize,
}

impl<'a> SparseEvidence<'a> {
    /// The bound as a function of the hyperparameters.
    #[must_use]
    pub fn new(problem: &'a dyn SparseProblem, options: SparseOptions) -> Self {
        Self {
            problem,
            options,
            is_normal: is_normal(problem),
            passes: AtomicUsize::new(0),
        }
    }

    /// Passes over all rows so far.
    #[must_use]
    pub fn passes(&self) -> usize {
        self.passes.load(Ordering::Relaxed)
    }

    /// The best `q` and the bound there, and its gradient where wanted.
    pub(super) fn at(
        &self,
        theta: &[f64],
        trail: &mut Trail,
        with_gradient: bool,
    ) -> Result<(f64, Vec<f64>), FitError> {
        let mut options = self.options;
        if trail.is_rough {
            options.tolerance = options.tolerance.max(ROUGH);
        }
        let stream = Stream::new(self.problem, theta, options.form, options.memory)?;
        let start = trail
            .normal()
            .filter(|q| q.size() == self.problem.prior().inducing());
        let count = |passes: usize| {
            self.passes.fetch_add(passes, Ordering::Relaxed);
        };
        if self.is_normal {
            // Closed form: one step from anywhere, best from near.
            let near = match start {
                Some(near) => near.clone(),
                None => {
                    let wide = Normal::isotropic(self.problem.prior().inducing(), 1.0)?;
                    collapsed(&wide, &stream.run(&wide, Depth::Sites))?.0
                }
            };
            count(1 + usize::from(start.is_none()) + usize::from(with_gradient));
            let (best, value) = collapsed(&near, &stream.run(&near, Depth::Sites))?;
            let found = if with_gradient {
                let bound = stream.run(&best, Depth::All);
                (bound.value, bound.gradient)
            } else {
                (value, Vec::new())
            };
            trail.leave_normal(best);
            return Ok(found);
        }
        let found = search(&stream, self.problem, &options, start)?.converged()?;
        count(found.passes + usize::from(with_gradient));
        let gradient = if with_gradient {
            stream.run(&found.normal, Depth::All).gradient
        } else {
            Vec::new()
        };
        trail.leave_normal(found.normal);
        Ok((found.bound.value, gradient))
    }
}

impl Evidence for SparseEvidence<'_> {
    fn evaluate_along(
        &self,
        theta: &[f64],
        trail: &mut Trail,
    ) -> Result<(f64, Vec<f64>), FitError> {
        self.at(theta, trail, true)
    }

    fn value_along(&self, theta: &[f64], trail: &mut Trail) -> Result<f64, FitError> {
        Ok(self.at(theta, trail, false)?.0)
    }

    fn is_dear(&self) -> bool {
        self.problem.bags().points() > DEAR
    }

    fn parameters(&self) -> &[Parameter] {
        self.problem.parameters()
    }
}

/// The posterior at `theta`: that of the inducing points, in the form in which a dense prior is conditioned.
///
/// # Errors
/// As [`super::settle_sparse`].
pub fn condition_sparse(
    problem: &dyn SparseProblem,
    theta: &[f64],
    options: &SparseOptions,
    start: Option<&Normal>,
) -> Result<Conditioned, FitError> {
    let evidence = SparseEvidence::new(problem, *options);
    let mut trail = Trail::precise();
    if let Some(start) = start {
        trail.leave_normal(start.clone());
    }
    let (log_evidence, _) = evidence.at(theta, &mut trail, false)?;
    let normal = match trail.normal() {
        Some(normal) => normal.clone(),
        None => Normal::isotropic(problem.prior().inducing(), 1.0)?,
    };
    let stream = Stream::new(problem, theta, options.form, 0)?;
    let (root, excess) = reduction(&normal)?;
    let mut alpha = Mat::from_fn(normal.size(), 1, |i, _| normal.mean()[i]);
    stream.factor.half_solve_transpose_in_place(alpha.as_mut());
    Ok(Conditioned {
        alpha: alpha.col_as_slice(0).to_vec(),
        factor: Factor::Sparse {
            factor: stream.factor,
            root,
            excess,
        },
        log_evidence,
        jitter: 0.0,
        second: None,
    })
}
