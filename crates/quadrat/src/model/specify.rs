//! What a model leaves open, read off its data: priors, starts, and the method.

use super::Model;
use super::cycles::{self, PlaceValue};
use super::wide_means;
use crate::covariance::LEAST_PERIODIC;
use crate::error::InputError;
use crate::kernel::{Kernel, Role};
use crate::parameter::Parameter;
use crate::problem::apply_settings::apply_settings;
use crate::problem::checks;
use crate::problem::defaults::{MEAN_WIDTH, Output, Scales, plausible};
use crate::problem::mean::{MeanPrior, Means};
use crate::problem::mean_lines;
use crate::problem::mean_settings::{self, MeanSettings};
use crate::problem::method;
use crate::problem::observations::Observations;
use crate::problem::outputs;
use crate::problem::own_parameters::own_parameters;
use crate::problem::pooled::is_pooled;
use crate::problem::second::SecondSpec;
use crate::problem::seconds::Seconds;
use crate::problem::settings::{Inference, Mean};
use crate::problem::specified::{Specified, Taken};
use crate::problem::varying::Varying;

impl Model {
    /// Checks the input, and reads off the data what the user left open.
    ///
    /// # Arguments
    /// * `is_sparse` - whether the function is to be seen through inducing points
    ///
    /// # Errors
    /// Everything that can be wrong with the input, see [`InputError`].
    pub(super) fn specified(
        &self,
        inference: Inference,
        is_sparse: bool,
    ) -> Result<Specified, InputError> {
        checks::links(&self.tables)?;
        self.kernel.check().map_err(|e| InputError::Kernel {
            reason: e.to_string(),
        })?;
        let tables = outputs::restrict(&self.kernel, &self.tables)?;
        outputs::all_observed(&self.kernel, &tables)?;
        let method = method::choose(inference, &tables, !self.seconds.is_empty())?;
        let own_means = MeanSettings::new(&self.settings, None, self.kernel.outputs());
        let means = self.effective_means(&own_means)?;
        let lines = mean_lines::LineColumns::new(&self.kernel, &self.mean, &tables)?;
        let scales = Scales::new(&self.kernel, &tables, &means, lines.places());
        let kernel = match self.has_usual_means(&own_means, &means)? {
            true => scales.near_the_rows(&self.kernel),
            false => self.kernel.clone(),
        };
        let mut parameters = scales.kernel_parameters(&kernel);
        let varying: Vec<Varying> = self.seconds.iter().map(|s| s.0).collect();
        let own = own_parameters(&tables, &scales, &varying, &mut parameters);
        let specs = self.seconds.iter().cloned();
        let seconds = specs
            .map(|second| SecondSpec::new(second, &self.tables, &self.settings, &mut parameters))
            .collect::<Result<Vec<SecondSpec>, InputError>>()?;
        let of_seconds = self.seconds.iter().map(|(varying, kernel, _)| {
            MeanSettings::new(&self.settings, Some(*varying), kernel.outputs())
        });
        let of_lines = self.mean.columns().iter();
        let of_lines =
            of_lines.map(|c| MeanSettings::of_line(&self.settings, c, self.kernel.outputs()));
        let of_lines: Vec<MeanSettings<'_>> = of_lines.collect();
        let is_exact = method.is_none() && !tables.iter().any(is_pooled);
        let widest = wide_means::widest(is_exact, is_sparse);
        let mut slopes = lines.with_priors(&of_lines, &scales, is_sparse)?;
        for line in &mut slopes {
            for (output, prior) in line.priors.iter_mut().enumerate() {
                let most = widest.map(|w| w * scales.slope_scale(output, line.column));
                *prior = wide_means::within(*prior, 0.0, most.unwrap_or(f64::INFINITY));
            }
        }
        lines.can_be_told_apart(&self.kernel, &tables, &of_lines)?;
        let families = std::iter::once(own_means).chain(of_lines);
        let families: Vec<MeanSettings<'_>> = families.chain(of_seconds).collect();
        mean_settings::all_used(&self.settings, &families)?;
        let priors = means.iter().enumerate().map(|(output, mean)| {
            Ok(match *mean {
                Mean::Zero => MeanPrior { mean: 0.0, sd: 0.0 },
                Mean::Fixed(mean) => MeanPrior { mean, sd: 0.0 },
                Mean::Constant | Mean::Linear(_) => {
                    let (mean, sd) = scales.mean_prior(&kernel, output);
                    let said = families[0].prior(output)?;
                    let most = widest.map_or(f64::INFINITY, |w| w * sd / MEAN_WIDTH);
                    said.map_or(MeanPrior { mean, sd }, |own| {
                        wide_means::within(own, mean, most)
                    })
                }
            })
        });
        let mean = Means::new(&kernel, priors.collect::<Result<_, InputError>>()?);
        let mean = mean.with_lines(slopes);
        let usual: Vec<f64> = parameters.iter().map(|p| p.start).collect();
        let near = scales.of_neighbours(&kernel, &parameters);
        apply_settings(&mut parameters, &self.settings)?;
        checks::learnable(&tables, &parameters)?;
        let besides = starts_besides(&parameters, usual, near);
        let along = |column: usize| places(&self.kernel, &tables, &scales, column);
        let cycles = cycles::starts(&self.kernel, &parameters, along);
        let cycles = cycles
            .into_iter()
            .map(|theta| allowed(&parameters, theta))
            .collect();
        Ok(Specified {
            kernel,
            tables,
            mean,
            parameters,
            own,
            method,
            seconds: Seconds::new(seconds, &self.tables)?,
            besides,
            cycles,
            may_be_sharp: self.asks_for_sharp(),
            is_centred: true,
            taken: Taken::AsTheyAre,
        })
    }

    /// Whether the user lets the lengthscale of a periodic leaf be shorter than it may be along a
    /// line.
    fn asks_for_sharp(&self) -> bool {
        let own = self.kernel.parameters();
        let mut own = own.iter().filter(|p| p.role == Role::PeriodicLengthscale);
        own.any(|p| {
            let mut all = self.settings.iter();
            let setting = all.find(|(name, _)| *name == p.name).map(|(_, own)| own);
            let ends = setting.map(|own| {
                let expected = own.prior.and_then(|prior| prior.quantile(0.5));
                [own.lower, own.start.or(own.value), own.upper, expected]
            });
            let mut ends = ends.into_iter().flatten().flatten();
            ends.any(|value| value <= LEAST_PERIODIC)
        })
    }

    /// Whether the mean of every output is unknown, with the prior that the data suggest.
    fn has_usual_means(
        &self,
        settings: &MeanSettings<'_>,
        means: &[Mean],
    ) -> Result<bool, InputError> {
        for (output, mean) in means.iter().enumerate() {
            if *mean != Mean::Constant || settings.prior(output)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The mean of every output without its lines, after settings that fix it.
    fn effective_means(&self, settings: &MeanSettings<'_>) -> Result<Vec<Mean>, InputError> {
        let one = |output| {
            let own = match &self.mean {
                // Their slopes are told of elsewhere.
                Mean::Linear(_) => Mean::Constant,
                other => other.clone(),
            };
            let Some(prior) = settings.prior(output)? else {
                return Ok(own);
            };
            match (own, prior) {
                (Mean::Constant, MeanPrior { sd: 0.0, .. }) if !self.mean.columns().is_empty() => {
                    Err(settings.not_fixed(output))
                }
                (Mean::Constant, MeanPrior { mean, sd: 0.0 }) => Ok(Mean::Fixed(mean)),
                (Mean::Constant, _) => Ok(Mean::Constant),
                _ => Err(settings.not_learned(output)),
            }
        };
        (0..self.kernel.outputs().len().max(1)).map(one).collect()
    }
}

/// What the rows of the bulk report along a column, in the middles of their supports: values per
/// unit of size, those of every output around its level and in its spread.
fn places(
    kernel: &Kernel,
    tables: &[Observations],
    scales: &Scales,
    column: usize,
) -> Vec<PlaceValue> {
    let mut places = Vec::new();
    for table in tables {
        let set = table.supports();
        for (row, y) in plausible(table).into_iter().enumerate() {
            let (from, to) = set.extent(row, column);
            if !scales.extents[column].holds((from, to)) {
                continue;
            }
            let output = outputs::output_of(kernel.output_column(), set, row);
            let Output { level, spread, .. } = scales.outputs[output];
            places.push(PlaceValue {
                at: 0.5 * from + 0.5 * to,
                value: (y / set.size(row) - level) / spread,
                times: table.times(row),
            });
        }
    }
    places
}

/// The nearest start within the bounds, with what is fixed as it is.
fn allowed(parameters: &[Parameter], theta: Vec<f64>) -> Vec<f64> {
    let each = theta.into_iter().zip(parameters);
    each.map(|(value, p)| match p.fixed {
        true => p.start,
        false => value.max(p.lower).min(p.upper),
    })
    .collect()
}

/// Where a search begins besides the starts of the parameters: where the user chose some of these,
/// at what the data suggest, `usual`; and, where the distances between neighbouring rows are of
/// another order than the extent of all, at lengthscales `near` these.
fn starts_besides(
    parameters: &[Parameter],
    usual: Vec<f64>,
    near: Option<Vec<f64>>,
) -> Vec<Vec<f64>> {
    let starts: Vec<f64> = parameters.iter().map(|p| p.start).collect();
    let near = near.map(|mut near| {
        // Only lengthscales are near; all else begins where it does.
        for ((value, usual), start) in near.iter_mut().zip(&usual).zip(&starts) {
            if value == usual {
                *value = *start;
            }
        }
        near.extend_from_slice(&starts[near.len()..]);
        near
    });
    let mut besides: Vec<Vec<f64>> = Vec::new();
    for theta in [Some(usual), near].into_iter().flatten() {
        let theta = allowed(parameters, theta);
        if theta != starts && !besides.contains(&theta) {
            besides.push(theta);
        }
    }
    besides
}
