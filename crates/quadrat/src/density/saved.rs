//! Estimates as bytes: versioned, checked, read without the rows they were made from.
//!
//! Layout: the line `quadrat-density <format>`, a checksum and a length (`sealed`), the payload.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::LoadError;
use crate::sealed;

use super::error::DensityError;
use super::estimate::Estimate;
use super::kept::{Kept, are_counts};
use super::plane::{ConditionalEstimate, Estimate2d, KeptPlane};

/// The layout that this version writes, and the only one it reads; it rises with every change of
/// what is below.
pub const SAVED_FORMAT: u32 = 1;

const MAGIC: &[u8] = b"quadrat-density ";

/// What one estimate is made from again.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Part {
    Line(Box<Kept>),
    Plane(Box<KeptPlane>),
}

/// An estimate of any kind.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AnyEstimate {
    /// Of one column.
    Line(Box<Estimate>),
    /// Of two columns.
    Plane(Box<Estimate2d>),
    /// Of one column given another.
    Conditional(Box<ConditionalEstimate>),
}

/// Estimates that are saved together, each under a name, with notes.
///
/// Cells, counts, hyperparameters, modes and the factors about them are saved; draws are made again
/// by the same seed. Numbers are the same to the last digit on the machine that wrote them, and to
/// rounding on another one.
///
/// ```
/// use quadrat::density::{AnyEstimate, Density, Saved};
/// # let values: Vec<f64> = (0..60).map(|i| f64::from(i).sqrt()).collect();
/// let estimate = Density::new(&values).estimate()?;
/// let bytes = Saved::default().with("all", &estimate).to_bytes();
/// let saved = Saved::from_bytes(&bytes)?;
/// let AnyEstimate::Line(again) = saved.estimate(0)? else {
///     return Err("another kind".into());
/// };
/// assert_eq!(again.density(), estimate.density());
/// assert_eq!(again.quantile(0.5), estimate.quantile(0.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Saved {
    /// What else is to be known, by its name.
    pub notes: BTreeMap<String, String>,
    parts: Vec<(String, Part)>,
}

/// The same as it is written.
#[derive(Serialize, Deserialize)]
struct Written<'a> {
    notes: Cow<'a, BTreeMap<String, String>>,
    parts: Cow<'a, [(String, Part)]>,
}

/// An estimate as it is saved.
#[derive(Debug, Clone)]
pub struct SavedEstimate(Part);

impl From<&Estimate> for SavedEstimate {
    fn from(estimate: &Estimate) -> Self {
        Self(Part::Line(Box::new(estimate.kept.clone())))
    }
}

impl From<&Estimate2d> for SavedEstimate {
    fn from(estimate: &Estimate2d) -> Self {
        Self(Part::Plane(Box::new(estimate.kept())))
    }
}

impl From<&ConditionalEstimate> for SavedEstimate {
    fn from(estimate: &ConditionalEstimate) -> Self {
        Self(Part::Plane(Box::new(estimate.kept())))
    }
}

impl Saved {
    /// The same with one more estimate.
    #[must_use]
    pub fn with(mut self, name: &str, estimate: impl Into<SavedEstimate>) -> Self {
        self.parts.push((name.to_owned(), estimate.into().0));
        self
    }

    /// How many estimates there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|(name, _)| name.as_str())
    }

    /// Draws one of them again.
    ///
    /// # Errors
    /// [`LoadError::Damaged`] where there is none of that number, and for contents that no estimate
    /// has.
    ///
    /// # Numerics
    /// The time and the memory of drawing: nothing is searched.
    pub fn estimate(&self, at: usize) -> Result<AnyEstimate, LoadError> {
        let (_, part) = self
            .parts
            .get(at)
            .ok_or_else(|| damaged("it has no density"))?;
        let failed = |error: DensityError| damaged(&error.to_string());
        let (found, density) = match part {
            Part::Line(kept) => {
                let found = restored(kept).map_err(failed)?;
                let density = found.density().to_vec();
                (AnyEstimate::Line(Box::new(found)), density)
            }
            Part::Plane(kept) if kept.is_joint() => {
                let found = Estimate2d::restored(kept).map_err(failed)?;
                let density = found.density().to_vec();
                (AnyEstimate::Plane(Box::new(found)), density)
            }
            Part::Plane(kept) => {
                let found = ConditionalEstimate::restored(kept).map_err(failed)?;
                let density = found.density().to_vec();
                (AnyEstimate::Conditional(Box::new(found)), density)
            }
        };
        match are_counts(&density) {
            true => Ok(found),
            false => Err(damaged("its density is not finite")),
        }
    }

    /// As bytes, for [`Self::from_bytes`].
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let written = Written {
            notes: Cow::Borrowed(&self.notes),
            parts: Cow::Borrowed(&self.parts),
        };
        // Plain numbers and strings in memory always serialise.
        let payload = postcard::to_stdvec(&written).unwrap_or_default();
        sealed::seal(MAGIC, SAVED_FORMAT, &payload)
    }

    /// Whether bytes begin as those of densities do.
    #[must_use]
    pub fn is_saved(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`LoadError::NotAModel`], [`LoadError::Newer`] and [`LoadError::Older`] for another
    /// [`SAVED_FORMAT`], [`LoadError::Damaged`] when anything was cut off or changed, or says what
    /// no estimate would: draws of more than 50 million numbers among them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        let payload = sealed::open(MAGIC, SAVED_FORMAT, bytes)?;
        let written = postcard::from_bytes(payload);
        let Written { notes, parts } = written.map_err(|e| damaged(&e.to_string()))?;
        let fault = parts.iter().find_map(|(_, part)| match part {
            Part::Line(kept) => kept.fault(),
            Part::Plane(kept) => kept.fault(),
        });
        match fault {
            Some(fault) => Err(damaged(fault)),
            None => Ok(Self {
                notes: notes.into_owned(),
                parts: parts.into_owned(),
            }),
        }
    }
}

fn damaged(detail: &str) -> LoadError {
    LoadError::Damaged {
        detail: detail.to_owned(),
    }
}

/// An estimate of one column, drawn again.
fn restored(kept: &Kept) -> Result<Estimate, DensityError> {
    let basis = kept.basis();
    let components = kept.components(&basis)?;
    Estimate::drawn(kept.clone(), &basis, &components)
}
