//! Bands that hardly anybody is in leave the others as they are.

use super::bands;
use crate::ungroup::{Estimate, Ungroup, Warning, Year};

/// Widths and middles of ages beside those of another estimate: the largest ratio of widths, either
/// way, and how far means are apart in widths.
fn beside(found: &Estimate, other: &Estimate, ages: &[usize], shift: usize) -> (f64, f64) {
    let width = |of: &Estimate, i: usize| of.upper()[i] - of.lower()[i];
    let each = ages.iter().map(|&age| {
        let (own, want) = (width(found, age), width(other, age - shift));
        let apart = (found.mean()[age] - other.mean()[age - shift]).abs() / want;
        ((own / want).max(want / own), apart)
    });
    each.fold((0.0, 0.0), |(a, b), (x, y)| {
        (f64::max(a, x), f64::max(b, y))
    })
}

fn is_apart(found: &Estimate, edges: (f64, f64)) -> bool {
    let is = |w: &Warning| matches!(w, Warning::Apart { from, to, .. } if (*from, *to) == edges);
    found.warnings().iter().any(is)
}

const AGES: [usize; 5] = [22, 25, 45, 65, 75];

#[test]
fn bands_of_hardly_anybody_say_nothing_against_the_others() {
    let (from, to, mut people) = bands();
    let without = Ungroup::new(&from[1..], &to[1..]);
    let without = without.estimate(&people[1..]).unwrap();
    for few in [0.0, 1.0, 10.0, 30.0] {
        people[0] = few;
        let found = Ungroup::new(&from, &to).estimate(&people).unwrap();
        assert!(
            is_apart(&found, (0.0, 10.0)),
            "{few}: {:?}",
            found.warnings()
        );
        assert!((found.mean()[..10].iter().sum::<f64>() - few).abs() < 1e-9);
        let (widths, apart) = beside(&found, &without, &AGES, 10);
        // Ends of intervals of a thousand draws have errors of a tenth of an sd. With one level for
        // all bands widths were three to six times those without the band.
        assert!(widths < 1.5 && apart < 0.25, "{few}: {widths} {apart}");
    }
}

#[test]
fn an_empty_band_within_says_nothing_against_the_others() {
    let (from, to, mut people) = bands();
    let builder = Ungroup::new(&from, &to);
    let full = builder.estimate(&people).unwrap();
    people[3] = 0.0;
    let found = builder.estimate(&people).unwrap();
    assert!(is_apart(&found, (30.0, 40.0)), "{:?}", found.warnings());
    let (widths, apart) = beside(&found, &full, &[5, 15, 45, 65, 75], 0);
    // As above; and one neighbour less says less of the years beside.
    assert!(widths < 1.8 && apart < 0.4, "{widths} {apart}");
}

/// In a village nobody in a band is no sign of anything.
#[test]
fn small_counts_are_not_apart() {
    let from: Vec<f64> = (0..18).map(|b| 5.0 * f64::from(b)).collect();
    let mut to: Vec<f64> = from.iter().map(|x| x + 5.0).collect();
    to[17] = f64::INFINITY;
    let people = [
        3.0, 0.0, 2.0, 0.0, 0.0, 1.0, 4.0, 0.0, 2.0, 3.0, 6.0, 5.0, 7.0, 4.0, 0.0, 2.0, 1.0, 0.0,
    ];
    let found = Ungroup::new(&from, &to).draws(200);
    let found = found.estimate(&people).unwrap();
    let is = |w: &Warning| matches!(w, Warning::Apart { .. } | Warning::HeapedBands { .. });
    assert!(!found.warnings().iter().any(is), "{:?}", found.warnings());
}

#[test]
fn bands_are_apart_in_several_years_too() {
    let (from, to, mut people) = bands();
    let mut later: Vec<f64> = people.iter().map(|n| 1.05 * n).collect();
    let years = |first: usize, a: &[f64], b: &[f64]| {
        let asked = Ungroup::new(&from[first..], &to[first..]).draws(200);
        let year = |at, counts| Year {
            at,
            counts,
            bands: None,
        };
        let all = [year(2000.0, &a[first..]), year(2005.0, &b[first..])];
        asked.estimate_along(&all, 0).unwrap()
    };
    let without = years(1, &people, &later);
    (people[0], later[0]) = (0.0, 4.0);
    let found = years(0, &people, &later);
    for (found, without) in found.iter().zip(&without) {
        assert!(is_apart(found, (0.0, 10.0)), "{:?}", found.warnings());
        let (widths, apart) = beside(found, without, &AGES, 10);
        // Ends of intervals of two hundred draws have errors of a quarter of an sd.
        assert!(widths < 1.8 && apart < 0.4, "{widths} {apart}");
    }
}
