//! What was done to a polygon so that it bounds a set.

use super::ring::RingPlace;
use std::fmt;

/// What was done to a polygon so that it bounds a set.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Mend {
    /// Vertices that repeated the one before were left out.
    Repeated {
        /// Where.
        ring: RingPlace,
        /// How many.
        count: usize,
    },
    /// A spike, there and back along one line, was left out; the area is the same.
    Spike {
        /// Where.
        ring: RingPlace,
        /// Its tip.
        x: f64,
        /// Its tip.
        y: f64,
    },
    /// A ring without area was left out; with an exterior its holes.
    Dropped {
        /// Which.
        ring: RingPlace,
    },
    /// Rings that crossed slightly were drawn anew.
    Redrawn {
        /// A place where they crossed.
        x: f64,
        /// A place where they crossed.
        y: f64,
        /// Area that the rings as given enclose.
        before: f64,
        /// Area now.
        after: f64,
    },
}

impl fmt::Display for Mend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repeated { ring, count } => {
                write!(f, "{ring}: {count} repeated vertices left out")
            }
            Self::Spike { ring, x, y } => {
                write!(f, "{ring}: spike at ({x}, {y}) left out")
            }
            Self::Dropped { ring } => write!(f, "{ring}: no area, left out"),
            Self::Redrawn {
                x,
                y,
                before,
                after,
            } => write!(
                f,
                "rings that cross near ({x}, {y}) redrawn; area {before} before and {after} after"
            ),
        }
    }
}
