//! Probabilities and densities of new observations against averages over a fine grid of latent
//! values, from formulas written out here.

use super::super::predictive::{Predictive, What};
use super::*;
use crate::likelihood::{
    Bernoulli, Binomial, Degrees, Dispersion, Exponential, Gamma, Gaussian, Laplace, Likelihood,
    NegativeBinomial, Noise, Ordinal, Poisson, Shape, Sigmoid, StudentT, Thresholds,
};
use crate::link::Link;
use crate::special::scalar::normal_cdf;

/// Two nodes of the hyperparameters, one row.
const WEIGHTS: [f64; 2] = [0.3, 0.7];
const MEANS: [f64; 2] = [0.4, 1.1];
const SDS: [f64; 2] = [0.5, 0.8];

fn prediction(likelihood: Likelihood, own: Vec<f64>, variance: f64) -> Prediction {
    let moments = [0, 1].map(|k| (vec![MEANS[k]], vec![SDS[k] * SDS[k]]));
    let own = vec![own.clone(), own];
    let predictive = Predictive::new(&likelihood, own, What::Observation, variance);
    Prediction::from_moments(WEIGHTS.to_vec(), &moments).through(predictive)
}

/// The average of a function of the latent value, by the trapezoid rule over nine sds of both
/// nodes.
fn average(g: impl Fn(f64) -> f64) -> f64 {
    let step = 1e-3;
    let each = |k: usize| {
        (-9000..=9000)
            .map(|i| {
                let z = step * f64::from(i);
                g(MEANS[k] + SDS[k] * z) * (-0.5 * z * z).exp()
            })
            .sum::<f64>()
            * step
            / (2.0 * std::f64::consts::PI).sqrt()
    };
    WEIGHTS[0] * each(0) + WEIGHTS[1] * each(1)
}

fn logit(f: f64) -> f64 {
    1.0 / (1.0 + (-f).exp())
}

fn factorial(k: i32) -> f64 {
    (1..=k).map(f64::from).product()
}

/// The rising factorial `a (a + 1) .. (a + k - 1)`.
fn rising(a: f64, k: i32) -> f64 {
    (0..k).map(|i| a + f64::from(i)).product()
}

/// A probability of every count up to 7, and `P(Y > 3)`, which are sums of them.
#[test]
fn counts_and_ranks_exceed_limits_as_their_probabilities_say() {
    type Mass = fn(f64, i32) -> f64;
    let poisson = |link| Poisson::new(vec![1.0], vec![1.0], link).unwrap();
    let negative =
        NegativeBinomial::new(vec![1.0], vec![1.0], Link::Exp, Dispersion::Known(0.4)).unwrap();
    let ordinal = |ranks| {
        let known = Thresholds::Known(vec![-0.5, 0.6, 1.4]);
        Ordinal::new(ranks, known, Noise::Known(vec![0.09])).unwrap()
    };
    let cases: [(Likelihood, Mass); 7] = [
        (poisson(Link::Exp).into(), |f, k| {
            (f64::from(k) * f - f.exp()).exp() / factorial(k)
        }),
        (poisson(Link::Square).into(), |f, k| {
            (-f * f).exp() * (f * f).powi(k) / factorial(k)
        }),
        (poisson(Link::Softplus).into(), |f, k| {
            let mean = f.exp().ln_1p();
            (-mean).exp() * mean.powi(k) / factorial(k)
        }),
        (negative.into(), |f, k| {
            let (size, mean) = (2.5, f.exp());
            let p = size / (size + mean);
            rising(size, k) / factorial(k) * p.powf(size) * (1.0 - p).powi(k)
        }),
        (
            Bernoulli::new(vec![true], Sigmoid::Logit).into(),
            |f, k| match k {
                0 => 1.0 - logit(f),
                1 => logit(f),
                _ => 0.0,
            },
        ),
        (
            Binomial::new(vec![1.0], vec![3.0], Sigmoid::Probit)
                .unwrap()
                .into(),
            // A new row has one trial unless told otherwise.
            |f, k| match k {
                0 => normal_cdf(-f),
                1 => normal_cdf(f),
                _ => 0.0,
            },
        ),
        (ordinal(vec![2]).into(), |f, k| {
            let ends = [f64::NEG_INFINITY, -0.5, 0.6, 1.4, f64::INFINITY];
            let below = |t: f64| normal_cdf((t - f) / 0.3);
            match usize::try_from(k) {
                Ok(k) if (1..=4).contains(&k) => below(ends[k]) - below(ends[k - 1]),
                _ => 0.0,
            }
        }),
    ];
    for (likelihood, mass) in cases {
        let name = likelihood.name();
        let is_ranked = matches!(likelihood, Likelihood::Ordinal(_));
        let ours = prediction(likelihood, Vec::new(), 0.09);
        let mut below = 0.0;
        for k in 0..=7 {
            let want = average(|f| mass(f, k));
            let got = ours.log_density(&[f64::from(k)])[0].exp();
            // Both are sums over a grid that is exact to rounding; the predictive distribution has
            // fewer nodes.
            assert!((got - want).abs() < 1e-9, "{name} {k}: {got} {want}");
            below += want;
            for limit in [f64::from(k), f64::from(k) + 0.5] {
                let got = ours.exceedance(limit)[0];
                assert!(
                    (got - (1.0 - below)).abs() < 1e-9,
                    "{name} > {limit}: {got}"
                );
            }
        }
        assert_eq!(ours.exceedance(-0.5), [1.0], "{name}");
        let ranks = ours.rank_probabilities();
        assert_eq!(ranks.is_some(), is_ranked, "{name}");
        for row in ranks.into_iter().flatten() {
            assert_eq!(row.len(), 4);
            // Rounding of four probabilities; each as above.
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            for (k, got) in row.iter().enumerate() {
                let want = average(|f| mass(f, k as i32 + 1));
                assert!((got - want).abs() < 1e-9, "rank {}: {got} {want}", k + 1);
            }
        }
    }
}

#[test]
fn values_exceed_limits_as_their_densities_say() {
    let pi = std::f64::consts::PI;
    // Density and probability of more than y, at a latent value.
    type Both = Box<dyn Fn(f64, f64) -> (f64, f64)>;
    let cases: [(Likelihood, Vec<f64>, f64, Both); 5] = [
        (
            Gaussian::new(vec![0.0], Noise::Learned).unwrap().into(),
            vec![0.2],
            0.0,
            Box::new(move |f, y| {
                let z = (y - f) / 0.2f64.sqrt();
                ((-0.5 * z * z).exp() / (0.4 * pi).sqrt(), normal_cdf(-z))
            }),
        ),
        (
            Laplace::new(vec![0.0], vec![0.5]).unwrap().into(),
            Vec::new(),
            0.5,
            Box::new(|f, y| {
                let r = (y - f) / 0.5;
                let tail = 0.5 * (-r.abs()).exp();
                ((-r.abs()).exp(), if r > 0.0 { tail } else { 1.0 - tail })
            }),
        ),
        (
            // Two degrees of freedom have a distribution function in closed form.
            StudentT::new(vec![0.0], Noise::Learned, Degrees::Known(2.0))
                .unwrap()
                .into(),
            vec![0.3],
            0.0,
            Box::new(|f, y| {
                let t = (y - f) / 0.3f64.sqrt();
                let root = (2.0 + t * t).sqrt();
                (1.0 / (root.powi(3) * 0.3f64.sqrt()), 0.5 * (1.0 - t / root))
            }),
        ),
        (
            Exponential::new(vec![1.0], Link::Exp).unwrap().into(),
            Vec::new(),
            0.0,
            Box::new(|f, y| {
                let rate = (-f).exp();
                match y > 0.0 {
                    true => (rate * (-rate * y).exp(), (-rate * y).exp()),
                    false => (0.0, 1.0),
                }
            }),
        ),
        (
            // Shape two has a distribution function in closed form.
            Gamma::new(vec![1.0], Shape::Learned).unwrap().into(),
            vec![2.0],
            0.0,
            Box::new(|f, y| {
                let rate = 2.0 * (-f).exp();
                match y > 0.0 {
                    true => (
                        rate * rate * y * (-rate * y).exp(),
                        (1.0 + rate * y) * (-rate * y).exp(),
                    ),
                    false => (0.0, 1.0),
                }
            }),
        ),
    ];
    for (likelihood, own, variance, both) in cases {
        let name = likelihood.name();
        let ours = prediction(likelihood, own, variance);
        for y in [-2.0, -0.3, 0.7, 1.9, 5.0] {
            let (density, above) = (average(|f| both(f, y).0), average(|f| both(f, y).1));
            let got = ours.exceedance(y)[0];
            // The grid's steps at the kink of the double exponential: their square.
            let rough = if name == "laplace" { 1e-5 } else { 1e-7 };
            assert!(
                (got - above).abs() < rough * above,
                "{name} > {y}: {got} {above}"
            );
            let got = ours.log_density(&[y])[0].exp();
            assert!(
                (got - density).abs() <= rough * density,
                "{name} at {y}: {got} {density}"
            );
        }
        assert!(ours.rank_probabilities().is_none());
    }
}

#[test]
fn the_response_exceeds_limits_as_the_function_does() {
    let counts = Poisson::new(vec![1.0], vec![1.0], Link::Exp).unwrap();
    let moments = [0, 1].map(|k| (vec![MEANS[k]], vec![SDS[k] * SDS[k]]));
    let latent = Prediction::from_moments(WEIGHTS.to_vec(), &moments);
    let own = vec![Vec::new(), Vec::new()];
    let predictive = Predictive::new(&counts.into(), own, What::Mean, 0.0);
    let rate = latent.clone().through(predictive);
    let tails = |y: f64| -> f64 {
        let above = |k: usize| WEIGHTS[k] * normal_cdf((MEANS[k] - y) / SDS[k]);
        above(0) + above(1)
    };
    for y in [-1.0_f64, 0.5, 2.0] {
        // Two tails, to a few roundings.
        assert!((latent.exceedance(y)[0] - tails(y)).abs() < 1e-14);
        // A root of the link, halved down to.
        assert!((rate.exceedance(y.exp())[0] - tails(y)).abs() < 1e-12);
    }
    let truncated = latent.clone().non_negative();
    assert_eq!(truncated.exceedance(-0.1), [1.0]);
    assert!((truncated.exceedance(2.0)[0] - tails(2.0) / tails(0.0)).abs() < 1e-12);
    assert!(latent.exceedance(f64::NAN)[0].is_nan());
}

#[test]
fn intervals_in_far_tails_have_the_probabilities_of_normal_values() {
    let moments = [(vec![0.0; 4], vec![1.0; 4])];
    let normal = Prediction::from_moments(vec![1.0], &moments);
    let infinite = f64::INFINITY;
    let lower = [40.0, -infinite, 0.5, -1.0];
    let upper = [infinite, -40.0, 0.5, 2.0];
    let got = normal.log_between(&lower, &upper);
    // ln Phi(-40), by the continued fraction of the Mills ratio; some roundings of 800.
    let tail = -804.608_442_013_753_8;
    assert!((got[0] - tail).abs() < 1e-12 && (got[1] - tail).abs() < 1e-12);
    assert_eq!(got[2], -infinite);
    let inside = normal_cdf(2.0) - normal_cdf(-1.0);
    assert!((got[3] - inside.ln()).abs() < 1e-14);
    let half = normal.clone().non_negative().log_between(&lower, &upper);
    // Given that it is not negative a value is twice as probable, and never below zero.
    assert!((half[0] - tail - 2.0_f64.ln()).abs() < 1e-12);
    assert_eq!(half[1], -infinite);
    let inside = 2.0 * (normal_cdf(2.0) - 0.5);
    assert!((half[3] - inside.ln()).abs() < 1e-14);
    let unknown = normal.log_between(&[f64::NAN; 4], &upper);
    assert!(unknown.iter().all(|log| log.is_nan()));
    // Two nodes: a sum of both.
    let moments = [0, 1].map(|k| (vec![MEANS[k]], vec![SDS[k] * SDS[k]]));
    let mixture = Prediction::from_moments(WEIGHTS.to_vec(), &moments);
    for y in [1.0, 6.0, 8.0] {
        let above = |k: usize| WEIGHTS[k] * normal_cdf((MEANS[k] - y) / SDS[k]);
        let want = (above(0) + above(1)).ln();
        let got = mixture.log_between(&[y], &[infinite])[0];
        // From 1e-6 on down the sum is of tails, above it a difference with an error of 1e-16.
        assert!((got - want).abs() < 1e-9, "{y}: {got} {want}");
        assert_eq!(mixture.exceedance_of_each(&[y]), mixture.exceedance(y));
    }
    // A link has the difference of its distribution function, and no less than a number has.
    let counts = Poisson::new(vec![1.0], vec![1.0], Link::Exp).unwrap();
    let ours = prediction(counts.into(), Vec::new(), 0.0);
    let got = ours.log_between(&[0.0], &[2.0])[0];
    let want = ours.log_density(&[1.0])[0].exp() + ours.log_density(&[2.0])[0].exp();
    // Differences of numbers that are right to 1e-9.
    assert!((got.exp() - want).abs() < 1e-8, "{got} {want}");
    assert_eq!(ours.log_between(&[-5.0], &[-1.0]), [f64::MIN_POSITIVE.ln()]);
}
