//! The trips of section 5.4, their bins, and hyperparameters by grid search.

use anyhow::{Result, ensure};
use quadrat::baseline::{Centroid, Predict};
use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Model, Noise, Observations, Setting};
use quadrat::support::{Aggregate, Functionals};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::data;
use crate::settings::Settings;
use crate::statistics::{mean, mean_absolute};

const FILE: &str = "binned/citibike_nyc_2024_09.csv";
const INPUTS: [&str; 4] = ["start_lat", "start_lng", "end_lat", "end_lng"];
/// Longer trips are bicycles not given back, in seconds.
const LONGEST: f64 = 7200.0;
/// Trips to test.
const TEST: usize = 1000;
/// Trips that choose the hyperparameters.
pub const LEARN: usize = 1400;
/// Of these at most so many are binned; the others are predicted.
pub const LEARN_BINNED: usize = 1000;
/// Lengthscales as shares of the range of an input.
const LENGTHSCALES: [f64; 4] = [0.1, 0.2, 0.4, 0.8];
/// Sds of the latent duration, in seconds.
const LATENT: [f64; 3] = [150.0, 300.0, 600.0];
/// Sds of a trip about it, in seconds.
const OWN: [f64; 2] = [300.0, 600.0];

/// Four inputs scaled to `[0, 1]` and a duration in seconds.
pub type Trip = ([f64; 4], f64);

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A Gaussian process on the centres of the bins.
    Centroid,
    /// The mean over the bin.
    Integral,
}

impl Way {
    /// In the order of Table 3.
    pub const BOTH: [Self; 2] = [Self::Centroid, Self::Integral];
}

/// Lengthscale, sd of the latent duration, sd of a trip about it.
pub type Hyperparameters = (f64, f64, f64);

/// All trips.
pub struct Trips {
    all: Vec<Trip>,
    /// What was read and left out.
    pub statement: String,
}

/// Trips for each purpose.
pub struct Split {
    /// To predict.
    pub test: Vec<Trip>,
    /// To choose hyperparameters.
    pub learn: Vec<Trip>,
    /// To bin.
    pub train: Vec<Trip>,
}

impl Trips {
    /// # Errors
    /// [`data::Missing`]; a file that cannot be read.
    pub fn read(settings: &Settings) -> Result<Self> {
        let path = data::find(&settings.data, FILE)?;
        let names: Vec<&str> = INPUTS.into_iter().chain(["duration_s"]).collect();
        let rows = data::transpose(&data::columns(&path, &names)?);
        let read = rows.len();
        let complete: Vec<Vec<f64>> = rows
            .into_iter()
            .filter(|row| row.iter().all(|v| v.is_finite()))
            .collect();
        let missing = read - complete.len();
        let kept: Vec<&Vec<f64>> = complete.iter().filter(|row| row[4] <= LONGEST).collect();
        let long = complete.len() - kept.len();
        let range = |d: usize| {
            kept.iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), row| {
                    (lo.min(row[d]), hi.max(row[d]))
                })
        };
        let ranges: [(f64, f64); 4] = std::array::from_fn(range);
        let scaled = |row: &&Vec<f64>| {
            let inputs =
                std::array::from_fn(|d| (row[d] - ranges[d].0) / (ranges[d].1 - ranges[d].0));
            (inputs, row[4])
        };
        let all: Vec<Trip> = kept.iter().map(scaled).collect();
        ensure!(
            all.len() >= TEST + LEARN + 80,
            "{FILE} has only {} usable trips",
            all.len()
        );
        let statement = format!(
            "data: {FILE}, {read} trips, {missing} left out because an end is missing and {long} because they last longer than two hours (the paper does not say what it left out); inputs scaled to their range"
        );
        Ok(Self { all, statement })
    }

    /// A random split.
    #[must_use]
    pub fn split(&self, random: &mut ChaCha8Rng) -> Split {
        let mut all = self.all.clone();
        all.shuffle(random);
        let mut rest = all.split_off(TEST);
        let train = rest.split_off(LEARN);
        Split {
            test: all,
            learn: rest,
            train,
        }
    }
}

impl Split {
    /// Mean absolute error of predicting the mean duration of all trips that are not tested.
    #[must_use]
    pub fn error_of_the_mean(&self) -> f64 {
        let known: Vec<f64> = self.train.iter().chain(&self.learn).map(|t| t.1).collect();
        let m = mean(&known);
        mean_absolute(&self.test.iter().map(|t| t.1 - m).collect::<Vec<_>>())
    }
}

/// Non-empty bins of a regular grid: their corners, mean durations and numbers of trips.
fn binned(trips: &[Trip], per_side: usize) -> Vec<([usize; 4], f64, f64)> {
    let mut bins = std::collections::BTreeMap::<[usize; 4], (f64, f64)>::new();
    for (inputs, duration) in trips {
        let cell = inputs.map(|v| ((v * per_side as f64) as usize).min(per_side - 1));
        let bin = bins.entry(cell).or_default();
        *bin = (bin.0 + duration, bin.1 + 1.0);
    }
    bins.into_iter()
        .map(|(cell, (sum, n))| (cell, sum / n, n))
        .collect()
}

/// Mean absolute error of the durations of single trips predicted from bins of others.
///
/// # Errors
/// As the fits.
pub fn error_of(
    known: &[Trip],
    asked: &[Trip],
    per_side: usize,
    way: Way,
    (lengthscale, latent, own): Hyperparameters,
) -> Result<f64> {
    let bins = binned(known, per_side);
    let dims = || INPUTS.map(str::to_owned).to_vec();
    let mut supports = Functionals::new(dims());
    for (cell, ..) in &bins {
        let side = |c: usize| (c as f64 / per_side as f64, (c + 1) as f64 / per_side as f64);
        supports.push_box(&cell.map(side), Aggregate::Mean)?;
    }
    let noise = bins.iter().map(|bin| own * own / bin.2).collect();
    let means = bins.iter().map(|bin| bin.1).collect();
    let table = Observations::gaussian(supports, means, Noise::Known(noise))?;
    let mut model =
        Model::new(Kernel::se(INPUTS)).set("se.variance", Setting::fixed(latent * latent));
    for input in INPUTS {
        model = model.set(
            &format!("se.lengthscale.{input}"),
            Setting::fixed(lengthscale),
        );
    }
    let mut at = Functionals::new(dims());
    asked
        .iter()
        .try_for_each(|(inputs, _)| at.push_point(inputs))?;
    let options = FitOptions::default();
    let prediction = match way {
        Way::Centroid => Centroid::fit(&model, &table, &options)?.predict_response(&at)?,
        Way::Integral => model.observe(table).fit(&options)?.predict_response(&at)?,
    };
    let errors = asked.iter().zip(prediction.mean()).map(|((_, t), m)| m - t);
    Ok(mean_absolute(&errors.collect::<Vec<_>>()))
}

/// The hyperparameters of the grid that predict other trips best.
///
/// # Errors
/// As the fits.
pub fn learn(split: &Split, samples: usize, per_side: usize, way: Way) -> Result<Hyperparameters> {
    let (known, asked) = split.learn.split_at(LEARN_BINNED);
    let known = &known[..samples.min(LEARN_BINNED)];
    let candidates: Vec<Hyperparameters> = LENGTHSCALES
        .into_iter()
        .flat_map(|l| LATENT.into_iter().map(move |s| (l, s)))
        .flat_map(|(l, s)| OWN.into_iter().map(move |o| (l, s, o)))
        .collect();
    let errors: Vec<f64> = candidates
        .par_iter()
        .map(|&h| error_of(known, asked, per_side, way, h))
        .collect::<Result<_>>()?;
    let mut best = 0;
    for (i, error) in errors.iter().enumerate() {
        if *error < errors[best] {
            best = i;
        }
    }
    Ok(candidates[best])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_the_trips_that_fall_into_them() {
        let trips = [
            ([0.0, 0.0, 0.0, 0.0], 100.0),
            ([0.49, 0.1, 0.2, 0.3], 300.0),
            ([1.0, 1.0, 1.0, 1.0], 50.0),
        ];
        let bins = binned(&trips, 2);
        assert_eq!(bins, vec![([0; 4], 200.0, 2.0), ([1; 4], 50.0, 1.0)]);
    }

    #[test]
    fn a_smooth_duration_is_predicted_from_means_better_by_the_integral() {
        // A parabola in the first input, flat in the others: its mean over a bin of width 1/4
        // exceeds the value at the centre by 600 / 12 / 16 = 3.1 s, the error of the centroid.
        let along = |i: usize| (i as f64 + 0.5) / 40.0;
        let trips: Vec<Trip> = (0..40)
            .map(|i| ([along(i), 0.5, 0.5, 0.5], 600.0 * (along(i) - 0.5).powi(2)))
            .collect();
        let error = |way| error_of(&trips, &trips, 4, way, (0.5, 300.0, 1.0)).unwrap();
        let (centroid, integral) = (error(Way::Centroid), error(Way::Integral));
        assert!(integral < centroid, "{integral} {centroid}");
    }
}
