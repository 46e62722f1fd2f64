//! The slopes of the linear parts of a kernel and of the mean.

use super::levels::{CoefficientEstimate, of_mean};
use super::mixture::Posterior;
use crate::error::FitError;
use crate::kernel::{IndexedLeaf, Kernel, Kind};
use crate::problem::observations::Observations;
use crate::problem::scale::Scale;
use crate::support::Functionals;

/// The slope of the latent function along an input that only a `linear` part knows, or of its mean
/// along any input.
///
/// With $f(x) = g(x_{-d}) + b_d x_d$ it is $b_d = \bigl(f(x + s e_d) - f(x)\bigr) / s$ for any `x`
/// and `s`: a linear functional of `f`, whose posterior is that of any other. Behind a link it is a
/// slope of what goes into the link: behind `exp`, a rise of the input by one multiplies the rate
/// by `exp(b)`.
///
/// A coefficient of the mean ([`Mean::Linear`](crate::model::Mean::Linear)) is that slope where
/// the kernel does not know the input; else that of the line about which the function varies.
#[derive(Debug, Clone, PartialEq)]
pub struct Slope {
    /// The input.
    pub input: String,
    /// The output, where there are several.
    pub output: Option<String>,
    /// Posterior mean, in units of the function per unit of the input.
    pub mean: f64,
    /// Posterior standard deviation.
    pub sd: f64,
    /// Lower end of the central 95 % interval.
    pub lower: f64,
    /// Upper end of that interval.
    pub upper: f64,
}

impl Posterior {
    /// The coefficients of a mean that is linear in inputs, and the slopes along all inputs that
    /// enter the kernel through nothing but a `linear` part of their own, such as `rain` in
    /// `matern32(x, y) + linear(rain)`; of every output, where there are several. All are those of
    /// the mixture over the hyperparameters, where these are integrated.
    ///
    /// # Errors
    /// As [`Self::predict`].
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::model::{FitOptions, Model, Noise, Observations};
    /// use quadrat::support::Functionals;
    /// let x = Functionals::points("x", &[0.0, 1.0, 2.0, 3.0, 4.0])?;
    /// let y = vec![1.0, 3.1, 4.9, 7.0, 9.0];
    /// let posterior = Model::new(Kernel::linear(["x"]))
    ///     .observe(Observations::gaussian(x, y, Noise::Known(vec![0.01; 5]))?)
    ///     .fit(&FitOptions::default())?;
    /// let slopes = posterior.slopes()?;
    /// assert!((slopes[0].mean - 1.99).abs() < 0.01);      // of least squares
    /// assert!((slopes[0].sd - 0.1 / 10f64.sqrt()).abs() < 0.001);
    /// # Ok::<(), quadrat::error::FitError>(())
    /// ```
    pub fn slopes(&self) -> Result<Vec<Slope>, FitError> {
        let kernel = self.kernel();
        let inputs = kernel.inputs();
        let linear = linear_columns(kernel);
        let mut found = self.of_the_mean(&linear);
        for column in linear {
            let Some(d) = inputs
                .iter()
                .position(|name| *name == kernel.columns()[column])
            else {
                continue;
            };
            let at = self.difference(inputs, d)?;
            let outputs = self.outputs().iter().map(|name| Some(name.clone()));
            let outputs: Vec<Option<String>> = match self.outputs() {
                [] => vec![None],
                _ => outputs.collect(),
            };
            for output in outputs {
                let at = match &output {
                    Some(output) => self.at_output(&at, output)?,
                    None => at.clone(),
                };
                let slope = self.predict(&at, Scale::Latent)?;
                found.push(Slope {
                    input: inputs[d].clone(),
                    output,
                    mean: slope.mean()[0],
                    sd: slope.sd()[0],
                    lower: slope.quantile(0.025)[0],
                    upper: slope.quantile(0.975)[0],
                });
            }
        }
        Ok(found)
    }

    /// The slopes of the mean along columns of which the kernel has no lines, whose slopes are
    /// told with these.
    fn of_the_mean(&self, linear: &[usize]) -> Vec<Slope> {
        let (problem, kernel) = (&self.problem, self.kernel());
        let slope = |told: CoefficientEstimate| {
            let column = problem.mean().lines()[told.of.line?].column;
            (!linear.contains(&column)).then(|| Slope {
                input: kernel.columns()[column].clone(),
                output: kernel.outputs().get(told.of.output).cloned(),
                mean: told.value,
                sd: told.sd,
                lower: told.lower,
                upper: told.upper,
            })
        };
        let all = of_mean(problem, &self.components).into_iter();
        all.filter_map(slope).collect()
    }

    /// The difference of the function between two places that differ along input `d` by as much as
    /// the rows do, divided by it: over a short distance what else the function does would cancel
    /// with the loss of digits.
    fn difference(&self, inputs: &[String], d: usize) -> Result<Functionals, FitError> {
        let tables = self.observations();
        let place: Vec<f64> = inputs.iter().map(|name| somewhere(tables, name)).collect();
        let (lower, upper) = reach(tables, &inputs[d]);
        let length = if upper > lower { upper - lower } else { 1.0 };
        let moved = |to: f64| {
            let mut place = place.clone();
            place[d] = to;
            place
        };
        let mut at = Functionals::new(inputs.to_vec());
        at.push_nodes(
            &[moved(lower), moved(lower + length)],
            &[-1.0 / length, 1.0 / length],
        )?;
        Ok(at)
    }
}

/// The columns that are only in linear leaves which stand for themselves, or beside nothing but a
/// mixture of outputs.
fn linear_columns(kernel: &Kernel) -> Vec<usize> {
    let leaves = kernel.leaves();
    let is_mixture = |leaf: &IndexedLeaf| leaf.kind == Kind::Coregion;
    let mut linear: Vec<usize> = Vec::new();
    let mut other: Vec<usize> = Vec::new();
    for term in kernel.terms() {
        let own = || {
            term.iter()
                .map(|&leaf| &leaves[leaf])
                .filter(|leaf| !is_mixture(leaf))
        };
        let is_alone = own().count() == 1 && own().all(|leaf| leaf.kind == Kind::Linear);
        let columns = own().flat_map(|leaf| leaf.columns.iter().copied());
        match is_alone {
            true => linear.extend(columns),
            false => other.extend(columns),
        }
    }
    linear.retain(|column| !other.contains(column));
    linear.sort_unstable();
    linear.dedup();
    linear
}

/// A coordinate at which some row looks.
fn somewhere(tables: &[Observations], input: &str) -> f64 {
    let found = tables.iter().find_map(|table| {
        let supports = table.supports();
        let d = supports.dims().iter().position(|name| name == input)?;
        let average = (!supports.is_empty()).then(|| supports.average(0, d))?;
        average.is_finite().then_some(average)
    });
    found.unwrap_or(0.0)
}

/// From the lowest to the highest coordinate of all rows.
fn reach(tables: &[Observations], input: &str) -> (f64, f64) {
    let ranges = tables.iter().filter_map(|table| {
        let supports = table.supports();
        let d = supports.dims().iter().position(|name| name == input)?;
        (!supports.is_empty()).then(|| supports.range(d))
    });
    ranges.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(lower, upper), (a, b)| (lower.min(a), upper.max(b)),
    )
}
