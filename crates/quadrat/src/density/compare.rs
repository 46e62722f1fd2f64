//! Two densities beside each other: where they differ, and how sure that is.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::answers::Answer;
use super::curves::Work;
use super::estimate::Estimate;

/// Pairs of draws.
const PAIRS: usize = 4000;
/// Probability beyond each end of the places.
const UNSEEN: f64 = 1e-3;

/// The first density less the second, which are independent.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Places, evenly spaced over both densities.
    pub places: Vec<f64>,
    /// The difference of the densities.
    pub difference: Vec<f64>,
    /// Lower ends of its pointwise band.
    pub lower: Vec<f64>,
    /// Upper ends.
    pub upper: Vec<f64>,
    /// Probability that the first density is the larger, at each place.
    pub larger: Vec<f64>,
    /// The difference of the medians.
    pub median: Answer,
    /// Probability that the median of the first is the larger.
    pub median_larger: f64,
    /// The difference of the means.
    pub mean: Answer,
    /// Probability that the mean of the first is the larger.
    pub mean_larger: f64,
}

impl Estimate {
    /// Compares two densities of rows that are independent, by pairs of draws.
    ///
    /// # Arguments
    /// * `places` - how many, at least two
    /// * `seed` - of the pairs
    ///
    /// # Numerics
    /// Probabilities err by less than 0.01: 4,000 pairs.
    #[must_use]
    pub fn compare(&self, other: &Self, places: usize, seed: u64) -> Comparison {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let picks = [self, other].map(|estimate| estimate.pairs(&mut random));
        let ends = [self, other].map(Self::seen);
        let (from, to) = (ends[0].0.min(ends[1].0), ends[0].1.max(ends[1].1));
        let step = (to - from) / (places.max(2) - 1) as f64;
        let places: Vec<f64> = (0..places.max(2)).map(|i| from + step * i as f64).collect();
        let equal = vec![1.0 / PAIRS as f64; PAIRS];
        let mut work = Work::default();
        let mut out = Comparison {
            difference: Vec::with_capacity(places.len()),
            lower: Vec::with_capacity(places.len()),
            upper: Vec::with_capacity(places.len()),
            larger: Vec::with_capacity(places.len()),
            places: Vec::new(),
            median: NOTHING,
            median_larger: 0.0,
            mean: NOTHING,
            mean_larger: 0.0,
        };
        let mut pair = |a: &[f64], b: &[f64], value: f64| {
            let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            let tail = 0.5 * (1.0 - self.level);
            let [lower, upper] = work.quantiles(&differences, &equal, [tail, 1.0 - tail]);
            let answer = Answer {
                value,
                lower: lower.min(value),
                upper: upper.max(value),
            };
            let larger = differences.iter().filter(|d| **d > 0.0).count();
            (answer, larger as f64 / PAIRS as f64)
        };
        for x in &places {
            let (a, b) = (self.at(*x, &picks[0]), other.at(*x, &picks[1]));
            let value = self.between(*x) - other.between(*x);
            let (answer, larger) = pair(&a, &b, value);
            out.difference.push(answer.value);
            out.lower.push(answer.lower);
            out.upper.push(answer.upper);
            out.larger.push(larger);
        }
        let centres = [self.centres(), other.centres()];
        let of = |which: usize, draws: usize| -> Vec<f64> {
            picks[draws]
                .iter()
                .map(|i| centres[draws][which][*i])
                .collect()
        };
        let median = self.quantile(0.5).value - other.quantile(0.5).value;
        let mean = self.mean().value - other.mean().value;
        (out.median, out.median_larger) = pair(&of(0, 0), &of(0, 1), median);
        (out.mean, out.mean_larger) = pair(&of(1, 0), &of(1, 1), mean);
        out.places = places;
        out
    }

    /// Draws by their weights, independent of each other.
    fn pairs(&self, random: &mut ChaCha8Rng) -> Vec<usize> {
        let mut sum = 0.0;
        let cumulative: Vec<f64> = self
            .curves
            .weights
            .iter()
            .map(|w| {
                sum += w;
                sum
            })
            .collect();
        let last = cumulative.len() - 1;
        let pick = |at: f64| cumulative.partition_point(|c| *c <= at).min(last);
        (0..PAIRS)
            .map(|_| pick(random.random::<f64>() * sum))
            .collect()
    }

    /// What holds all of the probability but the outermost.
    fn seen(&self) -> (f64, f64) {
        let mass = self.masses();
        (
            self.quantile_of(mass, UNSEEN),
            self.quantile_of(mass, 1.0 - UNSEEN),
        )
    }

    /// The cells about a place, with what each counts: densities are those of the cells' middles,
    /// and linear between them, since steps of two grids do not fall together.
    fn about(&self, x: f64) -> Option<[(usize, f64); 2]> {
        let cell = self.cell(x)?;
        let middle = |cell: usize| self.cells.middle(cell);
        let next = match x < middle(cell) {
            true => cell.checked_sub(1)?,
            false => Some(cell + 1).filter(|next| *next < self.cells.len())?,
        };
        let share = (x - middle(cell)) / (middle(next) - middle(cell));
        Some([(cell, 1.0 - share), (next, share)])
    }

    /// The density at a place, see [`Self::about`]; that of the cell at the ends.
    fn between(&self, x: f64) -> f64 {
        match self.about(x) {
            Some(about) => about
                .iter()
                .map(|(cell, w)| w * self.density()[*cell])
                .sum(),
            None => self.density_at(x),
        }
    }

    /// The density of some draws at a place.
    fn at(&self, x: f64, picks: &[usize]) -> Vec<f64> {
        let Some(about) = self
            .about(x)
            .or_else(|| self.cell(x).map(|cell| [(cell, 1.0), (cell, 0.0)]))
        else {
            return vec![0.0; picks.len()];
        };
        let columns = about.map(|(cell, w)| {
            let log_mass = self.curves.log_mass.col_as_slice(cell);
            (log_mass, w / self.cells.width(cell))
        });
        let one = |i: &usize| columns.iter().map(|(mass, w)| w * mass[*i].exp()).sum();
        picks.iter().map(one).collect()
    }

    /// Median and mean of every draw.
    fn centres(&self) -> [Vec<f64>; 2] {
        let middles = self.middles();
        self.curves.map(|mass| {
            [
                self.quantile_of(mass, 0.5),
                crate::linalg::dot(mass, &middles),
            ]
        })
    }
}

const NOTHING: Answer = Answer {
    value: 0.0,
    lower: 0.0,
    upper: 0.0,
};

#[cfg(test)]
mod tests {
    use super::super::Density;
    use super::super::tests::normals;

    #[test]
    fn what_differs_is_found_and_what_does_not_is_not() {
        let (a, b) = (normals(200, 1), normals(200, 2));
        let shifted: Vec<f64> = b.iter().map(|x| x + 1.5).collect();
        let [a, b, shifted] = [&a, &b, &shifted].map(|values| {
            Density::new(values)
                .cells(120)
                .draws(2000)
                .estimate()
                .unwrap()
        });
        let same = a.compare(&b, 50, 1);
        // Medians of 200 differ by 0.12, one standard deviation: nothing to be sure of.
        assert!(
            same.median.lower < 0.0 && same.median.upper > 0.0,
            "{:?}",
            same.median
        );
        assert!(same.median_larger > 0.01 && same.median_larger < 0.99);
        let held = same
            .lower
            .iter()
            .zip(&same.upper)
            .filter(|(l, u)| **l <= 0.0 && **u >= 0.0);
        assert!(held.count() >= 45);
        let apart = a.compare(&shifted, 50, 1);
        assert!(
            apart.median.upper < -1.0 && apart.median.lower > -2.0,
            "{:?}",
            apart.median
        );
        // No draw in a thousand: the shift of 1.5 is twelve standard deviations.
        assert!(apart.median_larger < 0.001 && apart.mean_larger < 0.001);
        // To the left the first is the larger, to the right the second.
        let at = |x: f64| apart.places.iter().position(|p| *p >= x).unwrap();
        assert!(apart.lower[at(-0.5)] > 0.0 && apart.larger[at(-0.5)] > 0.99);
        assert!(apart.upper[at(2.2)] < 0.0 && apart.larger[at(2.2)] < 0.01);
        // The other way round all changes its sign.
        let back = shifted.compare(&a, 50, 1);
        for (x, y) in apart.difference.iter().zip(&back.difference) {
            assert!((x + y).abs() < 1e-12);
        }
    }
}
