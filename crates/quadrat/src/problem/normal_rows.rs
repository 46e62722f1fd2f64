//! What rows with normal noise report, as far as exact inference asks.

use crate::problem::observations::Observations;

/// Noise below this part of the values' mean square is next to none.
const EXACT: f64 = 1e-8;

/// Values and noise of every row, one table after the other.
pub(crate) struct NormalRows {
    /// What was reported, or what stands for it where no number was.
    pub values: Vec<f64>,
    /// Values less prior means.
    pub residual: Vec<f64>,
    /// Known noise variances; of values that were seen `n` times the `n`th part.
    pub known: Vec<f64>,
    /// The parameter that is the learned part of the noise variance, where there is one.
    pub group: Vec<Option<usize>>,
    /// How often the value was seen.
    pub times: Vec<f64>,
}

impl NormalRows {
    /// Whether a row is known to less than [`EXACT`] of the values' mean square, and no more of its
    /// noise is learned.
    pub fn has_exact(&self) -> bool {
        let square: f64 = self.residual.iter().map(|r| r * r).sum();
        let least = EXACT * square / self.residual.len().max(1) as f64;
        let mut rows = self.known.iter().zip(&self.group);
        rows.any(|(known, group)| group.is_none() && *known <= least)
    }

    /// Whether all rows have one noise variance.
    pub fn is_homoscedastic(&self) -> bool {
        self.group.iter().all(|g| *g == self.group[0])
            && self.known.iter().all(|v| *v == self.known[0])
            && self.times.iter().all(|n| *n == self.times[0])
    }

    /// The known noise variance of every row; `None` where a part of it is learned.
    pub fn known_variances(&self) -> Vec<Option<f64>> {
        let pairs = self.known.iter().zip(&self.group);
        pairs
            .map(|(known, group)| group.is_none().then_some(*known))
            .collect()
    }

    /// Of every value that was seen more than once how often, the noise variance of each time, and
    /// the parameter in it.
    pub fn several<'a>(
        &'a self,
        theta: &'a [f64],
    ) -> impl Iterator<Item = (f64, f64, Option<usize>)> + 'a {
        let rows = self.times.iter().zip(&self.known).zip(&self.group);
        let several = rows.filter(|((n, _), _)| **n != 1.0);
        several.map(move |((n, known), group)| {
            (*n, n * known + group.map_or(0.0, |g| theta[g]), *group)
        })
    }
}

impl NormalRows {
    /// # Arguments
    /// * `own` - where the hyperparameters of every table's likelihood stand
    /// * `prior_mean` - of every row
    pub fn new(tables: &[Observations], own: &[Vec<usize>], prior_mean: &[f64]) -> Self {
        let (mut values, mut known, mut group) = (Vec::new(), Vec::new(), Vec::new());
        let mut times: Vec<f64> = Vec::new();
        for (table, own) in tables.iter().zip(own) {
            let before = times.len();
            let n = before + table.supports().len();
            // Rows without a value only matter to sites, which do not look here.
            values.extend(table.typical());
            values.resize(n, 0.0);
            match table.as_gaussian().and_then(|g| g.noise().known()) {
                Some(v) => known.extend_from_slice(v),
                None => known.resize(n, 0.0),
            }
            let is_learned = table.as_gaussian().is_some_and(|g| g.noise().is_learned());
            group.resize(n, own.first().copied().filter(|_| is_learned));
            for at in before..n {
                // What is known exactly says the same once as several times.
                let is_exact = known[at] == 0.0 && !is_learned;
                let often = if is_exact {
                    1.0
                } else {
                    table.times(at - before)
                };
                known[at] /= often;
                times.push(often);
            }
        }
        let pairs = values.iter().zip(prior_mean);
        Self {
            residual: pairs.map(|(y, m)| y - m).collect(),
            values,
            known,
            group,
            times,
        }
    }
}
