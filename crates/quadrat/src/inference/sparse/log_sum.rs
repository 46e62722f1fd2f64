//! What is put for the expected log-density of a sum after a link.

use serde::{Deserialize, Serialize};

use crate::error::InputError;
use crate::likelihood::local::Local;
use crate::link::Link;

/// How the expected log-density of a row about a sum after a link is approximated.
///
/// | form | `E log Z` | `E 1/Z` | |
/// |---|---|---|---|
/// | `Matched` | of a linked normal value, or a noncentral chi-square variable, with the mean and variance of `Z` | same | any likelihood; the default |
/// | `Lemma` | `log sum_i w_i exp(E log psi(f_i))` | `1 / sum_i (w_i / E 1/psi(f_i))` | a lower bound of the evidence |
/// | `Taylor` | `log E Z - Var Z / (2 (E Z)^2)` | `(1 + Var Z / (E Z)^2) / E Z` | second order in the spread of `Z` |
///
/// For `exp` the matched form is the log-normal `log E Z - log(1 + Var Z / (E Z)^2) / 2`; behind
/// `softplus` expectations are by quadrature, and there is no lemma. Behind `square`, Poisson
/// counts that are no ranges have a noncentral chi-square variable whose degrees of freedom need
/// not be whole (`log_squares.rs`): exact where the values of a row move together about one mean,
/// and where they are independent and alike about zero. Every other likelihood has the square of a
/// normal value there, which is the former case alone. Mean errors of `E log Z` over 960 rows of 2
/// to 64 points, independent to moving together, with means of 0 to 3, of one sign or both,
/// variances of 0.02 to 2 and equal or unequal weights, against quadrature; a gamma variable would
/// be exact in the latter case:
///
/// | `Var Z / (E Z)^2` | noncentral chi-square | square of a normal value | gamma |
/// |---|---|---|---|
/// | below 0.1 | 0.0004 | 0.0004 | 0.0004 |
/// | 0.1 to 0.3 | 0.007 | 0.010 | 0.008 |
/// | 0.3 to 0.6 | 0.027 | 0.064 | 0.031 |
/// | 0.6 to 1.2 | 0.09 | 0.24 | 0.07 |
/// | above | 0.20 | 0.30 | 0.18 |
///
/// With the square link `Lemma` is the bound by the derivative of a confluent hypergeometric
/// function. `Lemma` leaves the posterior variance out of `E log Z` for `exp`, so that its
/// posterior is over-confident; where the coefficient of `log Z` is negative (waiting times) it
/// takes `log E Z`. The second and third need a log-density made of `log Z`, `Z` and `1/Z`: Poisson
/// counts that are no ranges, and waiting times.
///
/// # Source
/// Law et al. 2018, Lemma 1, eqs. 11, 12 and (corrected: no numerator but one) 26.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogSum {
    /// A linked normal value with the moments of the sum.
    #[default]
    Matched,
    /// The lower bound of the expectation.
    Lemma,
    /// The second-order expansion around the mean of the sum.
    Taylor,
}

impl LogSum {
    /// An error where some row has no such form.
    pub(super) fn check(
        self,
        link: Link,
        likelihood: &dyn Local,
        row: usize,
    ) -> Result<(), InputError> {
        if self == Self::Lemma && link == Link::Softplus {
            return Err(InputError::Unavailable {
                what: "the lemma for sums after the link softplus",
                remedy: "it is for links exp and square: use the matched form",
            });
        }
        if self == Self::Matched || likelihood.sum_terms(row).is_some() {
            return Ok(());
        }
        Err(InputError::Unavailable {
            what: "the lemma or the expansion for sums of this likelihood",
            remedy: "they are for Poisson counts that are no ranges, and for waiting times: use the matched form",
        })
    }
}
