//! A central composite design about the most probable hyperparameters, in few dimensions.

use crate::linalg::{Mat, symmetric_eigen};

use super::error::DensityError;

/// Differences of the slopes are taken over this, in logarithms.
const DIFFERENCE: f64 = 0.15;
/// Largest standard deviation of a principal direction of the logarithms.
const WIDEST: f64 = 2.0;
/// Radius of the design in standard deviations and dimensions.
const RADIUS: f64 = 1.1;
/// Limits of what a direction of the design is stretched by.
const STRETCH: (f64, f64) = (0.3, 3.0);

/// Settings that [`directions`] and [`design`] look at: the top, of each dimension one for its
/// curvature, two for how far the log posterior falls and two of the design, the centre and all
/// corners.
pub(super) const fn looked_at(dimensions: u32) -> usize {
    2 + 5 * dimensions as usize + 2_usize.pow(dimensions)
}

/// Settings of less than this probability are dropped.
const DROP: f64 = 1e-3;

/// Settings with their weights, heaviest first: without those that weigh next to nothing, and with
/// weights that add up to one.
pub(super) fn heaviest<C>(mut all: Vec<(f64, C)>) -> Vec<(f64, C)> {
    let sum: f64 = all.iter().map(|(weight, _)| weight).sum();
    all.retain(|(weight, _)| *weight >= DROP * sum);
    let sum: f64 = all.iter().map(|(weight, _)| weight).sum();
    all.iter_mut().for_each(|(weight, _)| *weight /= sum);
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all
}

/// A log posterior of logarithms of hyperparameters, between bounds.
pub(super) trait HyperPosterior<const N: usize> {
    /// Lower and upper bounds.
    fn bounds(&self) -> [(f64, f64); N];

    /// The log posterior; minus infinity where it is not found.
    fn value(&self, at: [f64; N]) -> f64;

    /// The same with its slopes.
    ///
    /// # Errors
    /// Where it is not found.
    fn sloped(&self, at: [f64; N]) -> Result<(f64, [f64; N]), DensityError>;

    /// The nearest place within the bounds.
    fn clamp(&self, at: [f64; N]) -> [f64; N] {
        let bounds = self.bounds();
        std::array::from_fn(|a| at[a].clamp(bounds[a].0, bounds[a].1))
    }
}

/// Principal directions about the top, of the length of a standard deviation: those of the
/// curvature, from differences of slopes, stretched by how far the log posterior really falls at
/// the root of two standard deviations, which is one where it is normal.
///
/// # Errors
/// Those of the log posterior.
pub(super) fn directions<const N: usize>(
    of: &impl HyperPosterior<N>,
    top: [f64; N],
) -> Result<[[f64; N]; N], DensityError> {
    let (here, slopes) = of.sloped(top)?;
    let bounds = of.bounds();
    let mut curvature = Mat::zeros(N, N);
    for a in 0..N {
        // Inwards, where the top is at a limit.
        let sign = if top[a] + DIFFERENCE > bounds[a].1 {
            -1.0
        } else {
            1.0
        };
        let mut at = top;
        at[a] += sign * DIFFERENCE;
        let (_, there) = of.sloped(at)?;
        for b in 0..N {
            let slope = (slopes[b] - there[b]) / (sign * DIFFERENCE);
            curvature[(a, b)] += 0.5 * slope;
            curvature[(b, a)] += 0.5 * slope;
        }
    }
    let eigen = symmetric_eigen(curvature.as_ref())?;
    let mut out = [[0.0; N]; N];
    for (k, direction) in out.iter_mut().enumerate() {
        let sd = eigen.values[k].max(1.0 / (WIDEST * WIDEST)).sqrt().recip();
        *direction = std::array::from_fn(|a| sd * eigen.vectors[(a, k)]);
        let mut fall = 0.0;
        for sign in [-1.0, 1.0] {
            let away = std::array::from_fn(|a| top[a] + sign * 2_f64.sqrt() * direction[a]);
            fall += 0.5 * (here - of.value(of.clamp(away)).max(f64::MIN)).max(0.0);
        }
        let stretch = fall.sqrt().recip().clamp(STRETCH.0, STRETCH.1);
        direction.iter_mut().for_each(|x| *x *= stretch);
    }
    Ok(out)
}

/// The points of the design, in standard deviations along the directions, the centre first, and the
/// weight of each beside the density there (Rue, Martino & Chopin 2009, section 6.5): a centre, two
/// points on each axis, and all corners.
pub(super) fn design<const N: usize>() -> Vec<([f64; N], f64)> {
    let (square, n) = (RADIUS * RADIUS, N as f64);
    let mut points = vec![[0.0; N]];
    for a in 0..N {
        for sign in [-1.0, 1.0] {
            let mut z = [0.0; N];
            z[a] = sign * RADIUS * n.sqrt();
            points.push(z);
        }
    }
    for corner in 0..1_u32 << N {
        let side = |a: usize| match corner >> a & 1 {
            1 => RADIUS,
            _ => -RADIUS,
        };
        points.push(std::array::from_fn(side));
    }
    let around = (points.len() - 1) as f64;
    let weight = |i: usize| match i {
        0 => 1.0 - 1.0 / square,
        // The density there is this exponential where it is normal.
        _ => (0.5 * n * square).exp() / (around * square),
    };
    let points = points.into_iter().enumerate();
    points.map(|(i, z)| (z, weight(i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::dot;

    fn integrates<const N: usize>() {
        // With the density relative to its top, in units of (2 pi)^(N/2).
        let mut moments = [0.0; 3];
        for (z, weight) in design::<N>() {
            let mass = weight * (-0.5 * dot(&z, &z)).exp();
            moments[0] += mass;
            moments[1] += mass * z[0] * z[0];
            moments[2] += mass * z[0] * z[1];
        }
        // Sums of fifteen terms of order one.
        assert!((moments[0] - 1.0).abs() < 1e-14);
        assert!((moments[1] - 1.0).abs() < 1e-14);
        assert!(moments[2].abs() < 1e-14);
    }

    #[test]
    fn designs_integrate_normal_densities() {
        integrates::<2>();
        integrates::<3>();
    }

    /// A normal density with correlated coordinates, up to a bound of the second.
    struct Normal(f64);

    impl HyperPosterior<2> for Normal {
        fn bounds(&self) -> [(f64, f64); 2] {
            [(-9.0, 9.0), (-9.0, self.0)]
        }

        fn value(&self, [x, y]: [f64; 2]) -> f64 {
            let y = y - 1.0;
            -(2.0 * x * x + 2.0 * x * y + 3.0 * y * y) / 2.0
        }

        fn sloped(&self, at: [f64; 2]) -> Result<(f64, [f64; 2]), DensityError> {
            let [x, y] = [at[0], at[1] - 1.0];
            Ok((self.value(at), [-2.0 * x - y, -x - 3.0 * y]))
        }
    }

    #[test]
    fn directions_are_those_of_the_covariance() {
        let sum = |found: &[[f64; 2]; 2], a: usize, b: usize| {
            found.iter().map(|d| d[a] * d[b]).sum::<f64>()
        };
        // Their squares sum to the inverse of [2 1; 1 3].
        let found = directions(&Normal(9.0), [0.0, 1.0]).unwrap();
        for (a, b, want) in [(0, 0, 0.6), (0, 1, -0.2), (1, 1, 0.4)] {
            // Slopes are straight: rounding over differences of 0.15.
            assert!((sum(&found, a, b) - want).abs() < 1e-12, "{a} {b}");
        }
        // Where a bound cuts a fall they are longer, by no more than the limit.
        let cut = directions(&Normal(1.05), [0.0, 1.0]).unwrap();
        for (k, whole) in found.iter().enumerate() {
            let ratio = cut[k][1].abs() / whole[1].abs();
            assert!((1.0..=STRETCH.1).contains(&ratio), "{k}: {ratio}");
        }
    }
}
