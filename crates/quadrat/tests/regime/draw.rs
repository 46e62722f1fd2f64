//! Small studies drawn at random: rows one after the other, and a wave that they report.

use quadrat::model::{Mean, Scale};
use quadrat::support::Aggregate;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::case::{Kind, Shape};
use crate::study::{Above, Asked, Engine, Place, Report, Row, Study};

/// Coordinates are whole multiples of this, so that shifts of them are exact.
const STEP: f64 = 1.0 / 64.0;
/// And values of this.
const GRAIN: f64 = 1.0 / 1048576.0;

fn on(step: f64, x: f64) -> f64 {
    (x / step).round() * step
}

/// A smooth curve of size one.
struct Curve {
    frequency: f64,
    phase: f64,
}

impl Curve {
    fn at(&self, x: f64) -> f64 {
        (self.frequency * x + self.phase).sin()
    }

    fn average(&self, place: &Place) -> f64 {
        let within = |a: f64, b: f64| {
            let parts = (0..16).map(|i| a + (b - a) * (f64::from(i) + 0.5) / 16.0);
            parts.map(|x| self.at(x)).sum::<f64>() / 16.0
        };
        match place {
            Place::Point(x) => self.at(*x),
            Place::Cell((a, b), _) => within(*a, *b),
            Place::Bag(nodes) => {
                nodes.iter().map(|(x, w)| w * self.at(*x)).sum::<f64>() / place.size()
            }
            Place::Ring(ring, _) => {
                within(ring[0][0] + 0.3 * ring[0][1], ring[2][0] + 0.3 * ring[2][1])
            }
        }
    }
}

fn places(shape: Shape, rows: usize, rng: &mut ChaCha8Rng) -> Vec<Place> {
    let mut out = Vec::new();
    let mut at = on(STEP, rng.random_range(-2.0..2.0));
    // Corners of cells that fill a rectangle, three in a row.
    let jitter: Vec<[f64; 2]> = (0..40)
        .map(|_| [0, 1].map(|_| on(STEP, rng.random_range(-0.2..0.2))))
        .collect();
    let corner = |i: usize, j: usize| {
        let [dx, dy] = jitter[7 * i + j];
        [i as f64 + dx, j as f64 + dy]
    };
    for row in 0..rows {
        let next = at + on(STEP, rng.random_range(0.4..1.6));
        out.push(match shape {
            Shape::Point => Place::Point(at),
            Shape::Mean => Place::Cell((at, next), Aggregate::Mean),
            Shape::Sum => Place::Cell((at, next), Aggregate::Sum),
            Shape::Bag => {
                let node = |_| {
                    let x = on(STEP, rng.random_range(at..next));
                    (x, f64::from(rng.random_range(1..9)) / 8.0)
                };
                Place::Bag((0..3).map(node).collect())
            }
            Shape::Region => {
                let (i, j) = (row % 3, row / 3);
                let ring = vec![
                    corner(i, j),
                    corner(i + 1, j),
                    corner(i + 1, j + 1),
                    corner(i, j + 1),
                ];
                Place::Ring(ring, Aggregate::Mean)
            }
        });
        at = next;
    }
    out
}

/// A study of so many rows.
pub fn study(
    kind: Kind,
    engine: Engine,
    integrated: bool,
    shape: Shape,
    rows: usize,
    rng: &mut ChaCha8Rng,
) -> Study {
    let mut places = places(shape, rows, rng);
    if kind.has_link() {
        // Counts are of all that is in a region.
        for place in &mut places {
            if let Place::Ring(_, aggregate) = place {
                *aggregate = Aggregate::Sum;
            }
        }
    }
    if kind.has_sigmoid() {
        // Averages of probabilities, not sums.
        for place in &mut places {
            let size = place.size();
            if let Place::Bag(nodes) = place {
                nodes.iter_mut().for_each(|(_, weight)| *weight /= size);
            }
        }
    }
    let curve = Curve {
        frequency: rng.random_range(0.4..1.6),
        phase: rng.random_range(0.0..6.0),
    };
    let level = on(GRAIN, rng.random_range(-3.0..3.0));
    let noise = rng.random_range(0.05..0.4);
    let thresholds = vec![level - 0.5, level + 0.5];
    let trials = f64::from(rng.random_range(3..20));
    let exposure = rng.random_range(2.0..40.0);
    let mut reports: Vec<Report> = places
        .iter()
        .enumerate()
        .map(|(row, place)| {
            let (f, size) = (curve.average(place), place.size());
            let e: f64 = (0..12).map(|_| rng.random_range(-0.5..0.5)).sum();
            let u: f64 = rng.random_range(0.0..1.0);
            let y = on(GRAIN, (level + f + noise * e) * size);
            let variance = (noise * size).powi(2);
            let seen = f + noise * e;
            match kind {
                Kind::Exact => Report::Value { y, variance: 0.0 },
                Kind::Known
                | Kind::Learned
                | Kind::StudentT
                | Kind::DoubleExponential
                | Kind::Positive => Report::Value { y, variance },
                Kind::Interval | Kind::IntervalKnown => Report::Within {
                    lower: y - on(GRAIN, 0.5 * u * size),
                    upper: y + on(GRAIN, 0.5 * (1.0 - u) * size),
                    variance,
                },
                Kind::Censored => {
                    let upper = if row % 3 == 1 { f64::INFINITY } else { y };
                    Report::Within {
                        lower: y,
                        upper,
                        variance,
                    }
                }
                Kind::Ordinal | Kind::OrdinalLearned => {
                    Report::Rank(1 + usize::from(seen > -0.5) + usize::from(seen > 0.5))
                }
                Kind::Bernoulli => Report::Yes(seen > 0.2),
                Kind::Binomial => {
                    let k = (trials * (0.5 + 0.4 * seen)).round().clamp(0.0, trials);
                    Report::Successes { k, of: trials }
                }
                Kind::PoissonExp
                | Kind::PoissonSquare
                | Kind::PoissonSoftplus
                | Kind::NegativeBinomial => Report::Count {
                    k: (exposure * size * seen.exp()).round(),
                    exposure,
                },
                Kind::Exponential => Report::Wait(-(1.0 - u).ln() * seen.exp() + 1e-3),
                // Log-normal of sd .3, nearly: the logarithm is the sum of two uniform values.
                Kind::LogNormal => {
                    let v: f64 = rng.random_range(0.0..1.0);
                    Report::Wait((seen + 0.735 * (u + v - 1.0)).exp())
                }
                // Of shape two, but for the noise that is in the mean.
                Kind::Gamma => {
                    let v: f64 = rng.random_range(0.0..1.0);
                    Report::Wait(-0.5 * ((1.0 - u) * (1.0 - v)).ln() * seen.exp() + 1e-3)
                }
            }
        })
        .collect();
    if kind == Kind::Bernoulli {
        // Answers that are all alike would say little.
        reports[0] = Report::Yes(true);
        reports[1] = Report::Yes(false);
    }
    if matches!(kind, Kind::Ordinal | Kind::OrdinalLearned) {
        (0..3).for_each(|k| reports[2 * k] = Report::Rank(k + 1));
    }
    let above = (kind == Kind::Positive).then(|| Above {
        points: points_between(&places),
        margin: level - 0.7,
        sd: 0.01,
    });
    let asked = asked(kind, &places);
    let pairs = places.into_iter().zip(reports);
    Study {
        kind,
        engine,
        integrated,
        seed: 1,
        leaf: ["se", "matern32", "matern52", "matern12"][rng.random_range(0..4)],
        rows: pairs.map(|(place, report)| Row { place, report }).collect(),
        thresholds,
        above,
        mean: Mean::Constant,
        settings: Vec::new(),
        asked,
        spread: 1.0,
    }
}

/// A point within a place.
fn inside(place: &Place) -> Place {
    match place {
        Place::Point(x) => Place::Point(*x),
        Place::Cell((a, b), _) => Place::Point(0.5 * (a + b)),
        Place::Bag(nodes) => Place::Point(nodes[0].0),
        Place::Ring(ring, _) => {
            let [x, y] = [0, 1].map(|d| 0.5 * (ring[0][d] + ring[2][d]));
            let d = 0.125;
            let ring = vec![
                [x - d, y - d],
                [x + d, y - d],
                [x + d, y + d],
                [x - d, y + d],
            ];
            Place::Ring(ring, Aggregate::Mean)
        }
    }
}

fn points_between(places: &[Place]) -> Vec<Place> {
    places.iter().step_by(2).map(inside).collect()
}

/// Within rows and their gaps, beyond them, and over a row.
fn asked(kind: Kind, places: &[Place]) -> Vec<Asked> {
    let latent = |place| Asked {
        place,
        scale: Scale::Latent,
    };
    let response = |place| Asked {
        place,
        scale: Scale::Response,
    };
    let mut out = vec![latent(inside(&places[2])), latent(places[0].clone())];
    let (near, last) = (inside(&places[1]), inside(&places[places.len() - 1]));
    if let (Place::Point(a), Place::Point(b)) = (&near, &last) {
        out.push(latent(Place::Point(on(STEP, a + 0.4))));
        out.push(latent(Place::Point(b + 3.0)));
    }
    if kind.has_link() {
        out.push(response(places[1].clone()));
        if places[0].dims() == 1 {
            out.push(response(near));
        }
    } else if kind.has_sigmoid() {
        out.push(response(places[1].clone()));
        out.push(response(near));
    }
    out
}
