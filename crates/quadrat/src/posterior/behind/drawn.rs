//! Counts under draws of the functions.

use super::cells::CountLaw;
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
            let Some(lift) = posterior.lift_of(component)? else {
                return Ok(None);
            };
            let met = |&row: &usize| lift.averages(row).map(Iterator::collect::<Vec<f64>>);
            let mut averages: Vec<Option<Vec<f64>>> = rows.iter().map(met).collect();
            let others = (0..rows.len()).filter(|i| averages[*i].is_none());
            let others: Vec<usize> = others.collect();
            if !others.is_empty() {
                let values = posterior
                    .lifted_values(component, &lift, &at.rows(&others))
                    .0;
                let value = |f: &f64| link.map_or(*f, |link| link.value(*f));
                for (i, &row) in others.iter().enumerate() {
                    averages[row] = Some(values.row(i).iter().map(value).collect());
                }
            }
            Ok(Some(Self {
                weights: lift.weights().to_vec(),
                averages: averages.into_iter().flatten().collect(),
            }))
        };
        posterior.components.iter().map(of_node).collect()
    }

    /// The laws of the count of a row at an exposure, which share a weight.
    pub fn laws(&self, i: usize, exposure: f64, (whole, dispersion): (f64, f64)) -> Vec<CountLaw> {
        let averages = &self.averages[i];
        let heard = self.weights.iter().zip(averages).filter(|(w, _)| **w > 0.0);
        let laws = heard.map(|(weight, average)| CountLaw {
            weight: whole * weight,
            mean: exposure * average,
            dispersion,
        });
        laws.collect()
    }
}
