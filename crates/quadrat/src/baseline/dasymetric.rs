//! Areal weighting by what is known of the places.

use rayon::prelude::*;

use super::Predict;
use super::footprint::Footprints;
use super::reported::{NO_NUMBER, Reported};
use super::sums::sums;
use crate::error::{FitError, InputError};
use crate::model::{Observations, Prediction};
use crate::support::Functionals;

/// Dasymetric mapping: what a row reports of its box or region lies on nodes inside, in proportion
/// to their weights (people, built-up area, lights),
///
/// $$ m_j = \frac{a_j}{\sum_{i \in r} a_i} \, |V_r| \, \frac{y_r}{e_r \, |s_r|} \qquad \text{for
/// the nodes } j \text{ in row } r $$
///
/// with `a_j` the weights, `e_r` the exposure, `|s_r|` the size of the support (its volume for a
/// sum, one for an average) and `|V_r|` its volume.
///
/// A box or region gets what lies on the nodes inside, for an average over its volume, and nothing
/// where there is no node; so what is made of whole rows keeps their totals. A place gets the
/// density of the closest node, `m_j n_r / |V_r|` with `n_r` the number of nodes in its row: nodes
/// are taken to stand for equal parts of it, as pixels do. There is no uncertainty: every sd is
/// zero.
///
/// A node on the border of several rows belongs to the first, one in no row to none; one on the
/// border of a region that is asked counts there. Bags have weights of their own:
/// [`BinHeight`](super::BinHeight) spreads their totals by these.
///
/// # Source
/// Wright 1936, *A method of mapping densities of population*; Mennis 2003, *Generating surface
/// models of population using dasymetric mapping*.
///
/// # Examples
/// Of 80 people three quarters live at the node of three times the weight:
/// ```
/// use quadrat::baseline::{Dasymetric, Predict};
/// use quadrat::model::{Noise, Observations};
/// use quadrat::support::{Aggregate, Functionals};
/// let district = Functionals::intervals("km", &[(0.0, 10.0)], Aggregate::Sum)?;
/// let people = Observations::gaussian(district, vec![80.0], Noise::Learned)?;
/// let lights = Functionals::points("km", &[2.5, 7.5])?;
/// let map = Dasymetric::new(&people, &lights, &[1.0, 3.0])?;
/// let halves = [(0.0, 5.0), (5.0, 10.0)];
/// let halves = Functionals::intervals("km", &halves, Aggregate::Sum)?;
/// assert_eq!(map.predict_response(&halves)?.mean(), [20.0, 60.0]);
/// # Ok::<(), quadrat::error::FitError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dasymetric {
    dims: Vec<String>,
    nodes: Vec<Node>,
    /// Extent of the rows along every column, so that distances add up across units.
    scale: Vec<f64>,
}

#[derive(Debug, Clone)]
struct Node {
    place: Vec<f64>,
    mass: f64,
    density: f64,
}

impl Dasymetric {
    /// # Arguments
    /// * `nodes` - points over the inputs of the rows, shape `[n]`
    /// * `weights` - of the nodes, none below zero, shape `[n]`
    ///
    /// # Errors
    /// [`InputError::Unavailable`] where rows are not boxes or planar regions with a volume, report
    /// no number, or nodes are not points; [`InputError::UnknownDimension`], [`InputError::Shape`];
    /// [`InputError::Range`] for a weight below zero, or a row that reports something and has no
    /// node with a weight.
    pub fn new(
        table: &Observations,
        nodes: &Functionals,
        weights: &[f64],
    ) -> Result<Self, InputError> {
        let supports = table.supports();
        let reported = Reported::of(table).ok_or(NO_NUMBER)?;
        let nodes = nodes.select(supports.dims())?;
        check(&nodes, weights)?;
        let rows = Footprints::new(supports.clone())?;
        let volumes = (0..supports.len()).map(|row| {
            let atoms = supports.atoms(row);
            (atoms.len() == 1).then(|| rows.volume(atoms.start))?
        });
        let volumes: Vec<f64> = volumes.collect::<Option<_>>().ok_or(NO_VOLUME)?;
        let place = |node: usize| -> Vec<f64> {
            let dims = 0..supports.dims().len();
            dims.map(|d| nodes.lower(d)[node]).collect()
        };
        let row_of = |node: usize| {
            let place = place(node);
            (0..supports.len()).find(|&row| rows.holds(supports.atoms(row).start, &place))
        };
        let row_of: Vec<Option<usize>> = (0..nodes.len()).into_par_iter().map(row_of).collect();
        let (mut total, mut count) = (vec![0.0; supports.len()], vec![0.0; supports.len()]);
        for (row, weight) in row_of.iter().zip(weights) {
            if let Some(row) = *row {
                total[row] += weight;
                count[row] += 1.0;
            }
        }
        let rates: Vec<f64> = (0..supports.len())
            .map(|row| reported.rate(row, supports))
            .collect();
        let is_lost = |row: &usize| rates[*row].abs() > 0.0 && total[*row] <= 0.0;
        if let Some(row) = (0..supports.len()).find(is_lost) {
            return Err(InputError::Range {
                what: "the total weight of the nodes in the support".into(),
                row,
                value: total[row],
                requirement: "positive, for a row that reports something; add nodes there",
            });
        }
        let known = (0..nodes.len()).filter_map(|node| {
            let row = row_of[node].filter(|&row| rates[row].is_finite())?;
            // Where all weights are zero so is the rate.
            let share = if total[row] > 0.0 {
                weights[node] / total[row]
            } else {
                0.0
            };
            Some(Node {
                place: place(node),
                mass: share * volumes[row] * rates[row],
                density: share * count[row] * rates[row],
            })
        });
        let known: Vec<Node> = known.collect();
        let extent = |d: usize| supports.range(d).1 - supports.range(d).0;
        match known.is_empty() {
            true => Err(NO_VOLUME),
            false => Ok(Self {
                dims: supports.dims().to_vec(),
                nodes: known,
                scale: (0..supports.dims().len()).map(extent).collect(),
            }),
        }
    }

    /// The average over an atom.
    fn over(&self, at: &Footprints, atom: usize) -> f64 {
        if let Some(volume) = at.volume(atom) {
            let inside = self.nodes.iter().filter(|n| at.holds(atom, &n.place));
            return inside.map(|n| n.mass).sum::<f64>() / volume;
        }
        let gap = |node: &Node, d: usize| {
            let middle = at.set.lower(d)[atom] + 0.5 * at.set.width(d)[atom];
            ((node.place[d] - middle) / self.scale[d]).powi(2)
        };
        let distance = |node: &Node| (0..self.scale.len()).map(|d| gap(node, d)).sum::<f64>();
        let closest = self.nodes.iter().map(|node| (distance(node), node.density));
        let closest = closest.min_by(|a, b| a.0.total_cmp(&b.0));
        closest.map_or(f64::NAN, |(_, density)| density)
    }
}

const NO_VOLUME: InputError = InputError::Unavailable {
    what: "dasymetric mapping",
    remedy: "it needs rows over boxes or planar regions with a volume, and nodes inside that are points; take `BinHeight` for bags",
};

fn check(nodes: &Functionals, weights: &[f64]) -> Result<(), InputError> {
    if nodes.len() != weights.len() {
        return Err(InputError::Shape {
            what: "the weights",
            expected: nodes.len(),
            got: weights.len(),
        });
    }
    if let Some(row) = weights.iter().position(|w| !(*w >= 0.0 && w.is_finite())) {
        return Err(InputError::Range {
            what: "the weight".into(),
            row,
            value: weights[row],
            requirement: "a number of at least zero",
        });
    }
    match nodes.all_single() && (0..nodes.len()).all(|row| nodes.is_point(row)) {
        true => Ok(()),
        false => Err(NO_VOLUME),
    }
}

impl Predict for Dasymetric {
    /// # Errors
    /// [`InputError::UnknownDimension`]; [`InputError::Unavailable`] for regions that are not
    /// planar.
    ///
    /// # Numerics
    /// `O(n m)` for `n` nodes and `m` boxes, regions and places.
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

    fn plane() -> Functionals {
        Functionals::new(vec!["x".into(), "y".into()])
    }

    fn triangle(ring: [[f64; 2]; 3]) -> Region {
        Polygon::new(vec![vec![ring.to_vec()]]).unwrap().into()
    }

    /// Places in the 16 cells of a square of side 4, their weights growing to the right.
    fn pixels() -> (Functionals, Vec<f64>) {
        let (mut nodes, mut weights) = (plane(), Vec::new());
        for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
            nodes
                .push_point(&[f64::from(i) + 0.5, f64::from(j) + 0.4])
                .unwrap();
            weights.push(f64::from(i));
        }
        (nodes, weights)
    }

    /// By hand: the lower left half of the square holds the ten pixels under its diagonal,
    /// of weights 3 * 1 + 2 * 2 + 1 * 3 = 10; the upper right one six, of 1 + 2 * 2 + 3 * 3 = 14.
    #[test]
    fn totals_follow_the_weights_within_every_region() {
        let mut rows = plane();
        let halves = [
            [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]],
            [[4.0, 0.0], [4.0, 4.0], [0.0, 4.0]],
        ];
        for half in halves {
            rows.push_region(triangle(half), Aggregate::Sum).unwrap();
        }
        let cases = Poisson::new(vec![40.0, 7.0], vec![2.0, 1.0], Link::Exp).unwrap();
        let table = Observations::new(rows.clone(), cases).unwrap();
        let (nodes, weights) = pixels();
        let map = Dasymetric::new(&table, &nodes, &weights).unwrap();
        let mut at = rows;
        // The pixels of x = 1.5: three of the first half, one of the second.
        at.push_box(&[(1.0, 2.0), (0.0, 4.0)], Aggregate::Sum)
            .unwrap();
        at.push_box(&[(1.0, 2.0), (0.0, 4.0)], Aggregate::Mean)
            .unwrap();
        // No pixel has its middle there.
        at.push_box(&[(0.6, 0.7), (0.0, 4.0)], Aggregate::Sum)
            .unwrap();
        at.push_nodes(&[vec![1.4, 1.4], vec![3.9, 3.9]], &[1.0, 10.0])
            .unwrap();
        let got = map.predict_response(&at).unwrap();
        let column = 3.0 * 2.0 + 0.5;
        // Densities of 2 * 10 pixels / area 8, and 1.5 * 6 / 8.
        let want = [20.0, 7.0, column, column / 4.0, 0.0, 2.5 + 11.25];
        for (got, want) in got.mean().iter().zip(want) {
            // Sums of some roundings of numbers up to 20.
            assert!((got - want).abs() < 1e-13, "{got} {want}");
        }
    }

    #[test]
    fn equal_weights_are_areal_weighting() {
        let mut rows = plane();
        rows.push_box(&[(0.0, 2.0), (0.0, 4.0)], Aggregate::Mean)
            .unwrap();
        rows.push_box(&[(2.0, 4.0), (0.0, 4.0)], Aggregate::Mean)
            .unwrap();
        let table = Observations::gaussian(rows, vec![3.0, 5.0], Noise::Learned).unwrap();
        let map = Dasymetric::new(&table, &pixels().0, &[0.7; 16]).unwrap();
        let evenly = super::super::BinHeight::new(&table).unwrap();
        let mut at = plane();
        for aggregate in [Aggregate::Sum, Aggregate::Mean] {
            at.push_box(&[(1.0, 4.0), (1.0, 3.0)], aggregate).unwrap();
        }
        at.push_point(&[0.5, 0.5]).unwrap();
        let got = map.predict_response(&at).unwrap();
        let want = evenly.predict_response(&at).unwrap();
        for (got, want) in got.mean().iter().zip(want.mean()) {
            // Sums of some roundings of numbers up to 26.
            assert!((got - want).abs() < 1e-13, "{got} {want}");
        }
    }

    #[test]
    fn what_has_no_node_or_volume_is_refused() {
        let table = |values: Vec<f64>| {
            let bins = [(0.0, 1.0), (1.0, 2.0)];
            let bins = Functionals::intervals("x", &bins, Aggregate::Sum).unwrap();
            Observations::gaussian(bins, values, Noise::Learned).unwrap()
        };
        let nodes = Functionals::points("x", &[0.5]).unwrap();
        let error = Dasymetric::new(&table(vec![1.0, 1.0]), &nodes, &[1.0]).unwrap_err();
        assert!(error.to_string().contains("row 1"), "{error}");
        let nobody = table(vec![1.0, 0.0]);
        assert!(Dasymetric::new(&nobody, &nodes, &[1.0]).is_ok());
        assert!(Dasymetric::new(&nobody, &nodes, &[-1.0]).is_err());
        assert!(Dasymetric::new(&nobody, &nodes, &[1.0, 1.0]).is_err());
        let points = Observations::gaussian(nodes.clone(), vec![1.0], Noise::Learned).unwrap();
        assert!(Dasymetric::new(&points, &nodes, &[1.0]).is_err());
        assert!(Dasymetric::new(&nobody, nobody.supports(), &[1.0; 2]).is_err());
    }
}
