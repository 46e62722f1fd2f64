//! Some of the rows of a likelihood.

use super::{
    Bernoulli, Binomial, Censored, Exponential, Gamma, Interval, Laplace, Likelihood, LogNormal,
    LogSd, NegativeBinomial, Noise, Ordinal, Poisson, Positive, StudentT, Truncated,
};
use crate::error::InputError;

impl Likelihood {
    /// What the rows `rows` reported, in that order.
    ///
    /// # Errors
    /// [`InputError::Range`] for a row that does not exist; [`InputError`] where the rows that are
    /// left say too little, such as none at all.
    pub fn select(&self, rows: &[usize]) -> Result<Self, InputError> {
        let count = self.rows();
        if let Some(position) = rows.iter().position(|&row| row >= count) {
            return Err(InputError::Range {
                what: "the number of a selected row".into(),
                row: position,
                value: rows[position] as f64,
                requirement: "below the number of rows",
            });
        }
        let pick = |all: &[f64]| -> Vec<f64> { rows.iter().map(|&row| all[row]).collect() };
        let noise = |noise: &Noise| match noise {
            Noise::Known(known) => Noise::Known(pick(known)),
            Noise::KnownPlusLearned(known) => Noise::KnownPlusLearned(pick(known)),
            Noise::Learned => Noise::Learned,
        };
        Ok(match self {
            Self::Gaussian(x) => x.select(rows, noise(x.noise()))?.into(),
            Self::Laplace(x) => Laplace::new(pick(x.values()), pick(x.scale()))?.into(),
            Self::StudentT(x) => {
                StudentT::new(pick(x.values()), noise(x.noise()), x.degrees_setting())?.into()
            }
            Self::Interval(x) => {
                Interval::new(pick(x.lower()), pick(x.upper()), noise(x.noise()))?.into()
            }
            Self::Censored(x) => {
                let (lower, upper) = (x.readings().lower(), x.readings().upper());
                Censored::between(pick(lower), pick(upper), noise(x.noise()))?.into()
            }
            Self::Truncated(x) => {
                let (lower, upper) = (pick(x.lower()), pick(x.upper()));
                Truncated::new(pick(x.values()), lower, upper, noise(x.noise()))?.into()
            }
            Self::Ordinal(x) => {
                let ranks = rows.iter().map(|&row| x.ranks()[row]).collect();
                let thresholds = x.thresholds_setting().clone();
                Ordinal::new(ranks, thresholds, noise(x.noise()))?.into()
            }
            Self::Positive(x) => Positive::new(rows.len(), x.margin(), x.sd())?.into(),
            Self::Bernoulli(x) => {
                let values = rows.iter().map(|&row| x.values()[row]).collect();
                Bernoulli::new(values, x.sigmoid()).into()
            }
            Self::Binomial(x) => {
                Binomial::new(pick(x.successes()), pick(x.trials()), x.sigmoid())?.into()
            }
            Self::Poisson(x) => {
                let (lower, upper) = (pick(x.lower()), pick(x.upper()));
                Poisson::ranges(lower, upper, pick(x.exposure()), x.link())?.into()
            }
            Self::NegativeBinomial(x) => {
                let (lower, upper) = (pick(x.lower()), pick(x.upper()));
                let exposure = pick(x.exposure());
                NegativeBinomial::ranges(lower, upper, exposure, x.link(), x.dispersion())?.into()
            }
            Self::Exponential(x) => Exponential::new(pick(x.values()), x.link())?.into(),
            Self::Gamma(x) => Gamma::new(pick(x.values()), x.shape())?.into(),
            Self::LogNormal(x) => {
                let sd = match x.sd() {
                    LogSd::Each(sds) => LogSd::Each(pick(sds)),
                    other => other.clone(),
                };
                LogNormal::new(pick(x.values()), sd)?.into()
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::likelihood::{Degrees, Dispersion, Gaussian, Shape, Side, Sigmoid, Thresholds};
    use crate::link::Link;

    /// Every kind, its rows all different.
    fn kinds() -> Vec<Likelihood> {
        let y = vec![1.0, 2.0, 3.0];
        let known = || Noise::Known(vec![0.1, 0.2, 0.3]);
        let up = vec![2.0, 4.0, 6.0];
        vec![
            Gaussian::new(y.clone(), Noise::KnownPlusLearned(up.clone()))
                .unwrap()
                .into(),
            Laplace::new(y.clone(), up.clone()).unwrap().into(),
            StudentT::new(y.clone(), known(), Degrees::Known(5.0))
                .unwrap()
                .into(),
            Interval::new(y.clone(), up.clone(), known())
                .unwrap()
                .into(),
            Censored::new(y.clone(), &[Side::Left, Side::None, Side::Right], known())
                .unwrap()
                .into(),
            Truncated::new(y.clone(), vec![-1.0, 0.0, 2.5], up.clone(), known())
                .unwrap()
                .into(),
            Ordinal::new(vec![1, 2, 3], Thresholds::Known(vec![0.0, 1.0]), known())
                .unwrap()
                .into(),
            Positive::new(3, 0.5, 0.1).unwrap().into(),
            Bernoulli::new(vec![true, false, true], Sigmoid::Logit).into(),
            Binomial::new(y.clone(), up.clone(), Sigmoid::Probit)
                .unwrap()
                .into(),
            Poisson::ranges(y.clone(), up.clone(), y.clone(), Link::Exp)
                .unwrap()
                .into(),
            NegativeBinomial::new(
                y.clone(),
                up.clone(),
                Link::Softplus,
                Dispersion::Known(0.5),
            )
            .unwrap()
            .into(),
            Exponential::new(y.clone(), Link::Exp).unwrap().into(),
            Gamma::new(y.clone(), Shape::Known(2.0)).unwrap().into(),
            LogNormal::new(y.clone(), LogSd::Each(y)).unwrap().into(),
        ]
    }

    #[test]
    fn every_kind_is_there() {
        let names: Vec<&str> = kinds().iter().map(Likelihood::name).collect();
        assert_eq!(names, Likelihood::NAMES);
    }

    #[test]
    fn selected_rows_say_what_they_said() {
        for all in kinds() {
            let some = all.select(&[2, 0]).unwrap();
            assert_eq!((some.rows(), some.name()), (2, all.name()));
            let own: Vec<f64> = all
                .local()
                .parameters(1.0)
                .iter()
                .map(|p| p.start)
                .collect();
            for (new, old) in [(0, 2), (1, 0)] {
                let jet = |l: &Likelihood, row| l.local().log_density(&own, row, 0.7);
                assert_eq!(jet(&some, new), jet(&all, old), "{}", all.name());
            }
            assert!(all.select(&[3]).is_err());
        }
    }
}
