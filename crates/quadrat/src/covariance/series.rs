//! Periodic kernels between intervals, by their Fourier series.
//!
//! The average of `cos(omega u)` over two intervals of widths `w, w'` and centres `c, c'` is
//! `sinc(omega w / 2) sinc(omega w' / 2) cos(omega (c - c'))`: a sum of products of features of
//! either side, exact at every width. Between two points the closed form is used.

use std::f64::consts::PI;

use super::line::Intervals;
use crate::kernel::Periodic;

/// Fills `value` and, when given, the derivatives in lengthscale and period.
pub(super) fn fill(
    lengthscale: f64,
    period: f64,
    a: Intervals<'_>,
    b: Intervals<'_>,
    value: &mut [f64],
    slopes: Option<(&mut [f64], &mut [f64])>,
) {
    let na = a.len();
    let points = a.width.iter().chain(b.width).all(|w| *w == 0.0);
    if points {
        let (mut d_lengthscale, mut d_period) = slopes.unzip();
        for j in 0..b.len() {
            for i in 0..na {
                let at = j * na + i;
                let (k, dl, dp) = Periodic::value(b.lower[j] - a.lower[i], lengthscale, period);
                value[at] = k;
                if let Some(out) = &mut d_lengthscale {
                    out[at] = dl;
                }
                if let Some(out) = &mut d_period {
                    out[at] = dp;
                }
            }
        }
        return;
    }
    let (coefficients, coefficient_slopes) = Periodic::coefficients(lengthscale);
    let with_slopes = slopes.is_some();
    let features_a = features(a, period, coefficients.len(), with_slopes);
    let features_b = features(b, period, coefficients.len(), with_slopes);
    let count = 2 * coefficients.len();
    let weights: Vec<f64> = coefficients.iter().flat_map(|&c| [c, c]).collect();
    contract(
        &weights,
        &features_a.value,
        &features_b.value,
        count,
        na,
        value,
    );
    if let Some((d_lengthscale, d_period)) = slopes {
        let slope_weights: Vec<f64> = coefficient_slopes.iter().flat_map(|&c| [c, c]).collect();
        contract(
            &slope_weights,
            &features_a.value,
            &features_b.value,
            count,
            na,
            d_lengthscale,
        );
        contract(
            &weights,
            &features_a.slope,
            &features_b.value,
            count,
            na,
            d_period,
        );
        let mut other = vec![0.0; value.len()];
        contract(
            &weights,
            &features_a.value,
            &features_b.slope,
            count,
            na,
            &mut other,
        );
        d_period.iter_mut().zip(&other).for_each(|(d, o)| *d += o);
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
    /// Derivative in the period.
    slope: Vec<f64>,
}

fn features(x: Intervals<'_>, period: f64, frequencies: usize, with_slopes: bool) -> Features {
    let mut value = Vec::with_capacity(2 * frequencies * x.len());
    let mut slope = Vec::with_capacity(if with_slopes { value.capacity() } else { 0 });
    for i in 0..x.len() {
        let half = 0.5 * x.width[i];
        let centre = x.lower[i] + half;
        // The whole cycles are removed first: the phase keeps its digits far from the origin.
        let cycles = centre / period;
        let phase = 2.0 * PI * (cycles - cycles.round());
        for m in 0..frequencies {
            let m = m as f64;
            let omega = 2.0 * PI * m / period;
            let t = omega * half;
            let (sinc, d_sinc) = sinc(t);
            let (sin, cos) = (m * phase).sin_cos();
            value.extend([sinc * cos, sinc * sin]);
            if with_slopes {
                // d omega / d period = -omega / period; the phase changes with the true centre.
                let d_t = -t / period;
                let d_phase = -omega * centre / period;
                slope.extend([
                    d_sinc * d_t * cos - sinc * sin * d_phase,
                    d_sinc * d_t * sin + sinc * cos * d_phase,
                ]);
            }
        }
    }
    Features { value, slope }
}

/// `sin(t)/t` and its derivative.
fn sinc(t: f64) -> (f64, f64) {
    if t.abs() < 1e-4 {
        (1.0 - t * t / 6.0, -t / 3.0)
    } else {
        (t.sin() / t, (t.cos() - t.sin() / t) / t)
    }
}
