//! Cycles of rows along a line: which are kept apart from a matrix, and what is done where a cycle
//! is too sharp for that.

use quadrat::kernel::Kernel;
use quadrat::likelihood::Noise;
use quadrat::model::{FitOptions, Hyperparameters, Model, Observations, Posterior, Setting};
use quadrat::parameter::PriorDensity;
use quadrat::support::Functionals;

const LENGTHSCALE: &str = "periodic.lengthscale.hour";

/// Twelve days of readings every second hour, of a cycle, a slow wave and noise.
fn model(cycle: impl Fn(f64) -> f64) -> Model {
    let hours: Vec<f64> = (0..144)
        .map(|i| 2.0 * f64::from(i) + 0.3 * f64::from(i % 7))
        .collect();
    let noise = |i: usize| 0.05 * ((7 * i * i % 101) as f64 / 50.0 - 1.0);
    let value = |(i, t): (usize, &f64)| cycle((t / 24.0).fract()) + (t / 90.0).sin() + noise(i);
    let values = hours.iter().enumerate().map(value).collect();
    let rows = Functionals::points("hour", &hours).unwrap();
    Model::new(Kernel::matern32(["hour"]) + Kernel::periodic("hour", Some(24.0)))
        .observe(Observations::gaussian(rows, values, Noise::Learned).unwrap())
}

fn fit(model: &Model) -> Posterior {
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    model.fit(&options).unwrap()
}

fn lengthscale(fitted: &Posterior) -> f64 {
    let mut all = fitted.summary().hyperparameters.iter();
    all.find(|h| h.name == LENGTHSCALE).unwrap().value
}

fn smooth(phase: f64) -> f64 {
    (std::f64::consts::TAU * phase).sin()
}

#[test]
fn the_matrix_is_asked_where_the_user_asks_for_sharp_cycles() {
    let usual = fit(&model(smooth));
    assert_eq!(usual.summary().structure, "line");
    let settings = [
        (Setting::start(2.0), "line"),
        (
            Setting::prior(PriorDensity::LogNormal {
                mu: -0.5,
                sigma: 0.5,
            }),
            "line",
        ),
        (Setting::fixed(0.3), "line"),
        (Setting::fixed(0.15), "dense"),
        (Setting::start(0.188), "dense"),
        (
            Setting {
                lower: Some(0.05),
                ..Setting::default()
            },
            "dense",
        ),
    ];
    for (setting, structure) in settings {
        let named = format!("{setting:?}");
        let is_held = setting.fixed;
        let changes_prior = setting.prior.is_some();
        let fitted = fit(&model(smooth).set(LENGTHSCALE, setting));
        assert_eq!(fitted.summary().structure, structure, "{named}");
        if !is_held && !changes_prior {
            // The same optimum, to where searches end.
            let off = fitted.summary().log_evidence - usual.summary().log_evidence;
            assert!(off.abs() < 1e-3, "{named}: {off}");
        }
    }
}

/// A peak of a hundredth of a day: a search along the line ends where cycles may be no sharper, and
/// the matrix goes on.
#[test]
fn cycles_too_sharp_for_the_line_are_learned_by_the_matrix() {
    let peak = |phase: f64| 3.0 * (-0.5 * ((phase - 0.5) / 0.01).powi(2)).exp();
    let fitted = fit(&model(peak));
    assert_eq!(fitted.summary().structure, "dense");
    assert!(lengthscale(&fitted) < 0.19, "{}", lengthscale(&fitted));
    let is_of_bound =
        |warning: &String| warning.contains(LENGTHSCALE) && warning.contains("stopped at a bound");
    assert!(!fitted.summary().warnings.iter().any(is_of_bound));
}
