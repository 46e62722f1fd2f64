//! What a density over a plane is estimated from, and how.

use super::super::basis::Kernel;
use super::super::error::DensityError;
use super::super::kinds::Correction;

/// Cells of each axis unless another number is asked for.
const CELLS: usize = 60;
/// Draws unless another number is asked for.
const DRAWS: usize = 8000;
/// Probability of intervals and bands unless another is asked for.
const LEVEL: f64 = 0.95;
const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// A density of two columns: a builder whose end is [`Density2d::estimate`].
///
/// ```
/// use quadrat::density::Density2d;
/// # use quadrat::special::scalar::normal_quantile;
/// # let normal = |share: f64| normal_quantile(share.fract().clamp(1e-3, 0.999));
/// # let x: Vec<f64> = (0..300).map(|i| normal(0.5 + f64::from(i) * 0.618_034)).collect();
/// # let y: Vec<f64> = (0..300)
/// #     .map(|i| 0.8 * x[i as usize] + 0.6 * normal(f64::from(i) * 0.754_878))
/// #     .collect();
/// let estimate = Density2d::new(&x, &y).cells(40, 40).estimate()?;
/// let (density, lower, upper) = (estimate.density(), estimate.lower(), estimate.upper());
/// let correlation = estimate.moments().correlation;
/// assert!(correlation.lower < 0.8 && correlation.upper > 0.8);
/// let quarter = estimate.probability((0.0, f64::INFINITY), (0.0, f64::INFINITY));
/// // 1/4 + asin(0.8) / (2 pi).
/// assert!(quarter.lower < 0.3976 && quarter.upper > 0.3976);
/// # assert!(density.iter().zip(lower).all(|(p, l)| *p >= 0.0 && *l >= 0.0));
/// # assert!(lower.iter().zip(upper).all(|(l, u)| l <= u));
/// # Ok::<(), quadrat::density::DensityError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Density2d<'a> {
    pub(super) columns: [&'a [f64]; 2],
    pub(super) weights: Option<&'a [f64]>,
    pub(super) bounds: [(f64, f64); 2],
    pub(super) range: [Option<(f64, f64)>; 2],
    pub(super) cells: [usize; 2],
    pub(super) level: f64,
    pub(super) log: [bool; 2],
    pub(super) kernel: Kernel,
    pub(super) correction: Correction,
    pub(super) integrate: bool,
    pub(super) draws: usize,
    pub(super) seed: u64,
}

impl<'a> Density2d<'a> {
    /// From the values of two columns; rows of which one is not finite are left out, which a
    /// warning tells.
    #[must_use]
    pub fn new(x: &'a [f64], y: &'a [f64]) -> Self {
        Self {
            columns: [x, y],
            weights: None,
            bounds: [OPEN; 2],
            range: [None; 2],
            cells: [CELLS; 2],
            level: LEVEL,
            log: [false; 2],
            kernel: Kernel::Matern52,
            correction: Correction::default(),
            integrate: true,
            draws: DRAWS,
            seed: 1,
        }
    }

    /// A weight of every row: how many like it were seen, which may be a fraction.
    #[must_use]
    pub fn weights(mut self, weights: &'a [f64]) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Bounds of the two columns beyond which no value can lie; infinite where there is none, as is
    /// the default.
    #[must_use]
    pub fn bounds(mut self, x: (f64, f64), y: (f64, f64)) -> Self {
        self.bounds = [x, y];
        self
    }

    /// What the cells cover at open ends, as in one dimension; none takes the default of an axis.
    #[must_use]
    pub fn range(mut self, x: Option<(f64, f64)>, y: Option<(f64, f64)>) -> Self {
        self.range = [x, y];
        self
    }

    /// Numbers of cells along the two axes, 60 by default, at most 300.
    #[must_use]
    pub fn cells(mut self, x: usize, y: usize) -> Self {
        self.cells = [x, y];
        self
    }

    /// Probability of bands and intervals, 0.95 by default.
    #[must_use]
    pub fn level(mut self, level: f64) -> Self {
        self.level = level;
        self
    }

    /// Estimates on logarithmic axes, for positive values of many sizes.
    #[must_use]
    pub fn log(mut self, x: bool, y: bool) -> Self {
        self.log = [x, y];
        self
    }

    /// The kernel of both axes.
    #[must_use]
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// How draws are mended.
    #[must_use]
    pub fn correct(mut self, correction: Correction) -> Self {
        self.correction = correction;
        self
    }

    /// Whether to average over hyperparameters, as is the default, or to take the most probable.
    #[must_use]
    pub fn integrate(mut self, integrate: bool) -> Self {
        self.integrate = integrate;
        self
    }

    /// Number of draws, 8,000 by default.
    #[must_use]
    pub fn draws(mut self, draws: usize) -> Self {
        self.draws = draws;
        self
    }

    /// The seed of the draws.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    pub(super) fn check(&self) -> Result<(), DensityError> {
        let setting = |what, value, requirement| {
            Err(DensityError::Setting {
                what,
                value,
                requirement,
            })
        };
        for cells in self.cells {
            if !(5..=300).contains(&cells) {
                return setting(
                    "the number of cells of an axis",
                    cells as f64,
                    "from 5 to 300",
                );
            }
        }
        if !(100..=20_000).contains(&self.draws) {
            return setting(
                "the number of draws",
                self.draws as f64,
                "from 100 to 20000",
            );
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return setting("the level", self.level, "between 0 and 1");
        }
        for axis in [0, 1] {
            super::super::kinds::check_axis(self.bounds[axis], self.range[axis], self.log[axis])
                .map_err(|error| error.of_column(axis))?;
        }
        Ok(())
    }
}
