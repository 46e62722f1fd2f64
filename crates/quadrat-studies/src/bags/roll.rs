//! The swiss roll of Law et al., section 4.1: points whose rates change along it, in bags that are
//! cut along another axis.

use anyhow::Result;
use faer::Mat;
use quadrat::baseline::{Constant, Predict};
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;
use quadrat::model::Observations;
use quadrat::support::Functionals;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma, Poisson as Counts};

use super::simple::{self, Task};
use crate::settings::Settings;
use crate::statistics::mean;

/// Columns after padding and rotation.
pub(super) const COLUMNS: usize = 18;
/// Mean and spread of the sizes of bags.
pub(super) const SIZE: (f64, f64) = (150.0, 50.0);
/// Bags whose points are judged.
pub(super) const TEST_BAGS: usize = 500;
/// Points of the test bags whose intervals are judged.
const JUDGED: usize = 20_000;
/// Inducing points, and landmarks.
pub(super) const INDUCING: usize = 30;
/// The simple methods, in the order of [`Drawn::beside`].
pub(super) const SIMPLE: [&str; 5] = [
    "Nystrom",
    "network",
    "bag-pixel",
    "mean of the bag",
    "mean of all bags",
];

/// Points in bags.
struct Bags {
    /// Coordinates, then the rate.
    points: Vec<([f64; 3], f64)>,
    sizes: Vec<usize>,
}

/// What one draw gives to all methods.
pub(super) struct Drawn {
    names: Vec<String>,
    /// Points of the bags to learn from.
    x: Vec<Vec<f64>>,
    bags: Functionals,
    counts: Vec<f64>,
    /// Other bags, as many, and their counts.
    others: (Functionals, Vec<f64>),
    /// As many again, that training is stopped by.
    stop: (Functionals, Vec<f64>),
    /// Points of test bags.
    pub(super) places: Functionals,
    /// Their rates.
    pub(super) truth: Vec<f64>,
    /// The counts of their bags for each of the bags' points.
    own: Vec<f64>,
}

impl Drawn {
    /// # Errors
    /// None for the constants used here.
    pub(super) fn new(settings: &Settings, count: usize, repeat: u64) -> Result<Self> {
        let mut random = settings.random(7_000 + 10 * repeat);
        let turn = rotation(&mut random);
        let (train, test) = (draw(&mut random, count)?, draw(&mut random, TEST_BAGS)?);
        let names: Vec<String> = (0..COLUMNS).map(|d| format!("x{d}")).collect();
        let mut x = turned(&train, &turn);
        let mut at = turned(&test, &turn);
        let counts = counted(&train, &mut random)?;
        // Drawn last, so that what is above does not depend on it.
        let other = draw(&mut random, count)?;
        let mut other_x = turned(&other, &turn);
        let other_counts = counted(&other, &mut random)?;
        let of_test = counted(&test, &mut random)?;
        let last = draw(&mut random, count)?;
        let mut last_x = turned(&last, &turn);
        let last_counts = counted(&last, &mut random)?;
        for d in 0..COLUMNS {
            let all: Vec<f64> = x.iter().map(|x| x[d]).collect();
            let centre = mean(&all);
            let squares: Vec<f64> = all.iter().map(|x| (x - centre).powi(2)).collect();
            let sd = mean(&squares).sqrt();
            let rest = at.iter_mut().chain(&mut other_x).chain(&mut last_x);
            for row in x.iter_mut().chain(rest) {
                row[d] = (row[d] - centre) / sd;
            }
        }
        let step = (at.len() / JUDGED).max(1);
        let judged: Vec<usize> = (0..at.len()).step_by(step).collect();
        let mut places = Functionals::new(names.clone());
        judged.iter().try_for_each(|&i| places.push_point(&at[i]))?;
        let of_bag = of_test.iter().zip(&test.sizes);
        let own: Vec<f64> = of_bag
            .flat_map(|(count, &size)| std::iter::repeat_n(count / size as f64, size))
            .collect();
        Ok(Self {
            bags: bagged(&names, &x, &train.sizes)?,
            others: (bagged(&names, &other_x, &other.sizes)?, other_counts),
            stop: (bagged(&names, &last_x, &last.sizes)?, last_counts),
            truth: judged.iter().map(|&i| test.points[i].1).collect(),
            own: judged.iter().map(|&i| own[i]).collect(),
            names,
            x,
            counts,
            places,
        })
    }

    /// One lengthscale for all columns.
    pub(super) fn kernel(&self) -> Result<Kernel> {
        Ok(format!("se({}, shared = true)", self.names.join(", ")).parse()?)
    }

    /// The counts behind a link.
    pub(super) fn rows(&self, link: Link) -> Result<Observations> {
        counts_of(&self.bags, &self.counts, link)
    }

    /// Mean squared error and score of predicted means.
    pub(super) fn judged(&self, means: &[f64]) -> (f64, f64) {
        let pairs = || means.iter().zip(&self.truth);
        let squares: Vec<f64> = pairs().map(|(m, t)| (m - t).powi(2)).collect();
        let nll: Vec<f64> = pairs().map(|(m, t)| score(*m, *t)).collect();
        (mean(&squares), mean(&nll))
    }

    /// The methods of the paper beside ours.
    ///
    /// # Errors
    /// When one cannot be fitted.
    pub(super) fn beside(&self, seed: u64) -> Result<[(f64, f64); SIMPLE.len()]> {
        let rows = self.rows(Link::Exp)?;
        let kernel = self.kernel()?;
        let task = Task {
            train: &rows,
            points: &self.x,
            chosen_by: (&self.others.0, &self.others.1),
            stop: &counts_of(&self.stop.0, &self.stop.1, Link::Exp)?,
            group: &[0; COLUMNS],
            kernel: &kernel,
            landmarks: INDUCING,
            seed,
        };
        let means = |method: &dyn Predict| -> Result<(f64, f64)> {
            Ok(self.judged(method.predict_response(&self.places)?.mean()))
        };
        let loss = |mean: f64, count: f64| mean - count * mean.ln();
        let nystrom = simple::nystrom(&task, loss)?;
        // A bag without any count has half of one.
        let least = 0.5 / SIZE.0;
        let own: Vec<f64> = self.own.iter().map(|rate| rate.max(least)).collect();
        Ok([
            means(&nystrom)?,
            means(&simple::network(&task, loss)?)?,
            means(&simple::bag_pixel(&task)?)?,
            self.judged(&own),
            means(&Constant::new(&rows)?)?,
        ])
    }
}

fn counts_of(bags: &Functionals, counts: &[f64], link: Link) -> Result<Observations> {
    let counts = Poisson::new(counts.to_vec(), vec![1.0; counts.len()], link)?;
    Ok(Observations::new(bags.clone(), counts)?)
}

/// Points after the rotation, in all columns.
fn turned(bags: &Bags, turn: &Mat<f64>) -> Vec<Vec<f64>> {
    let one = |p: &([f64; 3], f64)| {
        let along = |d: usize| (0..3).map(|c| p.0[c] * turn[(c, d)]).sum();
        (0..COLUMNS).map(along).collect()
    };
    bags.points.iter().map(one).collect()
}

/// The sum of the counts of the points of every bag.
fn counted(bags: &Bags, random: &mut ChaCha8Rng) -> Result<Vec<f64>> {
    let mut first = 0;
    let one = |&size: &usize| {
        let own = &bags.points[first..first + size];
        first += size;
        Ok(Counts::new(own.iter().map(|p| p.1).sum())?.sample(random))
    };
    bags.sizes.iter().map(one).collect()
}

fn bagged(names: &[String], x: &[Vec<f64>], sizes: &[usize]) -> Result<Functionals> {
    let (mut bags, mut first) = (Functionals::new(names.to_vec()), 0);
    for &size in sizes {
        bags.push_nodes(&x[first..first + size], &vec![1.0; size])?;
        first += size;
    }
    Ok(bags)
}

/// Bags along the third axis of the roll, from above.
fn draw(random: &mut ChaCha8Rng, count: usize) -> Result<Bags> {
    // Negative binomial as a mixture: mean and variance of the size less one.
    let (mean, variance) = (SIZE.0 - 1.0, SIZE.1 * SIZE.1);
    let odds = variance / mean - 1.0;
    let gamma = Gamma::new(mean / odds, odds)?;
    let sizes = (0..count)
        .map(|_| Ok(1 + Counts::new(gamma.sample(random))?.sample(random) as usize))
        .collect::<Result<Vec<usize>>>()?;
    let mut points: Vec<([f64; 3], f64)> = (0..sizes.iter().sum())
        .map(|_| {
            let t = 1.5 * std::f64::consts::PI * (1.0 + 2.0 * random.random::<f64>());
            let y = 21.0 * random.random::<f64>();
            ([t * t.cos(), y, t * t.sin()], 0.5 * t)
        })
        .collect();
    points.sort_by(|a, b| b.0[2].total_cmp(&a.0[2]));
    Ok(Bags { points, sizes })
}

/// The orthogonal factor of a random square matrix.
fn rotation(random: &mut ChaCha8Rng) -> Mat<f64> {
    let uniform = Mat::from_fn(COLUMNS, COLUMNS, |_, _| random.random::<f64>());
    uniform.qr().compute_Q()
}

/// Expected negative log-probability, under a mean, of a count with another one: drawn counts would
/// add their own scatter.
fn score(mean: f64, rate: f64) -> f64 {
    // Counts above 60 have a probability of 1e-30 at rates up to 7.1.
    let (mut log_factorial, mut p, mut expected) = (0.0, (-rate).exp(), 0.0);
    for y in 0..60 {
        expected += p * log_factorial;
        let next = f64::from(y + 1);
        log_factorial += next.ln();
        p *= rate / next;
    }
    mean - rate * mean.ln() + expected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_is_an_expectation_and_best_at_the_rate() {
        // Mean 1: -sum p log p = 1 + sum p log y!.
        let direct: f64 = (0..20)
            .scan((1.0_f64, 0.0_f64), |(p, log), y| {
                let own = (-1.0_f64).exp() * *p;
                let seen = own * (1.0 + *log);
                *p /= f64::from(y + 1);
                *log += f64::from(y + 1).ln();
                Some(seen)
            })
            .sum();
        // Beyond twenty events lie e^-1 / 20! = 2e-19: rounding.
        assert!((score(1.0, 1.0) - direct).abs() < 1e-12);
        assert!(score(4.0, 4.0) < score(3.9, 4.0) && score(4.0, 4.0) < score(4.1, 4.0));
    }
}
