//! The polygons of section 5.6: census tracts about a city, and random groups of them.

use anyhow::{Context, Result, bail, ensure};
use geojson::{GeoJson, GeometryValue, Position};
use quadrat::support::{Polygon, Ring};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::data;
use crate::settings::Settings;

const FILE: &str = "areal/ny8_leukemia.geojson";
/// Middle of Syracuse, in km (UTM zone 18 N).
const CENTRE: [f64; 2] = [406.7, 4766.8];
/// Half of the side of the square looked at, in km.
pub const HALF: f64 = 12.0;
/// Groups whose population is given.
pub const GROUPS: usize = 40;

/// An area and its people.
#[derive(Debug, Clone)]
pub struct Tract {
    /// Rings in km from the middle of the city.
    parts: Vec<Vec<Ring>>,
    /// The same as one region.
    pub polygon: Polygon,
    /// Population.
    pub people: f64,
}

impl Tract {
    /// People per square km.
    #[must_use]
    pub fn density(&self) -> f64 {
        self.people / self.polygon.area()
    }
}

impl Tract {
    /// From exterior rings, each with its holes, in km. Borders that cross by rounding are drawn
    /// anew.
    ///
    /// # Errors
    /// Rings that bound no set.
    pub fn new(parts: Vec<Vec<Ring>>, people: f64) -> Result<Self> {
        Ok(Self {
            polygon: Polygon::mended(parts.clone())?.0,
            parts,
            people,
        })
    }

    /// Its polygons one by one.
    ///
    /// # Errors
    /// None for tracts that could be read.
    pub fn polygons(&self) -> Result<Vec<Polygon>> {
        let polygon = |part: &Vec<Ring>| Ok(Polygon::mended(vec![part.clone()])?.0);
        self.parts.iter().map(polygon).collect()
    }
}

/// Tracts whose bounding boxes have their middles in the square, and what was read.
///
/// # Errors
/// [`data::Missing`]; a file that cannot be read.
pub fn read(settings: &Settings) -> Result<(Vec<Tract>, String)> {
    let path = data::find(&settings.data, FILE)?;
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let GeoJson::FeatureCollection(collection) = text.parse().context(FILE)? else {
        bail!("{FILE} is not a collection of features");
    };
    let mut tracts = Vec::new();
    let mut refused = 0;
    for (row, feature) in collection.features.iter().enumerate() {
        let people = feature.property("POP8").and_then(|v| v.as_f64());
        let people = people.with_context(|| format!("{FILE}: feature {row} has no POP8"))?;
        let geometry = feature.geometry.as_ref().map(|g| &g.value);
        let parts: Vec<Vec<Ring>> = match geometry {
            Some(GeometryValue::Polygon { coordinates }) => vec![rings(coordinates)],
            Some(GeometryValue::MultiPolygon { coordinates }) => {
                coordinates.iter().map(|part| rings(part)).collect()
            }
            _ => bail!("{FILE}: feature {row} is not a polygon"),
        };
        if in_the_square(&parts) {
            match Tract::new(parts, people) {
                Ok(tract) => tracts.push(tract),
                Err(_) => refused += 1,
            }
        }
    }
    ensure!(
        tracts.len() > GROUPS,
        "{FILE} has only {} tracts in the square",
        tracts.len()
    );
    let statement = format!(
        "data: {FILE}, the {} census tracts of 1980 in a square of {} km about Syracuse, {:.0} people; {refused} more left out because their borders cross (the paper's output areas in Sheffield cannot be had)",
        tracts.len(),
        2.0 * HALF,
        tracts.iter().map(|t| t.people).sum::<f64>()
    );
    Ok((tracts, statement))
}

/// Whether the middle of the bounding box is.
fn in_the_square(parts: &[Vec<Ring>]) -> bool {
    (0..2).all(|d| {
        let all = parts.iter().flatten().flatten().map(|vertex| vertex[d]);
        let (lo, hi) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), c| {
            (lo.min(c), hi.max(c))
        });
        (0.5 * (lo + hi)).abs() < HALF
    })
}

fn rings(part: &[Vec<Position>]) -> Vec<Ring> {
    let vertex = |p: &Position| {
        let p = p.as_slice();
        [1e-3 * p[0] - CENTRE[0], 1e-3 * p[1] - CENTRE[1]]
    };
    part.iter()
        .map(|ring| ring.iter().map(vertex).collect())
        .collect()
}

/// Random groups of about equal numbers of tracts, each one region with its population.
///
/// # Errors
/// None for tracts that could be read.
pub fn groups(tracts: &[Tract], random: &mut ChaCha8Rng) -> Result<Vec<Tract>> {
    let mut order: Vec<usize> = (0..tracts.len()).collect();
    order.shuffle(random);
    (0..GROUPS)
        .map(|g| {
            let members = order.iter().skip(g).step_by(GROUPS).map(|&i| &tracts[i]);
            let parts: Vec<Vec<Ring>> = members.clone().flat_map(|t| t.parts.clone()).collect();
            Tract::new(parts, members.map(|t| t.people).sum())
        })
        .collect()
}

/// Root of the mean area: how large a tract is, in km.
#[must_use]
pub fn mean_size(tracts: &[Tract]) -> f64 {
    (tracts.iter().map(|t| t.polygon.area()).sum::<f64>() / tracts.len() as f64).sqrt()
}
