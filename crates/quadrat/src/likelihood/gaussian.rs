//! Normal noise of known or learned variance.

use serde::{Deserialize, Serialize};

use super::distribution::{Distribution, Normal};
use super::linked::LinkedRow;
use super::local::{Belief, Circumstances, Expected, Jet, Local, Tilted};
use super::{Noise, check, exact};
use crate::error::InputError;
use crate::link::{Form, Link};
use crate::parameter::Parameter;
use crate::special::elementary;

/// Values observed with normal noise, `y_i = L_i f + e_i`, `e_i ~ N(0, variance_i)`.
///
/// Behind a link ([`Self::behind`]) they are positive quantities that are no counts: `y_i = L_i
/// link(f) + e_i`, such as rain, energy or money. Without noise (`variance_i = 0`) their totals are
/// known exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gaussian {
    values: Vec<f64>,
    noise: Noise,
    link: Link,
    /// Total weights of the supports of rows behind a link; empty: of one.
    #[serde(skip)]
    sizes: Vec<f64>,
}

impl Gaussian {
    /// # Errors
    /// [`InputError::Shape`] when a variance column has another length,
    /// [`InputError::NotFinite`], [`InputError::Range`] for a negative variance.
    pub fn new(values: Vec<f64>, noise: Noise) -> Result<Self, InputError> {
        let made = Self {
            values,
            noise,
            link: Link::Identity,
            sizes: Vec::new(),
        };
        made.check()?;
        Ok(made)
    }

    /// The same values where what is added up or averaged is `link(f)`, which is never negative.
    ///
    /// # Arguments
    /// * `link` - `exp` or `softplus`; `identity` for none
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for another link; [`InputError::Range`] for a value without
    /// noise that is not above zero.
    ///
    /// # Examples
    /// ```
    /// use quadrat::likelihood::{Gaussian, Likelihood, Noise};
    /// use quadrat::link::Link;
    /// let rain = Gaussian::new(vec![610.0, 702.5], Noise::Known(vec![0.0, 0.0]))?;
    /// let rain: Likelihood = rain.behind(Link::Exp)?.into();
    /// assert_eq!(rain.link(), Some(Link::Exp));
    /// # Ok::<(), quadrat::error::InputError>(())
    /// ```
    pub fn behind(self, link: Link) -> Result<Self, InputError> {
        let made = Self { link, ..self };
        made.check()?;
        Ok(made)
    }

    /// Whether [`Self::new`] and [`Self::behind`] would have made it.
    pub(super) fn check(&self) -> Result<(), InputError> {
        check::finite("the value", &self.values)?;
        self.noise.check(self.values.len(), |_| false)?;
        if self.link == Link::Identity {
            return Ok(());
        }
        let refuse = |what, remedy| Err(InputError::Unavailable { what, remedy });
        if self.link.is_probability() {
            return refuse(
                "a link of probabilities for values with normal noise",
                "use link exp or softplus, or successes among trials",
            );
        }
        if self.link.form() == Form::Square {
            return refuse(
                "the square link for values with normal noise",
                "the sign of the function would be open: use link exp or softplus",
            );
        }
        let is_exact = |row: usize| matches!(&self.noise, Noise::Known(known) if known[row] == 0.0);
        check::range(
            "the value",
            &self.values,
            "more than zero where it has no noise: what is behind a link is never zero; give it a variance, or leave the row out",
            |row, y| y > 0.0 || !is_exact(row),
        )
    }

    /// The same values where every mean is that many times as large.
    pub(super) fn per_unit(&self, sizes: &[f64]) -> Self {
        let mut made = self.clone();
        if made.link != Link::Identity {
            made.sizes = sizes.to_vec();
        }
        made
    }

    /// Some of the rows.
    pub(super) fn select(&self, rows: &[usize], noise: Noise) -> Result<Self, InputError> {
        let pick = |all: &[f64]| -> Vec<f64> { rows.iter().map(|&row| all[row]).collect() };
        let sizes = match self.sizes.is_empty() {
            true => Vec::new(),
            false => pick(&self.sizes),
        };
        let made = Self {
            values: pick(&self.values),
            noise,
            link: self.link,
            sizes,
        };
        made.check()?;
        Ok(made)
    }

    /// The observed values.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// What is known of the noise.
    #[must_use]
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// From the latent function to what is added up; `identity` where there is none.
    #[must_use]
    pub fn link(&self) -> Link {
        self.link
    }

    /// Whether values are those of the latent function, with no link between.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        self.link == Link::Identity
    }

    pub(super) fn noise_mut(&mut self) -> &mut Noise {
        &mut self.noise
    }

    fn size(&self, row: usize) -> f64 {
        self.sizes.get(row).copied().unwrap_or(1.0)
    }

    /// A row with noise behind a link; none where there is no link.
    fn linked(&self, own: &[f64], row: usize) -> Option<LinkedRow> {
        (!self.is_linear()).then(|| LinkedRow {
            value: self.values[row],
            size: self.size(row),
            variance: self.noise.variance(own, row),
            link: self.link,
        })
    }

    /// The latent value of a row without noise.
    fn latent(&self, row: usize) -> f64 {
        let mean = self.values[row] / self.size(row);
        // Values without noise are above zero.
        self.link.inverse(mean).unwrap_or(f64::NAN)
    }

    /// The typical size of a change of values behind a link: their root mean square around the same
    /// density everywhere, or their size where they are alike.
    fn spread(&self) -> f64 {
        let rows = || (0..self.values.len()).map(|row| (self.values[row], self.size(row)));
        let (total, size) = rows().fold((0.0, 0.0), |(t, s), (y, w)| (t + y, s + w));
        let density = if size > 0.0 { total / size } else { 0.0 };
        let count = self.values.len().max(1) as f64;
        let mean = |g: &dyn Fn((f64, f64)) -> f64| (rows().map(g).sum::<f64>() / count).sqrt();
        let spread = mean(&|(y, w)| (y - density * w).powi(2));
        let level = mean(&|(y, _)| y * y);
        match (spread > 1e-12 * level, level > 0.0) {
            (true, _) => spread,
            (false, true) => level,
            (false, false) => 1.0,
        }
    }
}

impl Local for Gaussian {
    fn rows(&self) -> usize {
        self.values.len()
    }

    fn parameters(&self, spread: f64) -> Vec<Parameter> {
        // Behind a link the latent function has another unit than the values.
        match self.is_linear() {
            true => self.noise.parameters(spread),
            false => self.noise.parameters(self.spread()),
        }
    }

    fn gaussian(&self, own: &[f64], row: usize) -> Option<(f64, f64)> {
        let variance = self.noise.variance(own, row);
        match self.is_linear() {
            true => Some((self.values[row], variance)),
            // What is known exactly is so on either side of the link.
            false => (variance == 0.0).then(|| (self.latent(row), 0.0)),
        }
    }

    /// `-log |dy / df|`.
    fn gaussian_rest(&self, row: usize) -> f64 {
        if self.is_linear() {
            return 0.0;
        }
        let slope = self.link.jet(self.latent(row))[1];
        -elementary::log(self.size(row) * slope)
    }

    fn is_log_concave(&self) -> bool {
        self.is_linear()
    }

    fn guess(&self, own: &[f64], row: usize) -> f64 {
        match self.linked(own, row) {
            None => self.values[row],
            Some(linked) if linked.variance == 0.0 => self.latent(row),
            Some(linked) => linked.guess(),
        }
    }

    fn log_density(&self, own: &[f64], row: usize, f: f64) -> Jet {
        match self.linked(own, row) {
            None => exact::jet(self.values[row], self.noise.variance(own, row), f),
            Some(linked) => linked.jet(f),
        }
    }

    fn log_density_slopes(&self, own: &[f64], row: usize, f: f64, out: &mut [[f64; 3]]) {
        if let Some(out) = out.first_mut() {
            *out = match self.linked(own, row) {
                None => exact::slopes(self.values[row], self.noise.variance(own, row), f),
                Some(linked) => linked.slopes(f),
            };
        }
    }

    fn tilted(&self, own: &[f64], row: usize, cavity: Belief) -> Tilted {
        match self.linked(own, row) {
            None => exact::tilted(self.values[row], self.noise.variance(own, row), cavity),
            Some(linked) => linked.tilted(cavity),
        }
    }

    fn tilted_slopes(&self, own: &[f64], row: usize, cavity: Belief, out: &mut [f64]) {
        if let Some(out) = out.first_mut() {
            *out = match self.linked(own, row) {
                None => {
                    exact::tilted_slope(self.values[row], self.noise.variance(own, row), cavity)
                }
                Some(linked) => linked.tilted_slope(cavity),
            };
        }
    }

    fn expected(&self, own: &[f64], row: usize, belief: Belief) -> Expected {
        match self.linked(own, row) {
            None => exact::expected(self.values[row], self.noise.variance(own, row), belief),
            Some(linked) => linked.expected(belief),
        }
    }

    fn expected_slopes(&self, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
        if let Some(out) = out.first_mut() {
            let (value, variance) = (self.values[row], self.noise.variance(own, row));
            *out = match self.linked(own, row) {
                None => exact::expected_slope(value, variance, belief),
                Some(linked) => linked.expected_slope(belief),
            };
        }
    }

    fn observation(&self, own: &[f64], circumstances: &Circumstances, f: f64) -> Distribution {
        Distribution::Normal(Normal {
            mean: self.link.value(f),
            sd: self.noise.variance_of_new(own, circumstances).sqrt(),
        })
    }
}
