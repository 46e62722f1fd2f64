//! The axis on which the curve is smooth.

/// From edges as they are given, `x`, to the axis of the curve, `u`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Axis {
    /// `u = x`.
    Linear,
    /// `u = log(x + c)`: from zero on nearly linear, and logarithmic where amounts are large.
    Log {
        /// `c`.
        offset: f64,
    },
}

impl Axis {
    /// `u` at `x`.
    pub fn forward(self, x: f64) -> f64 {
        match self {
            Self::Linear => x,
            Self::Log { offset } => (x + offset).ln(),
        }
    }

    /// The mean of `x` over a cell in which `u` is spread evenly.
    pub fn mean(self, (from, to): (f64, f64)) -> f64 {
        match self {
            Self::Linear => 0.5 * (from + to),
            Self::Log { offset } => (to - from) / ((to + offset) / (from + offset)).ln() - offset,
        }
    }

    /// Where a share of a cell, in which `u` is spread evenly, lies below.
    pub fn within(self, (from, to): (f64, f64), share: f64) -> f64 {
        match self {
            Self::Linear => from + share * (to - from),
            Self::Log { offset } => {
                let ratio = ((to + offset) / (from + offset)).ln();
                (from + offset) * (share * ratio).exp() - offset
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_those_of_many_places() {
        for axis in [Axis::Linear, Axis::Log { offset: 10.0 }] {
            let cell = (5.0, 60.0);
            let n = 2000;
            let places = (0..n).map(|i| axis.within(cell, (f64::from(i) + 0.5) / f64::from(n)));
            let mean = places.sum::<f64>() / f64::from(n);
            // The midpoint rule errs by the square of its step.
            assert!((axis.mean(cell) - mean).abs() < 1e-4, "{axis:?}");
            let middle = 0.5 * (axis.forward(5.0) + axis.forward(60.0));
            assert!((axis.forward(axis.within(cell, 0.5)) - middle).abs() < 1e-12);
        }
    }
}
