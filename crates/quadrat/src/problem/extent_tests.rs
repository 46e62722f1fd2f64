use super::*;

fn points(x: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    x.into_iter().map(|x| (x, x)).collect()
}

fn bands(edges: &[f64]) -> Vec<(f64, f64)> {
    edges.windows(2).map(|e| (e[0], e[1])).collect()
}

/// The extent with a few rows more is that without them, to the last digit.
#[test]
fn far_rows_leave_the_extent_as_it_is() {
    let years: Vec<f64> = (0..24).map(|i| 2000.0 + f64::from(i)).collect();
    let near = [
        points(years.clone()),
        points((0..12).map(|i| 1e-3 * f64::from(i * i))),
        bands(&[0.0, 5.0, 10.0, 20.0, 30.0, 50.0, 80.0]),
        bands(&years),
    ];
    for rows in near {
        let (lower, upper) = hull(&rows);
        let reach = (upper - lower).max(upper.abs());
        for distance in [20.0, 1e3, 1e6, 1e12] {
            let d = distance * reach;
            let others: [Vec<(f64, f64)>; 6] = [
                points([-d]),
                points([d]),
                vec![(-d, d)],
                vec![(upper, d)],
                points([-d, d]),
                points([d, 100.0 * d]),
            ];
            for far in others {
                // At most a quarter.
                if 3 * far.len() > rows.len() {
                    continue;
                }
                let all: Vec<_> = far.iter().chain(&rows).copied().collect();
                let found = Extent::of(&all);
                assert!(found.has_far, "{far:?} beside {rows:?}");
                assert_eq!((found.lower, found.upper), (lower, upper), "{far:?}");
                assert!(found.crowding().is_none() && found.within().is_none());
                assert!(!found.holds(far[0]) && found.holds(rows[1]));
            }
        }
    }
}

#[test]
fn designs_without_a_far_row_have_their_whole_extent() {
    let golden = |i: u32| f64::from(i) * 0.618_033_988_749_894_9 % 1.0;
    let mut designs: Vec<Vec<(f64, f64)>> = vec![
        points([0.0, 1.0]),
        points([0.0, 1.0, 50.0]),
        // Doses with a control.
        points([0.0, 0.0, 0.0, 0.1, 1.0, 10.0, 100.0, 1000.0]),
        points((0..9).map(|i| 10f64.powi(i))),
        points((0..40).map(|i| 2f64.powi(i))),
        bands(&[0.0, 1e3, 1e4, 1e5, 1e6, 1e7]),
        bands(&[0.0, 15.0, 25.0, 45.0, 65.0, 85.0, 120.0]),
        // Totals from the first day on.
        (1..30).map(|i| (0.0, f64::from(i))).collect(),
        // Two sites with as many places each, and repeated places.
        points((0..20).map(|i| f64::from(i % 10) + f64::from(i / 10) * 1e6)),
        points((0..40).map(|i| f64::from(i % 4) * 100.0)),
        // Heavy tails, as incomes have them.
        points((1..300).map(|i| (1.0 / golden(i)).powf(0.8))),
        points((0..12).map(|i| 1e14 + f64::from(i))),
    ];
    designs.extend((2..60).map(|n| points((0..n).map(golden))));
    for rows in designs {
        let found = Extent::of(&rows);
        assert!(!found.has_far, "{rows:?}");
        assert_eq!((found.lower, found.upper), hull(&rows));
        assert!(found.length() > 0.0);
    }
    // Rounding is no extent.
    assert_eq!(Extent::of(&points([0.1 + 0.2, 0.3])).length(), 0.0);
}

#[test]
fn only_crowds_far_apart_have_other_distances_than_their_extent() {
    let crowds =
        |apart: f64| points((0..24).map(|i| f64::from(i % 12) + f64::from(i / 12) * apart));
    let far = Extent::of(&crowds(1e6));
    assert!(!far.has_far);
    assert_eq!(far.within(), Some(23.0));
    // The crowds reach to 1e6 + 11: 1.1e-5 more.
    assert!((far.crowding().unwrap_or(0.0) / (1e6 / 23.0) - 1.0).abs() < 1e-4);
    for even in [
        crowds(30.0),
        points((0..50).map(f64::from)),
        // Each place looked at twice, nearly.
        points((0..20).map(|i| f64::from(i / 2) + 1e-4 * f64::from(i % 2))),
        points((0..12).map(|i| 10f64.powf(0.5 * f64::from(i)))),
    ] {
        let found = Extent::of(&even);
        assert_eq!((found.within(), found.crowding()), (None, None), "{even:?}");
    }
}
