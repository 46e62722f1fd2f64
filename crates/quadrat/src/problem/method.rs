//! Which way of inference the rows of a model are for.

use super::observations::Observations;
use super::pooled::{is_known_exactly, is_pooled};
use super::settings::Inference;
use crate::error::InputError;
use crate::inference::sites::Method;
use crate::link::Link;

/// How the rows will condition the prior; `None` is exactly.
pub(crate) fn choose(
    inference: Inference,
    tables: &[Observations],
    varying: bool,
) -> Result<Option<Method>, InputError> {
    let is_exact = !varying && tables.iter().all(|t| t.as_gaussian().is_some());
    let has_kinks = tables.iter().any(|t| t.likelihood.has_kink());
    let has_square = tables
        .iter()
        .any(|t| t.likelihood.link() == Some(Link::Square));
    if inference == Inference::Sparse && tables.iter().any(|t| is_known_exactly(&t.likelihood)) {
        return Err(InputError::Unavailable {
            what: "sparse inference for what is known exactly behind a link",
            remedy: "leave `method` out, or give the rows a small variance",
        });
    }
    if inference == Inference::Sparse {
        return match varying {
            false => Ok(Some(Method::Variational)),
            true => Err(InputError::Unavailable {
                what: "sparse inference for a noise or dispersion that is a function",
                remedy: "use auto, ep or variational, or a constant noise",
            }),
        };
    }
    if tables.iter().any(is_pooled) {
        return match inference {
            Inference::Auto | Inference::Sites(Method::Laplace) => Ok(Some(Method::Laplace)),
            Inference::Exact | Inference::Sites(_) | Inference::Sparse => {
                Err(InputError::Unavailable {
                    what: "a dense method other than Laplace's for sums after a link",
                    remedy: "use auto, laplace or sparse, or give the rows as points",
                })
            }
        };
    }
    match inference {
        // Behind a square the function may have either sign: moments of both together are those of
        // neither.
        Inference::Auto if has_square && !varying && !has_kinks => Ok(Some(Method::Laplace)),
        Inference::Auto => Ok((!is_exact).then_some(Method::Ep)),
        Inference::Exact if is_exact => Ok(None),
        Inference::Exact if varying => Err(InputError::Unavailable {
            what: "exact inference",
            remedy: "the noise is a function too; use auto, ep or variational",
        }),
        Inference::Sites(Method::Laplace) if varying => Err(InputError::Unavailable {
            what: "Laplace's method for a noise or dispersion that is a function",
            remedy: "use auto, ep or variational",
        }),
        Inference::Exact => Err(InputError::Unavailable {
            what: "exact inference",
            remedy: "some rows have other than normal noise; use auto, ep, variational or laplace",
        }),
        Inference::Sites(Method::Laplace) if has_kinks => Err(InputError::Unavailable {
            what: "Laplace's method for values with double exponential noise",
            remedy: "their density has a kink and no curvature; use ep or variational",
        }),
        Inference::Sites(method) => Ok(Some(method)),
        // Answered above.
        Inference::Sparse => Ok(Some(Method::Variational)),
    }
}
