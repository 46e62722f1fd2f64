//! Vega-Lite specifications of the figures.

mod calibration;
mod correlation;
mod curve;
mod forest;
mod map;
mod marks;
mod surface;
mod view;
mod violin;

use serde_json::{Value, json};
pub(crate) use view::{Interactive, Scale, TICKS, View, domain, labelled, ticked};

use crate::figure::Figure;
use crate::palette;
use crate::prepare::joined;

/// The specification of a figure.
pub(crate) fn interactive(figure: &Figure) -> Interactive {
    let mut out = match figure {
        Figure::Curve(figure) => curve::interactive(figure),
        Figure::Surface(figure) => surface::interactive(figure),
        Figure::Calibration(figure) => calibration::interactive(figure),
        Figure::Forest(figure) => forest::interactive(figure),
        Figure::Map(figure) => map::interactive(figure),
        Figure::Correlation(figure) => correlation::interactive(figure),
        Figure::Violins(figure) => violin::interactive(figure),
    };
    out.caption = joined(figure.caption(), std::slice::from_ref(&out.caption));
    for view in &mut out.views {
        clean(&mut view.spec);
    }
    clean(&mut out.datasets);
    out
}

/// Replaces characters that end a line inside an expression: Vega-Lite builds expressions from
/// titles.
fn clean(spec: &mut Value) {
    match spec {
        Value::String(words) if words.contains(breaks) => *words = words.replace(breaks, " "),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        _ => {}
    }
}

fn breaks(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Settings that all views share.
pub(crate) fn config() -> Value {
    let font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
    json!({
        "background": null,
        // Descriptions of single marks are expressions made of titles; the page describes each
        // figure instead.
        "aria": false,
        "font": font,
        "view": {"stroke": null},
        "axis": {
            "labelColor": palette::MUTED, "titleColor": palette::INK, "labelFontSize": 12, "titleFontSize": 12.5,
            "titleFontWeight": 500, "gridColor": palette::GRID, "domainColor": "#9aa5b1", "tickColor": "#9aa5b1",
            "tickSize": 4, "labelPadding": 5, "titlePadding": 10, "labelFlush": false, "labelOverlap": "greedy",
        },
        "axisX": {"grid": false, "titleLimit": {"expr": "width + 20"}, "tickCount": {"expr": "max(3, floor(width / 80))"}},
        "axisY": {"title": null, "domain": false, "ticks": false, "tickCount": 6},
        "range": {"category": palette::PREDICTED},
    })
}
