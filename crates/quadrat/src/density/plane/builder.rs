//! Builders of estimates of two columns.

use crate::support::Polygon;

use super::super::shared::settings;
use super::grid::Normalisation;
use super::plan::{KnownOfPairs, RowsAndSettings};

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
pub struct Density2d<'a>(pub(super) RowsAndSettings<'a>);

/// Densities of one column given another: a builder whose end is [`Conditional::estimate`].
///
/// The densities at all places of the given column, `p(y | x)`, are one function of both columns,
/// normalised at each place: what lies nearby is alike, and where no row lies the prior fills in.
///
/// ```
/// use quadrat::density::Conditional;
/// # use quadrat::special::scalar::normal_quantile;
/// # let normal = |share: f64| normal_quantile(share.fract().clamp(1e-3, 0.999));
/// # let x: Vec<f64> = (0..300).map(|i| (f64::from(i) * 0.618_034).fract()).collect();
/// # let y: Vec<f64> = (0..300)
/// #     .map(|i| 3.0 * x[i as usize] + 0.5 * normal(f64::from(i) * 0.754_878))
/// #     .collect();
/// let estimate = Conditional::new(&x, &y).cells(20, 60).draws(2000).estimate()?;
/// let [low, median, high] = estimate.quantile_curves([0.05, 0.5, 0.95]);
/// let middle = estimate.slice(0.5).ok_or("outside of the places")?;
/// // The median of y at x = 1/2 is 3/2.
/// assert!(median.lower[middle] < 1.5 && median.upper[middle] > 1.5);
/// let above = estimate.probability(0.5, (1.5, f64::INFINITY));
/// let above = above.ok_or("outside of the places")?;
/// assert!(above.lower < 0.5 && above.upper > 0.5);
/// # assert!(low.value[middle] < 1.0 && high.value[middle] > 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Conditional<'a>(pub(super) RowsAndSettings<'a>);

settings!(Density2d, 0);
settings!(Conditional, 0);

impl<'a> Density2d<'a> {
    /// From the values of two columns; rows of which one is not finite are left out, which a
    /// warning tells.
    #[must_use]
    pub fn new(x: &'a [f64], y: &'a [f64]) -> Self {
        Self(RowsAndSettings::new(Normalisation::Joint, x, y))
    }

    /// From counts in boxes, which may be of any size, overlap, and be open at the ends.
    ///
    /// # Arguments
    /// * `x`, `y` - lower and upper ends along each axis
    /// * `counts` - in each box
    #[must_use]
    pub fn from_bins(x: [&'a [f64]; 2], y: [&'a [f64]; 2], counts: &'a [f64]) -> Self {
        let mut plan = RowsAndSettings::new(Normalisation::Joint, &[], &[]);
        plan.rows = KnownOfPairs::Boxes([x[0], x[1], y[0], y[1]]);
        plan.weights = Some(counts);
        Self(plan)
    }

    /// From counts in areas with any outline, such as districts: each count is of values that are
    /// known to lie in its area and not where. Areas may overlap: counts by district, and others of
    /// which only the province is known. The density is zero outside of all areas, unless
    /// [`Self::inside`] says where else a value can be, and within a cell that a border cuts it is
    /// spread evenly.
    ///
    /// ```
    /// use quadrat::density::Density2d;
    /// use quadrat::support::Polygon;
    /// let mut areas = Vec::new();
    /// for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
    ///     let (x, y) = (f64::from(i), f64::from(j));
    ///     areas.push(Polygon::rectangle((x, x + 1.0), (y, y + 1.0))?);
    /// }
    /// let estimate = Density2d::from_areas(&areas, &[40.0, 30.0, 20.0, 10.0]).estimate()?;
    /// let left = estimate.probability((0.0, 1.0), (0.0, 2.0));
    /// assert!(left.lower < 0.7 && left.upper > 0.7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Arguments
    /// * `counts` - in each area; zero says that nothing was found there
    #[must_use]
    pub fn from_areas(areas: &'a [Polygon], counts: &'a [f64]) -> Self {
        let mut plan = RowsAndSettings::new(Normalisation::Joint, &[], &[]);
        plan.rows = KnownOfPairs::Areas(areas);
        plan.weights = Some(counts);
        plan.polygons = Some(areas);
        Self(plan)
    }

    /// Polygons inside of which alone a value can lie, such as land: the density is zero outside,
    /// and adds up to one inside. A cell that a border cuts has the share of it that is inside; a
    /// row counts as inside where its cell is. Within such a cell nothing tells land from sea: the
    /// density at a place, and probabilities of parts of it, are those of land spread evenly over
    /// it. Bounds are those of the polygons, which must not overlap each other.
    #[must_use]
    pub fn inside(mut self, polygons: &'a [Polygon]) -> Self {
        self.0.polygons = Some(polygons);
        self
    }

    /// Bounds of the two columns beyond which no value can lie; infinite where there is none, as is
    /// the default.
    #[must_use]
    pub fn bounds(mut self, x: (f64, f64), y: (f64, f64)) -> Self {
        self.0.bounds = [x, y];
        self
    }

    /// What the cells cover at open ends, as in one dimension; none takes the default of an axis.
    #[must_use]
    pub fn range(mut self, x: Option<(f64, f64)>, y: Option<(f64, f64)>) -> Self {
        self.0.range = [x, y];
        self
    }

    /// Numbers of cells along the two axes, 60 by default, at most 300.
    #[must_use]
    pub fn cells(mut self, x: usize, y: usize) -> Self {
        self.0.cells = [x, y];
        self
    }

    /// Estimates on logarithmic axes, for positive values of many sizes.
    #[must_use]
    pub fn log(mut self, x: bool, y: bool) -> Self {
        self.0.log = [x, y];
        self
    }
}

impl<'a> Conditional<'a> {
    /// From the values of the given column and of the one whose densities are wanted; rows of which
    /// one is not finite are left out, which a warning tells.
    #[must_use]
    pub fn new(given: &'a [f64], values: &'a [f64]) -> Self {
        Self(RowsAndSettings::new(
            Normalisation::Conditional,
            given,
            values,
        ))
    }

    /// Bounds beyond which no value can lie; infinite where there is none, as is the default.
    #[must_use]
    pub fn bounds(mut self, lower: f64, upper: f64) -> Self {
        self.0.bounds[1] = (lower, upper);
        self
    }

    /// What the cells of the values cover at open ends, as in one dimension.
    #[must_use]
    pub fn range(mut self, lower: f64, upper: f64) -> Self {
        self.0.range[1] = Some((lower, upper));
        self
    }

    /// What the slices of the given column cover, in place of what its values do; values beyond it
    /// widen it.
    #[must_use]
    pub fn given_range(mut self, lower: f64, upper: f64) -> Self {
        self.0.range[0] = Some((lower, upper));
        self
    }

    /// Numbers of slices of the given column, at most 300, and of cells of the values, 100 by
    /// default and at most 1,000; at most 90,000 in all. Without it there are 30 slices, or one for
    /// each place where the given values are up to a hundred equally spaced ones, such as hours.
    #[must_use]
    pub fn cells(mut self, given: usize, values: usize) -> Self {
        (self.0.cells, self.0.is_asked) = ([given, values], true);
        self
    }

    /// Lays the slices and the cells of the values on logarithmic axes, for positive numbers of
    /// many sizes; the answer is a density of the values all the same.
    #[must_use]
    pub fn log(mut self, given: bool, values: bool) -> Self {
        self.0.log = [given, values];
        self
    }
}
