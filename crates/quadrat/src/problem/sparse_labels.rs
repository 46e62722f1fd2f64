//! Inducing points of kernels with labels.
//!
//! Under `se(x) + iid(site)` a value at a place is a sum of two functions, and points of all places
//! tell them apart only together. So some points have no label: their values are those of `se(x)`
//! alone. Beside them every label has one, at the place of one without: the difference of the two
//! is the effect of the label. Under `se(t) * iid(site)` every label has several, along `t`.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::InputError;
use crate::inference::sparse::k_means;
use crate::kernel::{Kernel, Kind, NO_LABEL};

/// Points without a label, unless a number was asked for.
const COMMON: usize = 100;
/// Points of a function that every label has for itself, and of all of them together.
const OWN: usize = 10;
const ALL_OWN: usize = 500;
/// Points of one function that are clustered, at most.
const CLUSTERED: usize = 100_000;

/// Terms of a kernel with the same labels.
struct Group {
    /// Columns of the labels.
    labels: Vec<usize>,
    /// Columns along which the terms vary beside them.
    along: Vec<usize>,
    /// The points of every combination of labels, by their numbers.
    members: Vec<Vec<usize>>,
}

/// How many points there are for what.
struct Shares {
    /// Without a label.
    common: usize,
    /// Of each function that a label has for itself.
    own: usize,
}

/// The inducing points, as coordinates in the columns of the kernel.
///
/// # Arguments
/// * `points` - where the rows look, as coordinates
/// * `count` - how many are wanted, if that was said
///
/// # Errors
/// [`InputError::FewInducing`] for fewer than there are labels.
pub(super) fn with_labels(
    kernel: &Kernel,
    points: &[Vec<f64>],
    count: Option<usize>,
    seed: u64,
) -> Result<Vec<Vec<f64>>, InputError> {
    let groups = groups(kernel, points);
    let shares = shares(&groups, count)?;
    let scales = scales(kernel, points);
    let (common, others): (Vec<&Group>, Vec<&Group>) =
        groups.iter().partition(|group| group.labels.is_empty());
    let mut out: Vec<Vec<f64>> = Vec::new();
    let mut with_labels: Vec<Vec<f64>> = Vec::new();
    for group in others.iter().filter(|group| !group.along.is_empty()) {
        for members in &group.members {
            let chosen = spread(points, members, &group.along, &scales, shares.own, seed);
            with_labels.extend(chosen.into_iter().map(|i| bare(kernel, group, &points[i])));
        }
    }
    let single = |group: &&&Group| group.along.is_empty();
    let singles = others.iter().filter(single);
    let singles: usize = singles.map(|group| group.members.len()).sum();
    for group in common {
        // What labels did not need is theirs.
        let left = count.map_or(0, |count| count.saturating_sub(with_labels.len() + singles));
        let wanted = shares.common.max(left);
        let chosen = spread(
            points,
            &group.members[0],
            &group.along,
            &scales,
            wanted,
            seed,
        );
        out.extend(chosen.into_iter().map(|i| bare(kernel, group, &points[i])));
    }
    let columns = kernel.label_columns();
    for group in others.iter().filter(single) {
        for members in &group.members {
            let own = &points[members[0]];
            // At a place of a point without a label, from which it differs by its effect.
            let mut place = nearest(&out, own, &columns, &scales)
                .cloned()
                .unwrap_or_else(|| bare(kernel, group, own));
            group.labels.iter().for_each(|&d| place[d] = own[d]);
            with_labels.push(place);
        }
    }
    out.extend(with_labels);
    Ok(out)
}

/// Terms by their labels, with the points of each combination.
fn groups(kernel: &Kernel, points: &[Vec<f64>]) -> Vec<Group> {
    let mut found: BTreeMap<Vec<usize>, BTreeSet<usize>> = BTreeMap::new();
    for term in kernel.terms() {
        let leaves = || term.iter().map(|&leaf| &kernel.leaves()[leaf]);
        let labels = leaves().filter(|leaf| leaf.kind == Kind::Iid);
        let labels: BTreeSet<usize> = labels.flat_map(|leaf| leaf.columns.clone()).collect();
        let others = leaves().filter(|leaf| leaf.kind != Kind::Iid);
        let along = found.entry(labels.into_iter().collect()).or_default();
        along.extend(others.flat_map(|leaf| leaf.columns.clone()));
    }
    let members = |labels: &[usize]| -> Vec<Vec<usize>> {
        let mut of: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
        for (i, point) in points.iter().enumerate() {
            let key = labels.iter().map(|&d| (point[d] + 0.0).to_bits()).collect();
            of.entry(key).or_default().push(i);
        }
        of.into_values().collect()
    };
    found
        .into_iter()
        .map(|(labels, along)| Group {
            members: members(&labels),
            labels,
            along: along.into_iter().collect(),
        })
        .collect()
}

/// How many points every function has.
fn shares(groups: &[Group], count: Option<usize>) -> Result<Shares, InputError> {
    let sizes = |keep: &dyn Fn(&Group) -> bool| -> usize {
        let kept = groups.iter().filter(|group| keep(group));
        kept.map(|group| group.members.len()).sum()
    };
    let common = sizes(&|group| group.labels.is_empty());
    let singles = sizes(&|group| !group.labels.is_empty() && group.along.is_empty());
    let own = sizes(&|group| !group.labels.is_empty() && !group.along.is_empty());
    let least = common + singles + own;
    let Some(count) = count else {
        return Ok(Shares {
            common: COMMON,
            own: (ALL_OWN / own.max(1)).clamp(1, OWN),
        });
    };
    if count < least {
        return Err(InputError::FewInducing {
            asked: count,
            least,
        });
    }
    let rest = count - singles;
    let of_common = match (common, own) {
        (0, _) => 0,
        (_, 0) => rest,
        _ => (rest / 2).clamp(1, rest - own),
    };
    Ok(Shares {
        common: of_common,
        own: (rest - of_common) / own.max(1),
    })
}

/// The standard deviation of every column, one where it is constant.
fn scales(kernel: &Kernel, points: &[Vec<f64>]) -> Vec<f64> {
    let n = points.len().max(1) as f64;
    let of = |d: usize| {
        let mean = points.iter().map(|x| x[d]).sum::<f64>() / n;
        let square = points.iter().map(|x| (x[d] - mean).powi(2)).sum::<f64>() / n;
        if square > 0.0 { square.sqrt() } else { 1.0 }
    };
    (0..kernel.columns().len()).map(of).collect()
}

/// Some of the points, spread along some columns.
fn spread(
    points: &[Vec<f64>],
    members: &[usize],
    along: &[usize],
    scales: &[f64],
    count: usize,
    seed: u64,
) -> Vec<usize> {
    let kept = members.len().min(CLUSTERED.max(count));
    let kept: Vec<usize> = (0..kept)
        .map(|i| members[(i as u128 * members.len() as u128 / kept as u128) as usize])
        .collect();
    let column = |&d: &usize| kept.iter().map(|&i| points[i][d] / scales[d]).collect();
    let mut columns: Vec<Vec<f64>> = along.iter().map(column).collect();
    if columns.is_empty() {
        // A level: one point is enough.
        columns.push(vec![0.0; kept.len()]);
    }
    let chosen = k_means(&columns, count, seed).into_iter();
    chosen.map(|i| kept[i]).collect()
}

/// A place with the labels of a group only.
fn bare(kernel: &Kernel, group: &Group, place: &[f64]) -> Vec<f64> {
    let mut place = place.to_vec();
    for d in kernel.label_columns() {
        if !group.labels.contains(&d) && !group.along.contains(&d) {
            place[d] = NO_LABEL;
        }
    }
    place
}

/// The place nearest to another, labels aside.
fn nearest<'a>(
    places: &'a [Vec<f64>],
    to: &[f64],
    labels: &[usize],
    scales: &[f64],
) -> Option<&'a Vec<f64>> {
    let distance = |place: &Vec<f64>| -> f64 {
        let columns = (0..to.len()).filter(|d| !labels.contains(d));
        columns
            .map(|d| ((place[d] - to[d]) / scales[d]).powi(2))
            .sum()
    };
    places
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six sites with five points each.
    fn points() -> Vec<Vec<f64>> {
        let place = |i: usize| vec![(0.618_034 * i as f64).fract(), (i % 6) as f64];
        (0..30).map(place).collect()
    }

    fn chosen(kernel: &str, count: Option<usize>) -> Result<Vec<Vec<f64>>, InputError> {
        with_labels(&kernel.parse().unwrap(), &points(), count, 1)
    }

    #[test]
    fn every_label_has_a_point_at_the_place_of_one_without() {
        let all = chosen("se(x) + iid(site)", Some(16)).unwrap();
        assert_eq!(all.len(), 16);
        let (without, with): (Vec<_>, Vec<_>) = all.iter().partition(|z| z[1] == NO_LABEL);
        assert_eq!((without.len(), with.len()), (10, 6));
        for z in with {
            assert!(without.iter().any(|other| other[0] == z[0]), "{z:?}");
        }
        assert_eq!(chosen("se(x) + iid(site)", None).unwrap().len(), 36);
    }

    #[test]
    fn functions_of_labels_have_points_along_them() {
        let all = chosen("se(x) * iid(site)", Some(20)).unwrap();
        // Three of each, and none without: their values would be zero.
        assert_eq!(all.len(), 18);
        for site in 0..6 {
            let own = all.iter().filter(|z| z[1] == f64::from(site));
            assert_eq!(own.count(), 3);
        }
        let all = chosen("se(x) + se(x) * iid(site)", Some(40)).unwrap();
        let without = all.iter().filter(|z| z[1] == NO_LABEL).count();
        assert_eq!((all.len(), without), (40, 22));
    }

    #[test]
    fn fewer_than_the_labels_are_refused() {
        let error = chosen("se(x) + iid(site)", Some(6)).unwrap_err();
        assert_eq!(error, InputError::FewInducing { asked: 6, least: 7 });
        assert_eq!(chosen("se(x) + iid(site)", Some(7)).unwrap().len(), 7);
    }
}
