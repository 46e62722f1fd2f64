//! Terms of a kernel that are nothing but a line over one column.

use super::Covariance;
use super::plan::{KernelFactor, KernelTerm};
use crate::kernel::Kernel;
use crate::support::Functionals;

/// A line `b (x - c)`, `b ~ N(0, v)`, as a function with an unknown coefficient.
///
/// Beside other terms it is a direction of rank one, whose variance `v (x - c)^2` may be as large
/// as the column's numbers are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LineTerm {
    /// Of the line alone.
    covariance: Covariance,
    /// Parameters whose product is `v`.
    variances: Vec<usize>,
    dim: usize,
    origin: f64,
}

impl Covariance {
    /// The kernel without such terms, and these.
    pub(crate) fn with_lines_apart(kernel: &Kernel) -> (Self, Vec<LineTerm>) {
        let mut rest = Self::new(kernel);
        let terms = std::mem::take(&mut rest.terms);
        let mut lines = Vec::new();
        for term in terms {
            match line(&term) {
                Some((dim, origin)) => lines.push(LineTerm {
                    variances: term.variances.clone(),
                    covariance: Self {
                        terms: vec![term],
                        ..rest.clone()
                    },
                    dim,
                    origin,
                }),
                None => rest.terms.push(term),
            }
        }
        (rest, lines)
    }
}

/// The column and the origin of a term that is a line over one column.
fn line(term: &KernelTerm) -> Option<(usize, f64)> {
    match &term.factors[..] {
        [
            KernelFactor::Linear {
                dims,
                lengthscales,
                origin,
            },
        ] => match (&dims[..], &lengthscales[..]) {
            ([dim], []) => Some((*dim, *origin)),
            _ => None,
        },
        _ => None,
    }
}

impl LineTerm {
    /// Parameters whose product is `v`.
    pub fn variances(&self) -> &[usize] {
        &self.variances
    }

    /// `L (x - c)` of every functional.
    pub fn unit_values(&self, set: &Functionals) -> Vec<f64> {
        self.values(&vec![1.0; self.covariance.parameters], set)
    }

    /// `sqrt(v) L (x - c)` of every functional: the function in prior sds of its coefficient.
    pub fn values(&self, theta: &[f64], set: &Functionals) -> Vec<f64> {
        let mut unit = theta.to_vec();
        let mut sd = 1.0;
        for &index in &self.variances {
            sd *= theta[index].sqrt();
            unit[index] = 1.0;
        }
        // A place whose distance from the origin is a number that double precision has.
        let step = self.origin.abs().max(1.0);
        let mut at = vec![0.0; set.dims().len()];
        at[self.dim] = self.origin + step;
        let mut place = Functionals::new(set.dims().to_vec());
        if place.push_point(&at).is_err() {
            return vec![f64::NAN; set.len()];
        }
        // `L (x - c)` times that distance.
        let cross = self.covariance.cross(&unit, set, &place);
        let scale = sd / (at[self.dim] - self.origin);
        cross.col_as_slice(0).iter().map(|v| v * scale).collect()
    }
}
