//! Names of predictions, which become names of files.

use super::fields::{Check, Spanned};
use crate::diagnostic::shown;

/// Names that something else uses: our own outputs, and devices of Windows.
const RESERVED: [&str; 14] = [
    "report",
    "fit",
    "calibration",
    "observed-regions",
    "output-correlations",
    "study",
    "con",
    "prn",
    "aux",
    "nul",
    "com1",
    "com2",
    "lpt1",
    "lpt2",
];

/// Refuses a name that would not be a plain file inside the output folder.
pub fn check(check: &Check<'_>, name: &Spanned<String>) -> bool {
    const REMEDY: &str = "use letters, digits, spaces, `-`, `_` and `.`, such as `by-year`";
    let text = name.value.as_str();
    let reason = if text.contains(['/', '\\', ':']) || text == "." || text == ".." {
        "leaves the output folder"
    } else if text
        .chars()
        .any(|c| c.is_control() || "<>\"|?*".contains(c))
    {
        "holds a character that file names cannot hold"
    } else if text.starts_with(['.', '-', ' ']) || text.ends_with(['.', ' ']) {
        "starts or ends with a character that hides or breaks file names"
    } else if text.len() > 100 {
        "is longer than 100 bytes"
    } else if RESERVED.contains(&text.to_lowercase().as_str()) || is_matrix(text) {
        "is reserved"
    } else {
        return true;
    };
    check.refuse(
        &name.span,
        format!("the name `{}` {reason}", shown(text)),
        REMEDY,
    );
    false
}

/// Whether it is the name of a picture of a coregionalisation matrix.
fn is_matrix(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("coregion") && text.ends_with("-matrix")
}

/// Refuses two names that are one file where case does not count.
pub fn distinct(check: &Check<'_>, names: &[&Spanned<String>]) {
    for (i, name) in names.iter().enumerate() {
        let same =
            |other: &&&Spanned<String>| other.value.to_lowercase() == name.value.to_lowercase();
        if let Some(first) = names[..i].iter().find(same) {
            let message = if first.value == name.value {
                format!("two predictions are named `{}`", name.value)
            } else {
                format!(
                    "the predictions `{}` and `{}` would be one file where case does not count",
                    first.value, name.value
                )
            };
            check.refuse(&name.span, message, "rename one of them");
        }
    }
}
