//! Where an increasing function crosses zero.

/// Values of the function at most: more than bisection needs from any bracket of doubles.
const MOST: usize = 300;

/// The upper end of a narrow bracket of the place at which an increasing function crosses zero.
///
/// # Arguments
/// * `ends` - below zero at the first, not below at the second
/// * `width` - how wide the bracket may be around a place
/// * `value` - the function; it may be flat, or jump
///
/// # Numerics
/// The parabola through three values as a function of the value, where it is sure to be monotone,
/// else the middle: some ten values for a smooth function, and no more than twice those of
/// bisection for any. Steps end half a width inside of the bracket, so that it closes from both
/// sides.
///
/// # Source
/// Chandrupatla, A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear
/// function, Advances in Engineering Software 28 (1997).
pub(crate) fn crossing(
    (low, high): (f64, f64),
    width: impl Fn(f64) -> f64,
    value: impl Fn(f64) -> f64,
) -> f64 {
    // The last place, the other end of the bracket, and the end that was left.
    let (mut a, mut b) = ((high, value(high)), (low, value(low)));
    let mut part = 0.5;
    for _ in 0..MOST {
        let x = a.0 + part * (b.0 - a.0);
        let at = (x, value(x));
        let c = match (at.1 >= 0.0) == (a.1 >= 0.0) {
            true => a,
            false => std::mem::replace(&mut b, a),
        };
        a = at;
        let best = if a.1.abs() < b.1.abs() { a.0 } else { b.0 };
        let least = 0.5 * width(best) / (b.0 - a.0).abs();
        if least >= 0.5 || a.1 == b.1 {
            break;
        }
        let place = (a.0 - b.0) / (c.0 - b.0);
        let share = (a.1 - b.1) / (c.1 - b.1);
        let is_monotone = share * share < place && (1.0 - share) * (1.0 - share) < 1.0 - place;
        part = match is_monotone {
            true => {
                let first = a.1 / (b.1 - a.1) * (c.1 / (b.1 - c.1));
                let second = (c.0 - a.0) / (b.0 - a.0) * (a.1 / (c.1 - a.1)) * (b.1 / (c.1 - b.1));
                first + second
            }
            false => 0.5,
        };
        part = part.clamp(least, 1.0 - least);
    }
    a.0.max(b.0)
}

#[cfg(test)]
mod tests {
    use super::crossing;
    use std::cell::Cell;

    #[test]
    fn crossings_are_found_in_few_steps() {
        let width = |x: f64| 1e-10 * x.abs();
        let steps = Cell::new(0);
        let found = |ends: (f64, f64), value: &dyn Fn(f64) -> f64| {
            steps.set(0);
            crossing(ends, width, |x| {
                steps.set(steps.get() + 1);
                value(x)
            })
        };
        type Case<'a> = (&'a dyn Fn(f64) -> f64, f64, (f64, f64));
        let smooth: [Case<'_>; 3] = [
            (&|x| x * x * x - 2.0, 2f64.cbrt(), (0.0, 10.0)),
            (&|x| x.exp() - 1e6, 1e6_f64.ln(), (0.0, 40.0)),
            (&|x| x.tanh() - 0.5, 0.5f64.atanh(), (-30.0, 30.0)),
        ];
        for (value, want, ends) in smooth {
            let found = found(ends, value);
            // The width of the bracket.
            assert!((found - want).abs() <= 1e-10 * want, "{found} {want}");
            // Bisection takes some 37.
            assert!(steps.get() <= 20, "{want}: {} steps", steps.get());
        }
        // A jump, and a function that is flat nearly everywhere.
        let jump = found((0.0, 3.0), &|x| if x < 1.0 { -0.3 } else { 0.7 });
        assert!((1.0..1.0 + 2e-10).contains(&jump), "{jump}");
        assert!(steps.get() <= 60, "{}", steps.get());
        let step = |x: f64| 1.0 / (1.0 + (-1e6 * (x - 2.0)).exp()) - 1e-3;
        let near = found((0.0, 1e3), &step);
        // The slope there is a thousand, and the bracket 2e-10 wide.
        assert!(step(near).abs() < 1e-6, "{near}");
        assert!(steps.get() <= 80, "{}", steps.get());
    }
}
