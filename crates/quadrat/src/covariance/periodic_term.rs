//! Periodic terms of a kernel as Fourier series with unknown coefficients.

use super::Covariance;
use super::plan::{KernelFactor, KernelTerm};
use crate::kernel::{Periodic, remainder};
use crate::support::Functionals;

/// Most harmonics of a term, and the lengthscale down to which no more are needed.
pub(crate) const MOST_HARMONICS: usize = 45;
pub(crate) const LEAST_PERIODIC: f64 = 0.19;
/// The part of the variance that the harmonics left out may have: where one of them comes or goes
/// the evidence must not jump, which adds up over all rows.
const LEFT_OUT: f64 = 1e-14;

/// A periodic term over one column, of variance `v` and a period `p` that is known, as functions
/// with unknown coefficients:
///
/// $$ f(x) = b_0 + \sum_{m=1}^M \left( b_m \cos \frac{2\pi m x}{p} + c_m \sin \frac{2\pi m x}{p}
///    \right), \qquad b_m, c_m \sim N(0, v\, a_m) $$
///
/// with the coefficients `a_m` of [`Periodic::coefficients`]. Where rows lie along a line they are
/// few, however many the rows.
///
/// # Source
/// Solin and Sarkka 2014, "Explicit link between periodic covariance functions and state space
/// models".
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PeriodicTerm {
    /// Parameters whose product is `v`.
    variances: Vec<usize>,
    lengthscale: usize,
    /// The parameter and its value.
    period: (usize, f64),
    dim: usize,
}

impl Covariance {
    /// The covariance without periodic terms over one column whose periods are known, and these.
    ///
    /// # Arguments
    /// * `known` - the value of a parameter that is not learned
    pub(crate) fn with_periodic_apart(
        mut self,
        known: impl Fn(usize) -> Option<f64>,
    ) -> (Self, Vec<PeriodicTerm>) {
        let terms = std::mem::take(&mut self.terms);
        let mut apart = Vec::new();
        for term in terms {
            match PeriodicTerm::new(&term, &known) {
                Some(periodic) => apart.push(periodic),
                None => self.terms.push(term),
            }
        }
        (self, apart)
    }
}

impl PeriodicTerm {
    fn new(term: &KernelTerm, known: impl Fn(usize) -> Option<f64>) -> Option<Self> {
        let [
            KernelFactor::Periodic {
                dim,
                lengthscale,
                period,
            },
        ] = term.factors[..]
        else {
            return None;
        };
        Some(Self {
            variances: term.variances.clone(),
            lengthscale,
            period: (period, known(period)?),
            dim,
        })
    }

    /// Parameters whose product is `v`.
    pub fn variances(&self) -> &[usize] {
        &self.variances
    }

    /// The parameter of its lengthscale.
    pub fn lengthscale(&self) -> usize {
        self.lengthscale
    }

    /// `a_0 .. a_M` and their slopes in the lengthscale; none where more than [`MOST_HARMONICS`]
    /// count, or the period is not the known one.
    pub fn shares(&self, theta: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let (at, period) = self.period;
        if theta[at] != period {
            return None;
        }
        let (mut shares, mut slopes) = Periodic::coefficients(theta[self.lengthscale]);
        let mut left = 0.0;
        let is_next_to_nothing = |share: &&f64| {
            left += **share;
            left < LEFT_OUT
        };
        let needless = shares.iter().rev().take_while(is_next_to_nothing).count();
        let count = shares.len() - needless;
        if !(1..=1 + MOST_HARMONICS).contains(&count) {
            return None;
        }
        shares.truncate(count);
        slopes.truncate(count);
        Some((shares, slopes))
    }

    /// `cos(2 pi m x / p)` and the sine of every functional. Of the constant, `m = 0`, the sine is
    /// zero.
    pub fn harmonic(&self, set: &Functionals, m: usize) -> [Vec<f64>; 2] {
        let turn = 2.0 * std::f64::consts::PI * m as f64 / self.period.1;
        let (lower, width, weight) = (set.lower(self.dim), set.width(self.dim), set.weight());
        let mut waves = [vec![0.0; set.len()], vec![0.0; set.len()]];
        for row in 0..set.len() {
            for atom in set.atoms(row) {
                // The average of a wave over a box is the wave at its middle, flattened.
                let half = 0.5 * width[atom];
                let middle = remainder(lower[atom] + half, self.period.1);
                let flat = match turn * half {
                    0.0 => 1.0,
                    angle => angle.sin() / angle,
                };
                let (sine, cosine) = (turn * middle).sin_cos();
                waves[0][row] += weight[atom] * flat * cosine;
                waves[1][row] += weight[atom] * flat * sine;
            }
        }
        waves
    }

    /// The functions at every functional, in prior sds of their coefficients; none where
    /// [`Self::shares`] are none.
    pub fn values(&self, theta: &[f64], set: &Functionals) -> Option<Vec<Vec<f64>>> {
        let (shares, _) = self.shares(theta)?;
        let variance: f64 = self.variances.iter().map(|&v| theta[v]).product();
        let mut functions = Vec::with_capacity(2 * shares.len());
        for (m, share) in shares.iter().enumerate() {
            let sd = (variance * share).sqrt();
            let [mut cosine, mut sine] = self.harmonic(set, m);
            cosine.iter_mut().for_each(|v| *v *= sd);
            functions.push(cosine);
            if m > 0 {
                sine.iter_mut().for_each(|v| *v *= sd);
                functions.push(sine);
            }
        }
        Some(functions)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::support::Aggregate;

    fn apart(kernel: &str) -> (Covariance, PeriodicTerm) {
        let kernel: Kernel = kernel.parse().unwrap();
        let whole = Covariance::new(&kernel);
        let known =
            |at: usize| (kernel.parameters()[at].name == "periodic.period.x").then_some(24.0);
        let (rest, mut terms) = whole.clone().with_periodic_apart(known);
        assert!(rest.terms.is_empty() && terms.len() == 1);
        (whole, terms.remove(0))
    }

    /// Points and boxes, far from zero too, at lengthscales from a plain wave to sharp peaks.
    #[test]
    fn functions_have_the_covariance_of_the_kernel() {
        let (whole, term) = apart("periodic(x)");
        let mut set = Functionals::points("x", &[0.0, 3.1, -40.0, 1e6 + 0.25]).unwrap();
        set.push_box(&[(2.0, 5.0)], Aggregate::Sum).unwrap();
        set.push_box(&[(-30.0, 40.0)], Aggregate::Mean).unwrap();
        set.push_nodes(&[vec![1.0], vec![7.0]], &[0.5, -0.5])
            .unwrap();
        for lengthscale in [30.0, 1.0, 0.4, 0.19] {
            let theta = [1.7, lengthscale, 24.0];
            let functions = term.values(&theta, &set).unwrap();
            let want = whole.matrix(&theta, &set);
            for i in 0..set.len() {
                for j in 0..set.len() {
                    let found: f64 = functions.iter().map(|f| f[i] * f[j]).sum();
                    // What is left out, of sums over three units too, and some roundings.
                    assert!(
                        (found - want[(i, j)]).abs() < 3e-11,
                        "{lengthscale}: {i} {j}"
                    );
                }
            }
        }
    }

    #[test]
    fn lengthscales_that_need_too_many_harmonics_have_none() {
        let (_, term) = apart("periodic(x)");
        let is_held = |lengthscale: f64| term.shares(&[1.0, lengthscale, 24.0]).is_some();
        assert!(is_held(LEAST_PERIODIC) && !is_held(0.95 * LEAST_PERIODIC));
        assert!(term.shares(&[1.0, 1.0, 23.0]).is_none());
        let (shares, _) = term.shares(&[1.0, 1.0, 24.0]).unwrap();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-14 && shares.len() < 16);
    }
}
