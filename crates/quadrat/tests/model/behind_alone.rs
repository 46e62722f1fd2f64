//! What stands behind a row that is far from all others, against an integral over its function:
//! with every kind of inference, whose own belief of the function is normal.

use quadrat::inference::sites::Method;
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Censored, Likelihood, Noise, Poisson, Side};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Inducing, Inference, Mean, Model, Observations, Posterior, RowValues, Setting,
};
use quadrat::support::{Aggregate, Functionals};

const INFINITE: f64 = f64::INFINITY;

fn model(mean: f64, variance: f64) -> Model {
    Model::new(Kernel::matern32(["x"]))
        .mean(Mean::Fixed(mean))
        .set("matern32.variance", Setting::fixed(variance))
        .set("matern32.lengthscale.x", Setting::fixed(1.0))
}

fn points(x: &[f64]) -> Functionals {
    Functionals::points("x", x).unwrap()
}

/// Inference by sites, and through an inducing point beside the row, which explains nine tenths of
/// the prior variance there.
fn ways() -> Vec<(&'static str, FitOptions)> {
    let sites = |method| FitOptions::default().with_inference(Inference::Sites(method));
    let beside = Inducing::At(Box::new(points(&[0.2])));
    let sparse = FitOptions::default().with_inference(Inference::Sparse);
    vec![
        ("ep", sites(Method::Ep)),
        ("laplace", sites(Method::Laplace)),
        ("variational", sites(Method::Variational)),
        ("sparse", sparse.with_inducing(beside)),
    ]
}

fn alone(
    prior: (f64, f64),
    row: impl Into<Likelihood>,
    options: &FitOptions,
) -> (Posterior, RowValues) {
    let table = Observations::new(points(&[0.0]), row).unwrap();
    let fitted = model(prior.0, prior.1).observe(table).fit(options).unwrap();
    let values = fitted.behind(0).unwrap().values(&[0]).unwrap();
    (fitted, values)
}

fn range(lower: f64, upper: f64) -> Poisson {
    Poisson::ranges(vec![lower], vec![upper], vec![1.0], Link::Exp).unwrap()
}

/// Probabilities of the counts `from..to` given that there are so many, where the logarithm of the
/// rate is normal: the midpoint rule in steps of .004 standard deviations.
fn counts((mean, variance): (f64, f64), from: usize, to: usize) -> Vec<f64> {
    let mut p = vec![0.0; to - from];
    for k in -2000..2000 {
        let z = 0.004 * (f64::from(k) + 0.5);
        let f = mean + variance.sqrt() * z;
        let mut log = -0.5 * z * z - f.exp();
        for y in 0..to {
            if y > 0 {
                log += f - (y as f64).ln();
            }
            if y >= from {
                p[y - from] += log.exp();
            }
        }
    }
    let total: f64 = p.iter().sum();
    p.into_iter().map(|p| p / total).collect()
}

/// A belief is used once, and the row's own likelihood once, whatever normal belief the fit makes
/// of both together.
#[test]
fn a_hidden_count_alone_is_an_integral() {
    for prior in [
        (3.0_f64.ln(), 9.0),
        (20.0_f64.ln(), 4.0),
        (6.0_f64.ln(), 1.0),
    ] {
        let right = counts(prior, 0, 5);
        let mean: f64 = right.iter().zip(0..).map(|(p, y)| p * f64::from(y)).sum();
        for (name, options) in ways() {
            let (_, values) = alone(prior, range(0.0, 4.0), &options);
            let place = format!("{name} {prior:?} {mean} {:?}", values.mean());
            // Fits stop some 1e-6 of a standard deviation away, sparse ones 1e-7 nats.
            let near = if name == "sparse" { 2e-3 } else { 1e-4 };
            assert!((values.mean()[0] - mean).abs() < near, "{place}");
            assert!((values.cdf(0.0)[0] - right[0]).abs() < near, "{place}");
        }
    }
}

/// A cap says little about how far above it counts are: the tail is that of the rate.
#[test]
fn a_capped_count_alone_keeps_its_tail() {
    let prior = (2.2, 0.7);
    let right = counts(prior, 15, 1500);
    let above: f64 = right.iter().skip(72 - 15).sum();
    let mut below = 0.0;
    let end = right.iter().position(|p| {
        below += p;
        below >= 0.975
    });
    let end = 15.0 + end.unwrap() as f64;
    for (name, options) in ways() {
        let (fitted, values) = alone(prior, range(15.0, INFINITE), &options);
        let found = values.exceedance(71.0)[0];
        // Cells of more than one count are some permille wide.
        assert!((found - above).abs() < 5e-4, "{name} {found} {above}");
        let q = values.quantile(0.975)[0];
        assert!((q - end).abs() <= 1.0, "{name} {q} {end}");
        if name == "ep" {
            let drawn = fitted.behind(0).unwrap().sample(&[0], 10_000, 3).unwrap();
            let beyond = (0..10_000).filter(|&d| drawn[(0, d)] > 71.0).count();
            // Three standard errors of 10,000 draws.
            assert!((beyond as f64 / 1e4 - above).abs() < 0.005, "{beyond}");
        }
    }
}

/// A value below -1, noise of variance .01, prior N(0, 1): mean -phi / Phi of the ratio `1 /
/// sqrt(1.01)`, times that root.
#[test]
fn a_value_below_a_limit_alone_is_truncated_once() {
    use quadrat::special::scalar::{normal_cdf, normal_pdf};
    let root = 1.01_f64.sqrt();
    let z = -1.0 / root;
    let ratio = normal_pdf(z) / normal_cdf(z);
    let mean = -root * ratio;
    let sd = root * (1.0 - z * ratio - ratio * ratio).sqrt();
    for (name, options) in ways() {
        let noise = Noise::Known(vec![0.01]);
        let row = Censored::new(vec![-1.0], &[Side::Left], noise).unwrap();
        let (_, values) = alone((0.0, 1.0), row, &options);
        let near = if name == "sparse" { 2e-3 } else { 1e-5 };
        let found = (values.mean()[0], values.sd()[0]);
        // One site is exact but for its tolerance; sparse inference stops at 1e-6 nats, where means
        // are within sqrt(2e-6) of an sd.
        assert!((found.0 - mean).abs() < near, "{name} {found:?} {mean}");
        assert!((found.1 - sd).abs() < near, "{name} {found:?} {sd}");
    }
}

/// A table of areas beside a point that is far from them: draws meet the areas' counts, and the
/// point's report is in them already.
#[test]
fn a_hidden_count_beside_areas_is_used_once() {
    let prior = (20.0_f64.ln(), 4.0);
    let right = counts(prior, 0, 5);
    let mean: f64 = right.iter().zip(0..).map(|(p, y)| p * f64::from(y)).sum();
    let areas = Functionals::intervals("x", &[(0.0, 1.0), (1.0, 2.0)], Aggregate::Sum).unwrap();
    let seen = Poisson::new(vec![18.0, 25.0], vec![1.0; 2], Link::Exp).unwrap();
    let fitted = model(prior.0, prior.1)
        .observe(Observations::new(areas, seen).unwrap())
        .observe(Observations::new(points(&[100.0]), range(0.0, 4.0)).unwrap())
        .fit(&FitOptions::default())
        .unwrap();
    let values = fitted.behind(1).unwrap().values(&[0]).unwrap();
    // Used twice it was 1.32 against 1.70. The draws know means to some hundredths.
    assert!(
        (values.mean()[0] - mean).abs() < 0.08,
        "{:?} {mean}",
        values.mean()
    );
}
