//! The people of section 5.3, their histograms, and the ways to predict single years.

use anyhow::{Context, Result, ensure};
use quadrat::baseline::{BinHeight, Centroid, Predict};
use quadrat::kernel::Kernel;
use quadrat::likelihood::{Laplace, Poisson};
use quadrat::link::Link;
use quadrat::model::{
    FitOptions, Hyperparameters, Mean, Model, Noise, Observations, Posterior, Prediction, Scale,
    Setting,
};
use quadrat::parameter::PriorDensity;
use quadrat::support::{Aggregate, Functionals};
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;

use crate::data;
use crate::settings::Settings;

/// One-year ages from 0; the open last class of the file is left out.
pub const YEARS: usize = 100;
/// Local age profiles.
pub const AREAS: usize = 20;
/// People of an area.
const PEOPLE: usize = 255;
const FILE: &str = "binned/census2011_age_local_authority_ew.csv";

/// Strength of the privacy, the smaller the stronger; none: no noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epsilon(pub Option<f64>);

impl Epsilon {
    /// The rows of Table 2.
    pub const ALL: [Self; 6] = [
        Self(Some(0.01)),
        Self(Some(0.1)),
        Self(Some(0.2)),
        Self(Some(0.5)),
        Self(Some(1.0)),
        Self(None),
    ];

    /// As in the table.
    #[must_use]
    pub fn name(self) -> String {
        self.0.map_or("none".to_owned(), |e| format!("{e:.2}"))
    }

    /// Variance of the Laplace noise on a bin.
    #[must_use]
    pub fn variance(self) -> f64 {
        self.0.map_or(0.0, |e| 2.0 / (e * e))
    }
}

/// Ways to predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Count over width.
    Height,
    /// On the centres of the bins, as the paper.
    Centroid,
    /// Integrated kernel, as the paper.
    Integral,
    /// The same with the noise that is known.
    KnownNoise,
    /// Known noise, unknown mean, hyperparameters integrated.
    Ours,
    /// `Ours`, given that no rate is negative.
    Truncated,
    /// `KnownNoise` with constraints that the rate is not negative, by expectation propagation, as
    /// the paper.
    Constrained,
    /// The exact likelihood of Laplace noise, by expectation propagation.
    ExactLaplace,
    /// Poisson counts of a rate that is the sum of `exp(f)`, so never negative; for histograms
    /// without noise.
    ExpLink,
}

/// Those for every strength of the privacy.
pub const METHODS: [Method; 8] = [
    Method::Height,
    Method::Centroid,
    Method::Integral,
    Method::KnownNoise,
    Method::Ours,
    Method::Truncated,
    Method::Constrained,
    Method::ExactLaplace,
];

impl Method {
    /// Head of its column.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Height => "bin height",
            Self::Centroid => "centroid",
            Self::Integral => "integral (paper)",
            Self::KnownNoise => "known noise",
            Self::Ours => "integral (ours)",
            Self::Truncated => "truncated",
            Self::Constrained => "constrained (paper)",
            Self::ExactLaplace => "exact Laplace",
            Self::ExpLink => "exp link",
        }
    }
}

/// What was released about an area, and the truth.
#[derive(Debug, Clone)]
pub struct Release {
    /// Expected people of every year.
    pub rate: Vec<f64>,
    /// People of every year.
    pub count: Vec<f64>,
    /// Noisy counts of the bins.
    pub bins: Vec<f64>,
    /// Years in a bin.
    pub width: usize,
    /// Variance of the noise.
    pub noise: f64,
}

/// Sums over one-year cells.
#[derive(Debug, Clone, Copy)]
pub struct Scores {
    /// Number of cells.
    pub cells: f64,
    /// Squared errors of the rate.
    pub rate: f64,
    /// Squared errors of the count.
    pub count: f64,
    /// Rates inside the 95 % interval.
    pub rate_inside: f64,
    /// Counts inside that of a new count.
    pub count_inside: f64,
    /// Least prediction or end of an interval.
    pub least: f64,
}

impl Default for Scores {
    fn default() -> Self {
        Self {
            cells: 0.0,
            rate: 0.0,
            count: 0.0,
            rate_inside: 0.0,
            count_inside: 0.0,
            least: f64::INFINITY,
        }
    }
}

impl Scores {
    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.cells += other.cells;
        self.rate += other.rate;
        self.count += other.count;
        self.rate_inside += other.rate_inside;
        self.count_inside += other.count_inside;
        self.least = self.least.min(other.least);
    }
}

/// Expected people by year in areas drawn at random, and the name of the file.
///
/// # Errors
/// [`data::Missing`], a file that cannot be read.
pub fn profiles(settings: &Settings) -> Result<(Vec<Vec<f64>>, &'static str)> {
    let path = data::find(&settings.data, FILE)?;
    let names: Vec<String> = (0..YEARS).map(|a| a.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut areas = data::transpose(&data::columns(&path, &names)?);
    ensure!(
        areas.len() >= AREAS,
        "{FILE} has {} rows, needs {AREAS}",
        areas.len()
    );
    areas.shuffle(&mut settings.random(u64::MAX));
    areas.truncate(AREAS);
    for area in &mut areas {
        let scale = PEOPLE as f64 / area.iter().sum::<f64>();
        area.iter_mut().for_each(|a| *a *= scale);
    }
    Ok((areas, FILE))
}

/// Draws the people and releases their histogram.
///
/// # Errors
/// A profile that is no distribution.
pub fn release(
    rate: &[f64],
    width: usize,
    epsilon: Epsilon,
    people: &mut ChaCha8Rng,
    noise: &mut ChaCha8Rng,
) -> Result<Release> {
    let ages = WeightedAliasIndex::new(rate.to_vec()).context("a profile")?;
    let mut count = vec![0.0; rate.len()];
    for _ in 0..PEOPLE {
        count[ages.sample(people)] += 1.0;
    }
    let bins = count
        .chunks(width)
        .map(|years| years.iter().sum::<f64>() + epsilon.0.map_or(0.0, |e| laplace(noise) / e))
        .collect();
    Ok(Release {
        rate: rate.to_vec(),
        count,
        bins,
        width,
        noise: epsilon.variance(),
    })
}

/// Laplace noise of scale one: the difference of two exponentials.
fn laplace(random: &mut ChaCha8Rng) -> f64 {
    let mut exponential = || -f64::ln_1p(-random.random::<f64>());
    exponential() - exponential()
}

/// Predicts and compares.
///
/// # Errors
/// As the fits.
pub fn score(method: Method, release: &Release, seed: u64) -> Result<Scores> {
    let (prediction, (from, to)) = predict(method, release, seed)?;
    let prediction = match method {
        Method::Truncated => prediction.non_negative(),
        _ => prediction,
    };
    let mean = prediction.mean();
    let (lower, upper) = quantiles(&prediction);
    let mut scores = Scores::default();
    for year in 0..mean.len() {
        let (rate, count) = (release.rate[year], release.count[year]);
        let share = |inside: bool| f64::from(u8::from(inside));
        scores.add(Scores {
            cells: 1.0,
            rate: (mean[year] - rate).powi(2),
            count: (mean[year] - count).powi(2),
            rate_inside: share(lower[year] <= rate && rate <= upper[year]),
            count_inside: share(from[year] <= count && count <= to[year]),
            least: mean[year].min(lower[year]),
        });
    }
    Ok(scores)
}

/// Ends of intervals, one per year.
type Intervals = (Vec<f64>, Vec<f64>);

/// The rate of every year, and 95 % intervals of the counts.
fn predict(method: Method, release: &Release, seed: u64) -> Result<(Prediction, Intervals)> {
    let years = cells(release.rate.len(), 1)?;
    let bins = cells(release.rate.len(), release.width)?;
    // People come one by one: their number in a bin varies as much as its mean.
    let people = release.bins.iter().sum::<f64>().max(1.0) / release.bins.len() as f64;
    let known = vec![release.noise + people; release.bins.len()];
    let noise = match method {
        Method::Height | Method::Centroid | Method::Integral => Noise::Learned,
        _ => Noise::Known(known),
    };
    let table = Observations::gaussian(bins, release.bins.clone(), noise)?;
    let options = FitOptions::default().with_seed(seed);
    let evidence = options.clone().with_hyperparameters(Hyperparameters::Map);
    Ok(match method {
        Method::Height => {
            let rate = BinHeight::new(&table)?.predict_response(&years)?;
            let counts = quantiles(&rate);
            (rate, counts)
        }
        Method::Centroid => {
            let fit = Centroid::fit(&papers(true), &table, &evidence)?;
            // One year has the density of its middle.
            let middles: Vec<f64> = (0..release.rate.len()).map(|y| y as f64 + 0.5).collect();
            let middles = Functionals::points("age", &middles)?;
            let counts = quantiles(&fit.posterior().predict(&middles, Scale::Observation)?);
            (fit.predict_response(&years)?, counts)
        }
        Method::Integral => {
            let fit = papers(true).observe(table).fit(&evidence)?;
            let counts = quantiles(&fit.predict(&years, Scale::Observation)?);
            (fit.predict(&years, Scale::Response)?, counts)
        }
        Method::Constrained => {
            let model = papers(false).observe(table).non_negative()?;
            with_people(&model.fit(&evidence)?, &years)?
        }
        Method::ExactLaplace if release.noise > 0.0 => {
            let scale = vec![(0.5 * release.noise).sqrt(); release.bins.len()];
            let bins = cells(release.rate.len(), release.width)?;
            let noisy = Laplace::new(release.bins.clone(), scale)?;
            let model = papers(false).observe(Observations::new(bins, noisy)?);
            with_people(&model.fit(&evidence)?, &years)?
        }
        Method::ExpLink => {
            let bins = cells(release.rate.len(), release.width)?;
            let exposure = vec![1.0; release.bins.len()];
            let counts = Poisson::new(release.bins.clone(), exposure, Link::Exp)?;
            let fit = Model::new(Kernel::se(["age"]))
                .observe(Observations::new(bins, counts)?)
                .fit(&options)?;
            let counts = quantiles(&fit.predict(&years, Scale::Observation)?);
            (fit.predict(&years, Scale::Response)?, counts)
        }
        Method::KnownNoise | Method::ExactLaplace => {
            with_people(&papers(false).observe(table).fit(&evidence)?, &years)?
        }
        Method::Ours | Method::Truncated => with_people(
            &Model::new(Kernel::se(["age"]))
                .observe(table)
                .fit(&options)?,
            &years,
        )?,
    })
}

fn quantiles(prediction: &Prediction) -> Intervals {
    (prediction.quantile(0.025), prediction.quantile(0.975))
}

/// The rate, and counts that vary about it as those of people who come one by one.
fn with_people(fit: &Posterior, years: &Functionals) -> Result<(Prediction, Intervals)> {
    let rate = fit.predict(years, Scale::Response)?;
    let z = 1.959_963_984_540_054;
    let counts = rate.mean().iter().zip(rate.sd()).map(|(&m, s)| {
        let half = z * (s * s + m.max(0.0)).sqrt();
        (m - half, m + half)
    });
    let counts = counts.unzip();
    Ok((rate, counts))
}

/// Zero mean, no priors; the paper's start, its lengthscale in our convention.
fn papers(learned: bool) -> Model {
    let flat = |start: f64| Setting {
        start: Some(start),
        ..Setting::prior(PriorDensity::Flat)
    };
    let model = Model::new(Kernel::se(["age"]))
        .mean(Mean::Zero)
        .set("se.variance", flat(20.0))
        .set("se.lengthscale.age", flat(2.0 / 2f64.sqrt()));
    if learned {
        model.set("noise.variance", Setting::prior(PriorDensity::Flat))
    } else {
        model
    }
}

fn cells(years: usize, width: usize) -> Result<Functionals> {
    let edges: Vec<(f64, f64)> = (0..years / width)
        .map(|b| ((b * width) as f64, ((b + 1) * width) as f64))
        .collect();
    Ok(Functionals::intervals("age", &edges, Aggregate::Sum)?)
}
