//! Student's t noise, for values with outliers.

use crate::special::elementary;
use serde::{Deserialize, Serialize};

use super::distribution::{self, Distribution};
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::scale_mixture::ScaleMixture;
use super::{Noise, check, quadrature};
use crate::error::InputError;
use crate::parameter::{Parameter, PriorDensity};
use crate::special::gamma_half::{digamma_half_step, log_gamma_half_step};

/// What is known of the degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Degrees {
    /// Known, > 0; 1 is Cauchy's distribution, infinity would be the normal one.
    Known(f64),
    /// Learned.
    Learned,
}

/// Values observed with Student's t noise: `y = f + sqrt(variance) T`, `T` with `degrees` of
/// freedom.
///
/// $$ \log p = \log \frac{\Gamma((\nu+1)/2)}{\Gamma(\nu/2)\sqrt{\pi \nu v}} - \frac{\nu + 1}{2}
/// \log\left(1 + \frac{(y-f)^2}{\nu v}\right) $$
///
/// `variance` is the squared scale; the variance of the noise is `nu / (nu - 2)` times that. Not
/// log-concave: sites may have negative precision, and the tilted density two modes. Own
/// hyperparameters, in this order: `noise.variance` and `student_t.degrees`, where they are
/// learned.
///
/// # Numerics
/// Moments as those of a mixture of normal noises, else by quadrature around both modes: to about
/// 1e-12.
/// # Source
/// Jylanki, Vanhatalo & Vehtari 2011, JMLR 12, 3227.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudentT {
    values: Vec<f64>,
    noise: Noise,
    degrees: Degrees,
}

/// One row with its hyperparameters.
#[derive(Clone, Copy)]
struct Row {
    value: f64,
    variance: f64,
    degrees: f64,
    /// Everything of `log p` that does not depend on `f`.
    constant: f64,
}

impl Row {
    fn jet(&self, f: f64) -> Jet {
        let Self {
            variance: v,
            degrees: nu,
            ..
        } = *self;
        let away = self.value - f;
        let c = nu * v;
        let z = away / c.sqrt();
        let square = z * z;
        // (nu + 1) / (c + away^2), which neither overflows nor cancels.
        let weight = (nu + 1.0) / c / (1.0 + square);
        let ratio = 1.0 / (1.0 + square);
        Jet {
            value: self.constant - 0.5 * (nu + 1.0) * elementary::log1p(square),
            first: weight * away,
            second: -weight * (1.0 - square) * ratio,
            third: -2.0 * weight * (z / c.sqrt()) * (3.0 - square) * ratio * ratio,
        }
    }

    /// Derivatives of value, first and second in the variance.
    fn in_variance(&self, f: f64) -> [f64; 3] {
        let (square, ratio, away) = self.parts(f);
        let (v, nu) = (self.variance, self.degrees);
        let weight = (nu + 1.0) / (nu * v) * ratio;
        [
            0.5 * ((nu + 1.0) * square * ratio - 1.0) / v,
            -weight * away * ratio / v,
            -weight * (3.0 * square - 1.0) * ratio * ratio / v,
        ]
    }

    /// Twice the derivative of the constant in the degrees of freedom.
    fn normaliser(&self) -> f64 {
        digamma_half_step(0.5 * self.degrees) - 1.0 / self.degrees
    }

    /// Derivatives of value, first and second in the degrees of freedom, given
    /// [`Self::normaliser`].
    fn in_degrees(&self, f: f64, normaliser: f64) -> [f64; 3] {
        let (square, ratio, away) = self.parts(f);
        let (v, nu) = (self.variance, self.degrees);
        let c = nu * v;
        let scaled = (nu + 1.0) / nu;
        [
            0.5 * (normaliser - elementary::log1p(square) + scaled * square * ratio),
            away * ratio / c * (1.0 - scaled * ratio),
            -ratio * ratio / c * ((1.0 - square) + scaled * (3.0 * square - 1.0) * ratio),
        ]
    }

    /// `(y - f)^2 / (nu v)`, one over that plus one, and `y - f`.
    fn parts(&self, f: f64) -> (f64, f64, f64) {
        let away = self.value - f;
        let z = away / (self.degrees * self.variance).sqrt();
        (z * z, 1.0 / (1.0 + z * z), away)
    }

    /// Modes of cavity times likelihood: of the three stationary points at most the outer two are,
    /// one reached by rising from the cavity's mean, one from the value.
    ///
    /// Each step maximises the bound that the scale mixture gives (EM), so that it never descends.
    fn peaks(&self, cavity: Belief) -> [f64; 2] {
        let from_mean = self.value - cavity.mean;
        // Position as the share of the way from the mean to the value.
        [0.0, 1.0].map(|start: f64| {
            let mut share = start;
            for _ in 0..60 {
                let away = from_mean * (1.0 - share);
                let square = away * away / (self.degrees * self.variance);
                let precision =
                    (self.degrees + 1.0) / (self.degrees * self.variance) / (1.0 + square);
                let pull = precision * cavity.variance;
                let next = pull / (1.0 + pull);
                let moved = (next - share).abs() * from_mean.abs();
                share = next;
                if moved * moved * (precision + 1.0 / cavity.variance) < 1e-4 {
                    break;
                }
            }
            cavity.mean + share * from_mean
        })
    }

    /// Derivatives of `log Z` in variance and degrees, by quadrature.
    fn slopes_by_peaks(&self, cavity: Belief) -> [f64; 2] {
        let normaliser = self.normaliser();
        let (_, _, [_, in_variance, in_degrees]) = quadrature::tilted_averages(
            cavity,
            &self.peaks(cavity),
            false,
            |f| self.jet(f),
            |f, _, _| {
                let in_degrees = self.in_degrees(f, normaliser)[0];
                [1.0, self.in_variance(f)[0], in_degrees]
            },
        );
        [in_variance, in_degrees]
    }

    /// The row and a belief as a mixture of normal noises.
    fn mixture(&self, belief: Belief) -> ScaleMixture {
        ScaleMixture {
            away: self.value - belief.mean,
            belief: belief.variance,
            noise: self.variance,
            degrees: self.degrees,
        }
    }

    /// The row and a belief in coordinates that begin at the value: around a large one the
    /// differences `y - f` of a quadrature would be rounded to steps.
    fn seen_from_value(self, belief: Belief) -> (Self, Belief) {
        let belief = Belief {
            mean: belief.mean - self.value,
            ..belief
        };
        (Self { value: 0.0, ..self }, belief)
    }

    /// Where `log p` bends: singularities at a distance of `sqrt(nu v)` from the real line.
    fn bend(&self) -> [(f64, f64); 1] {
        [(self.value, (self.degrees * self.variance).sqrt())]
    }
}

impl StudentT {
    /// # Arguments
    /// * `values` - shape `[n]`
    /// * `noise` - the squared scale, known ones > 0
    /// # Errors
    /// [`InputError::NotFinite`], [`InputError::Shape`]; [`InputError::Range`] for a known variance
    /// or degrees of freedom that are not positive and finite.
    pub fn new(values: Vec<f64>, noise: Noise, degrees: Degrees) -> Result<Self, InputError> {
        let made = Self {
            values,
            noise,
            degrees,
        };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::new`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        check::finite("the value", &self.values)?;
        self.noise.check(self.values.len(), |_| true)?;
        if let Degrees::Known(degrees) = self.degrees {
            check::range(
                "the degrees of freedom",
                &[degrees],
                "a finite number above zero; for infinity use a Gaussian likelihood",
                |_, x| x > 0.0 && x.is_finite(),
            )?;
        }
        Ok(())
    }

    /// The observed values.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// What is known of the squared scale.
    #[must_use]
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    pub(super) fn noise_mut(&mut self) -> &mut Noise {
        &mut self.noise
    }

    /// Known or learned degrees of freedom.
    #[must_use]
    pub fn degrees_setting(&self) -> Degrees {
        self.degrees
    }

    /// The degrees of freedom.
    #[must_use]
    pub fn degrees(&self, own: &[f64]) -> f64 {
        match self.degrees {
            Degrees::Known(degrees) => degrees,
            Degrees::Learned => own[self.noise.count()],
        }
    }

    fn row(&self, own: &[f64], row: usize) -> Row {
        let (variance, degrees) = (self.noise.variance(own, row), self.degrees(own));
        let root = elementary::log(std::f64::consts::PI * degrees * variance);
        Row {
            value: self.values[row],
            variance,
            degrees,
            constant: log_gamma_half_step(0.5 * degrees) - 0.5 * root,
        }
    }

    /// Writes derivatives in variance and degrees to those of the two that are learned.
    fn spread<T>(&self, in_variance: T, in_degrees: T, out: &mut [T]) {
        let noise = self.noise.count();
        if let (1, Some(out)) = (noise, out.first_mut()) {
            *out = in_variance;
        }
        if let Some(out) = out.get_mut(noise) {
            *out = in_degrees;
        }
    }
}

impl Local for StudentT {
    fn rows(&self) -> usize {
        self.values.len()
    }

    /// Degrees of freedom start at 10 with the prior `gamma(2, 0.1)` (Juarez & Steel 2010, J. Bus.
    /// Econ. Stat. 28, 52).
    fn parameters(&self, spread: f64) -> Vec<Parameter> {
        let mut parameters = self.noise.parameters(spread);
        if let Some(parameter) = parameters.first_mut() {
            parameter.meaning = "squared scale of the noise on a single observation".to_owned();
        }
        if self.degrees == Degrees::Learned {
            parameters.push(Parameter::positive(
                "student_t.degrees",
                "degrees of freedom of the noise: the fewer, the more outliers",
                10.0,
                PriorDensity::Gamma {
                    shape: 2.0,
                    rate: 0.1,
                },
            ));
        }
        parameters
    }

    fn is_log_concave(&self) -> bool {
        false
    }

    fn guess(&self, _own: &[f64], row: usize) -> f64 {
        self.values[row]
    }

    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        self.row(own, row).jet(f)
    }

    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        let row = self.row(own, row);
        self.spread(row.in_variance(f), row.in_degrees(f, row.normaliser()), out);
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        let row = self.row(own, row);
        let (at, cavity) = row.seen_from_value(cavity);
        let by_peaks = || quadrature::tilted_at(cavity, &at.peaks(cavity), false, |u| at.jet(u));
        let tilted = at.mixture(cavity).tilted().unwrap_or_else(by_peaks);
        Tilted {
            shift: tilted.shift + tilted.precision * row.value,
            ..tilted
        }
    }

    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        if out.is_empty() {
            return;
        }
        let (row, cavity) = self.row(own, row).seen_from_value(cavity);
        let by_peaks = || row.slopes_by_peaks(cavity);
        let [in_variance, in_degrees] = row.mixture(cavity).slopes().unwrap_or_else(by_peaks);
        self.spread(in_variance, in_degrees, out);
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        let (row, belief) = self.row(own, row).seen_from_value(belief);
        quadrature::expected(belief, &row.bend(), |u| row.jet(u))
    }

    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        if out.is_empty() {
            return;
        }
        let (row, belief) = self.row(own, row).seen_from_value(belief);
        let normaliser = row.normaliser();
        let averages = quadrature::averages(belief, &row.bend(), |u| {
            [row.in_variance(u)[0], row.in_degrees(u, normaliser)[0]]
        });
        self.spread(averages.value[0], averages.value[1], out);
    }

    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        Distribution::StudentT(distribution::StudentT {
            location: f,
            scale: self.noise.variance_of_new(own, circumstances).sqrt(),
            degrees: self.degrees(own),
        })
    }
}
