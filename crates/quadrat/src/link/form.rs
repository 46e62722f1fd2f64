//! What kind of function a link is, which decides how sums behind it are told.

use super::Link;

/// The kinds of links, by what is known of `psi(f)` for a normal `f`.
///
/// Who has to tell kinds apart asks for the form rather than the link: a further smooth link then
/// needs nothing there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `psi(f) = f`: moments are those of `f`.
    Line,
    /// `e^f`: log-normal.
    Exponential,
    /// `f^2`: a scaled noncentral chi-square.
    Square,
    /// Any other smooth monotone function: by [`Link::moments`], and covariances by Hermite
    /// polynomials.
    Smooth,
}

impl Link {
    /// The kind of function that it is.
    pub(crate) fn form(self) -> Form {
        match self {
            Self::Identity => Form::Line,
            Self::Exp => Form::Exponential,
            Self::Square => Form::Square,
            Self::Softplus | Self::Logit | Self::Probit => Form::Smooth,
        }
    }
}
