//! Which table a prediction is about.
//!
//! Tables of one output look at the same function, each with an instrument of its own: a noise,
//! thresholds, a dispersion. A new observation comes from one of these instruments. Where they
//! differ the question is open until somebody says which one is meant; the order of the tables
//! decides nothing.

use crate::error::InputError;
use crate::likelihood::{Likelihood, Noise};
use crate::problem::assembly::Problem;
use crate::problem::observations::Observations;
use crate::problem::own_parameters;
use crate::problem::rounding;
use crate::problem::scale::Scale;
use crate::problem::varying::Varying;

/// Why there is no prediction of a new observation where its instrument is not said.
const WHICH: InputError = InputError::Unavailable {
    what: "a prediction on this scale where tables of the output differ in their noise or in what they report",
    remedy: "say which table it is like",
};

/// Why there is no prediction like that of a table.
const NOT_THAT: InputError = InputError::Unavailable {
    what: "a prediction like the rows of this table",
    remedy: "choose a table of the same output that reports something of the function",
};

/// One table as predictions see it.
#[derive(Debug, Clone, Copy)]
pub struct Instrument<'a> {
    /// What its rows report.
    pub likelihood: &'a Likelihood,
    /// Of which output, where there are several.
    pub output: Option<&'a str>,
    /// Whether it shares the learned noise variance of another table.
    pub shares_noise: bool,
}

impl<'a> From<&'a Observations> for Instrument<'a> {
    fn from(table: &'a Observations) -> Self {
        Self {
            likelihood: &table.likelihood,
            output: table.output.as_deref(),
            shares_noise: table.share_noise,
        }
    }
}

/// The tables of an output in groups within which predictions on a scale are the same, in the order
/// of the tables.
///
/// With one group there is nothing to choose. Tables that only bound the function report nothing
/// and are in no group. On the scale of the latent function all tables agree; on that of the
/// response they differ by what follows from the function (a value, a rate, a probability); on that
/// of observations also by noise, thresholds, degrees of freedom and dispersion. Learned ones
/// differ from table to table, but for a noise variance that is shared or is a function.
///
/// # Arguments
/// * `tables` - all tables of the model
/// * `varying` - which noise variance and dispersion are functions
#[must_use]
pub fn instruments(
    tables: &[Instrument<'_>],
    output: Option<&str>,
    scale: Scale,
    varying: &[Varying],
) -> Vec<Vec<usize>> {
    let noises: Vec<own_parameters::Sharing<'_>> = tables
        .iter()
        .map(|t| (t.likelihood, t.shares_noise, t.output))
        .collect();
    let owner = own_parameters::noise_owner(&noises, varying, output);
    let own = tables
        .iter()
        .enumerate()
        .filter(|(_, t)| t.output == output);
    let kinds = own.map(|(t, table)| {
        let all = table.likelihood.local().parameters(1.0);
        let skip = usize::from(varying.iter().any(|v| v.is_of(table.likelihood)));
        let id = |(i, name): (usize, &str)| match owner {
            Some(owner) if table.shares_noise && name == own_parameters::NOISE_NAME => (owner, 0),
            _ => (t, i),
        };
        let learned = all.iter().enumerate().skip(skip);
        let kind = Kind {
            likelihood: table.likelihood,
            learned: learned.map(|(i, p)| id((i, p.name.as_str()))).collect(),
            is_rounded: varying.contains(&Varying::Noise) && rounding::is_rounded(table.likelihood),
        };
        (t, kind)
    });
    grouped(kinds, scale)
}

/// What decides whether two tables answer alike.
struct Kind<'a> {
    likelihood: &'a Likelihood,
    /// Which hyperparameters it has.
    learned: Vec<(usize, usize)>,
    /// Whether its noise may have that of rounding besides, which is not known before the fit.
    is_rounded: bool,
}

fn grouped<'a>(kinds: impl Iterator<Item = (usize, Kind<'a>)>, scale: Scale) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Kind<'a>, Vec<usize>)> = Vec::new();
    for (table, kind) in kinds {
        if kind.likelihood.is_bound() {
            continue;
        }
        match groups
            .iter_mut()
            .find(|(first, _)| first.is_like(&kind, scale))
        {
            Some((_, members)) => members.push(table),
            None => groups.push((kind, vec![table])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

impl Kind<'_> {
    fn is_like(&self, other: &Self, scale: Scale) -> bool {
        let (a, b) = (self.likelihood, other.likelihood);
        match scale {
            Scale::Latent => true,
            Scale::Response => mean(a) == mean(b),
            Scale::Observation => {
                mean(a) == mean(b)
                    && self.learned == other.learned
                    && self.is_rounded == other.is_rounded
                    && report_alike(a, b)
                    && noise_alike(a.noise(), b.noise())
            }
        }
    }
}

/// How the mean of a report follows from the function.
#[derive(PartialEq)]
enum Mean {
    Value,
    Rate(crate::link::Link),
    Probability(crate::likelihood::Sigmoid),
}

fn mean(likelihood: &Likelihood) -> Mean {
    match (likelihood.link(), likelihood.sigmoid()) {
        (Some(link), _) => Mean::Rate(link),
        (None, Some(sigmoid)) => Mean::Probability(sigmoid),
        (None, None) => Mean::Value,
    }
}

/// Whether two tables report the same sort of thing, learned numbers and noise variances aside.
fn report_alike(a: &Likelihood, b: &Likelihood) -> bool {
    match a {
        Likelihood::StudentT(a) => {
            matches!(b, Likelihood::StudentT(b) if a.degrees_setting() == b.degrees_setting())
        }
        Likelihood::Laplace(a) => {
            let Likelihood::Laplace(b) = b else {
                return false;
            };
            let first = a.scale().first();
            let mut all = a.scale().iter().chain(b.scale());
            all.all(|scale| Some(scale) == first)
        }
        Likelihood::Ordinal(a) => {
            matches!(b, Likelihood::Ordinal(b) if a.thresholds_setting() == b.thresholds_setting())
        }
        Likelihood::NegativeBinomial(a) => Some(a.dispersion()) == b.dispersion(),
        Likelihood::Gamma(a) => matches!(b, Likelihood::Gamma(b) if a.shape() == b.shape()),
        Likelihood::LogNormal(a) => matches!(b, Likelihood::LogNormal(b) if a.sd() == b.sd()),
        // Of intervals, censored and truncated values a new one is a value with normal noise.
        Likelihood::Gaussian(_)
        | Likelihood::Interval(_)
        | Likelihood::Censored(_)
        | Likelihood::Truncated(_) => b.has_normal_noise(),
        // A new one is a success or none.
        Likelihood::Bernoulli(_) | Likelihood::Binomial(_) => b.sigmoid().is_some(),
        Likelihood::Positive(_) | Likelihood::Poisson(_) | Likelihood::Exponential(_) => {
            a.name() == b.name()
        }
    }
}

/// Whether the known parts of two noise variances are one number, and both or none are learned.
fn noise_alike(a: Option<&Noise>, b: Option<&Noise>) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return a.is_none() && b.is_none();
    };
    let all = |noise: &Noise| noise.known().unwrap_or(&[0.0]).to_vec();
    let known = [all(a), all(b)].concat();
    a.is_learned() == b.is_learned() && known.iter().all(|v| *v == known[0])
}

impl Problem {
    /// The tables of an output in groups, see [`instruments`].
    pub fn instruments(&self, output: usize, scale: Scale) -> Vec<Vec<usize>> {
        let own = self.tables().of_output(output).map(|t| {
            let learned = self.tables().own[t].iter().map(|&i| (0, i)).collect();
            let kind = Kind {
                likelihood: self.likelihood(t),
                learned,
                is_rounded: false,
            };
            (t, kind)
        });
        grouped(own, scale)
    }

    /// The table that a prediction of an output is about: `table` where it is said.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where tables differ on this scale and none is said, and where
    /// the table reports nothing of the output.
    pub fn reporting(
        &self,
        output: usize,
        scale: Scale,
        table: Option<usize>,
    ) -> Result<usize, InputError> {
        let groups = self.instruments(output, scale);
        match (table, groups.as_slice()) {
            (Some(table), groups) if groups.iter().flatten().any(|t| *t == table) => Ok(table),
            (Some(_), _) => Err(NOT_THAT),
            (None, [only]) => Ok(only[0]),
            // Bounds alone.
            (None, []) => Ok(self.tables().of_output(output).next().unwrap_or(0)),
            (None, _) => Err(WHICH),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::InputError;
    use crate::likelihood::{Gamma, LogNormal, LogSd, Noise, Poisson, Shape};
    use crate::link::Link;
    use crate::support::Functionals;

    /// Sizes of another relative spread are another instrument's.
    #[test]
    fn tables_of_known_spreads_that_differ_answer_differently() -> Result<(), InputError> {
        let at = || Functionals::points("x", &[0.0]);
        let gamma = |shape| Observations::new(at()?, Gamma::new(vec![1.0], Shape::Known(shape))?);
        let income = |sd| Observations::new(at()?, LogNormal::new(vec![1.0], LogSd::Known(sd))?);
        let tables = [
            gamma(2.0)?,
            gamma(2.0)?,
            gamma(3.0)?,
            income(0.5)?,
            income(0.7)?,
        ];
        let tables: Vec<Instrument<'_>> = tables.iter().map(Instrument::from).collect();
        assert_eq!(
            instruments(&tables, None, Scale::Observation, &[]),
            [vec![0, 1], vec![2], vec![3], vec![4]]
        );
        Ok(())
    }

    /// A value and a count tell of one function, but answer differently.
    #[test]
    fn tables_of_two_kinds_agree_about_the_function_only() -> Result<(), InputError> {
        let at = || Functionals::points("x", &[0.0]);
        let value = Observations::gaussian(at()?, vec![1.0], Noise::Learned)?;
        let count = Poisson::new(vec![3.0], vec![1.0], Link::Exp)?;
        let count = Observations::new(at()?, count)?;
        let tables = [&value, &count].map(Instrument::from);
        let groups = |output, scale| instruments(&tables, output, scale, &[]);
        assert_eq!(groups(None, Scale::Latent), [vec![0, 1]]);
        for scale in [Scale::Response, Scale::Observation] {
            assert_eq!(groups(None, scale), [vec![0], vec![1]]);
        }
        assert!(groups(Some("other"), Scale::Latent).is_empty());
        Ok(())
    }
}
