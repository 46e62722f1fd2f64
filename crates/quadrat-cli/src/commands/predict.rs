//! `quadrat predict`: answers of a saved model at the rows of a table.

use std::ops::Range;

use anyhow::{Context, Result};

use super::print;
use crate::args::{Aggregation, Predict, ScaleWord};
use crate::diagnostic::{Problem, Problems, Source};
use crate::numbers::count;
use crate::output::{Staged, writable};
use crate::resolve::read_places;
use crate::study::Scale;
use crate::study::fields::{Check, Spanned};
use crate::study::support::{Aggregate, Dim, Extent, Support};
use crate::table::Table;
use crate::{engine, prediction_csv};

/// Runs the command.
pub fn run(args: &Predict) -> Result<()> {
    let bytes = std::fs::read(&args.model)
        .with_context(|| format!("cannot read `{}`", args.model.display()))?;
    let posterior = engine::from_bytes(&bytes)
        .with_context(|| format!("cannot use `{}`", args.model.display()))?;
    let (source, support) = described(args);
    let check = Check::new(&source);
    suits(&check, &support, posterior.dims(), args.aggregate);
    let places = match Table::open(&args.at, &args.at) {
        Ok(table) => read_places(&check, &table, &support),
        Err(problem) => {
            // Here a path is relative to where the command runs, as everywhere in a shell.
            let mut problem = problem;
            for remedy in &mut problem.remedies {
                if remedy.starts_with("paths are relative") {
                    *remedy = "give --at the path of a table".to_owned();
                }
            }
            check.add(problem);
            None
        }
    };
    if let Some(name) = places.as_ref().and_then(prediction_csv::clash) {
        check.refuse(
            &support.span,
            format!("the table of predictions would have two columns named `{name}`"),
            "rename that column in the table",
        );
    }
    let problems: Problems = check.finish();
    problems.or(())?;
    let places = places.context("no places to predict at")?;
    spare(args)?;
    if let Some(output) = &args.output {
        writable(std::slice::from_ref(output))?;
    }
    let answer = engine::predict(&posterior, &places, scale(args.scale), args.level)?;
    if !answer.far.is_empty() && !args.quiet {
        let far = count(answer.far.len(), "row");
        eprintln!(
            "warning: {far} of {} far outside the data, first row {}",
            places.len(),
            answer.far[0] + 1
        );
    }
    match &args.output {
        Some(path) => {
            let mut staged = Staged::new();
            staged.write(path, |out| prediction_csv::write(out, &places, &answer))?;
            staged.finish()?;
            if args.quiet {
                return Ok(());
            }
            print(&format!(
                "wrote {}: {}\n",
                path.display(),
                count(places.len(), "row")
            ))
        }
        None => prediction_csv::write(&mut std::io::stdout().lock(), &places, &answer),
    }
}

fn scale(word: ScaleWord) -> Scale {
    match word {
        ScaleWord::Latent => Scale::Latent,
        ScaleWord::Response => Scale::Response,
        ScaleWord::Observation => Scale::Observation,
    }
}

/// The support that the flags describe, and the flags as a text that problems can point into.
fn described(args: &Predict) -> (Source, Support) {
    let mut text = format!(
        "quadrat predict {} --at {}",
        args.model.display(),
        args.at.display()
    );
    let word = |text: &mut String, before: &str, word: &str| {
        text.push_str(before);
        let start = text.len();
        text.push_str(word);
        Spanned {
            value: word.to_owned(),
            span: start..text.len(),
        }
    };
    let mut dims = Vec::new();
    for edges in &args.boxes {
        let name = word(&mut text, " --box ", &edges.dim);
        let first = word(&mut text, "=", &edges.first);
        let second = word(&mut text, ",", &edges.second);
        dims.push(Dim {
            name,
            extent: Extent::Edges(first, second),
        });
    }
    for (i, column) in args.point.iter().enumerate() {
        let name = word(&mut text, if i == 0 { " --point " } else { "," }, column);
        dims.push(Dim {
            name,
            extent: Extent::Point,
        });
    }
    let aggregate = match args.aggregate {
        Some(Aggregation::Sum) if !args.boxes.is_empty() => Some(Aggregate::Sum),
        Some(Aggregation::Mean) if !args.boxes.is_empty() => Some(Aggregate::Mean),
        _ => None,
    };
    let span: Range<usize> = 0..text.len();
    let source = Source {
        name: "command line".to_owned(),
        text: text.into(),
    };
    (
        source,
        Support {
            dims,
            aggregate,
            span,
        },
    )
}

/// The support must have exactly the inputs of the model.
fn suits(check: &Check<'_>, support: &Support, dims: &[String], aggregate: Option<Aggregation>) {
    let inputs = crate::suggest::list(dims);
    for (i, dim) in support.dims.iter().enumerate() {
        let name = &dim.name.value;
        if !dims.contains(name) {
            let near = crate::suggest::nearest(name, dims.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let message = format!("the model has no input `{name}`{hint}");
            check.refuse(&dim.name.span, message, format!("its inputs are {inputs}"));
        } else if support.dims[..i]
            .iter()
            .any(|earlier| &earlier.name.value == name)
        {
            check.refuse(
                &dim.name.span,
                format!("`{name}` is given twice"),
                "give each input once",
            );
        }
    }
    for dim in dims
        .iter()
        .filter(|dim| !support.dims.iter().any(|given| &given.name.value == *dim))
    {
        let remedy = format!("add `--point {dim}` or `--box {dim}=LO,HI`; the inputs are {inputs}");
        check.refuse(
            &support.span,
            format!("the model's input `{dim}` is not given"),
            remedy,
        );
    }
    if !support.has_boxes() && aggregate.is_some() {
        check.refuse(
            &support.span,
            "a point has neither a total nor an average, so --aggregate has no meaning",
            "leave --aggregate out, or give boxes with `--box`",
        );
    }
    if support.has_boxes() && support.aggregate.is_none() {
        check.refuse(
            &support.span,
            "boxes need --aggregate",
            "add `--aggregate sum` or `--aggregate mean`",
        );
    }
}

/// Refuses to write over the model or the table.
fn spare(args: &Predict) -> Result<(), Problems> {
    let real = args
        .output
        .as_ref()
        .and_then(|path| path.canonicalize().ok());
    let taken = |path: &std::path::Path| real.is_some() && path.canonicalize().ok() == real;
    if taken(&args.at) || taken(&args.model) {
        return Err(Problem::new("the output would replace a file that is read")
            .remedy("choose another file with -o")
            .into());
    }
    Ok(())
}
