//! What a curve is drawn of.

/// An observed row.
pub(crate) enum Mark {
    Bar {
        x0: f64,
        x1: f64,
        height: f64,
        words: String,
    },
    Level {
        x0: f64,
        x1: f64,
        y: f64,
        words: String,
    },
    Point {
        x: f64,
        y: f64,
        error: Option<f64>,
        words: String,
    },
}

/// A predicted line: unbroken pieces of vertices `(x, mean, lower, upper)`.
pub(crate) struct Band {
    pub label: String,
    pub band_label: Option<String>,
    pub pieces: Vec<Vec<[f64; 4]>>,
}

/// A place to point at, with what to tell there.
pub(crate) struct Slot {
    pub x0: f64,
    pub x1: f64,
    pub x: String,
    pub predicted: String,
    pub observed: String,
}
