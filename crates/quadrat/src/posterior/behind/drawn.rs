//! Counts under draws of the functions.

use super::cells::CountLaw;
use crate::posterior::component::Component;
use crate::posterior::mixture::Posterior;

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
    /// For every row the average that each draw holds it to; none for a row that draws do not meet.
    pub averages: Vec<Option<Vec<f64>>>,
}

impl DrawnMeans {
    /// At every node, of rows by their places among all that were observed; none where normal
    /// beliefs answer.
    pub fn of(posterior: &Posterior, rows: &[usize]) -> Option<Vec<Self>> {
        if !posterior.has_draws_beside_sites() {
            return None;
        }
        let at = |component: &Component| {
            let lift = component.conditioned.lift.as_deref()?;
            let one = |&row: &usize| Some(lift.averages(row)?.collect());
            Some(Self {
                weights: lift.weights().to_vec(),
                averages: rows.iter().map(one).collect(),
            })
        };
        posterior.components.iter().map(at).collect()
    }

    /// The laws of the count of a row at an exposure, which share a weight.
    pub fn laws(
        &self,
        i: usize,
        exposure: f64,
        (whole, dispersion): (f64, f64),
    ) -> Option<Vec<CountLaw>> {
        let averages = self.averages[i].as_ref()?;
        let heard = self.weights.iter().zip(averages).filter(|(w, _)| **w > 0.0);
        let laws = heard.map(|(weight, average)| CountLaw {
            weight: whole * weight,
            mean: exposure * average,
            dispersion,
        });
        Some(laws.collect())
    }
}
