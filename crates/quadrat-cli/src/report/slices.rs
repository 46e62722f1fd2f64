//! Along which dimensions the rows of a prediction differ, and rows that look at one place several
//! times, such as once a year: one figure for each.

use std::collections::{HashMap, HashSet};

use quadrat_study::numbers::{coordinate, count};
use quadrat_study::places::{Along, Places};

/// The most figures of one prediction.
pub const MOST: usize = 6;

/// Rows in slices: no place of a figure occurs twice in one.
#[derive(Debug, Clone, PartialEq)]
pub struct Slices {
    /// The dimensions along which slices differ; empty where there is one slice.
    pub dims: Vec<usize>,
    /// The rows of each, in order of first appearance.
    pub rows: Vec<Vec<usize>>,
}

impl Slices {
    /// All rows in one.
    pub fn one(places: &Places) -> Self {
        Self {
            dims: Vec::new(),
            rows: vec![(0..places.len()).collect()],
        }
    }
}

/// Slices along as few of the `others` as are needed for every place to occur once in each.
/// Dimensions that are not needed are covariates: they are known of a place and tell no two rows of
/// it apart.
pub fn of(keys: &[Vec<u64>], places: &Places, others: &[usize]) -> Slices {
    let once = |rows: &Vec<usize>| {
        let mut seen = HashSet::new();
        rows.iter().all(|&row| seen.insert(&keys[row]))
    };
    let slices = |dims: Vec<usize>| Slices {
        rows: grouped(places, &dims),
        dims,
    };
    let whole = Slices::one(places);
    if whole.rows.iter().all(once) {
        return whole;
    }
    let single = others.iter().map(|&d| slices(vec![d]));
    let enough = single.filter(|s| s.rows.iter().all(once));
    let fewest = enough.min_by_key(|s| s.rows.len());
    fewest.unwrap_or_else(|| slices(others.to_vec()))
}

/// The dimensions along which the rows differ.
pub fn varying(places: &Places) -> Vec<usize> {
    let dims = 0..places.dims.len();
    dims.filter(|&d| varies(places, d)).collect()
}

/// Whether the rows differ along a dimension.
pub fn varies(places: &Places, dim: usize) -> bool {
    let dim = &places.dims[dim];
    (1..places.len()).any(|row| dim.ends(row) != dim.ends(0))
}

/// Rows that agree along some dimensions.
pub(super) fn grouped(places: &Places, dims: &[usize]) -> Vec<Vec<usize>> {
    let mut at: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for row in 0..places.len() {
        let group = *at.entry(key(places, dims, row)).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(rows) => rows.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// Why more slices than [`MOST`] are not drawn.
pub fn too_many(slices: usize) -> String {
    format!(
        "it would be {}, and {MOST} are drawn at most",
        count(slices, "map")
    )
}

/// The place of a row along some dimensions, as bits.
pub fn key(places: &Places, dims: &[usize], row: usize) -> Vec<u64> {
    let bits = |x: f64| (x + 0.0).to_bits();
    let ends = dims.iter().map(|&d| places.dims[d].ends(row));
    ends.flat_map(|(lower, upper)| [bits(lower), bits(upper)])
        .collect()
}

/// The place of a row along some dimensions, in words.
pub fn words(places: &Places, dims: &[usize], row: usize) -> String {
    let parts: Vec<String> = dims.iter().map(|&d| along(&places.dims[d], row)).collect();
    parts.join(", ")
}

/// The place of a row along a dimension, in words.
pub fn along(dim: &Along, row: usize) -> String {
    if let Some(label) = dim.label(row) {
        return format!("{} {label}", dim.name);
    }
    match dim.ends(row) {
        (lower, upper) if lower == upper => format!("{} {}", dim.name, coordinate(lower)),
        (lower, upper) => format!(
            "{} {} to {}",
            dim.name,
            coordinate(lower),
            coordinate(upper)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(of: &[u64]) -> Vec<Vec<u64>> {
        of.iter().map(|&key| vec![key]).collect()
    }

    #[test]
    fn a_covariate_of_every_place_cuts_nothing() {
        let own = Places::points(&[("farming", &[0.1, 0.2, 0.1, 0.4])]);
        let slices = of(&keys(&[1, 2, 3, 4]), &own, &[0]);
        assert_eq!(
            (slices.dims.len(), slices.rows),
            (0, vec![vec![0, 1, 2, 3]])
        );
    }

    #[test]
    fn years_cut_and_their_covariate_does_not() {
        let both = Places::points(&[
            ("farming", &[0.1, 0.2, 0.3, 0.4]),
            ("year", &[2000.0, 2000.0, 2001.0, 2001.0]),
        ]);
        let slices = of(&keys(&[1, 2, 1, 2]), &both, &[0, 1]);
        assert_eq!(slices.dims, [1]);
        assert_eq!(slices.rows, [vec![0, 1], vec![2, 3]]);
        assert_eq!(words(&both, &slices.dims, 2), "year 2001");
        // Nothing tells these two apart.
        let twice = of(
            &keys(&[1, 1, 2, 2]),
            &Places::points(&[("a", &[0.0; 4])]),
            &[0],
        );
        assert_eq!(twice.rows, [vec![0, 1, 2, 3]]);
    }
}
