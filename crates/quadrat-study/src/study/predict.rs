//! `[[predict]]`: where to answer, on which scale, how sure.

use std::ops::Range;

use quadrat::model::Scale as LibraryScale;
use toml_edit::Item;

use super::fields::{Section, Spanned, distinct, kind, number, repeated};
use super::likelihood::{Given, given};
use super::meet::{self, Meet};
use super::shape::Shape;
use super::support::{self, Support};
use super::{names, rows};
use crate::grid::{self, Axis};

/// One prediction, one output table.
#[derive(Debug, Clone, PartialEq)]
pub struct Predict {
    /// Its name, a plain file name.
    pub name: Spanned<String>,
    /// Where to answer.
    pub place: Where,
    /// What to answer for.
    pub scale: Scale,
    /// Where that is said.
    pub scale_span: Range<usize>,
    /// Probability of the interval, where the section says.
    pub level: Option<f64>,
    /// Probabilities whose quantiles are wanted, of a density.
    pub quantiles: Vec<f64>,
    /// Where these are said.
    pub quantile_span: Range<usize>,
    /// The only output to answer for; absent: all.
    pub output: Option<Spanned<String>>,
    /// Limits whose probability of being exceeded is wanted.
    pub above: Vec<f64>,
    /// Where these are said.
    pub above_span: Range<usize>,
    /// Where the probabilities of all ranks are asked for, if they are.
    pub ranks: Option<Range<usize>>,
    /// Whether it is truncated at zero, where the section says.
    pub non_negative: Option<Spanned<bool>>,
    /// How many functions are drawn.
    pub draws: Option<Spanned<usize>>,
    /// The table whose reports are predicted: its name, or its file.
    pub like: Option<Spanned<String>>,
    /// Totals that groups of rows meet.
    pub meet: Option<Meet>,
    /// What else is asked of the rows.
    pub beside: Beside,
}

impl Predict {
    /// The files that it names, as it names them.
    pub fn files(&self) -> Vec<std::path::PathBuf> {
        let named = match &self.place {
            Where::File { file, support } => {
                [file.as_ref(), support.shape.as_ref().and_then(Shape::file)]
            }
            Where::Grid { .. } | Where::Rows { .. } => [None, None],
        };
        let totals = self.meet.as_ref().map(|meet| &meet.file);
        let names = named.into_iter().flatten().chain(totals);
        names.map(|name| name.value.clone().into()).collect()
    }
}

/// What is asked of rows besides where they look.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Beside {
    /// What rates are multiplied by; 1 when absent.
    pub exposure: Option<Given>,
    /// Among how many trials successes are predicted; 1 when absent.
    pub trials: Option<Given>,
    /// Columns of the table asked that are copied into the answer, such as names.
    pub keep: Vec<Spanned<String>>,
}

/// All scales.
const SCALES: [Scale; 5] = [
    Scale::Latent,
    Scale::Response,
    Scale::Observation,
    Scale::Report,
    Scale::Row,
];

/// Probability of intervals unless another is asked for.
pub const LEVEL: f64 = 0.95;
/// The most draws of a prediction.
pub const MOST_DRAWS: usize = 1000;

/// Where to answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Where {
    /// A full grid.
    Grid {
        /// One axis per dimension, the last one running fastest.
        axes: Vec<(Spanned<String>, Axis)>,
        /// Sum or average, when any axis has cells.
        aggregate: Option<support::Aggregate>,
    },
    /// The rows of a table, or every region or bag of a file.
    File {
        /// Its path, relative to the study; absent when every region or bag of a file is asked for.
        file: Option<Spanned<String>>,
        /// Its columns.
        support: Box<Support>,
    },
    /// Rows of an observed table, one by one or added up.
    Rows {
        /// The name of the table, or its file.
        file: Spanned<String>,
        /// Columns whose cells tell groups apart, where rows are added up.
        by: Option<Vec<Spanned<String>>>,
    },
}

/// What a prediction is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// The latent function.
    Latent,
    /// After link and aggregation, without noise.
    Response,
    /// A new observation, with noise.
    Observation,
    /// What an instrument with limits reports of a new observation.
    Report,
    /// The value behind an observed row, given what it reported.
    Row,
}

impl Scale {
    /// The word of the study file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Latent => "latent",
            Self::Response => "response",
            Self::Observation => "observation",
            Self::Report => "report",
            Self::Row => "row",
        }
    }

    /// Whether it is of new observations: with the noise of one table, and as that reports them.
    pub fn is_observed(self) -> bool {
        matches!(self, Self::Observation | Self::Report)
    }

    /// As the library has it.
    pub fn for_library(self) -> LibraryScale {
        match self {
            Self::Latent => LibraryScale::Latent,
            Self::Response => LibraryScale::Response,
            Self::Observation | Self::Report | Self::Row => LibraryScale::Observation,
        }
    }
}

/// All predictions, names distinct.
pub fn read(root: &Section<'_>) -> Vec<Predict> {
    let sections = repeated(root, "predict");
    let named: Vec<Spanned<String>> = sections.iter().filter_map(name).collect();
    names::distinct(root.check, &named.iter().collect::<Vec<_>>());
    sections.iter().filter_map(prediction).collect()
}

fn name(section: &Section<'_>) -> Option<Spanned<String>> {
    if section.get("name").is_none() {
        section.missing(
            "name",
            "such as `name = \"by-year\"`; the table is written to `by-year.csv`",
        );
    }
    section
        .text("name")
        .filter(|name| names::check(section.check, name))
}

fn prediction(section: &Section<'_>) -> Option<Predict> {
    section.keys(
        &[
            "name",
            "support",
            "aggregate",
            "scale",
            "level",
            "above",
            "ranks",
            "non_negative",
            "output",
            "draws",
            "as",
            "exposure",
            "trials",
            "keep",
            "rows",
            "by",
            "quantile",
            "meet",
        ],
        &[],
    );
    let said = section.word("scale", &SCALES.map(Scale::word), &[]);
    let said = said.and_then(|word| SCALES.into_iter().find(|s| s.word() == word.value));
    let scale = said.unwrap_or(Scale::Response);
    let level = section.number("level");
    if let Some(level) = &level
        && !(level.value > 0.0 && level.value < 1.0)
    {
        let message = format!("`level` is {}; it must lie between 0 and 1", level.value);
        section
            .check
            .refuse(&level.span, message, "such as `level = 0.95`");
    }
    let above = limits(section);
    let ranks = section.flag("ranks").unwrap_or(false);
    let non_negative = section.flag("non_negative").map(|value| Spanned {
        value,
        span: section.span_of("non_negative"),
    });
    let draws = draws(section);
    let exposure = amount(
        section,
        "exposure",
        "give what a rate is multiplied by, such as the population: a number or a column",
    )?;
    let trials = amount(
        section,
        "trials",
        "give the number of trials, or its column",
    )?;
    let place = match rows::read(section, said == Some(Scale::Row))? {
        Some((file, by)) => Where::Rows { file, by },
        // Quantiles of one column are at no place.
        None if is_bare(section) => Where::Grid {
            axes: Vec::new(),
            aggregate: None,
        },
        None => place(section)?,
    };
    let meet = meet::read(section, scale == Scale::Response);
    // A bad name was already noted; `text` must not note it again.
    let item = section.get("name")?;
    let name = Spanned {
        value: item.as_str()?.to_owned(),
        span: item.span()?,
    };
    Some(Predict {
        name,
        place,
        scale,
        scale_span: section.span_of("scale"),
        level: level.map(|level| level.value),
        quantiles: quantiles(section)?,
        quantile_span: section.span_of("quantile"),
        output: section.text("output"),
        above: above?,
        above_span: section.span_of("above"),
        ranks: ranks.then(|| section.span_of("ranks")),
        non_negative,
        draws,
        like: section.text("as"),
        meet: meet?,
        beside: Beside {
            exposure,
            trials,
            keep: kept(section)?,
        },
    })
}

/// Whether quantiles are all that is asked.
fn is_bare(section: &Section<'_>) -> bool {
    section.get("quantile").is_some() && section.get("support").is_none()
}

/// One probability or several, each once.
fn quantiles(section: &Section<'_>) -> Option<Vec<f64>> {
    let found = numbers(
        section,
        ("quantile", "probability"),
        "such as `quantile = [0.1, 0.5, 0.9]`",
    )?;
    match found.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        None => Some(found),
        Some(p) => {
            let message = format!("`quantile` is {p}; it must lie between 0 and 1");
            let span = section.span_of("quantile");
            section
                .check
                .refuse(&span, message, "such as `quantile = 0.5`, the median");
            None
        }
    }
}

/// Columns to copy, each once.
fn kept(section: &Section<'_>) -> Option<Vec<Spanned<String>>> {
    const LIKE: &str = "such as `keep = [\"district\"]`";
    let Some(item) = section.get("keep") else {
        return Some(Vec::new());
    };
    let span = section.span_of("keep");
    let Some(array) = item.as_array().filter(|array| !array.is_empty()) else {
        let message = match item.as_array() {
            Some(_) => "`keep` names no column".to_owned(),
            None => format!("`keep` must be an array of columns, not {}", kind(item)),
        };
        section.check.refuse(&span, message, LIKE);
        return None;
    };
    distinct(section, "keep", array)
}

/// A key that is a number above zero or a column, where it is there.
fn amount(section: &Section<'_>, key: &str, otherwise: &str) -> Option<Option<Given>> {
    if section.get(key).is_none() {
        return Some(None);
    }
    let given = given(section, key, otherwise)?;
    if let Given::Number(number) = &given
        && number.value <= 0.0
    {
        let message = format!("`{key}` is {}; it must be above zero", number.value);
        section.check.refuse(&number.span, message, otherwise);
        return None;
    }
    Some(Some(given))
}

/// How many functions are drawn.
fn draws(section: &Section<'_>) -> Option<Spanned<usize>> {
    let item = section.get("draws")?;
    let span = section.span_of("draws");
    let count = item.as_integer().and_then(|n| usize::try_from(n).ok());
    let value = count.filter(|n| (1..=MOST_DRAWS).contains(n));
    if value.is_none() {
        let message = format!(
            "`draws` must be a whole number from 1 to {MOST_DRAWS}, not {}",
            kind(item)
        );
        section.check.refuse(&span, message, "such as `draws = 20`");
    }
    Some(Spanned {
        value: value?,
        span,
    })
}

/// One limit or several, each once.
fn limits(section: &Section<'_>) -> Option<Vec<f64>> {
    numbers(
        section,
        ("above", "limit"),
        "such as `above = 50` or `above = [10, 50]`",
    )
}

/// One number or several, each once.
fn numbers(section: &Section<'_>, (key, noun): (&str, &str), like: &str) -> Option<Vec<f64>> {
    let Some(item) = section.get(key) else {
        return Some(Vec::new());
    };
    let span = section.span_of(key);
    let Some(array) = item.as_array() else {
        return number(section.check, &format!("`{key}`"), item).map(|one| vec![one.value]);
    };
    if array.is_empty() {
        let message = format!("`{key}` has no {noun}");
        section.check.refuse(&span, message, like);
        return None;
    }
    let mut limits = Vec::with_capacity(array.len());
    for value in array {
        let item = Item::Value(value.clone());
        let limit = number(section.check, &format!("a {noun} of `{key}`"), &item)?;
        if limits.contains(&limit.value) {
            let message = format!("the {noun} {} is given twice", limit.value);
            section
                .check
                .refuse(&limit.span, message, format!("give each {noun} once"));
            return None;
        }
        limits.push(limit.value);
    }
    Some(limits)
}

fn place(section: &Section<'_>) -> Option<Where> {
    const LIKE: &str = "such as `support = { grid = { age = { from = 0, to = 100, step = 1, cells = true } } }` or `support = { file = \"places.csv\", point = [\"age\"] }`";
    let Some(item) = section.get("support") else {
        section.missing("support", LIKE);
        return None;
    };
    let inner = Section::from_item(section.check, "support", item, LIKE)?;
    inner.keys(&["grid", "file", "point", "box", "region", "bag"], &[]);
    let has_shape = inner.get("region").is_some() || inner.get("bag").is_some();
    match (inner.get("grid"), inner.get("file")) {
        (Some(item), None) => {
            for key in ["point", "box", "region", "bag"] {
                if inner.get(key).is_some() {
                    section.check.refuse(
                        &inner.span_of(key),
                        format!("`{key}` needs a `file`, not a `grid`"),
                        LIKE,
                    );
                }
            }
            let grid = Section::from_item(
                section.check,
                "grid",
                item,
                "`grid = { age = { from = 0, to = 100, step = 1 } }`",
            )?;
            let (axes, has_cells) = grid::axes(&grid);
            Some(Where::Grid {
                aggregate: support::aggregate(section, has_cells),
                axes,
            })
        }
        (None, Some(_)) => {
            let file = inner.text("file");
            let support = support::read(&inner, section, LIKE)?;
            Some(Where::File {
                file: Some(file?),
                support: Box::new(support),
            })
        }
        (Some(_), Some(_)) => {
            section.check.refuse(
                &inner.span_of("grid"),
                "`support` has both a `grid` and a `file`",
                "write two [[predict]] sections",
            );
            None
        }
        (None, None) if has_shape => {
            let support = support::read(&inner, section, LIKE)?;
            if let Some(dim) = support.dims.first() {
                section.check.refuse(
                    &dim.name.span,
                    format!("`{}` is a column of a table, but no `file` is given", dim.name.value),
                    "add `file = \"places.csv\"` with that column and the key of the regions or bags",
                );
            }
            Some(Where::File {
                file: None,
                support: Box::new(support),
            })
        }
        (None, None) => {
            section
                .check
                .refuse(&inner.span, "`support` needs a `grid` or a `file`", LIKE);
            None
        }
    }
}
