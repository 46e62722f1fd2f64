//! What a value with normal noise tells.

/// A value `y = f + e`, `e ~ N(0, noise)`.
///
/// $$ I(y; f) = \tfrac12 \log(1 + v / noise), \qquad f \sim N(m, v) $$
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// Variance of the noise, > 0: an exact reading would tell infinitely much.
    pub noise: f64,
}

impl Value {
    /// Nats, where the latent value has this variance.
    pub(super) fn information(self, variance: f64) -> f64 {
        0.5 * (variance / self.noise).ln_1p()
    }
}
