//! Which rows draws are made to meet.

use crate::linalg::{Cholesky, Mat, dot};

/// A row is not met where its variance given the rows chosen so far, times its precision, is at
/// most this: the draws can be weighted by its likelihood with next to no loss.
const WEAK: f64 = 0.01;
/// Nor is a row that follows from the others: where they leave less than this part of its prior
/// variance, no draw could be moved along it.
const TIED: f64 = 1e-9;
/// The same for a row that is known exactly, and that draws have to meet if they can.
const TIED_EXACTLY: f64 = 1e-12;
/// Stands for an infinite precision: of such rows the one of the largest variance is chosen first.
const EXACT: f64 = 1e200;
/// A row also follows from the others where they leave less than this part of the variance that the
/// constants give it. It keeps pivots above zero where a row varies by constants alone.
const VAGUE: f64 = 1e-30;

/// The rows to meet, chosen one by one: next is that of the largest product of its precision and
/// its variance given those chosen before.
///
/// The variance of a row given the chosen ones is that given these and all constants, and what it
/// sees of the constants that they leave open: with `A_o` what is left of the loadings `A` and `l`
/// those of the rows that were chosen, each in its sd, `open + A_o (I + l' l)^-1 A_o'`. Nothing of
/// that cancels, however vague the constants are.
///
/// # Arguments
/// * `s` - prior covariance of the rows' linearised values, without the constants
/// * `constants` - `A`: what the rows see of every constant, in prior sds, shape `[rows,
///   constants]`
/// * `precisions` - what the rows say, infinite where they are known exactly
pub(super) fn choose(s: &Mat<f64>, constants: &Mat<f64>, precisions: &[f64]) -> Vec<usize> {
    let n = s.nrows();
    let mut open: Vec<f64> = (0..n).map(|i| s[(i, i)]).collect();
    let mut loadings: Vec<Vec<f64>> = (0..n)
        .map(|i| constants.row(i).iter().copied().collect())
        .collect();
    let vague: Vec<f64> = loadings.iter().map(|a| dot(a, a)).collect();
    let tied = |i: usize| match precisions[i].is_finite() {
        true => TIED,
        false => TIED_EXACTLY,
    };
    let least = |i: usize| (tied(i) * s[(i, i)]).max(VAGUE * vague[i]);
    let count = constants.ncols();
    let mut told = Mat::from_fn(count, count, |i, j| f64::from(u8::from(i == j)));
    // Rows of the Cholesky factor, by the order of choice.
    let mut factor: Vec<Vec<f64>> = vec![Vec::new(); n];
    let mut chosen = Vec::new();
    loop {
        let root = Cholesky::factor(told.as_ref()).ok();
        let all = |i: usize| {
            let vague = root.as_ref().map_or(0.0, |root| {
                let white = root.half_solve(&loadings[i]);
                dot(&white, &white)
            });
            open[i].max(0.0) + vague
        };
        let can = (0..n).filter(|i| !chosen.contains(i)).map(|i| (i, all(i)));
        let can = can.filter(|&(i, all)| all > 2.0 * least(i) && all * precisions[i] > WEAK);
        let need = |&(i, all): &(usize, f64)| all * precisions[i].min(EXACT);
        let Some((next, _)) = can.max_by(|a, b| need(a).total_cmp(&need(b))) else {
            chosen.sort_unstable();
            return chosen;
        };
        // Of a row that varies by a constant alone the kernel's part counts as nearly zero.
        let root = open[next].max(least(next)).sqrt();
        let (pivot, seen) = (factor[next].clone(), loadings[next].clone());
        for i in 0..n {
            let along = (s[(i, next)] - dot(&factor[i], &pivot)) / root;
            factor[i].push(along);
            open[i] -= along * along;
            for (own, seen) in loadings[i].iter_mut().zip(&seen) {
                *own -= along * seen / root;
            }
        }
        for j in 0..count {
            for i in 0..count {
                told[(i, j)] += seen[i] / root * (seen[j] / root);
            }
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
        let none = Mat::zeros(4, 0);
        let chosen = |precisions: [f64; 4]| choose(&s, &none, &precisions);
        assert_eq!(chosen([100.0, 90.0, 1.0, 1e-3]), vec![0, 1]);
        // The total is met where it says more than its parts.
        assert_eq!(chosen([100.0, 1.0, 90.0, 1.0]), vec![0, 2, 3]);
        assert!(chosen([0.0; 4]).is_empty());
    }

    #[test]
    fn rows_are_told_apart_beside_a_vague_constant() {
        // Two rows and their average, all about a level; the third says nothing new.
        let j = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]];
        let s = Mat::from_fn(3, 3, |a, b| 1e-3 * dot(&j[a], &j[b]));
        for sd in [0.0, 1.0, 1e5, 1e8] {
            let level = Mat::from_fn(3, 1, |_, _| sd);
            assert_eq!(choose(&s, &level, &[1e3, 1e3, 10.0]), vec![0, 1], "{sd}");
        }
        // Without a kernel only a constant is left: one row meets it.
        let level = Mat::from_fn(3, 1, |_, _| 1e4);
        let tied = Mat::from_fn(3, 3, |_, _| 1e-3);
        assert_eq!(choose(&tied, &level, &[1e3, 2e3, 10.0]), vec![1]);
        assert_eq!(choose(&Mat::zeros(3, 3), &level, &[1.0, 2.0, 0.5]), vec![1]);
    }
}
