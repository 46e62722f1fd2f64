//! What functions of a shape are between the places that they are drawn at.
//!
//! Lines between places miss a curve by an eighth of its second derivative times the square of a
//! step, which is more than is left open where rows know the function well. Quadratic splines that
//! keep the shape meet every parabola.
//!
//! # Source
//! Schumaker 1983, *On shape preserving quadratic spline interpolation*; Fritsch and Carlson 1980
//! for the slopes of monotone functions.

use super::kinds::Shape;

/// What a function keeps between places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kept {
    /// Whether it is convex or concave.
    is_bent: bool,
    /// Ends of its slopes.
    slopes: (f64, f64),
    /// Ends of its values.
    bounds: (f64, f64),
}

impl Kept {
    /// What functions of some shapes keep.
    pub fn of(shapes: &[Shape]) -> Self {
        let mut kept = Self {
            is_bent: false,
            slopes: (f64::NEG_INFINITY, f64::INFINITY),
            bounds: (f64::NEG_INFINITY, f64::INFINITY),
        };
        for shape in shapes {
            match *shape {
                Shape::Rising => kept.slopes.0 = 0.0,
                Shape::Falling => kept.slopes.1 = 0.0,
                Shape::Convex | Shape::Concave => kept.is_bent = true,
                Shape::Between { lower, upper } => kept.bounds = (lower, upper),
            }
        }
        kept
    }

    /// The slopes at places, those of parabolas through three neighbours where the shape allows.
    pub fn slopes_at(&self, values: &[f64], places: &[f64]) -> Vec<f64> {
        let step = |i: usize| places[i + 1] - places[i];
        let chord = |i: usize| (values[i + 1] - values[i]) / step(i);
        let Some(last) = values.len().checked_sub(2) else {
            return vec![0.0; values.len()];
        };
        let inner = |i: usize| {
            let (before, after) = (chord(i - 1), chord(i));
            let share = step(i) / (step(i - 1) + step(i));
            let slope = share * before + (1.0 - share) * after;
            // It lies between those of the chords, which is all that a bend asks for.
            if self.is_bent {
                return slope;
            }
            // Twice the flatter chord is the most with which no step turns on its way.
            let most = 2.0 * before.abs().min(after.abs());
            let turns = (before > 0.0) != (after > 0.0);
            let reach = (step(i - 1) + step(i)) * before.abs().max(after.abs());
            let room = (values[i] - self.bounds.0).min(self.bounds.1 - values[i]);
            match turns && room <= reach {
                true => 0.0,
                false => slope.clamp(-most, most),
            }
        };
        let mut slopes = vec![0.0; values.len()];
        for (i, slope) in slopes.iter_mut().enumerate().take(last + 1).skip(1) {
            *slope = inner(i);
        }
        // That of the parabola beside.
        let outer = |chord: f64, next: Option<f64>| {
            let slope = 2.0 * chord - next.unwrap_or(chord);
            slope.max(self.slopes.0).min(self.slopes.1)
        };
        let next = |i: usize| (last > 0).then(|| slopes[i]);
        let ends = (outer(chord(0), next(1)), outer(chord(last), next(last)));
        (slopes[0], slopes[last + 1]) = ends;
        slopes
    }

    /// The function from one place to the next.
    ///
    /// # Arguments
    /// * `ends` - its values there
    /// * `slopes` - those there
    pub fn step(&self, length: f64, ends: (f64, f64), slopes: (f64, f64)) -> Step {
        let chord = (ends.1 - ends.0) / length;
        let (before, after) = (slopes.0 - chord, slopes.1 - chord);
        let is_bend = self.is_bent || before.min(after) < 0.0 && before.max(after) > 0.0;
        let (knot, middle) = if before == after {
            (0.5, 2.0 * chord - 0.5 * (slopes.0 + slopes.1))
        } else if is_bend {
            // The slope goes over that of the chord: where rounding puts both on one side of it
            // the step is a line.
            ((after / (after - before)).clamp(0.0, 1.0), chord)
        } else {
            (0.5, 2.0 * chord - 0.5 * (slopes.0 + slopes.1))
        };
        let all = [slopes.0, chord, slopes.1];
        let is_monotone = all.iter().all(|s| *s >= 0.0) || all.iter().all(|s| *s <= 0.0);
        let within = match is_monotone {
            true => (ends.0.min(ends.1), ends.0.max(ends.1)),
            false => self.bounds,
        };
        Step {
            length,
            ends,
            slopes,
            knot: knot * length,
            middle,
            within,
        }
    }
}

/// A function from one place to the next: two parabolas that meet smoothly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    length: f64,
    ends: (f64, f64),
    slopes: (f64, f64),
    /// Where the parabolas meet, from the first place.
    knot: f64,
    /// The slope there.
    middle: f64,
    /// What rounding must not leave.
    within: (f64, f64),
}

impl Step {
    /// Its value so far from the first place.
    pub fn at(&self, along: f64) -> f64 {
        if along <= 0.0 {
            return self.ends.0;
        }
        let left = self.length - along;
        if left <= 0.0 {
            return self.ends.1;
        }
        // From the nearer end, where it is what it was drawn to be.
        let value = if along <= self.knot {
            let bend = 0.5 * (self.middle - self.slopes.0) * (along / self.knot);
            self.ends.0 + along * (self.slopes.0 + bend)
        } else {
            let bend = 0.5 * (self.middle - self.slopes.1) * (left / (self.length - self.knot));
            self.ends.1 - left * (self.slopes.1 + bend)
        };
        value.max(self.within.0).min(self.within.1)
    }

    /// Its average from one to another distance from the first place.
    pub fn mean(&self, from: f64, to: f64) -> f64 {
        let value = if from <= 0.0 && to >= self.length {
            let (first, second) = (self.knot, self.length - self.knot);
            let rise = first * (2.0 * self.slopes.0 + self.middle) / 6.0;
            let fall = second * (2.0 * self.slopes.1 + self.middle) / 6.0;
            let share = first / self.length;
            share * (self.ends.0 + rise) + (1.0 - share) * (self.ends.1 - fall)
        } else if from < self.knot && self.knot < to {
            let share = (self.knot - from) / (to - from);
            share * self.simpson(from, self.knot) + (1.0 - share) * self.simpson(self.knot, to)
        } else {
            self.simpson(from, to)
        };
        value.max(self.within.0).min(self.within.1)
    }

    /// The average of one of the parabolas.
    fn simpson(&self, from: f64, to: f64) -> f64 {
        (self.at(from) + 4.0 * self.at(0.5 * (from + to)) + self.at(to)) / 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: [f64; 6] = [0.0, 1.0, 1.5, 3.0, 3.25, 5.0];

    /// Places and values of a function on a fine grid, without the cut at bounds that is for
    /// rounding.
    fn finely(kept: Kept, values: &[f64; 6]) -> Vec<(f64, f64)> {
        let slopes = kept.slopes_at(values, &PLACES);
        let kept = Kept {
            bounds: Kept::of(&[]).bounds,
            ..kept
        };
        let one = |i: usize| {
            let length = PLACES[i + 1] - PLACES[i];
            let ends = (values[i], values[i + 1]);
            let step = kept.step(length, ends, (slopes[i], slopes[i + 1]));
            let along = (0..20).map(move |k| length * f64::from(k) / 20.0);
            along.map(move |along| (PLACES[i] + along, step.at(along)))
        };
        (0..5).flat_map(one).chain([(5.0, values[5])]).collect()
    }

    #[test]
    fn parabolas_are_met_to_the_last_digits() {
        let f = |x: f64| (x - 2.0) * (x - 2.0) - 3.0;
        for kept in [Kept::of(&[Shape::Convex]), Kept::of(&[])] {
            for (x, value) in finely(kept, &PLACES.map(f)) {
                // Sums of some terms of size nine. Without a bend slopes are at most twice those of
                // chords, which is less than a parabola has beside its vertex.
                let is_far = kept.is_bent || !(1.0..3.25).contains(&x);
                assert!(!is_far || (value - f(x)).abs() < 1e-14, "{x} {value}");
            }
        }
        let rising = Kept::of(&[Shape::Rising, Shape::Convex]);
        for (x, value) in finely(rising, &PLACES.map(|x| x * x)) {
            assert!((value - x * x).abs() < 1e-14, "{x} {value}");
        }
    }

    #[test]
    fn what_rises_rises_between_places_and_within_bounds() {
        let bounds = Shape::Between {
            lower: 0.0,
            upper: 4.0,
        };
        let rising = Kept::of(&[Shape::Rising, bounds]);
        let steps = [0.0, 0.0, 3.0, 3.0, 3.5, 4.0];
        let fine = finely(rising, &steps);
        assert!(fine.windows(2).all(|v| v[0].1 <= v[1].1), "{fine:?}");
        let within = Kept::of(&[bounds]);
        for values in [
            [0.0, 4.0, 0.1, 3.9, 0.0, 0.0],
            [4.0, 1.0, 4.0, 3.9, 3.99, 0.0],
        ] {
            let fine = finely(within, &values);
            // Rounding of a few terms of size four.
            let is_within = |v: f64| (-1e-14..=4.0 + 1e-14).contains(&v);
            assert!(fine.iter().all(|v| is_within(v.1)), "{fine:?}");
        }
    }

    #[test]
    fn what_is_convex_is_convex_between_places() {
        // Lines and bends, a step whose chords have one slope, and a sharp bend.
        for values in [
            [3.0, 1.0, 0.0, 0.0, 0.0, 7.0],
            [2.0, 1.0, 0.5, -1.0, -1.25, -3.0],
            [0.0, 0.0, 0.0, 9.0, 10.5, 21.0],
        ] {
            let fine = finely(Kept::of(&[Shape::Convex]), &values);
            for v in fine.windows(3) {
                let slope = |a: (f64, f64), b: (f64, f64)| (b.1 - a.1) / (b.0 - a.0);
                // Some roundings of values of size twenty over steps of a hundredth.
                assert!(slope(v[0], v[1]) <= slope(v[1], v[2]) + 1e-11, "{v:?}");
            }
        }
    }

    #[test]
    fn averages_are_those_of_both_parabolas() {
        let kept = Kept::of(&[]);
        for slopes in [(0.0, 2.0), (2.0, 0.5), (-1.0, 3.0), (1.0, 1.0)] {
            let step = kept.step(2.0, (1.0, 3.0), slopes);
            for (from, to) in [(0.0, 2.0), (0.3, 1.9), (0.0, 0.2), (1.5, 2.0)] {
                let points = (0..4000).map(|k| from + (to - from) * (f64::from(k) + 0.5) / 4000.0);
                let mean = points.map(|x| step.at(x)).sum::<f64>() / 4000.0;
                // The midpoint rule: second derivatives of some ten times the square of a step.
                let found = step.mean(from, to);
                assert!(
                    (found - mean).abs() < 1e-5,
                    "{slopes:?} {from} {to}: {found} {mean}"
                );
            }
        }
    }
}
