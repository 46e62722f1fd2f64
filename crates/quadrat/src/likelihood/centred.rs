//! What rows report, seen from a level.

use super::{
    Censored, Gaussian, Interval, Laplace, Likelihood, Ordinal, StudentT, Thresholds, Truncated,
};

/// By how much the rounding of a difference may change the width of an interval, of that width.
const NARROWED: f64 = 1e-9;

impl Likelihood {
    /// The same rows with `levels[row]` taken from what each reports: likelihoods of `f - level`.
    ///
    /// `None` where what is reported is no value of the function, and where the ends of an
    /// interval would move by what matters beside its width.
    pub(crate) fn seen_from(&self, levels: &[f64]) -> Option<Self> {
        let less = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(levels).map(|(y, l)| y - l).collect()
        };
        Some(match self {
            Self::Gaussian(x) => Gaussian::new(less(x.values()), x.noise().clone())
                .ok()?
                .into(),
            Self::Laplace(x) => Laplace::new(less(x.values()), x.scale().to_vec())
                .ok()?
                .into(),
            Self::StudentT(x) => {
                let values = less(x.values());
                StudentT::new(values, x.noise().clone(), x.degrees_setting())
                    .ok()?
                    .into()
            }
            Self::Interval(x) => {
                let (lower, upper) = (less(x.lower()), less(x.upper()));
                keep_widths([x.lower(), x.upper()], [&lower, &upper])?;
                Interval::new(lower, upper, x.noise().clone()).ok()?.into()
            }
            Self::Censored(x) => {
                let at = x.readings();
                let (lower, upper) = (less(at.lower()), less(at.upper()));
                keep_widths([at.lower(), at.upper()], [&lower, &upper])?;
                Censored::between(lower, upper, x.noise().clone())
                    .ok()?
                    .into()
            }
            Self::Truncated(x) => {
                let (values, noise) = (less(x.values()), x.noise().clone());
                let (lower, upper) = (less(x.lower()), less(x.upper()));
                keep_widths([x.lower(), x.values()], [&lower, &values])?;
                keep_widths([x.values(), x.upper()], [&values, &upper])?;
                Truncated::new(values, lower, upper, noise).ok()?.into()
            }
            Self::Ordinal(x) => {
                let Thresholds::Known(thresholds) = x.thresholds_setting() else {
                    return None;
                };
                // All rows have the same thresholds.
                let level = levels.first().filter(|l| levels.iter().all(|m| m == *l))?;
                let seen: Vec<f64> = thresholds.iter().map(|b| b - level).collect();
                let last = thresholds.len().checked_sub(1)?;
                keep_widths(
                    [&thresholds[..last], &thresholds[1..]],
                    [&seen[..last], &seen[1..]],
                )?;
                Ordinal::new(
                    x.ranks().to_vec(),
                    Thresholds::Known(seen),
                    x.noise().clone(),
                )
                .ok()?
                .into()
            }
            _ => return None,
        })
    }
}

/// Some where all intervals are as wide as they were.
fn keep_widths(old: [&[f64]; 2], new: [&[f64]; 2]) -> Option<()> {
    let width = |ends: [&[f64]; 2], row: usize| ends[1][row] - ends[0][row];
    let keeps = |row: usize| {
        let (was, is) = (width(old, row), width(new, row));
        was == is || (is - was).abs() <= NARROWED * was
    };
    (0..old[0].len()).all(keeps).then_some(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::likelihood::{Degrees, Noise, Poisson, Side};
    use crate::link::Link;

    #[test]
    fn rows_seen_from_a_level_say_the_same_of_the_rest() {
        let y = || vec![1.5, 2.25, 4.0];
        let known = || Noise::Known(vec![0.1, 0.2, 0.3]);
        let sides = [Side::Left, Side::None, Side::Right];
        let kinds: Vec<Likelihood> = vec![
            Gaussian::new(y(), known()).unwrap().into(),
            Laplace::new(y(), vec![0.1, 0.2, 0.3]).unwrap().into(),
            StudentT::new(y(), known(), Degrees::Known(3.0))
                .unwrap()
                .into(),
            Interval::new(y(), vec![2.0, 3.0, 4.0], known())
                .unwrap()
                .into(),
            Censored::new(y(), &sides, known()).unwrap().into(),
            Truncated::new(y(), vec![1.0, 2.0, -8.0], vec![f64::INFINITY; 3], known())
                .unwrap()
                .into(),
        ];
        // Binary fractions: nothing is rounded.
        let levels = [1.0, 2.0, -8.0];
        for all in kinds {
            let seen = all.seen_from(&levels).unwrap();
            for (row, level) in levels.iter().enumerate() {
                let jet = |l: &Likelihood, f| l.local().log_density(&[], row, f);
                let (new, old) = (jet(&seen, 0.75), jet(&all, 0.75 + level));
                assert_eq!(new, old, "{}, row {row}", all.name());
            }
        }
    }

    #[test]
    fn ranks_are_seen_from_a_level_that_all_rows_share() {
        let known = |bounds: &[f64]| {
            let bounds = Thresholds::Known(bounds.to_vec());
            Likelihood::from(Ordinal::new(vec![1, 3, 2], bounds, Noise::Learned).unwrap())
        };
        let all = known(&[1e9, 1e9 + 1.0]);
        let seen = all.seen_from(&[1e9 - 0.5; 3]);
        assert_eq!(seen, Some(known(&[0.5, 1.5])));
        assert_eq!(all.seen_from(&[1e9, 1e9, 1e9 + 1.0]), None);
        // A scale that is narrow beside the rounding of its distance to the level.
        assert_eq!(known(&[1e-9, 3e-9]).seen_from(&[1e9; 3]), None);
        let learned = Ordinal::new(vec![1, 3, 2], Thresholds::Learned(3), Noise::Learned);
        assert_eq!(
            Likelihood::from(learned.unwrap()).seen_from(&[1.0; 3]),
            None
        );
    }

    #[test]
    fn narrow_intervals_far_from_a_level_and_counts_stay_where_they_are() {
        let noise = || Noise::Known(vec![1.0]);
        let narrow = Interval::new(vec![1e-9], vec![3e-9], noise()).unwrap();
        assert!(Likelihood::from(narrow).seen_from(&[1e9]).is_none());
        let open = Interval::new(vec![f64::NEG_INFINITY], vec![3e-9], noise()).unwrap();
        assert!(Likelihood::from(open).seen_from(&[1e9]).is_some());
        let counts = Poisson::ranges(vec![1.0], vec![1.0], vec![1.0], Link::Exp).unwrap();
        assert!(Likelihood::from(counts).seen_from(&[0.0]).is_none());
    }
}
