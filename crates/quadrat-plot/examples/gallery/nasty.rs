//! Everything that has ever broken a page.

use quadrat_plot::{
    Axis, CalibrationFigure, CorrelationFigure, CurveFigure, Evidence, Figure, ForestFigure,
    ForestRow, Heading, Limit, Observed, Panel, Pixel, Places, Predicted, Reference, Report,
    SurfaceFigure, TablePreview,
};

use crate::ages::fact;
use crate::ages::hyper;
use crate::figures::{calibration, correlations};

/// Everything that has ever broken a page: markup in words, numbers that are none, empty and lonely
/// data.
pub fn report() -> Report {
    let evil = "</script><script>alert(\"1\")</script> <b>'quoted'</b> & \"double\" <!-- \u{2028} \\ $5 and $6";
    let predicted = |at: Places, mean: Vec<f64>| Predicted {
        label: evil.to_owned(),
        lower: mean.iter().map(|m| m - 1.0).collect(),
        upper: mean.iter().map(|m| m + f64::INFINITY).collect(),
        at,
        mean,
        level: 0.95,
    };
    let limit = |value: f64| Limit {
        value,
        label: evil.to_owned(),
    };
    let panel = |observed: Vec<Observed>, predicted: Vec<Predicted>| Panel {
        title: evil.to_owned(),
        y: Axis::new(evil).with_unit("%"),
        observed,
        observed_label: evil.to_owned(),
        marks: Vec::new(),
        predicted,
        marked: vec![0.5, f64::NAN, 1e9],
        marked_label: evil.to_owned(),
        limits: [1.5, f64::NAN, 1e300].map(limit).to_vec(),
        domain: None,
        reference: Some(Reference {
            label: evil.to_owned(),
            x: vec![0.5, f64::NAN],
            y: vec![1.0, 2.0],
        }),
    };
    let figure = CurveFigure {
        heading: Heading::new(evil, evil).with_caption(evil),
        x: Axis::new(evil),
        panels: vec![
            panel(
                vec![
                    Observed::total(0.0, 2.0, f64::NAN),
                    Observed::total(2.0, 3.0, 4.0),
                    Observed::total(1.0, 1.0, 1.0),
                ],
                vec![predicted(
                    Places::Cells(vec![(0.0, 1.0), (1.0, 2.0), (4.0, 5.0)]),
                    vec![1.0, f64::NAN, 2.0],
                )],
            ),
            panel(
                vec![],
                vec![predicted(Places::Points(vec![3.0]), vec![2.0])],
            ),
            panel(vec![], vec![]),
        ],
    };
    let row = ForestRow {
        label: evil.to_owned(),
        mean: 1.0,
        lower: f64::NEG_INFINITY,
        upper: 3.0,
        observed: Some(f64::NAN),
        reference: None,
    };
    let forest = ForestFigure {
        heading: Heading::new(evil, evil),
        rows: vec![
            row.clone(),
            row,
            ForestRow {
                mean: f64::NAN,
                ..ForestRow::default()
            },
        ],
        ..ForestFigure::default()
    };
    let one = Pixel {
        x0: 0.0,
        x1: 1.0,
        y0: 0.0,
        y1: 1.0,
        mean: 2.0,
        sd: f64::NAN,
        lower: 1.0,
        upper: 3.0,
        chances: vec![f64::NAN],
    };
    let surface = SurfaceFigure {
        heading: Heading::new("one", evil),
        x: Axis::new(evil),
        predicted: vec![
            one.clone(),
            Pixel {
                mean: f64::INFINITY,
                ..one
            },
        ],
        chances: vec![evil.to_owned()],
        ..SurfaceFigure::default()
    };
    let mut check = calibration(1);
    check.rows[0].label = evil.to_owned();
    check.pit = vec![f64::NAN, 1.0];
    Report {
        title: evil.to_owned(),
        generated_by: evil.to_owned(),
        summary: vec![evil.to_owned()],
        facts: vec![fact(evil, evil, evil)],
        warnings: vec![evil.to_owned()],
        left_out: vec![evil.to_owned()],
        figures: vec![
            Figure::Curve(figure),
            Figure::Forest(forest),
            Figure::Surface(surface),
            Figure::Surface(SurfaceFigure::default()),
            Figure::Curve(CurveFigure::default()),
            Figure::Forest(ForestFigure::default()),
            Figure::Correlation(nasty_correlations()),
            Figure::Correlation(CorrelationFigure::default()),
            Figure::Calibration(CalibrationFigure::default()),
        ],
        calibration: Some(check),
        hyperparameters: vec![hyper(
            evil,
            f64::NAN,
            Some((f64::NEG_INFINITY, f64::INFINITY)),
            false,
            evil,
        )],
        evidence: Some(Evidence {
            log_evidence: f64::NAN,
            kind: evil.to_owned(),
            bound: None,
            seconds: f64::NAN,
            ..Evidence::default()
        }),
        predictions: vec![TablePreview {
            name: evil.to_owned(),
            file: evil.to_owned(),
            note: evil.to_owned(),
            columns: vec![evil.to_owned(), "x".to_owned(), "missing".to_owned()],
            rows: vec![vec![evil.into(), f64::NAN.into()], vec![]],
            total_rows: 0,
        }],
        study: evil.to_owned(),
        notes: vec![evil.to_owned()],
    }
}

/// Long and dangerous names, more than fit, and pairs that are not there.
fn nasty_correlations() -> CorrelationFigure {
    let mut figure = correlations(20);
    figure.heading = Heading::new("nasty-correlations", "Correlations that are hard to draw");
    figure.names[0] = "<b>a name in markup</b>".into();
    figure.names[1] = "a name that is much longer than any column of cells could ever be".into();
    figure.pairs[0].value = f64::NAN;
    figure.pairs[1].lower = f64::NAN;
    figure.pairs.retain(|pair| pair.first != 5);
    figure
}
