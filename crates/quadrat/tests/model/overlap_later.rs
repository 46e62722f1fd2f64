//! Counts that are added to a fit and count its events again are counted once, as in a fit of all.

use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::{FitOptions, Hyperparameters, Model, Observations, Posterior, Scale, Setting};
use quadrat::support::{Aggregate, Functionals};

type Pairs<'a> = &'a [(f64, f64)];

const DAYS: [(f64, f64); 4] = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)];
const COUNTS: [f64; 4] = [18.0, 14.0, 22.0, 29.0];

fn bands(edges: Pairs<'_>) -> Functionals {
    Functionals::intervals("t", edges, Aggregate::Sum).unwrap()
}

fn counts(edges: Pairs<'_>, of: &[f64]) -> Observations {
    let poisson = Poisson::new(of.to_vec(), vec![1.0; of.len()], Link::Exp).unwrap();
    Observations::new(bands(edges), poisson).unwrap()
}

fn model() -> Model {
    Model::new(Kernel::matern52(["t"]))
        .set("matern52.lengthscale.t", Setting::fixed(3.0))
        .set("matern52.variance", Setting::fixed(0.3))
}

fn fit(model: &Model) -> Posterior {
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    model.fit(&options).unwrap()
}

/// Mean and sd over the first `to` days.
fn told(posterior: &Posterior, to: f64) -> (f64, f64) {
    let told = posterior
        .predict(&bands(&[(0.0, to)]), Scale::Response)
        .unwrap();
    (told.mean()[0], told.sd()[0])
}

/// Draws of several hundred, whose sd is known to some hundredths; means to a tenth of an sd.
fn agree(found: (f64, f64), want: (f64, f64)) {
    let near = (found.0 - want.0).abs() < 0.1 * want.1 && (found.1 / want.1 - 1.0).abs() < 0.1;
    assert!(near, "{found:?} {want:?}");
}

#[test]
fn a_total_that_is_told_later_says_nothing_new() {
    let before = fit(&model().observe(counts(&DAYS, &COUNTS)));
    let total = || counts(&[(0.0, 4.0)], &[83.0]);
    let after = before.condition(total()).unwrap();
    assert_eq!(told(&after, 4.0), told(&before, 4.0));
    assert_eq!(after.summary().rows, 4);
    let last = after.summary().warnings.last().unwrap();
    let words = "1 row of counts is the total of others, which count the same events, and was left out: row 4 of row 0 and 3 other rows";
    assert!(last.starts_with(words), "{last}");
    // Told again, and of a file.
    let again = Posterior::from_bytes(&after.to_bytes()).unwrap();
    let again = again.condition(total()).unwrap();
    assert_eq!(again.summary().rows, 4);
    let named = before.condition_naming(total(), &|row| format!("line {}", row + 2));
    let named = named.unwrap().summary().warnings.last().unwrap().clone();
    assert!(named.contains("line 6 of line 2"), "{named}");
}

#[test]
fn sums_that_are_told_later_become_differences_as_in_a_fit_of_all() {
    // The third day as a sum since the first, and days within a sum of the fit.
    for (first, then) in [
        (
            counts(&DAYS[..2], &COUNTS[..2]),
            counts(&[(0.0, 3.0), (3.0, 4.0)], &[54.0, 29.0]),
        ),
        (
            counts(&[(0.0, 1.0), (0.0, 3.0)], &[18.0, 54.0]),
            counts(&[(2.0, 3.0), (3.0, 4.0)], &[22.0, 29.0]),
        ),
    ] {
        let before = fit(&model().observe(first.clone()));
        let after = before.condition(then.clone()).unwrap();
        let whole = fit(&model().observe(first).observe(then));
        assert_eq!(after.summary().rows, whole.summary().rows);
        let warnings = &after.summary().warnings;
        assert!(
            warnings.iter().any(|w| w.contains("differences of rows")),
            "{warnings:?}"
        );
        for to in [1.0, 3.0, 4.0] {
            agree(told(&after, to), told(&whole, to));
        }
    }
}

#[test]
fn rows_that_count_other_events_are_added_as_they_are() {
    let before = fit(&model().observe(counts(&DAYS, &COUNTS)));
    let known = before.summary().warnings.len();
    // Another day, the same day of another year, and a total that is none, which is told.
    for (more, words) in [
        (counts(&[(4.0, 5.0)], &[20.0]), None),
        (counts(&[(1.0, 2.0)], &[15.0]), None),
        (
            counts(&[(0.0, 4.0)], &[90.0]),
            Some("counts 7 more than its parts"),
        ),
    ] {
        let after = before.condition(more).unwrap();
        assert_eq!(after.summary().rows, 5);
        let told = &after.summary().warnings[known..];
        match words {
            None => assert!(told.is_empty(), "{told:?}"),
            Some(words) => assert!(told[0].contains(words), "{told:?}"),
        }
    }
    // A fit that was asked to take its rows as they are does so later.
    let rows = counts(&[(0.0, 1.0), (1.0, 2.0), (0.0, 2.0)], &[18.0, 14.0, 32.0]);
    let kept = fit(&model().observe(rows).with_overlapping_counts());
    let after = kept.condition(counts(&[(0.0, 2.0)], &[32.0])).unwrap();
    assert_eq!(after.summary().rows, 4);
}

#[test]
fn parts_of_every_total_of_a_table_are_refused() {
    let before = fit(&model().observe(counts(&[(0.0, 4.0)], &[83.0])));
    let refused = before.condition(counts(&DAYS, &COUNTS)).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("fit all rows together"), "{text}");
}

#[test]
fn windows_that_are_told_later_count_in_shares_too() {
    let windows = [(0.0, 3.0), (1.0, 4.0), (2.0, 5.0), (3.0, 6.0)];
    let cases = [54.0, 65.0, 77.0, 80.0];
    let all = fit(&model().observe(counts(&windows, &cases)));
    let before = fit(&model().observe(counts(&windows[..3], &cases[..3])));
    let before = Posterior::from_bytes(&before.to_bytes()).unwrap();
    let after = before
        .condition(counts(&windows[3..], &cases[3..]))
        .unwrap();
    for to in [1.0, 6.0] {
        agree(told(&after, to), told(&all, to));
    }
    let last = after.summary().warnings.last().unwrap();
    assert!(
        last.starts_with("4 rows of counts, row 0 to row 3, overlap"),
        "{last}"
    );
    assert!(last.contains("so small a share"), "{last}");
}
