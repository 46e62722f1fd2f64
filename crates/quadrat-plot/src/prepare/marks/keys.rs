//! The legend of marks.

use super::{Glyph, Shape};
use crate::figure::{Marks, Seen};
use crate::palette::{OBSERVED, THRESHOLD};
use crate::prepare::Key;

/// One entry for each shape that is drawn.
pub(super) fn keys(marks: &Marks, glyphs: &[Glyph]) -> Vec<Key> {
    let any = |test: fn(&Shape) -> bool| glyphs.iter().any(|g| test(&g.shape));
    if glyphs.is_empty() {
        return Vec::new();
    }
    let given = |words: &str| {
        if marks.label.is_empty() {
            words.to_owned()
        } else {
            marks.label.clone()
        }
    };
    let key = |shape, words: &str| Key::new(shape, OBSERVED, given(words));
    match &marks.seen {
        Seen::Intervals { lower, upper } => {
            let open = lower.iter().chain(upper).any(Option::is_none);
            let words = if open {
                "Observed interval (arrow: no end)"
            } else {
                "Observed interval"
            };
            let boxed = any(|s| matches!(s, Shape::Boxed { .. }));
            vec![key(if boxed { "box" } else { "capped" }, words)]
        }
        Seen::Censored { .. } => {
            let down = any(|s| matches!(s, Shape::Arrow { from, to, .. } if to <= from));
            let up = any(|s| matches!(s, Shape::Arrow { from, to, .. } if to > from));
            match (down, up) {
                (true, true) => vec![key("beyond", "True value beyond the limit (ring)")],
                (_, true) => vec![key("above", "True value above the limit (ring)")],
                _ => vec![key("below", "True value below the limit (ring)")],
            }
        }
        Seen::Ranks { .. } => {
            vec![
                key("tick", "Observed rank, in its band (1 is the lowest)"),
                Key::new("dashes", THRESHOLD, "Threshold between ranks"),
            ]
        }
        Seen::Rates { .. } => {
            let mut keys = Vec::new();
            if any(|s| matches!(s, Shape::Dot { .. })) {
                let words = "Observed rate (area grows with the exposure)";
                keys.push(key("bubbles", words));
            }
            if any(|s| matches!(s, Shape::Pillar { .. })) {
                let words = "Suppressed count: its rate lies in the bar";
                keys.push(Key::new("pillar", OBSERVED, words));
            }
            if any(|s| matches!(s, Shape::Arrow { .. })) {
                let words = "Open count: its rate is that of the ring, or higher";
                keys.push(Key::new("above", OBSERVED, words));
            }
            keys
        }
        Seen::Signs { .. } => {
            vec![key("edges", "Observed yes (top edge) or no (bottom edge)")]
        }
    }
}
