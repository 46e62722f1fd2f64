//! A rectangle of a matrix of covariances, and what its factors are made of.

use std::ops::Range;

use super::aligned::Aligned;
use crate::support::Functionals;

/// The two sides of a covariance.
#[derive(Clone, Copy)]
pub(super) struct Sides<'a> {
    pub a: &'a Functionals,
    pub b: &'a Functionals,
}

/// Atoms of a tile.
#[derive(Clone)]
pub(super) struct Tile {
    pub a: Range<usize>,
    pub b: Range<usize>,
}

impl Tile {
    pub fn len(&self) -> usize {
        self.a.len() * self.b.len()
    }
}

/// Whether derivatives are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WithSlopes {
    No,
    Yes,
}

/// Whether factors of one dimension may be tabulated on distinct intervals.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tabulation {
    Never,
    WhenRepeated,
    /// The same, where a table has no more entries.
    UpTo(usize),
}

/// Values and slopes of one factor on one tile, `[j * na + i]`; buffers are reused.
#[derive(Default)]
pub(super) struct Evaluated {
    pub value: Aligned,
    /// One per parameter of the factor, except for radial factors: `-kappa'/r` and, for the
    /// rational quadratic, the slope in `alpha`.
    pub slopes: Vec<Aligned>,
    pub(super) scratch: Vec<Aligned>,
}
