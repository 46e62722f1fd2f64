//! Rows seen from the level of their values.
//!
//! Values around a large level, such as 1e9 and some units, have lost the digits of these units
//! wherever the level is part of a sum. Sites are therefore sought for `z - m`, `m` the prior mean
//! of every row: of values and ends only the difference to it enters.

use crate::likelihood::Likelihood;

/// How many times the values' distance from the level it must be: nearer levels cost three of
/// sixteen digits at most.
const LARGE: f64 = 1e3;

/// What rows report and their prior means, less a level for every row.
pub(crate) struct Centred {
    pub likelihoods: Vec<Likelihood>,
    pub prior_mean: Vec<f64>,
}

impl Centred {
    /// Nothing where the level is not large, or no table reports values.
    ///
    /// # Arguments
    /// * `likelihoods` - of the tables, one after the other
    /// * `prior_mean`, `typical` - of every row, and a value that is plausible there
    pub fn new(likelihoods: &[Likelihood], prior_mean: &[f64], typical: &[f64]) -> Option<Self> {
        let mut out = Self {
            likelihoods: likelihoods.to_vec(),
            prior_mean: prior_mean.to_vec(),
        };
        let (mut first, mut away, mut level) = (0, Vec::new(), 0.0_f64);
        for likelihood in &mut out.likelihoods {
            let rows = first..first + likelihood.rows();
            first = rows.end;
            let own = prior_mean.get(rows.clone())?;
            let Some(seen) = likelihood.seen_from(own) else {
                continue;
            };
            *likelihood = seen;
            out.prior_mean[rows.clone()].fill(0.0);
            let pairs = own.iter().zip(typical.get(rows)?);
            for (m, y) in pairs {
                level = level.max(m.abs());
                away.push((y - m).abs());
            }
        }
        // Not the largest: one row far from all others does not make the level small.
        let middle = away.len() / 2;
        let (_, middle, _) =
            (middle < away.len()).then(|| away.select_nth_unstable_by(middle, f64::total_cmp))?;
        (level > LARGE * *middle).then_some(out)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::likelihood::{Degrees, Noise, Positive, StudentT};

    #[test]
    fn only_large_levels_are_taken_away_and_only_from_values() {
        let values = [1e9, 1e9 + 1.0, 1e9 + 2.0];
        let of = |values: &[f64]| StudentT::new(values.to_vec(), Noise::Learned, Degrees::Learned);
        let bound = Likelihood::from(Positive::new(1, 0.0, 0.1).unwrap());
        let tables = [bound, of(&values).unwrap().into()];
        let mean = [1e9; 4];
        let typical = [0.0, values[0], values[1], values[2]];
        let centred = Centred::new(&tables, &mean, &typical).unwrap();
        assert_eq!(centred.prior_mean, [1e9, 0.0, 0.0, 0.0]);
        let expected = of(&[0.0, 1.0, 2.0]).unwrap().into();
        assert_eq!(centred.likelihoods, [tables[0].clone(), expected]);
        // Of the size of the values' differences.
        let near = [Likelihood::from(of(&[0.0, 1.0, 2.0]).unwrap())];
        assert!(Centred::new(&near, &[1.0; 3], &[0.0, 1.0, 2.0]).is_none());
        assert!(Centred::new(&tables[..1], &[1e9], &[0.0]).is_none());
    }
}
