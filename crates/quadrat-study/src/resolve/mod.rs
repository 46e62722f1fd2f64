//! A checked study with its tables read: everything that can be refused without computing is
//! refused here.

mod amounts;
mod apart;
mod asked;
mod bags;
mod behind;
mod choose;
mod clashes;
mod columns;
mod constant;
mod cover;
mod cumulative;
mod degrees;
mod draws;
mod empty;
mod files;
mod fill;
mod inputs;
mod join;
mod labels;
mod meet;
mod missing;
mod observed;
mod outputs;
mod projection;
mod ranks;
mod read;
mod regions;
mod remarks;
mod reports;
mod rows;
mod scales;
mod shapes;
mod slots;
mod sparse;
mod summary;
mod varying;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use quadrat::model::Model;

use crate::answer::Chances;
use crate::codes::Codes;
use crate::diagnostic::Problems;
use crate::geographic::{Geographic, check_degrees};
use crate::places::{Along, Places};
use crate::prediction_csv;
use crate::run_id;
use crate::study::fields::Check;
use crate::study::support::Support;
use crate::study::{NonNegative, Observe, Output, Predict, Study, Where, links};
pub use amounts::{amounts_suit, with_table, without_table};
use apart::names_apart;
pub use asked::Asked;
use asked::reporting;
pub use behind::RowsAsked;
pub use choose::names;
use choose::{chosen, new_rows_have_noise, shared_noise};
use clashes::no_column_twice;
use constant::constant_inputs;
pub use draws::{MOST_POINTS, NOT_OBSERVED, NOT_TRUNCATED};
pub use files::Files;
pub use inputs::together;
use inputs::{Inputs, dims, usable};
pub use meet::MeetAsked;
pub use observed::Observed;
use outputs::{Said, outputs};
use ranks::ranked;
pub use ranks::{OBSERVED, one_count};
use read::observed;
pub use read::{read_places, shapes};
pub use reports::soften;
pub use rows::DENSE_ROWS;
use rows::{open_rows, too_many_rows};
pub use scales::SUMMED;
use scales::behind_a_link;
use varying::varying_rows;

/// What constraints cost (study `binned-privacy-ages`).
const TOO_NARROW: &str = "constraints make intervals too narrow: on histograms, 95 % intervals held about three quarters of the truth; `non_negative = \"truncate\"` held more than 90 %";

/// A study whose tables were read and agree with it.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The study.
    pub study: Study,
    /// The tables, in order.
    pub tables: Vec<Observed>,
    /// The predictions, in order.
    pub predictions: Vec<Asked>,
    /// Longitude and latitude, when some regions are in them.
    pub geographic: Option<Arc<Geographic>>,
    /// What people should know.
    pub warnings: Vec<String>,
    /// The outputs, in order of appearance; empty where there is one without a name.
    pub outputs: Vec<String>,
    /// The inducing points of sparse inference, where the study gives them.
    pub inducing: Option<Places>,
    /// The labels of the inputs that hold some.
    pub codes: Codes,
    /// The number of the run.
    pub run: String,
    /// The model with the rows that follow from others, where some were left out.
    pub whole: Option<Model>,
}

impl Resolved {
    /// The files that the study reads, but itself.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let files = run_id::files(&self.study).into_iter();
        files.map(|file| self.study.folder.join(file)).collect()
    }

    /// The tables of an output.
    pub fn tables_of<'a>(&'a self, output: Option<&'a str>) -> impl Iterator<Item = &'a Observed> {
        let own = move |table: &&Observed| table.places.output.as_deref() == output;
        self.tables.iter().filter(own)
    }

    /// The table that a prediction is about: where it had none to choose, the first that does more
    /// than bound the values.
    pub fn reporting(&self, asked: &Asked) -> Option<&Observed> {
        reporting(&self.tables, asked)
    }
}

/// What a study says of its outputs.
fn said_of_outputs(study: &Study) -> Said<'_> {
    let of = |observe: &Observe| match &observe.output {
        Output::Named(name) | Output::Column(name) => name.span.clone(),
        Output::Only => observe.span.clone(),
    };
    let mixing = &study.coregionalization;
    Said {
        kernel: (&study.latent.outputs, &study.latent.kernel.span),
        tables: study.observe.iter().map(of).collect(),
        rank: (mixing.rank, mixing.rank_span.as_ref()),
    }
}

/// Refuses tables that turn out to be of one output, which a column names, and cannot share its
/// function.
fn links_of_columns(check: &Check<'_>, study: &Study, tables: &[Observed], outputs: &[String]) {
    for output in outputs {
        let own = |table: &&Observed| table.places.output.as_ref() == Some(output);
        let own: Vec<&Observe> = tables
            .iter()
            .filter(own)
            .filter_map(|table| study.observe.get(table.of))
            .collect();
        let is_named = |table: &&Observe| matches!(table.output, Output::Named(_));
        // Those that are named have been looked at before any table was read.
        if !own.iter().all(is_named)
            && !links::share_a_function(check, study.latent.link.as_ref(), &own)
        {
            return;
        }
    }
}

/// A prediction once for every output that is asked for.
fn of_outputs(
    check: &Check<'_>,
    predict: &Predict,
    asked: Asked,
    outputs: &[String],
) -> Vec<Asked> {
    if let Some(name) = &predict.output
        && !outputs.contains(&name.value)
    {
        let message = format!("there is no output `{}`", name.value);
        let remedy = match outputs {
            [] => "leave `output` out: the tables do not name any".to_owned(),
            all => format!("the outputs are {}", crate::suggest::list(all)),
        };
        check.refuse(&name.span, message, remedy);
        return Vec::new();
    }
    if outputs.is_empty() {
        return vec![asked];
    }
    let wanted = |output: &&String| predict.output.as_ref().is_none_or(|o| &o.value == *output);
    let one = |output: &String| {
        let mut places = asked.places.clone();
        places.output = Some(output.clone());
        let clash = prediction_csv::clash(&places, &asked.chances);
        if clash.is_some_and(|name| name == prediction_csv::OUTPUT) {
            let message = format!(
                "the table of this prediction would have two columns named `{}`",
                prediction_csv::OUTPUT
            );
            check.refuse(
                &predict.name.span,
                message,
                "rename that column in the tables and in the study",
            );
        }
        Asked {
            name: asked.name.clone(),
            id: asked.id.clone(),
            like: asked.like.clone(),
            chances: asked.chances.clone(),
            rows: asked.rows.clone(),
            meet: asked.meet.clone(),
            places,
            ..asked
        }
    };
    outputs.iter().filter(wanted).map(one).collect()
}

/// Reads the tables of a study and checks everything against everything.
pub fn resolve(mut study: Study) -> Result<Resolved, Problems> {
    let mut warnings = Vec::new();
    summary::filled(&mut study, &mut warnings)?;
    let check = Check::new(&study.source);
    let mut files = Files::new(&check, &study.folder, &study.shown);
    let geographic = projection::pair(&files, &study);
    files.geographic.clone_from(&geographic);
    let labels = study.labels();
    files.codes.replace(Codes::of(&labels));
    let (dims, all_known) = dims(&study, &check);
    let inputs = Inputs {
        of_kernel: study.latent.of_kernel(),
        dims: &dims,
        all_known,
        geographic: geographic.as_deref(),
        labels: &labels,
    };
    let mut tables = Vec::new();
    let mut unread = false;
    for (of, observe) in study.observe.iter().enumerate() {
        usable(&check, &inputs, &observe.support, &mut warnings);
        match observed(&files, (of, observe), study.link_of(observe), &mut warnings) {
            Some(parts) => tables.extend(parts),
            None => unread = true,
        }
    }
    let outputs = outputs(&check, &said_of_outputs(&study), &tables, unread);
    links_of_columns(&check, &study, &tables, &outputs);
    let inducing = sparse::inducing(&files, &study, &inputs, &mut warnings);
    let mut predictions: Vec<Asked> = study
        .predict
        .iter()
        .enumerate()
        .flat_map(|(of, p)| match &p.place {
            // What is wrong with the tables is said already.
            Where::Rows { .. } if unread => Vec::new(),
            Where::Rows { file, by } => {
                rows::asked(&files, (&study, of, p), (file, by.as_deref()), &tables)
            }
            _ => match asked(&files, &inputs, (&study, of, p), &mut warnings) {
                Some(asked) => of_outputs(&check, p, asked, &outputs),
                None => Vec::new(),
            },
        })
        .collect();
    let named = predictions.iter();
    let named = named.map(|p| (p.name.as_str(), p.places.output.as_deref()));
    let apart = names_apart(&named.collect::<Vec<_>>());
    for (asked, id) in predictions.iter_mut().zip(apart) {
        asked.id = id.unwrap_or_else(|| std::mem::take(&mut asked.id));
    }
    if !unread {
        too_many_rows(&check, &study, &tables);
        open_rows(&check, &study, &tables, &mut warnings);
        constant_inputs(&tables, &dims, &mut warnings);
        missing::codes(&tables, &dims, &mut warnings);
        warnings.extend(cover::warnings(&tables));
        varying_rows(&check, &study, &tables);
        shared_noise(&check, &study, &tables);
        chosen(&check, &study, &tables, &mut predictions, &mut warnings);
        new_rows_have_noise(&check, &study, &tables, &predictions);
        behind_a_link(&check, &study, &tables, &predictions);
        ranked(&check, &study, &tables, &mut predictions);
        amounts::suit(&check, &study, &tables, &predictions);
        draws::suits(&check, &study, &tables, &predictions);
        sparse::suits(&check, &study, &tables, inducing.as_ref());
        shapes::suit(&check, &study, (&tables, &predictions), &mut warnings);
    }
    if study.non_negative() == Some(NonNegative::Constrain) {
        warnings.push(TOO_NARROW.to_owned());
    }
    let codes = files.codes.take();
    warnings.extend(files.warnings());
    let problems = check.finish();
    problems.or(())?;
    for table in &mut tables {
        let spare = keep_dims(&mut table.places, &dims);
        table.spare.extend(spare);
    }
    soften(&mut tables);
    let mut said = HashSet::new();
    warnings.retain(|warning| said.insert(warning.clone()));
    Ok(Resolved {
        run: run_id::of(&study)?,
        study,
        tables,
        predictions,
        geographic,
        warnings,
        outputs,
        inducing,
        codes,
        whole: None,
    })
}

fn asked(
    files: &Files<'_>,
    inputs: &Inputs<'_>,
    (study, of, predict): (&Study, usize, &Predict),
    warnings: &mut Vec<String>,
) -> Option<Asked> {
    let check = files.check;
    let mut met = None;
    let is_table = matches!(&predict.place, Where::File { file: Some(_), .. });
    meet::without_table(check, predict.meet.as_ref().filter(|_| !is_table));
    let places = match &predict.place {
        Where::Grid { axes, aggregate } => {
            let support = Support::of_grid(axes, *aggregate, &predict.name.span);
            usable(check, inputs, &support, warnings);
            let mut places = Places::grid(axes, *aggregate, files.geographic.clone());
            places.take_for_labels(&mut files.codes.borrow_mut());
            without_table(files, &predict.beside, &mut places)?;
            if let Some((lon, lat)) = places.pair() {
                let ((a, b), (c, d)) = (ends(&axes[lon].1), ends(&axes[lat].1));
                if let Err((fact, which)) = check_degrees(a, c).and_then(|()| check_degrees(b, d)) {
                    let (name, _) = &axes[if which == 0 { lon } else { lat }];
                    let remedy = "regions of this study are in longitude and latitude, so its grids must be too";
                    check.refuse(&name.span, fact, remedy);
                }
            }
            places
        }
        Where::File {
            file: Some(file),
            support,
        } => {
            usable(check, inputs, support, warnings);
            let table = files.table(file)?;
            let add = |places: &mut Places| {
                with_table(files, &table, &predict.beside, places)?;
                predict.meet.iter().for_each(|_| meet::number(places));
                Some(())
            };
            let mut places = read_places(files, (&table, file), support, add)?;
            if let Some(totals) = &predict.meet {
                let both = (&table, &files.table(&totals.file)?);
                let whose = (totals, predict.name.value.as_str());
                met = Some(meet::totals(check, both, whose, (&mut places, warnings))?);
            }
            places
        }
        // Rows are no places.
        Where::Rows { .. } => return None,
        Where::File {
            file: None,
            support,
        } => {
            usable(check, inputs, support, warnings);
            let shapes = shapes(files, support, None, false)?;
            let mut places =
                Places::from_columns(support, Vec::new(), shapes, files.geographic.clone());
            without_table(files, &predict.beside, &mut places)?;
            empty::sized(files, places)
        }
    };
    let chances = Chances {
        above: predict.above.clone(),
        simple: study.simple_beside(predict),
        draws: predict.draws.as_ref().map_or(0, |draws| draws.value),
        ..Chances::default()
    };
    no_column_twice(check, predict, &places, &chances);
    Some(Asked {
        meet: met,
        ..Asked::of((study, of, predict), places, chances)
    })
}

fn ends(axis: &crate::grid::Axis) -> (f64, f64) {
    (axis.from, axis.to)
}

/// Takes away dimensions that the model does not use.
fn keep_dims(places: &mut Places, dims: &[String]) -> Vec<Along> {
    let all = std::mem::take(&mut places.dims).into_iter();
    let (kept, spare) = all.partition(|dim| dims.contains(&dim.name));
    places.dims = kept;
    spare
}
