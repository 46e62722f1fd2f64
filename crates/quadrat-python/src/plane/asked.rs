//! What is asked of densities of two columns.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use quadrat::density::{Conditional, ConditionalEstimate, Density2d, Estimate2d};
use quadrat::progress::Progress;
use quadrat::support::Polygon;

use crate::buffers::Numbers;
use crate::density::Names;
use crate::errors::{Failure, Outcome};
use crate::geometry::{polygon, read};

/// Ends of the two columns, open ones infinite.
type Pair = [(f64, f64); 2];

/// Polygons as Python has them: WKB.
type Regions = Vec<PyBackedBytes>;

/// What is asked of a density of two columns: values, boxes of rows, or areas, of
/// which the boxes around them are then given beside.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked2d {
    x: Numbers,
    y: Numbers,
    x_upper: Option<Numbers>,
    y_upper: Option<Numbers>,
    weights: Option<Numbers>,
    areas: Option<Regions>,
    inside: Option<Regions>,
    bounds: Option<Pair>,
    range: [Option<(f64, f64)>; 2],
    cells: (usize, usize),
    log: (bool, bool),
    level: f64,
    draws: usize,
    seed: u64,
}

/// What is asked of densities given another column.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct AskedGiven {
    given: Numbers,
    values: Numbers,
    weights: Option<Numbers>,
    bounds: (f64, f64),
    range: Option<(f64, f64)>,
    given_range: Option<(f64, f64)>,
    cells: Option<(usize, usize)>,
    log: (bool, bool),
    level: f64,
    draws: usize,
    seed: u64,
}

impl Asked2d {
    /// The answer.
    pub fn found(&self, progress: &dyn Progress) -> Outcome<Estimate2d> {
        let inside = polygons("inside", self.inside.as_ref())?;
        let areas = polygons("areas", self.areas.as_ref())?;
        let (x, y) = (&self.x.0, &self.y.0);
        let weights = self.weights.as_ref().map(|Numbers(weights)| weights);
        let mut asked = match (&self.x_upper, &self.y_upper, weights) {
            (None, None, None) => Density2d::new(x, y),
            (None, None, Some(weights)) => Density2d::new(x, y).weights(weights),
            (Some(x_upper), Some(y_upper), Some(count)) => match &areas {
                Some(areas) => Density2d::from_areas(areas, count),
                None => Density2d::from_bins([x, &x_upper.0], [y, &y_upper.0], count),
            },
            _ => {
                return Err(Failure::Data(
                    "give both ends of x and y, and a count".to_owned(),
                ));
            }
        };
        if let Some(inside) = &inside {
            asked = asked.inside(inside);
        }
        if let Some([x, y]) = self.bounds {
            asked = asked.bounds(x, y);
        }
        let [x, y] = self.range;
        let asked = asked
            .progress(progress)
            .range(x, y)
            .cells(self.cells.0, self.cells.1)
            .log(self.log.0, self.log.1)
            .level(self.level)
            .draws(self.draws)
            .seed(self.seed);
        let names = Names {
            values: match &areas {
                Some(_) => &["areas"],
                None => &["x", "y"],
            },
            weights: match &self.x_upper {
                Some(_) => "count",
                None => "weights",
            },
            // Areas are what holds all, where nothing else is said to.
            polygons: match (&areas, &inside) {
                (Some(_), None) => "areas",
                _ => "inside",
            },
            ranges: &["range of x", "range of y"],
        };
        let found = asked.estimate();
        found.map_err(|error| names.refused(&error))
    }
}

/// The polygons of an argument.
fn polygons(argument: &str, regions: Option<&Regions>) -> Outcome<Option<Vec<Polygon>>> {
    let Some(all) = regions else {
        return Ok(None);
    };
    let named = |failure: Failure| match failure {
        Failure::Data(message) => Failure::Data(format!("{argument}: {message}")),
        other => other,
    };
    let found = read(all).map_err(named)?.into_iter().enumerate();
    let made = found.map(|(row, parts)| polygon(row, parts).map_err(named));
    made.collect::<Outcome<Vec<Polygon>>>().map(Some)
}

impl AskedGiven {
    /// The answer.
    pub fn found(&self, progress: &dyn Progress) -> Outcome<ConditionalEstimate> {
        let mut asked = Conditional::new(&self.given.0, &self.values.0)
            .progress(progress)
            .bounds(self.bounds.0, self.bounds.1)
            .log(self.log.0, self.log.1)
            .level(self.level)
            .draws(self.draws)
            .seed(self.seed);
        if let Some(weights) = &self.weights {
            asked = asked.weights(&weights.0);
        }
        if let Some((lower, upper)) = self.range {
            asked = asked.range(lower, upper);
        }
        if let Some((lower, upper)) = self.given_range {
            asked = asked.given_range(lower, upper);
        }
        if let Some((given, values)) = self.cells {
            asked = asked.cells(given, values);
        }
        let names = Names {
            values: &["given", "y"],
            weights: "weights",
            polygons: "inside",
            ranges: &["given_range", "range"],
        };
        let found = asked.estimate();
        found.map_err(|error| names.refused(&error))
    }
}
