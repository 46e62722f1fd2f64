//! What a search for hyperparameters carries from one evaluation to the next.

use std::sync::Arc;

use super::sites::Site;
use super::sparse::Found;

/// Sites found where the search was last, and how accurately the next evidence is needed.
///
/// Every search has a trail of its own, so that results depend neither on threads nor on other
/// searches.
#[derive(Debug, Clone)]
pub struct Trail {
    pub(super) is_rough: bool,
    /// Whether few nodes of rows with two latent values will do.
    pub(super) is_coarse: bool,
    sites: Option<Arc<[Vec<Site>; 2]>>,
    found: Option<Arc<Found>>,
}

impl Trail {
    /// For a search that others will finish: evidence and gradient to about 1e-5.
    #[must_use]
    pub fn rough() -> Self {
        Self {
            is_rough: true,
            is_coarse: false,
            sites: None,
            found: None,
        }
    }

    /// For a search whose end others make exact: rows with two latent values take fewer nodes too.
    #[must_use]
    pub fn coarse() -> Self {
        Self {
            is_coarse: true,
            ..Self::rough()
        }
    }

    /// For results: as accurate as they come.
    #[must_use]
    pub fn precise() -> Self {
        Self {
            is_rough: false,
            is_coarse: false,
            sites: None,
            found: None,
        }
    }

    /// Sites of the first and second latent function to begin with, where there are any.
    pub(super) fn sites(&self) -> Option<&[Vec<Site>; 2]> {
        self.sites.as_deref()
    }

    pub(super) fn leave(&mut self, sites: [Vec<Site>; 2]) {
        self.sites = Some(Arc::new(sites));
    }

    /// The belief about inducing values to begin with, where there is one.
    pub(super) fn found(&self) -> Option<&Found> {
        self.found.as_deref()
    }

    /// Lets the next search for a belief find out itself how quickly its steps approach.
    pub(super) fn forget_rate(&mut self) {
        if let Some(found) = &mut self.found {
            Arc::make_mut(found).rate = None;
        }
    }

    pub(super) fn leave_found(&mut self, found: Found) {
        self.found = Some(Arc::new(found));
    }
}
