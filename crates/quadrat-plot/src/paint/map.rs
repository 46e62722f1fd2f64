//! Choropleth maps as still images.

use super::canvas::{Canvas, cut};
use super::frame::{EDGE, SMALL, TEXT, colour_bar, legend, title};
use super::ink::{Anchor, Ink};
use crate::figure::MapFigure;
use crate::palette::{INK, MISSING, MUTED, rgb};
use crate::prepare::{self, Coloured, Key, Map};

/// Room between maps.
const GAP: f64 = 28.0;
/// Greatest height of a map.
const HIGH: f64 = 620.0;

pub(super) fn draw(figure: &MapFigure, width: f64) -> Canvas {
    let drawn = prepare::map(figure);
    let mut canvas = Canvas::new(width, 100.0);
    let mut top = title(&mut canvas, &figure.heading.title, width);
    if drawn.hatching.iter().any(|lines| !lines.is_empty()) {
        let key = Key::new("hatch", MISSING.1, "no value");
        top += legend(&mut canvas, &[key], top, width) + 4.0;
    }
    let columns = drawn.columns();
    let wide = (width - 2.0 * EDGE - GAP * (columns as f64 - 1.0)) / columns as f64;
    let high = (wide * drawn.size.1 / drawn.size.0).min(HIGH);
    let with_unit = drawn.panels.iter().any(|p| !p.unit.is_empty());
    let head = if with_unit { 48.0 } else { 28.0 };
    let step = head + high + 62.0;
    for (j, panel) in drawn.panels.iter().enumerate() {
        let left = EDGE + (wide + GAP) * (j % columns) as f64;
        let top = top + step * (j / columns) as f64;
        let heading = cut(&panel.title, TEXT, wide);
        canvas.bold((left, top + 16.0), &heading, TEXT, Anchor::Start, INK);
        let unit = cut(&panel.unit, SMALL, wide);
        canvas.words((left, top + 35.0), &unit, SMALL, Anchor::Start, MUTED);
        map(&mut canvas, &drawn, panel, (left, top + head), (wide, high));
        if let Some(scale) = &panel.legend {
            let stops: Vec<&str> = scale.stops.iter().map(String::as_str).collect();
            let bar = (left, top + head + high + 14.0);
            colour_bar(&mut canvas, bar, wide.min(300.0), &stops, &scale.labels);
        }
    }
    canvas.set_height(top + step * drawn.panels.len().div_ceil(columns) as f64);
    canvas
}

fn map(
    canvas: &mut Canvas,
    drawn: &Map,
    panel: &Coloured,
    (left, top): (f64, f64),
    (wide, high): (f64, f64),
) {
    let scale = (wide / drawn.size.0).min(high / drawn.size.1);
    let (left, top) = (
        left + (wide - scale * drawn.size.0) / 2.0,
        top + (high - scale * drawn.size.1) / 2.0,
    );
    let at = |v: &[i32; 2]| {
        (
            left + scale * f64::from(v[0]),
            top + scale * f64::from(v[1]),
        )
    };
    if let Some(bar) = &drawn.bar {
        let (from, to) = (at(&bar.from), at(&bar.to));
        canvas.line(from, to, Ink::line(INK, 2.0));
        let place = (to.0 + 8.0, to.1 + 4.5);
        canvas.words(place, &bar.label, SMALL, Anchor::Start, MUTED);
    }
    let width = drawn.border_width();
    for &(region, part) in &drawn.order {
        let rings = drawn.regions[region][part]
            .iter()
            .map(|ring| ring.iter().map(at).collect())
            .collect();
        let colour = panel.colours[region].unwrap_or(rgb(MISSING.0));
        canvas.region(rings, Ink::filled(colour).outlined(panel.border, width));
    }
    for (lines, _) in drawn
        .hatching
        .iter()
        .zip(&panel.colours)
        .filter(|(_, colour)| colour.is_none())
    {
        for [from, to] in lines {
            canvas.line(at(from), at(to), Ink::line(MISSING.1, 1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Heading, MapPanel, MapRegion};

    fn square(x: f64, side: f64) -> Vec<[f64; 2]> {
        vec![[x, x], [x + side, x], [x + side, x + side], [x, x + side]]
    }

    fn figure(values: Vec<Option<f64>>) -> MapFigure {
        let regions = vec![
            MapRegion::new("a", "", vec![vec![square(1.0, 2.0)]]),
            MapRegion::new("b", "", vec![vec![square(0.0, 4.0), square(1.0, 2.0)]]),
        ];
        let panel = MapPanel {
            values,
            ..MapPanel::default()
        };
        MapFigure::new(Heading::default(), regions, vec![panel]).unwrap()
    }

    #[test]
    fn a_map_with_an_enclave_is_these_paths() {
        let svg = draw(&figure(vec![Some(1.0), Some(2.0)]), 100.0).svg("");
        let paths = |i: usize| svg.split("<path").nth(i).and_then(|p| p.split('>').next());
        let drawn = [paths(1).unwrap(), paths(2).unwrap()]
            .map(str::trim)
            .join("\n");
        insta::assert_snapshot!(drawn, @r##"
        fill-rule="evenodd" d="M16 46L84 46L84 114L16 114ZM33 97L67 97L67 63L33 63Z" fill="#fde725" stroke="#d3d9df" stroke-width="0.9" stroke-linejoin="round"/
        fill-rule="evenodd" d="M33 63L67 63L67 97L33 97Z" fill="#440154" stroke="#d3d9df" stroke-width="0.9" stroke-linejoin="round"/
        "##);
    }

    #[test]
    fn a_hole_is_left_open_in_pixels_too() {
        let png = |figure: &MapFigure| draw(figure, 200.0).png(1.0).unwrap();
        let with = |inner: f64| {
            let mut figure = figure(vec![Some(inner), Some(2.0)]);
            figure.panels[0].domain = Some((1.0, 2.0));
            figure
        };
        // Only the enclave changes its colour: it shows, though its neighbour comes later in the
        // list.
        assert_ne!(png(&with(1.0)), png(&with(2.0)));
        // Without the enclave, paper shows.
        let mut open = with(1.0);
        open.regions.remove(0);
        open.panels[0].values.remove(0);
        let mut filled = open.clone();
        filled.regions[0].parts[0].truncate(1);
        assert_ne!(png(&open), png(&filled));
    }

    #[test]
    fn a_missing_value_is_hatched() {
        let lines = |values| {
            draw(&figure(values), 400.0)
                .svg("")
                .matches(MISSING.1)
                .count()
        };
        assert_eq!(lines(vec![Some(1.0), Some(2.0)]), 0);
        assert!(lines(vec![None, Some(2.0)]) > 10);
    }
}
