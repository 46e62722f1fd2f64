//! Distributions of an observation at a known latent value.

/// What would be observed, were the latent value known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Distribution {
    /// Normal.
    Normal(Normal),
    /// Double exponential.
    Laplace(Laplace),
    /// Student's t.
    StudentT(StudentT),
    /// Exponential, by its mean.
    Exponential(Exponential),
    /// Successes among trials.
    Binomial(Binomial),
    /// Counts.
    Poisson(Poisson),
    /// Overdispersed counts.
    NegativeBinomial(NegativeBinomial),
    /// Ranks 1, 2, ..
    Ranks(Ranks),
}
