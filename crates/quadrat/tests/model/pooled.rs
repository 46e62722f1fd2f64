//! Counts over boxes, regions and bags whose means are added up after the link.

use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Exponential, Likelihood, Poisson};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Model, Noise, Observations, Posterior, Scale, Setting,
};
use quadrat::parameter::PriorDensity;
use quadrat::support::{Aggregate, Functional, Functionals, Polygon};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::common::draw;

pub fn bands(width: f64, count: usize) -> Functionals {
    let edges: Vec<(f64, f64)> = (0..count)
        .map(|i| (width * i as f64, width * (i + 1) as f64))
        .collect();
    Functionals::intervals("age", &edges, Aggregate::Sum).unwrap()
}

pub fn poisson(counts: &[f64], exposure: f64, link: Link) -> Likelihood {
    let exposure = vec![exposure; counts.len()];
    Poisson::new(counts.to_vec(), exposure, link)
        .unwrap()
        .into()
}

fn fit(tables: Vec<Observations>, options: &FitOptions) -> Posterior {
    let model = Model::new(Kernel::se(["age"]));
    let model = tables.into_iter().fold(model, Model::observe);
    model.fit(options).unwrap()
}

pub fn map() -> FitOptions {
    FitOptions::default().with_hyperparameters(Hyperparameters::Map)
}

const COUNTS: [f64; 8] = [31.0, 58.0, 90.0, 61.0, 28.0, 9.0, 12.0, 30.0];

#[test]
fn totals_meet_the_counts_and_rates_are_calibrated() {
    // Populations of 255 people by age: 10-year bands observed, 1-year rates predicted.
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let sets = 10;
    let (mut inside, mut squares, mut flat, mut off) = (0, 0.0, 0.0, 0.0);
    for set in 0..sets {
        let peak = 15.0 + 6.0 * f64::from(set);
        let rate: Vec<f64> = (0..100)
            .map(|a| {
                let a = f64::from(a) + 0.5;
                let bump = (-0.5 * ((a - peak) / 9.0).powi(2)).exp();
                (0.8 + 1.6 * bump) / (1.0 + ((a - 75.0) / 6.0).exp())
            })
            .collect();
        let scale = 255.0 / rate.iter().sum::<f64>();
        let counts: Vec<f64> = rate
            .chunks(10)
            .map(|band| draw(&mut random, scale * band.iter().sum::<f64>()))
            .collect();
        let table = Observations::new(bands(10.0, 10), poisson(&counts, 1.0, Link::Exp)).unwrap();
        let posterior = fit(vec![table], &FitOptions::default());
        assert_eq!(posterior.summary().inference, "laplace");
        assert!(posterior.summary().integrated);
        let totals = posterior
            .predict(&bands(10.0, 10), Scale::Response)
            .unwrap();
        let sum: f64 = totals.mean().iter().sum();
        off += sum / counts.iter().sum::<f64>() - 1.0;
        let years = posterior
            .predict(&bands(1.0, 100), Scale::Response)
            .unwrap();
        let (lower, upper) = (years.quantile(0.025), years.quantile(0.975));
        for (a, rate) in rate.iter().enumerate() {
            let truth = scale * rate;
            inside += usize::from(lower[a] <= truth && truth <= upper[a]);
            squares += (years.mean()[a] - truth).powi(2);
            flat += (counts[a / 10] / 10.0 - truth).powi(2);
        }
    }
    let all = f64::from(sets) * 100.0;
    let (rmse, height) = ((squares / all).sqrt(), (flat / all).sqrt());
    let coverage = inside as f64 / all;
    off /= f64::from(sets);
    println!(
        "rmse {rmse:.3}, of bin heights {height:.3}; coverage {coverage:.3}; totals off {off:.4}"
    );
    // Totals of ten bands: what smoothing may add or take.
    assert!(off.abs() < 0.01, "{off}");
    assert!((0.88..=0.995).contains(&coverage), "{coverage}");
    assert!(rmse < 0.95 * height, "{rmse} {height}");
}

#[test]
fn bins_wider_than_the_lengthscale_keep_their_totals() {
    // A known lengthscale of a fifth of a bin and a large variance: at the mode totals would be
    // high by some 20 %.
    let table = Observations::new(bands(10.0, 8), poisson(&COUNTS, 1.0, Link::Exp)).unwrap();
    let set = Setting::fixed;
    let posterior = Model::new(Kernel::se(["age"]))
        .observe(table)
        .set("se.lengthscale.age", set(2.0))
        .set("se.variance", set(0.8))
        .fit(&map())
        .unwrap();
    let totals = posterior.predict(&bands(10.0, 8), Scale::Response).unwrap();
    let sum: f64 = totals.mean().iter().sum();
    let counted: f64 = COUNTS.iter().sum();
    // The unknown mean lets totals meet in sum; each is drawn a little towards the others.
    assert!((sum / counted - 1.0).abs() < 0.01, "{sum} of {counted}");
    for (mean, count) in totals.mean().iter().zip(COUNTS) {
        let z = (mean - count) / f64::sqrt(count);
        assert!(z.abs() < 1.2, "{mean} of {count}");
    }
}

#[test]
fn narrow_bins_are_points_with_their_width_as_exposure() {
    // As widths go to zero the integral is the width times the rate at the middle.
    let middles: Vec<f64> = (0..8).map(|i| 5.0 + 10.0 * f64::from(i)).collect();
    let width = 1e-3;
    let edges: Vec<(f64, f64)> = middles
        .iter()
        .map(|m| (m - width / 2.0, m + width / 2.0))
        .collect();
    let boxes = Functionals::intervals("age", &edges, Aggregate::Sum).unwrap();
    let points = Functionals::points("age", &middles).unwrap();
    let laplace = map().with_inference(Inference::Sites(Method::Laplace));
    // The default prior is another where rows are sums.
    let prior = PriorDensity::LogNormal {
        mu: 0.0,
        sigma: 2.0,
    };
    let fit = |set: Functionals, exposure: f64| {
        let table = Observations::new(set, poisson(&COUNTS, exposure, Link::Exp)).unwrap();
        let model = Model::new(Kernel::se(["age"])).observe(table);
        let model = model.set("se.variance", Setting::prior(prior));
        model.fit(&laplace).unwrap()
    };
    let wide = fit(boxes, 1.0 / width);
    let sharp = fit(points.clone(), 1.0);
    let off = (wide.summary().log_evidence - sharp.summary().log_evidence).abs();
    // Curvature over the width: (1e-3 / lengthscale)^2.
    assert!(off < 1e-5, "{off}");
    let (a, b) = (
        wide.predict(&points, Scale::Response).unwrap(),
        sharp.predict(&points, Scale::Response).unwrap(),
    );
    for (i, (a, b)) in a.mean().iter().zip(b.mean()).enumerate() {
        // One is linearised on average, the other at the mode, half a count below.
        assert!((a - b).abs() < 1.0, "{i}: {a} {b}");
    }
}

#[test]
fn units_and_splits_do_not_matter() {
    let table = |set: Functionals, counts: &[f64], exposure: f64| {
        Observations::new(set, poisson(counts, exposure, Link::Exp)).unwrap()
    };
    let plain = fit(vec![table(bands(10.0, 8), &COUNTS, 2.0)], &map());
    // Sums of an exposure, or averages of as many times as much.
    let edges: Vec<(f64, f64)> = (0..8)
        .map(|i| (10.0 * f64::from(i), 10.0 * f64::from(i + 1)))
        .collect();
    let average = Functionals::intervals("age", &edges, Aggregate::Mean).unwrap();
    let other = fit(vec![table(average, &COUNTS, 20.0)], &map());
    let off = plain.summary().log_evidence - other.summary().log_evidence;
    assert!(off.abs() < 1e-8, "{off}");
    // Two tables of the same rows.
    let rows = |range: std::ops::Range<usize>| bands(10.0, 8).rows(&range.collect::<Vec<_>>());
    let split = fit(
        vec![
            table(rows(0..3), &COUNTS[..3], 2.0),
            table(rows(3..8), &COUNTS[3..], 2.0),
        ],
        &map(),
    );
    let off = plain.summary().log_evidence - split.summary().log_evidence;
    // What a fit may leave to gain; rates follow hyperparameters, to a part of 1.4e-3 of their sds.
    assert!(off.abs() < 1e-6, "{off}");
    let at = bands(5.0, 16);
    let (a, b) = (
        plain.predict(&at, Scale::Response).unwrap(),
        split.predict(&at, Scale::Response).unwrap(),
    );
    for (a, b) in a.mean().iter().zip(b.mean()) {
        assert!((a / b - 1.0).abs() < 1e-4, "{a} {b}");
    }
    // Months for years: rates are a twelfth, totals the same.
    let months: Vec<(f64, f64)> = edges.iter().map(|(a, b)| (12.0 * a, 12.0 * b)).collect();
    let months = Functionals::intervals("age", &months, Aggregate::Sum).unwrap();
    let fine = fit(vec![table(months.clone(), &COUNTS, 2.0)], &map());
    let (a, b) = (
        plain.predict(&bands(10.0, 8), Scale::Response).unwrap(),
        fine.predict(&months, Scale::Response).unwrap(),
    );
    // Draws know these means to a hundredth of their sds, a fifth of them.
    for (a, b) in a.mean().iter().zip(b.mean()) {
        assert!((a / b - 1.0).abs() < 3e-3, "{a} {b}");
    }
}

#[test]
fn predictions_agree_with_draws() {
    let table = Observations::new(bands(10.0, 8), poisson(&COUNTS, 1.0, Link::Exp)).unwrap();
    let posterior = fit(vec![table], &map());
    // A grid of midpoints fine enough for the integral.
    let fine: Vec<f64> = (0..80).map(|i| 0.25 + 0.5 * f64::from(i)).collect();
    let draws = posterior
        .sample(&Functionals::points("age", &fine).unwrap(), 4000, 7)
        .unwrap();
    let at = bands(20.0, 2);
    let got = posterior.predict(&at, Scale::Response).unwrap();
    let (lower, upper) = (got.quantile(0.025), got.quantile(0.975));
    for row in 0..2 {
        let mut totals: Vec<f64> = (0..4000)
            .map(|d| (0..40).map(|i| 0.5 * draws[(40 * row + i, d)].exp()).sum())
            .collect();
        totals.sort_by(f64::total_cmp);
        let mean = totals.iter().sum::<f64>() / 4000.0;
        let sd = (totals.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / 4000.0).sqrt();
        // Four thousand draws know a mean to sd / 63, an sd to 1 %, a quantile to 5 % of the sd.
        assert!(
            (got.mean()[row] - mean).abs() < 0.07 * sd,
            "{} {mean}",
            got.mean()[row]
        );
        assert!(
            (got.sd()[row] / sd - 1.0).abs() < 0.05,
            "{} {sd}",
            got.sd()[row]
        );
        // Four and five standard errors of a quantile, as above.
        assert!((lower[row] - totals[100]).abs() < 0.2 * sd);
        assert!((upper[row] - totals[3900]).abs() < 0.25 * sd);
    }
}

#[test]
fn regions_bags_and_waiting_times_can_be_mixed_with_points() {
    let square = |x: f64, y: f64| {
        let ring = vec![[x, y], [x + 1.0, y], [x + 1.0, y + 1.0], [x, y + 1.0]];
        Polygon::new(vec![vec![ring]]).unwrap()
    };
    let dims = || Functionals::new(vec!["x".to_owned(), "y".to_owned()]);
    let mut regions = dims();
    let mut counts = Vec::new();
    for i in 0..9 {
        let (x, y) = (f64::from(i % 3), f64::from(i / 3));
        regions
            .push(&Functional::region(square(x, y), Aggregate::Sum))
            .unwrap();
        counts.push(4.0 + 3.0 * f64::from(i));
    }
    let mut bags = dims();
    bags.push_nodes(&[vec![0.2, 0.3], vec![1.4, 2.2]], &[2.0, 1.0])
        .unwrap();
    bags.push_nodes(
        &[vec![2.5, 2.5], vec![2.2, 1.9], vec![0.4, 0.1]],
        &[1.0, 1.0, 3.0],
    )
    .unwrap();
    let mut points = dims();
    points.push_point(&[1.5, 1.5]).unwrap();
    let model = Model::new(Kernel::parse("se(x, y, shared = true)").unwrap())
        .observe(Observations::new(regions.clone(), poisson(&counts, 1.0, Link::Softplus)).unwrap())
        .observe(
            Observations::new(
                bags,
                Exponential::new(vec![40.0, 60.0], Link::Softplus).unwrap(),
            )
            .unwrap(),
        )
        .observe(Observations::new(points, poisson(&[17.0], 1.0, Link::Softplus)).unwrap());
    let posterior = model.fit(&map()).unwrap();
    let p = posterior.predict(&regions, Scale::Response).unwrap();
    for (mean, count) in p.mean().iter().zip(&counts) {
        assert!(
            // Two standard deviations of a count.
            (mean - count).abs() < 2.0 * f64::sqrt(*count),
            "{mean} {count}"
        );
    }
    // Saved and loaded: the same nodes and so the same answers.
    let again = Posterior::from_bytes(&posterior.to_bytes()).unwrap();
    let q = again.predict(&regions, Scale::Response).unwrap();
    assert_eq!(p.mean(), q.mean());
    // More rows without learning again.
    let mut more = dims();
    more.push(&Functional::region(square(0.0, 0.0), Aggregate::Sum))
        .unwrap();
    let more = Observations::new(more, poisson(&[40.0], 1.0, Link::Softplus)).unwrap();
    let moved = posterior.condition(more).unwrap();
    let q = moved.predict(&regions, Scale::Response).unwrap();
    assert!(
        q.mean()[0] > p.mean()[0] + 1.0,
        "{} {}",
        q.mean()[0],
        p.mean()[0]
    );
}

#[test]
fn what_cannot_be_is_refused_before_any_work() {
    let counts = || Observations::new(bands(10.0, 8), poisson(&COUNTS, 1.0, Link::Exp)).unwrap();
    let refused = |model: Model, options: &FitOptions, words: &str| {
        let error = model.fit(options).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let model = || Model::new(Kernel::se(["age"])).observe(counts());
    for method in [Method::Ep, Method::Variational] {
        let options = map().with_inference(Inference::Sites(method));
        refused(model(), &options, "use auto, laplace or sparse");
    }
    let values = Observations::gaussian(bands(10.0, 8), COUNTS.to_vec(), Noise::Learned).unwrap();
    refused(
        model().observe(values),
        &map(),
        "beside values of the function",
    );
    let short = Setting::fixed(1e-3);
    refused(
        model().set("se.lengthscale.age", short),
        &map(),
        "at most 4000 are accepted",
    );
    let mut bag = Functionals::new(vec!["age".to_owned()]);
    bag.push_nodes(&[vec![1.0], vec![2.0]], &[2.0, -1.0])
        .unwrap();
    let negative = Observations::new(bag, poisson(&[3.0], 1.0, Link::Exp)).unwrap();
    refused(
        model().observe(negative),
        &map(),
        "above zero, like all weights",
    );
}

#[test]
fn two_lonely_counts_give_sensible_rates_or_say_why_not() {
    let set = Functionals::intervals("age", &[(0.0, 1.0), (1.0, 2.0)], Aggregate::Sum).unwrap();
    let table = || Observations::new(set.clone(), poisson(&[1.0, 1.0], 1.0, Link::Exp)).unwrap();
    let posterior = fit(vec![table()], &map());
    let p = posterior.predict(&set, Scale::Response).unwrap();
    assert!(
        p.mean().iter().all(|m| (0.3..3.0).contains(m)),
        "{:?}",
        p.mean()
    );
    // Integrated, some hyperparameters let the function vary by e^10 within a box, where no
    // linearisation holds.
    let wild = Model::new(Kernel::se(["age"]))
        .observe(table())
        .set("se.variance", Setting::fixed(100.0))
        .set("se.lengthscale.age", Setting::fixed(0.1));
    match wild.fit(&map()) {
        Ok(posterior) => {
            let p = posterior.predict(&set, Scale::Response).unwrap();
            assert!(
                p.mean().iter().all(|m| (0.0..20.0).contains(m)),
                "{:?}",
                p.mean()
            );
        }
        Err(error) => assert!(error.to_string().contains("did not converge"), "{error}"),
    }
}

/// Nothing was seen: rates are small, and every number is one.
#[test]
fn counts_of_zero_give_finite_small_rates() {
    for zeros in [&[0.0; 5][..], &[0.0, 0.0, 0.0, 0.0, 5.0], &[0.0; 2]] {
        let table = Observations::new(bands(2.0, zeros.len()), poisson(zeros, 1.0, Link::Exp));
        let posterior = fit(vec![table.unwrap()], &FitOptions::default());
        let p = posterior
            .predict(&bands(2.0, zeros.len()), Scale::Response)
            .unwrap();
        for (row, count) in zeros.iter().enumerate() {
            let (median, upper) = (p.quantile(0.5)[row], p.quantile(0.975)[row]);
            assert!(
                median <= upper && upper < 3.0 * count + 8.0,
                "{zeros:?} {row}: {upper}"
            );
        }
        for hyper in &posterior.summary().hyperparameters {
            assert!(
                hyper.value.is_finite() && hyper.lower <= hyper.upper,
                "{hyper:?}"
            );
        }
    }
}

/// A rate per person and one per thousand are the same rate, also where all rows report the same
/// and the data tell no scale.
#[test]
fn the_unit_of_exposure_does_not_matter_to_equal_counts() {
    let upper = |exposure: f64| {
        let table = Observations::new(bands(2.0, 3), poisson(&[0.0; 3], exposure, Link::Exp));
        let posterior = fit(vec![table.unwrap()], &map());
        let p = posterior.predict(&bands(2.0, 3), Scale::Response).unwrap();
        exposure * p.quantile(0.975)[1]
    };
    let (one, thousand) = (upper(1.0), upper(1e-3));
    // The optimiser's tolerance.
    assert!((one / thousand - 1.0).abs() < 1e-3, "{one} {thousand}");
}

/// At zero a square has no slope: a search that begins there must leave it.
#[test]
fn counts_behind_a_square_are_met_from_a_mean_of_zero() {
    let counts = [14.0, 90.0, 70.0, 8.0, 3.0];
    let table = Observations::new(bands(2.0, 5), poisson(&counts, 1.0, Link::Square)).unwrap();
    let model = Model::new(Kernel::se(["age"])).mean(quadrat::model::Mean::Zero);
    let posterior = model.observe(table).fit(&FitOptions::default()).unwrap();
    let p = posterior.predict(&bands(2.0, 5), Scale::Response).unwrap();
    for (mean, count) in p.mean().iter().zip(counts) {
        // One and a half standard deviations of a count: the kernel smooths, and five counts leave
        // a little.
        assert!(
            (mean - count).abs() < 1.5 * f64::sqrt(count),
            "{mean} of {count}"
        );
    }
    // The same at points, where expectation propagation would mix both signs.
    let set = Functionals::points("age", &[1.0, 3.0, 5.0, 7.0, 9.0]).unwrap();
    let table = Observations::new(set.clone(), poisson(&counts, 1.0, Link::Square)).unwrap();
    let model = Model::new(Kernel::se(["age"])).mean(quadrat::model::Mean::Zero);
    let posterior = model.observe(table).fit(&FitOptions::default()).unwrap();
    assert_eq!(posterior.summary().inference, "laplace");
    let p = posterior.predict(&set, Scale::Response).unwrap();
    for (mean, count) in p.mean().iter().zip(counts) {
        assert!(
            (mean - count).abs() < 0.7 * f64::sqrt(count),
            "{mean} of {count}"
        );
    }
}

/// A row of many counts tells its sum as surely as it can, however much the function varies within
/// it; parts of it stay uncertain.
#[test]
fn sums_are_told_as_surely_as_their_rows_tell_them() {
    let counts = [210.0, 360.0, 270.0, 90.0, 60.0];
    let told = |link: Link, lengthscale: f64, set: &Functionals| {
        let table = Observations::new(bands(2.0, 5), poisson(&counts, 1.0, link)).unwrap();
        let mut model = Model::new(Kernel::se(["age"])).observe(table);
        let level = if link == Link::Square { 9.0 } else { 4.4 };
        let scale = if link == Link::Square { 20.0 } else { 1.0 };
        for (name, value) in [
            ("se.variance", 3.0 * scale),
            ("se.lengthscale.age", lengthscale),
            ("mean.constant", level),
        ] {
            model = model.set(name, Setting::fixed(value));
        }
        let posterior = model.fit(&map()).unwrap();
        let warned = posterior
            .summary()
            .warnings
            .iter()
            .any(|w| w.contains("less surely"));
        (posterior.predict(set, Scale::Response).unwrap(), warned)
    };
    for lengthscale in [0.6, 5.0] {
        let (rows, warned) = told(Link::Exp, lengthscale, &bands(2.0, 5));
        assert!(!warned);
        for ((mean, sd), count) in rows.mean().iter().zip(rows.sd()).zip(counts) {
            // The prior tells a little as well, so that the sd is a little below the root of the
            // count.
            let ratio = sd / f64::sqrt(count);
            assert!(
                // A function that hardly changes from row to row does not meet each of them.
                (mean - count).abs() < 0.3 * sd || lengthscale > 1.0,
                "{lengthscale}: {mean} of {count}"
            );
            assert!((0.7..1.05).contains(&ratio), "{lengthscale}: {ratio}");
        }
    }
    // Halves of a row are less certain by far where the function forgets within it, and add up to
    // it.
    let (rows, _) = told(Link::Exp, 0.6, &bands(2.0, 5));
    let (halves, _) = told(Link::Exp, 0.6, &bands(1.0, 10));
    for row in 0..5 {
        let both = halves.mean()[2 * row] + halves.mean()[2 * row + 1];
        // Nodes of halves and of wholes differ.
        assert!((both / rows.mean()[row] - 1.0).abs() < 0.05);
        assert!(halves.sd()[2 * row] > 2.0 * rows.sd()[row]);
    }
    // Behind a square the second order is not told, and the fit says so.
    assert!(told(Link::Square, 0.6, &bands(2.0, 5)).1);
}
