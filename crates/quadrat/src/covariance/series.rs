//! Periodic kernels between intervals, by their Fourier series.
//!
//! The average of `cos(omega u)` over two intervals of widths `w, w'` and centres `c, c'` is
//! `sinc(omega w / 2) sinc(omega w' / 2) cos(omega (c - c'))`: a sum of products of features of
//! either side, exact at every width. Between two points the closed form is used. The series has
//! `9.5 / lengthscale + 20` terms; for shorter lengthscales than [`SHORT`] there is
//! [`super::comb`].

use std::f64::consts::PI;

use super::comb;
use super::line::Intervals;
use crate::kernel::{Periodic, remainder};

/// Lengthscales below this are a comb of narrow teeth.
const SHORT: f64 = 0.05;

/// Fills `value` and, when given, the derivatives in lengthscale and period.
pub(super) fn fill(
    lengthscale: f64,
    period: f64,
    a: Intervals<'_>,
    b: Intervals<'_>,
    value: &mut [f64],
    slopes: Option<(&mut [f64], &mut [f64])>,
) {
    let points = a.width.iter().chain(b.width).all(|w| *w == 0.0);
    if points {
        between_points(lengthscale, period, [a.lower, b.lower], value, slopes);
        return;
    }
    match lengthscale < SHORT {
        true => comb::fill(lengthscale, period, a, b, value, slopes),
        false => by_series(lengthscale, period, a, b, value, slopes),
    }
}

/// As [`fill`], by the series.
pub(super) fn by_series(
    lengthscale: f64,
    period: f64,
    a: Intervals<'_>,
    b: Intervals<'_>,
    value: &mut [f64],
    slopes: Option<(&mut [f64], &mut [f64])>,
) {
    let na = a.len();
    let (coefficients, coefficient_slopes) = Periodic::coefficients(lengthscale);
    let with_slopes = slopes.is_some();
    let side = |x| features(x, period, coefficients.len(), with_slopes);
    let (features_a, features_b) = (side(a), side(b));
    let double = |c: &[f64]| -> Vec<f64> { c.iter().flat_map(|&c| [c, c]).collect() };
    let weights = double(&coefficients);
    let sum = |weights: &[f64], a: &[f64], b: &[f64], out: &mut [f64]| {
        contract(weights, a, b, 2 * coefficients.len(), na, out);
    };
    sum(&weights, &features_a.value, &features_b.value, value);
    if let Some((d_lengthscale, d_period)) = slopes {
        let slope_weights = double(&coefficient_slopes);
        let (value_a, value_b) = (&features_a.value, &features_b.value);
        sum(&slope_weights, value_a, value_b, d_lengthscale);
        sum(&weights, &features_a.slope, value_b, d_period);
        let mut other = vec![0.0; value.len()];
        sum(&weights, value_a, &features_b.slope, &mut other);
        d_period.iter_mut().zip(&other).for_each(|(d, o)| *d += o);
        // The phases change in proportion to the separation of the centres.
        sum(&weights, &features_a.turned, value_b, &mut other);
        let scale = 2.0 * PI / period;
        for j in 0..b.len() {
            for i in 0..na {
                let shift = 0.5 * (b.width[j] - a.width[i]);
                let separation = (b.lower[j] - a.lower[i]) + shift;
                d_period[j * na + i] += scale * (separation / period) * other[j * na + i];
            }
        }
    }
}

fn between_points(
    lengthscale: f64,
    period: f64,
    [a, b]: [&[f64]; 2],
    value: &mut [f64],
    slopes: Option<(&mut [f64], &mut [f64])>,
) {
    let na = a.len();
    let rests = |x: &[f64]| -> Vec<f64> { x.iter().map(|x| remainder(*x, period)).collect() };
    let (rest_a, rest_b) = (rests(a), rests(b));
    let Some((d_lengthscale, d_period)) = slopes else {
        for (column, b) in value.chunks_exact_mut(na.max(1)).zip(&rest_b) {
            for (k, a) in column.iter_mut().zip(&rest_a) {
                *k = Periodic::kernel_across(b - a, lengthscale, period);
            }
        }
        return;
    };
    for j in 0..b.len() {
        for i in 0..na {
            let at = j * na + i;
            (value[at], d_lengthscale[at], d_period[at]) =
                Periodic::across(rest_b[j] - rest_a[i], b[j] - a[i], lengthscale, period);
        }
    }
}

/// `out[j * na + i] = sum_m weights[m] a[i][m] b[j][m]`.
fn contract(weights: &[f64], a: &[f64], b: &[f64], count: usize, na: usize, out: &mut [f64]) {
    let mut scaled = vec![0.0; count];
    for (j, feature) in b.chunks_exact(count).enumerate() {
        for ((s, w), f) in scaled.iter_mut().zip(weights).zip(feature) {
            *s = w * f;
        }
        for i in 0..na {
            out[j * na + i] = crate::linalg::dot(&scaled, &a[i * count..(i + 1) * count]);
        }
    }
}

struct Features {
    /// Per interval: `sinc cos, sinc sin` for every frequency.
    value: Vec<f64>,
    /// Derivative in the period at fixed phase.
    slope: Vec<f64>,
    /// Derivative in the phase of the first frequency.
    turned: Vec<f64>,
}

fn features(x: Intervals<'_>, period: f64, frequencies: usize, with_slopes: bool) -> Features {
    let size = 2 * frequencies * x.len();
    let mut value = Vec::with_capacity(size);
    let mut slope = Vec::with_capacity(if with_slopes { size } else { 0 });
    let mut turned = Vec::with_capacity(slope.capacity());
    // Whole cycles are removed exactly: phases keep their digits at every distance and width.
    let angle = |u: f64| 2.0 * PI * (remainder(u, period) / period);
    for i in 0..x.len() {
        let half = 0.5 * x.width[i];
        let half_angle = angle(half);
        let phase = angle(x.lower[i]) + half_angle;
        // A number, so that no frequency makes it one.
        let cycles = (half / period).min(f64::MAX);
        for m in 0..frequencies {
            let m = m as f64;
            let t = 2.0 * PI * (m * cycles);
            let (sin_t, cos_t) = (m * half_angle).sin_cos();
            let sinc = if t == 0.0 { 1.0 } else { sin_t / t };
            let (sin, cos) = (m * phase).sin_cos();
            value.extend([sinc * cos, sinc * sin]);
            if with_slopes {
                // t d sinc/dt = cos t - sinc t, and dt/d period = -t / period.
                let d_sinc = (sinc - cos_t) / period;
                slope.extend([d_sinc * cos, d_sinc * sin]);
                turned.extend([-m * sinc * sin, m * sinc * cos]);
            }
        }
    }
    Features {
        value,
        slope,
        turned,
    }
}
