//! `keep` in `[[predict]]`: columns of the table asked that stand in the answer too.

use super::columns::find;
use crate::places::{Labels, Places};
use crate::study::fields::{Check, Spanned};
use crate::table::Table;

/// Gives places the columns that the prediction keeps; nothing where it was refused.
pub(super) fn add(
    check: &Check<'_>,
    table: &Table,
    keep: &[Spanned<String>],
    places: &mut Places,
) -> Option<()> {
    let wanted: Vec<&Spanned<String>> = keep.iter().collect();
    for (name, at) in keep.iter().zip(find(check, table, &wanted)?) {
        let cells = table
            .texts(at)
            .map_err(|problems| check.extend(problems))
            .ok()?;
        places.labels.push(Labels {
            header: name.value.clone(),
            cells,
        });
    }
    Some(())
}

/// Refuses columns where there is no table to take them from.
pub(super) fn without_table(check: &Check<'_>, keep: &[Spanned<String>]) {
    if let Some(name) = keep.first() {
        check.refuse(
            &name.span,
            "`keep` names a column, but there is no table of places",
            "leave it out: grids have no names, and regions and bags come with their keys",
        );
    }
}
