//! Moments on a grid beside those of every dispersion by itself.

use super::count_rows::CountRows;
use super::local::{Belief, Change, Expected};
use crate::link::Link;

const DISPERSIONS: [f64; 8] = [1e-17, 1e-9, 1e-4, 0.03, 0.4, 2.0, 50.0, 1e6];

/// The largest differences of `log Z`, and of mean and variance in units of the cavity, and how
/// many moments came from the grid.
fn worst(lower: f64, upper: f64, is_coarse: bool) -> ([f64; 3], usize, usize) {
    let rows = CountRows::new(vec![lower], vec![upper], vec![2.0], Link::Exp).unwrap();
    let mut worst: [f64; 3] = [0.0; 3];
    let (mut on_grid, mut all) = (0, 0);
    for away in [-4.0, -1.0, 0.0, 0.5, 3.0] {
        for variance in [1e-3, 0.05, 0.5, 3.0] {
            let cavity = Belief {
                mean: (0.5 * (lower + 0.5)).ln() + away,
                variance,
            };
            let mut got = [Change::default(); DISPERSIONS.len()];
            rows.tilted_over(0, &DISPERSIONS, cavity, is_coarse, &mut got);
            for (got, dispersion) in got.into_iter().zip(DISPERSIONS) {
                let want = Change::of(rows.tilted(0, dispersion, cavity), cavity);
                let off = [
                    (got.log_z - want.log_z) / (1.0 + want.log_z.abs()),
                    (got.moved - want.moved) / variance.sqrt(),
                    (got.lost - want.lost) / variance,
                ];
                for (worst, off) in worst.iter_mut().zip(off) {
                    *worst = worst.max(off.abs());
                }
                all += 1;
                on_grid += usize::from(got != want);
            }
        }
    }
    (worst, on_grid, all)
}

#[test]
fn moments_on_a_grid_are_those_of_every_dispersion() {
    let (mut on_grid, mut all) = (0, 0);
    for y in [0.0, 1.0, 3.0, 12.0, 45.0, 150.0, 3000.0] {
        for upper in [y, f64::INFINITY] {
            let (off, ours, of) = worst(y, upper, false);
            // Of the cavity; the other way has rules of its own, good to some 1e-9.
            assert!(off[0] < 1e-9, "{y} {upper}: {off:?}");
            assert!(off[1] < 2e-8 && off[2] < 2e-8, "{y} {upper}: {off:?}");
            on_grid += ours;
            all += of;
        }
    }
    // Narrow densities far from a wide cavity, and tails that leave nothing, are done one by one.
    assert!(2 * on_grid > all, "{on_grid} of {all}");
}

/// Far below its edge an open row is all but a difference of ones: it must not be taken from there.
#[test]
fn tails_that_leave_little_are_told_to_their_own_digits() {
    for y in [20.0, 150.0, 400.0] {
        let rows = CountRows::new(vec![y], vec![f64::INFINITY], vec![2.0], Link::Exp).unwrap();
        for below in [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] {
            for variance in [0.01, 0.5] {
                let cavity = Belief {
                    mean: (0.5 * y).ln() - below * f64::sqrt(variance),
                    variance,
                };
                for dispersion in [1e-17, 1e-4, 0.1] {
                    let mut got = [Change::default()];
                    rows.tilted_over(0, &[dispersion], cavity, false, &mut got);
                    let want = Change::of(rows.tilted(0, dispersion, cavity), cavity);
                    let left = variance - want.lost;
                    let off = [
                        got[0].log_z - want.log_z,
                        (got[0].moved - want.moved) / left.sqrt(),
                        (got[0].lost - want.lost) / left,
                    ];
                    // In units of what the row leaves of the cavity, which is less than that.
                    let near = off.iter().all(|off| off.abs() < 1e-7);
                    assert!(near, "{y} {below} {variance} {dispersion}: {off:?}");
                }
            }
        }
    }
}

#[test]
fn clipped_means_and_large_counts_are_done_one_by_one() {
    let rows = CountRows::new(vec![10.0, 1e6], vec![10.0, 1e6], vec![1.0; 2], Link::Exp).unwrap();
    for (row, mean) in [(0, 700.0), (1, 14.0)] {
        let belief = Belief {
            mean,
            variance: 1.0,
        };
        let mut got = [Expected::default()];
        rows.expected_over(row, &[1.0], belief, &mut got);
        assert_eq!(got[0], rows.expected(row, 1.0, belief));
    }
    let cavity = Belief {
        mean: 14.0,
        variance: 1e-6,
    };
    let mut got = [Change::default()];
    rows.tilted_over(1, &[1.0], cavity, false, &mut got);
    assert_eq!(got[0], Change::of(rows.tilted(1, 1.0, cavity), cavity));
}

#[test]
fn few_nodes_are_enough_for_a_search() {
    for y in [0.0, 1.0, 3.0, 12.0, 45.0] {
        for upper in [y, f64::INFINITY] {
            let (off, ..) = worst(y, upper, true);
            // What a search is promised of a coarse grid.
            assert!(off.iter().all(|off| *off < 1e-6), "{y} {upper}: {off:?}");
        }
    }
}

#[test]
fn expectations_on_a_grid_are_those_of_every_dispersion() {
    let mut on_grid = 0;
    for y in [0.0, 1.0, 12.0, 150.0, 3000.0] {
        let rows = CountRows::new(vec![y], vec![y], vec![2.0], Link::Exp).unwrap();
        for away in [-4.0, 0.0, 3.0] {
            for variance in [1e-3, 0.05, 0.5, 3.0, 1e5] {
                let belief = Belief {
                    mean: (0.5 * (y + 0.5)).ln() + away,
                    variance,
                };
                let mut got = [Expected::default(); DISPERSIONS.len()];
                rows.expected_over(0, &DISPERSIONS, belief, &mut got);
                for (got, dispersion) in got.into_iter().zip(DISPERSIONS) {
                    let want = rows.expected(0, dispersion, belief);
                    // As of moments above: the other way is good to some 1e-9.
                    let near = |got: f64, want: f64| (got - want).abs() < 1e-9 * (1.0 + want.abs());
                    let all = near(got.value, want.value)
                        && near(got.first, want.first)
                        && near(got.second, want.second);
                    assert!(all, "{y} {dispersion} {belief:?}: {got:?} {want:?}");
                    on_grid += usize::from(got != want);
                }
            }
        }
    }
    // All but the widest beliefs, whose grid would be long.
    assert!(
        on_grid > 5 * 3 * 4 * DISPERSIONS.len() * 9 / 10,
        "{on_grid}"
    );
}
