//! Features that cannot be used, and how they are told.

use std::ops::Range;

use quadrat::support::RegionError;
use serde_json::value::RawValue;

use super::GeoFile;
use crate::diagnostic::{Problem, Problems, Remedy};
use crate::numbers::count;

/// How many broken features are listed.
const LISTED: usize = 20;
/// What can be done about a feature without a geometry.
const BARE: &str = "give it a Polygon or MultiPolygon, or remove it";
/// The same in a study of regions.
const SKIP: &str = "let `empty = \"skip\"` in `region` leave out such features and their rows";

/// What becomes of features without a geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bare {
    /// They are refused.
    Refused,
    /// They are refused, in a study that can have them left out.
    Unasked,
    /// They are left out.
    LeftOut,
}

/// What is wrong with a feature. Its place is a range of bytes until it is shown: to find line and
/// column, the file is read from its start.
#[derive(Debug)]
pub(super) struct Fault {
    message: String,
    at: Range<usize>,
    remedies: Vec<Remedy>,
    /// Whether the feature has no geometry at all.
    is_bare: bool,
}

impl Fault {
    pub fn new(message: impl Into<String>, at: Range<usize>, remedy: impl Into<Remedy>) -> Self {
        Self {
            message: message.into(),
            at,
            remedies: vec![remedy.into()],
            is_bare: false,
        }
    }

    /// Of a feature without a geometry.
    pub fn bare(message: String, at: Range<usize>) -> Self {
        Self {
            is_bare: true,
            ..Self::new(message, at, BARE)
        }
    }

    pub fn remedy(mut self, remedy: impl Into<Remedy>) -> Self {
        self.remedies.push(remedy.into());
        self
    }
}

/// Why a feature cannot be used.
#[derive(Debug)]
pub(super) enum Unusable {
    /// As it is shown.
    Told(Fault),
    /// Its rings are no polygon. Words and place, for which the coordinates are read again, cost
    /// more than to find that, and few features are shown.
    Polygon(RegionError, Coordinates),
}

impl From<Fault> for Unusable {
    fn from(fault: Fault) -> Self {
        Self::Told(fault)
    }
}

impl Unusable {
    pub fn is_bare(&self) -> bool {
        matches!(self, Self::Told(fault) if fault.is_bare)
    }

    /// As it is shown.
    ///
    /// # Arguments
    /// * `called` - how people know the feature
    pub fn told(self, file: &GeoFile, called: &str) -> Fault {
        let (error, coordinates) = match self {
            Self::Told(fault) => return fault,
            Self::Polygon(error, coordinates) => (error, coordinates),
        };
        let words = error.to_string();
        let (fact, remedy) = words
            .split_once("; ")
            .unwrap_or((&words, "mend the polygon"));
        let ring = match &error {
            RegionError::FewVertices { ring, .. }
            | RegionError::ZeroArea { ring }
            | RegionError::SelfCrossing { ring, .. }
            | RegionError::Folded { ring, .. }
            | RegionError::HoleOutside { ring, .. }
            | RegionError::Overlap { second: ring, .. } => vec![ring.part, ring.ring],
            RegionError::Huge { ring, vertex, .. } => vec![ring.part, ring.ring, *vertex],
            _ => vec![0, 0],
        };
        Fault::new(
            format!("{called}: {fact}"),
            position_at(file, &coordinates, &ring),
            remedy,
        )
    }
}

/// Features that cannot be used: the first are kept to be shown, all are counted.
#[derive(Debug, Default)]
pub(super) struct Faults {
    first: Vec<Fault>,
    bare: usize,
    all: usize,
}

impl Faults {
    /// # Arguments
    /// * `bare` - what becomes of features without a geometry
    pub fn add(&mut self, why: Unusable, bare: Bare, told: impl Fn(Unusable) -> Fault) {
        let is_bare = why.is_bare();
        self.all += 1;
        self.bare += usize::from(is_bare);
        if self.first.len() < LISTED {
            let fault = told(why);
            self.first.push(match is_bare && bare == Bare::Unasked {
                true => fault.remedy(SKIP),
                false => fault,
            });
        }
    }

    pub fn problems(self, file: &GeoFile) -> Problems {
        let mut problems = Problems::default();
        let more = self.all > self.first.len();
        for fault in self.first {
            problems.push(Problem {
                remedies: fault.remedies,
                ..Problem::new(fault.message).at(file.place(&fault.at))
            });
        }
        let mut tally = |number: usize, what: &str| {
            let message = format!("{}: {} {what}", file.name, count(number, "feature"));
            problems.push(Problem::new(message).tally());
        };
        if more && self.bare > 0 {
            tally(self.bare, "without a geometry");
        }
        if more && self.all > self.bare {
            tally(self.all - self.bare, "with a geometry that cannot be used");
        }
        problems
    }
}

/// Where the coordinates of a geometry stand, and whether they are those of one polygon.
#[derive(Debug)]
pub(super) struct Coordinates {
    pub whole: Range<usize>,
    pub one: bool,
}

/// Where a ring (part, ring) or a position (part, ring, vertex) stands.
pub(super) fn position_at(
    file: &GeoFile,
    coordinates: &Coordinates,
    path: &[usize],
) -> Range<usize> {
    let path = if coordinates.one { &path[1..] } else { path };
    let mut range = coordinates.whole.clone();
    for &step in path {
        let part = &file.text[range.clone()];
        let Ok(raw) = serde_json::from_str::<Vec<&RawValue>>(part) else {
            break;
        };
        let Some(item) = raw.get(step) else { break };
        let start = range.start + (item.get().as_ptr() as usize - part.as_ptr() as usize);
        range = start..start + item.get().len();
    }
    range
}
