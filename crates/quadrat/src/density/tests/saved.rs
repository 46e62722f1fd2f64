//! Estimates that are saved and drawn again, and questions that are answered together.

use crate::density::{
    AnyEstimate, Conditional, Correction, Density, Density2d, Estimate, Integration, Prior,
    Question, Question2d, QuestionGiven, Saved, SavedEstimate,
};
use crate::error::LoadError;
use crate::support::Polygon;

use super::normals;

/// What is read from the bytes of an estimate.
fn again(estimate: impl Into<SavedEstimate>) -> AnyEstimate {
    let bytes = Saved::default().with("it", estimate).to_bytes();
    let saved = Saved::from_bytes(&bytes).unwrap();
    assert_eq!(saved.names().collect::<Vec<_>>(), ["it"]);
    saved.estimate(0).unwrap()
}

fn is_same_line(estimate: &Estimate) {
    let AnyEstimate::Line(read) = again(estimate) else {
        panic!("another kind");
    };
    assert_eq!(read.density(), estimate.density());
    assert_eq!(read.lower(), estimate.lower());
    assert_eq!(read.upper(), estimate.upper());
    assert_eq!(read.simultaneous(), estimate.simultaneous());
    assert_eq!(read.settings(), estimate.settings());
    assert_eq!(read.warnings(), estimate.warnings());
    assert_eq!(read.moments(), estimate.moments());
    assert_eq!(read.is_weighted(), estimate.is_weighted());
    assert_eq!(read.draws(3, 4), estimate.draws(3, 4));
}

#[test]
fn one_column_is_read_as_it_was_to_the_last_digit() {
    let values = normals(80, 1);
    let positive: Vec<f64> = values.iter().map(|x| x.exp()).collect();
    let edges: Vec<f64> = (0..9).map(|i| f64::from(i) - 4.0).collect();
    let counts = [1.0, 3.0, 12.0, 30.0, 31.0, 15.0, 4.0, 1.0];
    let all = [
        Density::new(&values),
        Density::new(&values)
            .integrate(Integration::Ccd)
            .correct(Correction::None),
        Density::new(&values).prior(Prior::Published),
        Density::new(&positive).log(true).bounds(0.0, f64::INFINITY),
        Density::from_bins(&edges[..8], &edges[1..], &counts),
        Density::new(&positive).bounds(0.0, 40.0).seed(9),
    ];
    for density in all {
        is_same_line(&density.cells(60).draws(1000).estimate().unwrap());
    }
    // All in one place but two: draws are too uneven for weights.
    let mut tied = vec![0.0; 60];
    tied.extend([1.0, 2.0]);
    is_same_line(
        &Density::new(&tied)
            .cells(60)
            .draws(1000)
            .estimate()
            .unwrap(),
    );
}

#[test]
fn two_columns_are_read_as_they_were() {
    let (x, y) = (normals(120, 2), normals(120, 3));
    let ends: [Vec<f64>; 4] = [
        vec![-3.0, 0.0, -3.0, 0.0],
        vec![0.0, 3.0, 0.0, 3.0],
        vec![-3.0, -3.0, 0.0, 0.0],
        vec![0.0, 0.0, 3.0, 3.0],
    ];
    let ring = vec![[-5.0, -5.0], [5.0, -5.0], [5.0, 5.0], [-5.0, 5.0]];
    let land = [Polygon::new(vec![vec![ring]]).unwrap()];
    let all = [
        Density2d::new(&x, &y),
        Density2d::new(&x, &y).correct(Correction::None),
        Density2d::new(&x, &y).inside(&land),
        Density2d::from_bins(
            [&ends[0], &ends[1]],
            [&ends[2], &ends[3]],
            &[9.0, 20.0, 14.0, 3.0],
        ),
    ];
    for density in all {
        let estimate = density.cells(14, 12).draws(800).estimate().unwrap();
        let AnyEstimate::Plane(read) = again(&estimate) else {
            panic!("another kind");
        };
        assert_eq!(read.density(), estimate.density());
        assert_eq!(read.lower(), estimate.lower());
        assert_eq!(read.upper(), estimate.upper());
        assert_eq!(read.warnings(), estimate.warnings());
        assert_eq!(read.moments(), estimate.moments());
        assert_eq!(read.simultaneous(), estimate.simultaneous());
    }
    let given = Conditional::new(&x, &y).cells(8, 20).draws(800);
    let given = given.estimate().unwrap();
    let AnyEstimate::Conditional(read) = again(&given) else {
        panic!("another kind");
    };
    assert_eq!(read.density(), given.density());
    assert_eq!(read.upper(), given.upper());
    assert_eq!(read.warnings(), given.warnings());
    assert_eq!(read.quantile_curves([0.3]), given.quantile_curves([0.3]));
}

#[test]
fn what_is_cut_off_changed_or_made_up_is_refused() {
    let values = normals(40, 5);
    let estimate = Density::new(&values)
        .cells(20)
        .draws(200)
        .estimate()
        .unwrap();
    let bytes = Saved::default().with("it", &estimate).to_bytes();
    assert!(Saved::is_saved(&bytes) && !Saved::is_saved(b"quadrat-model 3\n"));
    for cut in [0, 5, 16, 18, 25, bytes.len() - 1] {
        assert!(Saved::from_bytes(&bytes[..cut]).is_err(), "{cut}");
    }
    for at in (17..bytes.len()).step_by(997) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x11;
        assert!(Saved::from_bytes(&changed).is_err(), "{at}");
    }
    let newer = [b"quadrat-density 99\n".as_slice(), &bytes[18..]].concat();
    let told = Saved::from_bytes(&newer).unwrap_err();
    assert!(matches!(told, LoadError::Newer { found: 99, .. }), "{told}");
    assert!(Saved::default().estimate(0).is_err());
    // Sealed again, with other numbers within: refused, or read with a density that is one. Most
    // bytes are of numbers that may be any; lengths, weights and signs may not.
    let payload = crate::sealed::open(b"quadrat-density ", 1, &bytes)
        .unwrap()
        .to_vec();
    let mut refused = 0;
    for at in (0..payload.len()).step_by(payload.len() / 200) {
        for flip in [0x01, 0x80, 0xff] {
            let mut changed = payload.clone();
            changed[at] ^= flip;
            let sealed = crate::sealed::seal(b"quadrat-density ", 1, &changed);
            let read = Saved::from_bytes(&sealed).and_then(|saved| saved.estimate(0));
            match read {
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    refused += 1;
                }
                Ok(AnyEstimate::Line(read)) => assert!(read.density().iter().all(|p| *p >= 0.0)),
                Ok(_) => panic!("another kind"),
            }
        }
    }
    assert!(refused > 3, "{refused}");
}

#[test]
fn questions_have_the_answers_of_each_alone() {
    let values = normals(90, 7);
    let estimate = Density::new(&values)
        .cells(80)
        .draws(1500)
        .estimate()
        .unwrap();
    let asked = [
        Question::Density(0.1),
        Question::Quantile(0.5),
        Question::Probability(-1.0, 0.37),
        Question::Quantile(0.0),
        Question::Quantile(1.0),
        Question::Density(1e9),
        Question::Probability(f64::NEG_INFINITY, f64::INFINITY),
    ];
    let draws = estimate.draws(5, 3);
    let picks = estimate.picks(5, 3);
    let mut seen = Vec::new();
    let tail = 0.5 * (1.0 - estimate.level());
    estimate.ask(&asked, |k, drawn| {
        let [lower, upper] = drawn.quantiles([tail, 1.0 - tail]);
        let is = |value, low, high| assert_eq!((drawn.value, lower, upper), (value, low, high));
        match asked[k] {
            Question::Density(x) => match estimate.cell(x) {
                Some(j) => {
                    is(
                        estimate.density()[j],
                        estimate.lower()[j],
                        estimate.upper()[j],
                    );
                    for (column, pick) in picks.iter().enumerate() {
                        assert_eq!(drawn.of(*pick), draws[(j, column)]);
                    }
                }
                None => is(0.0, 0.0, 0.0),
            },
            Question::Quantile(p) => {
                let alone = estimate.quantile(p);
                is(alone.value, alone.lower.max(lower), alone.upper.min(upper));
            }
            Question::Probability(a, b) => {
                let alone = estimate.probability(a, b);
                assert_eq!(drawn.value, alone.value);
                // All draws lie above: rounding of the sum of their 1,500 weights.
                assert!(drawn.above(2.0) == 0.0 && (drawn.above(-1.0) - 1.0).abs() < 1e-12);
                assert!(drawn.sd() < 0.5);
            }
        }
        seen.push(k);
    });
    assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn questions_of_two_columns_have_the_answers_of_each_alone() {
    let (x, y) = (normals(120, 12), normals(120, 13));
    let plane = Density2d::new(&x, &y).cells(16, 14).draws(900);
    let plane = plane.estimate().unwrap();
    let square = |a: f64, b: f64| vec![[a, a], [b, a], [b, b], [a, b]];
    let polygon = [Polygon::new(vec![vec![square(-1.0, 0.5)]]).unwrap()];
    let within = (-1.0, 0.5);
    let asked = [
        Question2d::Probability(within, within),
        Question2d::Density(0.2, -0.3),
        Question2d::Inside(&polygon),
        Question2d::Marginal(1, 0.2),
        Question2d::Density(99.0, 0.0),
    ];
    let mut values = [f64::NAN; 5];
    plane.ask(&asked, |k, drawn| {
        values[k] = drawn.value;
        let tail = 0.5 * (1.0 - plane.level());
        let [lower, upper] = drawn.quantiles([tail, 1.0 - tail]);
        if k == 1 {
            let cell = plane.cell(0.2, -0.3).unwrap();
            let band = (plane.lower()[cell], plane.upper()[cell]);
            assert_eq!((lower, upper), band);
        }
    });
    assert_eq!(values[0], plane.probability(within, within).value);
    assert_eq!(values[1], plane.density_at(0.2, -0.3));
    // The same rectangle by shares of areas: rounding of sums of a hundred cells.
    assert!((values[2] - values[0]).abs() < 1e-12, "{values:?}");
    let along = plane.marginal(1);
    let k = plane.edges(1).partition_point(|e| *e <= 0.2) - 1;
    assert!((values[3] - along.density[k]).abs() < 1e-15);
    assert_eq!(values[4], 0.0);

    let given = Conditional::new(&x, &y).cells(8, 20).draws(700);
    let given = given.estimate().unwrap();
    let asked = [
        (0.1, QuestionGiven::Quantile(0.5)),
        (-0.4, QuestionGiven::Probability(0.0, 2.0)),
        (0.1, QuestionGiven::Density(0.3)),
        (1e6, QuestionGiven::Quantile(0.5)),
    ];
    let mut values = [f64::NAN; 4];
    given.ask(&asked, |k, drawn| values[k] = drawn.value);
    assert_eq!(values[0], given.quantile(0.1, 0.5).unwrap().value);
    assert_eq!(
        values[1],
        given.probability(-0.4, (0.0, 2.0)).unwrap().value
    );
    assert_eq!(values[2], given.density_at(0.1, 0.3));
    assert!(values[3].is_nan());
}
