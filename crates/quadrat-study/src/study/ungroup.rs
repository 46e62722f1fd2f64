//! `[ungroup]`: counts or events in bands, in place of the function of `[latent]`.
//!
//! Its keys are the flags of `quadrat ungroup`, and what is read is what that command takes.

use std::path::PathBuf;

use quadrat::ungroup::Tail;
use toml_edit::Item;

use super::fields::{Section, distinct, kind};
use super::written::{DRAWS, Written, level};
use crate::diagnostic::{Problem, Problems, shown};

/// Keys of the section.
pub const KEYS: [&str; 20] = [
    "file",
    "lower",
    "upper",
    "count",
    "exposure",
    "exposure_table",
    "life_table",
    "by",
    "along",
    "borrow",
    "first",
    "last",
    "tail",
    "step",
    "edges",
    "log",
    "sampled",
    "level",
    "draws",
    "seed",
];
/// Keys that cannot stand together, as the flags of the command.
const CLASHES: [(&str, &str); 3] = [
    ("exposure", "log"),
    ("exposure", "sampled"),
    ("step", "edges"),
];

/// What is asked of bands, in a study or on the command line.
#[derive(Debug, Clone)]
pub struct Ungroup {
    /// The table.
    pub table: PathBuf,
    /// Column of the lower edges, or of both.
    pub lower: String,
    /// Column of the upper edges; none where bands end where the next begin.
    pub upper: Option<String>,
    /// Column of the counts; of the events, where there is an exposure.
    pub count: String,
    /// Column of the exposure.
    pub exposure: Option<String>,
    /// The table of the exposure, where that has bands of its own.
    pub exposure_table: Option<PathBuf>,
    /// Whether a life table is wanted.
    pub life_table: bool,
    /// Columns that name the population of each row.
    pub by: Vec<String>,
    /// Column of the years that are ungrouped together.
    pub along: Option<String>,
    /// Whether rates lie around those of all populations together.
    pub borrow: bool,
    /// Where an open first band begins.
    pub first: Option<f64>,
    /// Where an open last band ends.
    pub last: Option<f64>,
    /// How the curve falls off in the last band.
    pub tail: Option<Tail>,
    /// Width of the steps to tell.
    pub step: Option<f64>,
    /// Edges of the steps to tell; empty: those that `step` says.
    pub edges: Vec<f64>,
    /// Whether the curve is smooth in the logarithm.
    pub log: bool,
    /// How many were asked per one counted.
    pub sampled: f64,
    /// Probability of intervals.
    pub level: f64,
    /// How many populations are drawn.
    pub draws: Option<u16>,
    /// The seed of all draws.
    pub seed: u64,
}

impl Ungroup {
    /// Columns that name what is told: populations, and their years.
    pub fn names(&self) -> Vec<String> {
        self.by.iter().chain(&self.along).cloned().collect()
    }
}

/// The study of bands.
#[derive(Debug)]
pub struct UngroupStudy {
    /// How it was written.
    pub written: Written,
    /// What the command would be given; its tables are relative to the folder.
    pub args: Ungroup,
}

impl UngroupStudy {
    /// The files that it names, as it names them.
    pub fn files(&self) -> Vec<PathBuf> {
        let files = [&self.args.table].into_iter();
        files.chain(&self.args.exposure_table).cloned().collect()
    }

    /// Where a function is needed.
    pub fn refused(&self) -> Problems {
        let message = "this study ungroups bands, and this command is for the study of a function";
        Problem::new(message)
            .at(self.written.place.clone())
            .remedy("`quadrat run` writes its tables; there is no model to save")
            .into()
    }
}

/// The study; none where it is wrong.
pub fn of(root: &Section<'_>, written: Written) -> Option<UngroupStudy> {
    suits(root);
    let args = read(root)?;
    Some(UngroupStudy { written, args })
}

/// The section as the arguments of the command; none where it is wrong.
fn read(root: &Section<'_>) -> Option<Ungroup> {
    let item = root.get("ungroup")?;
    let like = "[ungroup] above `file = ...`";
    let section = Section::from_item(root.check, "[ungroup]", item, like)?;
    section.keys(&KEYS, &[]);
    let is_given = |key: &str| {
        let item = section.get(key);
        item.is_some_and(|item| item.as_bool() != Some(false))
    };
    for (key, other) in CLASHES {
        if is_given(key) && is_given(other) {
            let message = format!("`{key}` and `{other}` cannot stand together");
            section.refuse(key, message, format!("leave out `{key}` or `{other}`"));
        }
    }
    if is_given("along") && is_given("exposure") {
        let message = "`along` is for counts, and with `exposure` rates are told";
        let remedy = "name the column of the years with `by`: rates of each year by itself";
        section.refuse("along", message, remedy);
    }
    let life_table = section.flag("life_table").unwrap_or(false);
    let borrow = section.flag("borrow").unwrap_or(false);
    let of_rates = [
        ("exposure_table", is_given("exposure_table")),
        ("life_table", life_table),
        ("borrow", borrow),
    ];
    for (key, is_asked) in of_rates {
        if is_asked && section.get("exposure").is_none() {
            let message = format!("`{key}` needs an exposure");
            let remedy =
                "add `exposure = \"people\"`, the column of those to whom events may happen";
            section.refuse(key, message, remedy);
        }
    }
    if borrow && section.get("by").is_none() {
        let message = "`borrow` needs several populations";
        let remedy = "add `by = \"region\"`, the column that names the population of each row";
        section.refuse("borrow", message, remedy);
    }
    let one = |key: &str| section.text(key).map(|text| text.value);
    let needed = |key: &str, like: &str| {
        if section.get(key).is_none() {
            section.missing(key, like);
        }
        one(key)
    };
    let file = needed("file", "such as `file = \"bands.csv\"`");
    let lower = needed(
        "lower",
        "the column of the lower edges, such as `lower = \"from\"`",
    );
    let count = needed(
        "count",
        "the column of the counts, such as `count = \"people\"`",
    );
    let number = |key: &str| section.number(key).map(|number| number.value);
    let sampled = number("sampled");
    if let Some(share) = sampled.filter(|share| *share <= 0.0) {
        let message = format!("`sampled` is {share}; it must be above zero");
        let remedy = "write how many were asked per one counted, such as 0.12 or 1000";
        section.refuse("sampled", message, remedy);
    }
    let out = Ungroup {
        table: PathBuf::from(file.unwrap_or_default()),
        lower: lower.unwrap_or_default(),
        upper: one("upper"),
        count: count.unwrap_or_default(),
        exposure: one("exposure"),
        exposure_table: one("exposure_table").map(PathBuf::from),
        life_table,
        by: by(&section),
        along: one("along"),
        borrow,
        first: number("first"),
        last: number("last"),
        tail: one("tail").and_then(|text| match tail(&text) {
            Ok(tail) => Some(tail),
            Err(remedy) => {
                let message = format!("`{}` is not a known `tail`", shown(&text));
                section.refuse("tail", message, remedy);
                None
            }
        }),
        step: number("step"),
        edges: edges(&section),
        log: section.flag("log").unwrap_or(false),
        sampled: sampled.unwrap_or(1.0),
        level: level(&section),
        draws: section.whole("draws", DRAWS).map(|n| n as u16),
        seed: section.whole("seed", 0..=i64::MAX).map_or(1, |n| n as u64),
    };
    if let Some(years) = out.along.as_ref().filter(|years| out.by.contains(years)) {
        let message = format!("`{years}` is named by `by` and by `along`");
        let remedy = "keep `along`, where years inform each other, or `by`, where each is ungrouped by itself";
        section.refuse("along", message, remedy);
    }
    let has_needed = [&out.lower, &out.count].iter().all(|name| !name.is_empty());
    (has_needed && !out.table.as_os_str().is_empty()).then_some(out)
}

/// One column, or several.
fn by(section: &Section<'_>) -> Vec<String> {
    let Some(item) = section.get("by") else {
        return Vec::new();
    };
    match item.as_array() {
        Some(array) => {
            if array.is_empty() {
                let remedy = "name a column, or leave `by` out";
                section.refuse("by", "`by` names no column", remedy);
            }
            let names = distinct(section, "by", array).unwrap_or_default();
            names.into_iter().map(|name| name.value).collect()
        }
        None => section
            .text("by")
            .map(|name| name.value)
            .into_iter()
            .collect(),
    }
}

/// How edges are written.
const LIKE: &str = "such as `edges = [0, 18, 65, inf]`";

/// Numbers of which the last may be infinite.
fn edges(section: &Section<'_>) -> Vec<f64> {
    let Some(item) = section.get("edges") else {
        return Vec::new();
    };
    let number = |value: &toml_edit::Value| {
        let whole = value.as_integer().map(|n| n as f64);
        value.as_float().or(whole).filter(|x| !x.is_nan())
    };
    let Some(array) = item.as_array() else {
        let message = format!("`edges` must be an array of numbers, not {}", kind(item));
        section.refuse("edges", message, LIKE);
        return Vec::new();
    };
    if array.len() < 2 {
        section.refuse("edges", "`edges` needs two numbers at least", LIKE);
    }
    let one = |value: &toml_edit::Value| {
        let found = number(value);
        if found.is_none() {
            let span = value.span().unwrap_or_else(|| section.span_of("edges"));
            let told = kind(&Item::Value(value.clone()));
            let message = format!("an edge must be a number, not {told}");
            section.check.refuse(&span, message, LIKE);
        }
        found
    };
    array.iter().filter_map(one).collect()
}

/// A tail by its name; how to write one, where there is none of it.
pub fn tail(text: &str) -> Result<Tail, String> {
    match text.trim() {
        "gompertz" => Ok(Tail::Gompertz),
        "pareto" => Ok(Tail::Pareto),
        other => match other.split_once('=') {
            Some(("exponential", rate)) => match rate.trim().parse::<f64>() {
                Ok(rate) if rate > 0.0 && rate.is_finite() => Ok(Tail::Exponential { rate }),
                _ => Err("the slope must be above zero, as in exponential=0.2".to_owned()),
            },
            _ => Err("write gompertz, pareto, or exponential=0.2 with the slope".to_owned()),
        },
    }
}

/// Refuses what a study of bands has not.
fn suits(root: &Section<'_>) {
    if root.get("predict").is_some() {
        let message = "[ungroup] tells every step in a table of its own, `steps.csv`";
        let remedy = "leave [[predict]] out; `step` or `edges` of [ungroup] say which steps";
        root.refuse("predict", message, remedy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{AnyStudy, any_in};
    use std::path::Path;

    fn opened(text: &str) -> Result<UngroupStudy, Problems> {
        match any_in(Path::new("folder"), Path::new("bands.toml"), text)? {
            AnyStudy::Ungroup(study) => Ok(*study),
            other => panic!("{other:?}"),
        }
    }

    const KEYS_OF_ALL: &str = "[ungroup]\nfile = \"b.csv\"\nlower = \"from\"\ncount = \"n\"\n";

    #[test]
    fn tails_have_names() {
        assert_eq!(tail("gompertz"), Ok(Tail::Gompertz));
        let rate = 0.2;
        assert_eq!(tail("exponential=0.2"), Ok(Tail::Exponential { rate }));
        for bad in ["flat", "exponential", "exponential=0", "exponential=x"] {
            assert!(tail(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_are_the_arguments_of_the_command() {
        let text = format!(
            "title = \"Ages\"\n{KEYS_OF_ALL}upper = \"to\"\nby = [\"region\", \"sex\"]\nalong = \"year\"\nlast = 105\ntail = \"gompertz\"\nedges = [0, 18, inf]\nsampled = 1000\ndraws = 20\n"
        );
        let study = opened(&text).unwrap();
        let args = &study.args;
        assert_eq!(study.written.title, "Ages");
        assert_eq!(study.files(), [PathBuf::from("b.csv")]);
        assert_eq!(args.by, ["region", "sex"]);
        assert_eq!(args.names(), ["region", "sex", "year"]);
        assert_eq!(args.edges, [0.0, 18.0, f64::INFINITY]);
        assert_eq!((args.last, args.tail), (Some(105.0), Some(Tail::Gompertz)));
        assert_eq!((args.draws, args.sampled, args.seed), (Some(20), 1000.0, 1));
        assert_eq!(args.level, crate::study::LEVEL);
    }

    #[test]
    fn what_the_command_refuses_is_refused_at_its_key() {
        let cases = [
            ("step = 1\nedges = [0, 5]\n", 5, "cannot stand together"),
            ("life_table = true\n", 5, "needs an exposure"),
            (
                "along = \"year\"\nexposure = \"who\"\n",
                5,
                "`along` is for counts",
            ),
            ("borrow = true\n", 5, "needs an exposure"),
            (
                "borrow = true\nexposure = \"who\"\n",
                5,
                "needs several populations",
            ),
            ("edges = [0, nan]\n", 5, "not the number NaN"),
            ("edges = []\n", 5, "two numbers"),
            ("by = []\n", 5, "names no column"),
            ("tail = \"flat\"\n", 5, "not a known `tail`"),
            ("sampled = 0\n", 5, "above zero"),
            ("draws = 5000\n", 5, "from 1 to 4000"),
            ("colour = 1\n", 5, "colour"),
            ("[[predict]]\nname = \"a\"\n", 5, "steps.csv"),
            (
                "[latent]\nkernel = \"se(x)\"\n",
                1,
                "in place of a function",
            ),
        ];
        for (more, line, words) in cases {
            let problems = opened(&format!("{KEYS_OF_ALL}{more}")).unwrap_err();
            let told = &problems.0[0];
            assert!(told.message.contains(words), "{more}: {}", told.message);
            let spot = told.place.as_ref().and_then(|p| p.spot.as_ref());
            assert_eq!(spot.map(|s| s.line), Some(line), "{more}");
        }
        for right in ["life_table = false\n", "exposure = \"n\"\nlog = false\n"] {
            assert!(opened(&format!("{KEYS_OF_ALL}{right}")).is_ok(), "{right}");
        }
        let problems = opened("[ungroup]\nfile = \"b.csv\"\n").unwrap_err();
        assert_eq!(problems.0.len(), 2);
    }
}
