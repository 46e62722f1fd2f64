//! A small problem that tests of sparse inference share.

use super::{Bags, SparseProblem, Within};
use crate::covariance::{Covariance, Induced};
use crate::inference::sites::Block;
use crate::kernel::Kernel;
use crate::likelihood::local::Local;
use crate::linalg::Mat;
use crate::link::Link;
use crate::parameter::{Parameter, PriorDensity};
use crate::support::Functionals;

/// Rows over points in the plane under `se(x, y) + matern32(x)`.
pub(in crate::inference::sparse) struct Toy {
    pub induced: Induced,
    pub bags: Bags,
    pub means: Vec<Vec<f64>>,
    pub tables: Vec<(Box<dyn Local>, Vec<usize>)>,
    pub parameters: Vec<Parameter>,
    pub points: Functionals,
}

pub(in crate::inference::sparse) const MEAN: f64 = 0.4;

/// A point on no lattice.
pub(in crate::inference::sparse) fn place(i: usize) -> [f64; 2] {
    let x = (0.618_034 * i as f64).fract();
    let y = (0.754_878 * i as f64).fract();
    [3.0 * x, 2.0 * y]
}

pub(in crate::inference::sparse) fn inducing(count: usize) -> Functionals {
    let mut set = Functionals::new(vec!["x".into(), "y".into()]);
    for i in 0..count {
        let [x, y] = place(i + 500);
        set.push_point(&[x, y]).unwrap();
    }
    set
}

impl Toy {
    /// Tables of rows with so many points each.
    pub(in crate::inference::sparse) fn new(
        tables: Vec<(Box<dyn Local>, Link, Vec<usize>)>,
        within: Within,
        chunk: usize,
        inducing: Option<Functionals>,
        jitter: f64,
    ) -> Self {
        let kernel: Kernel = "se(x, y) + matern32(x)".parse().unwrap();
        let covariance = Covariance::new(&kernel);
        let starts = [0.5, 0.8, 0.9, 0.3, 0.7];
        let mut parameters: Vec<Parameter> = kernel
            .parameters()
            .iter()
            .zip(starts)
            .map(|(p, start)| Parameter::positive(&p.name, "", start, PriorDensity::Flat))
            .collect();
        assert_eq!(parameters.len(), starts.len());
        let mut bags = Bags::new(within).with_chunk(chunk);
        let mut points = Functionals::new(vec!["x".into(), "y".into()]);
        let mut kept = Vec::new();
        for (table, link, sizes) in tables {
            for size in sizes {
                let row = bags.rows();
                let weights: Vec<f64> = match size {
                    1 => vec![1.0],
                    _ => (0..size)
                        .map(|i| (1.0 + (i + row) as f64 % 3.0) / size as f64)
                        .collect(),
                };
                for _ in 0..size {
                    points.push_point(&place(points.len())).unwrap();
                }
                bags.push(link, &weights).unwrap();
            }
            let first = parameters.len();
            parameters.extend(table.parameters(1.0));
            kept.push((table, (first..parameters.len()).collect()));
        }
        let chunks: Vec<Functionals> = (0..bags.chunks())
            .map(|c| points.rows(&bags.chunk_points(c).collect::<Vec<_>>()))
            .collect();
        Self {
            means: chunks.iter().map(|c| vec![MEAN; c.len()]).collect(),
            induced: Induced::new(
                covariance,
                inducing.unwrap_or_else(|| self::inducing(6)),
                chunks,
                jitter,
            ),
            bags,
            tables: kept,
            parameters,
            points,
        }
    }

    pub(in crate::inference::sparse) fn theta(&self) -> Vec<f64> {
        self.parameters.iter().map(|p| p.start).collect()
    }
}

impl SparseProblem for Toy {
    fn induced(&self) -> &Induced {
        &self.induced
    }
    fn bags(&self) -> &Bags {
        &self.bags
    }
    fn prior_mean(&self, chunk: usize) -> &[f64] {
        &self.means[chunk]
    }
    fn blocks(&self) -> Vec<Block<'_>> {
        let mut first = 0;
        let block = |(likelihood, own): &'_ (Box<dyn Local>, Vec<usize>)| {
            let rows = first;
            first += likelihood.rows();
            (rows, likelihood.rows(), own.len())
        };
        let firsts: Vec<(usize, usize, usize)> = self.tables.iter().map(block).collect();
        self.tables
            .iter()
            .zip(firsts)
            .map(|((likelihood, own), (first, ..))| Block {
                likelihood: likelihood.as_ref(),
                first,
                own,
                second: None,
            })
            .collect()
    }
    fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }
    fn describe(&self) -> String {
        "se(x, y) + matern32(x)".into()
    }
}

/// A belief that is neither the prior nor an optimum.
pub(in crate::inference::sparse) fn some_normal(size: usize) -> (Vec<f64>, Mat<f64>) {
    let mean = (0..size).map(|i| 0.3 * (1.7 * i as f64).cos()).collect();
    let lower = Mat::from_fn(size, size, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 0.5 + 0.1 * (i % 3) as f64,
        std::cmp::Ordering::Greater => 0.1 * ((2 * i + 3 * j) as f64).sin(),
    });
    (mean, lower)
}
