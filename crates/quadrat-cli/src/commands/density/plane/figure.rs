//! A density over a plane as a figure.

use quadrat::density::Estimate2d;
use quadrat_plot::{Axis, Figure, Heading, Pixel, SurfaceFigure};
use quadrat_study::density::Rows;
use quadrat_study::numbers::{count, percent};

use super::contours::contours;
use super::picture::seen;

/// Probabilities of the regions whose outlines are drawn.
const OUTLINES: [f64; 3] = [0.5, 0.8, 0.95];

/// The map of the density, with the outlines of the smallest regions; over areas with their borders
/// alone, beside which nobody could tell them.
pub fn surface(title: &str, rows: &Rows, estimate: &Estimate2d) -> Figure {
    let [x, y] = [0, 1].map(|axis| seen(estimate, axis));
    let (columns, edges) = (estimate.shape()[1], [0, 1].map(|axis| estimate.edges(axis)));
    let pixel = |i: usize, j: usize| {
        let cell = i * columns + j;
        Pixel {
            x0: edges[0][i],
            x1: edges[0][i + 1],
            y0: edges[1][j],
            y1: edges[1][j + 1],
            mean: estimate.density()[cell],
            sd: estimate.sd()[cell],
            lower: estimate.lower()[cell],
            upper: estimate.upper()[cell],
            chances: Vec::new(),
        }
    };
    let predicted = x.clone().flat_map(|i| y.clone().map(move |j| (i, j)));
    let predicted: Vec<Pixel> = predicted.map(|(i, j)| pixel(i, j)).collect();
    let (what, lines, said) = match rows.are_areas() {
        true => (
            "area",
            land(rows),
            "Lines are the borders of the areas.".to_owned(),
        ),
        false => {
            let lines = outlines(estimate).into_iter().chain(land(rows)).collect();
            let held = OUTLINES.map(percent).join(", ");
            let said = format!("Outlines hold {held} of the probability in the smallest area.");
            ("row", lines, said)
        }
    };
    let caption = format!(
        "The density of {}, and its standard deviation. {said}",
        count(rows.len(), what),
    );
    Figure::Surface(SurfaceFigure {
        heading: Heading::new("density", title).with_caption(caption),
        x: Axis::new(&rows.names[0]),
        y: Axis::new(&rows.names[1]),
        value: Axis::new("density"),
        predicted,
        level: estimate.level(),
        borders: lines,
        marked: rows.marks(),
        marked_label: "Rows".to_owned(),
        ..SurfaceFigure::default()
    })
}

/// The polygons inside of which alone values can be, as closed lines.
fn land(rows: &Rows) -> Vec<Vec<[f64; 2]>> {
    let mut rings = rows.borders();
    for ring in &mut rings {
        ring.extend(ring.first().copied());
    }
    rings
}

/// Outlines of the regions of highest density.
fn outlines(estimate: &Estimate2d) -> Vec<Vec<[f64; 2]>> {
    let nodes = [0, 1].map(|axis| {
        let edges = estimate.edges(axis);
        let mut nodes = vec![edges[0]];
        nodes.extend(estimate.places(axis));
        nodes.push(edges[edges.len() - 1]);
        nodes
    });
    let [m, n] = estimate.shape();
    let value = |i: usize, j: usize| match (1..=m).contains(&i) && (1..=n).contains(&j) {
        true => estimate.density()[(i - 1) * n + j - 1],
        false => 0.0,
    };
    OUTLINES
        .iter()
        .flat_map(|level| {
            let density = estimate.highest_density_region(*level).density;
            contours(&nodes[0], &nodes[1], value, density)
        })
        .collect()
}
