//! Sites against brute force, exact inference, differences, and a careful sequential EP.

use super::*;
use crate::inference::{Evidence, Gram, LinearGaussian, condition, evidence_and_gradient};
use crate::likelihood::local::{Belief, Local};
use crate::likelihood::{
    Bernoulli, Binomial, Dispersion, Exponential, Gamma, LogNormal, LogSd, NegativeBinomial,
    Poisson, Shape, Sigmoid,
};
use crate::likelihood::{Censored, Gaussian, Interval, Laplace, Noise, Ordinal, Thresholds};
use crate::likelihood::{Degrees, Positive, Side, StudentT, Truncated};
use crate::linalg::Mat;
use crate::linalg::MatRef;
use crate::linalg::{Cholesky, symmetric_from_fn};
use crate::link::Link;
use crate::parameter::Parameter;
use crate::parameter::PriorDensity;

/// Points on a line under a squared exponential, with tables of rows.
pub(in crate::inference) struct Toy {
    x: Vec<f64>,
    mean: Vec<f64>,
    tables: Vec<Box<dyn Local>>,
    own: Vec<Vec<usize>>,
    pub(in crate::inference) parameters: Vec<Parameter>,
}

impl Toy {
    pub(in crate::inference) fn new(x: &[f64], tables: Vec<Box<dyn Local>>) -> Self {
        let kernel = |name, start| Parameter::positive(name, "", start, PriorDensity::Flat);
        let mut parameters = vec![kernel("se.variance", 1.2), kernel("se.lengthscale", 0.8)];
        let own = tables
            .iter()
            .map(|table| {
                let first = parameters.len();
                parameters.extend(table.parameters(1.0));
                (first..parameters.len()).collect()
            })
            .collect();
        Self {
            x: x.to_vec(),
            mean: x.iter().map(|x| 0.3 + 0.1 * x).collect(),
            tables,
            own,
            parameters,
        }
    }

    pub(in crate::inference) fn theta(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.start).collect()
    }
}

impl LatentGaussian for Toy {
    fn prior_mean(&self) -> &[f64] {
        &self.mean
    }
    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        symmetric_from_fn(self.x.len(), |i, j| {
            let d = (self.x[i] - self.x[j]) / theta[1];
            theta[0] * (-0.5 * d * d).exp()
        })
    }
    fn contract_covariance(&self, theta: &[f64], g: MatRef<'_, f64>, gradient: &mut [f64]) {
        let k = self.covariance(theta);
        for j in 0..self.x.len() {
            for i in 0..self.x.len() {
                let d = self.x[i] - self.x[j];
                gradient[0] += g[(i, j)] * k[(i, j)] / theta[0];
                gradient[1] += g[(i, j)] * k[(i, j)] * d * d / theta[1].powi(3);
            }
        }
    }
    fn blocks(&self) -> Vec<Block<'_>> {
        let mut first = 0;
        let tables = self.tables.iter().zip(&self.own);
        tables
            .map(|(table, own)| {
                let block = Block {
                    likelihood: table.as_ref(),
                    first,
                    own,
                    second: None,
                };
                first += table.rows();
                block
            })
            .collect()
    }
    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
    fn describe(&self) -> String {
        "se(x)".into()
    }
}

/// The same prior with Gaussian rows, for the exact engine.
struct Plain<'a>(&'a Toy, Vec<f64>, Vec<f64>);

impl LinearGaussian for Plain<'_> {
    fn rows(&self) -> usize {
        self.1.len()
    }
    fn residual(&self) -> &[f64] {
        &self.1
    }
    fn gram(&self, theta: &[f64]) -> Gram {
        Gram::Dense(self.0.covariance(theta))
    }
    fn noise(&self, theta: &[f64], variances: &mut [f64]) {
        for (out, known) in variances.iter_mut().zip(&self.2) {
            *out = known + theta.get(2).copied().unwrap_or(0.0);
        }
    }
    fn contract(&self, theta: &[f64], adjoint: &Gram, noise: &[f64], gradient: &mut [f64]) {
        if let Gram::Dense(g) = adjoint {
            self.0.contract_covariance(theta, g.as_ref(), gradient);
        }
        if gradient.len() > 2 {
            gradient[2] += noise.iter().sum::<f64>();
        }
    }
    fn describe(&self) -> String {
        "se(x)".into()
    }
    fn parameters(&self) -> &[Parameter] {
        &self.0.parameters
    }
}

const METHODS: [Method; 3] = [Method::Laplace, Method::Ep, Method::Variational];

/// Those that apply: Laplace's method needs a curvature.
fn methods(name: &str) -> Vec<Method> {
    let mut all = METHODS.to_vec();
    all.retain(|m| !(name == "laplace" && *m == Method::Laplace));
    all
}

fn known(rows: usize, variance: f64) -> Noise {
    Noise::Known(vec![variance; rows])
}

/// One table of every kind, with up to three rows each.
pub(in crate::inference) fn kinds(n: usize) -> Vec<(&'static str, Box<dyn Local>)> {
    let inf = f64::INFINITY;
    let some = |all: [f64; 3]| all[..n].to_vec();
    let poisson = |link| Poisson::new(some([2.0, 0.0, 5.0]), some([1.0, 2.0, 1.5]), link).unwrap();
    vec![
        (
            "gaussian",
            Box::new(Gaussian::new(some([0.5, -0.2, 1.0]), Noise::Learned).unwrap()),
        ),
        (
            "laplace",
            Box::new(Laplace::new(some([0.5, -0.2, 1.0]), some([0.3, 0.5, 0.2])).unwrap()),
        ),
        (
            "student_t",
            Box::new(
                StudentT::new(some([0.5, -0.2, 1.0]), Noise::Learned, Degrees::Known(4.0)).unwrap(),
            ),
        ),
        (
            "interval",
            Box::new(
                Interval::new(
                    some([0.2, -inf, 1.0]),
                    some([0.9, 0.0, inf]),
                    Noise::Learned,
                )
                .unwrap(),
            ),
        ),
        (
            "censored",
            Box::new(
                Censored::new(
                    some([0.2, 0.1, 1.0]),
                    &[Side::None, Side::Left, Side::Right][..n],
                    Noise::Learned,
                )
                .unwrap(),
            ),
        ),
        (
            "truncated",
            Box::new(
                Truncated::new(
                    some([0.2, 0.1, 1.0]),
                    some([0.1, -inf, 0.0]),
                    some([inf, 0.3, 1.5]),
                    Noise::Learned,
                )
                .unwrap(),
            ),
        ),
        (
            "ordinal",
            Box::new(
                Ordinal::new(
                    [1, 3, 2][..n].to_vec(),
                    Thresholds::Learned(4),
                    known(n, 0.25),
                )
                .unwrap(),
            ),
        ),
        ("positive", Box::new(Positive::new(n, 0.0, 0.1).unwrap())),
        (
            "bernoulli",
            Box::new(Bernoulli::new(
                [true, false, true][..n].to_vec(),
                Sigmoid::Logit,
            )),
        ),
        (
            "binomial",
            Box::new(
                Binomial::new(
                    some([3.0, 0.0, 5.0]),
                    some([5.0, 4.0, 6.0]),
                    Sigmoid::Probit,
                )
                .unwrap(),
            ),
        ),
        ("poisson", Box::new(poisson(Link::Exp))),
        ("poisson softplus", Box::new(poisson(Link::Softplus))),
        (
            "negative_binomial",
            Box::new(
                NegativeBinomial::new(
                    some([2.0, 0.0, 9.0]),
                    vec![1.0; n],
                    Link::Exp,
                    Dispersion::Learned,
                )
                .unwrap(),
            ),
        ),
        (
            "suppressed counts",
            Box::new(
                Poisson::ranges(
                    some([0.0, 4.0, 10.0]),
                    some([4.0, 4.0, inf]),
                    vec![1.0; n],
                    Link::Exp,
                )
                .unwrap(),
            ),
        ),
        (
            "exponential",
            Box::new(Exponential::new(some([0.5, 2.0, 1.0]), Link::Exp).unwrap()),
        ),
        (
            "gamma",
            Box::new(Gamma::new(some([0.5, 2.0, 1.0]), Shape::Learned).unwrap()),
        ),
        (
            "lognormal",
            Box::new(LogNormal::new(some([0.5, 2.0, 1.0]), LogSd::Learned).unwrap()),
        ),
    ]
}

/// Log evidence, means and sds by a product of trapezoid rules, in coordinates that whiten a fit.
fn brute_force(toy: &Toy, theta: &[f64], step: f64, half: i32) -> (f64, Vec<f64>, Vec<f64>) {
    let n = toy.x.len();
    let k = toy.covariance(theta);
    let prior = Cholesky::factor(k.as_ref()).unwrap();
    let fit = condition_sites(toy, theta, &SiteOptions::new(Method::Ep)).unwrap();
    let centre = fit.mean().to_vec();
    let whitened = fit.into_conditioned().unwrap().factor.whiten(k.clone());
    let posterior = Cholesky::factor((k - whitened.transpose() * &whitened).as_ref()).unwrap();
    let rows = rows::Rows::new(toy, theta);
    let per = (2 * half + 1) as usize;
    let mut t = vec![0.0; n];
    let mut sums = vec![0.0; 1 + 2 * n];
    let mut largest = f64::NEG_INFINITY;
    for code in 0..per.pow(n as u32) {
        let mut rest = code;
        for t in &mut t {
            *t = step * f64::from((rest % per) as i32 - half);
            rest /= per;
        }
        let mut f = posterior.multiply(&t);
        f.iter_mut().zip(&centre).for_each(|(f, c)| *f += c);
        let off: Vec<f64> = f.iter().zip(&toy.mean).map(|(f, m)| f - m).collect();
        let mut log: f64 = -0.5 * prior.half_solve(&off).iter().map(|z| z * z).sum::<f64>();
        for (row, &f) in f.iter().enumerate() {
            let (likelihood, own, at) = rows.at(row);
            log += likelihood.log_density(own, at, f).value;
        }
        if log > largest {
            let shrink = (largest - log).exp();
            sums.iter_mut().for_each(|s| *s *= shrink);
            largest = log;
        }
        let p = (log - largest).exp();
        sums[0] += p;
        for (i, f) in f.iter().enumerate() {
            sums[1 + i] += p * f;
            sums[1 + n + i] += p * f * f;
        }
    }
    let constant = n as f64 * (step / (2.0 * std::f64::consts::PI).sqrt()).ln()
        + 0.5 * (posterior.log_det() - prior.log_det());
    let mean: Vec<f64> = (0..n).map(|i| sums[1 + i] / sums[0]).collect();
    let sd = (0..n)
        .map(|i| (sums[1 + n + i] / sums[0] - mean[i].powi(2)).sqrt())
        .collect();
    (largest + sums[0].ln() + constant, mean, sd)
}

#[test]
fn gaussian_rows_are_exact_inference() {
    // One row is exact, one nearly so.
    let x = [0.0, 0.4, 1.5, 2.0];
    let values = vec![0.3, 0.1, 1.0, 0.7];
    for (variances, noise) in [
        (vec![0.1, 0.2, 0.0, 1e-9], None),
        (vec![0.1, 0.2, 0.3, 0.05], Some(0.02)),
    ] {
        let own = match noise {
            None => Noise::Known(variances.clone()),
            Some(_) => Noise::KnownPlusLearned(variances.clone()),
        };
        let toy = Toy::new(
            &x,
            vec![Box::new(Gaussian::new(values.clone(), own).unwrap())],
        );
        let mut theta = toy.theta();
        if let Some(noise) = noise {
            theta[2] = noise;
        }
        let residual = values.iter().zip(&toy.mean).map(|(y, m)| y - m).collect();
        let plain = Plain(&toy, residual, variances);
        let (want, slopes) = evidence_and_gradient(&plain, &theta).unwrap();
        for method in METHODS {
            let options = SiteOptions::new(method);
            let evidence = SiteEvidence::new(&toy, options.clone());
            // The row that is nearly exact makes conditions of 1e9, n eps times which is 1e-6:
            // solves and slopes lose within a tenth of that, forms and determinants far less.
            let (got, gradient) = evidence.evaluate(&theta).unwrap();
            assert!(
                (got - want).abs() < 1e-10 * want.abs(),
                "{method:?} {got} {want}"
            );
            for (g, s) in gradient.iter().zip(&slopes) {
                assert!(
                    (g - s).abs() < 1e-7 * s.abs().max(1.0),
                    "{method:?} {g} {s}"
                );
            }
            let fit = condition_sites(&toy, &theta, &options).unwrap();
            assert_eq!(fit.found.sweeps, 1);
            let (own, exact) = (
                fit.into_conditioned().unwrap(),
                condition(&plain, &theta).unwrap(),
            );
            let cross = Mat::from_fn(4, 2, |i, j| {
                (-0.5 * ((x[i] - 0.7 * j as f64) / theta[1]).powi(2)).exp()
            });
            let (a, b) = (own.factor.whiten(cross.clone()), exact.factor.whiten(cross));
            let square = |m: &Mat<f64>| m.transpose() * m;
            let off = square(&a) - square(&b);
            for i in 0..4 {
                // As above: within a tenth of n eps times a condition of 1e9.
                assert!(
                    (own.alpha[i] - exact.alpha[i]).abs() < 1e-7 * (1.0 + exact.alpha[i].abs())
                );
                // Of forms less is lost, as above.
                assert!(off[(i % 2, i / 2)].abs() < 1e-8);
            }
        }
    }
}

#[test]
fn three_rows_agree_with_brute_force() {
    println!("likelihood          method       log Z off   mean off (sd)  sd ratio");
    for (name, table) in kinds(3) {
        let toy = Toy::new(&[0.0, 0.5, 1.4], vec![table]);
        let theta = toy.theta();
        let (log_z, mean, sd) = brute_force(&toy, &theta, 0.25, 36);
        for method in methods(name) {
            let fit = condition_sites(&toy, &theta, &SiteOptions::new(method)).unwrap();
            assert!(fit.found.converged, "{name} {method:?}: {:?}", fit.found);
            let off = (0..3).fold(0.0, |m: f64, i| {
                m.max((fit.mean()[i] - mean[i]).abs() / sd[i])
            });
            let ratio = (0..3)
                .map(|i| fit.variance()[i].sqrt() / sd[i])
                .max_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()))
                .unwrap();
            let error = fit.log_evidence - log_z;
            println!(
                "{name:19} {:11} {error:10.1e} {off:12.4} {ratio:12.4}  {} sweeps",
                method.name(),
                fit.found.sweeps
            );
            // Worse than these three of a hundred would be a wrong formula, not an approximation.
            let (most_z, most_mean, most_sd) = match (method, name) {
                // Not log-concave: two modes may be merged.
                (Method::Ep, "student_t") => (0.05, 0.1, 0.1),
                // A hard constraint: known to be over-confident.
                (Method::Ep, "positive") => (0.03, 0.02, 0.06),
                (Method::Ep, _) => (0.01, 0.02, 0.02),
                // The mode of a density with a steep side lies far from its mean.
                (Method::Laplace, "positive" | "interval" | "censored") => (0.7, 1.3, 0.5),
                (_, "laplace" | "student_t") => (0.6, 0.6, 0.6),
                (Method::Variational, "positive") => (0.5, 0.2, 0.3),
                _ => (0.25, 0.35, 0.25),
            };
            assert!(
                error.abs() < most_z,
                "{name} {method:?}: log Z off by {error}"
            );
            assert!(off < most_mean, "{name} {method:?}: mean off by {off} sd");
            // As above: what approximations err by.
            assert!(
                (ratio - 1.0).abs() < most_sd,
                "{name} {method:?}: sd ratio {ratio}"
            );
            if method == Method::Variational {
                // Rounding, and what the trapezoid rule leaves at kinks.
                assert!(error < 1e-6, "{name}: the bound lies above by {error}");
            }
        }
    }
}

#[test]
fn mixtures_of_two_agree_with_brute_force() {
    let count = kinds(2).len();
    for first in 0..count {
        let second = (first + 3) % count;
        let (mut all, mut others) = (kinds(2), kinds(2));
        let ((a, one), (b, two)) = (all.swap_remove(first), others.swap_remove(second));
        let toy = Toy::new(&[0.0, 0.9, 0.3, 1.7], vec![one, two]);
        let theta = toy.theta();
        let (log_z, mean, sd) = brute_force(&toy, &theta, 0.5, 12);
        let fit = condition_sites(&toy, &theta, &SiteOptions::new(Method::Ep)).unwrap();
        assert!(fit.found.converged, "{a} + {b}: {:?}", fit.found);
        let error = fit.log_evidence - log_z;
        // What expectation propagation errs by: found is 0.011 at most.
        assert!(error.abs() < 0.05, "{a} + {b}: log Z off by {error}");
        for i in 0..4 {
            let off = (fit.mean()[i] - mean[i]).abs() / sd[i];
            let ratio = fit.variance()[i].sqrt() / sd[i];
            // The errors of expectation propagation that the test above allows for each kind: most
            // of Student t rows, whose modes may be merged; 0.03 of all others, of which here are
            // two rows. The trapezoid rule with steps of half an sd, out to six, is right to 1e-6.
            let is_heavy = [a, b].contains(&"student_t");
            let most = if is_heavy { 0.1 } else { 0.03 };
            assert!(
                off < most && (ratio - 1.0).abs() < most,
                "{a} + {b}: mean off by {off} sd, sd ratio {ratio}"
            );
        }
    }
}

#[test]
fn gradients_are_central_differences() {
    for (name, table) in kinds(3) {
        let known_rows = Gaussian::new(vec![0.4, 0.9], Noise::Learned).unwrap();
        let toy = Toy::new(
            &[0.0, 0.5, 1.4, 0.2, 2.0],
            vec![table, Box::new(known_rows)],
        );
        let theta = toy.theta();
        for method in methods(name) {
            let mut options = SiteOptions::new(method);
            options.tolerance = 1e-11;
            let evidence = SiteEvidence::new(&toy, options);
            let (_, gradient) = evidence.evaluate(&theta).unwrap();
            for i in 0..theta.len() {
                let h = 1e-4 * theta[i].abs().max(0.1);
                let at = |factor: f64| {
                    let mut moved = theta.clone();
                    moved[i] += factor * h;
                    evidence.value(&moved).unwrap()
                };
                // Fourth order; what is left is their truncation on the steepest rows.
                let numeric = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h);
                let error = (gradient[i] - numeric).abs();
                assert!(
                    error < 1e-5 * numeric.abs().max(1.0),
                    "{name} {method:?} {}: {} against {numeric}",
                    toy.parameters[i].name,
                    gradient[i]
                );
            }
        }
    }
}

#[test]
fn parallel_ep_is_sequential_ep() {
    let inf = f64::INFINITY;
    let tables: Vec<Box<dyn Local>> = vec![
        Box::new(Gaussian::new(vec![0.5, -0.2, 1.0], known(3, 0.05)).unwrap()),
        Box::new(Interval::new(vec![0.2, -inf, 0.8], vec![0.9, 0.0, inf], known(3, 0.01)).unwrap()),
        Box::new(
            Ordinal::new(
                vec![1, 3, 2],
                Thresholds::Known(vec![-0.5, 0.4]),
                known(3, 0.1),
            )
            .unwrap(),
        ),
    ];
    let toy = Toy::new(&[0.0, 0.5, 1.4, 0.2, 2.0, 1.1, 0.7, 2.5, 1.8], tables);
    let theta = toy.theta();
    let fit = condition_sites(&toy, &theta, &SiteOptions::new(Method::Ep)).unwrap();
    assert!(fit.found.converged);
    // One site after the other, rank-one updates of the posterior covariance, no cleverness.
    let n = toy.x.len();
    let mut sigma = toy.covariance(&theta);
    let mut mu = toy.mean.clone();
    let rows = rows::Rows::new(&toy, &theta);
    let mut sites = vec![Site::default(); n];
    for _ in 0..200 {
        for i in 0..n {
            let (likelihood, own, at) = rows.at(i);
            let new = match likelihood.gaussian(own, at) {
                Some((value, variance)) => Site {
                    precision: 1.0 / variance,
                    shift: value / variance,
                },
                None => {
                    let left = 1.0 - sites[i].precision * sigma[(i, i)];
                    let variance = sigma[(i, i)] / left;
                    let mean = (mu[i] - sites[i].shift * sigma[(i, i)]) / left;
                    let tilted = likelihood.tilted(own, at, Belief { mean, variance });
                    Site {
                        precision: tilted.precision,
                        shift: tilted.shift,
                    }
                }
            };
            let step = new.precision - sites[i].precision;
            let jump = new.shift - sites[i].shift;
            let column: Vec<f64> = (0..n).map(|j| sigma[(j, i)]).collect();
            let factor = step / (1.0 + step * column[i]);
            let old = mu[i];
            let gain = (jump - step * old) / (1.0 + step * column[i]);
            for j in 0..n {
                mu[j] += gain * column[j];
                for k in 0..n {
                    sigma[(j, k)] -= factor * column[j] * column[k];
                }
            }
            sites[i] = new;
        }
    }
    for i in 0..n {
        // The parallel search ends with a residual of 1e-9 sd.
        let sd = sigma[(i, i)].sqrt();
        assert!((fit.mean()[i] - mu[i]).abs() < 1e-8 * sd, "{i}");
        assert!(
            (fit.variance()[i] / sigma[(i, i)] - 1.0).abs() < 1e-8,
            "{i}"
        );
    }
}
