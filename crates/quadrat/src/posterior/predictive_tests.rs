//! Closed forms, and observations that are far more certain than the latent value.

use super::*;
use crate::likelihood::{
    Binomial, Degrees, Dispersion, Exponential, Gamma, Gaussian, Laplace, NegativeBinomial, Noise,
    Poisson, Shape, Sigmoid, StudentT,
};
use crate::posterior::prediction::Prediction;
use crate::special::scalar::{normal_cdf, regularised_gamma};

fn component(mean: f64, sd: f64) -> LatentComponent {
    LatentComponent {
        row: 0,
        node: 0,
        weight: 1.0,
        mean,
        sd,
        spread: None,
    }
}

fn predictive(likelihood: impl Into<Likelihood>, what: What, variance: f64) -> Predictive {
    Predictive::new(&likelihood.into(), vec![Vec::new()], what, variance)
}

#[test]
fn moments_behind_a_link_are_in_closed_form() {
    let counts = |link| Poisson::new(vec![1.0], vec![1.0], link).unwrap();
    // At an sd of 3, e^2f has its weight six sds from the mean: beyond most nodes.
    let (m, v) = (0.5_f64, 9.0_f64);
    let mean = (m + 0.5 * v).exp();
    let variance = mean * mean * v.exp_m1();
    let rate = predictive(counts(Link::Exp), What::Mean, 0.0).moments(&[component(m, 3.0)]);
    // Rounding of the exponents.
    assert!((rate.0 / mean - 1.0).abs() < 1e-13, "{rate:?} {mean}");
    assert!(
        (rate.1 * rate.1 / variance - 1.0).abs() < 1e-12,
        "{rate:?} {variance}"
    );
    let count = predictive(counts(Link::Exp), What::Observation, 0.0).moments(&[component(m, 3.0)]);
    assert!((count.1 * count.1 / (variance + mean) - 1.0).abs() < 1e-12);
    // Two components, one of them certain.
    let two = [
        LatentComponent {
            row: 0,
            weight: 0.25,
            ..component(1.0, 0.0)
        },
        LatentComponent {
            row: 0,
            weight: 0.75,
            ..component(2.0, 0.5)
        },
    ];
    let (mean, sd) = predictive(counts(Link::Square), What::Mean, 0.0).moments(&two);
    let (second, own) = (4.25, 2.0 * 0.25 * (8.0 + 0.25));
    let want = 0.25 + 0.75 * second;
    // Rounding of numbers up to 17.
    assert!((mean - want).abs() < 1e-14);
    let square = 0.25 + 0.75 * (own + second * second);
    assert!((sd * sd - (square - want * want)).abs() < 1e-13);
}

#[test]
fn moments_far_from_one_keep_their_digits() {
    let counts = || Poisson::new(vec![1.0], vec![1.0], Link::Exp).unwrap();
    let rate = |m: f64| predictive(counts(), What::Mean, 0.0).moments(&[component(m, 0.5)]);
    let (unit_mean, unit_sd) = rate(0.0);
    for m in [-690.0_f64, -400.0, -301.0, -299.0, 299.0, 400.0, 590.0] {
        let (mean, sd) = rate(m);
        // Rounding of the exponents, of up to 700: some 1e-13.
        assert!(
            (mean / (unit_mean * m.exp()) - 1.0).abs() < 1e-12,
            "{m}: {mean}"
        );
        assert!((sd / (unit_sd * m.exp()) - 1.0).abs() < 1e-12, "{m}: {sd}");
    }
    // A mean may be a number where the sd is none: that of an uncertain logarithm.
    let wide = predictive(counts(), What::Mean, 0.0).moments(&[component(0.0, 30.0)]);
    // Rounding of the exponent.
    assert!(
        (wide.0.ln() - 450.0).abs() < 1e-12 && wide.1 == f64::INFINITY,
        "{wide:?}"
    );
    // Quantiles of what is larger than links know are infinite, not all the same number.
    let far = Prediction::from_moments(vec![1.0], &[(vec![590.0, 700.0], vec![1.0, 1.0])]);
    let far = far.through(predictive(counts(), What::Mean, 0.0));
    let median = far.quantile(0.5);
    assert!(
        (median[0].ln() - 590.0).abs() < 1e-9 && median[1] == f64::INFINITY,
        "{median:?}"
    );
    // Values with noise behind a link: closed forms, near and far.
    let amounts = |m: f64, sd: f64| {
        let amount = Gaussian::new(vec![1.0], Noise::Known(vec![0.01])).unwrap();
        let amount = amount.behind(Link::Exp).unwrap();
        predictive(amount, What::Observation, 0.01).moments(&[component(m, sd)])
    };
    let near = amounts(0.0, 4.0);
    let variance = (2.0_f64 * 16.0).exp() - 16.0_f64.exp() + 0.01;
    assert!((near.0 / 8.0_f64.exp() - 1.0).abs() < 1e-12, "{near:?}");
    // Rounding of exponents up to 40, as below.
    assert!((near.1 / variance.sqrt() - 1.0).abs() < 1e-12, "{near:?}");
    let below = amounts(-400.0, 1.0);
    // Rounding of an exponent of 400, some 1e-13.
    assert!(
        (below.0 / (-399.5_f64).exp() - 1.0).abs() < 1e-12,
        "{below:?}"
    );
    // The noise alone: a few roundings.
    assert!((below.1 - 0.1).abs() < 1e-12, "{below:?}");
    let above = amounts(400.0, 0.5);
    // Rounding of an exponent of 400.
    assert!(
        (above.1 / (unit_sd * 400.0_f64.exp()) - 1.0).abs() < 1e-12,
        "{above:?}"
    );
    // The noise of a count there is the root of its rate.
    let rare = predictive(counts(), What::Observation, 0.0).moments(&[component(-720.0, 1.0)]);
    assert!((rare.1.ln() + 0.5 * 719.5).abs() < 1e-9, "{rare:?}");
    // A count there varies as its rate does, and by its own root, which is nothing beside that.
    let count = predictive(counts(), What::Observation, 0.0).moments(&[component(400.0, 0.5)]);
    assert!((count.1 / rate(400.0).1 - 1.0).abs() < 1e-12, "{count:?}");
    // Far below 1 next to all counts are 0, and their variance is their mean.
    let count = predictive(counts(), What::Observation, 0.0).moments(&[component(-400.0, 0.5)]);
    assert!(
        (count.1 * count.1 / rate(-400.0).0 - 1.0).abs() < 1e-12,
        "{count:?}"
    );
    assert_eq!(rate(650.0).0, f64::INFINITY);
}

/// Against spreads on a fine grid, each known.
#[test]
fn spreads_that_are_functions_are_averaged_over() {
    let counts = |own| NegativeBinomial::new(vec![1.0], vec![1.0], Link::Exp, own).unwrap();
    let heavy = |own| StudentT::new(vec![1.0], own, Degrees::Known(6.0)).unwrap();
    let cases: [(Likelihood, &dyn Fn(f64) -> Likelihood); 2] = [
        (counts(Dispersion::Learned).into(), &|v| {
            counts(Dispersion::Known(v)).into()
        }),
        (heavy(Noise::Learned).into(), &|v| {
            heavy(Noise::Known(vec![v])).into()
        }),
    ];
    let (c, g, sd) = (component(1.2, 0.4), -0.7, 0.6);
    for (likelihood, known) in cases {
        let variance = |v: f64| if likelihood.is_linear() { v } else { 0.0 };
        let ours = Predictive::new(&likelihood, vec![Vec::new()], What::Observation, 0.0)
            .with_spread(
                RowMixtures::from_moments(vec![1.0], &[(vec![g], vec![sd * sd])]),
                Link::Exp,
            );
        let spread = ours.spread_out(0, vec![c]);
        let (mean, ours_sd) = ours.moments(&spread);
        let var = ours_sd * ours_sd;
        let seen = ours.row(&spread);
        let grid = (-80..=80).map(|i| 0.1 * f64::from(i));
        let (mut sums, mut share) = ([0.0; 4], 0.0);
        for z in grid {
            let w = 0.1 * normal_pdf(z);
            let v = (g + sd * z).exp();
            let at = Predictive::new(&known(v), vec![Vec::new()], What::Observation, variance(v));
            let (m, s) = at.moments(&[c]);
            let row = at.row(&[c]);
            let terms = [m, s * s + m * m, row.cdf(2.0), row.log_density(3.0).exp()];
            sums.iter_mut()
                .zip(terms)
                .for_each(|(sum, term)| *sum += w * term);
            share += w;
        }
        let ours = [
            mean,
            var + mean * mean,
            seen.cdf(2.0),
            seen.log_density(3.0).exp(),
        ];
        for (k, (ours, sum)) in ours.iter().zip(sums).enumerate() {
            // What lies beyond 4.9 standard deviations is left out: 1e-6, weighted by the variance
            // there 1e-5.
            assert!(
                (ours / (sum / share) - 1.0).abs() < 1e-5,
                "{} {k}: {ours} {sum}",
                likelihood.name()
            );
        }
        let median = seen.quantile(0.5);
        assert!(seen.cdf(median) >= 0.5 && seen.cdf(median - 1.0) < 0.5);
    }
}

#[test]
fn observations_much_more_certain_than_the_latent_value_follow_it() {
    let exact = |y: f64| -0.5 * (y * y + (2.0 * std::f64::consts::PI).ln());
    for scale in [1e-3, 1e-6, 1e-9] {
        let laplace = Laplace::new(vec![0.0], vec![scale]).unwrap();
        let noise = Noise::Known(vec![scale * scale]);
        let cauchy = StudentT::new(vec![0.0], noise, Degrees::Known(1.0)).unwrap();
        let laplace = predictive(laplace, What::Observation, 2.0 * scale * scale);
        let cauchy = predictive(cauchy, What::Observation, scale * scale);
        for y in [-2.1_f64, 0.0, 0.37, 3.0] {
            let (first, second) = (
                laplace.row(&[component(0.0, 1.0)]),
                cauchy.row(&[component(0.0, 1.0)]),
            );
            // y - f is rounded to an ulp of y, which a narrow noise magnifies.
            let rounding = 1e-9 + f64::EPSILON * y.abs() / scale;
            // A double exponential moves the density by scale^2 f'', a Cauchy by about scale / (pi
            // y^2) in its tails.
            let off = (first.log_density(y) - exact(y)).abs();
            assert!(off < 10.0 * scale * scale + rounding, "{scale} {y}: {off}");
            let off = (second.log_density(y) - exact(y)).abs();
            assert!(off < 100.0 * scale + rounding, "{scale} {y}: {off}");
            let off = (first.cdf(y) - normal_cdf(y)).abs();
            assert!(off < scale * scale + rounding, "{scale} {y}: {off}");
        }
        // Also where the noise has neither mean nor variance.
        for predictive in [&laplace, &cauchy] {
            let median = predictive.row(&[component(0.3, 1.0)]).quantile(0.5);
            assert!((median - 0.3).abs() < 1e-8, "{median}");
        }
    }
}

#[test]
fn large_counts_have_the_probabilities_of_their_rate() {
    // Mean e^14, sd of the count 1e-3 of it, of the rate 0.3: p(y) is the density of log y over y,
    // but for 1 / y.
    let counts = Poisson::new(vec![1.0], vec![1.0], Link::Exp).unwrap();
    let seen = predictive(counts, What::Observation, 0.0);
    let seen = seen.row(&[component(14.0, 0.3)]);
    for z in [-2.0, 0.0, 1.3] {
        let y = (14.0_f64 + 0.3 * z).exp().round();
        let at = (y.ln() - 14.0) / 0.3;
        let want = -0.5 * at * at - (0.3 * y * (2.0 * std::f64::consts::PI).sqrt()).ln();
        let got = seen.log_density(y);
        // Slope and curvature of the density over the sd of a count: up to 3 (1e-3 / 0.3)^2.
        assert!((got - want).abs() < 6e-5, "{z}: {got} {want}");
    }
}

/// One grid for all of a mixture says what a grid for each of its components says.
#[test]
fn mixtures_of_one_likelihood_share_their_nodes() {
    let counts = Poisson::new(vec![1.0], vec![1.0], Link::Exp).unwrap();
    let yes = crate::likelihood::Bernoulli::new(vec![true], crate::likelihood::Sigmoid::Logit);
    let mixture: Vec<LatentComponent> = (0..40)
        .map(|i| LatentComponent {
            row: 0,
            weight: 1.0 / 40.0,
            ..component(1.0 + 0.02 * f64::from(i), 0.3 + 0.01 * f64::from(i))
        })
        .collect();
    for likelihood in [Likelihood::from(counts), yes.into()] {
        let predictive = predictive(likelihood, What::Observation, 0.0);
        let shared = predictive.nodes_of_all(&mixture).unwrap();
        let apart: usize = mixture.iter().map(|c| predictive.count(*c)).sum();
        assert!(10 * shared.len() < apart, "{} {apart}", shared.len());
        let together = predictive.row(&mixture);
        let each: Vec<ObservationMixture<'_>> =
            mixture.iter().map(|c| predictive.row(&[*c])).collect();
        for y in [0.0, 1.0, 4.0, 30.0] {
            let average = |of: &dyn Fn(&ObservationMixture<'_>) -> f64| {
                each.iter().map(of).sum::<f64>() / 40.0
            };
            // Both are exact to rounding, beyond seven sds 1e-11.
            let (got, want) = (together.cdf(y), average(&|seen| seen.cdf(y)));
            assert!((got - want).abs() < 1e-10, "{y}: {got} {want}");
            let got = together.log_density(y).exp();
            let want = average(&|seen| seen.log_density(y).exp());
            assert!((got - want).abs() < 1e-10, "{y}: {got} {want}");
        }
    }
    // A component that is certain, or of another dispersion, has nodes of its own.
    let certain = [component(1.0, 0.0), component(2.0, 0.3)];
    let counts = Poisson::new(vec![1.0], vec![1.0], Link::Exp).unwrap();
    assert!(
        predictive(counts, What::Observation, 0.0)
            .nodes_of_all(&certain)
            .is_none()
    );
}

/// An observation far out says within about one where the logarithm of its mean is, of a belief
/// that is forty wide.
#[test]
fn far_observations_of_wide_beliefs_are_found() {
    let waiting = Exponential::new(vec![1.0], Link::Exp).unwrap();
    let predictive = predictive(waiting, What::Observation, 0.0);
    let (mean, sd) = (3.0, 40.0);
    for log in [-60.0, -5.0, 1.0, 70.0] {
        let y = f64::exp(log);
        // The trapezoid rule on what is analytic up to pi / 2 from the real line: e^(-pi^2 / .05).
        let density = |f: f64| {
            let z = (f - mean) / sd;
            (-0.5 * z * z - f - (log - f).exp()).exp() / (sd * std::f64::consts::TAU.sqrt())
        };
        let want: f64 = (-1000..1000)
            .map(|i| 0.05 * density(log + 0.05 * f64::from(i)))
            .sum();
        let got = predictive.row(&[component(mean, sd)]).log_density(y);
        // Panels are right to 1e-9 of what they integrate.
        assert!((got - want.ln()).abs() < 1e-8, "{log}: {got} {}", want.ln());
    }
}

/// Values that are known exactly behind a link have the density of the linked function.
#[test]
fn densities_without_noise_are_those_of_the_link() {
    let (mean, sd) = (1.2, 0.7);
    for link in [Link::Exp, Link::Softplus] {
        let exact = Gaussian::new(vec![1.0], Noise::Known(vec![0.0])).unwrap();
        let exact = exact.behind(link).unwrap();
        let ours = predictive(exact, What::Observation, 0.0);
        let seen = ours.row(&[component(mean, sd)]);
        for y in [0.3, 2.0, 3.0] {
            // The density is the slope of the distribution function, of which panels are right to
            // 1e-9: over differences of some 1e-4, and densities of .02 and more, to 1e-4.
            let h = 1e-4 * y;
            let slope = (seen.cdf(y + h) - seen.cdf(y - h)) / (2.0 * h);
            let found = seen.log_density(y).exp();
            assert!(
                (found / slope - 1.0).abs() < 1e-4,
                "{link:?} {y}: {found} {slope}"
            );
        }
    }
}

/// Quantiles of values that are known exactly are those of the linked function, in every unit.
#[test]
fn quantiles_without_noise_are_those_of_the_link() {
    let exact = Gaussian::new(vec![1.0], Noise::Known(vec![0.0])).unwrap();
    let ours = predictive(exact.behind(Link::Exp).unwrap(), What::Observation, 0.0);
    for mean in [-25.0, 0.0, 25.0] {
        let found = ours.row(&[component(mean, 0.7)]).quantile(0.975);
        let right = f64::exp(mean + 0.7 * 1.959_963_984_540_054);
        // Logarithms are found to 2e-10, where panels tell probabilities to 1e-9.
        assert!((found / right - 1.0).abs() < 1e-7, "{found} {right}");
    }
}

/// Successes whose probability is one to rounding at some latent values are no exact amounts.
#[test]
fn certain_successes_have_probabilities() {
    let (mean, sd) = (9.0, 3.0);
    let one = Binomial::new(vec![1.0], vec![1.0], Sigmoid::Probit).unwrap();
    let ours = predictive(one, What::Observation, 0.0);
    let seen = ours.row(&[component(mean, sd)]);
    // A success: E Phi(f), in closed form.
    let all = normal_cdf(mean / (1.0 + sd * sd).sqrt());
    let [failure, success] = [0.0, 1.0].map(|y| seen.log_density(y).exp());
    // The panels' own error.
    assert!((success - all).abs() < 1e-8, "{success} {all}");
    assert!((failure + all - 1.0).abs() < 1e-8, "{failure} {all}");
}

/// Values that are a factor of `e^f`, against a grid of 20,000 latent values.
#[test]
fn factors_of_a_rate_are_averaged_over_it() {
    for shape in [0.02, 0.5, 1.0, 4.0, 25.0, 400.0] {
        for sd in [0.1, 1.0, 3.0, 20.0] {
            // The grid's step is less than half an sd of the logarithm of the factor.
            if sd > 3.0 && shape > 25.0 {
                continue;
            }
            let c = component(0.7, sd);
            let gamma = || Gamma::new(vec![1.0], Shape::Known(shape)).unwrap();
            let ours = predictive(gamma(), What::Observation, 0.0);
            let seen = ours.row(&[c]);
            for y in [0.02, 0.5, 2.0, 7.0, 300.0] {
                let at = |z: f64| {
                    let mean = (c.mean + sd * z).exp();
                    normal_pdf(z) * regularised_gamma(shape, shape * y / mean).0
                };
                let h = 16.0 / 20_000.0;
                let want: f64 = (-10_000..=10_000).map(|i| h * at(h * f64::from(i))).sum();
                let found = seen.cdf(y);
                // Nodes reach seven sds, which leaves out 3e-12 on each side; for the roughest factor
                // their step leaves 5e-10.
                assert!(
                    (found - want).abs() < 1e-9,
                    "{shape} {sd} {y}: {found} {want}"
                );
            }
            // To 2e-10 of a value, times its density.
            for p in [1e-4, 0.025, 0.5, 0.999] {
                let found = seen.quantile(p);
                assert!(
                    (seen.cdf(found) - p).abs() < 1e-8,
                    "{shape} {sd} {p}: {found}"
                );
            }
            // The density is the slope.
            for y in [0.3, 40.0] {
                let h = 1e-5 * y;
                let slope = (seen.cdf(y + h) - seen.cdf(y - h)) / (2.0 * h);
                let found = seen.log_density(y).exp();
                // Of differences of 1e-5: their square, and rounding of 1e-12 over h.
                assert!(
                    (found - slope).abs() < 1e-5 * slope + 1e-6 / y,
                    "{shape} {sd} {y}"
                );
            }
        }
    }
}
