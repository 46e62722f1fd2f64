//! Words that say that a band is open.

/// Words before the edge of an open band, and whether the band is below it.
pub const BEFORE: [(&str, bool); 12] = [
    ("less than", true),
    ("under", true),
    ("below", true),
    ("up to", true),
    ("<", true),
    ("at least", false),
    ("more than", false),
    ("from", false),
    ("over", false),
    (">=", false),
    ("\u{2265}", false),
    (">", false),
];
/// Words behind the edge of an open band, and whether the band is below it.
pub const BEHIND: [(&str, bool); 15] = [
    ("and more", false),
    ("or more", false),
    ("and over", false),
    ("or over", false),
    ("and older", false),
    ("or older", false),
    ("and above", false),
    ("or above", false),
    ("and up", false),
    ("plus", false),
    ("+", false),
    ("and less", true),
    ("or less", true),
    ("and under", true),
    ("or under", true),
];
/// Words for no edge at all.
pub const ENDLESS: [&str; 3] = ["inf", "infinity", "\u{221e}"];

/// Whether a cell says that a band is open.
pub fn is_open(cell: &str) -> bool {
    let text = cell.trim().to_lowercase();
    let word = text.trim_start_matches(['+', '-']);
    word.is_empty()
        || ENDLESS.contains(&word)
        || BEFORE.iter().any(|(before, _)| text.starts_with(before))
        || BEHIND.iter().any(|(behind, _)| text.ends_with(behind))
}
