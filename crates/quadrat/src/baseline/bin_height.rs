//! Reading off the histogram, or the map.

use std::collections::HashMap;

use super::Predict;
use super::footprint::Footprints;
use super::reported::{NO_NUMBER, Reported};
use super::sums::sums;
use crate::error::{FitError, InputError};
use crate::model::{Observations, Prediction};
use crate::support::Functionals;

/// Areal weighting: the height of a row, `value / (size * exposure)`, taken as the function
/// everywhere that it looked.
///
/// Rows and what is asked may be boxes, points, planar regions and bags of points, in any mixture:
/// - a support across several rows gets the average of their heights, weighted by the volume that
///   it shares with each; what overlaps shares, and what no row looked at is left out;
/// - a place gets the height of the rows that it lies in, or that have it as a point, on average
///   where they are several, a row that was seen several times as often;
/// - a box or region asked of bags gets the average over the points inside, by their weights.
///
/// Outside every row the height of the nearest one is used. Rows exposed to nothing tell nothing.
/// There is no uncertainty: every sd is zero.
///
/// So a bag's total is spread over its points in proportion to their weights, and districts share
/// in a region by what of their areas it covers (`area_interpolate` of the Python package tobler,
/// `st_interpolate_aw` of the R package sf).
///
/// # Examples
/// A square and what a triangle takes of it:
/// ```
/// use quadrat::baseline::{BinHeight, Predict};
/// use quadrat::model::{Noise, Observations};
/// use quadrat::support::{Aggregate, Functionals, Polygon, Region};
/// let region = |ring: &[[f64; 2]]| Polygon::new(vec![vec![ring.to_vec()]]).map(Region::from);
/// let mut square = Functionals::new(vec!["x".into(), "y".into()]);
/// square.push_box(&[(0.0, 2.0), (0.0, 2.0)], Aggregate::Sum)?;
/// let people = Observations::gaussian(square, vec![80.0], Noise::Learned)?;
/// let mut triangle = Functionals::new(vec!["x".into(), "y".into()]);
/// triangle.push_region(region(&[[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])?, Aggregate::Sum)?;
/// let there = BinHeight::new(&people)?.predict_response(&triangle)?;
/// assert_eq!(there.mean(), [40.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BinHeight {
    rows: Footprints,
    /// Of every atom: the height, and how often its row was seen.
    heights: Vec<f64>,
    times: Vec<f64>,
    /// Atoms that have a width, and those that are places.
    wide: Vec<usize>,
    places: Vec<usize>,
    at_place: HashMap<Vec<u64>, Vec<usize>>,
    /// Extent of the rows along every column, so that distances add up across units.
    scale: Vec<f64>,
}

impl BinHeight {
    /// # Errors
    /// [`InputError::Unavailable`] when rows report no number, a weight is below zero, or regions
    /// are not planar or lie along different inputs.
    pub fn new(table: &Observations) -> Result<Self, InputError> {
        let supports = table.supports();
        if supports.weight().iter().any(|w| *w < 0.0) {
            return Err(InputError::Unavailable {
                what: "areal weighting",
                remedy: "it needs weights of at least zero; use the posterior for differences",
            });
        }
        let reported = Reported::of(table).ok_or(NO_NUMBER)?;
        let rows = Footprints::new(supports.clone())?;
        let mut heights = vec![f64::NAN; supports.atom_count()];
        let mut times = vec![1.0; supports.atom_count()];
        let (mut wide, mut places) = (Vec::new(), Vec::new());
        let mut at_place: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
        for row in 0..supports.len() {
            let height = reported.rate(row, supports);
            for atom in supports.atoms(row).filter(|_| height.is_finite()) {
                heights[atom] = height;
                times[atom] = table.times(row);
                if rows.is_place(atom) {
                    places.push(atom);
                    at_place.entry(rows.key(atom)).or_default().push(atom);
                } else {
                    wide.push(atom);
                }
            }
        }
        if wide.is_empty() && places.is_empty() {
            return Err(NO_NUMBER);
        }
        let extent = |d: usize| {
            let (low, high) = supports.range(d);
            if high > low { high - low } else { 1.0 }
        };
        Ok(Self {
            scale: (0..supports.dims().len()).map(extent).collect(),
            rows,
            heights,
            times,
            wide,
            places,
            at_place,
        })
    }

    /// Average height over one atom of `at`.
    fn over(&self, at: &Footprints, atom: usize) -> f64 {
        let (mut total, mut covered) = (0.0, 0.0);
        let mut add = |source: usize, share: f64| {
            let share = self.times[source] * share;
            if share > 0.0 {
                total += share * self.heights[source];
                covered += share;
            }
        };
        if at.is_place(atom) {
            let here = self.at_place.get(&at.key(atom));
            here.into_iter()
                .flatten()
                .for_each(|&source| add(source, 1.0));
        } else {
            for &source in &self.places {
                let weight = self.rows.set.weight()[source];
                add(source, weight * self.rows.share(source, at, atom));
            }
        }
        for &source in &self.wide {
            add(source, self.rows.share(source, at, atom));
        }
        if covered > 0.0 {
            total / covered
        } else {
            self.nearest(at, atom)
        }
    }

    /// The height of the row that is closest; of several the first.
    fn nearest(&self, at: &Footprints, atom: usize) -> f64 {
        let (mut height, mut shortest) = (f64::NAN, f64::INFINITY);
        for &source in self.wide.iter().chain(&self.places) {
            let distance = self.rows.distance(source, at, atom, &self.scale);
            if height.is_nan() || distance < shortest {
                (height, shortest) = (self.heights[source], distance);
            }
        }
        height
    }
}

impl Predict for BinHeight {
    /// # Errors
    /// [`InputError::UnknownDimension`]; [`InputError::Unavailable`] for regions that are not
    /// planar, or lie along other inputs than those of the rows.
    ///
    /// # Numerics
    /// `O(n m)` for `n` boxes and regions, or bags' points where boxes and regions are asked, and
    /// `m` of what is asked; points of bags are found at once. Areas in common by clipping of
    /// triangles, right to about 1e-12 of the larger one.
    fn predict_response(&self, at: &Functionals) -> Result<Prediction, FitError> {
        let at = Footprints::new(at.select(self.rows.set.dims())?)?;
        self.rows.check_plane(&at)?;
        Ok(sums(&at.set, |atom| self.over(&at, atom)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::likelihood::Poisson;
    use crate::link::Link;
    use crate::model::Noise;
    use crate::support::{Aggregate, Polygon, Region};

    fn histogram(aggregate: Aggregate) -> BinHeight {
        let bins = [(0.0, 10.0), (20.0, 10.0), (20.0, 40.0)];
        let set = Functionals::intervals("x", &bins, aggregate).unwrap();
        let values = match aggregate {
            Aggregate::Sum => vec![20.0, 40.0, 120.0],
            Aggregate::Mean => vec![2.0, 4.0, 6.0],
        };
        BinHeight::new(&Observations::gaussian(set, values, Noise::Learned).unwrap()).unwrap()
    }

    #[test]
    fn heights_are_densities_whatever_was_reported() {
        for aggregate in [Aggregate::Sum, Aggregate::Mean] {
            let baseline = histogram(aggregate);
            let mut at = Functionals::points("x", &[5.0, 10.0, 39.0, 55.0, -3.0]).unwrap();
            at.push_box(&[(5.0, 15.0)], Aggregate::Sum).unwrap();
            at.push_box(&[(0.0, 40.0)], Aggregate::Mean).unwrap();
            at.push_nodes(&[vec![1.0], vec![30.0]], &[2.0, -1.0])
                .unwrap();
            let p = baseline.predict_response(&at).unwrap();
            let expected = [2.0, 4.0, 6.0, 6.0, 2.0, 30.0, 4.5, -2.0];
            for (got, expected) in p.mean().iter().zip(expected) {
                // A few roundings of values up to 30, each of 30 eps = 7e-15.
                assert!((got - expected).abs() < 1e-12, "{got} {expected}");
            }
        }
    }

    fn region(ring: &[[f64; 2]]) -> Arc<Region> {
        Arc::new(Polygon::new(vec![vec![ring.to_vec()]]).unwrap().into())
    }

    fn plane() -> Functionals {
        Functionals::new(vec!["x".into(), "y".into()])
    }

    /// Four districts that meet in a vertex, one with a notch.
    fn districts(aggregate: Aggregate, values: [f64; 4]) -> BinHeight {
        let rings: [&[[f64; 2]]; 4] = [
            &[[0.0, 0.0], [5.0, 0.0], [4.0, 3.0], [0.0, 4.0]],
            &[[5.0, 0.0], [10.0, 0.0], [10.0, 5.0], [4.0, 3.0]],
            &[
                [4.0, 3.0],
                [10.0, 5.0],
                [10.0, 10.0],
                [6.0, 10.0],
                [6.0, 8.0],
                [5.0, 10.0],
                [3.0, 10.0],
            ],
            &[[0.0, 4.0], [4.0, 3.0], [3.0, 10.0], [0.0, 10.0]],
        ];
        let mut set = plane();
        for ring in rings {
            set.push_region(region(ring), aggregate).unwrap();
        }
        let table = Observations::gaussian(set, values.to_vec(), Noise::Learned).unwrap();
        BinHeight::new(&table).unwrap()
    }

    /// Reference: areas of intersections by shapely 2.2.0. `area_interpolate` of tobler 0.13.0, of
    /// extensive and intensive variables, has the same to 3e-8: it keeps areas in single precision.
    #[test]
    fn districts_share_by_area() {
        let rings: [&[[f64; 2]]; 3] = [
            &[[1.0, 1.0], [9.0, 1.0], [5.0, 9.0]],
            &[[2.0, 2.0], [8.0, 3.0], [8.0, 8.0], [4.0, 8.0], [3.0, 5.0]],
            &[
                [3.0, 1.0],
                [6.0, 1.0],
                [6.0, 2.0],
                [4.0, 2.0],
                [4.0, 6.0],
                [6.0, 6.0],
                [6.0, 7.0],
                [3.0, 7.0],
            ],
        ];
        let people = [214.7483702507, 100.4002157058, 54.11849901251];
        let rates = [1.987152777778, 2.557013795172, 3.151964285714];
        for (aggregate, values, want) in [
            (Aggregate::Sum, [120.0, 300.0, 50.0, 80.0], people),
            (Aggregate::Mean, [1.5, 0.4, 2.5, 7.0], rates),
        ] {
            let baseline = districts(aggregate, values);
            let mut at = plane();
            for ring in rings {
                at.push_region(region(ring), aggregate).unwrap();
            }
            let got = baseline.predict_response(&at).unwrap();
            for (got, want) in got.mean().iter().zip(want) {
                // The reference has thirteen digits.
                assert!((got / want - 1.0).abs() < 1e-11, "{got} {want}");
            }
        }
    }

    #[test]
    fn places_get_the_height_of_their_district_or_of_the_closest() {
        let baseline = districts(Aggregate::Mean, [1.0, 2.0, 3.0, 4.0]);
        let mut at = plane();
        // Two inside, one in the notch closer to its right side, one far off, and one on a border.
        for point in [[1.0, 1.0], [9.0, 9.0], [5.8, 9.5], [-3.0, 8.0], [0.0, 4.0]] {
            at.push_point(&point).unwrap();
        }
        at.push_nodes(&[vec![1.0, 1.0], vec![9.0, 1.0]], &[10.0, 100.0])
            .unwrap();
        let got = baseline.predict_response(&at).unwrap();
        assert_eq!(got.mean(), [1.0, 3.0, 3.0, 4.0, 2.5, 210.0]);
    }

    /// By hand: 30 among 4 + 2 times one, 8 among 1 + 1 times four.
    #[test]
    fn bags_are_spread_over_their_points_by_weight() {
        let mut bags = plane();
        let points = [[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [6.0, 5.0]].map(|p| p.to_vec());
        bags.push_nodes(&points[..2], &[4.0, 2.0]).unwrap();
        bags.push_nodes(&points[2..], &[1.0, 1.0]).unwrap();
        bags.push_nodes(&[vec![9.0, 9.0]], &[1.0]).unwrap();
        // The last was exposed to nothing.
        let cases = vec![30.0, 8.0, 0.0];
        let cases = Poisson::new(cases, vec![1.0, 4.0, 0.0], Link::Exp).unwrap();
        let baseline = BinHeight::new(&Observations::new(bags, cases).unwrap()).unwrap();
        let mut at = plane();
        at.push_nodes(&points[..1], &[4.0]).unwrap();
        at.push_nodes(&points[1..3], &[2.0, 1.0]).unwrap();
        at.push_point(&[9.0, 9.0]).unwrap();
        // The second point of the first bag and the first of the second: (2 * 5 + 1 * 1) / 3.
        at.push_box(&[(0.5, 5.5), (0.0, 6.0)], Aggregate::Mean)
            .unwrap();
        let square = [[-1.0, -1.0], [2.0, -1.0], [2.0, 1.0], [-1.0, 1.0]];
        at.push_region(region(&square), Aggregate::Sum).unwrap();
        let got = baseline.predict_response(&at).unwrap();
        let want = [20.0, 11.0, 1.0, 11.0 / 3.0, 30.0];
        for (got, want) in got.mean().iter().zip(want) {
            // Some roundings of numbers up to 30.
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
    }

    /// By hand: (2 + 3 * 8) / 4 where two rows are one above the other.
    #[test]
    fn rows_count_as_often_as_they_were_seen() {
        let at = Functionals::points("x", &[2.0, 2.0, 5.0]).unwrap();
        let rows = Observations::gaussian(at.clone(), vec![2.0, 8.0, 1.0], Noise::Learned);
        let rows = rows.unwrap().seen(vec![1.0, 3.0, 2.0]).unwrap();
        let told = BinHeight::new(&rows).unwrap().predict_response(&at);
        assert_eq!(told.unwrap().mean(), [6.5, 6.5, 1.0]);
    }

    #[test]
    fn what_has_no_height_is_refused() {
        let mut difference = plane();
        let ends = [vec![0.0, 0.0], vec![1.0, 0.0]];
        difference.push_nodes(&ends, &[1.0, -0.5]).unwrap();
        let table = Observations::gaussian(difference, vec![1.0], Noise::Learned).unwrap();
        assert!(BinHeight::new(&table).is_err());
        let point = Functionals::points("x", &[1.0]).unwrap();
        let nobody = Poisson::new(vec![0.0], vec![0.0], Link::Exp).unwrap();
        assert!(BinHeight::new(&Observations::new(point, nobody).unwrap()).is_err());
    }
}
