//! Densities that are known, and draws from them.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// A known density.
pub struct Truth {
    /// Its name.
    pub name: &'static str,
    /// Bounds that the estimate is told.
    pub bounds: (f64, f64),
    /// What is compared, stretched to the data where there is no bound.
    pub range: (f64, f64),
    /// The density.
    pub pdf: fn(f64) -> f64,
    /// A draw.
    pub draw: fn(&mut ChaCha8Rng) -> f64,
    /// Mean KL of `gss::ssden` at n = 100, where it was recorded (100 seeds of other draws).
    pub ssden: Option<f64>,
    /// Mean KL of the prototype of the same prior, 40 seeds of other draws.
    pub prototype: Option<f64>,
}

const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
const UNIT: (f64, f64) = (0.0, 1.0);

fn normal(random: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(random)
}

fn phi(x: f64) -> f64 {
    (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
}

fn t4(x: f64) -> f64 {
    0.375 * (1.0 + x * x / 4.0).powf(-2.5)
}

/// A normal number over the root of a mean of four squares.
fn draw_t4(random: &mut ChaCha8Rng) -> f64 {
    let squares: f64 = (0..4).map(|_| normal(random).powi(2)).sum();
    normal(random) / (0.25 * squares).sqrt()
}

/// By rejection from a uniform distribution over the unit interval.
fn reject(random: &mut ChaCha8Rng, top: f64, pdf: fn(f64) -> f64) -> f64 {
    loop {
        let x: f64 = random.random();
        if random.random::<f64>() * top < pdf(x) {
            return x;
        }
    }
}

/// An exponential and a normal density on the unit interval, renormalised: `1 - e^-3` and `Phi(2) -
/// Phi(-6)` are within it.
fn mixture(x: f64) -> f64 {
    let within = 0.75 * (1.0 - (-3.0_f64).exp()) + 0.25 * 0.977_249_867_065_235_2;
    (2.25 * (-3.0 * x).exp() + 0.25 * 8.0 * phi(8.0 * (x - 0.75))) / within
}

fn beta(x: f64) -> f64 {
    30.0 * x * (1.0 - x).powi(4)
}

fn cosine(x: f64) -> f64 {
    1.0 + 0.9 * (4.0 * std::f64::consts::PI * x).cos()
}

/// All of them: the four of the paper, then seven more.
pub static TRUTHS: &[Truth] = &[
    Truth {
        name: "t4",
        bounds: OPEN,
        range: (-10.0, 10.0),
        pdf: t4,
        draw: draw_t4,
        ssden: Some(0.0318),
        prototype: Some(0.0216),
    },
    Truth {
        name: "two t4",
        bounds: OPEN,
        range: (-10.0, 10.0),
        pdf: |x| 2.0 / 3.0 * (t4(x) + t4(2.0 * (x - 3.0))),
        draw: |random| {
            if random.random::<f64>() < 2.0 / 3.0 {
                draw_t4(random)
            } else {
                3.0 + 0.5 * draw_t4(random)
            }
        },
        ssden: Some(0.0450),
        prototype: Some(0.0331),
    },
    Truth {
        name: "gamma",
        bounds: (0.0, 5.0),
        range: (0.0, 5.0),
        pdf: |x| (-x).exp() / (1.0 - (-5.0_f64).exp()),
        draw: |random| {
            let u: f64 = random.random();
            -(1.0 - u * (1.0 - (-5.0_f64).exp())).ln()
        },
        ssden: Some(0.0073),
        prototype: Some(0.0069),
    },
    Truth {
        name: "mixture",
        bounds: UNIT,
        range: UNIT,
        pdf: mixture,
        draw: |random| reject(random, 2.5, mixture),
        ssden: Some(0.0269),
        prototype: Some(0.0242),
    },
    Truth {
        name: "uniform",
        bounds: UNIT,
        range: UNIT,
        pdf: |_| 1.0,
        draw: |random| random.random(),
        ssden: Some(0.0095),
        prototype: Some(0.0092),
    },
    Truth {
        name: "normal",
        bounds: OPEN,
        range: (-6.0, 6.0),
        pdf: phi,
        draw: normal,
        ssden: Some(0.0161),
        prototype: Some(0.0181),
    },
    Truth {
        name: "lognormal",
        bounds: OPEN,
        range: (-1.0, 12.0),
        pdf: |x| {
            if x > 0.0 {
                phi(x.ln() / 0.6) / (0.6 * x)
            } else {
                0.0
            }
        },
        draw: |random| (0.6 * normal(random)).exp(),
        ssden: Some(0.0526),
        prototype: Some(0.0448),
    },
    Truth {
        name: "beta",
        bounds: UNIT,
        range: UNIT,
        pdf: beta,
        draw: |random| reject(random, 2.5, beta),
        ssden: Some(0.0251),
        prototype: Some(0.0305),
    },
    Truth {
        name: "two normals",
        bounds: OPEN,
        range: (-7.0, 7.0),
        pdf: |x| 0.5 * phi((x + 2.0) / 0.4) / 0.4 + 0.5 * phi(x - 2.0),
        draw: |random| {
            if random.random::<bool>() {
                0.4 * normal(random) - 2.0
            } else {
                2.0 + normal(random)
            }
        },
        ssden: Some(0.0477),
        prototype: Some(0.0455),
    },
    Truth {
        name: "cosine",
        bounds: UNIT,
        range: UNIT,
        pdf: cosine,
        draw: |random| reject(random, 1.9, cosine),
        ssden: Some(0.0480),
        prototype: Some(0.0436),
    },
    Truth {
        name: "peak",
        bounds: UNIT,
        range: UNIT,
        pdf: |x| 0.7 + 0.3 * phi((x - 0.6) / 0.02) / 0.02,
        draw: |random| {
            if random.random::<f64>() < 0.7 {
                random.random()
            } else {
                0.6 + 0.02 * normal(random)
            }
        },
        ssden: None,
        prototype: None,
    },
];

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn densities_integrate_to_one_and_draws_follow_them() {
        for truth in TRUTHS {
            let (from, to) = if truth.bounds.0.is_finite() {
                truth.bounds
            } else {
                (-400.0, 400.0)
            };
            let n = 400_000;
            let h = (to - from) / f64::from(n);
            let at = |i: i32| from + h * (f64::from(i) + 0.5);
            let sum: f64 = (0..n).map(|i| h * (truth.pdf)(at(i))).sum();
            // Tails of t4 beyond 400 hold 1e-10; the midpoint rule errs by h^2 of the bends.
            assert!((sum - 1.0).abs() < 1e-6, "{}: {sum}", truth.name);
            let middle = 0.5 * (truth.range.0 + truth.range.1);
            let below: f64 = (0..n)
                .filter(|i| at(*i) < middle)
                .map(|i| h * (truth.pdf)(at(i)))
                .sum();
            let mut random = ChaCha8Rng::seed_from_u64(5);
            let draws = 20_000;
            let hits = (0..draws)
                .filter(|_| (truth.draw)(&mut random) < middle)
                .count();
            let share = hits as f64 / f64::from(draws);
            // Five standard errors.
            assert!(
                (share - below).abs() < 5.0 * 0.5 / f64::from(draws).sqrt(),
                "{}",
                truth.name
            );
        }
    }
}
