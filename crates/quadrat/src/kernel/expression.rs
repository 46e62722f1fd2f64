//! The tree of a kernel expression, and its expansion into sums of products.

use std::fmt;

use super::leaf::{Kind, Leaf};

/// Sums and products of leaves. Build it with [`Kernel::parse`](super::Kernel::parse) or the
/// operators of [`Kernel`](super::Kernel).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Leaf(Leaf),
    Sum(Vec<Expression>),
    Product(Vec<Expression>),
}

/// What a leaf keeps of its variance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    /// All of it.
    Variance,
    /// Relative to the first term of its sum.
    Relative,
    /// Nothing: another factor has it.
    Nothing,
}

impl Expression {
    /// A sum, with nested sums merged.
    pub(super) fn sum(terms: Vec<Self>) -> Self {
        let mut flat = Vec::with_capacity(terms.len());
        for term in terms {
            match term {
                Self::Sum(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match <[Self; 1]>::try_from(flat) {
            Ok([only]) => only,
            Err(flat) => Self::Sum(flat),
        }
    }

    /// A product, with nested products merged.
    pub(super) fn product(factors: Vec<Self>) -> Self {
        let mut flat = Vec::with_capacity(factors.len());
        for factor in factors {
            match factor {
                Self::Product(inner) => flat.extend(inner),
                other => flat.push(other),
            }
        }
        match <[Self; 1]>::try_from(flat) {
            Ok([only]) => only,
            Err(flat) => Self::Product(flat),
        }
    }

    /// The leaves from left to right, each with the variance it keeps.
    ///
    /// A product is identified only up to moving a constant between its factors, so every factor
    /// but the first gives up one variance: a leaf its own, a sum that of its first term (the
    /// others stay relative to it). With a coregionalisation matrix among the factors all do.
    pub(super) fn leaves(&self) -> Vec<(&Leaf, Keeps)> {
        let mut out = Vec::new();
        self.collect(Keeps::Variance, &mut out);
        out
    }

    fn collect<'a>(&'a self, keep: Keeps, out: &mut Vec<(&'a Leaf, Keeps)>) {
        match self {
            Self::Leaf(leaf) => out.push((leaf, keep)),
            Self::Sum(terms) => {
                for (i, term) in terms.iter().enumerate() {
                    let relative = keep == Keeps::Nothing && i > 0;
                    term.collect(if relative { Keeps::Relative } else { keep }, out);
                }
            }
            Self::Product(factors) => {
                let mixed = factors.iter().any(Self::is_coregion);
                for (i, factor) in factors.iter().enumerate() {
                    let first = i == 0 && !mixed;
                    factor.collect(if first { keep } else { Keeps::Nothing }, out);
                }
            }
        }
    }

    /// The leaf that a term consists of, but for a coregionalisation of it.
    pub(super) fn own_leaf_mut(&mut self) -> Option<&mut Leaf> {
        match self {
            Self::Leaf(leaf) => Some(leaf),
            Self::Sum(_) => None,
            Self::Product(factors) => {
                let mut others = factors.iter_mut().filter(|factor| !factor.is_coregion());
                match (others.next(), others.next()) {
                    (Some(Self::Leaf(leaf)), None) => Some(leaf),
                    _ => None,
                }
            }
        }
    }

    fn is_coregion(&self) -> bool {
        matches!(self, Self::Leaf(leaf) if leaf.kind == Kind::Coregion)
    }

    /// Number of terms after expansion, saturating.
    pub(super) fn term_count(&self) -> usize {
        match self {
            Self::Leaf(_) => 1,
            Self::Sum(terms) => terms
                .iter()
                .fold(0, |n, t| n.saturating_add(t.term_count())),
            Self::Product(factors) => factors
                .iter()
                .fold(1, |n, f| n.saturating_mul(f.term_count())),
        }
    }

    /// Expands into a sum of products; leaves are numbered from left to right.
    pub(super) fn terms(&self) -> Vec<Vec<usize>> {
        self.expand(&mut 0)
    }

    fn expand(&self, next: &mut usize) -> Vec<Vec<usize>> {
        match self {
            Self::Leaf(_) => {
                *next += 1;
                vec![vec![*next - 1]]
            }
            Self::Sum(terms) => terms.iter().flat_map(|t| t.expand(next)).collect(),
            Self::Product(factors) => {
                let mut products = vec![Vec::new()];
                for factor in factors {
                    let right = factor.expand(next);
                    products = products
                        .iter()
                        .flat_map(|left| {
                            right.iter().map(move |r| {
                                let mut product: Vec<usize> = left.clone();
                                product.extend(r);
                                product
                            })
                        })
                        .collect();
                }
                products
            }
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leaf(leaf) => write!(f, "{leaf}"),
            Self::Sum(terms) => join(f, terms, " + ", |_| false),
            Self::Product(factors) => join(f, factors, " * ", |e| matches!(e, Self::Sum(_))),
        }
    }
}

fn join(
    f: &mut fmt::Formatter<'_>,
    parts: &[Expression],
    sign: &str,
    parenthesise: impl Fn(&Expression) -> bool,
) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(sign)?;
        }
        if parenthesise(part) {
            write!(f, "({part})")?;
        } else {
            write!(f, "{part}")?;
        }
    }
    Ok(())
}
