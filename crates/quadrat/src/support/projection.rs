//! Longitude and latitude to a plane.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::polygon::Ring;
use super::region::RingPlace;

/// Semi-major axis of the WGS84 ellipsoid, km.
const SEMI_MAJOR: f64 = 6378.137;
/// Its flattening.
const FLATTENING: f64 = 1.0 / 298.257_223_563;

/// The Lambert azimuthal equal-area projection of the WGS84 ellipsoid about a centre.
///
/// Areas are true everywhere; near the centre distances are too, and at an angle `c` from it they are
/// off by a factor of `cos(c / 2)` at most: 0.4 % at 1,100 km, 1.5 % at 2,200 km.
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

    /// Centred on the middle of the bounding box of points `[lon, lat]`, longitudes continued across
    /// the antimeridian when that makes the box narrower.
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
    /// [`ProjectionError::Range`] for a latitude beyond 90 or a longitude beyond 360 degrees, or one
    /// that is not finite; [`ProjectionError::TooWide`] for a point on the other hemisphere.
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
    /// Edges are straight in longitude and latitude, as GeoJSON has them; vertices are put on long ones
    /// until the straight edges in the plane lie within `tolerance` of them. Neighbours that share an
    /// edge get the same vertices on it. Rings that cross the antimeridian by a step of more than 180
    /// degrees of longitude are continued on the other side.
    ///
    /// # Arguments
    /// * `tolerance` - in km; about 1e-4 of the size of a polygon changes its area by less than 1e-4
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
mod tests {
    use super::*;
    use crate::support::Polygon;
    use crate::support::mend::tests::features;
    use geo::{Coord, GeodesicArea, LineString};

    fn with(lon: f64, lat: f64, a: f64, e2: f64) -> Projection {
        let mut projection = Projection::equal_area(lon, lat).unwrap();
        projection.ellipsoid = Ellipsoid { a, e2 };
        projection
    }

    #[test]
    fn published_points() {
        // Snyder 1987, p. 333: Clarke 1866, oblique; printed to a decimetre.
        let snyder = with(-100.0, 40.0, 6378.2064, 0.006_768_66);
        let [x, y] = snyder.forward([-110.0, 30.0]).unwrap();
        assert!(
            (x + 965.9321).abs() < 1e-4 && (y + 1056.8149).abs() < 1e-4,
            "{x} {y}"
        );
        // GRS 80. EPSG guidance note 7-2, EPSG:3035, printed to a centimetre.
        let f = 1.0 / 298.257_222_101;
        let grs80 = |lon, lat| with(lon, lat, SEMI_MAJOR, f * (2.0 - f));
        let [x, y] = grs80(10.0, 52.0).forward([5.0, 50.0]).unwrap();
        assert!((x - (3_962.799_45 - 4_321.0)).abs() < 1e-5, "{x}");
        assert!((y - (2_999.718_85 - 3_210.0)).abs() < 1e-5, "{y}");
        // PROJ 9, test/gie/builtins.gie, laea at the origin.
        let [x, y] = grs80(0.0, 0.0).forward([2.0, 1.0]).unwrap();
        assert!((x - 222.602_471_450_095).abs() < 1e-9, "{x}");
        assert!((y - 110.589_827_224_410).abs() < 1e-9, "{y}");
    }

    #[test]
    fn inverse_undoes_forward() {
        for (lon0, lat0) in [
            (0.0, 0.0),
            (-100.0, 40.0),
            (179.0, -60.0),
            (20.0, 90.0),
            (5.0, -90.0),
        ] {
            let projection = Projection::equal_area(lon0, lat0).unwrap();
            let mut seen = 0;
            for lon in (-175..180).step_by(10) {
                for lat in (-89..90).step_by(4) {
                    let p = [f64::from(lon), f64::from(lat)];
                    let Ok(xy) = projection.forward(p) else {
                        assert!(projection.cosine(p) < 0.0);
                        continue;
                    };
                    seen += 1;
                    let back = projection.inverse(xy).unwrap();
                    // A longitude is worth less near the poles.
                    let off = wrapped(back[0] - p[0]) * p[1].to_radians().cos();
                    assert!(
                        off.abs() < 1e-9 && (back[1] - p[1]).abs() < 1e-9,
                        "{p:?} {back:?}"
                    );
                }
            }
            assert!(seen > 700, "{seen}");
            assert_eq!(projection.inverse([0.0, 0.0]).unwrap(), [lon0, lat0]);
        }
        let projection = Projection::equal_area(0.0, 0.0).unwrap();
        assert!(matches!(
            projection.inverse([2e4, 0.0]),
            Err(ProjectionError::OffMap { .. })
        ));
        let text = serde_json::to_string(&projection).unwrap();
        assert_eq!(
            serde_json::from_str::<Projection>(&text).unwrap(),
            projection
        );
    }

    /// Area on the ellipsoid, km^2, of a ring whose edges are straight in degrees.
    fn geodesic_area(parts: &[Vec<Ring>]) -> f64 {
        let fine = |ring: &Ring| -> LineString {
            let pairs = ring.iter().zip(ring.iter().cycle().skip(1));
            pairs
                .flat_map(|(a, b)| {
                    (0..64).map(move |k| {
                        let t = f64::from(k) / 64.0;
                        Coord {
                            x: a[0] + t * (b[0] - a[0]),
                            y: a[1] + t * (b[1] - a[1]),
                        }
                    })
                })
                .collect()
        };
        let of = |ring: &Ring| {
            // Signed, since a clockwise ring is taken to bound the rest of the earth.
            geo::Polygon::new(fine(ring), vec![])
                .geodesic_area_signed()
                .abs()
        };
        let part = |p: &Vec<Ring>| 2.0 * of(&p[0]) - p.iter().map(of).sum::<f64>();
        parts.iter().map(part).sum::<f64>() / 1e6
    }

    #[test]
    fn areas_are_those_on_the_ellipsoid() {
        let Some(features) = features("nc_sids") else {
            return;
        };
        let all = features.iter().flatten().flatten().flatten().copied();
        let projection = Projection::centred_on(all).unwrap();
        let mut worst = [0.0f64; 2];
        for (k, parts) in features.iter().enumerate() {
            let want = geodesic_area(parts);
            for (t, tolerance) in [1e-6, 1e-2].into_iter().enumerate() {
                let planar = projection.parts(parts, tolerance).unwrap();
                let got = Polygon::new(planar).unwrap().area();
                worst[t] = worst[t].max((got / want - 1.0).abs());
                assert!(
                    (got / want - 1.0).abs() < [1e-6, 1e-3][t],
                    "{k}: {got} {want}"
                );
            }
        }
        println!("largest relative errors of areas: {worst:?}");
    }

    #[test]
    fn a_cell_of_the_globe_has_its_area() {
        // 60 degrees of longitude, half of the height of the sphere of the same area.
        let cell = vec![vec![vec![
            [170.0, 0.0],
            [-130.0, 0.0],
            [-130.0, 90.0],
            [170.0, 90.0],
        ]]];
        let projection = Projection::centred_on(cell[0][0].iter().copied()).unwrap();
        assert_eq!(projection.centre(), [-160.0, 45.0]);
        let q = projection.ellipsoid.q(1.0);
        let want = std::f64::consts::PI / 6.0 * SEMI_MAJOR * SEMI_MAJOR * q;
        for tolerance in [1.0, 1e-3] {
            let planar = projection.parts(&cell, tolerance).unwrap();
            let got = Polygon::mended(planar).unwrap().0.area();
            // Sagittas of at most the tolerance along 3e4 km.
            assert!((got - want).abs() < 3e4 * tolerance, "{got} {want}");
        }
    }

    #[test]
    fn neighbours_share_the_vertices_of_their_border() {
        let west = vec![vec![vec![
            [0.0, 40.0],
            [8.0, 47.0],
            [9.0, 60.0],
            [0.0, 61.0],
        ]]];
        let east = vec![vec![vec![[9.0, 60.0], [8.0, 47.0], [20.0, 40.0]]]];
        let projection = Projection::equal_area(8.0, 50.0).unwrap();
        let [a, b] = [west, east].map(|p| projection.parts(&p, 0.01).unwrap()[0][0].clone());
        let ends = [[8.0, 47.0], [9.0, 60.0]].map(|p| projection.forward(p).unwrap());
        let along = |ring: &Ring| {
            let at = ends.map(|e| ring.iter().position(|v| *v == e).unwrap());
            let n = ring.len();
            let (from, to) = (at[0].min(at[1]), at[0].max(at[1]));
            let inner = ring[from..=to].to_vec();
            if to - from < n / 2 + 1 {
                inner
            } else {
                ring[to..].to_vec()
            }
        };
        let (mut a, mut b) = (along(&a), along(&b));
        a.sort_by(|p, q| p[1].total_cmp(&q[1]));
        b.sort_by(|p, q| p[1].total_cmp(&q[1]));
        assert!(a.len() > 5);
        assert_eq!(a, b);
    }

    #[test]
    fn what_has_no_plane_is_refused() {
        let at = |p: &[[f64; 2]]| Projection::centred_on(p.iter().copied());
        assert_eq!(at(&[]), Err(ProjectionError::Empty));
        assert!(matches!(
            at(&[[40.0, -100.0], [41.0, -80.0]]),
            Err(ProjectionError::Swapped { lat: -100.0 })
        ));
        assert!(matches!(
            at(&[[401_644.0, 4_766_989.0]]),
            Err(ProjectionError::Range { .. })
        ));
        assert!(matches!(
            at(&[[f64::NAN, 0.0]]),
            Err(ProjectionError::Range { .. })
        ));
        assert!(matches!(
            at(&[[-100.0, 0.0], [0.0, 0.0], [100.0, 0.0]]),
            Err(ProjectionError::TooWide { .. })
        ));
        let polar = Projection::equal_area(0.0, 90.0).unwrap();
        let round = vec![vec![vec![[0.0, 80.0], [120.0, 80.0], [-120.0, 80.0]]]];
        assert!(matches!(
            polar.parts(&round, 1.0),
            Err(ProjectionError::Pole { .. })
        ));
        let half = vec![vec![vec![[0.0, 80.0], [180.0, 80.0], [90.0, 70.0]]]];
        assert!(matches!(
            polar.parts(&half, 1.0),
            Err(ProjectionError::Ambiguous { vertex: 0, .. })
        ));
        assert!(matches!(
            polar.parts(&half, 0.0),
            Err(ProjectionError::Tolerance { .. })
        ));
        assert!(polar.parts(&[vec![vec![]]], 1.0).is_ok());
    }

    #[test]
    fn regions_across_the_antimeridian_are_continued() {
        let at = |x: f64| vec![vec![vec![[x - 2.0, 10.0], [x + 2.0, 10.0], [x, 14.0]]]];
        let mut across = at(180.0);
        across[0][0][1][0] = -178.0;
        let far = Projection::centred_on(across[0][0].iter().copied()).unwrap();
        assert_eq!(far.centre(), [180.0, 12.0]);
        let near = Projection::equal_area(0.0, 12.0).unwrap();
        let area = |p: &Projection, parts: &[Vec<Ring>]| {
            Polygon::new(p.parts(parts, 1e-4).unwrap()).unwrap().area()
        };
        let (a, b) = (area(&far, &across), area(&near, &at(0.0)));
        assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    }
}
