//! One hidden layer of rectified linear units.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::linalg::{Mat, MatRef, dot, gemm, matvec};

/// `f(x) = b + a' max(0, W' x + c)` with `D` inputs and `H` units.
///
/// The parameters lie one after the other: for every unit its weights `W` and its threshold `c`,
/// then the weights `a` of all units, then the level `b`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layers {
    inputs: usize,
    units: usize,
    pub values: Vec<f64>,
}

/// What units give at every point, shape `[n, H]`, and the function there.
pub(super) struct Passed {
    units: Mat<f64>,
    pub f: Vec<f64>,
}

impl Layers {
    /// Random weights of units, of variance `2 / D`, that keep the spread of the inputs (He, Zhang,
    /// Ren and Sun 2015); what they add to the level is a tenth of that.
    pub fn random(inputs: usize, units: usize, level: f64, random: &mut ChaCha8Rng) -> Self {
        let mut values = Vec::with_capacity(units * (inputs + 2) + 1);
        let normal = |variance: f64, random: &mut ChaCha8Rng| -> f64 {
            let z: f64 = StandardNormal.sample(random);
            variance.sqrt() * z
        };
        for _ in 0..units {
            values.extend((0..inputs).map(|_| normal(2.0 / inputs as f64, random)));
            // Thresholds within the inputs, whose variance is one.
            values.push(random.random_range(-1.0..1.0));
        }
        values.extend((0..units).map(|_| normal(0.01 / units as f64, random)));
        values.push(level);
        Self {
            inputs,
            units,
            values,
        }
    }

    /// Those of given parameters.
    #[cfg(test)]
    pub fn of(inputs: usize, units: usize, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), units * (inputs + 2) + 1);
        Self {
            inputs,
            units,
            values,
        }
    }

    fn inner(&self) -> MatRef<'_, f64> {
        let inner = &self.values[..self.units * (self.inputs + 1)];
        MatRef::from_column_major_slice(inner, self.inputs + 1, self.units)
    }

    fn outer(&self) -> &[f64] {
        let first = self.units * (self.inputs + 1);
        &self.values[first..first + self.units]
    }

    /// The function at points.
    ///
    /// # Arguments
    /// * `x` - coordinates and a one for each, shape `[n, D + 1]`
    pub fn pass(&self, x: MatRef<'_, f64>) -> Passed {
        let mut units = gemm(x, self.inner());
        for j in 0..self.units {
            units
                .col_as_slice_mut(j)
                .iter_mut()
                .for_each(|u| *u = u.max(0.0));
        }
        let level = self.values[self.values.len() - 1];
        let f = matvec(units.as_ref(), self.outer());
        Passed {
            f: f.into_iter().map(|f| level + f).collect(),
            units,
        }
    }

    /// The slopes of an objective along all parameters, in their order.
    ///
    /// # Arguments
    /// * `along` - the slopes of the objective along the function at every point
    pub fn slopes(&self, x: MatRef<'_, f64>, passed: &Passed, along: &[f64]) -> Vec<f64> {
        let outer = self.outer();
        // A unit that gives nothing has no slope.
        let of_units = Mat::from_fn(along.len(), self.units, |i, j| {
            let is_on = passed.units[(i, j)] > 0.0;
            if is_on { along[i] * outer[j] } else { 0.0 }
        });
        let inner = gemm(x.transpose(), of_units.as_ref());
        let mut slopes = Vec::with_capacity(self.values.len());
        for j in 0..self.units {
            slopes.extend_from_slice(inner.col_as_slice(j));
        }
        slopes.extend(matvec(passed.units.transpose(), along));
        slopes.push(along.iter().sum());
        slopes
    }

    /// The function at one point.
    pub fn at(&self, x: &[f64]) -> f64 {
        let (inner, outer) = (self.inner(), self.outer());
        let unit = |j: usize| {
            let weights = (0..self.inputs).map(|d| inner[(d, j)] * x[d]);
            (weights.sum::<f64>() + inner[(self.inputs, j)]).max(0.0)
        };
        let units: Vec<f64> = (0..self.units).map(unit).collect();
        self.values[self.values.len() - 1] + dot(outer, &units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn one_point_is_as_many() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let layers = Layers::random(2, 7, 1.5, &mut random);
        let x = Mat::from_fn(4, 3, |i, d| {
            [0.3 * i as f64 - 0.4, 1.0 - 0.7 * i as f64, 1.0][d]
        });
        let f = layers.pass(x.as_ref()).f;
        for (i, f) in f.iter().enumerate() {
            // The same sums in another order.
            assert!((f - layers.at(&[x[(i, 0)], x[(i, 1)]])).abs() < 1e-14);
        }
    }

    #[test]
    fn by_hand() {
        // One unit: 2 x - 1 above a half, times -3, plus 5.
        let layers = Layers::of(1, 1, vec![2.0, -1.0, -3.0, 5.0]);
        assert_eq!([0.0, 0.5, 2.0].map(|x| layers.at(&[x])), [5.0, 5.0, -4.0]);
    }
}
