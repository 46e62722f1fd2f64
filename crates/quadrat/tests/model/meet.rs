//! Predictions that meet totals: beside totals as further rows, beside draws scaled by hand, and
//! totals that cannot be met.

use quadrat::kernel::Kernel;
use quadrat::likelihood::{Bernoulli, Gaussian, Likelihood, Poisson, Sigmoid};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, GroupTotals, Hyperparameters, Met, Model, Noise, Observations, Posterior, Scale,
};
use quadrat::support::{Aggregate, Functionals};

use crate::common::map;

fn boxes(edges: &[(f64, f64)]) -> Functionals {
    Functionals::intervals("t", edges, Aggregate::Sum).unwrap()
}

fn units(from: u32, to: u32) -> Functionals {
    let edges: Vec<_> = (from..to)
        .map(|i| (f64::from(i), f64::from(i + 1)))
        .collect();
    boxes(&edges)
}

/// Totals of bands with noise.
fn values(noise: Noise) -> Observations {
    let bands = [(0.0, 2.0), (2.0, 4.0), (3.0, 6.0), (6.0, 8.0), (8.0, 9.0)];
    let said = vec![11.0, 14.5, 27.0, 13.0, 4.0];
    Observations::gaussian(boxes(&bands), said, noise).unwrap()
}

fn noisy() -> Model {
    Model::new(Kernel::matern32(["t"])).observe(values(Noise::Known(vec![0.5; 5])))
}

/// Rows from one to below another, each once.
fn rows(from: usize, to: usize) -> Vec<(usize, f64)> {
    (from..to).map(|row| (row, 1.0)).collect()
}

fn totals(all: &[(&str, (usize, usize), f64)]) -> GroupTotals {
    all.iter()
        .fold(GroupTotals::new(), |given, (name, (from, to), total)| {
            given.add(*name, rows(*from, *to), (*total, 0.0)).unwrap()
        })
}

fn meet(posterior: &Posterior, at: &Functionals, given: &GroupTotals) -> Met {
    posterior.meet(at, given, None, (50, 3)).unwrap()
}

fn told(posterior: &Posterior, at: &Functionals, given: &GroupTotals) -> String {
    let refused = posterior.meet(at, given, None, (0, 3));
    refused.unwrap_err().to_string()
}

fn sum(values: &[f64], (from, to): (usize, usize)) -> f64 {
    values[from..to].iter().sum()
}

/// The largest difference of two columns in units of a third.
fn apart(a: &[f64], b: &[f64], unit: &[f64]) -> f64 {
    let each = a.iter().zip(b).zip(unit);
    each.map(|((a, b), unit)| ((a - b) / unit).abs())
        .fold(0.0, f64::max)
}

/// Without a link totals are further rows: the same as conditioning on rows over the groups, which
/// know their totals exactly or with the same variance.
#[test]
fn totals_are_further_rows() {
    let (posterior, at) = (map(&noisy()), units(0, 10));
    let given = totals(&[("b", (5, 9), 31.0), ("a", (0, 4), 22.0)]);
    let given = given.add("c", vec![(9, 2.0)], (5.0, 0.7)).unwrap();
    let met = meet(&posterior, &at, &given);
    let mut further = boxes(&[(0.0, 4.0), (5.0, 9.0)]);
    further.extend(&boxes(&[(9.0, 10.0)])).unwrap();
    // Twice the last row is 5 with variance 0.7.
    let noise = Noise::Known(vec![0.0, 0.0, 0.7 / 4.0]);
    let further = Observations::gaussian(further, vec![22.0, 31.0, 2.5], noise).unwrap();
    let right = posterior.condition(further).unwrap();
    let right = right.predict(&at, Scale::Response).unwrap();
    // The order of rounding in covariances of condition 1e6.
    assert!(apart(met.mean(), right.mean(), right.sd()) < 1e-8);
    assert!(apart(met.sd(), right.sd(), right.sd()) < 1e-8);
    for p in [0.025, 0.5, 0.9] {
        let (own, right_one) = (met.quantile(p), right.quantile(p));
        assert!(apart(&own, &right_one, right.sd()) < 1e-8);
    }
    let limits = vec![6.0; 10];
    let above = met.exceedance(&limits).unwrap();
    // As above: probabilities have the same rounding.
    assert!(apart(&above, &right.exceedance(6.0), &[1.0; 10]) < 1e-8);
    assert!(met.exceedance(&limits[1..]).is_none());
    let drawn = posterior.meet(&at, &given, None, (4000, 5)).unwrap();
    for draw in 0..4000 {
        let column = drawn.draws().col_as_slice(draw);
        // Draws are scaled to their totals, or moved to them: some roundings.
        assert!((sum(column, (0, 4)) / 22.0 - 1.0).abs() < 1e-12);
        assert!((sum(column, (5, 9)) / 31.0 - 1.0).abs() < 1e-12);
    }
    for row in 0..10 {
        let own: Vec<f64> = (0..4000).map(|d| drawn.draws()[(row, d)]).collect();
        let mean = own.iter().sum::<f64>() / 4000.0;
        let square: f64 = own.iter().map(|x| (x - mean).powi(2)).sum();
        let sd = (square / 3999.0).sqrt();
        // Four standard errors of 4,000 draws.
        assert!((mean - right.mean()[row]).abs() < 4.0 * right.sd()[row] / 63.0);
        assert!((sd / right.sd()[row] - 1.0).abs() < 4.0 / 89.0);
    }
}

/// Values of the hyperparameters that expect the totals weigh more.
#[test]
fn hyperparameters_are_weighted_anew() {
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Integrate);
    let posterior = noisy().fit(&options).unwrap();
    let at = units(0, 10);
    let met = meet(
        &posterior,
        &at,
        &totals(&[("a", (0, 4), 20.0), ("b", (6, 10), 26.0)]),
    );
    let further = boxes(&[(0.0, 4.0), (6.0, 10.0)]);
    let noise = Noise::Known(vec![0.0; 2]);
    let further = Observations::gaussian(further, vec![20.0, 26.0], noise).unwrap();
    let right = posterior.condition(further).unwrap();
    let right = right.predict(&at, Scale::Response).unwrap();
    // Nodes that hold .001 of the weight are left out by either.
    assert!(apart(met.mean(), right.mean(), right.sd()) < 0.02);
    assert!(apart(met.sd(), right.sd(), right.sd()) < 0.02);
    assert!((sum(met.mean(), (0, 4)) / 20.0 - 1.0).abs() < 1e-12);
}

/// Rows and groups in another order, and another unit, say the same.
#[test]
fn order_and_units_do_not_matter() {
    let posterior = map(&noisy());
    let plain = meet(
        &posterior,
        &units(0, 8),
        &totals(&[("a", (0, 4), 23.0), ("b", (4, 8), 30.0)]),
    );
    let turned = units(0, 8).rows(&[7, 6, 5, 4, 3, 2, 1, 0]);
    let given = totals(&[("b", (0, 4), 30.0), ("a", (4, 8), 23.0)]);
    let other = meet(&posterior, &turned, &given);
    let back: Vec<f64> = other.mean().iter().rev().copied().collect();
    // Rounding of sums in another order.
    assert!(apart(plain.mean(), &back, plain.sd()) < 1e-9);
    let weighted = GroupTotals::new()
        .add(
            "a",
            rows(0, 4).iter().map(|(r, _)| (*r, 1000.0)).collect(),
            (23e3, 0.0),
        )
        .unwrap()
        .add("b", rows(4, 8), (30.0, 0.0))
        .unwrap();
    let other = meet(&posterior, &units(0, 8), &weighted);
    // Rounding, as above.
    assert!(apart(plain.mean(), other.mean(), plain.sd()) < 1e-9);
    assert!(apart(plain.sd(), other.sd(), plain.sd()) < 1e-9);
}

/// A sum that exact rows fix agrees with them, or is refused with both numbers.
#[test]
fn totals_that_rows_fix_must_agree() {
    let bands = boxes(&[(0.0, 2.0), (2.0, 6.0), (6.0, 9.0)]);
    let exact = Observations::gaussian(bands, vec![10.0, 24.0, 15.0], Noise::Known(vec![0.0; 3]));
    let model = Model::new(Kernel::matern32(["t"])).observe(exact.unwrap());
    let (posterior, at) = (map(&model), units(0, 9));
    let plain = posterior.predict(&at, Scale::Response).unwrap();
    let met = meet(&posterior, &at, &totals(&[("a", (0, 2), 10.0)]));
    // What agrees changes nothing but rounding.
    assert!(apart(met.mean(), plain.mean(), &[1.0; 9]) < 1e-7);
    let said = told(&posterior, &at, &totals(&[("a", (0, 2), 10.01)]));
    assert!(
        said.contains("`a` is given as 10.01") && said.contains("it: 10"),
        "{said}"
    );
    // Two groups that share a row are free by themselves, and not together.
    meet(&posterior, &at, &totals(&[("a", (2, 4), 12.5)]));
    let met = meet(
        &posterior,
        &at,
        &totals(&[("a", (2, 4), 12.5), ("b", (4, 6), 11.5)]),
    );
    assert!((sum(met.mean(), (4, 6)) - 11.5).abs() < 1e-11);
    let said = told(
        &posterior,
        &at,
        &totals(&[("a", (2, 4), 12.5), ("b", (4, 6), 12.5)]),
    );
    assert!(
        said.contains("the other totals determine it: 11.5"),
        "{said}"
    );
    // A total over two rows that are exact.
    let said = told(&posterior, &at, &totals(&[("all", (0, 9), 50.0)]));
    assert!(said.contains("49"), "{said}");
}

/// Yearly amounts that are known exactly, behind a link.
fn amounts(values: &[f64], link: Link) -> Posterior {
    let noise = Noise::Known(vec![0.0; values.len()]);
    let made = Gaussian::new(values.to_vec(), noise).unwrap();
    let likelihood: Likelihood = made.behind(link).unwrap().into();
    let years = units(0, values.len() as u32);
    let table = Observations::new(years, likelihood).unwrap();
    map(&Model::new(Kernel::matern32(["t"])).observe(table))
}

fn quarters(years: u32) -> Functionals {
    let edge = |i: u32| f64::from(i) / 4.0;
    boxes(
        &(0..4 * years)
            .map(|i| (edge(i), edge(i + 1)))
            .collect::<Vec<_>>(),
    )
}

/// Counts without exact rows: every draw is scaled, by hand too.
#[test]
fn draws_behind_a_link_are_scaled() {
    let counts = vec![9.0, 14.0, 6.0, 3.0, 11.0, 20.0];
    let counts = Poisson::new(counts, vec![1.0; 6], Link::Exp).unwrap();
    let table = Observations::new(units(0, 6), counts).unwrap();
    let posterior = map(&Model::new(Kernel::matern32(["t"])).observe(table));
    let at = quarters(6);
    let given = totals(&[
        ("a", (0, 10), 40.0),
        ("none", (10, 12), 0.0),
        ("b", (12, 20), 17.0),
    ]);
    let met = meet(&posterior, &at, &given);
    let plain = posterior.sample_responses(&at, 4000, 3).unwrap();
    let mut right = vec![0.0; 24];
    for draw in 0..4000 {
        let column = plain.col_as_slice(draw);
        for (row, mean) in right.iter_mut().enumerate() {
            let factor = match row {
                0..10 => 40.0 / sum(column, (0, 10)),
                10..12 => 0.0,
                12..20 => 17.0 / sum(column, (12, 20)),
                _ => 1.0,
            };
            *mean += factor * column[row] / 4000.0;
        }
    }
    // Sums of 4,000 in another order.
    assert!(apart(met.mean(), &right, &[1.0; 24]) < 1e-11);
    assert_eq!(
        (met.mean()[11], met.sd()[11], met.quantile(0.975)[11]),
        (0.0, 0.0, 0.0)
    );
    for draw in 0..50 {
        let column = met.draws().col_as_slice(draw);
        assert!((sum(column, (0, 10)) / 40.0 - 1.0).abs() < 1e-12);
        // As above: some roundings.
        assert!((sum(column, (12, 20)) / 17.0 - 1.0).abs() < 1e-12);
    }
    let (lower, upper) = (met.quantile(0.025), met.quantile(0.975));
    assert!((0..24).all(|row| lower[row] <= met.mean()[row] && met.mean()[row] <= upper[row]));
    let said = told(&posterior, &at, &totals(&[("a", (0, 4), -1.0)]));
    assert!(said.contains("never negative"), "{said}");
    let vague = GroupTotals::new().add("a", rows(0, 4), (9.0, 1.0)).unwrap();
    assert!(told(&posterior, &at, &vague).contains("with a variance"));
}

/// Sums that exact rows fix hold behind a link too, alone and across groups.
#[test]
fn exact_rows_behind_a_link_stay_exact() {
    for link in [Link::Exp, Link::Softplus] {
        let posterior = amounts(&[61.0, 54.0, 3.0, 70.0, 65.0, 59.0], link);
        let at = quarters(6);
        // Six quarters, of which four are a year: the other two share out what is left.
        let given = totals(&[("a", (0, 6), 90.0), ("b", (6, 8), 25.0)]);
        let met = meet(&posterior, &at, &given);
        for draw in 0..50 {
            let column = met.draws().col_as_slice(draw);
            // What scaling in turn leaves.
            assert!((sum(column, (0, 4)) / 61.0 - 1.0).abs() < 1e-9);
            assert!((sum(column, (4, 6)) / 29.0 - 1.0).abs() < 1e-9);
            assert!((sum(column, (0, 6)) / 90.0 - 1.0).abs() < 1e-12);
        }
        let said = told(&posterior, &at, &totals(&[("a", (0, 4), 60.0)]));
        assert!(
            said.contains("`a`") && said.contains("determine it: 61"),
            "{said}"
        );
        let said = told(
            &posterior,
            &at,
            &totals(&[("a", (0, 6), 90.0), ("b", (6, 8), 26.0)]),
        );
        assert!(said.contains("the other totals, determine it"), "{said}");
        // Less than the exact year within it.
        let said = told(&posterior, &at, &totals(&[("a", (0, 6), 55.0)]));
        assert!(said.contains("known exactly, and add up to 61"), "{said}");
        let said = told(&posterior, &at, &totals(&[("a", (0, 6), 0.0)]));
        assert!(said.contains("known exactly"), "{said}");
        meet(&posterior, &at, &totals(&[("a", (0, 4), 61.0)]));
    }
}

/// What meets no totals is refused before anything is drawn.
#[test]
fn what_has_no_totals_is_refused() {
    let answers = Bernoulli::new(vec![true, false, true, true], Sigmoid::Logit);
    let at = Functionals::points("t", &[0.0, 1.0, 2.0, 3.0]).unwrap();
    let table = Observations::new(at.clone(), answers).unwrap();
    let posterior = map(&Model::new(Kernel::se(["t"])).observe(table));
    let said = told(&posterior, &at, &totals(&[("a", (0, 4), 2.0)]));
    assert!(said.contains("probabilities"), "{said}");
    let posterior = map(&noisy());
    let said = told(
        &posterior,
        &at,
        &totals(&[("a", (0, 3), 2.0), ("b", (2, 4), 2.0)]),
    );
    assert!(said.contains("in one group only"), "{said}");
    let said = told(&posterior, &at, &totals(&[("a", (2, 6), 2.0)]));
    assert!(said.contains("a row of the prediction"), "{said}");
    let many: Vec<f64> = (0..4001).map(f64::from).collect();
    let many = Functionals::points("t", &many).unwrap();
    assert!(told(&posterior, &many, &GroupTotals::new()).contains("at most 4,000"));
    for (rows, given) in [
        (vec![], (1.0, 0.0)),
        (vec![(0, 0.0)], (1.0, 0.0)),
        (vec![(0, -1.0)], (1.0, 0.0)),
        (vec![(0, 1.0)], (f64::NAN, 0.0)),
        (vec![(0, 1.0)], (1.0, -1.0)),
    ] {
        assert!(GroupTotals::new().add("a", rows, given).is_err());
    }
}
