//! Whether numbers can be longitudes and latitudes.

use crate::diagnostic::{Problem, Remedy, shown};
use crate::geo_file::{GeoFile, Outline};
use crate::geographic::{Bounds, are_degrees, within};

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
