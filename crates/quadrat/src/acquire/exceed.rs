//! What measurements tell of whether targets exceed a limit.

use std::f64::consts::{PI, TAU};

use rayon::prelude::*;

use super::shared::Shared;
use super::state::State;
use super::survey::{Question, Survey};
use crate::error::InputError;
use crate::special::scalar::normal_cdf;

/// Nodes of the polynomial in the share of the sd that is left: doubts to 1e-8.
const NODES: usize = 32;
/// The trapezoid rule of a doubt: its step, and where normal densities end. Its error is that of
/// the logarithms of `Phi`, whose nearest zeros lie 2.8 beside the real axis: below 1e-15.
const STEP: f64 = 0.5;
const END: f64 = 9.0;

/// In how much doubt it is, whether targets exceed a limit, as measurements are made.
pub(super) struct Exceed {
    shared: Shared,
    /// For every value of the hyperparameters one of every target.
    doubts: Vec<Vec<Doubt>>,
}

impl Exceed {
    /// Before any measurement.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for targets of too many candidates; [`InputError::Range`] for a
    /// limit that is not finite.
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
        let shared = Shared::new(survey)?;
        let of = survey.members.iter().map(|member| {
            let each = shared.rows().par_iter().map(|row| {
                let (mean, variance) = (member.joint.mean()[*row], member.joint.variance()[*row]);
                Doubt::new(mean - limit, variance)
            });
            each.collect()
        });
        Ok(Self {
            doubts: of.collect(),
            shared,
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
            let falls = each.map(|((c, at), doubt)| doubt.fall(variance[*at], share * c * c));
            member.weight * falls.sum::<f64>()
        });
        nats.sum()
    }

    /// Follows a measurement that took `u u'` of every covariance.
    pub fn follow(&mut self, taken: &[&[f64]]) {
        self.shared.follow(taken);
    }
}

/// The entropy of whether a normal value exceeds a limit, given measurements that are not known yet.
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
    /// Values at Chebyshev points.
    values: [f64; NODES],
}

impl Doubt {
    /// # Arguments
    /// * `above` - by how much the mean exceeds the limit
    fn new(above: f64, variance: f64) -> Self {
        let values = match variance > 0.0 {
            true => std::array::from_fn(|i| entropy(above / variance.sqrt(), point(i))),
            false => [0.0; NODES],
        };
        Self { variance, values }
    }

    /// By how much it falls where a measurement takes `fall` of the variance that is left.
    fn fall(&self, left: f64, fall: f64) -> f64 {
        if self.variance <= 0.0 || fall <= 0.0 {
            return 0.0;
        }
        let share = |variance: f64| (variance / self.variance).clamp(0.0, 1.0).sqrt();
        (self.at(share(left)) - self.at(share(left - fall))).max(0.0)
    }

    /// The entropy where `left` of the sd is left: by barycentric interpolation.
    fn at(&self, left: f64) -> f64 {
        let (mut above, mut below) = (0.0, 0.0);
        for (i, value) in self.values.iter().enumerate() {
            let apart = left - point(i);
            if apart == 0.0 {
                return *value;
            }
            let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
            let weight = sign * angle(i).sin() / apart;
            above += weight * value;
            below += weight;
        }
        above / below
    }
}

/// Chebyshev points of the first kind on [0, 1], and their angles.
fn point(i: usize) -> f64 {
    0.5 + 0.5 * angle(i).cos()
}

fn angle(i: usize) -> f64 {
    (i as f64 + 0.5) * PI / NODES as f64
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

    /// Against a lattice of a hundred times as many nodes over `z` alone.
    #[test]
    fn doubts_are_what_a_lattice_says() {
        for a in [0.0, 0.3, -1.2, 2.5, 6.0] {
            let own = Doubt::new(a, 1.0);
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
                // The lattice is right to its step over the narrowest doubt, 1e-3.
                assert!(
                    (exact - expected).abs() < 1e-12,
                    "{a} {left}: {exact} {expected}"
                );
                let told = own.at(left);
                assert!((told - exact).abs() < 1e-8, "{a} {left}: {told} {exact}");
            }
        }
    }

    /// Nothing is told of what is known, and no more than there is of anything.
    #[test]
    fn doubts_fall_by_no_more_than_there_is() {
        let known = Doubt::new(0.0, 0.0);
        assert_eq!(known.fall(0.0, 1.0), 0.0);
        let own = Doubt::new(0.0, 2.0);
        assert_eq!(own.fall(2.0, 0.0), 0.0);
        let (all, half) = (own.fall(2.0, 2.0), own.fall(2.0, 1.0));
        // A limit at the mean is one bit; the polynomial is right to 1e-8 at both ends.
        assert!((all - 2.0_f64.ln()).abs() < 2e-8, "{all}");
        assert!(half > 0.0 && half < all);
        assert!((half + own.fall(1.0, 1.0) - all).abs() < 1e-12);
    }
}
