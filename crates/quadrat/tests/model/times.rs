//! Rows that were seen several times: as if they stood there so often.

use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{
    Bernoulli, Censored, Degrees, Dispersion, Gaussian, Laplace, Likelihood, NegativeBinomial,
    Noise, Ordinal, Poisson, Side, Sigmoid, StudentT, Thresholds,
};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Inference, Mean, Model, Observations, Posterior, Scale, Setting,
};
use quadrat::support::{Aggregate, Functionals};

const X: [f64; 5] = [0.0, 0.7, 1.9, 2.4, 4.0];
const TIMES: [f64; 5] = [3.0, 1.0, 2.0, 1.0, 4.0];

/// The rows of a table, each once, or each so often.
fn rows(often: bool) -> Vec<usize> {
    let times = TIMES.iter().enumerate();
    times
        .flat_map(|(row, n)| vec![row; if often { *n as usize } else { 1 }])
        .collect()
}

fn fit(supports: &Functionals, all: &Likelihood, often: bool, inference: Inference) -> Posterior {
    let (rows, n) = (rows(often), TIMES.to_vec());
    let mut set = Functionals::new(supports.dims().to_vec());
    for &row in &rows {
        let (from, to) = supports.extent(row, 0);
        if from == to {
            set.push_point(&[from]).unwrap();
        } else {
            set.push_box(&[(from, to)], Aggregate::Sum).unwrap();
        }
    }
    let table = Observations::new(set, all.select(&rows).unwrap()).unwrap();
    let table = if often { table } else { table.seen(n).unwrap() };
    let options = FitOptions::default()
        .with_hyperparameters(Hyperparameters::Map)
        .with_inference(inference);
    let model = Model::new(Kernel::matern32(["x"])).observe(table);
    model.fit(&options).unwrap()
}

/// The largest differences of evidence, means and sds of the function (in its sds), and
/// hyperparameters (in their logarithms).
fn apart(supports: &Functionals, all: &Likelihood, inference: Inference) -> [f64; 4] {
    let [one, many] = [false, true].map(|often| fit(supports, all, often, inference));
    let at = Functionals::points("x", &[0.3, 1.9, 3.0, 6.0]).unwrap();
    let [a, b] = [&one, &many].map(|fit| fit.predict(&at, Scale::Latent).unwrap());
    let most = |of: &dyn Fn(usize) -> f64| (0..4).map(of).fold(0.0, f64::max);
    let summaries = [one.summary(), many.summary()];
    let pairs = summaries[0]
        .hyperparameters
        .iter()
        .zip(&summaries[1].hyperparameters);
    [
        (summaries[0].log_evidence - summaries[1].log_evidence).abs(),
        most(&|i| (a.mean()[i] - b.mean()[i]).abs() / b.sd()[i]),
        most(&|i| (a.sd()[i] / b.sd()[i] - 1.0).abs()),
        pairs
            .filter(|(a, _)| a.value > 0.0)
            .map(|(a, b)| (a.value / b.value).ln().abs())
            .fold(0.0, f64::max),
    ]
}

fn kinds() -> Vec<(&'static str, Likelihood)> {
    let y = vec![0.4, 1.1, 0.2, -0.3, 0.9];
    let variances = vec![0.1, 0.2, 0.1, 0.3, 0.2];
    let counts = vec![2.0, 5.0, 1.0, 0.0, 4.0];
    let sides = [Side::None, Side::Right, Side::None, Side::Left, Side::Right];
    let gaussian = |noise| Gaussian::new(y.clone(), noise).unwrap().into();
    let known = || Noise::Known(variances.clone());
    vec![
        ("known", gaussian(known())),
        ("learned", gaussian(Noise::Learned)),
        ("both", gaussian(Noise::KnownPlusLearned(variances.clone()))),
        (
            "student_t",
            StudentT::new(y.clone(), known(), Degrees::Known(4.0))
                .unwrap()
                .into(),
        ),
        (
            "censored",
            Censored::new(y.clone(), &sides, Noise::Learned)
                .unwrap()
                .into(),
        ),
        (
            "ordinal",
            Ordinal::new(
                vec![2, 3, 2, 1, 3],
                Thresholds::Known(vec![0.0, 0.8]),
                Noise::Learned,
            )
            .unwrap()
            .into(),
        ),
        (
            "bernoulli",
            Bernoulli::new(vec![true, true, false, false, true], Sigmoid::Logit).into(),
        ),
        (
            "poisson",
            Poisson::new(counts.clone(), vec![1.5; 5], Link::Exp)
                .unwrap()
                .into(),
        ),
        (
            "negative_binomial",
            NegativeBinomial::new(counts, vec![1.5; 5], Link::Exp, Dispersion::Learned)
                .unwrap()
                .into(),
        ),
        ("laplace", Laplace::new(y, vec![0.3; 5]).unwrap().into()),
    ]
}

fn points() -> Functionals {
    Functionals::points("x", &X).unwrap()
}

/// Where the likelihoods of repeats are only multiplied, the fit is that of the table written out,
/// to where searches end.
#[test]
fn a_row_seen_several_times_is_as_many_rows() {
    for (name, all) in kinds() {
        let is_normal = all.name() == "gaussian";
        let methods = [
            ("auto", Inference::Auto, is_normal),
            (
                "laplace",
                Inference::Sites(Method::Laplace),
                name != "laplace",
            ),
            ("variational", Inference::Sites(Method::Variational), true),
            ("sparse", Inference::Sparse, true),
        ];
        for (method, inference, is_tried) in methods {
            if !is_tried {
                continue;
            }
            let [evidence, mean, sd, own] = apart(&points(), &all, inference);
            println!("{name} {method}: {evidence:.1e} {mean:.1e} {sd:.1e} {own:.1e}");
            // Searches end within 1e-3 of a nat's width; inducing points differ where rows repeat.
            let most = if method == "sparse" { 2e-3 } else { 2e-4 };
            assert!(evidence < most, "{name}, {method}: {evidence}");
            assert!(mean < 5e-3 && sd < 5e-3, "{name}, {method}: {mean} {sd}");
            assert!(own < 2e-2, "{name}, {method}: {own}");
        }
    }
}

/// The rows 1 and 4, seen so often, with every hyperparameter held.
const TWO: [usize; 2] = [1, 4];
const OFTEN: [f64; 2] = [3.0, 5.0];

/// `log Z` of two rows under `se(x)` of variance and lengthscale one and a mean of zero, by a sum
/// over a grid in coordinates in which the prior is standard.
fn brute(all: &Likelihood, own: &[f64]) -> f64 {
    let apart: f64 = X[TWO[1]] - X[TWO[0]];
    let correlation = (-0.5 * apart * apart).exp();
    let rest = (1.0 - correlation * correlation).sqrt();
    let step = 0.02;
    let nodes: Vec<f64> = (-400..=400).map(|i| step * f64::from(i)).collect();
    let log = |k: usize, f: f64| {
        let row = TWO[k];
        OFTEN[k] * all.local().log_density(own, row, f).value
    };
    let mut total = 0.0;
    for a in &nodes {
        let first = log(0, *a) - 0.5 * a * a;
        for b in &nodes {
            let second = log(1, correlation * a + rest * b);
            total += (first + second - 0.5 * b * b).exp();
        }
    }
    (total * step * step / (2.0 * std::f64::consts::PI)).ln()
}

/// Expectation propagation has one site for all repeats, which is nearer to the truth than as many
/// sites.
#[test]
fn one_site_for_all_repeats_is_near_the_truth() {
    for (name, all) in kinds() {
        let evidence = |often: bool| {
            let rows: Vec<usize> = TWO
                .iter()
                .zip(OFTEN)
                .flat_map(|(row, n)| vec![*row; if often { n as usize } else { 1 }])
                .collect();
            let x: Vec<f64> = rows.iter().map(|row| X[*row]).collect();
            let set = Functionals::points("x", &x).unwrap();
            let table = Observations::new(set, all.select(&rows).unwrap()).unwrap();
            let table = if often {
                table
            } else {
                table.seen(OFTEN.to_vec()).unwrap()
            };
            let model = Model::new(Kernel::se(["x"]))
                .mean(Mean::Zero)
                .observe(table);
            let held = model.parameters().unwrap().into_iter();
            let model = held.fold(model, |model, p| {
                let value = if p.name.starts_with("se.") { 1.0 } else { 0.3 };
                model.set(&p.name, Setting::fixed(value))
            });
            let options = FitOptions::default()
                .with_hyperparameters(Hyperparameters::Map)
                .with_inference(Inference::Sites(Method::Ep));
            model.fit(&options).unwrap().summary().log_evidence
        };
        let own = vec![0.3; all.local().parameters(1.0).len()];
        let truth = brute(&all, &own);
        let [one, many] = [false, true].map(|often| (evidence(often) - truth).abs());
        println!("{name}: {truth:.4}, off by {one:.1e} with one site, {many:.1e} with as many");
        // A grid of such steps is exact to rounding; so is the engine for normal values.
        let most = if all.name() == "gaussian" { 1e-6 } else { 0.03 };
        assert!(one < most, "{name}: {one}");
        assert!(one < many + 1e-6, "{name}: {one} {many}");
    }
}

#[test]
fn counts_over_boxes_may_be_seen_several_times() {
    let mut set = Functionals::new(vec!["x".into()]);
    for x in X {
        set.push_box(&[(x, x + 0.5)], Aggregate::Sum).unwrap();
    }
    let counts = Poisson::new(vec![2.0, 5.0, 1.0, 0.0, 4.0], vec![3.0; 5], Link::Exp).unwrap();
    let [evidence, mean, sd, own] = apart(&set, &counts.into(), Inference::Auto);
    println!("{evidence:.1e} {mean:.1e} {sd:.1e} {own:.1e}");
    // The same rows, repeated or with a number of times: found is 6e-7.
    assert!(evidence < 2e-4 && own < 2e-2, "{evidence} {own}");
    // Answers come from some 4,000 draws.
    assert!(mean < 0.1 && sd < 0.1, "{mean} {sd}");
}

/// Which of the events of a wide box are those of a narrow one that was seen twice cannot be told.
#[test]
fn counts_that_hold_others_are_not_repeated() {
    let mut set = Functionals::new(vec!["x".into()]);
    for to in [1.0, 2.0] {
        set.push_box(&[(0.0, to)], Aggregate::Sum).unwrap();
    }
    let counts = Poisson::new(vec![2.0, 5.0], vec![1.0; 2], Link::Exp).unwrap();
    let table = Observations::new(set, counts).unwrap();
    let table = table.seen(vec![2.0, 1.0]).unwrap();
    let model = Model::new(Kernel::matern32(["x"])).observe(table);
    let refused = model.fit(&FitOptions::default()).unwrap_err();
    assert!(
        refused.to_string().contains("seen several times"),
        "{refused}"
    );
}

/// Leaving out one of several times leaves the others.
#[test]
fn one_of_several_times_is_left_out() {
    let all = kinds();
    for (name, likelihood) in &all[..3] {
        let [one, many] =
            [false, true].map(|often| fit(&points(), likelihood, often, Inference::Auto));
        let written: Vec<usize> = rows(true);
        for (left, row) in many.leave_one_out().iter().zip(written) {
            // Hyperparameters of two searches, each to what it may leave: 1e-6 nats, or 1.4e-3 of
            // an sd of theirs, of which predictions know a part.
            let told = &one.leave_one_out()[row];
            assert!((told.mean - left.mean).abs() < 1e-3 * left.sd, "{name}");
            assert!((told.sd / left.sd - 1.0).abs() < 1e-3, "{name}");
        }
    }
}

/// The cost does not grow with the number.
#[test]
fn a_row_may_be_seen_a_million_times() {
    let often = vec![1e6, 2e5, 1e6, 3e5, 1e6];
    for (name, all) in kinds() {
        let table = Observations::new(points(), all).unwrap();
        let table = table.seen(often.clone()).unwrap();
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        let model = Model::new(Kernel::matern32(["x"])).observe(table);
        let fit = model
            .fit(&options)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let told = fit.predict(&points(), Scale::Latent).unwrap();
        // A limit, a rank, a yes or a count of zero leaves an end open, however often it is seen.
        let has_values = matches!(name, "known" | "learned" | "both" | "student_t" | "laplace");
        let most = if has_values { 0.1 } else { f64::INFINITY };
        let sds = told.sd();
        assert!(sds.iter().all(|sd| *sd < most), "{name}: {sds:?}");
    }
}

#[test]
fn numbers_of_times_are_whole() {
    let table = || Observations::new(points(), kinds().remove(0).1).unwrap();
    for n in [0.0, 1.5, -1.0, f64::NAN, 2e15] {
        let refused = table().seen(vec![1.0, n, 1.0, 1.0, 1.0]).unwrap_err();
        assert!(refused.to_string().contains("row 1"), "{refused}");
    }
    assert!(table().seen(vec![1.0; 4]).is_err());
    assert_eq!(table().seen(vec![1.0; 5]).unwrap(), table());
}
