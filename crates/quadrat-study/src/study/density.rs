//! `[density]`: the density of columns, in place of the function of `[latent]`.
//!
//! Its keys are the flags of `quadrat density`, and what is read is what that command takes.

use std::path::PathBuf;
use std::sync::Arc;

use quadrat::density::{Correction, Integration};
use toml_edit::Item;

use super::fields::{Check, Section, kind, text};
use super::likelihood::Given;
use super::predict::{self, Predict, Scale, Where};
use super::written::{DRAWS, Written, level};
use crate::diagnostic::{Problem, Problems};

/// Keys of the section.
pub const KEYS: [&str; 19] = [
    "file",
    "column",
    "given",
    "group",
    "interval",
    "bins",
    "areas",
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
const CLASHES: [(&str, &str); 17] = [
    ("interval", "column"),
    ("bins", "column"),
    ("bins", "interval"),
    ("bins", "weights"),
    ("areas", "column"),
    ("areas", "interval"),
    ("areas", "bins"),
    ("areas", "weights"),
    ("areas", "given"),
    ("areas", "group"),
    ("given", "interval"),
    ("given", "bins"),
    ("group", "draws"),
    ("group", "within"),
    ("inside", "given"),
    ("inside", "group"),
    ("inside", "interval"),
];
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
    /// Property that counts the values in each area of a GeoJSON file.
    pub areas: Option<String>,
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
    /// How it was written.
    pub written: Written,
    /// What the command would be given; the table as people see it.
    pub args: Arc<Density>,
    /// The table, relative to the folder.
    pub file: PathBuf,
    /// The file of polygons, relative to the folder.
    pub inside: Option<PathBuf>,
    /// The predictions, in order.
    pub predict: Vec<Predict>,
}

impl DensityStudy {
    fn new(written: Written, mut args: Density, predict: Vec<Predict>) -> Self {
        let file = std::mem::replace(&mut args.table, PathBuf::new());
        args.table = written.shown.join(&file);
        let inside = args.inside.take();
        args.inside = inside.as_ref().map(|file| written.shown.join(file));
        Self {
            written,
            args: Arc::new(args),
            file,
            inside,
            predict,
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
            .at(self.written.place.clone())
            .remedy("`quadrat run` estimates it, and `quadrat fit` saves its model")
            .into()
    }
}

/// The study; none where it is wrong.
pub fn of(root: &Section<'_>, written: Written) -> Option<DensityStudy> {
    let args = read(root);
    let predict = predict::read(root);
    predictions_suit(root.check, &predict);
    Some(DensityStudy::new(written, args?, predict))
}

/// The section as the arguments of the command; none where there is no such section, or where it
/// is wrong.
fn read(root: &Section<'_>) -> Option<Density> {
    let item = root.get("density")?;
    let like = "[density] above `file = ...`";
    let section = Section::from_item(root.check, "[density]", item, like)?;
    section.keys(&KEYS, &[]);
    for (key, other) in CLASHES {
        if section.get(key).is_some() && section.get(other).is_some() {
            let message = format!("`{key}` and `{other}` cannot stand together");
            let remedy = format!("leave out `{key}` or `{other}`");
            section.refuse(key, message, remedy);
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
    let areas = one("areas");
    let has_two = column.len() == 2 || bins.len() == 5 || areas.is_some();
    let is_plane = section.get("given").is_none() && has_two;
    let pairs = |key: &str| {
        let pairs = pairs(&section, key);
        if is_plane && pairs.len() == 1 {
            let message = format!("`{key}` has one pair for two columns");
            let remedy =
                format!("write one for each, in their order: `{key} = [[0, inf], [-inf, inf]]`");
            section.refuse(key, message, remedy);
        }
        pairs
    };
    Some(Density {
        table: PathBuf::from(file.value),
        column,
        interval,
        bins,
        areas,
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
        seed: section.whole("seed", 0..=i64::MAX).map_or(1, |n| n as u64),
        draws: section.whole("draws", DRAWS).map(|n| n as u16),
    })
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
        section.refuse(key, message, example);
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
            section.refuse(key, message, remedy);
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
        section.refuse("grid", message, remedy);
    }
    found
}

/// Refuses what predictions of a density have not.
fn predictions_suit(check: &Check<'_>, predict: &[Predict]) {
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
