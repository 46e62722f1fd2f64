//! Averages of tabulated functions under normal beliefs.

use crate::special::elementary;
use crate::special::scalar::normal_pdf;

/// The step of the trapezoid rule, of the latent value: singularities are `pi` away from the real
/// axis.
pub(super) const STEP: f64 = 0.5;
/// Standard deviations to either side: `e^-45`.
pub(super) const REACH: f64 = 9.5;

/// Functions that vanish on either side, at multiples of [`STEP`].
pub(super) struct Table<const N: usize> {
    first: i64,
    rows: Vec<[f64; N]>,
}

impl<const N: usize> Table<N> {
    pub fn new(from: i32, to: i32, f: impl Fn(f64) -> [f64; N]) -> Self {
        let first = (f64::from(from) / STEP) as i64;
        let last = (f64::from(to) / STEP) as i64;
        Self {
            first,
            rows: (first..=last).map(|i| f(STEP * i as f64)).collect(),
        }
    }

    /// Their averages under `N(m, sd^2)`, times `e^log_scale`. Weights are had from their ratios,
    /// from the largest outwards.
    pub fn average(&self, m: f64, sd: f64, log_scale: f64) -> [f64; N] {
        let mut sums = [0.0; N];
        let last = self.first + self.rows.len() as i64 - 1;
        // Saturates where it is far beyond the ends.
        let place = |x: f64| (x / STEP).round() as i64;
        // As far again as zero, where the functions are.
        let reach = sd * REACH.hypot(m / sd);
        let from = place(m - reach).max(self.first);
        let to = place(m + reach).min(last);
        if from > to {
            return sums;
        }
        let middle = place(m).clamp(from, to);
        let rows = &self.rows[(from - self.first) as usize..=(to - self.first) as usize];
        let (below, above) = rows.split_at((middle - from) as usize);
        let pace = STEP / sd;
        let z = (STEP * middle as f64 - m) / sd;
        let top = pace * normal_pdf(0.0) * elementary::exp(log_scale - 0.5 * z * z);
        let shrink = elementary::exp(-pace * pace);
        let ratio = |sign: f64| elementary::exp(-pace * (sign * z + 0.5 * pace));
        let mut add = |weight: f64, row: &[f64; N]| {
            for (sum, y) in sums.iter_mut().zip(row) {
                *sum += weight * y;
            }
        };
        let (mut weight, mut next) = (top, ratio(1.0));
        for row in above {
            add(weight, row);
            weight *= next;
            next *= shrink;
        }
        (weight, next) = (top, ratio(-1.0));
        for row in below.iter().rev() {
            weight *= next;
            next *= shrink;
            add(weight, row);
        }
        sums
    }
}
