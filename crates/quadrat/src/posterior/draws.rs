//! Joint posterior covariances and draws.

use faer::Mat;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::component::Component;
use super::lost_digits::MadeOfRows;
use super::mixture::Posterior;
use crate::error::{FitError, InputError, LinalgError};
use crate::linalg::{Cholesky, SymmetricEigen, add_scaled, gemm, symmetric_eigen};
use crate::problem::engine::limits::MAX_DENSE_ROWS;
use crate::support::Functionals;

/// Covariances of places with rows that are kept, at most: as many as those of the most rows whose
/// matrix is factorised.
const MOST_JOINT: usize = MAX_DENSE_ROWS * MAX_DENSE_ROWS;

/// Functionals of which a joint distribution is told, at most: 800 MB for each matrix.
const MOST_TOGETHER: usize = 10_000;

/// The worst that rounding makes an eigenvalue, as a share of the largest: a thousandth of an sd.
const ROUNDING: f64 = 1e-6;
/// The same as a share of the largest variance before the rows: where smooth rows are known exactly
/// next to nothing else is left.
const LOST: f64 = 1e-8;

impl Posterior {
    /// Joint posterior covariance of the functionals, shape `[m, m]`, between nodes included.
    ///
    /// # Errors
    /// As [`Self::predict`]; [`InputError::TooManyTogether`] above 10,000 functionals.
    pub fn covariance(&self, at: &Functionals) -> Result<Mat<f64>, FitError> {
        let at = self.place(at)?;
        check_together(&at)?;
        let made = MadeOfRows::new();
        let m = at.len();
        let mut out = Mat::<f64>::zeros(m, m);
        let mut means = Mat::<f64>::zeros(m, self.components.len());
        for (k, component) in self.components.iter().enumerate() {
            let (own, within) = self.mended_joint(component, &at, &made)?;
            for j in 0..m {
                add_scaled(
                    component.weight,
                    within.col_as_slice(j),
                    out.col_as_slice_mut(j),
                );
            }
            means.col_as_slice_mut(k).copy_from_slice(&own);
        }
        // What means at different hyperparameters add.
        let weights = self.weights();
        for row in 0..m {
            let mean: f64 = (0..weights.len())
                .map(|k| weights[k] * means[(row, k)])
                .sum();
            for (k, weight) in weights.iter().enumerate() {
                means[(row, k)] = weight.sqrt() * (means[(row, k)] - mean);
            }
        }
        Ok(out + gemm(means.as_ref(), means.transpose()))
    }

    /// Mean and covariance at one node; a variance of which rounding leaves nothing may be below
    /// zero.
    pub(super) fn joint(
        &self,
        component: &Component,
        at: &Functionals,
    ) -> Result<(Vec<f64>, Mat<f64>), FitError> {
        self.joint_from(component, at, |_, _| ())
    }

    /// The same, where variances of which next to nothing is left are told another way.
    ///
    /// # Arguments
    /// * `made` - the rows that the functionals are made of, once this was asked for
    fn mended_joint(
        &self,
        component: &Component,
        at: &Functionals,
        made: &MadeOfRows,
    ) -> Result<(Vec<f64>, Mat<f64>), FitError> {
        self.joint_from(component, at, |prior, covariance| {
            self.mend_joint(component, (at, made), prior, covariance);
        })
    }

    /// # Arguments
    /// * `mend` - of the variances before, what is done to the covariance
    fn joint_from(
        &self,
        component: &Component,
        at: &Functionals,
        mend: impl FnOnce(&[f64], &mut Mat<f64>),
    ) -> Result<(Vec<f64>, Mat<f64>), FitError> {
        if let Some(lift) = self.lift_of(component)? {
            return Ok(self.lifted_joint(component, &lift, at));
        }
        if component.conditioned.factor.size().saturating_mul(at.len()) > MOST_JOINT {
            return Err(InputError::Unavailable {
                what: "the joint distribution of so many places beside so many rows",
                remedy: "ask for fewer places at a time: their covariances with the rows are kept in memory",
            }
            .into());
        }
        let (left, _) = self
            .prior_beside(component, at)
            .given(&component.conditioned);
        let reduction = gemm(left.whitened.transpose(), left.whitened.as_ref());
        let theta = &component.theta;
        let prior = match left.open {
            Some(open) => {
                self.problem.prior().covariance_apart(theta, at)
                    + gemm(open.transpose(), open.as_ref())
            }
            None => self.problem.prior().covariance(theta, at),
        };
        let before: Vec<f64> = (0..at.len()).map(|i| prior[(i, i)]).collect();
        let mut covariance = prior - reduction;
        mend(&before, &mut covariance);
        Ok((left.mean, covariance))
    }

    /// Which node every draw comes from.
    pub(super) fn nodes_of_draws(&self, draws: usize, random: &mut ChaCha8Rng) -> Vec<usize> {
        let last = self.components.len() - 1;
        let one = |_| {
            let mut u: f64 = rand_distr::StandardUniform.sample(&mut *random);
            let chosen = self.components.iter().position(|c| {
                u -= c.weight;
                u < 0.0
            });
            chosen.unwrap_or(last)
        };
        (0..draws).map(one).collect()
    }

    /// Joint draws of the functionals, shape `[m, draws]`, reproducible for a seed.
    ///
    /// # Errors
    /// As [`Self::predict`]; [`FitError::Linalg`] when the joint covariance cannot be factorised
    /// even with jitter; [`InputError::TooManyTogether`] above 10,000 functionals.
    pub fn sample(&self, at: &Functionals, draws: usize, seed: u64) -> Result<Mat<f64>, FitError> {
        let at = self.place(at)?;
        check_together(&at)?;
        let m = at.len();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let nodes = self.nodes_of_draws(draws, &mut random);
        let made = MadeOfRows::new();
        // The draws of each node together.
        let mut out = Mat::zeros(m, draws);
        for (k, component) in self.components.iter().enumerate() {
            let own: Vec<usize> = (0..draws).filter(|d| nodes[*d] == k).collect();
            if own.is_empty() {
                continue;
            }
            if let Some(lift) = self.lift_of(component)? {
                let values = self.lifted_sample(component, &lift, &at, own.len(), &mut random)?;
                for (j, draw) in own.into_iter().enumerate() {
                    out.col_as_slice_mut(draw)
                        .copy_from_slice(values.col_as_slice(j));
                }
                continue;
            }
            let mut before = 0.0_f64;
            let (mean, covariance) = self.joint_from(component, &at, |prior, covariance| {
                before = prior.iter().copied().fold(0.0, f64::max);
                self.mend_joint(component, (&at, &made), prior, covariance);
            })?;
            let factor = factor_beside(covariance, before)?;
            for draw in own {
                let z: Vec<f64> = (0..m).map(|_| StandardNormal.sample(&mut random)).collect();
                let values = factor.multiply(&z);
                for (i, out) in out.col_as_slice_mut(draw).iter_mut().enumerate() {
                    *out = mean[i] + values[i];
                }
            }
        }
        Ok(out)
    }
}

/// Refuses a joint distribution of so many functionals that its matrices would take gigabytes.
fn check_together(at: &Functionals) -> Result<(), InputError> {
    match at.len() > MOST_TOGETHER {
        true => Err(InputError::TooManyTogether {
            places: at.len(),
            limit: MOST_TOGETHER,
        }),
        false => Ok(()),
    }
}

/// Joint posterior covariances are singular when supports repeat: tiny jitter makes draws exist.
///
/// They are differences, of the prior and what the rows take away: where next to all is taken away,
/// rounding can leave negative eigenvalues that no tiny jitter mends. All of such size are
/// rounding, and become as large as the worst of them.
///
/// # Errors
/// Negative eigenvalues of more than [`ROUNDING`].
pub(crate) fn factor_with_jitter(covariance: Mat<f64>) -> Result<Cholesky, FitError> {
    factor_beside(covariance, 0.0)
}

/// The same, where the covariance is what is left of variances `before` of that size.
///
/// # Errors
/// Negative eigenvalues of more than [`ROUNDING`], and of more than [`LOST`] of those variances.
fn factor_beside(mut covariance: Mat<f64>, before: f64) -> Result<Cholesky, FitError> {
    let m = covariance.nrows();
    let scale = (0..m)
        .map(|i| covariance[(i, i)].abs())
        .fold(0.0, f64::max)
        .max(f64::MIN_POSITIVE);
    let mut added = 0.0;
    let mut last = LinalgError::NotPositiveDefinite { size: m, pivot: 0 };
    for relative in [0.0, 1e-14, 1e-12, 1e-10, 1e-8] {
        let jitter = relative * scale;
        for i in 0..m {
            covariance[(i, i)] += jitter - added;
        }
        added = jitter;
        match Cholesky::factor(covariance.as_ref()) {
            Ok(factor) => return Ok(factor),
            Err(error) => last = error,
        }
    }
    let SymmetricEigen { values, vectors } = symmetric_eigen(covariance.as_ref())?;
    let (least, most) = (values[0], values[m - 1]);
    if least < -(ROUNDING * most).max(LOST * before) {
        return Err(last.into());
    }
    // Their products are rounded once more, to some digits of the largest.
    let least = (-least).max(m as f64 * f64::EPSILON * most);
    let scaled = Mat::from_fn(m, m, |i, j| vectors[(i, j)] * values[j].max(least));
    let mended = gemm(scaled.as_ref(), vectors.transpose());
    Ok(Cholesky::factor(mended.as_ref())?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::likelihood::Noise;
    use crate::model::{FitOptions, Hyperparameters, Model, Observations, Scale};

    #[test]
    fn negative_eigenvalues_of_rounding_are_mended_and_others_refused() {
        // Along (1, 1), (1, -1): one, and next to nothing.
        let along = |least: f64| {
            let (a, b) = (0.5 * (1.0 + least), 0.5 * (1.0 - least));
            Mat::from_fn(2, 2, |i, j| if i == j { a } else { b })
        };
        let factor = factor_with_jitter(along(-1e-7)).unwrap();
        let [first, second] = [[1.0, 0.0], [0.0, 1.0]].map(|z| factor.multiply(&z));
        let back = |i: usize, j: usize| first[i] * first[j] + second[i] * second[j];
        // What was added is at most the rounding that was found.
        assert!((back(0, 0) - 0.5).abs() < 2e-7 && (back(0, 1) - 0.5).abs() < 2e-7);
        assert!(factor_with_jitter(along(-1e-3)).is_err());
        // Of variances of 1e6 both are rounding.
        assert!(factor_beside(along(-1e-3), 1e6).is_ok());
        assert!(factor_beside(along(-1e-3), 1e4).is_err());
    }

    #[test]
    fn joint_covariances_over_hyperparameters_have_the_predicted_variances() {
        let x: Vec<f64> = (0..12).map(f64::from).collect();
        let y = x.iter().map(|x| (0.6 * x).sin()).collect();
        let at = Functionals::points("x", &x).unwrap();
        let table = Observations::gaussian(at, y, Noise::Learned).unwrap();
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Integrate);
        let model = Model::new(Kernel::se(["x"])).observe(table);
        let posterior = model.fit(&options).unwrap();
        assert!(posterior.components.len() > 10);
        let at = Functionals::points("x", &[0.3, 4.9, 14.0]).unwrap();
        let joint = posterior.covariance(&at).unwrap();
        let each = posterior.predict(&at, Scale::Latent).unwrap();
        for (i, sd) in each.sd().iter().enumerate() {
            // Sums of the same numbers in another order.
            assert!((joint[(i, i)] / (sd * sd) - 1.0).abs() < 1e-10, "{i}");
        }
        // Of a sum of two the variance is that of both, and twice what they have in common.
        let mut sum = Functionals::new(vec!["x".into()]);
        sum.push_nodes(&[vec![0.3], vec![4.9]], &[1.0, 1.0])
            .unwrap();
        let sd = posterior.predict(&sum, Scale::Latent).unwrap().sd()[0];
        let told = joint[(0, 0)] + joint[(1, 1)] + 2.0 * joint[(0, 1)];
        assert!((told / (sd * sd) - 1.0).abs() < 1e-10);
        // Every pair of so many is never kept.
        let many = Functionals::points("x", &vec![1.0; 10_001]).unwrap();
        let error = posterior.covariance(&many).unwrap_err();
        assert!(error.to_string().contains("10001 places"), "{error}");
    }
}
