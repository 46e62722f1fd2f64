//! The hyperparameters that the likelihoods of tables have of their own, and which tables share a
//! noise variance.

use super::defaults::Scales;
use super::observations::{Observations, knows_its_scale};
use super::varying::Varying;
use crate::likelihood::{Likelihood, Noise};
use crate::parameter::Parameter;

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
