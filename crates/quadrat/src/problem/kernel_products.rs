//! Products of rows over all parts of a kernel, and what of a product is nothing.

use super::row_products::MOST_TOGETHER;
use crate::kernel::{Kernel, Kind};
use crate::linalg::dot;
use crate::support::Functionals;
use crate::support::overlap::{OverlapProducts, products};

/// Share of a row's own product below which nothing of it is left beside others. Sums of products
/// are off by some `n eps`.
const NOTHING_NEW: f64 = 1e-13;
/// The same where areas of polygons are clipped, which are right to 1e-12 each.
const NOTHING_NEW_OF_AREAS: f64 = 1e-10;

/// The share of a row's own product below which nothing of it is left.
pub(crate) fn limit(supports: &Functionals) -> f64 {
    match supports.has_regions() {
        true => NOTHING_NEW_OF_AREAS,
        false => NOTHING_NEW,
    }
}

/// The columns along which the parts of a kernel tell functions apart: rows depend on each other
/// under the kernel where they do along each of these sets.
fn parts(kernel: &Kernel) -> Vec<Vec<usize>> {
    let columns = |term: &Vec<usize>| {
        let leaves = term.iter().map(|leaf| &kernel.leaves()[*leaf]);
        let mut all: Vec<usize> = leaves.flat_map(|leaf| leaf.columns.clone()).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    // The mean is a line along the columns that no leaf is over.
    let lines = kernel.spare_columns().map(|column| vec![column]);
    let sets: Vec<Vec<usize>> = kernel.terms().iter().map(columns).chain(lines).collect();
    let is_within = |a: &Vec<usize>, b: &Vec<usize>| a.iter().all(|c| b.contains(c));
    let is_needed = |(at, set): (usize, &Vec<usize>)| {
        let mut others = sets.iter().enumerate();
        !others.any(|(k, other)| k != at && is_within(set, other) && (set != other || k < at))
    };
    let needed = sets
        .iter()
        .enumerate()
        .filter(|(at, set)| is_needed((*at, set)));
    needed.map(|(_, set)| set.clone()).collect()
}

/// Products of rows over all parts of a kernel.
pub(crate) fn of_kernel(
    kernel: &Kernel,
    supports: &Functionals,
    has_mean: bool,
) -> Option<OverlapProducts> {
    let is_line = |leaf: &Kind| matches!(leaf, Kind::Linear | Kind::Constant);
    if kernel.leaves().iter().all(|leaf| is_line(&leaf.kind)) && kernel.outputs().is_empty() {
        return lines(kernel, supports, has_mean);
    }
    let mut all = Vec::new();
    for part in parts(kernel) {
        let Some(found) = products(supports, &part) else {
            // Rows that depend on each other along all columns do so along some.
            return of_any_function(kernel, supports);
        };
        all.extend(found);
    }
    Some(all)
}

/// Products of rows as functionals of any function of the kernel's columns: behind a link sums of
/// functions, each along columns of its own, are sums no more.
pub(crate) fn of_any_function(kernel: &Kernel, supports: &Functionals) -> Option<OverlapProducts> {
    let every: Vec<usize> = (0..kernel.columns().len()).collect();
    products(supports, &every)
}

/// Products of rows where the function is a polynomial of the first degree; `None` for products of
/// such leaves.
fn lines(kernel: &Kernel, supports: &Functionals, has_mean: bool) -> Option<OverlapProducts> {
    if kernel.terms().iter().any(|t| t.len() > 1)
        || supports.has_regions()
        || supports.len() > MOST_TOGETHER
    {
        return None;
    }
    let constant = has_mean || kernel.leaves().iter().any(|l| l.kind == Kind::Constant);
    let columns = kernel.leaves().iter().flat_map(|leaf| leaf.columns.clone());
    let columns = columns.chain(kernel.spare_columns());
    let feature = |row: usize| -> Vec<f64> {
        let average = |d: usize| {
            let middle = |a: usize| supports.lower(d)[a] + 0.5 * supports.width(d)[a];
            let atoms = supports.atoms(row);
            let sum: f64 = atoms.map(|a| supports.weight()[a] * middle(a)).sum();
            let (low, high) = supports.range(d);
            // Around the origin of the leaf where there is no constant, else around the rows.
            let origin = if constant {
                low * supports.size(row)
            } else {
                0.0
            };
            (sum - origin) / (high - low).max(f64::MIN_POSITIVE)
        };
        let one = constant.then(|| supports.size(row));
        columns.clone().map(average).chain(one).collect()
    };
    let features: Vec<Vec<f64>> = (0..supports.len()).map(feature).collect();
    let pairs = (0..features.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
    Some(
        pairs
            .map(|(i, j)| (i, j, dot(&features[i], &features[j])))
            .collect(),
    )
}
