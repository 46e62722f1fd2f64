//! What a search for hyperparameters carries from one evaluation to the next.

use std::any::Any;
use std::sync::Arc;

/// What an engine found where the search was last, and how accurately the next evidence is needed.
///
/// Each engine keeps what it can begin the next evaluation with, in a type of its own.
///
/// Every search has a warm start of its own, so that results depend neither on threads nor on other
/// searches.
#[derive(Debug, Clone)]
pub struct WarmStart {
    pub(super) is_rough: bool,
    /// Whether few nodes of rows with two latent values will do, and few digits of covariances of
    /// regions.
    pub(super) is_coarse: bool,
    memory: Option<Arc<dyn Any + Send + Sync>>,
}

impl WarmStart {
    /// For a search that others will finish: evidence and gradient to about 1e-5.
    #[must_use]
    pub fn rough() -> Self {
        Self {
            is_rough: true,
            is_coarse: false,
            memory: None,
        }
    }

    /// For a search whose end others make exact: rows with two latent values take fewer nodes too,
    /// and covariances of regions have fewer digits where noise hides the rest.
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
            memory: None,
        }
    }

    /// What was kept last, where it is of this type.
    pub(super) fn memory<T: Any>(&self) -> Option<&T> {
        self.memory.as_ref()?.downcast_ref()
    }

    /// Keeps this for the next evaluation, in place of what was kept before.
    pub(super) fn keep<T: Any + Send + Sync>(&mut self, memory: T) {
        self.memory = Some(Arc::new(memory));
    }
}
