//! The best of many whose scores are known to be no more than some bounds.

use std::collections::BinaryHeap;

/// A measurement with a score, or a bound of it. Larger scores are greater; of equals the first
/// measurement is.
pub(super) struct Ranked {
    pub score: f64,
    pub number: usize,
}

/// The measurement of the largest score: those whose bound is below it are not looked at.
///
/// # Arguments
/// * `all` - measurements with bounds of their scores
/// * `look` - the score of one; nothing where its bound is that already
pub(super) fn best(all: Vec<Ranked>, mut look: impl FnMut(usize) -> Option<f64>) -> Option<usize> {
    let mut heap: BinaryHeap<Ranked> = all.into();
    while let Some(first) = heap.pop() {
        let number = first.number;
        match look(number) {
            None => return Some(number),
            Some(score) => heap.push(Ranked { score, number }),
        }
    }
    None
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_score = self.score.total_cmp(&other.score);
        by_score.then_with(|| other.number.cmp(&self.number))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of half their bounds: the best is found, and few are looked at.
    #[test]
    fn the_best_is_found_with_few_looks() {
        let bounds = [3.0, 9.0, 1.0, 5.0, 5.0];
        let scores = [3.0, 2.5, 1.0, 4.0, 4.0];
        let mut seen = [false; 5];
        let ranked = bounds.iter().enumerate();
        let all = ranked.map(|(number, &score)| Ranked { score, number });
        let found = best(all.collect(), |number| {
            let is_known = std::mem::replace(&mut seen[number], true);
            (!is_known).then(|| scores[number])
        });
        // Of the two equals the first.
        assert_eq!(found, Some(3));
        assert_eq!(seen, [false, true, false, true, true]);
        assert_eq!(best(Vec::new(), |_| None), None);
    }
}
