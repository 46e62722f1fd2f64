//! Fitting through inducing points.

use std::time::Instant;

use super::Model;
use super::correlation::correlations;
use super::fit::{hypers, mean_hypers, warn_about_bounds};
use super::posterior::Scale;
use super::posterior::{Component, Node, Posterior};
use super::settings::{FitOptions, Hyperparameters};
use super::sparse::SparseChoice;
use super::summary::FitSummary;
use crate::error::{FitError, InputError};
use crate::inference::sparse::learn_sparse;
use crate::inference::{Factor, in_pool};
use crate::likelihood::Likelihood;
use crate::progress::{Keeper, Progress, Silent};

/// Mean counts from which on Poisson counts are judged, and what is too much of their variance.
const LARGE: f64 = 500.0;
const OVERDISPERSED: f64 = 3.0;
/// Excess of a posterior variance over the prior's that is told.
const WIDER: f64 = 0.01;

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
        mut problem: super::Problem,
        options: &FitOptions,
        started: Instant,
    ) -> Result<Posterior, FitError> {
        let silent = Silent;
        let progress: &dyn Progress = options.progress.as_deref().map_or(&silent, |p| p);
        let Some(streamed) = problem.streamed() else {
            return Err(InputError::Empty.into());
        };
        let keeper = options.keeper.as_deref().map(|k| k as &dyn Keeper);
        let learned = learn_sparse(&streamed, &streamed.sparse.options, progress, keeper)?;
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
        let (sampled, within) = (streamed.sparse.sampled_rows(), streamed.sparse.within);
        if sampled > 0 {
            warnings.push(format!(
                "{sampled} rows have more than {} points: covariances within them are those of {} points each",
                within.full, within.sample
            ));
        }
        // Conditioning goes on from where learning ended.
        if let Some(sparse) = &mut problem.sparse {
            sparse.found = Some(learned.normal);
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
        if let Factor::Sparse { excess, .. } = &component.conditioned.factor
            && *excess > WIDER
        {
            warnings.push(format!(
                "along some direction the data widen the belief about the function, by {:.1} % of its prior variance: predictions have the prior's there",
                100.0 * excess
            ));
        }
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
            evaluations: learned.passes,
            seconds: 0.0,
            jitter: 0.0,
            correlations: correlations(&problem, &optimum)?,
            warnings,
        };
        let tables = self.tables.clone();
        let mut posterior = Posterior::new(problem, tables, vec![node], components, summary);
        let told = posterior.overdispersion()?;
        posterior.summary.warnings.extend(told);
        posterior.summary.seconds = started.elapsed().as_secs_f64();
        Ok(posterior)
    }
}

impl Posterior {
    /// What to say of large Poisson counts that lie farther from their fitted means than such counts do.
    fn overdispersion(&self) -> Result<Vec<String>, FitError> {
        let mut told = Vec::new();
        for (t, table) in self.tables.iter().enumerate() {
            let Likelihood::Poisson(counts) = table.likelihood() else {
                continue;
            };
            let exact = |row: &usize| counts.lower()[*row] == counts.upper()[*row];
            let rows: Vec<usize> = (0..counts.lower().len()).filter(exact).collect();
            let size = rows.len() as f64;
            let mean = rows.iter().map(|&row| counts.lower()[row]).sum::<f64>() / size;
            if rows.is_empty() || mean < LARGE {
                continue;
            }
            let at = table.supports().rows(&rows);
            let at = match table.output() {
                Some(output) => self.at_output(&at, output)?,
                None => at,
            };
            let seen = self.predict(&at, Scale::Response)?;
            let pearson = rows.iter().zip(seen.mean()).map(|(&row, per_exposure)| {
                let fitted = counts.exposure()[row] * per_exposure;
                (counts.lower()[row] - fitted).powi(2) / fitted.max(f64::MIN_POSITIVE)
            });
            let dispersion = pearson.sum::<f64>() / size;
            if dispersion > OVERDISPERSED {
                told.push(format!(
                    "table {}: counts of {mean:.0} on average lie {dispersion:.1} times as far from their fitted means, in squares, as Poisson counts do, so that intervals are too narrow: use `negative_binomial`",
                    t + 1
                ));
            }
        }
        Ok(told)
    }
}
