//! The matrix of a coregionalisation, as places in the hyperparameters.

/// Where the entries of `A` and `kappa` stand in `theta`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mixing {
    /// `weights[level * rank + r]`
    pub weights: Vec<usize>,
    /// One per level.
    pub kappa: Vec<usize>,
}

impl Mixing {
    /// At least one: without any, every place is of one level without variance.
    pub fn levels(&self) -> usize {
        self.kappa.len().max(1)
    }

    fn rank(&self) -> usize {
        self.weights.len() / self.levels()
    }

    /// The columns of `A`, as places in `theta`.
    pub fn columns(&self) -> Vec<Vec<usize>> {
        let rank = self.rank();
        let column = |r| self.weights.iter().skip(r).step_by(rank).copied().collect();
        (0..rank).map(column).collect()
    }

    /// `B`, `[i * levels + j]`.
    pub fn matrix(&self, theta: &[f64]) -> Vec<f64> {
        let (n, rank) = (self.levels(), self.rank());
        let weight = |i: usize, r: usize| theta[self.weights[i * rank + r]];
        let entry = |i: usize, j: usize| {
            let own = self.kappa.get(i).filter(|_| i == j);
            own.map_or(0.0, |&own| theta[own])
                + (0..rank).map(|r| weight(i, r) * weight(j, r)).sum::<f64>()
        };
        (0..n * n).map(|at| entry(at / n, at % n)).collect()
    }

    /// `gradient += <G, dB / d theta>` for any `G`, `[i * levels + j]`.
    pub fn contract(&self, theta: &[f64], adjoint: &[f64], gradient: &mut [f64]) {
        let (n, rank) = (self.levels(), self.rank());
        for i in 0..n {
            if let Some(&own) = self.kappa.get(i) {
                gradient[own] += adjoint[i * n + i];
            }
            for r in 0..rank {
                let slope = (0..n).map(|j| {
                    (adjoint[i * n + j] + adjoint[j * n + i]) * theta[self.weights[j * rank + r]]
                });
                gradient[self.weights[i * rank + r]] += slope.sum::<f64>();
            }
        }
    }

    /// The level that a coordinate names.
    pub fn level(&self, x: f64) -> usize {
        // A NaN becomes zero; coordinates were checked where they came in.
        (x.round() as usize).min(self.levels() - 1)
    }
}
