//! The laws of a count behind a row: given the function as the fit believes it, and by the row's
//! own likelihood.

use super::beliefs::{BeliefComponent, Beliefs, NODES, REACH, node};
use super::cells::CountDistribution;
use super::told::ReportedValue;
use super::value_distribution::ValueDistribution;
use crate::likelihood::local::Belief;
use crate::special::scalar::{log_sum_exp, normal_pdf};

/// Fewest and most values of the function where a row's own likelihood weighs them. Its edges may
/// be several times as steep as what is known with it is wide.
const OF_ROW: (usize, usize) = (81, 601);
/// Two ways to tell a sum differ where they do by more than so many standard errors.
const BY_CHANCE: f64 = 3.0;
/// Values of the function whose log density lies so many nats below the largest say nothing
/// (1e-11).
const NOTHING: f64 = 25.0;

impl Beliefs<'_> {
    /// The mean of a count at a value of the function.
    fn count_mean(&self, f: f64, exposure: f64) -> f64 {
        exposure * self.link.map_or(f, |link| link.value(f))
    }

    /// As [`Self::count_laws`], weighted by cavity and likelihood of the row in place of the normal
    /// belief that the fit has of both together, or from draws; none for a total after a link, and
    /// where no cavity was found.
    fn count_laws_of_row(
        &self,
        i: usize,
        part: &BeliefComponent,
        exposure: f64,
    ) -> Option<Vec<CountDistribution>> {
        if !self.is_simple || part.sd == 0.0 {
            return None;
        }
        if self.are_draws_better {
            return self.drawn_laws(i, part, exposure);
        }
        let cavity = self.cavity(i, part)?;
        let (row, local) = (self.rows[i].0, self.likelihood.local());
        let log = |f: f64| {
            let z = (f - cavity.mean) / cavity.variance.sqrt();
            local.log_density(&part.own, row, f).value - 0.5 * z * z
        };
        let (low, high) = reach(part, &cavity, log)?;
        let span = (high - low) / part.sd;
        let wanted = self.fineness(part, exposure) * span / (2.0 * REACH);
        let count = wanted.clamp(OF_ROW.0 as f64, OF_ROW.1 as f64) as usize;
        let step = (high - low) / (count - 1) as f64;
        let at: Vec<f64> = (0..count).map(|k| low + step * k as f64).collect();
        let logs: Vec<f64> = at.iter().map(|&f| log(f)).collect();
        let total = log_sum_exp(&logs);
        if !total.is_finite() {
            return None;
        }
        let dispersion = self.dispersion(&part.own);
        let laws = at.into_iter().zip(logs).map(|(f, log)| CountDistribution {
            weight: part.weight * (log - total).exp(),
            mean: self.count_mean(f, exposure),
            dispersion,
        });
        Some(laws.filter(|law| law.weight > 0.0).collect())
    }

    /// The same from draws.
    fn drawn_laws(
        &self,
        i: usize,
        part: &BeliefComponent,
        exposure: f64,
    ) -> Option<Vec<CountDistribution>> {
        let shared = (part.weight, self.dispersion(&part.own));
        Some(self.drawn.as_ref()?[part.node].laws(i, exposure, shared))
    }

    /// Whether draws at the heaviest hyperparameters tell the sum of the rows' expected counts
    /// otherwise than cavities and likelihoods do, by more than chance. Where each row is open by
    /// itself a cavity is exact, and draws have their chance; rows that are open together are known
    /// by draws alone.
    pub fn do_draws_differ(&self) -> bool {
        let Some(drawn) = self.drawn.as_ref().and_then(|nodes| nodes.first()) else {
            return false;
        };
        let mut by_cavities = 0.0;
        let mut each_draw = vec![0.0; drawn.weights.len()];
        for i in 0..self.rows.len() {
            let ReportedValue::Count { exposure, .. } = self.rows[i].1 else {
                continue;
            };
            let Some(part) = self.parts(i).into_iter().next() else {
                continue;
            };
            let part = BeliefComponent {
                weight: 1.0,
                ..part
            };
            let laws = self.count_laws_of_row(i, &part, exposure);
            let Some(laws) = laws else {
                continue;
            };
            by_cavities += laws.iter().map(|law| law.weight * law.mean).sum::<f64>();
            for (sum, average) in each_draw.iter_mut().zip(&drawn.averages[i]) {
                *sum += exposure * average;
            }
        }
        let (by_draws, chance) = mean_and_error(&drawn.weights, &each_draw);
        (by_cavities - by_draws).abs() > BY_CHANCE * chance
    }

    /// How many values of the function a component takes so that steps are as fine as a count tells
    /// values of the function apart.
    fn fineness(&self, part: &BeliefComponent, exposure: f64) -> f64 {
        let mean = |z: f64| self.count_mean(part.mean + z * part.sd, exposure);
        let [low, middle, high] = [-1.0, 0.0, 1.0].map(mean);
        let sd = (middle * (1.0 + self.dispersion(&part.own) * middle)).sqrt();
        NODES.0 as f64 * (high - low).abs() / sd.max(f64::MIN_POSITIVE)
    }

    /// The laws of a count, over values of the function that stand for a component.
    fn count_laws(&self, part: &BeliefComponent, exposure: f64) -> Vec<CountDistribution> {
        let dispersion = self.dispersion(&part.own);
        let law = |f: f64, weight: f64| CountDistribution {
            weight,
            mean: self.count_mean(f, exposure),
            dispersion,
        };
        if part.sd == 0.0 {
            return vec![law(part.mean, part.weight)];
        }
        let wanted = self.fineness(part, exposure);
        let count = wanted.clamp(NODES.0 as f64, NODES.1 as f64) as usize | 1;
        let step = 2.0 * REACH / (count - 1) as f64;
        let nodes = (0..count).map(|at| node(at, count));
        nodes
            .map(|z| law(part.mean + part.sd * z, part.weight * step * normal_pdf(z)))
            .collect()
    }

    /// The laws of a count by the row's own likelihood; none where the fit's belief stays as it is.
    pub fn laws_of_row(
        &self,
        i: usize,
        parts: &[BeliefComponent],
    ) -> Option<Vec<CountDistribution>> {
        let ReportedValue::Count { exposure, .. } = self.rows[i].1 else {
            return None;
        };
        let laws = parts.iter();
        let laws = laws.map(|part| self.count_laws_of_row(i, part, exposure));
        laws.collect::<Option<Vec<_>>>().map(|laws| laws.concat())
    }

    /// The law of draws of a count given draws of the function, as the fit has them.
    pub fn law_of_draws(&self, i: usize, parts: &[BeliefComponent]) -> ValueDistribution {
        let ReportedValue::Count {
            lower,
            upper,
            exposure,
        } = self.rows[i].1
        else {
            return self.law(i);
        };
        let laws = parts.iter().flat_map(|part| {
            self.drawn_laws(i, part, exposure)
                .unwrap_or_else(|| self.count_laws(part, exposure))
        });
        ValueDistribution::counts(lower, upper, &laws.collect::<Vec<_>>())
    }

    /// The law of draws of a count, and that of the count, where they differ: the fit has another
    /// belief of the function than the row's own likelihood gives, and no draws that heard it.
    pub fn laws_apart(&self, i: usize) -> Option<(ValueDistribution, ValueDistribution)> {
        if self.are_draws_better {
            return None;
        }
        let ReportedValue::Count { lower, upper, .. } = self.rows[i].1 else {
            return None;
        };
        let parts = self.parts(i);
        let own = ValueDistribution::counts(lower, upper, &self.laws_of_row(i, &parts)?);
        Some((self.law_of_draws(i, &parts), own))
    }
}

/// The mean of weighted values, and its standard error; those of no weight are not looked at.
fn mean_and_error(weights: &[f64], values: &[f64]) -> (f64, f64) {
    let heard = || weights.iter().zip(values).filter(|(w, _)| **w > 0.0);
    let mean: f64 = heard().map(|(w, x)| w * x).sum();
    let square: f64 = heard().map(|(w, x)| (w * (x - mean)).powi(2)).sum();
    (mean, square.sqrt())
}

/// Between which values of the function cavity times likelihood is worth anything; none where it is
/// no number anywhere.
fn reach(part: &BeliefComponent, cavity: &Belief, log: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
    let fine: Vec<f64> = (0..61)
        .map(|at| part.mean + part.sd * node(at, 61))
        .collect();
    let wide = 1.5 * cavity.variance.sqrt();
    let coarse: Vec<f64> = (0..121)
        .map(|at| cavity.mean + wide * node(at, 121))
        .collect();
    let [fine, coarse] = [fine, coarse].map(|at| {
        let step = at[1] - at[0];
        let logs = at.iter().map(|&f| log(f)).collect::<Vec<f64>>();
        (at, logs, step)
    });
    let logs = fine.1.iter().chain(&coarse.1).copied();
    let most = logs
        .filter(|log| log.is_finite())
        .fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return None;
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (at, logs, step) in [fine, coarse] {
        let kept = at
            .iter()
            .zip(&logs)
            .filter(|(_, log)| **log > most - NOTHING);
        for (f, _) in kept {
            if *f < low {
                low = f - step;
            }
            if *f > high {
                high = f + step;
            }
        }
    }
    (low < high).then_some((low, high))
}
