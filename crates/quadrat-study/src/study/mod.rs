//! A study file as checked types that know where they stand in the text.
//!
//! Nothing here reads a table: that is `resolve`'s task.

mod baseline;
mod coregionalization;
pub mod cumulative;
pub mod density;
pub mod fields;
mod labels;
mod latent;
pub mod likelihood;
mod link;
pub mod links;
pub mod map_kernel;
pub mod meet;
mod names;
mod non_negative;
pub mod observe;
pub mod outputs;
mod predict;
mod preset;
mod rows;
mod settings;
pub mod shape;
pub mod shapes;
mod sparse;
pub mod support;
pub mod ungroup;
mod varying;
pub mod written;

use std::path::{Path, PathBuf};

use quadrat::likelihood::Likelihood as Reported;
use quadrat::link::Link;
pub use quadrat::model::Mean;
use toml_edit::Document;

use crate::diagnostic::{Problem, Problems, Source};
use crate::files::not_a_file;
use crate::simple::Simple;
use fields::{Check, Section};
use written::Written;

pub use coregionalization::Coregionalization;
pub use density::DensityStudy;
pub use latent::Latent;
pub use non_negative::NonNegative;
pub use observe::Observe;
pub use outputs::Output;
pub use predict::{Beside, LEVEL, MOST_DRAWS, Predict, Scale, Where};
pub use settings::{Inference, Integration, Setting};
pub use sparse::Inducing;
pub use ungroup::UngroupStudy;
pub use varying::Vary;

/// Sections in place of a function.
const IN_PLACE: [&str; 2] = ["density", "ungroup"];
/// Sections and keys of the study of a function alone.
const OF_FUNCTION: [&str; 9] = [
    "preset",
    "latent",
    "observe",
    "hyperparameters",
    "inference",
    "coregionalization",
    "noise",
    "dispersion",
    "baseline",
];

/// A whole study, correct as far as the text alone can tell.
#[derive(Debug, Clone)]
pub struct Study {
    /// The text, for problems found later.
    pub source: Source,
    /// The folder that paths are relative to.
    pub folder: PathBuf,
    /// The same folder as it is shown to people.
    pub shown: PathBuf,
    /// What it is about.
    pub title: String,
    /// The prior.
    pub latent: Latent,
    /// The tables, in order.
    pub observe: Vec<Observe>,
    /// The predictions, in order.
    pub predict: Vec<Predict>,
    /// What was said about hyperparameters.
    pub settings: Vec<Setting>,
    /// How to infer.
    pub inference: Inference,
    /// How several outputs are mixed.
    pub coregionalization: Coregionalization,
    /// The noise variance and the dispersion, where they are functions.
    pub vary: Vec<Vary>,
    /// Simple methods whose means stand beside its own.
    pub baseline: Vec<Simple>,
}

/// A study of one of the kinds.
#[derive(Debug)]
pub enum AnyStudy {
    /// Of a function, with its prior in `[latent]`.
    Function(Box<Study>),
    /// Of a density, in `[density]`.
    Density(Box<DensityStudy>),
    /// Of bands that are ungrouped, in `[ungroup]`.
    Ungroup(Box<UngroupStudy>),
}

impl AnyStudy {
    /// With paths that are relative to a folder.
    fn within(mut self, folder: &Path) -> Self {
        match &mut self {
            Self::Function(study) => study.folder = folder.to_owned(),
            Self::Density(study) => study.written.folder = folder.to_owned(),
            Self::Ungroup(study) => study.written.folder = folder.to_owned(),
        }
        self
    }

    /// That of a function.
    ///
    /// # Errors
    /// Where it is another.
    pub fn function(self) -> Result<Study, Problems> {
        match self {
            Self::Function(study) => Ok(*study),
            Self::Density(study) => Err(study.refused()),
            Self::Ungroup(study) => Err(study.refused()),
        }
    }
}

/// Reads the study file of a function from disk; people see it under the name `shown`.
pub fn open(path: &Path, shown: &Path) -> Result<Study, Problems> {
    open_any(path, shown)?.function()
}

/// Reads a study file from disk; people see it under the name `shown`.
pub fn open_any(path: &Path, shown: &Path) -> Result<AnyStudy, Problems> {
    let unreadable =
        |message: String, remedy: &str| Problems::from(Problem::new(message).remedy(remedy));
    if let Some(problem) = not_a_file(path, &shown.display().to_string()) {
        return Err(problem.into());
    }
    let bytes = std::fs::read(path).map_err(|error| {
        unreadable(
            format!("the study `{}` cannot be read: {error}", shown.display()),
            "give the path of a study file",
        )
    })?;
    let study = any_of_bytes(shown, bytes)?;
    Ok(study.within(path.parent().unwrap_or(Path::new(""))))
}

/// Checks the text of a study whose paths are relative to a folder; people see it under the name
/// `shown`.
pub fn any_in(folder: &Path, shown: &Path, text: &str) -> Result<AnyStudy, Problems> {
    Ok(any_of_text(shown, text)?.within(folder))
}

/// Checks the bytes of the study of a function, with or without byte order mark.
#[cfg(any(test, feature = "fuzz"))]
pub fn read_bytes(shown: &Path, bytes: Vec<u8>) -> Result<Study, Problems> {
    any_of_bytes(shown, bytes)?.function()
}

fn any_of_bytes(shown: &Path, bytes: Vec<u8>) -> Result<AnyStudy, Problems> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let spot = crate::diagnostic::Spot::in_bytes(error.as_bytes(), at..at + 1);
        let place = crate::diagnostic::Place {
            file: shown.display().to_string(),
            spot: Some(spot),
            column_name: None,
        };
        Problems::from(
            Problem::new("the study is not valid UTF-8")
                .at(place)
                .remedy("save it as UTF-8"),
        )
    })?;
    any_of_text(shown, text.strip_prefix('\u{feff}').unwrap_or(&text))
}

/// Checks the text of the study of a function.
#[cfg(test)]
pub fn read(path: &Path, text: &str) -> Result<Study, Problems> {
    any_of_text(path, text)?.function()
}

fn any_of_text(path: &Path, text: &str) -> Result<AnyStudy, Problems> {
    let source = Source::new(path, text);
    let document = Document::parse(text).map_err(|error| {
        let span = error.span().unwrap_or_default();
        let message = format!(
            "this is not valid TOML: {}",
            error.message().lines().next().unwrap_or("")
        );
        Problems::from(
            Problem::new(message)
                .at(source.place(&span))
                .remedy("see https://toml.io for the syntax"),
        )
    })?;
    let check = Check::new(&source);
    let root = Section::new(&check, "the study", document.as_table(), 0..0);
    root.keys(
        &[&["title", "predict"], &IN_PLACE[..], &OF_FUNCTION].concat(),
        &[],
    );
    let stem = path
        .file_stem()
        .map_or_else(|| "study".into(), |stem| stem.to_string_lossy());
    let title = root
        .text("title")
        .map_or_else(|| stem.into_owned(), |title| shown_title(&title.value));
    if let Some(name) = IN_PLACE.into_iter().find(|name| root.get(name).is_some()) {
        written::alone(&check, &root, name, &[&IN_PLACE[..], &OF_FUNCTION].concat());
        let written = Written::new(path, &source, title, &root, name);
        let study = match name {
            "density" => density::of(&root, written).map(|study| AnyStudy::Density(study.into())),
            _ => ungroup::of(&root, written).map(|study| AnyStudy::Ungroup(study.into())),
        };
        let problems = check.finish();
        return study.filter(|_| problems.0.is_empty()).ok_or(problems);
    }
    let mut observe = observe::read(&root);
    let latent = latent::read(&root, &observe);
    let predict = predict::read(&root);
    let settings = settings::hyperparameters(&root);
    let inference = settings::inference(&root);
    let baseline = baseline::read(&root);
    let mut vary = varying::read(&root);
    let mut coregionalization = coregionalization::read(&root);
    let mut sections = preset::Sections {
        latent: latent.as_ref(),
        observe: &mut observe,
        coregionalization: &mut coregionalization,
        vary: &mut vary,
    };
    preset::apply(&root, &mut sections);
    varying::suits(&check, &vary, latent.as_ref(), &inference);
    coregionalization::suits(&check, latent.as_ref(), &coregionalization, &observe);
    let said = (&observe[..], &predict[..], &vary[..]);
    together(&check, latent.as_ref(), said, &inference);
    let problems = check.finish();
    match latent {
        Some(latent) if problems.0.is_empty() => {
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            Ok(AnyStudy::Function(Box::new(Study {
                source,
                shown: folder.clone(),
                folder,
                title,
                latent,
                observe,
                predict,
                settings,
                inference,
                coregionalization,
                vary,
                baseline,
            })))
        }
        _ => Err(problems),
    }
}

/// What must hold between the sections.
fn together(
    check: &Check<'_>,
    latent: Option<&Latent>,
    (observe, predict, vary): (&[Observe], &[Predict], &[Vary]),
    inference: &Inference,
) {
    settings::suits(check, inference, observe);
    for asked in predict.iter().filter(|p| !p.quantiles.is_empty()) {
        check.refuse(
            &asked.quantile_span,
            "`quantile` asks for quantiles of a density, and this study is of a function",
            "leave it out: `level` gives the ends of an interval, and the median is always told",
        );
    }
    if let Some(latent) = latent {
        links::suits(check, latent.link.as_ref(), observe);
        let asked = latent.non_negative.as_ref();
        non_negative::suits(check, asked, observe, predict, inference);
        shapes::suits(check, latent, (observe, predict), vary);
    }
    if let Some(table) = observe.first()
        && observe.iter().all(|o| !o.likelihood.is_report())
    {
        check.refuse(
            &table.likelihood.name.span,
            "`positive` only bounds the function; no table says what its values are",
            "add an [[observe]] with values, counts or ranks",
        );
    }
}

impl Study {
    /// The link of a table.
    pub fn link_of(&self, table: &Observe) -> Link {
        links::of(self.latent.link.as_ref(), table)
    }

    /// The function that is the noise variance or dispersion of the rows of a likelihood, if there
    /// is one.
    pub fn vary_of(&self, likelihood: &Reported) -> Option<&Vary> {
        self.vary.iter().find(|vary| vary.what.is_of(likelihood))
    }

    /// The simple methods that stand beside a prediction.
    pub fn simple_beside(&self, predict: &Predict) -> Vec<Simple> {
        match predict.scale {
            Scale::Response | Scale::Observation => self.baseline.clone(),
            _ => Vec::new(),
        }
    }

    /// Whether inference will be exact.
    pub fn is_exact(&self) -> bool {
        let approximate = matches!(
            self.inference.method,
            quadrat::model::Inference::Sites(_) | quadrat::model::Inference::Sparse
        );
        !approximate
            && self.vary.is_empty()
            && self.non_negative() != Some(NonNegative::Constrain)
            && self.observe.iter().all(|o| o.likelihood.is_gaussian())
    }

    /// How the function is kept from being negative, if it is.
    pub fn non_negative(&self) -> Option<NonNegative> {
        self.latent.non_negative.as_ref().map(|asked| asked.value)
    }

    /// Whether a prediction is truncated at zero.
    pub fn is_truncated(&self, predict: &Predict) -> bool {
        non_negative::holds(self.latent.non_negative.as_ref(), predict)
    }
}

/// A title fit for a terminal: no control characters.
fn shown_title(title: &str) -> String {
    title
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
