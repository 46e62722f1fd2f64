//! Reading keys of a TOML table with their places, collecting every problem on the way.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;

use toml_edit::{Array, Item, TableLike};

use crate::diagnostic::{Problem, Problems, Remedy, Source, shown};
use crate::suggest;

/// A value and where it stands in the study file.
#[derive(Debug, Clone, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Its bytes in the source.
    pub span: Range<usize>,
}

impl Spanned<String> {
    /// The place of a byte of the text, when it is written without escapes; else that of all of it.
    pub fn byte(&self, source: &Source, at: usize) -> Range<usize> {
        let written = source.text.get(self.span.clone()).unwrap_or("");
        match written.find(&self.value) {
            Some(quote) if at <= self.value.len() => {
                let start = self.span.start + quote + at;
                start..start + 1
            }
            _ => self.span.clone(),
        }
    }
}

/// The study being read and what was found wrong so far.
pub struct Check<'a> {
    /// The text.
    pub source: &'a Source,
    problems: RefCell<Problems>,
    /// What and where each of them is.
    known: RefCell<HashSet<String>>,
}

impl<'a> Check<'a> {
    /// Nothing found yet.
    pub fn new(source: &'a Source) -> Self {
        Self {
            source,
            problems: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// Notes a problem at a span of the study, with one remedy.
    pub fn refuse(
        &self,
        span: &Range<usize>,
        message: impl Into<String>,
        remedy: impl Into<Remedy>,
    ) {
        self.add(
            Problem::new(message)
                .at(self.source.place(span))
                .remedy(remedy),
        );
    }

    /// Notes a finished problem, once: a file that several sections read has it for each of them.
    pub fn add(&self, problem: Problem) {
        let place = problem.place.as_ref().map(|place| place.address());
        let what = format!("{} {}", place.unwrap_or_default(), problem.message);
        if self.known.borrow_mut().insert(what) {
            self.problems.borrow_mut().push(problem);
        }
    }

    /// Notes several.
    pub fn extend(&self, problems: Problems) {
        problems.0.into_iter().for_each(|problem| self.add(problem));
    }

    /// Notes something of the vocabulary that this version does not do.
    pub fn later(&self, span: &Range<usize>, what: &str, instead: &str) {
        let message = format!(
            "{what} is not available in this version ({})",
            crate::version::VERSION
        );
        self.refuse(span, message, instead);
    }

    /// Everything found.
    pub fn finish(self) -> Problems {
        self.problems.into_inner()
    }
}

/// A table of the study under the name people know it by.
pub struct Section<'a> {
    /// Where problems go.
    pub check: &'a Check<'a>,
    /// `[[observe]]`, `support`, ...
    pub title: String,
    /// Where it stands: the header or the inline table.
    pub span: Range<usize>,
    table: &'a dyn TableLike,
}

impl<'a> Section<'a> {
    /// A section from a table at hand.
    pub fn new(
        check: &'a Check<'a>,
        title: impl Into<String>,
        table: &'a dyn TableLike,
        span: Range<usize>,
    ) -> Self {
        Self {
            check,
            title: title.into(),
            span,
            table,
        }
    }

    /// A section from an item that must be a table; `like` shows how to write one.
    pub fn from_item(
        check: &'a Check<'a>,
        title: &str,
        item: &'a Item,
        like: &str,
    ) -> Option<Self> {
        let span = item.span().unwrap_or_default();
        let Some(table) = item.as_table_like() else {
            let got = kind(item);
            check.refuse(
                &span,
                format!("`{title}` must be a table, not {got}"),
                format!("write {like}"),
            );
            return None;
        };
        Some(Self::new(check, title, table, span))
    }

    /// Refuses keys outside `here`; those in `later` are known but not built yet.
    pub fn keys(&self, here: &[&str], later: &[&str]) {
        for (key, item) in self.table.iter() {
            let span = self.key_span(key, item);
            if later.contains(&key) {
                // One of several alternatives cannot just go.
                let instead = if matches!(self.title.as_str(), "likelihood" | "support") {
                    format!("use {}", suggest::list(here))
                } else {
                    "leave it out".to_owned()
                };
                self.check
                    .later(&span, &format!("`{key}` in {}", self.title), &instead);
            } else if !here.contains(&key) {
                let message = format!("unknown key `{}` in {}", shown(key), self.title);
                let known: Vec<&str> = here.iter().chain(later).copied().collect();
                let near = suggest::synonym(key, &known);
                let near = near.or_else(|| suggest::nearest(key, known.iter().copied()));
                let remedy = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the keys here are {}", suggest::list(here)),
                };
                self.check.refuse(&span, message, remedy);
            }
        }
    }

    /// Every key with its place and its item, in the order of the file.
    pub fn entries(&self) -> Vec<(Spanned<String>, &'a Item)> {
        let entry = |(key, item): (&str, &'a Item)| {
            (
                Spanned {
                    value: key.to_owned(),
                    span: self.key_span(key, item),
                },
                item,
            )
        };
        self.table.iter().map(entry).collect()
    }

    fn key_span(&self, key: &str, item: &Item) -> Range<usize> {
        self.table
            .key(key)
            .and_then(toml_edit::Key::span)
            .or_else(|| item.span())
            .or_else(|| first_of(item))
            .unwrap_or_else(|| self.span.clone())
    }

    /// The item of a key, if the key is there.
    pub fn get(&self, key: &str) -> Option<&'a Item> {
        self.table.get(key).filter(|item| !item.is_none())
    }

    /// Where the value of a key stands.
    pub fn span_of(&self, key: &str) -> Range<usize> {
        self.get(key)
            .and_then(Item::span)
            .unwrap_or_else(|| self.span.clone())
    }

    /// Notes that a key is missing.
    pub fn missing(&self, key: &str, remedy: &str) {
        self.check
            .refuse(&self.span, format!("{} needs `{key}`", self.title), remedy);
    }

    /// A string; empty ones are refused.
    pub fn text(&self, key: &str) -> Option<Spanned<String>> {
        let item = self.get(key)?;
        text(self.check, &format!("`{key}`"), item)
    }

    /// A finite number.
    pub fn number(&self, key: &str) -> Option<Spanned<f64>> {
        number(self.check, &format!("`{key}`"), self.get(key)?)
    }

    /// `true` or `false`; `None` when absent or wrong.
    pub fn flag(&self, key: &str) -> Option<bool> {
        let item = self.get(key)?;
        let value = item.as_bool();
        if value.is_none() {
            let message = format!("`{key}` must be true or false, not {}", kind(item));
            self.check
                .refuse(&self.span_of(key), message, format!("write `{key} = true`"));
        }
        value
    }

    /// A whole number within a range; `None` when absent or wrong.
    pub fn whole(&self, key: &str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let item = self.get(key)?;
        let found = item.as_integer().filter(|n| range.contains(n));
        if found.is_none() {
            let upper = match *range.end() {
                i64::MAX => "on".to_owned(),
                end => format!("to {end}"),
            };
            let message = format!(
                "`{key}` must be a whole number from {} {upper}, not {}",
                range.start(),
                kind(item)
            );
            self.refuse(key, message, format!("such as `{key} = 7`"));
        }
        found
    }

    /// Refuses what stands at a key.
    pub fn refuse(&self, key: &str, message: impl Into<String>, remedy: impl Into<Remedy>) {
        self.check.refuse(&self.span_of(key), message, remedy);
    }

    /// One word out of a vocabulary.
    pub fn word(&self, key: &str, here: &[&str], later: &[&str]) -> Option<Spanned<String>> {
        let word = self.text(key)?;
        if here.contains(&word.value.as_str()) {
            return Some(word);
        }
        if later.contains(&word.value.as_str()) {
            self.check.later(
                &word.span,
                &format!("`{key} = \"{}\"`", word.value),
                &format!("use one of {}", suggest::list(here)),
            );
            return None;
        }
        let mut remedy = format!("`{key}` is one of {}", suggest::list(here));
        if let Some(near) = suggest::nearest(&word.value, here.iter().chain(later).copied()) {
            remedy = format!("did you mean `{near}`? {remedy}");
        }
        self.check.refuse(
            &word.span,
            format!("`{}` is not a known `{key}`", shown(&word.value)),
            remedy,
        );
        None
    }
}

/// The tables of a repeated section; a single table of that name is refused.
pub fn repeated<'a>(root: &Section<'a>, key: &str) -> Vec<Section<'a>> {
    let title = format!("[[{key}]]");
    let check = root.check;
    match root.get(key) {
        None => Vec::new(),
        Some(Item::ArrayOfTables(tables)) => tables
            .iter()
            .map(|table| {
                Section::new(
                    check,
                    title.as_str(),
                    table,
                    table.span().unwrap_or_default(),
                )
            })
            .collect(),
        Some(Item::Value(toml_edit::Value::Array(array))) if !array.is_empty() => array
            .iter()
            .filter_map(|value| {
                let span = value.span().unwrap_or_default();
                match value.as_inline_table() {
                    Some(table) => Some(Section::new(check, title.as_str(), table, span)),
                    None => {
                        check.refuse(
                            &span,
                            format!("`{key}` must hold tables"),
                            format!("write a section {title}"),
                        );
                        None
                    }
                }
            })
            .collect(),
        Some(_) => {
            check.refuse(
                &root.span_of(key),
                format!("`{key}` can occur several times, so it needs double brackets"),
                format!("write {title}"),
            );
            Vec::new()
        }
    }
}

/// Names of columns, each once; `key` is what names them.
pub fn distinct(section: &Section<'_>, key: &str, array: &Array) -> Option<Vec<Spanned<String>>> {
    let mut columns: Vec<Spanned<String>> = Vec::with_capacity(array.len());
    for value in array {
        let item = Item::Value(value.clone());
        let mut name = text(section.check, &format!("a column of `{key}`"), &item)?;
        name.span = value.span().unwrap_or_else(|| section.span_of(key));
        if columns.iter().any(|column| column.value == name.value) {
            let message = format!("the column `{}` is given twice", name.value);
            let remedy = "name each column once";
            section.check.refuse(&name.span, message, remedy);
            return None;
        }
        columns.push(name);
    }
    Some(columns)
}

/// A string; empty ones are refused.
pub fn text(check: &Check<'_>, what: &str, item: &Item) -> Option<Spanned<String>> {
    let span = item.span().unwrap_or_default();
    match item.as_str() {
        Some("") => check.refuse(
            &span,
            format!("{what} is empty"),
            "write a text between the quotes",
        ),
        Some(value) => {
            return Some(Spanned {
                value: value.to_owned(),
                span,
            });
        }
        None => check.refuse(
            &span,
            format!("{what} must be a text in quotes, not {}", kind(item)),
            "put it in quotes",
        ),
    }
    None
}

/// A finite number.
pub fn number(check: &Check<'_>, what: &str, item: &Item) -> Option<Spanned<f64>> {
    let span = item.span().unwrap_or_default();
    let value = item
        .as_float()
        .or_else(|| item.as_integer().map(|i| i as f64));
    match value {
        Some(value) if value.is_finite() => return Some(Spanned { value, span }),
        Some(value) => {
            check.refuse(
                &span,
                format!("{what} is {value}; it must be finite"),
                "write a finite number, or leave the key out",
            );
        }
        None => check.refuse(
            &span,
            format!("{what} must be a number, not {}", kind(item)),
            "write a number without quotes",
        ),
    }
    None
}

/// What an item is, in words.
pub fn kind(item: &Item) -> String {
    match item {
        Item::Value(value) => match value {
            toml_edit::Value::String(text) => format!("the text \"{}\"", shown(text.value())),
            toml_edit::Value::Integer(number) => format!("the number {}", number.value()),
            toml_edit::Value::Float(number) => format!("the number {}", number.value()),
            toml_edit::Value::Boolean(flag) => format!("{}", flag.value()),
            toml_edit::Value::Datetime(date) => format!("the date {}", date.value()),
            toml_edit::Value::Array(_) => "an array".to_owned(),
            toml_edit::Value::InlineTable(_) => "a table".to_owned(),
        },
        Item::Table(_) => "a table".to_owned(),
        Item::ArrayOfTables(_) => "an array of tables".to_owned(),
        Item::None => "nothing".to_owned(),
    }
}

/// The first place inside an item that has no place itself (tables made by dotted keys).
fn first_of(item: &Item) -> Option<Range<usize>> {
    let table = item.as_table_like()?;
    table.iter().find_map(|(key, item)| {
        table
            .key(key)
            .and_then(toml_edit::Key::span)
            .or_else(|| item.span())
    })
}
