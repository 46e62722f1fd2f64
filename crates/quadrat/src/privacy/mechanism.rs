//! The mechanism: which noise, how much, and what may be done to the result.

use super::law::Law;
use rand::Rng;

use super::clip::{self, Moments};
use super::discrete_gaussian::SIGMA_SQUARED;
use super::geometric::{EPSILON, SENSITIVITY};
use super::{DiscreteGaussian, Geometric, Laplace, NoiseSource, PrivacyError};

/// Laplace noise must be this many times as wide as the gaps between the doubles that it is added
/// to.
const GAPS: f64 = 1e6;

/// Noise in whole numbers that is zero with a higher probability than this is none.
const MOSTLY_ZERO: f64 = 1.0 - 1e-9;

/// Noise that makes a table of counts differentially private.
///
/// # Examples
/// ```
/// use quadrat::privacy::{Mechanism, NoiseSource};
/// let mechanism = Mechanism::geometric(1.0, 0.1)?;
/// let noisy = mechanism.release(&[12.0, 40.0, 3.0], &mut NoiseSource::from_os()?)?;
/// assert!(noisy.iter().all(|value| value.fract() == 0.0));
/// // What inference takes as the known variance of these values, 2 alpha / (1 - alpha)^2:
/// assert!((mechanism.variance() - 199.833).abs() < 1e-3);
/// # Ok::<(), quadrat::privacy::PrivacyError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mechanism {
    law: Law,
    sensitivity: f64,
    epsilon: f64,
    rho: f64,
    lower: f64,
    upper: f64,
}

impl Mechanism {
    /// Laplace noise of scale `b = sensitivity / epsilon`, variance `2 b^2`, on any numbers.
    ///
    /// **Floating point weakens it.** Of the doubles near a noisy value only some can be reached
    /// from a given count, so the low digits of a textbook Laplace draw can tell two counts apart
    /// (I. Mironov, *On significance of the least significant bits for differential privacy*, CCS
    /// 2012). For counts take [`Mechanism::geometric`], which has no such digits.
    ///
    /// # Errors
    /// [`PrivacyError::Epsilon`], [`PrivacyError::Sensitivity`] unless both are positive and finite
    /// and so is the variance, and the noise is wide enough for the doubles between which it must
    /// hide one person.
    pub fn laplace(sensitivity: f64, epsilon: f64) -> Result<Self, PrivacyError> {
        positive(sensitivity, epsilon)?;
        let noise = Laplace::new(sensitivity / epsilon);
        if !noise.variance().is_normal() {
            let requirement =
                "such that the variance 2 (sensitivity / epsilon)^2 is neither zero nor infinite";
            // The one that is further from ordinary is at fault.
            return Err(if sensitivity.ln().abs() > epsilon.ln().abs() {
                let value = sensitivity;
                PrivacyError::Sensitivity { value, requirement }
            } else {
                let value = epsilon;
                PrivacyError::Epsilon { value, requirement }
            });
        }
        if too_coarse(0.0, sensitivity, noise.scale()) {
            return Err(PrivacyError::Epsilon {
                value: epsilon,
                requirement: "below about 4e9: beyond, doubles are too coarse to hold the noise",
            });
        }
        Ok(Self::new(Law::Laplace(noise), sensitivity, epsilon))
    }

    /// Two-sided geometric noise with `alpha = exp(-epsilon / sensitivity)`, variance `2 alpha /
    /// (1 - alpha)^2`: whole numbers in, whole numbers out. Drawn exactly, in integers; see
    /// [`Geometric::sample`].
    ///
    /// # Errors
    /// [`PrivacyError::Epsilon`] unless `2^-30 <= epsilon <= 2^10` and the noise is zero with
    /// probability `1 - 1e-9` at most, which is `epsilon / sensitivity <= 21.4`;
    /// [`PrivacyError::Sensitivity`] unless it is a whole number from 1 to `2^30`.
    pub fn geometric(sensitivity: f64, epsilon: f64) -> Result<Self, PrivacyError> {
        positive(sensitivity, epsilon)?;
        if sensitivity.fract() != 0.0 || sensitivity > SENSITIVITY {
            return Err(PrivacyError::Sensitivity {
                value: sensitivity,
                requirement: "a whole number, at most 2^30, for geometric noise",
            });
        }
        if !(EPSILON.0..=EPSILON.1).contains(&epsilon) {
            return Err(PrivacyError::Epsilon {
                value: epsilon,
                requirement: "from 2^-30 (9.4e-10) to 1024 for geometric noise",
            });
        }
        let noise = Geometric::new(sensitivity as u32, epsilon);
        if libm::exp(noise.ln_pmf(0.0)) > MOSTLY_ZERO {
            return Err(PrivacyError::Epsilon {
                value: epsilon,
                requirement: "at most 21.4 times the sensitivity for geometric noise: beyond, the noise is nearly always zero and true counts are released",
            });
        }
        Ok(Self::new(Law::Geometric(noise), sensitivity, epsilon))
    }

    /// Discrete Gaussian noise of `sigma = sensitivity / sqrt(2 rho)`: whole numbers in, whole
    /// numbers out, `rho`-zero-concentrated privacy. Drawn exactly; see
    /// [`DiscreteGaussian::sample`].
    ///
    /// # Arguments
    /// * `sensitivity` - Euclidean: the root of the sum of squares by which one person changes the
    ///   counts, 1 where everybody is counted in one row
    /// * `rho` - privacy spent; [`concentrated`](super::concentrated) has that of an epsilon and a
    ///   delta
    /// # Errors
    /// [`PrivacyError::Rho`], [`PrivacyError::Sensitivity`] unless both are positive and finite;
    /// [`PrivacyError::Rho`] unless `sigma` is at most `2^25`, and the noise is zero with
    /// probability `1 - 1e-9` at most, which is a `sigma` of 0.153 or more.
    ///
    /// # Examples
    /// ```
    /// use quadrat::privacy::Mechanism;
    /// let mechanism = Mechanism::discrete_gaussian(1.0, 0.02)?;
    /// assert!((mechanism.variance() - 25.0).abs() < 1e-9);
    /// # Ok::<(), quadrat::privacy::PrivacyError>(())
    /// ```
    pub fn discrete_gaussian(sensitivity: f64, rho: f64) -> Result<Self, PrivacyError> {
        let refuse = |requirement| {
            Err(PrivacyError::Rho {
                value: rho,
                requirement,
            })
        };
        if !(rho > 0.0 && rho.is_finite()) {
            return refuse("a finite number above zero");
        }
        positive(sensitivity, 1.0)?;
        let sigma_squared = sensitivity * sensitivity / rho / 2.0;
        if sigma_squared > SIGMA_SQUARED.1 {
            return refuse("such that sigma, sensitivity / sqrt(2 rho), is at most 2^25 (3.4e7)");
        }
        let too_little = "such that sigma, sensitivity / sqrt(2 rho), is 0.153 or more: below, the noise is nearly always zero and true counts are released";
        if sigma_squared < SIGMA_SQUARED.0 {
            return refuse(too_little);
        }
        let noise = DiscreteGaussian::new(sigma_squared);
        if libm::exp(noise.ln_pmf(0.0)) > MOSTLY_ZERO {
            return refuse(too_little);
        }
        let mut made = Self::new(Law::DiscreteGaussian(noise), sensitivity, f64::INFINITY);
        made.rho = rho;
        Ok(made)
    }

    fn new(law: Law, sensitivity: f64, epsilon: f64) -> Self {
        Self {
            law,
            sensitivity,
            epsilon,
            // Bun and Steinke 2016, proposition 1.4.
            rho: 0.5 * epsilon * epsilon,
            lower: f64::NEG_INFINITY,
            upper: f64::INFINITY,
        }
    }

    /// The same, with released values clipped to `[lower, upper]` *after* the noise; the ends may
    /// be infinite. Costs no privacy, being done to what is public already.
    ///
    /// **Clipping biases.** Mean and variance of a clipped value depend on the true count
    /// ([`Mechanism::moments`]): clipped at zero, small counts come out too large on average, by up
    /// to about half a scale, and so do all sums of them. Inference undoes noise of mean zero, so
    /// release without clipping where the table is to be analysed.
    ///
    /// # Errors
    /// [`PrivacyError::Clip`] unless `lower < upper`; for noise in whole numbers finite ends
    /// must be whole numbers up to `2^53`.
    pub fn clipped(mut self, lower: f64, upper: f64) -> Result<Self, PrivacyError> {
        let refuse = |requirement| {
            Err(PrivacyError::Clip {
                lower,
                upper,
                requirement,
            })
        };
        let ordered = lower < upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
        if !ordered {
            return refuse("the lower end must be below the upper one");
        }
        let whole = |end: f64| end.is_infinite() || exact_integer(end);
        if self.is_integer() && !(whole(lower) && whole(upper)) {
            return refuse("this noise gives whole numbers, so the ends must be whole");
        }
        (self.lower, self.upper) = (lower, upper);
        Ok(self)
    }

    /// The distribution of the noise, before clipping.
    #[must_use]
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// Whether counts must be, and released values are, whole numbers.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        !matches!(self.law, Law::Laplace(_))
    }

    /// The most by which one person changes the counts, all rows together: the sum of absolute
    /// changes, for Gaussian noise the root of the sum of their squares.
    #[must_use]
    pub fn sensitivity(&self) -> f64 {
        self.sensitivity
    }

    /// The privacy spent by one release of one column. Releases about the same people add up
    /// (sequential composition): `k` columns cost `k epsilon`. Infinite for Gaussian noise, which
    /// no epsilon bounds without a delta.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The zero-concentrated privacy spent by one release of one column, `epsilon^2 / 2` where that
    /// is of an epsilon. These add up too.
    #[must_use]
    pub fn rho(&self) -> f64 {
        self.rho
    }

    /// The scale of the noise, in the unit of the counts: `sensitivity / epsilon`, or sigma of the
    /// Gaussian.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.law.scale()
    }

    /// Variance of the noise **before clipping**, in the unit of the counts squared: what to give
    /// as the known noise variance. After clipping it is an upper bound that no longer comes with
    /// mean zero; see [`Mechanism::clipped`].
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.law.variance()
    }

    /// Exact mean and variance of what is released for a true count, clipping included.
    ///
    /// # Examples
    /// ```
    /// # use quadrat::privacy::Mechanism;
    /// // Clipped at zero, a true zero is released as b/2 on average.
    /// let clipped = Mechanism::laplace(1.0, 0.1)?.clipped(0.0, f64::INFINITY)?;
    /// assert!((clipped.moments(0.0).mean - 5.0).abs() < 1e-12);
    /// assert!((clipped.moments(0.0).variance - 75.0).abs() < 1e-12);
    /// # Ok::<(), quadrat::privacy::PrivacyError>(())
    /// ```
    #[must_use]
    pub fn moments(&self, truth: f64) -> Moments {
        clip::moments(&self.law, truth, self.lower, self.upper)
    }

    /// `P(released <= value)` for a true count, clipping included.
    #[must_use]
    pub fn cdf(&self, value: f64, truth: f64) -> f64 {
        if value < self.lower {
            return 0.0;
        }
        if value >= self.upper {
            return 1.0;
        }
        self.law.cdf(value - truth)
    }

    /// Log likelihood of a true count given the value released, nats: the log density (Laplace) or
    /// log probability (of whole numbers); at a clipped end the log probability of everything
    /// beyond it; minus infinity outside.
    #[must_use]
    pub fn ln_pdf(&self, value: f64, truth: f64) -> f64 {
        if value < self.lower || value > self.upper {
            f64::NEG_INFINITY
        } else if value == self.lower {
            self.law.ln_upper(truth - value)
        } else if value == self.upper {
            self.law.ln_upper(value - truth)
        } else {
            self.law.ln_pdf(value - truth)
        }
    }

    /// One released value for a true count that [`Mechanism::requirement`] accepts.
    pub fn sample(&self, truth: f64, random: &mut impl Rng) -> f64 {
        // Added in integers, so that what is rounded (beyond 2^53) is the noisy value, not the
        // noise.
        let whole = |truth: f64, noise: i128| (truth as i128).saturating_add(noise) as f64;
        let noisy = match &self.law {
            Law::Laplace(noise) => truth + noise.sample(random),
            Law::Geometric(noise) => whole(truth, noise.sample(random)),
            Law::DiscreteGaussian(noise) => whole(truth, noise.sample(random)),
        };
        noisy.clamp(self.lower, self.upper)
    }

    /// What a count must be, if it is not that: a remedy to print.
    #[must_use]
    pub fn requirement(&self, count: f64) -> Option<&'static str> {
        if !count.is_finite() {
            Some("a finite number")
        } else if count < 0.0 {
            Some("zero or more")
        } else if self.is_integer() && !exact_integer(count) {
            Some("a whole number up to 2^53 for noise in whole numbers")
        } else if !self.is_integer() && too_coarse(count, self.sensitivity, self.scale()) {
            Some(
                "so small that neighbouring doubles are less than a millionth of the scale of the noise apart: coarser ones betray it",
            )
        } else {
            None
        }
    }

    /// Releases a column: every count with noise of its own. Columns released together take their
    /// noise from **one** source.
    ///
    /// # Errors
    /// [`PrivacyError::Count`] for a count that is negative, not finite, not whole where the
    /// noise is, or (Laplace) so large that doubles near it are coarser than a millionth of the
    /// scale of the noise.
    pub fn release(
        &self,
        counts: &[f64],
        source: &mut NoiseSource,
    ) -> Result<Vec<f64>, PrivacyError> {
        for (row, &value) in counts.iter().enumerate() {
            if let Some(requirement) = self.requirement(value) {
                return Err(PrivacyError::Count {
                    row,
                    value,
                    requirement,
                });
            }
        }
        Ok(counts
            .iter()
            .map(|&count| self.sample(count, source))
            .collect())
    }
}

/// Whether a double is a whole number and its neighbours are representable.
fn exact_integer(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0
}

/// Whether the doubles near a count, or near that with one person more, are too far apart to be
/// blurred.
fn too_coarse(count: f64, sensitivity: f64, scale: f64) -> bool {
    let largest = count + sensitivity;
    (largest.next_up() - largest) * GAPS >= scale
}

fn positive(sensitivity: f64, epsilon: f64) -> Result<(), PrivacyError> {
    let requirement = "a finite number above zero";
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        let value = epsilon;
        return Err(PrivacyError::Epsilon { value, requirement });
    }
    if !(sensitivity > 0.0 && sensitivity.is_finite()) {
        let value = sensitivity;
        return Err(PrivacyError::Sensitivity { value, requirement });
    }
    Ok(())
}
