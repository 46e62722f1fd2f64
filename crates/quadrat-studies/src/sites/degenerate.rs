//! What makes a fit degenerate: hyperparameters at the end of their range, or far from the truth.

use quadrat::model::{FitSummary, Hyper};
use quadrat::parameter::Parameter;

/// Factor by which lengths may be off; variances, which are of squares, by its square.
const FACTOR: f64 = 10.0;
/// Where no bound is given the search ends twelve in the logarithm from the start.
const LOST: f64 = 11.9;

/// Whether some learned hyperparameter ended at a bound.
pub fn at_bound(parameters: &[Parameter], summary: &FitSummary) -> bool {
    let ended = |(p, h): (&Parameter, &Hyper)| {
        let near = |bound: f64| bound > 0.0 && (h.value / bound).ln().abs() < 0.01;
        let lost = p.lower == 0.0 && (h.value / p.start).ln().abs() > LOST;
        !h.fixed && (near(p.lower) || near(p.upper) || lost)
    };
    parameters.iter().zip(&summary.hyperparameters).any(ended)
}

/// Whether some hyperparameter, named by how it begins, is far from its true value.
pub fn is_far(truth: &[(&str, f64)], summary: &FitSummary) -> bool {
    let off = |(name, value): &(&str, f64)| {
        let most = match name.contains("lengthscale") {
            true => FACTOR,
            false => FACTOR * FACTOR,
        };
        let mut own = summary
            .hyperparameters
            .iter()
            .filter(|h| h.name.starts_with(name));
        own.any(|h| (h.value / value).ln().abs() > most.ln())
    };
    truth.iter().any(off)
}
