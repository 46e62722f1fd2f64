//! Kinds of measurement as the library offers them: what a new row of their table is.

use quadrat::acquire::Offer;
use quadrat::likelihood::Likelihood;
use quadrat::model::Limits;

use super::kinds::{Price, Tables, table_of};
use crate::diagnostic::{Problem, Problems};
use crate::engine::Posterior;
use crate::new_row::{self, EXPOSURE, LOWER_LIMIT, TRIALS, UPPER_LIMIT};

/// The kinds that are offered; refused where the study has no rows like that.
pub fn offers(posterior: &Posterior, prices: &[Price]) -> Result<Vec<Offer>, Problems> {
    Tables::of(posterior).check(prices)?;
    let mut problems = Problems::default();
    let mut offers = Vec::with_capacity(prices.len());
    for price in prices {
        let like = table_of(posterior, &price.kind);
        match like.and_then(|like| offer(posterior, price, like)) {
            Ok(offer) => offers.push(offer),
            Err(problem) => problems.push(problem),
        }
    }
    problems.or(offers)
}

/// A kind with the exposure, trials and limits that new rows of its table have.
///
/// # Arguments
/// * `table`, `as_interval` - the table, and whether only intervals of its values are told
/// # Errors
/// Exposure, trials and limits that differ from row to row.
pub fn offer(
    posterior: &Posterior,
    price: &Price,
    (table, as_interval): (usize, bool),
) -> Result<Offer, Problem> {
    let mut offer = Offer {
        name: price.kind.clone(),
        table,
        cost: price.cost,
        amount: price.amount,
        as_interval,
        limits: None,
    };
    let rows = new_row::of(posterior);
    let like = posterior.observations().get(table);
    let (Some(row), Some(like)) = (rows.get(table), like) else {
        return Ok(offer);
    };
    let word = match like.likelihood() {
        Likelihood::Poisson(_) | Likelihood::NegativeBinomial(_) => EXPOSURE,
        Likelihood::Binomial(_) => TRIALS,
        Likelihood::Censored(_) if !as_interval => {
            let kind = &price.kind;
            if row.has_limits_of_rows() {
                let message = format!(
                    "the limits of a new reading of the kind `{kind}` are not known: they are a column, and differ from row to row"
                );
                let remedy = "give the limits as numbers, in a table for each instrument";
                return Err(Problem::new(message).remedy(remedy));
            }
            let ends = [LOWER_LIMIT, UPPER_LIMIT].map(|word| row.known(word));
            if ends.iter().any(Option::is_some) {
                let [lower, upper] = ends;
                let lower = lower.unwrap_or(f64::NEG_INFINITY);
                let limits = Limits::new(lower, upper.unwrap_or(f64::INFINITY));
                let limits = limits.map_err(|error| Problem::new(error.to_string()))?;
                offer.limits = Some(limits);
            }
            return Ok(offer);
        }
        _ => return Ok(offer),
    };
    if offer.amount.is_none() {
        let known = row.known(word).ok_or_else(|| {
            let kind = &price.kind;
            let message = format!(
                "the {word} of a new row of the kind `{kind}` is not known: it differs from row to row"
            );
            let remedy = format!(
                "give it as the number of the kind: `{kind}=COST:NUMBER`, in Python its `amount`"
            );
            Problem::new(message).remedy(remedy)
        })?;
        offer.amount = Some(known);
    }
    Ok(offer)
}
