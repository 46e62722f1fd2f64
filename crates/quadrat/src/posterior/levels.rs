//! What rows say of the unknown coefficients of the mean.

use super::component::Component;
use super::lifted::lifted_constant;
use super::prediction::Prediction;
use super::summary::Hyper;
use crate::inference::{Conditioned, Factor};
use crate::likelihood::local::Belief;
use crate::linalg::{Mat, dot};
use crate::problem::assembly::Problem;
use crate::problem::mean::{Coefficient, MeanPrior, Means};
use crate::problem::mean_settings::{LINE_NAME, MEAN_NAME};
use crate::support::Functionals;

/// An unknown coefficient: which, its posterior mean, sd, median and central 95 % interval.
pub(crate) struct CoefficientEstimate {
    pub of: Coefficient,
    pub value: f64,
    pub sd: f64,
    pub median: f64,
    pub lower: f64,
    pub upper: f64,
}

/// Each is covariant with the rows of its output only, through itself: `cov(m, L_i) = sd^2 size_i`
/// of a constant. Of the rows that were conditioned on those of `set` begin at the first number of
/// `place`; the other is how many these are.
fn coefficients<'a>(
    means: &'a Means,
    set: &'a Functionals,
    (start, all): (usize, usize),
    components: &'a [Component],
    conditioned: fn(&Component) -> Option<&Conditioned>,
    lifted: impl Fn(&Component, usize, &MeanPrior) -> Option<Belief> + 'a,
) -> impl Iterator<Item = CoefficientEstimate> + 'a {
    let columns = means.columns(set);
    let unknown = means.unknown().into_iter().enumerate();
    unknown.map(move |(at, of)| {
        let prior = &of.prior;
        let variance = prior.sd * prior.sd;
        let mut cross = vec![0.0; all];
        for (row, out) in cross[start..].iter_mut().take(set.len()).enumerate() {
            *out = prior.sd * columns[(row, at)];
        }
        let moments = |component: &Component, conditioned: &Conditioned| {
            if let Some(belief) = lifted(component, at, prior) {
                return (vec![belief.mean], vec![belief.variance]);
            }
            if let Factor::Basis(basis) = &conditioned.factor {
                let mean = prior.mean + prior.sd * conditioned.levels[at];
                return (vec![mean], vec![variance * basis.open()[at]]);
            }
            let column = Mat::from_fn(cross.len(), 1, |i, _| cross[i]);
            let whitened = conditioned.factor.whiten(column);
            let reduction = dot(whitened.col_as_slice(0), whitened.col_as_slice(0));
            let mean = prior.mean + dot(&cross, &conditioned.alpha);
            (vec![mean], vec![(variance - reduction).max(0.0)])
        };
        let known = || components.iter().filter_map(|c| Some((c, conditioned(c)?)));
        let moments: Vec<_> = known().map(|(c, own)| moments(c, own)).collect();
        let weights = known().map(|(c, _)| c.weight).collect();
        let marginal = Prediction::from_moments(weights, &moments);
        CoefficientEstimate {
            of,
            value: marginal.mean()[0],
            sd: marginal.sd()[0],
            median: marginal.quantile(0.5)[0],
            lower: marginal.quantile(0.025)[0],
            upper: marginal.quantile(0.975)[0],
        }
    })
}

fn own(c: &Component) -> Option<&Conditioned> {
    Some(&c.conditioned)
}

fn of_second(c: &Component) -> Option<&Conditioned> {
    c.conditioned.second.as_deref()
}

/// The unknown coefficients of the mean of the latent function.
pub(crate) fn of_mean(problem: &Problem, components: &[Component]) -> Vec<CoefficientEstimate> {
    let set = problem.supports();
    let lift = |c: &Component, at: usize, prior: &MeanPrior| {
        let lift = c.conditioned.lift.as_ref()?;
        let ready = lift
            .ready(|| problem.drawn().parted(&c.theta).kernel)
            .ok()?;
        Some(lifted_constant(&ready, prior, at))
    };
    coefficients(problem.mean(), set, (0, set.len()), components, own, lift).collect()
}

/// Posterior of the unknown coefficients of the mean of the latent function, and of the constants
/// of second ones.
pub(crate) fn mean_hypers(problem: &Problem, components: &[Component]) -> Vec<Hyper> {
    let hyper = |name: &str,
                 outputs: &[String],
                 told: &CoefficientEstimate,
                 tell: &dyn Fn(&str) -> String| {
        let output = outputs.get(told.of.output);
        Hyper {
            name: output.map_or_else(|| name.to_owned(), |output| format!("{name}.{output}")),
            value: told.value,
            median: told.median,
            lower: told.lower,
            upper: told.upper,
            fixed: false,
            meaning: match output {
                None => tell("the curve"),
                Some(output) => tell(&format!("`{output}`")),
            },
        }
    };
    let outputs = problem.kernel().outputs();
    let mut all: Vec<Hyper> = of_mean(problem, components)
        .iter()
        .map(|told| match told.of.line {
            None => hyper(MEAN_NAME, outputs, told, &|curve| level(problem, curve)),
            Some(line) => {
                let column = problem.mean().lines()[line].column;
                let column = &problem.kernel().columns()[column];
                let tell =
                    |curve: &str| format!("change of the mean of {curve} per unit of {column}");
                hyper(&format!("{LINE_NAME}{column}"), outputs, told, &tell)
            }
        })
        .collect();
    for second in problem.seconds().each() {
        let spec = &second.spec;
        let name = format!("{}.{MEAN_NAME}", spec.varying.name());
        let (set, place) = (&second.supports, (second.start, problem.seconds().rows()));
        let told = coefficients(&spec.mean, set, place, components, of_second, |_, _, _| {
            None
        });
        let tell = |curve: &str| {
            format!(
                "level of the {} of {curve} before its link",
                spec.varying.words()
            )
        };
        all.extend(told.map(|told| hyper(&name, spec.kernel.outputs(), &told, &tell)));
    }
    all
}

/// What the constant of the mean of a curve is.
fn level(problem: &Problem, curve: &str) -> String {
    let columns = problem.kernel().columns();
    let at = |line: &crate::problem::mean::MeanLine| {
        format!("{} is {}", columns[line.column], place(line.centre))
    };
    let places: Vec<String> = problem.mean().lines().iter().map(at).collect();
    match places.is_empty() {
        true => format!("level to which {curve} returns far from the data"),
        false => format!(
            "level of the mean of {curve} where {}",
            places.join(" and ")
        ),
    }
}

/// A coordinate with as many digits as tell places apart among rows that are far from zero.
fn place(x: f64) -> String {
    let rounded: f64 = format!("{x:.9e}").parse().unwrap_or(x);
    match rounded.abs() {
        0.0 | 1e-5..1e15 => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}
