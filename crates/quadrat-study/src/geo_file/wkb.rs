//! Polygons as well-known binary (WKB): what geopandas, GeoParquet and PostGIS hand out.
//!
//! Both byte orders, and altitudes and measures as ISO 13249-3 has them (type + 1000, 2000, 3000)
//! and as PostGIS does (flags, with or without an SRID). Source: OGC 06-103r4, section 8.2.

use quadrat::support::Ring;
use thiserror::Error;

/// Flag of PostGIS in the type of a geometry: altitudes.
const Z: u32 = 0x8000_0000;
/// Measures.
const M: u32 = 0x4000_0000;
/// A coordinate system, whose number follows.
const SRID: u32 = 0x2000_0000;
/// Fewest bytes of a polygon within others: order, type and the number of its rings.
const POLYGON_BYTES: usize = 9;
/// Fewest bytes of a ring: the number of its vertices.
const RING_BYTES: usize = 4;
/// Names of the types, which are counted from 1.
const TYPES: [&str; 17] = [
    "Point",
    "LineString",
    "Polygon",
    "MultiPoint",
    "MultiLineString",
    "MultiPolygon",
    "GeometryCollection",
    "CircularString",
    "CompoundCurve",
    "CurvePolygon",
    "MultiCurve",
    "MultiSurface",
    "Curve",
    "Surface",
    "PolyhedralSurface",
    "TIN",
    "Triangle",
];

/// What is wrong with the bytes of a geometry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WkbError {
    /// The bytes end too soon.
    #[error("its WKB ends at byte {at}, within {what}")]
    Short {
        /// How many bytes there are.
        at: usize,
        /// What they end in.
        what: &'static str,
    },
    /// A number of parts that the bytes cannot hold.
    #[error("its WKB names {count} {what} at byte {at}, more than its bytes can hold")]
    Count {
        /// Where it stands.
        at: usize,
        /// The number.
        count: u32,
        /// Of what.
        what: &'static str,
    },
    /// Neither byte order.
    #[error("its WKB has the byte order {order} at byte {at}; there are 0 and 1")]
    Order {
        /// Where it stands.
        at: usize,
        /// What is there.
        order: u8,
    },
    /// A geometry without an area.
    #[error("is a {name}; only polygons and multipolygons have an area")]
    Type {
        /// Its name.
        name: &'static str,
    },
    /// No geometry at all.
    #[error("its WKB has the type {code} at byte {at}, which is none")]
    UnknownType {
        /// Where it stands.
        at: usize,
        /// The number.
        code: u32,
    },
    /// Bytes that nothing asked for.
    #[error("its WKB goes on after its end at byte {at}")]
    Long {
        /// Where the geometry ends.
        at: usize,
    },
}

/// The parts of a polygon or a multipolygon: every exterior, followed by its holes.
///
/// Altitudes and measures are not used. Memory is at most some multiple of the number of bytes.
///
/// # Errors
/// [`WkbError`] for bytes that are no WKB, and for other geometries.
pub fn parts(bytes: &[u8]) -> Result<Vec<Vec<Ring>>, WkbError> {
    let mut reader = Reader { bytes, at: 0 };
    let head = reader.head()?;
    let parts = match head.kind {
        3 => vec![reader.rings(&head)?],
        6 => {
            let count = reader.count(&head, "polygons", POLYGON_BYTES)?;
            let mut parts = Vec::with_capacity(count);
            for _ in 0..count {
                let own = reader.head()?;
                if own.kind != 3 {
                    return Err(own.refused());
                }
                parts.push(reader.rings(&own)?);
            }
            parts
        }
        _ => return Err(head.refused()),
    };
    match reader.at == bytes.len() {
        true => Ok(parts),
        false => Err(WkbError::Long { at: reader.at }),
    }
}

/// What stands before every geometry.
struct Head {
    is_little: bool,
    /// The type without flags, 3 for a polygon.
    kind: u32,
    /// Coordinates of a vertex.
    coordinates: usize,
    /// Where the type stands.
    at: usize,
    /// As it stands there.
    code: u32,
}

impl Head {
    fn refused(&self) -> WkbError {
        let name = (self.kind as usize).checked_sub(1);
        match name.and_then(|at| TYPES.get(at)) {
            Some(name) => WkbError::Type { name },
            None => WkbError::UnknownType {
                at: self.at,
                code: self.code,
            },
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], WkbError> {
        let short = WkbError::Short {
            at: self.bytes.len(),
            what,
        };
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.first_chunk::<N>().ok_or(short)?;
        self.at += N;
        Ok(*taken)
    }

    fn whole(&mut self, is_little: bool, what: &'static str) -> Result<u32, WkbError> {
        let taken = self.take(what)?;
        Ok(match is_little {
            true => u32::from_le_bytes(taken),
            false => u32::from_be_bytes(taken),
        })
    }

    fn head(&mut self) -> Result<Head, WkbError> {
        let at = self.at;
        let [order] = self.take("the byte order")?;
        if order > 1 {
            return Err(WkbError::Order { at, order });
        }
        let (is_little, at) = (order == 1, self.at);
        let code = self.whole(is_little, "the type")?;
        if code & SRID != 0 {
            self.whole(is_little, "the coordinate system")?;
        }
        let plain = code & !(Z | M | SRID);
        let (has_z, has_m) = match plain / 1000 {
            0 => (code & Z != 0, code & M != 0),
            1 => (true, false),
            2 => (false, true),
            3 => (true, true),
            _ => return Err(WkbError::UnknownType { at, code }),
        };
        Ok(Head {
            is_little,
            kind: plain % 1000,
            coordinates: 2 + usize::from(has_z) + usize::from(has_m),
            at,
            code,
        })
    }

    /// A number of things that take so many bytes each at least.
    fn count(&mut self, head: &Head, what: &'static str, least: usize) -> Result<usize, WkbError> {
        let at = self.at;
        let count = self.whole(head.is_little, what)?;
        let left = self.bytes.len() - self.at;
        match (count as usize).checked_mul(least) {
            Some(needed) if needed <= left => Ok(count as usize),
            _ => Err(WkbError::Count { at, count, what }),
        }
    }

    fn rings(&mut self, head: &Head) -> Result<Vec<Ring>, WkbError> {
        let count = self.count(head, "rings", RING_BYTES)?;
        let mut rings = Vec::with_capacity(count);
        for _ in 0..count {
            let vertices = self.count(head, "vertices", 8 * head.coordinates)?;
            let mut ring = Ring::with_capacity(vertices);
            for _ in 0..vertices {
                ring.push([self.number(head)?, self.number(head)?]);
                for _ in 2..head.coordinates {
                    self.number(head)?;
                }
            }
            rings.push(ring);
        }
        Ok(rings)
    }

    fn number(&mut self, head: &Head) -> Result<f64, WkbError> {
        let taken = self.take("a vertex")?;
        Ok(match head.is_little {
            true => f64::from_le_bytes(taken),
            false => f64::from_be_bytes(taken),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two squares, the first with a hole, in some dialect.
    fn written(is_little: bool, code: impl Fn(u32) -> u32, more: usize, srid: bool) -> Vec<u8> {
        let whole = |n: u32| match is_little {
            true => n.to_le_bytes(),
            false => n.to_be_bytes(),
        };
        let number = |x: f64| match is_little {
            true => x.to_le_bytes(),
            false => x.to_be_bytes(),
        };
        let head = |kind: u32| {
            let mut head = vec![u8::from(is_little)];
            head.extend(whole(code(kind)));
            if srid {
                head.extend(whole(4326));
            }
            head
        };
        let mut bytes = head(6);
        bytes.extend(whole(2));
        for part in squares() {
            bytes.extend(head(3));
            bytes.extend(whole(part.len() as u32));
            for ring in part {
                bytes.extend(whole(ring.len() as u32));
                for [x, y] in ring {
                    bytes.extend(number(x));
                    bytes.extend(number(y));
                    (0..more).for_each(|_| bytes.extend(number(7.5)));
                }
            }
        }
        bytes
    }

    fn squares() -> Vec<Vec<Ring>> {
        let square = |x: f64, side: f64| -> Ring {
            vec![[x, 0.1], [x + side, 0.1], [x + side, 0.1 + side], [x, 0.1]]
        };
        vec![
            vec![square(0.0, 4.0), square(1.0 / 3.0, 1.0)],
            vec![square(9.0, 1.0)],
        ]
    }

    #[test]
    fn every_dialect_is_read_to_the_last_bit() {
        for is_little in [true, false] {
            for (by, more) in [(0, 0), (1000, 1), (2000, 1), (3000, 2)] {
                let bytes = written(is_little, |kind| kind + by, more, false);
                assert_eq!(parts(&bytes), Ok(squares()), "ISO {by}");
            }
            for (flags, more) in [(0, 0), (Z, 1), (M, 1), (Z | M, 2)] {
                let bytes = written(is_little, |kind| kind | flags, more, false);
                assert_eq!(parts(&bytes), Ok(squares()), "flags {flags:x}");
                let bytes = written(is_little, |kind| kind | flags | SRID, more, true);
                assert_eq!(parts(&bytes), Ok(squares()), "flags {flags:x} and SRID");
            }
        }
    }

    #[test]
    fn other_geometries_are_named() {
        let point = [&[1u8][..], &1u32.to_le_bytes(), &[0; 16]].concat();
        let told = parts(&point).unwrap_err().to_string();
        assert!(told.starts_with("is a Point; only polygons"), "{told}");
        let curve = [&[1u8][..], &10u32.to_le_bytes(), &[0; 4]].concat();
        assert!(
            parts(&curve)
                .unwrap_err()
                .to_string()
                .contains("CurvePolygon")
        );
        let none = [&[1u8][..], &99u32.to_le_bytes()].concat();
        assert_eq!(parts(&none), Err(WkbError::UnknownType { at: 1, code: 99 }));
        assert_eq!(parts(&[9]), Err(WkbError::Order { at: 0, order: 9 }));
    }

    /// An empty polygon is read, and refused where polygons are made.
    #[test]
    fn empty_polygons_have_no_rings() {
        let empty = [&[1u8][..], &3u32.to_le_bytes(), &[0; 4]].concat();
        assert_eq!(parts(&empty), Ok(vec![Vec::new()]));
    }

    #[test]
    fn bytes_that_end_too_soon_or_go_on_are_refused() {
        let whole = written(true, |kind| kind, 0, false);
        for length in 0..whole.len() {
            assert!(parts(&whole[..length]).is_err(), "{length}");
        }
        let longer = [whole.as_slice(), &[0]].concat();
        assert_eq!(parts(&longer), Err(WkbError::Long { at: whole.len() }));
    }

    /// Whatever the bytes say, the answer takes no more memory than some multiple of them.
    #[test]
    fn numbers_that_the_bytes_cannot_hold_are_refused_before_memory_is_taken() {
        let whole = written(true, |kind| kind, 0, false);
        // The first of both polygons is one of its own, too.
        let first = &whole[9..154];
        assert_eq!(parts(first), Ok(squares()[..1].to_vec()));
        for (bytes, at, what) in [
            (&whole[..], 5, "polygons"),
            (&whole[..], 14, "rings"),
            (&whole[..], 18, "vertices"),
            (&whole[..], 159, "rings"),
            (&whole[..], 163, "vertices"),
            (first, 5, "rings"),
            (first, 9, "vertices"),
        ] {
            let (mut bytes, count) = (bytes.to_vec(), u32::MAX);
            bytes[at..at + 4].copy_from_slice(&count.to_le_bytes());
            let told = parts(&bytes).unwrap_err();
            assert_eq!(told, WkbError::Count { at, count, what });
            let words = format!("4294967295 {what} at byte {at}, more than its bytes can hold");
            assert!(told.to_string().contains(&words), "{told}");
        }
    }

    #[test]
    fn flipped_bits_never_panic() {
        for is_little in [true, false] {
            let whole = written(is_little, |kind| kind | Z, 1, false);
            for at in 0..whole.len() {
                for bit in 0..8 {
                    let mut bytes = whole.clone();
                    bytes[at] ^= 1 << bit;
                    // Read or refused; vertices that moved are for who makes polygons.
                    if let Ok(parts) = parts(&bytes) {
                        let vertices = parts.iter().flatten().map(Vec::len).sum::<usize>();
                        assert!(24 * vertices <= bytes.len());
                    }
                }
            }
        }
    }
}
