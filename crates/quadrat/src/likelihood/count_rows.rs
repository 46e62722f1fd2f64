//! What Poisson and negative binomial share: rows of counts or ranges of counts, exposures and a
//! link.

use serde::{Deserialize, Serialize};

use super::check;
use super::counting::{DispersionSlopes, LogMass, exact, mean, range};
use super::local::{Belief, Expected, Jet, Tilted};
use super::quadrature::{self, averages, climb, mode, tilted_at, tilted_averages};
use super::small_counts;
use crate::error::InputError;
use crate::link::{Form, Link};
use crate::special::{CountMean, elementary};

/// Nearer to 0 than this the square link's log-probability of a range from 0 is 0 to the last bit.
const NEAR_ZERO: f64 = 1e-60;

/// Rows of counts: validated columns of one length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CountRows {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub exposure: Vec<f64>,
    pub link: Link,
}

impl CountRows {
    pub fn new(
        lower: Vec<f64>,
        upper: Vec<f64>,
        exposure: Vec<f64>,
        link: Link,
    ) -> Result<Self, InputError> {
        let made = Self {
            lower,
            upper,
            exposure,
            link,
        };
        made.check()?;
        Ok(made)
    }

    /// Refuses what cannot be counted.
    pub fn check(&self) -> Result<(), InputError> {
        check::link_of_counts(self.link)?;
        let (lower, upper, exposure) = (&self.lower, &self.upper, &self.exposure);
        let whole = |_: usize, x: f64| x >= 0.0 && x.fract() == 0.0 && x <= 9.0e15;
        let requirement = "a whole number from 0 to 9e15";
        check::length("the upper count", lower.len(), upper.len())?;
        check::length("the exposure", lower.len(), exposure.len())?;
        check::range("the count", lower, requirement, whole)?;
        check::range(
            "the upper count",
            upper,
            "a whole number from 0 to 9e15, or infinite",
            |row, x| x == f64::INFINITY || whole(row, x),
        )?;
        check::range(
            "the upper count",
            upper,
            "at least the lower count of its row",
            |row, x| x >= lower[row],
        )?;
        check::range(
            "the exposure",
            exposure,
            "a finite number, zero or more",
            |_, x| x >= 0.0 && x.is_finite(),
        )?;
        check::range(
            "the exposure",
            exposure,
            "more than zero where something was counted",
            |row, x| x > 0.0 || lower[row] == 0.0,
        )
    }

    /// The same rows where every exposure is that many times as large.
    pub fn per_unit(&self, sizes: &[f64]) -> Self {
        let mut rows = self.clone();
        for (exposure, size) in rows.exposure.iter_mut().zip(sizes) {
            *exposure *= size;
        }
        rows
    }

    /// Whether the row says nothing about the latent value.
    pub fn is_void(&self, row: usize) -> bool {
        self.exposure[row] == 0.0 || (self.lower[row] == 0.0 && self.upper[row] == f64::INFINITY)
    }

    pub fn is_exact(&self, row: usize) -> bool {
        self.lower[row] == self.upper[row]
    }

    pub fn guess(&self, row: usize) -> f64 {
        let (lower, upper) = (self.lower[row], self.upper[row]);
        let count = match upper == f64::INFINITY {
            true => 1.2 * lower + 1.0,
            false => 0.5 * (lower + upper),
        };
        let mean = (count + 0.5) / self.exposure[row];
        match self.is_void(row) {
            true => 0.0,
            false => self.link.inverse(mean).unwrap_or(0.0),
        }
    }

    fn curve(&self, row: usize, count: &CountMean, slopes: DispersionSlopes) -> LogMass {
        let (lower, upper) = (self.lower[row], self.upper[row]);
        if self.is_exact(row) {
            return exact(count, slopes, lower);
        }
        let is_value = slopes == DispersionSlopes::No;
        let small = is_value.then(|| small_counts::curve(count, lower, upper));
        let by_size = || range(count, slopes, lower, upper);
        small.flatten().unwrap_or_else(by_size)
    }

    /// `log p` of the row and its derivatives in `f`.
    pub fn jet(&self, row: usize, dispersion: f64, f: f64) -> Jet {
        if self.is_void(row) {
            return Jet::default();
        }
        let logs = self.link.log_jet(f);
        let count = mean(self.link, &logs, self.exposure[row], dispersion, f);
        if self.is_exact(row) && self.link != Link::Exp {
            return self.exact_jet(row, &count, &logs, f);
        }
        if self.link == Link::Square && f.abs() < NEAR_ZERO && self.lower[row] == 0.0 {
            return Jet::default();
        }
        let LogMass {
            value,
            derivatives: [a, b, c],
            ..
        } = self.curve(row, &count, DispersionSlopes::No);
        let [_, u1, u2, u3] = logs;
        Jet {
            value,
            first: a * u1,
            second: b * u1 * u1 + a * u2,
            third: c * u1 * u1 * u1 + 3.0 * b * u1 * u2 + a * u3,
        }
    }

    /// Derivatives of `y log mu - (y + a) log(1 + alpha mu)` as `w (y u' - mu')` and so on, which
    /// has no poles at a mean of 0, and no cancellation for alpha near 0 or large.
    fn exact_jet(&self, row: usize, count: &CountMean, logs: &[f64; 4], f: f64) -> Jet {
        let y = self.lower[row];
        let w = count.weight();
        let mut excess = [0.0; 3];
        let means = self.link.jet(f).map(|x| self.exposure[row] * x);
        for i in 0..3 {
            let log = if y > 0.0 { y * logs[i + 1] } else { 0.0 };
            excess[i] = log - means[i + 1];
        }
        let pull = count.dispersion * w * means[1];
        let bend = 2.0 * pull * pull - count.dispersion * w * means[2];
        Jet {
            value: count.log_probability(y),
            first: w * excess[0],
            second: w * (excess[1] - pull * excess[0]),
            third: w * (excess[2] - 2.0 * pull * excess[1] + bend * excess[0]),
        }
    }

    /// Slopes of value, first and second in the dispersion.
    pub fn slopes(&self, row: usize, dispersion: f64, f: f64) -> [f64; 3] {
        if self.is_void(row) {
            return [0.0; 3];
        }
        // The log of the square link has a pole that the sums below would subtract from itself.
        let f = if self.link == Link::Square && f.abs() < NEAR_ZERO {
            NEAR_ZERO
        } else {
            f
        };
        let logs = self.link.log_jet(f);
        let count = mean(self.link, &logs, self.exposure[row], dispersion, f);
        let [value, first, second] = self.curve(row, &count, DispersionSlopes::Yes).slopes;
        let [_, u1, u2, _] = logs;
        [value, first * u1, second * u1 * u1 + first * u2]
    }

    /// Whether cavity times likelihood has one peak for every cavity.
    pub fn is_log_concave(&self, dispersed: bool) -> bool {
        match self.link.form() {
            Form::Exponential => true,
            Form::Smooth => self.link == Link::Softplus && !dispersed,
            Form::Line | Form::Square => false,
        }
    }

    /// Peaks of cavity times likelihood.
    fn peaks(&self, row: usize, dispersion: f64, cavity: Belief) -> Peaks {
        let guess = self.guess(row);
        let jet = |f: f64| self.jet(row, dispersion, f);
        let mut peaks = Peaks::default();
        if self.is_log_concave(dispersion > 0.0) {
            peaks.add(mode(cavity, guess, jet), 0.0);
            peaks.add(guess, 0.0);
            return peaks;
        }
        let half_lines = self.link == Link::Square && self.lower[row] > 0.0;
        let lines = match half_lines {
            true => [(0.0, f64::INFINITY), (f64::NEG_INFINITY, 0.0)],
            false => [(f64::NEG_INFINITY, f64::INFINITY); 2],
        };
        let width = |x: f64| (1.0 / cavity.variance + jet(x).second.abs()).sqrt().recip();
        for (line, sign) in lines.into_iter().zip([1.0, -1.0]) {
            let guess = if self.link == Link::Square {
                sign * guess.abs()
            } else {
                guess
            };
            for start in [guess, cavity.mean] {
                if start > line.0 && start < line.1 {
                    let peak = climb(cavity, start, line, jet);
                    peaks.add(peak, 0.1 * width(peak));
                }
            }
            // Not peaks, but a shoulder or a hole may be there.
            peaks.add(guess, width(guess));
        }
        peaks.add(cavity.mean, width(cavity.mean));
        peaks
    }

    pub fn tilted(&self, row: usize, dispersion: f64, cavity: Belief) -> Tilted {
        if self.is_void(row) {
            return Tilted::default();
        }
        if self.link == Link::Square && dispersion == 0.0 && self.upper[row] == 0.0 {
            // exp(-exposure f^2): a Gaussian.
            let precision = 2.0 * self.exposure[row];
            let stretch = precision * cavity.variance;
            let away = cavity.mean * cavity.mean;
            return Tilted {
                log_z: -0.5 * (elementary::log1p(stretch) + precision * away / (1.0 + stretch)),
                precision,
                shift: 0.0,
            };
        }
        if self.link == Link::Exp
            && let Some(tilted) = self.tilted_smooth(row, dispersion, cavity)
        {
            return tilted;
        }
        let peaks = self.peaks(row, dispersion, cavity);
        let is_concave = self.is_log_concave(dispersion > 0.0);
        tilted_at(cavity, peaks.found(), is_concave, |f| {
            self.jet(row, dispersion, f)
        })
    }

    pub fn tilted_slope(&self, row: usize, dispersion: f64, cavity: Belief) -> f64 {
        if self.is_void(row) {
            return 0.0;
        }
        let peaks = self.peaks(row, dispersion, cavity);
        let jet = |f: f64| self.jet(row, dispersion, f);
        let is_concave = self.is_log_concave(dispersion > 0.0);
        let (_, _, [_, slope]) =
            tilted_averages(cavity, peaks.found(), is_concave, jet, |f, _, _| {
                [1.0, self.slopes(row, dispersion, f)[0]]
            });
        slope
    }

    /// Places and widths of what bends in `log p`.
    fn features(&self, row: usize, dispersion: f64) -> Features {
        let mut features = Features::default();
        let exposure = self.exposure[row];
        let mut at = |mean: f64, width: f64| {
            let Some(f) = self.link.inverse(mean / exposure) else {
                return;
            };
            let width = width / self.link.log_jet(f)[1].abs().max(1e-3);
            features.add(f, width);
            if self.link == Link::Square {
                features.add(-f, width);
            }
        };
        if dispersion > 0.0 {
            at(1.0 / dispersion, 1.0);
        }
        if !self.is_exact(row) {
            for k in [self.lower[row], self.upper[row] + 1.0] {
                if k > 0.0 && k < f64::INFINITY {
                    at(k, ((1.0 + dispersion * k) / k).sqrt().min(1.0));
                }
            }
        }
        if self.link != Link::Exp {
            features.add(0.0, 1.0);
        }
        features
    }

    pub fn expected(&self, row: usize, dispersion: f64, belief: Belief) -> Expected {
        if self.is_void(row) {
            return Expected::default();
        }
        let y = self.lower[row];
        let poisson = self.is_exact(row) && dispersion == 0.0;
        match self.link {
            Link::Exp if poisson => self.expected_exp(row, belief),
            Link::Square => {
                let mut sum = if poisson {
                    let twice = 2.0 * self.exposure[row];
                    let square = belief.mean * belief.mean + belief.variance;
                    let constant = y * elementary::log(self.exposure[row]) - libm::lgamma(y + 1.0);
                    Expected {
                        value: constant - 0.5 * twice * square,
                        first: -twice * belief.mean,
                        second: -twice,
                    }
                } else {
                    // Without the pole of y log f^2 at 0, which is added in closed form.
                    let features = self.features(row, dispersion);
                    self.expected_without_pole(row, dispersion, belief, features.found())
                };
                if y > 0.0 {
                    let log = super::log_square::expected_log_square(belief);
                    sum.value += y * log.value;
                    sum.first += y * log.first;
                    sum.second += y * log.second;
                }
                sum
            }
            _ => {
                let features = self.features(row, dispersion);
                quadrature::expected(belief, features.found(), |f| self.jet(row, dispersion, f))
            }
        }
    }

    /// `E log p = log p(m) - mu(m) (e^(v/2) - 1)`.
    fn expected_exp(&self, row: usize, belief: Belief) -> Expected {
        let jet = self.jet(row, 0.0, belief.mean);
        let y = self.lower[row];
        let centre = elementary::log(self.exposure[row]) + belief.mean;
        let half = 0.5 * belief.variance;
        let mean = elementary::exp((centre + half).min(crate::link::CLIP));
        let growth = -mean * elementary::expm1(-half);
        Expected {
            value: jet.value - growth,
            first: y - mean,
            second: -mean,
        }
    }

    pub fn expected_slope(&self, row: usize, dispersion: f64, belief: Belief) -> f64 {
        if self.is_void(row) {
            return 0.0;
        }
        let features = self.features(row, dispersion);
        averages(belief, features.found(), |f| {
            [self.slopes(row, dispersion, f)[0]]
        })
        .value[0]
    }

    /// Mean of a new count.
    pub fn new_mean(&self, exposure: f64, f: f64) -> f64 {
        exposure * self.link.value(f)
    }
}

/// Up to seven places.
#[derive(Default)]
struct Peaks {
    at: [f64; 7],
    len: usize,
}

impl Peaks {
    /// Adds one, unless it is known.
    fn add(&mut self, peak: f64, near: f64) {
        if self.len < 7 && !self.found().iter().any(|x| (x - peak).abs() <= near) {
            self.at[self.len] = peak;
            self.len += 1;
        }
    }

    fn found(&self) -> &[f64] {
        &self.at[..self.len]
    }
}

/// Up to eight places with widths.
#[derive(Default)]
struct Features {
    at: [(f64, f64); 8],
    len: usize,
}

impl Features {
    fn add(&mut self, place: f64, width: f64) {
        if self.len < 8 {
            self.at[self.len] = (place, width);
            self.len += 1;
        }
    }

    fn found(&self) -> &[(f64, f64)] {
        &self.at[..self.len]
    }
}

/// The columns of a likelihood that has [`CountRows`].
macro_rules! columns {
    ($kind:ident) => {
        impl $kind {
            /// Lower ends of the ranges.
            #[must_use]
            pub fn lower(&self) -> &[f64] {
                &self.rows.lower
            }

            /// Upper ends, included.
            #[must_use]
            pub fn upper(&self) -> &[f64] {
                &self.rows.upper
            }

            /// Exposures.
            #[must_use]
            pub fn exposure(&self) -> &[f64] {
                &self.rows.exposure
            }

            /// The link.
            #[must_use]
            pub fn link(&self) -> Link {
                self.rows.link
            }
        }
    };
}
pub(super) use columns;
