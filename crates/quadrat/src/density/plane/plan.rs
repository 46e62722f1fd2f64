//! What estimates of two columns are made from, and how.

use crate::progress::{Silent, Watcher};
use crate::support::Polygon;

use super::super::basis::Kernel;
use super::super::error::DensityError;
use super::super::kinds::{Correction, DRAWS, Integration, LEVEL, check_axis};
use super::grid::Normalisation;

/// Cells of each axis unless another number is asked for: of both columns, and of the given one and
/// the other.
const CELLS: [[usize; 2]; 2] = [[60, 60], [30, 100]];
/// Most cells of each axis.
const MOST: [[usize; 2]; 2] = [[300, 300], [300, 1000]];
/// Most cells.
const MOST_CELLS: usize = 90_000;
const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// What is known of every pair of values.
#[derive(Debug, Clone, Copy)]
pub(super) enum KnownOfPairs<'a> {
    /// Both values.
    Pairs([&'a [f64]; 2]),
    /// That it lies in a box: lower and upper ends along the first axis, then along the second.
    Boxes([&'a [f64]; 4]),
    /// That it lies in an area.
    Areas(&'a [Polygon]),
}

/// Rows and settings.
#[derive(Debug, Clone)]
pub(super) struct RowsAndSettings<'a> {
    pub kind: Normalisation,
    pub rows: KnownOfPairs<'a>,
    /// Inside of which alone values can be.
    pub polygons: Option<&'a [Polygon]>,
    pub weights: Option<&'a [f64]>,
    pub bounds: [(f64, f64); 2],
    pub range: [Option<(f64, f64)>; 2],
    pub cells: [usize; 2],
    /// Whether the numbers of cells are those of the user.
    pub is_asked: bool,
    pub level: f64,
    pub log: [bool; 2],
    pub kernel: Option<Kernel>,
    pub correction: Correction,
    pub integration: Integration,
    pub draws: usize,
    pub seed: u64,
    pub watcher: Watcher<'a>,
}

impl<'a> RowsAndSettings<'a> {
    pub fn new(kind: Normalisation, x: &'a [f64], y: &'a [f64]) -> Self {
        Self {
            kind,
            rows: KnownOfPairs::Pairs([x, y]),
            polygons: None,
            weights: None,
            bounds: [OPEN; 2],
            range: [None; 2],
            cells: CELLS[kind as usize],
            is_asked: false,
            level: LEVEL,
            log: [false; 2],
            kernel: None,
            correction: Correction::default(),
            integration: Integration::default(),
            draws: DRAWS,
            seed: 1,
            watcher: Watcher(&Silent),
        }
    }

    pub fn check(&self) -> Result<(), DensityError> {
        let setting = |what, value, requirement| {
            Err(DensityError::Setting {
                what,
                value,
                requirement,
            })
        };
        let most = MOST[self.kind as usize];
        for (cells, most) in self.cells.into_iter().zip(most) {
            if !(5..=most).contains(&cells) {
                let requirement = if most == 300 {
                    "from 5 to 300"
                } else {
                    "from 5 to 1000"
                };
                return setting("the number of cells of an axis", cells as f64, requirement);
            }
        }
        let cells = self.cells[0] * self.cells[1];
        if cells > MOST_CELLS {
            return setting("the number of cells", cells as f64, "at most 90000");
        }
        if !(100..=20_000).contains(&self.draws) {
            return setting(
                "the number of draws",
                self.draws as f64,
                "from 100 to 20000",
            );
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return setting("the level", self.level, "between 0 and 1");
        }
        for axis in [0, 1] {
            check_axis(self.bounds[axis], self.range[axis], self.log[axis])
                .map_err(|error| error.of_column(axis))?;
        }
        Ok(())
    }
}
