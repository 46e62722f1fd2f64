//! From a mean to what rows report of it.

use crate::error::{FitError, InputError};
use crate::likelihood::{Likelihood, Poisson};
use crate::link::Link;
use crate::model::{Observations, Prediction};
use crate::posterior::amounts::Amounts;
use crate::posterior::predictive::{Predictive, What};

/// Probabilities are kept this far from 0 and 1, so that no answer is impossible.
const LEAST_PROBABILITY: f64 = 1e-12;

/// What rows would report if the means of a prediction were known to be true: counts are Poisson
/// about exposure times mean, successes are binomial, waiting times exponential. Values with noise
/// of unknown size are the mean alone, without uncertainty.
///
/// This gives simple methods, which tell a mean and no more, the distribution that the mean implies
/// where it implies one. Counts with `negative_binomial` are taken as Poisson: how far they are
/// dispersed a mean does not tell.
///
/// # Arguments
/// * `response` - means per unit of exposure, one for each row, see
///   [`Predict::predict_response`](super::Predict::predict_response)
/// * `rows` - whose exposures and trials; what they reported is not looked at
///
/// # Errors
/// [`InputError::Shape`] for another number of rows.
pub fn reported_as(response: &Prediction, rows: &Observations) -> Result<Prediction, FitError> {
    let means = response.mean();
    if means.len() != rows.supports().len() {
        return Err(InputError::Shape {
            what: "the means",
            expected: rows.supports().len(),
            got: means.len(),
        }
        .into());
    }
    let counts = |exposure: &[f64]| {
        let expected = means.iter().zip(exposure).map(|(mean, e)| mean * e);
        // A mean of zero would make any event impossible.
        let expected: Vec<f64> = expected.map(|m| m.max(f64::MIN_POSITIVE)).collect();
        let one = Poisson::new(vec![0.0], vec![1.0], Link::Exp)?;
        let amounts = Amounts {
            exposure: expected,
            ..Amounts::default()
        };
        Ok(known(&one.into(), vec![0.0; means.len()], amounts))
    };
    let answers = |link: Link, trials: Vec<u64>| {
        let inside = |p: f64| p.clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY);
        let latent = means
            .iter()
            .map(|p| link.inverse(inside(*p)).unwrap_or(0.0));
        let amounts = Amounts {
            trials,
            ..Amounts::default()
        };
        known(rows.likelihood(), latent.collect(), amounts)
    };
    match rows.likelihood() {
        Likelihood::Poisson(x) => counts(x.exposure()),
        Likelihood::NegativeBinomial(x) => counts(x.exposure()),
        Likelihood::Bernoulli(x) => Ok(answers(x.sigmoid().link(), Vec::new())),
        Likelihood::Binomial(x) => {
            let trials = x.trials().iter().map(|n| *n as u64).collect();
            Ok(answers(x.sigmoid().link(), trials))
        }
        Likelihood::Exponential(x) => {
            let link = x.link();
            let latent = means.iter().map(|m| m.max(f64::MIN_POSITIVE));
            let latent = latent.map(|m| link.inverse(m).unwrap_or(0.0));
            let latent = latent.collect();
            Ok(known(rows.likelihood(), latent, Amounts::default()))
        }
        Likelihood::Gaussian(_)
        | Likelihood::Laplace(_)
        | Likelihood::StudentT(_)
        | Likelihood::Interval(_)
        | Likelihood::Censored(_)
        | Likelihood::Truncated(_)
        | Likelihood::Ordinal(_)
        | Likelihood::Positive(_)
        | Likelihood::Gamma(_)
        | Likelihood::LogNormal(_) => Ok(Prediction::certain(means.to_vec())),
    }
}

/// What a likelihood reports of latent values that are known.
fn known(likelihood: &Likelihood, latent: Vec<f64>, amounts: Amounts) -> Prediction {
    let predictive = Predictive::new(likelihood, vec![Vec::new()], What::Observation, 0.0);
    Prediction::certain(latent).through(predictive.with_amounts(amounts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::{Bernoulli, Binomial, Exponential, Noise, Sigmoid};
    use crate::support::Functionals;

    fn at(n: usize) -> Functionals {
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        Functionals::points("x", &x).unwrap()
    }

    /// By hand: P(3 | mean 2 * 1.5) = e^-3 3^3 / 3!, and P(1 | mean 0) is not impossible.
    #[test]
    fn counts_are_poisson_about_exposure_times_mean() {
        let counts = Poisson::new(vec![3.0, 1.0], vec![2.0, 1.0], Link::Exp).unwrap();
        let rows = Observations::new(at(2), counts).unwrap();
        let p = reported_as(&Prediction::certain(vec![1.5, 0.0]), &rows).unwrap();
        let log = p.log_density(&[3.0, 1.0]);
        // A few roundings of numbers near 1.
        assert!((log[0] - (-3.0 + 4.5_f64.ln())).abs() < 1e-13, "{log:?}");
        assert!(log[1].is_finite() && log[1] < -700.0);
        assert!((p.mean()[0] - 3.0).abs() < 1e-13);
    }

    #[test]
    fn answers_and_waiting_times_have_their_distributions() {
        let yes = Bernoulli::new(vec![true], Sigmoid::Probit);
        let p = reported_as(
            &Prediction::certain(vec![0.3]),
            &Observations::new(at(1), yes).unwrap(),
        )
        .unwrap();
        // The inverse of the normal distribution function is exact to a few roundings.
        assert!((p.log_density(&[1.0])[0] - 0.3_f64.ln()).abs() < 1e-12);
        let of_five = Binomial::new(vec![2.0], vec![5.0], Sigmoid::Logit).unwrap();
        let rows = Observations::new(at(1), of_five).unwrap();
        let p = reported_as(&Prediction::certain(vec![0.3]), &rows).unwrap();
        let by_hand = (10.0 * 0.09 * 0.343_f64).ln();
        assert!((p.log_density(&[2.0])[0] - by_hand).abs() < 1e-12);
        let wait = Exponential::new(vec![4.0], Link::Exp).unwrap();
        let p = reported_as(
            &Prediction::certain(vec![2.0]),
            &Observations::new(at(1), wait).unwrap(),
        );
        let log = p.unwrap().log_density(&[4.0])[0];
        // A few roundings.
        assert!((log - (-2.0 - 2.0_f64.ln())).abs() < 1e-12, "{log}");
    }

    #[test]
    fn values_are_told_without_uncertainty() {
        let rows = Observations::gaussian(at(1), vec![5.0], Noise::Learned).unwrap();
        let p = reported_as(&Prediction::certain(vec![4.0]), &rows).unwrap();
        assert!(p.is_certain() && p.mean() == [4.0]);
        assert!(reported_as(&Prediction::certain(vec![4.0, 5.0]), &rows).is_err());
    }
}
