//! Conditional densities as figures.

use quadrat_plot::{
    Axis, CurveFigure, Figure, Heading, Observed, Panel, Pixel, Places, Predicted, SurfaceFigure,
};
use quadrat_study::density::Answers;
use quadrat_study::density::given::said::{CURVES, Said};
use quadrat_study::numbers::{count, percent};

/// The densities, and the curves of quantiles with their bands.
pub fn figures(said: &Said) -> Vec<Figure> {
    vec![surface(&said.title(), said), curves(said)]
}

pub fn surface(title: &str, said: &Said) -> Figure {
    let (estimate, rows) = (&said.estimate, &said.rows);
    let [m, n] = estimate.shape();
    let (x, y) = (estimate.edges(0), estimate.edges(1));
    let (low, high) = said.seen();
    // Relative to the highest of each slice: what is narrow would hide all that is wide.
    let top = |slice: &[f64]| slice.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let tops: Vec<f64> = estimate.density().chunks(n).map(top).collect();
    let pixel = |cell: usize| {
        let (i, j) = (cell / n, cell % n);
        let of = |x: &[f64]| x[cell] / tops[i];
        Pixel {
            x0: x[i],
            x1: x[i + 1],
            y0: y[j],
            y1: y[j + 1],
            mean: of(estimate.density()),
            sd: of(estimate.sd()),
            lower: of(estimate.lower()),
            upper: of(estimate.upper()),
            chances: Vec::new(),
        }
    };
    let is_seen = |cell: &usize| y[cell % n] >= low && y[cell % n + 1] <= high;
    let lines = said.quantiles.iter().map(|curve| {
        let pairs = curve.places.iter().zip(&curve.value);
        pairs.map(|(x, y)| [*x, y.clamp(low, high)]).collect()
    });
    let told = CURVES.map(percent).join(", ");
    let caption = format!(
        "The density of {} at each {} over its highest there, from {}, and its standard deviation. Lines are quantiles: {told}.",
        rows.names[1],
        rows.names[0],
        count(rows.len(), "row"),
    );
    Figure::Surface(SurfaceFigure {
        heading: Heading::new("density", title).with_caption(caption),
        x: Axis::new(&rows.names[0]),
        y: Axis::new(&rows.names[1]),
        value: Axis::new("density over its highest"),
        predicted: (0..m * n).filter(is_seen).map(pixel).collect(),
        level: estimate.level(),
        lines: lines.collect(),
        marked: rows.marks(),
        marked_label: "Rows".to_owned(),
        ..SurfaceFigure::default()
    })
}

/// Quantiles with their bands.
pub fn curves(said: &Said) -> Figure {
    let names = &said.rows.names;
    // The median first: tooltips tell it.
    let predicted = [(2, "Median"), (0, "5 % below"), (4, "95 % below")].map(|(k, label)| {
        let curve = &said.quantiles[k];
        Predicted {
            label: label.to_owned(),
            at: Places::Points(curve.places.clone()),
            mean: curve.value.clone(),
            lower: curve.lower.clone(),
            upper: curve.upper.clone(),
            level: said.estimate.level(),
        }
    });
    let observed = said.rows.marks().into_iter().map(|[x, y]| Observed::Point {
        x,
        y,
        error: None,
        label: String::new(),
    });
    let title = format!("Quantiles of {} given {}", names[1], names[0]);
    let caption = format!(
        "Quantiles as curves, each with its pointwise {} band.",
        percent(said.estimate.level())
    );
    Figure::Curve(CurveFigure {
        heading: Heading::new("quantiles", title).with_caption(caption),
        x: Axis::new(&names[0]),
        panels: vec![Panel {
            y: Axis::new(&names[1]),
            observed: observed.collect(),
            predicted: predicted.to_vec(),
            ..Panel::default()
        }],
    })
}
