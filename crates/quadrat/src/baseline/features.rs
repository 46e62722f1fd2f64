//! Features of landmarks.

use super::bag_rows::places;
use crate::error::{FitError, InputError, LinalgError};
use crate::linalg::{Cholesky, Mat};
use crate::support::Functionals;

/// What is added to the kernel of a landmark with itself.
const JITTER: f64 = 1e-9;

/// `phi(x) = L^-1 k(W, x)` with `L L' = k(W, W)`, for a squared exponential kernel of variance one:
/// `phi(x)' phi(y)` is about `k(x, y)` near the landmarks `W`.
#[derive(Debug, Clone)]
pub(super) struct Features {
    landmarks: Vec<Vec<f64>>,
    lengthscales: Vec<f64>,
    factor: Cholesky,
}

/// # Errors
/// [`InputError::Shape`] unless there is one for every input, [`InputError::Parameter`] unless each
/// is positive.
pub(super) fn check_lengthscales(lengthscales: &[f64], dims: usize) -> Result<(), InputError> {
    if lengthscales.len() != dims {
        return Err(InputError::Shape {
            what: "the lengthscales",
            expected: dims,
            got: lengthscales.len(),
        });
    }
    let is_positive = |l: &f64| *l > 0.0 && l.is_finite();
    match lengthscales.iter().all(is_positive) {
        true => Ok(()),
        false => Err(InputError::Parameter {
            name: "lengthscales".into(),
            reason: "give positive numbers".into(),
        }),
    }
}

impl Features {
    /// Those of landmarks, their inputs in the order of `dims`.
    ///
    /// # Errors
    /// [`InputError::Unavailable`] for landmarks that are no points,
    /// [`InputError::UnknownDimension`]; that of the factorisation.
    pub fn of(
        landmarks: &Functionals,
        dims: &[String],
        lengthscales: &[f64],
    ) -> Result<Self, FitError> {
        let (places, _) = places(&landmarks.select(dims)?)?;
        Ok(Self::new(places, lengthscales)?)
    }

    pub fn new(landmarks: Vec<Vec<f64>>, lengthscales: &[f64]) -> Result<Self, LinalgError> {
        let m = landmarks.len();
        let kernel = Mat::from_fn(m, m, |i, j| {
            let jitter = if i == j { JITTER } else { 0.0 };
            jitter + kernel(&landmarks[i], &landmarks[j], lengthscales)
        });
        Ok(Self {
            factor: Cholesky::factor_owned(kernel)?,
            lengthscales: lengthscales.to_vec(),
            landmarks,
        })
    }

    /// How many there are, with the level.
    pub fn count(&self) -> usize {
        self.landmarks.len() + 1
    }

    /// One, and the features of a place.
    pub fn at(&self, x: &[f64]) -> Vec<f64> {
        let beside = self.landmarks.iter();
        let beside: Vec<f64> = beside.map(|w| kernel(w, x, &self.lengthscales)).collect();
        let mut all = vec![1.0];
        all.extend(self.factor.half_solve(&beside));
        all
    }
}

fn kernel(a: &[f64], b: &[f64], lengthscales: &[f64]) -> f64 {
    let pairs = a.iter().zip(b).zip(lengthscales);
    let square: f64 = pairs.map(|((a, b), l)| ((a - b) / l).powi(2)).sum();
    (-0.5 * square).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_the_kernel_at_landmarks() {
        let landmarks = vec![vec![0.0, 0.0], vec![1.0, 0.5], vec![3.0, 2.0]];
        let lengthscales = [1.0, 2.0];
        let features = Features::new(landmarks.clone(), &lengthscales).unwrap();
        let (a, b) = (features.at(&landmarks[0]), features.at(&landmarks[1]));
        let product: f64 = a[1..].iter().zip(&b[1..]).map(|(a, b)| a * b).sum();
        // Distances of 1 and a quarter: exp(-(1 + 1/16) / 2); the jitter is 1e-9.
        assert!((product - (-0.53125_f64).exp()).abs() < 1e-8);
        assert_eq!((a[0], features.count()), (1.0, 4));
    }
}
