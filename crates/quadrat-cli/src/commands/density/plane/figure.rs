//! A density over a plane as a figure.

use std::path::Path;

use anyhow::Result;
use quadrat::density::Estimate2d;
use quadrat_plot::{Axis, Figure, Heading, Pixel, SurfaceFigure};

use super::super::rows::Rows;
use super::contours::contours;
use super::picture::seen;
use super::said;
use crate::args::Density;
use crate::commands::figures::drawn;
use crate::numbers::{count, percent};

/// Probabilities of the regions whose outlines are drawn.
const OUTLINES: [f64; 3] = [0.5, 0.8, 0.95];

/// The figure as the file that is asked for.
pub fn figure(path: &Path, args: &Density, rows: &Rows, estimate: &Estimate2d) -> Result<Vec<u8>> {
    let title = format!("Density of {} and {}", rows.names[0], rows.names[1]);
    let figure = surface(&title, rows, estimate);
    let (summary, warnings) = (
        said::sentences(args, rows, estimate),
        said::warnings(rows, estimate.warnings()),
    );
    drawn(path, &title, summary, warnings, vec![figure])
}

fn surface(title: &str, rows: &Rows, estimate: &Estimate2d) -> Figure {
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
    let held = OUTLINES.map(percent).join(", ");
    let caption = format!(
        "The density of {}, and its standard deviation. Outlines hold {held} of the probability in the smallest area.",
        count(rows.len(), "row"),
    );
    Figure::Surface(SurfaceFigure {
        heading: Heading::new("density", title).with_caption(caption),
        x: Axis::new(&rows.names[0]),
        y: Axis::new(&rows.names[1]),
        value: Axis::new("density"),
        predicted,
        level: estimate.level(),
        borders: outlines(estimate),
        marked: rows.marks(),
        marked_label: "Rows".to_owned(),
        ..SurfaceFigure::default()
    })
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
