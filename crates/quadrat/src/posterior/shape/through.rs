//! The nearest function of a shape among those that go through some points.

use std::ops::Range;

use super::project::{convex, isotonic};

/// Rounds of projections in turn, at most; where slopes change by next to nothing they end before.
const ROUNDS: usize = 50;
/// Next to nothing, as a share of the steepest slope: they only choose the slopes at kept places.
const SETTLED: f64 = 1e-5;
/// Halvings of the range of a shift: as many as a number has digits.
const HALVINGS: usize = 60;

/// The nearest values that never fall, in the sum of weighted squares, among those that keep the
/// values at some places.
///
/// Between two such places it is the nearest that never falls, cut off at their values.
///
/// # Arguments
/// * `fixed` - places whose values are kept, ascending; these values do not fall
///
/// # Source
/// Isotonic regression within bounds; Barlow, Bartholomew, Bremner and Brunk 1972, section 2.1.
pub(super) fn isotonic_through(values: &mut [f64], weights: &[f64], fixed: &[usize]) {
    for part in parts(values.len(), fixed) {
        let inner = part.inner();
        let low = part.first.map_or(f64::NEG_INFINITY, |i| values[i]);
        let high = part.last.map_or(f64::INFINITY, |i| values[i]);
        let own = &mut values[inner.clone()];
        isotonic(own, &weights[inner]);
        own.iter_mut().for_each(|v| *v = v.max(low).min(high));
    }
}

/// The nearest convex function in the integral of squared slopes, among those that keep the values
/// at some places; without any that of the same mean ([`convex`]).
///
/// Slopes are projected in turn on those that never fall and on those that lead from each kept
/// value to the next. Of what this nears the slopes at the kept places are taken, and between them
/// the nearest slopes that never fall, lie between these and lead to the next value: so that both
/// hold exactly, however many rounds there were.
///
/// # Arguments
/// * `fixed` - places whose values are kept, ascending; these values are convex
/// * `bounds` - of all slopes
///
/// # Source
/// Boyle and Dykstra 1986, *A method for finding projections onto the intersection of convex sets*.
pub(super) fn convex_through(
    values: &mut [f64],
    (places, weights): (&[f64], &[f64]),
    fixed: &[usize],
    bounds: (f64, f64),
) {
    if fixed.is_empty() {
        convex(values, places, weights);
        return;
    }
    let steps: Vec<f64> = places.windows(2).map(|x| x[1] - x[0]).collect();
    let slope = |(v, step): (&[f64], &f64)| (v[1] - v[0]) / step;
    let slopes: Vec<f64> = values.windows(2).zip(&steps).map(slope).collect();
    let parts = parts(values.len(), fixed);
    let chords: Vec<Option<f64>> = parts
        .iter()
        .map(|part| part.chord(values, places))
        .collect();
    let near = match fixed.len() {
        1 => risen(&slopes, &steps, bounds),
        _ => in_turn(&slopes, &steps, (&parts, &chords), bounds),
    };
    // The slope at a kept place lies between those of the chords on both sides.
    let at = |i: usize, before: Option<f64>, after: Option<f64>| {
        let sides = [i.checked_sub(1), (i < steps.len()).then_some(i)];
        let (sum, count) = sides
            .into_iter()
            .flatten()
            .fold((0.0, 0.0), |(sum, n), step| (sum + near[step], n + 1.0));
        let low = before.unwrap_or(f64::NEG_INFINITY);
        let high = after.unwrap_or(f64::INFINITY);
        (sum / f64::max(count, 1.0)).max(low).min(high)
    };
    let kept: Vec<f64> = (0..fixed.len())
        .map(|k| at(fixed[k], chords[k], chords[k + 1]))
        .collect();
    for (k, part) in parts.iter().enumerate() {
        let low = k.checked_sub(1).map_or(bounds.0, |k| kept[k]);
        let high = kept.get(k).copied().unwrap_or(bounds.1);
        let range = part.steps(values.len());
        let own = &steps[range.clone()];
        let mut risen = risen(
            &slopes[range.clone()],
            own,
            (f64::NEG_INFINITY, f64::INFINITY),
        );
        if let Some(chord) = chords[k] {
            lead_to(&mut risen, own, chord, (low, high));
        }
        risen.iter_mut().for_each(|s| *s = s.max(low).min(high));
        match part.first {
            Some(start) => {
                for (i, (slope, step)) in risen.iter().zip(own).enumerate() {
                    let at = start + i + 1;
                    if Some(at) != part.last {
                        values[at] = values[at - 1] + slope * step;
                    }
                }
            }
            None => {
                for (i, (slope, step)) in risen.iter().zip(own).enumerate().rev() {
                    values[i] = values[i + 1] - slope * step;
                }
            }
        }
    }
}

/// Slopes that never fall and lead from each kept value to the next, nearly the nearest.
fn in_turn(
    slopes: &[f64],
    steps: &[f64],
    (parts, chords): (&[Part], &[Option<f64>]),
    bounds: (f64, f64),
) -> Vec<f64> {
    let steepest = slopes.iter().fold(0.0_f64, |most, s| most.max(s.abs()));
    let mut found = slopes.to_vec();
    let mut left = vec![0.0; slopes.len()];
    for _ in 0..ROUNDS {
        let sum: Vec<f64> = found.iter().zip(&left).map(|(x, p)| x + p).collect();
        let rising = risen(&sum, steps, bounds);
        left = sum.iter().zip(&rising).map(|(x, y)| x - y).collect();
        let mut next = rising;
        for (part, chord) in parts.iter().zip(chords) {
            let Some(chord) = chord else { continue };
            let range = part.steps(slopes.len() + 1);
            let miss = chord - mean(&next[range.clone()], &steps[range.clone()]);
            next[range].iter_mut().for_each(|s| *s += miss);
        }
        let change = found.iter().zip(&next).map(|(a, b)| (a - b).abs());
        let change = change.fold(0.0_f64, f64::max);
        found = next;
        if change <= SETTLED * steepest {
            break;
        }
    }
    found
}

/// The nearest slopes that never fall, within bounds.
fn risen(slopes: &[f64], steps: &[f64], (low, high): (f64, f64)) -> Vec<f64> {
    let mut own = slopes.to_vec();
    isotonic(&mut own, steps);
    own.iter_mut().for_each(|s| *s = s.max(low).min(high));
    own
}

/// Shifts slopes, before they are cut off at bounds, until their mean is that of a chord.
fn lead_to(slopes: &mut [f64], steps: &[f64], chord: f64, (low, high): (f64, f64)) {
    if let [slope] = slopes {
        *slope = chord;
        return;
    }
    let reach = |end: f64| {
        let away = slopes.iter().map(|s| (chord - s).abs());
        end * away.fold(0.0_f64, f64::max)
    };
    let length: f64 = steps.iter().sum();
    let cut = |shift: f64| -> f64 {
        let own = slopes.iter().map(|s| (s + shift).max(low).min(high));
        own.zip(steps).map(|(s, step)| s * step).sum()
    };
    let (mut least, mut most) = (reach(-1.0), reach(1.0));
    for _ in 0..HALVINGS {
        let middle = 0.5 * (least + most);
        match cut(middle) < chord * length {
            true => least = middle,
            false => most = middle,
        }
    }
    let shift = 0.5 * (least + most);
    slopes.iter_mut().for_each(|s| *s += shift);
}

fn mean(values: &[f64], weights: &[f64]) -> f64 {
    let sum: f64 = values.iter().zip(weights).map(|(v, w)| v * w).sum();
    sum / weights.iter().sum::<f64>()
}

/// What lies between two kept places, or beyond the outermost.
struct Part {
    first: Option<usize>,
    last: Option<usize>,
    places: Range<usize>,
}

impl Part {
    /// The places that are not kept.
    fn inner(&self) -> Range<usize> {
        self.places.clone()
    }

    /// The steps from the first to the last place, of so many places in all.
    fn steps(&self, places: usize) -> Range<usize> {
        self.first.unwrap_or(0)..self.last.unwrap_or(places - 1)
    }

    /// The slope from the first kept value to the last.
    fn chord(&self, values: &[f64], places: &[f64]) -> Option<f64> {
        let (first, last) = (self.first?, self.last?);
        Some((values[last] - values[first]) / (places[last] - places[first]))
    }
}

/// One part more than there are kept places.
fn parts(places: usize, fixed: &[usize]) -> Vec<Part> {
    (0..=fixed.len())
        .map(|k| {
            let first = k.checked_sub(1).map(|k| fixed[k]);
            let last = fixed.get(k).copied();
            let places = first.map_or(0, |i| i + 1)..last.unwrap_or(places);
            Part {
                first,
                last,
                places,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    const PLACES: [f64; 8] = [0.0, 1.0, 1.5, 3.0, 4.0, 4.5, 6.0, 7.0];
    const WIGGLY: [f64; 8] = [3.0, 0.5, 2.0, 1.0, 4.0, 1.0, 5.0, 2.0];

    /// Of a projection on a convex set no other member makes an acute angle with what is left.
    #[test]
    fn no_other_rising_values_through_the_points_are_nearer() {
        let weights = [0.5, 1.0, 2.0, 1.0, 0.5, 1.0, 1.0, 3.0];
        let mut found = WIGGLY;
        isotonic_through(&mut found, &weights, &[1, 6]);
        assert_eq!((found[1], found[6]), (0.5, 5.0));
        assert!(found.windows(2).all(|v| v[0] <= v[1]), "{found:?}");
        let along = |other: &[f64; 8]| -> f64 {
            let terms = WIGGLY.iter().zip(&found).zip(other.iter().zip(&weights));
            terms.map(|((y, p), (z, w))| w * (y - p) * (z - p)).sum()
        };
        let others = [
            [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 5.0, 5.0],
            [-9.0, 0.5, 5.0, 5.0, 5.0, 5.0, 5.0, 9.0],
            [0.0, 0.5, 1.0, 2.0, 2.0, 4.0, 5.0, 6.0],
            [0.5, 0.5, 2.0, 2.0, 2.5, 2.5, 5.0, 5.0],
        ];
        // Eight terms below fifty.
        assert!(others.iter().all(|other| along(other) < 1e-12));
    }

    #[test]
    fn a_convex_function_through_its_own_points_stays() {
        let bowl = PLACES.map(|x| (x - 2.5) * (x - 2.5));
        for fixed in [
            &[0][..],
            &[3],
            &[0, 7],
            &[1, 3, 4],
            &[0, 1, 2, 3, 4, 5, 6, 7],
        ] {
            let mut found = bowl;
            convex_through(&mut found, (&PLACES, &[1.0; 8]), fixed, OPEN);
            // Sums of eight terms of size twenty.
            let is_near = found.iter().zip(bowl).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(is_near, "{fixed:?} {found:?}");
        }
    }

    #[test]
    fn any_function_becomes_a_convex_one_through_the_points() {
        // Values at the kept places are those of a bowl.
        for fixed in [&[2][..], &[1, 4], &[0, 3, 7], &[2, 3, 4, 6]] {
            let mut values = WIGGLY;
            for &i in fixed {
                values[i] = (PLACES[i] - 2.5) * (PLACES[i] - 2.5);
            }
            let before = values;
            convex_through(&mut values, (&PLACES, &[1.0; 8]), fixed, OPEN);
            assert!(fixed.iter().all(|&i| values[i] == before[i]), "{values:?}");
            let slopes: Vec<f64> = (0..7)
                .map(|i| (values[i + 1] - values[i]) / (PLACES[i + 1] - PLACES[i]))
                .collect();
            // Halvings end at 2^-60 of slopes of some ten.
            assert!(
                slopes.windows(2).all(|s| s[0] <= s[1] + 1e-12),
                "{fixed:?} {slopes:?}"
            );
        }
    }

    /// Against all convex functions that bend at the places: what is left makes no acute angle with
    /// any of them, in the integral of products of slopes.
    #[test]
    fn no_other_convex_function_through_two_points_is_nearer() {
        let steps: Vec<f64> = PLACES.windows(2).map(|x| x[1] - x[0]).collect();
        let slopes =
            |v: &[f64; 8]| -> Vec<f64> { (0..7).map(|i| (v[i + 1] - v[i]) / steps[i]).collect() };
        let mut values = WIGGLY;
        (values[1], values[6]) = (2.0, 1.0);
        let before = slopes(&values);
        convex_through(&mut values, (&PLACES, &[1.0; 8]), &[1, 6], OPEN);
        let found = slopes(&values);
        let chord = |x: f64| 2.0 - (x - 1.0) / 5.0;
        for bend in 1..7 {
            for size in [0.0, 0.1, 2.0] {
                // A line with a bend, brought back to both points.
                let kink = |x: f64| size * (x - PLACES[bend]).max(0.0);
                let line = |x: f64| kink(1.0) + (kink(6.0) - kink(1.0)) * (x - 1.0) / 5.0;
                let other = slopes(&PLACES.map(|x| chord(x) + kink(x) - line(x)));
                let terms =
                    (0..7).map(|i| steps[i] * (before[i] - found[i]) * (other[i] - found[i]));
                // The rounds end at 1e-5 of the steepest slope, 6, times slopes of some ten.
                assert!(terms.sum::<f64>() < 1e-2, "{bend} {size}");
            }
        }
    }
}
