//! More than three hyperparameters: the central composite design.
//!
//! A centre, two points per axis and the corners of a two-level fractional factorial, all outer
//! points at distance `f0 sqrt(m)` standard deviations, with weights that are exact for the volume
//! and the second moments of a normal density.
//!
//! # Source
//! Rue, Martino & Chopin 2009, section 6.5; the corners from Sanchez & Sanchez 2005.

/// Radius of the outer points over `sqrt(m)`.
const F0: f64 = 1.1;

/// Walsh indices of resolution-V fractions: factor `j` of run `r` has the sign `(-1)^popcount(r &
/// INDICES[j])`. No main effect or two-factor interaction is confounded with another.
const INDICES: [u32; 20] = [
    1, 2, 4, 8, 15, 16, 32, 51, 64, 85, 106, 128, 150, 171, 219, 237, 247, 256, 279, 297,
];

/// Most dimensions of a design.
pub(super) const MOST: usize = INDICES.len();

/// A point in standard deviations, with its weight under the standard normal density.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DesignPoint {
    pub(super) t: Vec<f64>,
    pub(super) weight: f64,
}

/// The design in `m <= 20` dimensions; the weights sum to 1.
pub(super) fn design(m: usize) -> Vec<DesignPoint> {
    let radius = F0 * (m as f64).sqrt();
    let mut outer: Vec<Vec<f64>> = Vec::new();
    for j in 0..m {
        for sign in [-1.0, 1.0] {
            let mut t = vec![0.0; m];
            t[j] = sign * radius;
            outer.push(t);
        }
    }
    let largest = INDICES[..m].iter().fold(0, |a, b| a.max(*b));
    for run in 0..(largest + 1).next_power_of_two() {
        outer.push(
            INDICES[..m]
                .iter()
                .map(|index| {
                    if (run & index).count_ones() % 2 == 0 {
                        F0
                    } else {
                        -F0
                    }
                })
                .collect(),
        );
    }
    let share = 1.0 / (F0 * F0 * outer.len() as f64);
    let mut points = vec![DesignPoint {
        t: vec![0.0; m],
        weight: 1.0 - 1.0 / (F0 * F0),
    }];
    points.extend(outer.into_iter().map(|t| DesignPoint { t, weight: share }));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(points: &[DesignPoint], f: impl Fn(&[f64]) -> f64) -> f64 {
        points.iter().map(|p| p.weight * f(&p.t)).sum()
    }

    #[test]
    fn volume_and_second_moments_are_those_of_a_normal_density() {
        for m in 2..=12 {
            // Up to 281 terms of a sum of up to 12: n eps 12 = 7e-13.
            let points = design(m);
            assert!((moment(&points, |_| 1.0) - 1.0).abs() < 1e-12);
            assert!((moment(&points, |t| t.iter().map(|v| v * v).sum()) - m as f64).abs() < 1e-12);
            for i in 0..m {
                assert!(moment(&points, |t| t[i]).abs() < 1e-12);
                assert!((moment(&points, |t| t[i] * t[i]) - 1.0).abs() < 1e-12);
                for j in 0..i {
                    assert!(moment(&points, |t| t[i] * t[j]).abs() < 1e-12);
                }
            }
        }
    }

    /// Resolution V: no product of up to four factors is constant.
    fn is_resolution_five(indices: &[u32]) -> bool {
        let mut seen = std::collections::BTreeSet::from([0]);
        let singles = indices.iter().copied();
        let pairs = (0..indices.len()).flat_map(|i| (0..i).map(move |j| indices[i] ^ indices[j]));
        singles.chain(pairs).all(|word| seen.insert(word))
    }

    #[test]
    fn corners_have_resolution_five() {
        assert!(is_resolution_five(&INDICES));
        assert!(!is_resolution_five(&[1, 2, 4, 7]));
    }

    #[test]
    fn sizes_are_those_of_the_published_designs() {
        for (m, corners) in [
            (4, 16),
            (5, 16),
            (6, 32),
            (7, 64),
            (8, 64),
            (9, 128),
            (11, 128),
        ] {
            assert_eq!(design(m).len(), 1 + 2 * m + corners);
        }
    }
}
