//! Which observed rows supports are parts of.

use std::collections::HashSet;

use super::mixture::Posterior;
use crate::error::InputError;
use crate::problem::outputs::restrict;
use crate::problem::sparse::is_point;
use crate::support::{Functionals, Region};

/// Rounding of edges, as a part of the width of a row.
const ROUNDING: f64 = 1e-9;
/// Pairs of supports and rows that are compared at most.
const PAIRS: usize = 100_000_000;

/// A support that lies within an observed row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Which table, in the order in which they were observed.
    pub table: usize,
    /// Which row of it.
    pub row: usize,
    /// Its share of the volume of the row, or of the points of a bag; zero for a point in a box or
    /// region.
    pub share: f64,
}

impl Posterior {
    /// For every support the first observed row that it is a part of, where there is one.
    ///
    /// A support is a part of a box that contains it, of a polygon that contains its middle, and of
    /// a bag that has all of its points.
    ///
    /// # Arguments
    /// * `at` - supports as [`Self::predict`] takes them
    ///
    /// # Returns
    /// One entry per support; all are `None` where more than 1e8 pairs would have to be compared.
    ///
    /// # Errors
    /// [`InputError::UnknownDimension`] for a missing input.
    ///
    /// # Examples
    /// ```
    /// use quadrat::kernel::Kernel;
    /// use quadrat::model::{FitOptions, Model, Noise, Observations};
    /// use quadrat::support::{Aggregate, Functionals};
    ///
    /// let bands = Functionals::intervals("age", &[(0.0, 10.0), (10.0, 20.0)], Aggregate::Sum)?;
    /// let table = Observations::gaussian(bands, vec![3.0, 1.0], Noise::Known(vec![0.1; 2]))?;
    /// let posterior = Model::new(Kernel::se(["age"])).observe(table).fit(&FitOptions::default())?;
    /// let at = Functionals::intervals("age", &[(10.0, 15.0), (5.0, 15.0)], Aggregate::Sum)?;
    /// let parts = posterior.parts(&at)?;
    /// assert!(parts[0].is_some_and(|part| part.row == 1 && part.share == 0.5));
    /// assert!(parts[1].is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parts(&self, at: &Functionals) -> Result<Vec<Option<Part>>, InputError> {
        let at = self.place(at)?;
        let tables = restrict(self.problem.kernel(), &self.tables)?;
        let rows: usize = tables.iter().map(|table| table.supports().len()).sum();
        let mut out = vec![None; at.len()];
        if rows.saturating_mul(at.len()) > PAIRS {
            return Ok(out);
        }
        for (table, observed) in tables.iter().enumerate() {
            let set = observed.supports();
            for row in (0..set.len()).filter(|row| !set.is_point(*row)) {
                let whole = Whole::new(set, row);
                for (asked, found) in out.iter_mut().enumerate().filter(|(_, f)| f.is_none()) {
                    let share = whole.share(&at, asked);
                    *found = share.map(|share| Part { table, row, share });
                }
            }
        }
        Ok(out)
    }
}

/// An observed row.
struct Whole<'a> {
    set: &'a Functionals,
    row: usize,
    /// Smallest and largest coordinates, with some rounding.
    extent: Vec<(f64, f64)>,
    /// Of a bag, by the bits of its coordinates.
    points: Option<HashSet<Vec<u64>>>,
}

impl<'a> Whole<'a> {
    fn new(set: &'a Functionals, row: usize) -> Self {
        let wider = |d: usize| {
            let (low, high) = set.extent(row, d);
            let more = ROUNDING * (high - low);
            (low - more, high + more)
        };
        let is_bag = set.atoms(row).all(|atom| is_point(set, atom));
        Self {
            extent: (0..set.dims().len()).map(wider).collect(),
            points: is_bag.then(|| set.atoms(row).map(|atom| bits(set, atom)).collect()),
            set,
            row,
        }
    }

    /// The share of it that a support is, where it is a part.
    fn share(&self, at: &Functionals, asked: usize) -> Option<f64> {
        let mut extents = self.extent.iter().enumerate();
        let is_near = extents.all(|(d, (low, high))| {
            let (from, to) = at.extent(asked, d);
            *low <= from && to <= *high
        });
        let atoms = at.atoms(asked);
        if !is_near || atoms.is_empty() {
            return None;
        }
        if let Some(points) = &self.points {
            let mut all = atoms.clone();
            let has_all = all.all(|a| is_point(at, a) && points.contains(&bits(at, a)));
            return has_all.then(|| atoms.len() as f64 / points.len() as f64);
        }
        let own = self.set.atoms(self.row);
        let is_inside = |a: usize| own.clone().any(|of| holds(self.set, of, at, a));
        let of_all = |set: &Functionals, atoms: std::ops::Range<usize>| -> f64 {
            atoms.map(|atom| volume(set, atom)).sum()
        };
        let mut all = atoms.clone();
        all.all(is_inside)
            .then(|| of_all(at, atoms) / of_all(self.set, own))
    }
}

fn bits(set: &Functionals, atom: usize) -> Vec<u64> {
    let along = |d: usize| (set.lower(d)[atom] + 0.0).to_bits();
    (0..set.dims().len()).map(along).collect()
}

/// Whether the region of an atom, where it has one, holds the middle of another.
fn holds(set: &Functionals, atom: usize, at: &Functionals, asked: usize) -> bool {
    let Some(placed) = set.region(atom).map(|region| &set.regions()[region]) else {
        return true;
    };
    match (&*placed.region, placed.columns.as_slice()) {
        (Region::Polygon(polygon), [Some(x), Some(y)]) => {
            polygon.contains(middle(at, asked, [*x, *y]))
        }
        _ => true,
    }
}

/// The middle of an atom along two columns: of a polygon its centre of mass.
fn middle(at: &Functionals, atom: usize, columns: [usize; 2]) -> [f64; 2] {
    if let Some(placed) = at.region(atom).map(|region| &at.regions()[region])
        && let Region::Polygon(polygon) = &*placed.region
        && placed.columns == columns.map(Some)
    {
        return polygon.centroid();
    }
    columns.map(|d| at.lower(d)[atom] + 0.5 * at.width(d)[atom])
}

/// The volume along everything that has a width; zero for a point.
fn volume(set: &Functionals, atom: usize) -> f64 {
    let placed = set.region(atom).map(|region| &set.regions()[region]);
    let is_own = |d: &usize| placed.is_none_or(|placed| !placed.columns.contains(&Some(*d)));
    let widths = (0..set.dims().len()).filter(is_own);
    let widths: Vec<f64> = widths.map(|d| set.width(d)[atom]).collect();
    let wide = widths.iter().filter(|width| **width > 0.0);
    let region = placed.map(|placed| placed.region.volume());
    match (region, widths.iter().all(|width| *width == 0.0)) {
        (None, true) => 0.0,
        (region, _) => region.unwrap_or(1.0) * wide.product::<f64>(),
    }
}
