//! What rows with normal noise report, as far as exact inference asks.

use crate::problem::observations::Observations;

/// Values and noise of every row, one table after the other.
pub(crate) struct NormalRows {
    /// What was reported, or what stands for it where no number was.
    pub values: Vec<f64>,
    /// Known noise variances; of values that were seen `n` times the `n`th part.
    pub known: Vec<f64>,
    /// The parameter that is the learned part of the noise variance, where there is one.
    pub group: Vec<Option<usize>>,
    /// How often the value was seen.
    pub times: Vec<f64>,
}

impl NormalRows {
    /// # Arguments
    /// * `own` - where the hyperparameters of every table's likelihood stand
    pub fn new(tables: &[Observations], own: &[Vec<usize>]) -> Self {
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
        Self {
            values,
            known,
            group,
            times,
        }
    }
}
