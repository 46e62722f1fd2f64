//! Bands of totals that look like a partition of a range and are none: ages written `0` to `4` and
//! `5` to `9`, a band that is missing, one whose edge is mistyped.

use std::collections::BTreeMap;

use quadrat::likelihood::Likelihood as Reported;

use super::Observed;
use crate::numbers::{count, human};
use crate::study::support::Aggregate;

/// Fewer bands are no partition that one could be sure of.
const FEWEST: usize = 4;
/// Edges nearer than this part of the whole range are one.
const SAME: f64 = 1e-9;
/// How many gaps or overlaps are named.
const NAMED: usize = 3;

/// A band: its edges.
type Band = (f64, f64);

/// What to say of every table whose bands leave gaps or overlap where most of them touch.
pub(super) fn warnings(tables: &[Observed]) -> Vec<String> {
    tables.iter().filter_map(told).collect()
}

fn told(table: &Observed) -> Option<String> {
    let places = &table.places;
    // What was added between readings begins where the reading before was made.
    if places.aggregate != Some(Aggregate::Sum) || places.shapes.is_some() || table.are_increments {
        return None;
    }
    let mut boxes = places.dims.iter().filter(|dim| dim.second.is_some());
    let (Some(along), None) = (boxes.next(), boxes.next()) else {
        return None;
    };
    // Bands of one year, sex or region partition it by themselves.
    let points = || places.dims.iter().filter(|dim| dim.second.is_none());
    let mut groups: BTreeMap<Vec<u64>, Vec<Band>> = BTreeMap::new();
    for row in 0..places.len() {
        let key = points().map(|dim| dim.first[row].to_bits()).collect();
        groups.entry(key).or_default().push(along.ends(row));
    }
    // Counts that overlap are taken apart, or named, by what knows of events counted twice.
    let are_values = matches!(table.likelihood, Reported::Gaussian(_));
    let mut found = groups
        .values()
        .filter_map(|bands| of_group(bands, are_values));
    let first = found.next()?;
    let more = match found.count() {
        0 => String::new(),
        more => format!(
            "; so do those of {} further of its groups",
            count(more, "group")
        ),
    };
    let (name, what) = (table.table.name(), first.words(&along.name));
    Some(format!("{name}: {what}{more}"))
}

/// What is wrong with bands that should partition a range.
#[derive(Debug, PartialEq)]
enum Fault {
    /// All bands end short of the next by the same.
    Inclusive { gap: f64, first: Band, next: f64 },
    /// Some leave gaps or overlap.
    Broken {
        gaps: Vec<Band>,
        overlaps: Vec<Band>,
    },
}

impl Fault {
    fn words(&self, dim: &str) -> String {
        match self {
            Self::Inclusive { gap, first, next } => format!(
                "its bands of `{dim}` end {} before the next one begins, so that nothing is said of what lies between, and all of it is told of too narrow bands: one from {} that is followed by {} ends at {}; write the edge where the next band begins",
                human(*gap),
                human(first.0),
                human(*next),
                human(*next),
            ),
            Self::Broken { gaps, overlaps } => {
                let some = |what: &str, found: &[Band]| match found {
                    [] => None,
                    found => Some(format!(
                        "{} ({}{})",
                        count(found.len(), what),
                        found
                            .iter()
                            .take(NAMED)
                            .map(range)
                            .collect::<Vec<_>>()
                            .join(", "),
                        if found.len() > NAMED { ", .." } else { "" }
                    )),
                };
                let told: Vec<String> = [some("gap", gaps), some("overlap", overlaps)]
                    .into_iter()
                    .flatten()
                    .collect();
                format!(
                    "its bands of `{dim}` touch each other but for {}: is a band missing, or an edge mistyped? If this is meant, all is well",
                    told.join(" and ")
                )
            }
        }
    }
}

fn range(band: &Band) -> String {
    format!("{} to {}", human(band.0), human(band.1))
}

fn of_group(bands: &[Band], are_values: bool) -> Option<Fault> {
    let mut bands = bands.to_vec();
    bands.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    bands.dedup();
    let upper = bands
        .iter()
        .map(|band| band.1)
        .fold(f64::NEG_INFINITY, f64::max);
    let near = SAME * (upper - bands.first()?.0);
    without_totals(&mut bands, near);
    if bands.len() < FEWEST {
        return None;
    }
    let apart = bands.windows(2).map(|pair| pair[1].0 - pair[0].1);
    let (mut gaps, mut overlaps, mut touching) = (Vec::new(), Vec::new(), 0);
    for (pair, apart) in bands.windows(2).zip(apart) {
        if apart > near {
            gaps.push((pair[0].1, pair[1].0));
        } else if apart < -near {
            overlaps.push((pair[1].0, pair[0].1.min(pair[1].1)));
        } else {
            touching += 1;
        }
    }
    let least = bands
        .iter()
        .map(|band| band.1 - band.0)
        .fold(f64::INFINITY, f64::min);
    let gap = gaps.first().map_or(0.0, |gap| gap.1 - gap.0);
    let are_alike = gaps
        .iter()
        .all(|other| (other.1 - other.0 - gap).abs() <= near);
    let pairs = bands.len() - 1;
    if are_alike && 5 * gaps.len() >= 4 * pairs && overlaps.is_empty() && gap <= least + near {
        let first = *bands.iter().find(|band| band.1 == gaps[0].0)?;
        return Some(Fault::Inclusive {
            gap,
            first,
            next: gaps[0].1,
        });
    }
    if !are_values {
        overlaps.clear();
    }
    let is_broken = !gaps.is_empty() || !overlaps.is_empty();
    (is_broken && 2 * touching >= pairs).then_some(Fault::Broken { gaps, overlaps })
}

/// Leaves out bands that others make up exactly, such as 0 to 17 beside 0 to 4, 5 to 9, 10 to 17.
fn without_totals(bands: &mut Vec<Band>, near: f64) {
    let all = bands.clone();
    bands.retain(|total| {
        // Walks from the lower edge along bands within to the upper one.
        let mut at = total.0;
        while at < total.1 - near {
            let within = all.iter().filter(|band| {
                let begins_here = (band.0 - at).abs() <= near;
                // Beside a band of enormous width others are no wider than what counts as near.
                begins_here && band.1 > at && band.1 <= total.1 + near && *band != total
            });
            match within.map(|band| band.1).min_by(f64::total_cmp) {
                Some(next) => at = next,
                None => return true,
            }
        }
        false
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages(edges: &[(i32, i32)]) -> Vec<Band> {
        edges
            .iter()
            .map(|&(a, b)| (f64::from(a), f64::from(b)))
            .collect()
    }

    #[test]
    fn bands_beside_an_enormous_one_are_walked_once() {
        for lower in [0.0, 2.0] {
            let bands = [ages(&[(0, 1), (1, 2), (2, 3)]), vec![(lower, 1e16)]].concat();
            // The others are narrower than what counts as near: one band is left.
            assert_eq!(of_group(&bands, true), None);
        }
    }

    #[test]
    fn bands_that_touch_are_fine_in_any_order_and_beside_their_totals() {
        let fine = ages(&[(5, 9), (0, 5), (9, 20), (20, 60), (60, 90)]);
        assert_eq!(of_group(&fine, true), None);
        let totals = [fine.clone(), ages(&[(0, 20), (0, 90), (9, 60)])].concat();
        assert_eq!(of_group(&totals, true), None);
    }

    #[test]
    fn bands_with_both_ends_included_are_found() {
        let bands = ages(&[(0, 4), (5, 9), (10, 14), (15, 19), (20, 24), (25, 29)]);
        let fault = of_group(&bands, true).unwrap();
        assert_eq!(
            fault,
            Fault::Inclusive {
                gap: 1.0,
                first: (0.0, 4.0),
                next: 5.0
            }
        );
        let words = fault.words("age");
        assert!(
            words.contains("from 0 that is followed by 5 ends at 5"),
            "{words}"
        );
        // Also where the last is open in the table and was given an end.
        let open = [bands, ages(&[(30, 105)])].concat();
        assert!(matches!(
            of_group(&open, false),
            Some(Fault::Inclusive { .. })
        ));
    }

    #[test]
    fn a_missing_band_and_a_mistyped_edge_are_named() {
        let missing = ages(&[(0, 10), (10, 20), (30, 40), (40, 50), (50, 60)]);
        let gaps = vec![(20.0, 30.0)];
        assert_eq!(
            of_group(&missing, false),
            Some(Fault::Broken {
                gaps,
                overlaps: vec![]
            })
        );
        let mistyped = ages(&[(0, 10), (10, 25), (20, 30), (30, 40), (40, 50)]);
        let overlaps = vec![(20.0, 25.0)];
        assert_eq!(
            of_group(&mistyped, true),
            Some(Fault::Broken {
                gaps: vec![],
                overlaps
            })
        );
        assert_eq!(
            of_group(&mistyped, false),
            None,
            "told of by the counts themselves"
        );
    }

    #[test]
    fn bands_that_were_never_a_partition_are_left_alone() {
        // Hours of opening, intervals as they came.
        assert_eq!(
            of_group(&ages(&[(9, 17), (33, 41), (57, 65), (81, 89)]), true),
            None
        );
        assert_eq!(
            of_group(&ages(&[(0, 3), (2, 9), (4, 5), (1, 8), (7, 12)]), true),
            None
        );
    }
}
