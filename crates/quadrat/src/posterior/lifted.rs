//! Answers from draws that meet what the rows report.

use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};
use rayon::prelude::*;

use super::component::Component;
use super::draws::factor_with_jitter;
use super::mixture::Posterior;
use super::shared_out::{SharedOut, place};
use super::within::Holding;
use crate::error::FitError;
use crate::inference::pooled::{Lift, Ready};
use crate::likelihood::local::Belief;
use crate::linalg::{Cholesky, Mat, MatRef, dot, gemm, matvec};
use crate::link::{Link, QuasiMean};
use crate::problem::mean::MeanPrior;
use crate::special::elementary;
use crate::support::Functionals;

/// What a draw leaves open of a place is nothing below this part of its prior variance: the prior
/// is factorised no more accurately.
const NOTHING: f64 = 1e-6;
/// Sums that are known exceed what holds them by no more than this.
const ROUNDING: f64 = 1e-12;
/// The same where their means are quadratures.
const QUADRATURE: f64 = 1e-6;
/// Above this variance of what is left open, the means of sums after `exp` are no numbers.
const LARGE: f64 = 200.0;
/// Added to the diagonal of what is left open, relative to it, until it can be factorised: that may
/// be known to a hundredth only, as small differences are.
const JITTERS: [f64; 4] = [1e-10, 1e-8, 1e-6, 1e-4];

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

    /// Means and variances of linear functionals of the function, from the draws.
    pub(crate) fn lifted_moments(
        &self,
        component: &Component,
        lift: &Ready<'_>,
        parts: &[Functionals],
    ) -> (Vec<f64>, Vec<f64>) {
        let theta = &component.theta;
        let (mut means, mut variances) = (Vec::new(), Vec::new());
        for part in parts {
            let prior = self.problem.mean().means(part);
            let (values, whitened) =
                lift.given(&prior, self.problem.drawn().parted_cross(theta, part));
            let open = self.problem.prior().kernel_variance(theta, part);
            for (row, open) in open.iter().enumerate() {
                let w = whitened.col_as_slice(row);
                let each: Vec<f64> = (0..values.ncols())
                    .map(|draw| values[(row, draw)])
                    .collect();
                let (mean, variance) = weighted(lift.weights(), &each);
                means.push(mean);
                variances.push(variance + (open - dot(w, w)).max(0.0));
            }
        }
        (means, variances)
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
    /// `sum_i w_i link(f(x_i))` over the draws and what each of them leaves open.
    ///
    /// None for a row whose function is so uncertain that its mean after the link is no number.
    ///
    /// Where rows hold a total, each draw holds it to no more than what it meets of them.
    ///
    /// # Arguments
    /// * `part` - rows of weighted points
    /// * `points` - these points, one a row
    /// * `holding` - the observed rows that hold each row
    pub(super) fn lifted_totals(
        &self,
        component: &Component,
        (lift, shared): (&Ready<'_>, Option<(&SharedOut, &Mat<f64>)>),
        (part, points, holding): (&Functionals, &Functionals, &[Option<Holding>]),
        link: Link,
    ) -> Vec<Option<Belief>> {
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
                let seen = Seen {
                    shares: &shares,
                    values: values.as_ref().subrows(atoms.start, atoms.len()),
                    open: is_open.then_some(left),
                    draws: lift.weights(),
                    most: holding[row].as_ref().and_then(|h| most(lift, h, whole)),
                    factors: shared.map(|(shared, factors)| {
                        let owner = |atom| shared.owner(&place(part, atom));
                        (atoms.clone().map(owner).collect(), factors)
                    }),
                };
                let belief = match link {
                    Link::Exp => seen.of_exp(),
                    _ if shared.is_some() => seen.by_moments(link),
                    _ => seen.by_draws(link, row as u64),
                };
                belief.map(|belief| link.scaled(belief, whole))
            })
            .collect()
    }
}

/// One total as the draws see it.
struct Seen<'a> {
    shares: &'a [f64],
    /// Values of its nodes, shape `[nodes, draws]`.
    values: MatRef<'a, f64>,
    /// Covariance of its nodes given a draw, where it is not nothing.
    open: Option<Mat<f64>>,
    /// Weights of the draws.
    draws: &'a [f64],
    /// What it is at most in each draw, where rows hold it.
    most: Option<Vec<f64>>,
    /// The row that shares out what lies at each node, and the factors of these in each draw.
    factors: Option<(Vec<Option<usize>>, &'a Mat<f64>)>,
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

impl Seen<'_> {
    /// By what a node is multiplied in a draw.
    fn factor(&self, node: usize, draw: usize) -> f64 {
        match &self.factors {
            Some((owners, factors)) => owners[node].map_or(1.0, |row| factors[(row, draw)]),
            None => 1.0,
        }
    }

    /// In closed form given each draw: with `R` what is left open and `e_i = p_i e^(f_i + R_ii /
    /// 2)` the sum has mean `sum_i e_i` and variance `sum_ij e_i e_j (e^(R_ij) - 1)`.
    ///
    /// Where the sum is at most `T`, a larger mean is impossible: what is left open is then so much
    /// that only `sum_i p_i e^(f_i)` says how `T` is shared. A variance is at most `mean (T -
    /// mean)`.
    fn of_exp(&self) -> Option<Belief> {
        let n = self.shares.len();
        let half: Vec<f64> = match &self.open {
            None => vec![0.0; n],
            Some(open) => (0..n).map(|i| 0.5 * open[(i, i)].max(0.0)).collect(),
        };
        if self.most.is_none() && half.iter().any(|h| 2.0 * h > LARGE) {
            return None;
        }
        let ties = self
            .open
            .as_ref()
            .map(|open| Mat::from_fn(n, n, |i, j| open[(i, j)].exp_m1()));
        let log = |i: usize, draw: usize| {
            self.shares[i].ln() + self.values[(i, draw)] + self.factor(i, draw).ln()
        };
        let draws = 0..self.values.ncols();
        // Draws of no weight need not be numbers that matter.
        let heard = |draw: &usize| self.draws[*draw] > 0.0;
        let top = draws
            .clone()
            .filter(heard)
            .flat_map(|draw| (0..n).map(move |i| (i, draw)))
            .map(|(i, draw)| log(i, draw))
            .fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return None;
        }
        let mut sums = Vec::with_capacity(draws.len());
        let mut within = 0.0;
        for draw in draws {
            if self.draws[draw] == 0.0 {
                sums.push(0.0);
                continue;
            }
            let exp = |x: f64| elementary::exp(x - top);
            let e: Vec<f64> = (0..n).map(|i| exp(log(i, draw) + half[i])).collect();
            let mut sum: f64 = e.iter().sum();
            let mut own = match &ties {
                Some(ties) => dot(&e, &matvec(ties.as_ref(), &e)),
                None => 0.0,
            };
            if let Some(most) = &self.most {
                let most = exp(most[draw].ln());
                // What makes up all of it exceeds it by rounding.
                if sum.is_nan() || sum > most * (1.0 + ROUNDING) {
                    let shared: f64 = (0..n).map(|i| exp(log(i, draw))).sum();
                    sum = shared;
                }
                sum = sum.min(most);
                // The smaller one also of what is no number.
                own = own.min(sum * (most - sum));
            }
            sums.push(sum);
            within += self.draws[draw] * own;
        }
        let (mean, between) = weighted(self.draws, &sums);
        let belief = Link::Exp.equivalent(mean, between + within.max(0.0));
        let is_number = belief.mean.is_finite() && belief.variance.is_finite();
        is_number.then_some(Belief {
            mean: belief.mean + top,
            ..belief
        })
    }

    /// Given each draw the sum of the nodes' means, which add up to what is shared out, and a
    /// variance along their slopes: `sum_ij s_i s_j R_ij` with `R` what is left open.
    fn by_moments(&self, link: Link) -> Option<Belief> {
        let n = self.shares.len();
        let mut sums = Vec::with_capacity(self.values.ncols());
        let mut within = 0.0;
        for draw in 0..self.values.ncols() {
            if self.draws[draw] == 0.0 {
                sums.push(0.0);
                continue;
            }
            let (mut sum, mut slopes) = (0.0, Vec::with_capacity(n));
            for (i, share) in self.shares.iter().enumerate() {
                let mean = self.values[(i, draw)];
                let variance = self.open.as_ref().map_or(0.0, |open| open[(i, i)].max(0.0));
                let seen = link.moments(Belief { mean, variance });
                let size = share * self.factor(i, draw);
                sum += size * seen.mean;
                slopes.push(size * seen.slope);
            }
            let mut own = match &self.open {
                Some(open) => dot(&slopes, &matvec(open.as_ref(), &slopes)),
                None => 0.0,
            };
            if let Some(most) = &self.most {
                let most = most[draw];
                // What makes up all of it does so but for the quadrature behind the means.
                let is_whole = (sum / most - 1.0).abs() < QUADRATURE;
                sum = if is_whole { most } else { sum.min(most) };
                own = own.min(sum * (most - sum));
            }
            sums.push(sum);
            within += self.draws[draw] * own;
        }
        let (mean, between) = weighted(self.draws, &sums);
        let belief = link.equivalent(mean, between + within.max(0.0));
        (belief.mean.is_finite() && belief.variance.is_finite()).then_some(belief)
    }

    /// With a draw of what is left open for each draw, opposite for opposite draws.
    fn by_draws(&self, link: Link, seed: u64) -> Option<Belief> {
        let (n, count) = (self.shares.len(), self.values.ncols());
        let mut values = self.values.to_owned();
        if let Some(open) = &self.open {
            let root = JITTERS.iter().find_map(|jitter| {
                let mut raised = open.clone();
                (0..n).for_each(|i| raised[(i, i)] += jitter * open[(i, i)].abs());
                Cholesky::factor_owned(raised).ok()
            })?;
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            for pair in 0..count / 2 {
                let z: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut random)).collect();
                for (i, x) in root.multiply(&z).into_iter().enumerate() {
                    values[(i, 2 * pair)] += x;
                    values[(i, 2 * pair + 1)] -= x;
                }
            }
        }
        let one = |draw: usize| {
            let z = QuasiMean::new(link, self.shares, values.col_as_slice(draw));
            link.value(z.value)
        };
        let mut sums: Vec<f64> = (0..count).map(one).collect();
        for (sum, most) in sums.iter_mut().zip(self.most.iter().flatten()) {
            *sum = sum.min(*most);
        }
        let (mut mean, variance) = weighted(self.draws, &sums);
        if link.is_probability() {
            // Next to nothing and next to all are numbers too.
            mean = mean.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON);
        }
        let belief = link.equivalent(mean, variance);
        (belief.mean.is_finite() && belief.variance.is_finite()).then_some(belief)
    }
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

/// Mean and variance of weighted values; those of no weight are not looked at.
fn weighted(weights: &[f64], values: &[f64]) -> (f64, f64) {
    let heard = || weights.iter().zip(values).filter(|(w, _)| **w > 0.0);
    let mean: f64 = heard().map(|(w, x)| w * x).sum();
    let variance = heard().map(|(w, x)| w * (x - mean).powi(2)).sum();
    (mean, variance)
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
