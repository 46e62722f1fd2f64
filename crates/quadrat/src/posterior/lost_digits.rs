//! Small variances of which rounding leaves nothing, computed another way.
//!
//! $$ v = k(x, x) - k' K_y^{-1} k $$
//!
//! is a difference of two numbers of the size of the prior variance, known to their rounding. Where
//! next to nothing is left, a functional that is a combination `sum c_i L_i` of rows, such as a row
//! itself or the total of some, is told by their noise `N`,
//!
//! $$ v = c' N c - c' N K_y^{-1} N c $$
//!
//! in which nothing cancels. Any other is told by the rounding: not by less, which nobody can know.
//! The same of covariances: of a combination of rows with a functional `g` of any kind it is `c' N
//! K_y^{-1} k_g`.

use super::component::Component;
use super::marginals::{LOST, Marginals, PriorMarginals};
use super::mixture::Posterior;
use super::normal_mixture::not_negative;
use crate::inference::Factor;
use crate::kernel::Kernel;
use crate::linalg::{Mat, dot};
use crate::problem::kernel_products::{limit, of_kernel};
use crate::problem::row_products::RowProducts;
use crate::support::Functionals;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A variance is raised to its rounding error where that is more than this share of it: a
/// hundredth, half of that in the sd.
const TOLD: f64 = 0.01;

/// A row is unresolved where the rounding error of its variance exceeds this share of the least
/// noise variance: a hundredth of its sd.
const MATTERS: f64 = 1e-4;

/// Functionals looked at together: bounds memory to this many columns.
const TOGETHER: usize = 1024;

/// Rows, and how often each is in a functional.
pub(super) type MadeOf = Vec<(usize, f64)>;
/// The rows that functionals are made of, found once where they are asked for.
pub(super) type MadeOfRows = OnceLock<Vec<Option<MadeOf>>>;

impl Posterior {
    /// Tells variances of which next to nothing is left in another way.
    ///
    /// # Arguments
    /// * `at` - the functionals, of the kernel's columns
    /// * `nodes` - their marginals, one for every component
    pub(crate) fn mend(&self, at: &Functionals, nodes: &mut [Marginals]) {
        let lost: BTreeSet<usize> = nodes.iter().flat_map(|node| node.lost.clone()).collect();
        let lost: Vec<usize> = lost.into_iter().collect();
        for lost in lost.chunks(TOGETHER) {
            let asked = at.rows(lost);
            let (rows, mean) = (self.problem.supports(), self.problem.mean());
            let of = combinations(self.problem.kernel(), rows, &asked, mean.is_any());
            let each = nodes.par_iter_mut().zip(&self.components);
            each.for_each(|(node, component)| {
                // Nodes of sums and inducing points are no rows, and have no noise.
                if component.conditioned.noise.len() == rows.len() {
                    Rows::new(self, component).mend(node, lost, &asked, &of);
                }
            });
        }
    }

    /// The same of joint covariances, so that sums and draws are as sure as the rows make them.
    ///
    /// # Arguments
    /// * `at` - the functionals, of the kernel's columns, and the rows that each is made of
    /// * `prior` - their variances before the rows
    /// * `covariance` - after them, shape `[m, m]`
    pub(super) fn mend_joint(
        &self,
        component: &Component,
        (at, made): (&Functionals, &MadeOfRows),
        prior: &[f64],
        covariance: &mut Mat<f64>,
    ) {
        let is_lost = |j: &usize| covariance[(*j, *j)] <= LOST * prior[*j];
        let lost: Vec<usize> = (0..at.len()).filter(is_lost).collect();
        let (rows, mean) = (self.problem.supports(), self.problem.mean());
        if lost.is_empty() || component.conditioned.noise.len() != rows.len() {
            return;
        }
        let made =
            made.get_or_init(|| combinations(self.problem.kernel(), rows, at, mean.is_any()));
        let is_lost = |j: usize| lost.binary_search(&j).is_ok();
        let made = made.iter().enumerate();
        let made: Vec<Option<&MadeOf>> = made
            .map(|(j, of)| of.as_ref().filter(|_| is_lost(j)))
            .collect();
        Rows::new(self, component).mend_joint(at, (&lost, &made), covariance);
    }
}

/// The rows that were conditioned on, at one value of the hyperparameters.
struct Rows<'a> {
    posterior: &'a Posterior,
    component: &'a Component,
    /// Prior variances.
    prior: Vec<f64>,
    /// The least noise variance that is not zero.
    least: f64,
}

impl<'a> Rows<'a> {
    fn new(posterior: &'a Posterior, component: &'a Component) -> Self {
        let problem = &posterior.problem;
        let noises = component.conditioned.noise.iter().filter(|v| **v > 0.0);
        Self {
            least: noises.fold(f64::INFINITY, |least, v| least.min(*v)),
            prior: match component.conditioned.factor {
                Factor::Basis(_) => problem
                    .prior()
                    .variance_apart(&component.theta, problem.supports()),
                _ => problem
                    .prior()
                    .variance(&component.theta, problem.supports()),
            },
            posterior,
            component,
        }
    }

    /// Noise of a row as it was factorised, jitter included.
    fn noise(&self, row: usize) -> f64 {
        let conditioned = &self.component.conditioned;
        let noise = conditioned.noise[row];
        noise + conditioned.jitter * (self.prior[row] + noise)
    }

    /// # Arguments
    /// * `lost`, `asked` - positions of functionals in `node`, and these
    /// * `of` - the rows that each is made of
    fn mend(
        &self,
        node: &mut Marginals,
        lost: &[usize],
        asked: &Functionals,
        of: &[Option<MadeOf>],
    ) {
        let is_own = |k: &usize| node.lost.binary_search(&lost[*k]).is_ok();
        let own: Vec<usize> = (0..lost.len()).filter(is_own).collect();
        let asked = asked.rows(&own);
        let PriorMarginals {
            cross: mut columns,
            variance: variances,
            mut coefficients,
            ..
        } = self.posterior.prior_beside(self.component, &asked);
        let own: Vec<(usize, Option<&MadeOf>, f64)> = own
            .iter()
            .zip(variances)
            .map(|(&k, variance)| {
                // Of rows that are less precise than the prior this form cancels.
                let of = of[k].as_ref().filter(|of| self.noisy(of) <= variance);
                (lost[k], of, variance)
            })
            .collect();
        for (j, (_, of, _)) in own.iter().enumerate() {
            if let Some(of) = of {
                self.set_noise(of, j, (&mut columns, &mut coefficients));
            }
        }
        let seen = columns.clone();
        let columns = self.weights(columns, coefficients);
        for (j, (at, of, variance)) in own.into_iter().enumerate() {
            let weights = columns.col_as_slice(j);
            if let Some(of) = of {
                let left = self.noisy(of) - dot(seen.col_as_slice(j), weights);
                node.variance[at] = not_negative(left).min(self.most(of));
                continue;
            }
            let rounding = self.rounding(variance, weights);
            if rounding > TOLD * node.variance[at] {
                node.variance[at] = rounding.max(node.variance[at]).min(variance);
                if rounding > MATTERS * self.least {
                    node.unresolved.push(at);
                }
            }
        }
    }

    /// As [`Posterior::mend_joint`].
    ///
    /// # Arguments
    /// * `lost` - functionals of which next to nothing is left
    /// * `made` - the rows that each functional is made of
    fn mend_joint(
        &self,
        at: &Functionals,
        (lost, made): (&[usize], &[Option<&MadeOf>]),
        covariance: &mut Mat<f64>,
    ) {
        let PriorMarginals {
            cross: mut columns,
            variance: variances,
            mut coefficients,
            ..
        } = self.posterior.prior_beside(self.component, at);
        // As where functionals are told one by one.
        let of = |j: usize| made[j].filter(|of| self.noisy(of) <= variances[j]);
        for &j in lost {
            if let Some(of) = of(j) {
                self.set_noise(of, j, (&mut columns, &mut coefficients));
            }
        }
        let seen = columns.clone();
        let weights = self.weights(columns, coefficients);
        for &i in lost {
            let Some(own) = of(i) else {
                let rounding = self.rounding(variances[i], weights.col_as_slice(i));
                if rounding > TOLD * covariance[(i, i)] {
                    let raised = rounding.max(covariance[(i, i)]).min(variances[i]);
                    covariance[(i, i)] = raised;
                }
                continue;
            };
            for j in 0..at.len() {
                let column = seen.col_as_slice(j);
                let both = dot(seen.col_as_slice(i), weights.col_as_slice(j));
                let value = match of(j) {
                    Some(_) => own.iter().map(|(row, c)| c * column[*row]).sum::<f64>() - both,
                    None => both,
                };
                (covariance[(i, j)], covariance[(j, i)]) = (value, value);
            }
        }
        for &i in lost {
            if let Some(own) = of(i) {
                let left = not_negative(covariance[(i, i)]);
                let scale = match self.most(own) < left {
                    true => (self.most(own) / left).sqrt(),
                    false => 1.0,
                };
                for j in (0..at.len()).filter(|&j| j != i) {
                    covariance[(i, j)] *= scale;
                    covariance[(j, i)] *= scale;
                }
                covariance[(i, i)] = left * scale * scale;
            }
        }
    }

    /// `c' N c`, jitter included.
    fn noisy(&self, of: &[(usize, f64)]) -> f64 {
        of.iter().map(|(i, c)| c * c * self.noise(*i)).sum()
    }

    /// The variance that the rows alone leave: jitter is no noise.
    fn most(&self, of: &[(usize, f64)]) -> f64 {
        let noise = &self.component.conditioned.noise;
        of.iter().map(|(i, c)| c * c * noise[*i]).sum()
    }

    /// Puts `N c` in the place of a functional's covariance with the rows.
    fn set_noise(
        &self,
        of: &MadeOf,
        j: usize,
        (columns, coefficients): (&mut Mat<f64>, &mut Option<Mat<f64>>),
    ) {
        columns.col_as_slice_mut(j).fill(0.0);
        if let Some(coefficients) = coefficients {
            coefficients.row_mut(j).fill(0.0);
        }
        for (i, c) in of {
            columns[(*i, j)] = c * self.noise(*i);
        }
    }

    /// `Ky^-1` of these columns.
    fn weights(&self, mut columns: Mat<f64>, coefficients: Option<Mat<f64>>) -> Mat<f64> {
        match (&self.component.conditioned.factor, coefficients) {
            (Factor::Basis(basis), Some(coefficients)) => {
                basis.weights(columns, coefficients.as_ref())
            }
            (factor, _) => {
                factor.solve_in_place(columns.as_mut());
                columns
            }
        }
    }

    /// How far rounding may move `k(x, x) - 2 w' k + w' Ky w`: every covariance by `n eps` of the
    /// sds that it is of.
    ///
    /// # Arguments
    /// * `variance` - `k(x, x)`
    /// * `weights` - `w = Ky^-1 k`
    fn rounding(&self, variance: f64, weights: &[f64]) -> f64 {
        let sizes = weights.iter().enumerate().map(|(row, w)| match *w == 0.0 {
            // Its noise may be infinite.
            true => 0.0,
            false => w.abs() * (self.prior[row] + self.noise(row)).sqrt(),
        });
        let size = variance.sqrt() + sizes.sum::<f64>();
        weights.len() as f64 * f64::EPSILON * size * size
    }
}

/// What every asked functional is made of, where it is a combination of the known ones under every
/// kernel of these columns, whatever its hyperparameters.
pub(super) fn combinations(
    kernel: &Kernel,
    known: &Functionals,
    asked: &Functionals,
    has_mean: bool,
) -> Vec<Option<MadeOf>> {
    let mut out = vec![None; asked.len()];
    let mut all = known.clone();
    // Same columns: both were made for the kernel.
    if all.extend(asked).is_err() {
        return out;
    }
    let Some(products) = of_kernel(kernel, &all, has_mean) else {
        return out;
    };
    let n = known.len();
    let gram = RowProducts::new(&all, &products, |row| row < n);
    for (row, of) in gram.dependent(limit(&all)) {
        if row >= n && of.iter().all(|(other, _)| *other < n) {
            out[row - n] = Some(of);
        }
    }
    out
}
