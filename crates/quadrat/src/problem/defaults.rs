//! Starts, priors and meanings of hyperparameters, scaled from the data.
//!
//! Priors are weakly informative: wide enough to let the data speak, narrow enough that a handful
//! of rows does not run away. All but one, below, are normal in the logarithm:
//!
//! | parameter | log mean | log sd |
//! |---|---|---|
//! | variance | `2 log s_f` | 2 (that is 1 for the sd) |
//! | lengthscale | `log(0.15 range sqrt(columns))`, a third of it for every earlier term with such a leaf, `sqrt(k)` times it in a product of `k` | 0.7, more for crowds |
//! | lengthscale of a periodic leaf | 0 | 0.75 |
//! | period, at least two of the smallest gaps | `log(range / 5)` | 1 |
//! | alpha | 0 | 1 |
//! | variance of a linear leaf in one column | `2 log(s_f / range of averages)` | 2 |
//! | lengthscale of a linear leaf | `log range of averages` | 1 |
//! | variance relative to another term | 0 | 2 |
//! | weight of a coregionalisation matrix | normal, 0 | `s_f` of the output |
//! | `kappa` of a coregionalisation matrix | `2 log(0.5 s_f)` | 2 |
//! | noise variance | `2 log(0.3 s_y)` | 2 |
//!
//! `range` is the extent of the rows that are not far from all others ([`Extent`]); for linear
//! leaves that of the averages that the rows report about. `s_f` is the root mean square of the
//! observed densities (value per unit of size) around the prior mean: zero, the fixed number, or
//! the overall density where the mean is learned. `s_y` is the same for the values. Both contain
//! the noise, but for values that are far from all others in tables with Student-t noise, which
//! count as the nearest of the others. With several outputs levels are those of each output. A
//! constant that is learned has the prior `N(overall density, (10 s_f)^2)`, wider where a linear
//! leaf needs it to reach the data from the origin. Where the mean is a line along columns, `s_f`
//! is that of what least squares leave, and slopes of the mean have the prior `N(0, (100 s / range
//! of averages)^2)`, `s` the root mean square before; 10 in place of 100 where inference is sparse.
//!
//! Where all tables report about `exp` of the function, it is a logarithm and has no unit: where
//! they all report the same as the mean expects, `s_f` is 1 (else the level). Where some of their
//! rows are sums after that link, the sd of a leaf has the prior `|N(0, (1.5 max(s_f, 0.5))^2)|`, a
//! gamma prior of the variance (relative and linear variances, `kappa` and weights are as above): a
//! function that varies by factors of thousands within boxes explains any sums, and the log-normal
//! prior of `s_f = 1` leaves sds above 7 a probability of .03, the half-normal one 3e-6.

use super::alike::Alike;
use super::column_averages::ColumnAverages;
use super::column_averages::RowValue;
use super::extent::{Extent, extents, narrowest_extent, smallest_gap};
use super::observations::Observations;
use super::outputs::output_of;
use super::pooled::is_pooled;
use super::rms::weighted_rms;
use super::seldom;
use super::settings::Mean;
use super::trend;
use crate::kernel::{Kernel, KernelParameter, Kind, Role};
use crate::likelihood::Likelihood;
use crate::likelihood::local::Belief;
use crate::link::Link;
use crate::parameter::{Parameter, PriorDensity};

/// Lengthscales are not searched below this part of the narrowest support, nor peaks of a cycle.
pub(crate) const RESOLVED: f64 = 30.0;
/// Sd of the logarithm of a lengthscale.
const LENGTHSCALE_WIDTH: f64 = 0.7;
/// How many times `s_f` the prior sd of an unknown constant mean is.
pub(crate) const MEAN_WIDTH: f64 = 10.0;
/// How many times `s_f` over the range of a column the prior sd of a slope of the mean is: one that
/// rows know to the spread over the range moves by 1e-4 of itself.
const LINE_WIDTH: f64 = 100.0;
/// The same where lines stand in the covariance of inducing points, whose rounding must stay below
/// their jitter.
const SPARSE_WIDTH: f64 = 10.0;
/// Scale of the half-normal prior of the sd of a logarithm, in `s_f`.
pub(crate) const LOG_WIDTH: f64 = 1.5;
/// Or in this where that is more: nearly equal sums do not say that the function is flat within
/// them.
const LOG_SPREAD: f64 = 0.5;

/// Scales read off the data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scales {
    /// Level and spread of the latent function, per output.
    pub outputs: Vec<Output>,
    /// Spread of the latent functions, all together.
    pub spread: f64,
    /// Spread of the values, per table.
    pub values: Vec<f64>,
    /// Extent of the supports per column of the kernel, but for few that are far from all others.
    pub range: Vec<f64>,
    /// Where the rows are, per column.
    pub extents: Vec<Extent>,
    /// What a linear leaf needs to know, per column.
    lines: Vec<ColumnAverages>,
    /// Smallest distance between different coordinates per column; zero when there is none.
    pub gap: Vec<f64>,
    /// Smallest extent of a support per column; zero where a row looks at one coordinate.
    pub narrowest: Vec<f64>,
    /// Whether all rows report about `exp` of the functions, and some about sums of it.
    pub has_log_sums: bool,
}

/// The scale of one output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Output {
    pub level: f64,
    pub spread: f64,
    /// The spread before lines of the mean are taken away.
    pub whole: f64,
    /// The level where no row has an event.
    pub seldom: Option<Belief>,
}

impl Scales {
    /// `tables` must already be restricted to the columns of the kernel; `means` has one entry per
    /// output. `lines` are the columns along which means are lines too, and their centres: the
    /// scales are those of what least squares leave.
    pub fn new(
        kernel: &Kernel,
        tables: &[Observations],
        means: &[Mean],
        lines: &[(usize, f64)],
    ) -> Self {
        let mut rows = rows_of(kernel, tables);
        let whole = trend::spreads(&rows, means.len());
        trend::take_away(&mut rows, tables, lines, means.len());
        let all = || rows.iter().flatten().copied();
        let level_of = |output: usize, mean: &Mean| match mean {
            Mean::Zero => 0.0,
            Mean::Fixed(m) => *m,
            Mean::Constant | Mean::Linear(_) => {
                let own = all().filter(|(_, size, o, _)| *o == output && *size > 0.0);
                let (sum, sizes) = own.fold((0.0, 0.0), |(a, b), (y, size, _, n)| {
                    (a + n * y, b + n * size)
                });
                if sizes > 0.0 { sum / sizes } else { 0.0 }
            }
        };
        let levels = means.iter().enumerate();
        let levels: Vec<f64> = levels.map(|(o, mean)| level_of(o, mean)).collect();
        let densities = |keep: &dyn Fn(usize) -> bool| {
            let own = all().filter(|(_, size, o, _)| *size != 0.0 && keep(*o));
            weighted_rms(own.map(|(y, size, o, n)| (y / size - levels[o], n)))
        };
        let mut links = tables.iter().map(|table| table.likelihood().link());
        let is_logarithm = links.all(|link| link == Some(Link::Exp));
        let largest_level = levels.iter().fold(0.0_f64, |m, l| m.max(l.abs()));
        let has_log_sums = is_logarithm && tables.iter().any(is_pooled);
        // Rows on a line have the spread of the line.
        let largest_level = match lines.is_empty() {
            true => largest_level,
            false => whole.iter().fold(largest_level, |m, s| m.max(*s)),
        };
        let fallback = if is_logarithm { 1.0 } else { largest_level };
        let spread = positive(densities(&|_| true), fallback);
        let outputs = levels.iter().enumerate();
        let outputs: Vec<Output> = outputs
            .map(|(output, &level)| {
                let own = densities(&|o| o == output);
                // Each in its own units: the spread of another says nothing but where there is
                // none.
                let alone = levels.len() == 1 || own <= 1e-12 * level.abs();
                let spread = if alone { spread } else { own };
                let whole = match lines.is_empty() {
                    true => spread,
                    false => spread.max(whole[output]),
                };
                Output {
                    level,
                    spread,
                    whole,
                    seldom: seldom::level(kernel, tables, output),
                }
            })
            .collect();
        let residual = |&(y, size, o, n): &RowValue| (y - levels[o] * size, n);
        let values = rows
            .iter()
            .map(|table| {
                let own = table
                    .first()
                    .map_or(spread, |(_, _, o, _)| outputs[*o].spread);
                positive(weighted_rms(table.iter().map(residual)), own)
            })
            .collect();
        let columns = tables.first().map_or(0, |t| t.supports().dims().len());
        let extents: Vec<Extent> = (0..columns)
            .map(|d| Extent::of(&extents(tables, d)))
            .collect();
        let length = |extent: &Extent| match extent.length() {
            0.0 => positive(0.0, extent.largest()),
            length => length,
        };
        let range: Vec<f64> = extents.iter().map(length).collect();
        let line = |d: usize| ColumnAverages::new(tables, &rows, d, range[d], spread);
        let lines = (0..columns).map(line).collect();
        Self {
            outputs,
            spread,
            values,
            range,
            lines,
            gap: (0..columns).map(|d| smallest_gap(tables, d)).collect(),
            narrowest: (0..columns).map(|d| narrowest_extent(tables, d)).collect(),
            extents,
            has_log_sums,
        }
    }

    /// The kernel with its lines around the rows, where these are far from the origin: there the
    /// slope's variance times the square of the distance takes the digits of everything else, and
    /// with an unknown mean a line is the same wherever it is zero.
    pub fn near_the_rows(&self, kernel: &Kernel) -> Kernel {
        kernel.with_origins(|column| self.lines[column].origin())
    }

    /// Prior mean and sd of the unknown constant of an output.
    pub fn mean_prior(&self, kernel: &Kernel, output: usize) -> (f64, f64) {
        // A line through the origin needs a constant that brings it back to the data.
        let lines = kernel.leaves().iter().filter(|l| l.kind == Kind::Linear);
        let reach = lines
            .flat_map(|leaf| {
                leaf.columns
                    .iter()
                    .map(|&c| self.lines[c].reach(leaf.origin))
            })
            .fold(0.0, f64::max);
        let Output {
            level,
            whole,
            seldom,
            ..
        } = self.outputs[output];
        let usual = (level, MEAN_WIDTH * whole * (1.0 + reach));
        seldom.map_or(usual, |level| (level.mean, level.variance.sqrt()))
    }

    /// Prior sd of the slope of the mean of an output along a column.
    pub fn slope_sd(&self, output: usize, column: usize, is_sparse: bool) -> f64 {
        let width = if is_sparse { SPARSE_WIDTH } else { LINE_WIDTH };
        width * self.slope_scale(output, column)
    }

    /// The spread of the values of an output over the range of a column.
    pub fn slope_scale(&self, output: usize, column: usize) -> f64 {
        self.outputs[output].whole / self.lines[column].range
    }

    /// The sd of the logarithm of a lengthscale. Where rows stand in crowds far apart, the
    /// lengthscales within a crowd are plausible too: two sds below those of the whole.
    fn width(&self, dims: &[usize]) -> f64 {
        let crowding = dims.iter().filter_map(|&c| self.extents[c].crowding());
        let most = crowding.fold(1.0, f64::max);
        (0.5 * most.ln()).max(LENGTHSCALE_WIDTH)
    }

    /// Lengthscales that the distances between neighbours suggest, where these are of another order
    /// than the extents: the starts of all parameters of the kernel with these in place of the
    /// defaults.
    pub fn of_neighbours(&self, kernel: &Kernel, parameters: &[Parameter]) -> Option<Vec<f64>> {
        let mut is_other = false;
        let each = kernel.parameters().iter().zip(parameters);
        let starts = each.map(|(own, parameter)| {
            let Role::Lengthscale(dims) = &own.role else {
                return parameter.start;
            };
            if own.kind == Kind::Linear || parameter.fixed {
                return parameter.start;
            }
            let shrink = |&c: &usize| Some((self.extents[c].within()? / self.range[c]).ln());
            let log: f64 = dims.iter().filter_map(shrink).sum();
            is_other |= log < 0.0;
            parameter.start * (log / dims.len() as f64).exp()
        });
        let starts: Vec<f64> = starts.collect();
        is_other.then_some(starts)
    }

    /// The parameters of the kernel with their defaults.
    pub fn kernel_parameters(&self, kernel: &Kernel) -> Vec<Parameter> {
        let all = kernel.parameters().iter().enumerate();
        all.map(|(i, p)| self.kernel_parameter(kernel, p, Alike::of(kernel, i)))
            .collect()
    }

    fn kernel_parameter(&self, kernel: &Kernel, p: &KernelParameter, alike: Alike) -> Parameter {
        let columns = kernel.columns();
        let linear = p.kind == Kind::Linear;
        let leaf = p.name.split('.').next().unwrap_or_default();
        let processes = all_of(kernel, |p| matches!(p.role, Role::Kappa { output: 0 }));
        let (centre, width, meaning) = match &p.role {
            Role::Weight { output, column } => {
                let rank = all_of(kernel, |p| matches!(p.role, Role::Weight { output: 0, .. }));
                let sd = self.outputs[*output].spread;
                // Every process begins with another pattern of signs, so that they come apart.
                let pattern = alike.before + column;
                let sign = if pattern > 0 && (output >> ((pattern - 1) % 16)) & 1 == 1 {
                    -1.0
                } else {
                    1.0
                };
                let start = sign * 0.7 * sd / (rank as f64).sqrt();
                let name = &kernel.outputs()[*output];
                let meaning =
                    format!("how far `{name}` follows what the outputs share in `{leaf}`");
                let prior = PriorDensity::Normal { mean: 0.0, sd };
                return Parameter::real(&p.name, &meaning, start, prior);
            }
            Role::Kappa { output } => (
                (0.5 * self.outputs[*output].spread).powi(2) / processes as f64,
                2.0,
                format!(
                    "variance that `{}` has for itself in `{leaf}`",
                    kernel.outputs()[*output]
                ),
            ),
            Role::Variance if p.relative => (
                1.0,
                2.0,
                format!("variance of the part `{leaf}` relative to the first part of its sum"),
            ),
            Role::Variance if linear && p.leaf_columns.len() == 1 => {
                let c = p.leaf_columns[0];
                (
                    (self.spread / self.lines[c].range).powi(2),
                    2.0,
                    format!(
                        "how large the slope along {} may be, as a variance",
                        columns[c]
                    ),
                )
            }
            Role::Variance => (self.spread.powi(2), 2.0, varies(p, leaf, columns)),
            Role::Lengthscale(dims) if linear => {
                let log: f64 = dims.iter().map(|&c| self.lines[c].range.ln()).sum::<f64>();
                (
                    (log / dims.len() as f64).exp(),
                    1.0,
                    format!(
                        "change of {} that counts as one unit of slope",
                        names(columns, dims)
                    ),
                )
            }
            Role::Lengthscale(dims) => {
                let log: f64 = dims.iter().map(|&c| self.range[c].ln()).sum::<f64>();
                let spread = (p.leaf_columns.len() as f64).sqrt();
                let centre = 0.15 * (log / dims.len() as f64).exp() * spread;
                // Products of equal leaves vary faster than each: of squared exponentials, as one
                // whose lengthscale is shorter by this.
                let together = (alike.multiplied as f64).sqrt();
                (
                    centre * together / 3f64.powi(alike.before as i32),
                    self.width(dims),
                    format!(
                        "distance along {} over which the curve changes",
                        names(columns, dims)
                    ),
                )
            }
            Role::PeriodicLengthscale => (
                1.0,
                0.75,
                "how smooth one cycle is: large for a plain wave, small for sharp peaks".into(),
            ),
            Role::Period(c) => (
                p.fixed.unwrap_or(self.range[*c] / 5.0),
                1.0,
                format!("length of one cycle along {}", columns[*c]),
            ),
            Role::Alpha => (
                1.0,
                1.0,
                "how alike the scales of change are: small for many different ones".into(),
            ),
        };
        let prior = PriorDensity::LogNormal {
            mu: centre.ln(),
            sigma: width,
        };
        let mut parameter = Parameter::positive(&p.name, &meaning, centre, prior);
        parameter.fixed = p.fixed.is_some();
        if self.has_log_sums && p.role == Role::Variance && !p.relative && !linear {
            // The square of a half-normal sd.
            let scale = LOG_WIDTH * self.spread.max(LOG_SPREAD);
            parameter.prior = PriorDensity::Gamma {
                shape: 0.5,
                rate: 0.5 / (scale * scale),
            };
        }
        if let (Role::Lengthscale(dims), false) = (&p.role, linear) {
            // Rows that only know averages over wide supports cannot tell one short lengthscale
            // from another, and integrals under it are dear.
            let narrowest = dims.iter().map(|&c| self.narrowest[c]);
            let lower = narrowest.fold(f64::INFINITY, f64::min) / RESOLVED;
            if lower < parameter.start {
                parameter.lower = lower;
            }
        }
        if p.role == Role::PeriodicLengthscale {
            let lower = self.narrowest_peak(kernel, p);
            if 0.0 < lower && lower < parameter.start {
                parameter.lower = lower;
            }
        }
        if let (Role::Period(c), None) = (&p.role, p.fixed) {
            // Shorter cycles look the same as longer ones in rows this far apart.
            parameter.lower = 2.0 * self.gap[*c];
            parameter.start = parameter.start.max(1.5 * parameter.lower);
        }
        parameter
    }
    /// The lengthscale of a periodic leaf whose peaks, of sd `lengthscale period / (2 pi)`, are as
    /// narrow beside the narrowest support as other lengthscales may be. A period that is learned
    /// counts as two ranges, longer than any that rows can show.
    fn narrowest_peak(&self, kernel: &Kernel, p: &KernelParameter) -> f64 {
        let name = p.name.replace(".lengthscale", ".period");
        let period = kernel.parameters().iter().find(|q| q.name == name);
        let Some((&Role::Period(c), fixed)) = period.map(|q| (&q.role, q.fixed)) else {
            return 0.0;
        };
        let period = fixed.unwrap_or(2.0 * self.range[c]);
        2.0 * std::f64::consts::PI * self.narrowest[c] / (RESOLVED * period)
    }
}

/// Value, size, output and number of every row.
fn rows_of(kernel: &Kernel, tables: &[Observations]) -> Vec<Vec<RowValue>> {
    let of_table = |table: &Observations| -> Vec<RowValue> {
        let set = table.supports();
        let typical = plausible(table).into_iter().enumerate();
        let row = |(row, y)| {
            let output = output_of(kernel.output_column(), set, row);
            (y, set.size(row), output, table.times(row))
        };
        typical.map(row).collect()
    };
    tables.iter().map(of_table).collect()
}

/// What every row reports, see [`Observations::typical`]. Where the noise has heavy tails, values
/// far from all others are those of the tails, and count as the nearest of the others.
pub(crate) fn plausible(table: &Observations) -> Vec<f64> {
    let mut values = table.typical();
    if !matches!(table.likelihood(), Likelihood::StudentT(_)) {
        return values;
    }
    let set = table.supports();
    let density = |(row, y): (usize, &f64)| y / set.size(row);
    let places: Vec<f64> = values.iter().enumerate().map(density).collect();
    let finite = places.iter().copied().filter(|v| v.is_finite());
    let bulk = Extent::of(&finite.map(|v| (v, v)).collect::<Vec<_>>());
    if bulk.has_far {
        for (row, y) in values.iter_mut().enumerate() {
            if places[row].is_finite() {
                *y = places[row].clamp(bulk.lower, bulk.upper) * set.size(row);
            }
        }
    }
    values
}

fn all_of(kernel: &Kernel, is: impl Fn(&KernelParameter) -> bool) -> usize {
    kernel.parameters().iter().filter(|p| is(p)).count()
}

/// What the variance of a leaf means.
fn varies(p: &KernelParameter, leaf: &str, columns: &[String]) -> String {
    match p.kind {
        Kind::Iid => format!(
            "how much the labels of {} differ, as a variance",
            names(columns, &p.leaf_columns)
        ),
        _ => format!("how far the part `{leaf}` of the curve moves up and down, as a variance"),
    }
}

fn names(columns: &[String], dims: &[usize]) -> String {
    let parts: Vec<&str> = dims.iter().map(|&c| columns[c].as_str()).collect();
    parts.join(", ")
}

/// `value`, else the size of `fallback`, else one.
///
/// Rounding of equal numbers is not a spread.
fn positive(value: f64, fallback: f64) -> f64 {
    let fallback = fallback.abs();
    if value > 1e-12 * fallback {
        value
    } else if fallback > 0.0 {
        fallback
    } else {
        1.0
    }
}
