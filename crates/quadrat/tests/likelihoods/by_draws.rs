//! Moments of cavity times likelihood, and expectations, against draws: nothing here knows a
//! quadrature.

use quadrat::likelihood::local::Belief;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::contract::{Case, Report};

const DRAWS: usize = 20_000;
/// Standard errors that a comparison may be off, for some thousand comparisons.
const ERRORS: f64 = 6.0;
/// No draw may carry more than this part of a sum, or of the squares behind its standard error:
/// heavier tails have no such error.
const MOST: f64 = 0.003;

fn draws() -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let draw = |_| StandardNormal.sample(&mut random);
    (0..DRAWS).map(draw).collect()
}

/// Weighted average and its standard error; nothing where few draws carry it.
fn average(weights: &[f64], values: &[f64]) -> Option<(f64, f64)> {
    let total: f64 = weights.iter().sum();
    let mean = weights.iter().zip(values).map(|(w, x)| w * x).sum::<f64>() / total;
    let square = |(w, x): (&f64, &f64)| (w / total * (x - mean)).powi(2);
    let squares = weights.iter().zip(values).map(square);
    let (sum, largest) = squares.fold((0.0, 0.0_f64), |(s, m), x| (s + x, m.max(x)));
    let heaviest = weights.iter().copied().fold(0.0, f64::max) / total;
    if heaviest > MOST || !sum.is_finite() {
        return None;
    }
    // Draws that are all alike, but for rounding, missed what has a probability of one in that
    // many.
    let rounding = (f64::EPSILON * mean).powi(2);
    let is_fair = if sum <= rounding {
        mean != 0.0
    } else {
        largest <= MOST * sum
    };
    is_fair.then(|| (mean, sum.sqrt() + mean.abs() / DRAWS as f64))
}

/// Every setting, row and belief neither much narrower nor much wider than the likelihood, with its
/// draws.
fn beliefs(case: &Case, mut visit: impl FnMut(&[f64], usize, Belief, &[f64])) {
    let draws = draws();
    case.beliefs(|own, row, belief, features| {
        let ratio = belief.variance.sqrt() / features[0].1;
        if (0.05..50.0).contains(&ratio) {
            visit(own, row, belief, &draws);
        }
    });
}

/// `log Z`, mean and variance of cavity times likelihood, by draws from the cavity weighted by the
/// likelihood.
pub fn tilted(case: &Case) -> Report {
    let mut report = Report::default();
    let p = &case.likelihood;
    beliefs(case, |own, row, cavity, draws| {
        let label = |part: &str| format!("{} row {row} own {own:?} {cavity:?}: {part}", case.name);
        let sd = cavity.variance.sqrt();
        let log = |z: &f64| p.log_density(own, row, cavity.mean + sd * z).value;
        let logs: Vec<f64> = draws.iter().map(log).collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|l| (l - top).exp()).collect();
        let got = p.tilted(own, row, cavity);
        let even = vec![1.0; DRAWS];
        // Of cavity and likelihood that hardly meet, few draws carry the weight.
        if let Some((z, error)) = average(&even, &weights)
            && error < 0.05 * z
        {
            let (want, error) = (top + z.ln(), error / z);
            let tolerance = ERRORS * error + 1e-9 * (1.0 + want.abs());
            report.compare(|| label("log Z by draws"), got.log_z, want, tolerance);
        }
        // In sds of the cavity, from its mean.
        let Some((mean, error)) = average(&weights, draws) else {
            return;
        };
        let shrunk = 1.0 / (1.0 + cavity.variance * got.precision);
        let moved = sd * (got.shift - got.precision * cavity.mean) * shrunk;
        report.compare(
            || label("mean by draws"),
            moved,
            mean,
            ERRORS * error + 1e-9,
        );
        let squares: Vec<f64> = draws.iter().map(|z| (z - mean).powi(2)).collect();
        if let Some((variance, error)) = average(&weights, &squares) {
            // The mean is that of the draws, too: its own variance is missing.
            let tolerance = ERRORS * error + variance * 20.0 / DRAWS as f64;
            report.compare(|| label("variance by draws"), shrunk, variance, tolerance);
        }
    });
    report
}

/// `E log p` and its derivatives in the mean of the belief, by draws from it.
pub fn expected(case: &Case) -> Report {
    let mut report = Report::default();
    let p = &case.likelihood;
    let even = vec![1.0; DRAWS];
    beliefs(case, |own, row, belief, draws| {
        let label = |part: &str| format!("{} row {row} own {own:?} {belief:?}: {part}", case.name);
        let sd = belief.variance.sqrt();
        let got = p.expected(own, row, belief);
        let jet = |z: &f64| p.log_density(own, row, belief.mean + sd * z);
        let jets: Vec<_> = draws.iter().map(jet).collect();
        let second_order: Vec<f64> = match case.kinked {
            // Twice the derivative in the variance holds at kinks too.
            true => jets
                .iter()
                .zip(draws)
                .map(|(jet, z)| jet.first * z / sd)
                .collect(),
            false => jets.iter().map(|jet| jet.second).collect(),
        };
        let parts = [
            (
                "value by draws",
                got.value,
                jets.iter().map(|j| j.value).collect(),
            ),
            (
                "first by draws",
                got.first,
                jets.iter().map(|j| j.first).collect(),
            ),
            ("second by draws", got.second, second_order),
        ];
        for (part, got, values) in parts {
            if let Some((want, error)) = average(&even, &values) {
                let tolerance = ERRORS * error + 1e-9 * (1.0 + want.abs());
                report.compare(|| label(part), got, want, tolerance);
            }
        }
    });
    report
}
