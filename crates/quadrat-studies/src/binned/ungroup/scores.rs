//! What intervals of single years are worth.

use crate::statistics::{coverage, mean, rms};

/// Predictions of all years of a population.
#[derive(Debug, Clone, Default)]
pub struct Predicted {
    /// Means.
    pub mean: Vec<f64>,
    /// 95 % intervals; none from methods without.
    pub wide: Option<(Vec<f64>, Vec<f64>)>,
    /// 50 % intervals.
    pub half: Option<(Vec<f64>, Vec<f64>)>,
}

/// Over the years of one population. `S` is the root mean square of the truth about the average of
/// its band.
#[derive(Debug, Clone, Copy)]
pub struct Scores {
    /// Share inside 95 % intervals: all years, all but the first and last band, and these two.
    pub c95: f64,
    /// All but the first and last band.
    pub central: f64,
    /// The first and last band.
    pub ends: f64,
    /// Share inside 50 % intervals.
    pub c50: f64,
    /// Mean width of 95 % intervals, over `S`.
    pub width: f64,
    /// Root mean square error of the mean, over `S`: sharing a band out evenly has one.
    pub rmse: f64,
    /// Mean interval score of 95 % intervals over `S`: width plus 40 times what they miss by
    /// (Gneiting and Raftery 2007).
    pub score: f64,
    /// Root mean square of (truth - mean) / (width / 3.92): one is right for a normal distribution.
    pub z: f64,
}

impl Scores {
    /// Names of the numbers, in the order of [`Self::numbers`].
    pub const HEAD: [&'static str; 8] = [
        "c95", "central", "ends", "c50", "wid", "rmse", "iscore", "z",
    ];

    /// Compares; without intervals all but the error are NaN.
    #[must_use]
    pub fn new(truth: &[f64], band: usize, predicted: &Predicted) -> Self {
        let spread: Vec<f64> = truth
            .chunks(band)
            .flat_map(|years| years.iter().map(|y| y - mean(years)).collect::<Vec<_>>())
            .collect();
        let s = rms(&spread);
        let errors: Vec<f64> = truth
            .iter()
            .zip(&predicted.mean)
            .map(|(t, m)| t - m)
            .collect();
        let mut scores = Self {
            c95: f64::NAN,
            central: f64::NAN,
            ends: f64::NAN,
            c50: f64::NAN,
            width: f64::NAN,
            rmse: rms(&errors) / s,
            score: f64::NAN,
            z: f64::NAN,
        };
        let (Some((lower, upper)), Some((from, to))) = (&predicted.wide, &predicted.half) else {
            return scores;
        };
        let widths: Vec<f64> = upper.iter().zip(lower).map(|(u, l)| u - l).collect();
        let years = truth.len();
        let inner = band..years - band;
        let missed = truth.iter().zip(lower.iter().zip(upper));
        let missed = missed.map(|(t, (l, u))| (l - t).max(t - u).max(0.0));
        let missed: Vec<f64> = missed.collect();
        let scaled: Vec<f64> = errors
            .iter()
            .zip(&widths)
            .map(|(e, w)| 3.92 * e / w)
            .collect();
        let outer = |v: &[f64]| [&v[..band], &v[years - band..]].concat();
        scores.c95 = coverage(truth, lower, upper);
        scores.central = coverage(&truth[inner.clone()], &lower[inner.clone()], &upper[inner]);
        scores.ends = coverage(&outer(truth), &outer(lower), &outer(upper));
        scores.c50 = coverage(truth, from, to);
        scores.width = mean(&widths) / s;
        scores.score = (mean(&widths) + 40.0 * mean(&missed)) / s;
        scores.z = rms(&scaled);
        scores
    }

    /// All numbers.
    #[must_use]
    pub fn numbers(&self) -> [f64; 8] {
        [
            self.c95,
            self.central,
            self.ends,
            self.c50,
            self.width,
            self.rmse,
            self.score,
            self.z,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_four_years_in_two_bands() {
        let truth = [1.0, 3.0, 7.0, 5.0];
        let predicted = Predicted {
            mean: vec![2.0, 2.0, 6.0, 6.0],
            wide: Some((vec![0.0, 0.0, 4.0, 5.5], vec![4.0, 4.0, 8.0, 9.5])),
            half: Some((vec![1.5; 4], vec![6.5; 4])),
        };
        let s = Scores::new(&truth, 2, &predicted);
        // Every year lies 1 from its band's average, so S is 1; the last misses by .5.
        assert_eq!((s.rmse, s.width, s.c95, s.c50), (1.0, 4.0, 0.75, 0.5));
        assert!((s.score - (4.0 + 40.0 * 0.125)).abs() < 1e-12);
        assert!((s.z - 0.98).abs() < 1e-12);
        assert_eq!(s.ends, 0.75);
        let without = Predicted {
            wide: None,
            ..predicted
        };
        assert!(Scores::new(&truth, 2, &without).c95.is_nan());
    }
}
