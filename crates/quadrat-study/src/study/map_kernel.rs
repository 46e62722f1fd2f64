//! The kernel of maps whose study names none: a Matern over space, and a squared exponential over
//! whatever else is known of places.

use quadrat::kernel::Kernel;

use super::observe::Observe;
use super::shape::Shape;

/// What has a default, for those that have none.
pub(super) const WHERE: &str = "only maps have a default, whose tables look at regions, or at columns such as `lon` and `lat` or `x` and `y`";

/// Names of the two coordinates in space, in small letters.
const PAIRS: [[&str; 2]; 9] = [
    ["lon", "lat"],
    ["long", "lat"],
    ["lng", "lat"],
    ["longitude", "latitude"],
    ["x", "y"],
    ["x_m", "y_m"],
    ["x_km", "y_km"],
    ["east", "north"],
    ["easting", "northing"],
];

/// The default, where the tables look at places on a map; not over what the mean is linear in.
pub(super) fn of(observe: &[Observe], mean: &[String]) -> Option<Kernel> {
    let mut dims: Vec<String> = Vec::new();
    for name in observe.iter().flat_map(|o| o.support.names()) {
        if !dims.contains(&name.value) {
            dims.push(name.value.clone());
        }
    }
    let space = regions(observe).or_else(|| named(&dims))?;
    let others: Vec<String> = dims
        .into_iter()
        .filter(|d| !space.contains(d) && !mean.contains(d))
        .collect();
    let over_space = Kernel::matern32(space);
    Some(match others.is_empty() {
        true => over_space,
        false => over_space + Kernel::se(others),
    })
}

/// The dimensions of the first region.
fn regions(observe: &[Observe]) -> Option<Vec<String>> {
    let shapes = observe.iter().filter_map(|o| o.support.shape.as_ref());
    let mut dims = shapes.filter_map(|shape| match shape {
        Shape::Region(region) if region.dims.len() == 2 => Some(&region.dims),
        _ => None,
    });
    let dims = dims.next()?.iter().map(|dim| dim.value.clone());
    Some(dims.collect())
}

/// Whether two names, in this order, are those of coordinates in space.
pub fn is_plane(x: &str, y: &str) -> bool {
    let names = [x.to_lowercase(), y.to_lowercase()];
    PAIRS.iter().any(|pair| names == *pair)
}

/// A pair of dimensions whose names say that they are coordinates.
fn named(dims: &[String]) -> Option<Vec<String>> {
    let find = |name: &str| dims.iter().find(|d| d.to_lowercase() == name).cloned();
    let mut pairs = PAIRS.iter();
    pairs.find_map(|pair| pair.iter().map(|name| find(name)).collect())
}
