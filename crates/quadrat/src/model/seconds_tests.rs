//! A noise variance and a dispersion together.

use crate::error::FitError;
use crate::error::InputError;
use crate::inference::sites::{Method, SecondPrior};
use crate::kernel::Kernel;
use crate::likelihood::{Dispersion, NegativeBinomial, Noise};
use crate::link::Link;
use crate::model::Model;
use crate::parameter::Parameter;
use crate::problem::observations::Observations;
use crate::problem::settings::Inference;
use crate::problem::varying::Varying;
use crate::support::Functionals;

/// Twelve counts of one output between twelve values of another, in three tables: those of values
/// are apart.
fn observed() -> Result<Model, InputError> {
    let t: Vec<f64> = (0..12).map(|i| 0.5 * f64::from(i)).collect();
    // Quasi-random in (-1/2, 1/2).
    let z = |t: f64| (2.0 * t * 0.618_034).fract() - 0.5;
    let value = |t: &f64| t.sin() + (0.2 + 0.2 * t) * z(*t);
    let values = |t: &[f64]| -> Result<Observations, InputError> {
        let places = Functionals::points("t", t)?;
        let table = Observations::gaussian(places, t.iter().map(value).collect(), Noise::Learned)?;
        Ok(table.of_output("north"))
    };
    let count = |t: &f64| ((1.5 + t.sin() + 0.5 * t * z(t + 0.3)).exp()).round();
    let counts: Vec<f64> = t.iter().map(count).collect();
    let counts = NegativeBinomial::new(counts, vec![1.0; 12], Link::Exp, Dispersion::Learned)?;
    let counts = Observations::new(Functionals::points("t", &t)?, counts)?.of_output("south");
    let mixed = Kernel::coregion("output", ["north", "south"], 1) * Kernel::se(["t"]);
    Ok(Model::new(mixed)
        .observe(values(&t[..5])?)
        .observe(counts)
        .observe(values(&t[5..])?))
}

fn both() -> Result<Model, InputError> {
    Ok(observed()?
        .vary(Varying::Dispersion, Kernel::matern32(["t"]), Link::Softplus)
        .vary(Varying::Noise, Kernel::se(["t"]), Link::Exp))
}

fn starts(parameters: &[Parameter]) -> Vec<f64> {
    parameters.iter().map(|p| p.start).collect()
}

fn names(model: &Model) -> Result<Vec<String>, InputError> {
    let parameters = model.parameters()?;
    Ok(parameters.into_iter().map(|p| p.name).collect())
}

#[test]
fn there_is_one_of_each_kind_in_any_order() -> Result<(), InputError> {
    let expected = [
        "noise.se.variance",
        "noise.se.lengthscale.t",
        "dispersion.matern32.variance",
        "dispersion.matern32.lengthscale.t",
    ];
    let model = both()?;
    let of_first = model.kernel.parameters().len();
    assert_eq!(names(&model)?[of_first..], expected);
    let replaced = observed()?
        .vary(Varying::Noise, Kernel::matern12(["t"]), Link::Softplus)
        .vary(Varying::Noise, Kernel::se(["t"]), Link::Exp)
        .vary(Varying::Dispersion, Kernel::matern32(["t"]), Link::Softplus);
    assert_eq!(names(&replaced)?, names(&model)?);
    let constant = model.with_constant_scale().map(|model| names(&model));
    let constant = constant.unwrap_or_else(|| Ok(Vec::new()))?;
    assert_eq!(
        constant[of_first..],
        [
            "noise.variance",
            "negative_binomial#2.dispersion",
            "noise#3.variance"
        ]
    );
    Ok(())
}

#[test]
fn functions_are_independent_and_stand_one_behind_the_other() -> Result<(), FitError> {
    let problem = both()?.problem(Inference::Auto, None)?;
    let seconds = problem.seconds();
    let firsts = |t: usize| {
        seconds
            .of_table(t)
            .map(|second| (second.first, second.link))
    };
    let expected = [(0, Link::Exp), (12, Link::Softplus), (5, Link::Exp)];
    assert_eq!([0, 1, 2].map(firsts), expected.map(Some));
    let theta = starts(problem.parameters());
    let k = seconds.covariance(&theta);
    let places = Functionals::points("t", &[0.7])?;
    for (second, range) in seconds.each().iter().zip([0..12, 12..24]) {
        let (own, cross) = (
            second.covariance(&theta),
            seconds.cross(second, &theta, &places),
        );
        let of_own = second.cross(&theta, &places);
        for row in 0..24 {
            let inside = range.contains(&row).then(|| row - range.start);
            let expected = inside.map_or(0.0, |i| of_own[(i, 0)]);
            assert_eq!(cross[(row, 0)], expected);
            for (j, other) in range.clone().enumerate() {
                assert_eq!(k[(row, other)], inside.map_or(0.0, |i| own[(i, j)]));
            }
        }
    }
    Ok(())
}

/// Of the evidence in every hyperparameter: sites converge to 1e-9 of a standard deviation, in
/// which it is stationary, and its rounding over steps of 1e-4 leaves 1e-9.
#[test]
fn gradients_are_differences() -> Result<(), FitError> {
    for method in [Method::Ep, Method::Variational] {
        let problem = both()?.problem(Inference::Sites(method), None)?;
        let evidence = problem.evidence()?;
        let theta = starts(problem.parameters());
        let (_, gradient) = evidence.evaluate(&theta)?;
        for (p, parameter) in problem.parameters().iter().enumerate() {
            let h = 1e-4;
            let at = |by: f64| {
                let mut moved = theta.clone();
                moved[p] *= 1.0 + by * h;
                evidence.value(&moved)
            };
            let expected = (8.0 * (at(1.0)? - at(-1.0)?) - at(2.0)? + at(-2.0)?) / (12.0 * h);
            let got = gradient[p] * theta[p];
            let name = &parameter.name;
            assert!(expected.abs() > 1e-3, "{name}: {expected} says nothing");
            // As reckoned above, with room for the step's fourth power: found are 9e-8.
            assert!(
                (got - expected).abs() < 1e-6 * (1.0 + expected.abs()),
                "{method:?} {name}: {got} {expected}"
            );
        }
    }
    Ok(())
}
