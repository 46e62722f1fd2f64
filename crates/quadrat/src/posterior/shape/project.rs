//! The nearest function of a shape, of one that is linear between places.

/// The nearest values that never fall, in the sum of weighted squares.
///
/// Neighbours that fall are averaged until none do.
///
/// # Source
/// Pool adjacent violators; Ayer, Brunk, Ewing, Reid and Silverman 1955.
pub(super) fn isotonic(values: &mut [f64], weights: &[f64]) {
    // Mean, weight and length of every block, which rise.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(values.len());
    for (&value, &weight) in values.iter().zip(weights) {
        let mut own = (value, weight, 1);
        while let Some(&(mean, weight, length)) = blocks.last()
            && mean > own.0
        {
            blocks.pop();
            let together = weight + own.1;
            let mean = (mean * weight + own.0 * own.1) / together;
            own = (mean, together, length + own.2);
        }
        blocks.push(own);
    }
    let means = blocks.iter();
    let means = means.flat_map(|&(mean, _, length)| std::iter::repeat_n(mean, length));
    values.iter_mut().zip(means).for_each(|(v, mean)| *v = mean);
}

/// The largest convex function below the values, raised to their mean.
///
/// Its slopes are the nearest to those of the values that never fall, so that it is the nearest
/// convex function in the integral of squared slopes.
///
/// # Source
/// The greatest convex minorant; Barlow, Bartholomew, Bremner and Brunk 1972, section 1.2.
pub(super) fn convex(values: &mut [f64], places: &[f64], weights: &[f64]) {
    // One value has no slope, and a mean of none.
    let [first, _, ..] = *values else {
        return;
    };
    let steps: Vec<f64> = places.windows(2).map(|x| x[1] - x[0]).collect();
    let rises = values.windows(2).zip(&steps);
    let mut slopes: Vec<f64> = rises.map(|(v, step)| (v[1] - v[0]) / step).collect();
    isotonic(&mut slopes, &steps);
    let mean = |values: &[f64]| -> f64 {
        let sum: f64 = values.iter().zip(weights).map(|(v, w)| v * w).sum();
        sum / weights.iter().sum::<f64>()
    };
    let before = mean(values);
    let mut at = first;
    let later = slopes.iter().zip(&steps).map(|(slope, step)| {
        at += slope * step;
        at
    });
    let lower: Vec<f64> = std::iter::once(first).chain(later).collect();
    let raise = before - mean(&lower);
    values
        .iter_mut()
        .zip(lower)
        .for_each(|(v, own)| *v = own + raise);
}

/// Half of the steps on either side of every place: its share of the range.
pub(super) fn shares(places: &[f64]) -> Vec<f64> {
    let last = places.len().saturating_sub(1);
    let at = |i: usize| places.get(i).copied().unwrap_or(0.0);
    (0..places.len())
        .map(|i| 0.5 * (at((i + 1).min(last)) - at(i.saturating_sub(1))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 6] = [1.0, 3.0, 2.0, 2.5, 7.0, 4.0];
    const PLACES: [f64; 6] = [0.0, 1.0, 3.0, 3.5, 5.0, 6.0];

    #[test]
    fn neighbours_that_fall_are_averaged() {
        let mut values = [1.0, 3.0, 2.0, 4.0];
        isotonic(&mut values, &[1.0, 1.0, 3.0, 1.0]);
        assert_eq!(values, [1.0, 2.25, 2.25, 4.0]);
        let mut rising = [1.0, 2.0, 2.0, 5.0];
        isotonic(&mut rising, &[1.0; 4]);
        assert_eq!(rising, [1.0, 2.0, 2.0, 5.0]);
    }

    /// A projection on a cone leaves a residual that is at right angles to what it found, and makes
    /// no acute angle with any other member.
    #[test]
    fn no_other_values_that_rise_are_nearer() {
        let weights = shares(&PLACES);
        let mut found = VALUES;
        isotonic(&mut found, &weights);
        assert!(found.windows(2).all(|v| v[0] <= v[1]));
        let along = |other: &[f64]| -> f64 {
            let terms = VALUES.iter().zip(&found).zip(other.iter().zip(&weights));
            terms.map(|((y, p), (z, w))| w * (y - p) * z).sum()
        };
        // Six terms of size ten, to some roundings of each.
        assert!(along(&found).abs() < 1e-13);
        for from in 0..6 {
            let step: Vec<f64> = (0..6).map(|i| f64::from(u8::from(i >= from))).collect();
            assert!(along(&step) < 1e-13, "{from}");
        }
    }

    #[test]
    fn a_convex_function_stays_and_another_becomes_one_of_the_same_mean() {
        let weights = shares(&PLACES);
        let mut bowl = PLACES.map(|x| (x - 2.0) * (x - 2.0));
        let before = bowl;
        convex(&mut bowl, &PLACES, &weights);
        // Sums of six terms of size sixteen.
        assert!(bowl.iter().zip(before).all(|(a, b)| (a - b).abs() < 1e-13));
        let mut found = VALUES;
        convex(&mut found, &PLACES, &weights);
        let slopes: Vec<f64> = found
            .windows(2)
            .zip(PLACES.windows(2))
            .map(|(v, x)| (v[1] - v[0]) / (x[1] - x[0]))
            .collect();
        assert!(
            slopes.windows(2).all(|s| s[0] <= s[1] + 1e-13),
            "{slopes:?}"
        );
        let mean =
            |values: &[f64]| -> f64 { values.iter().zip(&weights).map(|(v, w)| v * w).sum() };
        assert!((mean(&found) - mean(&VALUES)).abs() < 1e-13);
    }

    #[test]
    fn shares_add_up_to_the_range() {
        assert_eq!(shares(&PLACES), [0.5, 1.5, 1.25, 1.0, 1.25, 0.5]);
    }
}
