//! Rows conditioned through inducing points, in chunks.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::mean::Means;
use super::outputs::place;
use super::pooled::is_pooled;
use super::settings::{FitOptions, Inducing};
use super::sparse_labels::with_labels;
use super::specified::Specified;
use crate::covariance::{Covariance, Induced};
use crate::error::InputError;
use crate::inference::sparse::{
    Bags, LogSum, Shards, SparseOptions, UnknownMean, VariationalPosterior, Within, k_means,
};
use crate::kernel::{Kernel, Role};
use crate::linalg::Mat;
use crate::link::Link;
use crate::parameter::Parameter;
use crate::support::Functionals;

/// Inducing points unless told otherwise.
const DEFAULT: usize = 100;
/// Variance added to that of every inducing point, relative to it. With `M` of them a Cholesky
/// factor is exact for a matrix within some `eps M` of its own, 1e-12 for thousands, and
/// derivatives are known to some `eps / JITTER` of the bound: a tenth of this would cost digits
/// there.
const JITTER: f64 = 1e-10;
/// Points that are clustered for inducing points, at most.
const CLUSTERED: usize = 100_000;
/// Nodes of boxes and regions after a link, at most; bags have the points that they have.
const MAX_NODES: f64 = 2e6;
/// Steps of natural gradients under the lemma's bound, at most, which is approached slowly.
const LEMMA_STEPS: usize = 3000;
/// Free lengthscales are resolved down to this part of their starts within boxes and regions after
/// a link.
const FINEST: f64 = 1.0 / 3.0;

/// What the user chose.
#[derive(Debug, Clone, Default)]
pub(crate) struct SparseChoice {
    pub inducing: Inducing,
    pub form: LogSum,
    pub within: Within,
    pub seed: u64,
    /// Rows before these, where they are a shard of all.
    pub before: usize,
}

impl SparseChoice {
    pub fn new(options: &FitOptions) -> Self {
        Self {
            inducing: options.inducing.clone(),
            form: options.log_sum,
            within: options.within,
            seed: options.seed,
            before: 0,
        }
    }
}

/// Points of all rows in chunks, and inducing points.
#[derive(Clone)]
pub(crate) struct Sparse {
    pub(crate) bags: Bags,
    pub(crate) induced: Induced,
    /// Prior means of the points of every chunk.
    pub(crate) means: Vec<Vec<f64>>,
    /// Where the rows looked.
    pub observed: Functionals,
    pub options: SparseOptions,
    pub within: Within,
    /// Inducing points that were asked for.
    pub asked: usize,
    /// The belief about them that was found, to begin with.
    pub found: Option<VariationalPosterior>,
    /// Beliefs at some values of the hyperparameters, for whoever looks at these again.
    pub near: Vec<VariationalPosterior>,
    /// Whoever has the rows, while they are learned from, where those here only stand for them.
    pub shards: Option<Arc<dyn Shards>>,
    /// Whether those here have fewer points than what they stand for.
    pub is_thinned: bool,
}

impl Sparse {
    /// The points of the rows of a model, and inducing points as they are chosen.
    ///
    /// # Errors
    /// [`InputError`] for bags that cannot be summed, and for inducing points that do not fit the
    /// kernel.
    pub fn new(model: &Specified, choice: &SparseChoice) -> Result<Self, InputError> {
        let Specified {
            kernel,
            mean,
            parameters,
            tables,
            ..
        } = model;
        let covariance = Covariance::new(kernel);
        let mut observed = Functionals::new(kernel.columns().to_vec());
        let mut points = Functionals::new(kernel.columns().to_vec());
        let mut bags = Bags::new(choice.within).after(choice.before);
        let mut place = Vec::new();
        for table in tables {
            observed.extend(table.supports())?;
            // Probabilities at points are those of their rows.
            let likelihood = table.likelihood();
            let link = match is_pooled(table) {
                true => likelihood.mean_link(),
                false => likelihood.link(),
            };
            let spread = match link {
                Some(_) => nodes(kernel, &covariance, parameters, table.supports())?,
                None => table.supports().clone(),
            };
            for row in 0..spread.len() {
                let atoms = spread.atoms(row);
                let is_bag = atoms.clone().all(|a| is_point(&spread, a));
                if is_bag && (atoms.len() > 1 || link.is_some()) {
                    let weights = &spread.weight()[atoms.clone()];
                    bags.push(link.unwrap_or(Link::Identity), weights)?;
                    for atom in atoms {
                        middle_into(&spread, atom, &mut place);
                        points.push_point(&place)?;
                    }
                } else {
                    // One functional, whatever its shape.
                    bags.push(Link::Identity, &[1.0])?;
                    points.extend(&spread.rows(&[row]))?;
                }
            }
        }
        let inducing = chosen(kernel, mean, &observed, &points, &bags, choice)?;
        let asked = match &choice.inducing {
            Inducing::Number(count) => *count,
            _ => inducing.len(),
        };
        let chunks: Vec<Functionals> = (0..bags.chunks())
            .map(|chunk| points.rows(&bags.chunk_points(chunk).collect::<Vec<_>>()))
            .collect();
        let means = chunks.iter();
        let means = means.map(|c| (0..c.len()).map(|i| mean.mean(c, i)).collect());
        Ok(Self {
            means: means.collect(),
            induced: Induced::new(covariance, inducing, chunks, JITTER),
            bags,
            observed,
            options: SparseOptions {
                form: choice.form,
                steps: match choice.form {
                    LogSum::Matched | LogSum::Taylor => SparseOptions::default().steps,
                    LogSum::Lemma => LEMMA_STEPS,
                },
                ..SparseOptions::default()
            },
            within: choice.within,
            asked,
            found: None,
            near: Vec::new(),
            shards: None,
            is_thinned: false,
        })
    }

    /// Where a search for the belief at these hyperparameters begins.
    pub fn start(&self, theta: &[f64]) -> Option<&VariationalPosterior> {
        let same = self.near.iter().find(|found| found.theta == theta);
        same.or(self.found.as_ref())
    }

    /// The inducing points.
    pub fn inducing(&self) -> &Functionals {
        self.induced.inducing()
    }

    /// Puts the inducing points elsewhere.
    pub fn move_inducing(&mut self, inducing: Functionals) {
        self.induced = self.induced.through(inducing);
    }

    /// The columns along which the inducing points can be moved: all but that of the outputs, those
    /// of labels, and those along which the mean is a line, whose slope is no part of the gradient.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where some inducing point is an interval or a region.
    pub fn movable(&self, kernel: &Kernel, mean: &Means) -> Result<Vec<usize>, InputError> {
        let inducing = self.inducing();
        let is_one = inducing.atom_count() == inducing.len();
        if !is_one || !(0..inducing.len()).all(|atom| is_point(inducing, atom)) {
            return Err(InputError::Unavailable {
                what: "moving inducing points that are intervals, regions or bags",
                remedy: "give points, or leave them where they are",
            });
        }
        let all = 0..kernel.columns().len();
        let is_line = |d: &usize| mean.lines().iter().any(|line| line.column == *d);
        let labels = kernel.label_columns();
        let is_name = |d: &usize| Some(*d) == kernel.output_column() || labels.contains(d);
        let free = all.filter(|d| !is_name(d) && !is_line(d));
        Ok(free.collect())
    }

    /// Points of all rows, and inducing points.
    pub fn size(&self) -> (usize, usize) {
        (self.bags.points(), self.inducing().len())
    }

    /// Points times squared inducing points: a third of the operations of a pass.
    pub fn flops(&self) -> f64 {
        let (points, inducing) = self.size();
        let shards = self.shards.as_ref();
        let points = shards.map_or(points, |shards| shards.points());
        points as f64 * (inducing * inducing) as f64
    }

    /// Points of all rows, of each at most so many.
    pub fn points_of_rows(&self, most: usize) -> usize {
        let rows = 0..self.bags.rows();
        rows.map(|row| self.bags.row_points(row).len().min(most))
            .sum()
    }

    /// What the user should know of the inducing points and of large rows.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let inducing = self.inducing().len();
        if inducing < self.asked {
            warnings.push(format!(
                "{} inducing points were asked for, but the rows look at {inducing} different points only: all were taken",
                self.asked
            ));
        }
        let is_sum = |row: usize| {
            self.bags.link(row) != Link::Identity && self.bags.row_points(row).len() > 1
        };
        if self.options.form == LogSum::Lemma && (0..self.bags.rows()).any(is_sum) {
            warnings.push(
                "sums after the link were taken by the lemma's bound, which is there to be compared with: its intervals are too narrow"
                    .to_owned(),
            );
        }
        let is_sampled = |row: &usize| !self.bags.is_full(*row);
        let sampled = (0..self.bags.rows()).filter(is_sampled).count();
        if sampled > 0 {
            warnings.push(format!(
                "{sampled} rows have more than {} points: what inducing points leave of the covariances within them is estimated from {} points each",
                self.within.full, self.within.sample
            ));
        }
        warnings
    }
}

/// Rows after a link as weighted points.
fn nodes(
    kernel: &Kernel,
    covariance: &Covariance,
    parameters: &[Parameter],
    set: &Functionals,
) -> Result<Functionals, InputError> {
    if are_points(set) {
        return Ok(set.clone());
    }
    let mut theta: Vec<f64> = parameters.iter().map(|p| p.start).collect();
    let pairs = kernel.parameters().iter().zip(parameters).zip(&mut theta);
    for ((own, parameter), value) in pairs {
        if matches!(own.role, Role::Lengthscale(_)) && !parameter.fixed {
            *value *= FINEST;
        }
    }
    let rule = covariance.node_rule(&theta, set.dims().len());
    let demand = rule.demand(set);
    if demand > MAX_NODES {
        return Err(InputError::TooManyNodes {
            nodes: demand as usize,
            rows: set.len(),
            limit: MAX_NODES as usize,
            remedy: "use coarser bins, merge points of the bags, or give the lengthscales a longer `start`".to_owned(),
        });
    }
    Ok(rule.apply(set))
}

/// Whether all atoms are points.
pub(crate) fn are_points(set: &Functionals) -> bool {
    (0..set.atom_count()).all(|atom| is_point(set, atom))
}

pub(crate) fn is_point(set: &Functionals, atom: usize) -> bool {
    set.region(atom).is_none() && (0..set.dims().len()).all(|d| set.width(d)[atom] == 0.0)
}

/// The middle of an atom, or of its bounding box.
pub(crate) fn middle(set: &Functionals, atom: usize) -> Vec<f64> {
    let mut place = Vec::new();
    middle_into(set, atom, &mut place);
    place
}

/// The same in the place of another, for as many as there are pixels.
fn middle_into(set: &Functionals, atom: usize, place: &mut Vec<f64>) {
    let along = |d: usize| set.lower(d)[atom] + 0.5 * set.width(d)[atom];
    place.clear();
    place.extend((0..set.dims().len()).map(along));
}

/// The inducing points that were chosen.
///
/// Columns that no leaf of the kernel is over do not count. Beside a point of every output there is
/// one that lies elsewhere along such a column only: their difference is the slope of the mean,
/// which is then told as exactly as the rows tell it.
fn chosen(
    kernel: &Kernel,
    mean: &Means,
    observed: &Functionals,
    points: &Functionals,
    bags: &Bags,
    choice: &SparseChoice,
) -> Result<Functionals, InputError> {
    let mut out = Functionals::new(kernel.columns().to_vec());
    let labels = kernel.label_columns();
    let count = match &choice.inducing {
        Inducing::At(set) => {
            let set = placed(kernel, set)?;
            return match set.is_empty() {
                true => Err(InputError::Unavailable {
                    what: "sparse inference without inducing points",
                    remedy: "give at least one",
                }),
                false => Ok(set.distinct_rows()),
            };
        }
        Inducing::PerRow if kernel.output_column().is_none() => {
            let mut place = Vec::new();
            for row in 0..bags.rows() {
                let (own, weights) = (bags.row_points(row), bags.weights(row));
                let total: f64 = weights.iter().map(|w| w.abs()).sum();
                let mut centre = vec![0.0; points.dims().len()];
                for (i, w) in own.zip(weights) {
                    // A functional of several parts has the middle of the first.
                    let atom = points.atoms(i).start;
                    middle_into(points, atom, &mut place);
                    let pairs = centre.iter_mut().zip(&place);
                    pairs.for_each(|(c, x)| *c += w.abs() / total * x);
                }
                // Labels have no average.
                let first = middle(points, points.atoms(bags.row_points(row).start).start);
                labels.iter().for_each(|&d| centre[d] = first[d]);
                out.push_point(&centre)?;
            }
            return Ok(out.distinct_rows());
        }
        Inducing::PerRow => observed.len(),
        Inducing::Number(count) => *count,
        Inducing::Auto => DEFAULT,
    };
    if count == 0 {
        return Err(InputError::Unavailable {
            what: "sparse inference without inducing points",
            remedy: "give a number above zero",
        });
    }
    // By place, so that the choice does not depend on the order of rows and tables.
    let order = by_place(points);
    let beside = kernel.spare_columns().len() * kernel.outputs().len().max(1);
    if !labels.is_empty() {
        let places: Vec<Vec<f64>> = order.iter().map(|&atom| middle(points, atom)).collect();
        let wanted = match choice.inducing {
            Inducing::Auto => None,
            _ => Some(count.saturating_sub(beside).max(1)),
        };
        for place in with_labels(kernel, &places, wanted, choice.seed)? {
            out.push_point(&place)?;
        }
        let mut out = out.distinct_rows();
        push_beside(&mut out, kernel, mean, points)?;
        return Ok(out);
    }
    let (all, kept) = (order.len(), order.len().min(CLUSTERED.max(count)));
    let kept: Vec<Vec<f64>> = (0..kept)
        .map(|i| {
            middle(
                points,
                order[(i as u128 * all as u128 / kept as u128) as usize],
            )
        })
        .collect();
    let mut columns: Vec<Vec<f64>> = (0..kernel.spare_columns().start)
        .map(|d| {
            let all: Vec<f64> = kept.iter().map(|x| x[d]).collect();
            let n = all.len() as f64;
            let mean = all.iter().sum::<f64>() / n;
            let square = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            let sd = if square > 0.0 { square.sqrt() } else { 1.0 };
            all.iter().map(|x| (x - mean) / sd).collect()
        })
        .collect();
    if columns.is_empty() {
        columns.push(vec![0.0; kept.len()]);
    }
    let count = count.saturating_sub(beside).max(1);
    for i in k_means(&columns, count, choice.seed) {
        out.push_point(&kept[i])?;
    }
    push_beside(&mut out, kernel, mean, points)?;
    Ok(out)
}

/// A point beside one of every output for each column that no leaf of the kernel is over.
fn push_beside(
    out: &mut Functionals,
    kernel: &Kernel,
    mean: &Means,
    points: &Functionals,
) -> Result<(), InputError> {
    let chosen = out.len();
    for output in 0..kernel.outputs().len().max(1) {
        let Some(row) = (0..chosen).find(|&row| mean.output(out, row) == output) else {
            continue;
        };
        for column in kernel.spare_columns() {
            let (low, high) = points.range(column);
            let mut place = middle(out, out.atoms(row).start);
            place[column] += match high - low {
                0.0 => 1.0,
                length => length,
            };
            out.push_point(&place)?;
        }
    }
    Ok(())
}

/// All atoms by the first coordinate of their middles, then by the next.
fn by_place(points: &Functionals) -> Vec<usize> {
    let along = |d: usize| {
        let pairs = points.lower(d).iter().zip(points.width(d));
        pairs.map(|(lower, width)| lower + 0.5 * width).collect()
    };
    let columns: Vec<Vec<f64>> = (0..points.dims().len()).map(along).collect();
    let mut order: Vec<usize> = (0..points.atom_count()).collect();
    order.par_sort_by(|&a, &b| {
        let pairs = columns.iter().map(|x| x[a].total_cmp(&x[b]));
        pairs.fold(Ordering::Equal, Ordering::then)
    });
    order
}

/// Given inducing points, of every output where they name none.
fn placed(kernel: &Kernel, set: &Functionals) -> Result<Functionals, InputError> {
    let column = kernel.output_column().map(|c| &kernel.columns()[c]);
    if column.is_none_or(|name| set.dims().contains(name)) {
        return place(kernel, set, None);
    }
    let mut all = Functionals::new(kernel.columns().to_vec());
    for output in kernel.outputs() {
        all.extend(&place(kernel, set, Some(output))?)?;
    }
    Ok(all)
}

impl UnknownMean for Means {
    fn add_covariance(
        &self,
        k: &mut Mat<f64>,
        a: &Functionals,
        b: &Functionals,
        range: Range<usize>,
    ) {
        self.add_columns(k, a, b, range);
    }

    fn variance(&self, set: &Functionals, row: usize) -> f64 {
        self.variance(set, row)
    }
}
