//! Two conditional densities beside each other: by how much their medians differ.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::super::curves::Work;
use super::estimate::ConditionalEstimate;
use super::slices::quantiles;

/// Pairs of draws.
const PAIRS: usize = 4000;

/// The median of the first less that of the second, at places of the given column.
#[derive(Debug, Clone, PartialEq)]
pub struct MedianDifference {
    /// Places, those that lie within the slices of both.
    pub places: Vec<f64>,
    /// The difference of the medians.
    pub value: Vec<f64>,
    /// Lower ends of its pointwise intervals.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
    /// Probability that the median of the first is the larger, at each place.
    pub larger: Vec<f64>,
}

impl ConditionalEstimate {
    /// Compares the medians of two estimates of rows that are independent, by pairs of draws.
    ///
    /// # Arguments
    /// * `places` - of the given column; those outside of the slices of either are left out
    /// * `seed` - of the pairs
    ///
    /// # Numerics
    /// Probabilities have a standard deviation of at most 0.008 by the 4,000 pairs, and of `1 / (2
    /// sqrt n)` by draws of an effective size `n`.
    #[must_use]
    pub fn compare_medians(&self, other: &Self, places: &[f64], seed: u64) -> MedianDifference {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let picks = [self, other].map(|e| e.fit.picks(PAIRS, &mut random));
        let equal = vec![1.0 / PAIRS as f64; PAIRS];
        let tail = 0.5 * (1.0 - self.fit.level);
        let mut work = Work::default();
        let mut out = MedianDifference {
            places: Vec::new(),
            value: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
            larger: Vec::new(),
        };
        for place in places {
            let (Some(a), Some(b)) = (self.medians(*place), other.medians(*place)) else {
                continue;
            };
            let pairs = picks[0].iter().zip(&picks[1]);
            let differences: Vec<f64> = pairs.map(|(i, j)| a.1[*i] - b.1[*j]).collect();
            let [lower, upper] = work.quantiles(&differences, &equal, [tail, 1.0 - tail]);
            let value = a.0 - b.0;
            let larger = differences.iter().filter(|d| **d > 0.0).count();
            out.places.push(*place);
            out.value.push(value);
            out.lower.push(lower.min(value));
            out.upper.push(upper.max(value));
            out.larger.push(larger as f64 / PAIRS as f64);
        }
        out
    }

    /// The median that is told at a place, and that of every draw; none outside of the slices.
    fn medians(&self, place: f64) -> Option<(f64, Vec<f64>)> {
        let slice = self.slice(place)?;
        let told = self.quantile(place, 0.5)?;
        let mut out = Vec::new();
        let curves = &self.fit.curves;
        curves.each(&self.fit.grid, slice..slice + 1, |_, mass| {
            [out] = quantiles(mass, self.edges(1), [0.5]);
        });
        Some((told.value, out))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Conditional;
    use super::super::tests::normals;

    #[test]
    fn medians_that_part_are_told_apart_where_they_do() {
        let of = |seed: u64, by: f64| {
            let [noise, _] = normals(300, 0.0, seed);
            let x: Vec<f64> = (0..300).map(|i| f64::from(i) / 300.0).collect();
            let y: Vec<f64> = x.iter().zip(noise).map(|(x, e)| by * x + 0.3 * e).collect();
            let density = Conditional::new(&x, &y).cells(12, 40).draws(1000);
            density.estimate().unwrap()
        };
        let (flat, steep) = (of(1, 0.0), of(2, 2.0));
        let places = [0.02, 0.5, 0.98, 7.0];
        let found = flat.compare_medians(&steep, &places, 1);
        // Nobody has rows at 7.
        assert_eq!(found.places, places[..3]);
        // Medians of 0, 1 and 2 less: an sd of 0.3 over the root of some 40 rows each.
        for (k, want) in [(0, -0.04), (1, -1.0), (2, -1.96)] {
            assert!((found.value[k] - want).abs() < 0.3, "{found:?}");
        }
        assert!(found.lower[0] < 0.0 && found.upper[0] > 0.0 && found.larger[0] > 0.005);
        assert!(found.upper[2] < -1.4 && found.larger[2] < 0.001);
        let back = steep.compare_medians(&flat, &places, 1);
        assert!(
            found
                .value
                .iter()
                .zip(&back.value)
                .all(|(a, b)| (a + b).abs() < 1e-12)
        );
    }
}
