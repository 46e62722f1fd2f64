//! A product of leaves of a kernel, ready for many rows.

use super::aligned::Aligned;
use super::factor::PreparedFactor;
use super::plan::KernelTerm;
use super::tile::{Evaluated, Sides, Tabulation, WithSlopes};

pub(super) fn prepare_term<'a>(
    term: &'a KernelTerm,
    theta: &'a [f64],
    sides: Sides<'_>,
    slopes: WithSlopes,
    tables: Tabulation,
) -> PreparedTerm<'a> {
    let factors = term.factors.iter();
    PreparedTerm {
        term,
        variance: term.variances.iter().map(|&i| theta[i]).product(),
        factors: factors
            .map(|f| PreparedFactor::new(f, theta, sides, slopes, tables))
            .collect(),
    }
}

pub(super) struct PreparedTerm<'a> {
    pub term: &'a KernelTerm,
    pub variance: f64,
    pub factors: Vec<PreparedFactor<'a>>,
}

impl PreparedTerm<'_> {
    /// `d variance / d theta` of the `k`-th variance parameter: the product of the others.
    pub fn other_variances(&self, theta: &[f64], k: usize) -> f64 {
        let all = self.term.variances.iter().enumerate();
        all.filter(|(e, _)| *e != k)
            .map(|(_, &i)| theta[i])
            .product()
    }
}

/// The product of the factors of a term, of so many numbers each; `memory` is where it is made.
pub(super) fn product<'w>(
    term: &PreparedTerm<'_>,
    len: usize,
    factors: &'w [Evaluated],
    memory: &'w mut Aligned,
) -> &'w [f64] {
    match &factors[..term.factors.len()] {
        [one] => &one.value[..len],
        [first, second, others @ ..] => {
            memory.resize(len);
            let pairs = first.value.iter().zip(&*second.value);
            memory
                .iter_mut()
                .zip(pairs)
                .for_each(|(p, (a, b))| *p = a * b);
            for other in others {
                memory
                    .iter_mut()
                    .zip(&*other.value)
                    .for_each(|(p, v)| *p *= v);
            }
            memory
        }
        // A constant.
        [] => {
            memory.resize(len);
            memory.fill(1.0);
            memory
        }
    }
}
