//! What the rounding of recorded values adds to noise that is a function.
//!
//! Values recorded in steps of $\delta$ are off by an amount that is spread evenly over a step, of
//! variance $\delta^2 / 12$ (Sheppard's correction). A noise variance that is one number for all
//! rows covers it. One that is a function may not: where many rows report the very same value, such
//! as hours without any demand, the likelihood grows without bound as the noise vanishes there, and
//! prediction is as sure of the next value as of no other. The known part of the noise of such rows
//! is therefore $\delta^2 / 12$.
//!
//! # Source
//! Sheppard 1897, *On the calculation of the most probable values of frequency-constants*.

use super::observations::Observations;
use super::varying::Varying;
use crate::likelihood::{Likelihood, Noise, Outcomes};

/// Steps that a range may have: finer ones are no rounding that matters beside any noise, and
/// rounding of arithmetic would blur them.
const STEPS: f64 = 1e4;
/// What is left of a division that goes up, as a share of the range: a thousandth of the smallest
/// step.
const NOTHING: f64 = 1e-7;
/// Largest share of the standard deviation of the values that rounding is taken for: few values
/// have a common step by chance.
const SHARE: f64 = 0.2;

/// Variance that rounding adds to the values of every output whose tables learn a noise variance,
/// by its name; outputs without such a step are left out.
pub(crate) fn variances(tables: &[Observations]) -> Vec<(Option<String>, f64)> {
    let mut outputs: Vec<(Option<String>, Vec<f64>)> = Vec::new();
    for table in tables.iter().filter(|t| is_rounded(&t.likelihood)) {
        let values = recorded(&table.likelihood);
        match outputs.iter_mut().find(|(name, _)| *name == table.output) {
            Some((_, all)) => all.extend(values),
            None => outputs.push((table.output.clone(), values)),
        }
    }
    let with = outputs
        .into_iter()
        .map(|(name, all)| (name, variance(&all)));
    with.filter(|(_, variance)| *variance > 0.0).collect()
}

/// Whether a noise variance is all that rows have for the rounding of their values: intervals tell
/// it themselves, and known variances are those of the user.
pub(crate) fn is_rounded(likelihood: &Likelihood) -> bool {
    let tells = matches!(likelihood, Likelihood::Interval(_));
    let alone = likelihood.noise() == Some(&Noise::Learned);
    Varying::Noise.is_of(likelihood) && alone && !tells
}

/// Values that were recorded as such; limits of censored rows need not be rounded as these are.
fn recorded(likelihood: &Likelihood) -> Vec<f64> {
    match likelihood.outcomes() {
        Outcomes::Values(values) => values.to_vec(),
        Outcomes::Intervals(x) => {
            let ends = x.lower().iter().zip(x.upper());
            ends.filter(|(a, b)| a == b).map(|(a, _)| *a).collect()
        }
        Outcomes::Counts(_)
        | Outcomes::Answers(_)
        | Outcomes::Successes { .. }
        | Outcomes::Ranks(_)
        | Outcomes::Bounds => Vec::new(),
    }
}

/// `step^2 / 12`, at most a twenty-fifth of the variance of the values; zero where they have no
/// common step.
fn variance(values: &[f64]) -> f64 {
    let Some(step) = step(values) else {
        return 0.0;
    };
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    (step * step / 12.0).min(SHARE * SHARE * spread)
}

/// The largest number of which all differences of values are multiples, by Euclid's algorithm; none
/// where values are equal, or lie on no grid of at most [`STEPS`] steps.
fn step(values: &[f64]) -> Option<f64> {
    let (low, high) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| {
            (low.min(v), high.max(v))
        });
    let range = high - low;
    if !(range > 0.0 && range.is_finite()) {
        return None;
    }
    let mut step = range;
    for value in values {
        let mut rest = value - low;
        while rest > NOTHING * range {
            // To the nearest multiple, so that one that is short by rounding leaves nothing.
            let left = (step - (step / rest).round() * rest).abs();
            (step, rest) = (rest, left);
        }
        if step < range / STEPS {
            return None;
        }
    }
    Some(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::{Censored, Gaussian, Interval, Side};
    use crate::support::Functionals;

    fn close(found: Option<f64>, expected: f64) -> bool {
        // A step is found to rounding.
        found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-9)
    }

    #[test]
    fn the_step_is_that_of_the_grid() {
        let counts: Vec<f64> = (0..50).map(|i| f64::from((i * 7) % 31)).collect();
        let even: Vec<f64> = counts.iter().map(|v| 2.0 * v).collect();
        // Two decimals far from zero; thirds that no decimal tells; a standardised column.
        let decimals: Vec<f64> = (0..300)
            .map(|i| 1e3 + f64::from(i * i % 457) / 100.0)
            .collect();
        let thirds: Vec<f64> = counts.iter().map(|v| v / 3.0).collect();
        let standardised: Vec<f64> = counts.iter().map(|v| (v - 14.7) / 8.3).collect();
        for (values, expected) in [
            (counts, 1.0),
            (even, 2.0),
            (decimals, 0.01),
            (thirds, 1.0 / 3.0),
            (standardised, 1.0 / 8.3),
            (vec![6.0, 10.0, 15.0], 1.0),
        ] {
            assert!(
                close(step(&values), expected),
                "{expected}: {:?}",
                step(&values)
            );
        }
    }

    #[test]
    fn values_that_are_not_rounded_have_none() {
        let irrational: Vec<f64> = (1..40).map(|i| f64::from(i).sqrt()).collect();
        let fine: Vec<f64> = (0..40)
            .map(|i| f64::from(i * i) * 1e-6 + f64::from(i))
            .collect();
        for values in [irrational, fine, vec![3.0; 5], vec![], vec![1.0]] {
            assert_eq!(step(&values), None, "{values:?}");
            assert_eq!(variance(&values), 0.0);
        }
    }

    #[test]
    fn few_values_are_not_taken_for_coarse_ones() {
        // Variance 8 / 3 of the values; the step is 2.
        assert!((variance(&[1.0, 3.0, 5.0]) - 0.04 * 8.0 / 3.0).abs() < 1e-15);
        let many: Vec<f64> = (0..101).map(f64::from).collect();
        assert!((variance(&many) - 1.0 / 12.0).abs() < 1e-12);
    }

    #[test]
    fn tables_of_an_output_are_taken_together_and_only_where_noise_is_all_they_have() {
        let table = |likelihood: Likelihood, output: &str| {
            let at: Vec<f64> = (0..likelihood.rows()).map(|i| i as f64).collect();
            let at = Functionals::points("x", &at).unwrap();
            Observations::new(at, likelihood).unwrap().of_output(output)
        };
        let values = |step: f64| (0..60).map(|i| step * f64::from(i)).collect::<Vec<f64>>();
        let gaussian = |step, noise| Gaussian::new(values(step), noise).unwrap();
        // A limit between the steps.
        let mut limited = values(4.0);
        limited[7] = 0.3;
        let mut sides = vec![Side::None; 60];
        sides[7] = Side::Right;
        let limited = Censored::new(limited, &sides, Noise::Learned).unwrap();
        let within = Interval::new(values(1.0), values(1.0), Noise::Learned).unwrap();
        let found = variances(&[
            table(gaussian(6.0, Noise::Learned).into(), "a"),
            table(limited.into(), "a"),
            table(
                gaussian(1.0, Noise::KnownPlusLearned(vec![0.1; 60])).into(),
                "b",
            ),
            table(gaussian(1.0, Noise::Known(vec![0.1; 60])).into(), "c"),
            table(within.into(), "d"),
        ]);
        let [(Some(name), variance)] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(name, "a");
        // The square of a step that is found to rounding.
        assert!((variance - 4.0 / 12.0).abs() < 1e-9, "{variance}");
    }
}
