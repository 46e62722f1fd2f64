//! What the user says of unknown means: that of the function, and the levels of a noise variance or
//! dispersion that is a function.
//!
//! They are integrated with their function and not optimised, so they take a normal prior or a
//! fixed value and nothing else. A setting that would have no effect is refused.

use super::mean::MeanPrior;
use super::settings::Setting;
use super::varying::Varying;
use crate::error::InputError;
use crate::parameter::PriorDensity;

/// Name of the unknown constant mean among the hyperparameters.
pub(crate) const MEAN_NAME: &str = "mean.constant";

/// Name of the slope of a line of the mean, before that of its column.
pub(crate) const LINE_NAME: &str = "mean.linear.";

/// Whether a hyperparameter is an unknown mean: `mean.constant`, with several outputs also
/// `mean.constant.<output>`; after `noise.` or `dispersion.` that of a second latent function. So
/// is `mean.linear.<column>`, the slope of a line.
pub(crate) fn is_mean(name: &str) -> bool {
    if name.starts_with(LINE_NAME) {
        return true;
    }
    let kinds = [Varying::Noise, Varying::Dispersion];
    let own = kinds.iter().find_map(|kind| {
        let rest = name.strip_prefix(kind.name())?;
        rest.strip_prefix('.')
    });
    let rest = own.unwrap_or(name).strip_prefix(MEAN_NAME);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The settings of the means of one function.
pub(crate) struct MeanSettings<'a> {
    settings: &'a [(String, Setting)],
    /// `mean.constant`, or `noise.mean.constant` and so on.
    common: String,
    outputs: &'a [String],
}

impl<'a> MeanSettings<'a> {
    /// Those of the latent function, or of the function that is `varying`, over some outputs; no
    /// outputs mean one without a name.
    pub fn new(
        settings: &'a [(String, Setting)],
        varying: Option<Varying>,
        outputs: &'a [String],
    ) -> Self {
        let common = match varying {
            None => MEAN_NAME.to_owned(),
            Some(varying) => format!("{}.{MEAN_NAME}", varying.name()),
        };
        Self {
            settings,
            common,
            outputs,
        }
    }

    /// Those of the slope of the mean along a column.
    pub fn of_line(settings: &'a [(String, Setting)], column: &str, outputs: &'a [String]) -> Self {
        Self {
            settings,
            common: format!("{LINE_NAME}{column}"),
            outputs,
        }
    }

    /// Prior of the mean of an output, or its value with `sd` 0, where the user says one.
    ///
    /// # Errors
    /// [`InputError::Parameter`] for a start, for bounds, for a prior that is not normal, and for a
    /// value that is not fixed.
    pub fn prior(&self, output: usize) -> Result<Option<MeanPrior>, InputError> {
        let Some((name, setting)) = self.of(output) else {
            return Ok(None);
        };
        let is_searched = (setting.start, setting.lower, setting.upper) != (None, None, None);
        let said = match (setting.prior, setting.value, setting.fixed) {
            (Some(PriorDensity::Normal { mean, sd }), None, false) if sd > 0.0 => {
                Some(MeanPrior { mean, sd })
            }
            (None, Some(mean), true) => Some(MeanPrior { mean, sd: 0.0 }),
            _ => None,
        };
        let is_usable =
            |prior: &MeanPrior| !is_searched && prior.mean.is_finite() && prior.sd.is_finite();
        said.filter(is_usable).map(Some).ok_or_else(|| {
            refused(
                name,
                "the mean is integrated, not optimised: give prior = \"normal(mean, sd)\" or { value = .., fixed = true }",
            )
        })
    }

    /// Why a setting of a mean that is no hyperparameter here is refused.
    pub fn not_learned(&self, output: usize) -> InputError {
        let name = self.of(output).map_or(&self.common, |(name, _)| name);
        refused(
            name,
            "the mean is not learned here; use mean = \"constant\"",
        )
    }

    /// Why a fixed constant is refused where the mean has lines.
    pub fn not_fixed(&self, output: usize) -> InputError {
        let name = self.of(output).map_or(&self.common, |(name, _)| name);
        refused(
            name,
            "beside lines it is the level in the middle of the rows, and is always learned: give prior = \"normal(mean, sd)\", or leave it out",
        )
    }

    /// What is said of the mean of an output: its own setting goes before the common one.
    fn of(&self, output: usize) -> Option<&'a (String, Setting)> {
        let find = |wanted: &str| self.settings.iter().rev().find(|(name, _)| name == wanted);
        let own = self.own_name(output).and_then(|name| find(&name));
        own.or_else(|| find(&self.common))
    }

    fn own_name(&self, output: usize) -> Option<String> {
        let output = self.outputs.get(output)?;
        Some(format!("{}.{output}", self.common))
    }

    /// All names that it has.
    fn names(&self) -> impl Iterator<Item = String> + '_ {
        let own = (0..self.outputs.len()).filter_map(|output| self.own_name(output));
        std::iter::once(self.common.clone()).chain(own)
    }

    /// Whether a setting is that of some output.
    fn uses(&self, name: &str) -> bool {
        let of = |output| self.of(output).is_some_and(|(found, _)| found == name);
        (0..self.outputs.len().max(1)).any(of)
    }
}

/// Refuses settings of means that the model does not have, and those that others take the place of.
///
/// # Errors
/// [`InputError::UnknownParameter`], [`InputError::Parameter`].
pub(crate) fn all_used(
    settings: &[(String, Setting)],
    functions: &[MeanSettings<'_>],
) -> Result<(), InputError> {
    for (name, _) in settings.iter().filter(|(name, _)| is_mean(name)) {
        if functions.iter().any(|function| function.uses(name)) {
            continue;
        }
        let mut known = functions.iter().flat_map(MeanSettings::names);
        return Err(match known.any(|known| known == *name) {
            true => refused(
                name,
                "every output has a setting of its own, so the common one has no effect; leave it out",
            ),
            false => InputError::UnknownParameter {
                name: name.clone(),
                known: functions.iter().flat_map(MeanSettings::names).collect(),
            },
        });
    }
    Ok(())
}

fn refused(name: &str, reason: &str) -> InputError {
    InputError::Parameter {
        name: name.to_owned(),
        reason: reason.into(),
    }
}
