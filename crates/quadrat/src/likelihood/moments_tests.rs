//! Moments of cavity times log-concave likelihood against sums over a fine, wide lattice.

use super::local::{Belief, Jet, Local, Tilted};
use super::{
    Bernoulli, Binomial, Dispersion, Exponential, Gamma, NegativeBinomial, Noise, Poisson, Shape,
    Sigmoid, Truncated,
};
use crate::link::Link;

/// Places of the lattice.
const PLACES: usize = 20_000;
/// Nats below the peak where it ends.
const FALL: f64 = 50.0;

/// `log Z`, mean and variance, the mean as a distance to that of the cavity.
struct Moments {
    log_z: f64,
    moved: f64,
    variance: f64,
}

/// By the trapezoid rule between the places where the density has fallen out of sight; it is
/// smooth, so that nothing is left but rounding once the step is below the width of every bend.
fn summed(cavity: Belief, log: impl Fn(f64) -> f64) -> Moments {
    let sd = cavity.variance.sqrt();
    let height = |z: f64| log(cavity.mean + sd * z) - 0.5 * z * z;
    // One peak, by concavity; golden sections of what holds every cavity below.
    let (mut low, mut high) = (-1e6, 1e6);
    for _ in 0..130 {
        let (a, b) = (low + 0.382 * (high - low), low + 0.618 * (high - low));
        if height(a) < height(b) {
            low = a;
        } else {
            high = b;
        }
    }
    let (peak, top) = (low, height(low));
    let end = |sign: f64| {
        let (mut near, mut far) = (0.0, 1.0);
        while height(peak + sign * far) > top - FALL {
            far *= 2.0;
        }
        for _ in 0..60 {
            let middle = 0.5 * (near + far);
            if height(peak + sign * middle) > top - FALL {
                near = middle;
            } else {
                far = middle;
            }
        }
        sign * far
    };
    let (left, right) = (end(-1.0), end(1.0));
    let step = (right - left) / PLACES as f64;
    let mut sums = [0.0; 3];
    for k in 0..=PLACES {
        let u = left + step * k as f64;
        let weight = (height(peak + u) - top).exp();
        for (power, sum) in sums.iter_mut().enumerate() {
            *sum += weight * u.powi(power as i32);
        }
    }
    let centre = sums[1] / sums[0];
    Moments {
        log_z: top + (sums[0] * step).ln() - 0.5 * (2.0 * std::f64::consts::PI).ln(),
        moved: sd * (peak + centre),
        variance: cavity.variance * (sums[2] / sums[0] - centre * centre),
    }
}

/// What is promised, of the tilted sd.
const PROMISED: f64 = 1e-10;

fn agree(name: &str, likelihood: &dyn Local, own: &[f64]) {
    agree_to(PROMISED, name, likelihood, own);
}

fn agree_to(tolerance: f64, name: &str, likelihood: &dyn Local, own: &[f64]) {
    for row in 0..likelihood.rows() {
        let guess = likelihood.guess(own, row);
        for variance in [1e-6, 1e-3, 0.05, 0.3, 1.0, 3.0, 10.0, 100.0, 1e4] {
            for distance in [-30.0, -4.0, -1.0, 0.0, 0.5, 2.0, 6.0] {
                let away: f64 = distance * f64::sqrt(1.0 + 0.1 * variance);
                let cavity = Belief {
                    mean: guess + away.clamp(-300.0, 300.0),
                    variance,
                };
                let want = summed(cavity, |f| likelihood.log_density(own, row, f).value);
                let Tilted {
                    log_z,
                    precision,
                    shift,
                } = likelihood.tilted(own, row, cavity);
                let shrink = 1.0 / (1.0 + variance * precision);
                let moved = variance * (shift - precision * cavity.mean) * shrink;
                // Large numbers whose difference is taken have their rounding.
                let sd = want.variance.sqrt();
                let rounding = 1e-15 * (cavity.mean.abs() + want.moved.abs()) / sd;
                let errors = [
                    (log_z - want.log_z).abs() / (1.0 + want.log_z.abs()),
                    (moved - want.moved).abs() / sd,
                    (variance * shrink / want.variance - 1.0).abs(),
                ];
                assert!(
                    errors
                        .iter()
                        .all(|error| *error < tolerance + 10.0 * rounding),
                    "{name} {own:?} row {row} {cavity:?}: {errors:?}"
                );
                assert!(precision >= 0.0, "{name} {own:?} row {row} {cavity:?}");
                slopes_are_differences(name, likelihood, own, row, cavity);
            }
        }
    }
}

fn slopes_are_differences(
    name: &str,
    likelihood: &dyn Local,
    own: &[f64],
    row: usize,
    cavity: Belief,
) {
    let [value] = own else { return };
    let mut slope = [0.0];
    likelihood.tilted_slopes(own, row, cavity, &mut slope);
    let step = 1e-4 * value;
    let log_z = |value: f64| likelihood.tilted(&[value], row, cavity).log_z;
    let difference = (log_z(value + step) - log_z(value - step)) / (2.0 * step);
    // The square of the relative step, 1e-8, times third derivatives; digits of log Z over the
    // step.
    let size = slope[0].abs() + (1.0 + log_z(*value).abs()) / value;
    assert!(
        (slope[0] - difference).abs() < 1e-6 * size,
        "{name} {own:?} row {row} {cavity:?}: {slope:?} {difference}"
    );
}

#[test]
fn of_positive_values() {
    let values = vec![0.2, 3.0];
    agree(
        "exponential",
        &Exponential::new(values.clone(), Link::Exp).unwrap(),
        &[],
    );
    let gamma = Gamma::new(values, Shape::Learned).unwrap();
    for shape in [0.05, 1.0, 3.0, 40.0, 2e3] {
        agree("gamma", &gamma, &[shape]);
    }
}

#[test]
fn of_counts() {
    let (counts, exposure) = (vec![0.0, 1.0, 7.0, 300.0], vec![1.0, 1.0, 0.3, 20.0]);
    let poisson = Poisson::new(counts.clone(), exposure.clone(), Link::Exp).unwrap();
    agree("poisson", &poisson, &[]);
    let (least, most) = (vec![0.0, 1.0, 3.0], vec![2.0, 4.0, f64::INFINITY]);
    let hidden = Poisson::ranges(least, most, vec![1.0; 3], Link::Exp).unwrap();
    // Where little of the cavity is left below "at least", the variance is a difference of numbers
    // up to a thousand times as large, each a product of several integrals.
    agree_to(1e-8, "ranges", &hidden, &[]);
    let dispersed =
        NegativeBinomial::new(counts, exposure, Link::Exp, Dispersion::Learned).unwrap();
    for dispersion in [1e-3, 0.1, 1.0] {
        agree("negative binomial", &dispersed, &[dispersion]);
    }
}

#[test]
fn of_answers() {
    for sigmoid in [Sigmoid::Logit, Sigmoid::Probit] {
        agree(
            "bernoulli",
            &Bernoulli::new(vec![true, false], sigmoid),
            &[],
        );
        let binomial = Binomial::new(vec![3.0, 0.0, 400.0], vec![20.0, 5.0, 1e3], sigmoid);
        agree("binomial", &binomial.unwrap(), &[]);
    }
}

#[test]
fn of_truncated_values() {
    let infinite = f64::INFINITY;
    let truncated = Truncated::new(
        vec![0.01, 2.0, -1.0],
        vec![0.0, 0.0, -infinite],
        vec![infinite, infinite, 0.5],
        Noise::Learned,
    );
    let truncated = truncated.unwrap();
    for variance in [1e-3, 0.3, 20.0] {
        agree("truncated", &truncated, &[variance]);
    }
}

/// A step beside a belief many times as wide is no smooth hump, and found to be none.
#[test]
fn narrow_steps_are_left_to_panels() {
    let step = |f: f64| {
        let window = super::window::Window {
            lower: 0.0,
            upper: f64::INFINITY,
            variance: 1e-10,
        };
        window.jet(f)
    };
    let (mean, variance): (f64, f64) = (0.3, 1.0);
    let origin: Jet = step(mean);
    let node = |u: f64| {
        (
            step(mean + u).value - origin.value - 0.5 * u * u / variance,
            [1.0],
        )
    };
    assert!(super::trapezoid::trapezoid(variance.sqrt(), node).is_none());
}
