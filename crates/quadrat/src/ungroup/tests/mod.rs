//! Whole estimates.

use super::*;

/// Ten-year bands of a smooth population, the last one open.
fn bands() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let from: Vec<f64> = (0..10).map(|b| 10.0 * f64::from(b)).collect();
    let mut to: Vec<f64> = from.iter().map(|x| x + 10.0).collect();
    to[9] = f64::INFINITY;
    let people = vec![
        4557.0, 4512.0, 4474.0, 4569.0, 4157.0, 4284.0, 3886.0, 2410.0, 1005.0, 271.0,
    ];
    (from, to, people)
}

#[test]
fn every_draw_meets_every_band() {
    let (from, to, people) = bands();
    let years = Ungroup::new(&from, &to)
        .draws(400)
        .estimate(&people)
        .unwrap();
    let draws = years.draws(300);
    assert_eq!((draws.nrows(), draws.ncols()), (110, 300));
    for k in 0..300 {
        let draw = draws.col_as_slice(k);
        assert!(draw.iter().all(|x| *x >= 0.0));
        for (band, want) in people.iter().enumerate() {
            let end = if band == 9 { 110 } else { 10 * band + 10 };
            let got: f64 = draw[10 * band..end].iter().sum();
            assert!((got / want - 1.0).abs() < 1e-9);
        }
    }
    assert!(years.effective() > 0.5, "{}", years.effective());
    assert!(years.warnings().is_empty(), "{:?}", years.warnings());
}
