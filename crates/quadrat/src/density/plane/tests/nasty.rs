//! A thousand samples for each kind of estimate that nobody would wish for: never a panic, nothing
//! negative, everything adds up to one, and doubts are told.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::random;
use crate::density::tests::samples::nasty;
use crate::density::{Conditional, Density2d, DensityError, Warning};

/// Samples of each kind of estimate.
const SAMPLES: usize = 1000;
/// Kinds of columns of which a refusal is right: values that are all alike, none or no numbers,
/// those that double precision cannot tell apart or square.
const REFUSED: [usize; 9] = [0, 4, 5, 8, 9, 10, 11, 12, 14];

/// Two columns of one length, of kinds of their own, and whether all values are positive.
struct Sample {
    kinds: [usize; 2],
    columns: [Vec<f64>; 2],
    rows: usize,
}

fn sample(i: usize, random: &mut ChaCha8Rng) -> Sample {
    let n = [3, 7, 40, 120][random.random_range(0..4)];
    let kinds = [i % 15, random.random_range(0..15)];
    let columns = kinds.map(|kind| nasty(kind, n, random));
    let rows = columns[0].len().min(columns[1].len());
    Sample {
        columns: columns.map(|c| c[..rows].to_vec()),
        kinds,
        rows,
    }
}

/// What an estimate gives.
struct Given<'a> {
    density: &'a [f64],
    band: [&'a [f64]; 2],
    /// Sums of probabilities that must be one.
    sums: Vec<f64>,
    warnings: &'a [Warning],
}

fn is_right(given: &Given<'_>, sample: &Sample) {
    let kinds = sample.kinds;
    for sum in &given.sums {
        // Sums of at most 400 terms.
        assert!((sum - 1.0).abs() < 1e-9, "{kinds:?}: {sum}");
    }
    let all = given.density.iter().chain(given.band[0]);
    assert!(all.clone().all(|p| p.is_finite() && *p >= 0.0), "{kinds:?}");
    let band = given.band[0].iter().zip(given.band[1]);
    assert!(
        band.clone().all(|(l, u)| l <= u && !u.is_nan()),
        "{kinds:?}"
    );
    // Few rows, all but one alike, one at 1e12, rows left out.
    let doubtful = kinds.iter().any(|kind| [2, 6, 7, 8].contains(kind)) || sample.rows < 20;
    assert!(
        !doubtful || !given.warnings.is_empty(),
        "{kinds:?}: {} rows",
        sample.rows
    );
}

fn is_refused_rightly(error: &DensityError, kinds: [usize; 2], given: bool) {
    let words = error.to_string();
    assert!(words.len() > 30, "{words}");
    let own = kinds.iter().any(|kind| REFUSED.contains(kind));
    // One place of the given column, or one value but for a row that was left out.
    let alike = given && matches!(error, DensityError::OnePlace { .. });
    // Beside a column with holes, or cut to few rows, another may be constant.
    let cut = kinds.iter().any(|kind| [2, 6].contains(kind));
    assert!(own || alike || cut, "{kinds:?}: {error}");
}

#[test]
fn a_thousand_nasty_planes() {
    let mut random = random(40);
    let mut answered = 0;
    for i in 0..SAMPLES {
        let sample = sample(i, &mut random);
        let [x, y] = &sample.columns;
        let is_log = [x, y].map(|c| c.iter().all(|x| *x > 0.0) && random.random::<bool>());
        let density = Density2d::new(x, y).cells(14, 12).draws(150);
        match density.log(is_log[0], is_log[1]).seed(i as u64).estimate() {
            Ok(e) => {
                answered += 1;
                let given = Given {
                    density: e.density(),
                    band: [e.lower(), e.upper()],
                    sums: vec![e.masses().iter().sum()],
                    warnings: e.warnings(),
                };
                is_right(&given, &sample);
            }
            Err(error) => is_refused_rightly(&error, sample.kinds, false),
        }
    }
    assert!(answered > 300, "{answered}");
}

#[test]
fn a_thousand_nasty_columns_given_another() {
    let mut random = random(41);
    let mut answered = 0;
    for i in 0..SAMPLES {
        let sample = sample(i, &mut random);
        let [x, y] = &sample.columns;
        let is_log = y.iter().all(|y| *y > 0.0) && random.random::<bool>();
        let density = Conditional::new(x, y).cells(8, 20).draws(150);
        match density.log(false, is_log).seed(i as u64).estimate() {
            Ok(e) => {
                answered += 1;
                let given = Given {
                    density: e.density(),
                    band: [e.lower(), e.upper()],
                    sums: e.masses().chunks(20).map(|u| u.iter().sum()).collect(),
                    warnings: e.warnings(),
                };
                is_right(&given, &sample);
            }
            Err(error) => is_refused_rightly(&error, sample.kinds, true),
        }
    }
    assert!(answered > 300, "{answered}");
}
