//! Distinct intervals along one dimension.

use std::collections::HashMap;

/// The distinct `(lower, width)` pairs of a column of atoms, and which one each atom has.
///
/// Histograms and grids repeat few intervals many times: a kernel factor of one dimension is then
/// evaluated once per pair of distinct intervals.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UniqueIntervals {
    pub lower: Vec<f64>,
    pub width: Vec<f64>,
    /// `index[atom]` is the position in `lower` and `width`.
    pub index: Vec<u32>,
}

impl UniqueIntervals {
    pub fn new(lower: &[f64], width: &[f64]) -> Self {
        let mut seen: HashMap<(u64, u64), u32> = HashMap::new();
        let mut out = Self {
            lower: Vec::new(),
            width: Vec::new(),
            index: Vec::with_capacity(lower.len()),
        };
        for (&l, &w) in lower.iter().zip(width) {
            // + 0.0 makes the two zeros one.
            let key = ((l + 0.0).to_bits(), (w + 0.0).to_bits());
            let next = out.lower.len() as u32;
            let index = *seen.entry(key).or_insert_with(|| {
                out.lower.push(l);
                out.width.push(w);
                next
            });
            out.index.push(index);
        }
        out
    }

    pub fn len(&self) -> usize {
        self.lower.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_found_again_through_their_index() {
        let lower = [0.0, 1.0, -0.0, 1.0, 1.0];
        let width = [1.0, 1.0, 1.0, 2.0, 1.0];
        let unique = UniqueIntervals::new(&lower, &width);
        assert_eq!(unique.len(), 3);
        assert_eq!(unique.index, [0, 1, 0, 2, 1]);
    }
}
