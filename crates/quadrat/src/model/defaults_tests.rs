//! Priors and bounds that are read off small tables.

use crate::error::FitError;
use crate::kernel::Kernel;
use crate::likelihood::Poisson;
use crate::link::Link;
use crate::model::Model;
use crate::parameter::Parameter;
use crate::problem::defaults::{LOG_WIDTH, RESOLVED};
use crate::problem::observations::Observations;
use crate::problem::settings::Inference;
use crate::support::{Aggregate, Functionals};

/// The same count in every one of ten boxes of a width, whose means are sums behind `exp`.
fn even_counts(width: f64) -> Result<Vec<Parameter>, FitError> {
    let edges: Vec<(f64, f64)> = (0..10)
        .map(|i| (width * f64::from(i), width * f64::from(i + 1)))
        .collect();
    let boxes = Functionals::intervals("t", &edges, Aggregate::Sum)?;
    let counts = Poisson::new(vec![5.0; 10], vec![1.0; 10], Link::Exp)?;
    let table = Observations::new(boxes, counts)?;
    let problem = Model::new(Kernel::se(["t"]))
        .observe(table)
        .problem(Inference::Auto, None)?;
    Ok(problem.parameters().to_vec())
}

/// Behind sums of `exp` a variance is the square of a half-normal sd `s`, `p(v) = exp(-v / 2 s^2) /
/// sqrt(2 pi s^2 v)`; equal densities have no spread, and that of a factor of `e` takes its place.
#[test]
fn variances_behind_log_sums_are_squares_of_half_normal_sds() -> Result<(), FitError> {
    let parameters = even_counts(1.0)?;
    let variance = parameters.iter().find(|p| p.name == "se.variance").unwrap();
    let log = |v: f64| variance.prior.log_density(v).0;
    for (a, b) in [(0.01, 1.0), (1.0, 4.0), (4.0, 30.0)] {
        let own = |v: f64| -0.5 * v / LOG_WIDTH.powi(2) - 0.5 * v.ln();
        // A few roundings of numbers up to ten.
        let off = log(a) - log(b) - (own(a) - own(b));
        assert!(off.abs() < 1e-13, "{a} {b}: {off}");
    }
    Ok(())
}

/// Lengthscales are not searched far below the narrowest support, in whatever unit it is.
#[test]
fn lengthscales_are_bounded_by_the_supports() -> Result<(), FitError> {
    for width in [0.02, 1.0, 500.0] {
        let parameters = even_counts(width)?;
        let mut all = parameters.iter();
        let lengthscale = all.find(|p| p.name == "se.lengthscale.t").unwrap();
        assert!(lengthscale.lower < lengthscale.start);
        // Edges are multiples of the width, to rounding of the largest.
        let part = lengthscale.lower / width;
        assert!((part * RESOLVED - 1.0).abs() < 1e-14, "{width}: {part}");
    }
    Ok(())
}
