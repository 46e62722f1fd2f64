//! Many counts over boxes and regions, through inducing points.
//!
//! Sums behind a link are taken over nodes within the rows, and dense inference compares every pair
//! of nodes: a histogram of a thousand bins takes it a minute. Inducing points take a second, and
//! where they explain the function and counts are large enough for a normal belief, they tell the
//! same: evidences differ by hundredths of a nat, means by hundredths of an sd. There they take the
//! place of dense inference. Else, as with a rough kernel or long stretches without an event, the
//! nodes stay, where they are few enough.

use std::sync::Arc;
use std::time::Instant;

use super::Model;
use super::averages::OnlyStops;
use super::fit::is_wanted;
use crate::error::FitError;
use crate::inference::in_pool;
use crate::likelihood::Likelihood;
use crate::link::Link;
use crate::posterior::mixture::Posterior;
use crate::problem::assembly::Problem;
use crate::problem::pooled::Pooled;
use crate::problem::settings::{FitOptions, Hyperparameters, Inducing, Inference};

/// What is said where dense inference, whose draws tell stretches without an event, has no room.
const TOLD_ROUGHLY: &str = "events are so few in some stretches that a normal belief about the logarithm of their rate is rough there: intervals reach too high; coarser bins or an upper bound of the variance helps";

/// Rows and nodes within them from which on inducing points are tried: fewer take dense inference
/// a second or two, and its draws are good.
const MANY_ROWS: usize = 100;
const MANY_NODES: usize = 400;
/// Inducing points that are tried where the usual number leaves too much open.
const MORE: usize = 300;

impl Model {
    /// The posterior through inducing points, where dense inference was not asked for, would
    /// compare many nodes, and would tell the same. Where nodes are too many for dense inference it
    /// is also taken, with a warning, if stretches without an event are told roughly.
    ///
    /// # Arguments
    /// * `dense` - the problem as dense inference has it
    pub(super) fn fit_many_counts(
        &self,
        dense: &Problem,
        options: &FitOptions,
        started: Instant,
    ) -> Result<Option<Posterior>, FitError> {
        if options.inference != Inference::Auto || !self.has_many_counts(dense) {
            return Ok(None);
        }
        let is_too_large = dense.engine().check_size().is_err();
        // As dense inference would.
        let is_integrated = is_wanted(dense, options.hyperparameters);
        let hyperparameters = match is_integrated {
            true => Hyperparameters::Integrate,
            false => options.hyperparameters,
        };
        // What is kept of an unfinished fit is of the one that answers in the end.
        let keeper = options.keeper.clone();
        let quiet = keeper
            .clone()
            .map(|keeper| Arc::new(OnlyStops(keeper)) as _);
        let is_stopped = || keeper.as_ref().is_some_and(|keeper| keeper.is_stopped());
        for inducing in [options.inducing.clone(), Inducing::Number(MORE)] {
            let trial = FitOptions {
                keeper: quiet.clone(),
                hyperparameters,
                ..options.clone().with_inducing(inducing)
            };
            let mut found = match self.fit_sparse(&trial, started) {
                Ok(found) => found,
                Err(error) if is_stopped() => return Err(error),
                // Dense inference says what is wrong, if something is.
                Err(_) => return Ok(None),
            };
            if is_stopped() {
                return Ok(Some(found));
            }
            let is_whole_fit = found.summary.converged && found.summary.integrated == is_integrated;
            let explained = in_pool(options.threads.unwrap_or(0), || found.explained())?;
            let Some(explained) = explained.filter(|_| is_whole_fit) else {
                return Ok(None);
            };
            match (explained.is_whole, explained.is_nearly_normal) {
                (true, true) => return Ok(Some(found)),
                (true, false) if is_too_large => {
                    found.summary.warnings.push(TOLD_ROUGHLY.to_owned());
                    return Ok(Some(found));
                }
                // More inducing points may explain it.
                (false, is_nearly_normal) if is_nearly_normal || is_too_large => {}
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Whether rows are Poisson counts over one box or region each, behind `exp`, of many nodes.
    fn has_many_counts(&self, dense: &Problem) -> bool {
        let nodes = |pooled: &Pooled| pooled.demand.unwrap_or_else(|| pooled.pools.nodes());
        let is_many = dense
            .pooled()
            .is_some_and(|pooled| nodes(pooled) > MANY_NODES);
        let is_simple = dense.kernel().outputs().is_empty() && dense.seconds().each().is_empty();
        let mut tables = self.tables.iter();
        is_many
            && dense.rows() > MANY_ROWS
            && is_simple
            && !self.are_of_points()
            && tables.all(|table| {
                let (at, likelihood) = (table.supports(), table.likelihood());
                at.atom_count() == at.len()
                    && matches!(likelihood, Likelihood::Poisson(_))
                    && likelihood.mean_link() == Some(Link::Exp)
            })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::inference::sites::Method;
    use crate::kernel::Kernel;
    use crate::likelihood::Poisson;
    use crate::link::Link;
    use crate::model::{
        FitOptions, Hyperparameters, Inference, Mean, Model, Observations, Scale, Setting,
    };
    use crate::support::{Aggregate, Functionals};

    /// A histogram of `bins` over 50 units, of a smooth rate or of one peak far from its ends.
    fn histogram(bins: usize, kernel: &str, has_peak: bool) -> Model {
        of_lengthscale(Setting::fixed(3.0), bins, kernel, has_peak)
    }

    fn of_lengthscale(setting: Setting, bins: usize, kernel: &str, has_peak: bool) -> Model {
        let width = 50.0 / bins as f64;
        let ends = |i: usize| (width * i as f64, width * (i + 1) as f64);
        let ends: Vec<(f64, f64)> = (0..bins).map(ends).collect();
        let counts = ends.iter().enumerate().map(|(i, (low, high))| {
            let x = f64::midpoint(*low, *high);
            let rate = match has_peak {
                true => 40.0 * (-0.5 * ((x - 12.0) / 3.0).powi(2)).exp(),
                false => 40.0 * (x / 3.0).sin().exp(),
            };
            // Whole numbers about the mean, in a fixed order.
            (width * rate + ((7 * i) % 5) as f64 / 4.0 - 0.5)
                .round()
                .max(0.0)
        });
        let counts = Poisson::new(counts.collect(), vec![1.0; bins], Link::Exp).unwrap();
        let at = Functionals::intervals("x", &ends, Aggregate::Sum).unwrap();
        let lengthscale = format!("{}.lengthscale.x", kernel.split('(').next().unwrap());
        Model::new(Kernel::parse(kernel).unwrap())
            .mean(Mean::Fixed(3.0))
            .set(&lengthscale, setting)
            .observe(Observations::new(at, counts).unwrap())
    }

    #[test]
    fn inducing_points_tell_of_many_counts_what_nodes_do() {
        let model = histogram(320, "se(x)", false);
        let auto = model.fit(&FitOptions::default()).unwrap();
        assert_eq!(auto.summary().inference, "sparse");
        let nodes = FitOptions::default().with_inference(Inference::Sites(Method::Laplace));
        let dense = model.fit(&nodes).unwrap();
        let (a, b) = (auto.summary().log_evidence, dense.summary().log_evidence);
        // Laplace's method errs by hundredths of a nat for all rows together, as the bound does.
        assert!((a - b).abs() < 0.1, "{a} {b}");
        let at = Functionals::points("x", &[3.3, 17.0, 26.2, 44.9]).unwrap();
        let told = |posterior: &crate::model::Posterior| {
            let told = posterior.predict(&at, Scale::Response).unwrap();
            (told.mean().to_vec(), told.sd().to_vec())
        };
        let ((means, sds), (dense_means, dense_sds)) = (told(&auto), told(&dense));
        for i in 0..at.len() {
            // Four thousand draws, a tenth of which may carry the weight, tell a mean to a
            // twentieth of the sd, and an sd to some hundredths.
            assert!(
                (means[i] - dense_means[i]).abs() < 0.2 * dense_sds[i],
                "{i}"
            );
            assert!((sds[i] / dense_sds[i] - 1.0).abs() < 0.2, "{i}");
        }
        // The total of Poisson counts has their root for its sd.
        let all = Functionals::intervals("x", &[(0.0, 50.0)], Aggregate::Sum).unwrap();
        let total = auto.predict(&all, Scale::Response).unwrap();
        assert!((total.sd()[0] / total.mean()[0].sqrt() - 1.0).abs() < 0.02);
    }

    /// More bins than what they say of each other is taken from: nodes that were placed without
    /// regard to their ends told a sd 8 % too wide under a rough kernel.
    #[test]
    fn totals_of_very_many_counts_are_known_as_the_counts_are() {
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        for bins in [1_000, 2_500] {
            let posterior = histogram(bins, "matern32(x)", false).fit(&options).unwrap();
            assert_eq!(posterior.summary().inference, "sparse");
            let ends = [(0.0, 50.0), (10.01, 29.97)];
            let at = Functionals::intervals("x", &ends, Aggregate::Sum).unwrap();
            let totals = posterior.predict(&at, Scale::Response).unwrap();
            let over_root = |i: usize| totals.sd()[i] / totals.mean()[i].sqrt();
            assert!((over_root(0) - 1.0).abs() < 0.02, "{}", over_root(0));
            // What lies outside tells a little of a part as well.
            assert!((over_root(1) - 1.0).abs() < 0.03, "{}", over_root(1));
        }
    }

    #[test]
    fn hyperparameters_are_integrated_as_over_nodes() {
        let model = of_lengthscale(Setting::default(), 320, "se(x)", false);
        let auto = model.fit(&FitOptions::default()).unwrap();
        assert_eq!(auto.summary().inference, "sparse");
        let nodes = FitOptions::default().with_inference(Inference::Sites(Method::Laplace));
        let dense = model.fit(&nodes).unwrap();
        assert!(auto.summary().integrated && dense.summary().integrated);
        let intervals = auto.summary().hyperparameters.iter();
        for (own, other) in intervals.zip(&dense.summary().hyperparameters) {
            // Evidences that differ by a tenth of a nat move ends by some hundredths of a width.
            let ends = |h: &crate::model::Hyper| [h.lower.ln(), h.upper.ln()];
            let ([a, b], [c, d]) = (ends(own), ends(other));
            let off = (a - c).abs().max((b - d).abs());
            assert!(off < 0.1 * (d - c) || own.fixed, "{}: {off}", own.name);
        }
    }

    #[test]
    fn nodes_tell_of_what_inducing_points_do_not_explain() {
        // A rough function, and long stretches without an event.
        for (kernel, has_peak) in [("matern12(x)", false), ("se(x)", true)] {
            let posterior = histogram(320, kernel, has_peak).fit(&FitOptions::default());
            assert_eq!(
                posterior.unwrap().summary().inference,
                "laplace",
                "{kernel}"
            );
        }
    }

    #[test]
    fn more_bins_than_nodes_may_be_are_fitted() {
        let posterior = histogram(2500, "se(x)", false).fit(&FitOptions::default());
        assert_eq!(posterior.unwrap().summary().inference, "sparse");
        // As before where inducing points cannot answer.
        let rough = histogram(2500, "matern12(x)", false).fit(&FitOptions::default());
        assert!(rough.unwrap_err().to_string().contains("5000 points"));
    }
}
