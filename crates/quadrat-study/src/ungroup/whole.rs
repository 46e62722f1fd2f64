//! A population that is the sum of the others, such as the row of totals of a table.

use std::collections::HashMap;

use super::group::Group;

/// Counts that differ by less than this part of them are the same: sums of decimals.
const SAME: f64 = 1e-9;
/// Fewer populations than this, with the sum, may be alike by chance.
const FEWEST: usize = 3;

/// What to say of populations that have in every band what all others have together: in tables that
/// are added up they count twice.
pub fn warnings(groups: &[Group]) -> Vec<String> {
    let mut alike: HashMap<Vec<u64>, Vec<&Group>> = HashMap::new();
    for group in groups {
        let edges = group.lower.iter().chain(&group.upper);
        let key = edges.map(|x| x.to_bits()).collect();
        alike.entry(key).or_default().push(group);
    }
    let sums = |all: &[&Group]| -> Vec<f64> {
        let bands = 0..all[0].counts.len();
        bands
            .map(|b| all.iter().map(|g| g.counts[b]).sum())
            .collect()
    };
    let wholes = alike
        .values()
        .filter(|all| all.len() >= FEWEST)
        .flat_map(|all| {
            let sums = sums(all);
            let is_whole = move |group: &&&Group| {
                let mut pairs = group.counts.iter().zip(&sums);
                pairs.all(|(own, sum)| (2.0 * own - sum).abs() <= SAME * sum)
            };
            all.iter()
                .filter(is_whole)
                .map(|group| group.words())
                .collect::<Vec<String>>()
        });
    let mut names: Vec<String> = wholes.collect();
    names.sort_unstable();
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
            warnings(&all)
        };
        let told = with(&[1.1 + 2.2, 7.0]);
        assert!(told.len() == 1 && told[0].contains("`Total`"), "{told:?}");
        assert!(with(&[3.3, 7.1]).is_empty());
        // Two that are the same are no sum.
        assert!(warnings(&[parts[0].clone(), parts[0].clone()]).is_empty());
    }
}
