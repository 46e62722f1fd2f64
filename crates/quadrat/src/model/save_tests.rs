//! Files with a valid checksum whose contents are made up.

use serde_json::{Value, json};

use super::*;
use crate::likelihood::{
    Bernoulli, Binomial, Censored, Degrees, Dispersion, Exponential, Gamma, Gaussian, Interval,
    Laplace, Likelihood, LogNormal, LogSd, NegativeBinomial, Noise, Ordinal, Poisson, Positive,
    Shape, Side, Sigmoid, StudentT, Thresholds, Truncated,
};
use crate::link::Link;
use crate::model::Model;
use crate::problem::scale::Scale;
use crate::problem::settings::{FitOptions, Hyperparameters, Inference, Setting};
use crate::problem::varying::Varying;
use crate::support::{Aggregate, Functionals};

fn saved(likelihood: impl Into<Likelihood>) -> Saved {
    let set = Functionals::points("x", &[0.0, 1.0]).unwrap();
    let anchor = Functionals::points("x", &[0.5, 2.0]).unwrap();
    let anchor =
        Observations::gaussian(anchor, vec![0.3, 0.6], Noise::Known(vec![0.1; 2])).unwrap();
    let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let mut model = Model::new(Kernel::se(["x"]))
        .observe(Observations::new(set, likelihood).unwrap())
        .observe(anchor);
    for name in ["se.variance", "se.lengthscale.x"] {
        model = model.set(name, Setting::fixed(1.0));
    }
    let bytes = model.fit(&options).unwrap().to_bytes();
    let start = MAGIC.len() + FORMAT.to_string().len() + 1 + 12;
    postcard::from_bytes(&bytes[start..]).unwrap()
}

fn refusal(made_up: &Saved) -> String {
    match Posterior::from_bytes(&made_up.to_bytes()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it was loaded"),
    }
}

/// The likelihood with the entry at a JSON pointer replaced.
fn with(likelihood: &Likelihood, at: &str, value: &Value) -> Likelihood {
    let mut json = serde_json::to_value(likelihood).unwrap();
    let entry = json.pointer_mut(at);
    *entry.unwrap_or_else(|| panic!("no {at} in {}", serde_json::to_string(likelihood).unwrap())) =
        value.clone();
    serde_json::from_value(json).unwrap()
}

#[test]
fn every_likelihood_is_checked_again() {
    let known = || Noise::Known(vec![0.1, 0.2]);
    let two = || vec![1.0, 2.0];
    let ordinal = Ordinal::new(vec![1, 2], Thresholds::Learned(2), known()).unwrap();
    let poisson = Poisson::new(two(), two(), Link::Exp).unwrap();
    let negative = NegativeBinomial::new(two(), two(), Link::Exp, Dispersion::Known(0.5)).unwrap();
    let student = StudentT::new(two(), known(), Degrees::Known(4.0)).unwrap();
    type Case = (Likelihood, &'static str, Value, &'static str);
    let cases: Vec<Case> = vec![
        (
            Gaussian::new(two(), known()).unwrap().into(),
            "/Gaussian/noise/Known",
            json!([0.1]),
            "the variance",
        ),
        (
            Gaussian::new(two(), known()).unwrap().into(),
            "/Gaussian/noise/Known/0",
            json!(-1.0),
            "the variance of row 0 is -1",
        ),
        (
            Laplace::new(two(), two()).unwrap().into(),
            "/Laplace/scale",
            json!([]),
            "the scale",
        ),
        (
            student.clone().into(),
            "/StudentT/degrees/Known",
            json!(0.0),
            "degrees of freedom",
        ),
        (
            student.into(),
            "/StudentT/noise/Known/1",
            json!(0.0),
            "the variance",
        ),
        (
            Interval::new(vec![0.0, 0.0], two(), known())
                .unwrap()
                .into(),
            "/Interval/upper",
            json!([1.0]),
            "the upper end",
        ),
        (
            Censored::new(two(), &[Side::None; 2], known())
                .unwrap()
                .into(),
            "/Censored/upper/0",
            json!(0.5),
            "the upper end",
        ),
        (
            Truncated::new(two(), vec![0.0; 2], vec![3.0; 2], known())
                .unwrap()
                .into(),
            "/Truncated/lower/1",
            json!(2.5),
            "within its limits",
        ),
        (
            ordinal.clone().into(),
            "/Ordinal/thresholds/Learned",
            json!(0),
            "the number of ranks",
        ),
        (
            ordinal.clone().into(),
            "/Ordinal/thresholds/Learned",
            json!(4_000_000_000_u64),
            "the number of ranks",
        ),
        (ordinal.into(), "/Ordinal/ranks/1", json!(0), "the rank"),
        (
            Positive::new(2, 0.0, 0.1).unwrap().into(),
            "/Positive/sd",
            json!(0.0),
            "the sd of the sign",
        ),
        (
            Positive::new(2, 0.0, 0.1).unwrap().into(),
            "/Positive/rows",
            json!(7),
            "do not fit together",
        ),
        (
            Bernoulli::new(vec![true, false], Sigmoid::Logit).into(),
            "/Bernoulli/values",
            json!([true]),
            "do not fit together",
        ),
        (
            Binomial::new(two(), two(), Sigmoid::Logit).unwrap().into(),
            "/Binomial/trials",
            json!([3.0]),
            "the trials",
        ),
        (
            poisson.clone().into(),
            "/Poisson/rows/exposure",
            json!([1.0]),
            "the exposure",
        ),
        (
            poisson.into(),
            "/Poisson/rows/lower/0",
            json!(0.5),
            "the count",
        ),
        (
            negative.into(),
            "/NegativeBinomial/dispersion/Known",
            json!(-2.0),
            "negative_binomial.dispersion",
        ),
        (
            Exponential::new(two(), Link::Exp).unwrap().into(),
            "/Exponential/rows/values/1",
            json!(-2.0),
            "more than zero",
        ),
        (
            Gamma::new(two(), Shape::Known(2.0)).unwrap().into(),
            "/Gamma/shape/Known",
            json!(-2.0),
            "gamma.shape",
        ),
        (
            LogNormal::new(two(), LogSd::Known(2.0)).unwrap().into(),
            "/LogNormal/sd/Known",
            json!(-2.0),
            "lognormal.sd",
        ),
    ];
    for (likelihood, at, value, part) in cases {
        let mut made_up = saved(likelihood.clone());
        let whole = Posterior::from_bytes(&made_up.to_bytes());
        assert!(whole.is_ok(), "{at}: {:?}", whole.err());
        made_up.tables[0].likelihood = with(&likelihood, at, &value);
        let error = refusal(&made_up);
        assert!(
            error.contains(part) && error.contains("damaged"),
            "{at}: no `{part}` in: {error}"
        );
    }
}

#[test]
fn hyperparameters_that_no_fit_has_are_refused() {
    let honest = || saved(Gaussian::new(vec![0.1, 0.4], Noise::Learned).unwrap());
    type Change = fn(&mut Saved);
    let cases: [(Change, &str); 10] = [
        (|s| s.nodes[0].theta[0] = f64::NAN, "`se.variance` is NaN"),
        (|s| s.nodes[0].theta[2] = -0.1, "`noise.variance` is -0.1"),
        (
            |s| s.nodes[0].theta[1] = f64::INFINITY,
            "`se.lengthscale.x` is inf",
        ),
        (|s| s.nodes[0].theta.clear(), "incomplete"),
        (|s| s.nodes.clear(), "weights of its 0 sets"),
        (|s| s.nodes[0].weight = 0.0, "weights of its 1 sets"),
        (|s| s.nodes[0].weight = f64::NAN, "weights of its 1 sets"),
        (
            |s| s.nodes[0].log_evidence = f64::NAN,
            "log evidence is NaN",
        ),
        (|s| s.parameters[0].start = -1.0, "se.variance"),
        (|s| s.own[0] = vec![99], "do not fit together"),
    ];
    for (change, part) in cases {
        let mut made_up = honest();
        change(&mut made_up);
        let error = refusal(&made_up);
        assert!(error.contains(part), "no `{part}` in: {error}");
    }
    let mut two = honest();
    let mut other = two.nodes[0].clone();
    (two.nodes[0].weight, other.weight) = (1.2, -0.2);
    two.nodes.push(other);
    assert!(refusal(&two).contains("weights of its 2 sets"));
}

/// Values and counts of one function, with a spread each that is a function.
fn both_varying() -> Saved {
    let places = || Functionals::points("x", &[0.0, 1.0, 2.0]).unwrap();
    let values = Observations::gaussian(places(), vec![0.1, 0.4, 0.2], Noise::Learned).unwrap();
    let counts = vec![1.0, 2.0, 0.0];
    let counts = NegativeBinomial::new(counts, vec![1.0; 3], Link::Exp, Dispersion::Learned);
    let mut model = Model::new(Kernel::se(["x"]))
        .observe(values)
        .observe(Observations::new(places(), counts.unwrap()).unwrap())
        .vary(Varying::Noise, Kernel::se(["x"]), Link::Exp)
        .vary(Varying::Dispersion, Kernel::se(["x"]), Link::Exp);
    for parameter in model.parameters().unwrap() {
        model = model.set(&parameter.name, Setting::fixed(1.0));
    }
    let bytes = model.fit(&FitOptions::default()).unwrap().to_bytes();
    let start = MAGIC.len() + FORMAT.to_string().len() + 1 + 12;
    postcard::from_bytes(&bytes[start..]).unwrap()
}

#[test]
fn second_functions_that_no_fit_has_are_refused() {
    let honest = both_varying();
    assert!(Posterior::from_bytes(&honest.to_bytes()).is_ok());
    type Change = fn(&mut Saved);
    let cases: [Change; 4] = [
        |s| s.seconds.reverse(),
        |s| s.seconds[1] = s.seconds[0].clone(),
        |s| s.seconds[1].offset = s.seconds[0].offset,
        |s| s.seconds.truncate(1),
    ];
    for change in cases {
        let mut made_up = both_varying();
        change(&mut made_up);
        let error = refusal(&made_up);
        assert!(error.contains("do not fit together"), "{error}");
    }
}

/// Models with one second function or none were saved before there could be two.
#[test]
fn one_second_function_is_saved_as_an_option_was() {
    let bytes = |specs: &[SecondSpec]| postcard::to_stdvec(specs).unwrap();
    let specs = both_varying().seconds;
    let option = |spec: Option<&SecondSpec>| postcard::to_stdvec(&spec).unwrap();
    assert_eq!(bytes(&specs[..1]), option(specs.first()));
    assert_eq!(bytes(&[]), option(None));
}

/// Of every engine that iterates a fit, and places at which it answers.
fn iterated() -> Vec<(&'static str, Posterior, Functionals)> {
    let x: Vec<f64> = (0..9).map(f64::from).collect();
    let points = || Functionals::points("x", &x).unwrap();
    let ends: Vec<(f64, f64)> = x.iter().map(|x| (*x, x + 1.0)).collect();
    let boxes = Functionals::intervals("x", &ends, Aggregate::Sum).unwrap();
    let counts = vec![2.0, 4.0, 7.0, 5.0, 1.0, 1.0, 2.0, 8.0, 11.0];
    let poisson = || Poisson::new(counts.clone(), vec![1.0; 9], Link::Exp).unwrap();
    let wide = NegativeBinomial::new(counts.clone(), vec![1.0; 9], Link::Exp, Dispersion::Learned);
    let over = |at: Functionals, likelihood: Likelihood| {
        Model::new(Kernel::se(["x"])).observe(Observations::new(at, likelihood).unwrap())
    };
    let map = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
    let all = FitOptions::default().with_hyperparameters(Hyperparameters::Integrate);
    let sparse = map.clone().with_inference(Inference::Sparse);
    let laplace = map
        .clone()
        .with_inference(Inference::Sites(Method::Laplace));
    let varying = over(points(), wide.unwrap().into());
    let varying = varying.vary(Varying::Dispersion, Kernel::se(["x"]), Link::Exp);
    let fits = [
        ("ep", over(points(), poisson().into()), all),
        ("laplace", over(points(), poisson().into()), laplace),
        ("two functions", varying, map.clone()),
        ("sums", over(boxes, poisson().into()), map),
        ("sparse", over(points(), poisson().into()), sparse),
    ];
    let fitted = fits.map(|(name, model, options)| {
        let at = Functionals::points("x", &[-0.5, 2.2, 7.0, 30.0]).unwrap();
        (name, model.fit(&options).unwrap(), at)
    });
    fitted.into_iter().collect()
}

#[test]
fn loaded_models_answer_as_the_fits_did() {
    // Draws answer for counts of 0 under a wide prior.
    let points = || Functionals::points("x", &[0.0, 1.0, 2.0]).unwrap();
    let none = Poisson::new(vec![0.0; 3], vec![1.0; 3], Link::Exp).unwrap();
    let model = Model::new(Kernel::se(["x"]))
        .set("se.variance", Setting::fixed(25.0))
        .observe(Observations::new(points(), none).unwrap());
    let drawn = model.fit(&FitOptions::default()).unwrap();
    assert!(drawn.components[0].has_draws());
    let drawn = ("draws", drawn, points());
    for (name, posterior, at) in iterated().into_iter().chain([drawn]) {
        let loaded = Posterior::from_bytes(&posterior.to_bytes()).unwrap();
        for scale in [Scale::Latent, Scale::Response] {
            let [fit, again] = [&posterior, &loaded].map(|p| p.predict(&at, scale).unwrap());
            for row in 0..at.len() {
                let (sd, was) = (again.sd()[row], fit.sd()[row]);
                let off = (again.mean()[row] - fit.mean()[row]).abs() / was;
                // The same operations on the same numbers; a belief about inducing values is
                // factorised again.
                assert!(
                    off < 1e-12 && (sd / was - 1.0).abs() < 1e-12,
                    "{name} {row}: {off}"
                );
            }
        }
    }
}

/// What a model was saved with is what it answers by: nothing is searched again.
#[test]
fn what_iterations_ended_in_is_not_searched_again() {
    let opened = |bytes: &[u8]| -> Saved {
        let start = MAGIC.len() + FORMAT.to_string().len() + 1 + 12;
        postcard::from_bytes(&bytes[start..]).unwrap()
    };
    let places = [
        "/Sites/first/terms/0/Chosen/shift",
        "/Mode/values/0",
        "/Belief/normal/shift/0",
    ];
    for (name, posterior, at) in iterated() {
        let mut made_up = opened(&posterior.to_bytes());
        let mut json = serde_json::to_value(&made_up.converged[0]).unwrap();
        let place = places
            .iter()
            .find(|place| json.pointer(place).is_some())
            .unwrap();
        let number = json.pointer_mut(place).unwrap();
        *number = json!(number.as_f64().unwrap() + 0.5);
        made_up.converged[0] = serde_json::from_value(json).unwrap();
        let other = Posterior::from_bytes(&made_up.to_bytes()).unwrap();
        let [fit, other] = [&posterior, &other].map(|p| p.predict(&at, Scale::Latent).unwrap());
        assert!(
            (fit.mean()[1] - other.mean()[1]).abs() > 1e-6 * fit.sd()[1],
            "{name}"
        );
        // Of other rows, of another engine, or none.
        let mut none = opened(&posterior.to_bytes());
        none.converged
            .iter_mut()
            .for_each(|converged| *converged = None);
        assert!(refusal(&none).contains("incomplete"), "{name}");
        none.converged = vec![Some(Converged::Closed); none.converged.len()];
        assert!(refusal(&none).contains("another inference"), "{name}");
        none.converged.clear();
        assert!(refusal(&none).contains("incomplete"), "{name}");
    }
}

#[test]
fn tables_without_rows_are_refused() {
    let mut empty = saved(Gaussian::new(vec![0.1, 0.4], Noise::Learned).unwrap());
    empty.tables[0].supports = Functionals::new(vec!["x".into()]);
    let nothing = Gaussian::new(Vec::new(), Noise::Learned).unwrap();
    empty.tables[0].likelihood = nothing.into();
    assert!(refusal(&empty).contains("do not fit together"));
}
