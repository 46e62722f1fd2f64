//! What must hold before any work starts.

use crate::error::InputError;
use crate::inference::sites::Method;
use crate::likelihood::{Likelihood, Noise};
use crate::link::Link;
use crate::parameter::{Parameter, Transform};
use crate::problem::defaults::Scales;
use crate::problem::mean_settings::is_mean;
use crate::problem::observations::Observations;
use crate::problem::observations::knows_its_scale;
use crate::problem::pooled::{is_known_exactly, is_pooled};
use crate::problem::settings::{Inference, Setting};
use crate::problem::varying::Varying;

/// Most rows whose dense covariance is factorised: 20,000 rows need 3.2 GB per matrix.
pub(crate) const MAX_DENSE_ROWS: usize = 20_000;

/// Most points, boxes and regions in all rows: their covariances are computed in pairs.
pub(crate) const MAX_ATOMS: usize = 40_000;

/// Appends the hyperparameters of every table's likelihood; returns their indices per table.
pub(crate) fn own_parameters(
    tables: &[Observations],
    scales: &Scales,
    varying: &[Varying],
    parameters: &mut Vec<Parameter>,
) -> Vec<Vec<usize>> {
    let noises: Vec<Sharing<'_>> = tables
        .iter()
        .map(|t| (&t.likelihood, t.share_noise, t.output.as_deref()))
        .collect();
    let mut owned = vec![0; tables.len()];
    let mut sharing = Vec::new();
    // Every output has a scale of its own.
    let scale_is_known = |table: &Observations| {
        let mut same = tables.iter().filter(|t| t.output == table.output);
        same.any(knows_its_scale)
    };
    let shares = tables.iter().any(|table| table.share_noise);
    let mut own = Vec::with_capacity(tables.len());
    for (t, table) in tables.iter().enumerate() {
        let all = table.likelihood.local().parameters(scales.values[t]);
        let mut indices = Vec::with_capacity(all.len());
        // A second latent function takes the place of the first.
        let skip = usize::from(varying.iter().any(|v| v.is_of(&table.likelihood)));
        let owner = noise_owner(&noises, varying, table.output.as_deref()).unwrap_or(t);
        for mut parameter in all.into_iter().skip(skip) {
            let is_noise = parameter.name == NOISE_NAME;
            if is_noise && table.share_noise && owner != t {
                sharing.push((t, indices.len(), owner));
                indices.push(usize::MAX);
                continue;
            }
            if is_noise && !scale_is_known(table) {
                // Ranks alone say nothing about their unit: the noise is one.
                parameter.start = 1.0;
                parameter.fixed = true;
            }
            if t > 0 {
                let (leaf, rest) = parameter.name.split_once('.').unwrap_or((NOISE_NAME, ""));
                parameter.name = format!("{leaf}#{}.{rest}", t + 1);
            }
            if let (Some(output), false) = (&table.output, shares) {
                parameter.meaning.push_str(&format!(" of `{output}`"));
            }
            indices.push(parameters.len());
            if is_noise {
                owned[t] = parameters.len();
            }
            parameters.push(parameter);
        }
        own.push(indices);
    }
    for (table, at, owner) in sharing {
        own[table][at] = owned[owner];
    }
    own
}

/// A table: what it reports, whether it shares a noise variance, and its output.
pub(crate) type Sharing<'a> = (&'a Likelihood, bool, Option<&'a str>);

/// The table whose learned noise variance those of an output that share one have: the first of the
/// output that does not share one itself, else the first such of any output, else the first; so a
/// table that shares may stand before it.
pub(crate) fn noise_owner(
    tables: &[Sharing<'_>],
    varying: &[Varying],
    output: Option<&str>,
) -> Option<usize> {
    let learns = |likelihood: &Likelihood| {
        let is_learned = likelihood.noise().is_some_and(Noise::is_learned);
        is_learned && !varying.iter().any(|v| v.is_of(likelihood))
    };
    let learned = || tables.iter().enumerate().filter(|(_, t)| learns(t.0));
    let alone = || learned().filter(|(_, t)| !t.1);
    let own = alone().find(|(_, t)| t.2 == output);
    let found = own.or_else(|| alone().next()).or_else(|| learned().next());
    found.map(|(t, _)| t)
}

/// Name of a learned noise variance before the number of its table.
pub(crate) const NOISE_NAME: &str = "noise.variance";

/// Applies what the user said to the defaults.
pub(crate) fn apply_settings(
    parameters: &mut [Parameter],
    settings: &[(String, Setting)],
) -> Result<(), InputError> {
    for (i, (name, setting)) in settings.iter().enumerate() {
        if settings[..i].iter().any(|(n, _)| n == name) {
            return Err(InputError::Parameter {
                name: name.clone(),
                reason: "it is set twice; remove one".into(),
            });
        }
        if is_mean(name) {
            continue;
        }
        let known: Vec<String> = parameters.iter().map(|p| p.name.clone()).collect();
        let Some(parameter) = parameters.iter_mut().find(|p| p.name == *name) else {
            return Err(InputError::UnknownParameter {
                name: name.clone(),
                known,
            });
        };
        apply(parameter, setting)?;
        parameter.validate()?;
    }
    Ok(())
}

fn apply(parameter: &mut Parameter, setting: &Setting) -> Result<(), InputError> {
    let refuse = |reason: String| InputError::Parameter {
        name: parameter.name.clone(),
        reason,
    };
    let value = match (setting.value, setting.start) {
        (Some(_), Some(_)) => {
            return Err(refuse("give either `value` or `start`, not both".into()));
        }
        (value, start) => value.or(start),
    };
    if setting.fixed && setting.value.is_none() {
        return Err(refuse("`fixed = true` needs a `value`".into()));
    }
    if parameter.fixed && setting != &Setting::fixed(parameter.start) {
        let reason = if parameter.name.starts_with("noise") {
            "by ranks or signs alone, which say nothing about their unit: the noise is the unit; give the thresholds, or leave it out"
        } else {
            "in the kernel expression; change it there"
        };
        return Err(refuse(format!(
            "its value {} is fixed {reason}",
            parameter.start
        )));
    }
    if let Some(value) = value
        && (!value.is_finite() || (parameter.transform == Transform::Log && value <= 0.0))
    {
        let hint = if parameter.name.starts_with("noise") {
            "; exact observations are written `variance = 0` in the likelihood"
        } else {
            ""
        };
        return Err(refuse(format!(
            "the value {value} must be a positive, finite number{hint}"
        )));
    }
    // What the user says goes before a default bound.
    if value
        .or(setting.upper)
        .is_some_and(|v| v <= parameter.lower)
    {
        parameter.lower = 0.0;
    }
    parameter.lower = setting.lower.unwrap_or(parameter.lower);
    parameter.upper = setting.upper.unwrap_or(parameter.upper);
    if let Some(prior) = &setting.prior {
        parameter.prior = *prior;
    }
    let usual = parameter.start;
    if let Some(value) = value {
        parameter.start = value;
    } else if parameter.lower < parameter.upper {
        parameter.start = parameter.start.clamp(parameter.lower, parameter.upper);
    }
    parameter.fixed = setting.fixed;
    if !parameter.fixed {
        // What the data suggest, and what the user expects, must not lie beyond where a start ends
        // the search.
        let expected = setting.prior.and_then(|prior| prior.quantile(0.5));
        parameter.search_around(&[usual, expected.unwrap_or(usual)]);
    }
    Ok(())
}

/// Whether the rows can tell anything about the free hyperparameters.
pub(crate) fn learnable(
    tables: &[Observations],
    parameters: &[Parameter],
) -> Result<(), InputError> {
    let rows: usize = tables.iter().map(|t| t.supports.len()).sum();
    let free: Vec<String> = parameters
        .iter()
        .filter(|p| !p.fixed)
        .map(|p| p.name.clone())
        .collect();
    if free.is_empty() {
        return Ok(());
    }
    if rows < 2 {
        return Err(InputError::TooFewRows { rows, free });
    }
    let support = tables[0].supports.rows(&[0]);
    let value = tables[0].typical().first().copied();
    let same = tables.iter().all(|t| {
        let typical = t.typical();
        (0..t.supports.len())
            .all(|i| typical.get(i).copied() == value && t.supports.rows(&[i]) == support)
    });
    if same {
        return Err(InputError::AllRowsEqual { rows, free });
    }
    Ok(())
}

/// How the rows will condition the prior; `None` is exactly.
pub(crate) fn method(
    inference: Inference,
    tables: &[Observations],
    varying: bool,
) -> Result<Option<Method>, InputError> {
    let is_exact = !varying && tables.iter().all(|t| t.as_gaussian().is_some());
    let has_kinks = tables.iter().any(|t| t.likelihood.has_kink());
    let has_square = tables
        .iter()
        .any(|t| t.likelihood.link() == Some(Link::Square));
    if inference == Inference::Sparse && tables.iter().any(|t| is_known_exactly(&t.likelihood)) {
        return Err(InputError::Unavailable {
            what: "sparse inference for what is known exactly behind a link",
            remedy: "leave `method` out, or give the rows a small variance",
        });
    }
    if inference == Inference::Sparse {
        return match varying {
            false => Ok(Some(Method::Variational)),
            true => Err(InputError::Unavailable {
                what: "sparse inference for a noise or dispersion that is a function",
                remedy: "use auto, ep or variational, or a constant noise",
            }),
        };
    }
    if tables.iter().any(is_pooled) {
        return match inference {
            Inference::Auto | Inference::Sites(Method::Laplace) => Ok(Some(Method::Laplace)),
            Inference::Exact | Inference::Sites(_) | Inference::Sparse => {
                Err(InputError::Unavailable {
                    what: "a dense method other than Laplace's for sums after a link",
                    remedy: "use auto, laplace or sparse, or give the rows as points",
                })
            }
        };
    }
    match inference {
        // Behind a square the function may have either sign: moments of both together are those of
        // neither.
        Inference::Auto if has_square && !varying && !has_kinks => Ok(Some(Method::Laplace)),
        Inference::Auto => Ok((!is_exact).then_some(Method::Ep)),
        Inference::Exact if is_exact => Ok(None),
        Inference::Exact if varying => Err(InputError::Unavailable {
            what: "exact inference",
            remedy: "the noise is a function too; use auto, ep or variational",
        }),
        Inference::Sites(Method::Laplace) if varying => Err(InputError::Unavailable {
            what: "Laplace's method for a noise or dispersion that is a function",
            remedy: "use auto, ep or variational",
        }),
        Inference::Exact => Err(InputError::Unavailable {
            what: "exact inference",
            remedy: "some rows have other than normal noise; use auto, ep, variational or laplace",
        }),
        Inference::Sites(Method::Laplace) if has_kinks => Err(InputError::Unavailable {
            what: "Laplace's method for values with double exponential noise",
            remedy: "their density has a kink and no curvature; use ep or variational",
        }),
        Inference::Sites(method) => Ok(Some(method)),
        // Answered above.
        Inference::Sparse => Ok(Some(Method::Variational)),
    }
}

/// Weights of an average add up to one but for rounding of many.
pub(crate) const AVERAGED: f64 = 1e-9;

/// Refuses sums and averages after a link where they mean nothing or cannot be had.
pub(crate) fn links(tables: &[Observations]) -> Result<(), InputError> {
    for table in tables {
        let name = table.likelihood.name();
        for row in 0..table.supports.len() {
            let size = table.supports.size(row);
            if table
                .likelihood
                .mean_link()
                .is_some_and(Link::is_probability)
                && !table.supports.is_point(row)
                && (size - 1.0).abs() > AVERAGED
            {
                return Err(InputError::Range {
                    what: format!("the total weight of the support of a `{name}` row"),
                    row,
                    value: size,
                    requirement: "1, an average: sums of probabilities are no probability",
                });
            }
        }
        if table.likelihood.mean_link().is_some() {
            let weights = table.supports.weight();
            let negative = |row: &usize| table.supports.atoms(*row).any(|a| weights[a] <= 0.0);
            if let Some(row) = (0..table.supports.len()).find(negative) {
                return Err(InputError::Range {
                    what: format!("a weight in the support of a `{name}` row"),
                    row,
                    value: table.supports.size(row),
                    requirement: "above zero, like all weights of the row: a sum after a link has no logarithm else",
                });
            }
        }
    }
    for (i, table) in tables.iter().enumerate() {
        let other = |t: &&Observations| {
            let links = (t.likelihood.link(), table.likelihood.link());
            t.output == table.output && matches!(links, (Some(a), Some(b)) if a != b)
        };
        if tables[..i].iter().any(|t| other(&t)) {
            return Err(InputError::Unavailable {
                what: "two links behind one function",
                remedy: "give counts and waiting times of one output the same link",
            });
        }
    }
    for table in tables
        .iter()
        .filter(|t| t.likelihood.has_noise_behind_link())
    {
        let is_other = |t: &Observations| t.output == table.output && t.likelihood.is_linear();
        if tables.iter().any(is_other) {
            return Err(InputError::Unavailable {
                what: "amounts behind a link beside values of the same function",
                remedy: "a function has one link: give both tables the same one, or fit them apart",
            });
        }
    }
    if tables.iter().any(is_pooled) && tables.iter().any(|t| t.likelihood.is_linear()) {
        return Err(InputError::Unavailable {
            what: "counts, waiting times or answers over boxes, regions or bags beside values of the function",
            remedy: "fit them apart, or give the counts a `gaussian` likelihood with known variance",
        });
    }
    Ok(())
}
