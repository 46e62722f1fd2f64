//! The page and the images as their users see them: from the public structs.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{EVIL, islands, line};
use quadrat_plot::{
    Area, Axis, CalibrationFigure, Cell, Compared, Correlated, CorrelationFigure, Coverage,
    CurveFigure, Evidence, Fact, Figure, ForestFigure, ForestRow, Heading, HyperRow, LeftOut,
    Limit, MapFigure, MapPrediction, MapRegion, MapRow, Observed, Panel, Pixel, Predicted, Report,
    SurfaceFigure, TablePreview, Violin, ViolinFigure, html, png, svg,
};

fn limit(words: &str) -> Limit {
    Limit {
        value: 2.0,
        label: words.to_owned(),
    }
}

fn curve(words: &str, observed: Vec<Observed>, predicted: Predicted) -> Figure {
    Figure::Curve(CurveFigure {
        heading: Heading::new(words, words).with_caption(words),
        x: Axis::new(words).with_unit(words),
        panels: vec![Panel {
            title: words.to_owned(),
            y: Axis::new(words),
            observed,
            observed_label: words.to_owned(),
            marks: Vec::new(),
            predicted: vec![Predicted {
                label: words.to_owned(),
                ..predicted
            }],
            reference: None,
            marked: vec![1.5, 2.5],
            marked_label: words.to_owned(),
            limits: vec![limit(words)],
            domain: None,
        }],
    })
}

fn figures(words: &str) -> Vec<Figure> {
    let pixel = Pixel {
        x1: 1.0,
        y1: 1.0,
        mean: 2.0,
        sd: 1.0,
        chances: vec![0.5],
        ..Pixel::default()
    };
    let area = Area {
        x1: 1.0,
        y1: 1.0,
        value: 2.0,
        label: words.to_owned(),
        ..Area::default()
    };
    vec![
        curve(
            words,
            vec![Observed::point(1.0, 2.0)],
            line(vec![1.0, 2.0, 3.0]),
        ),
        Figure::Surface(SurfaceFigure {
            heading: Heading::new(words, words),
            x: Axis::new(words),
            y: Axis::new(words),
            value: Axis::new(words),
            observed: vec![area.clone()],
            predicted: vec![pixel],
            reference: vec![area.clone()],
            reference_label: words.to_owned(),
            marked: vec![[0.5, 0.5]],
            marked_label: words.to_owned(),
            chances: vec![words.to_owned()],
            borders: vec![vec![[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]]],
            equal_scale: true,
            ..SurfaceFigure::default()
        }),
        Figure::Forest(ForestFigure {
            heading: Heading::new(words, words),
            value: Axis::new(words),
            reference: String::new(),
            label: words.to_owned(),
            logarithmic: true,
            rows: vec![ForestRow {
                label: words.to_owned(),
                mean: 1.0,
                lower: 0.0,
                upper: 2.0,
                observed: None,
                reference: None,
            }],
            level: 0.9,
            limits: vec![limit(words)],
            domain: None,
        }),
        Figure::Map(map(words)),
        Figure::Calibration(CalibrationFigure {
            heading: Heading::new(words, words),
            value: Axis::new(words),
            coverage: vec![Coverage {
                nominal: 0.95,
                held: 19,
                total: 20,
            }],
            rows: vec![LeftOut {
                label: words.to_owned(),
                observed: 1.0,
                mean: 2.0,
                lower: 0.5,
                upper: 3.0,
            }],
            compared: Compared::Fitted,
            ..CalibrationFigure::default()
        }),
        Figure::Correlation(CorrelationFigure {
            heading: Heading::new(words, words).with_caption(words),
            names: vec![words.to_owned(), words.to_owned()],
            pairs: vec![Correlated {
                first: 0,
                second: 1,
                value: 0.5,
                lower: 0.25,
                upper: 0.75,
            }],
            level: 0.95,
            covariances: Vec::new(),
        }),
        Figure::Violins(violins(words)),
    ]
}

/// Two groups.
fn violins(words: &str) -> ViolinFigure {
    let one = |shift: f64| Violin {
        label: words.to_owned(),
        at: (0..5).map(|i| f64::from(i) + shift).collect(),
        density: vec![0.1, 0.2, 0.4, 0.2, 0.1],
        lower: vec![0.05, 0.1, 0.3, 0.1, 0.05],
        upper: vec![0.2, 0.3, 0.5, 0.3, 0.2],
        quartiles: [1.0, 2.0, 3.0].map(|x| x + shift),
        median: (1.5 + shift, 2.5 + shift),
        rows: 12,
    };
    ViolinFigure {
        heading: Heading::new(words, words).with_caption(words),
        value: Axis::new(words).with_unit(words),
        group: Axis::new(words),
        violins: vec![one(0.0), one(1.0)],
        level: 0.9,
    }
}

/// Two regions, one with a hole and one without a value.
fn map(words: &str) -> MapFigure {
    let square = |x: f64, side: f64| {
        vec![
            [x, x],
            [x + side, x],
            [x + side, x + side],
            [x, x + side],
            [x, x],
        ]
    };
    let regions = vec![
        MapRegion::new(words, words, vec![vec![square(0.0, 3.0), square(1.0, 1.0)]]),
        MapRegion::new(
            "b",
            words,
            vec![vec![square(4.0, 1.0)], vec![square(6.0, 1.0)]],
        ),
    ];
    let predicted = MapPrediction {
        mean: 1.0,
        sd: 0.5,
        lower: 0.0,
        upper: 2.0,
    };
    let row = MapRow {
        name: words.to_owned(),
        words: vec![words.to_owned(), String::new()],
    };
    MapFigure::prediction(
        Heading::new(words, words).with_caption(words),
        &Axis::new(words).with_unit(words),
        regions,
        &[Some(3.0), None],
        &[Some(predicted), None],
        0.95,
    )
    .and_then(|figure| figure.with_row(row))
    .expect("a map")
}

fn report(words: &str) -> Report {
    let own = || words.to_owned();
    Report {
        title: own(),
        generated_by: own(),
        summary: vec![own()],
        facts: vec![Fact {
            label: own(),
            value: own(),
            detail: own(),
        }],
        warnings: vec![own()],
        figures: figures(words),
        left_out: vec![own()],
        calibration: Some(CalibrationFigure {
            heading: Heading::new(words, words),
            value: Axis::new(words),
            coverage: vec![Coverage {
                nominal: 0.95,
                held: 9,
                total: 10,
            }],
            ..CalibrationFigure::default()
        }),
        hyperparameters: vec![HyperRow {
            name: own(),
            meaning: own(),
            value: 1.0,
            ..HyperRow::default()
        }],
        evidence: Some(Evidence {
            kind: own(),
            bound: None,
            inference: own(),
            ..Evidence::default()
        }),
        predictions: vec![TablePreview {
            name: own(),
            file: own(),
            note: own(),
            columns: vec![own()],
            rows: vec![vec![Cell::Text(own())]],
            total_rows: 1,
        }],
        study: own(),
        notes: vec![own()],
    }
}

#[test]
fn no_word_of_a_user_becomes_markup() {
    let (plain, evil) = (html(&report("word")), html(&report(EVIL)));
    assert!(!evil.contains("<img src=x") && !evil.contains("<script>alert"));
    for mark in ["<script", "</script", "<img"] {
        assert_eq!(
            evil.matches(mark).count(),
            plain.matches(mark).count(),
            "{mark}"
        );
    }
    assert_eq!(islands(&evil).len(), islands(&plain).len());
    for figure in figures(EVIL) {
        let image = svg(&figure);
        assert!(!image.contains("<script") && !image.contains("<img"));
        assert!(png(&figure, 1.0).expect("a picture").len() > 1000);
    }
}

#[test]
fn a_page_names_nothing_outside_itself() {
    let page = html(&report("word"));
    let own: String = page
        .split("<script>")
        .filter(|part| part.len() < 50_000)
        .collect();
    for attribute in ["src=\"", "href=\"", "url(", "@import"] {
        for rest in own.split(attribute).skip(1) {
            assert!(
                rest.starts_with("data:") || rest.starts_with('#'),
                "{attribute}{}",
                &rest[..40]
            );
        }
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn numbers_that_are_none_leave_the_json_whole() {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let observed = bad.iter().map(|&b| Observed::total(0.0, 1.0, b)).collect();
    let figure = curve("a", observed, line(vec![1.0, bad[0], bad[1], bad[2], 5.0]));
    let pixels = bad
        .iter()
        .map(|&b| Pixel {
            x1: 1.0,
            y1: b,
            mean: b,
            ..Pixel::default()
        })
        .collect();
    let surface = Figure::Surface(SurfaceFigure {
        predicted: pixels,
        ..SurfaceFigure::default()
    });
    let rows = bad.iter().map(|&b| ForestRow {
        mean: b,
        lower: b,
        upper: b,
        observed: Some(b),
        ..ForestRow::default()
    });
    let forest = Figure::Forest(ForestFigure {
        rows: rows.collect(),
        ..ForestFigure::default()
    });
    let page = html(&Report {
        figures: vec![figure.clone(), surface, forest, nowhere()],
        ..Report::default()
    });
    assert_eq!(islands(&page).len(), 5);
    assert!(page.contains("3 of 5 predicted rows have no finite value"));
    assert!(!svg(&figure).contains("NaN") && !svg(&figure).contains("inf"));
}

/// A violin without a number, and one whose median has none.
fn nowhere() -> Figure {
    let mut figure = violins("a");
    figure.violins[0].at = vec![f64::NAN; 5];
    figure.violins[1].median = (f64::NAN, f64::INFINITY);
    figure.violins[1].quartiles[1] = f64::NAN;
    assert!(!svg(&Figure::Violins(figure.clone())).contains("NaN"));
    Figure::Violins(figure)
}

#[test]
fn violins_are_mirrored_and_tell_their_groups() {
    let (page, layers) = views(Figure::Violins(violins("word")));
    assert_eq!(layers, [8]);
    let island = &islands(&page)[0];
    let told = &island["views"][0]["spec"]["layer"][0]["data"]["values"];
    assert_eq!(told[1]["median"], "3 (90\u{a0}% interval: 2.5 to 3.5)");
    assert_eq!(told[0]["rows"], "12");
    let edges = &island["views"][0]["spec"]["layer"][1]["data"]["values"];
    let number = |i: usize, name: &str| edges[i][name].as_f64().expect("a number");
    // Two sides of five places for each of two groups; the sides are as far from the middle.
    assert_eq!(edges.as_array().map(Vec::len), Some(20));
    assert!((number(2, "d") + number(7, "d") - 1.0).abs() < 1e-9);
    assert!((number(12, "d") + number(17, "d") - 3.0).abs() < 1e-9);
    // The widest band takes 0.48 of its column on either side, the density four fifths of it.
    assert!((number(7, "d") - 0.884).abs() < 1e-9);
}

#[test]
fn a_long_prediction_is_thinned_and_the_caption_says_so() {
    let figure = curve(
        "long",
        vec![],
        line((0..100_000).map(|i| f64::from(i % 997)).collect()),
    );
    let page = html(&Report {
        figures: vec![figure.clone()],
        ..Report::default()
    });
    assert!(page.contains("of 100,000 predicted rows, peaks and troughs kept"));
    assert!(page.len() < 1_500_000, "{}", page.len());
    assert!(svg(&figure).len() < 200_000);
}

#[test]
fn the_reading_of_the_calibration_is_on_the_page() {
    let page = html(&report("word"));
    assert!(page.contains("95\u{a0}% intervals held 9 of 10 left-out rows (about 9.5 expected)."));
}

#[test]
fn rows_that_were_fitted_are_no_test() {
    let page = html(&report("word"));
    assert!(page.contains("hold 19 of 20 rows; all were fitted, so this is no test."));
    assert!(page.contains("\"title\":\"predicted\""));
}

#[test]
fn a_map_with_its_truth_has_four_views_and_marked_places() {
    let mut figure = figures("word").swap_remove(1);
    if let Figure::Surface(surface) = &mut figure {
        surface.chances.clear();
        surface.borders.clear();
    }
    let (page, layers) = views(figure);
    assert!(page.contains("class=\"views maps four\""));
    // Marked where something is predicted, not where it was seen or known.
    assert_eq!(layers, [3, 4, 3, 4]);
    assert_eq!(islands(&page)[0]["datasets"]["marked"][0]["x"], 0.5);
}

#[test]
fn probabilities_and_outlines_are_drawn_on_one_scale() {
    let (page, layers) = views(figures("word").swap_remove(1));
    // One more view, and two lines for the outlines in each.
    assert_eq!(layers, [5, 6, 5, 6, 6]);
    let island = &islands(&page)[0];
    assert_eq!(island["datasets"]["predicted"][0]["chance0"], 0.5);
    // A triangle ends where it began.
    assert_eq!(
        island["datasets"]["borders"].as_array().map(Vec::len),
        Some(4)
    );
    assert_eq!(island["views"][4]["exact"], true);
}

/// The page of a figure, and the number of layers in each of its views.
fn views(figure: Figure) -> (String, Vec<usize>) {
    let page = html(&Report {
        figures: vec![figure],
        ..Report::default()
    });
    let island = &islands(&page)[0];
    let views = island["views"].as_array().cloned().unwrap_or_default();
    let count = |view: &serde_json::Value| view["spec"]["layer"].as_array().map_or(0, Vec::len);
    let layers = views.iter().map(count).collect();
    (page, layers)
}

#[test]
fn limits_are_dashed_lines_and_what_is_not_drawn_is_said() {
    let page = html(&report("word"));
    assert!(page.contains("<h2>Not drawn</h2>"));
    let limits = islands(&page).into_iter().take(3);
    let dashed = limits.filter(|island| island.to_string().contains("\"strokeDash\":[4,4]"));
    // The curve and the list.
    assert_eq!(dashed.count(), 2);
    let image = svg(&figures("word")[0]);
    assert!(image.contains("stroke-dasharray"));
}

#[test]
fn what_did_not_converge_is_said_plainly() {
    assert!(html(&report("word")).contains("no: do not rely on these results"));
}

#[test]
fn structs_survive_json() {
    let report = report("word");
    let text = serde_json::to_string(&report).expect("writes");
    assert_eq!(
        serde_json::from_str::<Report>(&text).expect("reads"),
        report
    );
}

#[test]
fn a_map_has_its_geometry_once_and_says_what_is_missing() {
    let page = html(&Report {
        figures: vec![Figure::Map(map("word"))],
        ..Report::default()
    });
    assert!(page.contains(
        "Hatched regions have no value (Observed: 1 of 2; Predicted mean: 1 of 2; Standard deviation: 1 of 2)."
    ));
    let island = &islands(&page)[0];
    assert_eq!(island["views"].as_array().map(Vec::len), Some(3));
    assert!(!island["views"].to_string().contains("coordinates"));
    let regions = &island["datasets"]["regions"];
    assert_eq!(regions.as_array().map(Vec::len), Some(2));
    assert_eq!(regions[0]["w0"], "3 word");
}

#[test]
fn svg_and_png_agree_on_their_size() {
    for figure in figures("word") {
        let image = svg(&figure);
        let attribute = |name: &str| -> f64 {
            let rest = &image[image.find(name).expect("there") + name.len()..];
            rest[..rest.find('"').expect("ends")]
                .parse()
                .expect("a number")
        };
        let bytes = png(&figure, 2.0).expect("a picture");
        // A picture has whole pixels.
        let side = |at: usize| {
            f64::from(u32::from_be_bytes(
                bytes[at..at + 4].try_into().expect("four bytes"),
            ))
        };
        assert!((side(16) - 2.0 * attribute(" width=\"")).abs() <= 1.0);
        assert!((side(20) - 2.0 * attribute(" height=\"")).abs() <= 1.0);
    }
}
