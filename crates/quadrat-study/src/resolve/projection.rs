//! The pair of dimensions that are longitude and latitude, and where their projection is centred.

use std::sync::Arc;

use super::files::Files;
use crate::geographic::Geographic;
use crate::study::fields::{Check, Spanned};
use crate::study::shape::{RegionKeys, Shape};
use crate::study::support::Support;
use crate::study::{Study, Where};

/// A use of regions in the study, with the file that holds them.
struct Use<'s> {
    keys: &'s RegionKeys,
    file: &'s Spanned<String>,
    observed: bool,
}

/// The pair of dimensions that are longitude and latitude, projected about the observed regions.
pub fn pair(files: &Files<'_>, study: &Study) -> Option<Arc<Geographic>> {
    let observed = study
        .observe
        .iter()
        .filter_map(|observe| used(&observe.support, Some(&observe.file), true));
    let predicted = study
        .predict
        .iter()
        .filter_map(|predict| match &predict.place {
            Where::File { file, support } => used(support, file.as_ref(), false),
            Where::Grid { .. } | Where::Rows { .. } => None,
        });
    let all: Vec<Use<'_>> = observed.chain(predicted).collect();
    let first = all.iter().find(|use_| !use_.keys.planar)?;
    let names = |keys: &RegionKeys| [keys.dims[0].value.clone(), keys.dims[1].value.clone()];
    let dims = names(first.keys);
    for use_ in &all {
        consistent(files.check, use_.keys, &dims);
    }
    looks_swapped(files.check, first.keys);
    let geographic = || all.iter().filter(|use_| !use_.keys.planar);
    let any_observed = geographic().any(|use_| use_.observed);
    let mut polygons = Vec::new();
    for use_ in geographic().filter(|use_| use_.observed || !any_observed) {
        let outlines = files.outlines(use_.file, use_.keys)?;
        let own = outlines.iter().flatten();
        polygons.extend(own.map(|outline| outline.polygon.clone()));
    }
    match Geographic::about(dims, &polygons) {
        Ok(geographic) => Some(Arc::new(geographic)),
        Err(error) => {
            let message = format!("these regions cannot be put on one map: {error}");
            files
                .check
                .refuse(&first.keys.span, message, "or mend the file");
            None
        }
    }
}

fn used<'s>(
    support: &'s Support,
    table: Option<&'s Spanned<String>>,
    observed: bool,
) -> Option<Use<'s>> {
    let Some(Shape::Region(keys)) = &support.shape else {
        return None;
    };
    let file = keys.file.as_ref().or(table)?;
    Some(Use {
        keys,
        file,
        observed,
    })
}

fn consistent(check: &Check<'_>, keys: &RegionKeys, dims: &[String; 2]) {
    let names: Vec<&String> = keys.dims.iter().map(|dim| &dim.value).collect();
    let span = &keys.dims[0].span;
    if keys.planar && dims.iter().any(|dim| names.contains(&dim)) {
        check.refuse(
            span,
            format!("these regions are planar, but others of the study give `{}` and `{}` as longitude and latitude", dims[0], dims[1]),
            "make all of them planar or none",
        );
    } else if !keys.planar && names != [&dims[0], &dims[1]] {
        check.refuse(
            span,
            format!(
                "other regions of the study give longitude and latitude as `{}` and `{}`",
                dims[0], dims[1]
            ),
            "use the same two dimensions, in the same order, for all regions in longitude and latitude",
        );
    }
}

/// Refuses `dims = ["lat", "lon"]`, which GeoJSON cannot mean.
fn looks_swapped(check: &Check<'_>, keys: &RegionKeys) {
    let starts = |at: usize, words: &[&str]| {
        let name = keys.dims[at].value.to_lowercase();
        words.iter().any(|word| name.starts_with(word))
    };
    if starts(0, &["lat"]) && starts(1, &["lon", "lng"]) {
        check.refuse(
            &keys.dims[0].span,
            "GeoJSON has longitude first, but `dims` names latitude first",
            format!(
                "write `dims = [\"{}\", \"{}\"]`",
                keys.dims[1].value, keys.dims[0].value
            ),
        );
    }
}
