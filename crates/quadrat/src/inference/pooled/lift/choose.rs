//! Which rows draws are made to meet.

use crate::linalg::{Mat, dot};

/// A row that the others leave this open, in units of what it says itself, is not met: weighing it
/// costs next to no draws.
const WEAK: f64 = 0.01;
/// Nor is a row of which the others leave open this part of its prior variance: no draw could be
/// moved along it.
const TIED: f64 = 1e-9;

/// The rows of the largest variances given those chosen before, in units of what they say.
///
/// # Arguments
/// * `s` - prior covariance of the rows' linearised values
/// * `precisions` - of the rows' likelihoods at the mode
pub(super) fn choose(s: &Mat<f64>, precisions: &[f64]) -> Vec<usize> {
    let n = s.nrows();
    let mut open: Vec<f64> = (0..n).map(|i| s[(i, i)]).collect();
    // Rows of the Cholesky factor, by the order of choice.
    let mut factor: Vec<Vec<f64>> = vec![Vec::new(); n];
    let mut chosen = Vec::new();
    loop {
        let can = (0..n).filter(|&i| open[i] > TIED * s[(i, i)] && open[i] * precisions[i] > WEAK);
        let by_need = |&i: &usize, &j: &usize| {
            f64::total_cmp(&(open[i] * precisions[i]), &(open[j] * precisions[j]))
        };
        let Some(next) = can.max_by(by_need) else {
            chosen.sort_unstable();
            return chosen;
        };
        let root = open[next].sqrt();
        let pivot = factor[next].clone();
        for i in 0..n {
            let along = (s[(i, next)] - dot(&factor[i], &pivot)) / root;
            factor[i].push(along);
            open[i] -= along * along;
        }
        open[next] = 0.0;
        chosen.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_chosen_rows_and_weak_rows_are_left_out() {
        // Two rows, their sum, and a row of its own that says nothing.
        let j = [
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [1.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
        ];
        let s = Mat::from_fn(4, 4, |a, b| dot(&j[a], &j[b]));
        assert_eq!(choose(&s, &[100.0, 90.0, 1.0, 1e-3]), vec![0, 1]);
        // The total is met where it says more than its parts.
        assert_eq!(choose(&s, &[100.0, 1.0, 90.0, 1.0]), vec![0, 2, 3]);
        assert!(choose(&s, &[0.0; 4]).is_empty());
    }
}
