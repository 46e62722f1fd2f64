//! The exposure in the cells of the events.
//!
//! It is ungrouped by the same method as any count, in bands of its own where it has some: steps
//! asked for are then the cells of the events, and every draw of it adds up to its own bands.

use super::bands::{Bands, Ends};
use super::builder::{Population, Ungroup};
use super::cells::{Cells, Wanted};
use super::error::{UngroupError, Warning};
use super::estimate::Estimate;
use super::tail::Tail;
use super::weighted;
use crate::linalg::Mat;

/// Edges nearer than this part of the axis are the same.
const SAME: f64 = 1e-9;

/// Exposures: people or person-years, in the bands of the events or in others.
#[derive(Debug, Clone, Copy)]
pub struct Exposure<'a> {
    /// Exposures of the bands, in their order; streams of random numbers are those of counts.
    pub of: Population<'a>,
    /// Lower and upper edges of their own bands, which cover those of the events; none where the
    /// bands are those of the events.
    pub bands: Option<(&'a [f64], &'a [f64])>,
}

/// Draws of the exposure.
pub(super) struct Exposed {
    /// Those of the events.
    pub cells: Cells,
    /// The exposure of every cell by draws, shape `[cells, draws]`.
    pub masses: Mat<f64>,
    weights: Vec<f64>,
    pub warnings: Vec<Warning>,
    /// How the exposure falls off in its last band.
    pub tail: Option<(Tail, f64, f64)>,
}

impl Exposed {
    /// # Errors
    /// What is wrong with the exposure.
    pub fn new(
        asked: &Ungroup<'_>,
        bands: &Bands,
        exposure: &Exposure<'_>,
    ) -> Result<Self, UngroupError> {
        let Some((lower, upper)) = exposure.bands else {
            let found = estimate(asked, exposure.of)?;
            let (tail, warnings) = (found.tail(), found.warnings().to_vec());
            return Ok(Self {
                cells: found.cells,
                masses: found.masses,
                weights: found.weights,
                warnings,
                tail,
            });
        };
        let (cells, short) = Cells::new(bands, &asked.wanted)?;
        let own = |error: UngroupError| UngroupError::Exposure(Box::new(error.of_exposure()));
        let mut other = asked.clone();
        (other.lower, other.upper) = (lower, upper);
        other.wanted = Wanted::Edges(cells.edges.clone());
        other.ends = ends(asked, bands, lower, upper);
        covers(&Bands::new(lower, upper, &other.ends).map_err(own)?, bands)?;
        let found = estimate(&other, exposure.of).map_err(own)?;
        let draws = found.masses.ncols();
        let masses = Mat::from_fn(cells.len(), draws, |i, k| {
            let own = found.cells.step[i].clone();
            found.masses.col_as_slice(k)[own].iter().sum()
        });
        let mut warnings = found.warnings().to_vec();
        warnings.extend(short);
        Ok(Self {
            tail: found.tail(),
            cells,
            masses,
            weights: found.weights,
            warnings,
        })
    }

    /// Means of the cells.
    pub fn average(&self) -> Vec<f64> {
        weighted::average(&self.masses, &self.weights)
    }

    /// Draws by their weights: see [`weighted::chosen`].
    pub fn chosen(&self, count: usize) -> Vec<usize> {
        weighted::chosen(&self.weights, count)
    }
}

/// The curve of the exposure itself: no chance of single people.
fn estimate(asked: &Ungroup<'_>, of: Population<'_>) -> Result<Estimate, UngroupError> {
    let mut out = Err(UngroupError::Nothing);
    asked
        .clone()
        .expected()
        .estimate_each(&[of], |_, found| out = found)?;
    out
}

/// What is said of the ends, as far as those bands are open: they end where those of events do.
fn ends(asked: &Ungroup<'_>, bands: &Bands, lower: &[f64], upper: &[f64]) -> Ends {
    let last = bands.edges[bands.len()];
    let highest = lower.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_open = [
        lower.contains(&f64::NEG_INFINITY),
        upper.contains(&f64::INFINITY),
    ];
    let last = asked.ends.last.or((last > highest).then_some(last));
    Ends {
        first: asked.ends.first.filter(|_| is_open[0]),
        last: last.filter(|_| is_open[1]),
        tail: asked.ends.tail.filter(|_| is_open[1]),
        ..asked.ends
    }
}

/// Refuses events of whom nobody knows how many were exposed.
fn covers(exposure: &Bands, events: &Bands) -> Result<(), UngroupError> {
    let [own, needed] = [exposure, events].map(|b| (b.edges[0], b.edges[b.len()]));
    let same = SAME * (needed.1 - needed.0);
    match own.0 <= needed.0 + same && own.1 >= needed.1 - same {
        true => Ok(()),
        false => Err(UngroupError::Uncovered {
            from: own.0,
            to: own.1,
            first: needed.0,
            last: needed.1,
        }),
    }
}
