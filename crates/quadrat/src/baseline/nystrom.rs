//! Regression on features of landmarks, behind sums.

use super::Predict;
use super::bag_rows::{BagRows, sums};
use super::features::{Features, check_lengthscales};
use super::mode::Search;
use crate::error::{FitError, InputError};
use crate::linalg::dot;
use crate::link::Link;
use crate::model::{Observations, Prediction};
use crate::support::Functionals;

/// What is given of a [`Nystrom`] regression.
#[derive(Debug, Clone, PartialEq)]
pub struct NystromSettings {
    /// Of a squared exponential kernel, one for every input, positive.
    pub lengthscales: Vec<f64>,
    /// Prior variance of every coefficient but the level's, positive.
    pub variance: f64,
    /// Strength of the graph Laplacian, at least zero.
    pub manifold: f64,
}

/// Bags' sums of a function of features of landmarks, at the posterior mode,
///
/// $$ f(x) = b_0 + \beta' \phi(x), \qquad \phi(x) = L^{-1} k(W, x), \qquad L L' = k(W, W) $$
///
/// $$ \min \; -\log p\Big(y \,\Big|\, e_r \sum_j w_{rj} \, \Psi(f(x_{rj}))\Big) +
/// \frac{|\beta|^2}{2 v} + \frac{\gamma}{N^2} \, f' (\mathrm{diag}(K 1) - K) f $$
///
/// with landmarks `W`, a squared exponential kernel `k` of variance one, `v` the prior variance,
/// `gamma` the strength of the graph Laplacian over all `N` points of all rows, and `Psi` the link
/// of the likelihood. The level `b_0` is free. In the Laplacian `K` is `phi' phi`.
///
/// Rows are points or bags; counts, or values with noise of known variance. Lengthscales, variance
/// and strength are not learned: choose them by rows left out. There is no uncertainty: every sd is
/// zero.
///
/// # Source
/// Law, Sejdinovic, Cameron, Lucas, Flaxman, Battle and Fukumizu 2018, *Variational learning on
/// aggregate outputs with Gaussian processes*, appendices B and C.
#[derive(Debug, Clone)]
pub struct Nystrom {
    dims: Vec<String>,
    features: Features,
    link: Link,
    coefficients: Vec<f64>,
}

impl Nystrom {
    /// # Arguments
    /// * `landmarks` - points over the inputs of the rows;
    ///   [`k_means`](crate::inference::sparse::k_means) chooses some
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where rows or landmarks are not points or bags, or report other
    /// than counts or values of known noise; [`InputError::UnknownDimension`],
    /// [`InputError::Shape`]; [`InputError::Parameter`] for settings out of range;
    /// [`FitError::NotConverged`].
    ///
    /// # Numerics
    /// Scoring with `m` landmarks: `O(N m + n m^2)` a step for `n` rows, `O(N m^2)` once.
    pub fn fit(
        table: &Observations,
        landmarks: &Functionals,
        settings: &NystromSettings,
    ) -> Result<Self, FitError> {
        let supports = table.supports();
        check(settings, supports.dims().len())?;
        let features = Features::of(landmarks, supports.dims(), &settings.lengthscales)?;
        let rows = BagRows::of(table, supports.dims())?;
        let link = rows.link;
        let search = Search::new(rows, &features, settings.variance, settings.manifold)?;
        Ok(Self {
            dims: supports.dims().to_vec(),
            link,
            coefficients: search.run()?,
            features,
        })
    }
}

fn check(settings: &NystromSettings, dims: usize) -> Result<(), InputError> {
    check_lengthscales(&settings.lengthscales, dims)?;
    let wrong = |name: &str, reason: &str| InputError::Parameter {
        name: name.into(),
        reason: reason.into(),
    };
    if !(settings.variance > 0.0 && settings.variance.is_finite()) {
        return Err(wrong("variance", "give a positive number"));
    }
    match settings.manifold >= 0.0 && settings.manifold.is_finite() {
        true => Ok(()),
        false => Err(wrong("manifold", "give a number of at least zero")),
    }
}

impl Predict for Nystrom {
    /// # Errors
    /// [`InputError::UnknownDimension`]; [`InputError::Unavailable`] for boxes and regions.
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let at = at.select(&self.dims)?;
        let f = |x: &[f64]| dot(&self.coefficients, &self.features.at(x));
        Ok(Prediction::certain(sums(&at, self.link, f)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::{Gaussian, Likelihood, Noise, Poisson};
    use crate::support::Aggregate;

    const SUMS: [f64; 5] = [9.0, 11.0, 40.0, 20.0, 6.0];

    fn bags() -> Functionals {
        let bags: [(&[f64], &[f64]); 5] = [
            (&[0.0, 0.5, 1.5], &[1.0, 2.0, 1.0]),
            (&[1.0, 2.0], &[1.5, 1.0]),
            (&[2.5, 3.0, 3.5, 4.0], &[1.0, 1.0, 2.0, 1.0]),
            (&[4.5], &[3.0]),
            (&[5.0, 6.0], &[0.5, 2.0]),
        ];
        let mut set = Functionals::new(vec!["x".into()]);
        for (points, weights) in bags {
            let points: Vec<Vec<f64>> = points.iter().map(|x| vec![*x]).collect();
            set.push_nodes(&points, weights).unwrap();
        }
        set
    }

    fn fit(likelihood: impl Into<Likelihood>) -> Result<Nystrom, FitError> {
        let settings = NystromSettings {
            lengthscales: vec![1.2],
            variance: 0.8,
            manifold: 5.0,
        };
        let landmarks = Functionals::points("x", &[0.0, 1.5, 3.0, 4.5, 6.0])?;
        let table = Observations::new(bags(), likelihood)?;
        Nystrom::fit(&table, &landmarks, &settings)
    }

    fn check(model: &Nystrom, want: [f64; 3]) {
        let at = Functionals::points("x", &[0.25, 3.2, 5.5]).unwrap();
        let got = model.predict_response(&at).unwrap();
        for (got, want) in got.mean().iter().zip(want) {
            // The search ends within 1e-8 standard deviations, some tenths of the answers; the
            // reference has ten digits.
            assert!((got / want - 1.0).abs() < 1e-7, "{got} {want}");
        }
    }

    /// Reference: `tests/reference/nystrom.py`, with the symmetric root of the kernel and a search
    /// by scipy 1.17.1.
    #[test]
    fn counts_and_values_agree_with_another_search() {
        let counts = Poisson::new(SUMS.to_vec(), vec![1.0; 5], Link::Exp).unwrap();
        check(
            &fit(counts).unwrap(),
            [2.257179487, 8.217953832, 3.197457951],
        );
        let noise = Noise::Known(vec![0.5; 5]);
        let values = Gaussian::new(SUMS.to_vec(), noise).unwrap();
        let values = values.behind(Link::Softplus).unwrap();
        check(
            &fit(values).unwrap(),
            [1.823959258, 8.203816485, 3.331288549],
        );
    }

    #[test]
    fn exposures_scale_the_rate() {
        let rate = |exposure: f64| {
            let counts = Poisson::new(SUMS.to_vec(), vec![exposure; 5], Link::Exp).unwrap();
            let at = Functionals::points("x", &[2.2]).unwrap();
            fit(counts).unwrap().predict_response(&at).unwrap().mean()[0]
        };
        // Steps end when the last one is shorter than 1e-8 of a standard deviation.
        assert!((rate(4.0) * 4.0 / rate(1.0) - 1.0).abs() < 1e-7);
    }

    #[test]
    fn what_is_no_bag_of_numbers_is_refused() {
        let learned = Gaussian::new(SUMS.to_vec(), Noise::Learned).unwrap();
        assert!(fit(learned).is_err());
        let bins = Functionals::intervals("x", &[(0.0, 1.0)], Aggregate::Sum).unwrap();
        let counts = Poisson::new(vec![1.0], vec![1.0], Link::Exp).unwrap();
        let table = Observations::new(bins, counts).unwrap();
        let landmarks = Functionals::points("x", &[0.0]).unwrap();
        let settings = |lengthscale: f64, variance: f64, manifold: f64| NystromSettings {
            lengthscales: vec![lengthscale],
            variance,
            manifold,
        };
        assert!(Nystrom::fit(&table, &landmarks, &settings(1.0, 1.0, 0.0)).is_err());
        let points =
            Observations::gaussian(landmarks.clone(), vec![1.0], Noise::Known(vec![1.0])).unwrap();
        assert!(Nystrom::fit(&points, &landmarks, &settings(1.0, 1.0, 0.0)).is_ok());
        for wrong in [
            settings(0.0, 1.0, 0.0),
            settings(1.0, f64::NAN, 0.0),
            settings(1.0, 1.0, -1.0),
        ] {
            assert!(Nystrom::fit(&points, &landmarks, &wrong).is_err());
        }
    }
}
