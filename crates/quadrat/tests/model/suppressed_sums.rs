//! Counts over bands of which only a range is known.

use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::{FitOptions, Model, Observations, Scale};

use super::pooled::{bands, map};

/// Suppressed cells with and without an upper end, default settings: sums lie in their ranges, and
/// nothing is left out.
#[test]
fn suppressed_sums_are_met_with_default_settings() {
    let (lower, upper) = (
        vec![0.0, 12.0, 10.0, 100.0, 0.0],
        vec![4.0, 12.0, 19.0, f64::INFINITY, 3.0],
    );
    let rows = Poisson::ranges(lower.clone(), upper.clone(), vec![1.0; 5], Link::Exp);
    let table = Observations::new(bands(10.0, 5), rows.unwrap()).unwrap();
    let model = Model::new(Kernel::matern52(["age"])).observe(table);
    let posterior = model.fit(&FitOptions::default()).unwrap();
    assert!(posterior.summary().converged && posterior.summary().integrated);
    let p = posterior.predict(&bands(10.0, 5), Scale::Response).unwrap();
    for row in 0..5 {
        // Rates may leave the range of a count by its noise.
        let (least, most) = (lower[row] - 3.0, upper[row] + 3.0);
        assert!((least..=most).contains(&p.quantile(0.5)[row]), "{row}");
        assert!(p.quantile(0.025)[row] < p.quantile(0.975)[row] && p.mean()[row].is_finite());
    }
}

/// Whatever the scale of the sum: of a total of ten `softplus` no less is known than its row says,
/// and functions of zero counts converge.
#[test]
fn suppressed_and_zero_sums_behind_softplus_are_met() {
    let (lower, upper) = (
        vec![0.0, 12.0, 10.0, 100.0, 0.0],
        vec![4.0, 12.0, 19.0, f64::INFINITY, 0.0],
    );
    let rows = Poisson::ranges(lower, upper, vec![1.0; 5], Link::Softplus);
    let table = Observations::new(bands(10.0, 5), rows.unwrap()).unwrap();
    let model = Model::new(Kernel::matern52(["age"])).observe(table);
    let posterior = model.fit(&map()).unwrap();
    assert!(posterior.summary().converged);
    let p = posterior.predict(&bands(10.0, 5), Scale::Response).unwrap();
    // The function hardly knows its rows of each other: of a count that is known, the sd is its
    // root. A tenth of 4,000 draws: the mean to 0.05 sd, the sd to 4 %, each twice.
    assert!((p.mean()[1] - 12.0).abs() < 0.5, "{:?}", p.mean());
    assert!(
        (p.sd()[1] / 12f64.sqrt() - 1.0).abs() < 0.08,
        "{:?}",
        p.sd()
    );
    assert!(p.sd()[2] < 6.0 && p.quantile(0.5)[4] < 1.0);
}
