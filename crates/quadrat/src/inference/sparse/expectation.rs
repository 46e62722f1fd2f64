//! The expected log-density of a row, and its adjoint.

use super::log_squares;
use super::log_sum::LogSum;
use super::moments::SumMoments;
use super::points::{MarginalSlopes, RowPoints};
use crate::likelihood::local::{Belief, Local, SumTerms};
use crate::likelihood::log_square::expected_log_square;
use crate::link::{CLIP, Form, Link};
use crate::special::elementary;

/// `E log p(y | f)` of a row that is about the latent value itself; no slopes in hyperparameters of
/// the likelihood where their slice is empty.
pub(super) fn of_point(
    likelihood: &dyn Local,
    own: &[f64],
    row: usize,
    belief: Belief,
    out: Option<(&mut f64, &mut f64, &mut [f64])>,
) -> f64 {
    let seen = expected(likelihood, own, row, belief);
    if let Some((to_mean, to_variance, to_own)) = out {
        *to_mean += seen[1];
        *to_variance += 0.5 * seen[2];
        own_slopes(likelihood, own, row, belief, to_own);
    }
    seen[0]
}

/// `E log p(y | Z)` of a row about a sum; without `out` the value alone.
pub(super) fn of_sum(
    form: LogSum,
    likelihood: &dyn Local,
    own: &[f64],
    row: usize,
    points: &RowPoints<'_>,
    out: Option<MarginalSlopes<'_>>,
) -> f64 {
    let moments = SumMoments::new(points);
    let (mean, variance) = (moments.mean, moments.variance);
    let terms = match form {
        LogSum::Matched if points.link != Link::Square => None,
        // A noncentral chi-square variable need not have an expected inverse.
        LogSum::Matched => likelihood.sum_terms(row).filter(|t| t.inverse == 0.0),
        LogSum::Lemma | LogSum::Taylor => likelihood.sum_terms(row),
    };
    let Some(terms) = terms else {
        let belief = points.link.equivalent(mean, variance);
        let seen = expected(likelihood, own, row, belief);
        if let Some(mut out) = out {
            let (d_mean, d_variance) = through_match(points.link, mean, variance, belief, &seen);
            moments.adjoint(points, d_mean, d_variance, &mut out);
            own_slopes(likelihood, own, row, belief, out.to_own);
        }
        return seen[0];
    };
    if form == LogSum::Matched {
        return of_squares(&terms, &moments, points, out);
    }
    if form == LogSum::Taylor {
        let square = mean * mean;
        let log = elementary::log(mean) - 0.5 * variance / square;
        let inverse = (1.0 + variance / square) / mean;
        if let Some(mut out) = out {
            let d_mean = terms.log * (1.0 / mean + variance / (square * mean)) + terms.linear
                - terms.inverse * (1.0 / square + 3.0 * variance / (square * square));
            let d_variance = -0.5 * terms.log / square + terms.inverse / (square * mean);
            moments.adjoint(points, d_mean, d_variance, &mut out);
        }
        return terms.constant + terms.log * log + terms.linear * mean + terms.inverse * inverse;
    }
    lemma(&terms, &moments, points, out)
}

/// `E log p(y | Z)` of a row about a sum of squares, by [`log_squares`].
fn of_squares(
    terms: &SumTerms,
    moments: &SumMoments,
    points: &RowPoints<'_>,
    out: Option<MarginalSlopes<'_>>,
) -> f64 {
    let (mean, variance) = (moments.mean, moments.variance);
    // N = sum_i w_i m_i^2, n = N / E and u = V / (2 E (E + N)).
    let of_means = points.weights.iter().zip(points.mean);
    let of_means: f64 = of_means.map(|(w, m)| w * m * m).sum();
    let both = mean + of_means;
    let (n, u) = (of_means / mean, 0.5 * variance / (mean * both));
    let gap = log_squares::expected_log(u, n);
    if let Some(mut out) = out {
        let in_scale = terms.log * gap.in_scale;
        let in_share = terms.log * gap.in_share;
        let d_mean =
            terms.linear + (terms.log - in_scale * u * (1.0 + mean / both) - in_share * n) / mean;
        let d_variance = 0.5 * in_scale / (mean * both);
        let d_means = in_share / mean - in_scale * u / both;
        moments.adjoint(points, d_mean, d_variance, &mut out);
        let pairs = points.weights.iter().zip(points.mean);
        for (to, (w, m)) in out.to_mean.iter_mut().zip(pairs) {
            *to += 2.0 * d_means * w * m;
        }
    }
    let log = elementary::log(mean) + gap.value;
    terms.constant + terms.log * log + terms.linear * mean
}

fn lemma(
    terms: &SumTerms,
    moments: &SumMoments,
    points: &RowPoints<'_>,
    out: Option<MarginalSlopes<'_>>,
) -> f64 {
    let n = points.weights.len();
    let mean = moments.mean;
    let (mut value, mut d_mean) = (terms.constant + terms.linear * mean, terms.linear);
    // Of every point: derivative of the value in its mean and variance.
    let mut slopes = vec![(0.0, 0.0); n];
    if terms.log > 0.0 {
        let logs: Vec<[f64; 3]> = (0..n)
            .map(|i| {
                let (m, v) = (points.mean[i], points.variance[i]);
                match points.link {
                    Link::Square => {
                        let e = expected_log_square(Belief {
                            mean: m,
                            variance: v,
                        });
                        [e.value, e.first, 0.5 * e.second]
                    }
                    _ => [m, 1.0, 0.0],
                }
            })
            .collect();
        let top = logs.iter().fold(f64::NEG_INFINITY, |a, l| a.max(l[0]));
        let parts = points.weights.iter().zip(&logs);
        let parts: Vec<f64> = parts
            .map(|(w, l)| w * elementary::exp(l[0] - top))
            .collect();
        let sum: f64 = parts.iter().sum();
        value += terms.log * (top + elementary::log(sum));
        for ((slope, part), log) in slopes.iter_mut().zip(&parts).zip(&logs) {
            let share = terms.log * part / sum;
            *slope = (share * log[1], share * log[2]);
        }
    } else if terms.log < 0.0 {
        value += terms.log * elementary::log(mean);
        d_mean += terms.log / mean;
    }
    if terms.inverse != 0.0 {
        // w_i / E e^-f; waiting times have the link exp.
        let one = |i: usize| {
            let log = points.mean[i] - 0.5 * points.variance[i];
            points.weights[i] * elementary::exp(log.min(CLIP))
        };
        let parts: Vec<f64> = (0..n).map(one).collect();
        let sum: f64 = parts.iter().sum();
        value += terms.inverse / sum;
        for (slope, part) in slopes.iter_mut().zip(&parts) {
            let d = -terms.inverse / (sum * sum) * part;
            slope.0 += d;
            slope.1 -= 0.5 * d;
        }
    }
    if let Some(mut out) = out {
        moments.adjoint(points, d_mean, 0.0, &mut out);
        for (i, (in_mean, in_variance)) in slopes.into_iter().enumerate() {
            out.to_mean[i] += in_mean;
            out.to_variance[i] += in_variance;
        }
    }
    value
}

/// Value and first two derivatives in the mean of the expected log-density; the density itself
/// where nothing is uncertain.
fn expected(likelihood: &dyn Local, own: &[f64], row: usize, belief: Belief) -> [f64; 3] {
    if belief.variance > 0.0 {
        let e = likelihood.expected(own, row, belief);
        [e.value, e.first, e.second]
    } else {
        let jet = likelihood.log_density(own, row, belief.mean);
        [jet.value, jet.first, jet.second]
    }
}

/// Adds the slopes in the hyperparameters of the likelihood, unless `out` is empty.
fn own_slopes(likelihood: &dyn Local, own: &[f64], row: usize, belief: Belief, out: &mut [f64]) {
    if own.is_empty() || out.is_empty() {
        return;
    }
    let mut slopes = vec![0.0; own.len()];
    likelihood.expected_slopes(own, row, belief, &mut slopes);
    out.iter_mut().zip(&slopes).for_each(|(o, s)| *o += s);
}

/// Derivatives in mean and variance of the sum, through [`Link::equivalent`].
fn through_match(
    link: Link,
    mean: f64,
    variance: f64,
    belief: Belief,
    seen: &[f64; 3],
) -> (f64, f64) {
    // In the mean and the variance of the belief.
    let (first, half) = (seen[1], 0.5 * seen[2]);
    match link.form() {
        Form::Exponential => {
            // s = log(1 + V / E^2), mean log E - s / 2.
            let sum = mean * mean + variance;
            let in_spread = half - 0.5 * first;
            (
                first / mean - in_spread * 2.0 * variance / (mean * sum),
                in_spread / sum,
            )
        }
        Form::Square => {
            // q = sqrt(E^2 - V / 2), mean sqrt q, variance E - q.
            let q = belief.mean * belief.mean;
            let in_q = if belief.mean > 0.0 {
                0.5 * first / belief.mean - half
            } else {
                // The expectation is even in the mean: first / mean tends to the second derivative.
                0.5 * seen[2] - half
            };
            let q = q.max(f64::MIN_POSITIVE);
            (in_q * mean / q + half, -0.25 * in_q / q)
        }
        Form::Smooth => {
            // Mean and variance are given as functions of the belief: invert their Jacobian.
            let seen = link.moments(belief);
            let (in_mean, in_variance) = (seen.variance_in_mean, seen.variance_in_variance);
            let over = (seen.slope * in_variance - 0.5 * in_mean * seen.bend).recip();
            (
                over * (first * in_variance - half * in_mean),
                over * (half * seen.slope - 0.5 * first * seen.bend),
            )
        }
        Form::Line => (first, half),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::{
        Binomial, Dispersion, Exponential, NegativeBinomial, Poisson, Sigmoid,
    };
    use crate::linalg::{Mat, symmetric_from_fn};

    type Case = (Vec<f64>, Mat<f64>);

    const WEIGHTS: [f64; 4] = [0.4, 0.1, 0.3, 0.2];

    fn case() -> Case {
        let mean = vec![0.8, 1.3, 0.9, 1.1];
        let s = symmetric_from_fn(4, |i, j| {
            0.3 * (-0.5 * (i as f64 - j as f64).abs()).exp() + if i == j { 0.05 } else { 0.0 }
        });
        (mean, s)
    }

    fn value(
        form: LogSum,
        local: &dyn Local,
        own: &[f64],
        link: Link,
        (mean, s): &Case,
    ) -> (f64, Vec<f64>, Vec<f64>, Mat<f64>, Vec<f64>) {
        let variance: Vec<f64> = (0..4).map(|i| s[(i, i)]).collect();
        let points = RowPoints {
            link,
            weights: &WEIGHTS,
            mean,
            variance: &variance,
            sample: &[0, 1, 2, 3],
            covariance: s,
            low_rank: None,
        };
        let (mut dm, mut dv, mut dc) = (vec![0.0; 4], vec![0.0; 4], Mat::zeros(4, 4));
        let mut to_own = vec![0.0; own.len()];
        let out = MarginalSlopes {
            to_mean: &mut dm,
            to_variance: &mut dv,
            to_covariance: &mut dc,
            to_low_rank: &mut None,
            to_own: &mut to_own,
        };
        let value = of_sum(form, local, own, 0, &points, Some(out));
        (value, dm, dv, dc, to_own)
    }

    #[test]
    fn adjoints_are_central_differences_for_every_form() {
        let counts = |link| Poisson::new(vec![5.0], vec![1.7], link).unwrap();
        let ranges = Poisson::ranges(vec![1.0], vec![4.0], vec![1.2], Link::Exp).unwrap();
        let over =
            |link| NegativeBinomial::new(vec![5.0], vec![1.7], link, Dispersion::Learned).unwrap();
        let waits = Exponential::new(vec![2.5], Link::Exp).unwrap();
        let successes = |sigmoid| Binomial::new(vec![5.0], vec![8.0], sigmoid).unwrap();
        let successes =
            [Sigmoid::Logit, Sigmoid::Probit].map(|sigmoid| (sigmoid.link(), successes(sigmoid)));
        let poisson = [Link::Exp, Link::Square, Link::Softplus].map(|link| (link, counts(link)));
        let wide = [Link::Exp, Link::Square, Link::Softplus].map(|link| (link, over(link)));
        let mut all: Vec<(&dyn Local, &[f64], Link, bool)> = vec![
            (&ranges, &[], Link::Exp, false),
            (&waits, &[], Link::Exp, true),
        ];
        all.extend(
            poisson
                .iter()
                .map(|(link, one)| (one as _, &[][..], *link, true)),
        );
        all.extend(
            successes
                .iter()
                .map(|(link, one)| (one as _, &[][..], *link, false)),
        );
        all.extend(
            wide.iter()
                .map(|(link, one)| (one as _, &[0.3][..], *link, false)),
        );
        for (k, (local, own, link, has_terms)) in all.into_iter().enumerate() {
            for form in [LogSum::Matched, LogSum::Lemma, LogSum::Taylor] {
                let is_soft_lemma = form == LogSum::Lemma && link == Link::Softplus;
                if form != LogSum::Matched && !has_terms || is_soft_lemma {
                    assert!(form.check(link, local, 0).is_err());
                    continue;
                }
                assert!(form.check(link, local, 0).is_ok());
                let (_, dm, dv, dc, to_own) = value(form, local, own, link, &case());
                let slope = |change: &dyn Fn(&mut Case, f64)| {
                    let at = |h: f64| {
                        let mut moved = case();
                        change(&mut moved, h);
                        value(form, local, own, link, &moved).0
                    };
                    let h = 1e-3;
                    (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h)
                };
                // Fourth order differences of values of size ten, expectations good to 1e-10: 1e-10
                // / h.
                let close = |got: f64, want: f64, what: &str| {
                    assert!(
                        (got - want).abs() < 2e-7 * (1.0 + want.abs()),
                        "{k} {link} {form:?} {what}: {got} {want}"
                    );
                };
                for i in 0..4 {
                    close(dm[i], slope(&|c, h| c.0[i] += h), "mean");
                    close(dv[i], slope(&|c, h| c.1[(i, i)] += h), "variance");
                    for j in 0..i {
                        let both = slope(&|c, h| {
                            c.1[(i, j)] += h;
                            c.1[(j, i)] += h;
                        });
                        close(dc[(i, j)] + dc[(j, i)], both, "covariance");
                    }
                }
                for p in 0..own.len() {
                    let at = |h: f64| {
                        let mut moved = own.to_vec();
                        moved[p] += h;
                        value(form, local, &moved, link, &case()).0
                    };
                    let h = 1e-3;
                    let want = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
                    close(to_own[p], want, "own");
                }
            }
        }
    }

    /// Sums of squares against quadrature over their eigenvalues: never worse than the square of a
    /// normal value, which was matched before.
    #[test]
    fn sums_of_squares_are_nearer_than_the_square_of_one_value() {
        let counts = Poisson::new(vec![1.0], vec![1.0], Link::Square).unwrap();
        let mut errors = [0.0_f64; 2];
        for (mean, size, common) in [
            (0.0, 1.0, 0.0),
            (0.2, 0.5, 0.0),
            (1.0, 0.1, 0.95),
            (0.7, 0.4, 0.3),
            (0.7, 0.4, 0.99),
        ] {
            let s = symmetric_from_fn(4, |i, j| size * if i == j { 1.0 } else { common });
            let case = (vec![mean; 4], s);
            // W^1/2 S W^1/2 and W^1/2 m.
            let root = WEIGHTS.map(f64::sqrt);
            let a = symmetric_from_fn(4, |i, j| root[i] * root[j] * case.1[(i, j)]);
            let eigen = crate::linalg::symmetric_eigen(a.as_ref()).unwrap();
            let terms: Vec<[f64; 2]> = (0..4)
                .map(|k| {
                    let along = (0..4).map(|i| eigen.vectors[(i, k)] * root[i] * mean);
                    [eigen.values[k], along.sum::<f64>().powi(2)]
                })
                .collect();
            let total = mean * mean + size;
            let exact = log_squares::tests::by_quadrature(&terms) - total;
            let own = value(LogSum::Matched, &counts, &[], Link::Square, &case).0;
            let spread: f64 = (0..16)
                .map(|k| (k % 4, k / 4))
                .map(|(i, j)| {
                    let c = case.1[(i, j)];
                    WEIGHTS[i] * WEIGHTS[j] * (2.0 * c * c + 4.0 * mean * mean * c)
                })
                .sum();
            let normal = Link::Square.equivalent(total, spread);
            let normal = counts.expected(&[], 0, normal).value;
            let (own, normal) = ((own - exact).abs(), (normal - exact).abs());
            // Nearly one value: both are right.
            assert!(
                own <= normal + 1e-6,
                "{mean} {size} {common}: {own} {normal}"
            );
            errors[0] += own;
            errors[1] += normal;
        }
        assert!(errors[0] < 0.4 * errors[1], "{errors:?}");
    }

    /// Four correlated terms of variance 0.35 against a lattice over their values.
    #[test]
    fn the_match_is_nearest_and_the_lemma_a_bound() {
        let counts = Poisson::new(vec![1.0], vec![1.0], Link::Exp).unwrap();
        let waits = Exponential::new(vec![1.0], Link::Exp).unwrap();
        for local in [&counts as &dyn Local, &waits] {
            let of = |form| value(form, local, &[], Link::Exp, &case()).0;
            // By a lattice over four independent normal values.
            let factor = crate::linalg::Cholesky::factor(case().1.as_ref()).unwrap();
            let (nodes, h) = (25, 0.4);
            let z = |k: usize| h * (k as f64 - 12.0);
            let (mut total, mut sum) = (0.0, 0.0);
            for index in 0..nodes * nodes * nodes * nodes {
                let digits = [
                    index % nodes,
                    index / nodes % nodes,
                    index / nodes / nodes % nodes,
                    index / nodes / nodes / nodes,
                ];
                let at: Vec<f64> = digits.iter().map(|&k| z(k)).collect();
                let weight = (-0.5 * at.iter().map(|z| z * z).sum::<f64>()).exp();
                let f = factor.multiply(&at);
                let sum_of = f
                    .iter()
                    .zip(case().0)
                    .zip(WEIGHTS)
                    .map(|((f, m), w)| w * (f + m).exp());
                let log = sum_of.sum::<f64>().ln();
                total += weight;
                sum += weight * local.log_density(&[], 0, log).value;
            }
            let exact = sum / total;
            let off = |form| (of(form) - exact).abs();
            // The match errs by the skewness of log Z.
            assert!(
                off(LogSum::Matched) < 2e-3,
                "{} {exact}",
                of(LogSum::Matched)
            );
            assert!(off(LogSum::Matched) < 0.2 * off(LogSum::Lemma));
            assert!(off(LogSum::Matched) < off(LogSum::Taylor));
            assert!(of(LogSum::Lemma) < exact);
        }
    }
}
