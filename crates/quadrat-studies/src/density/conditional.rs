//! Densities of one column given another, of samples from known ones, beside a kernel estimate and
//! the density of both columns.

use std::time::Instant;

use anyhow::Result;
use quadrat::density::{Conditional, Density2d};
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
/// Seeds before this one were looked at when the axes were chosen.
const FIRST_SEED: u64 = 101;
/// What is added to the seed of a sample for that of the points.
const OTHER: u64 = 1_000_000;

/// A known density of `y` given `x`, as a mixture of normals, and how `x` is drawn.
struct Truth {
    name: &'static str,
    given: fn(&mut ChaCha8Rng) -> f64,
    /// Weight, mean and standard deviation of two parts.
    parts: fn(f64) -> [[f64; 3]; 2],
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(random)
}

fn uniform(random: &mut ChaCha8Rng) -> f64 {
    random.random()
}

/// Three bumps with little between them.
fn bumps(random: &mut ChaCha8Rng) -> f64 {
    let centre = [-2.0, 0.0, 2.0][random.random_range(0..3)];
    centre + 0.4 * normal(random)
}

const TRUTHS: [Truth; 4] = [
    // Dunson, Pillai & Park 2007, section 4, also used by Tokdar, Zhu & Ghosh 2010.
    Truth {
        name: "line to fourth power",
        given: uniform,
        parts: |x| {
            let weight = (-2.0 * x).exp();
            [[weight, x, 0.1], [1.0 - weight, x.powi(4), 0.2]]
        },
    },
    Truth {
        name: "wave that widens",
        given: uniform,
        parts: |x| [[1.0, (3.0 * x).sin(), 0.2 + 0.4 * x], [0.0, 0.0, 1.0]],
    },
    // In the manner of the simulated case of Riihimaki & Vehtari, whose constants are not printed.
    Truth {
        name: "branches, three bumps of x",
        given: bumps,
        parts: |x| [[0.6, x, 0.5], [0.4, -x, 0.3 + 0.1 * x.abs()]],
    },
    Truth {
        name: "no dependence",
        given: normal,
        parts: |_| [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]],
    },
];

impl Truth {
    fn density(&self, x: f64, y: f64) -> f64 {
        let part = |[weight, mean, sd]: [f64; 3]| {
            let z = (y - mean) / sd;
            weight * (-0.5 * z * z).exp() / (sd * std::f64::consts::TAU.sqrt())
        };
        (self.parts)(x).map(part).iter().sum()
    }

    fn draw(&self, random: &mut ChaCha8Rng) -> [f64; 2] {
        let x = (self.given)(random);
        let [first, second] = (self.parts)(x);
        let [_, mean, sd] = if random.random::<f64>() < first[0] {
            first
        } else {
            second
        };
        [x, mean + sd * normal(random)]
    }
}

/// A normal kernel along both columns with Scott's factor `n^(-1/6)` times their standard
/// deviations, normalised at every place of the first.
struct Kernels<'a> {
    x: &'a [f64],
    y: &'a [f64],
    widths: [f64; 2],
}

impl<'a> Kernels<'a> {
    fn new(x: &'a [f64], y: &'a [f64]) -> Self {
        let n = x.len() as f64;
        let width = |v: &[f64]| {
            let centre = mean(v);
            let square = v.iter().map(|v| (v - centre).powi(2)).sum::<f64>();
            (square / (n - 1.0)).sqrt() * n.powf(-1.0 / 6.0)
        };
        Self {
            x,
            y,
            widths: [width(x), width(y)],
        }
    }

    fn density(&self, x: f64, y: f64) -> f64 {
        let [wide, high] = self.widths;
        let (mut above, mut below) = (0.0, 0.0);
        for (a, b) in self.x.iter().zip(self.y) {
            let near = (-0.5 * ((x - a) / wide).powi(2)).exp();
            below += near;
            above += near * (-0.5 * ((y - b) / high).powi(2)).exp();
        }
        above / (below * high * std::f64::consts::TAU.sqrt())
    }
}

/// What one sample gave.
struct Outcome {
    ours: f64,
    joint: f64,
    kernel: f64,
    covered: f64,
    effective: f64,
    uneven: bool,
    seconds: f64,
}

/// Runs the study.
///
/// # Errors
/// Where a density is refused.
pub fn run(settings: &Settings) -> Result<Report> {
    let mut report = Report::new("Densities of one column given another");
    let repeats = settings.repeats(2, 30);
    let seeds: Vec<u64> = (0..repeats as u64).map(|i| FIRST_SEED + i).collect();
    report.setting(format!(
        "{repeats} seeds from {FIRST_SEED} on, 30 x 100 cells; divergence in nats and coverage of pointwise {LEVEL} bands at {POINTS} draws of the truth"
    ));
    let head = [
        "truth",
        "KL",
        "se",
        "KL of both columns",
        "KL of kernels",
        "se",
        "won",
        "pointwise",
        "effective",
        "uneven",
        "ms",
    ];
    let sizes: &[usize] = if settings.quick { &[100] } else { &[100, 500] };
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
                let what = format!("{}, n = {n}: mean KL over that of kernels", truth.name);
                report.check(what, mean(&ours) / mean(&kernel), 0.0, 1.0);
                let what = format!("{}, n = {n}: coverage of pointwise bands", truth.name);
                report.check(what, covered, 0.75, 0.99);
            }
            table.row(vec![
                truth.name.to_owned(),
                format!("{:.4}", mean(&ours)),
                format!("{:.4}", standard_error(&ours)),
                format!("{:.4}", mean(&of(|o| o.joint))),
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
    let rows: Vec<[f64; 2]> = (0..n).map(|_| truth.draw(&mut random)).collect();
    let [x, y] = [0, 1].map(|a| rows.iter().map(|row| row[a]).collect::<Vec<f64>>());
    let start = Instant::now();
    let estimate = Conditional::new(&x, &y)
        .level(LEVEL)
        .seed(seed)
        .estimate()?;
    let seconds = start.elapsed().as_secs_f64();
    let plane = Density2d::new(&x, &y).draws(1000).seed(seed).estimate()?;
    let (columns, along) = (plane.shape()[1], plane.marginal(0).density);
    let kernels = Kernels::new(&x, &y);
    let mut random = ChaCha8Rng::seed_from_u64(seed + OTHER);
    let (mut ours, mut joint, mut kernel) = (0.0, 0.0, 0.0);
    let (mut covered, mut looked) = (0.0, 0.0);
    for _ in 0..POINTS {
        let [x, y] = truth.draw(&mut random);
        let density = truth.density(x, y);
        // Places beyond those of the sample are left out: slices end there.
        let (Some(cell), Some(other)) = (estimate.cell(x, y), plane.cell(x, y)) else {
            continue;
        };
        looked += 1.0;
        ours += (density / estimate.density()[cell]).ln();
        joint += (density * along[other / columns] / plane.density()[other]).ln();
        kernel += (density / kernels.density(x, y)).ln();
        let band = estimate.lower()[cell]..=estimate.upper()[cell];
        covered += f64::from(u8::from(band.contains(&density)));
    }
    Ok(Outcome {
        ours: ours / looked,
        joint: joint / looked,
        kernel: kernel / looked,
        covered: covered / looked,
        effective: estimate.effective_size(),
        uneven: !estimate.is_weighted(),
        seconds,
    })
}
