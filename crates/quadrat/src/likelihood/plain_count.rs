//! Counts behind `exp`, whose log-probability is a smooth hump.

use super::count_rows::CountRows;
use super::counting::{DispersionSlopes, exact, mean};
use super::local::{Belief, Jet, Tilted};
use super::quadrature;
use crate::link::CLIP;
use crate::special::elementary;

/// Dispersions and counts between which plain sums lose nothing that counts.
const LEAST_PLAIN: f64 = 1e-4;
const MOST_PLAIN: f64 = 1e4;
/// Share of the variance that is due to dispersion, above which `1 - share` loses digits.
const MOST_SHARE: f64 = 0.99;

impl CountRows {
    /// A count, or at least so many, behind `exp`; `None` where that needs more care.
    pub(super) fn tilted_smooth(
        &self,
        row: usize,
        dispersion: f64,
        cavity: Belief,
    ) -> Option<Tilted> {
        let (y, exposure) = (self.lower[row], self.exposure[row]);
        let is_open = self.upper[row] == f64::INFINITY;
        let is_plain = dispersion == 0.0 || (dispersion > LEAST_PLAIN && y < MOST_PLAIN);
        if !(is_plain && (is_open || self.is_exact(row))) {
            return None;
        }
        // The count at the edge, where the row is open.
        let guess = self.link.inverse((y + 0.5) / exposure).unwrap_or(0.0);
        let peak = elementary::log(y / exposure);
        let place = if dispersion == 0.0 && y > 0.0 {
            peak
        } else {
            guess
        };
        let constant = {
            let logs = self.link.log_jet(place);
            let count = mean(self.link, &logs, exposure, dispersion, place);
            exact(&count, DispersionSlopes::No, y).value
        };
        let finish = |jet: &dyn Fn(f64) -> Jet| {
            let lost = constant - jet(0.0).value;
            Self::tilted_beside((y, is_open), cavity, (place, lost), jet)
        };
        if dispersion > 0.0 {
            let total = y + 1.0 / dispersion;
            let at = |mean: f64, value: f64| {
                let weight = 1.0 / (1.0 + dispersion * mean);
                let bend = mean * (1.0 + dispersion * y) * weight * weight;
                Jet {
                    value,
                    first: (y - mean) * weight,
                    second: -bend,
                    third: -bend * (1.0 - dispersion * mean) * weight,
                }
            };
            let centre = exposure * self.link.value(place);
            let share = dispersion * centre / (1.0 + dispersion * centre);
            if share < MOST_SHARE {
                // So that no large numbers cancel:
                // `y d - (y + 1 / alpha) log(1 + share (e^d - 1))`.
                return finish(&|d| {
                    let d = d.min(CLIP);
                    let rise = elementary::expm1(d);
                    let value = y * d - total * elementary::log1p(share * rise);
                    at(centre * (rise + 1.0), value)
                });
            }
            if is_open {
                return None;
            }
            // Without the parts that do not depend on `f`: `y f - (y + 1 / alpha) log(1 + alpha
            // mu)`.
            return finish(&|d| {
                let f = place + d;
                let mean = exposure * self.link.value(f);
                at(mean, y * f - total * elementary::log1p(dispersion * mean))
            });
        }
        if y == 0.0 {
            return finish(&|d| {
                let mean = exposure * self.link.value(place + d);
                Jet {
                    value: -mean,
                    first: -mean,
                    second: -mean,
                    third: -mean,
                }
            });
        }
        // The place is the peak: `-y (e^d - 1 - d)`.
        finish(&|d| {
            let d = d.min(CLIP);
            let rise = elementary::expm1(d);
            Jet {
                value: -y * (rise - d),
                first: -y * rise,
                second: -y * (rise + 1.0),
                third: -y * (rise + 1.0),
            }
        })
    }

    /// Along the distance `d` to a place where the count is likely: a large one knows the function
    /// to more digits than sums of it and of `d` have.
    ///
    /// # Arguments
    /// * `place` - and what the log-probability has more than `jet`
    /// * `jet` - by `d`
    fn tilted_beside(
        (y, is_open): (f64, bool),
        cavity: Belief,
        (place, lost): (f64, f64),
        jet: &dyn Fn(f64) -> Jet,
    ) -> Option<Tilted> {
        let beside = Belief {
            mean: cavity.mean - place,
            ..cavity
        };
        let tilted = quadrature::tilted(beside, 0.0, jet);
        let tilted = Tilted {
            log_z: tilted.log_z + lost,
            shift: tilted.shift + tilted.precision * place,
            ..tilted
        };
        if !is_open {
            return Some(tilted);
        }
        Self::tilted_open(y, cavity, tilted, place, |f| {
            let at = jet(f - place);
            Jet {
                value: at.value + lost,
                ..at
            }
        })
    }
}
