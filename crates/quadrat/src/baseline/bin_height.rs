//! Reading off the histogram.

use super::Predict;
use super::reported::{NO_NUMBER, Reported};
use crate::error::{FitError, InputError};
use crate::model::{Observations, Prediction};
use crate::support::Functionals;

/// Areal weighting: the height of the bin, `value / (volume * exposure)`, taken as the function
/// everywhere inside it.
///
/// A support across several bins gets the average of their heights, weighted by overlap;
/// overlapping bins share. Outside every bin the height of the nearest bin is used. There is no
/// uncertainty: every sd is zero.
#[derive(Debug, Clone, PartialEq)]
pub struct BinHeight {
    bins: Functionals,
    heights: Vec<f64>,
}

impl BinHeight {
    /// # Errors
    /// [`InputError::Unavailable`] when a row is not a single box or point, or reports no number.
    pub fn new(table: &Observations) -> Result<Self, InputError> {
        let bins = table.supports().clone();
        if !bins.all_single() || bins.has_regions() {
            return Err(InputError::Unavailable {
                what: "the bin height",
                remedy: "it needs one box per row; use the posterior for bags of nodes",
            });
        }
        let reported = Reported::of(table).ok_or(NO_NUMBER)?;
        let heights = (0..bins.len())
            .map(|row| reported.rate(row, &bins))
            .collect();
        Ok(Self { bins, heights })
    }

    /// Average height over one atom of `at`.
    fn over(&self, at: &Functionals, atom: usize) -> f64 {
        let (mut total, mut covered) = (0.0, 0.0);
        let (mut nearest, mut shortest) = (0.0, f64::INFINITY);
        for (bin, &height) in self.heights.iter().enumerate() {
            let (mut share, mut distance) = (1.0, 0.0);
            for d in 0..self.bins.dims().len() {
                let (s, w) = (self.bins.lower(d)[bin], self.bins.width(d)[bin]);
                let (a, v) = (at.lower(d)[atom], at.width(d)[atom]);
                let overlap = (s + w).min(a + v) - s.max(a);
                if v > 0.0 {
                    share *= overlap.max(0.0) / v;
                } else if !(s <= a && a < s + w || a == s) {
                    share = 0.0;
                }
                let gap = (-overlap).max(0.0) / self.scale(d);
                distance += gap * gap;
            }
            total += share * height;
            covered += share;
            if distance < shortest {
                (nearest, shortest) = (height, distance);
            }
        }
        if covered > 0.0 {
            total / covered
        } else {
            nearest
        }
    }

    /// Extent of the bins along a dimension, so that distances add up across units.
    fn scale(&self, d: usize) -> f64 {
        let (lo, hi) = self.bins.range(d);
        if hi > lo { hi - lo } else { 1.0 }
    }
}

impl Predict for BinHeight {
    /// # Errors
    /// [`InputError::UnknownDimension`].
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let at = at.select(self.bins.dims())?;
        let means: Vec<f64> = (0..at.len())
            .map(|row| {
                at.atoms(row)
                    .map(|atom| at.weight()[atom] * self.over(&at, atom))
                    .sum()
            })
            .collect();
        let variances = vec![0.0; means.len()];
        Ok(Prediction::from_moments(vec![1.0], &[(means, variances)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Noise;
    use crate::support::Aggregate;

    fn histogram(aggregate: Aggregate) -> BinHeight {
        let bins = [(0.0, 10.0), (20.0, 10.0), (20.0, 40.0)];
        let set = Functionals::intervals("x", &bins, aggregate).unwrap();
        let values = match aggregate {
            Aggregate::Sum => vec![20.0, 40.0, 120.0],
            Aggregate::Mean => vec![2.0, 4.0, 6.0],
        };
        BinHeight::new(&Observations::gaussian(set, values, Noise::Learned).unwrap()).unwrap()
    }

    #[test]
    fn heights_are_densities_whatever_was_reported() {
        for aggregate in [Aggregate::Sum, Aggregate::Mean] {
            let baseline = histogram(aggregate);
            let mut at = Functionals::points("x", &[5.0, 10.0, 39.0, 55.0, -3.0]).unwrap();
            at.push_box(&[(5.0, 15.0)], Aggregate::Sum).unwrap();
            at.push_box(&[(0.0, 40.0)], Aggregate::Mean).unwrap();
            at.push_nodes(&[vec![1.0], vec![30.0]], &[2.0, -1.0])
                .unwrap();
            let p = baseline.predict_response(&at).unwrap();
            let expected = [2.0, 4.0, 6.0, 6.0, 2.0, 30.0, 4.5, -2.0];
            for (got, expected) in p.mean().iter().zip(expected) {
                // A few roundings of values up to 30, each of 30 eps = 7e-15.
                assert!((got - expected).abs() < 1e-12, "{got} {expected}");
            }
        }
    }
}
