//! Longitude and latitude to a plane.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::ring::Ring;
use super::ring::RingPlace;

/// Semi-major axis of the WGS84 ellipsoid, km.
const SEMI_MAJOR: f64 = 6378.137;
/// Its flattening.
const FLATTENING: f64 = 1.0 / 298.257_223_563;

/// The Lambert azimuthal equal-area projection of the WGS84 ellipsoid about a centre.
///
/// Areas are true everywhere; near the centre distances are too, and at an angle `c` from it they
/// are off by a factor of `cos(c / 2)` at most: 0.4 % at 1,100 km, 1.5 % at 2,200 km.
///
/// # Source
/// Snyder 1987, *Map projections: a working manual*, equations 3-12, 3-13, 24-17 to 24-29; the
/// latitude is found from the authalic one by Newton's method instead of the series 3-18.
///
/// # Examples
/// The example of Snyder, p. 333, has another ellipsoid; on WGS84 a degree along the equator is
/// 111.3 km:
/// ```
/// use quadrat::support::Projection;
/// let projection = Projection::equal_area(10.0, 0.0)?;
/// let [x, y] = projection.forward([11.0, 0.0])?;
/// assert!((x - 111.318).abs() < 1e-3 && y.abs() < 1e-12);
/// let [lon, lat] = projection.inverse([x, y])?;
/// assert!((lon - 11.0).abs() < 1e-12 && lat.abs() < 1e-12);
/// # Ok::<(), quadrat::support::ProjectionError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Projection {
    centre_lon: f64,
    centre_lat: f64,
    ellipsoid: Ellipsoid,
}

/// Semi-major axis and squared eccentricity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Ellipsoid {
    a: f64,
    e2: f64,
}

/// What depends on the centre only.
struct Centre {
    sin_beta: f64,
    cos_beta: f64,
    /// Radius of the sphere of the same area.
    radius: f64,
    d: f64,
    q_pole: f64,
}

impl Ellipsoid {
    /// Snyder 3-12.
    fn q(&self, sin: f64) -> f64 {
        let e = self.e2.sqrt();
        (1.0 - self.e2) * (sin / (1.0 - self.e2 * sin * sin) + (e * sin).atanh() / e)
    }
}

impl Projection {
    /// Centred on a longitude and latitude in degrees; units of the plane are km.
    ///
    /// # Errors
    /// [`ProjectionError::Range`].
    pub fn equal_area(centre_lon: f64, centre_lat: f64) -> Result<Self, ProjectionError> {
        in_range([centre_lon, centre_lat])?;
        Ok(Self {
            centre_lon,
            centre_lat,
            ellipsoid: Ellipsoid {
                a: SEMI_MAJOR,
                e2: FLATTENING * (2.0 - FLATTENING),
            },
        })
    }

    /// Centred on the middle of the bounding box of points `[lon, lat]`, longitudes continued
    /// across the antimeridian when that makes the box narrower.
    ///
    /// # Errors
    /// [`ProjectionError::Empty`]; [`ProjectionError::Range`]; [`ProjectionError::Swapped`] when
    /// latitudes exceed 90 degrees and the longitudes would do as latitudes;
    /// [`ProjectionError::TooWide`] for more than a hemisphere.
    pub fn centred_on(points: impl IntoIterator<Item = [f64; 2]>) -> Result<Self, ProjectionError> {
        let points: Vec<[f64; 2]> = points.into_iter().collect();
        let beyond = |d: usize| points.iter().any(|p| p[d].abs() > 90.0);
        if beyond(1) && !beyond(0) {
            return Err(ProjectionError::Swapped {
                lat: points.iter().map(|p| p[1]).fold(
                    0.0,
                    |a: f64, b| {
                        if b.abs() > a.abs() { b } else { a }
                    },
                ),
            });
        }
        points.iter().try_for_each(|&p| in_range(p))?;
        let span = |of: &dyn Fn(&[f64; 2]) -> f64| {
            points
                .iter()
                .map(of)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), c| {
                    (lo.min(c), hi.max(c))
                })
        };
        if points.is_empty() {
            return Err(ProjectionError::Empty);
        }
        let plain = span(&|p| wrapped(p[0]));
        let across = span(&|p| wrapped(p[0]).rem_euclid(360.0));
        let lon = if across.1 - across.0 < plain.1 - plain.0 {
            across
        } else {
            plain
        };
        let lat = span(&|p| p[1]);
        let projection = Self::equal_area(wrapped(0.5 * (lon.0 + lon.1)), 0.5 * (lat.0 + lat.1))?;
        for &[lon, lat] in &points {
            if projection.cosine([lon, lat]) < 0.0 {
                return Err(ProjectionError::TooWide { lon, lat });
            }
        }
        Ok(projection)
    }

    /// Longitude and latitude of the centre, degrees.
    #[must_use]
    pub fn centre(&self) -> [f64; 2] {
        [self.centre_lon, self.centre_lat]
    }

    fn prepared(&self) -> Centre {
        let Ellipsoid { a, e2 } = self.ellipsoid;
        let (sin, cos) = self.centre_lat.to_radians().sin_cos();
        let q_pole = self.ellipsoid.q(1.0);
        let sin_beta = (self.ellipsoid.q(sin) / q_pole).clamp(-1.0, 1.0);
        let cos_beta = ((1.0 - sin_beta) * (1.0 + sin_beta)).sqrt();
        let radius = a * (0.5 * q_pole).sqrt();
        // Snyder 24-20; at a pole both cosines vanish and D is one.
        let d = if cos_beta < 1e-9 {
            1.0
        } else {
            a * cos / ((1.0 - e2 * sin * sin).sqrt() * radius * cos_beta)
        };
        Centre {
            sin_beta,
            cos_beta,
            radius,
            d,
            q_pole,
        }
    }

    /// Cosine of the angle from the centre, on the sphere of authalic latitudes.
    fn cosine(&self, [lon, lat]: [f64; 2]) -> f64 {
        let centre = self.prepared();
        let sin = self.ellipsoid.q(lat.to_radians().sin()) / centre.q_pole;
        let cos = (1.0 - sin * sin).max(0.0).sqrt();
        let angle = (lon - self.centre_lon).to_radians();
        centre.sin_beta * sin + centre.cos_beta * cos * angle.cos()
    }

    /// `[lon, lat]` in degrees to `[x, y]` in km, east and north of the centre.
    ///
    /// # Errors
    /// [`ProjectionError::Range`] for a latitude beyond 90 or a longitude beyond 360 degrees, or
    /// one that is not finite; [`ProjectionError::TooWide`] for a point on the other hemisphere.
    pub fn forward(&self, point: [f64; 2]) -> Result<[f64; 2], ProjectionError> {
        in_range(point)?;
        let [lon, lat] = point;
        if self.cosine(point) < -1e-9 {
            return Err(ProjectionError::TooWide { lon, lat });
        }
        let c = self.prepared();
        let sin_beta = (self.ellipsoid.q(lat.to_radians().sin()) / c.q_pole).clamp(-1.0, 1.0);
        let cos_beta = ((1.0 - sin_beta) * (1.0 + sin_beta)).sqrt();
        let (sin, cos) = wrapped(lon - self.centre_lon).to_radians().sin_cos();
        // Snyder 24-17 to 24-19.
        let b =
            c.radius * (2.0 / (1.0 + c.sin_beta * sin_beta + c.cos_beta * cos_beta * cos)).sqrt();
        let x = b * c.d * cos_beta * sin;
        let y = b / c.d * (c.cos_beta * sin_beta - c.sin_beta * cos_beta * cos);
        Ok([x, y])
    }

    /// `[x, y]` in km to `[lon, lat]` in degrees, longitude between -180 and 180.
    ///
    /// # Errors
    /// [`ProjectionError::OffMap`] for a point further than the edge of the map.
    pub fn inverse(&self, [x, y]: [f64; 2]) -> Result<[f64; 2], ProjectionError> {
        let c = self.prepared();
        // Snyder 24-26 to 24-29.
        let rho = (x / c.d).hypot(c.d * y);
        if rho == 0.0 {
            return Ok([wrapped(self.centre_lon), self.centre_lat]);
        }
        let half = rho / (2.0 * c.radius);
        if half.is_nan() || half > 1.0 {
            return Err(ProjectionError::OffMap { x, y });
        }
        let (sin_ce, cos_ce) = (2.0 * half.asin()).sin_cos();
        let sin_beta = (cos_ce * c.sin_beta + c.d * y * sin_ce * c.cos_beta / rho).clamp(-1.0, 1.0);
        let lon = (x * sin_ce)
            .atan2(c.d * rho * c.cos_beta * cos_ce - c.d * c.d * y * c.sin_beta * sin_ce);
        Ok([
            wrapped(self.centre_lon + lon.to_degrees()),
            self.latitude(c.q_pole * sin_beta).to_degrees(),
        ])
    }

    /// The latitude, radians, at which `q` has a value: Snyder 3-16, Newton's method.
    fn latitude(&self, q: f64) -> f64 {
        let q_pole = self.ellipsoid.q(1.0);
        let e2 = self.ellipsoid.e2;
        if q.abs() >= q_pole {
            return std::f64::consts::FRAC_PI_2.copysign(q);
        }
        let mut lat = (q / q_pole).asin();
        for _ in 0..20 {
            let (sin, cos) = lat.sin_cos();
            let slope = 2.0 * (1.0 - e2) * cos / (1.0 - e2 * sin * sin).powi(2);
            if slope == 0.0 {
                break;
            }
            let step = (q - self.ellipsoid.q(sin)) / slope;
            lat += step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        lat
    }

    /// Parts in degrees, in the layout of [`Polygon::new`](super::Polygon::new), to parts in km.
    ///
    /// Edges are straight in longitude and latitude, as GeoJSON has them; vertices are put on long
    /// ones until the straight edges in the plane lie within `tolerance` of them. Neighbours that
    /// share an edge get the same vertices on it. Rings that cross the antimeridian by a step of
    /// more than 180 degrees of longitude are continued on the other side.
    ///
    /// # Arguments
    /// * `tolerance` - in km; about 1e-4 of the size of a polygon changes its area by less than
    ///   1e-4
    /// # Errors
    /// [`ProjectionError`]; [`ProjectionError::Pole`] for a ring that runs round a pole.
    pub fn parts(
        &self,
        parts: &[Vec<Ring>],
        tolerance: f64,
    ) -> Result<Vec<Vec<Ring>>, ProjectionError> {
        if tolerance.is_nan() || tolerance <= 0.0 {
            return Err(ProjectionError::Tolerance { tolerance });
        }
        let project = |(part, rings): (usize, &Vec<Ring>)| {
            let ring =
                |(k, ring): (usize, &Ring)| self.ring(ring, tolerance, RingPlace { part, ring: k });
            rings.iter().enumerate().map(ring).collect()
        };
        parts.iter().enumerate().map(project).collect()
    }

    fn ring(&self, ring: &Ring, tolerance: f64, place: RingPlace) -> Result<Ring, ProjectionError> {
        ring.iter().try_for_each(|&p| in_range(p))?;
        let closed = ring.len() > 1 && ring.first() == ring.last();
        let open = &ring[..ring.len() - usize::from(closed)];
        let mut out = Ring::new();
        let mut turned = 0.0;
        for (k, &a) in open.iter().enumerate() {
            let b = open[(k + 1) % open.len()];
            let step = wrapped(b[0] - a[0]);
            if step.abs() == 180.0 {
                return Err(ProjectionError::Ambiguous {
                    ring: place,
                    vertex: k,
                });
            }
            turned += step;
            let end = self.forward(a)?;
            out.push(end);
            // From the same end for both neighbours.
            let b = [a[0] + step, b[1]];
            if (b[0], b[1]) < (a[0], a[1]) {
                let mut back = Ring::new();
                self.densify([b, a], 0, tolerance, &mut back)?;
                out.extend(back.into_iter().rev());
            } else {
                self.densify([a, b], 0, tolerance, &mut out)?;
            }
        }
        if turned.abs() > 180.0 {
            return Err(ProjectionError::Pole { ring: place });
        }
        Ok(out)
    }

    /// Adds vertices strictly between the ends of an edge.
    fn densify(
        &self,
        [a, b]: [[f64; 2]; 2],
        depth: usize,
        tolerance: f64,
        out: &mut Ring,
    ) -> Result<(), ProjectionError> {
        let at = |t: f64| {
            let [lon, lat] = [0, 1].map(|d| a[d] + t * (b[d] - a[d]));
            self.forward([wrapped(lon), lat])
        };
        let (from, to) = (at(0.0)?, at(1.0)?);
        let off = |t: f64| -> Result<f64, ProjectionError> {
            let p = at(t)?;
            let straight = [0, 1].map(|d| from[d] + t * (to[d] - from[d]));
            Ok((p[0] - straight[0]).hypot(p[1] - straight[1]))
        };
        // The middle alone would miss an edge that bends both ways.
        let far = off(0.25)?.max(off(0.5)?).max(off(0.75)?);
        if far <= tolerance || depth == 20 {
            return Ok(());
        }
        let middle = [0, 1].map(|d| a[d] + 0.5 * (b[d] - a[d]));
        self.densify([a, middle], depth + 1, tolerance, out)?;
        out.push(at(0.5)?);
        self.densify([middle, b], depth + 1, tolerance, out)
    }
}

/// An angle in degrees between -180 and 180.
fn wrapped(lon: f64) -> f64 {
    if lon.abs() <= 180.0 {
        lon
    } else {
        let turned = (lon + 180.0).rem_euclid(360.0) - 180.0;
        if turned == -180.0 && lon > 0.0 {
            180.0
        } else {
            turned
        }
    }
}

fn in_range([lon, lat]: [f64; 2]) -> Result<(), ProjectionError> {
    // Not a number fails as well.
    if lon.abs() <= 360.0 && lat.abs() <= 90.0 {
        Ok(())
    } else {
        Err(ProjectionError::Range { lon, lat })
    }
}

/// Why coordinates cannot be projected.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// No points to centre on.
    #[error("there are no coordinates to centre the projection on; give at least one")]
    Empty,
    /// Not a longitude and latitude in degrees.
    #[error(
        "({lon}, {lat}) is no longitude and latitude in degrees; if the coordinates are planar already, say planar = true"
    )]
    Range {
        /// First coordinate.
        lon: f64,
        /// Second coordinate.
        lat: f64,
    },
    /// Latitude given first.
    #[error(
        "coordinates look swapped: second ones reach {lat}, which no latitude does, while the first would do; give longitude first"
    )]
    Swapped {
        /// The largest second coordinate.
        lat: f64,
    },
    /// More than a hemisphere.
    #[error(
        "({lon}, {lat}) is more than 90 degrees from the centre of the map; split the data, or project it first and say planar = true"
    )]
    TooWide {
        /// Longitude.
        lon: f64,
        /// Latitude.
        lat: f64,
    },
    /// A ring round a pole.
    #[error(
        "{ring} runs round a pole, so that its inside is not defined by longitudes and latitudes; project it first and say planar = true"
    )]
    Pole {
        /// Which.
        ring: RingPlace,
    },
    /// An edge between opposite meridians.
    #[error(
        "{ring}: the edge from vertex {} spans 180 degrees of longitude and could run either way; put a vertex on it",
        .vertex + 1
    )]
    Ambiguous {
        /// Which.
        ring: RingPlace,
        /// Start of the edge, counted from 0.
        vertex: usize,
    },
    /// A point of the plane that is no place on earth.
    #[error("({x}, {y}) km is outside the map; give a point nearer to the centre")]
    OffMap {
        /// East.
        x: f64,
        /// North.
        y: f64,
    },
    /// A tolerance that cannot be reached.
    #[error("the tolerance of projected edges is {tolerance} km; it must be positive")]
    Tolerance {
        /// As given.
        tolerance: f64,
    },
}

#[cfg(test)]
#[path = "projection_tests.rs"]
mod tests;
