//! The smoothest surface over cells in zones of given averages.

use crate::error::FitError;

/// Rounds before it is given up.
const MOST_ROUNDS: usize = 50_000;
/// The largest change of the last round, relative to the largest value.
const TOLERANCE: f64 = 1e-9;
const NO_ZONE: u32 = u32::MAX;

/// Cells of a grid of one or two inputs, the first one fastest, in zones.
#[derive(Debug)]
pub(super) struct Zones {
    /// Cells along the first input.
    along: usize,
    zone: Vec<u32>,
    cells: Vec<Vec<usize>>,
    averages: Vec<f64>,
}

impl Zones {
    /// Cells in no zone.
    pub fn new(counts: &[usize]) -> Self {
        Self {
            along: counts.first().copied().unwrap_or(0),
            zone: vec![NO_ZONE; counts.iter().product()],
            cells: Vec::new(),
            averages: Vec::new(),
        }
    }

    /// Adds a zone; `false` where one of its cells is in another.
    pub fn add(&mut self, cells: Vec<usize>, average: f64) -> bool {
        let zone = self.cells.len() as u32;
        let is_free = cells.iter().all(|&cell| self.zone[cell] == NO_ZONE);
        cells.iter().for_each(|&cell| self.zone[cell] = zone);
        self.cells.push(cells);
        self.averages.push(average);
        is_free
    }

    /// Whether there is no zone.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Every pair of cells of zones side by side.
    fn neighbours(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::with_capacity(2 * self.zone.len());
        let is_in = |cell: usize| self.zone.get(cell).is_some_and(|z| *z != NO_ZONE);
        for cell in (0..self.zone.len()).filter(|&cell| is_in(cell)) {
            if (cell + 1) % self.along != 0 && is_in(cell + 1) {
                pairs.push((cell, cell + 1));
            }
            if is_in(cell + self.along) {
                pairs.push((cell, cell + self.along));
            }
        }
        pairs
    }
}

/// The values of all cells that differ least from their neighbours, in the sum of squares, of which
/// none is below zero and those of every zone have its average; `NaN` in no zone.
///
/// # Errors
/// [`FitError::NotConverged`].
///
/// # Numerics
/// Projected gradients with momentum, begun anew where it leads astray: every round moves cells
/// towards the mean of their neighbours (a missing one counts as the cell itself), then to the
/// closest values that are allowed.
///
/// # Source
/// Beck and Teboulle 2009, *A fast iterative shrinkage-thresholding algorithm for linear inverse
/// problems*; O'Donoghue and Candes 2015, *Adaptive restart for accelerated gradient schemes*.
pub(super) fn smoothest(zones: &Zones) -> Result<Vec<f64>, FitError> {
    let pairs = zones.neighbours();
    let mut heights = vec![f64::NAN; zones.zone.len()];
    for (cells, average) in zones.cells.iter().zip(&zones.averages) {
        cells.iter().for_each(|&cell| heights[cell] = *average);
    }
    let mut ahead = heights.clone();
    let mut momentum = 1.0_f64;
    let mut change = 0.0;
    for _ in 0..MOST_ROUNDS {
        let mut next = ahead.clone();
        // A cell of a row has two neighbours, of a grid four; the largest eigenvalue of the
        // differences is twice that.
        let share = if zones.along == zones.zone.len() {
            0.25
        } else {
            0.125
        };
        for &(a, b) in &pairs {
            let flow = share * (ahead[b] - ahead[a]);
            next[a] += flow;
            next[b] -= flow;
        }
        for (cells, average) in zones.cells.iter().zip(&zones.averages) {
            project(&mut next, cells, *average);
        }
        let (mut largest, mut against) = (0.0_f64, 0.0);
        change = 0.0;
        for &cell in zones.cells.iter().flatten() {
            let moved = next[cell] - heights[cell];
            largest = largest.max(next[cell]);
            change = moved.abs().max(change);
            against += (ahead[cell] - next[cell]) * moved;
        }
        let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let (pace, restart) = ((momentum - 1.0) / grown, against > 0.0);
        for &cell in zones.cells.iter().flatten() {
            let by = if restart { 0.0 } else { pace };
            ahead[cell] = next[cell] + by * (next[cell] - heights[cell]);
        }
        momentum = if restart { 1.0 } else { grown };
        heights = next;
        if change <= TOLERANCE * largest {
            return Ok(heights);
        }
        change /= largest;
    }
    Err(FitError::NotConverged {
        method: "pycnophylactic interpolation",
        sweeps: MOST_ROUNDS,
        residual: change,
    })
}

/// Moves the values of some cells to the closest ones, none below zero, of a given average: all by
/// one number, and those that would fall below zero to it.
fn project(values: &mut [f64], cells: &[usize], average: f64) {
    let wanted = average * cells.len() as f64;
    let (mut sum, mut count) = (0.0, cells.len() as f64);
    let mut least = f64::INFINITY;
    for &cell in cells {
        sum += values[cell];
        least = least.min(values[cell]);
    }
    let mut shift = (wanted - sum) / count;
    if least + shift < 0.0 {
        // The largest ones share the total; how many, the sorted values tell.
        let mut sorted: Vec<f64> = cells.iter().map(|&cell| values[cell]).collect();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        (sum, count) = (0.0, 0.0);
        for value in sorted {
            let next = (wanted - sum - value) / (count + 1.0);
            if value + next <= 0.0 {
                break;
            }
            (sum, count, shift) = (sum + value, count + 1.0, next);
        }
        if count == 0.0 {
            // The total is zero.
            shift = f64::NEG_INFINITY;
        }
    }
    for &cell in cells {
        values[cell] = (values[cell] + shift).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 5, 1 and -1 become the closest values of sum 4, and of sum 0.
    #[test]
    fn projections_keep_their_total() {
        for (average, want) in [
            (4.0 / 3.0, [4.0, 0.0, 0.0]),
            (6.0, [28.0 / 3.0, 16.0 / 3.0, 10.0 / 3.0]),
            (0.0, [0.0; 3]),
        ] {
            let mut values = [5.0, 1.0, -1.0];
            project(&mut values, &[0, 1, 2], average);
            for (got, want) in values.iter().zip(want) {
                // Some roundings of numbers up to ten.
                assert!((got - want).abs() < 1e-14, "{values:?}");
            }
        }
    }

    #[test]
    fn cells_at_the_end_of_a_row_are_no_neighbours_of_the_next() {
        let mut zones = Zones::new(&[2, 2]);
        assert!(zones.add(vec![0, 1, 2], 1.0));
        assert_eq!(zones.neighbours(), [(0, 1), (0, 2)]);
        assert!(!zones.add(vec![2, 3], 1.0));
    }
}
