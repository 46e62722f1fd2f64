//! How a study that has one section in place of a function was written.

use std::path::{Path, PathBuf};

use toml_edit::Item;

use super::fields::{Check, Section, Spanned};
use super::predict::LEVEL;
use crate::diagnostic::{Place, Problems, Source};
use crate::suggest;

/// Text, folders and title, and where the section and its keys stand.
#[derive(Debug)]
pub struct Written {
    /// The text, for the report.
    pub source: Source,
    /// The folder that paths are relative to.
    pub folder: PathBuf,
    /// The same folder as it is shown to people.
    pub shown: PathBuf,
    /// What it is about.
    pub title: String,
    /// Where the section stands.
    pub place: Place,
    /// Where each of its keys stands.
    pub keys: Vec<(String, Place)>,
}

impl Written {
    /// Of the section `name`, in a study with this path.
    pub(super) fn new(
        path: &Path,
        source: &Source,
        title: String,
        root: &Section<'_>,
        name: &str,
    ) -> Self {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Self {
            place: source.place(&root.span_of(name)),
            keys: keys(root, name),
            source: source.clone(),
            shown: folder.clone(),
            folder,
            title,
        }
    }

    /// A refusal in the words of the study, at the key that it names where it stands nowhere else,
    /// or at the section.
    pub fn keyed(&self, mut problems: Problems, words: impl Fn(&str) -> String) -> Problems {
        for problem in &mut problems.0 {
            problem.message = words(&problem.message);
            problem.remedies.iter_mut().for_each(|r| r.reword(&words));
            if problem.place.is_none() {
                let remedies = problem.remedies.iter().map(ToString::to_string);
                let mut said = std::iter::once(problem.message.clone()).chain(remedies);
                let place = said.find_map(|words| {
                    let is_told = |key: &str| words.contains(&format!("`{key}`"));
                    let mut keys = self.keys.iter();
                    keys.find(|(key, _)| is_told(key)).map(|(_, place)| place)
                });
                problem.place = Some(Box::new(place.unwrap_or(&self.place).clone()));
            }
        }
        problems
    }
}

/// Where each key of a section stands.
fn keys(root: &Section<'_>, name: &str) -> Vec<(String, Place)> {
    let table = root.get(name).and_then(Item::as_table_like);
    let Some(table) = table else {
        return Vec::new();
    };
    let span = root.span_of(name);
    let section = Section::new(root.check, "", table, span);
    let entries = section.entries().into_iter();
    let place = |key: &Spanned<String>| root.check.source.place(&key.span);
    entries
        .map(|(key, _)| (key.value.clone(), place(&key)))
        .collect()
}

/// Flags of a command as the keys of a section that they are there, `--life-table` as `life_table`;
/// what people wrote themselves stays, such as the name of a file.
pub fn as_keys(text: &str, keys: &[&str]) -> String {
    // `--exposure-table` is not `--exposure`.
    keys.iter()
        .fold(text.to_owned(), |text, key| as_key(&text, key))
}

/// One flag where it stands by itself.
fn as_key(text: &str, key: &str) -> String {
    let flag = format!("--{}", key.replace('_', "-"));
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(&flag) {
        let (before, after) = (&rest[..at], &rest[at + flag.len()..]);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
        let begins = !before.ends_with(is_part);
        // A full stop may end the sentence.
        let ends = !after.starts_with(|c: char| is_part(c) && c != '.');
        out.push_str(before);
        match begins && ends {
            true => out.push_str(&format!("`{key}`")),
            false => out.push_str(&flag),
        }
        rest = after;
    }
    out + rest
}

/// The probability of intervals.
pub(super) fn level(section: &Section<'_>) -> f64 {
    let Some(level) = section.number("level") else {
        return LEVEL;
    };
    if !(level.value > 0.0 && level.value < 1.0) {
        let message = format!("`level` is {}; it must lie between 0 and 1", level.value);
        section.refuse("level", message, "such as `level = 0.9`");
    }
    level.value
}

/// Refuses a study that is of a function too.
///
/// # Arguments
/// * `name` - of the section that stands in place of a function
/// * `beside` - sections and keys that may stand beside it
pub(super) fn alone(check: &Check<'_>, root: &Section<'_>, name: &str, beside: &[&str]) {
    let entries = root.entries();
    let is_own = |key: &str| key == name || beside.contains(&key);
    let others = entries.iter().filter(|(key, _)| !is_own(&key.value));
    let others: Vec<&str> = others.map(|(key, _)| key.value.as_str()).collect();
    let own = entries.iter().find(|(key, _)| key.value == name);
    if let (Some((key, _)), false) = (own, others.is_empty()) {
        let message = format!(
            "[{name}] stands in place of a function, and {} speak{} of one",
            suggest::list(&others),
            if others.len() == 1 { "s" } else { "" }
        );
        let remedy = format!("leave out [{name}], or {}", suggest::list(&others));
        check.refuse(&key.span, message, remedy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_keys_and_what_people_wrote_stays() {
        let words = |text: &str| as_keys(text, &["bounds", "range", "log", "life_table"]);
        assert_eq!(
            words("widen --bounds, or --range."),
            "widen `bounds`, or `range`."
        );
        assert_eq!(
            words("look at `data--log.csv` (--log)"),
            "look at `data--log.csv` (`log`)"
        );
        assert_eq!(
            words("group `a--log`: --life-table, --life"),
            "group `a--log`: `life_table`, --life"
        );
    }
}
