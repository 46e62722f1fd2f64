//! Which picture shows a prediction at points or over boxes: along one dimension, over two, or row
//! by row.

use quadrat::kernel::{Kernel, Role};
use quadrat_study::outcome::Outcome;
use quadrat_study::places::Places;
use quadrat_study::resolve::Observed;
use quadrat_study::study::map_kernel::is_plane;

use super::cells::{self, Cell};
use super::raster::SPARSE;
use super::slices::{self, MOST, Slices};

/// The picture of a prediction.
#[derive(Debug, PartialEq)]
pub enum View {
    /// A curve along a dimension.
    Along(usize),
    /// A curve along a dimension for each of some labels.
    Each(usize, Slices),
    /// Maps over two dimensions.
    Over(Over),
    /// The rows themselves, with the number of maps where these would be too many.
    Rows(Option<usize>),
}

/// Maps over two dimensions.
#[derive(Debug, PartialEq)]
pub struct Over {
    /// The dimensions across and up.
    pub pair: (usize, usize),
    /// Whether one unit is as long along both.
    pub equal_scale: bool,
    /// One map for each.
    pub slices: Slices,
    /// The rectangles of the rows of every slice.
    pub cells: Vec<Vec<Cell>>,
}

/// What the fit knows of the dimensions.
pub struct Knowledge<'a> {
    kernel: &'a Kernel,
    /// Longitude and latitude.
    geographic: Option<&'a [String; 2]>,
}

impl<'a> Knowledge<'a> {
    /// That of a fit.
    pub fn of(outcome: &'a Outcome) -> Self {
        Self {
            kernel: outcome.posterior.kernel(),
            geographic: outcome.resolved.geographic.as_deref().map(|map| &map.dims),
        }
    }

    /// Whether two dimensions, in this order, are those of a plane: coordinates by their names or
    /// under one lengthscale.
    pub fn is_plane(&self, x: &str, y: &str) -> bool {
        is_plane(x, y)
            || self
                .geographic
                .is_some_and(|[lon, lat]| x == lon && y == lat)
            || self.share_a_lengthscale(x, y)
    }

    fn share_a_lengthscale(&self, x: &str, y: &str) -> bool {
        let columns = self.kernel.columns();
        let holds = |own: &[usize], name: &str| own.iter().any(|&c| columns[c] == name);
        let mut parameters = self.kernel.parameters().iter();
        parameters.any(|parameter| match &parameter.role {
            Role::Lengthscale(own) => holds(own, x) && holds(own, y),
            _ => false,
        })
    }

    /// Whether some term of the kernel acts on both dimensions, so that the function along one
    /// depends on the other.
    fn interact(&self, x: &str, y: &str) -> bool {
        let columns = self.kernel.columns();
        // Of the parts of a product only the first has a variance.
        let mut terms: Vec<Vec<&str>> = Vec::new();
        for parameter in self.kernel.parameters() {
            if parameter.role == Role::Variance || terms.is_empty() {
                terms.push(Vec::new());
            }
            let own = parameter.leaf_columns.iter().map(|&c| columns[c].as_str());
            terms
                .last_mut()
                .into_iter()
                .for_each(|term| term.extend(own.clone()));
        }
        terms
            .iter()
            .any(|term| term.contains(&x) && term.contains(&y))
    }
}

/// The picture of some places that are points or boxes.
pub fn of(places: &Places, known: &Knowledge<'_>) -> View {
    let all = slices::varying(places);
    // Labels are no axis.
    let is_label = |d: &usize| places.dims[*d].labels.is_some();
    let (labels, varying): (Vec<usize>, Vec<usize>) = all.iter().partition(|d| is_label(d));
    let alone = |d: usize| is_alone(places, d) && free(known, places, &all, d);
    match varying.as_slice() {
        [] if places.dims.len() == 1 && !is_label(&0) => return View::Along(0),
        [] => return View::Rows(None),
        [x] if labels.is_empty() || alone(*x) => return View::Along(*x),
        [x] => return each(places, *x, labels),
        _ => {}
    }
    let name = |d: usize| places.dims[d].name.as_str();
    let count = varying.len();
    let positions = (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j)));
    let mut too_many = None;
    let mut over = |pair, is_plane: bool, with_dots: bool| {
        let found = over(places, pair, &all, is_plane, with_dots)?;
        if found.slices.rows.len() > MOST {
            too_many.get_or_insert(found.slices.rows.len());
            return None;
        }
        Some(found)
    };
    // A plane is drawn as one, whatever else is known of its points.
    let plane = |(i, j): (usize, usize)| {
        let (a, b) = (varying[i], varying[j]);
        let mut either = [(a, b), (b, a)].into_iter();
        either.find(|&(x, y)| known.is_plane(name(x), name(y)))
    };
    let planes: Vec<(usize, usize)> = positions.clone().filter_map(plane).collect();
    for &pair in &planes {
        if let Some(found) = over(pair, true, true) {
            return View::Over(found);
        }
    }
    if !planes.is_empty() {
        return View::Rows(too_many);
    }
    let distinct: Vec<usize> = varying.iter().map(|&d| distinct(places, d)).collect();
    for (i, j) in positions {
        let pair = (varying[i], varying[j]);
        // Two inputs of one term are a surface: a curve along either would depend on the other.
        let together = count == 2 && known.interact(name(pair.0), name(pair.1));
        let crossings = distinct[i].saturating_mul(distinct[j]);
        if !together && crossings > SPARSE.saturating_mul(places.len()) {
            continue;
        }
        // Where no term knows of both, a place of its own in every row makes a curve with
        // covariates.
        if !together && (alone(pair.0) || alone(pair.1)) {
            continue;
        }
        if let Some(found) = over(pair, false, together) {
            return View::Over(found);
        }
    }
    let along = varying.iter().copied().find(|&d| alone(d));
    along.map_or(View::Rows(too_many), View::Along)
}

/// A curve for every combination of labels, where these are few.
fn each(places: &Places, x: usize, labels: Vec<usize>) -> View {
    let slices = Slices {
        rows: slices::grouped(places, &labels),
        dims: labels,
    };
    match slices.rows.len() <= MOST {
        true => View::Each(x, slices),
        false => View::Rows(None),
    }
}

/// How many different places there are along a dimension.
fn distinct(places: &Places, d: usize) -> usize {
    let mut keys: Vec<Vec<u64>> = (0..places.len())
        .map(|row| slices::key(places, &[d], row))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys.len()
}

/// Whether the function along a dimension depends on no other that varies.
fn free(known: &Knowledge<'_>, places: &Places, varying: &[usize], d: usize) -> bool {
    let name = |d: usize| places.dims[d].name.as_str();
    let others = varying.iter().filter(|&&other| other != d);
    others
        .into_iter()
        .all(|&other| !known.interact(name(d), name(other)))
}

/// Whether every row has a place of its own along a dimension.
fn is_alone(places: &Places, d: usize) -> bool {
    let dim = &places.dims[d];
    let mut ends: Vec<(f64, f64)> = (0..places.len()).map(|row| dim.ends(row)).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    ends.windows(2).all(|pair| match dim.second {
        None => pair[0].0 < pair[1].0,
        Some(_) => pair[0].1 <= pair[1].0,
    })
}

/// The maps over a pair of dimensions, if the rows are cells of them, or may be dots.
fn over(
    places: &Places,
    pair: (usize, usize),
    varying: &[usize],
    equal_scale: bool,
    with_dots: bool,
) -> Option<Over> {
    let keys: Vec<Vec<u64>> = (0..places.len())
        .map(|row| slices::key(places, &[pair.0, pair.1], row))
        .collect();
    let others = varying
        .iter()
        .copied()
        .filter(|d| ![pair.0, pair.1].contains(d));
    let slices = slices::of(&keys, places, &others.collect::<Vec<_>>());
    let cells = slices.rows.iter().map(|rows| {
        let dots = || match with_dots {
            true => cells::dots(places, rows, pair, equal_scale),
            false => None,
        };
        cells::of(places, rows, pair).or_else(dots)
    });
    Some(Over {
        pair,
        equal_scale,
        cells: cells.collect::<Option<_>>()?,
        slices,
    })
}

/// The place that all rows of a figure share along the dimensions that are not its axes. Where they
/// differ along one, that is a covariate.
pub struct Shared<'a>(Vec<(&'a str, (f64, f64))>);

impl<'a> Shared<'a> {
    /// That of some rows.
    pub fn of(places: &'a Places, rows: &[usize], axes: &[usize]) -> Self {
        let others = (0..places.dims.len()).filter(|d| !axes.contains(d));
        let shared = others.filter_map(|d| {
            let dim = &places.dims[d];
            let mut ends = rows.iter().map(|&row| dim.ends(row));
            let first = ends.next()?;
            ends.all(|other| other == first)
                .then_some((dim.name.as_str(), first))
        });
        Self(shared.collect())
    }

    /// Whether an observed row lies there too.
    pub fn holds(&self, table: &Observed, row: usize) -> bool {
        let own = |name: &str| table.places.dim(name).map(|dim| dim.ends(row));
        self.0.iter().all(|&(name, ends)| own(name) == Some(ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(columns: &[(&str, &[f64])], kernel: &str) -> View {
        let kernel = Kernel::parse(kernel).unwrap();
        let known = Knowledge {
            kernel: &kernel,
            geographic: None,
        };
        of(&Places::points(columns), &known)
    }

    fn over(view: &View) -> (&(usize, usize), bool, usize) {
        match view {
            View::Over(over) => (&over.pair, over.equal_scale, over.slices.rows.len()),
            other => panic!("{other:?}"),
        }
    }

    /// Numbers between 0 and 1 of which no two are alike.
    fn scattered(n: usize, step: f64) -> Vec<f64> {
        (0..n).map(|i| (i as f64 * step).fract()).collect()
    }

    #[test]
    fn a_covariate_is_no_axis() {
        let t: Vec<f64> = (0..20).map(f64::from).collect();
        let rain = scattered(20, 0.754_877_666);
        let weekend: Vec<f64> = (0..20).map(|i| f64::from(i % 7 / 5)).collect();
        let columns: [(&str, &[f64]); 2] = [("rain", &rain), ("t", &t)];
        assert_eq!(view(&columns, "se(t) + linear(rain)"), View::Along(0));
        let columns: [(&str, &[f64]); 2] = [("t", &t), ("rain", &rain)];
        assert_eq!(view(&columns, "se(t) + linear(rain)"), View::Along(0));
        let columns: [(&str, &[f64]); 2] = [("weekend", &weekend), ("t", &t)];
        assert_eq!(view(&columns, "se(t) + linear(weekend)"), View::Along(1));
        // Inputs of one term are a surface.
        let columns: [(&str, &[f64]); 2] = [("t", &t), ("rain", &rain)];
        assert_eq!(over(&view(&columns, "se(t, rain)")), (&(0, 1), false, 1));
        assert_eq!(
            over(&view(&columns, "se(t) * se(rain)")),
            (&(0, 1), false, 1)
        );
    }

    #[test]
    fn coordinates_are_a_plane_whatever_else_varies() {
        let (x, y) = (scattered(30, 0.754_877_666), scattered(30, 0.569_840_291));
        let distance = scattered(30, 0.618_033_989);
        let columns: [(&str, &[f64]); 3] = [("dist", &distance), ("north", &y), ("east", &x)];
        let kernel = "matern32(east, north) + linear(dist)";
        assert_eq!(over(&view(&columns, kernel)), (&(2, 1), true, 1));
        let columns: [(&str, &[f64]); 2] = [("a", &x), ("b", &y)];
        assert!(over(&view(&columns, "se(a, b, shared = true)")).1);
        assert!(!over(&view(&columns, "se(a, b)")).1);
        // Many inputs under one term are no map of the first two, and no curve along the first.
        let columns: [(&str, &[f64]); 3] = [("a", &x), ("b", &y), ("c", &distance)];
        assert_eq!(view(&columns, "se(a, b, c)"), View::Rows(None));
    }

    #[test]
    fn one_place_in_several_years_is_a_map_for_each_of_a_few() {
        let years = |count: usize| {
            let row = |i: usize| (i % 4 / 2, i % 2, 2000 + i / 4);
            let rows: Vec<_> = (0..4 * count).map(row).collect();
            let column = |f: fn(&(usize, usize, usize)) -> usize| -> Vec<f64> {
                rows.iter().map(|r| f(r) as f64).collect()
            };
            let (x, y, year) = (column(|r| r.0), column(|r| r.1), column(|r| r.2));
            view(
                &[("x", &x), ("y", &y), ("year", &year)],
                "matern32(x, y) + se(year)",
            )
        };
        assert_eq!(over(&years(3)), (&(0, 1), true, 3));
        assert_eq!(years(9), View::Rows(Some(9)));
    }

    #[test]
    fn overlapping_boxes_of_a_dimension_are_no_places_of_their_own() {
        let mut places = Places::points(&[("t", &[0.0, 1.0]), ("u", &[0.3, 0.9])]);
        places.dims[0].second = Some(vec![1.0, 2.0]);
        assert!(is_alone(&places, 0));
        places.dims[0].second = Some(vec![1.5, 2.0]);
        assert!(!is_alone(&places, 0));
        assert!(is_alone(&places, 1));
    }
}
