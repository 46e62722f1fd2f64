//! Mending polygons as files have them.

use super::mends::Mend;
use std::collections::HashMap;

use geo::bool_ops::FillRule;
use geo::{BooleanOps, Coord, LineString, MultiPolygon};

use super::polygon::Polygon;
use super::ring::{LARGEST, Ring, bounds, distinct, oriented, signed_area};
use super::ring::{RegionError, RingPlace};
use super::topology::side;

/// New vertices closer than this to an old one, relative to the size of the whole, are put back on
/// it: the overlay works on a grid of about 2^-30 of the size.
const SNAP: f64 = 1e-8;

impl Polygon {
    /// As [`Self::new`], after mending what can be mended without changing the area: by at most
    /// 1e-6 of it.
    ///
    /// # Errors
    /// As [`Self::mended_within`].
    pub fn mended(parts: Vec<Vec<Ring>>) -> Result<(Self, Vec<Mend>), RegionError> {
        mended(parts, 1e-6)
    }

    /// As [`Self::new`], after mending.
    ///
    /// Closes rings, leaves out repeated vertices, spikes, and rings without area when others
    /// remain. Rings that still cross are drawn anew around the points that they surround an odd
    /// number of times.
    ///
    /// # Arguments
    /// * `tolerance` - by how much of the area redrawing may change it
    /// # Returns
    /// The polygon, and what was done; nothing but repeated vertices when [`Self::new`] would have
    /// taken the parts.
    /// # Errors
    /// As [`Self::new`], crossings that are too large to be redrawn among them.
    /// # Numerics
    /// Vertices stay where they are; new ones are right to about 1e-9 of the size of the polygon.
    pub fn mended_within(
        parts: Vec<Vec<Ring>>,
        tolerance: f64,
    ) -> Result<(Self, Vec<Mend>), RegionError> {
        mended(parts, tolerance)
    }
}

/// See [`Polygon::mended_within`].
fn mended(parts: Vec<Vec<Ring>>, tolerance: f64) -> Result<(Polygon, Vec<Mend>), RegionError> {
    let mut mends = Vec::new();
    let mut kept = Vec::new();
    let mut empty = None;
    let given = parts.len();
    for (part, rings) in parts.into_iter().enumerate() {
        let mut clean = Vec::new();
        for (k, ring) in rings.into_iter().enumerate() {
            let place = RingPlace { part, ring: k };
            if let Some(ring) = tidy(ring, place, &mut mends)? {
                clean.push(ring);
                continue;
            }
            empty.get_or_insert(place);
            mends.push(Mend::Dropped { ring: place });
            if k == 0 {
                break;
            }
        }
        if clean.is_empty() && empty.is_none() {
            return Err(RegionError::Empty { what: "rings" });
        }
        if !clean.is_empty() {
            kept.push(clean);
        }
    }
    if let (true, true, Some(ring)) = (kept.is_empty(), given > 0, empty) {
        return Err(RegionError::ZeroArea { ring });
    }
    let refused = match Polygon::new(kept.clone()) {
        Ok(polygon) => return Ok((polygon, mends)),
        Err(refused) => refused,
    };
    let at = match &refused {
        RegionError::SelfCrossing { x, y, .. }
        | RegionError::Folded { x, y, .. }
        | RegionError::Overlap { x, y, .. } => [*x, *y],
        _ => return Err(refused),
    };
    let before = area(&kept);
    let raw = overlaid(&kept);
    // Putting vertices back moves no border by more than that.
    let [(x0, x1), (y0, y1)] = bounds(&kept.concat());
    let moved = SNAP * (x1 - x0).max(y1 - y0) * perimeter(&raw);
    let redrawn = area(&raw);
    if (redrawn - before).abs() > tolerance * redrawn + 2.0 * moved {
        return Err(refused);
    }
    for candidate in [put_back(&raw, &kept), raw] {
        let Ok(polygon) = Polygon::new(candidate) else {
            continue;
        };
        let after = polygon.area();
        if (after - before).abs() <= tolerance * after {
            mends.push(Mend::Redrawn {
                x: at[0],
                y: at[1],
                before,
                after,
            });
            return Ok((polygon, mends));
        }
    }
    Err(refused)
}

/// The ring without repeated vertices and spikes; nothing when no area is left.
fn tidy(
    mut ring: Ring,
    place: RingPlace,
    mends: &mut Vec<Mend>,
) -> Result<Option<Ring>, RegionError> {
    // Names the vertex as the caller counts; what is no number is not below any.
    if !ring.iter().flatten().all(|c| c.abs() <= LARGEST) {
        oriented(ring.clone(), place)?;
    }
    if ring.len() > 1 && ring.first() == ring.last() {
        ring.pop();
    }
    let given = ring.len();
    distinct(&mut ring);
    if ring.len() < given {
        mends.push(Mend::Repeated {
            ring: place,
            count: given - ring.len(),
        });
    }
    let mut k = 0;
    // Taking one tip away may make another of the vertex before.
    while ring.len() > 2 && k < ring.len() {
        let n = ring.len();
        let (before, tip, after) = (ring[(k + n - 1) % n], ring[k], ring[(k + 1) % n]);
        let along: f64 = (0..2)
            .map(|d| (before[d] - tip[d]) * (after[d] - tip[d]))
            .sum();
        let spike = before == after || (side(before, tip, after) == 0 && along > 0.0);
        if !spike {
            k += 1;
            continue;
        }
        mends.push(Mend::Spike {
            ring: place,
            x: tip[0],
            y: tip[1],
        });
        ring.remove(k);
        distinct(&mut ring);
        k = k.saturating_sub(2);
    }
    Ok((ring.len() > 2 && flatness(&ring) > 0.0).then_some(ring))
}

/// Zero only if all vertices lie on one line: loops that cancel are a crossing, not a flat ring.
fn flatness(ring: &[[f64; 2]]) -> f64 {
    let (a, b) = (ring[0], ring[1]);
    ring[2..]
        .iter()
        .map(|&c| f64::from(side(a, b, c).abs()))
        .sum()
}

/// The area of parts with their holes; of loops that cross, what they surround less what they
/// surround the other way.
fn area(parts: &[Vec<Ring>]) -> f64 {
    let signed = |(k, ring): (usize, &Ring)| {
        let area = signed_area(ring).abs();
        if k == 0 { area } else { -area }
    };
    let rings = parts.iter().flat_map(|part| part.iter().enumerate());
    rings.map(signed).sum()
}

fn perimeter(parts: &[Vec<Ring>]) -> f64 {
    let of = |ring: &Ring| -> f64 {
        let next = ring.iter().cycle().skip(1);
        let sides = ring.iter().zip(next);
        sides.map(|(a, b)| (b[0] - a[0]).hypot(b[1] - a[1])).sum()
    };
    parts.iter().flatten().map(of).sum()
}

/// The set of points that the rings surround an odd number of times, drawn without crossings.
pub(super) fn overlaid(parts: &[Vec<Ring>]) -> Vec<Vec<Ring>> {
    let [(x0, x1), (y0, y1)] = bounds(&parts.concat());
    let origin = [0.5 * (x0 + x1), 0.5 * (y0 + y1)];
    let line = |ring: &Ring| {
        let mut line: LineString<f64> = ring
            .iter()
            .map(|v| Coord {
                x: v[0] - origin[0],
                y: v[1] - origin[1],
            })
            .collect();
        line.close();
        line
    };
    let given = MultiPolygon(
        parts
            .iter()
            .filter_map(|part| {
                let (exterior, holes) = part.split_first()?;
                Some(geo::Polygon::new(
                    line(exterior),
                    holes.iter().map(line).collect(),
                ))
            })
            .collect(),
    );
    let nothing = MultiPolygon::<f64>(Vec::new());
    let drawn = given.union_with_fill_rule(&nothing, FillRule::EvenOdd);
    let ring = |line: &LineString<f64>| -> Ring {
        line.coords()
            .map(|c| [c.x + origin[0], c.y + origin[1]])
            .collect()
    };
    drawn
        .iter()
        .map(|p| {
            std::iter::once(p.exterior())
                .chain(p.interiors())
                .map(ring)
                .collect()
        })
        .collect()
}

/// What was drawn anew with vertices put back where they were, which may make it cross again.
pub(super) fn put_back(drawn: &[Vec<Ring>], given: &[Vec<Ring>]) -> Vec<Vec<Ring>> {
    let all: Vec<Ring> = given.concat();
    let [(x0, x1), (y0, y1)] = bounds(&all);
    let reach = SNAP * (x1 - x0).max(y1 - y0);
    let old = Nearest::new(all.iter().flatten().copied(), reach);
    let back = |ring: &Ring| {
        let mut ring: Ring = ring.iter().map(|&v| old.find(v).unwrap_or(v)).collect();
        distinct(&mut ring);
        ring
    };
    let parts = drawn.iter();
    parts.map(|part| part.iter().map(back).collect()).collect()
}

/// Points by the square of a grid they lie in.
struct Nearest {
    reach: f64,
    cells: HashMap<[i64; 2], Vec<[f64; 2]>>,
}

impl Nearest {
    fn new(points: impl Iterator<Item = [f64; 2]>, reach: f64) -> Self {
        let mut nearest = Self {
            reach,
            cells: HashMap::new(),
        };
        for p in points {
            let cell = nearest.cell(p);
            nearest.cells.entry(cell).or_default().push(p);
        }
        nearest
    }

    fn cell(&self, p: [f64; 2]) -> [i64; 2] {
        p.map(|c| (c / self.reach).floor() as i64)
    }

    /// The nearest point within reach.
    fn find(&self, p: [f64; 2]) -> Option<[f64; 2]> {
        let distance = |q: &[f64; 2]| (q[0] - p[0]).hypot(q[1] - p[1]);
        let [i, j] = self.cell(p);
        (-1..=1)
            .flat_map(|a| (-1..=1).map(move |b| [i.saturating_add(a), j.saturating_add(b)]))
            .filter_map(|cell| self.cells.get(&cell))
            .flatten()
            .copied()
            .filter(|q| distance(q) <= self.reach)
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use geo::Area;
    use serde_json::Value;

    use super::*;

    /// Features of a file that is not part of the repository.
    pub(in crate::support) fn features(name: &str) -> Option<Vec<Vec<Vec<Ring>>>> {
        let path = format!(
            "{}/../../../shared/data/areal/{name}.geojson",
            env!("CARGO_MANIFEST_DIR")
        );
        let Ok(text) = std::fs::read_to_string(&path) else {
            eprintln!("skipped: {path} is absent");
            return None;
        };
        let ring = |v: &Value| -> Ring {
            let pair = |v: &Value| [v[0].as_f64().unwrap(), v[1].as_f64().unwrap()];
            v.as_array().unwrap().iter().map(pair).collect()
        };
        let part = |v: &Value| -> Vec<Ring> { v.as_array().unwrap().iter().map(ring).collect() };
        let file: Value = serde_json::from_str(&text).unwrap();
        let read = |f: &Value| {
            let coordinates = &f["geometry"]["coordinates"];
            match f["geometry"]["type"].as_str().unwrap() {
                "Polygon" => vec![part(coordinates)],
                _ => coordinates.as_array().unwrap().iter().map(part).collect(),
            }
        };
        Some(
            file["features"]
                .as_array()
                .unwrap()
                .iter()
                .map(read)
                .collect(),
        )
    }

    fn as_geo(parts: &[Vec<Ring>]) -> MultiPolygon {
        let line = |r: &Ring| r.iter().map(|v| (v[0], v[1])).collect::<LineString>();
        let part =
            |p: &Vec<Ring>| geo::Polygon::new(line(&p[0]), p[1..].iter().map(line).collect());
        MultiPolygon(parts.iter().map(part).collect())
    }

    #[test]
    fn real_files_are_mended_without_a_change_of_area() {
        // Of 5, 1 and 4 polygons that OGC calls invalid the ones left out here only touch
        // themselves.
        for (name, invalid, lost) in [
            ("nc_sids", &[][..], None),
            ("ny8_leukemia", &[23, 27, 172, 209, 223], Some(209)),
            ("scotland_lip", &[], None),
            ("breast_cancer_counties", &[], None),
        ] {
            let Some(features) = features(name) else {
                continue;
            };
            let mut refused = Vec::new();
            for (k, parts) in features.iter().enumerate() {
                if let Err(e) = Polygon::new(parts.clone()) {
                    eprintln!("{name} {k}: {e}");
                    refused.push(k);
                }
                let (polygon, mends) = match Polygon::mended(parts.clone()) {
                    Ok(mended) => mended,
                    Err(e) => {
                        // A piece counted twice, about 2 % of the area: nobody knows which is
                        // meant.
                        assert!(matches!(e, RegionError::SelfCrossing { .. }));
                        assert_eq!(Some(k), lost, "{name} {k}: {e}");
                        assert!(Polygon::mended_within(parts.clone(), 0.05).is_ok());
                        continue;
                    }
                };
                mends.iter().for_each(|m| eprintln!("{name} {k}: {m}"));
                let want = as_geo(parts).unsigned_area();
                // Redrawing may change it by what the mend says.
                let redrawn = mends.iter().any(|m| matches!(m, Mend::Redrawn { .. }));
                let slack = if redrawn { 1e-6 } else { 1e-12 };
                let got = polygon.area();
                assert!(
                    (got / want - 1.0).abs() <= slack,
                    "{name} {k}: {got} {want}"
                );
                assert!(polygon.is_consistent());
                match Polygon::new(parts.clone()) {
                    Ok(same) => {
                        assert_eq!(same, polygon);
                        let harmless = |m: &Mend| matches!(m, Mend::Repeated { .. });
                        assert!(mends.iter().all(harmless), "{name} {k}: {mends:?}");
                    }
                    Err(_) => assert!(!mends.is_empty()),
                }
            }
            assert_eq!(refused, invalid, "{name}");
        }
    }

    #[test]
    fn spikes_repeats_and_flat_rings_go() {
        let ring = vec![
            [0.0, 0.0],
            [0.0, 0.0],
            [4.0, 0.0],
            [6.0, 0.0],
            [7.0, 0.0],
            [5.0, 0.0],
            [4.0, 0.0],
            [4.0, 4.0],
            [0.0, 4.0],
            [0.0, 0.0],
        ];
        let flat = vec![[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [1.0, 1.0]];
        let speck = vec![vec![[9.0, 9.0], [9.0, 9.0], [9.0, 9.0]]];
        let (polygon, mends) = Polygon::mended(vec![vec![ring, flat.clone()], speck]).unwrap();
        assert_eq!(polygon.area(), 16.0);
        assert_eq!(polygon.rings().len(), 1);
        let of = |part, ring| RingPlace { part, ring };
        assert!(mends.contains(&Mend::Repeated {
            ring: of(0, 0),
            count: 1
        }));
        assert!(mends.contains(&Mend::Dropped { ring: of(0, 1) }));
        assert!(mends.contains(&Mend::Dropped { ring: of(1, 0) }));
        assert!(
            mends
                .iter()
                .any(|m| matches!(m, Mend::Spike { x: 7.0, .. }))
        );
        assert_eq!(
            Polygon::mended(vec![vec![flat]]),
            Err(RegionError::ZeroArea { ring: of(0, 0) })
        );
        assert_eq!(
            Polygon::mended(vec![]),
            Err(RegionError::Empty { what: "polygons" })
        );
    }

    #[test]
    fn small_loops_are_redrawn_and_large_ones_refused() {
        let looped = |size: f64, far: f64| {
            let ring: Ring = vec![
                [0.0, 0.0],
                [4.0, 0.0],
                [4.0, 4.0],
                [2.0 - size, 4.0],
                [2.0, 4.0 + size],
                [2.0, 4.0 - size],
                [0.0, 4.0],
            ];
            vec![vec![
                ring.iter()
                    .map(|v| [v[0] + far, v[1] - far])
                    .collect::<Ring>(),
            ]]
        };
        for far in [0.0, 1e6] {
            let small = looped(1e-4, far);
            assert!(matches!(
                Polygon::new(small.clone()),
                Err(RegionError::SelfCrossing { .. })
            ));
            let (polygon, mends) = Polygon::mended(small).unwrap();
            // Half of the top falls by size, which is 1e-4 of area; the loop itself, turned over,
            // is half of size squared.
            assert!((polygon.area() - 16.0).abs() < 4e-4);
            assert!(matches!(mends[..], [Mend::Redrawn { before, after, .. }]
                if (before - after).abs() < 1e-6 * after && after == polygon.area()));
            let kept = [[far, -far], [4.0 + far, 4.0 - far]];
            let all = polygon.rings().concat();
            assert!(kept.iter().all(|v| all.contains(v)), "vertices stay put");
            let Err(RegionError::SelfCrossing { ring, x, y }) = Polygon::mended(looped(0.5, far))
            else {
                panic!("a loop of a tenth of the size is no slip");
            };
            assert_eq!(ring, RingPlace { part: 0, ring: 0 });
            // Anywhere on the loop, which is half a unit wide and one high.
            assert!((x - far - 1.9).abs() < 0.3 && (y + far - 4.0).abs() < 0.3);
        }
    }
}
