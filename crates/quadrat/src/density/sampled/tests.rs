use super::column::OfColumn;
use super::*;
use crate::density::{Conditional, Density, Density2d, Estimate, Prior};
use crate::inference::mcmc::LogDensity;
use crate::progress::Silent;
use crate::special::scalar::normal_quantile;

/// Quantiles of a mixture of two normals, in no order.
pub fn two_groups(n: usize) -> Vec<f64> {
    let share = |i: usize| ((i * 37 % n) as f64 + 0.5) / n as f64;
    let value = |i: usize| match i % 3 {
        0 => 4.0 + 0.5 * normal_quantile(share(i)),
        _ => normal_quantile(share(i)),
    };
    (0..n).map(value).collect()
}

/// Gradients are differences, at positions all around.
pub fn slopes_are_differences<P: Posterior>(sampled: &Sampled<P>, name: &str) {
    let mut target = Target::new(&sampled.posterior, &sampled.frame, &[0]);
    let starts = sampled.frame.starts(&sampled.posterior);
    let n = target.size();
    assert_eq!(starts.len(), n);
    for round in 0..3 {
        let wave = |i: usize| (1.3 * i as f64 + 2.1 * f64::from(round)).sin();
        let at = |i: usize, h: f64, k: usize| {
            starts[i].0 + starts[i].1 * wave(i) + if i == k { h } else { 0.0 }
        };
        let mut value = |h: f64, k: usize, gradient: &mut [f64]| {
            let position: Vec<f64> = (0..n).map(|i| at(i, h, k)).collect();
            target.evaluate(&position, gradient).unwrap()
        };
        let mut gradient = vec![0.0; n];
        value(0.0, 0, &mut gradient);
        let size = gradient.iter().fold(1.0_f64, |a, g| a.max(g.abs()));
        let h = 1e-4;
        let mut unused = vec![0.0; n];
        // The first ones are polynomials and long waves, the last ones hyperparameters.
        for k in (0..n).filter(|k| *k < 12 || *k + 4 > n) {
            let rise = value(h, k, &mut unused) - value(-h, k, &mut unused);
            let difference = rise / (2.0 * h);
            // Central differences err by third derivatives times h^2, and rounding of values of
            // some hundreds by 1e-13 / h.
            let error = (gradient[k] - difference).abs();
            assert!(
                error < 3e-6 * size,
                "{name} {round} {k}: {} {difference}",
                gradient[k]
            );
        }
    }
}

#[test]
fn gradients_are_differences() {
    let x = two_groups(90);
    let of = |estimate: &Estimate, name: &str| {
        slopes_are_differences(&OfColumn::new(&estimate.kept).unwrap(), name);
    };
    let values = Density::new(&x).cells(60);
    of(&values.estimate().unwrap(), "values");
    let bounded = values.clone().bounds(-5.0, 8.0);
    of(&bounded.estimate().unwrap(), "bounded");
    let published = values.clone().prior(Prior::Published);
    of(&published.estimate().unwrap(), "published");
    let (lower, upper): (Vec<f64>, Vec<f64>) =
        x.iter().map(|x| (x.floor(), x.floor() + 1.5)).unzip();
    let intervals = Density::from_intervals(&lower, &upper).cells(60);
    of(&intervals.estimate().unwrap(), "intervals");
}

fn few() -> McmcOptions {
    McmcOptions::default().with_chains(2).with_draws(300, 500)
}

/// Means within a third of a standard deviation and spreads within a fifth, in the median over
/// cells: the draws of so short chains leave a tenth open.
fn agrees(check: &DensityCheck, name: &str) {
    let mut apart: Vec<f64> = check
        .log_density
        .iter()
        .map(|c| c.mean_difference().abs())
        .collect();
    let mut ratio: Vec<f64> = check
        .log_density
        .iter()
        .map(|c| c.sd_ratio().ln().abs())
        .collect();
    apart.sort_by(f64::total_cmp);
    ratio.sort_by(f64::total_cmp);
    let middle = apart.len() / 2;
    let told = format!(
        "{name}: {} cells, means {:.3} {:.3}, sds {:.3} {:.3}, R-hat {:.3}, effective {:.0}, {} diverged, {} gradients, {:.1} s",
        apart.len(),
        apart[middle],
        apart[apart.len() - 1],
        ratio[middle],
        ratio[ratio.len() - 1],
        check.worst_r_hat(),
        check.smallest_effective_size(),
        check.divergences,
        check.gradients,
        check.seconds
    );
    println!("{told}");
    for hyper in &check.hyperparameters {
        println!(
            "  {} {:?} {:?} {:.3}",
            hyper.name, hyper.fit, hyper.sampled, hyper.r_hat
        );
    }
    assert!(apart[middle] < 0.33 && ratio[middle] < 0.2, "{told}");
}

#[test]
fn estimates_agree_with_draws() {
    let x = two_groups(90);
    for (name, density) in [
        ("values", Density::new(&x).cells(100)),
        ("bounded", Density::new(&x).cells(100).bounds(-3.0, 6.0)),
    ] {
        let estimate = density.estimate().unwrap();
        agrees(&estimate.check_by_mcmc(&few(), &Silent).unwrap(), name);
    }
    let y: Vec<f64> = x
        .iter()
        .enumerate()
        .map(|(i, x)| x + (i as f64).sin())
        .collect();
    let joint = Density2d::new(&x, &y).cells(12, 14).estimate().unwrap();
    agrees(&joint.check_by_mcmc(&few(), &Silent).unwrap(), "joint");
    let given = Conditional::new(&x, &y).cells(9, 20).estimate().unwrap();
    agrees(
        &given.check_by_mcmc(&few(), &Silent).unwrap(),
        "conditional",
    );
}

/// Draws of an estimate that are twice as wide as they should be are told, and too few are refused.
#[test]
fn a_broken_estimate_is_called_wrong() {
    let x = two_groups(90);
    let density = Density::new(&x).cells(60);
    let mut estimate = density.estimate().unwrap();
    let (n, cells) = (estimate.curves.len(), estimate.cells.len());
    for j in 0..cells {
        let column = estimate.curves.log_mass.col_as_slice_mut(j);
        let mean = column.iter().sum::<f64>() / n as f64;
        column
            .iter_mut()
            .for_each(|x| *x = mean + 2.0 * (*x - mean));
    }
    let mut check = estimate.check_by_mcmc(&few(), &Silent).unwrap();
    let mut ratios: Vec<f64> = check.log_density.iter().map(RowCheck::sd_ratio).collect();
    ratios.sort_by(f64::total_cmp);
    // Two, but for short chains.
    let middle = ratios[ratios.len() / 2];
    assert!((1.5..2.7).contains(&middle), "{middle}");
    // Draws that can be trusted: more of them would only take longer.
    let hypers = check.hyperparameters.iter_mut();
    hypers.for_each(|h| (h.r_hat, h.effective_size) = (1.0, 900.0));
    let cells = check.log_density.iter_mut();
    cells.for_each(|c| (c.r_hat, c.effective_size) = (1.0, 900.0));
    let told = check.warnings().join("; ");
    assert!(
        told.contains("cells") && told.contains("wrong at"),
        "{told}"
    );
    let none = estimate.check_by_mcmc(&few().with_draws(0, 3), &Silent);
    assert!(
        matches!(none, Err(DensityError::NotSampled { .. })),
        "{none:?}"
    );
}
