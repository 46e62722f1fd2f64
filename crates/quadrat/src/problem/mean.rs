//! The prior mean: one constant per output and lines along columns, known or with normal priors.

use std::ops::Range;

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::outputs::output_of;
use crate::kernel::Kernel;
use crate::support::Functionals;

/// Prior of a coefficient of the mean: `m ~ N(mean, sd^2)`, or fixed when `sd` is zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct MeanPrior {
    pub mean: f64,
    pub sd: f64,
}

impl MeanPrior {
    fn is_usable(&self) -> bool {
        self.mean.is_finite() && self.sd.is_finite() && self.sd >= 0.0
    }
}

/// A line `b_d (x - c)` of the mean along one column, with a slope of its own for every output `d`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MeanLine {
    /// The column, by its position among those of the kernel.
    pub column: usize,
    /// `c`: a place among the rows, so that columns far from zero keep their digits.
    pub centre: f64,
    /// Of the slopes, one per output.
    pub priors: Vec<MeanPrior>,
}

/// A coefficient of the mean that is not known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Coefficient {
    pub output: usize,
    /// The line that it is the slope of; none of the constant.
    pub line: Option<usize>,
    pub prior: MeanPrior,
}

/// Prior means of functionals: `L m_d = m_d size(L) + sum_l b_ld L(x_l - c_l)` where the functional
/// is of output `d`.
///
/// An unknown coefficient is part of the covariance, `cov(L, L') = sd_d^2 size(L) size(L')` where
/// both are of output `d`, and so integrated with the function; that of a line likewise, with `L(x
/// - c)` for the size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Means {
    /// Of the constants, one per output.
    priors: Vec<MeanPrior>,
    lines: Vec<MeanLine>,
    /// The column of the outputs.
    column: Option<usize>,
}

impl Means {
    /// `priors` has one entry per output of the kernel.
    pub fn new(kernel: &Kernel, priors: Vec<MeanPrior>) -> Self {
        Self {
            priors,
            lines: Vec::new(),
            column: kernel.output_column(),
        }
    }

    /// With lines, along columns of the kernel.
    pub fn with_lines(self, lines: Vec<MeanLine>) -> Self {
        Self { lines, ..self }
    }

    /// The lines, whatever is known of them.
    pub fn lines(&self) -> &[MeanLine] {
        &self.lines
    }

    /// Whether it belongs to a kernel; deserialised parts are not trusted.
    pub fn fits(&self, kernel: &Kernel) -> bool {
        let outputs = kernel.outputs().len().max(1);
        let is_good = |priors: &[MeanPrior]| {
            priors.len() == outputs && priors.iter().all(MeanPrior::is_usable)
        };
        let is_line = |line: &MeanLine| {
            line.column < kernel.columns().len()
                && kernel.output_column() != Some(line.column)
                && line.centre.is_finite()
                && is_good(&line.priors)
        };
        self.column == kernel.output_column()
            && is_good(&self.priors)
            && self.lines.iter().all(is_line)
    }

    /// The output of a functional, by its level.
    pub fn output(&self, set: &Functionals, row: usize) -> usize {
        output_of(self.column, set, row).min(self.priors.len() - 1)
    }

    /// Prior mean of a functional.
    pub fn mean(&self, set: &Functionals, row: usize) -> f64 {
        let output = self.output(set, row);
        let known = self.lines.iter().filter(|l| l.priors[output].mean != 0.0);
        let lines = known
            .map(|line| line.priors[output].mean * set.first_moment(row, line.column, line.centre));
        self.priors[output].mean * set.size(row) + lines.sum::<f64>()
    }

    /// The known means of all rows.
    pub fn means(&self, set: &Functionals) -> Vec<f64> {
        (0..set.len()).map(|row| self.mean(set, row)).collect()
    }

    /// Prior variance of a functional that comes from the unknown coefficients.
    pub fn variance(&self, set: &Functionals, row: usize) -> f64 {
        let each = (0..self.functions()).map(|f| self.value(f, set, row).powi(2));
        each.sum()
    }

    /// Whether some coefficient is unknown, or known and not zero.
    pub fn is_any(&self) -> bool {
        let mut all = self.all_priors();
        all.any(|p| p.sd > 0.0 || p.mean != 0.0)
    }

    /// Whether some coefficient is unknown.
    pub fn is_unknown(&self) -> bool {
        self.all_priors().any(|p| p.sd > 0.0)
    }

    /// The unknown coefficients, in the order of [`Self::columns`]: the constants come first.
    pub fn unknown(&self) -> Vec<Coefficient> {
        let of = |line: Option<usize>, priors: &[MeanPrior]| -> Vec<Coefficient> {
            let each = priors.iter().enumerate().filter(|(_, p)| p.sd > 0.0);
            let one = |(output, prior): (usize, &MeanPrior)| Coefficient {
                output,
                line,
                prior: *prior,
            };
            each.map(one).collect()
        };
        let mut all = of(None, &self.priors);
        for (l, line) in self.lines.iter().enumerate() {
            all.extend(of(Some(l), &line.priors));
        }
        all
    }

    /// `sd size` of every functional.
    pub fn scales(&self, set: &Functionals) -> Vec<f64> {
        self.values(0, set)
    }

    /// What every functional sees of each unknown coefficient, in prior sds of it: `sd size`, and
    /// `sd L(x - c)` of a line; zero where it is of another output. Shape `[set.len(), unknown
    /// coefficients]`.
    pub fn columns(&self, set: &Functionals) -> Mat<f64> {
        let unknown = self.unknown();
        let outputs: Vec<usize> = (0..set.len()).map(|row| self.output(set, row)).collect();
        let mut values: Vec<Vec<f64>> = Vec::new();
        for function in 0..self.functions() {
            values.push(self.values(function, set));
        }
        Mat::from_fn(set.len(), unknown.len(), |row, j| {
            let Coefficient { output, line, .. } = unknown[j];
            match outputs[row] == output {
                true => values[line.map_or(0, |l| l + 1)][row],
                false => 0.0,
            }
        })
    }

    /// The constant and the lines.
    fn functions(&self) -> usize {
        1 + self.lines.len()
    }

    fn all_priors(&self) -> impl Iterator<Item = &MeanPrior> {
        let lines = self.lines.iter().flat_map(|line| &line.priors);
        self.priors.iter().chain(lines)
    }

    /// What a functional sees of a function, the constant first, in prior sds of its coefficient
    /// for the output of the functional.
    fn value(&self, function: usize, set: &Functionals, row: usize) -> f64 {
        let output = self.output(set, row);
        match function.checked_sub(1).map(|l| &self.lines[l]) {
            None => self.priors[output].sd * set.size(row),
            // A slope of which all is known adds nothing, wherever the functional looks.
            Some(line) if line.priors[output].sd == 0.0 => 0.0,
            Some(line) => line.priors[output].sd * set.first_moment(row, line.column, line.centre),
        }
    }

    fn values(&self, function: usize, set: &Functionals) -> Vec<f64> {
        let rows = 0..set.len();
        rows.map(|row| self.value(function, set, row)).collect()
    }

    /// Adds the covariance that comes from the unknown coefficients to `k`, shape `[a.len(),
    /// b.len()]`.
    pub fn add_covariance(&self, k: &mut Mat<f64>, a: &Functionals, b: &Functionals) {
        self.add_columns(k, a, b, 0..b.len());
    }

    /// The same for a range of `b`, whose columns alone are those of `k`.
    pub fn add_columns(
        &self,
        k: &mut Mat<f64>,
        a: &Functionals,
        b: &Functionals,
        range: Range<usize>,
    ) {
        if !self.is_unknown() {
            return;
        }
        let one = self.column.is_none();
        let all = if one { 0 } else { a.len() };
        let own: Vec<usize> = (0..all).map(|row| self.output(a, row)).collect();
        for function in 0..self.functions() {
            let left = self.values(function, a);
            for (j, row) in range.clone().enumerate() {
                let (r, other) = (self.value(function, b, row), self.output(b, row));
                let column = k.col_as_slice_mut(j).iter_mut().zip(&left);
                if one {
                    column.for_each(|(k, l)| *k += l * r);
                    continue;
                }
                for ((k, l), output) in column.zip(&own) {
                    if *output == other {
                        *k += l * r;
                    }
                }
            }
        }
    }
}
