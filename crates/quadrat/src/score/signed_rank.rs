//! The signed-rank test of Wilcoxon.

use crate::special::scalar::normal_cdf;

/// Most pairs whose chance is counted exactly.
const MOST_EXACT: usize = 25;

/// What the signed-rank test found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// Sum of the ranks of the positive differences.
    pub positive: f64,
    /// Pairs that differ.
    pub pairs: usize,
    /// Two-sided.
    pub p_value: f64,
    /// Whether the chance was counted; else it is that of a normal.
    pub exact: bool,
}

/// Tests whether paired differences lie symmetrically around zero.
///
/// Differences of zero are left out, and equal sizes share their mean rank. With 25 pairs or fewer
/// and no equal sizes the two-sided chance is exact; else it is that of a normal with mean
/// `n (n + 1) / 4` and variance `n (n + 1) (2 n + 1) / 24 - sum (t^3 - t) / 48`, `t` the number in
/// each group of equal sizes, and the statistic is moved towards its mean by 1/2. Where no pair
/// differs the chance is 1. `None` where a difference is not finite.
///
/// Source: Wilcoxon (1945), "Individual comparisons by ranking methods", Biometrics Bulletin 1,
/// 80-83; Hollander, Wolfe and Chicken (2014), "Nonparametric statistical methods", section 3.1.
#[must_use]
pub fn signed_rank(differences: &[f64]) -> Option<SignedRank> {
    if differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let pairs = sorted.len();
    let (mut positive, mut ties, mut before) = (0.0, 0.0, 0);
    for group in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let t = group.len() as f64;
        let rank = before as f64 + (t + 1.0) / 2.0;
        positive += rank * group.iter().filter(|d| **d > 0.0).count() as f64;
        ties += t * t * t - t;
        before += group.len();
    }
    let exact = pairs <= MOST_EXACT && ties == 0.0;
    let p_value = if exact {
        counted(positive, pairs)
    } else {
        by_normal(positive, pairs, ties)
    };
    Some(SignedRank {
        positive,
        pairs,
        p_value,
        exact,
    })
}

/// Twice the smaller tail, from the number of subsets of the ranks with every sum.
fn counted(positive: f64, pairs: usize) -> f64 {
    let total = pairs * (pairs + 1) / 2;
    let mut subsets = vec![0.0; total + 1];
    subsets[0] = 1.0;
    for rank in 1..=pairs {
        for sum in (rank..=total).rev() {
            subsets[sum] += subsets[sum - rank];
        }
    }
    // Without ties the sum is a whole number; the tails mirror each other.
    let sum = positive as usize;
    let tail: f64 = subsets[..=sum.min(total - sum)].iter().sum();
    (2.0 * tail / 2.0_f64.powi(pairs as i32)).min(1.0)
}

fn by_normal(positive: f64, pairs: usize, ties: f64) -> f64 {
    let n = pairs as f64;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let far = ((positive - n * (n + 1.0) / 4.0).abs() - 0.5).max(0.0);
    2.0 * normal_cdf(-far / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::signed_rank;

    /// All `2^n` signs of the ranks 1 to n, each as likely as the others.
    #[test]
    fn exact_chances_equal_those_of_all_signs() {
        for n in 1..=8_u32 {
            let signed = |signs: u32| -> Vec<f64> {
                let sign = |i: u32| if signs >> i & 1 == 1 { 1.0 } else { -1.0 };
                (0..n).map(|i| sign(i) * f64::from(i + 1)).collect()
            };
            let mean = f64::from(n * (n + 1)) / 4.0;
            let far = |signs: u32| {
                let positive: f64 = signed(signs).iter().filter(|d| **d > 0.0).sum();
                (positive - mean).abs()
            };
            for signs in 0..1 << n {
                let found = signed_rank(&signed(signs)).unwrap();
                let as_far = (0..1 << n)
                    .filter(|other| far(*other) >= far(signs))
                    .count();
                assert!(found.exact);
                // Both are whole numbers over a power of two.
                assert_eq!(found.p_value, as_far as f64 / f64::from(1_u32 << n));
            }
        }
    }

    /// 26 pairs go by the normal, 25 by counting: all positive has chance 2 / 2^25.
    #[test]
    fn ties_and_many_pairs_go_by_the_normal() {
        // By hand: ranks 1.5, 1.5, 3, positive sum 4.5, variance 3.5 - 6/48, moved by 1/2.
        let found = signed_rank(&[1.0, -1.0, 2.0, 0.0]).unwrap();
        assert!(!found.exact && found.pairs == 3 && found.positive == 4.5);
        let by_hand = 2.0 * crate::special::scalar::normal_cdf(-1.0 / 3.375_f64.sqrt());
        // One rounding or two.
        assert!((found.p_value - by_hand).abs() < 1e-14);
        let many: Vec<f64> = (1..=26).map(f64::from).collect();
        let found = signed_rank(&many).unwrap();
        assert!(!found.exact && found.p_value > 0.0 && found.p_value < 1e-4);
        let fewer = signed_rank(&many[..25]).unwrap();
        assert!(fewer.exact && fewer.p_value == 2.0_f64.powi(-24));
    }

    #[test]
    fn nothing_that_differs_is_no_evidence() {
        assert_eq!(signed_rank(&[0.0, 0.0]).unwrap().p_value, 1.0);
        assert_eq!(signed_rank(&[]).unwrap().p_value, 1.0);
        assert_eq!(signed_rank(&[1.0, f64::NAN]), None);
    }
}
