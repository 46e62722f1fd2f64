use super::*;
use crate::figure::{Axis, CurveFigure, Panel};
use crate::prepare::curve;

fn panel(marks: Vec<Marks>) -> CurveFigure {
    CurveFigure {
        x: Axis::new("x"),
        panels: vec![Panel {
            marks,
            ..Panel::default()
        }],
        ..CurveFigure::default()
    }
}

const OPEN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

#[test]
fn open_ends_have_arrows_and_do_not_stretch_the_axis() {
    let marks = Marks::intervals([0.0, 1.0, 2.0], &[OPEN.0, 4.0, 5.0], &[6.0, OPEN.1, 8.0]);
    let figure = panel(vec![marks.unwrap()]);
    let drawn = curve(&figure);
    let (bottom, top) = drawn.panels[0].y_range;
    assert!(bottom > 3.0 && top < 10.0, "{bottom} to {top}");
    let shape = |i: usize| drawn.panels[0].layers[0].glyphs[i].shape.clone();
    let rod = |x, low, high, open| Shape::Rod { x, low, high, open };
    assert_eq!(shape(0), rod(0.0, bottom, 6.0, (true, false)));
    assert_eq!(shape(1), rod(1.0, 4.0, top, (false, true)));
    assert_eq!(
        drawn.panels[0].layers[0].glyphs[1].told,
        ["at least 4", "1"]
    );
}

#[test]
fn an_arrow_starts_at_its_limit_and_has_room() {
    let sides = [Side::Below, Side::Above];
    let figure = panel(vec![
        Marks::censored([0.0, 1.0], &[2.0, 3.0], &sides).unwrap(),
    ]);
    let drawn = curve(&figure);
    let (bottom, top) = drawn.panels[0].y_range;
    for (glyph, up) in drawn.panels[0].layers[0].glyphs.iter().zip([false, true]) {
        let Shape::Arrow { from, to, .. } = glyph.shape else {
            panic!("an arrow")
        };
        assert_eq!(to > from, up);
        assert!(bottom <= to && to <= top && (to - from).abs() > 0.09 * (top - bottom));
    }
}

#[test]
fn limits_of_positive_values_do_not_take_the_axis_below_zero() {
    let of = |limit: f64| {
        let sides = [Side::Below, Side::Above];
        let marks = Marks::censored([0.0, 1.0], &[limit, 10.0], &sides).unwrap();
        curve(&panel(vec![marks])).panels[0].y_range.0
    };
    assert_eq!(of(0.6), 0.0);
    assert!(of(0.0) < 0.0, "an arrow down from zero needs room");
}

#[test]
fn every_rank_has_a_band_and_its_tick_lies_in_it() {
    let marks = Marks::ranks([0.0, 1.0, 2.0], &[1, 2, 3], &[0.0, 1.0], &["a", "b", "c"]).unwrap();
    let figure = panel(vec![marks]);
    let drawn = curve(&figure);
    let layer = &drawn.panels[0].layers[0];
    let bands = layer.bands.as_ref().unwrap();
    assert_eq!(bands.tints, [(0.0, 1.0)]);
    let names: Vec<&str> = bands.names.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let (bottom, top) = drawn.panels[0].y_range;
    let edges = [bottom, 0.0, 1.0, top];
    for (i, glyph) in layer.glyphs.iter().enumerate() {
        let Shape::Tick { low, high, .. } = glyph.shape else {
            panic!("a tick")
        };
        assert!(edges[i] < low && low < high && high < edges[i + 1], "{i}");
    }
    assert_eq!(layer.titles, ["rank", "bounds", "at"]);
    assert_eq!(layer.glyphs[0].told, ["a (1 of 3)", "up to 0", "0"]);
    assert_eq!(layer.glyphs[2].told[1], "at least 1");
}

#[test]
fn bands_of_a_second_scale_have_no_tint() {
    let of = |t: f64| Marks::ranks([0.0], &[1], &[t], &[]).unwrap();
    let figure = panel(vec![of(0.0), of(1.0)]);
    let drawn = curve(&figure);
    let tints = |i: usize| {
        drawn.panels[0].layers[i]
            .bands
            .as_ref()
            .unwrap()
            .tints
            .len()
    };
    assert_eq!((tints(0), tints(1)), (1, 0));
}

#[test]
fn names_of_narrow_bands_keep_apart() {
    let thresholds: Vec<f64> = (0..99).map(f64::from).collect();
    let figure = panel(vec![Marks::ranks([0.0], &[7], &thresholds, &[]).unwrap()]);
    let drawn = curve(&figure);
    let bands = drawn.panels[0].layers[0].bands.as_ref().unwrap();
    assert!(
        (10..=25).contains(&bands.names.len()),
        "{}",
        bands.names.len()
    );
}

#[test]
fn the_area_of_a_rate_grows_with_its_exposure() {
    let (count, exposure) = ([1.0, 4.0, 0.0], [1000.0, 4000.0, 1.0]);
    let marks = Marks::rates([0.0, 1.0, 2.0], &count, &count, &exposure, 1e3).unwrap();
    let figure = panel(vec![
        marks
            .with_rows(["a", "b", "c"].map(str::to_owned).to_vec())
            .unwrap(),
    ]);
    let drawn = curve(&figure);
    let layer = &drawn.panels[0].layers[0];
    let radii: Vec<f64> = layer.glyphs.iter().map(|g| size(&g.shape)).collect();
    // The largest lies lowest; the smallest is still seen.
    assert_eq!(radii, [9.0, 4.5, 1.8]);
    assert_eq!(layer.titles, ["rate", "count", "exposure", "at", "row"]);
    assert_eq!(layer.glyphs[0].told, ["1", "4", "4,000", "1", "b"]);
}

#[test]
fn an_open_count_is_an_arrow_from_its_least_rate() {
    let marks = Marks::rates([0.0, 1.0], &[4.0, 6.0], &[4.0, OPEN.1], &[2.0, 2.0], 1.0).unwrap();
    let figure = panel(vec![marks]);
    let drawn = curve(&figure);
    let shape = &drawn.panels[0].layers[0].glyphs;
    let open = shape.iter().find_map(|g| match g.shape {
        Shape::Arrow { x, from, to } => Some((x, from, to)),
        _ => None,
    });
    let (x, from, to) = open.unwrap();
    let (bottom, top) = drawn.panels[0].y_range;
    assert_eq!((x, from), ((1.0, 1.0), 3.0));
    // As long as arrows of censored values, within the frame.
    let length = ARROW * (top - bottom);
    assert!(
        to <= top && (to - from - length).abs() < 1e-12 * length,
        "{from} {to}"
    );
}

#[test]
fn a_suppressed_count_is_a_bar_of_its_rate() {
    let marks = Marks::rates([0.0, 1.0], &[1.0, 5.0], &[4.0, OPEN.1], &[2.0, 2.0], 1.0).unwrap();
    let figure = panel(vec![marks]);
    let drawn = curve(&figure);
    let layer = &drawn.panels[0].layers[0];
    let x = (0.0, 0.0);
    let (low, high) = (0.5, 2.0);
    assert_eq!(layer.glyphs[0].shape, Shape::Pillar { x, low, high });
    assert_eq!(layer.glyphs[0].told[..2], ["0.5 to 2", "1 to 4"]);
    let keys: Vec<&str> = layer.keys.iter().map(|key| key.shape).collect();
    assert_eq!(keys, ["pillar", "above"]);
}

#[test]
fn signs_lie_at_the_edges_and_leave_the_axis_alone() {
    let figure = panel(vec![Marks::signs([0.0, 1.0], &[true, false]).unwrap()]);
    let drawn = curve(&figure);
    let (bottom, top) = drawn.panels[0].y_range;
    let ends: Vec<(f64, f64)> = drawn.panels[0].layers[0]
        .glyphs
        .iter()
        .map(|g| match g.shape {
            Shape::Tick { low, high, .. } => (low, high),
            _ => panic!("a tick"),
        })
        .collect();
    assert_eq!((ends[0].1, ends[1].0), (top, bottom));
    assert_eq!(curve(&panel(vec![])).panels[0].y_range, (bottom, top));
}

#[test]
fn a_stretch_is_told_where_it_is_pointed_at() {
    let marks = Marks::intervals([(0.0, 2.0)], &[1.0], &[OPEN.1]).unwrap();
    let told = |x| told_at(std::slice::from_ref(&marks), x);
    assert_eq!(told(1.0).as_deref(), Some("value at least 1; at 0 to 2"));
    assert_eq!(told(2.0), None);
}

#[test]
fn thousands_of_rows_are_thinned_and_this_is_told() {
    let at: Vec<f64> = (0..20_000).map(f64::from).collect();
    let figure = panel(vec![Marks::signs(at, &[true; 20_000]).unwrap()]);
    let drawn = curve(&figure);
    assert_eq!(drawn.panels[0].layers[0].glyphs.len(), MARKS);
    assert!(drawn.panels[0].layers[0].dense);
    assert_eq!(
        drawn.remarks,
        ["3,000 of 20,000 observed rows are drawn, evenly chosen."]
    );
}

#[test]
fn no_rows_draw_nothing() {
    let figure = panel(vec![Marks::signs(Vec::<f64>::new(), &[]).unwrap()]);
    assert!(curve(&figure).keys.is_empty());
}
