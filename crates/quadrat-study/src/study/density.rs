//! `[density]`: the density of columns, in place of the function of `[latent]`.
//!
//! Its keys are the flags of `quadrat density`, and what is read is what that command takes.

use std::path::{Path, PathBuf};

use quadrat::density::{Correction, Integration};
use toml_edit::Item;

use super::fields::{Check, Section, kind, text};
use super::likelihood::Given;
use super::predict::{LEVEL, Predict, Scale, Where};
use crate::diagnostic::{Place, Problem, Problems, Source};
use crate::suggest;

/// Keys of the section.
pub const KEYS: [&str; 18] = [
    "file",
    "column",
    "given",
    "group",
    "interval",
    "bins",
    "weights",
    "bounds",
    "inside",
    "range",
    "within",
    "grid",
    "level",
    "log",
    "correct",
    "integrate",
    "draws",
    "seed",
];
/// Keys that cannot stand together, as the flags of the command.
const CLASHES: [(&str, &str); 11] = [
    ("interval", "column"),
    ("bins", "column"),
    ("bins", "interval"),
    ("bins", "weights"),
    ("given", "interval"),
    ("given", "bins"),
    ("group", "draws"),
    ("group", "within"),
    ("inside", "given"),
    ("inside", "group"),
    ("inside", "interval"),
];
/// Numbers of draws that can be asked for.
const DRAWS: std::ops::RangeInclusive<i64> = 1..=4000;
/// Cells that can be asked for along an axis.
const CELLS: std::ops::RangeInclusive<i64> = 5..=5000;

/// What is asked of the density of a table, in a study or on the command line.
#[derive(Debug, Clone)]
pub struct Density {
    /// The table.
    pub table: PathBuf,
    /// Columns of the values: none where only one holds numbers, two of a density over a plane.
    pub column: Vec<String>,
    /// Columns of the two ends of an interval that holds the value of each row.
    pub interval: Vec<String>,
    /// Columns of the edges of a bin and of its count, of one axis or of two.
    pub bins: Vec<String>,
    /// Column of the weights of the rows.
    pub weights: Option<String>,
    /// Column at whose values the density is wanted.
    pub given: Option<String>,
    /// Column whose cells name the group of each row.
    pub group: Option<String>,
    /// Bounds beyond which no value can lie, of each axis.
    pub bounds: Vec<(f64, f64)>,
    /// File of polygons inside of which alone a value can lie.
    pub inside: Option<PathBuf>,
    /// What the density covers where there is no bound, of each axis.
    pub range: Vec<(f64, f64)>,
    /// Between which numbers the probability is asked for, of each axis.
    pub within: Vec<(f64, f64)>,
    /// Number of cells along each axis.
    pub grid: Option<[usize; 2]>,
    /// Probability of the band and of intervals.
    pub level: f64,
    /// Whether positive values are taken on a logarithmic axis.
    pub log: bool,
    /// How the approximation is mended.
    pub correct: Correction,
    /// What is done with hyperparameters.
    pub integrate: Integration,
    /// The seed of all draws.
    pub seed: u64,
    /// How many densities are drawn.
    pub draws: Option<u16>,
}

/// The study of a density.
#[derive(Debug)]
pub struct DensityStudy {
    /// The text, for the report.
    pub source: Source,
    /// The folder that paths are relative to.
    pub folder: PathBuf,
    /// The same folder as it is shown to people.
    pub shown: PathBuf,
    /// What it is about.
    pub title: String,
    /// What the command would be given; the table as people see it.
    pub args: Density,
    /// The table, relative to the folder.
    pub file: PathBuf,
    /// The file of polygons, relative to the folder.
    pub inside: Option<PathBuf>,
    /// The predictions, in order.
    pub predict: Vec<Predict>,
    /// Where the section stands.
    pub place: Place,
    /// Where each of its keys stands.
    pub keys: Vec<(String, Place)>,
}

impl DensityStudy {
    pub(super) fn new(
        path: &Path,
        source: Source,
        title: String,
        mut args: Density,
        predict: Vec<Predict>,
        (place, keys): (Place, Vec<(String, Place)>),
    ) -> Self {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let file = std::mem::replace(&mut args.table, PathBuf::new());
        args.table = folder.join(&file);
        let inside = args.inside.take();
        args.inside = inside.as_ref().map(|file| folder.join(file));
        Self {
            source,
            shown: folder.clone(),
            folder,
            title,
            args,
            file,
            inside,
            predict,
            place,
            keys,
        }
    }

    /// The files that it names, as it names them.
    pub fn files(&self) -> Vec<PathBuf> {
        let asked = self.predict.iter().flat_map(Predict::files);
        let own = [&self.file].into_iter().chain(&self.inside).cloned();
        own.chain(asked).collect()
    }

    /// Where a function is needed.
    pub fn refused(&self) -> Problems {
        let message =
            "this is the study of a density, and this command is for the study of a function";
        Problem::new(message)
            .at(self.place.clone())
            .remedy("`quadrat run` estimates it, and `quadrat fit` saves its model")
            .into()
    }
}

/// The section as the arguments of the command; none where there is no such section, or where it
/// is wrong.
pub fn read(root: &Section<'_>) -> Option<Density> {
    let item = root.get("density")?;
    let like = "[density] above `file = ...`";
    let section = Section::from_item(root.check, "[density]", item, like)?;
    section.keys(&KEYS, &[]);
    for (key, other) in CLASHES {
        if section.get(key).is_some() && section.get(other).is_some() {
            let message = format!("`{key}` and `{other}` cannot stand together");
            let remedy = format!("leave out `{key}` or `{other}`");
            refuse(&section, key, message, &remedy);
        }
    }
    let Some(file) = section.text("file") else {
        if section.get("file").is_none() {
            section.missing("file", "such as `file = \"speeds.csv\"`");
        }
        return None;
    };
    let interval = names(&section, "interval", &[2]);
    let bins = names(&section, "bins", &[3, 5]);
    let column = columns(&section);
    let one = |key: &str| section.text(key).map(|name| name.value);
    let is_plane = section.get("given").is_none() && (column.len() == 2 || bins.len() == 5);
    let pairs = |key: &str| {
        let pairs = pairs(&section, key);
        if is_plane && pairs.len() == 1 {
            let message = format!("`{key}` has one pair for two columns");
            let remedy =
                format!("write one for each, in their order: `{key} = [[0, inf], [-inf, inf]]`");
            refuse(&section, key, message, &remedy);
        }
        pairs
    };
    Some(Density {
        table: PathBuf::from(file.value),
        column,
        interval,
        bins,
        weights: one("weights"),
        given: one("given"),
        group: one("group"),
        bounds: pairs("bounds"),
        inside: one("inside").map(PathBuf::from),
        range: pairs("range"),
        within: pairs("within"),
        grid: grid(&section),
        level: level(&section),
        log: section.flag("log").unwrap_or(false),
        correct: match section.word("correct", &["is", "none"], &[]) {
            Some(word) if word.value == "none" => Correction::None,
            _ => Correction::ImportanceSampling,
        },
        integrate: match section.word("integrate", &["auto", "map", "ccd"], &[]) {
            Some(word) if word.value == "map" => Integration::Map,
            Some(word) if word.value == "ccd" => Integration::Ccd,
            _ => Integration::Auto,
        },
        seed: whole(&section, "seed", 0..=i64::MAX).map_or(1, |n| n as u64),
        draws: whole(&section, "draws", DRAWS).map(|n| n as u16),
    })
}

fn refuse(section: &Section<'_>, key: &str, message: String, remedy: &str) {
    section.check.refuse(&section.span_of(key), message, remedy);
}

/// One column, or two.
fn columns(section: &Section<'_>) -> Vec<String> {
    match section.get("column") {
        Some(item) if item.as_array().is_some() => names(section, "column", &[1, 2]),
        Some(_) => section
            .text("column")
            .map(|name| name.value)
            .into_iter()
            .collect(),
        None => Vec::new(),
    }
}

/// Names of columns, of which there must be one of some numbers.
fn names(section: &Section<'_>, key: &str, wanted: &[usize]) -> Vec<String> {
    let Some(item) = section.get(key) else {
        return Vec::new();
    };
    let numbers: Vec<String> = wanted.iter().map(ToString::to_string).collect();
    let array = item
        .as_array()
        .filter(|array| wanted.contains(&array.len()));
    let Some(array) = array else {
        let message = format!("`{key}` must be an array of {} names", numbers.join(" or "));
        let example = match key {
            "bins" => "such as `bins = [\"from\", \"to\", \"people\"]`",
            "interval" => "such as `interval = [\"lower\", \"upper\"]`",
            _ => "such as `column = \"speed\"` or `column = [\"height\", \"weight\"]`",
        };
        refuse(section, key, message, example);
        return Vec::new();
    };
    let what = format!("a column of `{key}`");
    let name = |value: &toml_edit::Value| text(section.check, &what, &Item::Value(value.clone()));
    array
        .iter()
        .filter_map(name)
        .map(|name| name.value)
        .collect()
}

/// Two numbers which may be infinite, or such a pair for each of two columns.
fn pairs(section: &Section<'_>, key: &str) -> Vec<(f64, f64)> {
    let Some(item) = section.get(key) else {
        return Vec::new();
    };
    let number = |value: &toml_edit::Value| {
        let whole = value.as_integer().map(|n| n as f64);
        value.as_float().or(whole).filter(|x| !x.is_nan())
    };
    let pair = |array: &toml_edit::Array| match array.iter().map(number).collect::<Vec<_>>()[..] {
        [Some(lower), Some(upper)] if lower < upper => Some((lower, upper)),
        _ => None,
    };
    let all = item.as_array().map(|array| match pair(array) {
        Some(one) => Some(vec![one]),
        None => array.iter().map(|v| v.as_array().and_then(pair)).collect(),
    });
    match all.flatten() {
        Some(pairs) if (1..=2).contains(&pairs.len()) => pairs,
        _ => {
            let message = format!(
                "`{key}` must be two numbers, the lower first, not {}",
                kind(item)
            );
            let remedy = format!(
                "such as `{key} = [0, inf]`; of two columns `{key} = [[0, inf], [-inf, inf]]`"
            );
            refuse(section, key, message, &remedy);
            Vec::new()
        }
    }
}

fn grid(section: &Section<'_>) -> Option<[usize; 2]> {
    let item = section.get("grid")?;
    let cells = |n: Option<i64>| n.filter(|n| CELLS.contains(n)).map(|n| n as usize);
    let found = match item.as_array() {
        Some(array) => match array
            .iter()
            .map(|v| cells(v.as_integer()))
            .collect::<Vec<_>>()[..]
        {
            [Some(m), Some(n)] => Some([m, n]),
            _ => None,
        },
        None => cells(item.as_integer()).map(|n| [n, n]),
    };
    if found.is_none() {
        let message = format!(
            "`grid` must be a number of cells from 5 to 5000, not {}",
            kind(item)
        );
        let remedy = "such as `grid = 400`, or `grid = [40, 60]` for two columns";
        refuse(section, "grid", message, remedy);
    }
    found
}

fn level(section: &Section<'_>) -> f64 {
    let Some(level) = section.number("level") else {
        return LEVEL;
    };
    if !(level.value > 0.0 && level.value < 1.0) {
        let message = format!("`level` is {}; it must lie between 0 and 1", level.value);
        refuse(section, "level", message, "such as `level = 0.9`");
    }
    level.value
}

fn whole(section: &Section<'_>, key: &str, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
    let item = section.get(key)?;
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
        refuse(section, key, message, &format!("such as `{key} = 7`"));
    }
    found
}

/// Where each key of the section stands.
pub fn places(root: &Section<'_>) -> Vec<(String, Place)> {
    let table = root.get("density").and_then(Item::as_table_like);
    let Some(table) = table else {
        return Vec::new();
    };
    let span = root.span_of("density");
    let section = Section::new(root.check, "[density]", table, span);
    let entries = section.entries().into_iter();
    let place = |key: &super::fields::Spanned<String>| root.check.source.place(&key.span);
    entries
        .map(|(key, _)| (key.value.clone(), place(&key)))
        .collect()
}

/// Refuses what predictions of a density have not.
pub fn predictions_suit(check: &Check<'_>, predict: &[Predict]) {
    for asked in predict {
        if asked.name.value.eq_ignore_ascii_case("density") {
            let message = "the name `density` is that of the table of the density itself";
            check.refuse(&asked.name.span, message, "choose another name");
        }
        let beside = &asked.beside;
        let shape = match &asked.place {
            Where::Rows { file, .. } => Some(&file.span),
            _ => None,
        };
        let given = [
            ("rows", shape),
            ("ranks", asked.ranks.as_ref()),
            ("non_negative", asked.non_negative.as_ref().map(|n| &n.span)),
            ("as", asked.like.as_ref().map(|n| &n.span)),
            ("exposure", beside.exposure.as_ref().map(Given::span)),
            ("trials", beside.trials.as_ref().map(Given::span)),
            (
                "scale",
                (asked.scale != Scale::Response).then_some(&asked.scale_span),
            ),
        ];
        for (key, span) in given {
            if let Some(span) = span {
                let message = format!("`{key}` is for functions, and this study is of a density");
                check.refuse(span, message, format!("leave `{key}` out"));
            }
        }
    }
}

/// Refuses a study that is of a function too.
pub fn alone(check: &Check<'_>, root: &Section<'_>) {
    let entries = root.entries();
    let is_own = |key: &str| ["title", "density", "predict"].contains(&key);
    let others = entries.iter().filter(|(key, _)| !is_own(&key.value));
    let others: Vec<&str> = others.map(|(key, _)| key.value.as_str()).collect();
    let own = entries.iter().find(|(key, _)| key.value == "density");
    if let (Some((key, _)), false) = (own, others.is_empty()) {
        let message = format!(
            "[density] stands in place of a function, and {} speak{} of one",
            suggest::list(&others),
            if others.len() == 1 { "s" } else { "" }
        );
        let remedy = format!("leave out [density], or {}", suggest::list(&others));
        check.refuse(&key.span, message, remedy);
    }
}
