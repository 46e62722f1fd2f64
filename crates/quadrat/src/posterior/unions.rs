//! Predicted regions that observed ones make up.

use std::collections::{HashMap, HashSet};

use crate::error::InputError;
use crate::support::Functionals;
use crate::support::overlap::products;

/// What may lie outside of a region of the area of a part, and what two parts may have in common,
/// of that of the smaller one. Edges of a region and of its parts have vertices of their own:
/// projected ones lie within 1e-4 of the size of the smallest region of each other, and digitised
/// ones leave slivers.
const SLIVER: f64 = 5e-4;
/// What parts may leave of a region, of its area: less than that, or a small part of it that was
/// not observed might be the whole of what is there, such as a city.
const GAP: f64 = 5e-5;

/// The rows of `at` that are one region which observed regions make up without gap or overlap, as
/// these; so that they have the nodes of the rows they consist of.
///
/// # Arguments
/// * `observed` - rows as averages
///
/// # Returns
/// One row each, by its row in `at`; none where comparing all regions would take too long.
///
/// # Errors
/// [`InputError::UnknownDimension`] where the columns of both differ.
pub(crate) fn unions(
    observed: &Functionals,
    at: &Functionals,
) -> Result<HashMap<usize, Functionals>, InputError> {
    let is_whole = |set: &Functionals, row: usize| {
        let atoms = set.atoms(row);
        atoms.len() == 1 && set.region(atoms.start).is_some()
    };
    let asked: Vec<usize> = (0..at.len()).filter(|&row| is_whole(at, row)).collect();
    let parts: Vec<usize> = (0..observed.len())
        .filter(|&row| is_whole(observed, row))
        .collect();
    if asked.is_empty() || parts.is_empty() {
        return Ok(HashMap::new());
    }
    let mut all = observed.rows(&parts).averaged();
    all.extend(&at.rows(&asked).averaged())?;
    let columns: Vec<usize> = (0..all.dims().len()).collect();
    let Some(found) = products(&all, &columns) else {
        return Ok(HashMap::new());
    };
    let shared = Shared::new(found, all.len());
    let made_up = asked.iter().enumerate().filter_map(|(k, &row)| {
        let shares = shared.partition(parts.len() + k, parts.len())?;
        let rows: Vec<usize> = shares.iter().map(|(part, _)| parts[*part]).collect();
        let weights: Vec<f64> = shares
            .iter()
            .map(|(_, share)| at.size(row) * share)
            .collect();
        Some((row, observed.rows(&rows).into_one_row(&weights)))
    });
    Ok(made_up.collect())
}

/// What averages over regions have in common: the area over both areas.
struct Shared {
    /// One over the area of each.
    own: Vec<f64>,
    /// Those below it in order that it meets, with the product.
    met: Vec<Vec<(usize, f64)>>,
    pairs: HashSet<(usize, usize)>,
}

impl Shared {
    fn new(found: Vec<(usize, usize, f64)>, count: usize) -> Self {
        let mut out = Self {
            own: vec![0.0; count],
            met: vec![Vec::new(); count],
            pairs: HashSet::new(),
        };
        for &(i, _, product) in found.iter().filter(|(i, j, _)| i == j) {
            out.own[i] += product;
        }
        for (i, j, product) in found.into_iter().filter(|(i, j, _)| i != j) {
            // Neighbours have an edge in common, which is no area but for rounding.
            if product > SLIVER * out.own[i].min(out.own[j]) {
                out.met[i].push((j, product));
                out.pairs.insert((i, j));
            }
        }
        out
    }

    /// Parts among the first `parts` that fill a region, the largest first, with their shares.
    fn partition(&self, region: usize, parts: usize) -> Option<Vec<(usize, f64)>> {
        let own = self.own[region];
        let inside = self.met[region]
            .iter()
            .filter(|(part, product)| *part < parts && (product / own - 1.0).abs() < SLIVER);
        let mut inside: Vec<(usize, f64)> = inside
            .map(|&(part, _)| (part, own / self.own[part]))
            .collect();
        inside.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut chosen: Vec<(usize, f64)> = Vec::new();
        for (part, share) in inside {
            let meets = |other: usize| {
                let pair = (part.max(other), part.min(other));
                self.pairs.contains(&pair)
            };
            if !chosen.iter().any(|(other, _)| meets(*other)) {
                chosen.push((part, share));
            }
        }
        let filled: f64 = chosen.iter().map(|(_, share)| share).sum();
        ((filled - 1.0).abs() < GAP).then_some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::{Aggregate, Polygon, Region};

    fn squares(of: &[(f64, f64, f64)]) -> Functionals {
        let mut set = Functionals::new(vec!["x".into(), "y".into()]);
        for &(x, y, side) in of {
            let square = Polygon::rectangle((x, x + side), (y, y + side)).unwrap();
            set.push_region(Region::from(square), Aggregate::Sum)
                .unwrap();
        }
        set
    }

    #[test]
    fn a_region_is_known_as_the_parts_that_fill_it() {
        let observed = squares(&[
            (0.0, 0.0, 1.0),
            (1.0, 0.0, 1.0),
            (0.0, 1.0, 1.0),
            (1.0, 1.0, 1.0),
        ]);
        let at = squares(&[
            (0.0, 0.0, 2.0),
            (0.5, 0.0, 1.0),
            (1.0, 0.0, 1.0),
            (0.0, 0.0, 3.0),
        ]);
        let found = unions(&observed.averaged(), &at).unwrap();
        let mut rows: Vec<usize> = found.keys().copied().collect();
        rows.sort_unstable();
        // Not the one that straddles two, nor the one with room left.
        assert_eq!(rows, [0, 2]);
        assert_eq!((found[&0].len(), found[&0].atoms(0).len()), (1, 4));
        assert!((found[&0].size(0) - 4.0).abs() < 1e-12);
        assert_eq!(found[&2].atoms(0).len(), 1);
    }

    /// A gap of some hundred-thousandths of the area is no gap, one of a ten-thousandth is.
    #[test]
    fn slivers_do_not_matter() {
        let found = |gap: f64| {
            let observed = squares(&[(0.0, 0.0, 1.0), (1.0 + gap, 0.0, 1.0 - gap)]);
            let mut at = Functionals::new(vec!["x".into(), "y".into()]);
            let both = Polygon::rectangle((0.0, 2.0), (0.0, 1.0)).unwrap();
            at.push_region(Region::from(both), Aggregate::Sum).unwrap();
            unions(&observed.averaged(), &at).unwrap().len()
        };
        assert_eq!([0.0, 4e-5, 1e-4, 1e-2].map(found), [1, 1, 0, 0]);
    }

    #[test]
    fn overlapping_parts_are_not_counted_twice() {
        let observed = squares(&[(0.0, 0.0, 1.0), (0.0, 0.0, 2.0), (1.0, 1.0, 1.0)]);
        let at = squares(&[(0.0, 0.0, 2.0)]);
        let found = unions(&observed.averaged(), &at).unwrap();
        assert_eq!(found[&0].atoms(0).len(), 1);
    }

    /// What is several regions already has its nodes, whatever they are.
    #[test]
    fn only_single_regions_are_made_up() {
        let observed = squares(&[(0.0, 0.0, 1.0), (1.0, 0.0, 1.0)]);
        let pair = observed.averaged().into_one_row(&[1.0, 1.0]);
        assert_eq!(pair.atoms(0).len(), 2);
        assert!(unions(&observed.averaged(), &pair).unwrap().is_empty());
    }
}
