//! The bound and its derivatives against the definition, all dense: explicit inverses, every pair
//! of points.

use std::sync::LazyLock;

use super::log_squares::tests::chi_square;
use super::pass::Stream;
use super::sums::Depth;
use super::testing::{MEAN, Toy, some_normal};
use super::tests::{COUNTS, EXPOSURE, WAITS, kinds};
use super::*;
use crate::covariance::Covariance;
use crate::inference::in_pool;
use crate::kernel::Kernel;
use crate::likelihood::local::Belief;
use crate::linalg::{Cholesky, Mat, dot, gemm, matvec};
use crate::link::{Form, Link};
use crate::support::Functionals;

/// Where a bound is taken: hyperparameters, inducing points, and the belief `q(v) = N(mu, C C')`.
#[derive(Clone)]
struct At {
    theta: Vec<f64>,
    inducing: Functionals,
    mean: Vec<f64>,
    lower: Mat<f64>,
}

impl At {
    fn new(toy: &Toy) -> Self {
        let (mean, lower) = some_normal(6);
        Self {
            theta: toy.theta(),
            inducing: toy.induced.inducing().clone(),
            mean,
            lower,
        }
    }

    fn normal(&self) -> Normal {
        Normal::from_covariance_factor(&self.mean, self.lower.as_ref()).unwrap()
    }
}

/// The points of a row under `q`: covariances, and their part that inducing points explain.
struct Row<'a> {
    link: Link,
    weights: &'a [f64],
    mean: Vec<f64>,
    covariance: Mat<f64>,
    explained: Mat<f64>,
}

impl Row<'_> {
    /// `w_i E psi(f_i)`.
    fn share(&self, i: usize) -> f64 {
        let (w, m, v) = (self.weights[i], self.mean[i], self.covariance[(i, i)]);
        match self.link.form() {
            Form::Exponential => w * (m + 0.5 * v).exp(),
            Form::Square => w * (m * m + v),
            Form::Smooth => w * over_normal(|z| self.link.value(m + v.sqrt() * z)),
            Form::Line => w * m,
        }
    }

    /// Covariance of the terms `i` and `j` of the sum.
    fn pair(&self, i: usize, j: usize) -> f64 {
        let (w, c) = (self.weights[i] * self.weights[j], self.covariance[(i, j)]);
        match self.link.form() {
            Form::Exponential => self.share(i) * self.share(j) * c.exp_m1(),
            Form::Square => w * (2.0 * c * c + 4.0 * self.mean[i] * self.mean[j] * c),
            Form::Smooth => {
                let [a, b] = [i, j].map(|k| self.covariance[(k, k)].sqrt());
                let r = (c / (a * b)).min(1.0);
                let rest = (1.0 - r * r).sqrt();
                let psi = |k: usize, f: f64| self.link.value(self.mean[k] + f);
                let beside = |x: f64| over_normal(|y| psi(j, b * (r * x + rest * y)));
                let product = over_normal(|x| psi(i, a * x) * beside(x));
                w * product - self.share(i) * self.share(j)
            }
            Form::Line => w * c,
        }
    }

    /// `l_i`: to first order, how the sum moves with `f_i`.
    fn slope(&self, i: usize) -> f64 {
        match self.link.form() {
            Form::Exponential => self.share(i),
            Form::Square => 2.0 * self.weights[i] * self.mean[i],
            Form::Smooth => {
                let (m, sd) = (self.mean[i], self.covariance[(i, i)].sqrt());
                self.weights[i] * over_normal(|z| self.link.jet(m + sd * z)[1])
            }
            Form::Line => self.weights[i],
        }
    }

    /// Mean and variance of the sum, from every pair or as `control_variate.rs` has it of a
    /// sample.
    fn moments(&self, sample: &[usize]) -> (f64, f64) {
        let n = self.weights.len();
        let mean = (0..n).map(|i| self.share(i)).sum();
        let all: Vec<usize> = (0..n).collect();
        if sample.len() == n {
            let pairs = all.iter().flat_map(|&i| all.iter().map(move |&j| (i, j)));
            return (mean, pairs.map(|(i, j)| self.pair(i, j)).sum());
        }
        let is_linear = self.link == Link::Identity;
        // Of pairs: their numbers without a link, products of shares else.
        let size = |i: usize| if is_linear { 1.0 } else { self.share(i) };
        let own = |i: usize| {
            if is_linear {
                self.weights[i]
            } else {
                self.share(i)
            }
        };
        let products = |of: &[usize]| {
            let pairs = of.iter().flat_map(|&i| of.iter().map(move |&j| (i, j)));
            pairs
                .filter(|(i, j)| i != j)
                .map(|(i, j)| size(i) * size(j))
                .sum::<f64>()
        };
        let squares = |of: &[usize]| of.iter().map(|&i| own(i) * own(i)).sum::<f64>();
        let rho = products(&all) / products(sample);
        let tau = squares(&all) / squares(sample);
        let explained = |i: usize, j: usize| self.slope(i) * self.slope(j) * self.explained[(i, j)];
        let mut variance: f64 = all.iter().map(|&i| self.pair(i, i)).sum();
        for &i in sample {
            for &j in sample {
                if i == j {
                    variance -= tau * explained(i, i);
                } else {
                    variance += rho * (self.pair(i, j) - explained(i, j));
                }
            }
        }
        for &i in &all {
            for &j in &all {
                variance += explained(i, j);
            }
        }
        (mean, variance)
    }

    /// The latent value whose linked value has such a mean and variance.
    fn equivalent(&self, mean: f64, variance: f64) -> Belief {
        match self.link.form() {
            Form::Exponential => {
                let spread = (1.0 + variance / (mean * mean)).ln();
                Belief {
                    mean: mean.ln() - 0.5 * spread,
                    variance: spread,
                }
            }
            Form::Square => {
                let q = (mean * mean - 0.5 * variance).sqrt();
                Belief {
                    mean: q.sqrt(),
                    variance: mean - q,
                }
            }
            Form::Smooth => {
                let moments = |at: Belief| {
                    let sd = at.variance.sqrt();
                    let psi = |z: f64| self.link.value(at.mean + sd * z);
                    let first = over_normal(psi);
                    [first, over_normal(|z| (psi(z) - first).powi(2))]
                };
                newton(moments, [mean, variance])
            }
            Form::Line => Belief { mean, variance },
        }
    }

    /// `E log psi(f_i)`.
    fn log(&self, i: usize) -> f64 {
        let (m, sd) = (self.mean[i], self.covariance[(i, i)].sqrt());
        if self.link == Link::Exp {
            return m;
        }
        // E log f^2 with f = -e^t and f = e^t: both ends fall at least as e^t, the integrand is
        // analytic to pi / 4 beside the real axis, and the trapezoid rule is exact to rounding.
        let density = |f: f64| (-0.5 * ((f - m) / sd).powi(2)).exp() / sd;
        let h = 0.08;
        let at = |k: i32| {
            let t = h * f64::from(k);
            2.0 * t * t.exp() * (density(t.exp()) + density(-t.exp()))
        };
        h * (-550..63).map(at).sum::<f64>() / (2.0 * std::f64::consts::PI).sqrt()
    }

    /// `E log p` of the sum for a log-density `constant + log log Z + linear Z + inverse / Z`.
    fn form(&self, form: LogSum, sample: &[usize], terms: [f64; 4]) -> f64 {
        let (mean, variance) = self.moments(sample);
        let spread = variance / (mean * mean);
        let points = || self.weights.iter().enumerate();
        let (log, inverse) = if form == LogSum::Taylor {
            (mean.ln() - 0.5 * spread, (1.0 + spread) / mean)
        } else {
            let log = match terms[1] {
                // The bound goes the other way.
                below if below < 0.0 => mean.ln(),
                _ => points()
                    .map(|(i, w)| w * self.log(i).exp())
                    .sum::<f64>()
                    .ln(),
            };
            let inverse = |i: usize| (-self.mean[i] + 0.5 * self.covariance[(i, i)]).exp();
            (
                log,
                points().map(|(i, w)| w / inverse(i)).sum::<f64>().recip(),
            )
        };
        terms[0] + terms[1] * log + terms[2] * mean + terms[3] * inverse
    }
}

/// Expectation over a standard normal value, by the trapezoid rule: 1e-14 for softplus of standard
/// deviations below one.
fn over_normal(of: impl Fn(f64) -> f64) -> f64 {
    static NODES: LazyLock<Vec<[f64; 2]>> = LazyLock::new(|| {
        let h = 0.4;
        let nodes = (-21..=21).map(|k| h * f64::from(k));
        let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        nodes.map(|z| [z, h * density(z)]).collect()
    });
    NODES.iter().map(|[z, w]| w * of(*z)).sum()
}

/// The belief with given moments, by Newton steps with differences for slopes.
fn newton(moments: impl Fn(Belief) -> [f64; 2], want: [f64; 2]) -> Belief {
    let (mut mean, mut variance) = (want[0].exp_m1().ln(), want[1]);
    for _ in 0..30 {
        let at = |a: f64, b: f64| {
            moments(Belief {
                mean: mean + a,
                variance: variance + b,
            })
        };
        let (h, k) = (1e-4, 1e-4 * variance);
        let slope = |i: usize| {
            let [a, b] = [
                at(h, 0.0)[i] - at(-h, 0.0)[i],
                at(0.0, k)[i] - at(0.0, -k)[i],
            ];
            [a / (2.0 * h), b / (2.0 * k)]
        };
        let (now, [a, b], [c, d]) = (at(0.0, 0.0), slope(0), slope(1));
        let off = [want[0] - now[0], want[1] - now[1]];
        let over = (a * d - b * c).recip();
        mean += over * (d * off[0] - b * off[1]);
        variance += over * (a * off[1] - c * off[0]);
        if off[0].abs().max(off[1].abs()) < 1e-13 {
            break;
        }
    }
    Belief { mean, variance }
}

/// The kinds whose log-density is made of `log Z`, `Z` and `1 / Z`.
const TERMS: [usize; 4] = [0, 2, 5, 8];

/// The log-density of a row in its sum: Poisson counts, and waiting times.
fn terms(kind: usize, row: usize) -> [f64; 4] {
    if kind == 5 {
        return [0.0, -1.0, 0.0, -WAITS[row]];
    }
    let (y, e) = (COUNTS[row], EXPOSURE[row]);
    let log_factorial: f64 = (1..=y as u32).map(|k| f64::from(k).ln()).sum();
    [y * e.ln() - log_factorial, y, -e, 0.0]
}

/// The bound from its definition, of tables of one kind.
fn brute(toy: &Toy, form: LogSum, kind: usize, at: &At) -> f64 {
    let theta = &at.theta;
    let kernel: Kernel = toy.describe().parse().unwrap();
    let covariance = Covariance::new(&kernel);
    let kuu = toy.induced.through(at.inducing.clone()).matrix(theta);
    let kxu = covariance.cross(theta, &toy.points, &at.inducing);
    let kxx = covariance.matrix(theta, &toy.points);
    let root = Cholesky::factor(kuu.as_ref()).unwrap();
    let inverse = root.inverse();
    let s = gemm(at.lower.as_ref(), at.lower.as_ref().transpose());
    // q(u) = N(L mu, L S L').
    let mean_u = root.multiply(&at.mean);
    let cov_u = root.lower() * &s * root.lower().transpose();
    let weights = &kxu * &inverse;
    let m: Vec<f64> = matvec(weights.as_ref(), &mean_u)
        .iter()
        .map(|x| x + MEAN)
        .collect();
    let explained = &weights * &cov_u * weights.transpose();
    let cov = &kxx - &weights * kxu.transpose() + &explained;
    let mut value = 0.0;
    let bags = &toy.bags;
    let mut row = 0;
    for (likelihood, own) in &toy.tables {
        let own: Vec<f64> = own.iter().map(|&i| theta[i]).collect();
        for local in 0..likelihood.rows() {
            let points: Vec<usize> = bags.row_points(row).collect();
            let part = |of: &Mat<f64>| {
                let n = points.len();
                Mat::from_fn(n, n, |i, j| of[(points[i], points[j])])
            };
            let seen = Row {
                link: bags.link(row),
                weights: bags.weights(row),
                mean: points.iter().map(|&i| m[i]).collect(),
                covariance: part(&cov),
                explained: part(&explained),
            };
            let sample = bags.sample(row);
            let are_squares = form == LogSum::Matched
                && seen.link == Link::Square
                && points.len() > 1
                && TERMS.contains(&kind);
            value += if are_squares {
                // a X with k degrees and the noncentrality of the means.
                let (mean, variance) = seen.moments(&sample);
                let pairs = seen.weights.iter().zip(&seen.mean);
                let centre: f64 = pairs.map(|(w, m)| w * m * m).sum();
                let scale = variance / (2.0 * (mean + centre));
                let log = chi_square(scale, (mean - centre) / scale, centre);
                let [constant, by, linear, _] = terms(kind, local);
                constant + by * log + linear * mean
            } else if form != LogSum::Matched && !bags.is_single(row) {
                seen.form(form, &sample, terms(kind, local))
            } else {
                let belief = if bags.is_single(row) {
                    Belief {
                        mean: seen.mean[0],
                        variance: seen.covariance[(0, 0)],
                    }
                } else {
                    let (mean, variance) = seen.moments(&sample);
                    seen.equivalent(mean, variance)
                };
                likelihood.expected(&own, local, belief).value
            };
            row += 1;
        }
    }
    // KL between q(u) and N(0, K_uu).
    let size = at.mean.len() as f64;
    let trace: f64 = (0..at.mean.len())
        .map(|i| (&inverse * &cov_u)[(i, i)])
        .sum();
    let log_det = Cholesky::factor(cov_u.as_ref()).unwrap().log_det();
    let pull = dot(&mean_u, &matvec(inverse.as_ref(), &mean_u));
    value - 0.5 * (trace + pull - size + root.log_det() - log_det)
}

/// Every kind with every form that it has, all pairs of points or those of a sample, in chunks of
/// so many points.
fn cases(chunk: usize, jitter: f64) -> Vec<(usize, LogSum, Toy)> {
    // The rows of four and five points are sampled.
    let small = Within {
        full: 2,
        sample: 3,
        seed: 2,
    };
    let mut all = Vec::new();
    for within in [Within::default(), small] {
        for form in [LogSum::Matched, LogSum::Lemma, LogSum::Taylor] {
            for (kind, tables) in kinds().into_iter().enumerate() {
                // The lemma and the expansion are for Poisson counts and waiting times; the former
                // not for softplus.
                let is_soft_lemma = form == LogSum::Lemma && tables[0].1 == Link::Softplus;
                if form == LogSum::Matched || TERMS.contains(&kind) && !is_soft_lemma {
                    all.push((kind, form, Toy::new(tables, within, chunk, None, jitter)));
                }
            }
        }
    }
    all
}

#[test]
fn the_bound_is_its_definition() {
    let mut seen = Vec::new();
    for (kind, form, toy) in cases(5, 1e-6) {
        let at = At::new(&toy);
        let got = bound(&toy, &at.theta, &at.normal(), form, false)
            .unwrap()
            .value;
        let want = brute(&toy, form, kind, &at);
        // Explicit inverses of a covariance of condition 1e5 lose five digits.
        assert!(
            (got - want).abs() < 1e-11 * want.abs().max(1.0),
            "{form:?} {kind}: {got} {want}"
        );
        // No two are the same: forms differ, and a sample is not the whole. The lemma asks for no
        // covariance, and the largest row of the last kind has three points.
        let may_repeat = form == LogSum::Lemma || kind == 7;
        let again = |other: &f64| (other - got).abs() < 1e-6;
        assert!(may_repeat || !seen.iter().any(again), "{form:?} {kind}");
        seen.push(got);
    }
}

/// Central differences with four steps, each half the one before, extrapolated: an error of order
/// `h^8`.
fn slope(value: impl Fn(f64) -> f64, h: f64) -> f64 {
    let mut table: Vec<f64> = (0..4)
        .map(|k| {
            let h = h / f64::from(1 << k);
            (value(h) - value(-h)) / (2.0 * h)
        })
        .collect();
    for order in 1..4 {
        let by = 4.0_f64.powi(order as i32);
        for k in (order..4).rev() {
            table[k] = (by * table[k] - table[k - 1]) / (by - 1.0);
        }
    }
    table[3]
}

#[test]
fn gradients_are_those_of_the_definition() {
    for (kind, form, toy) in cases(5, 1e-3) {
        let at = At::new(&toy);
        let q = at.normal();
        let found = bound(&toy, &at.theta, &q, form, true).unwrap();
        let of = |change: &dyn Fn(&mut At, f64), h: f64| {
            slope(
                |by| {
                    let mut moved = at.clone();
                    change(&mut moved, by);
                    brute(&toy, form, kind, &moved)
                },
                h,
            )
        };
        let mut worst = [0.0_f64; 4];
        let mut close = |got: f64, want: f64, what: usize| {
            let off = (got - want).abs() / (1.0 + want.abs());
            worst[what] = worst[what].max(off);
        };
        for p in 0..at.theta.len() {
            let want = of(&|at, by| at.theta[p] += by, 0.1 * at.theta[p]);
            close(found.gradient[p], want, 0);
        }
        for i in 0..6 {
            let want = of(&|at, by| at.mean[i] += by, 0.1);
            close(found.in_mean[i] - at.mean[i], want, 1);
        }
        // dF/dC = 2 F_S C - C + diag(1 / c_ii), lower triangle.
        let in_factor = gemm(found.in_covariance.as_ref(), at.lower.as_ref());
        for i in 0..6 {
            for j in 0..=i {
                let want = of(&|at, by| at.lower[(i, j)] += by, 0.05);
                let own = if i == j {
                    at.lower[(i, i)].recip()
                } else {
                    0.0
                };
                close(2.0 * in_factor[(i, j)] - at.lower[(i, j)] + own, want, 2);
            }
        }
        let shifts = [0, 1].map(|d| toy.induced.shift(d, 1e-6));
        let stream = Stream::new(&toy, &at.theta, form, 0).unwrap();
        let moving = stream.moving(shifts.into());
        let in_places = moving.run(&q, Depth::All).unwrap().in_places;
        assert_eq!(in_places.len(), 12);
        for (i, got) in in_places.iter().enumerate() {
            let (d, point) = (i / 6, i % 6);
            let move_by = |at: &mut At, by: f64| {
                at.inducing = at
                    .inducing
                    .moved(d, |p, x| if p == point { x + by } else { x });
            };
            close(*got, of(&move_by, 0.01), 3);
        }
        // Rounding of the values over a hundredth; inducing points are shifted by 1e-6 for slopes,
        // which costs ten digits of sixteen and a little.
        assert!(
            worst.iter().all(|off| *off < 1e-8),
            "{form:?} {kind}: {worst:?}"
        );
    }
}

/// All that a pass gives, of every kind and form: relative to the largest of its sort, to 1e-10.
#[test]
fn no_kind_or_form_depends_on_chunks_or_threads() {
    let evaluate = |toy: &Toy, form, threads: usize| -> [Vec<f64>; 5] {
        let at = At::new(toy);
        in_pool(threads, || {
            let stream = Stream::new(toy, &at.theta, form, 0).unwrap();
            let shifts = [0, 1].map(|d| toy.induced.shift(d, 1e-6));
            let moving = stream.moving(shifts.into());
            let found = moving.run(&at.normal(), Depth::All).unwrap();
            let n = found.in_mean.len();
            let squares = (0..n * n).map(|k| found.in_covariance[(k % n, k / n)]);
            [
                vec![found.value],
                squares.collect(),
                found.gradient,
                found.in_mean,
                found.in_places,
            ]
        })
    };
    let whole = cases(1_000_000, 1e-6);
    for (chunk, threads) in [(1, 1), (1, 2), (5, 2)] {
        for ((kind, form, want), (_, _, toy)) in whole.iter().zip(cases(chunk, 1e-6)) {
            assert!(toy.bags.chunks() > 1 && want.bags.chunks() == 1);
            let got = evaluate(&toy, *form, threads);
            let want = evaluate(want, *form, 1);
            for (sort, (got, want)) in got.iter().zip(&want).enumerate() {
                assert!(got.len() == want.len() && !got.is_empty());
                let largest = want.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                // Places are differences of covariances over 1e-6, which keep ten digits less.
                let limit = if sort == 4 { 1e-6 } else { 1e-10 };
                for (a, b) in got.iter().zip(want) {
                    assert!(
                        (a - b).abs() <= limit * largest,
                        "{form:?} {kind}, chunks of {chunk}, sort {sort}: {a} {b}"
                    );
                }
            }
        }
    }
}
