//! Counts under draws of the functions.

use rayon::prelude::*;

use super::cells::CountDistribution;
use crate::error::FitError;
use crate::link::Link;
use crate::posterior::component::Component;
use crate::posterior::mixture::Posterior;
use crate::support::Functionals;

/// Draws of what stands after the link under rows, at one node of the hyperparameters.
///
/// Where draws that meet the rows take the place of normal beliefs, each has heard what the row
/// says. The law of a count is then a mean over the draws,
///
/// $$ p(y \mid \text{data}) = \sum_s w_s \, p(y \mid f_s, R) $$
///
/// and nothing is taken away from a belief.
pub(super) struct DrawnMeans {
    pub weights: Vec<f64>,
    /// For every row what stands after the link in each draw.
    pub averages: Vec<Vec<f64>>,
}

impl DrawnMeans {
    /// At every node, of rows by their places among all that were observed; none where normal
    /// beliefs answer. Rows that draws do not meet have the function of the draw at their place.
    ///
    /// # Arguments
    /// * `at` - the rows' places, points of which a draw leaves nothing open
    pub fn of(
        posterior: &Posterior,
        rows: &[usize],
        (at, link): (&Functionals, Option<Link>),
    ) -> Result<Option<Vec<Self>>, FitError> {
        if !posterior.has_draws_beside_sites() {
            return Ok(None);
        }
        let of_node = |component: &Component| {
            let Some(lift) = component.conditioned.lift.as_deref() else {
                return Ok(None);
            };
            let mut averages: Vec<Vec<f64>> = Vec::with_capacity(rows.len());
            let mut others = Vec::new();
            for (i, &row) in rows.iter().enumerate() {
                let met = lift.averages(row);
                if met.is_none() {
                    others.push(i);
                }
                averages.push(met.map_or_else(Vec::new, Iterator::collect));
            }
            if !others.is_empty()
                && let Some(ready) = posterior.lift_of(component)?
            {
                let means = posterior.lifted_means(component, &ready, &at.rows(&others));
                let value = |f: &f64| link.map_or(*f, |link| link.value(*f));
                for (k, &i) in others.iter().enumerate() {
                    averages[i] = means.row(k).iter().map(value).collect();
                }
            }
            Ok(Some(Self {
                weights: lift.weights().to_vec(),
                averages,
            }))
        };
        posterior.components.par_iter().map(of_node).collect()
    }

    /// The laws of the count of a row at an exposure, which share a weight.
    pub fn laws(
        &self,
        i: usize,
        exposure: f64,
        (whole, dispersion): (f64, f64),
    ) -> Vec<CountDistribution> {
        let averages = &self.averages[i];
        let heard = self.weights.iter().zip(averages).filter(|(w, _)| **w > 0.0);
        let laws = heard.map(|(weight, average)| CountDistribution {
            weight: whole * weight,
            mean: exposure * average,
            dispersion,
        });
        laws.collect()
    }
}
