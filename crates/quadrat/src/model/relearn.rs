//! Learning the hyperparameters of a posterior again, from all rows that it has by now.

use std::time::Instant;

use super::coarse_to_fine::compete;
use super::conclude::{SearchOutcome, conclude};
use super::fit::{is_integrated, learning};
use crate::error::{FitError, InputError};
use crate::inference::in_pool;
use crate::posterior::mixture::Posterior;
use crate::problem::settings::FitOptions;

impl Posterior {
    /// Learns the hyperparameters again, from the rows of the fit and those that
    /// [`Self::condition`] added.
    ///
    /// Priors, bounds and the way of inference stay those of the fit: also priors that were chosen
    /// by its rows. The search begins at the most probable values so far, and at the starts of the
    /// fit, as many as the options say. Of the options `starts`, `seed`, `hyperparameters`,
    /// `threads` and `progress` count; with [`Hyperparameters::Auto`](super::Hyperparameters::Auto)
    /// they are integrated as in a fit of so many rows.
    ///
    /// It does less than a fit: it looks for no new cycles, takes no other approximation where the
    /// one of the fit does not converge, and does not look whether exact rows that were added leave
    /// the evidence rough. The summary has the warnings of this search; what a fit warned of its
    /// rows (left out since they follow from others, counted once) is in the summary of that fit.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for inducing points, whose places belong to the rows of the fit;
    /// as [`Model::fit`](super::Model::fit).
    ///
    /// # Examples
    /// Rows that vary faster than those of the fit shorten the lengthscale:
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::model::{FitOptions, Model, Noise, Observations};
    /// use quadrat::support::Functionals;
    ///
    /// let wave = |xs: &[f64]| -> Result<Observations, Box<dyn std::error::Error>> {
    ///     let mut at = Functionals::new(vec!["x".into()]);
    ///     for x in xs {
    ///         at.push_point(&[*x])?;
    ///     }
    ///     let values = xs.iter().map(|x| x.sin()).collect();
    ///     Ok(Observations::gaussian(at, values, Noise::Known(vec![0.01; xs.len()]))?)
    /// };
    /// let few = Model::new(Kernel::se(["x"])).observe(wave(&[0.0, 3.1, 6.3, 9.4])?);
    /// let posterior = few.fit(&FitOptions::default())?;
    /// let posterior = posterior.condition(wave(&[1.6, 4.7, 7.9])?)?;
    /// let again = posterior.relearn(&FitOptions::default())?;
    /// let length = |p: &quadrat::model::Posterior| p.summary().hyperparameters[1].value;
    /// assert!(length(&again) < length(&posterior));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn relearn(&self, options: &FitOptions) -> Result<Self, FitError> {
        let started = Instant::now();
        if self.problem.sparse().is_some() {
            return Err(InputError::Unavailable {
                what: "learning again where inference is through inducing points",
                remedy: "fit the model with all rows: inducing points follow them; where they were chosen for counts over areas, `method = \"laplace\"` can learn again",
            }
            .into());
        }
        let problem = self.problem.with_tables(&self.tables)?;
        problem.engine().check_size()?;
        // Another start, and not that of the parameters: bounds that were not given lie around it.
        let so_far = self.nodes.first().map(|heaviest| heaviest.theta.clone());
        let progress = options.progress();
        let integrated = is_integrated(&problem, options.hyperparameters)?;
        let mut again = in_pool(options.threads.unwrap_or(0), || {
            let learn = learning(&problem, options, progress);
            let optimum = compete(&problem, &learn, so_far.into_iter().collect())?;
            let found = SearchOutcome {
                evaluations: optimum.evaluations,
                optimum,
                integrated,
                settings: None,
                progress,
                keeper: None,
                started,
            };
            conclude(problem, self.tables.clone(), found)
        })?;
        again.notes.clone_from(&self.notes);
        again.left_out.clone_from(&self.left_out);
        Ok(again)
    }
}
