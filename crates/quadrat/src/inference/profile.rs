//! How far the log posterior reaches from its mode along chosen directions.

use super::WarmStart;
use super::free::FreeSpace;
use crate::error::FitError;
use crate::linalg::{Mat, symmetric_eigen};

/// A direction is never taken to be wider than this standard deviation, in `log theta`.
const WIDEST: f64 = 3.0;
/// The drop of the log posterior at two standard deviations of a normal density.
const TWO_SD: f64 = 2.0;
/// Relative accuracy of the distances.
const ACCURACY: f64 = 0.03;

/// One side of a direction, distances in multiples of the direction vector.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProfileSide {
    /// Standard deviation judged from the distance where the density fell by two nats, or from the
    /// bound; `None` when the side is empty or flat up to its bound.
    pub(super) sd: Option<f64>,
    /// Distance where the density fell by the asked drop, or to the bound.
    pub(super) reach: f64,
    /// The coordinate whose bound ends the side before the density fell by the asked drop.
    pub(super) bound: Option<usize>,
    /// Whether it ends where the density cannot be evaluated.
    pub(super) is_cut: bool,
}

/// The log posterior around its mode.
pub(super) struct ModeProfile<'s, 'a> {
    pub(super) space: &'s FreeSpace<'a>,
    pub(super) bounds: Vec<(f64, f64)>,
    pub(super) mode: Vec<f64>,
    pub(super) peak: f64,
    pub(super) evaluations: usize,
    /// What evaluations near the mode begin with.
    pub(super) begin: WarmStart,
}

impl ModeProfile<'_, '_> {
    /// Both sides of a direction: `[towards -, towards +]`.
    ///
    /// # Errors
    /// Only errors that are not recoverable: where the density cannot be evaluated it counts as
    /// zero.
    pub(super) fn sides(
        &mut self,
        direction: &[f64],
        drop: f64,
    ) -> Result<[ProfileSide; 2], FitError> {
        Ok([
            self.side(direction, -1.0, drop)?,
            self.side(direction, 1.0, drop)?,
        ])
    }

    fn side(&mut self, direction: &[f64], sign: f64, drop: f64) -> Result<ProfileSide, FitError> {
        let (limit, bound) = self.exit(direction, sign);
        let mut warm_start = self.begin.clone();
        let (near, drop_near) = self.distance(direction, sign, TWO_SD, limit, &mut warm_start)?;
        let sd = if drop_near >= TWO_SD {
            Some(0.5 * near)
        } else if limit > 0.0 && drop_near > 0.02 {
            Some(limit / (2.0 * drop_near).sqrt())
        } else {
            None
        };
        if drop_near < TWO_SD {
            return Ok(ProfileSide {
                sd,
                reach: limit,
                bound,
                is_cut: false,
            });
        }
        let (reach, reached) = self.distance(direction, sign, drop, limit, &mut warm_start)?;
        Ok(ProfileSide {
            sd,
            reach,
            bound: bound.filter(|_| reached < drop),
            is_cut: reached.is_infinite(),
        })
    }

    /// The distance to the box along a ray, and the coordinate that ends it.
    fn exit(&self, direction: &[f64], sign: f64) -> (f64, Option<usize>) {
        let mut nearest = (f64::INFINITY, None);
        for (i, d) in direction.iter().enumerate() {
            let speed = sign * d;
            let room = if speed > 0.0 {
                self.bounds[i].1 - self.mode[i]
            } else {
                self.bounds[i].0 - self.mode[i]
            };
            if speed != 0.0 && (room / speed).max(0.0) < nearest.0 {
                nearest = ((room / speed).max(0.0), Some(i));
            }
        }
        nearest
    }

    /// The distance, at most `limit`, where the density has fallen by `drop`, and its fall there.
    /// Every evaluation begins with what was found at the last place on the way that has not fallen
    /// so far, where the warm start ends: what is found far out is a poor start for what is near,
    /// and an approximation that has not converged would pass for a fall.
    fn distance(
        &mut self,
        direction: &[f64],
        sign: f64,
        drop: f64,
        limit: f64,
        warm_start: &mut WarmStart,
    ) -> Result<(f64, f64), FitError> {
        if limit <= 0.0 {
            return Ok((0.0, 0.0));
        }
        // A normal density has fallen by `drop` at sqrt(2 drop) standard deviations.
        let (mut low, mut low_drop) = (0.0, 0.0);
        let mut high = (2.0 * drop).sqrt().min(limit);
        let mut high_drop;
        loop {
            let mut there = warm_start.clone();
            high_drop = self.fall(direction, sign * high, &mut there)?;
            if high_drop >= drop {
                break;
            }
            if high >= limit {
                return Ok((limit, high_drop));
            }
            (low, low_drop, *warm_start) = (high, high_drop, there);
            high = (1.5 * high).min(limit);
        }
        while high - low > ACCURACY * high {
            // Secant on the root of the fall, which a normal density makes linear; kept inside.
            let (a, b) = (low_drop.max(0.0).sqrt(), high_drop.min(1e6).sqrt());
            let share = ((drop.sqrt() - a) / (b - a)).clamp(0.1, 0.9);
            let middle = low + share * (high - low);
            let mut there = warm_start.clone();
            let fall = self.fall(direction, sign * middle, &mut there)?;
            if fall >= drop {
                (high, high_drop) = (middle, fall);
            } else {
                (low, low_drop, *warm_start) = (middle, fall, there);
            }
        }
        Ok((high, high_drop))
    }

    fn fall(
        &mut self,
        direction: &[f64],
        distance: f64,
        warm_start: &mut WarmStart,
    ) -> Result<f64, FitError> {
        let z: Vec<f64> = self
            .mode
            .iter()
            .zip(direction)
            .map(|(m, d)| m + distance * d)
            .collect();
        self.evaluations += 1;
        let value = log_posterior(self.space, &z, warm_start)?.0;
        Ok(self.peak - value)
    }
}

/// Log posterior and log evidence; `-inf` where they cannot be evaluated.
///
/// # Errors
/// Errors that are not recoverable.
pub(super) fn log_posterior(
    space: &FreeSpace<'_>,
    z: &[f64],
    warm_start: &mut WarmStart,
) -> Result<(f64, f64), FitError> {
    match space.value(z, warm_start) {
        Ok(density) if density.log_posterior.is_finite() => {
            Ok((density.log_posterior, density.log_evidence))
        }
        Ok(_) => Ok((f64::NEG_INFINITY, f64::NEG_INFINITY)),
        Err(error) if error.is_recoverable() => Ok((f64::NEG_INFINITY, f64::NEG_INFINITY)),
        Err(error) => Err(error),
    }
}

/// `V diag(values)^-1/2` of a curvature matrix: columns are steps of one standard deviation. Values
/// that are not positive, or so small that a direction would be wider than 3, are raised.
pub(super) fn principal_steps(curvature: &Mat<f64>) -> Result<Mat<f64>, FitError> {
    let eigen = symmetric_eigen(curvature.as_ref())?;
    let n = eigen.values.len();
    Ok(Mat::from_fn(n, n, |i, j| {
        eigen.vectors[(i, j)] / eigen.values[j].max(WIDEST.powi(-2)).sqrt()
    }))
}
