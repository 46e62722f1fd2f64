//! Rates of small populations: by themselves, and around those of all together.

use anyhow::Result;
use quadrat::linalg::{Cholesky, Mat};
use quadrat::ungroup::{Rates, Ungroup};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson, StandardNormal};

use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{coverage, mean, rms, standard_error};
use crate::steps::Steps;

const YEARS: usize = 100;
/// Districts of a country, and how many live in each.
const DISTRICTS: usize = 20;
const SIZES: [f64; 2] = [3_000.0, 20_000.0];
/// The sd of the logarithm of a district's rates about those of the country.
const APART: f64 = 0.18;
/// What the intervals of 95 % hold at least.
const HELD: f64 = 0.92;

/// Death rates of the country: infants, an age of accidents, and Gompertz' law.
fn country() -> Vec<f64> {
    let rate = |age: usize| {
        let x = age as f64 + 0.5;
        let accidents = 4e-4 * (-0.5 * ((x - 21.5) / 4.0).powi(2)).exp();
        match age {
            0 => 4e-3,
            _ => (0.092 * x - 9.6).exp() + accidents + 2e-4 * (-0.5 * x).exp() + 5e-5,
        }
    };
    (0..YEARS).map(rate).collect()
}

/// Edges of the bands: infants, children, then five years each.
fn edges() -> Vec<usize> {
    [0, 1].into_iter().chain((5..=YEARS).step_by(5)).collect()
}

/// A district: its rates, and deaths and people of its bands.
struct District {
    rates: Vec<f64>,
    deaths: Vec<f64>,
    people: Vec<f64>,
}

/// Half of the difference of a district from the country is of its level, the rest smooth and rough
/// in age.
fn differences() -> Result<Cholesky> {
    let covariance = |i: usize, j: usize| {
        let apart = i.abs_diff(j) as f64;
        let smooth = 0.3 * (-0.5 * (apart / 25.0).powi(2)).exp();
        let jitter = if i == j { 1e-9 } else { 0.0 };
        APART * APART * (0.6 + smooth + 0.1 * (-apart / 10.0).exp()) + jitter
    };
    let all = Mat::from_fn(YEARS, YEARS, covariance);
    Ok(Cholesky::factor(all.as_ref())?)
}

fn district(size: f64, factor: &Cholesky, random: &mut ChaCha8Rng) -> Result<District> {
    let z: Vec<f64> = (0..YEARS).map(|_| random.sample(StandardNormal)).collect();
    let country = country();
    let rates = country.iter().zip(factor.multiply(&z));
    let rates: Vec<f64> = rates.map(|(rate, apart)| rate * apart.exp()).collect();
    let mut alive = size / YEARS as f64;
    let mut people = Vec::with_capacity(YEARS);
    for rate in &country {
        people.push(alive);
        alive *= (-rate).exp();
    }
    let sums = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let bands = edges();
        let bands = bands.windows(2);
        bands.map(|ends| (ends[0]..ends[1]).map(of).sum()).collect()
    };
    let expected = sums(&|age| people[age] * rates[age]);
    let deaths = expected
        .into_iter()
        .map(|n| Ok(Poisson::new(n)?.sample(random)));
    Ok(District {
        deaths: deaths.collect::<Result<_>>()?,
        people: sums(&|age| people[age]),
        rates,
    })
}

/// How well rates of a district were told.
struct Outcome {
    held: f64,
    /// The root mean square error of the logarithm of the mean.
    error: f64,
    /// The mean width of the interval of a logarithm.
    width: f64,
}

fn outcome(found: &Rates, truth: &[f64]) -> Outcome {
    let (lower, upper) = (found.lower(), found.upper());
    let means = found.mean();
    let errors = means
        .iter()
        .zip(truth)
        .map(|(mean, rate)| (mean / rate).ln());
    let widths = lower
        .iter()
        .zip(&upper)
        .map(|(low, high)| (high / low).ln());
    Outcome {
        held: coverage(truth, &lower, &upper),
        error: rms(&errors.collect::<Vec<f64>>()),
        width: mean(&widths.collect::<Vec<f64>>()),
    }
}

/// Runs the study.
///
/// # Errors
/// When bands cannot be ungrouped.
pub fn run(settings: &Settings) -> Result<Report> {
    let repeats = settings.repeats(1, 10);
    let districts = if settings.quick { 4 } else { DISTRICTS };
    let mut report = Report::new("Rates of small populations");
    report.setting(format!(
        "{repeats} countries of {districts} districts each: log rates of a district are those of the country and a draw of a Gaussian process of sd {APART}, six tenths of its variance in the level; deaths are Poisson in bands of five years (infants and children apart)"
    ));
    report.setting("c95: share of true rates of single years inside 95 % intervals +- standard error over countries; error: root mean square error of the logarithm of the mean rate; width: of the interval of the logarithm; around: rates lie around those of all districts together");
    let mut table = Table::new(
        "Rates of single years",
        &["people", "way", "c95", "error", "width"],
    );
    let steps = Steps::new("countries", SIZES.len() * repeats);
    for size in SIZES {
        let mut held = [Vec::new(), Vec::new()];
        let mut told: [[Vec<f64>; 2]; 2] = Default::default();
        for repeat in 0..repeats {
            let own = steps.after(one(size, districts, settings.random(repeat as u64)))?;
            for (way, outcomes) in own.iter().enumerate() {
                let of = |what: fn(&Outcome) -> f64| {
                    mean(&outcomes.iter().map(what).collect::<Vec<f64>>())
                };
                held[way].push(of(|o| o.held));
                told[way][0].push(of(|o| o.error));
                told[way][1].push(of(|o| o.width));
            }
        }
        for (way, name) in ["alone", "around"].iter().enumerate() {
            let [error, width] = [0, 1].map(|what| mean(&told[way][what]));
            let (share, off) = (mean(&held[way]), standard_error(&held[way]));
            table.row(vec![
                format!("{size}"),
                (*name).to_owned(),
                format!("{share:.3} +- {off:.3}"),
                format!("{error:.3}"),
                format!("{width:.2}"),
            ]);
        }
        let words = format!("{size} people: coverage of 0.95 around all");
        report.check(words, mean(&held[1]), HELD, 1.0);
        let ratio = mean(&told[1][0]) / mean(&told[0][0]);
        report.check(
            format!("{size} people: error around all over that alone"),
            ratio,
            0.0,
            1.0,
        );
    }
    report.tables.push(table);
    Ok(report)
}

/// Every district of a country alone, and around all of them.
fn one(size: f64, districts: usize, mut random: ChaCha8Rng) -> Result<[Vec<Outcome>; 2]> {
    let factor = differences()?;
    let all = (0..districts).map(|_| district(size, &factor, &mut random));
    let all: Vec<District> = all.collect::<Result<_>>()?;
    let ends: Vec<f64> = edges().into_iter().map(|age| age as f64).collect();
    let bands = Ungroup::new(&ends[..ends.len() - 1], &ends[1..]);
    let sum = |of: fn(&District) -> &[f64]| -> Vec<f64> {
        let bands = 0..ends.len() - 1;
        bands.map(|b| all.iter().map(|d| of(d)[b]).sum()).collect()
    };
    let standard = bands
        .rates(&sum(|d| &d.deaths), &sum(|d| &d.people))?
        .standard();
    let mut out = [Vec::new(), Vec::new()];
    for district in &all {
        for (way, asked) in [bands.clone(), bands.clone().around(&standard)]
            .iter()
            .enumerate()
        {
            let found = asked.rates(&district.deaths, &district.people)?;
            out[way].push(outcome(&found, &district.rates));
        }
    }
    Ok(out)
}
