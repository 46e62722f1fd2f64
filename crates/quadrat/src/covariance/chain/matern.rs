//! A Matern process as the first of a few states that forget the past.
//!
//! In steps `u = lambda t` of its own time, with `lambda = sqrt(2 nu) / lengthscale` and states
//! `f, f' / lambda, f'' / lambda^2`,
//!
//! $$ dx = G x \, du + e \, dw, \quad G = \begin{pmatrix} 0 & 1 & 0 \\ 0 & 0 & 1 \\
//!    -1 & -3 & -3 \end{pmatrix} $$
//!
//! for smoothness 5/2. For 3/2 there are two states and the last row is `(-1, -2)`; for 1/2 there
//! is one, and `G = -1`.
//!
//! # Source
//! Hartikainen and Sarkka 2010, "Kalman filtering and smoothing solutions to temporal Gaussian
//! process regression models"; matrices by hand.

use super::super::plan::ProfileFamily;
use crate::linalg::Dual;

/// States at most.
pub(super) const MOST: usize = 3;
/// Beyond so many of its own times nothing is left of a state.
const FORGOTTEN: f64 = 700.0;
/// Up to here the sums of what a state adds up come from their series, which has no difference.
const NEAR: f64 = 1.0;
/// Terms of that series: the last is below rounding at [`NEAR`].
const TERMS: usize = 20;

/// A row of some states.
pub(super) type StateRow<const P: usize> = [Dual<P>; MOST];

/// The number of states, and `sqrt(2 nu)`; none for a family that has no such states.
pub(super) fn states(family: ProfileFamily) -> Option<(usize, f64)> {
    match family {
        ProfileFamily::Matern12 => Some((1, 1.0)),
        ProfileFamily::Matern32 => Some((2, 3.0_f64.sqrt())),
        ProfileFamily::Matern52 => Some((3, 5.0_f64.sqrt())),
        ProfileFamily::Se => None,
    }
}

/// The covariance of the states of a process of variance one.
pub(super) fn stationary(count: usize) -> [[f64; MOST]; MOST] {
    let third = 1.0 / 3.0;
    match count {
        3 => [[1.0, 0.0, -third], [0.0, third, 0.0], [-third, 0.0, 1.0]],
        count => std::array::from_fn(|i| {
            std::array::from_fn(|j| f64::from(u8::from(i == j && i < count)))
        }),
    }
}

/// The variance of the noise that drives the last state, of a process of variance one.
pub(super) fn drive(count: usize) -> f64 {
    [2.0, 4.0, 16.0 / 3.0][count - 1]
}

/// `e' G^-1`, with `e` the first state.
pub(super) fn back(count: usize) -> [f64; MOST] {
    [[-1.0, 0.0, 0.0], [-2.0, -1.0, 0.0], [-3.0, -3.0, -1.0]][count - 1]
}

/// `exp(G u)`.
pub(super) fn transition<const P: usize>(count: usize, u: Dual<P>) -> [StateRow<P>; MOST] {
    let zero = Dual::constant(0.0);
    if u.value > FORGOTTEN {
        return [[zero; MOST]; MOST];
    }
    let e = (-u).exp();
    let one = Dual::constant(1.0);
    let half = u * u * 0.5;
    let rows = match count {
        1 => [[one, zero, zero], [zero; MOST], [zero; MOST]],
        2 => [[one + u, u, zero], [-u, one - u, zero], [zero; MOST]],
        _ => [
            [one + u + half, u + half * 2.0, half],
            [-half, one + u - half * 2.0, u - half],
            [half - u, half * 2.0 - u * 3.0, one - u * 2.0 + half],
        ],
    };
    rows.map(|row| row.map(|entry| entry * e))
}

/// What a push of the noise a time `u` ago has added up to, in units of `1 / lambda`: `1 - (1 + u
/// + u^2 / 2) exp(-u)` for three states.
pub(super) fn added<const P: usize>(count: usize, u: Dual<P>) -> Dual<P> {
    if u.value > FORGOTTEN {
        return Dual::constant(1.0);
    }
    let e = (-u).exp();
    let mut term = Dual::constant(1.0);
    let mut sum = Dual::constant(0.0);
    let near = u.value <= NEAR;
    let range = if near { count..TERMS } else { 0..count };
    for k in 0..range.end {
        if range.contains(&k) {
            sum += term;
        }
        term = term * u * (1.0 / (k + 1) as f64);
    }
    match near {
        true => sum * e,
        false => Dual::constant(1.0) - sum * e,
    }
}
