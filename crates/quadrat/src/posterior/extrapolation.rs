//! Places of which the data say little.

use super::mixture::Posterior;
use crate::error::InputError;
use crate::kernel::{Kind, Role};
use crate::problem::extent::Extent;
use crate::support::Functionals;

/// Of more rows than this none is looked for that is far from the others.
const MOST_SORTED: usize = 10_000;

impl Posterior {
    /// From the lowest to the highest coordinate of all rows along a column of the kernel, those
    /// that follow from others and were left out too.
    fn range(&self, d: usize) -> (f64, f64) {
        let (lower, upper) = self.problem.observed().range(d);
        match self.left_out.get(d) {
            Some((lo, hi)) => (lower.min(*lo), upper.max(*hi)),
            None => (lower, upper),
        }
    }

    /// Rows of `at` that lie farther outside the observed range along some input than its largest
    /// lengthscale, or than the range if that is shorter (half the range where there is no
    /// lengthscale): the data say little there. Observed rows far from all others do not widen the
    /// range, but places as near to them count as near. Labels are never outside, see
    /// [`Self::new_labels`].
    ///
    /// # Errors
    /// [`InputError::UnknownDimension`].
    pub fn extrapolation(&self, at: &Functionals) -> Result<Vec<usize>, InputError> {
        let at = at.selected(self.dims())?;
        let kernel = self.problem.kernel();
        let labels = self.only_labels();
        // Places have no column of outputs.
        let inputs = (0..kernel.columns().len()).filter(|d| kernel.output_column() != Some(*d));
        let own = inputs.enumerate().filter(|(_, d)| !labels.contains(d));
        let windows: Vec<(usize, Vec<(f64, f64)>)> =
            own.map(|(place, d)| (place, self.windows(d))).collect();
        let is_out = |row: usize| {
            windows.iter().any(|(place, windows)| {
                let (a, b) = at.extent(row, *place);
                !windows.iter().any(|(lo, hi)| *lo <= a && b <= *hi)
            })
        };
        Ok((0..at.len()).filter(|&row| is_out(row)).collect())
    }

    /// Stretches along a column of the kernel in which the data say something.
    fn windows(&self, d: usize) -> Vec<(f64, f64)> {
        let parameters = self.problem.kernel().parameters().iter();
        let lengthscale = parameters
            .zip(&self.components[0].theta)
            .filter(|(p, _)| {
                p.kind != Kind::Linear
                    && matches!(&p.role, Role::Lengthscale(dims) if dims.contains(&d))
            })
            .map(|(_, l)| *l)
            .fold(0.0, f64::max);
        let around = |(lo, hi): (f64, f64), range: f64| {
            let reach = match lengthscale > 0.0 {
                true => lengthscale.min(range),
                false => 0.5 * range,
            };
            (lo - reach, hi + reach)
        };
        let (lo, hi) = self.range(d);
        let observed = self.problem.observed();
        if observed.len() > MOST_SORTED || self.left_out.get(d).is_some() {
            return vec![around((lo, hi), hi - lo)];
        }
        let rows: Vec<(f64, f64)> = (0..observed.len()).map(|r| observed.extent(r, d)).collect();
        let bulk = Extent::of(&rows);
        let range = bulk.upper - bulk.lower;
        let far = rows.into_iter().filter(|row| !bulk.holds(*row));
        std::iter::once((bulk.lower, bulk.upper))
            .chain(far)
            .map(|stretch| around(stretch, range))
            .collect()
    }
}
