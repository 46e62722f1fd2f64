//! A population that is the sum of the others, such as the row of totals of a table.

use std::collections::BTreeMap;

use super::group::{Group, alike};
use crate::words::clean;

/// Counts that differ by less than this part of them are the same: sums of decimals.
const SAME: f64 = 1e-9;
/// Fewer populations than this, with the sum, may be alike by chance.
const FEWEST: usize = 3;

/// Populations that have in every band what all others of the same bands have together, by their
/// numbers.
pub fn totals(groups: &[Group]) -> Vec<usize> {
    let alike = alike(
        groups
            .iter()
            .enumerate()
            .map(|(at, group)| (group.edges(), at)),
    );
    let of = |all: &[usize]| -> Vec<usize> {
        let bands = 0..groups[all[0]].counts.len();
        let sum = |b: usize| all.iter().map(|&at| groups[at].counts[b]).sum::<f64>();
        let sums: Vec<f64> = bands.map(sum).collect();
        let is_whole = |at: &usize| {
            let mut pairs = groups[*at].counts.iter().zip(&sums);
            pairs.all(|(own, sum)| (2.0 * own - sum).abs() <= SAME * sum)
        };
        all.iter().copied().filter(is_whole).collect()
    };
    let alike = alike.iter().filter(|all| all.len() >= FEWEST);
    let mut totals: Vec<usize> = alike.flat_map(|all| of(all)).collect();
    totals.sort_unstable();
    totals
}

/// What to say of them: in tables that are added up they count twice.
///
/// # Arguments
/// * `has_years` - whether the last part of their names is a year, in which others are compared
pub fn warnings(groups: &[Group], has_years: bool) -> Vec<String> {
    let mut of_year: BTreeMap<&str, Vec<Group>> = BTreeMap::new();
    for group in groups {
        let year = group.name.last().filter(|_| has_years);
        let own = of_year.entry(year.map_or("", String::as_str)).or_default();
        own.push(group.clone());
    }
    let name =
        |group: &Group| clean(&group.name[..group.name.len() - usize::from(has_years)].join(", "));
    let names = of_year.values().flat_map(|own| {
        let names = totals(own).into_iter().map(|at| name(&own[at]));
        names.collect::<Vec<String>>()
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names.dedup();
    let told = |name: String| {
        format!(
            "`{name}` has in every band what all others have together: it is ungrouped by itself, and counted twice in what all have"
        )
    };
    names.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(name: &str, counts: &[f64]) -> Group {
        let edges: Vec<f64> = (0..counts.len()).map(|b| 10.0 * b as f64).collect();
        Group {
            name: vec![name.to_owned()],
            rows: (0..counts.len()).collect(),
            upper: edges.iter().map(|x| x + 10.0).collect(),
            lower: edges,
            counts: counts.to_vec(),
            exposure: None,
        }
    }

    #[test]
    fn a_sum_of_all_others_is_found() {
        let parts = [group("a", &[1.1, 2.0]), group("b", &[2.2, 5.0])];
        let with = |counts: &[f64]| {
            let all = [parts[0].clone(), group("Total", counts), parts[1].clone()];
            warnings(&all, false)
        };
        let told = with(&[1.1 + 2.2, 7.0]);
        assert!(told.len() == 1 && told[0].contains("`Total`"), "{told:?}");
        assert!(with(&[3.3, 7.1]).is_empty());
        // Two that are the same are no sum.
        assert!(warnings(&[parts[0].clone(), parts[0].clone()], false).is_empty());
    }
}
