//! A posterior as bytes: versioned, checked, loadable without the study.
//!
//! Layout: the line `quadrat-model <format>`, a newline, the CRC-32 of the payload and its length
//! (both little-endian), the payload. Factorisations are not stored: they are computed again,
//! from the same numbers and so to the same result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fit::condition_covering;
use super::observations::Observations;
use super::posterior::{Node, Posterior};
use super::problem::{MeanPrior, Problem};
use super::summary::FitSummary;
use crate::error::LoadError;
use crate::inference::sites::Method;
use crate::kernel::Kernel;
use crate::parameter::Parameter;

/// The format this version writes, and the only one it reads.
pub const FORMAT: u32 = 1;

const MAGIC: &[u8] = b"quadrat-model ";

#[derive(Serialize, Deserialize)]
struct Saved {
    kernel: Kernel,
    tables: Vec<Observations>,
    own: Vec<Vec<usize>>,
    method: Option<Method>,
    mean: MeanPrior,
    parameters: Vec<Parameter>,
    nodes: Vec<Node>,
    summary: FitSummary,
    notes: BTreeMap<String, String>,
}

impl Saved {
    /// Whether lengths and indices agree: a file with a valid checksum may still be made up.
    fn fits_together(&self) -> bool {
        let parameters = self.parameters.len();
        let kernel = self.kernel.parameters();
        let named = self
            .parameters
            .iter()
            .zip(kernel)
            .all(|(p, k)| p.name == k.name);
        named
            && kernel.len() <= parameters
            && !self.tables.is_empty()
            && self.tables.iter().all(Observations::is_consistent)
            && self.own.len() == self.tables.len()
            && self.own.iter().flatten().all(|g| *g < parameters)
            && self
                .own
                .iter()
                .zip(&self.tables)
                .all(|(own, table)| own.len() == table.likelihood().local().parameters(1.0).len())
            && (self.method.is_some() || self.tables.iter().all(|t| t.as_gaussian().is_some()))
            && !self.nodes.is_empty()
            && self.nodes.iter().all(|node| {
                node.weight >= 0.0 && node.weight <= 1.0 && node.theta.len() == parameters
            })
            && self.mean.mean.is_finite()
            && self.mean.sd >= 0.0
    }
}

impl Posterior {
    /// The posterior as bytes, for [`Self::from_bytes`].
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let saved = Saved {
            kernel: self.problem.kernel.clone(),
            tables: self.tables.clone(),
            own: self.problem.own.clone(),
            method: self.problem.method,
            mean: self.problem.mean,
            parameters: self.problem.parameters.clone(),
            nodes: self.nodes.clone(),
            summary: self.summary.clone(),
            notes: self.notes.clone(),
        };
        // Plain numbers and strings in memory always serialise.
        let payload = postcard::to_stdvec(&saved).unwrap_or_default();
        let mut out = Vec::with_capacity(payload.len() + 32);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(FORMAT.to_string().as_bytes());
        out.push(b'\n');
        out.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
        out.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        out.extend_from_slice(&payload);
        out
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`LoadError::NotAModel`], [`LoadError::Newer`] for a later [`FORMAT`],
    /// [`LoadError::Damaged`] when anything was cut off or changed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(LoadError::NotAModel)?;
        let damaged = |detail: &str| LoadError::Damaged {
            detail: detail.to_owned(),
        };
        let end = rest
            .iter()
            .take(12)
            .position(|b| *b == b'\n')
            .ok_or_else(|| damaged("the first line does not end"))?;
        let found = std::str::from_utf8(&rest[..end])
            .ok()
            .and_then(|t| t.parse::<u32>().ok())
            .ok_or_else(|| damaged("the format number is unreadable"))?;
        if found > FORMAT {
            return Err(LoadError::Newer {
                found,
                supported: FORMAT,
            });
        }
        let rest = &rest[end + 1..];
        let (crc, rest) = rest
            .split_first_chunk::<4>()
            .ok_or_else(|| damaged("it is cut off"))?;
        let (length, payload) = rest
            .split_first_chunk::<8>()
            .ok_or_else(|| damaged("it is cut off"))?;
        if u64::from_le_bytes(*length) != payload.len() as u64 {
            return Err(damaged("its length is not what was written"));
        }
        if u32::from_le_bytes(*crc) != crc32fast::hash(payload) {
            return Err(damaged("its checksum does not match"));
        }
        let saved: Saved = postcard::from_bytes(payload).map_err(|e| damaged(&e.to_string()))?;
        if !saved.fits_together() {
            return Err(damaged("its parts do not fit together"));
        }
        let tables = super::checks::restrict(&saved.kernel, &saved.tables)
            .map_err(crate::error::FitError::from)?;
        let problem = Problem::new(
            saved.kernel,
            &tables,
            &saved.own,
            saved.mean,
            saved.parameters,
            saved.method,
        );
        super::fit::check_size(&problem).map_err(crate::error::FitError::from)?;
        let (components, _) = condition_covering(&problem, &saved.nodes)?;
        let mut posterior = Self::new(
            problem,
            saved.tables,
            saved.nodes,
            components,
            saved.summary,
        );
        posterior.notes = saved.notes;
        Ok(posterior)
    }
}
