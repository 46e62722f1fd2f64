//! `quadrat predict`: answers of a saved model at the rows of a table.

pub(super) mod flags;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use quadrat::density::Saved;
use quadrat::model::Limits;
use quadrat_study::answer::{Answer, Chances, Wanted};
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::files::not_a_file;
use quadrat_study::geographic::{self, Geographic};
use quadrat_study::numbers::count;
use quadrat_study::outcome::{finer, of_places};
use quadrat_study::places::Places;
use quadrat_study::prediction_csv::has_regions;
use quadrat_study::resolve::{
    Files, NOT_OBSERVED, NOT_TRUNCATED, OBSERVED, amounts_suit, one_count, read_places, shapes,
    with_table, without_table,
};
use quadrat_study::study::fields::Check;
use quadrat_study::study::shape::Shape;
use quadrat_study::study::{Beside, MOST_DRAWS, Scale};
use quadrat_study::table::is_geo;
use quadrat_study::{engine, prediction_csv, sums};

use self::flags::Described;
use super::{density, print};
use crate::args::{Predict, ScaleWord};
use crate::output::{Staged, writable};
use crate::terminal::warn;

/// Runs the command.
pub fn run(args: &Predict) -> Result<()> {
    if args.scale == ScaleWord::Row {
        anyhow::bail!(
            "what stands behind observed rows is asked in a study, by `rows = \"cells.csv\"` and `scale = \"row\"` in [[predict]]: a saved model does not keep the columns that tell its rows apart; from Rust: `Posterior::behind`"
        );
    }
    let bytes = bytes(&args.model)?;
    if Saved::is_saved(&bytes) {
        return density::model::predict(args, &bytes);
    }
    if !args.quantile.is_empty() {
        let message = "--quantile asks for quantiles of a density, and the model is of a function";
        let remedy = "leave it out: --level gives the ends of an interval";
        return Err(Problems::from(Problem::new(message).remedy(remedy)).into());
    }
    let (posterior, geographic) = read_model(&args.model, &bytes)?;
    let asked = asked(args, &posterior, geographic)?;
    spare(args)?;
    if let Some(output) = &args.output {
        writable(std::slice::from_ref(output))?;
    }
    let parts = answers(args, &posterior, &asked)?;
    if !args.quiet {
        tell(args, &posterior, &asked, &parts);
    }
    write(args, &parts)
}

/// The model, and the projection of its places.
pub(super) fn load(model: &Path) -> Result<(engine::Posterior, Option<Arc<Geographic>>)> {
    let bytes = bytes(model)?;
    if Saved::is_saved(&bytes) {
        let shown = model.display();
        let message = format!("`{shown}` is the model of a density, which has no measurements");
        let remedy = "`quadrat predict` answers from it";
        return Err(Problems::from(Problem::new(message).remedy(remedy)).into());
    }
    read_model(model, &bytes)
}

fn bytes(model: &Path) -> Result<Vec<u8>> {
    if let Some(problem) = not_a_file(model, &model.display().to_string()) {
        return Err(Problems::from(problem).into());
    }
    std::fs::read(model).with_context(|| format!("cannot read `{}`", model.display()))
}

/// The same from its bytes.
fn read_model(model: &Path, bytes: &[u8]) -> Result<(engine::Posterior, Option<Arc<Geographic>>)> {
    let posterior =
        engine::from_bytes(bytes).with_context(|| format!("cannot use `{}`", model.display()))?;
    let geographic = match posterior.note(geographic::SAVED_AS) {
        None => None,
        Some(note) => Some(Arc::new(Geographic::from_note(note).with_context(
            || format!("cannot use the projection in `{}`", model.display()),
        )?)),
    };
    Ok((posterior, geographic))
}

/// What the flags ask for.
struct Asked {
    places: Places,
    outputs: Vec<Option<String>>,
    chances: Chances,
    /// What was noticed in the files.
    warnings: Vec<String>,
}

/// Reads the places, and refuses what does not suit the model.
fn asked(
    args: &Predict,
    posterior: &engine::Posterior,
    geographic: Option<Arc<Geographic>>,
) -> Result<Asked> {
    let described = flags::described(&args.into());
    let (source, support) = (&described.source, &described.support);
    let check = Check::new(source);
    flags::suits(&check, support, posterior.dims(), &args.looks);
    flags::same_map(&check, support, geographic.as_deref());
    flags::kept_once(&check, &described.beside.keep);
    let mut files = Files::new(&check, Path::new(""), Path::new(""));
    files.geographic = geographic;
    let labels = engine::labels(posterior)?;
    flags::no_width(&check, support, &labels);
    files.codes.replace(labels);
    let mut places = read(args.at(), &files, &described);
    let warnings = files.warnings();
    let outputs = asked_outputs(posterior, args.of.as_deref())?;
    let chances = asked_chances(args, posterior, &outputs)?;
    if wants_geo(args) && outputs.len() > 1 {
        anyhow::bail!(
            "a GeoJSON file holds one output; say which one with `--of`, or write to a `.csv`"
        );
    }
    if let Some(places) = &mut places {
        places.output = outputs.first().cloned().flatten();
        can_be_written(&check, args, &described, places, &chances);
        amounts_suit_all(
            &check,
            args,
            posterior,
            (&described.beside, places),
            &outputs,
        )?;
    }
    check.finish().by_flags().or(())?;
    Ok(Asked {
        places: places.context("no places to predict at")?,
        outputs,
        chances,
        warnings,
    })
}

/// The places of the table, or the regions or bags of the file.
pub(in crate::commands) fn read(
    file: &Path,
    files: &Files<'_>,
    described: &Described,
) -> Option<Places> {
    let Described {
        support,
        at,
        beside,
        ..
    } = described;
    if matches!(support.shape, Some(Shape::Region(_))) && !is_geo(file) {
        files.check.refuse(
            &at.span,
            format!(
                "`--region` needs a GeoJSON file; `{}` is none by its name",
                file.display()
            ),
            "give --at a `.geojson`; for a table write `--point`, `--box` or `--bag`",
        );
        return None;
    }
    match (&support.shape, support.dims.is_empty()) {
        // The regions or bags are the rows.
        (Some(Shape::Bag(_)), true) => {
            let shapes = shapes(files, support, None, false)?;
            let mut places =
                Places::from_columns(support, Vec::new(), shapes, files.geographic.clone());
            without_table(files, beside, &mut places)?;
            Some(places)
        }
        _ => {
            let table = files.table(at)?;
            let add = |places: &mut Places| with_table(files, &table, beside, places);
            read_places(files, (&table, at), support, add)
        }
    }
}

/// Refuses exposures and trials where one of the outputs has none.
fn amounts_suit_all(
    check: &Check<'_>,
    args: &Predict,
    posterior: &engine::Posterior,
    (beside, places): (&Beside, &Places),
    outputs: &[Option<String>],
) -> Result<()> {
    let scale = scale(args.scale);
    for output in outputs.iter().map(Option::as_deref) {
        let table = engine::choose(posterior, output, scale, args.like.as_deref())?;
        let likelihood = engine::reporting(posterior, output, table);
        amounts_suit(check, (beside, places), (scale, likelihood));
    }
    Ok(())
}

/// Refuses places whose predictions the file that is asked for cannot hold.
fn can_be_written(
    check: &Check<'_>,
    args: &Predict,
    Described {
        support, beside, ..
    }: &Described,
    places: &Places,
    chances: &Chances,
) {
    if wants_geo(args)
        && let Some(column) = prediction_csv::property_clash(places, chances)
    {
        check.refuse(
            &support.span,
            format!("the features have a property `{column}` already, which would be that of the prediction"),
            "rename or remove that property in the file, or write to a `.csv`",
        );
    }
    if wants_geo(args) && !has_regions(places) {
        check.refuse(
            &support.span,
            "only regions can be written as GeoJSON",
            "write to a `.csv`, or give the places with `--region`",
        );
    }
    if let Some(name) = prediction_csv::clash(places, chances) {
        let kept = beside.keep.iter().find(|column| column.value == name);
        check.refuse(
            kept.map_or(&support.span, |column| &column.span),
            format!("the table of predictions would have two columns named `{name}`"),
            match kept {
                Some(_) => "leave it out of `--keep`: the table has a column of that name without it",
                None => "rename that column in the table, and in the study when it is a dimension of the model",
            },
        );
    }
}

/// Predictions of every output, and draws that belong together.
fn answers(
    args: &Predict,
    posterior: &engine::Posterior,
    asked: &Asked,
) -> Result<Vec<(Places, Answer)>> {
    let scale = scale(args.scale);
    let chances = &asked.chances;
    let mut parts = Vec::new();
    for output in &asked.outputs {
        let mut places = asked.places.clone();
        places.output.clone_from(output);
        let table = engine::choose(posterior, output.as_deref(), scale, args.like.as_deref())?;
        let reason = engine::not_truncated(posterior, &places, (scale, table));
        if let (true, Some(reason)) = (args.non_negative, reason) {
            let problem = Problem::new(format!("`--non-negative` does nothing here: {reason}"));
            return Err(Problems::from(problem.remedy("leave it out")).into());
        }
        let said = engine::is_non_negative(posterior) && reason.is_none();
        let non_negative = args.non_negative || said;
        if chances.draws > 0 && non_negative {
            anyhow::bail!("{NOT_TRUNCATED}; leave `--draws` out");
        }
        let wanted = Wanted {
            scale,
            level: args.level(),
            non_negative,
            chances: chances.clone(),
            table,
            limits: limits(posterior, scale, table)?,
        };
        let answer = engine::predict(posterior, &places, &wanted)?;
        parts.push((places, answer));
    }
    let wanted = parts.iter().map(|(places, _)| (places, chances.draws));
    let wanted: Vec<(&Places, usize)> = wanted.filter(|(_, draws)| *draws > 0).collect();
    let drawn = engine::draw(posterior, scale, &wanted, args.seed)?;
    for ((_, answer), draws) in parts.iter_mut().zip(drawn) {
        answer.draws = draws;
    }
    Ok(parts)
}

/// Warns of what a careful reader should know.
fn tell(args: &Predict, posterior: &engine::Posterior, asked: &Asked, parts: &[(Places, Answer)]) {
    let own = parts.iter();
    let own = own.flat_map(|(places, answer)| of_places(places, answer, args.level()));
    // All outputs are asked for at the same places.
    let fine = parts.first().into_iter();
    let fine = fine.flat_map(|(places, answer)| finer(answer, places.len()));
    for warning in asked.warnings.iter().cloned().chain(own).chain(fine) {
        warn(&warning);
    }
    for (places, answer) in parts {
        let address = |table: usize, row: usize| format!("row {} of table {}", row + 1, table + 1);
        // What cannot be said is no reason to lose the predictions.
        for warning in sums::warnings(posterior, places, answer, address).unwrap_or_default() {
            warn(&warning);
        }
    }
    let summary = posterior.summary();
    if !summary.converged {
        let mut reasons = summary.warnings.iter();
        let reason = reasons.find(|w| w.contains("did not converge"));
        let reason = reason.map_or("its hyperparameters are not at their best", String::as_str);
        warn(&format!(
            "`{}` is of a fit that was not over: {}",
            args.model.display(),
            reason
        ));
    }
    // All outputs are asked for at the same places.
    let far = parts.first().map_or(&[][..], |(_, answer)| &answer.far);
    if !far.is_empty() {
        let rows = count(far.len(), "row");
        warn(&format!(
            "{rows} of {} far outside the data, first row {}",
            asked.places.len(),
            far[0] + 1
        ));
    }
}

/// Writes the predictions to the file that was named, else to standard output.
fn write(args: &Predict, parts: &[(Places, Answer)]) -> Result<()> {
    let parts: Vec<(&Places, &Answer)> = parts.iter().map(|(p, a)| (p, a)).collect();
    let Some(path) = &args.output else {
        return prediction_csv::write(&mut std::io::stdout().lock(), &parts);
    };
    let mut staged = Staged::new();
    staged.write(path, |out| match wants_geo(args) {
        true => parts
            .iter()
            .try_for_each(|(places, answer)| prediction_csv::write_geo(out, places, answer)),
        false => prediction_csv::write(out, &parts),
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
            quadrat_study::suggest::list(known)
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
    if draws > 0 && scale(args.scale).is_observed() {
        anyhow::bail!("{NOT_OBSERVED}; leave `--scale observation` or `--draws` out");
    }
    if !args.ranks {
        return Ok(Chances {
            above,
            draws,
            ..Chances::default()
        });
    }
    let of = |output: Option<&str>, table| engine::ranks(posterior, output, table);
    let mut told = Vec::with_capacity(outputs.len());
    for output in outputs.iter().map(Option::as_deref) {
        let table = engine::choose(posterior, output, scale(args.scale), args.like.as_deref())?;
        told.push((output, of(output, table)));
    }
    let ranks = one_count(told.into_iter()).map_err(|(_, message)| {
        let has_ranks = posterior
            .outputs()
            .iter()
            .any(|name| of(Some(name), None).is_some());
        let remedy = match has_ranks {
            true => "name one output that has ranks with `--of`",
            false => "leave `--ranks` out",
        };
        anyhow::anyhow!("{message}; {remedy}")
    })?;
    if !scale(args.scale).is_observed() {
        anyhow::bail!("{OBSERVED}; add `--scale observation`");
    }
    Ok(Chances {
        above,
        ranks,
        draws,
        ..Chances::default()
    })
}

/// Whether the output is to be GeoJSON.
fn wants_geo(args: &Predict) -> bool {
    args.output.as_deref().is_some_and(is_geo)
}

/// Between which numbers the reports lie that are asked for.
fn limits(
    posterior: &engine::Posterior,
    scale: Scale,
    table: Option<usize>,
) -> Result<Option<Limits>> {
    let (Scale::Report, Some(table)) = (scale, table) else {
        return Ok(None);
    };
    let limits = engine::reports(posterior, table)
        .map_err(|fault| Problems::from(Problem::new(fault.message).remedy(fault.remedy)))
        .map_err(Problems::by_flags)?;
    Ok(Some(limits))
}

fn scale(word: ScaleWord) -> Scale {
    match word {
        ScaleWord::Latent => Scale::Latent,
        ScaleWord::Response => Scale::Response,
        ScaleWord::Observation => Scale::Observation,
        ScaleWord::Report => Scale::Report,
        ScaleWord::Row => Scale::Row,
    }
}

/// Refuses to write over the model or the table.
pub(in crate::commands) fn spare(args: &Predict) -> Result<(), Problems> {
    let told = ("a file that is read", "choose another file with -o");
    super::spare(&[args.at(), &args.model], args.output.as_slice(), told)
}
