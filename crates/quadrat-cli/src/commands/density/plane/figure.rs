//! A density over a plane as a figure.

use std::path::Path;

use anyhow::Result;
use quadrat::density::Estimate2d;
use quadrat_plot::{Axis, Figure, Heading, Pixel, Report, SurfaceFigure};

use super::super::common::FINE;
use super::super::rows::Rows;
use super::contours::contours;
use super::picture::seen;
use super::said;
use crate::args::Density;
use crate::numbers::{count, percent};

/// Probabilities of the regions whose outlines are drawn.
const OUTLINES: [f64; 3] = [0.5, 0.8, 0.95];
/// Rows that are marked on the maps.
const MOST_MARKS: usize = 500;

/// The figure as the file that is asked for.
pub fn figure(path: &Path, args: &Density, rows: &Rows, estimate: &Estimate2d) -> Result<Vec<u8>> {
    let title = format!("Density of {} and {}", rows.names[0], rows.names[1]);
    let figure = surface(&title, rows, estimate);
    Ok(match path.extension().and_then(|e| e.to_str()) {
        Some("png") => quadrat_plot::png(&figure, FINE)?,
        Some("html") => {
            let report = Report {
                title,
                generated_by: format!("quadrat {}", crate::version::VERSION),
                summary: said::sentences(args, rows, estimate),
                warnings: said::warnings(rows, estimate),
                figures: vec![figure],
                ..Report::default()
            };
            quadrat_plot::html(&report).into_bytes()
        }
        _ => quadrat_plot::svg(&figure).into_bytes(),
    })
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
        marked: marks(rows),
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

/// The rows, where they are few enough to be seen.
fn marks(rows: &Rows) -> Vec<[f64; 2]> {
    let Some([x, y]) = rows.pairs().filter(|[x, _]| x.len() <= MOST_MARKS) else {
        return Vec::new();
    };
    let pairs = x
        .iter()
        .zip(y)
        .filter(|(x, y)| x.is_finite() && y.is_finite());
    pairs.map(|(x, y)| [*x, *y]).collect()
}
