//! A small problem with two latent functions that tests share.

use super::{Block, LatentGaussian, Second, SecondPrior};
use crate::likelihood::local::Local;
use crate::likelihood::{
    Censored, Degrees, Dispersion, Gaussian, Interval, NegativeBinomial, Truncated,
};
use crate::likelihood::{Noise, Side, StudentT};
use crate::linalg::{Cholesky, Mat, MatRef, symmetric_from_fn};
use crate::link::Link;
use crate::parameter::{Parameter, PriorDensity};

/// `theta`: variance and lengthscale of both functions, then what else the likelihood has.
pub(in crate::inference) struct Toy {
    x: Vec<f64>,
    means: [Vec<f64>; 2],
    pub(in crate::inference) likelihood: Box<dyn Local>,
    own: Vec<usize>,
    pub(in crate::inference) parameters: Vec<Parameter>,
}

impl Toy {
    pub(in crate::inference) fn new(x: &[f64], likelihood: Box<dyn Local>) -> Self {
        let positive = |name: &str, start| Parameter::positive(name, "", start, PriorDensity::Flat);
        let mut parameters = vec![
            positive("variance", 1.2),
            positive("lengthscale", 0.8),
            positive("noise.variance", 0.5),
            positive("noise.lengthscale", 1.5),
        ];
        parameters.extend(likelihood.parameters(1.0).into_iter().skip(1));
        Self {
            x: x.to_vec(),
            means: [vec![0.3; x.len()], vec![-1.0; x.len()]],
            likelihood,
            own: (4..parameters.len()).collect(),
            parameters,
        }
    }

    pub(in crate::inference) fn theta(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.start).collect()
    }

    pub(in crate::inference) fn matrix(&self, theta: &[f64]) -> Mat<f64> {
        symmetric_from_fn(self.x.len(), |i, j| {
            let d = (self.x[i] - self.x[j]) / theta[1];
            theta[0] * (-0.5 * d * d).exp()
        })
    }

    fn contract(&self, theta: &[f64], g: MatRef<'_, f64>, gradient: &mut [f64]) {
        let k = self.matrix(theta);
        for j in 0..self.x.len() {
            for i in 0..self.x.len() {
                let d = self.x[i] - self.x[j];
                gradient[0] += g[(i, j)] * k[(i, j)] / theta[0];
                gradient[1] += g[(i, j)] * k[(i, j)] * d * d / theta[1].powi(3);
            }
        }
    }
}

impl LatentGaussian for Toy {
    fn prior_mean(&self) -> &[f64] {
        &self.means[0]
    }
    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        self.matrix(&theta[..2])
    }
    fn contract_covariance(&self, theta: &[f64], g: MatRef<'_, f64>, gradient: &mut [f64]) {
        self.contract(&theta[..2], g, &mut gradient[..2]);
    }
    fn blocks(&self) -> Vec<Block<'_>> {
        vec![Block {
            likelihood: self.likelihood.as_ref(),
            first: 0,
            own: &self.own,
            second: Some(Second {
                first: 0,
                link: Link::Exp,
            }),
        }]
    }
    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
    fn describe(&self) -> String {
        "se(x)".into()
    }
    fn second(&self) -> Option<&dyn SecondPrior> {
        Some(self)
    }
}

impl SecondPrior for Toy {
    fn prior_mean(&self) -> &[f64] {
        &self.means[1]
    }
    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        self.matrix(&theta[2..4])
    }
    fn contract_covariance(&self, theta: &[f64], g: MatRef<'_, f64>, gradient: &mut [f64]) {
        self.contract(&theta[2..4], g, &mut gradient[2..4]);
    }
}

pub(in crate::inference) fn kinds(n: usize) -> Vec<(&'static str, Box<dyn Local>)> {
    let y: Vec<f64> = (0..n).map(|i| [0.9, -0.4, 1.6, 0.2][i % 4]).collect();
    let up = y.iter().map(|y| y + 0.7).collect();
    let sides: Vec<Side> = (0..n).map(|i| [Side::None, Side::Right][i % 2]).collect();
    let counts = (0..n).map(|i| [3.0, 0.0, 5.0][i % 3]).collect();
    let counts = NegativeBinomial::new(counts, vec![1.5; n], Link::Exp, Dispersion::Learned);
    vec![
        (
            "gaussian",
            Box::new(Gaussian::new(y.clone(), Noise::Learned).unwrap()),
        ),
        (
            "interval",
            Box::new(Interval::new(y.clone(), up, Noise::Learned).unwrap()),
        ),
        (
            "censored",
            Box::new(Censored::new(y.clone(), &sides, Noise::Learned).unwrap()),
        ),
        (
            "truncated",
            Box::new(
                Truncated::new(
                    y.clone(),
                    vec![-0.5; n],
                    vec![f64::INFINITY; n],
                    Noise::Learned,
                )
                .unwrap(),
            ),
        ),
        (
            "student_t",
            Box::new(StudentT::new(y, Noise::Learned, Degrees::Learned).unwrap()),
        ),
        ("negative_binomial", Box::new(counts.unwrap())),
    ]
}

/// Counts of which some are only known to be "at least 5" or "fewer than 5".
pub(in crate::inference) fn counts_in_part(n: usize) -> Box<dyn Local> {
    let of = |values: [f64; 4]| (0..n).map(|i| values[i % 4]).collect();
    let (lower, upper) = (of([5.0, 0.0, 2.0, 9.0]), of([f64::INFINITY, 4.0, 2.0, 9.0]));
    let exposure = vec![1.5; n];
    let counts = NegativeBinomial::ranges(lower, upper, exposure, Link::Exp, Dispersion::Learned);
    Box::new(counts.unwrap())
}

/// `log Z`, and mean and sd of every coordinate, by a sum over a grid of the four latent values of
/// two rows, in coordinates in which the prior is standard; `n` nodes to either side.
pub(in crate::inference) fn brute(toy: &Toy, n: i32) -> (f64, [[f64; 2]; 4]) {
    let theta = toy.theta();
    let factors = [
        Cholesky::factor(toy.matrix(&theta[..2]).as_ref()).unwrap(),
        Cholesky::factor(toy.matrix(&theta[2..4]).as_ref()).unwrap(),
    ];
    let nodes: Vec<f64> = (-n..=n)
        .map(|i| 5.5 * f64::from(i) / f64::from(n))
        .collect();
    let h = 5.5 / f64::from(n) / (2.0 * std::f64::consts::PI).sqrt();
    let (mut total, mut sums) = (0.0, [[0.0; 2]; 4]);
    let mut own: Vec<f64> = std::iter::once(0.0)
        .chain(theta[4..].iter().copied())
        .collect();
    // Values of two rows, and the logarithm of their prior density.
    let pairs = |factor: &Cholesky, mean: f64| -> Vec<([f64; 2], f64)> {
        let all = nodes
            .iter()
            .flat_map(|a| nodes.iter().map(move |b| (*a, *b)));
        all.map(|(a, b)| {
            let z = factor.multiply(&[a, b]);
            ([z[0] + mean, z[1] + mean], -0.5 * (a * a + b * b))
        })
        .collect()
    };
    let (first, second) = (pairs(&factors[0], 0.3), pairs(&factors[1], -1.0));
    for (g, of_g) in &second {
        for (f, of_f) in &first {
            let mut log = of_f + of_g;
            for row in 0..2 {
                own[0] = g[row].exp();
                log += toy.likelihood.log_density(&own, row, f[row]).value;
            }
            let p = log.exp();
            total += p;
            for (sum, z) in sums.iter_mut().zip([f[0], f[1], g[0], g[1]]) {
                sum[0] += p * z;
                sum[1] += p * z * z;
            }
        }
    }
    for sum in &mut sums {
        let mean = sum[0] / total;
        *sum = [mean, (sum[1] / total - mean * mean).sqrt()];
    }
    (total.ln() + 4.0 * h.ln(), sums)
}
