//! `quadrat predict`: answers of a saved model at the rows of a table.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::ValueEnum;

use super::print;
use crate::args::{Aggregation, LEVEL, Predict, ScaleWord};
use crate::diagnostic::{Problem, Problems, Source};
use crate::engine::{Chances, Wanted};
use crate::geographic::{self, Geographic};
use crate::numbers::count;
use crate::outcome::heavy;
use crate::output::{Staged, writable};
use crate::places::Places;
use crate::prediction_csv::has_regions;
use crate::resolve::{
    Files, NO_PROBABILITIES, NOT_OBSERVED, NOT_TRUNCATED, OBSERVED, one_count, read_places, shapes,
    together,
};
use crate::study::fields::{Check, Spanned};
use crate::study::shape::{BagKeys, RegionKeys, Shape};
use crate::study::support::{Aggregate, Dim, Extent, Support};
use crate::study::{MOST_DRAWS, Scale};
use crate::table::is_geo;
use crate::{engine, prediction_csv};

/// Runs the command.
pub fn run(args: &Predict) -> Result<()> {
    let bytes = std::fs::read(&args.model)
        .with_context(|| format!("cannot read `{}`", args.model.display()))?;
    let posterior = engine::from_bytes(&bytes)
        .with_context(|| format!("cannot use `{}`", args.model.display()))?;
    let geographic = match posterior.note(geographic::SAVED_AS) {
        None => None,
        Some(note) => Some(Arc::new(Geographic::from_note(note).with_context(
            || format!("cannot use the projection in `{}`", args.model.display()),
        )?)),
    };
    let (source, support, at) = described(args);
    let check = Check::new(&source);
    suits(&check, &support, posterior.dims(), args.aggregate);
    same_map(&check, &support, geographic.as_deref());
    let mut files = Files::new(&check, Path::new(""), Path::new(""));
    files.geographic = geographic;
    let not_geo = matches!(support.shape, Some(Shape::Region(_))) && !is_geo(&args.at);
    if not_geo {
        check.refuse(
            &at.span,
            format!(
                "`--region` needs a GeoJSON file; `{}` is none by its name",
                args.at.display()
            ),
            "give --at a `.geojson`; for a table write `--point`, `--box` or `--bag`",
        );
    }
    let mut places = match (&support.shape, support.dims.is_empty()) {
        _ if not_geo => None,
        // The regions or bags are the rows.
        (Some(Shape::Bag(_)), true) => shapes(&files, &support, None, false).map(|shapes| {
            Places::from_columns(&support, Vec::new(), shapes, files.geographic.clone())
        }),
        _ => files
            .table(&at)
            .and_then(|table| read_places(&files, (&table, &at), &support)),
    };
    let warnings = files.warnings();
    let outputs = asked_outputs(&posterior, args.of.as_deref())?;
    let chances = asked_chances(args, &posterior, &outputs)?;
    if wants_geo(args) && outputs.len() > 1 {
        anyhow::bail!(
            "a GeoJSON file holds one output; say which one with `--of`, or write to a `.csv`"
        );
    }
    if let Some(places) = &mut places {
        places.output = outputs.first().cloned().flatten();
    }
    if let Some(column) = places
        .as_ref()
        .and_then(|places| prediction_csv::property_clash(places, &chances))
        && wants_geo(args)
    {
        check.refuse(
            &support.span,
            format!("the features have a property `{column}` already, which would be that of the prediction"),
            "rename or remove that property in the file, or write to a `.csv`",
        );
    }
    if wants_geo(args) && places.as_ref().is_some_and(|places| !has_regions(places)) {
        check.refuse(
            &support.span,
            "only regions can be written as GeoJSON",
            "write to a `.csv`, or give the places with `--region`",
        );
    }
    if let Some(name) = places
        .as_ref()
        .and_then(|places| prediction_csv::clash(places, &chances))
    {
        check.refuse(
            &support.span,
            format!("the table of predictions would have two columns named `{name}`"),
            "rename that column in the table, and in the study when it is a dimension of the model",
        );
    }
    let mut problems: Problems = check.finish();
    // Here a path is relative to where the command runs, as everywhere in a shell.
    for problem in &mut problems.0 {
        for remedy in &mut problem.remedies {
            if remedy.starts_with("paths are relative") {
                *remedy = "give --at the path of a table".to_owned();
            }
            if remedy.starts_with("add `planar = true`") {
                *remedy = remedy.replace("`planar = true`", "`--planar`");
            }
        }
    }
    problems.or(())?;
    let places = places.context("no places to predict at")?;
    spare(args)?;
    if let Some(output) = &args.output {
        writable(std::slice::from_ref(output))?;
    }
    let scale = scale(args.scale);
    let mut parts = Vec::new();
    for output in outputs {
        let mut places = places.clone();
        places.output = output;
        let reason = engine::not_truncated(&posterior, &places, scale);
        if let (true, Some(reason)) = (args.non_negative, reason) {
            let problem = Problem::new(format!("`--non-negative` does nothing here: {reason}"));
            return Err(Problems::from(problem.remedy("leave it out")).into());
        }
        let said = engine::is_non_negative(&posterior) && reason.is_none();
        let non_negative = args.non_negative || said;
        if chances.draws > 0 && non_negative {
            anyhow::bail!("{NOT_TRUNCATED}; leave `--draws` out");
        }
        let is_response = scale == Scale::Response;
        if chances.draws > 0 && is_response && engine::reports_probabilities(&posterior, &places) {
            anyhow::bail!("{NO_PROBABILITIES}; add `--scale latent`");
        }
        let wanted = Wanted {
            scale,
            level: args.level,
            non_negative,
            chances: chances.clone(),
        };
        let answer = engine::predict(&posterior, &places, &wanted)?;
        parts.push((places, answer));
    }
    let wanted = parts.iter().map(|(places, _)| (places, chances.draws));
    let wanted: Vec<(&Places, usize)> = wanted.filter(|(_, draws)| *draws > 0).collect();
    let drawn = engine::draw(&posterior, scale, &wanted, args.seed)?;
    for ((_, answer), draws) in parts.iter_mut().zip(drawn) {
        answer.draws = draws;
    }
    let parts: Vec<(&Places, &engine::Answer)> = parts.iter().map(|(p, a)| (p, a)).collect();
    let heavy = parts.iter().filter_map(|(_, answer)| heavy(answer));
    for warning in warnings.into_iter().chain(heavy).filter(|_| !args.quiet) {
        eprintln!("warning: {warning}");
    }
    let summary = posterior.summary();
    if !summary.converged && !args.quiet {
        let mut reasons = summary.warnings.iter();
        let reason = reasons.find(|w| w.contains("did not converge"));
        let reason = reason.map_or("its hyperparameters are not at their best", String::as_str);
        eprintln!(
            "warning: `{}` is of a fit that was not over: {}",
            args.model.display(),
            reason
        );
    }
    // All outputs are asked for at the same places.
    let far = parts.first().map_or(&[][..], |(_, answer)| &answer.far);
    if !far.is_empty() && !args.quiet {
        let rows = count(far.len(), "row");
        eprintln!(
            "warning: {rows} of {} far outside the data, first row {}",
            places.len(),
            far[0] + 1
        );
    }
    match &args.output {
        Some(path) => {
            let mut staged = Staged::new();
            staged.write(path, |out| match wants_geo(args) {
                true => parts.iter().try_for_each(|(places, answer)| {
                    prediction_csv::write_geo(out, places, answer)
                }),
                false => prediction_csv::write(out, &parts),
            })?;
            staged.finish()?;
            if args.quiet {
                return Ok(());
            }
            print(&format!(
                "wrote {}: {}\n",
                path.display(),
                count(parts.len() * places.len(), "row")
            ))
        }
        None => prediction_csv::write(&mut std::io::stdout().lock(), &parts),
    }
}

/// The outputs to answer for: that of `--of`, else all.
fn asked_outputs(posterior: &engine::Posterior, of: Option<&str>) -> Result<Vec<Option<String>>> {
    let known = posterior.outputs();
    match of {
        None if known.is_empty() => Ok(vec![None]),
        None => Ok(known.iter().cloned().map(Some).collect()),
        Some(name) if known.iter().any(|k| k == name) => Ok(vec![Some(name.to_owned())]),
        Some(name) if known.is_empty() => {
            anyhow::bail!("the model has one output, without a name; leave `--of {name}` out")
        }
        Some(name) => anyhow::bail!(
            "the model has no output `{name}`; its outputs are {}",
            crate::suggest::list(known)
        ),
    }
}

/// The probabilities that the flags ask for.
fn asked_chances(
    args: &Predict,
    posterior: &engine::Posterior,
    outputs: &[Option<String>],
) -> Result<Chances> {
    let mut above: Vec<f64> = Vec::new();
    for &limit in &args.above {
        if above.contains(&limit) {
            anyhow::bail!("the limit {limit} is given twice; give each limit once");
        }
        above.push(limit);
    }
    let draws = args.draws.map_or(0, |draws| usize::from(draws.get()));
    if draws > MOST_DRAWS {
        anyhow::bail!("--draws takes 1 to {MOST_DRAWS}, not {draws}");
    }
    if draws > 0 && args.scale == ScaleWord::Observation {
        anyhow::bail!("{NOT_OBSERVED}; leave `--scale observation` or `--draws` out");
    }
    if !args.ranks {
        return Ok(Chances {
            above,
            ranks: 0,
            draws,
        });
    }
    let of = |output: Option<&str>| engine::ranks(posterior, output);
    let told = outputs
        .iter()
        .map(|output| (output.as_deref(), of(output.as_deref())));
    let ranks = one_count(told).map_err(|(_, message)| {
        let has_ranks = posterior
            .outputs()
            .iter()
            .any(|name| of(Some(name)).is_some());
        let remedy = match has_ranks {
            true => "name one output that has ranks with `--of`",
            false => "leave `--ranks` out",
        };
        anyhow::anyhow!("{message}; {remedy}")
    })?;
    if args.scale != ScaleWord::Observation {
        anyhow::bail!("{OBSERVED}; add `--scale observation`");
    }
    Ok(Chances {
        above,
        ranks,
        draws,
    })
}

/// Whether the output is to be GeoJSON.
fn wants_geo(args: &Predict) -> bool {
    args.output.as_deref().is_some_and(is_geo)
}

fn scale(word: ScaleWord) -> Scale {
    match word {
        ScaleWord::Latent => Scale::Latent,
        ScaleWord::Response => Scale::Response,
        ScaleWord::Observation => Scale::Observation,
    }
}

/// The support that the flags describe, and the flags as a text that problems can point into.
fn described(args: &Predict) -> (Source, Support, Spanned<String>) {
    let mut text = format!("quadrat predict {}", args.model.display());
    let word = |text: &mut String, before: &str, word: &str| {
        text.push_str(before);
        let start = text.len();
        text.push_str(word);
        Spanned {
            value: word.to_owned(),
            span: start..text.len(),
        }
    };
    // A path that is not UTF-8 is shown, and then not found, with a replacement character.
    let at = word(&mut text, " --at ", &args.at.to_string_lossy());
    let start = text.len();
    let words = |text: &mut String, before: &str, list: &[String]| -> Vec<Spanned<String>> {
        let each = list.iter().enumerate();
        each.map(|(i, item)| word(text, if i == 0 { before } else { "," }, item))
            .collect()
    };
    let of_region = words(&mut text, " --region ", &args.region);
    let of_bag = words(&mut text, " --bag ", &args.bag);
    let key = args.key.as_ref().map(|key| word(&mut text, " --key ", key));
    let weight = args.weight.as_ref();
    let weight = weight.map(|weight| word(&mut text, " --weight ", weight));
    if args.planar {
        text.push_str(" --planar");
    }
    let span = start + 1..text.len().max(start + 1);
    let shape = if !of_region.is_empty() {
        Some(Shape::Region(RegionKeys {
            file: None,
            key,
            dims: of_region,
            planar: args.planar,
            span,
        }))
    } else {
        key.filter(|_| !of_bag.is_empty()).map(|key| {
            Shape::Bag(BagKeys {
                file: at.clone(),
                key,
                dims: of_bag,
                weight,
                span,
            })
        })
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
        Some(Aggregation::Sum) if shape.is_some() || !args.boxes.is_empty() => Some(Aggregate::Sum),
        Some(Aggregation::Mean) if shape.is_some() || !args.boxes.is_empty() => {
            Some(Aggregate::Mean)
        }
        _ => None,
    };
    text.push_str(&further(args));
    let span: Range<usize> = 0..text.len();
    let source = Source {
        name: "command line".to_owned(),
        text: text.into(),
    };
    (
        source,
        Support {
            shape,
            dims,
            aggregate,
            span,
        },
        at,
    )
}

/// The other flags, which no problem points into.
fn further(args: &Predict) -> String {
    fn named(word: &impl ValueEnum) -> String {
        let value = word.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
    let mut text = String::new();
    let mut flag = |name: &str, value: String| text.push_str(&format!(" {name} {value}"));
    if let Some(aggregate) = &args.aggregate {
        flag("--aggregate", named(aggregate));
    }
    if args.scale != ScaleWord::Response {
        flag("--scale", named(&args.scale));
    }
    if args.level != LEVEL {
        flag("--level", args.level.to_string());
    }
    if !args.above.is_empty() {
        let limits: Vec<String> = args.above.iter().map(f64::to_string).collect();
        flag("--above", limits.join(","));
    }
    if let Some(of) = &args.of {
        flag("--of", of.clone());
    }
    if let Some(output) = &args.output {
        flag("-o", output.display().to_string());
    }
    if let Some(draws) = args.draws {
        text.push_str(&format!(" --draws {draws}"));
        if args.seed != 0 {
            text.push_str(&format!(" --seed {}", args.seed));
        }
    }
    if args.ranks {
        text.push_str(" --ranks");
    }
    if args.non_negative {
        text.push_str(" --non-negative");
    }
    if args.quiet {
        text.push_str(" --quiet");
    }
    text
}

/// The support must have exactly the inputs of the model.
fn suits(check: &Check<'_>, support: &Support, dims: &[String], aggregate: Option<Aggregation>) {
    let inputs = crate::suggest::list(dims);
    let given: Vec<&Spanned<String>> = support.names().collect();
    for (i, dim) in given.iter().enumerate() {
        let name = &dim.value;
        if !dims.contains(name) {
            let near = crate::suggest::nearest(name, dims.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let message = format!("the model has no input `{name}`{hint}");
            check.refuse(&dim.span, message, format!("its inputs are {inputs}"));
        } else if given[..i].iter().any(|earlier| &earlier.value == name) {
            check.refuse(
                &dim.span,
                format!("`{name}` is given twice"),
                "give each input once",
            );
        }
    }
    for dim in dims
        .iter()
        .filter(|dim| !given.iter().any(|given| &given.value == *dim))
    {
        let remedy = format!(
            "add `--point {dim}` or `--box {dim}=LO,HI`, or name it in `--region` or `--bag`; the inputs are {inputs}"
        );
        check.refuse(
            &support.span,
            format!("the model's input `{dim}` is not given"),
            remedy,
        );
    }
    let has_width = support.has_boxes() || support.shape.is_some();
    if let Some(Shape::Region(region)) = &support.shape
        && region.dims.len() != 2
    {
        check.refuse(
            &region.span,
            format!(
                "a region extends over two dimensions, not {}",
                region.dims.len()
            ),
            "such as `--region lon,lat`",
        );
    }
    if let (Some(Shape::Bag(bag)), true) = (&support.shape, !support.dims.is_empty()) {
        check.refuse(
            &bag.span,
            "`--bag` takes every bag of the file once, so nothing else can be given",
            "name all inputs in `--bag`",
        );
    }
    if !has_width && aggregate.is_some() {
        check.refuse(
            &support.span,
            "a point has neither a total nor an average, so --aggregate has no meaning",
            "leave --aggregate out, or give boxes with `--box`",
        );
    }
    if has_width && support.aggregate.is_none() {
        check.refuse(
            &support.span,
            "boxes, regions and bags need --aggregate",
            "add `--aggregate sum` or `--aggregate mean`",
        );
    }
}

/// Regions must be planar when those of the model were, and not otherwise.
fn same_map(check: &Check<'_>, support: &Support, geographic: Option<&Geographic>) {
    if let Some(Shape::Region(region)) = &support.shape {
        let names: Vec<&String> = region.dims.iter().map(|dim| &dim.value).collect();
        match geographic {
            Some(geographic) if region.planar => check.refuse(
                &region.span,
                format!(
                    "the model was fitted in longitude and latitude ({})",
                    geographic.words()
                ),
                "leave --planar out",
            ),
            Some(geographic) if names != geographic.dims.each_ref() => check.refuse(
                &region.span,
                "these are not the longitude and latitude of the model",
                format!("write `--region {}`", geographic.dims.join(",")),
            ),
            None if !region.planar => check.refuse(
                &region.span,
                "the model was not fitted in longitude and latitude",
                "add `--planar` to take the numbers of the file as they are",
            ),
            _ => {}
        }
    }
    if let Some(geographic) = geographic {
        together(check, geographic, support);
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
