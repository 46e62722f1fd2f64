//! A prior mean as an expression: `zero`, `constant`, a number, `linear(x, y)`.

use std::fmt;
use std::str::FromStr;

use super::settings::Mean;
use crate::kernel::{Kernel, Kind};

/// What there is to say.
const WORDS: &str = "`constant`, `zero`, a number, or lines along columns such as `linear(x)` or `linear(x, y)`, with the constant or without";

impl FromStr for Mean {
    type Err = String;

    /// Reads an expression: the constant is in every sum with lines, whether it is named or not.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text {
            "constant" => return Ok(Self::Constant),
            "zero" => return Ok(Self::Zero),
            _ => {}
        }
        if let Ok(value) = text.parse::<f64>() {
            return match value.is_finite() {
                true => Ok(Self::Fixed(value)),
                false => Err(format!("it is {value}; it must be finite")),
            };
        }
        let other = || format!("`{text}` is none; there are {WORDS}");
        let kernel = Kernel::parse(text).map_err(|error| match text.contains("linear") {
            true => error.message,
            false => other(),
        })?;
        let mut columns: Vec<String> = Vec::new();
        let mut constants = 0;
        for term in kernel.terms() {
            let [leaf] = term.as_slice() else {
                return Err(other());
            };
            let leaf = &kernel.leaves()[*leaf];
            match leaf.kind {
                Kind::Constant => constants += 1,
                Kind::Linear if leaf.origin == 0.0 => {
                    let names = leaf.columns.iter().map(|&c| kernel.columns()[c].clone());
                    columns.extend(names);
                }
                Kind::Linear => {
                    return Err("a line of the mean has no `origin`: the constant beside it takes it up; leave it out".to_owned());
                }
                _ => return Err(other()),
            }
        }
        for (at, name) in columns.iter().enumerate() {
            if columns[..at].contains(name) {
                return Err(format!("`{name}` is named twice; name it once"));
            }
        }
        match (constants, columns.is_empty()) {
            (0 | 1, false) => Ok(Self::Linear(columns)),
            (1, true) => Ok(Self::Constant),
            _ => Err("the constant is named twice; name it once".to_owned()),
        }
    }
}

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("zero"),
            Self::Constant => f.write_str("constant"),
            Self::Fixed(value) => write!(f, "{value}"),
            Self::Linear(columns) => write!(f, "{}", Kernel::linear(columns.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_read_back_as_they_are_written() {
        let lines = |names: &[&str]| Mean::linear(names.iter().copied());
        for (text, mean) in [
            ("constant", Mean::Constant),
            ("zero", Mean::Zero),
            ("-2.5", Mean::Fixed(-2.5)),
            ("linear(x)", lines(&["x"])),
            (" constant + linear(x, y) ", lines(&["x", "y"])),
            ("linear(y) + constant + linear(x)", lines(&["y", "x"])),
            ("linear('height above sea')", lines(&["height above sea"])),
        ] {
            let read: Mean = text.parse().unwrap();
            assert_eq!(read, mean, "{text}");
            assert_eq!(read.to_string().parse(), Ok(mean));
        }
        for (text, says) in [
            ("linear", "linear"),
            ("linear(x) * linear(y)", "is none"),
            ("linear(x) + se(x)", "is none"),
            ("linear(x, origin = 3)", "origin"),
            ("linear(x) + linear(x, y)", "`x` is named twice"),
            ("constant + constant", "constant is named twice"),
            ("quadratic", "is none"),
            ("inf", "finite"),
            ("", "is none"),
        ] {
            let error = text.parse::<Mean>().unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
