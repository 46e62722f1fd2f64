//! Counts in windows that overlap, such as moving sums: shares of rows, and whether intervals hold.

use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::linalg::{Cholesky, Mat};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Mean, Model, Observations, Scale, Setting, Treatment, counted_once,
};
use quadrat::support::{Aggregate, Functionals, Side};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

type Windows = Vec<(f64, f64)>;

const DAYS: usize = 42;
/// Cases a day, in the middle.
const RATE: f64 = 20.0;
const VARIANCE: f64 = 0.3;
const LENGTHSCALE: f64 = 10.0;

fn bands(edges: &[(f64, f64)]) -> Functionals {
    Functionals::intervals("t", edges, Aggregate::Sum).unwrap()
}

fn counts(supports: Functionals, of: Vec<f64>) -> Observations {
    let one = vec![1.0; of.len()];
    Observations::new(supports, Poisson::new(of, one, Link::Exp).unwrap()).unwrap()
}

/// Windows of so many days, one every so many.
fn windows(width: usize, step: usize) -> Windows {
    let starts = (0..=DAYS - width).step_by(step);
    starts
        .map(|day| (day as f64, (day + width) as f64))
        .collect()
}

fn shares(found: &Observations) -> Vec<f64> {
    (0..found.supports().len())
        .map(|row| found.times(row))
        .collect()
}

#[test]
fn moving_sums_count_in_shares() {
    let week = windows(7, 1);
    let given = counts(bands(&week), vec![140.0; week.len()]);
    let found = counted_once(std::slice::from_ref(&given)).unwrap();
    assert_eq!(found.overlaps.len(), 1);
    assert_eq!(found.overlaps[0].treatment, Treatment::Shares);
    assert_eq!(found.overlaps[0].rows.len(), week.len());
    assert_eq!(found.tables[0].likelihood(), given.likelihood());
    assert_eq!(found.tables[0].supports(), given.supports());
    assert_eq!(shares(&found.tables[0]), vec![1.0 / 7.0; week.len()]);
    let told = found.warnings(&|row| format!("line {}", row + 2));
    let words = "36 rows of counts, line 2 to line 37, overlap, so that the same events are counted again, such as those that line 2 and line 3 have in common: of each row so small a share";
    assert!(told.len() == 1 && told[0].starts_with(words), "{told:?}");
    // Found again, they have the same shares.
    let again = counted_once(&found.tables).unwrap();
    assert_eq!(again.tables, found.tables);
}

#[test]
fn windows_of_every_age_and_months_beside_weeks_have_shares_of_their_own() {
    let mut set = Functionals::new(vec!["age".into(), "t".into()]);
    let rows = [
        (0.0, 0.0, 7.0),
        (0.0, 1.0, 8.0),
        (1.0, 0.0, 7.0),
        (1.0, 7.0, 14.0),
    ];
    for (age, from, to) in rows {
        let sides = [Side::Interval(age, age + 1.0), Side::Interval(from, to)];
        set.push(&quadrat::support::Functional::Box {
            sides: sides.to_vec(),
            aggregate: Aggregate::Sum,
        })
        .unwrap();
    }
    let found = counted_once(&[counts(set, vec![9.0, 8.0, 7.0, 6.0])]).unwrap();
    assert_eq!(shares(&found.tables[0]), [0.5, 0.5, 1.0, 1.0]);
    // The last week meets no month.
    let both = [(0.0, 7.0), (7.0, 14.0), (5.0, 12.0), (14.0, 21.0)];
    let found = counted_once(&[counts(bands(&both), vec![9.0, 8.0, 7.0, 6.0])]).unwrap();
    assert_eq!(shares(&found.tables[0]), [0.5, 0.5, 0.5, 1.0]);
}

/// How often 95 % intervals held the truth, and their mean width in parts of it.
#[derive(Debug, Default)]
struct Held {
    held: f64,
    of: f64,
    width: f64,
}

impl Held {
    fn add(&mut self, (lower, upper): (f64, f64), truth: f64) {
        self.held += f64::from(u8::from((lower..=upper).contains(&truth)));
        self.of += 1.0;
        self.width += (upper - lower) / truth;
    }

    fn share(&self) -> f64 {
        self.held / self.of
    }
}

/// Simulated tables of windows, fitted with the hyperparameters that made them: of days, of the
/// windows, and of all.
fn coverage(tables: u64, windows: &Windows, takes_as_they_are: bool) -> [Held; 3] {
    let covariance = Mat::from_fn(DAYS, DAYS, |i, j| {
        let r = 5.0_f64.sqrt() * (i as f64 - j as f64).abs() / LENGTHSCALE;
        VARIANCE * (1.0 + r + r * r / 3.0) * (-r).exp() + if i == j { 1e-9 } else { 0.0 }
    });
    let factor = Cholesky::factor(covariance.as_ref()).unwrap();
    let days: Windows = (0..DAYS).map(|d| (d as f64, d as f64 + 1.0)).collect();
    let asked = [days, windows.clone(), vec![(0.0, DAYS as f64)]];
    let mut held: [Held; 3] = Default::default();
    for seed in 0..tables {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let z: Vec<f64> = (0..DAYS)
            .map(|_| StandardNormal.sample(&mut random))
            .collect();
        let rates: Vec<f64> = factor.multiply(&z).iter().map(|f| RATE * f.exp()).collect();
        let drawn = |rate: &f64| rand_distr::Poisson::new(*rate).unwrap().sample(&mut random);
        let cases: Vec<f64> = rates.iter().map(drawn).collect();
        let over = |of: &[f64], (from, to): (f64, f64)| -> f64 {
            of[from as usize..to as usize].iter().sum()
        };
        let sums = windows.iter().map(|window| over(&cases, *window)).collect();
        let model = Model::new(Kernel::matern52(["t"]))
            .mean(Mean::Fixed(RATE.ln()))
            .observe(counts(bands(windows), sums))
            .set("matern52.lengthscale.t", Setting::fixed(LENGTHSCALE))
            .set("matern52.variance", Setting::fixed(VARIANCE));
        let model = match takes_as_they_are {
            true => model.with_overlapping_counts(),
            false => model,
        };
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        let posterior = model.fit(&options).unwrap();
        for (held, asked) in held.iter_mut().zip(&asked) {
            let told = posterior.predict(&bands(asked), Scale::Response).unwrap();
            let (lower, upper) = (told.quantile(0.025), told.quantile(0.975));
            for (row, window) in asked.iter().enumerate() {
                held.add((lower[row], upper[row]), over(&rates, *window));
            }
        }
    }
    held
}

#[test]
fn intervals_of_windows_that_overlap_hold_the_truth() {
    for windows in [windows(7, 1), windows(14, 7)] {
        let found = coverage(40, &windows, false);
        println!("{found:?}");
        // Never surer than the joint distribution, so somewhat above 95 %; totals are 40.
        assert!(found.iter().all(|held| held.share() > 0.9), "{found:?}");
    }
    // Taken for counts of different events, moving sums of a week are far too sure.
    let as_they_are = coverage(20, &windows(7, 1), true);
    assert!(as_they_are[1].share() < 0.8, "{as_they_are:?}");
}
