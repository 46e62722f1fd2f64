//! Settings of a population of its own, where few of those of all populations explain it.
//!
//! Populations share settings, which are draws of the prior: covariances are made once for all. A
//! smooth curve of many people leaves so little of the prior that one or two of these settings
//! would decide how wide intervals are, and another seed would have other ones. Such a population
//! gets settings where they are likely (`settings.rs`).

use super::error::UngroupError;
use super::fit::{KnownPopulation, Sample, Task};
use super::prior;
use super::settings::{self, Rounds, StandardNormals, count, powered};
use crate::special::scalar::log_sum_exp;

/// So many settings of equal weight are enough: the mean of widths over settings, which differ by a
/// half, is then known to a tenth.
const ENOUGH: f64 = 24.0;
/// Settings of every round, and rounds at most.
const EACH: usize = 64;
const ROUNDS: usize = 8;

impl Task {
    /// Draws of one population at settings of its own; none where those of all are enough, or where
    /// none explains it.
    ///
    /// # Arguments
    /// * `starts` - where searches for modes begin, by ways
    /// * `first` - log evidence of the settings, those of the first way first
    pub(super) fn refined(
        &self,
        target: &KnownPopulation,
        starts: Vec<Vec<f64>>,
        first: &[f64],
    ) -> Option<Result<Sample, UngroupError>> {
        let shared = self.settings.len();
        let over_ways = |all: &[f64]| -> Vec<f64> {
            let settings = all.len() / self.ways.len();
            let at = |s: usize| {
                let ways = all.iter().skip(s).step_by(settings);
                log_sum_exp(&ways.copied().collect::<Vec<f64>>())
            };
            (0..settings).map(at).collect()
        };
        if count(&powered(&over_ways(first), 1.0)?) >= ENOUGH {
            return None;
        }
        let rounds = Rounds {
            first: shared,
            each: EACH,
            most: ROUNDS,
            enough: ENOUGH,
        };
        let target = std::slice::from_ref(target);
        let starts: Vec<Vec<Vec<f64>>> = starts.into_iter().map(|start| vec![start]).collect();
        let mut evidence: Vec<Vec<f64>> = vec![Vec::new(); self.ways.len()];
        let found = settings::found(&rounds, self.seed, |points| {
            let found: Vec<f64> = if evidence[0].is_empty() {
                // The first round are the settings of all populations.
                first.to_vec()
            } else {
                let own = self.placed(points);
                let found = own.evidence(target, &starts).into_iter();
                found.map(|at| at[0]).collect()
            };
            let of_ways = found.chunks(points.len());
            evidence
                .iter_mut()
                .zip(of_ways)
                .for_each(|(all, own)| all.extend(own));
            over_ways(&found)
        })?;
        let weighed = evidence.iter().flat_map(|of_way| {
            let each = of_way.iter().zip(&found.offsets);
            each.map(|(log, offset)| vec![log + offset])
        });
        let weighed: Vec<Vec<f64>> = weighed.collect();
        let own = self.placed(&found.points);
        own.sampled(target, &starts, &weighed).into_iter().next()
    }

    /// The task with other settings.
    fn placed(&self, points: &[StandardNormals]) -> Self {
        let settings = points.iter();
        Self {
            settings: settings.map(|z| prior::setting(&self.central, z)).collect(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::prior::{central, setting, settings as of_all};
    use super::*;

    /// The settings of all populations are the first round of those of one.
    #[test]
    fn the_first_round_is_that_of_all_populations() {
        let rounds = Rounds {
            first: 16,
            each: 4,
            most: 0,
            enough: 1.0,
        };
        let found = settings::found(&rounds, 5, |points| vec![0.0; points.len()]).unwrap();
        let middle = central(0.15, 100.0);
        let own: Vec<_> = found.points.iter().map(|z| setting(&middle, z)).collect();
        let shared = of_all(16, 0.15, 100.0, 5);
        for (a, b) in own.iter().flatten().zip(shared.iter().flatten()) {
            // A factor of the identity adds rounding at most.
            assert!((a / b - 1.0).abs() < 1e-12);
        }
        // Draws of the prior have its weight.
        assert!(found.offsets.iter().all(|offset| offset.abs() < 1e-12));
    }
}
