use super::*;
use crate::likelihood::{Gaussian, Noise, Poisson};
use crate::link::Link;
use crate::model::Observations;
use crate::problem::settings::Setting;

/// Rows of counts over bags of points along a line.
const ROWS: usize = 60;

/// A model of the rows from one to another, each with this many points.
fn model(rows: std::ops::Range<usize>, points: usize) -> Model {
    let mut bags = Functionals::new(vec!["x".into()]);
    let mut counts = Vec::new();
    for row in rows {
        let from = row as f64 / 6.0;
        let at: Vec<f64> = (0..points).map(|i| from + i as f64 / 400.0).collect();
        let weights = vec![60.0 / points as f64; points];
        let places: Vec<Vec<f64>> = at.iter().map(|x| vec![*x]).collect();
        bags.push_nodes(&places, &weights).unwrap();
        counts.push((60.0 * (0.5 * (0.9 * from).sin()).exp()).round());
    }
    let exposure = vec![1.0; counts.len()];
    let counts = Poisson::new(counts, exposure, Link::Exp).unwrap();
    let rows = Observations::new(bags, counts).unwrap();
    Model::new("se(x)".parse().unwrap()).observe(rows)
}

/// Shards in this process, which can fail.
struct Here {
    shards: Vec<(usize, Model)>,
    points: usize,
    is_thinned: bool,
    fails: bool,
}

impl Here {
    /// Of whole rows, cut before these.
    fn cut(at: &[usize], points: usize) -> Self {
        let mut ends = at.to_vec();
        ends.push(ROWS);
        let mut from = 0;
        let mut shard = |to: usize| {
            let own = (from, model(from..to, points));
            from = to;
            own
        };
        Self {
            shards: ends.into_iter().map(&mut shard).collect(),
            points: ROWS * points,
            is_thinned: false,
            fails: false,
        }
    }
}

impl Shards for Here {
    fn sums(&self, outline: &[u8], pass: &[u8]) -> Result<Vec<u8>, String> {
        if self.fails {
            return Err("the line is dead".to_owned());
        }
        let one =
            |(before, model): &(usize, Model)| Shard::new(model, outline, *before)?.sums(pass);
        let sums: Result<Vec<_>, FitError> = self.shards.iter().map(one).collect();
        let sums = sums.and_then(|sums| add_sums(&sums));
        sums.map_err(|error| error.to_string())
    }

    fn points(&self) -> usize {
        self.points
    }

    fn is_thinned(&self) -> bool {
        self.is_thinned
    }
}

fn options() -> FitOptions {
    FitOptions {
        by_bound: true,
        ..FitOptions::default()
            .with_inference(Inference::Sparse)
            .with_inducing(Inducing::Number(12))
            .with_hyperparameters(crate::model::Hyperparameters::Map)
    }
}

fn means(posterior: &Posterior) -> Vec<f64> {
    let mut at = Functionals::new(vec!["x".into()]);
    (0..11).for_each(|i| at.push_point(&[f64::from(i)]).unwrap());
    let seen = posterior
        .predict(&at, crate::model::Scale::Response)
        .unwrap();
    seen.mean().iter().chain(seen.sd()).copied().collect()
}

/// Also of rows so large that their pairs are those of a sample.
#[test]
fn shards_give_the_answer_of_one_process_however_they_are_cut() {
    for points in [4, 300] {
        let alone = model(0..ROWS, points).fit(&options()).unwrap();
        for at in [&[][..], &[31], &[1, 2, 50]] {
            let shards = Arc::new(Here::cut(at, points));
            let whole = model(0..ROWS, points);
            let found = whole.fit_in_shards(shards, &options()).unwrap();
            let (a, b) = (&alone.summary().log_evidence, &found.summary().log_evidence);
            assert!((a - b).abs() < 1e-8 * a.abs(), "{points} {at:?}: {a} {b}");
            for (a, b) in means(&alone).iter().zip(means(&found)) {
                assert!((a - b).abs() < 1e-7 * a.abs(), "{points} {at:?}: {a} {b}");
            }
        }
    }
}

/// Few rows learn the hyperparameters from averages of some of their points, which are here; the
/// belief is that of all points, in shards.
#[test]
fn few_rows_learn_from_averages_as_in_one_process() {
    let by_averages = FitOptions {
        by_bound: false,
        ..options()
    };
    let alone = model(0..ROWS, 40).fit(&by_averages).unwrap();
    let shards = Arc::new(Here::cut(&[11, 40], 40));
    let found = model(0..ROWS, 40).fit_in_shards(shards, &by_averages);
    let found = found.unwrap();
    for (a, b) in means(&alone).iter().zip(means(&found)) {
        assert!((a - b).abs() < 1e-6 * a.abs(), "{a} {b}");
    }
}

/// Some points of every row choose where to begin and the inducing points; all points are learned
/// from, so that the bound is that of all at the same inducing points.
#[test]
fn some_of_the_points_stand_for_all_of_them() {
    let mut inducing = Functionals::new(vec!["x".into()]);
    (0..12).for_each(|i| inducing.push_point(&[0.9 * f64::from(i)]).unwrap());
    let at = options().with_inducing(Inducing::At(Box::new(inducing)));
    let shards = Here {
        is_thinned: true,
        ..Here::cut(&[20, 40], 300)
    };
    // The first points of every row, which lie a third of a unit before the middle of all.
    let stand_in = model(0..ROWS, 4);
    let found = stand_in.fit_in_shards(Arc::new(shards), &at).unwrap();
    let alone = model(0..ROWS, 300).fit(&at).unwrap();
    let thin = model(0..ROWS, 4).fit(&at).unwrap();
    // The searches end within a thousandth of a nat of the optimum.
    let evidence = |posterior: &Posterior| posterior.summary().log_evidence;
    assert!((evidence(&found) - evidence(&alone)).abs() < 2e-2);
    let furthest = |posterior: &Posterior| {
        let (own, right) = (means(posterior), means(&alone));
        let pairs = own.iter().zip(&right).take(11);
        pairs.fold(0.0_f64, |most, (a, b)| most.max((a / b - 1.0).abs()))
    };
    assert!(furthest(&found) < 0.01 && furthest(&thin) > 0.05);
    // What is loaded again is what was saved, and not what the few points say.
    let again = Posterior::from_bytes(&found.to_bytes()).unwrap();
    assert_eq!(means(&found), means(&again));
}

#[test]
fn a_shard_that_fails_ends_the_fit_with_its_reason() {
    let shards = Here {
        fails: true,
        ..Here::cut(&[30], 4)
    };
    let error = model(0..ROWS, 4)
        .fit_in_shards(Arc::new(shards), &options())
        .unwrap_err();
    assert!(error.to_string().contains("the line is dead"), "{error}");
}

#[test]
fn what_shards_cannot_do_and_broken_bytes_are_refused() {
    let whole = model(0..ROWS, 4);
    let here = || Arc::new(Here::cut(&[30], 4));
    let moved = options().with_moved_inducing();
    let error = whole.fit_in_shards(here(), &moved).unwrap_err();
    assert!(
        error.to_string().contains("moving inducing points"),
        "{error}"
    );
    assert!(Shard::new(&whole, b"no outline", 0).is_err());
    assert!(add_sums(&[b"no sums"]).is_err());
    assert!(add_sums::<Vec<u8>>(&[]).is_err());
}

/// Values with learned noise are conditioned in closed form.
#[test]
fn normal_rows_in_shards_are_those_of_one_process() {
    let model = |rows: std::ops::Range<usize>| {
        let mut at = Functionals::new(vec!["x".into()]);
        let values = rows.map(|i| {
            at.push_point(&[i as f64 / 6.0]).unwrap();
            (0.4 * i as f64).sin() + 0.1 * (i % 3) as f64
        });
        let values: Vec<f64> = values.collect();
        let rows = Observations::new(at, Gaussian::new(values, Noise::Learned).unwrap());
        let fixed = Setting {
            start: Some(0.7),
            ..Setting::default()
        };
        let model = Model::new("matern32(x)".parse().unwrap()).observe(rows.unwrap());
        model.set("matern32.lengthscale.x", fixed)
    };
    let alone = model(0..ROWS).fit(&options()).unwrap();
    let shards = Here {
        shards: vec![(0, model(0..25)), (25, model(25..ROWS))],
        points: ROWS,
        is_thinned: false,
        fails: false,
    };
    let found = model(0..ROWS).fit_in_shards(Arc::new(shards), &options());
    let found = found.unwrap();
    for (a, b) in means(&alone).iter().zip(means(&found)) {
        assert!((a - b).abs() < 1e-6 * a.abs().max(1e-3), "{a} {b}");
    }
}
