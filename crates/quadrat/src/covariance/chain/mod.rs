//! Rows along a line under Matern kernels, one after the other: a Markov chain of a few states.
//!
//! What rows say together then costs a few operations a row, in place of the cube of their number,
//! and is the same number but for rounding. Where rows are known so well that a matrix of all of
//! them loses digits, the chain keeps them.
//!
//! | what | file |
//! |---|---|
//! | a Matern process as states that forget the past | `matern` |
//! | from one place to the next | `step` |
//! | where boxes begin and rows are observed | `events` |
//! | the states of all parts | `states` |
//! | row after row | `filter` |
//! | what rows say of many columns of values | `columns` |
//! | a factor of the covariance of the rows | `factor` |

mod columns;
mod events;
mod factor;
mod filter;
mod matern;
mod states;
mod step;

use columns::MOST_COLUMNS;
pub use columns::Products;
use events::LineEvents;
pub use factor::ChainFactor;
use states::MOST_STATES;
use step::ProcessPart;

use super::Covariance;
use super::plan::{KernelFactor, KernelTerm, ProfileFamily};
use crate::linalg::Dual;
use crate::support::Functionals;

/// Most parameters that the numbers have slopes in.
pub const MOST_PARAMETERS: usize = 8;

/// Rows that look at points and boxes of one column, under a sum of Matern kernels and levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    terms: Vec<ChainTerm>,
    places: LineEvents,
}

/// One of the kernels.
#[derive(Debug, Clone, PartialEq)]
struct ChainTerm {
    /// Parameters whose product is the variance.
    variances: Vec<usize>,
    /// Family and lengthscale; none for a level.
    matern: Option<(ProfileFamily, usize)>,
}

impl Chain {
    /// None where kernel or rows are of another kind: kernels other than sums of `matern12`,
    /// `matern32`, `matern52` and constants, boxes that overlap, rows of several places.
    #[must_use]
    pub fn new(covariance: &Covariance, set: &Functionals) -> Option<Self> {
        let terms: Option<Vec<ChainTerm>> = covariance.terms.iter().map(ChainTerm::new).collect();
        let terms = terms?;
        let states = |term: &ChainTerm| match term.matern {
            None => Some(1),
            Some((family, _)) => Some(matern::states(family)?.0),
        };
        let each: Option<Vec<usize>> = terms.iter().map(states).collect();
        let fits = each?.iter().sum::<usize>() < MOST_STATES && !terms.is_empty();
        let places = fits.then(|| LineEvents::new(set)).flatten()?;
        Some(Self { terms, places })
    }

    /// Whether so many columns are told.
    #[must_use]
    pub fn takes(&self, columns: usize) -> bool {
        columns <= MOST_COLUMNS
    }

    /// The parameters of the kernel, each once, ascending.
    #[must_use]
    pub fn parameters(&self) -> Vec<usize> {
        let of = |term: &ChainTerm| {
            let lengthscale = term.matern.map(|(_, lengthscale)| lengthscale);
            term.variances.iter().copied().chain(lengthscale).collect()
        };
        let mut all: Vec<usize> = self
            .terms
            .iter()
            .flat_map(|term| -> Vec<usize> { of(term) })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// What rows say together: `log det Ky` and `B' Ky^-1 B`, with their slopes.
    ///
    /// # Arguments
    /// * `theta` - all hyperparameters, natural units
    /// * `noise` - variances of the rows' noise, length `n`
    /// * `columns` - of `B`, each of length `n`, at most 320
    ///
    /// # Returns
    /// None where rounding decides: rows that others determine; nor for lengths that do not match.
    ///
    /// # Numerics
    /// `O(n (s^2 + c s + c^2))` for `c` columns and `s` states: one, two or three for each
    /// `matern12`, `matern32` and `matern52`. Memory: some 2 kB for each length of a step, where
    /// these are at most 4,096.
    #[must_use]
    pub fn products<const P: usize>(
        &self,
        theta: &[Dual<P>],
        noise: &[Dual<P>],
        columns: &[&[f64]],
    ) -> Option<Products<P>> {
        let rows = self.places.rows();
        let is_whole = noise.len() == rows && columns.iter().all(|column| column.len() == rows);
        let most = self.parameters().last().map_or(0, |last| last + 1);
        if columns.len() > MOST_COLUMNS || !is_whole || theta.len() < most {
            return None;
        }
        columns::products(&self.parts(theta)?, &self.places, noise, columns)
    }

    /// The same kernel along other rows; none where they have no chain.
    #[must_use]
    pub fn along(&self, set: &Functionals) -> Option<Self> {
        Some(Self {
            terms: self.terms.clone(),
            places: LineEvents::new(set)?,
        })
    }

    /// A factor of `Ky = K + diag(noise)`, without a matrix.
    ///
    /// # Arguments
    /// * `theta` - all hyperparameters, natural units
    /// * `noise` - variances of the rows' noise, length `n`; what the chain has after so many rows
    ///   is only asked
    ///
    /// # Returns
    /// None where rounding decides, or for lengths that do not match.
    ///
    /// # Numerics
    /// `O(n s^2)`, as [`Chain::products`]. Memory: `s + 4` numbers a row, and 200 bytes for each
    /// length of a step and each kernel of the sum.
    #[must_use]
    pub fn factor(&self, theta: &[f64], noise: &[f64]) -> Option<ChainFactor> {
        let most = self.parameters().last().map_or(0, |last| last + 1);
        if noise.len() > self.places.rows() || theta.len() < most {
            return None;
        }
        let theta: Vec<Dual<0>> = theta.iter().map(|v| Dual::constant(*v)).collect();
        let noise: Vec<Dual<0>> = noise.iter().map(|v| Dual::constant(*v)).collect();
        ChainFactor::new(&self.parts(&theta)?, &self.places, &noise)
    }

    fn parts<const P: usize>(&self, theta: &[Dual<P>]) -> Option<Vec<ProcessPart<P>>> {
        let part = |term: &ChainTerm| {
            let one = Dual::constant(1.0);
            let variance = term.variances.iter().fold(one, |all, &v| all * theta[v]);
            match term.matern {
                None => Some(ProcessPart::Level { variance }),
                Some((family, lengthscale)) => {
                    ProcessPart::matern(family, variance, theta[lengthscale])
                }
            }
        };
        self.terms.iter().map(part).collect()
    }
}

impl ChainTerm {
    fn new(term: &KernelTerm) -> Option<Self> {
        let matern = match &term.factors[..] {
            [] => None,
            [
                KernelFactor::Line {
                    family,
                    lengthscale,
                    ..
                },
            ] => Some((*family, *lengthscale)),
            _ => return None,
        };
        Some(Self {
            variances: term.variances.clone(),
            matern,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
