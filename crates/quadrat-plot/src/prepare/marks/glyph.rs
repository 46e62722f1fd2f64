//! What an observation is drawn as.

/// A mark with its tooltip.
pub(crate) struct Glyph {
    pub shape: Shape,
    pub told: Vec<String>,
}

/// A shape in the units of the axes; `open` tells which ends have an arrow instead of an edge.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// A thin bar from end to end.
    Rod {
        x: f64,
        low: f64,
        high: f64,
        open: (bool, bool),
    },
    /// A box from end to end over a stretch.
    Boxed {
        x: (f64, f64),
        low: f64,
        high: f64,
        open: (bool, bool),
    },
    /// A ring with an arrow; its stretch is a level line.
    Arrow { x: (f64, f64), from: f64, to: f64 },
    /// An upright tick, or a level bar over a stretch.
    Tick { x: (f64, f64), low: f64, high: f64 },
    /// A dot of some radius in pixels; its stretch is a level line.
    Dot { x: (f64, f64), y: f64, radius: f64 },
    /// A thick bar from end to end.
    Pillar { x: (f64, f64), low: f64, high: f64 },
}
