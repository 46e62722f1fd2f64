//! Whether chains agree, and how many independent draws they are worth.

use crate::special::scalar::normal_quantile;

/// Rank-normalised split R-hat: how much wider all chains together are than each half of a chain.
///
/// The larger of two: of the normal scores of the draws, and of those of their distances from the
/// median, so that chains of equal centre but unequal width are told apart. About 1 when the chains
/// agree; above 1.01 they should not be trusted. NaN when no draw differs from another, or with
/// fewer than four draws per chain.
///
/// # Arguments
/// * `chains` - draws of one quantity, at least one chain, all of the same length
///
/// # Source
/// Vehtari, Gelman, Simpson, Carpenter and Buerkner 2021, Bayesian Analysis 16:667, section 4.
#[must_use]
pub fn r_hat(chains: &[Vec<f64>]) -> f64 {
    let Some(halves) = split(chains) else {
        return f64::NAN;
    };
    let mut all: Vec<f64> = halves.concat();
    all.sort_unstable_by(f64::total_cmp);
    let middle = all.len() / 2;
    let median = 0.5 * (all[middle] + all[(all.len() - 1) / 2]);
    let folded: Vec<Vec<f64>> = halves
        .iter()
        .map(|half| half.iter().map(|x| (x - median).abs()).collect())
        .collect();
    let (bulk, tail) = (
        scale_reduction(&normal_scores(&halves)),
        scale_reduction(&normal_scores(&folded)),
    );
    // Two-valued draws have no spread around their median, and nothing to say there.
    if tail.is_nan() { bulk } else { bulk.max(tail) }
}

/// Effective sample size of the bulk: as many independent draws tell as much about the centre.
///
/// $$ S / (1 + 2 \sum_t \rho_t) $$
///
/// with `S` draws in all and the autocorrelations `rho_t` of the normal scores of split chains,
/// summed over Geyer's initial monotone sequence. It may exceed `S` where draws alternate, up to `S
/// log10(S)`. NaN as for [`r_hat`].
///
/// # Arguments
/// * `chains` - draws of one quantity, at least one chain, all of the same length
///
/// # Numerics
/// `O(S t)` for sums that stop at lag `t`.
///
/// # Source
/// Vehtari et al. 2021, sections 3.2 and 4; Geyer 1992, section 3.3.
#[must_use]
pub fn effective_size(chains: &[Vec<f64>]) -> f64 {
    let Some(halves) = split(chains) else {
        return f64::NAN;
    };
    let scores = normal_scores(&halves);
    let length = scores[0].len() as f64;
    let total = length * scores.len() as f64;
    let centred: Vec<Vec<f64>> = scores
        .iter()
        .map(|chain| {
            let mean = mean(chain);
            chain.iter().map(|x| x - mean).collect()
        })
        .collect();
    let (within, pooled) = variances(&scores);
    let correlation = |lag: usize| {
        let products = centred.iter().map(|c| {
            let pairs = c.iter().zip(&c[lag..]);
            pairs.map(|(a, b)| a * b).sum::<f64>() / length
        });
        1.0 - (within - products.sum::<f64>() / centred.len() as f64) / pooled
    };
    // Pairs of neighbours: positive and falling for any reversible chain.
    let (mut even, mut odd) = (1.0, correlation(1));
    let mut previous = even + odd;
    let mut sum = 0.0;
    let mut lag = 0;
    while even + odd > 0.0 && lag + 4 < scores[0].len() {
        previous = f64::min(previous, even + odd);
        sum += previous;
        lag += 2;
        (even, odd) = (correlation(lag), correlation(lag + 1));
    }
    if !(even + odd).is_finite() {
        return f64::NAN;
    }
    // The last even lag improves the estimate for chains that alternate.
    let time = 2.0 * sum - 1.0 + even.max(0.0);
    total / time.max(total.log10().recip())
}

/// Every chain in two halves; the draw in the middle of an odd number is left out.
fn split(chains: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let length = chains.first()?.len();
    if length < 4 || chains.iter().any(|c| c.len() != length) {
        return None;
    }
    let half = length / 2;
    let halves = chains
        .iter()
        .flat_map(|c| [c[..half].to_vec(), c[length - half..].to_vec()]);
    Some(halves.collect())
}

/// Ranks over all chains (their mean where draws are equal), as quantiles of the normal
/// distribution.
fn normal_scores(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let flat = chains.concat();
    let mut order: Vec<usize> = (0..flat.len()).collect();
    order.sort_unstable_by(|a, b| flat[*a].total_cmp(&flat[*b]));
    let mut scores = vec![0.0; flat.len()];
    let mut first = 0.0;
    for equal in order.chunk_by(|a, b| flat[*a] == flat[*b]) {
        let rank = first + 0.5 * (equal.len() as f64 + 1.0);
        first += equal.len() as f64;
        let score = normal_quantile((rank - 0.375) / (flat.len() as f64 + 0.25));
        for at in equal {
            scores[*at] = score;
        }
    }
    scores
        .chunks(chains[0].len())
        .map(<[f64]>::to_vec)
        .collect()
}

/// Mean variance within a chain, and the variance of all chains together.
fn variances(chains: &[Vec<f64>]) -> (f64, f64) {
    let length = chains[0].len() as f64;
    let within: Vec<f64> = chains.iter().map(|c| variance(c)).collect();
    let within = mean(&within);
    let means: Vec<f64> = chains.iter().map(|c| mean(c)).collect();
    (within, within * (length - 1.0) / length + variance(&means))
}

fn scale_reduction(chains: &[Vec<f64>]) -> f64 {
    let (within, pooled) = variances(chains);
    (pooled / within).sqrt()
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn variance(x: &[f64]) -> f64 {
    let mean = mean(x);
    x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (x.len() as f64 - 1.0)
}

#[cfg(test)]
#[path = "diagnose_tests.rs"]
mod tests;
