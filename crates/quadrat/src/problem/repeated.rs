//! Rows that were seen several times.

use crate::likelihood::Likelihood;
use crate::likelihood::repeated::Repeated;
use crate::problem::observations::Observations;

/// Likelihoods of rows that were seen several times, of the tables that have any.
pub(crate) fn repeated(
    tables: &[Observations],
    likelihoods: &[Likelihood],
) -> Vec<Option<Repeated>> {
    let several = |(table, likelihood): (&Observations, &Likelihood)| {
        let is_several = !table.times.is_empty();
        is_several.then(|| Repeated::new(likelihood.clone(), table.times.clone()))
    };
    tables.iter().zip(likelihoods).map(several).collect()
}
