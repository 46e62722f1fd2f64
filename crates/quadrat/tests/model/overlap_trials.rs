//! Successes among trials of the same people in several rows are counted once.

use quadrat::kernel::Kernel;
use quadrat::likelihood::{Binomial, Sigmoid};
use quadrat::model::{
    CountedOnce, FitOptions, Hyperparameters, Model, Observations, Scale, Treatment, counted_once,
};
use quadrat::support::{Aggregate, Functionals, Polygon, Region};

fn asked(supports: Functionals, of: &[(f64, f64)]) -> Observations {
    let (yes, asked) = of.iter().copied().unzip();
    Observations::new(supports, Binomial::new(yes, asked, Sigmoid::Logit).unwrap()).unwrap()
}

fn bands(edges: &[(f64, f64)]) -> Functionals {
    Functionals::intervals("t", edges, Aggregate::Mean).unwrap()
}

/// Averages over points `from` to `to - 1`.
fn bags(of: &[(u8, u8)]) -> Functionals {
    let mut set = Functionals::new(vec!["t".into()]);
    for &(from, to) in of {
        let points: Vec<Vec<f64>> = (from..to).map(|t| vec![f64::from(t)]).collect();
        let weight = 1.0 / f64::from(to - from);
        set.push_nodes(&points, &vec![weight; points.len()])
            .unwrap();
    }
    set
}

fn strips(edges: &[(f64, f64)]) -> Functionals {
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    for &(a, b) in edges {
        let region = Region::from(Polygon::rectangle((a, b), (0.0, 1.0)).unwrap());
        set.push_region(region, Aggregate::Mean).unwrap();
    }
    set
}

fn once(table: &Observations) -> CountedOnce {
    counted_once(std::slice::from_ref(table)).unwrap()
}

#[test]
fn a_total_of_all_trials_of_its_parts_is_left_out() {
    let rows = [(50.0, 100.0), (80.0, 100.0), (130.0, 200.0)];
    let edges = [(0.0, 5.0), (5.0, 10.0), (0.0, 10.0)];
    for (name, set, parts) in [
        ("boxes", bands(&edges), bands(&edges[..2])),
        ("regions", strips(&edges), strips(&edges[..2])),
        (
            "bags",
            bags(&[(0, 5), (5, 10), (0, 10)]),
            bags(&[(0, 5), (5, 10)]),
        ),
    ] {
        let found = once(&asked(set, &rows));
        assert_eq!(found.left_out(), [2], "{name}");
        assert_eq!(found.tables, [asked(parts, &rows[..2])], "{name}");
        let told = found.warnings(&|row| format!("row {row}"));
        let words = "1 row of counts is the total of others, which count the same events, and was left out: row 2 of row 0 and 1 other row";
        assert!(told[0].starts_with(words), "{name}: {told:?}");
        assert_eq!(found.overlaps[0].treatment, Treatment::LeftOut);
    }
    // More asked in one part than in the other, the total of another table, in front, and a whole
    // of wholes.
    let total = asked(bands(&[(0.0, 20.0)]), &[(19.0, 63.0)]);
    let parts = asked(
        bands(&[(0.0, 5.0), (5.0, 10.0), (10.0, 20.0), (0.0, 10.0)]),
        &[(3.0, 13.0), (9.0, 40.0), (7.0, 10.0), (12.0, 53.0)],
    );
    let found = counted_once(&[total, parts]).unwrap();
    assert_eq!((found.left_out(), found.tables.len()), (vec![0, 4], 1));
}

#[test]
fn samples_of_their_own_stay() {
    let edges = [(0.0, 5.0), (5.0, 10.0), (0.0, 10.0)];
    for (name, edges, rows) in [
        (
            "another number asked",
            &edges[..],
            &[(50.0, 100.0), (80.0, 100.0), (130.0, 201.0)][..],
        ),
        (
            "other answers",
            &edges,
            &[(50.0, 100.0), (80.0, 100.0), (131.0, 200.0)],
        ),
        (
            "a gap between the parts",
            &[(0.0, 5.0), (6.0, 10.0), (0.0, 10.0)],
            &[(50.0, 100.0), (80.0, 100.0), (130.0, 200.0)],
        ),
        (
            "one place twice",
            &[(0.0, 5.0), (0.0, 5.0)],
            &[(50.0, 100.0), (50.0, 100.0)],
        ),
    ] {
        assert_eq!(once(&asked(bands(edges), rows)).overlaps, [], "{name}");
    }
    let parts = asked(bands(&edges[..2]), &[(50.0, 100.0), (80.0, 100.0)]);
    let total = asked(bands(&edges[2..]), &[(130.0, 200.0)]);
    let apart = [parts.of_output("women"), total.of_output("men")];
    assert_eq!(counted_once(&apart).unwrap().overlaps, []);
}

#[test]
fn a_fit_with_the_total_is_the_fit_without_it() {
    let rows = [(50.0, 100.0), (80.0, 100.0), (130.0, 200.0)];
    let edges = [(0.0, 5.0), (5.0, 10.0), (0.0, 10.0)];
    let fit = |n: usize| {
        Model::new(Kernel::matern32(["t"]))
            .observe(asked(bands(&edges[..n]), &rows[..n]))
            .fit(&FitOptions::default().with_hyperparameters(Hyperparameters::Map))
            .unwrap()
    };
    let (with, without) = (fit(3), fit(2));
    assert!(with.summary().warnings[0].contains("left out: row 2 of row 0"));
    let at = bands(&edges);
    let told = |fit: &quadrat::model::Posterior| fit.predict(&at, Scale::Response).unwrap();
    assert_eq!(told(&with).mean(), told(&without).mean());
    assert_eq!(told(&with).sd(), told(&without).sd());
}
