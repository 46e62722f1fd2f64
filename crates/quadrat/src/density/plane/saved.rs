//! Estimates of two columns as what they are made from again.

use serde::{Deserialize, Serialize};

use crate::progress::{Silent, Watcher};

use super::super::error::DensityError;
use super::super::scale::ColumnScale;
use super::estimate::{ConditionalEstimate, Estimate2d};
use super::fit::Fit;
use super::grid::{CellGrid, Normalisation};
use super::kept::Kept;

/// What an estimate of two columns is made from again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct KeptPlane {
    grid: CellGrid,
    scales: [ColumnScale; 2],
    kept: Kept,
}

impl KeptPlane {
    fn of(fit: &Fit) -> Self {
        Self {
            grid: fit.grid.clone(),
            scales: fit.scales,
            kept: fit.kept.clone(),
        }
    }

    /// Whether it is of both columns, not of one given the other.
    pub fn is_joint(&self) -> bool {
        self.grid.kind == Normalisation::Joint
    }

    /// What is wrong with the contents: a file with a valid checksum may still be made up.
    pub fn fault(&self) -> Option<&'static str> {
        let is_scale =
            |s: &ColumnScale| s.centre.is_finite() && s.scale.is_finite() && s.scale > 0.0;
        if !self.grid.is_consistent() || !self.scales.iter().all(is_scale) {
            return Some("its cells and counts do not fit together");
        }
        self.kept.fault(&self.grid)
    }

    fn drawn(&self) -> Result<Fit, DensityError> {
        let functions = self.kept.functions(&self.grid);
        let components = self.kept.components(&self.grid, &functions)?;
        let (grid, kept) = (self.grid.clone(), self.kept.clone());
        let of = (&functions, components.as_slice());
        Fit::drawn(grid, self.scales, kept, of, Watcher(&Silent))
    }
}

impl Estimate2d {
    /// What it is made from again.
    pub(in super::super) fn kept(&self) -> KeptPlane {
        KeptPlane::of(&self.fit)
    }

    /// Draws again.
    pub(in super::super) fn restored(kept: &KeptPlane) -> Result<Self, DensityError> {
        Ok(Self { fit: kept.drawn()? })
    }
}

impl ConditionalEstimate {
    /// What it is made from again.
    pub(in super::super) fn kept(&self) -> KeptPlane {
        KeptPlane::of(&self.fit)
    }

    /// Draws again.
    pub(in super::super) fn restored(kept: &KeptPlane) -> Result<Self, DensityError> {
        Ok(Self { fit: kept.drawn()? })
    }
}
