//! Marks of curve figures as their users see them: from the public structs.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{EVIL, islands, line};
use quadrat_plot::{CurveFigure, Figure, MarkError, Marks, Panel, Report, Side, html, png, svg};

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
    assert_eq!(legend.matches("<li>").count(), 11, "{legend}");
    for words in ["Threshold between ranks", "Suppressed", "Open count"] {
        assert!(legend.contains(words), "{words}");
    }
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
