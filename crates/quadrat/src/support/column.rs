//! A column of numbers that copies share until one of them changes.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Numbers of all atoms along one input: with a million points of many inputs, what a fit makes of
/// them must not be copied for every part that looks at them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<f64>", into = "Vec<f64>")]
pub(super) struct AtomColumn(Arc<Vec<f64>>);

impl From<Vec<f64>> for AtomColumn {
    fn from(numbers: Vec<f64>) -> Self {
        Self(Arc::new(numbers))
    }
}

impl From<AtomColumn> for Vec<f64> {
    fn from(column: AtomColumn) -> Self {
        Arc::unwrap_or_clone(column.0)
    }
}

impl Deref for AtomColumn {
    type Target = Vec<f64>;

    fn deref(&self) -> &Vec<f64> {
        &self.0
    }
}

impl DerefMut for AtomColumn {
    fn deref_mut(&mut self) -> &mut Vec<f64> {
        Arc::make_mut(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_until_one_changes() {
        let mut column = AtomColumn::from(vec![1.0, 2.0]);
        let copy = column.clone();
        assert!(std::ptr::eq(column.as_ptr(), copy.as_ptr()));
        column.push(3.0);
        assert_eq!((column.len(), copy.len()), (3, 2));
        assert_eq!(*copy, [1.0, 2.0]);
    }
}
