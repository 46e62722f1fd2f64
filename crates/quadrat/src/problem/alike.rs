//! Parameters of one sort that a kernel has several of.

use crate::kernel::{Kernel, KernelParameter};

/// How often a kernel has a parameter of one sort: of the same kind of leaf, along the same
/// columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Alike {
    /// In earlier terms of the sum: terms begin apart, so that they come apart.
    pub before: usize,
    /// In its own product, itself among them.
    pub multiplied: usize,
}

impl Alike {
    /// # Arguments
    /// * `at` - which of the kernel's parameters
    pub fn of(kernel: &Kernel, at: usize) -> Self {
        let all = kernel.parameters();
        let is_alike = |p: &KernelParameter| p.role == all[at].role && p.kind == all[at].kind;
        let leaves = kernel.leaves();
        let Some(own) = leaves.iter().position(|l| l.lengthscales.contains(&at)) else {
            // What leaves share out between outputs has no product of two.
            return Self {
                before: all[..at].iter().filter(|p| is_alike(p)).count(),
                multiplied: 1,
            };
        };
        let has = |leaf: &&usize| {
            leaves[**leaf]
                .lengthscales
                .iter()
                .any(|&i| is_alike(&all[i]))
        };
        let is_own = |term: &&Vec<usize>| term.contains(&own);
        let terms = || kernel.terms().iter();
        let earlier = terms().take_while(|term| !is_own(term));
        Self {
            before: earlier
                .filter(|term| term.iter().any(|leaf| has(&leaf)))
                .count(),
            multiplied: terms()
                .find(is_own)
                .map_or(1, |term| term.iter().filter(has).count()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before and multiplied, of every lengthscale in the order of the kernel.
    fn lengthscales(kernel: &str) -> Vec<(usize, usize)> {
        let kernel: Kernel = kernel.parse().unwrap();
        let all = kernel.parameters().iter().enumerate();
        let own = all.filter(|(_, p)| p.name.contains("lengthscale"));
        own.map(|(i, _)| Alike::of(&kernel, i))
            .map(|alike| (alike.before, alike.multiplied))
            .collect()
    }

    #[test]
    fn terms_begin_apart_and_factors_together() {
        assert_eq!(
            lengthscales("se(x) + se(x) + se(x)"),
            [(0, 1), (1, 1), (2, 1)]
        );
        assert_eq!(lengthscales("se(x) * se(x) * se(x)"), [(0, 3); 3]);
        assert_eq!(lengthscales("se(x) * matern12(x)"), [(0, 1); 2]);
        assert_eq!(
            lengthscales("se(x) * se(y) + se(y)"),
            [(0, 1), (0, 1), (1, 1)]
        );
        assert_eq!(
            lengthscales("se(x) * se(x) + se(x)"),
            [(0, 2), (0, 2), (1, 1)]
        );
    }

    #[test]
    fn processes_of_outputs_are_counted() {
        let process = || Kernel::coregion("o", ["a", "b"], 1) * Kernel::se(["x"]);
        let kernel = process() + process();
        let all = kernel.parameters();
        let at =
            (0..all.len()).filter(|&i| all[i].role == all[0].role && all[i].kind == all[0].kind);
        let before: Vec<usize> = at.map(|i| Alike::of(&kernel, i).before).collect();
        assert_eq!(before, [0, 1]);
    }
}
