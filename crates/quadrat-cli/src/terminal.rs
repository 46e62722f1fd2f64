//! What is said on the terminal, and how texts of the user's files are shown there.

use std::io::Write;

use quadrat_study::words::{clean, printable};

/// Says something on standard error. Where nobody can hear it (a pipe whose reader left, a full
/// disk), that changes nothing: the macros of the standard library would panic.
pub fn tell(text: &str) {
    drop(std::io::stderr().write_all(text.as_bytes()));
}

/// Warns on standard error, in one line.
pub fn warn(text: &str) {
    tell(&format!("warning: {}\n", clean(text)));
}

/// A text of the user's files as a cell of a table on the terminal: cut where it is long, because
/// formats know no wider columns than 65,535.
pub fn short(text: &str) -> String {
    const MOST: usize = 60;
    let mut shown: String = printable(text).chars().take(MOST).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_short_and_without_control_characters() {
        assert_eq!(short("north\u{1b}[31m"), "north [31m");
        let long = short(&"k".repeat(70_000));
        assert_eq!(long, format!("{}...", "k".repeat(60)));
    }
}
