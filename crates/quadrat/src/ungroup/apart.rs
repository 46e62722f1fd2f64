//! Bands apart: hardly anybody is in them, and the bands beside them are full.
//!
//! Where nobody below 20 was counted the density ends at 20. It does not fall by ten nats within a
//! year because it is so rough: a curve whose roughness had to explain such a step would be as
//! rough within all other bands. Bands apart may therefore have a level of their own, one more term
//! of the prior,
//!
//! $$ f(u) = m + s(u) + r(u) - a h(u) + \sum_k b_k 1[u \in R_k], \qquad b_k \sim N(0, 10^2) $$
//!
//! for runs `R_k` of such bands. Whether they have one is averaged over, by its evidence and its
//! prior odds of 1 to 50: a steep flank without a step stays one.
//!
//! Bands may be apart where a step from a band to the next is beyond what is usual: less than a
//! fifth of what the fuller band says, by more than chance, and by more than a fall that began
//! before may grow to. Of 348 local authorities and 573 constituencies none has such a step.
//!
//! # Source
//! Averages over models: Hoeting, Madigan, Raftery and Volinsky 1999, Statistical Science 14:382.

use std::ops::Range;

use super::prior::{LEVEL_SD, PriorTerm};

/// A step is beyond what is usual where less than this part of what the fuller band says is there.
const PART: f64 = 0.2;
/// A fall grows from band to band by this factor at most. Where the fuller band is itself well
/// below the one beyond it, the density may begin within it and not at its edge.
const GROWTH: f64 = 5.0;
/// Chance stays within so many sds. Twice the root of a count has an sd of about one.
const CHANCE: f64 = 3.0;
/// What is added to a count below the root, so that the sd is one for small ones too.
const ANSCOMBE: f64 = 0.375;
/// Nobody is taken for half of one, as where bands are met.
const NOBODY: f64 = 0.5;
/// The prior odds of a level of its own.
const ODDS: f64 = 0.02;
/// Of more runs than this, all others have a level of their own together or none has.
const MOST: usize = 3;

/// A way in which bands are apart: terms of the prior, and the log of its prior odds.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub terms: Vec<PriorTerm>,
    pub log_odds: f64,
    /// How many of the runs are apart.
    pub runs: usize,
}

/// Bands as they are seen: all by bands, in their order.
pub(super) struct Seen<'a> {
    /// Log averages, and those of the tail that is believed before.
    pub logs: &'a [f64],
    pub tail: &'a [f64],
    /// By how much the latter may be off, up or down.
    pub spread: &'a [f64],
    /// How many were asked.
    pub asked: &'a [f64],
}

impl Seen<'_> {
    /// Runs of bands that may be apart, those of the largest steps first.
    pub fn runs(&self) -> Vec<Range<usize>> {
        let n = self.logs.len();
        let (mut out, mut from): (Vec<(f64, Range<usize>)>, usize) = (Vec::new(), 0);
        // The step at the lower end of the run, seen from above.
        let mut entered = None;
        for last in 0..n {
            let next = (last + 1 < n).then_some(last + 1);
            let (rises, falls) = match next {
                Some(next) => (self.step(last, next), self.step(next, last)),
                None => (None, None),
            };
            if next.is_some() && rises.is_none() && falls.is_none() {
                continue;
            }
            let own: Option<f64> = [entered, rises].into_iter().flatten().reduce(f64::max);
            out.extend(own.map(|size| (size, from..last + 1)));
            (from, entered) = (last + 1, falls);
        }
        out.sort_by(|a, b| b.0.total_cmp(&a.0));
        out.into_iter().map(|(_, run)| run).collect()
    }

    /// How far a band lies below its neighbour, in nats beyond what is usual; none where it is not.
    fn step(&self, low: usize, full: usize) -> Option<f64> {
        let rest = |band: usize| self.logs[band] - self.tail[band];
        let before = match low < full {
            true => (full + 1 < self.logs.len()).then_some(full + 1),
            false => full.checked_sub(1),
        };
        let began = before.map_or(0.0, |band| (rest(band) - rest(full)).max(0.0));
        let tail = (self.spread[low] - self.spread[full]).abs();
        let beyond = rest(full) - rest(low) - GROWTH * began - 2.0 * tail;
        let expected = PART * self.asked[low].max(NOBODY) * beyond.exp();
        let roots = expected.sqrt() - (self.asked[low] + ANSCOMBE).sqrt();
        (2.0 * roots > CHANCE).then_some(beyond)
    }
}

/// Ways in which runs are apart: none, and each one more, the largest step first.
///
/// # Arguments
/// * `terms` - which the prior has besides
/// * `band` - the cells of every band
pub(super) fn ways(terms: &[PriorTerm], runs: &[Range<usize>], band: &[usize]) -> Vec<Way> {
    let cells = band[band.len() - 1];
    let own = |run: &Range<usize>| {
        let within = band[run.start]..band[run.end];
        let shape = (0..cells).map(|i| f64::from(u8::from(within.contains(&i))));
        PriorTerm {
            shape: shape.collect(),
            mean: 0.0,
            sd: LEVEL_SD,
        }
    };
    let counts = (0..=runs.len()).filter(|&k| k <= MOST || k == runs.len());
    let way = |k: usize| Way {
        terms: terms
            .iter()
            .cloned()
            .chain(runs[..k].iter().map(own))
            .collect(),
        log_odds: k as f64 * ODDS.ln(),
        runs: k,
    };
    counts.map(way).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(counts: &[f64]) -> Vec<Range<usize>> {
        let logs: Vec<f64> = counts.iter().map(|n| n.max(NOBODY).ln()).collect();
        let none = vec![0.0; counts.len()];
        let seen = Seen {
            logs: &logs,
            tail: &none,
            spread: &none,
            asked: counts,
        };
        seen.runs()
    }

    #[test]
    fn steps_beyond_what_is_usual_are_found() {
        let ends = |counts: &[f64]| -> Vec<(usize, usize)> {
            let found = runs(counts).into_iter();
            found.map(|run| (run.start, run.end)).collect()
        };
        assert_eq!(ends(&[0.0, 0.0, 4e4, 4e4, 3e4]), [(0, 2)]);
        assert_eq!(ends(&[9.0, 4e4, 4e4, 3e4, 0.0]), [(4, 5), (0, 1)]);
        assert_eq!(ends(&[4e4, 4e4, 0.0, 4e4, 4e4]), [(2, 3)]);
        // Nobody beside few came by chance, and so did a band of three.
        assert!(runs(&[3.0, 0.0, 2.0, 5.0, 6.0, 0.0, 7.0, 0.0]).is_empty());
        // Flanks that steepen, and ages that fall faster and faster.
        assert!(runs(&[10.0, 2e3, 1e4, 1.1e4, 7e3, 2e3, 200.0, 7.0]).is_empty());
        assert!(runs(&[5e3, 4e3, 2e3, 400.0, 20.0, 0.0]).is_empty());
    }

    #[test]
    fn ways_hold_one_more_run_each() {
        let found = ways(&[], &[3..4, 0..1], &[0, 2, 4, 6, 8]);
        assert_eq!(found.iter().map(|w| w.runs).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(
            found[1].terms[0].shape,
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
        );
        assert_eq!(found[2].log_odds, 2.0 * ODDS.ln());
        let many: Vec<Range<usize>> = (0..5).map(|b| b..b + 1).collect();
        let found = ways(&[], &many, &[0, 1, 2, 3, 4, 5]);
        assert_eq!(
            found.iter().map(|w| w.runs).collect::<Vec<_>>(),
            [0, 1, 2, 3, 5]
        );
    }
}
