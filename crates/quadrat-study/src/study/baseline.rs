//! `[baseline]`: simple methods whose means stand beside those of the study.

use super::fields::{Section, kind};
use crate::diagnostic::shown;
use crate::simple::{Simple, known};
use crate::suggest;

const LIKE: &str = "such as `method = \"areal\"`, or `method = [\"areal\", \"mono\"]`";

/// The methods, each once, in the order in which they are named.
pub(super) fn read(root: &Section<'_>) -> Vec<Simple> {
    let Some(item) = root.get("baseline") else {
        return Vec::new();
    };
    let check = root.check;
    let Some(section) = Section::from_item(check, "[baseline]", item, LIKE) else {
        return Vec::new();
    };
    section.keys(&["method"], &[]);
    let Some(item) = section.get("method") else {
        section.missing("method", LIKE);
        return Vec::new();
    };
    let span = section.span_of("method");
    let one = |name: &str| match Simple::ALL.into_iter().find(|simple| simple.name() == name) {
        Some(simple) => Some(simple),
        None => {
            let near = suggest::nearest(name, Simple::ALL.map(Simple::name));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let message = format!("there is no simple method `{}`{hint}", shown(name));
            check.refuse(&span, message, format!("it may be {}", known()));
            None
        }
    };
    let texts = match (item.as_str(), item.as_array()) {
        (Some(text), _) => vec![Some(text)],
        (_, Some(array)) => array.iter().map(toml_edit::Value::as_str).collect(),
        _ => vec![None],
    };
    let mut found = Vec::new();
    for text in texts {
        let Some(text) = text else {
            let message = format!(
                "`method` must be a name or an array of names, not {}",
                kind(item)
            );
            check.refuse(&span, message, LIKE);
            return Vec::new();
        };
        found.extend(one(text).filter(|simple| !found.contains(simple)));
    }
    found
}
