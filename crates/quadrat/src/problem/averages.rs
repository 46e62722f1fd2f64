//! Sums after a link as the link of an average before it: rows that dense inference needs no nodes
//! for.

use super::assembly::Problem;
use super::observations::Observations;
use super::outputs;
use super::specified::Taken;
use crate::error::InputError;
use crate::inference::sites::Method;

impl Problem {
    /// The same prior, dense, where a row that reports on a sum after a link `h` is taken for one
    /// on the average before it. Of points `x_i` with weights `w_i` and `W = sum_i w_i`,
    ///
    /// $$ \sum_i w_i h(f(x_i)) \approx W h\Big( \sum_i w_i f(x_i) / W \Big), $$
    ///
    /// which is right to first order in the differences of `f` within the row.
    ///
    /// # Arguments
    /// * `tables` - the user's, or some of the points of their rows
    pub fn of_averages(&self, tables: &[Observations]) -> Result<Self, InputError> {
        let restricted = outputs::restrict(self.kernel(), tables)?;
        let is_exact = restricted.iter().all(|t| t.as_gaussian().is_some());
        // A density with a kink has no curvature at its mode.
        let method = match restricted.iter().any(|t| t.likelihood.has_kink()) {
            true => Method::Ep,
            false => Method::Laplace,
        };
        let mut model = self.model_of(restricted, self.seconds().on(tables)?);
        model.method = (!is_exact).then_some(method);
        model.taken = Taken::Averages;
        model.besides.clone_from(&self.besides);
        model.cycles.clone_from(&self.cycles);
        Ok(Self::new(model, None))
    }
}
