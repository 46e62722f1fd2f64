//! What is believed of the curve before bands are seen: a smooth function and a rough one.
//!
//! The log density `f(u)` is `m + s(u) + r(u) - a h(u)`: an unknown level, a once differentiable
//! function (Matern 3/2), steps from one year to the next (Matern 1/2), and a tail. A logarithm has
//! a natural scale, so that variances have priors of their own and not of the data.
//!
//! | what | prior |
//! |---|---|
//! | variance of `s` | log-normal around `v`, log sd 2 |
//! | lengthscale of `s` | log-normal around 0.15 of the axis, log sd 0.7 |
//! | variance of `r` | log-normal around 0.03 `v`, log sd 1 |
//! | lengthscale of `r` | log-normal around 0.05 of the axis, log sd 0.7 |
//!
//! `v` is 0.15 for ages and 0.3 for amounts of money: of 40 local authorities of England and Wales
//! and of 40 counties of the United States.

use super::settings::StandardNormals;
use crate::inference::pooled::NodePrior;
use crate::linalg::Mat;
use crate::special::exp;
use crate::special::scalar::normal_quantile;

/// Centres and log sds, in the order of the table: relative to the scale of `f` or to the axis.
const CENTRES: [f64; 4] = [1.0, 0.15, 0.03, 0.05];
const LOG_SDS: [f64; 4] = [2.0, 0.7, 1.0, 0.7];
/// The sd of a level of which nothing is known.
pub(super) const LEVEL_SD: f64 = 10.0;

/// Variance and lengthscale of the smooth function, then those of the rough one.
pub(super) type Setting = [f64; 4];

/// Settings of equal prior weight: a low-discrepancy sequence.
///
/// # Arguments
/// * `variance` - `v`
/// * `length` - of the axis
pub(super) fn settings(count: usize, variance: f64, length: f64, seed: u64) -> Vec<Setting> {
    let scramble = (seed ^ (seed >> 32)) as u32;
    let one = |i: usize| {
        let z = std::array::from_fn(|d| {
            let u = f64::from(sobol_burley::sample(i as u32, d as u32, scramble));
            // The sequence holds zero.
            normal_quantile(u.clamp(1e-9, 1.0 - 1e-9))
        });
        setting(&central(variance, length), &z)
    };
    (0..count).map(one).collect()
}

/// The setting of standard normals, by that in the middle of the prior.
pub(super) fn setting(central: &Setting, z: &StandardNormals) -> Setting {
    std::array::from_fn(|d| central[d] * (LOG_SDS[d] * z[d]).exp())
}

/// The setting in the middle of the prior.
pub(super) fn central(variance: f64, length: f64) -> Setting {
    [
        CENTRES[0] * variance,
        CENTRES[1] * length,
        CENTRES[2] * variance,
        CENTRES[3] * length,
    ]
}

/// One linear term of the prior: its shape at every cell, mean and sd of its factor.
#[derive(Debug, Clone)]
pub(super) struct PriorTerm {
    pub shape: Vec<f64>,
    pub mean: f64,
    pub sd: f64,
}

/// Mean and covariance of the cells.
///
/// # Arguments
/// * `places` - their middles on the axis
/// * `level` - mean and sd of the level
/// * `terms` - whose factors are normal
pub(super) fn prior(
    setting: &Setting,
    places: &[f64],
    (level, level_sd): (f64, f64),
    terms: &[PriorTerm],
) -> NodePrior {
    let [smooth, far, rough, near] = *setting;
    let n = places.len();
    let mut covariance = Mat::zeros(n, n);
    let (mut by_far, mut by_near) = (vec![0.0; n], vec![0.0; n]);
    for j in 0..n {
        let below = &places[j..];
        let (decay, steep) = (&mut by_far[..n - j], &mut by_near[..n - j]);
        for (i, x) in below.iter().enumerate() {
            let distance = (x - places[j]).abs();
            decay[i] = -3f64.sqrt() * distance / far;
            steep[i] = -distance / near;
        }
        let bends: Vec<f64> = decay.iter().map(|t| smooth * (1.0 - t)).collect();
        exp(decay);
        exp(steep);
        let column = covariance.col_as_slice_mut(j);
        for (i, out) in column[j..].iter_mut().enumerate() {
            let own: f64 = terms
                .iter()
                .map(|t| t.sd * t.sd * t.shape[j] * t.shape[j + i])
                .sum();
            *out = bends[i] * decay[i] + rough * steep[i] + level_sd * level_sd + own;
        }
    }
    for j in 0..n {
        for i in 0..j {
            covariance[(i, j)] = covariance[(j, i)];
        }
    }
    let mean = |i: usize| level + terms.iter().map(|t| t.mean * t.shape[i]).sum::<f64>();
    NodePrior {
        mean: (0..n).map(mean).collect(),
        covariance,
    }
}
