//! Rational quadratic kernel.

/// Rational quadratic, `kappa(r) = (1 + r^2 / (2 alpha))^(-alpha)`: a mixture of squared
/// exponentials of many lengthscales; `alpha -> inf` gives the squared exponential.
///
/// # Source
/// Rasmussen and Williams 2006, eq. 4.19.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RationalQuadratic;

impl RationalQuadratic {
    /// `(kappa, -kappa'(r) / r, d kappa / d alpha)` at squared scaled distance `r2`.
    #[must_use]
    pub fn radial(r2: f64, alpha: f64) -> (f64, f64, f64) {
        let q = r2 / (2.0 * alpha);
        // Where the ratio overflows, one is nothing beside it.
        let log = match q < f64::INFINITY {
            true => q.ln_1p(),
            false => r2.min(f64::MAX).ln() - std::f64::consts::LN_2 - alpha.ln(),
        };
        let k = (-alpha * log).exp();
        let share = if q < f64::INFINITY {
            q / (1.0 + q)
        } else {
            1.0
        };
        (k, k / (1.0 + q), k * (share - log))
    }
}
