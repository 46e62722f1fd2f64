//! The scale on which predictions are told.

/// What a prediction is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// The latent function under the support, `L f`.
    Latent,
    /// The observed mean: after the link of the first table that reports values, at an exposure of
    /// one, added up or averaged over the support after the link; the probability of a success.
    /// With an identity link the same as latent.
    #[default]
    Response,
    /// A new observation. Of normal rows: the response plus the noise of a new row, which is the
    /// learned noise of the first table that learns one and the known noise that all rows share.
    /// Else one of the first table that reports values, at an exposure (or with a number of trials)
    /// of one.
    Observation,
}
