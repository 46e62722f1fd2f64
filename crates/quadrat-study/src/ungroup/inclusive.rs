//! Upper edges that are the last number inside a band: the ages 0-4 and 5-9.

use super::group::Group;

/// Edges nearer to a multiple of the unit than this part of it are one.
const SAME: f64 = 1e-6;

/// The unit by which every band ends before the next begins: 1 where ages are 0-4 and 5-9, 0.01
/// where amounts are 0-99.99 and 100-199.99. None where bands adjoin, or edges are no multiples of
/// a unit of 1 or a tenth, hundredth or thousandth of it.
///
/// A band that is missing leaves a wider gap, which is nothing to decide by: the unit has to be the
/// gap of half of the pairs at least.
pub fn unit(groups: &[Group]) -> Option<f64> {
    let pairs = groups.iter().flat_map(|group| {
        let pair = |i: usize| (group.lower[i], group.upper[i], group.lower[i + 1]);
        (0..group.rows.len().saturating_sub(1)).map(pair)
    });
    // An open first band ends where its words say, and NaN is an end that is not known yet.
    let closed = pairs.filter(|(from, to, next)| from.is_finite() && to.is_finite() && next > from);
    let gaps: Vec<f64> = closed.map(|(_, to, next)| next - to).collect();
    let units = [1.0, 0.1, 0.01, 0.001];
    let unit = units.into_iter().find(|unit| {
        let same = |gap: &&f64| (**gap - unit).abs() <= SAME * unit;
        2 * gaps.iter().filter(same).count() >= gaps.iter().filter(|gap| **gap > 0.0).count().max(1)
    })?;
    let adjoins = gaps.iter().any(|gap| gap.abs() <= SAME * unit);
    let is_multiple = |x: &f64| {
        let steps = x / unit;
        !x.is_finite() || (steps - steps.round()).abs() <= SAME
    };
    let mut edges = groups
        .iter()
        .flat_map(|group| group.lower.iter().chain(&group.upper));
    (!adjoins && edges.all(is_multiple)).then_some(unit)
}

/// The population and the number of an open last band that begins at the last number inside the one
/// before it, `>89` behind 80-89, where all other bands are such as [`unit`] tells; and the unit.
pub fn held_twice(groups: &[Group]) -> Option<(usize, usize, f64)> {
    let is_open = |group: &Group| group.upper.last() == Some(&f64::INFINITY);
    let closed = groups.iter().cloned().map(|mut group| {
        if is_open(&group) {
            group.rows.pop();
            group.lower.pop();
            group.upper.pop();
        }
        group
    });
    let unit = unit(&closed.collect::<Vec<Group>>())?;
    let at = groups.iter().position(|group| {
        let n = group.rows.len();
        is_open(group) && n > 1 && group.lower[n - 1] == group.upper[n - 2]
    })?;
    Some((at, groups[at].rows.len() - 1, unit))
}

/// Moves upper edges to where bands end; but for that of an open first band that ends where the
/// next begins, as `<15` does.
pub fn moved(group: &mut Group, unit: f64) {
    for i in 0..group.rows.len() {
        let next = group.lower.get(i + 1);
        let adjoins = next.is_some_and(|next| *next == group.upper[i]);
        if group.upper[i].is_finite() && !adjoins {
            // The sum of decimals is the edge to the last digit but one: the next one is meant.
            let end = group.upper[i] + unit;
            let meant = next.filter(|next| (**next - end).abs() <= SAME * unit);
            group.upper[i] = meant.copied().unwrap_or(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    fn group(bands: &[(f64, f64)]) -> Group {
        Group {
            name: Vec::new(),
            rows: (0..bands.len()).collect(),
            lower: bands.iter().map(|b| b.0).collect(),
            upper: bands.iter().map(|b| b.1).collect(),
            counts: vec![1.0; bands.len()],
            exposure: None,
        }
    }

    #[test]
    fn the_last_number_inside_is_moved_to_the_end() {
        for (bands, want, upper) in [
            (
                &[(0.0, 4.0), (5.0, 9.0), (10.0, INF)][..],
                1.0,
                &[5.0, 10.0, INF][..],
            ),
            (&[(0.0, 0.0), (1.0, 1.0), (2.0, 4.0)], 1.0, &[1.0, 2.0, 5.0]),
            (
                &[(-INF, 15.0), (15.0, 19.0), (20.0, INF)],
                1.0,
                &[15.0, 20.0, INF],
            ),
            (
                &[(-INF, 14.0), (15.0, 19.0), (20.0, INF)],
                1.0,
                &[15.0, 20.0, INF],
            ),
            (
                &[(0.0, 99.99), (100.0, 199.99), (200.0, INF)],
                0.01,
                &[100.0, 200.0, INF],
            ),
        ] {
            let mut groups = [group(bands)];
            assert_eq!(unit(&groups), Some(want), "{bands:?}");
            moved(&mut groups[0], want);
            assert_eq!(groups[0].upper, upper, "{bands:?}");
        }
    }

    #[test]
    fn an_open_last_band_that_begins_too_low_is_found() {
        let bands = [(0.0, 9.0), (10.0, 19.0), (20.0, 29.0), (29.0, INF)];
        let wrong = [group(&bands[..3]), group(&bands)];
        assert_eq!(
            (unit(&wrong), held_twice(&wrong)),
            (None, Some((1, 3, 1.0)))
        );
        for bands in [
            &[(0.0, 9.0), (10.0, 19.0), (20.0, INF)][..],
            &[(0.0, 10.0), (10.0, 20.0), (20.0, INF)],
            &[(0.0, INF)],
            &[],
        ] {
            assert_eq!(held_twice(&[group(bands)]), None, "{bands:?}");
        }
    }

    #[test]
    fn other_edges_stay_where_they_are() {
        for bands in [
            &[(0.0, 5.0), (5.0, 10.0), (10.0, INF)][..],
            // One gap of a year among bands that adjoin is a gap.
            &[(0.0, 5.0), (5.0, 9.0), (10.0, 15.0)],
            &[(0.0, 5.0), (7.0, 10.0), (12.0, 15.0)],
            &[(0.5, 4.5), (5.5, 9.5), (10.5, INF)],
            &[(0.0, f64::NAN), (5.0, f64::NAN)],
        ] {
            assert_eq!(unit(&[group(bands)]), None, "{bands:?}");
        }
        // A band is missing in one population: the others tell how edges are meant.
        let whole = group(&[(0.0, 4.0), (5.0, 9.0), (10.0, 14.0)]);
        let torn = group(&[(0.0, 4.0), (10.0, 14.0)]);
        assert_eq!(unit(&[whole, torn]), Some(1.0));
    }
}
