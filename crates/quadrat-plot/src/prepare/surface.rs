//! A surface figure, ready to draw.

use super::{EXACT_WORDS, Key, flattened, range, settle, spread, widened};
use crate::figure::{Area, Pixel, SurfaceFigure};
use crate::format::{count, rounded};
use crate::palette::INK;

/// Predicted cells drawn; more are averaged over blocks.
const CELLS: usize = 6_400;
/// Observed areas, and true values, drawn.
const AREAS: usize = 10_000;

/// Ranges of the axes and colour scales, and the cells to draw.
pub(crate) struct Surface {
    pub x_range: (f64, f64),
    pub y_range: (f64, f64),
    pub value_range: (f64, f64),
    pub sd_range: (f64, f64),
    pub observed: Vec<Area>,
    pub predicted: Vec<Pixel>,
    pub reference: Vec<Area>,
    /// The title of their map.
    pub reference_title: String,
    /// Places marked on the predicted maps, with their legend.
    pub marked: Vec<[f64; 2]>,
    pub keys: Vec<Key>,
    pub remarks: Vec<String>,
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
    let (x_range, y_range) = (widened(range(xs), false), widened(range(ys), false));
    // True values scatter more than means do: on a scale that held them all, means would look alike.
    let shown = observed.iter().map(|a| a.value);
    let shown = range(shown.chain(cells().map(|p| p.mean)));
    let shown = shown.or_else(|| range(reference.iter().map(|a| a.value)));
    let value_range = from_zero(widened(flattened(shown), false));
    let beyond = |a: &&Area| a.value < value_range.0 || a.value > value_range.1;
    let lost = reference.iter().filter(beyond).count();
    if lost > 0 {
        remarks.push(format!(
            "{} of {} true values lie outside {} to {} and have the colours of these ends.",
            count(lost),
            count(reference.len()),
            rounded(value_range.0),
            rounded(value_range.1)
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
    Surface {
        sd_range: from_zero(spread(range(predicted.iter().map(|p| p.sd)))),
        x_range,
        y_range,
        value_range,
        observed,
        predicted,
        reference,
        reference_title: match figure.reference_label.as_str() {
            "" => "True values".to_owned(),
            label => label.to_owned(),
        },
        keys,
        marked,
        remarks,
    }
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
            }
        }
    }
    let mean = |(mut p, n): (Pixel, f64)| {
        p.mean /= n;
        p.sd /= n;
        p.lower /= n;
        p.upper /= n;
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

/// The rank of each cell's centre among the distinct centres; irregular centres are put on 1,000 steps.
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
mod tests {
    use super::*;

    fn grid(nx: usize, ny: usize) -> Vec<Pixel> {
        let cell = |i: usize, j: usize| Pixel {
            x0: i as f64,
            x1: i as f64 + 1.0,
            y0: j as f64,
            y1: j as f64 + 1.0,
            mean: i as f64,
            ..Pixel::default()
        };
        (0..nx)
            .flat_map(|i| (0..ny).map(move |j| cell(i, j)))
            .collect()
    }

    #[test]
    fn a_large_raster_becomes_blocks_that_cover_it() {
        let figure = SurfaceFigure {
            predicted: grid(400, 300),
            ..SurfaceFigure::default()
        };
        let drawn = prepare(&figure);
        assert_eq!(drawn.predicted.len(), 80 * 60);
        assert_eq!((drawn.x_range, drawn.y_range), ((0.0, 400.0), (0.0, 300.0)));
        let area: f64 = drawn
            .predicted
            .iter()
            .map(|p| (p.x1 - p.x0) * (p.y1 - p.y0))
            .sum();
        assert_eq!(area, 120_000.0);
        assert_eq!(drawn.predicted[0].mean, 2.0);
        assert!(drawn.remarks[0].contains("5 × 5"));
    }

    #[test]
    fn cells_without_a_mean_are_left_out_and_told() {
        let mut cells = grid(2, 2);
        cells[0].mean = f64::NAN;
        let drawn = prepare(&SurfaceFigure {
            predicted: cells,
            ..SurfaceFigure::default()
        });
        assert_eq!(drawn.predicted.len(), 3);
        assert_eq!(
            drawn.remarks,
            ["1 of 4 predicted cells have no finite value and are not drawn."]
        );
    }

    #[test]
    fn rounding_noise_of_exact_cells_is_no_pattern() {
        let with = |sd: fn(usize) -> f64| {
            let mut cells = grid(3, 2);
            for (i, cell) in cells.iter_mut().enumerate() {
                (cell.mean, cell.sd) = (40.0 + i as f64, sd(i));
            }
            prepare(&SurfaceFigure {
                predicted: cells,
                ..SurfaceFigure::default()
            })
        };
        let noise = with(|i| 1e-7 * i as f64);
        assert!(noise.predicted.iter().all(|p| p.sd == 0.0));
        assert_eq!(
            (noise.sd_range, noise.remarks),
            ((0.0, 1.0), vec![EXACT_WORDS.to_owned()])
        );
        let zero = with(|_| 0.0);
        assert_eq!((zero.sd_range, zero.remarks.len()), ((0.0, 1.0), 0));
        assert_eq!(with(|_| 3.0).sd_range, (0.0, 3.0));
        // Of 45: just above the limit.
        assert_eq!(with(|_| 5e-5).predicted[0].sd, 5e-5);
    }

    #[test]
    fn a_truth_keeps_the_scale_of_the_means_and_marks_keep_to_the_map() {
        let area = |value: f64| Area {
            x1: 1.0,
            y1: 1.0,
            value,
            ..Area::default()
        };
        let drawn = prepare(&SurfaceFigure {
            predicted: grid(5, 2),
            reference: vec![area(2.0), area(90.0), area(f64::NAN)],
            marked: vec![[0.5, 0.5], [7.0, 0.5], [f64::NAN, 1.0]],
            marked_label: "3 places".into(),
            ..SurfaceFigure::default()
        });
        assert_eq!(drawn.value_range, (0.0, 4.0));
        assert_eq!((drawn.reference.len(), drawn.marked.len()), (2, 1));
        assert_eq!(drawn.keys[0].label, "3 places");
        assert_eq!(drawn.remarks.len(), 2, "{:?}", drawn.remarks);
        assert!(drawn.remarks[1].starts_with("1 of 2 true values lie outside 0 to 4"));
    }

    #[test]
    fn scattered_cells_can_be_coarsened_too() {
        let at = |i: usize| (i as f64 * 0.754_877_666).fract();
        let cell = |i: usize| Pixel {
            x0: at(i),
            x1: at(i) + 0.01,
            y0: at(7 * i),
            y1: at(7 * i) + 0.01,
            ..Pixel::default()
        };
        let figure = SurfaceFigure {
            predicted: (0..50_000).map(cell).collect(),
            ..SurfaceFigure::default()
        };
        assert!(prepare(&figure).predicted.len() <= CELLS);
    }
}
