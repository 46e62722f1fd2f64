//! Fitting through inducing points.

use std::time::Instant;

use super::Model;
use super::correlation::correlations;
use super::fit::{hypers, mean_hypers, warn_about_bounds};
use super::posterior::{Component, Node, Posterior};
use super::settings::{FitOptions, Hyperparameters};
use super::sparse::SparseChoice;
use super::summary::FitSummary;
use crate::error::{FitError, InputError};
use crate::inference::in_pool;
use crate::inference::sparse::learn_sparse;
use crate::progress::{Progress, Silent};

impl Model {
    /// [`Model::fit`] under [`super::Inference::Sparse`].
    pub(super) fn fit_sparse(
        &self,
        options: &FitOptions,
        started: Instant,
    ) -> Result<Posterior, FitError> {
        if options.hyperparameters == Hyperparameters::Integrate {
            return Err(InputError::Unavailable {
                what: "integration of the hyperparameters in sparse inference",
                remedy: "use hyperparameters = \"map\"",
            }
            .into());
        }
        let choice = SparseChoice {
            inducing: options.inducing.clone(),
            form: options.log_sum,
            within: options.within,
            seed: options.seed,
        };
        let problem = self.problem(options.inference, Some(&choice))?;
        in_pool(options.threads.unwrap_or(0), || {
            self.learn_streamed(problem, options, started)
        })
    }

    fn learn_streamed(
        &self,
        problem: super::Problem,
        options: &FitOptions,
        started: Instant,
    ) -> Result<Posterior, FitError> {
        let silent = Silent;
        let progress: &dyn Progress = options.progress.as_deref().map_or(&silent, |p| p);
        let Some(streamed) = problem.streamed() else {
            return Err(InputError::Empty.into());
        };
        let learned = learn_sparse(&streamed, &streamed.sparse.options, progress, None)?;
        let optimum = learned.optimum;
        let mut warnings = Vec::new();
        if !optimum.converged {
            warnings.push(format!(
                "learning the hyperparameters did not converge: {}",
                optimum.reason
            ));
        }
        let inducing = streamed.sparse.inducing().len();
        if inducing < streamed.sparse.asked {
            warnings.push(format!(
                "{} inducing points were asked for, but the rows look at {inducing} different points only: all were taken",
                streamed.sparse.asked
            ));
        }
        let sampled = streamed.sparse.sampled_rows();
        if sampled > 0 {
            let within = streamed.sparse.within;
            warnings.push(format!(
                "{sampled} rows have more than {} points: covariances within them are those of {} points each",
                within.full, within.sample
            ));
        }
        warn_about_bounds(
            &problem.parameters,
            &optimum.theta,
            &optimum.at_bound,
            &mut warnings,
        );
        let intervals = if learned.has_curvature {
            optimum.intervals(&problem.parameters, 0.95)?
        } else {
            warnings.push(
                "intervals of the hyperparameters were not computed: their curvature would take longer than the fit"
                    .to_owned(),
            );
            Vec::new()
        };
        let component = Component {
            weight: 1.0,
            theta: optimum.theta.clone(),
            conditioned: problem.condition(&optimum.theta)?,
        };
        let node = Node {
            weight: 1.0,
            theta: optimum.theta.clone(),
            log_evidence: component.conditioned.log_evidence,
        };
        let components = vec![component];
        let mut hyperparameters = hypers(&problem.parameters, &optimum.theta, &intervals);
        hyperparameters.extend(mean_hypers(&problem, &components));
        let summary = FitSummary {
            inference: problem.inference_name().into(),
            structure: problem.structure().into(),
            converged: optimum.converged,
            log_evidence: optimum.log_evidence,
            log_posterior: optimum.log_posterior,
            evidence: "elbo".into(),
            hyperparameters,
            integrated: false,
            nodes: 1,
            rows: crate::inference::LinearGaussian::rows(&problem),
            iterations: optimum.iterations,
            evaluations: optimum.evaluations,
            seconds: 0.0,
            jitter: 0.0,
            correlations: correlations(&problem, &optimum)?,
            warnings,
        };
        let tables = self.tables.clone();
        let mut posterior = Posterior::new(problem, tables, vec![node], components, summary);
        posterior.summary.seconds = started.elapsed().as_secs_f64();
        Ok(posterior)
    }
}
