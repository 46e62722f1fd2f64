//! Where the inducing points of a sparse fit lie, along the axes of a figure.

use quadrat_study::numbers::count;
use quadrat_study::outcome::Outcome;

/// The inducing points of an output along some inputs, in the coordinates of the files; empty where
/// there are none, and along one of longitude and latitude only.
pub fn along(outcome: &Outcome, output: Option<&str>, inputs: &[&str]) -> Vec<Vec<f64>> {
    let posterior = &outcome.posterior;
    let Some(points) = posterior.inducing() else {
        return Vec::new();
    };
    let find = |name: &str| points.dims().iter().position(|dim| dim == name);
    let Some(columns) = inputs
        .iter()
        .map(|name| find(name))
        .collect::<Option<Vec<_>>>()
    else {
        return Vec::new();
    };
    let geographic = outcome.resolved.geographic.as_deref();
    let pair = geographic.map(|map| {
        map.dims
            .each_ref()
            .map(|dim| inputs.iter().position(|i| i == dim))
    });
    let pair = match pair {
        None | Some([None, None]) => None,
        Some([Some(lon), Some(lat)]) => Some((lon, lat)),
        // Kilometres along one axis have no longitude.
        Some(_) => return Vec::new(),
    };
    // The column that tells outputs apart holds their numbers.
    let told = points
        .dims()
        .iter()
        .position(|dim| !posterior.dims().contains(dim));
    let number = output.and_then(|name| posterior.outputs().iter().position(|o| o == name));
    let is_own = |row: &usize| match (told, number) {
        (Some(column), Some(number)) => points.extent(*row, column).0 == number as f64,
        _ => true,
    };
    let place = |row: usize| {
        let middle = |&column: &usize| {
            let (low, high) = points.extent(row, column);
            f64::midpoint(low, high)
        };
        let mut place: Vec<f64> = columns.iter().map(middle).collect();
        if let (Some(map), Some((lon, lat))) = (geographic, pair) {
            let [x, y] = map.degrees([place[lon], place[lat]]).ok()?;
            (place[lon], place[lat]) = (x, y);
        }
        Some(place)
    };
    (0..points.len()).filter(is_own).filter_map(place).collect()
}

/// What they are, for a legend.
pub fn label(marked: usize) -> String {
    count(marked, "inducing point")
}
