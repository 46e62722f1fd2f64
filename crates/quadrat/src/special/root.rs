//! Where an increasing function crosses zero.

/// Steps after which the bracket is taken as it is: each third one halves it.
const STEPS: usize = 300;

/// The upper end of a bracket of the place at which an increasing function crosses zero, once the
/// bracket is narrow.
///
/// # Arguments
/// * `ends` - below zero at the first, not below at the second
/// * `is_narrow` - whether a bracket is
/// * `value` - the function; it may be flat, or jump
///
/// # Numerics
/// The secant of the bracket, with the value of an end that stays halved (the Illinois rule), and
/// every third step its middle, so that flat functions cost no more than bisection three times
/// over.
///
/// # Source
/// Dowell and Jarratt, A modified regula falsi method for computing the root of an equation, BIT 11
/// (1971).
pub(crate) fn crossing(
    ends: (f64, f64),
    is_narrow: impl Fn(f64, f64) -> bool,
    value: impl Fn(f64) -> f64,
) -> f64 {
    let (mut low, mut high) = ends;
    let (mut at_low, mut at_high) = (value(low), value(high));
    let mut moved_high = None;
    for step in 1..=STEPS {
        if is_narrow(low, high) {
            break;
        }
        let secant = low + (high - low) * (at_low / (at_low - at_high));
        let is_inside = low < secant && secant < high;
        let x = match is_inside && step % 3 != 0 {
            true => secant,
            false => 0.5 * (low + high),
        };
        let at = value(x);
        let is_high = at >= 0.0;
        if is_high {
            (high, at_high) = (x, at);
        } else {
            (low, at_low) = (x, at);
        }
        if moved_high == Some(is_high) {
            let stays = if is_high { &mut at_low } else { &mut at_high };
            *stays *= 0.5;
        }
        moved_high = Some(is_high);
    }
    high
}

#[cfg(test)]
mod tests {
    use super::crossing;
    use std::cell::Cell;

    #[test]
    fn crossings_are_found_in_few_steps() {
        let narrow = |low: f64, high: f64| high - low <= 1e-10 * high.abs();
        let steps = Cell::new(0);
        let counted = |value: fn(f64) -> f64| {
            steps.set(0);
            let steps = &steps;
            move |x: f64| {
                steps.set(steps.get() + 1);
                value(x)
            }
        };
        let smooth: [(fn(f64) -> f64, f64, (f64, f64)); 3] = [
            (|x| x * x * x - 2.0, 2f64.cbrt(), (0.0, 10.0)),
            (|x| x.exp() - 1e6, 1e6_f64.ln(), (0.0, 40.0)),
            (|x| x.tanh() - 0.5, 0.5f64.atanh(), (-30.0, 30.0)),
        ];
        for (value, want, ends) in smooth {
            let found = crossing(ends, narrow, counted(value));
            assert!((found - want).abs() <= 2e-10 * want, "{found} {want}");
            // Bisection takes some 37.
            assert!(steps.get() <= 25, "{want}: {} steps", steps.get());
        }
        // A jump, and a function that is flat nearly everywhere.
        let jump = crossing(
            (0.0, 3.0),
            narrow,
            counted(|x| if x < 1.0 { -0.3 } else { 0.7 }),
        );
        assert!((1.0..1.0 + 2e-10).contains(&jump), "{jump}");
        let step = |x: f64| 1.0 / (1.0 + (-1e6 * (x - 2.0)).exp()) - 1e-3;
        let found = crossing((0.0, 1e3), narrow, counted(step));
        assert!((step(found)).abs() < 1e-5, "{found}");
        assert!(steps.get() <= 120, "{}", steps.get());
    }
}
