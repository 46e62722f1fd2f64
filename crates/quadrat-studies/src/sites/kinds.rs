//! The likelihoods whose coverage is measured, and how their rows arise.

use anyhow::Result;
use quadrat::likelihood::local::Circumstances;
use quadrat::likelihood::{
    Bernoulli, Binomial, Censored, Degrees, Dispersion, Exponential, Gamma, Gaussian, Interval,
    Laplace, Likelihood, LogNormal, LogSd, NegativeBinomial, Ordinal, Poisson, Positive, Shape,
    Sigmoid, StudentT, Thresholds,
};
use quadrat::linalg::{Cholesky, Mat};
use quadrat::link::Link;
use quadrat::model::{Mean, Noise, Observations};
use quadrat::support::{Aggregate, Functionals};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Exposure of every count.
pub const EXPOSURE: f64 = 3.0;
/// Rows that say nothing but that the function is positive there.
const SIGNS: usize = 10;
/// Exposure of counts over boxes per unit of length; places of the function in each box.
const RATE: f64 = 20.0;
const STEPS: usize = 20;

/// A likelihood: how rows arise from latent values.
pub struct Kind {
    pub name: &'static str,
    pub rows: Rows,
    /// The true values of its own hyperparameters.
    pub own: &'static [(&'static str, f64)],
}

/// How rows arise from latent values.
pub enum Rows {
    /// A row of the likelihood at every place.
    Each(fn(&[f64], &mut ChaCha8Rng) -> Result<Likelihood>),
    /// The same, where the function has no level of its own.
    Centred(fn(&[f64], &mut ChaCha8Rng) -> Result<Likelihood>),
    /// Noisy values at most places; at the first [`SIGNS`] that the function is positive, which it
    /// was drawn to be.
    BesideSigns,
    /// Counts over so many boxes that share out the range, summed after the link.
    OverBoxes(usize),
}

impl Kind {
    const fn each(
        name: &'static str,
        own: &'static [(&'static str, f64)],
        rows: fn(&[f64], &mut ChaCha8Rng) -> Result<Likelihood>,
    ) -> Self {
        Self {
            name,
            rows: Rows::Each(rows),
            own,
        }
    }
}

pub const KINDS: [Kind; 17] = [
    Kind::each(
        "gaussian, noise learned",
        &[("noise.variance", 0.09)],
        |f, random| Ok(Gaussian::new(noisy(f, 0.3, random), Noise::Learned)?.into()),
    ),
    Kind::each("laplace, scale known", &[], |f, random| {
        let scale = vec![0.3; f.len()];
        let clean = Laplace::new(f.to_vec(), scale.clone())?;
        Ok(Laplace::new(drawn(&clean.into(), &[], f, random), scale)?.into())
    }),
    Kind::each(
        "student_t, four degrees, scale learned",
        &[("noise.variance", 0.04)],
        |f, random| {
            let clean = StudentT::new(f.to_vec(), Noise::Learned, Degrees::Known(4.0))?;
            let values = drawn(&clean.into(), &[0.04], f, random);
            Ok(StudentT::new(values, Noise::Learned, Degrees::Known(4.0))?.into())
        },
    ),
    Kind::each(
        "interval, width .8, noise learned",
        &[("noise.variance", 0.04)],
        |f, random| {
            let values = noisy(f, 0.2, random);
            let lower: Vec<f64> = values.iter().map(|y| (y / 0.8).floor() * 0.8).collect();
            let upper = lower.iter().map(|l| l + 0.8).collect();
            Ok(Interval::new(lower, upper, Noise::Learned)?.into())
        },
    ),
    Kind::each(
        "censored below -.3, noise learned",
        &[("noise.variance", 0.04)],
        |f, random| {
            let values = noisy(f, 0.2, random);
            let (low, high) = (vec![-0.3; f.len()], vec![f64::INFINITY; f.len()]);
            Ok(Censored::clipped(&values, &low, &high, Noise::Learned)?.into())
        },
    ),
    Kind::each("ordinal, four ranks", &[], |f, random| {
        let thresholds = vec![-0.8, 0.0, 0.8];
        let rank = |y: f64| 1 + thresholds.iter().filter(|t| **t < y).count();
        let ranks = noisy(f, 0.3, random).into_iter().map(rank).collect();
        let noise = Noise::Known(vec![0.09; f.len()]);
        Ok(Ordinal::new(ranks, Thresholds::Known(thresholds.clone()), noise)?.into())
    }),
    Kind::each("bernoulli", &[], |f, random| {
        let clean = Bernoulli::new(vec![true; f.len()], Sigmoid::Logit).into();
        let yes = drawn(&clean, &[], f, random);
        let yes = yes.into_iter().map(|y| y > 0.5).collect();
        Ok(Bernoulli::new(yes, Sigmoid::Logit).into())
    }),
    Kind::each("binomial, one to nine trials", &[], |f, random| {
        let trials: Vec<f64> = (0..f.len()).map(|i| (1 + i * 7 % 9) as f64).collect();
        let sigmoid = Sigmoid::Logit;
        let local = Likelihood::from(Binomial::new(trials.clone(), trials.clone(), sigmoid)?);
        let one = |(f, n): (&f64, &f64)| {
            let circumstances = Circumstances {
                trials: *n as u64,
                ..Circumstances::default()
            };
            let new = local.local().observation(&[], &circumstances, *f);
            new.sample(random)
        };
        let successes = f.iter().zip(&trials).map(one).collect();
        Ok(Binomial::new(successes, trials, sigmoid)?.into())
    }),
    Kind::each("poisson", &[], |f, random| {
        let counts = counts(f, random)?;
        Ok(Poisson::new(counts, vec![EXPOSURE; f.len()], Link::Exp)?.into())
    }),
    Kind::each("poisson, fewer than 3 suppressed", &[], |f, random| {
        let counts = counts(f, random)?;
        let end = |small: f64| move |c: &f64| if *c < 3.0 { small } else { *c };
        let lower = counts.iter().map(end(0.0)).collect();
        let upper = counts.iter().map(end(2.0)).collect();
        Ok(Poisson::ranges(lower, upper, vec![EXPOSURE; f.len()], Link::Exp)?.into())
    }),
    Kind::each(
        "negative_binomial, dispersion learned",
        &[("negative_binomial.dispersion", 0.3)],
        |f, random| {
            let exposure = vec![EXPOSURE; f.len()];
            let of = |counts| {
                NegativeBinomial::new(counts, exposure.clone(), Link::Exp, Dispersion::Learned)
            };
            let clean = of(vec![0.0; f.len()])?.into();
            Ok(of(drawn(&clean, &[0.3], f, random))?.into())
        },
    ),
    Kind::each("exponential", &[], |f, random| {
        let clean = Exponential::new(vec![1.0; f.len()], Link::Exp)?.into();
        Ok(Exponential::new(drawn(&clean, &[], f, random), Link::Exp)?.into())
    }),
    Kind {
        name: "ordinal, four ranks, thresholds learned",
        own: &[],
        rows: Rows::Centred(|f, random| {
            let thresholds = [-0.8, 0.0, 0.8];
            let rank = |y: f64| 1 + thresholds.iter().filter(|t| **t < y).count();
            let ranks = noisy(f, 0.3, random).into_iter().map(rank).collect();
            let noise = Noise::Known(vec![0.09; f.len()]);
            Ok(Ordinal::new(ranks, Thresholds::Learned(4), noise)?.into())
        }),
    },
    Kind {
        name: "positive at ten of the places, values at the others",
        own: &[("noise.variance", 0.09)],
        rows: Rows::BesideSigns,
    },
    Kind {
        name: "poisson over 12 boxes, summed after the link",
        own: &[],
        rows: Rows::OverBoxes(12),
    },
    Kind::each(
        "gamma, shape learned",
        &[("gamma.shape", 3.0)],
        |f, random| {
            let clean = Gamma::new(vec![1.0; f.len()], Shape::Learned)?.into();
            Ok(Gamma::new(drawn(&clean, &[3.0], f, random), Shape::Learned)?.into())
        },
    ),
    Kind::each(
        "lognormal, sd learned",
        &[("lognormal.sd", 0.3)],
        |f, random| {
            let clean = LogNormal::new(vec![1.0; f.len()], LogSd::Learned)?.into();
            Ok(LogNormal::new(drawn(&clean, &[0.3], f, random), LogSd::Learned)?.into())
        },
    ),
];

impl Kind {
    /// Whether a draw of the function is one that the rows could be told of.
    pub fn admits(&self, f: &[f64]) -> bool {
        !matches!(self.rows, Rows::BesideSigns) || f[..SIGNS].iter().all(|f| *f > 0.0)
    }

    /// Where the function must be drawn for the rows: random places, or fine steps through the
    /// boxes.
    pub fn places(&self, random: Vec<f64>, range: f64) -> Vec<f64> {
        match self.rows {
            Rows::OverBoxes(boxes) => {
                let fine = boxes * STEPS;
                let step = range / fine as f64;
                (0..fine).map(|i| step * (i as f64 + 0.5)).collect()
            }
            _ => random,
        }
    }

    /// Tables that tell of the function at those places.
    pub fn tables(
        &self,
        x: &[f64],
        f: &[f64],
        range: f64,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<Observations>> {
        let at = |x: &[f64]| Functionals::points("x", x);
        match self.rows {
            Rows::Each(rows) | Rows::Centred(rows) => {
                Ok(vec![Observations::new(at(x)?, rows(f, random)?)?])
            }
            Rows::BesideSigns => {
                let values = Gaussian::new(noisy(&f[SIGNS..], 0.3, random), Noise::Learned)?;
                let signs = Positive::new(SIGNS, 0.0, 1e-3)?;
                Ok(vec![
                    Observations::new(at(&x[SIGNS..])?, values)?,
                    Observations::new(at(&x[..SIGNS])?, signs)?,
                ])
            }
            Rows::OverBoxes(boxes) => {
                let width = range / boxes as f64;
                let edge = |i: usize| width * i as f64;
                let edges: Vec<(f64, f64)> = (0..boxes).map(|i| (edge(i), edge(i + 1))).collect();
                let mean =
                    |f: &[f64]| f.iter().map(|f| f.exp()).sum::<f64>() * width / STEPS as f64;
                let one = |f: &[f64]| -> Result<f64> {
                    Ok(rand_distr::Poisson::new(RATE * mean(f))?.sample(random))
                };
                let counts = f.chunks(STEPS).map(one).collect::<Result<Vec<f64>>>()?;
                let counts = Poisson::new(counts, vec![RATE; boxes], Link::Exp)?;
                let sums = Functionals::intervals("x", &edges, Aggregate::Sum)?;
                Ok(vec![Observations::new(sums, counts)?])
            }
        }
    }

    /// The level of the function.
    pub fn mean(&self) -> Mean {
        match self.rows {
            Rows::Centred(_) => Mean::Zero,
            _ => Mean::Constant,
        }
    }
}

/// The root of the prior covariance at some places: se with variance and lengthscale one.
pub fn prior(x: &[f64]) -> Result<Cholesky> {
    let k = Mat::from_fn(x.len(), x.len(), |i, j| {
        let r = x[i] - x[j];
        (-0.5 * r * r).exp() + if i == j { 1e-9 } else { 0.0 }
    });
    Ok(Cholesky::factor(k.as_ref())?)
}

/// Standard normal numbers.
pub fn normals(n: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(random)).collect()
}

fn noisy(f: &[f64], sd: f64, random: &mut ChaCha8Rng) -> Vec<f64> {
    let mut noise = || -> f64 { StandardNormal.sample(random) };
    f.iter().map(|f| f + sd * noise()).collect()
}

fn counts(f: &[f64], random: &mut ChaCha8Rng) -> Result<Vec<f64>> {
    let clean = Poisson::new(vec![0.0; f.len()], vec![EXPOSURE; f.len()], Link::Exp)?;
    Ok(drawn(&clean.into(), &[], f, random))
}

/// Observations at latent values, with the exposure of the counts.
fn drawn(likelihood: &Likelihood, own: &[f64], f: &[f64], random: &mut ChaCha8Rng) -> Vec<f64> {
    let circumstances = Circumstances {
        exposure: EXPOSURE,
        variance: 2.0 * 0.3 * 0.3,
        ..Circumstances::default()
    };
    // The variance is that of the Laplace noise; Student's scale is its own.
    let circumstances = match likelihood {
        Likelihood::Laplace(_) => circumstances,
        _ => Circumstances {
            variance: 0.0,
            ..circumstances
        },
    };
    let local = likelihood.local();
    f.iter()
        .map(|&f| local.observation(own, &circumstances, f).sample(random))
        .collect()
}

/// A likelihood of which a few rows are compared with brute force.
pub struct Few {
    pub name: &'static str,
    pub rows: fn(&[f64], &mut ChaCha8Rng) -> Result<Likelihood>,
    /// The true values of its own hyperparameters.
    pub own: &'static [(&'static str, f64)],
    /// The link of its mean: functions are seen through one.
    pub link: Option<Link>,
    /// The level of the function, known.
    pub level: f64,
    /// How far sds may be off by expectation propagation in the median case.
    pub worse: f64,
}

/// Those of [`KINDS`] that have a row at every place, and others.
pub fn few() -> Vec<Few> {
    let plain = |name: &'static str, own, rows| Few {
        name,
        rows,
        own,
        link: ["poisson", "negative", "exponential", "gamma", "lognormal"]
            .iter()
            .any(|counts| name.starts_with(counts))
            .then_some(Link::Exp),
        level: 0.0,
        // Two humps are merged (heavy tails); rows that cut off a side are close to boxes, and the
        // hardest of them to steps.
        worse: match name.split(['_', ' ', ',']).next() {
            Some("laplace" | "student" | "censored" | "ordinal") => 0.08,
            Some("positive") => 0.15,
            _ => 0.02,
        },
    };
    let mut all: Vec<Few> = KINDS
        .iter()
        .filter_map(|kind| match kind.rows {
            Rows::Each(rows) => Some(plain(kind.name, kind.own, rows)),
            _ => None,
        })
        .collect();
    all.push(plain("positive, margin sd .1", &[], |f, _| {
        Ok(Positive::new(f.len(), 0.0, 0.1)?.into())
    }));
    all.push(Few {
        link: Some(Link::Softplus),
        ..plain("poisson, softplus link", &[], |f, random| {
            linked(Link::Softplus, f, random)
        })
    });
    all.push(Few {
        // At zero a square can be of either sign; here the function keeps away from it.
        level: 4.0,
        link: Some(Link::Square),
        ..plain("poisson, square link, level 4", &[], |f, random| {
            linked(Link::Square, f, random)
        })
    });
    all.push(plain(
        "negative_binomial, fewer than 3 suppressed",
        &[("negative_binomial.dispersion", 0.3)],
        |f, random| {
            let exposure = vec![EXPOSURE; f.len()];
            let learned = Dispersion::Learned;
            let clean =
                NegativeBinomial::new(vec![0.0; f.len()], exposure.clone(), Link::Exp, learned)?;
            let counts = drawn(&clean.into(), &[0.3], f, random);
            let end = |small: f64| move |c: &f64| if *c < 3.0 { small } else { *c };
            let lower = counts.iter().map(end(0.0)).collect();
            let upper = counts.iter().map(end(2.0)).collect();
            Ok(NegativeBinomial::ranges(lower, upper, exposure, Link::Exp, learned)?.into())
        },
    ));
    all
}

fn linked(link: Link, f: &[f64], random: &mut ChaCha8Rng) -> Result<Likelihood> {
    let exposure = vec![EXPOSURE; f.len()];
    let clean = Poisson::new(vec![0.0; f.len()], exposure.clone(), link)?;
    Ok(Poisson::new(drawn(&clean.into(), &[], f, random), exposure, link)?.into())
}
