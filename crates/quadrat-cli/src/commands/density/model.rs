//! Densities as saved models: written by `quadrat fit`, asked by `quadrat predict`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use quadrat::density::{AnyEstimate, Saved};

use super::answers::Answers;
use super::asked::{Densities, Named, Of, Wanted, Which, answers, suits, which, with_quantiles};
use super::asked::{clash, planar, repeated};
use crate::args::{Predict, ScaleWord};
use crate::commands::predict::{flags, read};
use crate::commands::{print, replacing};
use crate::diagnostic::{Problem, Problems};
use crate::engine::{Answer, Chances};
use crate::numbers::count;
use crate::output::{Staged, writable};
use crate::places::Places;
use crate::prediction_csv::{self, has_regions};
use crate::resolve::Files;
use crate::study::MOST_DRAWS;
use crate::study::fields::{Check, Spanned};
use crate::table::is_geo;
use crate::terminal::warn;

/// Draws times rows that are written at most.
const MOST_NUMBERS: usize = 10_000_000;
/// Names of the notes.
const NAMES: &str = "columns";
const GIVEN: &str = "given";
const GROUP: &str = "group";
const WARNINGS: &str = "warnings";

/// The model of what was estimated, as bytes.
///
/// # Arguments
/// * `warnings` - what should be known before it is trusted
pub fn to_bytes(estimated: &dyn Answers, named: Named<'_>, warnings: &[String]) -> Vec<u8> {
    let mut saved = Saved::default();
    for (name, of) in estimated.parts() {
        saved = match of {
            Of::Line(estimate) => saved.with(&name, estimate),
            Of::Plane(estimate) => saved.with(&name, estimate),
            Of::Given(estimate) => saved.with(&name, estimate),
        };
    }
    let list = |of: &[String]| serde_json::json!(of).to_string();
    let mut note = |name: &str, text: String| saved.notes.insert(name.to_owned(), text);
    note(NAMES, list(named.names));
    note(WARNINGS, list(warnings));
    if named.is_given {
        note(GIVEN, "yes".to_owned());
    }
    if let Some(group) = named.group {
        note(GROUP, group.to_owned());
    }
    saved.to_bytes()
}

/// A model with its words.
struct Model {
    saved: Saved,
    names: Vec<String>,
    warnings: Vec<String>,
}

impl Model {
    fn read(bytes: &[u8], path: &Path) -> Result<Self> {
        let usable = || format!("cannot use `{}`", path.display());
        let saved = Saved::from_bytes(bytes).with_context(usable)?;
        let list = |name: &str| -> Result<Vec<String>> {
            let text = saved.notes.get(name).map_or("[]", String::as_str);
            serde_json::from_str(text).with_context(usable)
        };
        let (names, warnings) = (list(NAMES)?, list(WARNINGS)?);
        if saved.is_empty() || names.is_empty() || names.len() > 2 {
            anyhow::bail!("{}: it does not say what its densities are of", usable());
        }
        Ok(Self {
            names,
            warnings,
            saved,
        })
    }

    fn named(&self) -> Named<'_> {
        Named {
            names: &self.names,
            is_given: self.saved.notes.contains_key(GIVEN),
            group: self.saved.notes.get(GROUP).map(String::as_str),
        }
    }
}

impl Densities for Model {
    fn names(&self) -> Vec<String> {
        self.saved.names().map(str::to_owned).collect()
    }

    fn with(&self, at: usize, visit: &mut dyn FnMut(Of<'_>) -> Result<()>) -> Result<()> {
        let named = self.named();
        let is = (named.names.len(), named.is_given);
        match (self.saved.estimate(at)?, is) {
            (AnyEstimate::Line(estimate), (1, false)) => visit(Of::Line(&estimate)),
            (AnyEstimate::Plane(estimate), (2, false)) => visit(Of::Plane(&estimate)),
            (AnyEstimate::Conditional(estimate), (2, true)) => visit(Of::Given(&estimate)),
            _ => anyhow::bail!("the model is damaged: its densities are not of its columns"),
        }
    }
}

/// `quadrat predict` of a model of a density.
pub fn predict(args: &Predict, bytes: &[u8]) -> Result<()> {
    only_densities(args)?;
    let model = Model::read(bytes, &args.model)?;
    let named = model.named();
    let (places, which, warnings) = asked(args, &model, named)?;
    let wanted = Wanted {
        level: args.level,
        chances: chances(args)?,
        seed: args.seed,
    };
    if let Some(name) = clash(&places, &wanted.chances, named.group) {
        anyhow::bail!(
            "the table of predictions would have two columns named `{name}`; rename that column in the table"
        );
    }
    if wanted.chances.draws.saturating_mul(places.len()) > MOST_NUMBERS {
        anyhow::bail!(
            "--draws of {} rows are too many numbers; ask for fewer",
            places.len()
        );
    }
    let outputs: Vec<&PathBuf> = args.output.iter().collect();
    if !replacing(&[args.at(), &args.model], &outputs).is_empty() {
        let problem = Problem::new("the output would replace a file that is read");
        return Err(Problems::from(problem.remedy("choose another file with -o")).into());
    }
    if let Some(output) = &args.output {
        writable(std::slice::from_ref(output))?;
    }
    let (parts, noticed) = answers(&model, named, &places, &which, &wanted)?;
    if !args.quiet {
        let all = model.warnings.iter().chain(&warnings).chain(&noticed);
        all.for_each(|warning| warn(warning));
    }
    write(args, &parts)
}

/// Places and groups that are asked for, and what was noticed in the files.
fn asked(args: &Predict, model: &Model, named: Named<'_>) -> Result<(Places, Which, Vec<String>)> {
    let mut described = flags::described(&args.into());
    described.support = planar(&described.support);
    let check = Check::new(&described.source);
    let (support, span) = (&described.support, &described.support.span);
    let quantiles = (!args.quantile.is_empty()).then_some(span);
    suits(&check, named, support, quantiles);
    flags::kept_once(&check, &described.beside.keep);
    let files = Files::new(&check, Path::new(""), Path::new(""));
    let is_bare = support.dims.is_empty() && support.shape.is_none();
    if is_bare && args.at.is_some() {
        let message = "quantiles of one column are at no place";
        check.refuse(&described.at.span, message, "leave --at out");
    }
    if !is_bare && args.at.is_none() {
        check.refuse(
            span,
            "places are named, but no table of them",
            "give it with --at",
        );
    }
    check_geo(&check, args, &described);
    let places = match is_bare || args.at.is_none() {
        true => Some(Places::named(0, Vec::new())),
        false => read(args.at(), &files, &described),
    };
    let group = args.of.as_ref().map(|name| Spanned {
        value: name.clone(),
        span: span.clone(),
    });
    let has_rows = places.as_ref().is_some_and(|p| p.shapes.is_none()) && !is_bare;
    let table = match has_rows && named.group.is_some() {
        true => files.table(&described.at),
        false => None,
    };
    let groups = model.names();
    let found = which(&check, named, &groups, group.as_ref(), table.as_ref());
    let warnings = files.warnings();
    check.finish().by_flags().or(())?;
    let (places, found) = (places.context("no places")?, found.context("no density")?);
    let found = match found {
        Which::OfRow(rows) => Which::OfRow(repeated(&rows, args.quantile.len())),
        other => other,
    };
    Ok((with_quantiles(places, &args.quantile), found, warnings))
}

/// Only regions are features.
fn check_geo(check: &Check<'_>, args: &Predict, described: &flags::Described) {
    let wants = args.output.as_deref().is_some_and(is_geo);
    if wants && described.support.shape.is_none() {
        let message = "only regions can be written as GeoJSON";
        let remedy = "write to a `.csv`, or give the places with `--region`";
        check.refuse(&described.support.span, message, remedy);
    }
}

fn chances(args: &Predict) -> Result<Chances> {
    let draws = args.draws.map_or(0, |draws| usize::from(draws.get()));
    if draws > MOST_DRAWS {
        anyhow::bail!("--draws takes 1 to {MOST_DRAWS}, not {draws}");
    }
    let mut above: Vec<f64> = Vec::new();
    for &limit in &args.above {
        if above.contains(&limit) {
            anyhow::bail!("the limit {limit} is given twice; give each limit once");
        }
        above.push(limit);
    }
    Ok(Chances {
        above,
        draws,
        ..Chances::default()
    })
}

/// Refuses flags that a density gives no meaning to.
fn only_densities(args: &Predict) -> Result<(), Problems> {
    let given = [
        ("--scale", args.scale != ScaleWord::Response),
        ("--ranks", args.ranks),
        ("--as", args.like.is_some()),
        ("--exposure", args.exposure.is_some()),
        ("--trials", args.trials.is_some()),
        ("--non-negative", args.non_negative),
        ("--bag", !args.looks.bag.is_empty()),
    ];
    let Some((flag, _)) = given.into_iter().find(|(_, is_given)| *is_given) else {
        return Ok(());
    };
    let message = format!("{flag} is for functions, and the model is of a density");
    Err(Problem::new(message).remedy("leave it out").into())
}

fn write(args: &Predict, parts: &[(Places, Answer)]) -> Result<()> {
    let parts: Vec<(&Places, &Answer)> = parts.iter().map(|(p, a)| (p, a)).collect();
    let Some(path) = &args.output else {
        return prediction_csv::write(&mut std::io::stdout().lock(), &parts);
    };
    let as_features = is_geo(path) && parts.iter().all(|(places, _)| has_regions(places));
    let mut staged = Staged::new();
    staged.write(path, |out| match (as_features, parts.as_slice()) {
        (true, [(places, answer)]) => prediction_csv::write_geo(out, places, answer),
        (true, _) => anyhow::bail!("a GeoJSON file holds one density; say which with `--of`"),
        (false, _) => prediction_csv::write(out, &parts),
    })?;
    staged.finish()?;
    if args.quiet {
        return Ok(());
    }
    let rows: usize = parts.iter().map(|(places, _)| places.len()).sum();
    print(&format!(
        "wrote {}: {}\n",
        path.display(),
        count(rows, "row")
    ))
}
