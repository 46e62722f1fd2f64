//! Maps as they are drawn: ranges, cells, outlines.

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
    let sd_range = |drawn: &Surface| drawn.sheets.last().map(|sheet| sheet.range);
    assert_eq!(sd_range(&noise), Some((0.0, 1.0)));
    assert_eq!(noise.remarks, [EXACT_WORDS]);
    let zero = with(|_| 0.0);
    assert_eq!((sd_range(&zero), zero.remarks.len()), (Some((0.0, 1.0)), 0));
    assert_eq!(sd_range(&with(|_| 3.0)), Some((0.0, 3.0)));
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
    assert_eq!(drawn.sheets[0].range, (0.0, 4.0));
    assert_eq!((drawn.reference.len(), drawn.marked.len()), (2, 1));
    assert_eq!(drawn.keys[0].label, "3 places");
    assert_eq!(drawn.remarks.len(), 2, "{:?}", drawn.remarks);
    assert!(drawn.remarks[1].starts_with("1 of 2 true values lie outside 0 to 4"));
}

#[test]
fn one_scale_in_both_directions_leaves_room_beside_a_needle() {
    let cell = Pixel {
        x1: 100.0,
        y1: 300.0,
        ..Pixel::default()
    };
    let drawn = |equal_scale| {
        prepare(&SurfaceFigure {
            predicted: vec![cell.clone()],
            equal_scale,
            ..SurfaceFigure::default()
        })
    };
    let (plain, equal) = (drawn(false), drawn(true));
    assert_eq!((plain.x_range, plain.aspect), ((0.0, 100.0), ASPECT));
    let (wide, high) = (equal.x_range.1 - equal.x_range.0, equal.y_range.1);
    assert_eq!((equal.x_range, high), ((-25.0, 125.0), 300.0));
    assert_eq!(high / wide, equal.aspect);
}

#[test]
fn degrees_of_longitude_are_drawn_shorter() {
    let cell = Pixel {
        x1: 1.0,
        y0: 59.5,
        y1: 60.5,
        ..Pixel::default()
    };
    let drawn = prepare(&SurfaceFigure {
        predicted: vec![cell],
        equal_scale: true,
        degrees: true,
        ..SurfaceFigure::default()
    });
    // cos 60 degrees = 1/2.
    assert!((drawn.aspect - 2.0).abs() < 1e-9, "{}", drawn.aspect);
    let wide = drawn.x_range.1 - drawn.x_range.0;
    assert!((wide - 1.0).abs() < 1e-9);
}

#[test]
fn outlines_have_no_more_vertices_than_can_be_seen() {
    let circle = |x: f64, n: u32| -> Ring {
        let at = |i: u32| f64::from(i) / f64::from(n) * std::f64::consts::TAU;
        (0..n).map(|i| [x + at(i).cos(), at(i).sin()]).collect()
    };
    let drawn = prepare(&SurfaceFigure {
        predicted: grid(3, 2),
        borders: vec![
            circle(1.0, 100_000),
            circle(90.0, 10),
            vec![[f64::NAN, 1.0]],
        ],
        ..SurfaceFigure::default()
    });
    assert_eq!(drawn.borders.len(), 1);
    assert!(drawn.borders[0].len() < 3000 && drawn.borders[0].len() > 300);
    assert_eq!(drawn.borders[0].first(), drawn.borders[0].last());
}

#[test]
fn outlines_that_leave_the_frame_are_cut_where_they_do() {
    let triangle = vec![[0.0, 0.5], [2.0, 0.5], [1.0, 4.5]];
    let held = clipped(triangle, ((0.0, 3.0), (0.0, 2.5)));
    // Halfway up both sides, not at the tip's place along the frame.
    assert_eq!(held, [[0.5, 2.5], [0.0, 0.5], [2.0, 0.5], [1.5, 2.5]]);
    assert!(
        clipped(
            vec![[5.0, 5.0], [6.0, 5.0], [5.0, 6.0]],
            ((0.0, 1.0), (0.0, 1.0))
        )
        .is_empty()
    );
}

#[test]
fn probabilities_have_maps_of_their_own_from_zero_to_one() {
    let mut cells = grid(100, 100);
    for cell in &mut cells {
        cell.chances = vec![0.25];
    }
    let drawn = prepare(&SurfaceFigure {
        predicted: cells,
        chances: vec!["P(v > 2)".to_owned(), "without values".to_owned()],
        ..SurfaceFigure::default()
    });
    let last = drawn.sheets.last().unwrap();
    assert_eq!((last.title.as_str(), last.range), ("P(v > 2)", (0.0, 1.0)));
    // Averages over blocks are probabilities too.
    assert!(drawn.predicted.len() < 10_000);
    assert!(drawn.cells(last.shown).iter().all(|cell| cell.1 == 0.25));
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
