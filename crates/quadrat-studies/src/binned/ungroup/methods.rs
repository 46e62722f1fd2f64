//! The ways to predict single years from bands.

use anyhow::Result;
use quadrat::baseline::{BinHeight, MonotoneSpline, Predict};
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Model, Noise, Observations, Scale, Setting};
use quadrat::parameter::PriorDensity;
use quadrat::support::{Aggregate, Functionals};

use super::composite_link::{Criterion, ungroup};
use super::scores::Predicted;

/// The kernel of the example, with its prior.
pub const P: &str = "se + matern12, P";
/// The monotone spline.
pub const SPLINE: &str = "monotone spline";
const LINK: [(&str, Criterion); 2] = [
    ("composite link, AIC", Criterion::Aic),
    ("composite link, BIC", Criterion::Bic),
];

/// A way to predict.
#[derive(Debug, Clone, Copy)]
pub enum Method {
    /// A Gaussian process on exact bands, default options.
    Process {
        name: &'static str,
        kernel: &'static str,
        /// Whether the part `matern12` has the prior P.
        prior: bool,
    },
    /// Another method of this name.
    Other(&'static str),
}

const fn process(name: &'static str, kernel: &'static str, prior: bool) -> Method {
    Method::Process {
        name,
        kernel,
        prior,
    }
}

/// All, in the order of the tables.
pub const ALL: [Method; 11] = [
    process("matern12", "matern12(age)", false),
    process("matern32", "matern32(age)", false),
    process("matern52", "matern52(age)", false),
    process("se", "se(age)", false),
    process(
        "matern32 + matern12",
        "matern32(age) + matern12(age)",
        false,
    ),
    process("se + matern12", "se(age) + matern12(age)", false),
    process(P, "se(age) + matern12(age)", true),
    Method::Other("evenly"),
    Method::Other(SPLINE),
    Method::Other(LINK[0].0),
    Method::Other(LINK[1].0),
];

/// What they are: written into the report.
pub const STATEMENTS: [&str; 3] = [
    "kernels: bands known exactly, unknown constant mean, default priors, hyperparameters integrated; P: the variance of matern12 log-normal about .03 s_f^2 with sd 1 of its logarithm, its lengthscale about .05 of the range of ages with sd .7, s_f the root mean square of the bands' densities about the overall one",
    "evenly: every year of a band alike; monotone spline: derivative of the cubic spline through the cumulated counts with Hyman's filter (`mono` of DemoTools); neither has intervals",
    "composite link: penalised composite link model (Rizzi, Gampe and Eilers 2015), own implementation, second differences of the logarithm, penalty on a grid by AIC or BIC, intervals from standard errors of the logarithm at that penalty",
];

/// Names of all methods.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|method| match method {
        Method::Process { name, .. } | Method::Other(name) => *name,
    })
}

/// What a method says of a population.
pub struct Told {
    /// Its name.
    pub method: &'static str,
    /// Of every year.
    pub predicted: Predicted,
    /// Whether the fit warned; none from other methods.
    pub warned: Option<bool>,
}

/// What every method says of the years, given their bands.
///
/// # Errors
/// As the fits.
pub fn all(years: &[f64], width: usize) -> Result<Vec<Told>> {
    let bands: Vec<f64> = years.chunks(width).map(|c| c.iter().sum()).collect();
    let supports = cells(years.len(), width)?;
    let noise = Noise::Known(vec![0.0; bands.len()]);
    let table = Observations::gaussian(supports, bands.clone(), noise)?;
    let cells = cells(years.len(), 1)?;
    let mut out = Vec::new();
    for method in ALL {
        if let Method::Process {
            name,
            kernel,
            prior,
        } = method
        {
            let model = Model::new(Kernel::parse(kernel)?).observe(table.clone());
            let model = match prior {
                true => with_prior(model, &bands, width),
                false => model,
            };
            let fit = model.fit(&FitOptions::default())?;
            let p = fit.predict(&cells, Scale::Response)?;
            let between = |tail: f64| Some((p.quantile(tail), p.quantile(1.0 - tail)));
            out.push(Told {
                method: name,
                predicted: Predicted {
                    mean: p.mean().to_vec(),
                    wide: between(0.025),
                    half: between(0.25),
                },
                warned: Some(!fit.finer_than_rows(&cells)?.is_empty()),
            });
        }
    }
    let mut without = |method, predicted: quadrat::model::Prediction| {
        let mean = predicted.mean().to_vec();
        let predicted = Predicted {
            mean,
            ..Predicted::default()
        };
        out.push(Told {
            method,
            predicted,
            warned: None,
        });
    };
    without("evenly", BinHeight::new(&table)?.predict_response(&cells)?);
    without(
        SPLINE,
        MonotoneSpline::new(&table)?.predict_response(&cells)?,
    );
    let links = ungroup(&bands, width, LINK.map(|(_, criterion)| criterion))?;
    out.extend(links.into_iter().zip(LINK).map(|(link, (method, _))| Told {
        method,
        predicted: Predicted {
            wide: Some(link.interval(1.959_963_984_540_054)),
            half: Some(link.interval(0.674_489_750_196_081_7)),
            mean: link.mean,
        },
        warned: None,
    }));
    Ok(out)
}

/// The prior P of the rough part.
fn with_prior(model: Model, bands: &[f64], width: usize) -> Model {
    let width = width as f64;
    let number = bands.len() as f64;
    let overall = bands.iter().sum::<f64>() / (number * width);
    let squares = bands.iter().map(|y| (y / width - overall).powi(2));
    let s_f_squared = squares.sum::<f64>() / number;
    let prior = |centre: f64, sigma: f64| {
        Setting::prior(PriorDensity::LogNormal {
            mu: centre.ln(),
            sigma,
        })
    };
    model
        .set("matern12.variance", prior(0.03 * s_f_squared, 1.0))
        .set(
            "matern12.lengthscale.age",
            prior(0.05 * number * width, 0.7),
        )
}

fn cells(years: usize, width: usize) -> Result<Functionals> {
    let edges: Vec<(f64, f64)> = (0..years / width)
        .map(|b| ((b * width) as f64, ((b + 1) * width) as f64))
        .collect();
    Ok(Functionals::intervals("age", &edges, Aggregate::Sum)?)
}
