//! Limits and largest values of responses as those of the function.

use super::offer::Offer;
use super::policy::Policy;
use crate::error::InputError;
use crate::link::Link;
use crate::model::Posterior;

/// The latent value at which the response is a limit: that of a rate or a chance behind its link,
/// of values and ranks the limit itself.
///
/// # Arguments
/// * `offers` - the kinds of measurement, whose tables say what the response is
///
/// # Errors
/// [`InputError::Unavailable`] for kinds of several outputs or with several links, of which one
/// limit says different things, and behind a square, which has two latent values for one response;
/// [`InputError::Range`] for a limit that no response reaches, and a table that is not there.
pub fn latent_limit(
    posterior: &Posterior,
    offers: &[Offer],
    limit: f64,
) -> Result<f64, InputError> {
    let link = common_link(posterior, offers)?;
    link.inverse(limit)
        .filter(|latent| latent.is_finite())
        .ok_or_else(|| InputError::Range {
            what: "the limit".to_owned(),
            row: 0,
            value: limit,
            requirement: "a value that the response may have, between its least and its largest",
        })
}

/// Refuses a rule that has no answer for some kinds of measurement: the largest and the smallest
/// value of the function are those of the response where that grows with the function.
///
/// # Errors
/// [`InputError::Unavailable`] for [`Policy::Maximum`] and [`Policy::Minimum`] behind a square.
pub fn suits(posterior: &Posterior, offers: &[Offer], policy: Policy) -> Result<(), InputError> {
    let is_square = |offer: &Offer| {
        let rows = posterior.instrument(offer.table);
        rows.is_some_and(|rows| rows.mean_link() == Some(Link::Square))
    };
    match policy {
        Policy::Maximum | Policy::Minimum if offers.iter().any(is_square) => Err(SQUARE),
        _ => Ok(()),
    }
}

/// Why a square has neither.
const SQUARE: InputError = InputError::Unavailable {
    what: "a limit or a largest value of squares, each of which two latent values have",
    remedy: "choose by information about the function, or fit with the link `exp`",
};

/// From the function to the response of all kinds.
fn common_link(posterior: &Posterior, offers: &[Offer]) -> Result<Link, InputError> {
    let mut known: Option<(Option<&str>, Link)> = None;
    for offer in offers {
        let table = posterior.observations().get(offer.table);
        let (Some(table), Some(rows)) = (table, posterior.instrument(offer.table)) else {
            return Err(InputError::Range {
                what: format!("the table of the kind `{}`", offer.name),
                row: 0,
                value: offer.table as f64,
                requirement: "the place of a table that the posterior was conditioned on",
            });
        };
        let own = (table.output(), rows.mean_link().unwrap_or(Link::Identity));
        if *known.get_or_insert(own) != own {
            return Err(InputError::Unavailable {
                what: "one limit for kinds of several outputs or links",
                remedy: "offer the kinds of one output with one link",
            });
        }
    }
    match known {
        None => Err(InputError::Empty),
        Some((_, Link::Square)) => Err(SQUARE),
        Some((_, link)) => Ok(link),
    }
}
