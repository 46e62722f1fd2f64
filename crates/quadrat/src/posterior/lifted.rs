//! Answers from draws that meet what the rows report.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};
use rayon::prelude::*;

use super::component::Component;
use super::drawn_total::{DrawnTotal, Factors, TotalDraws, weighted};
use super::draws::factor_with_jitter;
use super::mixture::Posterior;
use super::shared_out::{SharedOut, place};
use super::within::Holding;
use crate::error::FitError;
use crate::inference::pooled::{Lift, Ready};
use crate::likelihood::local::Belief;
use crate::linalg::{Mat, dot, gemm};
use crate::link::Link;
use crate::problem::mean::MeanPrior;
use crate::support::Functionals;

/// What a draw leaves open of a place is nothing below this part of its prior variance: the prior
/// is factorised no more accurately.
const NOTHING: f64 = 1e-6;

/// Means and variances of rows.
pub(super) type RowMoments = (Vec<f64>, Vec<f64>);

impl Posterior {
    /// The draws that meet the rows, at one node, where there are any.
    pub(crate) fn lift_of<'a>(
        &self,
        component: &'a Component,
    ) -> Result<Option<Ready<'a>>, FitError> {
        let lift = component.conditioned.lift.as_ref();
        let ready = |lift: &'a Arc<Lift>| {
            lift.ready(|| self.problem.drawn().parted(&component.theta).kernel)
        };
        Ok(lift.map(ready).transpose()?)
    }

    /// Means and variances of linear functionals of the function, from the draws, in strata of
    /// these shares of their weight: of the draws in which a functional is smallest, and so on.
    pub(super) fn lifted_moments(
        &self,
        component: &Component,
        lift: &Ready<'_>,
        parts: &[Functionals],
        strata: &[f64],
    ) -> Vec<RowMoments> {
        let theta = &component.theta;
        let mut out = vec![RowMoments::default(); strata.len()];
        for part in parts {
            let prior = self.problem.mean().means(part);
            let (values, whitened) =
                lift.given(&prior, self.problem.drawn().parted_cross(theta, part));
            let open = self.problem.prior().kernel_variance(theta, part);
            for (row, open) in open.iter().enumerate() {
                let w = whitened.col_as_slice(row);
                let each = (0..values.ncols()).map(|draw| values[(row, draw)]);
                let drawn = DrawnTotal::values(each.collect(), (open - dot(w, w)).max(0.0));
                let own = drawn.moments(lift.weights(), strata);
                for ((means, variances), (mean, variance)) in out.iter_mut().zip(own) {
                    means.push(mean);
                    variances.push(variance);
                }
            }
        }
        out
    }

    /// Mean and covariance of linear functionals of the function, from the draws.
    pub(crate) fn lifted_joint(
        &self,
        component: &Component,
        lift: &Ready<'_>,
        at: &Functionals,
    ) -> (Vec<f64>, Mat<f64>) {
        let (values, open) = self.lifted_values(component, lift, at);
        let heard = || lift.weights().iter().enumerate().filter(|(_, w)| **w > 0.0);
        let mean: Vec<f64> = (0..at.len())
            .map(|row| heard().map(|(draw, w)| w * values[(row, draw)]).sum())
            .collect();
        let away = Mat::from_fn(at.len(), values.ncols(), |row, draw| {
            match lift.weights()[draw] {
                w if w > 0.0 => w.sqrt() * (values[(row, draw)] - mean[row]),
                _ => 0.0,
            }
        });
        let between = gemm(away.as_ref(), away.transpose());
        (mean, between + open)
    }

    /// Joint draws of linear functionals of the function, shape `[m, count]`: draws chosen by their
    /// weights, and one of what each leaves open.
    pub(crate) fn lifted_sample(
        &self,
        component: &Component,
        lift: &Ready<'_>,
        at: &Functionals,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Mat<f64>, FitError> {
        let (values, open) = self.lifted_values(component, lift, at);
        let prior = self.problem.prior().kernel_variance(&component.theta, at);
        let is_open = (0..at.len()).any(|i| open[(i, i)] > NOTHING * prior[i]);
        let root = is_open.then(|| factor_with_jitter(open)).transpose()?;
        let mut out = Mat::zeros(at.len(), count);
        for draw in 0..count {
            let mut left: f64 = StandardUniform.sample(random);
            let chosen = lift.weights().iter().position(|w| {
                left -= w;
                left < 0.0
            });
            let chosen = chosen.unwrap_or(0);
            let column = out.col_as_slice_mut(draw);
            for (i, x) in column.iter_mut().enumerate() {
                *x = values[(i, chosen)];
            }
            if let Some(root) = &root {
                let z: Vec<f64> = (0..at.len())
                    .map(|_| StandardNormal.sample(random))
                    .collect();
                for (x, away) in column.iter_mut().zip(root.multiply(&z)) {
                    *x += away;
                }
            }
        }
        Ok(out)
    }

    /// Means of linear functionals given each draw, shape `[m, draws]`.
    pub(super) fn lifted_means(
        &self,
        component: &Component,
        lift: &Ready<'_>,
        at: &Functionals,
    ) -> Mat<f64> {
        let prior = self.problem.mean().means(at);
        let cross = self.problem.drawn().parted_cross(&component.theta, at);
        lift.given(&prior, cross).0
    }

    /// Values given each draw, and the covariance of what a draw leaves open.
    fn lifted_values(
        &self,
        component: &Component,
        lift: &Ready<'_>,
        at: &Functionals,
    ) -> (Mat<f64>, Mat<f64>) {
        let theta = &component.theta;
        let prior = self.problem.mean().means(at);
        let (values, whitened) = lift.given(&prior, self.problem.drawn().parted_cross(theta, at));
        let reduction = gemm(whitened.transpose(), whitened.as_ref());
        (
            values,
            self.problem.prior().kernel_covariance(theta, at) - reduction,
        )
    }

    /// The latent values that the totals of a part amount to: with the mean and variance of
    /// `sum_i w_i link(f(x_i))` over the draws and what each of them leaves open, in strata of
    /// the draws.
    ///
    /// None for a row whose function is so uncertain that its mean after the link is no number.
    ///
    /// Where rows hold a total, each draw holds it to no more than what it meets of them.
    ///
    /// # Arguments
    /// * `part` - rows of weighted points
    /// * `points` - these points, one a row
    /// * `holding` - the observed rows that hold each row
    /// * `strata` - shares of the draws, each of which has a belief about the row
    pub(super) fn lifted_totals(
        &self,
        component: &Component,
        (lift, shared): (&Ready<'_>, Option<(&SharedOut, &Mat<f64>)>),
        (part, points, holding): (&Functionals, &Functionals, &[Option<Holding>]),
        (link, strata): (Link, &[f64]),
    ) -> Vec<Option<Vec<Belief>>> {
        let theta = &component.theta;
        let prior = self.problem.mean().means(points);
        let (values, whitened) =
            lift.given(&prior, self.problem.drawn().parted_cross(theta, points));
        (0..part.len())
            .into_par_iter()
            .map(|row| {
                let atoms = part.atoms(row);
                let weights = &part.weight()[atoms.clone()];
                let whole: f64 = weights.iter().sum();
                let shares: Vec<f64> = weights.iter().map(|w| w / whole).collect();
                let own: Vec<usize> = atoms.clone().collect();
                let before = self
                    .problem
                    .prior()
                    .kernel_covariance(theta, &points.rows(&own));
                let w = whitened.as_ref().subcols(atoms.start, atoms.len());
                let left = &before - gemm(w.transpose(), w);
                // Factors behind `exp` are of all that is left open, however little it is.
                let is_shared = shared.is_some() && link == Link::Exp;
                let is_open =
                    is_shared || (0..own.len()).any(|i| left[(i, i)] > NOTHING * before[(i, i)]);
                let seen = TotalDraws {
                    shares: &shares,
                    values: values.as_ref().subrows(atoms.start, atoms.len()),
                    open: is_open.then_some(left),
                    draws: lift.weights(),
                    most: holding[row].as_ref().and_then(|h| most(lift, h, whole)),
                    factors: shared.map(|(shared, factors)| {
                        let owner = |atom| shared.owner(&place(part, atom));
                        let owners: Vec<Option<usize>> = atoms.clone().map(owner).collect();
                        Factors {
                            are_whole: shared.are_whole(&owners),
                            owners,
                            factors,
                        }
                    }),
                };
                let drawn = match link {
                    Link::Exp => seen.of_exp(),
                    _ if shared.is_some() => Some(seen.by_moments(link)),
                    _ => seen.by_draws(link),
                };
                let beliefs = drawn?.beliefs(lift.weights(), link, strata)?;
                let scaled = beliefs.into_iter().map(|b| link.scaled(b, whole));
                Some(scaled.collect())
            })
            .collect()
    }
}

/// Upper bound, in each draw, of the average over a covered total of weight `whole`; none where the
/// draws do not meet one of the covering rows.
fn most(lift: &Ready<'_>, holding: &Holding, whole: f64) -> Option<Vec<f64>> {
    let mut most = vec![0.0; lift.weights().len()];
    for &(row, factor) in holding {
        let averages = lift.averages(row)?;
        let pairs = most.iter_mut().zip(averages);
        pairs.for_each(|(most, average)| *most += factor / whole * average);
    }
    Some(most)
}

/// Mean and variance of an unknown coefficient of the mean given the draws, from its prior.
///
/// # Arguments
/// * `constant` - its place among those that are unknown
pub(crate) fn lifted_constant(lift: &Ready<'_>, prior: &MeanPrior, constant: usize) -> Belief {
    let (mean, variance) = weighted(lift.weights(), &lift.levels(constant));
    Belief {
        mean: prior.mean + prior.sd * mean,
        variance: prior.sd * prior.sd * variance,
    }
}

#[cfg(test)]
mod tests {
    use crate::error::FitError;
    use crate::kernel::Kernel;
    use crate::likelihood::Poisson;
    use crate::link::Link;
    use crate::model::Model;
    use crate::model::{FitOptions, Observations, Scale, Setting};
    use crate::support::{Aggregate, Functionals};

    /// Of counts over bands, whose posterior is that of weighted draws.
    #[test]
    fn joint_covariances_have_the_predicted_variances() -> Result<(), FitError> {
        let bands: Vec<(f64, f64)> = (0..5)
            .map(|i| (10.0 * f64::from(i), 10.0 * f64::from(i + 1)))
            .collect();
        let set = Functionals::intervals("age", &bands, Aggregate::Sum)?;
        let counts = vec![31.0, 58.0, 90.0, 9.0, 12.0];
        let counts = Poisson::new(counts, vec![1.0; 5], Link::Exp)?;
        let posterior = Model::new(Kernel::se(["age"]))
            .set("se.variance", Setting::fixed(1.0))
            .set("se.lengthscale.age", Setting::fixed(6.0))
            .observe(Observations::new(set, counts)?)
            .fit(&FitOptions::default())?;
        assert!(posterior.components[0].conditioned.lift.is_some());
        let at = Functionals::points("age", &[3.0, 4.0, 27.0, 60.0])?;
        let joint = posterior.covariance(&at)?;
        let each = posterior.predict(&at, Scale::Latent)?;
        for (i, sd) in each.sd().iter().enumerate() {
            // Sums over the same draws, in another order.
            assert!((joint[(i, i)] / (sd * sd) - 1.0).abs() < 1e-10, "{i}");
            for j in 0..i {
                let most = (joint[(i, i)] * joint[(j, j)]).sqrt();
                assert!(joint[(i, j)].abs() < most, "{i} {j}");
            }
        }
        // Places a sixth of a lengthscale apart differ by little.
        assert!(joint[(0, 1)] > 0.9 * joint[(0, 0)].min(joint[(1, 1)]));
        Ok(())
    }
}
