//! Numbers with their slopes: derivatives by the chain rule, operation by operation.

use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// A number that depends on `P` parameters, and its derivatives in them. `Dual<0>` is a plain
/// number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual<const P: usize> {
    /// The number.
    pub value: f64,
    /// Its derivatives.
    pub slopes: [f64; P],
}

impl<const P: usize> Dual<P> {
    /// A number that depends on nothing.
    #[must_use]
    pub fn constant(value: f64) -> Self {
        Self {
            value,
            slopes: [0.0; P],
        }
    }

    /// Parameter `which` itself; a constant where there is no such parameter.
    #[must_use]
    pub fn parameter(value: f64, which: usize) -> Self {
        let mut own = Self::constant(value);
        if let Some(slope) = own.slopes.get_mut(which) {
            *slope = 1.0;
        }
        own
    }

    /// The same with other slopes after its own, which are zero; where there are fewer, its first.
    #[must_use]
    pub fn widened<const W: usize>(self) -> Dual<W> {
        let mut slopes = [0.0; W];
        for (slope, own) in slopes.iter_mut().zip(self.slopes) {
            *slope = own;
        }
        Dual {
            value: self.value,
            slopes,
        }
    }

    /// A function of it, from the function's value and slope there.
    #[must_use]
    pub fn through(self, value: f64, slope: f64) -> Self {
        Self {
            value,
            slopes: self.slopes.map(|own| own * slope),
        }
    }

    /// `e^x`.
    #[must_use]
    pub fn exp(self) -> Self {
        let value = self.value.exp();
        self.through(value, value)
    }

    /// `ln x`.
    #[must_use]
    pub fn ln(self) -> Self {
        self.through(self.value.ln(), self.value.recip())
    }

    /// `sqrt x`.
    #[must_use]
    pub fn sqrt(self) -> Self {
        let value = self.value.sqrt();
        self.through(value, 0.5 / value)
    }

    /// `1 / x`.
    #[must_use]
    pub fn recip(self) -> Self {
        let value = self.value.recip();
        self.through(value, -value * value)
    }
}

impl<const P: usize> Add for Dual<P> {
    type Output = Self;

    #[inline]
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl<const P: usize> AddAssign for Dual<P> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.value += other.value;
        for (own, other) in self.slopes.iter_mut().zip(other.slopes) {
            *own += other;
        }
    }
}

impl<const P: usize> Sub for Dual<P> {
    type Output = Self;

    #[inline]
    fn sub(mut self, other: Self) -> Self {
        self -= other;
        self
    }
}

impl<const P: usize> SubAssign for Dual<P> {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.value -= other.value;
        for (own, other) in self.slopes.iter_mut().zip(other.slopes) {
            *own -= other;
        }
    }
}

impl<const P: usize> Neg for Dual<P> {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        self * -1.0
    }
}

impl<const P: usize> Mul for Dual<P> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let mut slopes = [0.0; P];
        for (at, slope) in slopes.iter_mut().enumerate() {
            *slope = self.value * other.slopes[at] + other.value * self.slopes[at];
        }
        Self {
            value: self.value * other.value,
            slopes,
        }
    }
}

impl<const P: usize> Mul<f64> for Dual<P> {
    type Output = Self;

    #[inline]
    fn mul(mut self, factor: f64) -> Self {
        self.value *= factor;
        self.slopes.iter_mut().for_each(|slope| *slope *= factor);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ln(x y) e^-x / y - sqrt x`, by hand.
    #[test]
    fn slopes_follow_the_chain_rule() {
        let at = |x: f64, y: f64| (x * y).ln() * (-x).exp() / y - x.sqrt();
        let (x, y) = (0.7, 2.3);
        let (a, b) = (Dual::<2>::parameter(x, 0), Dual::<2>::parameter(y, 1));
        let found = (a * b).ln() * (-a).exp() * b.recip() - a.sqrt();
        let e = (-x).exp();
        let slopes = [
            e / (x * y) - (x * y).ln() * e / y - 0.5 / x.sqrt(),
            e / (y * y) - (x * y).ln() * e / (y * y),
        ];
        // Some roundings of numbers near one.
        assert!((found.value - at(x, y)).abs() < 1e-15);
        for (found, right) in found.slopes.iter().zip(slopes) {
            assert!((found - right).abs() < 1e-15, "{found} {right}");
        }
        assert_eq!(Dual::<0>::parameter(1.5, 3), Dual::constant(1.5));
    }
}
