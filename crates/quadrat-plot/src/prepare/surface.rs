//! A surface figure, ready to draw.

use super::{EXACT_WORDS, Key, flattened, range, settle, spread, widened};
use crate::figure::{Area, Pixel, Ring, SurfaceFigure};
use crate::format::{count, ends};
use crate::palette::{INK, SPREAD, VALUES};

/// Predicted cells drawn; more are averaged over blocks.
const CELLS: usize = 6_400;
/// Observed areas, and true values, drawn.
const AREAS: usize = 10_000;
/// Height over width of a frame whose axes have scales of their own.
const ASPECT: f64 = 0.87;
/// The least and the greatest of the others.
const ASPECTS: (f64, f64) = (0.3, 2.0);

/// Vertices of outlines are dropped where they are nearer to each other than this share of a frame.
const FINE: f64 = 2e-3;

/// Ranges of x and y.
type Ranges = ((f64, f64), (f64, f64));

/// Ranges of the axes, the cells to draw, and the maps that show them.
pub(crate) struct Surface {
    pub x_range: (f64, f64),
    pub y_range: (f64, f64),
    /// Height over width of the frames.
    pub aspect: f64,
    pub sheets: Vec<Sheet>,
    pub observed: Vec<Area>,
    pub predicted: Vec<Pixel>,
    pub reference: Vec<Area>,
    /// Outlines within the frames.
    pub borders: Vec<Ring>,
    /// Places marked on the predicted maps, with their legend.
    pub marked: Vec<[f64; 2]>,
    pub keys: Vec<Key>,
    pub remarks: Vec<String>,
}

/// One of the maps.
pub(crate) struct Sheet {
    pub title: String,
    pub shown: Shown,
    pub colours: &'static [&'static str],
    pub range: (f64, f64),
    /// Labels of the colour scale, each with its place from 0 to 1.
    pub labels: Vec<(f64, String)>,
}

/// What a map shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shown {
    Observed,
    Mean,
    Reference,
    Sd,
    /// One of the probabilities.
    Chance(usize),
}

impl Surface {
    /// The radius of the marks, in units of the SVG: few are as large as those of a curve, many
    /// leave the map to be seen.
    pub(crate) fn radius(&self) -> f64 {
        (20.0 / (self.marked.len().max(1) as f64).sqrt()).clamp(1.9, 4.0)
    }

    /// Maps side by side.
    pub(crate) fn columns(&self) -> usize {
        match self.sheets.len() {
            // Four make two rows of two.
            0..=2 | 4 => 2,
            _ => 3,
        }
    }

    /// Edges and values of the cells of a map.
    pub(crate) fn cells(&self, shown: Shown) -> Vec<([f64; 4], f64)> {
        let area = |a: &Area| ([a.x0, a.x1, a.y0, a.y1], a.value);
        let value = |p: &Pixel| match shown {
            Shown::Sd => p.sd,
            Shown::Chance(i) => p.chances.get(i).copied().unwrap_or(f64::NAN),
            _ => p.mean,
        };
        let pixel = |p: &Pixel| ([p.x0, p.x1, p.y0, p.y1], value(p));
        let all: Vec<([f64; 4], f64)> = match shown {
            Shown::Observed => self.observed.iter().map(area).collect(),
            Shown::Reference => self.reference.iter().map(area).collect(),
            _ => self.predicted.iter().map(pixel).collect(),
        };
        all.into_iter().filter(|cell| cell.1.is_finite()).collect()
    }
}

/// Cleans, coarsens and measures a figure.
pub(crate) fn prepare(figure: &SurfaceFigure) -> Surface {
    let mut remarks = Vec::new();
    let observed = areas(&figure.observed, "observed areas", &mut remarks);
    let reference = areas(&figure.reference, "true values", &mut remarks);
    let usable = |p: &Pixel| {
        [p.x0, p.x1, p.y0, p.y1, p.mean]
            .iter()
            .all(|v| v.is_finite())
    };
    let mut predicted: Vec<Pixel> = figure
        .predicted
        .iter()
        .filter(|p| usable(p))
        .cloned()
        .map(tidy)
        .collect();
    tell_lost(
        &mut remarks,
        "predicted cells",
        figure.predicted.len(),
        predicted.len(),
    );
    let means: Vec<f64> = predicted.iter().map(|p| p.mean).collect();
    if settle(means.into_iter(), predicted.iter_mut().map(|p| &mut p.sd)) {
        remarks.push(EXACT_WORDS.to_owned());
    }
    let predicted = coarsened(predicted, &mut remarks);

    let areas = || observed.iter().chain(&reference);
    let cells = || predicted.iter();
    let xs = areas().flat_map(|a| [a.x0, a.x1]);
    let xs = xs.chain(cells().flat_map(|p| [p.x0, p.x1]));
    let ys = areas().flat_map(|a| [a.y0, a.y1]);
    let ys = ys.chain(cells().flat_map(|p| [p.y0, p.y1]));
    let ranges = (widened(range(xs), false), widened(range(ys), false));
    let (x_range, y_range, aspect) = framed(figure, ranges);
    // True values scatter more than means do: on a scale that held them all, means would look
    // alike.
    let shown = observed.iter().map(|a| a.value);
    let shown = range(shown.chain(cells().map(|p| p.mean)));
    let shown = shown.or_else(|| range(reference.iter().map(|a| a.value)));
    let value_range = from_zero(widened(flattened(shown), false));
    let beyond = |a: &&Area| a.value < value_range.0 || a.value > value_range.1;
    let lost = reference.iter().filter(beyond).count();
    if lost > 0 {
        let (from, to) = ends(value_range);
        remarks.push(format!(
            "{} of {} true values lie outside {from} to {to} and have the colours of these ends.",
            count(lost),
            count(reference.len()),
        ));
    }
    let within = |(low, high): (f64, f64), v: f64| low <= v && v <= high;
    let marked = figure.marked.iter().copied();
    let marked = marked.filter(|[x, y]| within(x_range, *x) && within(y_range, *y));
    let marked: Vec<[f64; 2]> = marked.collect();
    let keys = match marked.is_empty() {
        true => Vec::new(),
        false => vec![Key::new("ring", INK, figure.marked_label.clone())],
    };
    let sd_range = from_zero(spread(range(predicted.iter().map(|p| p.sd))));
    let mut surface = Surface {
        x_range,
        y_range,
        aspect,
        sheets: Vec::new(),
        observed,
        predicted,
        reference,
        keys,
        marked,
        borders: borders(figure, (x_range, y_range)),
        remarks,
    };
    let sheets = sheets(figure, value_range, sd_range).into_iter();
    surface.sheets = sheets
        .filter(|sheet| !surface.cells(sheet.shown).is_empty())
        .collect();
    surface
}

/// Outlines, closed, and lines without the vertices that are too near to the one before to be told
/// from it, and none outside the frame.
fn borders(figure: &SurfaceFigure, (x, y): Ranges) -> Vec<Ring> {
    let near = (FINE * (x.1 - x.0), FINE * (y.1 - y.0));
    let thinned = |ring: &Ring| {
        let mut kept: Ring = Vec::new();
        for &[a, b] in ring {
            let is_near =
                |last: &[f64; 2]| (a - last[0]).abs() < near.0 && (b - last[1]).abs() < near.1;
            if a.is_finite() && b.is_finite() && !kept.last().is_some_and(is_near) {
                kept.push([a, b]);
            }
        }
        kept
    };
    let closed = |ring: &Ring| {
        let mut kept = clipped(thinned(ring), (x, y));
        kept.extend(kept.first().copied());
        Some(kept).filter(|ring| ring.len() > 2)
    };
    let open = |line: &Ring| Some(thinned(line)).filter(|line| line.len() > 1);
    let is_inside = |ring: &Ring| {
        let xs = range(ring.iter().map(|v| v[0])).filter(|r| r.0 < x.1 && r.1 > x.0);
        let ys = range(ring.iter().map(|v| v[1])).filter(|r| r.0 < y.1 && r.1 > y.0);
        xs.is_some() && ys.is_some()
    };
    let rings = figure.borders.iter().filter_map(closed);
    let lines = figure.lines.iter().filter_map(open);
    rings.chain(lines).filter(is_inside).collect()
}

/// A ring held to a frame: what lies beyond it runs along its edge.
///
/// # Source
/// Sutherland and Hodgman, *Reentrant polygon clipping*, Comm. ACM 17 (1974).
fn clipped(mut ring: Ring, (x, y): Ranges) -> Ring {
    for (d, limit, sign) in [(0, x.0, 1.0), (0, x.1, -1.0), (1, y.0, 1.0), (1, y.1, -1.0)] {
        let is_inside = |v: &[f64; 2]| sign * (v[d] - limit) >= 0.0;
        let crossing = |a: [f64; 2], b: [f64; 2]| {
            let part = (limit - a[d]) / (b[d] - a[d]);
            let mut place = [0, 1].map(|e| a[e] + part * (b[e] - a[e]));
            place[d] = limit;
            place
        };
        let mut kept = Ring::new();
        for (k, &to) in ring.iter().enumerate() {
            let from = ring[(k + ring.len() - 1) % ring.len()];
            if is_inside(&from) != is_inside(&to) {
                kept.push(crossing(from, to));
            }
            if is_inside(&to) {
                kept.push(to);
            }
        }
        ring = kept;
    }
    ring
}

/// The maps that a figure may have.
fn sheets(figure: &SurfaceFigure, values: (f64, f64), sds: (f64, f64)) -> Vec<Sheet> {
    let unit = match figure.value.label.as_str() {
        "" => "value".to_owned(),
        _ => figure.value.title(),
    };
    let reference = match figure.reference_label.as_str() {
        "" => "True values".to_owned(),
        label => label.to_owned(),
    };
    let sheet = |title: String, shown: Shown, colours: &'static [&'static str], range| {
        let (low, high) = ends(range);
        Sheet {
            title,
            shown,
            colours,
            range,
            labels: vec![(0.0, low), (1.0, high)],
        }
    };
    let chances = figure.chances.iter().enumerate();
    let chances = chances.map(|(i, title)| {
        let shown = Shown::Chance(i);
        sheet(title.clone(), shown, &VALUES, (0.0, 1.0))
    });
    [
        sheet(format!("Observed {unit}"), Shown::Observed, &VALUES, values),
        sheet(format!("Predicted {unit}"), Shown::Mean, &VALUES, values),
        sheet(reference, Shown::Reference, &VALUES, values),
        sheet("Standard deviation".to_owned(), Shown::Sd, &SPREAD, sds),
    ]
    .into_iter()
    .chain(chances)
    .collect()
}

/// The ranges of a frame and its height over its width. Where one unit is as long along both axes,
/// the shorter range is widened until the frame is neither a needle nor a strip.
fn framed(figure: &SurfaceFigure, (x, y): Ranges) -> ((f64, f64), (f64, f64), f64) {
    if !figure.equal_scale {
        return (x, y, ASPECT);
    }
    // The length of a unit of x in units of y.
    let shrink = match figure.degrees {
        true => f64::midpoint(y.0, y.1).to_radians().cos().max(0.05),
        false => 1.0,
    };
    let widened = |(low, high): (f64, f64), width: f64| {
        let more = ((width - (high - low)) / 2.0).max(0.0);
        (low - more, high + more)
    };
    let (wide, high) = (shrink * (x.1 - x.0), y.1 - y.0);
    let aspect = (high / wide).clamp(ASPECTS.0, ASPECTS.1);
    let x = widened(x, high / aspect / shrink);
    (x, widened(y, wide * aspect), aspect)
}

/// The areas that can be drawn.
fn areas(given: &[Area], what: &str, remarks: &mut Vec<String>) -> Vec<Area> {
    let whole = |a: &&Area| {
        let numbers = [a.x0, a.x1, a.y0, a.y1, a.value];
        numbers.iter().all(|v| v.is_finite())
    };
    let mut kept: Vec<Area> = given.iter().filter(whole).cloned().collect();
    tell_lost(remarks, what, given.len(), kept.len());
    if kept.len() > AREAS {
        remarks.push(format!(
            "The first {} of {} {what} are drawn.",
            count(AREAS),
            count(kept.len())
        ));
        kept.truncate(AREAS);
    }
    kept
}

/// A pixel with its edges in order and missing interval ends closed to the mean.
fn tidy(mut pixel: Pixel) -> Pixel {
    if pixel.x1 < pixel.x0 {
        (pixel.x0, pixel.x1) = (pixel.x1, pixel.x0);
    }
    if pixel.y1 < pixel.y0 {
        (pixel.y0, pixel.y1) = (pixel.y1, pixel.y0);
    }
    pixel
}

/// A colour scale of positive values starts at zero when that costs little contrast.
fn from_zero((low, high): (f64, f64)) -> (f64, f64) {
    if low > 0.0 && low < 0.2 * high {
        (0.0, high)
    } else {
        (low, high)
    }
}

fn tell_lost(remarks: &mut Vec<String>, what: &str, before: usize, after: usize) {
    if after < before {
        remarks.push(format!(
            "{} of {} {what} have no finite value and are not drawn.",
            count(before - after),
            count(before)
        ));
    }
}

/// Averages cells over blocks of a raster when there are too many to draw.
fn coarsened(cells: Vec<Pixel>, remarks: &mut Vec<String>) -> Vec<Pixel> {
    if cells.len() <= CELLS {
        return cells;
    }
    let columns = ranks(&cells, |p| f64::midpoint(p.x0, p.x1));
    let rows = ranks(&cells, |p| f64::midpoint(p.y0, p.y1));
    let (nx, ny) = (
        1 + columns.iter().max().unwrap_or(&0),
        1 + rows.iter().max().unwrap_or(&0),
    );
    let block = (1..)
        .find(|k| nx.div_ceil(*k) * ny.div_ceil(*k) <= CELLS)
        .unwrap_or(nx.max(ny));
    let wide = nx.div_ceil(block);
    let mut blocks: Vec<Option<(Pixel, f64)>> = vec![None; wide * ny.div_ceil(block)];
    let before = cells.len();
    for (i, cell) in cells.into_iter().enumerate() {
        let slot = &mut blocks[columns[i] / block + wide * (rows[i] / block)];
        match slot {
            None => *slot = Some((cell, 1.0)),
            Some((sum, n)) => {
                *n += 1.0;
                (sum.x0, sum.x1) = (sum.x0.min(cell.x0), sum.x1.max(cell.x1));
                (sum.y0, sum.y1) = (sum.y0.min(cell.y0), sum.y1.max(cell.y1));
                sum.mean += cell.mean;
                sum.sd += cell.sd;
                sum.lower += cell.lower;
                sum.upper += cell.upper;
                let chances = sum.chances.iter_mut().zip(&cell.chances);
                chances.for_each(|(sum, own)| *sum += own);
            }
        }
    }
    let mean = |(mut p, n): (Pixel, f64)| {
        p.mean /= n;
        p.sd /= n;
        p.lower /= n;
        p.upper /= n;
        p.chances.iter_mut().for_each(|chance| *chance /= n);
        p
    };
    let out: Vec<Pixel> = blocks.into_iter().flatten().map(mean).collect();
    remarks.push(format!(
        "Drawn as averages over blocks of {block} × {block} cells: {} for {} predicted cells.",
        count(out.len()),
        count(before)
    ));
    out
}

/// The rank of each cell's centre among the distinct centres; irregular centres are put on 1,000
/// steps.
fn ranks(cells: &[Pixel], centre: impl Fn(&Pixel) -> f64) -> Vec<usize> {
    let (low, high) = widened(range(cells.iter().map(&centre)), false);
    let step = |v: f64| ((v - low) / (high - low) * 1e7).round() as u64;
    let mut distinct: Vec<u64> = cells.iter().map(|p| step(centre(p))).collect();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() * 4 > cells.len() {
        return cells
            .iter()
            .map(|p| ((centre(p) - low) / (high - low) * 999.0).round() as usize)
            .collect();
    }
    cells
        .iter()
        .map(|p| distinct.partition_point(|&d| d < step(centre(p))))
        .collect()
}

#[cfg(test)]
#[path = "surface_tests.rs"]
mod tests;
