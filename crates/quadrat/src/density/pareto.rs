//! Pareto-smoothed importance weights.

/// Weights that sum to one, their effective number and the shape of their tail.
#[derive(Debug, Clone)]
pub(super) struct Smoothed {
    /// The weights, in the order given.
    pub weights: Vec<f64>,
    /// `1 / sum w^2`.
    pub effective: f64,
    /// Shape of the generalised Pareto distribution of the largest weights; above 0.7 averages are
    /// not to be trusted. Minus infinity where the weights have no tail.
    pub shape: f64,
}

/// Smooths weights given by their logarithms.
///
/// The `min(S / 5, 3 sqrt S)` largest of `S` are replaced by quantiles of the generalised Pareto
/// distribution fitted to them, and none exceeds the largest given.
///
/// # Source
/// Vehtari, Simpson, Gelman, Yao & Gabry 2024, "Pareto smoothed importance sampling"; the fit of
/// Zhang & Stephens 2009 with their weakly informative prior of the shape.
pub(super) fn smooth(log_weights: &[f64]) -> Smoothed {
    let n = log_weights.len();
    let top = log_weights
        .iter()
        .copied()
        .filter(|x| x.is_finite())
        .fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> = log_weights
        .iter()
        .map(|lw| {
            if lw.is_finite() {
                (lw - top).exp()
            } else {
                0.0
            }
        })
        .collect();
    let tail = (n as f64 / 5.0).min(3.0 * (n as f64).sqrt()).ceil() as usize;
    let mut shape = f64::NEG_INFINITY;
    if tail >= 5 && tail < n {
        let mut order: Vec<usize> = (0..n).collect();
        let (_, _, _) =
            order.select_nth_unstable_by(n - tail - 1, |a, b| weights[*a].total_cmp(&weights[*b]));
        let cut = weights[order[n - tail - 1]];
        let largest = &mut order[n - tail..];
        largest.sort_unstable_by(|a, b| weights[*a].total_cmp(&weights[*b]));
        let excess: Vec<f64> = largest.iter().map(|i| weights[*i] - cut).collect();
        let spread = excess[tail - 1] - excess[0];
        if spread > 1e-12 && excess[0] >= 0.0 {
            let (k, sigma) = fit(&excess);
            shape = k;
            for (rank, i) in largest.iter().enumerate() {
                let p = (rank as f64 + 0.5) / tail as f64;
                weights[*i] = (cut + quantile(p, k, sigma)).min(1.0);
            }
        }
    }
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= sum);
    let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    Smoothed {
        weights,
        effective,
        shape,
    }
}

fn quantile(p: f64, k: f64, sigma: f64) -> f64 {
    if k.abs() < 1e-12 {
        return -sigma * (-p).ln_1p();
    }
    sigma * (-k * (-p).ln_1p()).exp_m1() / k
}

/// Shape and scale of ascending excesses.
fn fit(x: &[f64]) -> (f64, f64) {
    let n = x.len();
    let m = 30 + (n as f64).sqrt() as usize;
    let quartile = x[((n as f64 / 4.0 + 0.5).floor() as usize).clamp(1, n) - 1].max(1e-300);
    let largest = x[n - 1];
    let theta: Vec<f64> = (1..=m)
        .map(|j| 1.0 / largest + (1.0 - (m as f64 / (j as f64 - 0.5)).sqrt()) / (3.0 * quartile))
        .collect();
    let shape = |b: f64| x.iter().map(|x| (-b * x).ln_1p()).sum::<f64>() / n as f64;
    let profile: Vec<f64> = theta
        .iter()
        .map(|b| {
            let k = shape(*b);
            n as f64 * ((-b / k).ln() - k - 1.0)
        })
        .collect();
    let top = profile
        .iter()
        .copied()
        .filter(|l| l.is_finite())
        .fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut mean) = (0.0, 0.0);
    for (l, b) in profile.iter().zip(&theta) {
        if l.is_finite() {
            let w = (l - top).exp();
            sum += w;
            mean += w * b;
        }
    }
    let b = mean / sum;
    let k = shape(b);
    let sigma = -k / b;
    ((k * n as f64 + 0.5 * 10.0) / (n as f64 + 10.0), sigma)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of a generalised Pareto distribution in place of a sample.
    #[test]
    fn shapes_of_tails_are_found() {
        for k in [0.2, 0.5, 0.9] {
            let x: Vec<f64> = (0..2000)
                .map(|i| quantile((f64::from(i) + 0.5) / 2000.0, k, 1.5))
                .collect();
            let (found, sigma) = fit(&x);
            // The prior pulls by 10 / 2010 of the distance to 0.5; the fit errs by about 1 /
            // sqrt(n) = 0.02.
            assert!((found - k).abs() < 0.03, "{k}: {found}");
            assert!((sigma - 1.5).abs() < 0.06);
        }
    }

    #[test]
    fn equal_weights_stay_equal() {
        let out = smooth(&[0.3; 200]);
        // Each is one over 200, to a few roundings of it.
        assert!(out.weights.iter().all(|w| (w - 0.005).abs() < 1e-15));
        // The inverse of a sum of 200 squares: some hundred roundings of 200 are 5e-12.
        assert!((out.effective - 200.0).abs() < 1e-9);
    }

    #[test]
    fn one_heavy_weight_is_seen() {
        let mut weights = vec![0.0; 500];
        weights[3] = 12.0;
        let out = smooth(&weights);
        assert!(out.shape > 0.7 || out.effective < 50.0, "{out:?}");
        // Rounding of a sum of 500 terms.
        assert!((out.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
