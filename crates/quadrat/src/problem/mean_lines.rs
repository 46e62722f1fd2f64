//! Lines of the mean along columns: where they are zero, what is known of their slopes, and whether
//! rows can tell them apart.

use super::defaults::Scales;
use super::mean::{MeanLine, MeanPrior};
use super::mean_settings::MeanSettings;
use super::observations::Observations;
use super::outputs::output_of;
use super::settings::Mean;
use crate::error::InputError;
use crate::kernel::Kernel;
use crate::linalg::dot;

/// What is left of a column of length one beside the others below which it is one of them but for
/// rounding: coefficients would keep six of sixteen digits. Columns that rows know to `r` digits
/// only may leave `10^-r` and are taken as they are: their wide intervals say it.
const NOTHING_NEW: f64 = 1e-10;
/// The same in roundings of places that are far from zero.
const ROUNDINGS: f64 = 64.0;

/// The columns along which the mean is a line.
pub(crate) struct LineColumns {
    /// Position among those of the kernel, and where the line is zero.
    places: Vec<(usize, f64)>,
    names: Vec<String>,
}

impl LineColumns {
    /// `tables` are restricted to the columns of the kernel, which those of the mean are among.
    ///
    /// # Errors
    /// [`InputError::MeanColumn`] for a column that is named twice or tells outputs apart, and for
    /// one whose rows are so far from zero that no place among them is a number.
    pub fn new(kernel: &Kernel, mean: &Mean, tables: &[Observations]) -> Result<Self, InputError> {
        let names = mean.columns().to_vec();
        let mut places = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                return Err(refused(name, "it is named twice; name it once".to_owned()));
            }
            let column = kernel.columns().iter().position(|c| c == name);
            let column = column.filter(|c| kernel.output_column() != Some(*c));
            let Some(column) = column else {
                let reason = "it tells outputs apart, each of which has a level of its own; leave it out of the mean";
                return Err(refused(name, reason.to_owned()));
            };
            let centre = middle(tables, column);
            if !centre.is_finite() {
                let reason = "its coordinates are too large; change its unit";
                return Err(refused(name, reason.to_owned()));
            }
            places.push((column, centre));
        }
        Ok(Self { places, names })
    }

    /// The columns, and where their lines are zero.
    pub fn places(&self) -> &[(usize, f64)] {
        &self.places
    }

    /// The lines with what is said of their slopes, else with what the data suggest.
    ///
    /// # Errors
    /// As [`MeanSettings::prior`].
    pub fn with_priors(
        &self,
        settings: &[MeanSettings<'_>],
        scales: &Scales,
        is_sparse: bool,
    ) -> Result<Vec<MeanLine>, InputError> {
        let places = self.places.iter().zip(settings);
        let lines = places.map(|(&(column, centre), settings)| {
            let prior = |output: usize| {
                let said = settings.prior(output)?;
                let sd = scales.slope_sd(output, column, is_sparse);
                Ok(said.unwrap_or(MeanPrior { mean: 0.0, sd }))
            };
            let priors = (0..scales.outputs.len()).map(prior);
            Ok(MeanLine {
                column,
                centre,
                priors: priors.collect::<Result<_, InputError>>()?,
            })
        });
        lines.collect()
    }

    /// Refuses slopes of which rows cannot tell: of every output at least as many rows as
    /// coefficients, no column that is the same in all rows, and none that follows from others. A
    /// slope whose prior the user gives may be one of them.
    ///
    /// # Errors
    /// [`InputError::MeanColumn`].
    pub fn can_be_told_apart(
        &self,
        kernel: &Kernel,
        tables: &[Observations],
        settings: &[MeanSettings<'_>],
    ) -> Result<(), InputError> {
        for output in 0..kernel.outputs().len().max(1) {
            let mut open = Vec::new();
            for (at, settings) in settings.iter().enumerate() {
                if settings.prior(output)?.is_none() {
                    open.push(at);
                }
            }
            let name = kernel.outputs().get(output);
            let of = name.map_or_else(String::new, |name| format!(" of `{name}`"));
            self.of_output(&open, &averages(kernel, tables, &self.places, output), &of)?;
        }
        Ok(())
    }

    /// # Arguments
    /// * `open` - the lines that are looked at
    /// * `averages` - of every line and every row, less the centre
    fn of_output(&self, open: &[usize], averages: &[Vec<f64>], of: &str) -> Result<(), InputError> {
        let Some(&first) = open.first() else {
            return Ok(());
        };
        let rows = averages[first].len();
        // Columns of length one that are orthogonal to those before, the constant first, and what
        // they are made of.
        let mut basis = vec![vec![1.0 / (rows.max(1) as f64).sqrt(); rows]];
        let mut made: Vec<Vec<f64>> = vec![vec![1.0]];
        let mut known: Vec<&str> = Vec::new();
        for &at in open {
            let name = &self.names[at];
            let centre = self.places[at].1;
            let x = &averages[at];
            let largest = x.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let (low, high) = x
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| {
                    (lo.min(*v), hi.max(*v))
                });
            let size = centre.abs().max(largest);
            if rows > 0 && high - low <= ROUNDINGS * f64::EPSILON * size {
                return Err(refused(
                    name,
                    format!(
                        "it is the same in all rows{of}, so that they tell nothing of a slope; leave it out, or give `mean.linear.{name}` a prior"
                    ),
                ));
            }
            if rows < open.len() + 1 {
                return Err(refused(
                    name,
                    format!(
                        "{rows} rows{of} cannot tell {} coefficients, the constant among them; name fewer columns, or give slopes priors",
                        open.len() + 1
                    ),
                ));
            }
            let length = dot(x, x).sqrt();
            let mut left: Vec<f64> = x.iter().map(|v| v / length).collect();
            let mut parts = vec![0.0; basis.len()];
            // Twice is enough.
            for _ in 0..2 {
                for (q, part) in basis.iter().zip(&mut parts) {
                    let own = dot(q, &left);
                    *part += own;
                    left.iter_mut().zip(q).for_each(|(l, q)| *l -= own * q);
                }
            }
            let rest = dot(&left, &left).sqrt();
            // `x / length = sum parts q + rest`, and every `q` of columns.
            let mut of_columns = vec![0.0; basis.len()];
            for (part, made) in parts.iter().zip(&made) {
                of_columns
                    .iter_mut()
                    .zip(made)
                    .for_each(|(c, m)| *c += part * m);
            }
            let roundings = ROUNDINGS * f64::EPSILON * size * (rows as f64).sqrt() / length;
            if rest <= NOTHING_NEW.max(roundings) {
                // Of parts below a millionth nothing is left beside the others.
                let partners = known.iter().zip(&of_columns[1..]);
                let partners: Vec<String> = partners
                    .filter(|(_, c)| c.abs() > 1e-6)
                    .map(|(name, _)| format!("`{name}`"))
                    .collect();
                return Err(refused(
                    name,
                    format!(
                        "in the rows{of} it follows from {}, so that their slopes cannot be told apart; leave one out, or give `mean.linear.{name}` a prior",
                        partners.join(" and ")
                    ),
                ));
            }
            let mut own: Vec<f64> = of_columns.iter().map(|c| -c / rest).collect();
            own.push(1.0 / rest);
            made.push(own);
            basis.push(left.iter().map(|l| l / rest).collect());
            known.push(name);
        }
        Ok(())
    }
}

/// The average of a column over all rows.
fn middle(tables: &[Observations], column: usize) -> f64 {
    let (mut mean, mut count) = (0.0, 0.0);
    for table in tables {
        let set = table.supports();
        for row in 0..set.len() {
            let average = set.average(row, column);
            if average.is_finite() {
                count += 1.0;
                mean += (average - mean) / count;
            }
        }
    }
    mean
}

/// Averages of columns over what every row of an output looks at, less the centres; rows of size
/// zero have the differences that they see.
fn averages(
    kernel: &Kernel,
    tables: &[Observations],
    places: &[(usize, f64)],
    output: usize,
) -> Vec<Vec<f64>> {
    let mut out = vec![Vec::new(); places.len()];
    for table in tables {
        let set = table.supports();
        for row in 0..set.len() {
            if output_of(kernel.output_column(), set, row) != output {
                continue;
            }
            let size = match set.size(row) {
                0.0 => 1.0,
                size => size,
            };
            for (x, &(column, centre)) in out.iter_mut().zip(places) {
                x.push(set.first_moment(row, column, centre) / size);
            }
        }
    }
    out
}

fn refused(column: &str, reason: String) -> InputError {
    InputError::MeanColumn {
        column: column.to_owned(),
        reason,
    }
}
