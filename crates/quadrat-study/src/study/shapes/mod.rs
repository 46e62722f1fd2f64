//! `monotone`, `convex`, `concave`, `between`: what the function is known to be.

mod suits;

use std::ops::Range;

use quadrat::model::Shape;
use toml_edit::{Item, Value};

use super::fields::{Section, Spanned, kind, number, text};
pub use suits::suits;

/// Why new observations are not told.
pub const NOT_OBSERVED: &str =
    "shapes hold the function and its means, not new observations, whose noise has none";

/// The keys of `[latent]`: those of shapes, and those beside.
pub const OF_LATENT: [&str; 8] = [
    "kernel",
    "mean",
    "link",
    "non_negative",
    "monotone",
    "convex",
    "concave",
    "between",
];

/// One shape that the function is held to.
#[derive(Debug, Clone)]
pub struct Held {
    /// The key of the study file.
    pub key: &'static str,
    /// What it says.
    pub shape: Shape,
    /// The input that it is along, where the key names one.
    pub input: Option<Spanned<String>>,
    /// Where the value of the key stands.
    pub span: Range<usize>,
}

impl Held {
    /// What the function is, in words.
    pub fn words(&self) -> String {
        match self.shape {
            Shape::Rising => "rising".to_owned(),
            Shape::Falling => "falling".to_owned(),
            Shape::Convex => "convex".to_owned(),
            Shape::Concave => "concave".to_owned(),
            Shape::Between { lower, upper } if lower == f64::NEG_INFINITY => {
                format!("at most {upper}")
            }
            Shape::Between { lower, upper } if upper == f64::INFINITY => {
                format!("at least {lower}")
            }
            Shape::Between { lower, upper } => format!("between {lower} and {upper}"),
        }
    }
}

/// The shapes that `[latent]` says.
pub fn read(section: &Section<'_>) -> Vec<Held> {
    let monotone = section
        .get("monotone")
        .and_then(|item| monotone(section, item));
    let bent = [("convex", Shape::Convex), ("concave", Shape::Concave)];
    let bent = bent.into_iter().filter_map(|(key, shape)| {
        let input = text(section.check, &format!("`{key}`"), section.get(key)?)?;
        let span = section.span_of(key);
        let input = Some(input);
        Some(Held {
            key,
            shape,
            input,
            span,
        })
    });
    let bent: Vec<Held> = bent.collect();
    let between = section
        .get("between")
        .and_then(|item| between(section, item));
    monotone.into_iter().chain(bent).chain(between).collect()
}

const LIKE_MONOTONE: &str = "such as `monotone = \"age\"`, which rises, or `monotone = { input = \"age\", direction = \"falling\" }`";

fn monotone(section: &Section<'_>, item: &Item) -> Option<Held> {
    let span = section.span_of("monotone");
    let check = section.check;
    let (input, shape) = match item.as_table_like() {
        None if item.as_str().is_none() => {
            let message = format!("`monotone` must name an input, not {}", kind(item));
            check.refuse(&span, message, LIKE_MONOTONE);
            return None;
        }
        None => (text(check, "`monotone`", item)?, Shape::Rising),
        Some(table) => {
            let table = Section::new(check, "`monotone`", table, span.clone());
            table.keys(&["input", "direction"], &[]);
            if table.get("input").is_none() {
                table.missing("input", LIKE_MONOTONE);
                return None;
            }
            let shape = match table.get("direction") {
                None => Shape::Rising,
                Some(_) => match table.word("direction", &["rising", "falling"], &[])?.value {
                    word if word == "falling" => Shape::Falling,
                    _ => Shape::Rising,
                },
            };
            (table.text("input")?, shape)
        }
    };
    let input = Some(input);
    Some(Held {
        key: "monotone",
        shape,
        input,
        span,
    })
}

const LIKE_BETWEEN: &str =
    "such as `between = [0, 1]`; an end that is open is `inf` or `-inf`, as in `[0, inf]`";

fn between(section: &Section<'_>, item: &Item) -> Option<Held> {
    let span = section.span_of("between");
    let refuse = |message: String| {
        section.check.refuse(&span, message, LIKE_BETWEEN);
        None
    };
    let ends = match item {
        Item::Value(Value::Array(array)) if array.len() == 2 => array,
        Item::Value(Value::Array(array)) => {
            return refuse(format!("`between` needs two ends, not {}", array.len()));
        }
        _ => {
            return refuse(format!(
                "`between` must hold two numbers, not {}",
                kind(item)
            ));
        }
    };
    let end = |value: &Value| match value.as_float() {
        Some(end) if end.is_infinite() => Some(end),
        _ => number(
            section.check,
            "an end of `between`",
            &Item::Value(value.clone()),
        )
        .map(|end| end.value),
    };
    let ends: Option<Vec<f64>> = ends.iter().map(end).collect();
    let (lower, upper) = match ends?.as_slice() {
        [lower, upper] => (*lower, *upper),
        _ => return None,
    };
    if lower >= upper {
        return refuse(format!("`between` has no room from {lower} to {upper}"));
    }
    if lower.is_infinite() && upper.is_infinite() {
        return refuse("`between` holds nothing: both ends are open".to_owned());
    }
    let shape = Shape::Between { lower, upper };
    Some(Held {
        key: "between",
        shape,
        input: None,
        span,
    })
}
