//! Exact rows that follow from other exact rows, such as a total beside its parts.
//!
//! Where the functional of a row is a combination of those of others, `L_i = sum_j c_j L_j`, its
//! value is known from theirs under every kernel: the row says nothing new, or contradicts them.
//! With it the covariance of the rows is singular, so that it is left out. Which rows depend on
//! others is read off the matrix of [`products`], which knows no lengthscale: rows that are only
//! nearly determined by others, because the function is smooth, are never left out.
//!
//! Behind a link, `y_i = L_i link(f)`, the same holds of the function after it. Rows are compared
//! as they report: sums with the weights of sums, averages with those of averages.
//!
//! Narrow rows stay and wide ones go, so that a total goes and not one of its parts; of equal rows
//! the first stays.
//!
//! # Source
//! Cholesky factorisation that passes by dependent rows; Golub and Van Loan 2013, section 4.2.8.

use std::collections::HashSet;

use super::Model;
use super::larger_parts::larger_parts;
use crate::error::{FitError, InputError, plain};
use crate::kernel::Kernel;
use crate::likelihood::{Likelihood, Noise};
use crate::link::Link;
use crate::posterior::mixture::Posterior;
use crate::problem::extent::reach;
use crate::problem::kernel_products::{limit, of_any_function, of_kernel};
use crate::problem::observations::Observations;
use crate::problem::outputs;
use crate::problem::row_products::RowProducts;
use crate::problem::settings::Mean;
use crate::support::Functionals;
use crate::support::overlap::OverlapProducts;

/// By how much a value may differ from what follows and still agree, as a share of the sum of all:
/// rounding.
const ROUNDING: f64 = 1e-9;
/// The same as a share of the spread of the values, told in the warning: digits that were cut off.
const CLOSE: f64 = 1e-4;

/// An exact row whose value follows from other exact rows.
#[derive(Debug, Clone, PartialEq)]
pub struct RedundantRow {
    /// The row, counted from 0 over all tables.
    pub row: usize,
    /// The rows that determine it, and how often each is in it: `L_row = sum coefficient L_other`,
    /// of what the rows report, sums or averages.
    pub of: Vec<(usize, f64)>,
    /// Its value less what follows from the others; zero where they agree but for rounding.
    pub misfit: f64,
}

impl RedundantRow {
    /// The row that matters most for it, the first of those that matter as much.
    #[must_use]
    pub fn partner(&self) -> usize {
        let most = self.of.iter().map(|(_, c)| c.abs()).fold(0.0, f64::max);
        // Rounding does not choose between parts that are in a total once each.
        let as_much = self.of.iter().filter(|(_, c)| c.abs() >= 0.999 * most);
        as_much.map(|(row, _)| *row).min().unwrap_or(self.row)
    }
}

impl Model {
    /// The exact rows that follow from other exact rows under this kernel, whatever its
    /// hyperparameters; [`Self::fit`] leaves them out.
    ///
    /// A row is exact where its noise variance is known and zero, and its value one number. Where
    /// too many rows overlap to look at all pairs none is found.
    ///
    /// # Errors
    /// [`FitError::Contradiction`] for a row that differs from what follows from others by more
    /// than 1e-4 of the spread of the values, or behind a link holds less than its parts;
    /// [`InputError`] for tables that do not fit the kernel.
    pub fn redundant_rows(&self) -> Result<Vec<RedundantRow>, FitError> {
        if self.tables.iter().all(|t| rows_of_noise(t, 0.0).is_empty()) {
            return Ok(Vec::new());
        }
        let has_mean = self.mean != Mean::Zero;
        redundant(&self.kernel, &self.tables, has_mean, 0)
    }

    /// The model without some rows, counted over all tables; tables without any are left out.
    pub(super) fn without(&self, rows: &[RedundantRow]) -> Result<Self, InputError> {
        let mut model = self.clone();
        model.tables = without(&self.tables, rows)?;
        Ok(model)
    }
}

impl Posterior {
    /// Tells a fit where rows lie that follow from its own and were left out before it: places
    /// among these are not outside of the data.
    ///
    /// # Arguments
    /// * `whole` - the model with all rows
    ///
    /// # Errors
    /// [`InputError::UnknownDimension`] where its rows lack an input of the kernel.
    pub fn reaching(&mut self, whole: &Model) -> Result<(), InputError> {
        self.left_out = reach(self.problem.kernel(), &whole.tables)?;
        Ok(())
    }
}

/// The tables without some rows, counted over all of them.
pub(super) fn without(
    tables: &[Observations],
    rows: &[RedundantRow],
) -> Result<Vec<Observations>, InputError> {
    let goes: HashSet<usize> = rows.iter().map(|r| r.row).collect();
    let mut first = 0;
    let mut left = Vec::with_capacity(tables.len());
    for table in tables {
        let n = table.supports.len();
        let kept: Vec<usize> = (0..n)
            .filter(|row| !goes.contains(&(first + row)))
            .collect();
        if kept.len() == n {
            left.push(table.clone());
        } else if !kept.is_empty() {
            left.push(table.rows(&kept)?);
        }
        first += n;
    }
    Ok(left)
}

/// What is told of rows that were left out.
///
/// # Arguments
/// * `name` - what a row is called, counted from 0 over all tables
pub(super) fn warning(rows: &[RedundantRow], name: &dyn Fn(usize) -> String) -> Option<String> {
    let first = rows.first()?;
    let worst = rows.iter().map(|r| r.misfit.abs()).fold(0.0, f64::max);
    let mut text = format!(
        "{} exact row{} from other exact rows and {} left out: {} from {}",
        rows.len(),
        if rows.len() == 1 {
            " follows"
        } else {
            "s follow"
        },
        if rows.len() == 1 { "was" } else { "were" },
        name(first.row),
        name(first.partner()),
    );
    if first.of.len() > 1 {
        text.push_str(" and others");
    }
    if worst > 0.0 {
        text.push_str(&format!("; values differ by up to {}", plain(worst)));
    }
    Some(text)
}

/// As [`Model::redundant_rows`]; of the first `settled` rows none goes because of later ones.
pub(super) fn redundant(
    kernel: &Kernel,
    tables: &[Observations],
    has_mean: bool,
    settled: usize,
) -> Result<Vec<RedundantRow>, FitError> {
    let mut links: Vec<Option<Link>> = Vec::new();
    for table in tables {
        let link = table.likelihood.link();
        if !links.contains(&link) && !rows_of_noise(table, 0.0).is_empty() {
            links.push(link);
        }
    }
    let mut rows = Vec::new();
    for link in links {
        let exact =
            ExactRows::of_noise(kernel, tables, 0.0, |table| table.likelihood.link() == link)?;
        let found = match link {
            None => of_kernel(kernel, &exact.supports, has_mean),
            Some(_) => of_any_function(kernel, &exact.supports),
        };
        if let Some(found) = found {
            let follow = exact.redundant(&found, settled)?;
            if link.is_some_and(|link| link != Link::Identity) {
                exact.check_parts(&found, &follow)?;
            }
            rows.extend(follow);
        }
    }
    rows.sort_by_key(|r| r.row);
    Ok(rows)
}

/// Rows that report one number with a known noise variance of so much at most, and that number.
fn rows_of_noise(table: &Observations, most: f64) -> Vec<(usize, f64)> {
    let between = |lower: &[f64], upper: &[f64], noise: &Noise| match noise {
        Noise::Known(known) => (0..known.len())
            .filter(|&row| known[row] <= most && lower[row] == upper[row])
            .map(|row| (row, lower[row]))
            .collect(),
        _ => Vec::new(),
    };
    match &table.likelihood {
        Likelihood::Gaussian(x) => between(x.values(), x.values(), x.noise()),
        Likelihood::Interval(x) => between(x.lower(), x.upper(), x.noise()),
        Likelihood::Censored(x) => {
            let readings = x.readings();
            between(readings.lower(), readings.upper(), x.noise())
        }
        // Of a truncated value the density is not normal in the function: the chance of being
        // recorded is part of it.
        Likelihood::Truncated(_)
        | Likelihood::Laplace(_)
        | Likelihood::StudentT(_)
        | Likelihood::Ordinal(_)
        | Likelihood::Positive(_)
        | Likelihood::Bernoulli(_)
        | Likelihood::Binomial(_)
        | Likelihood::Poisson(_)
        | Likelihood::NegativeBinomial(_)
        | Likelihood::Exponential(_)
        | Likelihood::Gamma(_)
        | Likelihood::LogNormal(_) => Vec::new(),
    }
}

/// The exact rows of all tables, as functions of the kernel's columns.
pub(super) struct ExactRows {
    pub supports: Functionals,
    /// Their places among all rows.
    numbers: Vec<usize>,
    values: Vec<f64>,
}

impl ExactRows {
    pub fn new(kernel: &Kernel, tables: &[Observations]) -> Result<Self, InputError> {
        Self::of_noise(kernel, tables, 0.0, |_| true)
    }

    /// Those without noise, or where there are none those of known noise.
    pub fn or_known(kernel: &Kernel, tables: &[Observations]) -> Result<Self, InputError> {
        let exact = Self::new(kernel, tables)?;
        match exact.values.is_empty() {
            true => Self::of_noise(kernel, tables, f64::INFINITY, |_| true),
            false => Ok(exact),
        }
    }

    fn of_noise(
        kernel: &Kernel,
        tables: &[Observations],
        most: f64,
        counts: impl Fn(&Observations) -> bool,
    ) -> Result<Self, InputError> {
        let mut supports = Functionals::new(kernel.columns().to_vec());
        let (mut numbers, mut values, mut first) = (Vec::new(), Vec::new(), 0);
        for table in &outputs::in_columns(kernel, tables)? {
            let exact = match counts(table) {
                true => rows_of_noise(table, most),
                false => Vec::new(),
            };
            let rows: Vec<usize> = exact.iter().map(|(row, _)| *row).collect();
            // Same columns by construction.
            let _ = supports.extend(&table.supports.rows(&rows));
            numbers.extend(rows.iter().map(|row| first + row));
            values.extend(exact.iter().map(|(_, value)| *value));
            first += table.supports.len();
        }
        Ok(Self {
            supports,
            numbers,
            values,
        })
    }

    /// Those of these rows that follow from others, by their products; of the first `settled` rows
    /// of all tables none.
    fn redundant(
        &self,
        found: &OverlapProducts,
        settled: usize,
    ) -> Result<Vec<RedundantRow>, FitError> {
        let Self {
            supports,
            numbers,
            values,
        } = self;
        let gram = RowProducts::new(supports, found, |row| numbers[row] < settled);
        let spread = root_mean_square(&per_unit(supports, values));
        let mut rows = Vec::new();
        for (row, of) in gram.dependent(limit(supports)) {
            let parts = of.iter().map(|(other, c)| c * values[*other]);
            let size = parts.clone().map(f64::abs).sum::<f64>() + values[row].abs();
            let mut misfit = values[row] - parts.sum::<f64>();
            if misfit.abs() <= ROUNDING * size {
                misfit = 0.0;
            }
            let of = of
                .into_iter()
                .map(|(other, c)| (numbers[other], c))
                .collect();
            let found = RedundantRow {
                row: numbers[row],
                of,
                misfit,
            };
            if misfit.abs() > CLOSE * spread * supports.size(row).abs() {
                return Err(FitError::Contradiction {
                    row: found.row,
                    partner: found.partner(),
                    misfit: misfit.abs(),
                });
            }
            rows.push(found);
        }
        rows.retain(|r| r.row >= settled);
        Ok(rows)
    }

    /// Refuses rows that hold less than their parts, behind a link that is never negative.
    fn check_parts(
        &self,
        found: &OverlapProducts,
        follow: &[RedundantRow],
    ) -> Result<(), FitError> {
        let gone: HashSet<usize> = follow.iter().map(|r| r.row).collect();
        let counts = |row: usize| !gone.contains(&self.numbers[row]);
        let reports = (
            &self.values[..],
            CLOSE * root_mean_square(&per_unit(&self.supports, &self.values)),
        );
        match larger_parts(&self.supports, reports, found, counts) {
            None => Ok(()),
            Some(larger) => Err(FitError::Contradiction {
                row: self.numbers[larger.whole],
                partner: self.numbers[larger.part],
                misfit: larger.excess,
            }),
        }
    }

    /// The spread of the values per unit of the supports, times the size of the smallest; the
    /// values themselves take its place where they are all the same, and one where they are zero.
    /// `None` without exact rows.
    pub fn spread(&self) -> Option<f64> {
        let sizes = (0..self.values.len()).map(|row| self.supports.size(row).abs());
        let least = sizes.filter(|s| *s > 0.0).fold(f64::INFINITY, f64::min);
        let per_unit = per_unit(&self.supports, &self.values);
        if per_unit.is_empty() {
            return None;
        }
        let level = per_unit.iter().map(|v| v.abs()).fold(0.0, f64::max);
        // Below this it is the rounding of equal values.
        let spread = match root_mean_square(&per_unit) {
            spread if spread > 1e-12 * level => spread,
            _ if level > 0.0 => level,
            _ => 1.0,
        };
        Some(spread * least)
    }
}

/// Root mean square around the mean.
fn root_mean_square(values: &[f64]) -> f64 {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// The values per unit of their supports, where these have a size.
fn per_unit(supports: &Functionals, values: &[f64]) -> Vec<f64> {
    let per_unit = |(row, value): (usize, &f64)| value / supports.size(row);
    let all = values.iter().enumerate().map(per_unit);
    all.filter(|v| v.is_finite()).collect()
}
