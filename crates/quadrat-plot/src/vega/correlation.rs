//! Correlations: a square of coloured cells with their values.

use serde_json::{Value, json};

use super::{Interactive, Scale, View};
use crate::figure::CorrelationFigure;
use crate::palette::{GRID, INK, MUTED, SIDES};
use crate::prepare::{self, joined};

/// Height of a row in pixels.
const ROW: usize = 44;

pub(super) fn interactive(figure: &CorrelationFigure) -> Interactive {
    let square = prepare::correlation(figure);
    let count = square.names.len();
    let diagonal = (0..count).map(|i| {
        json!({
            "row": i, "column": i, "fill": GRID, "ink": MUTED, "words": square.diagonal[i],
            "told": format!("{} (the same)", square.diagonal[i]), "first": square.names[i], "second": square.names[i],
        })
    });
    let cells = square.cells.iter().map(|cell| {
        let (r, g, b) = cell.fill;
        json!({
            "row": cell.row, "column": cell.column, "fill": format!("#{r:02x}{g:02x}{b:02x}"),
            "ink": if cell.dark { "#ffffff" } else { INK }, "words": cell.words, "told": cell.told,
            "first": square.names[cell.row], "second": square.names[cell.column],
        })
    });
    let data: Vec<Value> = diagonal.chain(cells).collect();
    // Cells are placed by number: two things may have the same name.
    let places: Vec<usize> = (0..count).collect();
    let axis = |field: &str, limit: &str| {
        json!({
            "field": field, "type": "ordinal", "title": null,
            "scale": {"domain": places, "paddingInner": 0.03, "paddingOuter": 0},
            "axis": {
                "labelExpr": "names[datum.value]", "labelLimit": {"expr": limit}, "labelColor": INK, "labelOverlap": false,
                "labelAngle": 0, "domain": false, "ticks": false, "grid": false, "orient": if field == "row" { "left" } else { "top" },
            },
        })
    };
    let across = format!("max(24, width / {} - 4)", count.max(1));
    let (x, y) = (axis("column", &across), axis("row", "max(60, width * 0.4)"));
    let tooltip = json!([
        {"field": "first", "title": "of"}, {"field": "second", "title": "and"}, {"field": "told", "title": square.quantity}
    ]);
    let raw = |field: &str| json!({"field": field, "type": "nominal", "scale": null});
    let size = format!("max(7, min(13, width / {} / 3))", count.max(1));
    let spec = json!({
        "height": count * ROW,
        "params": [{"name": "names", "value": square.names}],
        "data": {"values": data},
        "layer": [
            {
                "mark": {"type": "rect", "cornerRadius": 2},
                "encoding": {"x": x, "y": y, "fill": raw("fill"), "tooltip": tooltip},
            },
            {
                "mark": {"type": "text", "fontSize": {"expr": size}, "baseline": "middle"},
                "encoding": {"x": x, "y": y, "text": {"field": "words"}, "fill": raw("ink"), "tooltip": tooltip},
            },
        ],
    });
    let labels = [(0.0, "\u{2212}1"), (0.5, "0"), (1.0, "1")];
    let view = View {
        spec,
        scale: Some(Scale {
            stops: SIDES.map(str::to_owned).to_vec(),
            labels: labels.map(|(at, words)| (at, words.to_owned())).to_vec(),
        }),
        ..View::default()
    };
    Interactive {
        views: if square.is_empty() {
            Vec::new()
        } else {
            vec![view]
        },
        arrangement: match count {
            0..=3 => "square small",
            4..=7 => "square middling",
            _ => "square",
        },
        legend: Vec::new(),
        datasets: json!({}),
        caption: joined("", &square.remarks),
    }
}
