//! From one place to the next: where states lead, and what is new on the way.

use std::sync::LazyLock;

use super::super::plan::ProfileFamily;
use super::matern::{MOST, added, back, drive, states, stationary, transition};
use crate::linalg::Dual;
use crate::quadrature::gauss_legendre;

/// Own times up to which integrals over a step are sums over nodes, all of whose terms are
/// positive; beyond, differences lose no digit.
const SHORT: f64 = 2.0;

/// Nodes and weights on `[0, 1]`. Twelve integrate `exp(-2 v)` times a polynomial of degree 4 over
/// [`SHORT`] to rounding.
static RULE: LazyLock<Vec<(f64, f64)>> =
    LazyLock::new(|| gauss_legendre(12).on(0.0, 1.0).collect());

/// One process of the sum, at some hyperparameters.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProcessPart<const P: usize> {
    /// A level that is the same everywhere.
    Level { variance: Dual<P> },
    /// A Matern process.
    Matern {
        states: usize,
        variance: Dual<P>,
        /// `sqrt(2 nu) / lengthscale`.
        rate: Dual<P>,
    },
}

/// What a part does over one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<const P: usize> {
    /// `A`: states become `A x`.
    pub lead: [[Dual<P>; MOST]; MOST],
    /// `phi`: the sum over the step of the function, given the states before it, is `phi x`.
    pub sum: [Dual<P>; MOST],
    /// `Q`: the covariance of what is new in the states,
    pub fresh: [[Dual<P>; MOST]; MOST],
    /// with what is new in the sum, `c`,
    pub fresh_sum: [Dual<P>; MOST],
    /// and the variance of that, `v`.
    pub sum_variance: Dual<P>,
}

impl<const P: usize> ProcessPart<P> {
    /// A Matern process; none for a family that is none.
    pub fn matern(family: ProfileFamily, variance: Dual<P>, lengthscale: Dual<P>) -> Option<Self> {
        let (states, root) = states(family)?;
        Some(Self::Matern {
            states,
            variance,
            rate: lengthscale.recip() * root,
        })
    }

    /// The number of its states.
    pub fn states(&self) -> usize {
        match self {
            Self::Level { .. } => 1,
            Self::Matern { states, .. } => *states,
        }
    }

    /// Its variance.
    pub fn variance(&self) -> Dual<P> {
        match self {
            Self::Level { variance } | Self::Matern { variance, .. } => *variance,
        }
    }

    /// The covariance of its states before anything is seen.
    pub fn before(&self) -> [[Dual<P>; MOST]; MOST] {
        let shape = stationary(self.states());
        shape.map(|row| row.map(|entry| self.variance() * entry))
    }

    /// What it does over a step of some length above zero.
    pub fn step(&self, length: f64, with_sums: bool) -> Step<P> {
        let zero = Dual::constant(0.0);
        let mut step = Step {
            lead: [[zero; MOST]; MOST],
            sum: [zero; MOST],
            fresh: [[zero; MOST]; MOST],
            fresh_sum: [zero; MOST],
            sum_variance: zero,
        };
        match *self {
            Self::Level { .. } => {
                step.lead[0][0] = Dual::constant(1.0);
                step.sum[0] = Dual::constant(length);
            }
            Self::Matern {
                states,
                variance,
                rate,
            } => {
                let u = rate * length;
                step.lead = transition(states, u);
                match u.value <= SHORT {
                    true => step.short((states, u), with_sums),
                    false => step.long((states, u), with_sums),
                }
                step.scale(variance, rate.recip());
            }
        }
        step
    }
}

impl<const P: usize> Step<P> {
    /// Integrals over a short step, in own times and for a variance of one:
    ///
    /// $$ Q = q \int b b', \quad c = q \int b g, \quad v = q \int g^2, \quad \phi = \int A_0 $$
    ///
    /// with `b` the last column of `A`, to which the noise leads, and `g` what it adds up to.
    fn short(&mut self, (states, u): (usize, Dual<P>), with_sums: bool) {
        for (at, weight) in RULE.iter() {
            let v = u * *at;
            let weight = u * *weight;
            let lead = transition(states, v);
            let noise = weight * drive(states);
            let g = match with_sums {
                true => added(states, v),
                false => Dual::constant(0.0),
            };
            for i in 0..states {
                let pushed = noise * lead[i][states - 1];
                for j in 0..=i {
                    self.fresh[i][j] += pushed * lead[j][states - 1];
                }
                if with_sums {
                    self.fresh_sum[i] += pushed * g;
                    self.sum[i] += weight * lead[0][i];
                }
            }
            self.sum_variance += noise * g * g;
        }
        for i in 0..states {
            for j in 0..i {
                self.fresh[j][i] = self.fresh[i][j];
            }
        }
    }

    /// The same over a long step, from what is stationary:
    ///
    /// $$ Q = P - A P A', \quad \phi = e'G^{-1}(A - I), \quad c = G^{-1}(A - I) P e - A P \phi',
    ///    \quad v = 2 e'G^{-1}(G^{-1}(A - I) - u I) P e - \phi P \phi' $$
    fn long(&mut self, (states, u): (usize, Dual<P>), with_sums: bool) {
        let shape = stationary(states);
        let zero = Dual::constant(0.0);
        let lead = self.lead;
        let all = 0..states;
        // A P.
        let mut led = [[zero; MOST]; MOST];
        for i in all.clone() {
            for j in all.clone() {
                led[i][j] = all
                    .clone()
                    .fold(zero, |sum, k| sum + lead[i][k] * shape[k][j]);
            }
        }
        for i in all.clone() {
            for j in all.clone() {
                let kept = all
                    .clone()
                    .fold(zero, |sum, k| sum + led[i][k] * lead[j][k]);
                self.fresh[i][j] = Dual::constant(shape[i][j]) - kept;
            }
        }
        if !with_sums {
            return;
        }
        let less_one =
            |i: usize, j: usize| lead[i][j] - Dual::constant(f64::from(u8::from(i == j)));
        let back = back(states);
        for j in all.clone() {
            self.sum[j] = all
                .clone()
                .fold(zero, |sum, i| sum + less_one(i, j) * back[i]);
        }
        // (A - I) P e, and G^-1 of it: its first entry by `e'G^-1`, the others by the rows of G.
        let seen: Vec<Dual<P>> = all
            .clone()
            .map(|i| {
                all.clone()
                    .fold(zero, |sum, j| sum + less_one(i, j) * shape[j][0])
            })
            .collect();
        let mut solved = [zero; MOST];
        solved[0] = all.clone().fold(zero, |sum, i| sum + seen[i] * back[i]);
        solved[1..states].copy_from_slice(&seen[..states - 1]);
        for i in all.clone() {
            let told = all
                .clone()
                .fold(zero, |sum, k| sum + led[i][k] * self.sum[k]);
            self.fresh_sum[i] = solved[i] - told;
        }
        let rest = all
            .clone()
            .fold(zero, |sum, i| sum + (solved[i] - u * shape[i][0]) * back[i]);
        let told = all.clone().fold(zero, |sum, i| {
            let row = all
                .clone()
                .fold(zero, |sum, k| sum + self.sum[k] * shape[k][i]);
            sum + row * self.sum[i]
        });
        self.sum_variance = rest * 2.0 - told;
    }

    /// Gives them the process' variance, and sums the unit of the column.
    fn scale(&mut self, variance: Dual<P>, unit: Dual<P>) {
        let of_sum = variance * unit;
        for i in 0..MOST {
            for j in 0..MOST {
                self.fresh[i][j] = self.fresh[i][j] * variance;
            }
            self.sum[i] = self.sum[i] * unit;
            self.fresh_sum[i] = self.fresh_sum[i] * of_sum;
        }
        self.sum_variance = self.sum_variance * of_sum * unit;
    }
}
