//! Periods that are learned: the true one is found among its aliases.

use std::f64::consts::TAU;

use quadrat::kernel::Kernel;
use quadrat::model::{FitOptions, Hyperparameters, Model, Noise, Observations};
use quadrat::support::{Aggregate, Functionals};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::common::hyper;

/// Where rows are; neighbours are one apart on average.
#[derive(Clone, Copy)]
enum Rows {
    Even,
    Uneven,
    /// Every twentieth row or so comes 15 later.
    Gaps,
    Bins,
}

/// What is added to a cycle.
#[derive(Clone, Copy, PartialEq)]
enum Beside {
    Nothing,
    /// A slow curve of five times its size.
    Trend,
}

#[derive(Clone, Copy)]
enum Shape {
    Sine,
    Two,
    Pulse,
}

impl Shape {
    fn at(self, turns: f64) -> f64 {
        let a = TAU * turns;
        match self {
            Self::Sine => a.sin(),
            Self::Two => a.sin() + 0.5 * (2.0 * a + 0.4).cos(),
            Self::Pulse => ((a.cos() - 1.0) / 0.05).exp(),
        }
    }
}

#[derive(Clone, Copy)]
struct Table {
    rows: Rows,
    count: usize,
    period: f64,
    shape: Shape,
    beside: Beside,
    /// Sd of the noise; zero: the rows are exact.
    noise: f64,
    is_known: bool,
}

impl Table {
    /// And the extent of its rows.
    fn model(&self, seed: u64) -> (Model, f64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut next = 0.0;
        let mut places: Vec<f64> = Vec::new();
        for _ in 0..self.count {
            next += match self.rows {
                Rows::Even | Rows::Bins => 1.0,
                Rows::Uneven => 0.2 + 1.6 * random.random::<f64>(),
                Rows::Gaps => 1.0 + 14.0 * f64::from(u8::from(random.random::<f64>() < 0.05)),
            };
            places.push(next);
        }
        let range = self.count as f64;
        let function = |t: f64| {
            let slow = 5.0 * (2.1 * t / range + 0.3).sin() + 1.5 * (7.3 * t / range).sin();
            let slow = if self.beside == Beside::Trend {
                slow
            } else {
                0.0
            };
            self.shape.at(t / self.period) + slow
        };
        let steps = if matches!(self.rows, Rows::Bins) {
            64
        } else {
            0
        };
        let average = |t: f64| match steps {
            0 => function(t),
            _ => {
                let parts = (0..steps).map(|k| function(t + (k as f64 + 0.5) / steps as f64));
                parts.sum::<f64>() / steps as f64
            }
        };
        let values = places.iter().map(|t| {
            let z: f64 = StandardNormal.sample(&mut random);
            average(*t) + self.noise * z
        });
        let values: Vec<f64> = values.collect();
        let set = match self.rows {
            Rows::Bins => {
                let bins: Vec<(f64, f64)> = places.iter().map(|t| (*t, t + 1.0)).collect();
                Functionals::intervals("t", &bins, Aggregate::Mean).unwrap()
            }
            _ => Functionals::points("t", &places).unwrap(),
        };
        let noise = match self.is_known || self.noise == 0.0 {
            true => Noise::Known(vec![self.noise * self.noise; self.count]),
            false => Noise::Learned,
        };
        let cycle = Kernel::periodic("t", None);
        let kernel = match self.beside {
            Beside::Nothing => cycle,
            Beside::Trend => cycle + Kernel::se(["t"]),
        };
        let table = Observations::gaussian(set, values, noise).unwrap();
        let extent = places[self.count - 1] - places[0];
        (Model::new(kernel).observe(table), extent)
    }
}

fn check(tables: &[Table]) {
    for (i, table) in tables.iter().enumerate() {
        let (model, extent) = table.model(i as u64 + 1);
        let options = FitOptions::default().with_hyperparameters(Hyperparameters::Map);
        let found = model.fit(&options).unwrap();
        let period = hyper(&found, "periodic.period.t");
        // A cycle that misses the last of `extent / period` turns by a tenth of one is another.
        let allowed = 0.1 * table.period / extent;
        let off = (period / table.period - 1.0).abs();
        let warnings = &found.summary().warnings;
        assert!(
            off < allowed,
            "{i}: {period} for {}, {warnings:?}",
            table.period
        );
        assert!(found.summary().converged, "{i}: {warnings:?}");
    }
}

const PLAIN: Table = Table {
    rows: Rows::Even,
    count: 120,
    period: 5.0,
    shape: Shape::Two,
    beside: Beside::Nothing,
    noise: 0.2,
    is_known: false,
};

#[test]
fn cycles_in_noise_are_found_whatever_their_length() {
    let mut tables = Vec::new();
    for (period, shape) in [
        (2.2, Shape::Sine),
        (5.0, Shape::Two),
        (20.0, Shape::Pulse),
        (60.0, Shape::Two),
    ] {
        tables.push(Table {
            period,
            shape,
            ..PLAIN
        });
    }
    check(&tables);
}

#[test]
fn cycles_are_found_beside_trends_in_gaps_and_bins() {
    let trend = Table {
        count: 150,
        period: 11.0,
        beside: Beside::Trend,
        ..PLAIN
    };
    check(&[
        Table {
            rows: Rows::Gaps,
            period: 5.0,
            ..trend
        },
        Table {
            rows: Rows::Bins,
            period: 13.0,
            ..trend
        },
        Table {
            rows: Rows::Uneven,
            period: 3.1,
            ..PLAIN
        },
        Table {
            rows: Rows::Bins,
            period: 9.0,
            ..PLAIN
        },
        Table {
            noise: 0.05,
            is_known: true,
            ..trend
        },
    ]);
}

/// Each period at which exact rows nearly agree is an optimum as narrow as rounding.
#[test]
fn cycles_of_exact_rows_are_no_aliases() {
    let exact = Table {
        noise: 0.0,
        ..PLAIN
    };
    check(&[
        exact,
        Table {
            period: 37.3,
            count: 150,
            ..exact
        },
        Table {
            rows: Rows::Uneven,
            period: 6.1,
            ..exact
        },
        Table {
            noise: 0.003,
            is_known: true,
            period: 7.0,
            ..exact
        },
    ]);
}
