//! A table of observations from its parts.

use quadrat::model::Observations;

use crate::buffers::Numbers;
use crate::errors::Outcome;
use crate::likelihood::Likelihood;
use crate::support::Support;

/// A table as the library takes it.
pub fn observations(
    support: &Support,
    likelihood: &Likelihood,
    times: Option<Numbers>,
    output: Option<String>,
    share_noise: bool,
) -> Outcome<Observations> {
    let mut table = Observations::new((*support.functionals).clone(), likelihood.reported.clone())?;
    if let Some(Numbers(times)) = times {
        table = table.seen(times)?;
    }
    if let Some(output) = output {
        table = table.of_output(output);
    }
    Ok(if share_noise {
        table.share_noise()
    } else {
        table
    })
}
