//! "At least `k`" under a cavity, from the moments of the count `k`.
//!
//! Behind `exp` the tail `S(f) = P(y >= k)` has the slope `k p(k | f)`, so that under a cavity
//! `N(m, s)`
//!
//! $$ Z = \int S \, N = \int \Phi\!\left(\frac{m - f}{\sqrt s}\right) k \, p(k | f) \, df, \qquad
//!    \frac{dZ}{dm} = k Z_k, \qquad \frac{d^2 Z}{dm^2} = k Z_k \frac{m_k - m}{s} $$
//!
//! with `Z_k` and `m_k` those of the count `k` itself: two smooth integrals, and no tail of a
//! count.

use super::count_rows::CountRows;
use super::local::{Belief, Jet, Tilted};
use super::quadrature;
use crate::special::{elementary, scalar};

/// What is left of the cavity's variance must be more than this, and more than this part of the
/// square of the move: beyond, the variance is a difference of numbers a thousand times as large.
const LEFT: f64 = 1e-3;

/// The curvature of `log Z` is at least this part of the square of its slope.
const BENDS: f64 = 1e-5;

/// The logarithm of the normal upper tail and its first two derivatives.
fn log_upper_tail(z: f64) -> [f64; 3] {
    let hazard =
        (2.0 / std::f64::consts::PI).sqrt() / scalar::erfcx(z * std::f64::consts::FRAC_1_SQRT_2);
    // Far below the mean the hazard underflows, and the derivatives are zero.
    [scalar::log_cdf(-z), -hazard, -hazard * (hazard - z)]
}

impl CountRows {
    /// Cavity times an open row behind `exp`; `None` where too little of the cavity is left, or the
    /// integrals are not smooth humps.
    ///
    /// # Arguments
    /// * `of_edge` - cavity times the count at the edge
    /// * `edge` - log-density of that count, every constant included
    /// * `guess` - where that is finite
    pub(super) fn tilted_open(
        k: f64,
        cavity: Belief,
        of_edge: Tilted,
        guess: f64,
        edge: impl Fn(f64) -> Jet,
    ) -> Option<Tilted> {
        let Belief { mean, variance } = cavity;
        let sd = variance.sqrt();
        let log_z = quadrature::log_integral(guess, sd, |f| {
            let at = edge(f);
            let [value, first, second] = log_upper_tail((f - mean) / sd);
            Jet {
                value: at.value + value,
                first: at.first + first / sd,
                second: at.second + second / variance,
                third: 0.0,
            }
        })? + elementary::log(k);
        let slope = elementary::exp(elementary::log(k) + of_edge.log_z - log_z);
        let growth = 1.0 + variance * of_edge.precision;
        let pull = (of_edge.shift - of_edge.precision * mean) / growth;
        let curvature = slope * (pull - slope);
        let left = 1.0 + variance * curvature;
        // Far below, the logarithm of the tail is a line: its curvature would be rounding.
        let second_order = slope - pull > BENDS * slope;
        if !(second_order && left > LEFT && left > LEFT * variance * slope * slope) {
            return None;
        }
        Some(Tilted {
            log_z,
            precision: -curvature / left,
            shift: (slope - curvature * mean) / left,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::link::Link;

    /// Against quadrature of the tail itself, at cavities that see all, the edge or nothing of it.
    #[test]
    fn moments_are_those_of_the_tail() {
        let mut smooth = 0;
        let mut all = 0;
        for k in [1.0, 5.0, 300.0, 5000.0] {
            for alpha in [0.0, 1e-3, 0.4, 3.0, 40.0] {
                let rows = CountRows::new(vec![k], vec![f64::INFINITY], vec![2.0], Link::Exp);
                let rows = rows.unwrap();
                for away in [-8.0, -2.0, 0.0, 1.0, 5.0] {
                    for variance in [1e-4, 0.05, 1.0, 9.0] {
                        let cavity = Belief {
                            mean: (0.5 * k).ln() + away,
                            variance,
                        };
                        let got = rows.tilted(0, alpha, cavity);
                        let jet = |f: f64| rows.jet(0, alpha, f);
                        let guess = rows.guess(0);
                        let want = quadrature::tilted(cavity, guess, jet);
                        all += 1;
                        smooth += usize::from(got != want);
                        let place = format!("{k} {alpha} {cavity:?}: {got:?} {want:?}");
                        // Tails are known to 1e-12 of themselves, and so are differences in them of
                        // a thousandth.
                        let scale = 1.0 + want.log_z.abs();
                        assert!((got.log_z - want.log_z).abs() < 1e-10 * scale, "{place}");
                        let moments = |t: &Tilted| {
                            let growth = 1.0 + variance * t.precision;
                            let sd = (variance / growth).sqrt();
                            let moved = variance * (t.shift - t.precision * cavity.mean) / growth;
                            (sd, moved)
                        };
                        let ((sd, moved), (own, other)) = (moments(&want), moments(&got));
                        assert!((own / sd - 1.0).abs() < 1e-7, "{place}");
                        assert!((moved - other).abs() < 1e-8 * sd, "{place}");
                    }
                }
            }
        }
        // Both are one computation where the tail itself is taken: cavities that lie far below, are
        // wide beside the tail or narrow beside the count, and counts that are all dispersion.
        assert!(smooth * 10 > all, "{smooth} of {all}");
    }
}
