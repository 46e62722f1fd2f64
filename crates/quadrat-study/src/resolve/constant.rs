//! Inputs along which nothing differs.

use super::Observed;
use crate::shapes::Kind;

/// Tells of inputs of the kernel that are the same wherever any row looks.
pub(super) fn constant_inputs(tables: &[Observed], dims: &[String], warnings: &mut Vec<String>) {
    for dim in dims {
        if let Some((what, file)) = constant(tables, dim) {
            let mut along = tables.iter().filter_map(|table| table.places.dim(dim));
            let so = match along.any(|along| along.labels.is_some()) {
                true => "one label tells no effect apart, and its variance is that of the prior",
                false => {
                    "it tells nothing apart, and what is learned of a lengthscale of its own is the prior"
                }
            };
            warnings.push(format!("{what} of {file} is the same everywhere: {so}"));
        }
    }
}

/// Where an input stands that never differs: its columns and their file.
fn constant(tables: &[Observed], dim: &str) -> Option<(String, String)> {
    let mut seen = None;
    let mut looks = 0_usize;
    let mut is_same = |ends: (f64, f64)| {
        looks += 1;
        *seen.get_or_insert(ends) == ends
    };
    let mut told = None;
    for table in tables {
        let places = &table.places;
        if let Some(along) = places.dims.iter().find(|along| along.name == dim) {
            if !(0..places.len()).all(|row| is_same(along.ends(row))) {
                return None;
            }
            let columns: Vec<String> = along.headers.iter().map(|h| format!("`{h}`")).collect();
            let noun = if columns.len() > 1 {
                "box of"
            } else {
                "column"
            };
            let what = format!("the {noun} {}", columns.join(" and "));
            told.get_or_insert_with(|| (what, table.table.name().to_owned()));
            continue;
        }
        let shapes = places.shapes.as_ref()?;
        let at = shapes.dims.iter().position(|name| name == dim)?;
        let Kind::Bags(bags) = &shapes.kind else {
            return None;
        };
        let coordinate = &bags.points.coordinates[at];
        let rows = shapes.of_row.iter();
        let mut all = rows.flat_map(|&bag| &coordinate[bags.points.of(bag)]);
        if !all.all(|&x| is_same((x, x))) {
            return None;
        }
        told.get_or_insert_with(|| (format!("the column `{dim}`"), bags.name.clone()));
    }
    // One place has nothing that it could differ from.
    told.filter(|_| looks > 1)
}
