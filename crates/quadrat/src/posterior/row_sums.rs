//! What rows that are sums after a link say of sums, where a normal belief of the function cannot
//! hold it.
//!
//! Of the totals `t` of some rows and another total `T` a normal belief about the function knows
//! the means and covariances, `C = Cov(t)` and `c = Cov(t, T)`. Where the rows themselves tell `t`
//! to have the means `t'` and the variances `V`, which are less, the regression of `T` on `t` takes
//! this to
//!
//! $$ \operatorname E T + b' (t' - \operatorname E t), \qquad \operatorname{Var} T - c' b + b' V b,
//! \qquad b = C^{-1} c $$
//!
//! A row so has what it tells, and a union of rows what they tell together, as it has their nodes
//! ([`cut`](crate::problem::pooled::cut)); means of the parts of a row still add up to it.

use super::component::Component;
use super::mixture::Posterior;
use super::normal_mixture::not_negative;
use crate::inference::pooled::total;
use crate::inference::sites::Block;
use crate::likelihood::local::Belief;
use crate::linalg::{Cholesky, Mat, dot};
use crate::link::{Link, Linked};
use crate::problem::pooled::is_pooled;
use crate::support::Functionals;

/// Nodes of rows at most, and pairs of them at all hyperparameters together: beyond, a warning is
/// left.
const NODES: usize = 1500;
const PAIRS: f64 = 2e8;
/// A row tells more of its total where its own sd is smaller than that of the belief by this
/// factor: normal beliefs of sums are no better than some hundredths.
const MORE: f64 = 1.02;
/// Steps towards the likeliest total of a row, the longest, and how near is there: in sds of the
/// row, and relative to the latent value. Towards the zero of a row that counts nothing all steps
/// are one long, while its sd grows without bound.
const STEPS: usize = 50;
const LONGEST: f64 = 2.0;
const NEAR: f64 = 1e-9;
const STILL: f64 = 1e-3;
/// Means that the regression would take below this part are left: it is of no use there.
const LEAST: f64 = 0.2;
/// Likeliest probabilities whose distance to zero or one is below this are at that end.
const EDGE: f64 = 1e-9;
/// Part of its variance that is added to that of every total, so that `C` has a factor.
const JITTER: f64 = 1e-12;

/// Rows that tell more of their totals than the belief about the function.
pub(crate) struct RowSums {
    link: Link,
    /// Their nodes, beliefs about these, and what
    /// [`Factor::whiten`](crate::inference::Factor::whiten) makes of them.
    points: Functionals,
    at: Vec<Belief>,
    reduced: Mat<f64>,
    /// Weights of nodes, and the first node of every row, with the end.
    weights: Vec<f64>,
    first: Vec<usize>,
    /// Of `C`; `t' - E t`; and `V`.
    factor: Cholesky,
    gap: Vec<f64>,
    variance: Vec<f64>,
}

impl RowSums {
    /// None where inference is dense, where rows are too large, or where none tells more.
    pub fn new(posterior: &Posterior, component: &Component, link: Link) -> Option<Self> {
        let rule = posterior.finest_rule();
        let rows = sums(posterior, link)?;
        let observed = posterior.problem.observed();
        let demand = rows.iter().map(|row| rule.demand(&observed.rows(&[row.2])));
        let demand: f64 = demand.sum();
        let pairs = demand * demand * posterior.components.len() as f64;
        if demand > NODES as f64 || pairs > PAIRS {
            return None;
        }
        let blocks = posterior.problem.blocks();
        let of_all: Vec<usize> = rows.iter().map(|row| row.2).collect();
        let nodes = rule.apply(&observed.rows(&of_all));
        let all = BelievedNodes::new(posterior, component, &nodes);
        let told = rows.iter().enumerate().filter_map(|(i, (block, row, _))| {
            let block = &blocks[*block];
            let atoms = nodes.atoms(i);
            let weights = &nodes.weight()[atoms.clone()];
            let covariance = |a: usize, b: usize| all.covariance(atoms.start + a, atoms.start + b);
            let seen = total(link, weights, &all.at[atoms.clone()], covariance);
            let own = own_total(link, block, &component.theta, *row, seen.belief)?;
            let is_more = MORE * MORE * own.variance < seen.variance;
            is_more.then_some((i, own, seen.mean))
        });
        let told: Vec<(usize, Belief, f64)> = told.collect();
        if told.is_empty() {
            return None;
        }
        Self::of(link, &nodes, &all, &told)
    }

    /// Where rows that are sums behind this link end along each dimension, ascending; none where
    /// inference is dense, or where there is none. Nodes of a total that were placed without regard
    /// to them would add their own error of quadrature to what is known of it, and rows that are
    /// many know it to far less than that.
    pub fn ends(posterior: &Posterior, link: Link) -> Option<Vec<Vec<f64>>> {
        let rows = sums(posterior, link)?;
        let observed = posterior.problem.observed();
        Some(observed.ends(rows.iter().map(|row| row.2)))
    }

    /// Of the rows that tell more: which of the nodes' rows, what they tell, and the mean that is
    /// believed.
    fn of(
        link: Link,
        nodes: &Functionals,
        all: &BelievedNodes,
        told: &[(usize, Belief, f64)],
    ) -> Option<Self> {
        let kept: Vec<usize> = told.iter().flat_map(|row| nodes.atoms(row.0)).collect();
        let mut first = vec![0];
        first.extend(told.iter().scan(0, |end, row| {
            *end += nodes.atoms(row.0).len();
            Some(*end)
        }));
        let at: Vec<Belief> = kept.iter().map(|&i| all.at[i]).collect();
        let weights: Vec<f64> = kept.iter().map(|&i| nodes.weight()[i]).collect();
        let linked = Linked::new(link, &at);
        let size = told.len();
        let row_of: Vec<usize> = (0..size)
            .flat_map(|r| vec![r; first[r + 1] - first[r]])
            .collect();
        let mut c = Mat::zeros(size, size);
        let mut values = vec![0.0; kept.len()];
        for i in 0..kept.len() {
            let latent: Vec<f64> = (0..i).map(|j| all.covariance(kept[i], kept[j])).collect();
            linked.covariances(i, &latent, &mut values[..i]);
            let r = row_of[i];
            c[(r, r)] += weights[i] * weights[i] * linked.moments()[i].variance;
            for j in 0..i {
                let both = weights[i] * weights[j] * values[j];
                c[(r, row_of[j])] += both;
                c[(row_of[j], r)] += both;
            }
        }
        (0..size).for_each(|r| c[(r, r)] *= 1.0 + JITTER);
        let factor = Cholesky::factor_owned(c).ok()?;
        let gap: Vec<f64> = told.iter().map(|(_, own, mean)| own.mean - mean).collect();
        let is_known = gap.iter().all(|gap| gap.is_finite());
        is_known.then(|| Self {
            link,
            points: all.points.rows(&kept),
            reduced: Mat::from_fn(all.reduced.nrows(), kept.len(), |i, j| {
                all.reduced[(i, kept[j])]
            }),
            at,
            weights,
            first,
            factor,
            gap,
            variance: told.iter().map(|row| row.1.variance).collect(),
        })
    }

    /// The belief about the latent value of a total, from that without what the rows tell.
    pub fn tell(
        &self,
        posterior: &Posterior,
        nodes: &TotalNodes<'_>,
        weights: &[f64],
        belief: Belief,
    ) -> Belief {
        let problem = &posterior.problem;
        let prior = problem.prior();
        let latent = prior.cross(nodes.theta, &self.points, nodes.points);
        let variances = prior.variance(nodes.theta, nodes.points);
        let mut at = self.at.clone();
        at.extend(nodes.beliefs(|i| variances[i]));
        let linked = Linked::new(self.link, &at);
        let own = self.weights.len();
        let mut covariance = vec![0.0; self.gap.len()];
        let mut values = vec![0.0; own];
        for (i, weight) in weights.iter().enumerate() {
            let column = nodes.reduced.col_as_slice(nodes.first + i);
            let known: Vec<f64> = (0..own)
                .map(|j| latent[(j, i)] - dot(self.reduced.col_as_slice(j), column))
                .collect();
            linked.covariances(own + i, &known, &mut values);
            for (row, out) in covariance.iter_mut().enumerate() {
                let range = self.first[row]..self.first[row + 1];
                *out += weight * dot(&self.weights[range.clone()], &values[range]);
            }
        }
        let seen = self.link.moments(belief);
        let along = self.factor.solve(&covariance);
        let mean = seen.mean + dot(&along, &self.gap);
        let left = (seen.variance - dot(&along, &covariance)).max(0.0);
        let told: f64 = along
            .iter()
            .zip(&self.variance)
            .map(|(b, v)| b * b * v)
            .sum();
        let variance = (left + told).min(seen.variance);
        // No regression ends at one, where probabilities do.
        let is_mean = !self.link.is_probability() || mean < 1.0;
        match is_mean && mean > LEAST * seen.mean && variance > 0.0 && mean.is_finite() {
            true => self.link.equivalent(mean, variance),
            false => belief,
        }
    }
}

/// Rows behind this link that are sums: the block of each, its place there, and among all rows.
/// None where inference is dense, which has another way, or where there is none.
fn sums(posterior: &Posterior, link: Link) -> Option<Vec<(usize, usize, usize)>> {
    let problem = &posterior.problem;
    problem.sparse()?;
    let observed = problem.observed();
    let (mut rows, mut start) = (Vec::new(), 0);
    for (block, table) in posterior.tables.iter().enumerate() {
        let all = 0..table.supports().len();
        if table.likelihood().mean_link() == Some(link) && is_pooled(table) {
            let sums = all.clone().filter(|row| !observed.is_point(start + row));
            rows.extend(sums.map(|row| (block, row, start + row)));
        }
        start += all.len();
    }
    (!rows.is_empty()).then_some(rows)
}

/// All nodes of rows under the belief.
pub(super) struct BelievedNodes {
    points: Functionals,
    at: Vec<Belief>,
    reduced: Mat<f64>,
    prior: Mat<f64>,
}

impl BelievedNodes {
    pub fn new(posterior: &Posterior, component: &Component, nodes: &Functionals) -> Self {
        let (problem, theta) = (&posterior.problem, &component.theta);
        let points = nodes.atoms_as_points();
        let cross = problem.cross(theta, &points);
        let prior = problem.prior().covariance(theta, &points);
        let alpha = &component.conditioned.alpha;
        let mean: Vec<f64> = (0..points.len())
            .map(|j| problem.mean().mean(&points, j) + dot(cross.col_as_slice(j), alpha))
            .collect();
        let reduced = component.conditioned.factor.whiten(cross);
        let at = mean.into_iter().enumerate().map(|(i, mean)| {
            let column = reduced.col_as_slice(i);
            let variance = (prior[(i, i)] - dot(column, column)).max(0.0);
            Belief { mean, variance }
        });
        Self {
            at: at.collect(),
            points,
            reduced,
            prior,
        }
    }

    /// The latent value that the total of one of the rows amounts to.
    pub fn total(&self, link: Link, nodes: &Functionals, row: usize) -> Belief {
        let atoms = nodes.atoms(row);
        let covariance = |a: usize, b: usize| self.covariance(atoms.start + a, atoms.start + b);
        let (weights, at) = (&nodes.weight()[atoms.clone()], &self.at[atoms.clone()]);
        total(link, weights, at, covariance).belief
    }

    fn covariance(&self, i: usize, j: usize) -> f64 {
        self.prior[(i, j)] - dot(self.reduced.col_as_slice(i), self.reduced.col_as_slice(j))
    }
}

/// The likeliest total of a row and its variance, by the row alone; none where it bounds the total
/// on one side only.
fn own_total(
    link: Link,
    block: &Block<'_>,
    theta: &[f64],
    row: usize,
    near: Belief,
) -> Option<Belief> {
    let own = block.own_values(theta);
    let mut z = near.mean;
    for _ in 0..STEPS {
        let here = block.likelihood.log_density(&own, row, z);
        if !(here.second < 0.0 && here.first.is_finite()) {
            return None;
        }
        let step = -here.first / here.second;
        z += step.clamp(-LONGEST, LONGEST);
        let is_still = step.abs() < STILL * (1.0 + z.abs());
        if is_still && step.abs() * (-here.second).sqrt() < NEAR {
            let [mean, slope, ..] = link.jet(z);
            let variance = slope * slope / -here.second;
            // All or none of the trials bound a probability on one side only.
            let is_inside = !link.is_probability() || mean * (1.0 - mean) > EDGE;
            let is_told = is_inside && mean > 0.0 && variance.is_finite() && variance > 0.0;
            return is_told.then_some(Belief { mean, variance });
        }
    }
    None
}

/// The nodes of one total.
pub(crate) struct TotalNodes<'a> {
    pub theta: &'a [f64],
    pub points: &'a Functionals,
    pub(crate) mean: &'a [f64],
    /// Of all nodes of the chunk, see [`Factor::whiten`](crate::inference::factor::Factor::whiten).
    pub reduced: &'a Mat<f64>,
    /// Which of them is the first here.
    pub first: usize,
}

impl TotalNodes<'_> {
    /// By what the data make the covariance of two nodes smaller.
    pub(crate) fn reduction(&self, i: usize, j: usize) -> f64 {
        let column = |k: usize| self.reduced.col_as_slice(self.first + k);
        dot(column(i), column(j))
    }

    /// What is believed about every node, from its prior variance.
    pub fn beliefs(&self, prior: impl Fn(usize) -> f64) -> Vec<Belief> {
        let one = |(i, &mean): (usize, &f64)| Belief {
            mean,
            variance: not_negative(prior(i) - self.reduction(i, i)),
        };
        self.mean.iter().enumerate().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::{Binomial, Likelihood, Poisson, Sigmoid};

    /// Rows that bound their total on one side only tell none: towards a total of nothing every
    /// step is one long, while what is known of it gets less and less.
    #[test]
    fn rows_without_a_likeliest_total_tell_none() {
        let told = |likelihood: Likelihood, link: Link| {
            let block = Block {
                likelihood: likelihood.local(),
                first: 0,
                own: &[],
                second: None,
            };
            let near = Belief {
                mean: 0.5,
                variance: 1.0,
            };
            let own = |row: usize| own_total(link, &block, &[], row, near);
            [own(0), own(1)]
        };
        for link in [Link::Exp, Link::Softplus] {
            let counts = Poisson::new(vec![0.0, 9.0], vec![1.0; 2], link).unwrap();
            let [none, some] = told(counts.into(), link);
            assert!(none.is_none(), "{link}");
            let some = some.unwrap();
            // A count is the likeliest mean of itself, and its variance.
            assert!((some.mean - 9.0).abs() < 1e-6 && (some.variance - 9.0).abs() < 1e-5);
        }
        let rows = Binomial::new(vec![0.0, 3.0], vec![12.0; 2], Sigmoid::Logit).unwrap();
        let [none, some] = told(rows.into(), Link::Logit);
        assert!(none.is_none());
        // p (1 - p) / n.
        let some = some.unwrap();
        assert!((some.mean - 0.25).abs() < 1e-6 && (some.variance - 0.015_625).abs() < 1e-6);
    }
}
