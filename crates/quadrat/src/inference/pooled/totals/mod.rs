//! Sums after `exp` that are known exactly: the mode, and draws that meet every one of them.
//!
//! Rows of [`Pools`] behind `exp` see `z_r(f) = log sum_i p_ri e^(f_i)`, and `z_r = t_r` is known.
//! Where many tables have the same nodes, the same rows and the same prior they differ in `t`
//! alone: covariances are made and factorised once for all of them.
//!
//! With `J` the slopes of `z` at a place `f`, a step of Gauss and Newton goes to the mode of the
//! rows that are linear there,
//!
//! $$ f \leftarrow m + K J' S^{-1} (J (f - m) + t - z(f)), \qquad S = J K J' $$
//!
//! Rows without error have the evidence `p(t) = N(J (f - m); 0, S)` there, by Laplace's method.
//! Draws split as in [`lift`](super::Lift): with `G = K J' S^-1` and `g ~ N(m, K)`
//!
//! $$ f = g + G b, \quad z(f) = t, \qquad
//!    \log w = \log N(J (g - m) + b; 0, S) - \log|\det J(f) G| $$
//!
//! The mean of `w` is an unbiased estimate of the evidence.
//!
//! # Source
//! As [`lift`](super::Lift): Matheron's rule, and weights by a change of variables.

mod draw;
mod mode;
mod prior;
#[cfg(test)]
mod tests;

pub(crate) use draw::ConditionalDraw;
pub(crate) use mode::ConditionalMode;
pub(crate) use prior::NodePrior;

pub(crate) use super::lift::weigh::evened;
