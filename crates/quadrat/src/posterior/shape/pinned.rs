//! Places where rows know the function: functions of a shape go through them.

use super::super::mixture::Posterior;
use super::kinds::Shape;
use super::knots::Pin;
use super::project::isotonic;
use crate::error::{FitError, InputError};
use crate::likelihood::{Likelihood, Noise};
use crate::problem::scale::Scale;
use crate::support::Functionals;

/// Places that functions go through, at most: each is one more to draw at.
const MOST: usize = 1000;
/// So many times less than elsewhere is known of the function where a row is precise. Functions are
/// nearest over their whole range, in which one place is next to nothing: they would leave it for
/// the sake of what is not known beside it.
const PRECISE: f64 = 30.0;
/// The least sd of a precise row, as a part of what precise is.
const SHARPEST: f64 = 1e-6;
/// Exact values break a shape by this part of their spread, and of the largest, unsaid: rounding.
const SAME: [f64; 2] = [1e-9, 1e-13];

impl Posterior {
    /// The places of exact rows and of precise ones, ascending, each once.
    ///
    /// # Arguments
    /// * `grid` - places that tell what is known elsewhere
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for more than [`MOST`] exact rows, or such that have not the
    /// shapes.
    pub(super) fn pinned(
        &self,
        shapes: &[Shape],
        grid: &[f64],
        output: Option<&str>,
    ) -> Result<Vec<Pin>, FitError> {
        let (exact, others) = self.known_points(output)?;
        if exact.len() > MOST {
            return Err(InputError::Unavailable {
                what: "a shape of a function that more than 1000 rows know exactly",
                remedy: "give the rows a small variance, or leave some out",
            }
            .into());
        }
        let mut pins = held(shapes, exact)?;
        // Where so many are precise, all of the function is.
        if others.is_empty() || pins.len() + others.len() > MOST {
            return Ok(pins);
        }
        let known = pins.len();
        let sd = |places: &[f64]| self.sds(places, output);
        let squares: f64 = sd(grid)?.iter().map(|sd| sd * sd).sum();
        let limit = (squares / grid.len() as f64).sqrt() / PRECISE;
        for (place, sd) in others.iter().zip(sd(&others)?) {
            let is_taken = pins[..known].iter().any(|pin| pin.place == *place);
            if sd < limit && !is_taken {
                pins.push(Pin {
                    place: *place,
                    exact: None,
                    sd: sd.max(SHARPEST * limit),
                });
            }
        }
        pins.sort_by(|a, b| a.place.total_cmp(&b.place));
        Ok(pins)
    }

    fn sds(&self, places: &[f64], output: Option<&str>) -> Result<Vec<f64>, FitError> {
        let input = self.dims().first().map_or("", String::as_str);
        let at = Functionals::points(input, places)?;
        let at = match output {
            Some(output) => self.at_output(&at, output)?,
            None => at,
        };
        Ok(self.predict(&at, Scale::Latent)?.sd().to_vec())
    }

    /// Exact rows at points, and where other rows at points look, ascending, each place once.
    fn known_points(&self, output: Option<&str>) -> Result<(Vec<Pin>, Vec<f64>), InputError> {
        let (mut exact, mut others) = (Vec::new(), Vec::new());
        for table in &self.tables {
            if !self.outputs().is_empty() && table.output() != output {
                continue;
            }
            let set = table.supports().select(self.dims())?;
            let gaussian = if let Likelihood::Gaussian(own) = table.likelihood() {
                Some(own)
            } else {
                None
            };
            for row in (0..set.len()).filter(|&row| set.is_point(row)) {
                let (place, weight) = (set.extent(row, 0).0, set.size(row));
                let value = gaussian.filter(
                    |own| matches!(own.noise(), Noise::Known(known) if known.get(row) == Some(&0.0)),
                );
                let value = value.and_then(|own| match own.is_linear() {
                    true => Some(own.values()[row] / weight),
                    false => own
                        .link()
                        .inverse(own.values()[row])
                        .filter(|_| weight == 1.0),
                });
                match value {
                    Some(value) if value.is_finite() => exact.push(Pin {
                        place,
                        exact: Some(value),
                        sd: 0.0,
                    }),
                    _ if weight != 0.0 => others.push(place),
                    _ => {}
                }
            }
        }
        exact.sort_by(|a, b| a.place.total_cmp(&b.place));
        exact.dedup_by(|b, a| a.place == b.place);
        others.sort_by(f64::total_cmp);
        others.dedup();
        Ok((exact, others))
    }
}

/// Exact rows that have the shapes, to the last digit.
fn held(shapes: &[Shape], mut exact: Vec<Pin>) -> Result<Vec<Pin>, InputError> {
    let places: Vec<f64> = exact.iter().map(|pin| pin.place).collect();
    let values: Vec<f64> = exact.iter().filter_map(|pin| pin.exact).collect();
    if shapes.iter().any(|shape| !shape.is_of(&places, &values)) {
        return Err(InputError::Unavailable {
            what: "a shape that rows which are known exactly do not have",
            remedy: "give the rows a variance, or leave the shape out",
        });
    }
    for shape in shapes {
        let sign = match shape {
            Shape::Rising => 1.0,
            Shape::Falling => -1.0,
            _ => continue,
        };
        let mut level: Vec<f64> = exact
            .iter()
            .filter_map(|pin| Some(sign * pin.exact?))
            .collect();
        isotonic(&mut level, &vec![1.0; exact.len()]);
        for (pin, value) in exact.iter_mut().zip(level) {
            pin.exact = Some(sign * value);
        }
    }
    Ok(exact)
}

impl Shape {
    /// Whether exact values at ascending places are those of a function of the shape, but for
    /// rounding.
    #[must_use]
    pub fn is_of(self, places: &[f64], values: &[f64]) -> bool {
        self.not_of(places, values).is_none()
    }

    /// The first of the values that no function of the shape has beside those before and after it;
    /// none where they agree but for rounding, a billionth of their spread.
    ///
    /// # Arguments
    /// * `places` - ascending
    #[must_use]
    pub fn not_of(self, places: &[f64], values: &[f64]) -> Option<usize> {
        let ends = |ends: (f64, f64), v: &f64| (ends.0.min(*v), ends.1.max(*v));
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
        let same = SAME[0] * (high - low) + SAME[1] * low.abs().max(high.abs());
        let sign = match self {
            Self::Rising | Self::Convex => 1.0,
            Self::Falling | Self::Concave => -1.0,
            Self::Between { lower, upper } => {
                return values
                    .iter()
                    .position(|v| *v < lower - same || *v > upper + same);
            }
        };
        if matches!(self, Self::Rising | Self::Falling) {
            let mut pairs = values.windows(2);
            return pairs.position(|v| sign * (v[0] - v[1]) > same);
        }
        let mut triples = values.windows(3).zip(places.windows(3));
        let is_above = |(v, x): (&[f64], &[f64])| {
            let share = (x[1] - x[0]) / (x[2] - x[0]);
            sign * (v[1] - (v[0] + share * (v[2] - v[0]))) > same
        };
        triples.position(is_above).map(|first| first + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_values_that_break_a_shape_are_found() {
        let x = [0.0, 1.0, 2.0, 4.0];
        assert_eq!(Shape::Rising.not_of(&x, &[0.0, 1.0, 0.9, 2.0]), Some(1));
        assert_eq!(Shape::Falling.not_of(&x, &[3.0, 3.0, 2.0, 1.0]), None);
        // On a line up to the last digits of 0.3 and 0.1.
        assert_eq!(Shape::Convex.not_of(&x, &[0.0, 0.1, 0.2, 0.4]), None);
        assert_eq!(Shape::Convex.not_of(&x, &[0.0, 0.3, 0.4, 2.0]), Some(1));
        assert_eq!(Shape::Concave.not_of(&x, &[0.0, 1.0, 2.0, 4.1]), Some(2));
        let within = Shape::Between {
            lower: 0.0,
            upper: 1.0,
        };
        assert_eq!(within.not_of(&x, &[0.0, 1.0, 1.5, 0.5]), Some(2));
        // A share of 1 that was added up.
        assert!(within.is_of(&x, &[0.0, 0.1 + 0.2, 0.7, 1.0 + 2e-16]));
    }
}
