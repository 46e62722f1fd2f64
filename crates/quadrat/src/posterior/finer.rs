//! Predictions that are finer than the rows: what they rest on.

use super::mixture::Posterior;
use crate::error::InputError;
use crate::kernel::Kind;
use crate::likelihood::Noise;
use crate::link::Link;
use crate::problem::observations::Observations;
use crate::support::Functionals;

/// A lengthscale above this many widths of the rows is told.
///
/// The smoother the kernel, the sooner its intervals inside the rows are too narrow. Over 61
/// populations by age in five-year and ten-year bands each, these limits tell most of the fits
/// whose 95 % intervals hold less than .85, and few of the others: the study `binned-ungroup`
/// prints the shares. `rq` and `periodic` have the curvature of `se` at small distances, and take
/// its limit.
fn most_widths(kind: Kind) -> f64 {
    match kind {
        Kind::Matern32 => 3.0,
        Kind::Matern52 => 1.75,
        _ => 1.05,
    }
}

/// Noise of more than this share of the spread of the rows hides a rough part of the size that ages
/// have (a variance of .03 of the rows' own, prior of `examples/ages`): then intervals are wide for
/// the sake of the noise, and nothing is told.
const HIDING: f64 = 0.17;

/// Ends that differ by less than this share of the width of the rows are the same end.
const SAME: f64 = 1e-6;

/// Predictions that are finer than the rows along an input over which the fit takes the function
/// for smooth.
///
/// Totals over boxes say next to nothing about how rough a function is inside them. A kernel that
/// has one smoothness extends what it finds between boxes to the inside, and its intervals there
/// are too narrow where the truth is rougher. Rows that are left out and predicted do not show it:
/// they are as wide as the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Finer {
    /// The input.
    pub dim: String,
    /// Median width of the rows along it.
    pub width: f64,
    /// The shortest distance over which the kernel lets the function change along it, as learned.
    pub lengthscale: f64,
    /// The predictions, in order.
    pub rows: Vec<usize>,
}

impl Posterior {
    /// Which of `at` are finer than the rows where the kernel is smooth over more than some widths
    /// of them (three for `matern32`, 1.75 for `matern52`, 1.05 for `se`, `rq` and `periodic`), for
    /// every input that has some.
    ///
    /// * A prediction is finer along an input where it is narrower than half of the rows and does
    ///   not reach from one end of a row to one of another: then its own ends lie inside boxes. It
    ///   must lie within the observed range. It is told where the kernel is smooth along all inputs
    ///   along which it is finer: else what is uncertain along the others is in its interval.
    /// * The distance is the shortest lengthscale along the input, in these limits; of a periodic
    ///   leaf `period lengthscale / (2 pi)`, its lengthscale at small distances. Nothing is told
    ///   where that is fixed rather than learned, and where some leaf along the input is
    ///   `matern12`, which is rough at every distance.
    /// * Nor where noise of the rows, as densities, is more than .17 of their spread: intervals are
    ///   wide for its sake. Behind a link both are on the scale of the function.
    /// * Rows and predictions are boxes and points. Regions and bags are not judged: their widths
    ///   along one axis say little, and there a rough part was not found to help.
    ///
    /// # Errors
    /// [`InputError::UnknownDimension`].
    pub fn finer_than_rows(&self, at: &Functionals) -> Result<Vec<Finer>, InputError> {
        let is_value = |t: &&Observations| !t.likelihood().is_bound();
        let seen = self.tables.iter().filter(is_value).map(|t| t.supports());
        let seen: Result<Vec<Functionals>, _> = seen.map(|s| s.select(self.dims())).collect();
        let seen = seen?;
        let at = at.selected(self.dims())?;
        if seen.iter().any(|s| !s.all_single() || s.has_regions()) || self.noise_hides() {
            return Ok(Vec::new());
        }
        let inputs: Vec<Option<Input>> = (0..self.dims().len())
            .map(|d| self.input(&seen, d))
            .collect();
        let mut rows = vec![Vec::new(); inputs.len()];
        for row in (0..at.len()).filter(|&row| is_plain(&at, row)) {
            let is_finer = |(d, input): (usize, &Option<Input>)| {
                let input = input.as_ref()?;
                let is_finer = input.rows.are_wider(at.extent(row, d));
                is_finer.then_some((d, input.lengthscale.is_some()))
            };
            let finer: Vec<_> = inputs.iter().enumerate().filter_map(is_finer).collect();
            if finer.iter().all(|(_, is_smooth)| *is_smooth) {
                finer.iter().for_each(|(d, _)| rows[*d].push(row));
            }
        }
        let told = self.dims().iter().zip(inputs).zip(rows);
        let told = told.filter(|(_, rows)| !rows.is_empty());
        Ok(told
            .filter_map(|((dim, input), rows)| {
                let input = input?;
                Some(Finer {
                    dim: dim.clone(),
                    width: input.rows.width,
                    lengthscale: input.lengthscale?,
                    rows,
                })
            })
            .collect())
    }

    /// The rows along an input, and the lengthscale along it where that is long for them.
    fn input(&self, seen: &[Functionals], d: usize) -> Option<Input> {
        let rows = Rows::along(seen, d)?;
        let shortest = self.dims().get(d).and_then(|dim| self.shortest(dim));
        let long = shortest.filter(|(length, widths)| length > &(widths * rows.width));
        Some(Input {
            lengthscale: long.map(|(length, _)| length),
            rows,
        })
    }

    /// Whether noise, known, learned or that of counts, is large beside what differs between the
    /// rows.
    fn noise_hides(&self) -> bool {
        let theta = &self.components[0].theta;
        let (mut densities, mut noise) = (Vec::new(), Vec::new());
        for (table, own) in self.tables.iter().zip(&self.problem.tables().own) {
            let gaussian = table.as_gaussian().map(|g| g.noise());
            let learned = own
                .first()
                .filter(|_| gaussian.is_some_and(Noise::is_learned));
            let learned = learned.map_or(0.0, |&g| theta[g]);
            let known = gaussian.and_then(Noise::known).unwrap_or(&[]);
            let link = table.likelihood().mean_link();
            let own: Vec<f64> = own.iter().map(|&g| theta[g]).collect();
            for (row, &value) in table.typical().iter().enumerate() {
                let size = table.supports().size(row);
                if let Some(link) = link {
                    // On the scale of the function; behind `exp` a sum is larger by its size.
                    let local = table.likelihood().local();
                    let precision = -local.log_density(&own, row, value).second;
                    let of_size = if link == Link::Exp { size.ln() } else { 0.0 };
                    densities.push(value - of_size);
                    noise.push(precision.max(0.0).sqrt().recip());
                } else {
                    let variance = learned + known.get(row).copied().unwrap_or(0.0);
                    densities.push(value / size);
                    noise.push(variance.sqrt() / size.abs());
                }
            }
        }
        let n = densities.len() as f64;
        let mean = densities.iter().sum::<f64>() / n;
        let spread = densities.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / n;
        median(noise).is_some_and(|noise| noise > HIDING * spread.sqrt())
    }

    /// The shortest distance over which the kernel lets the function change along an input, and how
    /// many widths of the rows it may have; none where it is rough there, where no leaf has such a
    /// distance, or where it was not learned.
    pub(super) fn shortest(&self, dim: &str) -> Option<(f64, f64)> {
        let kernel = self.kernel();
        let parameters = kernel.parameters();
        let column = kernel.columns().iter().position(|c| c == dim)?;
        let value = |index: usize| {
            let name = &parameters.get(index)?.name;
            let mut all = self.summary.hyperparameters.iter();
            all.find(|hyper| &hyper.name == name)
                .map(|hyper| (hyper.value, hyper.fixed))
        };
        let mut shortest: Option<(f64, f64, bool)> = None;
        for leaf in kernel.leaves() {
            let Some(place) = leaf.columns.iter().position(|&c| c == column) else {
                continue;
            };
            let (distance, fixed) = match leaf.kind {
                Kind::Matern12 => return None,
                Kind::Linear | Kind::Constant | Kind::Iid | Kind::Coregion => continue,
                Kind::Periodic => {
                    let (length, fixed) = value(*leaf.lengthscales.get(place)?)?;
                    let (period, period_fixed) = value(*leaf.periods.get(place)?)?;
                    let distance = period * length / std::f64::consts::TAU;
                    (distance, fixed && period_fixed)
                }
                Kind::Se | Kind::Matern32 | Kind::Matern52 | Kind::Rq => {
                    value(*leaf.lengthscales.get(place)?)?
                }
            };
            let widths = most_widths(leaf.kind);
            if shortest.is_none_or(|(least, of, _)| distance / widths < least / of) {
                shortest = Some((distance, widths, fixed));
            }
        }
        shortest.and_then(|(distance, widths, fixed)| (!fixed).then_some((distance, widths)))
    }
}

/// The upper median.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Whether a prediction is one box or point.
fn is_plain(at: &Functionals, row: usize) -> bool {
    let atoms = at.atoms(row);
    atoms.len() == 1 && at.region(atoms.start).is_none()
}

/// What is known of an input.
struct Input {
    rows: Rows,
    /// The shortest lengthscale, where it is long.
    lengthscale: Option<f64>,
}

/// The observed rows along one input.
struct Rows {
    /// Median width, above zero.
    width: f64,
    /// Where rows begin or end, sorted.
    ends: Vec<f64>,
}

impl Rows {
    /// None where half of them have no width: points show how rough a function is.
    fn along(seen: &[Functionals], d: usize) -> Option<Self> {
        let extents = seen.iter();
        let extents = extents.flat_map(|s| (0..s.len()).map(|row| s.extent(row, d)));
        let (mut widths, mut ends) = (Vec::new(), Vec::new());
        for (from, to) in extents {
            widths.push(to - from);
            ends.extend([from, to]);
        }
        ends.sort_unstable_by(f64::total_cmp);
        let width = median(widths)?;
        (width > 0.0).then_some(Self { width, ends })
    }

    /// Whether what reaches from one place to another is narrower than they are and ends inside one
    /// of them.
    fn are_wider(&self, (from, to): (f64, f64)) -> bool {
        let tolerance = SAME * self.width;
        let (Some(first), Some(last)) = (self.ends.first(), self.ends.last()) else {
            return false;
        };
        let is_within = from >= first - tolerance && to <= last + tolerance;
        let is_end = |x: f64| {
            let next = self.ends.partition_point(|&end| end < x - tolerance);
            self.ends.get(next).is_some_and(|&end| end <= x + tolerance)
        };
        let is_point = to - from <= tolerance;
        is_within
            && to - from < self.width - tolerance
            && (is_point || !(is_end(from) && is_end(to)))
    }
}

#[cfg(test)]
#[path = "finer_tests.rs"]
mod tests;
