//! A second latent function: the noise variance or the dispersion of the rows that learn one.

use serde::{Deserialize, Serialize};

use super::defaults::Scales;
use super::mean::{MeanPrior, Means};
use super::mean_settings::MeanSettings;
use super::observations::Observations;
use super::outputs::place;
use super::rounding;
use super::settings::Setting;
use super::varying::Varying;
use crate::covariance::Covariance;
use crate::error::InputError;
use crate::inference::sites::{Second, SecondPrior};
use crate::kernel::Kernel;
use crate::likelihood::Likelihood;
use crate::linalg::{Mat, MatRef};
use crate::link::Link;
use crate::parameter::{Parameter, PriorDensity};
use crate::support::Functionals;

/// Prior sd of the level of the second function.
const MEAN_SD: f64 = 1.5;
/// The noise variance is expected to be this share of the variance of the values.
const SHARE: f64 = 0.1;
/// Expected dispersion of counts.
const DISPERSION: f64 = 0.3;
/// Expected variance of the second function.
const VARIANCE: f64 = 0.3;
/// It is expected to change over this many times the distance over which the first does.
const SLOWER: f64 = 2.0;

/// A second latent function as the user says it: `v(x) = link(g(x))` beside a known `rounding`, `g
/// ~ GP`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SecondSpec {
    pub varying: Varying,
    pub kernel: Kernel,
    pub link: Link,
    pub mean: Means,
    /// Where the hyperparameters of its kernel begin in `theta`.
    pub offset: usize,
    /// Known variance beside it, by output: that of the rounding of the values it was fitted to.
    pub rounding: Vec<(Option<String>, f64)>,
}

impl SecondSpec {
    /// Appends its hyperparameters; `tables` are those of the user, and `settings` what was said of
    /// its level.
    pub fn new(
        (varying, kernel, link): (Varying, Kernel, Link),
        tables: &[Observations],
        settings: &[(String, Setting)],
        parameters: &mut Vec<Parameter>,
    ) -> Result<Self, InputError> {
        kernel.check().map_err(|e| InputError::Kernel {
            reason: format!("[{}] {e}", varying.name()),
        })?;
        if !matches!(link, Link::Exp | Link::Softplus) {
            return Err(InputError::Unavailable {
                what: "a noise variance or dispersion behind this link",
                remedy: "use `exp` or `softplus`, which are positive",
            });
        }
        let own = |t: &&Observations| varying.is_of(&t.likelihood);
        let placed = tables.iter().filter(own).map(|t| {
            Ok(Observations {
                supports: place_second(&kernel, t)?,
                ..t.clone()
            })
        });
        let placed = placed.collect::<Result<Vec<Observations>, InputError>>()?;
        if placed.is_empty() {
            return Err(InputError::Unavailable {
                what: "a noise variance or dispersion that is a function",
                remedy: "no table learns one: leave `variance` out of a gaussian, student_t, interval or censored table, or learn the dispersion of a negative_binomial one",
            });
        }
        for table in &placed {
            if let Some(row) = (0..table.supports.len()).find(|&row| !table.supports.is_point(row))
            {
                return Err(InputError::Range {
                    what: "the support of a row whose noise is a function".into(),
                    row,
                    value: table.supports.size(row),
                    requirement: "a point: the noise of a total is not the total of a noise; give such rows a known variance",
                });
            }
        }
        let outputs = kernel.outputs().len().max(1);
        let constant = vec![super::settings::Mean::Constant; outputs];
        let mut scales = Scales::new(&kernel, &placed, &constant, &[]);
        let levels = MeanSettings::new(settings, Some(varying), kernel.outputs());
        let priors = (0..outputs).map(|output| {
            let centre = match varying {
                Varying::Noise => (SHARE * scales.outputs[output].spread.powi(2)).ln(),
                Varying::Dispersion => DISPERSION.ln(),
            };
            let said = levels.prior(output)?;
            Ok(said.unwrap_or(MeanPrior {
                mean: centre,
                sd: MEAN_SD,
            }))
        });
        let mean = Means::new(&kernel, priors.collect::<Result<_, InputError>>()?);
        for output in &mut scales.outputs {
            output.spread = VARIANCE.sqrt();
        }
        scales.spread = VARIANCE.sqrt();
        let offset = parameters.len();
        for mut parameter in scales.kernel_parameters(&kernel) {
            if parameter.name.contains(".lengthscale")
                && let PriorDensity::LogNormal { mu, sigma } = parameter.prior
            {
                parameter.prior = PriorDensity::LogNormal {
                    mu: mu + SLOWER.ln(),
                    sigma,
                };
                parameter.start *= SLOWER;
            }
            let of = match link {
                Link::Exp => format!("of the log {}", varying.words()),
                _ => format!("of the {} before its link", varying.words()),
            };
            parameter.meaning = format!("{of}: {}", parameter.meaning);
            parameter.name = format!("{}.{}", varying.name(), parameter.name);
            parameters.push(parameter);
        }
        Ok(Self {
            varying,
            kernel,
            link,
            mean,
            offset,
            rounding: match varying {
                Varying::Noise => rounding::variances(tables),
                Varying::Dispersion => Vec::new(),
            },
        })
    }

    /// The part of `theta` that its kernel has.
    pub fn theta<'a>(&self, theta: &'a [f64]) -> &'a [f64] {
        &theta[self.offset..][..self.kernel.parameters().len()]
    }

    /// What a table's rows report, with the noise of their rounding.
    pub fn rounded(&self, table: &Observations) -> Likelihood {
        let mut likelihood = table.likelihood.clone();
        let own = |(output, _): &&(Option<String>, f64)| *output == table.output;
        if let Some((_, variance)) = self.rounding.iter().find(own)
            && rounding::is_rounded(&likelihood)
        {
            likelihood.add_noise(*variance);
        }
        likelihood
    }

    /// Whether it belongs to a model of so many parameters; deserialised parts are not trusted.
    pub fn fits(&self, parameters: &[Parameter]) -> bool {
        let own = self.kernel.parameters();
        let names = parameters.iter().skip(self.offset).zip(own);
        let is_variance = |(_, v): &(_, f64)| v.is_finite() && *v >= 0.0;
        self.mean.fits(&self.kernel)
            && self.rounding.iter().all(is_variance)
            && self.offset + own.len() <= parameters.len()
            && names.clone().count() == own.len()
            && names
                .into_iter()
                .all(|(p, k)| p.name == format!("{}.{}", self.varying.name(), k.name))
    }
}

/// The rows of a table as the second kernel sees them; it may have one output for all.
fn place_second(kernel: &Kernel, table: &Observations) -> Result<Functionals, InputError> {
    let output = table
        .output
        .as_deref()
        .filter(|_| !kernel.outputs().is_empty());
    place(kernel, &table.supports, output)
}

/// A second latent function at the rows that have it.
pub(crate) struct SecondLatent {
    pub spec: SecondSpec,
    pub supports: Functionals,
    /// Where its rows begin among those of all second functions.
    pub start: usize,
    /// The first of each table's rows, counted from its own first.
    first: Vec<Option<usize>>,
    covariance: Covariance,
    prior_mean: Vec<f64>,
}

impl SecondLatent {
    /// `tables` are those of the user; `start` values of other second functions stand before its
    /// own.
    pub fn new(
        spec: SecondSpec,
        tables: &[Observations],
        start: usize,
    ) -> Result<Self, InputError> {
        let mut supports = Functionals::new(spec.kernel.columns().to_vec());
        let mut first = Vec::with_capacity(tables.len());
        for table in tables {
            if spec.varying.is_of(&table.likelihood) {
                first.push(Some(supports.len()));
                supports.extend(&place_second(&spec.kernel, table)?)?;
            } else {
                first.push(None);
            }
        }
        let prior_mean = spec.mean.means(&supports);
        Ok(Self {
            covariance: Covariance::new(&spec.kernel),
            spec,
            supports,
            start,
            first,
            prior_mean,
        })
    }

    /// Where the values of a table's rows begin among those of all second functions, if the rows
    /// have this one.
    pub fn of_table(&self, table: usize) -> Option<Second> {
        let first = self.start + self.first.get(table).copied()??;
        Some(Second {
            first,
            link: self.spec.link,
        })
    }

    /// `K_g` between its rows and other places, the unknown mean included.
    pub fn cross(&self, theta: &[f64], at: &Functionals) -> Mat<f64> {
        let theta = self.spec.theta(theta);
        let mut cross = self.covariance.cross(theta, &self.supports, at);
        self.spec
            .mean
            .add_covariance(&mut cross, &self.supports, at);
        cross
    }

    /// Prior variance at other places, the unknown mean included.
    pub fn prior_variance(&self, theta: &[f64], at: &Functionals) -> Vec<f64> {
        let mut diagonal = self.covariance.diagonal(self.spec.theta(theta), at);
        for (j, v) in diagonal.iter_mut().enumerate() {
            *v += self.spec.mean.variance(at, j);
        }
        diagonal
    }
}

impl SecondPrior for SecondLatent {
    fn prior_mean(&self) -> &[f64] {
        &self.prior_mean
    }

    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        let mut k = self
            .covariance
            .matrix(self.spec.theta(theta), &self.supports);
        self.spec
            .mean
            .add_covariance(&mut k, &self.supports, &self.supports);
        k
    }

    fn contract_covariance(&self, theta: &[f64], adjoint: MatRef<'_, f64>, gradient: &mut [f64]) {
        let (offset, count) = (self.spec.offset, self.spec.kernel.parameters().len());
        let own = &mut gradient[offset..offset + count];
        self.covariance
            .contract(self.spec.theta(theta), &self.supports, adjoint, own);
    }
}
