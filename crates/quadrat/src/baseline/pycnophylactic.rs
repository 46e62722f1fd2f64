//! A smooth surface that keeps every total.

use super::Predict;
use super::cells::Cells;
use super::footprint::Footprints;
use super::reported::Reported;
use super::smoothest::{Zones, smoothest};
use super::sums::sums;
use crate::error::{FitError, InputError};
use crate::model::{Observations, Prediction};
use crate::support::Functionals;

/// Pycnophylactic interpolation: the smoothest surface over cells of which none is below zero, and
/// whose average over every row's zone is what the row reports,
///
/// $$ \min \sum_{i \sim j} (z_i - z_j)^2, \qquad z \ge 0, \qquad \frac{1}{|Z_r|} \sum_{i \in Z_r}
/// z_i = \frac{y_r}{e_r \, |s_r|} $$
///
/// over pairs of cells side by side, with `Z_r` the cells whose middle lies in the support of row
/// `r`, `|s_r|` its size and `e_r` its exposure.
///
/// Rows are boxes of one or two inputs, or planar regions, that do not overlap. Cells that no row
/// looked at are no part of the surface: it ends there without a slope.
///
/// A box gets the average of the cells under it, by what of it lies in each; a region the average
/// of the cells whose middle lies in it; a place its cell. So regions of rows keep their totals,
/// and boxes whose edges are edges of cells. What lies beyond all rows gets the closest cell. There
/// is no uncertainty: every sd is zero.
///
/// # Source
/// Tobler 1979, *Smooth pycnophylactic interpolation for geographical regions*. Cells move towards
/// the mean of their neighbours, then every zone back to its total, as there; here to the closest
/// values with that total that are not below zero, which leads to the least of the sum above.
#[derive(Debug, Clone)]
pub struct Pycnophylactic {
    dims: Vec<String>,
    axes: Vec<Cells>,
    /// `NaN` where no row looked.
    heights: Vec<f64>,
}

impl Pycnophylactic {
    /// # Arguments
    /// * `steps` - length of a cell along every input; the closest one that divides the range of
    ///   all rows is taken
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where rows are not boxes or regions of one or two inputs, report
    /// less than zero, or overlap; [`InputError::Shape`]; [`InputError::Range`] for steps that make
    /// more than 1000 cells along an input, or a row whose support holds no middle of a cell;
    /// [`FitError::NotConverged`].
    ///
    /// # Numerics
    /// The work grows as the number of cells, times the square of that along a row, to a 1e-9 of
    /// the largest value: 0.1 s for 10,000 cells, ten by ten to a row.
    pub fn new(table: &Observations, steps: &[f64]) -> Result<Self, FitError> {
        let supports = table.supports();
        let dims = supports.dims().to_vec();
        if !(1..=2).contains(&dims.len()) || !supports.all_single() {
            return Err(NO_ZONES.into());
        }
        if steps.len() != dims.len() {
            return Err(InputError::Shape {
                what: "the lengths of cells",
                expected: dims.len(),
                got: steps.len(),
            }
            .into());
        }
        let axes = steps.iter().enumerate();
        let axes = axes.map(|(d, &step)| Cells::over(supports.range(d), step));
        let axes: Vec<Cells> = axes.collect::<Result<_, _>>()?;
        let zones = zones(table, &axes)?;
        let heights = smoothest(&zones)?;
        Ok(Self {
            dims,
            axes,
            heights,
        })
    }

    /// The cells under an atom with their shares, those without a height included.
    fn under(&self, at: &Footprints, atom: usize) -> Vec<(usize, f64)> {
        let span = |d: usize| (at.set.lower(d)[atom], at.set.width(d)[atom]);
        if at.set.region(atom).is_none() {
            return crossed(&self.axes, |d| self.axes[d].shares(span(d).0, span(d).1));
        }
        let inside = middles(&self.axes, at, atom);
        if inside.is_empty() {
            let place = |d: usize| span(d).0 + 0.5 * span(d).1;
            return crossed(&self.axes, |d| self.axes[d].shares(place(d), 0.0));
        }
        inside.into_iter().map(|cell| (cell, 1.0)).collect()
    }

    /// The average over an atom.
    fn over(&self, at: &Footprints, atom: usize) -> f64 {
        let under = self.under(at, atom);
        let (mut total, mut covered) = (0.0, 0.0);
        for &(cell, share) in &under {
            if self.heights[cell].is_finite() {
                total += share * self.heights[cell];
                covered += share;
            }
        }
        match (covered > 0.0, under.first()) {
            (true, _) => total / covered,
            (false, Some(&(cell, _))) => self.closest(cell),
            (false, None) => f64::NAN,
        }
    }

    /// The height of the cell with one that is closest, counted in cells.
    fn closest(&self, to: usize) -> f64 {
        let along = self.axes[0].count();
        let place = |cell: usize| [cell % along, cell / along];
        let distance = |cell: &usize| {
            let gaps = [0, 1].map(|d| place(*cell)[d].abs_diff(place(to)[d]).pow(2));
            gaps[0] + gaps[1]
        };
        let cells = (0..self.heights.len()).filter(|&cell| self.heights[cell].is_finite());
        cells
            .min_by_key(distance)
            .map_or(f64::NAN, |cell| self.heights[cell])
    }
}

const NO_ZONES: InputError = InputError::Unavailable {
    what: "pycnophylactic interpolation",
    remedy: "it needs values or counts, none below zero, over boxes or regions of one or two inputs that do not overlap; use the posterior for other rows",
};

/// Cells of a grid, the first input fastest, from those along every input.
fn crossed(axes: &[Cells], along: impl Fn(usize) -> Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    let mut all = along(0);
    if let [first, _] = axes {
        let rows = along(1);
        let cross = |(j, b): (usize, f64)| {
            let row = all.iter();
            row.map(move |&(i, a)| (i + j * first.count(), a * b))
                .collect::<Vec<_>>()
        };
        all = rows.into_iter().flat_map(cross).collect();
    }
    all
}

/// The cells whose middle lies in an atom.
fn middles(axes: &[Cells], of: &Footprints, atom: usize) -> Vec<usize> {
    let along = |d: usize| axes[d].shares(of.set.lower(d)[atom], of.set.width(d)[atom]);
    let middle = |cell: usize| {
        let place = [cell % axes[0].count(), cell / axes[0].count()];
        let middles = axes.iter().zip(place);
        middles
            .map(|(axis, at)| axis.middle(at))
            .collect::<Vec<f64>>()
    };
    let cells = crossed(axes, along).into_iter().map(|(cell, _)| cell);
    cells
        .filter(|&cell| of.holds(atom, &middle(cell)))
        .collect()
}

/// The cells of every row, and what they are to average to.
fn zones(table: &Observations, axes: &[Cells]) -> Result<Zones, InputError> {
    let supports = table.supports();
    let reported = Reported::of(table).ok_or(NO_ZONES)?;
    let footprints = Footprints::new(supports.clone())?;
    let counts: Vec<usize> = axes.iter().map(Cells::count).collect();
    let mut zones = Zones::new(&counts);
    for row in 0..supports.len() {
        let rate = reported.rate(row, supports);
        if rate.is_nan() {
            continue;
        }
        if supports.is_point(row) || !(rate >= 0.0 && rate.is_finite()) {
            return Err(NO_ZONES);
        }
        let atom = supports.atoms(row).start;
        let cells = middles(axes, &footprints, atom);
        if cells.is_empty() {
            return Err(InputError::Range {
                what: "the number of middles of cells in the support".into(),
                row,
                value: 0.0,
                requirement: "at least one; make the cells shorter",
            });
        }
        if !zones.add(cells, rate) {
            return Err(NO_ZONES);
        }
    }
    match zones.is_empty() {
        true => Err(NO_ZONES),
        false => Ok(zones),
    }
}

impl Predict for Pycnophylactic {
    /// # Errors
    /// [`InputError::UnknownDimension`]; [`InputError::Unavailable`] for regions of one input.
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let at = Footprints::new(at.select(&self.dims)?)?;
        Ok(sums(&at.set, |atom| self.over(&at, atom)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::likelihood::Poisson;
    use crate::link::Link;
    use crate::model::Noise;
    use crate::support::{Aggregate, Polygon, Region};

    /// What the search leaves: its rounds end within 1e-9 of the largest value, and draw closer by
    /// a tenth or more in each.
    const CLOSE: f64 = 1e-7;

    fn plane() -> Functionals {
        Functionals::new(vec!["age".into(), "income".into()])
    }

    fn counts(rows: Functionals, counts: Vec<f64>) -> Observations {
        let exposure = vec![2.0; counts.len()];
        let counts = Poisson::new(counts, exposure, Link::Exp).unwrap();
        Observations::new(rows, counts).unwrap()
    }

    /// Reference: an active set method in numpy 2.4.6, which SLSQP of scipy 1.17.1 meets to 2e-8.
    /// Cells of 10 by 0.5 in four zones of averages 2, 0.25, 9 and 1, and an exposure of 2.
    #[test]
    fn boxes_agree_with_quadratic_programming() {
        let mut rows = plane();
        for sides in [
            [(0.0, 30.0), (0.0, 1.0)],
            [(30.0, 80.0), (0.0, 1.0)],
            [(0.0, 50.0), (1.0, 3.0)],
            [(50.0, 80.0), (1.0, 3.0)],
        ] {
            rows.push_box(&sides, Aggregate::Sum).unwrap();
        }
        let table = counts(rows.clone(), vec![120.0, 25.0, 1800.0, 120.0]);
        let surface = Pycnophylactic::new(&table, &[10.0, 0.5]).unwrap();
        let mut at = plane();
        let places = [
            [5.0, 0.25],
            [35.0, 0.25],
            [15.0, 0.75],
            [25.0, 1.25],
            [55.0, 1.25],
        ];
        let further = [
            [65.0, 1.25],
            [75.0, 1.25],
            [5.0, 2.75],
            [45.0, 2.9],
            [99.0, 9.0],
        ];
        for place in places.iter().chain(&further) {
            at.push_point(place).unwrap();
        }
        at.push_box(&[(0.0, 20.0), (0.25, 0.5)], Aggregate::Sum)
            .unwrap();
        let got = surface.predict_response(&at).unwrap();
        let want = [
            1.33242602,
            0.07788248,
            3.09570029,
            6.4192606,
            1.17787933,
            0.13342402,
            0.0,
            13.66187603,
            7.07841843,
            0.0,
            // Half of two cells of area 5.
            2.5 * (1.33242602 + 1.06974683),
        ];
        for (got, want) in got.mean().iter().zip(want) {
            assert!((got - want).abs() < 14.0 * CLOSE, "{got} {want}");
        }
        let kept = surface.predict_response(&rows).unwrap();
        for (got, want) in kept.mean().iter().zip([60.0, 12.5, 900.0, 60.0]) {
            // Sums of some tens of roundings.
            assert!((got / want - 1.0).abs() < 1e-12, "{got} {want}");
        }
    }

    /// Reference as above.
    #[test]
    fn bins_agree_with_quadratic_programming() {
        let edges = [(5.0, 10.0), (0.0, 2.0), (2.0, 5.0)];
        let bins = Functionals::intervals("x", &edges, Aggregate::Mean).unwrap();
        let table = Observations::gaussian(bins, vec![0.5, 3.0, 8.0], Noise::Learned).unwrap();
        let surface = Pycnophylactic::new(&table, &[1.0]).unwrap();
        let at: Vec<f64> = (0..10).map(|i| f64::from(i) + 0.5).collect();
        let got = surface
            .predict_response(&Functionals::points("x", &at).unwrap())
            .unwrap();
        let want = [
            2.01869158879,
            3.98130841121,
            7.90654205607,
            8.95794392523,
            7.13551401869,
            2.43925233645,
            0.0607476635514,
            0.0,
            0.0,
            0.0,
        ];
        for (got, want) in got.mean().iter().zip(want) {
            // `CLOSE` is relative to the largest value, which is about nine.
            assert!((got - want).abs() < 9.0 * CLOSE, "{got} {want}");
        }
    }

    /// Two halves of a square, and a smaller one beside them.
    #[test]
    fn regions_keep_their_totals_and_nothing_lies_beyond() {
        let polygon = |ring: &[[f64; 2]]| -> Region {
            Polygon::new(vec![vec![ring.to_vec()]]).unwrap().into()
        };
        let mut rows = plane();
        // The middles of cells on the diagonal lie in the first.
        let lower = [
            [0.0, 0.0],
            [10.0, 0.0],
            [10.0, 0.1],
            [0.1, 10.0],
            [0.0, 10.0],
        ];
        for ring in [&lower[..], &[[10.0, 0.1], [10.0, 10.0], [0.1, 10.0]]] {
            rows.push_region(polygon(ring), Aggregate::Sum).unwrap();
        }
        rows.push_box(&[(10.0, 15.0), (0.0, 5.0)], Aggregate::Sum)
            .unwrap();
        let table = counts(rows.clone(), vec![100.0, 300.0, 0.0]);
        let surface = Pycnophylactic::new(&table, &[0.5, 0.5]).unwrap();
        let kept = surface.predict_response(&rows).unwrap();
        for (got, want) in kept.mean().iter().zip([50.0, 150.0, 0.0]) {
            // Rounding of sums of some hundred cells, up to 150.
            assert!((got - want).abs() < 1e-10, "{got} {want}");
        }
        let mut at = plane();
        for place in [[1.0, 1.0], [4.0, 4.0], [6.0, 6.0], [9.0, 9.0], [14.0, 8.0]] {
            at.push_point(&place).unwrap();
        }
        // Smaller than a cell.
        let tiny = polygon(&[[9.0, 9.0], [9.1, 9.0], [9.0, 9.1]]);
        at.push_region(tiny, Aggregate::Mean).unwrap();
        let got = surface.predict_response(&at).unwrap();
        let m = got.mean();
        assert!(m[0] < m[1] && m[1] < m[2] && m[2] < m[3], "{m:?}");
        // Above the box of nobody, which is closest.
        assert!(m[4] < 1e-6 && m[5] == m[3], "{m:?}");
    }

    #[test]
    fn what_makes_no_zones_is_refused() {
        let table = |edges: &[(f64, f64)], values: &[f64]| {
            let bins = Functionals::intervals("x", edges, Aggregate::Sum).unwrap();
            Observations::gaussian(bins, values.to_vec(), Noise::Learned).unwrap()
        };
        let overlap = table(&[(0.0, 5.0), (4.0, 9.0)], &[1.0, 1.0]);
        let negative = table(&[(0.0, 5.0), (5.0, 9.0)], &[1.0, -1.0]);
        for table in [overlap, negative] {
            let error = Pycnophylactic::new(&table, &[1.0]).unwrap_err();
            assert!(error.to_string().contains("overlap"), "{error}");
        }
        let narrow = table(&[(0.0, 8.9), (8.9, 9.0)], &[1.0, 1.0]);
        let error = Pycnophylactic::new(&narrow, &[1.0]).unwrap_err();
        assert!(error.to_string().contains("shorter"), "{error}");
        assert!(Pycnophylactic::new(&narrow, &[1.0, 1.0]).is_err());
    }
}
