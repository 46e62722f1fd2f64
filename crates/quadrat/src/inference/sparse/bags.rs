//! Which points a row looks at, and how rows are cut into chunks.

use std::ops::Range;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::error::InputError;
use crate::link::Link;

/// Points of a chunk, about.
const CHUNK: usize = 1024;

/// How the covariance of points within a row enters the variance of its sum.
///
/// A row of up to `full` points has every pair of them. The variance of a larger one has three
/// parts: the variances of all its points; the part of all covariances that inducing points
/// explain, to first order; and an estimate of the rest (`control_variate.rs` has the whole). The
/// estimate comes from the pairs of `sample` points, scaled by the ratio of the products of
/// expected shares. The points are drawn at random, not one from each of as many strata: no two of
/// these would be near each other.
///
/// $$ \sum_{i \ne j} c_{ij} \approx \frac{(\sum e_i)^2 - \sum e_i^2}{(\sum_I e_i)^2 - \sum_I e_i^2}
/// \sum_{i \ne j \in I} c_{ij}, \qquad e_i = w_i E \psi(f_i) $$
///
/// where `c_ij` is what is left of the covariance of two terms; without a link every `e_i = 1`. The
/// sample stays the same through a fit: the bound is a smooth function of all its arguments. What
/// inducing points explain is not left to the sample, because the fit of `q` would then make the
/// sampled pairs cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Within {
    /// Most points of which every pair is used.
    pub full: usize,
    /// Points drawn from a larger row, whose pairs stand for all of its pairs.
    pub sample: usize,
    /// Seed of the samples.
    pub seed: u64,
}

impl Default for Within {
    fn default() -> Self {
        Self {
            full: 256,
            sample: 48,
            seed: 1,
        }
    }
}

/// Rows as weighted sums after a link of consecutive points, `Z_r = sum_i w_i link(f_i)`, in chunks
/// of whole rows.
///
/// # Examples
/// ```
/// use quadrat::{inference::sparse::{Bags, Within}, link::Link};
/// let mut bags = Bags::new(Within::default());
/// bags.push(Link::Exp, &[2.0, 6.0])?;
/// bags.push(Link::Exp, &[1.0])?;
/// assert_eq!((bags.rows(), bags.points()), (2, 3));
/// assert!(bags.is_single(1) && !bags.is_single(0));
/// # Ok::<(), quadrat::error::InputError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bags {
    /// Points of row `r` are `offsets[r]..offsets[r + 1]`.
    offsets: Vec<usize>,
    weights: Vec<f64>,
    links: Vec<Link>,
    /// First row of every chunk.
    chunks: Vec<usize>,
    size: usize,
    within: Within,
    /// Rows before these, where they are a part of all.
    before: usize,
}

impl Bags {
    /// No rows yet.
    #[must_use]
    pub fn new(within: Within) -> Self {
        Self {
            offsets: vec![0],
            weights: Vec::new(),
            links: Vec::new(),
            chunks: vec![],
            size: CHUNK,
            within: Within {
                sample: within.sample.max(2),
                ..within
            },
            before: 0,
        }
    }

    /// Whose first row is that many after the first of all, so that its points are drawn as there.
    #[must_use]
    pub fn after(mut self, before: usize) -> Self {
        self.before = before;
        self
    }

    /// Cuts chunks of about this many points; a row is never cut. To be called before rows are
    /// pushed.
    #[must_use]
    pub fn with_chunk(mut self, points: usize) -> Self {
        self.size = points.max(1);
        self
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`InputError::Empty`] for a row without points; [`InputError::Range`] for a weight that is
    /// not above zero, or NaN, where the link is not the identity.
    pub fn push(&mut self, link: Link, weights: &[f64]) -> Result<(), InputError> {
        let row = self.rows();
        if weights.is_empty() {
            return Err(InputError::Empty);
        }
        let allowed = |w: &f64| w.is_finite() && (link == Link::Identity || *w > 0.0);
        if let Some(&value) = weights.iter().find(|w| !allowed(w)) {
            return Err(InputError::Range {
                what: "a weight of the bag".into(),
                row,
                value,
                requirement: "a finite number above zero",
            });
        }
        let first = self.weights.len();
        let held = self.chunks.last().map(|&c| first - self.offsets[c]);
        // A row that is larger than a chunk is one of its own.
        if held.is_none_or(|held| held > 0 && held + weights.len() > self.size) {
            self.chunks.push(row);
        }
        self.weights.extend_from_slice(weights);
        self.offsets.push(self.weights.len());
        self.links.push(link);
        Ok(())
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.links.len()
    }

    /// Points of all rows, `N`.
    #[must_use]
    pub fn points(&self) -> usize {
        self.weights.len()
    }

    /// Number of chunks.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// The rows of a chunk.
    #[must_use]
    pub fn chunk_rows(&self, chunk: usize) -> Range<usize> {
        let end = self.chunks.get(chunk + 1).copied();
        self.chunks[chunk]..end.unwrap_or(self.rows())
    }

    /// The points of a chunk, counted over all rows.
    #[must_use]
    pub fn chunk_points(&self, chunk: usize) -> Range<usize> {
        let rows = self.chunk_rows(chunk);
        self.offsets[rows.start]..self.offsets[rows.end]
    }

    /// The points of a row, counted over all rows.
    #[must_use]
    pub fn row_points(&self, row: usize) -> Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    /// The weights of the points of a row.
    #[must_use]
    pub fn weights(&self, row: usize) -> &[f64] {
        &self.weights[self.row_points(row)]
    }

    /// The link before the sum of a row.
    #[must_use]
    pub fn link(&self, row: usize) -> Link {
        self.links[row]
    }

    /// Whether a row looks at one point of weight one: then it is about the latent value itself.
    #[must_use]
    pub fn is_single(&self, row: usize) -> bool {
        matches!(self.weights(row), [w] if *w == 1.0)
    }

    /// Whether every pair of points of a row is used.
    #[must_use]
    pub fn is_full(&self, row: usize) -> bool {
        self.row_points(row).len() <= self.within.full.max(self.within.sample)
    }

    /// How many points of a row are paired.
    #[must_use]
    pub fn sample_size(&self, row: usize) -> usize {
        if self.is_full(row) {
            self.row_points(row).len()
        } else {
            self.within.sample
        }
    }

    /// The points of a row, counted within it, whose pairs are used.
    #[must_use]
    pub fn sample(&self, row: usize) -> Vec<usize> {
        let n = self.row_points(row).len();
        if self.is_full(row) {
            return (0..n).collect();
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.within.seed);
        random.set_stream((self.before + row) as u64);
        let mut out = rand::seq::index::sample(&mut random, n, self.within.sample).into_vec();
        out.sort_unstable();
        out
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn chunks_hold_whole_rows_and_all_of_them() {
        let mut bags = Bags::new(Within::default()).with_chunk(10);
        let sizes = [4, 5, 3, 25, 1, 1, 9];
        for size in sizes {
            bags.push(Link::Exp, &vec![1.0; size]).unwrap();
        }
        let rows: Vec<_> = (0..bags.chunks()).map(|c| bags.chunk_rows(c)).collect();
        assert_eq!(rows, [0..2, 2..3, 3..4, 4..6, 6..7]);
        assert_eq!(bags.chunk_points(2), 12..37);
        assert_eq!(bags.chunk_points(4).end, bags.points());
    }

    #[test]
    fn samples_are_distinct_and_the_whole_row_where_it_is_small() {
        let mut bags = Bags::new(Within::default());
        bags.push(Link::Exp, &[1.0; 256]).unwrap();
        bags.push(Link::Exp, &[1.0; 1000]).unwrap();
        bags.push(Link::Exp, &[1.0; 1000]).unwrap();
        assert_eq!(bags.sample(0), (0..256).collect::<Vec<_>>());
        let sample = bags.sample(1);
        assert_eq!(sample.len(), 48);
        assert!(sample.is_sorted_by(|a, b| a < b) && sample[47] < 1000);
        assert_eq!(sample, bags.sample(1));
        assert_ne!(sample, bags.sample(2));
        // Neighbours are among them: without, what varies from point to point would not be seen.
        assert!(sample.windows(2).any(|w| w[1] - w[0] < 5), "{sample:?}");
    }

    #[test]
    fn rows_that_mean_nothing_are_refused() {
        let mut bags = Bags::new(Within::default());
        assert!(bags.push(Link::Exp, &[]).is_err());
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = bags.push(Link::Square, &[1.0, weight]).unwrap_err();
            assert!(error.to_string().contains("above zero"), "{error}");
        }
        assert!(bags.push(Link::Identity, &[1.0, -1.0]).is_ok());
        assert!(bags.push(Link::Identity, &[1.0, f64::NAN]).is_err());
        assert_eq!(bags.rows(), 1);
    }
}
