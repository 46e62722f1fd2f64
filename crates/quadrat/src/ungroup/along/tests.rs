//! Several years together.

use super::super::prior::{LEVEL_SD, central, prior};
use super::super::settings::DIMENSIONS;
use super::*;
use crate::linalg::Cholesky;

/// How many of each age there are: cohorts of a boom and of a gap, who are a year older every year.
fn people(year: usize, age: usize) -> f64 {
    let born = 60.0 + year as f64 - age as f64;
    let bump = |at: f64, width: f64| (-0.5 * ((born - at) / width).powi(2)).exp();
    1000.0 * (1.0 + 0.4 * bump(35.0, 2.0) - 0.3 * bump(20.0, 1.5))
}

/// Five-year bands of sixty ages.
fn table(year: usize) -> Vec<f64> {
    let band = |b: usize| (5 * b..5 * b + 5).map(|age| people(year, age)).sum();
    (0..12).map(band).collect()
}

fn edges(width: f64, count: usize) -> (Vec<f64>, Vec<f64>) {
    let from: Vec<f64> = (0..count).map(|b| width * b as f64).collect();
    let to = from.iter().map(|x| x + width).collect();
    (from, to)
}

fn year(at: usize, counts: &[f64]) -> Year<'_> {
    Year {
        at: at as f64,
        counts,
        bands: None,
    }
}

/// Root mean square error and mean width of the intervals of a year.
fn score(estimate: &Estimate, at: usize) -> (f64, f64) {
    let mean = estimate.mean();
    let errors = mean.iter().enumerate().map(|(age, m)| m - people(at, age));
    let widths = estimate.upper().into_iter().zip(estimate.lower());
    let n = mean.len() as f64;
    let error = errors.map(|e| e * e).sum::<f64>() / n;
    (error.sqrt(), widths.map(|(b, a)| b - a).sum::<f64>() / n)
}

/// Bands of other years cut cohorts at other places.
#[test]
fn years_inform_each_other() {
    let (from, to) = edges(5.0, 12);
    let tables: Vec<Vec<f64>> = (0..5).map(table).collect();
    let years: Vec<Year<'_>> = tables
        .iter()
        .enumerate()
        .map(|(at, own)| year(at, own))
        .collect();
    let asked = Ungroup::new(&from, &to).expected().draws(400);
    let together = asked.estimate_along(&years, 0).unwrap();
    let (mut error, mut width) = ([0.0; 2], [0.0; 2]);
    for (at, own) in together.iter().enumerate() {
        let alone = asked.estimate(&tables[at]).unwrap();
        for (k, estimate) in [own, &alone].into_iter().enumerate() {
            let (e, w) = score(estimate, at);
            error[k] += e;
            width[k] += w;
        }
    }
    assert!(error[0] < 0.7 * error[1], "{error:?}");
    assert!(width[0] < 0.8 * width[1], "{width:?}");
}

#[test]
fn every_draw_meets_every_band_of_every_year() {
    let (from, to) = edges(5.0, 12);
    let (wide, far) = edges(10.0, 6);
    let first = table(0);
    let second: Vec<f64> = table(3).chunks(2).map(|pair| pair[0] + pair[1]).collect();
    let years = [
        Year {
            at: 3.0,
            counts: &second,
            bands: Some((&wide, &far)),
        },
        year(0, &first),
    ];
    let asked = Ungroup::new(&from, &to).draws(200);
    let found = asked.estimate_along(&years, 5).unwrap();
    for (estimate, (counts, width)) in found.iter().zip([(&second, 10), (&first, 5)]) {
        let draws = estimate.draws(100);
        assert_eq!(draws.nrows(), 60);
        for k in 0..100 {
            let draw = draws.col_as_slice(k);
            assert!(draw.iter().all(|x| *x >= 0.0));
            for (own, count) in draw.chunks(width).zip(counts) {
                let sum: f64 = own.iter().sum();
                assert!((sum / count - 1.0).abs() < 1e-9, "{sum} {count}");
            }
        }
        assert!(estimate.effective() > 0.3, "{}", estimate.effective());
    }
    // Years are told in the order in which they were given, which changes nothing.
    let turned = asked.estimate_along(&[years[1], years[0]], 5).unwrap();
    assert_eq!(turned[1].mean(), found[0].mean());
    assert_eq!(turned[0].upper(), found[1].upper());
}

#[test]
fn one_year_is_ungrouped_as_one_table() {
    let (from, to) = edges(5.0, 12);
    let counts = table(0);
    let asked = Ungroup::new(&from, &to).draws(200);
    let one = asked.estimate_along(&[year(1990, &counts)], 0).unwrap();
    assert_eq!(one[0].mean(), asked.estimate(&counts).unwrap().mean());
}

/// Where years have nothing to do with each other, each is ungrouped as if it were alone. That
/// checks settings, covariance and draws against those of one table.
#[test]
fn years_far_apart_are_each_by_itself() {
    let (from, to) = edges(5.0, 12);
    let tables = [table(0), table(4)];
    let years = [year(0, &tables[0]), year(1, &tables[1])];
    let asked = Ungroup::new(&from, &to).expected().draws(2000);
    let order = ascending(&years).unwrap();
    let mut checked = asked.checked(&years, &order).unwrap();
    let mut task = asked.joint(&mut checked, &years, 0);
    task.scale.span = 1e-9;
    let sample = task.run().unwrap();
    let found = asked.of_years(&mut checked, &years, sample, 0).unwrap();
    for (estimate, counts) in found.iter().zip(&tables) {
        let alone = asked.estimate(counts).unwrap();
        // Both tables are alike and have one setting, which two say more of than one: widths are
        // not the same to the last digit. A mean of 2,000 draws errs by a fortieth of its sd.
        let (sd, mean) = (alone.sd(), alone.mean());
        for (i, got) in estimate.mean().iter().enumerate() {
            assert!(
                (got - mean[i]).abs() < 0.35 * sd[i],
                "{i}: {got} {} {}",
                mean[i],
                sd[i]
            );
        }
        let [own, other] = [estimate.sd(), sd].map(|sd| sd.iter().sum::<f64>());
        assert!((own / other - 1.0).abs() < 0.2, "{own} {other}");
    }
}

/// Of one year the covariance is that of one table, with and without cohorts.
#[test]
fn the_covariance_of_a_year_is_that_of_one_table() {
    let places: Vec<f64> = (0..7).map(|i| 0.5 + f64::from(i * i)).collect();
    let shape: Vec<f64> = places.iter().map(|x| x / 10.0).collect();
    let term = PriorTerm {
        shape: [shape.clone(), shape.clone()].concat(),
        mean: -0.1,
        sd: 0.3,
    };
    let own_level: Vec<Option<usize>> = (0..7).map(|i| (i < 2).then_some(0)).collect();
    let joint = CellPlaces {
        places: [places.clone(), places.clone()].concat(),
        years: vec![2000.0, 2003.0],
        first: vec![0, 7, 14],
        levels: vec![-1.0, -2.0],
        term: Some(term.clone()),
        apart: [own_level.clone(), own_level.clone()].concat(),
    };
    let scale = UnitScale {
        span: 3.0,
        has_cohorts: true,
    };
    let own = PriorTerm { shape, ..term };
    let level = PriorTerm {
        shape: (0..7).map(|i| f64::from(u8::from(i < 2))).collect(),
        mean: 0.0,
        sd: LEVEL_SD,
    };
    let setting = central(0.15, 49.0);
    let got = joint.prior(&scale.setting(&setting, &[0.0; DIMENSIONS]));
    let want = prior(&setting, &places, (-1.0, LEVEL_SD), &[own, level]);
    for i in 0..7 {
        assert_eq!(got.mean[i], want.mean[i]);
        for j in 0..7 {
            let [a, b] = [got.covariance[(i, j)], want.covariance[(i, j)]];
            assert!((a - b).abs() < 1e-12 * b.abs(), "{a} {b}");
            assert_eq!(got.covariance[(7 + i, 7 + j)], got.covariance[(i, j)]);
        }
    }
    // Half stays at its place, half is with the cohort.
    let [smooth, far, rough, near] = setting;
    let m32 = |d: f64| (1.0 + 3f64.sqrt() * d) * (-3f64.sqrt() * d).exp();
    let (i, j) = (1, 2);
    let [here, cohort] = [places[j] - places[i], places[j] - places[i] - 3.0].map(f64::abs);
    let s = 0.5 * smooth * (m32(here / far) + m32(cohort / far)) * m32(1.0);
    let r = 0.5 * rough * ((-here / near).exp() + (-cohort / near).exp()) * (-1.0f64).exp();
    let tail = 0.09 * places[i] * places[j] / 100.0 * m32(1.0);
    let got_ij = got.covariance[(7 + j, i)];
    assert!((got_ij - s - r - tail).abs() < 1e-12, "{got_ij}");
    assert!(Cholesky::factor(got.covariance.as_ref()).is_ok());
}

#[test]
fn years_that_cannot_be_taken_are_refused() {
    let (from, to) = edges(5.0, 12);
    let asked = Ungroup::new(&from, &to);
    let counts = table(0);
    let told = |years: &[Year<'_>]| asked.estimate_along(years, 0).unwrap_err().to_string();
    assert!(told(&[]).contains("nothing"), "{}", told(&[]));
    let twice = told(&[year(5, &counts), year(4, &counts), year(5, &counts)]);
    assert!(
        twice.contains("years 0 and 2 (counted from 0) are both 5"),
        "{twice}"
    );
    let endless = Year {
        at: f64::NAN,
        ..year(0, &counts)
    };
    assert!(told(&[endless]).contains("finite numbers"));
    let few = told(&[year(1, &counts), year(2, &counts[1..])]);
    assert!(
        few.contains("of the year 2: there are 11 counts for 12 bands"),
        "{few}"
    );
    let many: Vec<Year<'_>> = (0..51).map(|at| year(at, &counts)).collect();
    let many = told(&many);
    assert!(
        many.contains("51 years have 612 bands and 6120 cells in all"),
        "{many}"
    );
}
