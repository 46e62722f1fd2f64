//! Moments on a grid beside those of every dispersion by itself.

use super::count_rows::CountRows;
use super::local::{Belief, Change, Expected};
use crate::link::Link;

const DISPERSIONS: [f64; 8] = [1e-17, 1e-9, 1e-4, 0.03, 0.4, 2.0, 50.0, 1e6];

/// The largest differences of `log Z`, and of mean and variance in units of the cavity, and how many moments came from the grid.
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
            // The tilted moments of one dispersion are right to 1e-8; a tail of 1e-5 to 1e-10 of itself.
            assert!(off[0] < 1e-9, "{y} {upper}: {off:?}");
            assert!(off[1] < 2e-8 && off[2] < 2e-8, "{y} {upper}: {off:?}");
            on_grid += ours;
            all += of;
        }
    }
    // Narrow densities far from a wide cavity, and tails that leave nothing, are done one by one.
    assert!(2 * on_grid > all, "{on_grid} of {all}");
}

#[test]
fn few_nodes_are_enough_for_a_search() {
    for y in [0.0, 1.0, 3.0, 12.0, 45.0] {
        for upper in [y, f64::INFINITY] {
            let (off, ..) = worst(y, upper, true);
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
