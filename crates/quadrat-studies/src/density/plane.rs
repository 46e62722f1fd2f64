//! Densities over a plane of samples from known ones, beside a kernel estimate.

use std::time::Instant;

use anyhow::Result;
use quadrat::density::Density2d;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, standard_error};

/// Level of the bands.
const LEVEL: f64 = 0.9;
/// Draws of the truth at which densities are compared.
const POINTS: usize = 2000;
/// Seeds before this one were looked at when the number of cells and the kernel were chosen.
const FIRST_SEED: u64 = 101;
/// What is added to the seed of a sample for that of the points.
const OTHER: u64 = 1_000_000;

/// A known density.
struct Truth {
    name: &'static str,
    pdf: fn([f64; 2]) -> f64,
    draw: fn(&mut ChaCha8Rng) -> [f64; 2],
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(random)
}

fn phi(x: f64, variance: f64) -> f64 {
    (-0.5 * x * x / variance).exp() / (std::f64::consts::TAU * variance).sqrt()
}

const CORRELATION: f64 = 0.7;
const RADIUS: f64 = 1.5;
const WIDTH: f64 = 0.2;
/// Angles that the density of the ring is averaged over: the error of the trapezoid rule on a
/// periodic function is far below rounding.
const ANGLES: usize = 200;

/// A correlated normal, a ring, and two clusters of unlike shapes.
const TRUTHS: [Truth; 3] = [
    Truth {
        name: "normal, correlation .7",
        pdf: |[x, y]| phi(x, 1.0) * phi(y - CORRELATION * x, 1.0 - CORRELATION * CORRELATION),
        draw: |random| {
            let (a, b) = (normal(random), normal(random));
            [
                a,
                CORRELATION * a + (1.0 - CORRELATION * CORRELATION).sqrt() * b,
            ]
        },
    },
    Truth {
        name: "ring",
        pdf: |[x, y]| {
            let at = |i: usize| {
                let angle = std::f64::consts::TAU * i as f64 / ANGLES as f64;
                let variance = WIDTH * WIDTH;
                phi(x - RADIUS * angle.cos(), variance) * phi(y - RADIUS * angle.sin(), variance)
            };
            (0..ANGLES).map(at).sum::<f64>() / ANGLES as f64
        },
        draw: |random| {
            let angle = std::f64::consts::TAU * random.random::<f64>();
            [
                RADIUS * angle.cos() + WIDTH * normal(random),
                RADIUS * angle.sin() + WIDTH * normal(random),
            ]
        },
    },
    Truth {
        name: "two clusters",
        pdf: |[x, y]| {
            0.5 * phi(x + 1.5, 0.25) * phi(y, 0.25)
                + 0.5 * phi(x - 1.5, 0.4) * phi(y - 0.5 * (x - 1.5), 0.3)
        },
        draw: |random| {
            let (a, b) = (normal(random), normal(random));
            if random.random::<f64>() < 0.5 {
                return [-1.5 + 0.5 * a, 0.5 * b];
            }
            let x = 0.4_f64.sqrt() * a;
            [1.5 + x, 0.5 * x + 0.3_f64.sqrt() * b]
        },
    },
];

/// What one sample gave.
struct Outcome {
    ours: f64,
    kernel: f64,
    covered: f64,
    effective: f64,
    uneven: bool,
    seconds: f64,
}

/// A normal kernel with the covariance of the sample times the square of Scott's factor `n^(-1/6)`.
struct Scott<'a> {
    x: &'a [f64],
    y: &'a [f64],
    covariance: [f64; 3],
}

impl<'a> Scott<'a> {
    fn new(x: &'a [f64], y: &'a [f64]) -> Self {
        let n = x.len() as f64;
        let (a, b) = (mean(x), mean(y));
        let shrunk = n.powf(-1.0 / 3.0) / (n - 1.0);
        let sum = |f: fn(f64, f64) -> f64| {
            let pairs = x.iter().zip(y);
            shrunk * pairs.map(|(x, y)| f(x - a, y - b)).sum::<f64>()
        };
        Self {
            x,
            y,
            covariance: [sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y)],
        }
    }

    fn density(&self, [x, y]: [f64; 2]) -> f64 {
        let [a, b, c] = self.covariance;
        let determinant = a * c - b * b;
        let term = |(u, v): (&f64, &f64)| {
            let (dx, dy) = (x - u, y - v);
            (-0.5 * (c * dx * dx - 2.0 * b * dx * dy + a * dy * dy) / determinant).exp()
        };
        let sum: f64 = self.x.iter().zip(self.y).map(term).sum();
        sum / (self.x.len() as f64 * std::f64::consts::TAU * determinant.sqrt())
    }
}

/// Runs the study.
///
/// # Errors
/// Where a density is refused.
pub fn run(settings: &Settings) -> Result<Report> {
    let mut report = Report::new("Densities over a plane of samples from known ones");
    let repeats = settings.repeats(2, 30);
    let seeds: Vec<u64> = (0..repeats as u64).map(|i| FIRST_SEED + i).collect();
    report.setting(format!(
        "{repeats} seeds from {FIRST_SEED} on, 60 x 60 cells; divergence in nats and coverage of pointwise {LEVEL} bands at {POINTS} draws of the truth"
    ));
    let head = [
        "truth",
        "KL",
        "se",
        "KL of Scott's",
        "se",
        "won",
        "pointwise",
        "effective",
        "uneven",
        "ms",
    ];
    let sizes: &[usize] = if settings.quick { &[100] } else { &[100, 300] };
    for &n in sizes {
        let mut table = Table::new(&format!("n = {n}"), &head);
        for truth in TRUTHS.iter().filter(|t| settings.wants(t.name)) {
            let outcomes = seeds
                .par_iter()
                .map(|seed| outcome(truth, n, *seed))
                .collect::<Result<Vec<Outcome>>>()?;
            let of = |f: fn(&Outcome) -> f64| outcomes.iter().map(f).collect::<Vec<f64>>();
            let (ours, kernel) = (of(|o| o.ours), of(|o| o.kernel));
            let covered = mean(&of(|o| o.covered));
            let won = ours.iter().zip(&kernel).filter(|(a, b)| a < b).count();
            if !settings.quick {
                let what = format!("{}, n = {n}: mean KL over that of Scott's rule", truth.name);
                report.check(what, mean(&ours) / mean(&kernel), 0.0, 1.0);
                let what = format!("{}, n = {n}: coverage of pointwise bands", truth.name);
                report.check(what, covered, 0.75, 0.97);
            }
            table.row(vec![
                truth.name.to_owned(),
                format!("{:.4}", mean(&ours)),
                format!("{:.4}", standard_error(&ours)),
                format!("{:.4}", mean(&kernel)),
                format!("{:.4}", standard_error(&kernel)),
                format!("{won} of {repeats}"),
                format!("{covered:.3}"),
                format!("{:.0}", mean(&of(|o| o.effective))),
                outcomes.iter().filter(|o| o.uneven).count().to_string(),
                format!("{:.0}", 1000.0 * mean(&of(|o| o.seconds))),
            ]);
        }
        report.tables.push(table);
    }
    Ok(report)
}

fn outcome(truth: &Truth, n: usize, seed: u64) -> Result<Outcome> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let rows: Vec<[f64; 2]> = (0..n).map(|_| (truth.draw)(&mut random)).collect();
    let [x, y] = [0, 1].map(|a| rows.iter().map(|row| row[a]).collect::<Vec<f64>>());
    let start = Instant::now();
    let estimate = Density2d::new(&x, &y).level(LEVEL).seed(seed).estimate()?;
    let seconds = start.elapsed().as_secs_f64();
    let scott = Scott::new(&x, &y);
    let mut random = ChaCha8Rng::seed_from_u64(seed + OTHER);
    let (mut ours, mut kernel, mut covered, mut looked) = (0.0, 0.0, 0.0, 0.0);
    for _ in 0..POINTS {
        let at = (truth.draw)(&mut random);
        let density = (truth.pdf)(at);
        // The range holds what is within four scales of the data: none of these points is outside.
        let Some(cell) = estimate.cell(at[0], at[1]) else {
            continue;
        };
        looked += 1.0;
        ours += (density / estimate.density()[cell]).ln();
        kernel += (density / scott.density(at)).ln();
        let band = estimate.lower()[cell]..=estimate.upper()[cell];
        covered += f64::from(u8::from(band.contains(&density)));
    }
    Ok(Outcome {
        ours: ours / looked,
        kernel: kernel / looked,
        covered: covered / looked,
        effective: estimate.effective_size(),
        uneven: !estimate.is_weighted(),
        seconds,
    })
}
