//! Longitude and latitude: one projection for everything a study says about them.

use quadrat::support::{Polygon, Projection, ProjectionError, Ring};
use serde::{Deserialize, Serialize};

/// The name under which a saved model remembers its projection.
pub const SAVED_AS: &str = "geographic";

/// Length of a degree of latitude, km, to two digits.
const DEGREE: f64 = 111.0;

/// Two dimensions that are longitude and latitude in files and kilometres in the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Geographic {
    /// Longitude and latitude, as the kernel names them.
    pub dims: [String; 2],
    projection: Projection,
    /// How far straight edges on the map may be off those of the file, km.
    tolerance: f64,
}

impl Geographic {
    /// Centred on polygons in degrees.
    pub fn about(dims: [String; 2], polygons: &[Polygon]) -> Result<Self, ProjectionError> {
        let vertices = polygons.iter().flat_map(Polygon::rings).flatten().copied();
        let projection = Projection::centred_on(vertices)?;
        let size = |polygon: &Polygon| {
            let [_, (south, north)] = polygon.bounds();
            let across = (0.5 * (south + north)).to_radians().cos();
            DEGREE * (polygon.area() * across.max(0.0)).sqrt()
        };
        let smallest = polygons.iter().map(size).fold(f64::INFINITY, f64::min);
        Ok(Self {
            dims,
            projection,
            // Areas are right to 1e-4, and a metre is enough.
            tolerance: (1e-4 * smallest).clamp(1e-3, 1.0),
        })
    }

    /// A place in km, east and north of the centre.
    pub fn point(&self, lon: f64, lat: f64) -> Result<[f64; 2], ProjectionError> {
        self.projection.forward([lon, lat])
    }

    /// A place in degrees from one in km.
    pub fn degrees(&self, place: [f64; 2]) -> Result<[f64; 2], ProjectionError> {
        self.projection.inverse(place)
    }

    /// As [`Self::point`], of numbers that may be no degrees; the error is the fact.
    pub fn place(&self, lon: f64, lat: f64) -> Result<[f64; 2], String> {
        check_degrees(lon, lat).map_err(|(fact, _)| fact)?;
        self.point(lon, lat).map_err(|error| error.to_string())
    }

    /// A polygon in degrees as one in km.
    pub fn polygon(&self, polygon: &Polygon) -> Result<Polygon, String> {
        let parts = self.projection.parts(&parts_of(polygon), self.tolerance);
        let parts = parts.map_err(|error| error.to_string())?;
        // Rings that touch in degrees may overlap by rounding.
        let mended = Polygon::mended(parts).map_err(|error| error.to_string())?;
        Ok(mended.0)
    }

    /// The cell between two meridians and two circles of latitude, as a polygon in km.
    pub fn cell(&self, lon: (f64, f64), lat: (f64, f64)) -> Result<Polygon, String> {
        let cell = Polygon::rectangle(lon, lat).map_err(|error| error.to_string())?;
        self.polygon(&cell)
    }

    /// What a saved model remembers.
    pub fn to_note(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// What a saved model remembered.
    pub fn from_note(note: &str) -> serde_json::Result<Self> {
        serde_json::from_str(note)
    }

    /// The projection in words.
    pub fn words(&self) -> String {
        let [lon, lat] = &self.dims;
        let [centre_lon, centre_lat] = self.projection.centre();
        format!(
            "`{lon}` and `{lat}` are longitude and latitude, projected to kilometres (azimuthal equal-area about {}, {}); lengthscales are in km, densities per km²",
            sided(centre_lon, "E", "W"),
            sided(centre_lat, "N", "S")
        )
    }
}

fn sided(value: f64, positive: &str, negative: &str) -> String {
    let side = if value < 0.0 { negative } else { positive };
    format!("{:.2}° {side}", value.abs())
}

/// The ranges of a polygon's two coordinates.
pub type Bounds = [(f64, f64); 2];

/// Whether a range reaches no further than so much on both sides of zero.
#[must_use]
pub fn within(range: (f64, f64), most: f64) -> bool {
    range.0 >= -most && range.1 <= most
}

/// Whether the coordinates of a polygon can be longitudes and latitudes.
#[must_use]
pub fn are_degrees([x, y]: Bounds) -> bool {
    within(x, 360.0) && within(y, 90.0)
}

/// A longitude and latitude of a table; the error is the fact and which of them is at fault.
pub fn check_degrees(lon: f64, lat: f64) -> Result<(), (String, usize)> {
    if !(-180.0..=360.0).contains(&lon) {
        Err((
            format!("{lon} is no longitude between -180 and 180 (or 360)"),
            0,
        ))
    } else if !(-90.0..=90.0).contains(&lat) {
        Err((format!("{lat} is no latitude between -90 and 90"), 1))
    } else {
        Ok(())
    }
}

/// What a ring goes round: a pole, or all longitudes and back, which leaves no area when every edge
/// takes the short way.
#[must_use]
pub fn goes_round(ring: &Ring) -> Option<&'static str> {
    // Other numbers are no degrees, which is said later.
    let degrees = |v: &[f64; 2]| are_degrees([(v[0], v[0]), (v[1], v[1])]);
    if ring.len() < 3 || !ring.iter().all(degrees) {
        return None;
    }
    let next = ring.iter().cycle().skip(1);
    let (mut turned, mut west, mut east, mut whole): (f64, f64, f64, bool) = (0.0, 0.0, 0.0, false);
    for (a, b) in ring.iter().zip(next) {
        let step = b[0] - a[0];
        let turns = (step / 360.0).round();
        // Half a turn is left as it is: it may run either way, which is said later.
        let short = if step.abs() == 180.0 {
            step
        } else {
            step - 360.0 * turns
        };
        whole |= short == 0.0 && step != 0.0;
        turned += short;
        (west, east) = (west.min(turned), east.max(turned));
    }
    if turned.abs() > 180.0 {
        Some("a pole")
    } else if whole && west == east {
        Some("all longitudes")
    } else {
        None
    }
}

/// Continues a ring beyond 180 degrees, so that no edge spans more than half of the globe.
pub fn continue_over_antimeridian(ring: &mut Ring) {
    let crosses = ring
        .windows(2)
        .any(|edge| (edge[1][0] - edge[0][0]).abs() > 180.0);
    for vertex in ring.iter_mut().filter(|vertex| crosses && vertex[0] < 0.0) {
        vertex[0] += 360.0;
    }
}

/// A polygon as parts: every exterior, which runs anticlockwise, followed by its holes.
pub fn parts_of(polygon: &Polygon) -> Vec<Vec<Ring>> {
    let mut parts: Vec<Vec<Ring>> = Vec::new();
    for ring in polygon.rings() {
        let next = ring.iter().cycle().skip(1);
        // About the first vertex, so that far origins do no harm; minus twice the area.
        let turned: f64 = ring
            .iter()
            .zip(next)
            .map(|(a, b)| (b[0] - a[0]) * (b[1] - ring[0][1] + a[1] - ring[0][1]))
            .sum();
        match parts.last_mut() {
            Some(part) if turned > 0.0 => part.push(ring.clone()),
            _ => parts.push(vec![ring.clone()]),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64, y: f64, side: f64) -> Ring {
        vec![[x, y], [x + side, y], [x + side, y + side], [x, y + side]]
    }

    #[test]
    fn holes_stay_with_their_exterior() {
        let polygon = Polygon::new(vec![
            vec![square(0.0, 5.0, 4.0), square(1.0, 6.0, 1.0)],
            vec![square(9.0, 5.0, 1.0)],
        ])
        .unwrap();
        let parts = parts_of(&polygon);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(Polygon::new(parts).unwrap(), polygon);
    }

    #[test]
    fn a_degree_is_about_111_km_and_a_note_brings_the_same_map_back() {
        let polygon = Polygon::new(vec![vec![square(10.0, 0.0, 1.0)]]).unwrap();
        let dims = ["lon".to_owned(), "lat".to_owned()];
        let geographic = Geographic::about(dims, std::slice::from_ref(&polygon)).unwrap();
        // 111.3 by 110.6 km on the ellipsoid at the equator.
        let area = geographic.polygon(&polygon).unwrap().area();
        assert!((area / (111.3 * 110.6) - 1.0).abs() < 2e-3, "{area}");
        let again = Geographic::from_note(&geographic.to_note().unwrap()).unwrap();
        assert_eq!(again, geographic);
        assert!(geographic.words().contains("10.50° E, 0.50° N"));
    }
}
