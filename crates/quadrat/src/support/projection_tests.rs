//! Projections against published points, geodesics and each other.

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
                    // Rounding is 3e-14 of a degree, some hundred times that where arc sines near
                    // one, by the poles; 1e-9 is a tenth of a millimetre on the ground.
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
        // Edges off by at most 1e-6 km all round a county some 40 km wide change its area by 4 x
        // 1e-6 / 40 = 1e-7 of it, edges off by 1e-2 km by 1e-3.
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
    // Congruent in the plane: longitudes of 180 degrees round by 3e-14, which is 1e-14 of the
    // width, and vertices are put on edges at the same places.
    assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
}
