//! A region and the columns it lies along.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{ChebyshevMoments, Region};

/// Marks an atom that is a box.
pub(super) const NO_REGION: u32 = u32::MAX;

/// A region within a set of functionals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Placed {
    #[serde(serialize_with = "plain", deserialize_with = "shared")]
    pub region: Arc<Region>,
    /// The column of every axis of the region; `None` where the functions do not depend on it.
    pub columns: Vec<Option<usize>>,
    /// Of a planar region.
    #[serde(skip)]
    pub moments: ChebyshevMoments,
}

impl Placed {
    pub fn new(region: Arc<Region>, columns: Vec<Option<usize>>) -> Self {
        Self {
            region,
            columns,
            moments: ChebyshevMoments::default(),
        }
    }

    /// The same region after its columns have moved: `place[old]` is the new one.
    pub fn moved(&self, place: &[Option<usize>]) -> Self {
        let columns = self.columns.iter().map(|c| c.and_then(|c| place[c]));
        Self {
            region: Arc::clone(&self.region),
            columns: columns.collect(),
            moments: self.moments.clone(),
        }
    }

    pub fn is_consistent(&self, dims: usize) -> bool {
        self.columns.len() == self.region.dim() && self.columns.iter().flatten().all(|c| *c < dims)
    }
}

fn plain<S: Serializer>(region: &Arc<Region>, to: S) -> Result<S::Ok, S::Error> {
    region.serialize(to)
}

fn shared<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Region>, D::Error> {
    Region::deserialize(from).map(Arc::new)
}
