//! Places that functions of a shape go through.

use super::places::shortest_step;

/// Part of the shorter step beside a place of the grid that a pin is nearer than to take its place:
/// slopes over much shorter steps are rounding.
const BESIDE: f64 = 0.125;

/// A place where the function is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pin {
    pub place: f64,
    /// Its value where that is known exactly.
    pub exact: Option<f64>,
    /// What is known of it, as a standard deviation; not used where it is exact.
    pub sd: f64,
}

/// The places that functions go through.
#[derive(Debug, Clone)]
pub(super) struct Knots {
    pub at: Vec<usize>,
    /// Which of these are exact.
    pub exact: Vec<usize>,
    /// One over the variance of each.
    pub weights: Vec<f64>,
    /// Ends of the slopes of functions that are monotone besides.
    pub slopes: (f64, f64),
}

impl Knots {
    /// # Arguments
    /// * `at` - where the pins stand among the places
    /// * `slopes` - between which all slopes lie
    pub fn new(pins: &[Pin], at: impl Iterator<Item = usize>, slopes: (f64, f64)) -> Self {
        let exact = pins
            .iter()
            .enumerate()
            .filter(|(_, pin)| pin.exact.is_some());
        let weight = |pin: &Pin| match pin.exact {
            Some(_) => 1.0,
            None => 1.0 / (pin.sd * pin.sd),
        };
        Self {
            at: at.collect(),
            exact: exact.map(|(i, _)| i).collect(),
            weights: pins.iter().map(weight).collect(),
            slopes,
        }
    }
}

/// Places of a grid with those of the pins, and which of all these are pins.
///
/// # Arguments
/// * `observed` - the ends of the rows, which stay as those of the grid do
pub(super) fn joined(
    mut grid: Vec<f64>,
    pins: &[Pin],
    observed: (f64, f64),
) -> (Vec<f64>, Vec<usize>) {
    if pins.is_empty() {
        return (grid, Vec::new());
    }
    let is_free = |i: usize| {
        let place = grid[i];
        let least = shortest_step(place, observed);
        let inner = i.checked_sub(1).zip(grid.get(i + 1));
        let room = match inner {
            Some((before, next)) if place != observed.0 && place != observed.1 => {
                BESIDE * (next - place).min(place - grid[before])
            }
            _ => least,
        };
        let after = pins.partition_point(|pin| pin.place < place);
        let mut beside = pins.iter().skip(after.saturating_sub(1)).take(2);
        beside.all(|pin| (pin.place - place).abs() > room.max(least))
    };
    let free: Vec<bool> = (0..grid.len()).map(is_free).collect();
    let mut free = free.into_iter();
    grid.retain(|_| free.next().unwrap_or(true));
    grid.extend(pins.iter().map(|pin| pin.place));
    grid.sort_by(f64::total_cmp);
    let at = |pin: &Pin| grid.partition_point(|place| *place < pin.place);
    let pinned = pins.iter().map(at).collect();
    (grid, pinned)
}

/// Moves values so that they take new ones at some places, and by as much as a line between these
/// elsewhere.
pub(super) fn lead_through(values: &mut [f64], places: &[f64], at: &[usize], new: &[f64]) {
    let moved: Vec<f64> = at.iter().zip(new).map(|(&i, v)| v - values[i]).collect();
    if moved.iter().all(|by| *by == 0.0) {
        return;
    }
    for (i, value) in values.iter_mut().enumerate() {
        let after = at.partition_point(|&k| k < i);
        let by = match (after.checked_sub(1), at.get(after)) {
            (_, Some(&k)) if k == i => {
                *value = new[after];
                continue;
            }
            (None, Some(_)) => moved[after],
            (Some(before), None) => moved[before],
            (Some(before), Some(&k)) => {
                let from = places[at[before]];
                let share = (places[i] - from) / (places[k] - from);
                moved[before] + share * (moved[after] - moved[before])
            }
            (None, None) => 0.0,
        };
        *value += by;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_take_the_place_of_what_is_much_nearer_than_a_step() {
        let pin = |place| Pin {
            place,
            exact: Some(0.0),
            sd: 0.0,
        };
        let pins = [pin(0.0), pin(0.3), pin(0.5 + 1e-12)];
        let grid = vec![0.0, 0.25, 0.28, 0.5, 1.0];
        let (places, at) = joined(grid, &pins, (0.0, 1.0));
        assert_eq!(places, [0.0, 0.25, 0.28, 0.3, 0.5 + 1e-12, 1.0]);
        assert_eq!(at, [0, 3, 4]);
        // An end of the grid stays, and so does that of the rows.
        let (places, _) = joined(
            vec![0.0, 0.25, 0.5, 1.0],
            &[pin(0.01), pin(0.26)],
            (0.25, 1.0),
        );
        assert_eq!(places, [0.0, 0.01, 0.25, 0.26, 0.5, 1.0]);
        let (places, _) = joined(vec![0.0, 0.25, 0.5, 1.0], &[pin(0.26)], (0.0, 1.0));
        assert_eq!(places, [0.0, 0.26, 0.5, 1.0]);
    }

    #[test]
    fn values_are_moved_by_a_line_between_the_new_ones() {
        let mut values = [1.0, 1.0, 1.0, 1.0, 1.0];
        lead_through(
            &mut values,
            &[0.0, 1.0, 2.0, 4.0, 5.0],
            &[1, 3],
            &[2.0, 5.0],
        );
        assert_eq!(values, [2.0, 2.0, 3.0, 5.0, 5.0]);
    }
}
