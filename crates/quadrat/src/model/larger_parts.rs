//! Exact parts that hold more than the exact whole around them.
//!
//! Behind a link whose values are above zero, a part of a row's support holds less than the row
//! reports. Parts that lie apart and hold as much or more together contradict it under every
//! kernel, also where they are not all of its parts, so that nothing follows from them.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::support::Functionals;
use crate::support::overlap::OverlapProducts;

/// Share of a row's own product by which a part may reach out of it: areas of clipped polygons are
/// right to about 1e-12.
const WITHIN: f64 = 1e-9;
/// Share of the whole that rounding of sums of reports may take.
const ROUNDING: f64 = 1e-9;

/// A whole, the largest of the parts that contradict it, and by how much these exceed its report;
/// zero where they leave nothing to the rest of it.
pub(super) struct Larger {
    pub whole: usize,
    pub part: usize,
    pub excess: f64,
}

/// The first row whose parts report more than it does; rows of one set each, nodes are passed by.
///
/// # Arguments
/// * `values` - what the rows report, sums or averages
/// * `forgiven` - by how much a report per unit of its support may be off
/// * `counts` - whether a row is looked at
pub(super) fn larger_parts(
    supports: &Functionals,
    (values, forgiven): (&[f64], f64),
    found: &OverlapProducts,
    counts: impl Fn(usize) -> bool,
) -> Option<Larger> {
    let is_one = |row: usize| supports.atoms(row).len() == 1 && counts(row);
    let mut products: HashMap<(usize, usize), f64> = HashMap::new();
    for &(i, j, v) in found {
        if is_one(i) && is_one(j) {
            *products.entry((i.max(j), i.min(j))).or_default() += v;
        }
    }
    // Rows that have something in common.
    let mut beside: HashMap<usize, Vec<usize>> = HashMap::new();
    for &(i, j) in products.keys().filter(|(i, j)| i != j) {
        beside.entry(i).or_default().push(j);
        beside.entry(j).or_default().push(i);
    }
    let product = |i: usize, j: usize| products.get(&(i.max(j), i.min(j))).copied();
    // Of two averages the product is their common volume over both volumes: one is within the
    // other where it is that of the other with itself.
    let mut within: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (&(i, j), &v) in &products {
        for (part, whole) in [(i, j), (j, i)] {
            let (part_size, size) = (supports.size(part), supports.size(whole));
            let own = product(whole, whole).unwrap_or(0.0) * part_size / size;
            if part != whole && size > 0.0 && part_size > 0.0 && v >= own * (1.0 - WITHIN) {
                within.entry(whole).or_default().push(part);
            }
        }
    }
    // Averages times volumes: a volume is the square of the size over the product with itself.
    let volume = |row: usize| {
        let own = product(row, row).filter(|own| *own > 0.0)?;
        Some(supports.size(row) / own)
    };
    let total = |row: usize| Some(values[row] * volume(row)?);
    let room = |row: usize| Some(supports.size(row) * volume(row)?);
    for (whole, mut parts) in within {
        let Some(held) = total(whole) else { continue };
        let totals: HashMap<usize, f64> = parts
            .iter()
            .filter_map(|&part| Some((part, total(part)?)))
            .collect();
        parts.retain(|part| totals.contains_key(part));
        parts.sort_by(|a, b| totals[b].total_cmp(&totals[a]).then(a.cmp(b)));
        // Parts that lie apart, the largest first.
        let (mut sum, mut filled, mut largest) = (0.0, 0.0, None);
        let mut taken: HashSet<usize> = HashSet::new();
        for part in parts {
            if !taken.contains(&part) {
                sum += totals[&part];
                filled += room(part).unwrap_or(0.0);
                largest = largest.or(Some(part));
                taken.extend(beside.get(&part).into_iter().flatten());
            }
        }
        let Some((part, unit)) = largest.zip(volume(whole)) else {
            continue;
        };
        // In the unit of the report.
        let excess = (sum - held) / unit;
        let off = forgiven * supports.size(whole).abs();
        let rounding = ROUNDING * values[whole].abs();
        // What is left of the whole holds more than nothing.
        let is_left = room(whole).is_some_and(|all| filled < (1.0 - WITHIN) * all);
        if excess > off.max(rounding) || is_left && excess >= -rounding {
            return Some(Larger {
                whole,
                part,
                excess: if excess > rounding { excess } else { 0.0 },
            });
        }
    }
    None
}
