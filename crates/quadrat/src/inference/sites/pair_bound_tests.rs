//! The bound for two latent functions is the average of its definition over draws.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::pair_testing::{Toy, counts_in_part, kinds};
use super::*;
use crate::linalg::Mat;
use crate::linalg::{Cholesky, dot, matvec, symmetric_from_fn};

/// Apart enough for the explicit factors of both covariances.
const PLACES: [f64; 8] = [0.0, 0.9, 2.1, 2.8, 4.0, 5.1, 5.9, 7.2];
/// Draws, each with its mirror image.
const DRAWS: usize = 100_000;

/// The prior of a latent function at its rows and the belief that sites make of it, from their
/// definitions.
struct Function {
    prior_mean: Vec<f64>,
    prior: Cholesky,
    mean: Vec<f64>,
    belief: Cholesky,
}

impl Function {
    /// `S = K - K T^1/2 (I + T^1/2 K T^1/2)^-1 T^1/2 K` and `mu = m + S (nu - T m)`.
    fn new(prior_mean: &[f64], k: &Mat<f64>, sites: &[Site]) -> Self {
        let n = sites.len();
        let root: Vec<f64> = sites.iter().map(|site| site.precision.sqrt()).collect();
        let inner = symmetric_from_fn(n, |i, j| {
            let unit = if i == j { 1.0 } else { 0.0 };
            root[i] * k[(i, j)] * root[j] + unit
        });
        let mut half = Mat::from_fn(n, n, |i, j| root[i] * k[(i, j)]);
        let inner = Cholesky::factor(inner.as_ref()).unwrap();
        inner.half_solve_in_place(half.as_mut());
        let s = symmetric_from_fn(n, |i, j| {
            k[(i, j)] - dot(half.col_as_slice(i), half.col_as_slice(j))
        });
        let pairs = sites.iter().zip(prior_mean);
        let pull: Vec<f64> = pairs.map(|(t, m)| t.shift - t.precision * m).collect();
        let moved = matvec(s.as_ref(), &pull);
        Self {
            prior_mean: prior_mean.to_vec(),
            prior: Cholesky::factor(k.as_ref()).unwrap(),
            mean: prior_mean.iter().zip(&moved).map(|(m, d)| m + d).collect(),
            belief: Cholesky::factor(s.as_ref()).unwrap(),
        }
    }

    /// The values at standard normal `z`, and `log prior - log q` there.
    fn draw(&self, z: &[f64]) -> (Vec<f64>, f64) {
        let moved = self.belief.multiply(z);
        let values: Vec<f64> = self.mean.iter().zip(&moved).map(|(m, d)| m + d).collect();
        let pairs = values.iter().zip(&self.prior_mean);
        let away: Vec<f64> = pairs.map(|(v, m)| v - m).collect();
        let white = self.prior.half_solve(&away);
        let log_prior = -0.5 * (dot(&white, &white) + self.prior.log_det());
        let log_belief = -0.5 * (dot(z, z) + self.belief.log_det());
        (values, log_prior - log_belief)
    }

    /// `KL(q || prior)`.
    fn divergence(&self) -> f64 {
        let pairs = self.mean.iter().zip(&self.prior_mean);
        let away: Vec<f64> = pairs.map(|(v, m)| v - m).collect();
        let white = self.prior.half_solve(&away);
        let mut spread = self.belief.lower().to_owned();
        let n = spread.nrows();
        self.prior.half_solve_in_place(spread.as_mut());
        let trace: f64 = (0..n)
            .map(|j| dot(spread.col_as_slice(j), spread.col_as_slice(j)))
            .sum();
        let logs = self.prior.log_det() - self.belief.log_det();
        0.5 * (trace + dot(&white, &white) - n as f64 + logs)
    }
}

/// Average and standard error of `sum log p(y | f, g) + log prior - log q` over draws of both
/// functions.
fn sampled(toy: &Toy, functions: &[Function; 2], seed: u64) -> (f64, f64) {
    let theta = toy.theta();
    let mut own = vec![0.0];
    own.extend(&theta[4..]);
    let mut at = |z: &[f64], w: &[f64]| {
        let (f, of_f) = functions[0].draw(z);
        let (g, of_g) = functions[1].draw(w);
        let rows = f.iter().zip(&g).enumerate().map(|(row, (f, g))| {
            own[0] = g.exp();
            toy.likelihood.log_density(&own, row, *f).value
        });
        rows.sum::<f64>() + of_f + of_g
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut normals = || -> Vec<f64> {
        PLACES
            .iter()
            .map(|_| StandardNormal.sample(&mut random))
            .collect()
    };
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..DRAWS {
        let (z, w) = (normals(), normals());
        let mirrored = [&z, &w].map(|z| z.iter().map(|z| -z).collect::<Vec<f64>>());
        let value = 0.5 * (at(&z, &w) + at(&mirrored[0], &mirrored[1]));
        sum += value;
        squares += value * value;
    }
    let n = DRAWS as f64;
    let mean = sum / n;
    (mean, ((squares / n - mean * mean) / (n - 1.0)).sqrt())
}

#[test]
fn the_bound_is_an_average_over_draws() {
    let in_part = ("counts in part", counts_in_part(PLACES.len()));
    for (name, likelihood) in kinds(PLACES.len()).into_iter().chain([in_part]) {
        let toy = Toy::new(&PLACES, likelihood);
        let theta = toy.theta();
        let fit = converge(&toy, &theta, &SiteOptions::new(Method::Variational)).unwrap();
        let functions = [
            (
                LatentGaussian::prior_mean(&toy),
                toy.matrix(&theta[..2]),
                &fit.found.sites,
            ),
            (
                SecondPrior::prior_mean(&toy),
                toy.matrix(&theta[2..4]),
                &fit.found.second,
            ),
        ]
        .map(|(mean, k, sites)| Function::new(mean, &k, sites));
        let (average, error) = sampled(&toy, &functions, 17);
        let bound = fit.log_evidence;
        let off = |bound: f64| (bound - average).abs() / error;
        assert!(
            off(bound) < 5.0,
            "{name}: {bound}, drawn {average} +- {error}"
        );
        // The draws tell a bound that lacks either divergence.
        for function in &functions {
            let without = bound + function.divergence();
            assert!(
                off(without) > 10.0,
                "{name}: {without}, drawn {average} +- {error}"
            );
        }
    }
}
