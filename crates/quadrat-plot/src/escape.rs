//! Nothing a user wrote may end a tag, an attribute or a script.

/// Text for HTML or SVG content and for attributes in double quotes. Control characters are
/// dropped.
pub(crate) fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len() + 8);
    for c in raw.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// JSON for the inside of a `<script>` element: `<`, `>` and `&` become escapes, so `</script>`
/// cannot occur.
pub(crate) fn json(value: &serde_json::Value) -> String {
    let raw = value.to_string();
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out
}

/// A plain name for an element: letters, digits and hyphens.
pub(crate) fn id(raw: &str) -> String {
    let mut out = String::new();
    for c in raw.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn markup_loses_its_power() {
        assert_eq!(
            super::text("<b a=\"1\" c='2'>&\u{0}"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;"
        );
    }

    #[test]
    fn a_script_cannot_be_closed_from_json() {
        let text = super::json(&json!({"a": "</script><!--"}));
        assert!(!text.contains('<'));
        let back: serde_json::Value = serde_json::from_str(&text).expect("still JSON");
        assert_eq!(back["a"], "</script><!--");
    }

    #[test]
    fn ids_are_plain() {
        assert_eq!(super::id("by year / \"x\"<script>"), "by-year-x-script");
        assert_eq!(super::id("é"), "");
    }
}
