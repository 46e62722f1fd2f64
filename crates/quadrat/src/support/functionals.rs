//! Many linear functionals, stored by column.

pub(crate) mod changed;
mod columns;
mod cut;
mod thin;
mod view;

pub use columns::Columns;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::column::AtomColumn;
use super::placed::{NO_REGION, Placed};
use super::{Aggregate, Functional, Region, Side, UniqueIntervals};
use crate::error::InputError;

/// `n` linear functionals over `d` named inputs.
///
/// Every functional is a weighted sum of *atoms*; an atom is the average over a box, which may
/// have zero width in some or all dimensions, or over the product of a region and a box. A box or
/// region has one atom, of weight one (`mean`) or its volume (`sum`); nodes have one atom each.
/// Averages keep wide and narrow boxes on one scale.
///
/// # Examples
/// ```
/// use quadrat::support::{Aggregate, Functionals};
/// let mut bands = Functionals::new(vec!["age".into()]);
/// bands.push_box(&[(0.0, 10.0)], Aggregate::Sum)?;
/// bands.push_box(&[(20.0, 10.0)], Aggregate::Sum)?;
/// bands.push_point(&[35.0])?;
/// assert_eq!((bands.len(), bands.size(1)), (3, 10.0));
/// # Ok::<(), quadrat::error::InputError>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Functionals {
    dims: Vec<String>,
    /// `lower[d][atom]`
    lower: Vec<AtomColumn>,
    /// `width[d][atom]`, zero for points.
    width: Vec<AtomColumn>,
    weight: Vec<f64>,
    /// `region[atom]` is the position in `regions` or [`NO_REGION`]; along the columns of a region
    /// `lower` and `width` are those of its bounding box.
    region: Vec<u32>,
    regions: Vec<Placed>,
    /// Where a shared region is in `regions`, by its address and columns, for those pushed here.
    #[serde(skip)]
    shared: HashMap<(usize, Vec<Option<usize>>), u32>,
    /// Atoms of row `i` are `offsets[i]..offsets[i + 1]`.
    offsets: Vec<usize>,
    #[serde(skip)]
    unique: OnceLock<Vec<UniqueIntervals>>,
}

/// What becomes of an atom in [`Functionals::spread`].
pub(crate) enum AtomSpread<'n> {
    Keep,
    Drop,
    /// Points along some columns, with weights of the average; the other columns stay.
    Nodes {
        along: Vec<(usize, &'n [f64])>,
        weights: &'n [f64],
    },
}

impl PartialEq for Functionals {
    fn eq(&self, other: &Self) -> bool {
        self.dims == other.dims
            && self.lower == other.lower
            && self.width == other.width
            && self.weight == other.weight
            && self.region == other.region
            && self.regions == other.regions
            && self.offsets == other.offsets
    }
}

impl Functionals {
    /// An empty set over the named inputs.
    #[must_use]
    pub fn new(dims: Vec<String>) -> Self {
        let d = dims.len();
        Self {
            dims,
            lower: vec![AtomColumn::default(); d],
            width: vec![AtomColumn::default(); d],
            weight: Vec::new(),
            region: Vec::new(),
            regions: Vec::new(),
            shared: HashMap::new(),
            offsets: vec![0],
            unique: OnceLock::new(),
        }
    }

    /// Values at the points of one column.
    ///
    /// # Errors
    /// [`InputError::NotFinite`].
    pub fn points(dim: &str, x: &[f64]) -> Result<Self, InputError> {
        let mut set = Self::new(vec![dim.to_owned()]);
        x.iter().try_for_each(|&v| set.push_point(&[v]))?;
        Ok(set)
    }

    /// Integrals or averages over the intervals of one column.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn intervals(
        dim: &str,
        edges: &[(f64, f64)],
        aggregate: Aggregate,
    ) -> Result<Self, InputError> {
        let mut set = Self::new(vec![dim.to_owned()]);
        edges
            .iter()
            .try_for_each(|&e| set.push_box(&[e], aggregate))?;
        Ok(set)
    }

    /// Adds the value at `x`.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn push_point(&mut self, x: &[f64]) -> Result<(), InputError> {
        self.check_finite(x.iter().copied())?;
        self.check_shape("the point", x.len())?;
        for (d, &v) in x.iter().enumerate() {
            self.lower[d].push(v);
            self.width[d].push(0.0);
        }
        self.weight.push(1.0);
        self.region.push(NO_REGION);
        self.close_row();
        Ok(())
    }

    /// Adds the integral (`Sum`) or average (`Mean`) over a box; edges in either order.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn push_box(
        &mut self,
        edges: &[(f64, f64)],
        aggregate: Aggregate,
    ) -> Result<(), InputError> {
        self.push(&Functional::boxed(edges, aggregate))
    }

    fn push_sides(&mut self, sides: &[Side], aggregate: Aggregate) -> Result<(), InputError> {
        self.check_shape("the box", sides.len())?;
        let mut volume = 1.0;
        for (d, side) in sides.iter().enumerate() {
            let Side::Interval(a, b) = *side else {
                continue;
            };
            let width = (b - a).abs();
            if width == 0.0 && aggregate == Aggregate::Sum {
                return Err(InputError::ZeroWidth {
                    row: self.len(),
                    dim: self.dims[d].clone(),
                });
            }
            self.check_finite([a, b, width].into_iter())?;
            volume *= width;
        }
        if aggregate == Aggregate::Mean {
            volume = 1.0;
        }
        if volume == 0.0 || !volume.is_finite() {
            return Err(InputError::Range {
                what: "the volume of the box".into(),
                row: self.len(),
                value: volume,
                requirement: "representable as a positive number; change the units of the inputs",
            });
        }
        let edges = sides.iter().map(|side| match *side {
            Side::Point(x) => (x, x),
            Side::Interval(a, b) => (a.min(b), a.max(b)),
        });
        self.check_finite(edges.clone().map(|e| e.0))?;
        for (d, (lower, upper)) in edges.enumerate() {
            self.lower[d].push(lower);
            self.width[d].push(upper - lower);
        }
        self.weight.push(volume);
        self.region.push(NO_REGION);
        self.close_row();
        Ok(())
    }

    /// Adds the integral (`Sum`) or average (`Mean`) over a region that extends over all inputs.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn push_region(
        &mut self,
        region: impl Into<Arc<Region>>,
        aggregate: Aggregate,
    ) -> Result<(), InputError> {
        let region = region.into();
        let sides = vec![None; region.dim()];
        self.push_product(region, &sides, aggregate)
    }

    /// Adds the integral or average over the product of a region and a box: `sides[d]` is `None`
    /// along the inputs of the region, in its order, and the side of the box along the others.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn push_product(
        &mut self,
        region: Arc<Region>,
        sides: &[Option<Side>],
        aggregate: Aggregate,
    ) -> Result<(), InputError> {
        let columns: Vec<Option<usize>> = (0..sides.len())
            .filter(|&d| sides[d].is_none())
            .map(Some)
            .collect();
        if columns.len() != region.dim() {
            return Err(InputError::Shape {
                what: "the inputs left to the region",
                expected: region.dim(),
                got: columns.len(),
            });
        }
        let mut bounds = region.bounds().into_iter();
        let sides: Vec<Side> = sides
            .iter()
            .map(
                |side| match (side, side.is_none().then(|| bounds.next()).flatten()) {
                    (Some(side), _) => *side,
                    (None, Some((lower, upper))) => Side::Interval(lower, upper),
                    (None, None) => Side::Point(f64::NAN),
                },
            )
            .collect();
        let boxed: f64 = region.bounds().iter().map(|(a, b)| b - a).product();
        let volume = region.volume();
        self.push_sides(&sides, aggregate)?;
        let atom = self.weight.len() - 1;
        if aggregate == Aggregate::Sum {
            self.weight[atom] *= volume / boxed;
        }
        // Rows share regions, often in the order of another column.
        let key = (Arc::as_ptr(&region) as usize, columns.clone());
        let next = self.regions.len() as u32;
        let index = *self.shared.entry(key).or_insert(next);
        if index == next {
            self.regions.push(Placed::new(region, columns));
        }
        self.region[atom] = index;
        Ok(())
    }

    /// Adds `sum_j weights[j] f(points[j])`.
    ///
    /// # Errors
    /// As [`Self::push`]; also [`InputError::Range`] when every weight is zero.
    pub fn push_nodes(&mut self, points: &[Vec<f64>], weights: &[f64]) -> Result<(), InputError> {
        if points.len() != weights.len() {
            return Err(InputError::Shape {
                what: "the weights",
                expected: points.len(),
                got: weights.len(),
            });
        }
        for point in points {
            self.check_shape("the node", point.len())?;
            self.check_finite(point.iter().copied())?;
        }
        self.check_finite(weights.iter().copied())?;
        if weights.iter().all(|w| *w == 0.0) {
            return Err(InputError::Range {
                what: "the sum of absolute weights".into(),
                row: self.len(),
                value: 0.0,
                requirement: "positive; give at least one node a weight",
            });
        }
        for (point, &w) in points.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
            for (d, &v) in point.iter().enumerate() {
                self.lower[d].push(v);
                self.width[d].push(0.0);
            }
            self.weight.push(w);
            self.region.push(NO_REGION);
        }
        self.close_row();
        Ok(())
    }

    /// Adds a functional.
    ///
    /// # Errors
    /// [`InputError::Shape`] for the wrong number of dimensions, [`InputError::NotFinite`],
    /// [`InputError::ZeroWidth`] for a sum over a box without volume, [`InputError::Range`] for
    /// a volume that overflows.
    pub fn push(&mut self, functional: &Functional) -> Result<(), InputError> {
        match functional {
            Functional::Box { sides, aggregate } => self.push_sides(sides, *aggregate),
            Functional::Nodes { points, weights } => self.push_nodes(points, weights),
            Functional::Region {
                region,
                sides,
                aggregate,
            } => self.push_product(Arc::clone(region), sides, *aggregate),
        }
    }

    /// Appends all rows of `other`, whose inputs must have the same names in the same order.
    ///
    /// # Errors
    /// [`InputError::UnknownDimension`].
    pub fn extend(&mut self, other: &Self) -> Result<(), InputError> {
        if let Some(name) = self
            .dims
            .iter()
            .zip(&other.dims)
            .find_map(|(a, b)| (a != b).then_some(b))
        {
            return Err(InputError::UnknownDimension {
                name: name.clone(),
                known: self.dims.clone(),
            });
        }
        self.check_shape("the other set's inputs", other.dims.len())?;
        if self.is_empty() {
            // Shares the columns.
            *self = other.clone();
            return Ok(());
        }
        let shift = self.weight.len();
        for d in 0..self.dims.len() {
            self.lower[d].extend_from_slice(&other.lower[d]);
            self.width[d].extend_from_slice(&other.width[d]);
        }
        self.weight.extend_from_slice(&other.weight);
        let known = self.regions.len() as u32;
        self.region.extend(
            other
                .region
                .iter()
                .map(|&r| if r == NO_REGION { r } else { r + known }),
        );
        self.regions.extend(other.regions.iter().cloned());
        self.offsets
            .extend(other.offsets[1..].iter().map(|o| o + shift));
        self.unique = OnceLock::new();
        Ok(())
    }

    /// The same functionals seen as functions of the named inputs only: the others, on which the
    /// function does not depend, keep their part in the volume but lose their edges.
    ///
    /// # Errors
    /// [`InputError::UnknownDimension`].
    pub fn select(&self, dims: &[String]) -> Result<Self, InputError> {
        let mut lower = Vec::with_capacity(dims.len());
        let mut width = Vec::with_capacity(dims.len());
        let mut place = vec![None; self.dims.len()];
        for (new, name) in dims.iter().enumerate() {
            let Some(d) = self.dims.iter().position(|k| k == name) else {
                return Err(InputError::UnknownDimension {
                    name: name.clone(),
                    known: self.dims.clone(),
                });
            };
            lower.push(self.lower[d].clone());
            width.push(self.width[d].clone());
            place[d] = Some(new);
        }
        Ok(Self {
            dims: dims.to_vec(),
            lower,
            width,
            weight: self.weight.clone(),
            region: self.region.clone(),
            regions: self.regions.iter().map(|r| r.moved(&place)).collect(),
            shared: HashMap::new(),
            offsets: self.offsets.clone(),
            unique: OnceLock::new(),
        })
    }

    /// As [`Self::select`]; these themselves where the inputs are theirs, in their order.
    pub(crate) fn selected(&self, dims: &[String]) -> Result<Cow<'_, Self>, InputError> {
        match self.dims == dims {
            true => Ok(Cow::Borrowed(self)),
            false => self.select(dims).map(Cow::Owned),
        }
    }

    /// The same functionals at one coordinate of another input, which must be new and `at` finite.
    pub(crate) fn with_input(mut self, name: &str, at: f64) -> Self {
        self.dims.push(name.to_owned());
        self.lower.push(vec![at; self.weight.len()].into());
        self.width.push(vec![0.0; self.weight.len()].into());
        self.unique = OnceLock::new();
        self
    }

    /// The rows `rows`, in that order.
    ///
    /// # Panics
    /// If a row does not exist.
    #[must_use]
    pub fn rows(&self, rows: &[usize]) -> Self {
        let mut out = Self::new(self.dims.clone());
        let mut kept = HashMap::new();
        for &row in rows {
            let atoms = self.atoms(row);
            for d in 0..self.dims.len() {
                out.lower[d].extend_from_slice(&self.lower[d][atoms.clone()]);
                out.width[d].extend_from_slice(&self.width[d][atoms.clone()]);
            }
            out.weight.extend_from_slice(&self.weight[atoms.clone()]);
            for &region in &self.region[atoms] {
                out.region.push(if region == NO_REGION {
                    region
                } else {
                    *kept.entry(region).or_insert_with(|| {
                        out.regions.push(self.regions[region as usize].clone());
                        out.regions.len() as u32 - 1
                    })
                });
            }
            out.offsets.push(out.weight.len());
        }
        out
    }

    /// With points and boxes moved along a column: `to` has where every atom begins, given its
    /// number and where it did. Regions stay.
    #[must_use]
    pub(crate) fn moved(&self, column: usize, to: impl Fn(usize, f64) -> f64) -> Self {
        let mut out = self.clone();
        let ends = out.lower[column].iter_mut().enumerate();
        ends.for_each(|(atom, x)| *x = to(atom, *x));
        out.unique = OnceLock::new();
        out
    }

    fn close_row(&mut self) {
        self.offsets.push(self.weight.len());
        self.unique = OnceLock::new();
    }

    fn check_shape(&self, what: &'static str, got: usize) -> Result<(), InputError> {
        if got == self.dims.len() {
            return Ok(());
        }
        Err(InputError::Shape {
            what,
            expected: self.dims.len(),
            got,
        })
    }

    fn check_finite(&self, values: impl Iterator<Item = f64>) -> Result<(), InputError> {
        for value in values {
            if !value.is_finite() {
                return Err(InputError::NotFinite {
                    what: "the support".into(),
                    row: self.len(),
                    value,
                });
            }
        }
        Ok(())
    }
}
