//! What a network is trained on: how well sums are met, and how smooth the function is.

use std::ops::Range;

use super::laplacian::{laplacian, of_bags};
use super::layers::Layers;
use super::settings::NetworkSettings;
use crate::baseline::bag_rows::BagRows;
use crate::baseline::features::Features;
use crate::linalg::Mat;

/// Coordinates less their mean, over their standard deviation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standard {
    centre: Vec<f64>,
    spread: Vec<f64>,
}

impl Standard {
    /// Of the points that are learned from; an input that is the same everywhere keeps its unit.
    pub fn of(places: &[Vec<f64>], dims: usize) -> Self {
        let n = places.len().max(1) as f64;
        let mean = |value: &dyn Fn(&[f64]) -> f64| places.iter().map(|x| value(x)).sum::<f64>() / n;
        let centre: Vec<f64> = (0..dims).map(|d| mean(&|x| x[d])).collect();
        let spread = (0..dims).map(|d| {
            let sd = mean(&|x| (x[d] - centre[d]).powi(2)).sqrt();
            if sd > 0.0 { sd } else { 1.0 }
        });
        Self {
            spread: spread.collect(),
            centre,
        }
    }

    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        let scales = self.centre.iter().zip(&self.spread);
        x.iter()
            .zip(scales)
            .map(|(x, (c, s))| (x - c) / s)
            .collect()
    }
}

/// Rows, and what the network takes of their points.
pub(super) struct Task<'a> {
    pub rows: &'a BagRows,
    /// Standardised coordinates and a one for each point, shape `[N, D + 1]`.
    x: Mat<f64>,
    /// Features of the points, for the Laplacians, shape `[N, m]`; none where none is asked for.
    phi: Mat<f64>,
    points: f64,
    bags: f64,
}

impl<'a> Task<'a> {
    pub fn new(rows: &'a BagRows, standard: &Standard) -> Self {
        let all: Vec<Vec<f64>> = rows.places.iter().map(|x| standard.apply(x)).collect();
        let dims = all.first().map_or(0, Vec::len);
        Self {
            x: Mat::from_fn(all.len(), dims + 1, |i, d| {
                all[i].get(d).copied().unwrap_or(1.0)
            }),
            phi: Mat::zeros(all.len(), 0),
            points: 0.0,
            bags: 0.0,
            rows,
        }
    }

    /// With Laplacians over points and bags, whose kernel features approximate.
    pub fn smooth(mut self, features: &Features, settings: &NetworkSettings) -> Self {
        if settings.manifold > 0.0 || settings.bags > 0.0 {
            // Without the level, which differs nowhere.
            let places = self.rows.places.iter();
            let all: Vec<Vec<f64>> = places.map(|x| features.at(x)).collect();
            self.phi = Mat::from_fn(all.len(), features.count() - 1, |i, j| all[i][j + 1]);
            (self.points, self.bags) = (settings.manifold, settings.bags);
        }
        self
    }

    /// The objective of some rows and its slopes along the parameters,
    ///
    /// $$ \frac1b \sum_{r} -\log p(y_r \mid f) + \frac{\gamma_1}{N^2} f' L f +
    /// \frac{\gamma_2}{b^2} F' L_{bags} F $$
    ///
    /// of `b` rows with `N` points, `F` the means of `f` over the points of every row.
    pub fn objective(&self, layers: &Layers, batch: &[usize]) -> (f64, Vec<f64>) {
        let atoms: Vec<usize> = batch
            .iter()
            .flat_map(|&row| self.rows.rows[row].clone())
            .collect();
        let gathered =
            |from: &Mat<f64>| Mat::from_fn(atoms.len(), from.ncols(), |i, j| from[(atoms[i], j)]);
        let x = gathered(&self.x);
        let passed = layers.pass(x.as_ref());
        let (mut objective, mut along) = self.misfit(batch, &passed.f);
        if self.phi.ncols() > 0 {
            let phi = gathered(&self.phi);
            let strength = self.points / (atoms.len() as f64).powi(2);
            let (cost, slopes) = laplacian(phi.as_ref(), &passed.f, strength);
            objective += cost;
            along.iter_mut().zip(slopes).for_each(|(a, s)| *a += s);
            objective += self.between_bags(batch, &phi, &passed.f, &mut along);
        }
        (objective, layers.slopes(x.as_ref(), &passed, &along))
    }

    /// The mean loss of rows, and its slopes along the function at their points.
    fn misfit(&self, batch: &[usize], f: &[f64]) -> (f64, Vec<f64>) {
        let share = 1.0 / batch.len() as f64;
        let (mut loss, mut along) = (0.0, Vec::with_capacity(f.len()));
        for (&row, own) in batch.iter().zip(ranges(self.rows, batch)) {
            let own = &f[own];
            let mean = self.rows.mean(row, own.iter().copied());
            loss += share * self.rows.loss(row, mean);
            let slope = share * self.rows.slope(row, mean);
            let weights = &self.rows.weights[self.rows.rows[row].clone()];
            let jets = own.iter().map(|f| self.rows.link.jet(*f)[1]);
            along.extend(weights.iter().zip(jets).map(|(w, jet)| slope * w * jet));
        }
        (loss, along)
    }

    /// The cost of means that differ between like bags; its slopes are added to `along`.
    fn between_bags(&self, batch: &[usize], phi: &Mat<f64>, f: &[f64], along: &mut [f64]) -> f64 {
        let own = ranges(self.rows, batch);
        let mean =
            |own: &Range<usize>| f[own.clone()].iter().sum::<f64>() / own.len().max(1) as f64;
        let means: Vec<f64> = own.iter().map(mean).collect();
        let strength = self.bags / (batch.len() as f64).powi(2);
        let (cost, slopes) = laplacian(of_bags(phi.as_ref(), &own).as_ref(), &means, strength);
        for (own, slope) in own.into_iter().zip(slopes) {
            let share = slope / own.len().max(1) as f64;
            along[own].iter_mut().for_each(|a| *a += share);
        }
        cost
    }

    /// The mean loss of all rows, without any Laplacian.
    pub fn loss(&self, layers: &Layers) -> f64 {
        let f = layers.pass(self.x.as_ref()).f;
        let rows: Vec<usize> = (0..self.rows.rows.len()).collect();
        self.misfit(&rows, &f).0
    }
}

/// Where the points of every row of a batch lie among all its points.
fn ranges(rows: &BagRows, batch: &[usize]) -> Vec<Range<usize>> {
    let mut first = 0;
    let one = |&row: &usize| {
        let last = first + rows.rows[row].len();
        let own = first..last;
        first = last;
        own
    };
    batch.iter().map(one).collect()
}
