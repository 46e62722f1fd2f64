//! Sums after a link through inducing points: answered by the draws of dense inference where rows
//! have few nodes, judged on excerpts where they have many.

use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Inducing, Inference, Model, Observations, Posterior, Scale, Setting,
};
use quadrat::support::{Aggregate, Functionals};

use super::sparse::map;

fn intervals(edges: &[f64]) -> Functionals {
    let pairs: Vec<(f64, f64)> = edges.windows(2).map(|w| (w[0], w[1])).collect();
    Functionals::intervals("x", &pairs, Aggregate::Sum).unwrap()
}

/// Bands of length ten.
fn bands(counts: &[f64]) -> Functionals {
    let edges: Vec<f64> = (0..=counts.len()).map(|i| 10.0 * i as f64).collect();
    intervals(&edges)
}

fn model(rows: Functionals, counts: &[f64], link: Link) -> Model {
    let exposure = vec![1.0; counts.len()];
    let counts = Poisson::new(counts.to_vec(), exposure, link).unwrap();
    Model::new(Kernel::matern32(["x"])).observe(Observations::new(rows, counts).unwrap())
}

fn known(model: Model, variance: f64, lengthscale: f64, level: f64) -> Model {
    let values = [
        ("matern32.variance", variance),
        ("matern32.lengthscale.x", lengthscale),
        ("mean.constant", level),
    ];
    let set = |model: Model, (name, value): (&str, f64)| model.set(name, Setting::fixed(value));
    values.into_iter().fold(model, set)
}

fn sparse(inducing: usize) -> FitOptions {
    map()
        .with_inference(Inference::Sparse)
        .with_inducing(Inducing::Number(inducing))
}

/// Totals of the whole, of rows, of halves of rows and across their edges.
fn asked(rows: usize) -> Functionals {
    let end = 10.0 * rows as f64;
    let mut out = intervals(&[0.0, end]);
    let steps: Vec<f64> = (0..=2 * rows).map(|i| 5.0 * i as f64).collect();
    out.extend(&intervals(&steps)).unwrap();
    let across: Vec<f64> = (0..rows).map(|i| 10.0 * i as f64 + 5.0).collect();
    out.extend(&intervals(&across)).unwrap();
    out
}

fn answers(posterior: &Posterior, at: &Functionals) -> Vec<(f64, f64)> {
    let seen = posterior.predict(at, Scale::Response).unwrap();
    let sds = seen.sd().iter().copied();
    seen.mean().iter().copied().zip(sds).collect()
}

/// The normal belief through inducing points told halves of the rows of 3 and 5000 up to four times
/// too surely, and rows without any count with certainty.
#[test]
fn few_rows_are_answered_as_by_dense_inference() {
    let tables: [(&[f64], f64, f64); 3] = [
        (&[3.0, 900.0, 2.0, 5000.0], 4.0, 10.0),
        (&[0.0, 3.0, 8.0, 0.0, 0.0, 2.0], 2.0, 20.0),
        (&[910.0, 1040.0, 980.0, 870.0], 0.3, 25.0),
    ];
    for (counts, variance, lengthscale) in tables {
        let mean = counts.iter().sum::<f64>() / (10.0 * counts.len() as f64);
        for link in [Link::Exp, Link::Softplus] {
            let (level, scale) = match link {
                Link::Exp => (mean.ln(), 1.0),
                _ => (mean, mean.max(1.0)),
            };
            let model = model(bands(counts), counts, link);
            let model = known(model, variance * scale * scale, lengthscale, level);
            let at = asked(counts.len());
            let dense = answers(&model.fit(&map()).unwrap(), &at);
            // Few inducing points: draws do not see them.
            let fitted = model.fit(&sparse(6)).unwrap();
            assert_eq!(fitted.summary().inference, "sparse");
            for ((mean, sd), (want, wide)) in answers(&fitted, &at).iter().zip(&dense) {
                // The same nodes and draws: nothing but rounding is left.
                assert!((mean - want).abs() < 1e-9 * wide, "{link}: {mean} {want}");
                assert!((sd - wide).abs() < 1e-9 * wide, "{link}: {sd} {wide}");
            }
            let loaded = Posterior::from_bytes(&fitted.to_bytes()).unwrap();
            assert_eq!(answers(&loaded, &at), answers(&fitted, &at));
        }
    }
}

/// Integrated, with the heaviest setting not at the optimum: nodes are placed by it, also when the
/// model is loaded again.
#[test]
fn draws_of_many_settings_are_saved_with_the_model() {
    let counts = [31.0, 58.0, 90.0, 40.0, 12.0];
    let options = FitOptions::default().with_inference(Inference::Sparse);
    let fitted = model(bands(&counts), &counts, Link::Exp)
        .fit(&options)
        .unwrap();
    assert!(fitted.summary().integrated && fitted.summary().nodes > 1);
    let loaded = Posterior::from_bytes(&fitted.to_bytes()).unwrap();
    let at = asked(counts.len());
    assert_eq!(answers(&loaded, &at), answers(&fitted, &at));
    // A union of rows is known as its counts are: 231, sd 15; 4,000 draws know it to 2 in 100, and
    // the prior adds next to nothing.
    let (mean, sd) = answers(&fitted, &at)[0];
    assert!((mean / 231.0 - 1.0).abs() < 0.02, "{mean}");
    assert!((sd / 231f64.sqrt() - 1.0).abs() < 0.1, "{sd}");
}

/// Bands of length ten as points of one length each.
fn bags(count: usize, each: usize) -> Functionals {
    let mut out = Functionals::new(vec!["x".into()]);
    for bag in 0..count {
        let at = |i: usize| 10.0 * (bag as f64 + (i as f64 + 0.5) / each as f64);
        let points: Vec<Vec<f64>> = (0..each).map(|i| vec![at(i)]).collect();
        out.push_nodes(&points, &vec![10.0 / each as f64; each])
            .unwrap();
    }
    out
}

/// Of 1,200 points rows tell their own sums in place of draws: one that counts nothing tells none,
/// and was known to nothing but rounding.
#[test]
fn rows_that_count_nothing_are_not_certain() {
    let counts: Vec<f64> = (0..24).map(|i| [0.0, 3.0, 8.0, 2.0][i % 4]).collect();
    let rows = bags(24, 50);
    let model = known(model(rows.clone(), &counts, Link::Exp), 1.0, 20.0, -1.1);
    let fitted = model.fit(&sparse(40)).unwrap();
    for ((mean, sd), count) in answers(&fitted, &rows).iter().zip(&counts) {
        // A count of nothing leaves a mean of one or so, with an sd near that: neighbours and prior
        // tell it to a factor of three.
        let is_open = *sd > 0.2 && (0.1..3.0).contains(mean);
        assert!(*count > 0.0 || is_open, "{mean} {sd}");
    }
}

/// Sixty points in each of thirty bags: more than draws meet.
#[test]
fn many_rows_are_judged_on_excerpts() {
    let bags = bags(30, 60);
    let told = |counts: &[f64], variance: f64, lengthscale: f64| {
        let mean = counts.iter().sum::<f64>() / 300.0;
        let model = model(bags.clone(), counts, Link::Exp);
        let model = known(model, variance, lengthscale, mean.ln());
        let posterior = model.fit(&sparse(60)).unwrap();
        let warnings = posterior.summary().warnings.clone();
        warnings.into_iter().find(|w| w.contains("excerpts"))
    };
    let wild: Vec<f64> = (0..30).map(|i| [3.0, 900.0, 2.0, 400.0][i % 4]).collect();
    let warning = told(&wild, 4.0, 10.0).unwrap();
    assert!(warning.contains("times too surely"), "{warning}");
    let calm: Vec<f64> = (0..30)
        .map(|i| (200.0 + 60.0 * (0.3 * i as f64).sin()).round())
        .collect();
    assert_eq!(told(&calm, 0.3, 60.0), None);
}
