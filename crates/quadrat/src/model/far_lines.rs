//! Lines that are factors of a product, and zero far from the rows.
//!
//! A line of its own is moved among the rows, see `Scales::near_the_rows`: with an unknown mean it
//! is the same line. In a product it is another kernel, so only the user can say what is meant.

use super::Model;
use crate::problem::extent::Extent;

/// How many times the reach of the rows their distance from zero is: from here on a line changes by
/// a thirtieth over them, and is next to a constant factor.
const FAR: f64 = 30.0;

impl Model {
    /// What to say of them.
    pub(super) fn far_lines(&self) -> Vec<String> {
        let columns = self.kernel.lines_in_products();
        columns
            .into_iter()
            .filter_map(|c| self.far_line(c))
            .collect()
    }

    fn far_line(&self, column: usize) -> Option<String> {
        let name = &self.kernel.columns()[column];
        let averages = self.tables.iter().flat_map(|table| {
            let (set, d) = (table.supports(), table.supports().dims());
            let d = d.iter().position(|dim| dim == name);
            let rows = d.map_or(0, |_| set.len());
            (0..rows).map(move |row| set.average(row, d.unwrap_or(0)))
        });
        let places: Vec<(f64, f64)> = averages.filter(|x| x.is_finite()).map(|x| (x, x)).collect();
        let bulk = Extent::of(&places);
        let middle = f64::midpoint(bulk.lower, bulk.upper);
        let times = middle.abs() / (bulk.upper - bulk.lower);
        (times > FAR && times.is_finite()).then(|| {
            format!(
                "the factor `linear({name})` is zero at {name} = 0, {times:.0} times as far away as the rows reach, and hardly changes over them: if it is to be zero among the rows, write `linear({name}, origin = {middle})`"
            )
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::kernel::Kernel;
    use crate::likelihood::{Gaussian, Noise};
    use crate::problem::observations::Observations;
    use crate::support::Functionals;

    fn told(kernel: &str, first: f64) -> Vec<String> {
        let kernel: Kernel = kernel.parse().unwrap();
        let x: Vec<f64> = (0..9).map(|i| first + f64::from(i)).collect();
        let y: Vec<f64> = (0..9).map(|i| f64::from(i).sin()).collect();
        let at = Functionals::points("t", &x).unwrap();
        let rows = Observations::new(at, Gaussian::new(y, Noise::Learned).unwrap()).unwrap();
        super::Model::new(kernel).observe(rows).far_lines()
    }

    #[test]
    fn only_factors_that_hardly_change_are_told() {
        let far = told("linear(t) * se(t) + linear(t)", 2000.0);
        assert_eq!(far.len(), 1, "{far:?}");
        assert!(far[0].contains("`linear(t, origin = 2004)`"), "{far:?}");
        for (kernel, first) in [
            ("linear(t) * se(t)", 0.0),
            ("linear(t) * se(t)", 100.0),
            ("linear(t) + se(t)", 2000.0),
            ("linear(t, origin = 0) * se(t)", 2000.0),
        ] {
            assert!(told(kernel, first).is_empty(), "{kernel} from {first}");
        }
    }
}
