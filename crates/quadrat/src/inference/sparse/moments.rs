//! Mean and variance of a weighted sum after a link, and their adjoints.

use super::control_variate::{ControlSlopes, ControlVariate, over};
use super::features::columns;
use super::points::ExplainedPart;
use super::points::{MarginalSlopes, RowPoints};
use crate::inference::pooled::Total;
use crate::likelihood::local::Belief;
use crate::linalg::{Mat, MatRef, dot, gemm, gemm_into};
use crate::link::series::Series;
use crate::link::{CLIP, Form, Link, Moments};
use crate::special::{self, elementary};

/// Mean and variance of `Z = sum_i w_i psi(f_i)`, and what the adjoint needs again.
///
/// $$ E Z = \sum_i e_i, \qquad \mathrm{Var} Z = \sum_{ij} c_{ij}, \qquad e_i = w_i E \psi(f_i) $$
///
/// With means `m`, variances `v` and covariances `k` of the points under `q`:
///
/// | link | `e_i` | `c_ij` |
/// |---|---|---|
/// | none | `w_i m_i` | `w_i w_j k_ij` |
/// | `exp` | `w_i exp(m_i + v_i / 2)` | `e_i e_j (exp(k_ij) - 1)` |
/// | `square` | `w_i (m_i^2 + v_i)` | `w_i w_j (2 k_ij^2 + 4 m_i m_j k_ij)` |
/// | other | by quadrature | by quadrature, and a Hermite series of pairs |
///
/// Of rows with more points than are paired, the sum over pairs is that of a sample, see
/// [`control_variate`](super::control_variate).
pub(super) struct SumMoments {
    pub mean: f64,
    pub variance: f64,
    /// `e_i = w_i E psi(f_i)`; `w_i` without a link.
    share: Vec<f64>,
    /// Covariances of pairs of terms in the sample, summed; where not all points are in it, less
    /// their first-order part that inducing points explain ([`ControlVariate`]).
    pairs: f64,
    /// `rho`, which scales that to all pairs.
    scale: f64,
    /// `(sum_I e)^2 - sum_I e^2`; zero where all pairs are used.
    held: f64,
    /// `e^c` of the sample, column by column, for `exp`.
    grown: Vec<f64>,
    /// Of the sample: `left` is `e` for `exp` and `w` else; `pulled` is `w m` for `square`.
    left: Vec<f64>,
    pulled: Vec<f64>,
    /// Of every point behind `softplus` and of probabilities, and of its sample.
    each: Vec<Moments>,
    series: Option<Series>,
    control: Option<ControlVariate>,
}

impl SumMoments {
    pub fn new(p: &RowPoints<'_>) -> Self {
        let n = p.weights.len();
        let at = |i: usize| Belief {
            mean: p.mean[i],
            variance: p.variance[i],
        };
        let (mut each, mut series) = (Vec::new(), None);
        if p.link.form() == Form::Smooth {
            each.extend((0..n).map(|i| p.link.moments(at(i))));
            let sample = p.sample.iter().map(|&i| (at(i), each[i].slope));
            series = Series::behind(p.link, &sample.collect::<Vec<_>>());
        }
        let share = expected(p, &each);
        let mean = match p.link {
            Link::Identity => dot(p.weights, p.mean),
            _ => share.iter().sum(),
        };
        let own = own_variances(p, &share, &each);
        let s = p.sample.len();
        let pick = |all: &[f64]| -> Vec<f64> { p.sample.iter().map(|&i| all[i]).collect() };
        let left = pick(if p.link == Link::Exp {
            &share
        } else {
            p.weights
        });
        let mut grown = Vec::new();
        let mut pulled = Vec::new();
        match p.link {
            Link::Exp => {
                grown.reserve_exact(s * s);
                for j in 0..s {
                    grown.extend_from_slice(p.covariance.col_as_slice(j));
                }
                grown.iter_mut().for_each(|c| *c = c.min(CLIP));
                special::exp(&mut grown);
            }
            Link::Square => {
                let products = p.weights.iter().zip(p.mean).map(|(w, m)| w * m);
                pulled = pick(&products.collect::<Vec<f64>>());
            }
            _ => {}
        }
        let mut pairs = covariances(p, (&left, &pulled, &grown), series.as_ref());
        let (mut scale, mut held) = (1.0, 0.0);
        let mut control = None;
        if s < n {
            held = products(p.link, &share, p.sample.iter().copied());
            scale = over(products(p.link, &share, 0..n), held);
            control = p
                .low_rank
                .map(|low| ControlVariate::new(p, &low, &share, &each));
        }
        let mut known = 0.0;
        if let Some(control) = &control {
            known = control.value();
            pairs -= control.pairs;
        }
        Self {
            mean,
            variance: (own + scale * pairs + known).max(0.0),
            share,
            pairs,
            scale,
            held,
            grown,
            left,
            pulled,
            each,
            series,
            control,
        }
    }

    /// The adjoint of `d_mean E Z + d_variance Var Z`.
    pub fn adjoint(
        &self,
        p: &RowPoints<'_>,
        d_mean: f64,
        d_variance: f64,
        out: &mut MarginalSlopes<'_>,
    ) {
        let (to_mean, to_variance) = (&mut *out.to_mean, &mut *out.to_variance);
        let to_covariance = &mut *out.to_covariance;
        let s = p.sample.len();
        // An estimated variance below zero was set to zero: its derivatives are zero.
        let d_variance = if self.variance > 0.0 { d_variance } else { 0.0 };
        let dv = d_variance * self.scale;
        let mut to_share = self.adjoint_of_scale(p, d_variance);
        if let (Some(control), Some(low)) = (&self.control, &p.low_rank)
            && d_variance != 0.0
        {
            let by = (d_variance, self.scale);
            let mut slopes = ControlSlopes {
                to_mean: &mut *to_mean,
                to_variance: &mut *to_variance,
                to_share: &mut to_share,
            };
            let slope = control.adjoint(p, low, by, (&self.share, &self.each), &mut slopes);
            *out.to_low_rank = Some(slope);
        }
        // The weights of the sample without that of point `j`.
        let mut others = match p.link.form() {
            Form::Smooth => self.left.clone(),
            _ => Vec::new(),
        };
        for (j, &b) in p.sample.iter().enumerate() {
            let column = p.covariance.col_as_slice(j);
            let out = to_covariance.col_as_slice_mut(j);
            let by = dv * self.left[j];
            match p.link.form() {
                Form::Exponential => {
                    let grown = &self.grown[j * s..(j + 1) * s];
                    let mut inner = -self.left[j] * (grown[j] - 1.0);
                    for ((out, e), g) in out.iter_mut().zip(&self.left).zip(grown) {
                        inner += e * (g - 1.0);
                        *out = by * e * g;
                    }
                    to_share[b] += 2.0 * dv * inner;
                }
                Form::Square => {
                    let pulled = dv * self.pulled[j];
                    let entries = self.left.iter().zip(&self.pulled).zip(column);
                    for (out, ((w, pull), c)) in out.iter_mut().zip(entries) {
                        *out = 4.0 * (by * w * c + pulled * pull);
                    }
                    let inner = dot(&self.pulled, column) - self.pulled[j] * column[j];
                    to_mean[b] += 8.0 * by * inner;
                }
                Form::Smooth => {
                    others[j] = 0.0;
                    if let Some(series) = &self.series {
                        let (in_mean, in_variance) = series.slopes(j, column, &others, out);
                        to_mean[b] += 2.0 * by * in_mean;
                        to_variance[b] += 2.0 * by * in_variance;
                    }
                    let pairs = out.iter_mut().zip(&others);
                    pairs.for_each(|(out, w)| *out *= by * w);
                    others[j] = self.left[j];
                }
                Form::Line => {
                    for (out, w) in out.iter_mut().zip(&self.left) {
                        *out = by * w;
                    }
                }
            }
            out[j] = 0.0;
        }
        self.adjoint_of_points(p, (d_mean, d_variance), &to_share, (to_mean, to_variance));
    }

    /// `d / d e_i` through the factor by which the pairs of the sample stand for all.
    fn adjoint_of_scale(&self, p: &RowPoints<'_>, d_variance: f64) -> Vec<f64> {
        let mut to_share = vec![0.0; p.weights.len()];
        if p.sample.len() < p.weights.len() {
            let total: f64 = self.share.iter().sum();
            let sampled: f64 = p.sample.iter().map(|&i| self.share[i]).sum();
            let by = over(2.0 * d_variance * self.pairs, self.held);
            for (d, e) in to_share.iter_mut().zip(&self.share) {
                *d += by * (total - e);
            }
            for &i in p.sample {
                to_share[i] -= by * self.scale * (sampled - self.share[i]);
            }
        }
        to_share
    }

    /// Through the expectation `e_i` and the variance of every term by itself.
    fn adjoint_of_points(
        &self,
        p: &RowPoints<'_>,
        (d_mean, d_variance): (f64, f64),
        to_share: &[f64],
        (to_mean, to_variance): (&mut [f64], &mut [f64]),
    ) {
        for i in 0..p.weights.len() {
            let (w, m, v) = (p.weights[i], p.mean[i], p.variance[i]);
            match p.link.form() {
                Form::Exponential => {
                    let e = self.share[i];
                    let grown = elementary::exp(v.min(CLIP));
                    let d = e * (to_share[i] + d_mean + 2.0 * d_variance * e * (grown - 1.0));
                    to_mean[i] += d;
                    to_variance[i] += 0.5 * d + d_variance * e * e * grown;
                }
                Form::Square => {
                    let d = d_mean + to_share[i];
                    to_mean[i] += 2.0 * w * m * d + 8.0 * d_variance * w * w * m * v;
                    to_variance[i] += w * d + 4.0 * d_variance * w * w * (m * m + v);
                }
                Form::Smooth => {
                    let (seen, d) = (&self.each[i], d_mean + to_share[i]);
                    let dv = d_variance * w * w;
                    to_mean[i] += w * seen.slope * d + dv * seen.variance_in_mean;
                    to_variance[i] += 0.5 * w * seen.bend * d + dv * seen.variance_in_variance;
                }
                Form::Line => {
                    to_mean[i] += d_mean * w;
                    to_variance[i] += d_variance * w * w;
                }
            }
        }
    }
}

/// `e_i = w_i E psi(f_i)` of every point; `w_i` without a link.
fn expected(p: &RowPoints<'_>, each: &[Moments]) -> Vec<f64> {
    let one = |i: usize| {
        let (w, m, v) = (p.weights[i], p.mean[i], p.variance[i]);
        match p.link.form() {
            Form::Exponential => w * elementary::exp((m + 0.5 * v).min(CLIP)),
            Form::Square => w * (m * m + v),
            Form::Smooth => w * each[i].mean,
            Form::Line => w,
        }
    };
    (0..p.weights.len()).map(one).collect()
}

/// `sum_i c_ii`, the variances of all terms.
fn own_variances(p: &RowPoints<'_>, share: &[f64], each: &[Moments]) -> f64 {
    let one = |i: usize| {
        let (w, m, v) = (p.weights[i], p.mean[i], p.variance[i]);
        match p.link.form() {
            Form::Exponential => share[i] * share[i] * elementary::expm1(v.min(CLIP)),
            Form::Square => w * w * 2.0 * v * (2.0 * m * m + v),
            Form::Smooth => w * w * each[i].variance,
            Form::Line => w * w * v,
        }
    };
    (0..p.weights.len()).map(one).sum()
}

/// `sum_(i != j) c_ij` over the sample.
///
/// # Arguments
/// * `left`, `pulled`, `grown` - as in [`SumMoments`]
fn covariances(
    p: &RowPoints<'_>,
    (left, pulled, grown): (&[f64], &[f64], &[f64]),
    series: Option<&Series>,
) -> f64 {
    let s = p.sample.len();
    let mut linked = vec![0.0; if p.link.form() == Form::Smooth { s } else { 0 }];
    let mut pairs = 0.0;
    for j in 0..s {
        let above = left[..j].iter();
        pairs += 2.0
            * match p.link.form() {
                Form::Exponential => {
                    let grown = &grown[j * s..j * s + j];
                    left[j] * above.zip(grown).map(|(e, g)| e * (g - 1.0)).sum::<f64>()
                }
                Form::Square => {
                    // 2 w w' c^2 + 4 w m w' m' c.
                    let column = &p.covariance.col_as_slice(j)[..j];
                    let squares = above.zip(column).map(|(w, c)| w * c * c).sum::<f64>();
                    2.0 * left[j] * squares + 4.0 * pulled[j] * dot(&pulled[..j], column)
                }
                Form::Smooth => {
                    let (column, out) = (p.covariance.col_as_slice(j), &mut linked[..j]);
                    if let Some(series) = series {
                        series.covariances(j, &column[..j], out);
                    }
                    left[j] * dot(&left[..j], out)
                }
                Form::Line => left[j] * dot(&left[..j], &p.covariance.col_as_slice(j)[..j]),
            };
    }
    pairs
}

/// `(sum e)^2 - sum e^2` over some points. Weights without a link may have either sign, so that
/// their products say nothing about how many pairs there are: then every `e` is 1.
fn products(link: Link, share: &[f64], points: impl Iterator<Item = usize>) -> f64 {
    let size = |i: usize| {
        if link == Link::Identity {
            1.0
        } else {
            share[i]
        }
    };
    let (sum, squares) = points
        .map(size)
        .fold((0.0, 0.0), |(a, b), e| (a + e, b + e * e));
    sum * sum - squares
}

/// As [`total`](crate::inference::pooled::total), from the covariances of a sample of the points.
///
/// # Arguments
/// * `weights` - each above zero, shape `[n]`
/// * `at` - mean and variance of every point
/// * `sample` - [`Bags::sample`](super::Bags::sample) of the row
/// * `covariance` - of the sample; its diagonal is not read
/// * `explained` - `B` and `W`, of which `B'B - W'W` is the part of the covariance that inducing
///   points explain, shape `[M, n]` each
#[must_use]
pub fn sampled_total(
    link: Link,
    weights: &[f64],
    at: &[Belief],
    sample: &[usize],
    covariance: &Mat<f64>,
    explained: (MatRef<'_, f64>, MatRef<'_, f64>),
) -> Total {
    let (more, less) = explained;
    let [b, w] = [more, less].map(|all| columns(all, sample));
    let mut part = gemm(b.transpose(), b.as_ref());
    gemm_into(part.as_mut(), true, -1.0, w.transpose(), w.as_ref());
    let mean: Vec<f64> = at.iter().map(|b| b.mean).collect();
    let variance: Vec<f64> = at.iter().map(|b| b.variance).collect();
    let seen = SumMoments::new(&RowPoints {
        link,
        weights,
        mean: &mean,
        variance: &variance,
        sample,
        covariance,
        low_rank: Some(ExplainedPart {
            columns: more,
            less: Some(less),
            sample: &part,
        }),
    });
    let belief = link.equivalent(seen.mean, seen.variance);
    let unit = link.moments(belief).slope;
    let slope = |i: usize| match seen.each.get(i) {
        Some(own) => own.slope,
        None => link.moments(at[i]).slope,
    };
    let slopes = weights.iter().enumerate();
    let slopes = slopes.map(|(i, w)| w * slope(i) / unit);
    Total {
        belief,
        slopes: slopes.collect(),
        mean: seen.mean,
        variance: seen.variance,
    }
}

#[cfg(test)]
#[path = "moments_tests.rs"]
mod tests;
