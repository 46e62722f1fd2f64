//! Whether numbers can be longitudes and latitudes, and the pair of dimensions that are.

use std::sync::Arc;

use super::files::Files;
use crate::diagnostic::{Problem, Remedy, shown};
use crate::geo_file::{GeoFile, Outline};
use crate::geographic::Geographic;
use crate::study::fields::{Check, Spanned};
use crate::study::shape::{RegionKeys, Shape};
use crate::study::support::Support;
use crate::study::{Study, Where};

/// Parts of names of coordinate systems of longitude and latitude that differ by metres only.
const DEGREES: [&str; 5] = ["CRS84", "4326", "4269", "4258", "4979"];

/// How to take a planar file.
fn planar() -> Remedy {
    let rest = "to take the numbers as they are (lengthscales are then in their unit)";
    Remedy::or_flags(
        format!("add `planar = true` {rest}"),
        format!("add `--planar` {rest}"),
    )
}

/// Refuses a file that names a coordinate system other than longitude and latitude.
pub fn crs(file: &GeoFile) -> Result<(), Box<Problem>> {
    let Some((name, range)) = &file.crs else {
        return Ok(());
    };
    if DEGREES.iter().any(|known| name.ends_with(known)) {
        return Ok(());
    }
    let message = format!(
        "the file names the coordinate system `{}`, which is not longitude and latitude",
        shown(name)
    );
    Err(Box::new(
        Problem::new(message)
            .at(file.place(range))
            .remedy(planar())
            .remedy(
                "or convert it, such as with `ogr2ogr -t_srs EPSG:4326 out.geojson in.geojson`",
            ),
    ))
}

/// Refuses polygons whose numbers cannot be longitudes and latitudes; `key` is the property that
/// names them.
pub fn outlines(
    file: &GeoFile,
    outlines: &[Option<Outline>],
    key: Option<&str>,
) -> Result<(), Box<Problem>> {
    let bounds = |outline: &Outline| outline.polygon.bounds();
    let within = |range: (f64, f64), most: f64| range.0 >= -most && range.1 <= most;
    let are_degrees = |[x, y]: Bounds| within(x, 360.0) && within(y, 90.0);
    let fits = |outline: &&Outline| are_degrees(bounds(outline));
    let outlines = || outlines.iter().enumerate();
    let known = || outlines().filter_map(|(at, outline)| Some((at, outline.as_ref()?)));
    let Some((bad, outline)) = known().find(|(_, outline)| !fits(outline)) else {
        return Ok(());
    };
    let [x, y] = bounds(outline);
    let called = file.called(bad, key);
    let all = || known().map(|(_, outline)| outline);
    let good = all().filter(fits).map(bounds).reduce(united);
    let fits_swapped = are_degrees([y, x]) && good.is_some_and(|good| near([y, x], good));
    let swapped = all().all(|outline| {
        let [x, y] = bounds(outline);
        within(x, 90.0) && within(y, 180.0)
    });
    let extent = format!("{} to {} and {} to {}", x.0, x.1, y.0, y.1);
    let problem = if fits_swapped {
        Problem::new(format!(
            "{called} spans {extent}, but would lie among the others with its two numbers exchanged: it looks like latitude first, but GeoJSON has longitude first"
        ))
        .remedy("exchange the two numbers of every position of this feature")
    } else if swapped {
        Problem::new(format!(
            "{called} spans {extent}: the coordinates look like latitude first, but GeoJSON has longitude first"
        ))
        .remedy("swap them in the file")
    } else {
        Problem::new(format!(
            "{called} spans {extent}: the coordinates look planar, not like longitude and latitude"
        ))
        .remedy(planar())
    };
    Err(Box::new(problem.at(file.feature_place(bad))))
}

type Bounds = [(f64, f64); 2];

fn united(a: Bounds, b: Bounds) -> Bounds {
    [0, 1].map(|d| (a[d].0.min(b[d].0), a[d].1.max(b[d].1)))
}

/// Whether the middle of a box lies among others, or no further off than those are wide.
fn near(own: Bounds, others: Bounds) -> bool {
    (0..2).all(|d| {
        let reach = others[d].1 - others[d].0;
        let middle = f64::midpoint(own[d].0, own[d].1);
        middle >= others[d].0 - reach && middle <= others[d].1 + reach
    })
}

/// A longitude and latitude of a table; the error is the fact and which of them is at fault.
pub fn degrees(lon: f64, lat: f64) -> Result<(), (String, usize)> {
    if !(-180.0..=360.0).contains(&lon) {
        Err((
            format!("{lon} is no longitude between -180 and 180 (or 360)"),
            0,
        ))
    } else if !(-90.0..=90.0).contains(&lat) {
        Err((format!("{lat} is no latitude between -90 and 90"), 1))
    } else {
        Ok(())
    }
}

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
