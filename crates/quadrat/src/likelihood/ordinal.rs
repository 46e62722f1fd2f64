//! Ordered grades.

use serde::{Deserialize, Serialize};

use super::distribution::{Distribution, Ranks};
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::window::{Window, WindowSlopes};
use super::{Noise, check};
use crate::error::InputError;
use crate::parameter::{Parameter, PriorDensity};

/// The thresholds between neighbouring ranks, in the unit of the latent values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Thresholds {
    /// Known, increasing: one fewer than there are ranks.
    Known(Vec<f64>),
    /// Learned, between this many ranks.
    Learned(usize),
}

impl Thresholds {
    /// The number of ranks they tell apart.
    #[must_use]
    pub fn ranks(&self) -> usize {
        match self {
            Self::Known(thresholds) => thresholds.len() + 1,
            Self::Learned(ranks) => *ranks,
        }
    }
}

/// Ranks `1..=R` of noisy latent values: `k` where `t_(k-1) < f + e <= t_k`, `e ~ N(0, variance)`.
///
/// $$ p(k) = \Phi((t_k - f) / v) - \Phi((t_{k-1} - f) / v), \qquad t_0 = -\infty, \; t_R = \infty
/// $$
///
/// Own hyperparameters, in this order: `noise.variance` where it is learned; where the thresholds
/// are, `ordinal.threshold` (the first) and `ordinal.gap.2`, .. (from each threshold to the one
/// before, positive).
///
/// # Source
/// Chu & Ghahramani 2005, JMLR 6, 1019.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ordinal {
    ranks: Vec<usize>,
    thresholds: Thresholds,
    noise: Noise,
}

impl Ordinal {
    /// # Arguments
    /// * `ranks` - counted from 1, shape `[n]`
    /// # Errors
    /// [`InputError::Range`] for fewer than two ranks, more than 1,000 with learned thresholds,
    /// thresholds that do not increase, a rank outside them, or a known variance of 0;
    /// [`InputError::NotFinite`], [`InputError::Shape`].
    pub fn new(
        ranks: Vec<usize>,
        thresholds: Thresholds,
        noise: Noise,
    ) -> Result<Self, InputError> {
        let made = Self {
            ranks,
            thresholds,
            noise,
        };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::new`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        if let Thresholds::Known(known) = &self.thresholds {
            check::finite("the threshold", known)?;
            check::range(
                "the threshold",
                known,
                "above the one before it; sort them and take out repetitions",
                |k, x| k == 0 || x > known[k - 1],
            )?;
        }
        let highest = self.thresholds.ranks();
        check::range(
            "the number of ranks",
            &[highest as f64],
            "at least 2: one threshold more than none",
            |_, x| x >= 2.0,
        )?;
        if matches!(self.thresholds, Thresholds::Learned(_)) {
            check::range(
                "the number of ranks",
                &[highest as f64],
                "at most 1,000 where the thresholds are learned: each is a hyperparameter; give them as known",
                |_, x| x <= 1000.0,
            )?;
        }
        for (row, &rank) in self.ranks.iter().enumerate() {
            if !(1..=highest).contains(&rank) {
                return Err(InputError::Range {
                    what: "the rank".to_owned(),
                    row,
                    value: rank as f64,
                    requirement: "between 1 and the number of thresholds plus one; add a threshold, or mend the rank",
                });
            }
        }
        self.noise.check(self.ranks.len(), |_| true)
    }

    /// Whether every row has an outermost rank, and all of them the same: the highest, or not.
    pub(crate) fn only_end(&self) -> Option<bool> {
        let first = *self.ranks.first()?;
        let is_highest = first == self.thresholds.ranks();
        let is_alike = self.ranks.iter().all(|rank| *rank == first);
        (is_alike && (is_highest || first == 1)).then_some(is_highest)
    }

    /// The observed ranks.
    #[must_use]
    pub fn ranks(&self) -> &[usize] {
        &self.ranks
    }

    /// What is known of the thresholds.
    #[must_use]
    pub fn thresholds_setting(&self) -> &Thresholds {
        &self.thresholds
    }

    /// What is known of the noise.
    #[must_use]
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    pub(super) fn noise_mut(&mut self) -> &mut Noise {
        &mut self.noise
    }

    /// The `R - 1` thresholds.
    #[must_use]
    pub fn thresholds(&self, own: &[f64]) -> Vec<f64> {
        (1..self.thresholds.ranks())
            .map(|k| self.threshold(own, k))
            .collect()
    }

    /// Threshold `k` of `0..=R`; the outermost are infinite.
    fn threshold(&self, own: &[f64], k: usize) -> f64 {
        if k == 0 {
            return f64::NEG_INFINITY;
        }
        if k == self.thresholds.ranks() {
            return f64::INFINITY;
        }
        match &self.thresholds {
            Thresholds::Known(known) => known[k - 1],
            Thresholds::Learned(_) => own[self.noise.count()..][..k].iter().sum(),
        }
    }

    fn window(&self, own: &[f64], row: usize) -> Window {
        let rank = self.ranks[row];
        Window {
            lower: self.threshold(own, rank - 1),
            upper: self.threshold(own, rank),
            variance: self.noise.variance(own, row),
        }
    }

    /// Writes derivatives in the ends and the variance as derivatives in the own hyperparameters.
    fn spread<T: Copy + Default>(
        &self,
        row: usize,
        slopes: &WindowSlopes<T>,
        add: impl Fn(T, T) -> T,
        out: &mut [T],
    ) {
        let noise = self.noise.count();
        if let (1, Some(out)) = (noise, out.first_mut()) {
            *out = slopes.variance;
        }
        // Entry k (counted from 1) of the first threshold and the gaps moves every threshold from k
        // on; slopes in infinite ones are 0.
        let rank = self.ranks[row];
        for (k, out) in (1..).zip(out.iter_mut().skip(noise)) {
            let lower = if rank > k { slopes.lower } else { T::default() };
            let upper = if rank >= k {
                slopes.upper
            } else {
                T::default()
            };
            *out = add(lower, upper);
        }
    }
}

impl Local for Ordinal {
    fn rows(&self) -> usize {
        self.ranks.len()
    }

    /// Learned thresholds start evenly over `2 spread` around 0; priors: normal of sd `3 spread` on
    /// the first, `log-normal(log start, 1)` on the gaps.
    fn parameters(&self, spread: f64) -> Vec<Parameter> {
        let mut parameters = self.noise.parameters(spread);
        let Thresholds::Learned(ranks) = self.thresholds else {
            return parameters;
        };
        let gap = 2.0 * spread / (ranks - 1) as f64;
        let first = -0.5 * gap * (ranks - 2) as f64;
        parameters.push(Parameter::real(
            "ordinal.threshold",
            "threshold between the ranks 1 and 2",
            first,
            PriorDensity::Normal {
                mean: first,
                sd: 3.0 * spread,
            },
        ));
        for k in 2..ranks {
            parameters.push(Parameter::positive(
                &format!("ordinal.gap.{k}"),
                &format!("width of rank {k}, between its two thresholds"),
                gap,
                PriorDensity::LogNormal {
                    mu: gap.ln(),
                    sigma: 1.0,
                },
            ));
        }
        parameters
    }

    fn is_log_concave(&self) -> bool {
        true
    }

    fn guess(&self, own: &[f64], row: usize) -> f64 {
        self.window(own, row).guess()
    }

    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        self.window(own, row).jet(f)
    }

    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        let slopes = self.window(own, row).jet_slopes(f);
        let add = |a: [f64; 3], b: [f64; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
        self.spread(row, &slopes, add, out);
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        self.window(own, row).tilted(cavity)
    }

    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        let slopes = self.window(own, row).tilted_slopes(cavity);
        self.spread(row, &slopes, |a, b| a + b, out);
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        self.window(own, row).expected(belief)
    }

    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        if out.is_empty() {
            return;
        }
        let slopes = self.window(own, row).expected_slopes(belief);
        self.spread(row, &slopes, |a, b| a + b, out);
    }

    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        Distribution::Ranks(Ranks {
            thresholds: self.thresholds(own).into(),
            location: f,
            sd: self.noise.variance_of_new(own, circumstances).sqrt(),
        })
    }
}
