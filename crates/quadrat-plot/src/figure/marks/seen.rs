//! Where a row was observed, and what was seen there.

use serde::{Deserialize, Serialize};

/// Where along the horizontal axis a row was observed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Support {
    /// At a place.
    At(f64),
    /// Over a stretch from the lower to the upper edge.
    Over(f64, f64),
}

impl From<f64> for Support {
    fn from(x: f64) -> Self {
        Self::At(x)
    }
}

impl From<(f64, f64)> for Support {
    fn from((x0, x1): (f64, f64)) -> Self {
        Self::Over(x0, x1)
    }
}

impl Support {
    /// Both edges, equal for a place.
    pub(crate) fn ends(self) -> (f64, f64) {
        match self {
            Self::At(x) => (x, x),
            Self::Over(x0, x1) => (x0, x1),
        }
    }
}

/// The side of a limit on which the true value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The true value lies below, as under a limit of detection.
    Below,
    /// The true value lies above, as over a cap.
    Above,
}

/// What was seen in every row; an end that is none is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Seen {
    Intervals {
        lower: Vec<Option<f64>>,
        upper: Vec<Option<f64>>,
    },
    Censored {
        limit: Vec<f64>,
        side: Vec<Side>,
    },
    Ranks {
        rank: Vec<usize>,
        thresholds: Vec<f64>,
        names: Vec<String>,
    },
    Rates {
        lower: Vec<f64>,
        upper: Vec<Option<f64>>,
        exposure: Vec<f64>,
        per: f64,
    },
    Signs {
        yes: Vec<bool>,
    },
}
