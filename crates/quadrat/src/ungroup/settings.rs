//! Settings of hyperparameters where they are likely.
//!
//! Where tables say much of them, as many years do of how these hang together and smooth
//! populations of their roughness, draws of the prior hardly hit on what is likely: points are
//! drawn in rounds, the first from the prior and each other one around those that were likely. All
//! are weighed against the mixture of what they were drawn from, of which the prior is a part, so
//! that no weight is large by chance alone.
//!
//! # Source
//! Adaptive multiple importance sampling: Cornuet, Marin, Mira and Robert 2012, Scandinavian
//! Journal of Statistics 39:798.

use crate::linalg::{Cholesky, Mat, dot};
use crate::special::scalar::{log_sum_exp, normal_quantile};

/// Standard normals that stand for hyperparameters.
pub(super) type StandardNormals = [f64; DIMENSIONS];
/// How many.
pub(super) const DIMENSIONS: usize = 4;

/// How many points are looked at.
pub(super) struct Rounds {
    /// Those of the first round, which are of the prior, and of every other one.
    pub first: usize,
    pub each: usize,
    /// Rounds after the first at most, and how many points of equal weight end them.
    pub most: usize,
    pub enough: f64,
}

impl Rounds {
    /// The most points of all rounds.
    pub const fn points(&self) -> usize {
        self.first + self.most * self.each
    }
}

/// A round is drawn around at least so many points of equal weight.
const FEWEST: f64 = 10.0;
/// What is wider than likely is around so many, and what is nearer around so few, with this part of
/// the wider covariance.
const WIDE: f64 = 24.0;
const FEW: f64 = 3.0;
const SHARED: f64 = 0.3;
/// How much wider than those points, in variances, and at least how wide.
const WIDER: f64 = 1.3;
const NARROWEST: f64 = 0.01;
/// Halvings of the power of weights.
const HALVINGS: usize = 30;

/// Points with what they are worth: evidence times prior over what they were drawn from.
#[derive(Debug, Clone)]
pub(super) struct WeighedPoints {
    pub points: Vec<StandardNormals>,
    /// Log of the prior over what they were drawn from; and that times the evidence.
    pub offsets: Vec<f64>,
    pub logs: Vec<f64>,
}

impl WeighedPoints {
    /// A normal wider than what is likely.
    pub fn wide(&self) -> Option<NormalFit> {
        around(&self.points, &tempered(&self.logs, WIDE)?)
    }
}

/// A normal that points are drawn from.
pub(super) struct NormalFit {
    mean: StandardNormals,
    covariance: Mat<f64>,
    root: Cholesky,
}

impl NormalFit {
    fn new(mean: StandardNormals, covariance: Mat<f64>) -> Option<Self> {
        let root = Cholesky::factor(covariance.as_ref()).ok()?;
        Some(Self {
            mean,
            covariance,
            root,
        })
    }

    fn log_density(&self, z: &StandardNormals) -> f64 {
        let away: Vec<f64> = z.iter().zip(&self.mean).map(|(z, m)| z - m).collect();
        let white = self.root.half_solve(&away);
        -0.5 * (dot(&white, &white) + self.root.log_det())
    }

    /// Low-discrepancy points of it.
    pub fn points(&self, count: usize, seed: u64, round: usize) -> Vec<StandardNormals> {
        let scramble = (seed ^ (seed >> 32)) as u32 ^ (round as u32).wrapping_mul(0x9e37_79b9);
        let one = |i: usize| {
            let standard: StandardNormals = std::array::from_fn(|d| {
                let u = f64::from(sobol_burley::sample(i as u32, d as u32, scramble));
                // The sequence holds zero.
                normal_quantile(u.clamp(1e-9, 1.0 - 1e-9))
            });
            let away = self.root.multiply(&standard);
            std::array::from_fn(|d| self.mean[d] + away[d])
        };
        (0..count).map(one).collect()
    }

    /// One about those of its points that are likely; few points tell no covariance, which is in
    /// part its own.
    ///
    /// # Arguments
    /// * `log_evidence` - of the points
    pub fn nearer(&self, points: &[StandardNormals], log_evidence: &[f64]) -> Option<Self> {
        let own = [(self, points.len())];
        let logs = offsets(&own, points).into_iter().zip(log_evidence);
        let logs: Vec<f64> = logs.map(|(offset, log)| offset + log).collect();
        let found = around(points, &tempered(&logs, FEW)?)?;
        let shared = |a: usize, b: usize| {
            SHARED * self.covariance[(a, b)] + (1.0 - SHARED) * found.covariance[(a, b)]
        };
        Self::new(found.mean, Mat::from_fn(DIMENSIONS, DIMENSIONS, shared))
    }
}

/// Points by what they are worth.
///
/// # Arguments
/// * `log_evidence` - of points of a round; minus infinity where there is none
///
/// # Returns
/// None where no point has evidence.
pub(super) fn found(
    rounds: &Rounds,
    seed: u64,
    mut log_evidence: impl FnMut(&[StandardNormals]) -> Vec<f64>,
) -> Option<WeighedPoints> {
    let prior = NormalFit::new([0.0; DIMENSIONS], Mat::identity(DIMENSIONS, DIMENSIONS))?;
    let (mut normals, mut points, mut evidence) =
        (vec![(prior, rounds.first)], Vec::new(), Vec::new());
    for round in 0.. {
        let (normal, count_of_round) = &normals[round];
        let own = normal.points(*count_of_round, seed, round);
        evidence.extend(log_evidence(&own));
        points.extend(own);
        let mixture: Vec<(&NormalFit, usize)> = normals.iter().map(|(own, n)| (own, *n)).collect();
        let offsets = offsets(&mixture, &points);
        let logs = offsets.iter().zip(&evidence);
        let logs: Vec<f64> = logs.map(|(offset, log)| offset + log).collect();
        if round == rounds.most || count(&powered(&logs, 1.0)?) >= rounds.enough {
            return Some(WeighedPoints {
                points,
                offsets,
                logs,
            });
        }
        let next = around(&points, &tempered(&logs, FEWEST)?)?;
        normals.push((next, rounds.each));
    }
    None
}

/// Log of the prior over the mixture that points were drawn from.
///
/// # Arguments
/// * `normals` - and how many points are of each
pub(super) fn offsets(normals: &[(&NormalFit, usize)], points: &[StandardNormals]) -> Vec<f64> {
    let total: usize = normals.iter().map(|(_, count)| count).sum();
    let one = |z: &StandardNormals| {
        let of = |(normal, count): &(&NormalFit, usize)| {
            (*count as f64 / total as f64).ln() + normal.log_density(z)
        };
        let each: Vec<f64> = normals.iter().map(of).collect();
        -0.5 * dot(z, z) - log_sum_exp(&each)
    };
    points.iter().map(one).collect()
}

/// How many points of equal weight say as much.
pub(super) fn count(weights: &[f64]) -> f64 {
    1.0 / dot(weights, weights)
}

/// Weights to a power, which sum to one; none where no point has a weight.
pub(super) fn powered(logs: &[f64], power: f64) -> Option<Vec<f64>> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most.is_finite().then(|| {
        let of = |log: &f64| match log.is_finite() {
            true => (power * (log - most)).exp(),
            false => 0.0,
        };
        let weights: Vec<f64> = logs.iter().map(of).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|w| w / total).collect()
    })
}

/// Weights to the largest power at which enough points count.
pub(super) fn tempered(logs: &[f64], fewest: f64) -> Option<Vec<f64>> {
    let own = powered(logs, 1.0)?;
    if count(&own) >= fewest {
        return Some(own);
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        match count(&powered(logs, middle)?) >= fewest {
            true => low = middle,
            false => high = middle,
        }
    }
    powered(logs, low)
}

/// How many of some places each weight takes, by systematic sampling.
pub(super) fn taken(weights: &[f64], places: usize) -> Vec<usize> {
    let (mut sum, mut placed) = (0.0, 0);
    let one = |w: &f64| {
        sum += w;
        let upto = ((places as f64 * sum + 0.5).floor() as usize).min(places);
        let own = upto - placed;
        placed = upto;
        own
    };
    weights.iter().map(one).collect()
}

/// The normal of weighted points, somewhat wider.
fn around(points: &[StandardNormals], weights: &[f64]) -> Option<NormalFit> {
    let weighted = || points.iter().zip(weights);
    let mean: StandardNormals = std::array::from_fn(|d| weighted().map(|(z, w)| w * z[d]).sum());
    let covariance = Mat::from_fn(DIMENSIONS, DIMENSIONS, |a, b| {
        let products = weighted().map(|(z, w)| w * (z[a] - mean[a]) * (z[b] - mean[b]));
        WIDER * products.sum::<f64>() + if a == b { NARROWEST } else { 0.0 }
    });
    NormalFit::new(mean, covariance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDS: Rounds = Rounds {
        first: 32,
        each: 24,
        most: 8,
        enough: 16.0,
    };

    /// Evidence that is a narrow normal: its moments, times those of the prior, are known.
    #[test]
    fn moments_are_those_of_the_posterior() {
        let (at, sd) = (0.8, 0.1);
        let evidence = |points: &[StandardNormals]| -> Vec<f64> {
            let one = |z: &StandardNormals| {
                let squares = z.iter().map(|z| ((z - at) / sd).powi(2));
                -0.5 * squares.sum::<f64>()
            };
            points.iter().map(one).collect()
        };
        let found = found(&ROUNDS, 3, evidence).unwrap();
        let weights = powered(&found.logs, 1.0).unwrap();
        assert!(count(&weights) > 15.0, "{}", count(&weights));
        let precision = 1.0 + 1.0 / (sd * sd);
        let (mean, sd) = (at / (sd * sd) / precision, precision.recip().sqrt());
        for d in 0..DIMENSIONS {
            let weighted = found.points.iter().zip(&weights);
            let got: f64 = weighted.map(|(z, w)| w * z[d]).sum();
            // Four sds of the mean of fifteen points.
            assert!((got - mean).abs() < 4.0 * sd / 15f64.sqrt(), "{d}: {got}");
        }
    }

    #[test]
    fn nothing_is_found_without_evidence() {
        assert!(found(&ROUNDS, 1, |points| vec![f64::NEG_INFINITY; points.len()]).is_none());
    }

    #[test]
    fn places_are_taken_by_weight() {
        assert_eq!(taken(&[0.5, 0.0, 0.25, 0.25], 8), [4, 0, 2, 2]);
        assert_eq!(taken(&[0.1; 10], 7).iter().sum::<usize>(), 7);
    }
}
