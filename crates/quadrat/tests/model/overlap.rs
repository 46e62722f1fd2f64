//! Rows of counts that overlap count the same events: differences are fitted, totals left out, and
//! where that cannot be done it is said.

use quadrat::kernel::Kernel;
use quadrat::likelihood::{Dispersion, Likelihood, NegativeBinomial, Poisson};
use quadrat::link::Link;
use quadrat::model::{
    CountedOnce, FitOptions, Hyperparameters, Model, Noise, Observations, Posterior, Scale,
    Setting, Treatment, WhyKept, counted_once,
};
use quadrat::support::{Aggregate, Functionals, Polygon, Region, Side};

use std::sync::Arc;

type Pairs<'a> = &'a [(f64, f64)];
type Box2 = [(f64, f64); 2];

/// 30 days of about 20 cases.
const CASES: [f64; 30] = [
    18.0, 14.0, 22.0, 29.0, 26.0, 28.0, 25.0, 33.0, 22.0, 30.0, 30.0, 18.0, 30.0, 16.0, 19.0, 16.0,
    20.0, 20.0, 23.0, 15.0, 16.0, 19.0, 15.0, 13.0, 15.0, 11.0, 13.0, 13.0, 21.0, 20.0,
];

fn counts(supports: Functionals, counts: &[f64], exposure: &[f64]) -> Observations {
    let poisson = Poisson::new(counts.to_vec(), exposure.to_vec(), Link::Exp).unwrap();
    Observations::new(supports, poisson).unwrap()
}

fn plain(supports: Functionals, of: &[f64]) -> Observations {
    counts(supports, of, &vec![1.0; of.len()])
}

fn ranges(supports: Functionals, of: Pairs<'_>) -> Observations {
    let (lower, upper): (Vec<f64>, Vec<f64>) = of.iter().copied().unzip();
    let poisson = Poisson::ranges(lower, upper, vec![1.0; of.len()], Link::Exp).unwrap();
    Observations::new(supports, poisson).unwrap()
}

fn bands(edges: Pairs<'_>) -> Functionals {
    Functionals::intervals("t", edges, Aggregate::Sum).unwrap()
}

fn means(edges: Pairs<'_>) -> Functionals {
    Functionals::intervals("t", edges, Aggregate::Mean).unwrap()
}

fn boxes(edges: &[Box2]) -> Functionals {
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    let mut all = edges.iter();
    all.try_for_each(|e| set.push_box(e, Aggregate::Sum))
        .unwrap();
    set
}

fn bags(points: &[&[(f64, f64)]]) -> Functionals {
    let mut set = Functionals::new(vec!["t".into()]);
    for bag in points {
        let (at, weights): (Vec<Vec<f64>>, Vec<f64>) =
            bag.iter().map(|(x, w)| (vec![*x], *w)).unzip();
        set.push_nodes(&at, &weights).unwrap();
    }
    set
}

fn square(x: f64, y: f64, side: f64) -> Arc<Region> {
    let polygon = Polygon::rectangle((x, x + side), (y, y + side)).unwrap();
    Arc::new(Region::from(polygon))
}

fn squares(of: &[(f64, f64, f64)]) -> Functionals {
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    let mut all = of.iter();
    all.try_for_each(|&(x, y, side)| set.push_region(square(x, y, side), Aggregate::Sum))
        .unwrap();
    set
}

/// What a row looks at and reports: where it begins and ends along every dimension, the expected
/// count at a rate of one, and the ends of the count.
type Told = (Vec<(f64, f64)>, f64, (f64, f64));

fn told(table: &Observations) -> Vec<Told> {
    let (lower, upper, exposure) = match table.likelihood() {
        Likelihood::Poisson(x) => (x.lower(), x.upper(), x.exposure()),
        Likelihood::NegativeBinomial(x) => (x.lower(), x.upper(), x.exposure()),
        other => panic!("{}", other.name()),
    };
    let set = table.supports();
    let row = |row: usize| {
        let dims = 0..set.dims().len();
        let extents = dims.map(|d| set.extent(row, d)).collect();
        let mass = set.size(row) * exposure[row];
        (extents, mass, (lower[row], upper[row]))
    };
    (0..set.len()).map(row).collect()
}

/// One table after events were counted once.
fn once(table: &Observations) -> CountedOnce {
    counted_once(std::slice::from_ref(table)).unwrap()
}

/// Whether rows are the same up to rounding, also of edges that are sums of others.
fn same(found: &Observations, want: &Observations) {
    let (found, want) = (told(found), told(want));
    assert_eq!(found.len(), want.len(), "{found:?}");
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
    for (a, b) in found.iter().zip(&want) {
        let mut edges = a.0.iter().zip(&b.0);
        assert!(
            edges.all(|(a, b)| near(a.0, b.0) && near(a.1, b.1)) && near(a.1, b.1),
            "{a:?} {b:?}"
        );
        assert_eq!(a.2, b.2);
    }
}

fn treatments(found: &CountedOnce) -> Vec<Treatment> {
    found.overlaps.iter().map(|o| o.treatment).collect()
}

fn fit(table: Observations) -> Posterior {
    Model::new(Kernel::matern52(["t"]))
        .observe(table)
        .set("matern52.lengthscale.t", Setting::fixed(10.0))
        .set("matern52.variance", Setting::fixed(0.3))
        .fit(&FitOptions::default().with_hyperparameters(Hyperparameters::Map))
        .unwrap()
}

fn daily() -> (Vec<(f64, f64)>, Vec<f64>) {
    let days = (0..30).map(|day| (f64::from(day), f64::from(day + 1)));
    (days.collect(), CASES.to_vec())
}

fn cumulative() -> (Vec<(f64, f64)>, Vec<f64>) {
    let (days, cases) = daily();
    let mut sum = 0.0;
    let sums = cases.iter().map(|count| {
        sum += count;
        sum
    });
    (
        days.iter().map(|day| (0.0, day.1)).collect(),
        sums.collect(),
    )
}

#[test]
fn sums_that_grow_say_what_counts_of_every_day_say() {
    let total = bands(&[(0.0, 30.0)]);
    let (edges, sums) = cumulative();
    let grown = fit(plain(bands(&edges), &sums));
    let (days, cases) = daily();
    let by_day = fit(plain(bands(&days), &cases));
    assert_eq!(grown.summary().log_evidence, by_day.summary().log_evidence);
    let found = grown.predict(&total, Scale::Response).unwrap();
    let want = by_day.predict(&total, Scale::Response).unwrap();
    assert_eq!((found.mean(), found.sd()), (want.mean(), want.sd()));
    // 609 events, known to their root; a prior that is not flat takes a little.
    assert!((found.sd()[0] / f64::sqrt(609.0) - 1.0).abs() < 0.03);
    let warning = &grown.summary().warnings[0];
    let words = "30 rows of counts, row 0 to row 29, overlap, so that the same events are counted again, such as those of row 28 in row 29: differences";
    assert!(warning.starts_with(words), "{warning}");
    assert!(by_day.summary().warnings.is_empty());
}

#[test]
fn a_model_may_take_counts_as_they_are() {
    let (edges, sums) = cumulative();
    let model = Model::new(Kernel::matern52(["t"]))
        .observe(plain(bands(&edges), &sums))
        .set("matern52.lengthscale.t", Setting::fixed(10.0))
        .set("matern52.variance", Setting::fixed(0.3));
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let posterior = model.with_overlapping_counts().fit(&options).unwrap();
    assert!(posterior.summary().warnings.is_empty());
    let total = posterior.predict(&bands(&[(0.0, 30.0)]), Scale::Response);
    // Every event counts again each day until the last.
    assert!(total.unwrap().sd()[0] < 0.7 * f64::sqrt(609.0));
}

/// What is given, and the tables in which every event counts once.
fn resolved() -> Vec<(&'static str, Observations, Observations)> {
    let hidden = ranges(
        bands(&[(0.0, 18.0), (0.0, 5.0), (5.0, 18.0)]),
        &[(9.0, 9.0), (7.0, 7.0), (1.0, 4.0)],
    );
    let found = plain(bands(&[(0.0, 5.0), (5.0, 18.0)]), &[7.0, 2.0]);
    let grown: Vec<Box2> = (0..4)
        .map(|i| [(0.0, f64::from(1 + i / 2)), (0.0, f64::from(1 + i % 2))])
        .collect();
    let cells: Vec<Box2> = (0..4)
        .map(|i| (f64::from(i / 2), f64::from(i % 2)))
        .map(|(x, y)| [(x, x + 1.0), (y, y + 1.0)])
        .collect();
    let margins: Vec<Box2> = cells
        .iter()
        .copied()
        .chain([
            [(0.0, 2.0), (0.0, 1.0)],
            [(0.0, 1.0), (0.0, 2.0)],
            [(1.0, 2.0), (0.0, 2.0)],
            [(0.0, 2.0), (0.0, 2.0)],
        ])
        .collect();
    let dispersed = |edges: Pairs<'_>, of: &[f64]| {
        let one = vec![1.0; of.len()];
        let kind = NegativeBinomial::new(of.to_vec(), one, Link::Exp, Dispersion::Learned);
        Observations::new(bands(edges), kind.unwrap()).unwrap()
    };
    vec![
        (
            "survivors",
            plain(
                bands(&[(0.0, 9.0), (2.0, 9.0), (5.0, 9.0)]),
                &[9.0, 8.0, 3.0],
            ),
            plain(
                bands(&[(0.0, 2.0), (2.0, 5.0), (5.0, 9.0)]),
                &[1.0, 5.0, 3.0],
            ),
        ),
        (
            "decimal edges",
            plain(
                bands(&[(0.1 + 0.2, 0.6), (0.3, 0.6 + 0.1 + 0.2)]),
                &[4.0, 6.0],
            ),
            plain(bands(&[(0.3, 0.6), (0.6, 0.9)]), &[4.0, 2.0]),
        ),
        (
            "a day that stands there twice",
            plain(
                bands(&[(0.0, 1.0), (0.0, 2.0), (0.0, 2.0), (0.0, 3.0)]),
                &[4.0, 6.0, 6.0, 9.0],
            ),
            plain(
                bands(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]),
                &[4.0, 2.0, 3.0],
            ),
        ),
        (
            "a total first",
            plain(
                bands(&[(0.0, 18.0), (0.0, 5.0), (5.0, 18.0)]),
                &[9.0, 7.0, 2.0],
            ),
            found.clone(),
        ),
        (
            "a part of it alone",
            plain(bands(&[(0.0, 18.0), (0.0, 5.0)]), &[9.0, 7.0]),
            plain(bands(&[(5.0, 18.0), (0.0, 5.0)]), &[2.0, 7.0]),
        ),
        ("a hidden part", hidden, found),
        (
            "of negative binomial counts",
            dispersed(&[(0.0, 1.0), (0.0, 2.0), (0.0, 3.0)], &[3.0, 8.0, 9.0]),
            dispersed(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)], &[3.0, 5.0, 1.0]),
        ),
        (
            "in two dimensions",
            plain(boxes(&grown), &[1.0, 3.0, 4.0, 10.0]),
            plain(boxes(&cells), &[1.0, 2.0, 3.0, 4.0]),
        ),
        (
            "margins",
            plain(boxes(&margins), &[1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 7.0, 10.0]),
            plain(boxes(&cells), &[1.0, 2.0, 3.0, 4.0]),
        ),
        (
            "the country",
            plain(
                squares(&[
                    (0.0, 0.0, 1.0),
                    (1.0, 0.0, 1.0),
                    (0.0, 1.0, 1.0),
                    (1.0, 1.0, 1.0),
                    (0.0, 0.0, 2.0),
                ]),
                &[1.0, 2.0, 3.0, 4.0, 10.0],
            ),
            plain(
                squares(&[
                    (0.0, 0.0, 1.0),
                    (1.0, 0.0, 1.0),
                    (0.0, 1.0, 1.0),
                    (1.0, 1.0, 1.0),
                ]),
                &[1.0, 2.0, 3.0, 4.0],
            ),
        ),
        (
            "bags",
            plain(
                bags(&[
                    &[(0.0, 2.0), (1.0, 1.0)],
                    &[(2.0, 3.0)],
                    &[(2.0, 3.0), (0.0, 2.0), (1.0, 1.0)],
                ]),
                &[4.0, 6.0, 10.0],
            ),
            plain(
                bags(&[&[(0.0, 2.0), (1.0, 1.0)], &[(2.0, 3.0)]]),
                &[4.0, 6.0],
            ),
        ),
        (
            "rates of people",
            counts(
                means(&[(0.0, 18.0), (0.0, 5.0), (5.0, 18.0)]),
                &[9.0, 7.0, 2.0],
                &[90.0, 31.0, 59.0],
            ),
            counts(
                means(&[(0.0, 5.0), (5.0, 18.0)]),
                &[7.0, 2.0],
                &[31.0, 59.0],
            ),
        ),
        (
            "rates of people, a part alone",
            counts(
                means(&[(0.0, 18.0), (0.0, 5.0)]),
                &[9.0, 7.0],
                &[90.0, 31.0],
            ),
            counts(
                means(&[(5.0, 18.0), (0.0, 5.0)]),
                &[2.0, 7.0],
                &[59.0, 31.0],
            ),
        ),
    ]
}

#[test]
fn differences_and_totals_leave_every_event_counted_once() {
    for (what, given, want) in resolved() {
        let found = once(&given);
        println!("{what}: {:?}", found.overlaps);
        assert!(!found.overlaps.is_empty());
        let kept = |t: &Treatment| matches!(t, Treatment::Kept(_));
        assert!(!treatments(&found).iter().any(kept));
        same(&found.tables[0], &want);
        assert_eq!(once(&found.tables[0]).overlaps, [], "{what}");
    }
}

#[test]
fn what_is_left_between_parts_is_one_row() {
    let given = plain(
        bands(&[(0.0, 10.0), (2.0, 3.0), (6.0, 8.0)]),
        &[9.0, 2.0, 3.0],
    );
    let found = once(&given);
    let rest = &told(&found.tables[0])[0];
    assert_eq!(*rest, (vec![(0.0, 10.0)], 7.0, (4.0, 4.0)));
    // Nine events in all, each counted once: known to their root, less what the prior knows.
    let posterior = fit(given);
    let total = posterior.predict(&bands(&[(0.0, 10.0)]), Scale::Response);
    let total = total.unwrap();
    assert!((total.mean()[0] - 9.0).abs() < 0.5, "{:?}", total.mean());
    assert!((total.sd()[0] / 3.0 - 1.0).abs() < 0.1, "{:?}", total.sd());
}

#[test]
fn sums_that_grow_in_every_region_are_told_apart() {
    let days = [(0.0, 1.0), (0.0, 2.0), (0.0, 3.0)];
    let rows = |days: Pairs<'_>| {
        let mut set = Functionals::new(vec!["x".into(), "y".into(), "t".into()]);
        for region in [square(0.0, 0.0, 1.0), square(1.0, 0.0, 1.0)] {
            for &(from, to) in days {
                let sides = [None, None, Some(Side::Interval(from, to))];
                set.push_product(Arc::clone(&region), &sides, Aggregate::Sum)
                    .unwrap();
            }
        }
        set
    };
    let given = plain(rows(&days), &[1.0, 3.0, 6.0, 5.0, 7.0, 8.0]);
    let found = once(&given);
    let apart = rows(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]);
    same(
        &found.tables[0],
        &plain(apart, &[1.0, 2.0, 3.0, 5.0, 2.0, 1.0]),
    );
    assert_eq!(treatments(&found), [Treatment::Differences; 2]);
}

#[test]
fn a_total_in_another_table_is_left_out() {
    let parts = plain(bands(&[(0.0, 5.0), (5.0, 18.0)]), &[7.0, 2.0]);
    let total = plain(bands(&[(0.0, 18.0)]), &[9.0]);
    let found = counted_once(&[total.clone(), parts.clone()]).unwrap();
    assert_eq!((found.left_out(), found.tables.len()), (vec![0], 1));
    assert_eq!(found.tables[0], parts);
    // Counts of other outputs are other events.
    let apart = [total.of_output("women"), parts.of_output("men")];
    assert_eq!(counted_once(&apart).unwrap().overlaps, []);
}

#[test]
fn what_cannot_be_told_apart_stays_and_is_named() {
    let total = [(0.0, 18.0), (0.0, 5.0), (5.0, 18.0)];
    let hidden = ranges(bands(&total), &[(9.0, 9.0), (0.0, 4.0), (1.0, 9.0)]);
    let cases = [
        (
            "a correction",
            plain(
                bands(&[(0.0, 1.0), (0.0, 2.0), (0.0, 3.0)]),
                &[5.0, 9.0, 8.0],
            ),
            WhyKept::TooFew { by: 1.0 },
            3,
        ),
        (
            "events of no part",
            plain(bands(&total), &[9.0, 3.0, 4.0]),
            WhyKept::TooMany { by: 2.0 },
            3,
        ),
        (
            "two totals",
            plain(
                bands(&[(0.0, 4.0), (0.0, 4.0), (0.0, 1.0)]),
                &[9.0, 8.0, 4.0],
            ),
            WhyKept::Repeated,
            3,
        ),
        (
            "exposures of sums",
            counts(bands(&[(0.0, 1.0), (0.0, 2.0)]), &[3.0, 5.0], &[1.0, 1.1]),
            WhyKept::Exposures,
            2,
        ),
        (
            "means without people",
            plain(means(&[(0.0, 1.0), (0.0, 2.0)]), &[3.0, 5.0]),
            WhyKept::Exposures,
            2,
        ),
        ("several hidden", hidden, WhyKept::Hidden, 3),
        (
            "regions that meet",
            plain(
                squares(&[(0.0, 0.0, 2.0), (1.0, 1.0, 2.0), (4.0, 4.0, 1.0)]),
                &[3.0, 5.0, 1.0],
            ),
            WhyKept::Partly,
            2,
        ),
        (
            "a region within another",
            plain(squares(&[(0.0, 0.0, 2.0), (0.0, 0.0, 1.0)]), &[3.0, 2.0]),
            WhyKept::Partly,
            2,
        ),
        (
            "a country with more than its regions",
            plain(
                bags(&[
                    &[(0.0, 1.0)],
                    &[(1.0, 2.0), (2.0, 1.0)],
                    &[(0.0, 1.0), (1.0, 2.0), (2.0, 1.0)],
                ]),
                &[3.0, 5.0, 9.0],
            ),
            WhyKept::TooMany { by: 1.0 },
            3,
        ),
        (
            "bags with a pixel in common",
            plain(
                bags(&[&[(0.0, 1.5), (1.0, 2.0)], &[(1.0, 2.0), (2.0, 1.0)]]),
                &[3.0, 5.0],
            ),
            WhyKept::Partly,
            2,
        ),
    ];
    for (what, given, why, rows) in cases {
        let found = once(&given);
        assert_eq!(treatments(&found), [Treatment::Kept(why)], "{what}");
        assert_eq!(found.overlaps[0].rows.len(), rows, "{what}");
        assert_eq!(found.tables, [given], "{what}");
        let told = found.warnings(&|row| format!("line {}", row + 2));
        assert!(
            told.len() == 1 && told[0].contains("line 2"),
            "{what}: {told:?}"
        );
        println!("{what}: {}", told[0]);
    }
}

#[test]
fn rows_that_do_not_count_again_are_left_alone() {
    let tenths: Vec<(f64, f64)> = (0..10)
        .map(|i| (0.1 * f64::from(i), 0.1 * f64::from(i) + 0.1))
        .collect();
    let thirds = [(0.0, 1.0 / 3.0), (1.0 / 3.0, 2.0 / 3.0), (2.0 / 3.0, 1.0)];
    let mut years = Functionals::new(vec!["t".into(), "year".into()]);
    for (year, to) in [(2019.0, 10.0), (2020.0, 5.0), (2021.0, 10.0)] {
        let sides = vec![Side::Interval(0.0, to), Side::Point(year)];
        years
            .push(&quadrat::support::Functional::Box {
                sides,
                aggregate: Aggregate::Sum,
            })
            .unwrap();
    }
    let slivers = [(0.0, 0.0, 1.0), (0.99, 0.0, 1.0)];
    let split: [&[(f64, f64)]; 2] = [&[(0.0, 1.0), (1.0, 0.4)], &[(1.0, 0.6), (2.0, 1.0)]];
    let ages: [&[(f64, f64)]; 2] = [&[(0.0, 9.0), (1.0, 8.0)], &[(0.0, 5.0), (1.0, 6.0)]];
    let at = Functionals::points("t", &[1.0, 1.0, 2.0]).unwrap();
    for (what, given) in [
        ("edges that touch", plain(bands(&tenths), &[3.0; 10])),
        ("thirds", plain(bands(&thirds), &[3.0; 3])),
        (
            "reports of one box",
            plain(bands(&[(0.0, 1.0), (0.0, 1.0)]), &[3.0, 5.0]),
        ),
        ("several years", plain(years, &[5.0, 9.0, 4.0])),
        (
            "borders that were simplified",
            plain(squares(&slivers), &[3.0, 5.0]),
        ),
        (
            "a pixel that is shared out",
            plain(bags(&split), &[3.0, 5.0]),
        ),
        ("people of the same ages", plain(bags(&ages), &[3.0, 5.0])),
        ("points", plain(at, &[3.0, 5.0, 4.0])),
        (
            "rows that say nothing",
            counts(
                bands(&[(0.0, 9.0), (0.0, 1.0), (1.0, 9.0)]),
                &[0.0, 5.0, 4.0],
                &[0.0, 1.0, 1.0],
            ),
        ),
    ] {
        let found = once(&given);
        assert_eq!(
            (found.overlaps, found.tables),
            (vec![], vec![given]),
            "{what}"
        );
    }
}

#[test]
fn values_with_noise_may_overlap() {
    let (edges, sums) = cumulative();
    let noise = Noise::Known(vec![25.0; 30]);
    let table = Observations::gaussian(bands(&edges), sums, noise).unwrap();
    let found = once(&table);
    assert_eq!(
        (found.overlaps, found.tables),
        (vec![], vec![table.clone()])
    );
    let model = Model::new(Kernel::matern52(["t"])).observe(table);
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let (by_itself, told) = (
        model.fit(&options).unwrap(),
        model.with_overlapping_counts().fit(&options).unwrap(),
    );
    assert_eq!(
        by_itself.summary().log_evidence,
        told.summary().log_evidence
    );
    assert!(by_itself.summary().warnings.is_empty());
}

#[test]
fn long_series_are_taken_apart_without_looking_at_all_pairs() {
    // Two hundred million pairs.
    let days = 20_000;
    let edges: Vec<(f64, f64)> = (1..=days).map(|day| (0.0, f64::from(day))).collect();
    let sums: Vec<f64> = (1..=days).map(|day| f64::from(3 * day)).collect();
    let found = once(&plain(bands(&edges), &sums));
    assert_eq!(treatments(&found), [Treatment::Differences]);
    let rows = told(&found.tables[0]);
    let is_day = |(day, row): (usize, &Told)| {
        let from = day as f64;
        *row == (vec![(from, from + 1.0)], 1.0, (3.0, 3.0))
    };
    assert!(rows.iter().enumerate().all(is_day));
}
