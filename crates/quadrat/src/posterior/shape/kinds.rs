//! The shapes, and how a function gets one.

use std::ops::Range;

use super::knots::{Knots, lead_through};
use super::through::{convex_through, isotonic_through};

/// What a latent function of one input is known to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// `f(b) >= f(a)` for `b > a`.
    Rising,
    /// `f(b) <= f(a)` for `b > a`.
    Falling,
    /// Below its chords.
    Convex,
    /// Above its chords.
    Concave,
    /// `lower <= f <= upper`; one may be infinite.
    Between {
        /// In the unit of the latent values.
        lower: f64,
        /// In the unit of the latent values.
        upper: f64,
    },
}

impl Shape {
    /// Whether a function can be held to both in turn, first to this or to the other.
    ///
    /// The nearest rising function cut off at bounds is the nearest that rises within them, and the
    /// convex one of a rising one rises. Cut off, a convex function is none.
    #[must_use]
    pub fn suits(self, other: Self) -> bool {
        let kind = |shape: Self| match shape {
            Self::Rising | Self::Falling => 0,
            Self::Convex | Self::Concave => 1,
            Self::Between { .. } => 2,
        };
        matches!((kind(self), kind(other)), (0, 1 | 2) | (1 | 2, 0))
    }

    /// In which order shapes are brought about.
    pub(super) fn order(self) -> u8 {
        match self {
            Self::Rising | Self::Falling => 0,
            Self::Convex | Self::Concave | Self::Between { .. } => 1,
        }
    }

    /// Replaces the values of a function at some places by those of the nearest of this shape:
    /// first at the knots, where exact values stay, then elsewhere through these.
    pub(super) fn bring_about(
        self,
        values: &mut [f64],
        (places, shares): (&[f64], &[f64]),
        knots: &Knots,
    ) {
        let is_mirrored = matches!(self, Self::Falling | Self::Concave);
        let mirror = |values: &mut [f64]| {
            if is_mirrored {
                values.iter_mut().for_each(|v| *v = -*v);
            }
        };
        let (low, high) = knots.slopes;
        let slopes = if is_mirrored {
            (-high, -low)
        } else {
            (low, high)
        };
        let pick = |all: &[f64]| -> Vec<f64> { knots.at.iter().map(|&i| all[i]).collect() };
        mirror(values);
        match self {
            Self::Rising | Self::Falling => {
                let mut level = pick(values);
                isotonic_through(&mut level, &knots.weights, &knots.exact);
                lead_through(values, places, &knots.at, &level);
                isotonic_through(values, shares, &knots.at);
            }
            Self::Convex | Self::Concave => {
                let mut level = pick(values);
                let own = (&pick(places)[..], &knots.weights[..]);
                convex_through(&mut level, own, &knots.exact, slopes);
                lead_through(values, places, &knots.at, &level);
                convex_through(values, (places, shares), &knots.at, slopes);
            }
            Self::Between { lower, upper } => {
                values.iter_mut().for_each(|v| *v = v.max(lower).min(upper));
            }
        }
        mirror(values);
    }

    /// Lets values beyond some places, of a function that has the shape there, go on in it.
    ///
    /// # Arguments
    /// * `before` - the values that the function had, and the places of both
    /// * `inside` - those where it has the shape
    pub(super) fn go_on(
        self,
        values: &mut [f64],
        (before, places): (&[f64], &[f64]),
        inside: &Range<usize>,
    ) {
        let sign = match self {
            Self::Falling | Self::Concave => -1.0,
            Self::Rising | Self::Convex => 1.0,
            Self::Between { lower, upper } => {
                values.iter_mut().for_each(|v| *v = v.max(lower).min(upper));
                return;
            }
        };
        let (first, end) = (inside.start, inside.end);
        if matches!(self, Self::Rising | Self::Falling) {
            for i in end..values.len() {
                values[i] = sign * (sign * values[i]).max(sign * values[i - 1]);
            }
            for i in (0..first).rev() {
                values[i] = sign * (sign * values[i]).min(sign * values[i + 1]);
            }
            return;
        }
        let slope = |of: &[f64], i: usize| sign * (of[i + 1] - of[i]) / (places[i + 1] - places[i]);
        for i in end - 1..values.len() - 1 {
            let last = match i > first {
                true => slope(values, i - 1),
                false => f64::NEG_INFINITY,
            };
            let along = slope(before, i).max(last) * (places[i + 1] - places[i]);
            values[i + 1] = values[i] + sign * along;
        }
        for i in (0..first).rev() {
            let next = match i + 2 < values.len() {
                true => slope(values, i + 1),
                false => f64::INFINITY,
            };
            let along = slope(before, i).min(next) * (places[i + 1] - places[i]);
            values[i] = values[i + 1] - sign * along;
        }
    }

    /// What must not be negative of the values at places that are so many steps apart.
    pub(super) fn told(self, values: &[f64], places: &[f64], step: usize, out: &mut Vec<f64>) {
        let rises = || {
            let later = values.iter().skip(step).zip(places.iter().skip(step));
            let pairs = later.zip(values.iter().zip(places));
            pairs.map(|((b, to), (a, from))| (b - a, to - from))
        };
        match self {
            Self::Rising => out.extend(rises().map(|(rise, _)| rise)),
            Self::Falling => out.extend(rises().map(|(rise, _)| -rise)),
            Self::Convex | Self::Concave => {
                let sign = if self == Self::Convex { 1.0 } else { -1.0 };
                let slopes = || rises().map(|(rise, along)| rise / along);
                let pairs = slopes().skip(step).zip(slopes());
                out.extend(pairs.map(|(b, a)| sign * (b - a)));
            }
            Self::Between { lower, upper } => {
                out.extend(values.iter().map(|v| (v - lower).min(upper - v)));
            }
        }
    }

    /// How much rounding is in what [`Self::told`] tells.
    ///
    /// # Arguments
    /// * `of_values` - how much is in the values
    pub(super) fn rounding(self, places: &[f64], step: usize, of_values: f64) -> Vec<f64> {
        let later = places.iter().skip(step);
        let along: Vec<f64> = later.zip(places).map(|(to, from)| to - from).collect();
        match self {
            Self::Rising | Self::Falling => vec![of_values; along.len()],
            Self::Convex | Self::Concave => {
                let pairs = along.iter().skip(step).zip(&along);
                pairs
                    .map(|(b, a)| of_values * (1.0 / a + 1.0 / b))
                    .collect()
            }
            Self::Between { .. } => vec![of_values; places.len()],
        }
    }
}
