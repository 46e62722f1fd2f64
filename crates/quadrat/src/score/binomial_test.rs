//! Whether a share of successes differs from what was promised.

/// The exact two-sided binomial test: the probability, if each of `trials` succeeds with
/// `probability`, of a number of successes that is no likelier than the one seen.
///
/// `None` where there are no trials, more successes than trials, or no probability in [0, 1].
///
/// Source: Clopper and Pearson (1934), "The use of confidence or fiducial limits illustrated in the
/// case of the binomial", Biometrika 26, 404-413; two-sided as `binom.test` of R.
#[must_use]
pub fn binomial_test(successes: usize, trials: usize, probability: f64) -> Option<f64> {
    let valid = trials > 0 && successes <= trials && (0.0..=1.0).contains(&probability);
    if !valid {
        return None;
    }
    let n = trials as f64;
    let log = |k: usize| {
        let k = k as f64;
        let term = |count: f64, p: f64| if count == 0.0 { 0.0 } else { count * p.ln() };
        let ways = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0);
        ways + term(k, probability) + term(n - k, 1.0 - probability)
    };
    // Equal chances differ by the rounding of the logarithms of factorials.
    let seen = log(successes) + 1e-7;
    let as_rare = (0..=trials).map(log).filter(|l| *l <= seen);
    Some(as_rare.map(f64::exp).sum::<f64>().min(1.0))
}

#[cfg(test)]
mod tests {
    use super::binomial_test;

    /// By hand: 0 or 4 heads of 4 have chance 2 / 16; 2 of 4 is the likeliest number. 88 of 100
    /// from its terms in whole numbers.
    #[test]
    fn equals_known_values() {
        // Rounding of logarithms of factorials below 100: 1e-13.
        assert!((binomial_test(0, 4, 0.5).unwrap() - 0.125).abs() < 1e-12);
        assert!((binomial_test(2, 4, 0.5).unwrap() - 1.0).abs() < 1e-12);
        assert!((binomial_test(88, 100, 0.95).unwrap() - BY_TERMS).abs() < 1e-10);
        assert_eq!(binomial_test(3, 3, 1.0), Some(1.0));
        assert_eq!(binomial_test(2, 3, 1.0), Some(0.0));
        assert_eq!(binomial_test(1, 0, 0.5), None);
    }

    const BY_TERMS: f64 = 0.004_274_182_466_365_944;
}
