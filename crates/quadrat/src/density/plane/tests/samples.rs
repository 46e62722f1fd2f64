//! Whole estimates.

use super::normals;
use crate::density::Density2d;

#[test]
fn whole_estimates_are_densities() {
    let [x, y] = normals(272, 0.7, 1);
    let start = std::time::Instant::now();
    let estimate = Density2d::new(&x, &y).estimate().unwrap();
    eprintln!("{:?} {} functions", start.elapsed(), estimate.functions());
    eprintln!("{} {}", estimate.effective_size(), estimate.pareto_k());
    eprintln!("{:#?}", estimate.settings());
    eprintln!("{:#?} {:?}", estimate.moments(), estimate.warnings());
    let sum: f64 = estimate.masses().iter().sum();
    assert!((sum - 1.0).abs() < 1e-12);
}
