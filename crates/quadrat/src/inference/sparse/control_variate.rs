//! A control variate for the variance of a sum that is estimated from a sample of its pairs.
//!
//! `q` has many more parameters than a row has sampled pairs: fitted to the sample alone it would
//! make those pairs cancel. So the sample stands only for what cannot be had cheaply from all
//! pairs. To first order the variance of a sum is a quadratic form `l'Cl` (`l_i = w_i E psi'(f_i)`:
//! `w_i E exp(f_i)` after `exp`, `2 w_i m_i` after `square`, `w_i` without a link). The part `B'B`
//! of the covariance `C` that inducing points explain has low rank: it is taken over all pairs, in
//! place of its estimate from the sample.
//!
//! $$ \mathrm{Var}\, Z \approx \sum_i V_{ii} + \rho \sum_{i \ne j \in I} (V_{ij} - l_i l_j
//! b_i'b_j) + |B l|^2 - \tau \sum_{i \in I} l_i^2 |b_i|^2 $$
//!
//! `rho` is the sum of `e_i e_j` over all pairs divided by that over the sample (without a link the
//! ratio of the numbers of pairs), `tau` the same ratio for `e_i^2` (`w_i^2`).

use super::points::RowPoints;
use super::points::{ExplainedPart, LowRankSlope};
use crate::linalg::{Mat, dot, matvec};
use crate::link::{Form, Moments};

/// Factor from a sum over the sample to that over all; zero where the former is not above zero.
pub(super) fn over(all: f64, sampled: f64) -> f64 {
    if sampled > 0.0 { all / sampled } else { 0.0 }
}

/// The direction `l`, and the quadratic form `l'B'B l` over all pairs and over the sample.
pub(super) struct ControlVariate {
    /// `l` of all points.
    direction: Vec<f64>,
    /// `B l`.
    along: Vec<f64>,
    /// `l'B'B l`.
    whole: f64,
    /// Its terms `i != j` within the sample.
    pub pairs: f64,
    /// Its terms `i = i` within the sample.
    own: f64,
    /// `tau`.
    ratio: f64,
    /// The sum of `e_i^2` of the sample.
    held: f64,
}

/// Derivatives, to which the adjoint adds.
pub(super) struct ControlSlopes<'a> {
    pub to_mean: &'a mut [f64],
    pub to_variance: &'a mut [f64],
    pub to_share: &'a mut [f64],
}

impl ControlVariate {
    /// `share` is `e`; `each` are the moments of every point behind `softplus`.
    pub fn new(
        p: &RowPoints<'_>,
        low: &ExplainedPart<'_>,
        share: &[f64],
        each: &[Moments],
    ) -> Self {
        let direction: Vec<f64> = match p.link.form() {
            Form::Exponential => share.to_vec(),
            Form::Square => {
                let pairs = p.weights.iter().zip(p.mean);
                pairs.map(|(w, m)| 2.0 * w * m).collect()
            }
            Form::Smooth => {
                let pairs = p.weights.iter().zip(each);
                pairs.map(|(w, seen)| w * seen.slope).collect()
            }
            Form::Line => p.weights.to_vec(),
        };
        let along = matvec(low.columns, &direction);
        let mut whole = dot(&along, &along);
        if let Some(less) = low.less {
            let less = matvec(less, &direction);
            whole -= dot(&less, &less);
        }
        let picked: Vec<f64> = p.sample.iter().map(|&i| direction[i]).collect();
        let own = (0..picked.len())
            .map(|k| picked[k] * picked[k] * low.sample[(k, k)])
            .sum();
        let sampled = dot(&picked, &matvec(low.sample.as_ref(), &picked));
        let held: f64 = p.sample.iter().map(|&i| share[i] * share[i]).sum();
        Self {
            direction,
            along,
            whole,
            pairs: sampled - own,
            own,
            ratio: over(dot(share, share), held),
            held,
        }
    }

    /// `|B l|^2 - tau sum_I l_i^2 |b_i|^2`: all terms, less an estimate of those with `i = j`.
    pub fn value(&self) -> f64 {
        self.whole - self.ratio * self.own
    }

    /// Adds the adjoint of `d_variance` in means, variances and `e`, and returns that in `B'B`;
    /// `scale` is `rho`.
    pub fn adjoint(
        &self,
        p: &RowPoints<'_>,
        low: &ExplainedPart<'_>,
        (d_variance, scale): (f64, f64),
        (share, each): (&[f64], &[Moments]),
        out: &mut ControlSlopes<'_>,
    ) -> LowRankSlope {
        debug_assert!(
            low.less.is_none(),
            "the part that is taken away has no adjoint"
        );
        let dv = d_variance * scale;
        let mut to_direction = matvec(low.columns.transpose(), &self.along);
        to_direction.iter_mut().for_each(|d| *d *= 2.0 * d_variance);
        let picked: Vec<f64> = p.sample.iter().map(|&i| self.direction[i]).collect();
        for (k, &i) in p.sample.iter().enumerate() {
            let column = low.sample.col_as_slice(k);
            let others = dot(column, &picked) - column[k] * picked[k];
            to_direction[i] -=
                2.0 * (dv * others + d_variance * self.ratio * column[k] * picked[k]);
        }
        let by = over(2.0 * d_variance * self.own, self.held);
        for (d, e) in out.to_share.iter_mut().zip(share) {
            *d -= by * e;
        }
        for &i in p.sample {
            out.to_share[i] += by * self.ratio * share[i];
        }
        match p.link.form() {
            Form::Exponential => {
                let pairs = out.to_share.iter_mut().zip(&to_direction);
                pairs.for_each(|(t, d)| *t += d);
            }
            Form::Square => {
                let pairs = out.to_mean.iter_mut().zip(p.weights).zip(&to_direction);
                pairs.for_each(|((t, w), d)| *t += 2.0 * w * d);
            }
            Form::Smooth => {
                for (i, d) in to_direction.iter().enumerate() {
                    let by = p.weights[i] * d;
                    out.to_mean[i] += by * each[i].bend;
                    out.to_variance[i] += 0.5 * by * each[i].third;
                }
            }
            Form::Line => {}
        }
        let block = Mat::from_fn(picked.len(), picked.len(), |i, j| {
            let by = if i == j { d_variance * self.ratio } else { dv };
            -by * picked[i] * picked[j]
        });
        LowRankSlope {
            by: d_variance,
            direction: self.direction.clone(),
            block,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::moments::{SumMoments, sampled_total};
    use super::super::{Bags, Within};
    use super::*;
    use crate::inference::pooled::total;
    use crate::likelihood::local::Belief;
    use crate::linalg::{Cholesky, symmetric_from_fn};
    use crate::link::Link;

    const COUNT: usize = 400;

    fn sample(link: Link, weights: &[f64]) -> Vec<usize> {
        let mut bags = Bags::new(Within::default());
        bags.push(link, weights).unwrap();
        bags.sample(0)
    }

    /// Variance of the sum from all pairs, from those of a sample alone, and from those with what
    /// is explained.
    fn variances(link: Link, mean: &[f64], s: &Mat<f64>) -> [f64; 3] {
        let weights: Vec<f64> = (0..COUNT).map(|i| 1.0 + (i % 3) as f64).collect();
        let at: Vec<Belief> = (0..COUNT)
            .map(|i| Belief {
                mean: mean[i],
                variance: s[(i, i)],
            })
            .collect();
        let picked = sample(link, &weights);
        let size = picked.len();
        let covariance = Mat::from_fn(size, size, |i, j| s[(picked[i], picked[j])]);
        let variance: Vec<f64> = at.iter().map(|b| b.variance).collect();
        let alone = SumMoments::new(&RowPoints {
            link,
            weights: &weights,
            mean,
            variance: &variance,
            sample: &picked,
            covariance: &covariance,
            low_rank: None,
        });
        // All of it is explained: once as it is, once as what is left of twice as much.
        let root = Cholesky::factor(s.as_ref()).unwrap();
        let b = root.lower().transpose();
        let more = b * faer::Scale(2.0_f64.sqrt());
        let with = sampled_total(
            link,
            &weights,
            &at,
            &picked,
            &covariance,
            (more.as_ref(), b),
        );
        let whole = total(link, &weights, &at, |i, j| s[(i, j)]);
        [whole.variance, alone.variance, with.variance]
    }

    fn smooth() -> Mat<f64> {
        symmetric_from_fn(COUNT, |i, j| {
            let own = if i == j { 1e-6 } else { 0.0 };
            0.09 * (-((i as f64 - j as f64) / 80.0).abs()).exp() + own
        })
    }

    /// A belief that is certain of the sum over the sample, and of no other, as an optimiser would
    /// find it.
    #[test]
    fn the_pairs_of_a_sample_cannot_be_made_to_cancel() {
        for link in Link::ALL.into_iter().chain(Link::PROBABILITIES) {
            let weights: Vec<f64> = (0..COUNT).map(|i| 1.0 + (i % 3) as f64).collect();
            let mean: Vec<f64> = (0..COUNT)
                .map(|i| 1.0 + 0.2 * (0.05 * i as f64).sin())
                .collect();
            let mut s = smooth();
            let mut share = vec![0.0; COUNT];
            for &i in &sample(link, &weights) {
                share[i] = match link.form() {
                    Form::Exponential => weights[i] * (mean[i] + 0.045).exp(),
                    Form::Square => weights[i] * mean[i],
                    Form::Smooth => {
                        let variance = 0.09;
                        let mean = mean[i];
                        weights[i] * link.moments(Belief { mean, variance }).slope
                    }
                    Form::Line => weights[i],
                };
            }
            let seen = matvec(s.as_ref(), &share);
            let by = 1.0 / dot(&share, &seen);
            s = symmetric_from_fn(COUNT, |i, j| s[(i, j)] - by * seen[i] * seen[j]);
            (0..COUNT).for_each(|i| s[(i, i)] += 1e-6);
            let [whole, alone, with] = variances(link, &mean, &s);
            // The pairs of the sample cancel what its points have by themselves: scaled up, more
            // than all points have.
            assert!(alone == 0.0, "{link}: {alone} of {whole}");
            // A sample is left of the terms of second order: a tenth of a part that is small.
            assert!(
                (with / whole - 1.0).abs() < 0.05,
                "{link}: {with} of {whole}"
            );
        }
    }

    #[test]
    fn what_is_explained_is_not_estimated() {
        let mean: Vec<f64> = (0..COUNT).map(|i| 1.0 + (0.03 * i as f64).sin()).collect();
        for (link, tolerance) in [
            // Of the terms of second order, 2 w^2 c^2, a sample is left: more where the mean is
            // near zero for some points.
            (Link::Exp, 5e-3),
            (Link::Softplus, 5e-3),
            (Link::Logit, 5e-3),
            // It bends more beside its slope.
            (Link::Probit, 1e-2),
            (Link::Square, 2e-2),
            // No more than the diagonal, of which a sample is taken.
            (Link::Identity, 2e-3),
        ] {
            let [whole, alone, with] = variances(link, &mean, &smooth());
            let off = |v: f64| (v / whole - 1.0).abs();
            assert!(off(with) < tolerance, "{link}: {with} of {whole}");
            assert!(off(with) < off(alone), "{link}: {with} {alone} of {whole}");
        }
    }
}
