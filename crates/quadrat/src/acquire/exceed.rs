//! What measurements tell of whether targets exceed a limit.

use std::f64::consts::{PI, TAU};

use rayon::prelude::*;

use super::shared::{PLACES, Shared};
use super::state::State;
use super::survey::{Question, Survey};
use crate::error::InputError;
use crate::special::scalar::normal_cdf;

/// Nodes of the polynomial in the share of the sd that is left: doubts to 1e-11.
const NODES: usize = 16;
/// The trapezoid rule of a doubt: its step, and where normal densities end. Its error is that of
/// the logarithms of `Phi`, whose nearest zeros lie 2.8 beside the real axis: below 1e-14.
const STEP: f64 = 0.5;
const END: f64 = 9.0;
/// Doubts that may be looked at in one step of the choice, one for every measurement, target and
/// value of the hyperparameters: some ten seconds.
const MOST: usize = 400_000_000;

/// In how much doubt it is, whether targets exceed a limit, as measurements are made.
pub(super) struct Exceed {
    shared: Shared,
    /// For every value of the hyperparameters one of every target.
    doubts: Vec<Vec<Doubt>>,
    nodes: Nodes,
}

impl Exceed {
    /// Before any measurement.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] without a limit, and for targets of too many candidates;
    /// [`InputError::Range`] for a limit that is not finite.
    pub fn new(survey: &Survey<'_>, limit: Option<f64>) -> Result<Self, InputError> {
        let limit = match limit {
            Some(limit) if limit.is_finite() => limit,
            Some(limit) => {
                return Err(InputError::Range {
                    what: "the limit".to_owned(),
                    row: 0,
                    value: limit,
                    requirement: "a finite number",
                });
            }
            None => {
                return Err(InputError::Unavailable {
                    what: "information about exceeding no limit",
                    remedy: "give the limit, or choose by information about the function",
                });
            }
        };
        let room = MOST / (survey.len() * survey.members.len()).max(1);
        if survey.targets.len().max(1) > room {
            return Err(InputError::Unavailable {
                what: "information about exceeding a limit at so many targets of so many candidates",
                remedy: "take fewer targets or candidates, or the most probable hyperparameters",
            });
        }
        let shared = Shared::new(survey, PLACES.0.min(room))?;
        let nodes = Nodes::new();
        let of = survey.members.iter().map(|member| {
            let each = shared.rows().par_iter().map(|row| {
                let (mean, variance) = (member.joint.mean()[*row], member.joint.variance()[*row]);
                Doubt::new(mean - limit, variance, &nodes)
            });
            each.collect()
        });
        Ok(Self {
            doubts: of.collect(),
            shared,
            nodes,
        })
    }

    /// What a measurement would tell of whether each target exceeds the limit, added up, in nats,
    /// on average over hyperparameters.
    pub fn information(&self, survey: &Survey<'_>, state: &State<'_, '_>, asked: Question) -> f64 {
        let row = survey.row(asked);
        let members = survey.members.iter().zip(&self.doubts).enumerate();
        let nats = members.map(|(k, (member, doubts))| {
            let variance = state.variance(k);
            if variance[row] <= 0.0 {
                return 0.0;
            }
            // The share of the variance that the measurement is expected to take.
            let share = -(-2.0 * state.information_at(k, asked)).exp_m1() / variance[row];
            let own = self.shared.of(k, row);
            let each = own.iter().zip(self.shared.rows()).zip(doubts);
            let falls = each.map(|((c, at), doubt)| {
                let left = variance[*at] - share * c * c;
                doubt.now - doubt.at(left, &self.nodes)
            });
            // Roundings of a doubt that hardly falls.
            member.weight * falls.map(|fall| fall.max(0.0)).sum::<f64>()
        });
        nats.sum()
    }

    /// Follows a measurement that was made, and took `u u'` of every covariance.
    pub fn follow(&mut self, state: &State<'_, '_>) {
        self.shared.follow(&state.taken());
        for (k, doubts) in self.doubts.iter_mut().enumerate() {
            let variance = state.variance(k);
            for (doubt, row) in doubts.iter_mut().zip(self.shared.rows()) {
                doubt.now = doubt.at(variance[*row], &self.nodes);
            }
        }
    }
}

/// The entropy of whether a normal value exceeds a limit, given measurements not known yet.
///
/// With `a` the distance of its mean from the limit in its sds, and `r` the share of its variance
/// that measurements with normal noise take, whatever they turn out to be,
///
/// $$ H(r) = E_z h\Bigl( \Phi\Bigl( \frac{a + \sqrt r z}{\sqrt{1 - r}} \Bigr) \Bigr), \qquad
/// h(p) = -p \log p - (1 - p) \log (1 - p) $$
///
/// a polynomial in `sqrt(1 - r)`.
struct Doubt {
    /// The variance before any measurement.
    variance: f64,
    /// The entropy given those that were made.
    now: f64,
    /// The entropy at the nodes.
    values: [f64; NODES],
}

impl Doubt {
    /// # Arguments
    /// * `above` - by how much the mean exceeds the limit
    fn new(above: f64, variance: f64, nodes: &Nodes) -> Self {
        let values = match variance > 0.0 {
            true => nodes.at.map(|at| entropy(above / variance.sqrt(), at)),
            false => [0.0; NODES],
        };
        let mut own = Self {
            variance,
            now: 0.0,
            values,
        };
        own.now = own.at(variance, nodes);
        own
    }

    /// The entropy where some of the variance is left: by barycentric interpolation.
    fn at(&self, left: f64, nodes: &Nodes) -> f64 {
        if self.variance <= 0.0 {
            return 0.0;
        }
        let left = (left / self.variance).clamp(0.0, 1.0).sqrt();
        let (mut above, mut below) = (0.0, 0.0);
        for (i, value) in self.values.iter().enumerate() {
            let apart = left - nodes.at[i];
            if apart == 0.0 {
                return *value;
            }
            let weight = nodes.weights[i] / apart;
            above += weight * value;
            below += weight;
        }
        above / below
    }
}

/// Chebyshev points of the first kind on [0, 1], and their barycentric weights.
struct Nodes {
    at: [f64; NODES],
    weights: [f64; NODES],
}

impl Nodes {
    fn new() -> Self {
        let angle = |i: usize| (i as f64 + 0.5) * PI / NODES as f64;
        let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        Self {
            at: std::array::from_fn(|i| 0.5 + 0.5 * angle(i).cos()),
            weights: std::array::from_fn(|i| sign(i) * angle(i).sin()),
        }
    }
}

/// [`Doubt`] by the trapezoid rule, over `z` or over what `Phi` is taken of: along the wider of the
/// two, neither the density nor `h` is narrower than one.
///
/// # Arguments
/// * `left` - the root of the share of the variance that is left, `0 < left <= 1`
fn entropy(a: f64, left: f64) -> f64 {
    let told = (1.0 - left * left).sqrt();
    let count = (END / STEP) as i32;
    let nodes = (-count..=count).map(|i| STEP * f64::from(i));
    let density = |z: f64| STEP * (-0.5 * z * z).exp() / TAU.sqrt();
    match told < left {
        true => nodes
            .map(|z| density(z) * doubt((a + told * z) / left))
            .sum(),
        false => {
            let ratio = left / told;
            nodes
                .map(|u| ratio * density(ratio * u - a / told) * doubt(u))
                .sum()
        }
    }
}

/// `h(Phi(u))`.
fn doubt(u: f64) -> f64 {
    let part = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    part(normal_cdf(u)) + part(normal_cdf(-u))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a lattice of thousands of times as many nodes, over `z` alone.
    #[test]
    fn doubts_are_what_a_lattice_says() {
        let nodes = Nodes::new();
        for a in [0.0, 0.3, -1.2, 2.5, 6.0] {
            let own = Doubt::new(a, 1.0, &nodes);
            for left in [1e-3, 0.05, 0.3, 0.6, 0.7072, 0.9, 0.999, 1.0] {
                let told = f64::sqrt(1.0 - left * left);
                let step = 2e-4;
                let lattice = (-50_000..=50_000).map(|i| f64::from(i) * step);
                let expected: f64 = lattice
                    .map(|z| {
                        let density = step * (-0.5 * z * z).exp() / TAU.sqrt();
                        density * doubt((a + told * z) / left)
                    })
                    .sum();
                let exact = entropy(a, left);
                // Roundings of a hundred thousand terms.
                let off = (exact - expected).abs();
                assert!(off < 1e-12, "{a} {left}: {exact} {expected}");
                let told = own.at(left * left, &nodes);
                assert!((told - exact).abs() < 1e-11, "{a} {left}: {told} {exact}");
            }
        }
    }

    /// What is known is in no doubt; where the limit is the mean there is a bit of it, which is gone
    /// when the value is known.
    #[test]
    fn doubts_are_at_most_a_bit() {
        let nodes = Nodes::new();
        assert_eq!(Doubt::new(0.0, 0.0, &nodes).now, 0.0);
        let own = Doubt::new(0.0, 2.0, &nodes);
        assert!((own.now - 2.0_f64.ln()).abs() < 1e-11, "{}", own.now);
        assert!(own.at(0.0, &nodes).abs() < 1e-11);
        let half = own.at(1.0, &nodes);
        assert!(half > 0.0 && half < own.now);
    }
}
