//! Predictions of new rows at amounts of their own: exposures, trials, known noise.

use super::amounts::Amounts;
use super::mixture::Posterior;
use super::prediction::Prediction;
use crate::error::{FitError, InputError};
use crate::likelihood::Outcomes;
use crate::problem::observations::Observations;
use crate::problem::scale::Scale;
use crate::support::Functionals;

impl Posterior {
    /// Marginal predictions of counts at an exposure of every row, or of the means of such counts:
    /// of a rate per person the count among so many.
    ///
    /// # Arguments
    /// * `at`, `scale`, `table` - as for [`Self::predict_as`]; not [`Scale::Latent`], which knows
    ///   no exposure
    /// * `exposure` - above zero, shape `[m]`
    ///
    /// # Errors
    /// As [`Self::predict_as`]; [`InputError::Shape`], [`InputError::Range`];
    /// [`InputError::Unavailable`] where no counts are reported.
    pub fn predict_at_exposure(
        &self,
        at: &Functionals,
        scale: Scale,
        table: Option<usize>,
        exposure: Vec<f64>,
    ) -> Result<Prediction, FitError> {
        let amounts = Amounts {
            exposure,
            ..Amounts::default()
        };
        amounts.check(at.len(), scale)?;
        self.predict_seen(at, scale, table, amounts)
    }

    /// Marginal predictions of the successes among so many new trials of every row.
    ///
    /// # Arguments
    /// * `at`, `table` - as for [`Self::predict_as`]
    /// * `trials` - from 1 on, shape `[m]`
    ///
    /// # Errors
    /// As [`Self::predict_as`]; [`InputError::Shape`], [`InputError::Range`];
    /// [`InputError::Unavailable`] where no successes among trials are reported.
    pub fn predict_trials(
        &self,
        at: &Functionals,
        table: Option<usize>,
        trials: Vec<u64>,
    ) -> Result<Prediction, FitError> {
        let amounts = Amounts {
            trials,
            ..Amounts::default()
        };
        amounts.check(at.len(), Scale::Observation)?;
        self.predict_seen(at, Scale::Observation, table, amounts)
    }

    /// Marginal predictions of what given rows would report that the model has not seen: each at
    /// its exposure, among its trials, and with the known part of its noise.
    ///
    /// What the rows did report is not looked at, so that predictions can be compared with it. The
    /// learned part of the noise, thresholds and dispersion are those of the table.
    ///
    /// # Arguments
    /// * `rows` - rows of the same likelihood as the table, at any supports
    /// * `table` - which table they are like, by its place among [`Self::observations`]
    ///
    /// # Errors
    /// As [`Self::predict_as`]; [`InputError::Unavailable`] for rows of another likelihood or
    /// output, and for rows without exposure or trials, which would report nothing.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::model::{FitOptions, Model, Noise, Observations};
    /// use quadrat::support::Functionals;
    ///
    /// let table = |x: &[f64], y: Vec<f64>, v: Vec<f64>| {
    ///     Observations::gaussian(Functionals::points("x", x)?, y, Noise::Known(v))
    /// };
    /// let seen = table(&[0.0, 1.0, 2.0], vec![1.0, 2.0, 1.5], vec![0.1, 0.2, 0.1])?;
    /// let posterior = Model::new(Kernel::se(["x"])).observe(seen).fit(&FitOptions::default())?;
    /// let held_out = table(&[1.5, 1.5], vec![1.8, 1.8], vec![0.1, 4.0])?;
    /// let p = posterior.predict_rows(&held_out, 0)?;
    /// assert_eq!(p.mean()[0], p.mean()[1]);
    /// assert!((p.sd()[1].powi(2) - p.sd()[0].powi(2) - 3.9).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn predict_rows(&self, rows: &Observations, table: usize) -> Result<Prediction, FitError> {
        let like = self.tables.get(table).ok_or(OTHER_ROWS)?;
        if like.likelihood().name() != rows.likelihood().name() || like.output != rows.output {
            return Err(OTHER_ROWS.into());
        }
        let amounts = own_amounts(rows)?;
        let at = match &rows.output {
            Some(output) => &self.at_output(rows.supports(), output)?,
            None => rows.supports(),
        };
        self.predict_seen(at, Scale::Observation, Some(table), amounts)
    }
}

const OTHER_ROWS: InputError = InputError::Unavailable {
    what: "a prediction of rows of another likelihood or output than the table",
    remedy: "name the table that they are like",
};

const NOTHING_TO_REPORT: InputError = InputError::Unavailable {
    what: "a prediction of a row without exposure or trials",
    remedy: "leave such rows out: they report nothing",
};

/// The exposures, trials and known noise variances of some rows.
fn own_amounts(rows: &Observations) -> Result<Amounts, InputError> {
    let likelihood = rows.likelihood();
    let mut amounts = Amounts::default();
    match likelihood.outcomes() {
        Outcomes::Counts(counts) => amounts.exposure = counts.exposure.to_vec(),
        Outcomes::Successes { trials, .. } => {
            amounts.trials = trials.iter().map(|n| *n as u64).collect();
        }
        Outcomes::Values(_)
        | Outcomes::Intervals(_)
        | Outcomes::Answers(_)
        | Outcomes::Ranks(_)
        | Outcomes::Bounds => amounts.variance = likelihood.known_variance().unwrap_or_default(),
    }
    let is_nothing = amounts.exposure.contains(&0.0) || amounts.trials.contains(&0);
    match is_nothing {
        true => Err(NOTHING_TO_REPORT),
        false => Ok(amounts),
    }
}
