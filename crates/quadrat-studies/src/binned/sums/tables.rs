//! The tables: made-up counts of bins on a line.

use anyhow::Result;
use quadrat::kernel::Kernel;
use quadrat::likelihood::Poisson;
use quadrat::link::Link;

use quadrat::model::{Mean, Model, Observations, Setting};
use quadrat::support::{Aggregate, Functionals};

/// Counts of neighbouring bins, and the hyperparameters of their log rate.
pub(super) struct Table {
    pub name: &'static str,
    /// One more than there are counts.
    edges: &'static [f64],
    counts: &'static [f64],
    /// Of matern32.
    pub variance: f64,
    pub lengthscale: f64,
    /// Cells of every bin.
    cells: usize,
}

pub(super) const TABLES: [Table; 6] = [
    Table {
        name: "smooth",
        edges: &[
            0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0,
        ],
        counts: &[
            702.0, 980.0, 1275.0, 1490.0, 1502.0, 1304.0, 1089.0, 801.0, 530.0, 327.0,
        ],
        variance: 1.0,
        lengthscale: 30.0,
        cells: 12,
    },
    Table {
        name: "steep",
        edges: &[0.0, 12.0, 20.0, 40.0, 70.0, 150.0, 500.0],
        counts: &[1100.0, 2400.0, 17_900.0, 15_000.0, 8_500.0, 4_100.0],
        variance: 6.3,
        lengthscale: 55.0,
        cells: 20,
    },
    Table {
        name: "tiny counts",
        edges: &[
            0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0,
        ],
        counts: &[1.0, 2.0, 2.0, 4.0, 3.0, 3.0, 1.0, 2.0, 1.0, 1.0],
        variance: 1.0,
        lengthscale: 25.0,
        cells: 12,
    },
    Table {
        name: "zeros",
        edges: &[
            0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0,
        ],
        counts: &[0.0, 0.0, 1.0, 6.0, 14.0, 9.0, 3.0, 0.0, 2.0, 1.0, 0.0, 0.0],
        variance: 2.0,
        lengthscale: 15.0,
        cells: 10,
    },
    Table {
        name: "millions",
        edges: &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        counts: &[
            1_012_345.0,
            985_120.0,
            1_130_990.0,
            1_251_003.0,
            1_198_450.0,
            1_049_877.0,
            951_208.0,
            902_113.0,
        ],
        variance: 0.5,
        lengthscale: 2.0,
        cells: 14,
    },
    Table {
        name: "uneven",
        edges: &[0.0, 5.0, 9.0, 20.0, 60.0, 300.0],
        counts: &[9_120.0, 11_044.0, 30_871.0, 22_310.0, 13_155.0],
        variance: 3.0,
        lengthscale: 60.0,
        cells: 24,
    },
];

impl Table {
    /// The bins.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.edges.windows(2).map(|w| (w[0], w[1]))
    }

    /// The cells, bin by bin.
    pub fn cells(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.bins().flat_map(move |(a, b)| {
            let at = move |i: usize| a + (b - a) * i as f64 / self.cells as f64;
            (0..self.cells).map(move |i| (at(i), at(i + 1)))
        })
    }

    /// Cells of one bin.
    pub fn per_bin(&self) -> usize {
        self.cells
    }

    /// The known mean: the log of the average density.
    pub fn mean(&self) -> f64 {
        let width = self.edges[self.edges.len() - 1] - self.edges[0];
        (self.counts.iter().sum::<f64>() / width).ln()
    }

    /// What was counted, at these exposures.
    pub fn with_exposures(&self, exposures: Vec<f64>) -> Result<Poisson> {
        Ok(Poisson::new(self.counts.to_vec(), exposures, Link::Exp)?)
    }

    /// The same as the product's model.
    pub fn model(&self) -> Result<Model> {
        let bins: Vec<(f64, f64)> = self.bins().collect();
        let at = Functionals::intervals("x", &bins, Aggregate::Sum)?;
        Ok(Model::new(Kernel::matern32(["x"]))
            .mean(Mean::Fixed(self.mean()))
            .observe(Observations::new(
                at,
                self.with_exposures(vec![1.0; bins.len()])?,
            )?)
            .set("matern32.variance", Setting::fixed(self.variance))
            .set("matern32.lengthscale.x", Setting::fixed(self.lengthscale)))
    }
}
