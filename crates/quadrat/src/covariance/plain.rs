//! Whether covariances need no integration.

use super::regions::TermGroup;
use super::tile::Sides;

/// Whether every entry comes from one pair of atoms, once: nothing is summed.
pub(super) fn is_plain(groups: &[TermGroup<'_>]) -> bool {
    match groups {
        [one] => {
            let Sides { a, b } = one.sides();
            one.edges.is_none() && a.all_single() && b.all_single()
        }
        _ => false,
    }
}
