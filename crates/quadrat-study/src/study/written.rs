//! How a study that has one section in place of a function was written.

use std::path::{Path, PathBuf};

use toml_edit::Item;

use super::fields::{Check, Section, Spanned};
use super::predict::LEVEL;
use crate::diagnostic::{Place, Problem, Problems, Source};
use crate::suggest;

/// Numbers of draws that can be asked for.
pub(super) const DRAWS: std::ops::RangeInclusive<i64> = 1..=4000;

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
    /// Its keys.
    pub keys: Vec<Key>,
}

/// A key of the section.
#[derive(Debug)]
pub struct Key {
    /// What it is called.
    pub name: String,
    /// Where it stands.
    pub place: Place,
    /// Its value, where that is a text, and where it stands.
    pub value: Option<(String, Place)>,
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

    /// A refusal in the words of the study. What stands nowhere else, or is about a whole table, is
    /// placed at the value that it names, such as a column or a file, or at the key, or at the
    /// section.
    pub fn keyed(&self, mut problems: Problems, words: impl Fn(&str) -> String) -> Problems {
        for problem in &mut problems.0 {
            problem.message = words(&problem.message);
            problem.remedies.iter_mut().for_each(|r| r.reword(&words));
            let place = problem.place.as_deref();
            if place.is_some_and(|place| place.spot.is_some()) {
                continue;
            }
            let found = self.place_of(problem);
            let section = place.is_none().then_some(&self.place);
            if let Some(place) = found.or(section) {
                problem.place = Some(Box::new(place.clone()));
            }
        }
        problems
    }

    /// The place of the value or key that a problem names; of a key only where it has no place.
    fn place_of(&self, problem: &Problem) -> Option<&Place> {
        let is_told = |text: &str, word: &str| text.contains(&format!("`{word}`"));
        let values = self.keys.iter().filter_map(|key| key.value.as_ref());
        let mut told = values.filter(|(value, _)| is_told(&problem.message, value));
        if let Some((_, place)) = told.next() {
            return Some(place);
        }
        // Messages begin with the name of a population, which may be a word of the study.
        let remedies = problem.remedies.iter().map(ToString::to_string);
        let mut said = remedies.chain([problem.message.clone()]);
        let key = said.find_map(|text| self.keys.iter().find(|key| is_told(&text, &key.name)));
        key.filter(|_| problem.place.is_none())
            .map(|key| &key.place)
    }
}

/// The keys of a section.
fn keys(root: &Section<'_>, name: &str) -> Vec<Key> {
    let table = root.get(name).and_then(Item::as_table_like);
    let Some(table) = table else {
        return Vec::new();
    };
    let section = Section::new(root.check, "", table, root.span_of(name));
    let place = |span| root.check.source.place(&span);
    let key = |(key, item): (Spanned<String>, &Item)| Key {
        place: place(key.span),
        value: item
            .as_str()
            .map(|text| (text.to_owned(), place(section.span_of(&key.value)))),
        name: key.value,
    };
    section.entries().into_iter().map(key).collect()
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
/// * `others` - sections and keys of a function
pub(super) fn alone(check: &Check<'_>, root: &Section<'_>, name: &str, others: &[&str]) {
    let entries = root.entries();
    let is_other = |key: &str| key != name && others.contains(&key);
    let found = entries.iter().filter(|(key, _)| is_other(&key.value));
    let found: Vec<&str> = found.map(|(key, _)| key.value.as_str()).collect();
    let own = entries.iter().find(|(key, _)| key.value == name);
    if let (Some((key, _)), false) = (own, found.is_empty()) {
        let message = format!(
            "[{name}] stands in place of a function, and {} speak{} of one",
            suggest::list(&found),
            if found.len() == 1 { "s" } else { "" }
        );
        let remedy = format!("leave out [{name}], or {}", suggest::list(&found));
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
