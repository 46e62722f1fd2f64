//! Section 5.6, the end: two balls in four dimensions that touch.

use std::f64::consts::PI;

use anyhow::{Context, Result};
use quadrat::covariance::Covariance;
use quadrat::kernel::Kernel;
use quadrat::quadrature::{Nodes, ball, ball_degree_3, ball_degree_5};
use quadrat::support::{Aggregate, Functionals};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::statistics::{mean, mean_absolute, standard_error};

const INPUTS: [&str; 4] = ["a", "b", "c", "d"];
/// Centre on the first input, and radius.
const BALLS: [(f64, f64); 2] = [(0.0, 1.0), (3.0, 2.0)];
const LENGTHSCALE: f64 = 2.0;
/// Covariance of the integrals at variance one, from high-precision arithmetic.
const EXACT: f64 = 104.842;
/// Points or boxes in a ball.
const FEW: usize = 10;
/// Corners tried for the first corner of a box.
const TRIES: usize = 200;
/// The paper's covariance and its errors with ten points and ten boxes.
const PUBLISHED: [f64; 3] = [314.0, 50.0, 25.1];

/// Adds the table of the balls to a report.
///
/// # Errors
/// None for the constants used here.
pub fn add(report: &mut Report, settings: &Settings) -> Result<()> {
    let repeats = settings.repeats(50, 400);
    report.setting(format!(
        "balls: radii 1 and 2, centres 3 apart, four dimensions, se of variance one and lengthscale 2; {repeats} placements of points, {} of boxes",
        repeats / 10
    ));
    let volume = |radius: f64| 0.5 * PI * PI * radius.powi(4);
    let scale = volume(BALLS[0].1) * volume(BALLS[1].1);
    let kernel = Covariance::new(&Kernel::se(INPUTS));
    let theta = [1.0, LENGTHSCALE, LENGTHSCALE, LENGTHSCALE, LENGTHSCALE];
    let covariance = |place: &mut dyn FnMut([f64; 4], f64) -> Result<Averages>| {
        let [a, b] = BALLS.map(|(x, radius)| place([x, 0.0, 0.0, 0.0], radius));
        let ((a, v), (b, w)) = (a?, b?);
        let k = kernel.cross(&theta, &a, &b);
        let row = |i: usize| (0..w.len()).map(|j| v[i] * w[j] * k[(i, j)]).sum::<f64>();
        Ok::<f64, anyhow::Error>(scale * (0..v.len()).map(row).sum::<f64>())
    };
    let rule = |of: &dyn Fn(&[f64], f64) -> Nodes| -> Result<(f64, usize)> {
        let nodes = of(&[0.0; 4], 1.0).len();
        let value = covariance(&mut |centre, radius| average(&of(&centre, radius)))?;
        Ok((value, nodes))
    };
    let mut table = Table::new(
        "Covariance of the integrals over the balls; mean absolute error relative to the exact one +- standard error over placements",
        &["", "nodes per ball", "covariance", "error, %", "paper, %"],
    );
    let published = |k: usize| format!("{:.1}", 100.0 * PUBLISHED[k] / PUBLISHED[0]);

    let mut random = settings.random(u64::MAX - 1);
    let mut placed = |name: &str, repeats: usize, paper: String, place: &Placement| {
        let values: Vec<f64> = (0..repeats.max(2))
            .map(|_| covariance(&mut |centre, radius| place(centre, radius, &mut random)))
            .collect::<Result<_>>()?;
        let errors: Vec<f64> = values
            .iter()
            .map(|v| 100.0 * (v / EXACT - 1.0).abs())
            .collect();
        table.row(vec![
            name.into(),
            FEW.to_string(),
            format!("{:.1}", mean(&values)),
            format!("{:.1} +- {:.1}", mean(&errors), standard_error(&errors)),
            paper,
        ]);
        Ok::<f64, anyhow::Error>(mean_absolute(&errors))
    };
    let points = placed("random points", repeats, published(1), &points)?;
    let boxes = placed("greedy boxes", repeats / 10, published(2), &boxes)?;

    let exact = rule(&|c, r| ball(c, r, 21))?;
    let rules = [
        ("Stroud, degree 3", rule(&ball_degree_3)?),
        ("Stroud, degree 5", rule(&ball_degree_5)?),
        ("product, degree 5", rule(&|c, r| ball(c, r, 5))?),
        ("product, degree 9", rule(&|c, r| ball(c, r, 9))?),
        ("product, degree 21", exact),
    ];
    for (name, (value, nodes)) in rules {
        let error = 100.0 * (value / EXACT - 1.0).abs();
        table.row(vec![
            name.into(),
            nodes.to_string(),
            format!("{value:.4}"),
            format!("{error:.4}"),
            "-".into(),
        ]);
    }
    report.tables.push(table);
    report.check(
        "covariance of the balls, product rule of degree 21",
        exact.0,
        104.8415,
        104.8425,
    );
    report.check(
        "ten boxes: error over that of ten points",
        boxes / points,
        0.0,
        1.0,
    );
    report.check(
        "Stroud, degree 5: error in %",
        100.0 * (rules[1].1.0 / EXACT - 1.0).abs(),
        0.0,
        0.02,
    );
    report.note("the exact covariance is 104.842 at variance one (40.081 with the paper's exp(-r^2 / l^2)); the paper's 314 needs a variance of three");
    Ok(())
}

/// A way to stand in for the ball about a centre with a radius.
type Placement = dyn Fn([f64; 4], f64, &mut ChaCha8Rng) -> Result<Averages>;

/// Averages with weights that sum to one: together the average over a ball.
type Averages = (Functionals, Vec<f64>);

fn empty() -> Functionals {
    Functionals::new(INPUTS.map(str::to_owned).to_vec())
}

fn average(nodes: &Nodes) -> Result<Averages> {
    let mut set = empty();
    set.push_nodes(&nodes.points(), &nodes.weights)?;
    Ok((set, vec![1.0]))
}

/// Uniform in the ball: a normal direction, and the fourth root of a uniform number.
fn inside(centre: [f64; 4], radius: f64, random: &mut ChaCha8Rng) -> [f64; 4] {
    let z: [f64; 4] = std::array::from_fn(|_| StandardNormal.sample(random));
    let length = z.iter().map(|v: &f64| v * v).sum::<f64>().sqrt();
    let r = radius * random.random::<f64>().powf(0.25) / length;
    std::array::from_fn(|d| centre[d] + r * z[d])
}

fn points(centre: [f64; 4], radius: f64, random: &mut ChaCha8Rng) -> Result<Averages> {
    let mut nodes = Nodes::new(4);
    for _ in 0..FEW {
        nodes.push(inside(centre, radius, random), 1.0 / FEW as f64);
    }
    average(&nodes)
}

type Box4 = [(f64, f64); 4];

/// Disjoint boxes inside the ball, each the largest of many grown about random points; weights
/// by volume correct the shortfall (section 4.1).
fn boxes(centre: [f64; 4], radius: f64, random: &mut ChaCha8Rng) -> Result<Averages> {
    let mut placed: Vec<Box4> = Vec::new();
    for _ in 0..FEW {
        let grown = (0..TRIES).filter_map(|_| {
            let seed = inside([0.0; 4], 1.0, random).map(|v| (v, v));
            fits(&seed, &placed).then(|| grow(seed, &placed))
        });
        let largest = grown.max_by(|a, b| volume(a).total_cmp(&volume(b)));
        placed.push(largest.context("no place for another box")?);
    }
    let total: f64 = placed.iter().map(volume).sum();
    let mut set = empty();
    for own in &placed {
        let moved: Box4 =
            std::array::from_fn(|d| (centre[d] + radius * own[d].0, centre[d] + radius * own[d].1));
        set.push_box(&moved, Aggregate::Mean)?;
    }
    Ok((set, placed.iter().map(|b| volume(b) / total).collect()))
}

/// Moves every face outwards as long as the box fits, in ever smaller steps.
fn grow(mut own: Box4, placed: &[Box4]) -> Box4 {
    for step in [0.2, 0.1, 0.05, 0.02, 0.01] {
        let mut moved = true;
        while moved {
            moved = false;
            for face in 0..8 {
                let mut larger = own;
                let side = &mut larger[face / 2];
                if face % 2 == 0 {
                    side.0 -= step;
                } else {
                    side.1 += step;
                }
                if fits(&larger, placed) {
                    (own, moved) = (larger, true);
                }
            }
        }
    }
    own
}

/// Whether a box lies in the unit ball and meets no other.
fn fits(own: &Box4, placed: &[Box4]) -> bool {
    let far: f64 = own.iter().map(|s| s.0.abs().max(s.1.abs()).powi(2)).sum();
    let apart = |other: &Box4| own.iter().zip(other).any(|(a, b)| a.1 <= b.0 || b.1 <= a.0);
    far <= 1.0 && placed.iter().all(apart)
}

fn volume(own: &Box4) -> f64 {
    own.iter().map(|s| s.1 - s.0).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn boxes_are_disjoint_inside_the_ball_and_fill_much_of_it() {
        let mut random = Settings::default().random(4);
        let (set, weights) = boxes([1.0, 0.0, 0.0, 0.0], 2.0, &mut random).unwrap();
        assert_eq!(set.len(), FEW);
        // Rounding of ten weights.
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        let sides = |row: usize| -> Box4 {
            std::array::from_fn(|d| {
                let (lo, hi) = set.extent(row, d);
                let c = if d == 0 { 1.0 } else { 0.0 };
                ((lo - c) / 2.0, (hi - c) / 2.0)
            })
        };
        let all: Vec<Box4> = (0..FEW).map(sides).collect();
        for k in 0..FEW {
            // Rounding of the ends.
            let shrunk = all[k].map(|(a, b)| (a + 1e-9, b - 1e-9));
            assert!(fits(&shrunk, &all[..k]), "{k}");
        }
        // The inscribed cube alone has 2 / pi^2 = .20 of the volume.
        let share = all.iter().map(volume).sum::<f64>() / (0.5 * PI * PI);
        assert!(share > 0.3, "{share}");
    }

    #[test]
    fn points_fill_the_ball_evenly() {
        let mut random = Settings::default().random(5);
        let n = 4000;
        let within = (0..n)
            .map(|_| inside([0.0; 4], 2.0, &mut random))
            .filter(|p| p.iter().map(|v| v * v).sum::<f64>() < 2.0)
            .count();
        // (sqrt 2 / 2)^4 = 1/4, four standard errors.
        assert!(
            (within as f64 / f64::from(n) - 0.25).abs() < 0.028,
            "{within}"
        );
    }
}
