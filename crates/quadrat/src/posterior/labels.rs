//! Labels that no row was observed with.

use std::collections::HashSet;

use super::mixture::Posterior;
use crate::error::InputError;
use crate::support::Functionals;

impl Posterior {
    /// Columns of the kernel that hold labels and nothing else: neither another leaf nor the mean
    /// takes them for numbers.
    pub(super) fn only_labels(&self) -> Vec<usize> {
        let kernel = self.problem.kernel();
        let lines = self.problem.mean().lines();
        let is_line = |d: usize| lines.iter().any(|line| line.column == d);
        let names = kernel.labels();
        let all = kernel.columns().iter().enumerate();
        let own = all.filter(|(d, name)| names.contains(&name.as_str()) && !is_line(*d));
        own.map(|(d, _)| d).collect()
    }

    /// Rows of `at` with a label of an `iid` that no observed row has. The effect of such a label
    /// is predicted from its prior: mean zero, and the variance of the effects.
    ///
    /// # Arguments
    /// * `at` - supports whose inputs include [`Self::dims`]
    ///
    /// # Errors
    /// [`InputError::UnknownDimension`] for a missing input.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::model::{FitOptions, Model, Noise, Observations};
    /// use quadrat::support::Functionals;
    ///
    /// let sites = Functionals::points("site", &[1.0, 1.0, 2.0, 2.0])?;
    /// let rows = Observations::gaussian(sites, vec![3.0, 3.2, 1.0, 1.1], Noise::Learned)?;
    /// let posterior = Model::new(Kernel::iid("site")).observe(rows).fit(&FitOptions::default())?;
    /// let at = Functionals::points("site", &[2.0, 7.0])?;
    /// assert_eq!(posterior.new_labels(&at)?, [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new_labels(&self, at: &Functionals) -> Result<Vec<usize>, InputError> {
        let at = at.selected(self.dims())?;
        let kernel = self.problem.kernel();
        let observed = self.problem.observed();
        let bits = |x: &f64| (x + 0.0).to_bits();
        let mut new = vec![false; at.len()];
        for d in kernel.label_columns() {
            let name = &kernel.columns()[d];
            let seen: HashSet<u64> = observed.lower(d).iter().map(bits).collect();
            let Some(own) = at.dims().iter().position(|dim| dim == name) else {
                continue;
            };
            for (row, is_new) in new.iter_mut().enumerate() {
                let mut labels = at.lower(own)[at.atoms(row)].iter();
                *is_new |= labels.any(|label| !seen.contains(&bits(label)));
            }
        }
        Ok((0..at.len()).filter(|&row| new[row]).collect())
    }
}
