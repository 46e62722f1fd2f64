//! The page and the images as their users see them: from the public structs.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use quadrat_plot::{
    Area, Axis, CalibrationFigure, Cell, Coverage, CurveFigure, Evidence, Fact, Figure,
    ForestFigure, ForestRow, Heading, HyperRow, MapFigure, MapPrediction, MapRegion, MapRow,
    MarkError, Marks, Observed, Panel, Pixel, Places, Predicted, Report, Side, SurfaceFigure,
    TablePreview, html, png, svg,
};

const EVIL: &str = "</script><script>alert('x')</script><img src=x onerror=\"y\">\u{2028}&";

fn line(mean: Vec<f64>) -> Predicted {
    Predicted {
        at: Places::Points((0..mean.len()).map(|i| i as f64).collect()),
        lower: mean.iter().map(|m| m - 1.0).collect(),
        upper: mean.iter().map(|m| m + 1.0).collect(),
        mean,
        level: 0.95,
        ..Predicted::default()
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
        }],
    })
}

fn figures(words: &str) -> Vec<Figure> {
    let pixel = Pixel {
        x1: 1.0,
        y1: 1.0,
        mean: 2.0,
        sd: 1.0,
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
            observed: vec![area],
            predicted: vec![pixel],
            ..SurfaceFigure::default()
        }),
        Figure::Forest(ForestFigure {
            heading: Heading::new(words, words),
            value: Axis::new(words),
            reference: String::new(),
            rows: vec![ForestRow {
                label: words.to_owned(),
                mean: 1.0,
                lower: 0.0,
                upper: 2.0,
                observed: None,
                reference: None,
            }],
            level: 0.9,
        }),
        Figure::Map(map(words)),
    ]
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

/// The JSON islands of a page.
fn islands(page: &str) -> Vec<serde_json::Value> {
    page.split("<script type=\"application/json\"")
        .skip(1)
        .map(|rest| {
            let start = rest.find('>').expect("a tag ends") + 1;
            let end = rest.find("</script>").expect("a script ends");
            serde_json::from_str(&rest[start..end]).expect("valid JSON")
        })
        .collect()
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
    assert_eq!(islands(&evil).len(), 6);
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
    let mut observed: Vec<Observed> = bad.iter().map(|&b| Observed::total(0.0, 1.0, b)).collect();
    observed.extend(bad.iter().map(|&b| Observed::Range {
        x: 1.0,
        lower: b,
        upper: b,
        label: String::new(),
    }));
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
        figures: vec![figure.clone(), surface, forest],
        ..Report::default()
    });
    assert_eq!(islands(&page).len(), 4);
    assert!(page.contains("3 of 5 predicted rows have no finite value"));
    assert!(!svg(&figure).contains("NaN") && !svg(&figure).contains("inf"));
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
        let side = |at: usize| {
            f64::from(u32::from_be_bytes(
                bytes[at..at + 4].try_into().expect("four bytes"),
            ))
        };
        assert!((side(16) - 2.0 * attribute(" width=\"")).abs() <= 1.0);
        assert!((side(20) - 2.0 * attribute(" height=\"")).abs() <= 1.0);
    }
}

/// One figure with every kind of mark in a panel of its own.
fn marked(words: &str) -> Figure {
    let rows = || vec![words.to_owned(), words.to_owned()];
    let at = [1.0, 2.0];
    let (low, high) = ([f64::NEG_INFINITY, 2.0], [3.0, f64::INFINITY]);
    let sides = [Side::Below, Side::Above];
    let kinds = [
        Marks::intervals(at, &low, &high),
        Marks::intervals([(0.0, 1.0), (1.0, 2.0)], &low, &high),
        Marks::censored(at, &[1.0, 2.0], &sides),
        Marks::censored([(0.0, 1.0), (1.0, 2.0)], &[1.0, 2.0], &sides),
        Marks::ranks(at, &[1, 2], &[0.5], &[words, words]),
        Marks::rates(at, &[3.0, 1.0], &[3.0, 4.0], &[2.0, 1.0], 10.0),
        Marks::rates(
            [(0.0, 1.0), (1.0, 2.0)],
            &[3.0, 1.0],
            &high,
            &[2.0, 1.0],
            10.0,
        ),
        Marks::signs(at, &[true, false]),
        Marks::signs([(0.0, 1.0), (1.0, 2.0)], &[true, false]),
    ];
    let panel = |marks: Result<Marks, MarkError>| Panel {
        marks: vec![
            marks
                .and_then(|m| m.with_label(words).with_rows(rows()))
                .expect("marks"),
        ],
        predicted: vec![line(vec![1.0, 2.0, 3.0])],
        ..Panel::default()
    };
    Figure::Curve(CurveFigure {
        panels: kinds.into_iter().map(panel).collect(),
        ..CurveFigure::default()
    })
}

/// The titles of the tooltips of a view, each once.
fn tooltips(view: &serde_json::Value) -> Vec<String> {
    let mut titles = Vec::new();
    for layer in view["spec"]["layer"].as_array().expect("layers") {
        let lines = layer["encoding"]["tooltip"].as_array();
        for line in lines.into_iter().flatten() {
            let title = line["title"].as_str().map(str::to_owned);
            titles.extend(title.filter(|t| !titles.contains(t)));
        }
    }
    titles
}

#[test]
fn every_mark_has_a_legend_and_a_tooltip() {
    let figure = marked("word");
    let page = html(&Report {
        figures: vec![figure.clone()],
        ..Report::default()
    });
    let island = &islands(&page)[0];
    let told: Vec<Vec<String>> = island["views"]
        .as_array()
        .expect("views")
        .iter()
        .map(tooltips)
        .collect();
    assert_eq!(told[0], ["value", "at", "row"]);
    assert_eq!(told[2], ["true value", "at", "row"]);
    assert_eq!(told[4], ["rank", "bounds", "at", "row"]);
    assert_eq!(told[5], ["rate", "count", "exposure", "at", "row"]);
    assert_eq!(told[7], ["observed", "at", "row"]);
    let text = island.to_string();
    for words in [
        "up to 3",
        "at least 2",
        "below 1",
        "above 2",
        "word (1 of 2)",
        "\"15\"",
        "yes",
    ] {
        assert!(text.contains(words), "{words}");
    }
    // A swatch of its own for each kind and shape of mark.
    let legend = &page[page.find("<ul class=\"legend\">").expect("a legend")..];
    let legend = &legend[..legend.find("</ul>").expect("an end")];
    assert_eq!(legend.matches("<li>").count(), 10, "{legend}");
    assert!(legend.contains("Threshold between ranks") && legend.contains("Suppressed"));
    let image = svg(&figure);
    assert!(!image.contains("NaN") && !image.contains("inf"));
    assert_eq!(
        image.matches("stroke-dasharray").count(),
        2,
        "one threshold and its key"
    );
    assert!(png(&figure, 1.0).expect("a picture").len() > 1000);
}

#[test]
fn no_word_of_a_mark_becomes_markup() {
    let page = |words: &str| {
        html(&Report {
            figures: vec![marked(words)],
            ..Report::default()
        })
    };
    let (plain, evil) = (page("word"), page(EVIL));
    for mark in ["<script", "</script", "<img"] {
        assert_eq!(evil.matches(mark).count(), plain.matches(mark).count());
    }
    let image = svg(&marked(EVIL));
    assert!(!image.contains("<script") && !image.contains("<img"));
}

#[test]
fn many_marks_lie_below_the_prediction() {
    let x: Vec<f64> = (0..5000).map(|i| f64::from(i) / 2500.0).collect();
    let figure = Figure::Curve(CurveFigure {
        panels: vec![Panel {
            marks: vec![Marks::intervals(x.iter().copied(), &x, &x).expect("marks")],
            predicted: vec![line(vec![1.0, 2.0, 3.0])],
            ..Panel::default()
        }],
        ..CurveFigure::default()
    });
    let page = html(&Report {
        figures: vec![figure],
        ..Report::default()
    });
    assert!(page.contains("3,000 of 5,000 observed rows are drawn"));
    let island = &islands(&page)[0];
    let layers = island["views"][0]["spec"]["layer"]
        .as_array()
        .expect("layers");
    let first = |what: &dyn Fn(&serde_json::Value) -> bool| layers.iter().position(what);
    let rules = first(&|l| l["layer"][0]["mark"]["type"] == "rule").expect("rules");
    let mean = first(&|l| l["mark"]["type"] == "line").expect("a line");
    let pointer = first(&|l| !l["params"].is_null()).expect("a pointer");
    assert!(pointer < rules && rules < mean);
    assert_eq!(island["views"][0]["renderer"], "canvas");
}

#[test]
fn marked_figures_survive_json() {
    let figure = marked("word");
    let text = serde_json::to_string(&figure).expect("writes");
    assert_eq!(
        serde_json::from_str::<Figure>(&text).expect("reads"),
        figure
    );
}
