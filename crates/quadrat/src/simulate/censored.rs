//! Two correlated series, parts of which are only known to lie above what was recorded.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::field::se_from;
use super::{SimulateError, check, random};
use crate::likelihood::Side;

/// Most points of a series.
const MOST: usize = 1000;
/// Number of the short pieces that are censored; so many of a hundred points in each.
const PIECES: usize = 6;
/// Ends of the stretch of the first output, as shares of the range; that of the second where they
/// do not overlap.
const STRETCH: (f64, f64) = (0.13, 0.55);
const OTHER_STRETCH: (f64, f64) = (0.56, 0.98);
/// Where the first piece begins, how far it is to the next, and how long they are, as shares of the
/// range.
const FIRST: f64 = 0.075;
const STEP: f64 = 15.0 / 99.0;
const LENGTH: f64 = 0.07;
/// How far to the right every other piece of the second output lies where half of the rows are
/// shared.
const SHIFT: f64 = 7.0 / 99.0;

/// Streams of random numbers, one for every part.
const LATENT: u64 = 1;
const NOISE: u64 = 2;
const VALUES: u64 = 3;
const RECORDS: u64 = 5;

/// Which rows of the two outputs are censored, and how many of them are so in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Overlap {
    /// One stretch of the first output; nothing of the second.
    #[default]
    None,
    /// One stretch of each, elsewhere.
    Zero,
    /// Six short pieces of each, every other one at the same place.
    Half,
    /// Six short pieces, the same of both.
    Pieces,
    /// One stretch, the same of both.
    Stretch,
}

impl Overlap {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::None,
        Self::Zero,
        Self::Half,
        Self::Pieces,
        Self::Stretch,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Zero => "zero",
            Self::Half => "half",
            Self::Pieces => "pieces",
            Self::Stretch => "stretch",
        }
    }

    /// Whether a place, given as a share of the range, is censored in an output (0 or 1).
    fn covers(self, output: usize, place: f64) -> bool {
        let within = |(from, to): (f64, f64)| (from..=to).contains(&place);
        let pieces = |shift: f64| {
            (0..PIECES).any(|k| {
                let from = FIRST + STEP * k as f64 + if k % 2 == 1 { shift } else { 0.0 };
                within((from, from + LENGTH))
            })
        };
        match (self, output) {
            (Self::None | Self::Zero | Self::Stretch, 0) | (Self::Stretch, _) => within(STRETCH),
            (Self::None, _) => false,
            (Self::Zero, _) => within(OTHER_STRETCH),
            (Self::Half, 1) => pieces(SHIFT),
            (Self::Half | Self::Pieces, _) => pieces(0.0),
        }
    }
}

/// What is recorded of a value that is censored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Record {
    /// The value less a uniform shortfall: some of what was there was not seen.
    #[default]
    Random,
    /// A threshold, where the value exceeds it; lower values are recorded as they are.
    Clipped,
}

impl Record {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Random, Self::Clipped];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Clipped => "clipped",
        }
    }
}

/// The artificial censored data: two outputs at equally spaced points of `[0, 10]`.
///
/// With `u_1, u_2 ~ GP(0, se)` of variance one and `r` of random sign:
///
/// ```text
/// f_1 = sqrt(variance) u_1
/// f_2 = sqrt(variance) (r u_1 + sqrt(1 - r^2) u_2),    |r| = correlation
/// y_d = f_d + exp(g_d / 2) e,  e ~ N(0, 1)
/// ```
///
/// The log variances `g_1, g_2` of the noise are mixed in the same way, with another sign, from
/// processes of their own `noise_lengthscale`; their mean is `2 log noise` and their variance
/// `noise_variance`. Where an output is censored, [`Record`] says what stands in the place of
/// `y_d`.
///
/// # Source
/// Gammelli et al. 2022, *Generalized multi-output Gaussian process censored regression*, section
/// 4.3, which gives the points, the stretch and the kinds of overlap; the shortfalls are like those
/// of its one data set. Kernels, variances and the mean of `g`, which it does not state, are chosen
/// here.
#[derive(Debug, Clone, PartialEq)]
pub struct Censored {
    /// Points of each output.
    pub points: usize,
    /// Lengthscale of the functions.
    pub lengthscale: f64,
    /// Variance of the functions.
    pub variance: f64,
    /// Size of the correlation of the two functions at one place, from 0 to 1.
    pub correlation: f64,
    /// Standard deviation of the noise where its logarithm is at its mean.
    pub noise: f64,
    /// Variance of the log variance of the noise.
    pub noise_variance: f64,
    /// Lengthscale of the log variance.
    pub noise_lengthscale: f64,
    /// Which rows are censored.
    pub overlap: Overlap,
    /// What is recorded of them.
    pub record: Record,
    /// Least and largest shortfall of [`Record::Random`].
    pub shortfall: (f64, f64),
    /// Share of the rows of a censored stretch that lie above the threshold of [`Record::Clipped`].
    pub share: f64,
    /// Everything random comes from it.
    pub seed: u64,
}

/// One output of [`Censored::draw`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CensoredOutput {
    /// The function.
    pub latent: Vec<f64>,
    /// Standard deviation of the noise.
    pub noise: Vec<f64>,
    /// The values, as they would be without censoring.
    pub values: Vec<f64>,
    /// What was recorded.
    pub recorded: Vec<f64>,
    /// [`Side::Right`] where the value is only known to be at least what was recorded.
    pub sides: Vec<Side>,
    /// The threshold, where there is one.
    pub threshold: Option<f64>,
}

/// What [`Censored::draw`] drew.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CensoredData {
    /// The points, rising.
    pub x: Vec<f64>,
    /// Correlation of the two functions at one place, with its sign.
    pub correlation: f64,
    /// The two outputs.
    pub outputs: [CensoredOutput; 2],
}

impl Default for Censored {
    /// 100 points, functions of sd 1.8 and lengthscale 1.5, log variances of sd 0.7 and lengthscale
    /// 3, shortfalls from 0.05 to 3.55. The noise has an sd of 0.25, a seventh of that of the
    /// functions: the true density then scores about nothing, `100 (log(2 pi e) / 2 + log 0.25) =
    /// 3` nats.
    fn default() -> Self {
        Self {
            points: 100,
            lengthscale: 1.5,
            variance: 3.24,
            correlation: 0.9,
            noise: 0.25,
            noise_variance: 0.49,
            noise_lengthscale: 3.0,
            overlap: Overlap::None,
            record: Record::Random,
            shortfall: (0.05, 3.55),
            share: 0.6,
            seed: 1,
        }
    }
}

impl Censored {
    /// Ends of the range of the points.
    pub const RANGE: (f64, f64) = (0.0, 10.0);

    /// Draws the functions, the noise and what was recorded.
    ///
    /// Truth and values depend on the seed and the sizes only, not on `overlap` and `record`.
    ///
    /// # Errors
    /// [`SimulateError::Option`] for an option outside its range; [`SimulateError::Linalg`].
    ///
    /// # Examples
    /// ```
    /// use quadrat::likelihood::Side;
    /// use quadrat::simulate::Censored;
    ///
    /// let data = Censored::default().draw()?;
    /// let first = &data.outputs[0];
    /// let hidden: Vec<usize> = (0..100).filter(|&i| first.sides[i] == Side::Right).collect();
    /// // Those in [1.3, 5.5].
    /// assert_eq!((hidden.len(), hidden[0], hidden[41]), (42, 13, 54));
    /// assert!(hidden.iter().all(|&i| first.recorded[i] < first.values[i]));
    /// # Ok::<(), quadrat::simulate::SimulateError>(())
    /// ```
    pub fn draw(&self) -> Result<CensoredData, SimulateError> {
        self.check()?;
        let last = (self.points - 1) as f64;
        let places: Vec<f64> = (0..self.points).map(|i| i as f64 / last).collect();
        let (low, high) = Self::RANGE;
        let x: Vec<f64> = (0..self.points)
            .map(|i| (low * (last - i as f64) + high * i as f64) / last)
            .collect();
        let (correlation, latent) = self.pair(LATENT, &x, self.lengthscale, self.variance)?;
        let (_, logs) = self.pair(NOISE, &x, self.noise_lengthscale, self.noise_variance)?;
        let [first, second] = latent;
        Ok(CensoredData {
            correlation,
            outputs: [
                self.output(0, first, &logs[0], &places),
                self.output(1, second, &logs[1], &places),
            ],
            x,
        })
    }

    /// Two correlated functions, and their correlation.
    fn pair(
        &self,
        stream: u64,
        x: &[f64],
        lengthscale: f64,
        variance: f64,
    ) -> Result<(f64, [Vec<f64>; 2]), SimulateError> {
        let mut random = random(self.seed, stream);
        let sign = if random.random::<bool>() { 1.0 } else { -1.0 };
        let r = sign * self.correlation;
        let axes = [x.to_vec()];
        let first = se_from(&axes, lengthscale, variance, &mut random)?;
        let other = se_from(&axes, lengthscale, variance, &mut random)?;
        let own = (1.0 - r * r).max(0.0).sqrt();
        let second = first.iter().zip(&other).map(|(a, b)| r * a + own * b);
        let second = second.collect();
        Ok((r, [first, second]))
    }

    fn output(&self, d: usize, latent: Vec<f64>, logs: &[f64], places: &[f64]) -> CensoredOutput {
        let mut own = random(self.seed, VALUES + d as u64);
        let noise: Vec<f64> = logs.iter().map(|g| self.noise * (0.5 * g).exp()).collect();
        let values: Vec<f64> = latent
            .iter()
            .zip(&noise)
            .map(|(f, sd)| {
                let z: f64 = StandardNormal.sample(&mut own);
                f + sd * z
            })
            .collect();
        let covered = |i: &usize| self.overlap.covers(d, places[*i]);
        let hidden: Vec<usize> = (0..places.len()).filter(covered).collect();
        let mut recorded = values.clone();
        let mut sides = vec![Side::None; values.len()];
        let mut threshold = None;
        match self.record {
            Record::Random => {
                // One number for every place, so that another overlap leaves the others as they
                // are.
                let mut own = random(self.seed, RECORDS + d as u64);
                let (least, most) = self.shortfall;
                let shortfalls: Vec<f64> = (0..values.len())
                    .map(|_| least + (most - least) * own.random::<f64>())
                    .collect();
                for &i in &hidden {
                    recorded[i] = values[i] - shortfalls[i];
                    sides[i] = Side::Right;
                }
            }
            Record::Clipped => {
                let mut among: Vec<f64> = hidden.iter().map(|&i| values[i]).collect();
                among.sort_unstable_by(f64::total_cmp);
                let below = ((1.0 - self.share) * among.len() as f64).round() as usize;
                // Between the last value that is left and the first that is cut.
                let ends = (among.get(below.wrapping_sub(1)), among.get(below));
                let limit = match ends {
                    (Some(a), Some(b)) => 0.5 * (a + b),
                    (None, Some(b)) => *b,
                    _ => f64::INFINITY,
                };
                for &i in hidden.iter().filter(|&&i| values[i] >= limit) {
                    recorded[i] = limit;
                    sides[i] = Side::Right;
                }
                threshold = limit.is_finite().then_some(limit);
            }
        }
        CensoredOutput {
            latent,
            noise,
            values,
            recorded,
            sides,
            threshold,
        }
    }

    fn check(&self) -> Result<(), SimulateError> {
        let points = (10..=MOST).contains(&self.points);
        check("points", self.points as f64, points, "from 10 to 1000")?;
        for (option, value) in [
            ("lengthscale", self.lengthscale),
            ("variance", self.variance),
            ("noise", self.noise),
            ("noise_lengthscale", self.noise_lengthscale),
        ] {
            let holds = value > 0.0 && value.is_finite();
            check(option, value, holds, "a finite number above zero")?;
        }
        let still = self.noise_variance >= 0.0 && self.noise_variance.is_finite();
        check(
            "noise_variance",
            self.noise_variance,
            still,
            "a finite number, zero or more",
        )?;
        let share = (0.0..=1.0).contains(&self.correlation);
        check("correlation", self.correlation, share, "from 0 to 1")?;
        let (least, most) = self.shortfall;
        check("shortfall", least, least >= 0.0, "zero or more")?;
        let wide = most > least && most.is_finite();
        check("shortfall", most, wide, "finite and above the least one")?;
        let share = self.share > 0.0 && self.share <= 1.0;
        check("share", self.share, share, "above 0 and at most 1")
    }
}

#[cfg(test)]
#[path = "censored_tests.rs"]
mod tests;
