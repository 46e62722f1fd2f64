//! Polygons as Python hands them over, WKB, and longitudes and latitudes on a map.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyByteArray;
use quadrat::support::{Polygon, Region, Ring, Side};
use quadrat_study::geo_file::wkb::{WkbError, parts};
use quadrat_study::geographic::{
    Geographic, SAVED_AS, are_degrees, continue_over_antimeridian, goes_round,
};

use crate::buffers::bytes;
use crate::errors::{Failure, Outcome};
use crate::work;

/// The rings of a region: its parts, exteriors first.
pub type Parts = Vec<Vec<Ring>>;

/// The parts of every region of a column of WKB.
///
/// # Errors
/// What is wrong with the bytes of the first that is none, with its row.
pub fn read(column: &[PyBackedBytes]) -> Outcome<Vec<Parts>> {
    let one = |(row, bytes): (usize, &PyBackedBytes)| {
        parts(bytes).map_err(|error| {
            Failure::Data(match error {
                WkbError::Type { .. } => format!("region {row} {error}"),
                _ => format!("region {row}: {error}"),
            })
        })
    };
    column.iter().enumerate().map(one).collect()
}

/// A polygon of some row, mended where that is safe.
pub fn polygon(row: usize, parts: Parts) -> Outcome<Polygon> {
    let made = Polygon::mended(parts);
    made.map(|(polygon, _)| polygon)
        .map_err(|error| Failure::Data(format!("region {row}: {error}")))
}

/// The same in longitudes and latitudes, as the program reads them.
fn in_degrees(row: usize, mut parts: Parts) -> Outcome<Polygon> {
    for ring in parts.iter_mut().flatten() {
        if let Some(what) = goes_round(ring) {
            return Err(Failure::Data(format!(
                "region {row} goes round {what}, so that longitude and latitude do not tell its inside; split it along meridians into parts less than 180 degrees wide, or project it"
            )));
        }
        continue_over_antimeridian(ring);
    }
    let polygon = polygon(row, parts)?;
    let [x, y] = polygon.bounds();
    match are_degrees([x, y]) {
        true => Ok(polygon),
        false => Err(Failure::Data(format!(
            "region {row} spans {} to {} and {} to {}, which are no longitudes and latitudes; longitude comes first, and planar=True takes numbers as they are",
            x.0, x.1, y.0, y.1
        ))),
    }
}

/// Rings of vertices, by part, of one region in WKB: for pictures.
#[pyfunction]
pub fn wkb_rings(py: Python<'_>, geometry: PyBackedBytes) -> PyResult<Parts> {
    let found = read(&[geometry]).map_err(|failure| failure.raise(py))?;
    Ok(found.into_iter().flatten().collect())
}

/// Left, lower, right and upper ends of every region; nan of one without vertices.
#[pyfunction]
pub fn wkb_bounds<'py>(
    py: Python<'py>,
    geometries: Vec<PyBackedBytes>,
) -> PyResult<Vec<Bound<'py, PyByteArray>>> {
    let ends = work::run(py, move || {
        let found = read(&geometries)?;
        let end = |axis: usize, pick: fn(f64, f64) -> f64| -> Vec<f64> {
            let of = |parts: &Parts| {
                let vertices = parts.iter().flatten().flatten();
                vertices.map(|at| at[axis]).fold(f64::NAN, pick)
            };
            found.iter().map(of).collect()
        };
        Ok([
            end(0, f64::min),
            end(1, f64::min),
            end(0, f64::max),
            end(1, f64::max),
        ])
    })?;
    ends.iter().map(|own| bytes(py, own)).collect()
}

/// Where longitudes and latitudes lie in kilometres: one map for everything about a model.
#[pyclass(frozen, module = "quadrat._quadrat")]
pub struct GeographicMap {
    pub map: Geographic,
}

#[pymethods]
impl GeographicMap {
    /// Centred on observed regions in degrees.
    #[staticmethod]
    fn about(
        py: Python<'_>,
        dims: [String; 2],
        geometries: Vec<Vec<PyBackedBytes>>,
    ) -> PyResult<Self> {
        let map = work::run(py, move || {
            let mut polygons = Vec::new();
            for table in &geometries {
                for (row, parts) in read(table)?.into_iter().enumerate() {
                    polygons.push(in_degrees(row, parts)?);
                }
            }
            Geographic::about(dims, &polygons).map_err(|error| {
                Failure::Data(format!("these regions cannot be put on one map: {error}"))
            })
        })?;
        Ok(Self { map })
    }

    /// What [`Self::of_note`] reads.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let (_, note) = self.note().map_err(|failure| failure.raise(py))?;
        Ok((py.get_type::<Self>().getattr("of_note")?, (note,)))
    }

    /// A map again from what a model remembers of it.
    #[staticmethod]
    #[pyo3(name = "of_note")]
    fn again(py: Python<'_>, note: &str) -> PyResult<Self> {
        Self::of_note(note).map_err(|failure| failure.raise(py))
    }

    /// The names of longitude and latitude.
    #[getter]
    fn dims(&self) -> [String; 2] {
        self.map.dims.clone()
    }
}

impl GeographicMap {
    /// What a model remembers of its map.
    pub fn note(&self) -> Outcome<(&'static str, String)> {
        let note = self.map.to_note();
        let note = note.map_err(|error| Failure::Data(error.to_string()))?;
        Ok((SAVED_AS, note))
    }

    /// A map from what a model remembers of it.
    pub fn of_note(note: &str) -> Outcome<Self> {
        let map = Geographic::from_note(note);
        let map = map.map_err(|error| Failure::Data(format!("the map of the model: {error}")))?;
        Ok(Self { map })
    }

    /// Where longitude and latitude are among some inputs.
    ///
    /// # Errors
    /// For one of them alone: they are projected together.
    pub fn pair(&self, dims: &[String]) -> Outcome<Option<[usize; 2]>> {
        let at = |name: &String| dims.iter().position(|dim| dim == name);
        let [lon, lat] = &self.map.dims;
        match (at(lon), at(lat)) {
            (Some(lon), Some(lat)) => Ok(Some([lon, lat])),
            (None, None) => Ok(None),
            _ => Err(Failure::Data(format!(
                "{lon} and {lat} are longitude and latitude of this model, and are projected together; give both"
            ))),
        }
    }

    /// Columns of points, projected.
    pub fn points(&self, dims: &[String], columns: &mut [Vec<f64>]) -> Outcome<()> {
        let Some([lon, lat]) = self.pair(dims)? else {
            return Ok(());
        };
        for row in 0..columns[lon].len().min(columns[lat].len()) {
            let place = self.place(row, columns[lon][row], columns[lat][row])?;
            (columns[lon][row], columns[lat][row]) = (place[0], place[1]);
        }
        Ok(())
    }

    fn place(&self, row: usize, lon: f64, lat: f64) -> Outcome<[f64; 2]> {
        self.map.place(lon, lat).map_err(|fact| {
            Failure::Data(format!(
                "row {row}: {fact}; regions of this model are in longitude and latitude, so its points and boxes must be too"
            ))
        })
    }

    /// A region in degrees.
    pub fn region(&self, row: usize, parts: Parts) -> Outcome<Region> {
        let polygon = self.map.polygon(&in_degrees(row, parts)?);
        let polygon = polygon
            .map_err(|error| Failure::Data(format!("region {row} cannot be projected: {error}")))?;
        Ok(polygon.into())
    }

    /// Sides of a row, of which those along longitude and latitude become a point of the map, or
    /// come apart as the region that their box is there.
    pub fn sides(
        &self,
        row: usize,
        [lon, lat]: [usize; 2],
        sides: &mut [Option<Side>],
    ) -> Outcome<Option<Region>> {
        match (sides[lon], sides[lat]) {
            (Some(Side::Point(east)), Some(Side::Point(north))) => {
                let [x, y] = self.place(row, east, north)?;
                (sides[lon], sides[lat]) = (Some(Side::Point(x)), Some(Side::Point(y)));
                Ok(None)
            }
            (Some(Side::Interval(west, east)), Some(Side::Interval(south, north))) => {
                self.place(row, west, south)?;
                self.place(row, east, north)?;
                let (lon_ends, lat_ends) = (
                    (west.min(east), west.max(east)),
                    (south.min(north), south.max(north)),
                );
                let cell = self.map.cell(lon_ends, lat_ends).map_err(|error| {
                    Failure::Data(format!(
                        "row {row}: its box of longitude and latitude has no area: {error}"
                    ))
                })?;
                (sides[lon], sides[lat]) = (None, None);
                Ok(Some(cell.into()))
            }
            _ => {
                let [lon, lat] = &self.map.dims;
                Err(Failure::Data(format!(
                    "{lon} and {lat} are longitude and latitude of this model; give both as points or both as boxes"
                )))
            }
        }
    }
}
