//! Rows of a table joined to the features of a GeoJSON file.

use std::collections::HashMap;
use std::sync::Arc;

use super::files::Files;
use super::join::{Joined, canonical, join, unused};
use crate::diagnostic::{Problem, Problems, shown};
use crate::geo_file::{GeoFile, key_text};
use crate::shapes::{Kind, Shapes};
use crate::study::fields::Spanned;
use crate::study::shape::RegionKeys;
use crate::suggest;
use crate::table::Table;

/// How many problems of one kind are listed.
const LISTED: usize = 20;

/// The regions of the rows of a table, or of every feature when there is no table. `table` comes
/// with the name it has in the study.
pub fn regions(
    files: &Files<'_>,
    keys: &RegionKeys,
    table: Option<(&Table, &Spanned<String>)>,
    observed: bool,
) -> Option<Shapes> {
    let check = files.check;
    let own = table.filter(|(table, _)| table.geo().is_some());
    let Some(file) = keys.file.as_ref().or(own.map(|(_, file)| file)) else {
        check.refuse(
            &keys.span,
            "region needs `file`",
            "name the GeoJSON file: `region = { file = \"districts.geojson\", .. }`",
        );
        return None;
    };
    let regions = files.regions(file, keys)?;
    let geo = &regions.file;
    let same = |(table, _): &(&Table, _)| table.geo().is_some_and(|t| Arc::ptr_eq(t, geo));
    let shapes = |header: String, keys_of_rows: Vec<String>, of_row: Vec<usize>| Shapes {
        dims: keys.dims.iter().map(|dim| dim.value.clone()).collect(),
        header,
        keys: keys_of_rows,
        of_row,
        kind: Kind::Regions(Arc::clone(&regions)),
    };
    let Some((table, _)) = table.filter(|table| !same(table)) else {
        let (header, names) = match &keys.key {
            Some(key) => (key.value.clone(), feature_keys(files, geo, key)?),
            None if geo.has_ids() => {
                let ids = geo.features.iter().flat_map(|f| f.id.clone());
                ("id".to_owned(), ids.collect())
            }
            None => {
                let numbers = (1..=geo.features.len()).map(|n| n.to_string());
                ("feature".to_owned(), numbers.collect())
            }
        };
        let all = (0..names.len()).collect();
        return Some(shapes(header, names, all));
    };
    let Some(key) = &keys.key else {
        check.refuse(
            &keys.span,
            "region needs `key`",
            format!(
                "name the column of {} that says which region, such as `key = \"id\"`",
                table.name()
            ),
        );
        return None;
    };
    let names = feature_keys(files, geo, key)?;
    let Joined { rows, of_row } = join(files, table, key, &names, "region", &geo.name)?;
    if observed {
        unused(files, &names, &of_row, "region", &geo.name, table.name());
    }
    Some(shapes(key.value.clone(), rows, of_row))
}

/// The key of every feature: the property of that name, else the feature's `id`; no two alike.
fn feature_keys(files: &Files<'_>, geo: &GeoFile, key: &Spanned<String>) -> Option<Vec<String>> {
    let name = &key.value;
    let is_property = geo.properties.contains(name);
    if !is_property && !geo.has_ids() {
        let properties: Vec<&str> = geo.properties.iter().map(String::as_str).collect();
        let near = suggest::nearest(name, properties.iter().copied());
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        files.check.refuse(
            &key.span,
            format!(
                "the features of {} have neither a property `{}` nor an `id`{hint}",
                geo.name,
                shown(name)
            ),
            format!("their properties are {}", suggest::list(&properties)),
        );
        return None;
    }
    let mut problems = Problems::default();
    let mut keys = Vec::with_capacity(geo.features.len());
    let mut first: HashMap<String, usize> = HashMap::new();
    for (i, feature) in geo.features.iter().enumerate() {
        let found = if is_property {
            geo.property(i, name).map(|value| key_text(&value))
        } else {
            feature.id.clone()
        };
        let problem = match found.filter(|key| !key.is_empty()) {
            None => Problem::new(format!(
                "feature {} lacks the property `{}`, which is the key",
                i + 1,
                shown(name)
            ))
            .remedy("fill it in, or remove the feature"),
            Some(found) => {
                let earlier = *first.entry(canonical(&found).to_owned()).or_insert(i);
                keys.push(found.clone());
                if earlier == i {
                    continue;
                }
                Problem::new(format!(
                    "two features have the key `{}`: this one and that of line {}",
                    shown(&found),
                    geo.features[earlier].line
                ))
                .remedy("merge them into one MultiPolygon, or use another key")
            }
        };
        if problems.0.len() < LISTED {
            let mut place = geo.feature_place(i);
            place.spot = Some(geo.property_spot(i, name));
            problems.push(problem.at(place));
        }
    }
    problems
        .or(keys)
        .map_err(|problems| files.check.extend(problems))
        .ok()
}
