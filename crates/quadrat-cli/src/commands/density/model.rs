//! `quadrat predict` of saved models of densities.

use std::path::Path;

use anyhow::{Context, Result};
use quadrat_study::answer::{Answer, Chances};
use quadrat_study::density::asked::{
    Densities, Named, Wanted, Which, answers, clash, planar, repeated, suits, which, with_quantiles,
};
use quadrat_study::density::model::Model;
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::numbers::count;
use quadrat_study::places::Places;
use quadrat_study::prediction_csv::{self, has_regions};
use quadrat_study::resolve::Files;
use quadrat_study::study::MOST_DRAWS;
use quadrat_study::study::fields::{Check, Spanned};
use quadrat_study::table::is_geo;

use crate::args::{Predict, ScaleWord};
use crate::commands::predict::{flags, read, spare};
use crate::commands::print;
use crate::output::{Staged, writable};
use crate::terminal::warn;

/// Draws times rows that are written at most.
const MOST_NUMBERS: usize = 10_000_000;

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
    spare(args)?;
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
