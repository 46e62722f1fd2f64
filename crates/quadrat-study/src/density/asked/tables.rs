//! The `[[predict]]` of the study of a density: places that are read and suit it.

use super::{Named, Wanted, Which, suits, which, with_quantiles};
use crate::answer::Chances;
use crate::diagnostic::Problems;
use crate::places::Places;
use crate::prediction_csv;
use crate::resolve::{Files, read_places, shapes, with_table, without_table};
use crate::study::DensityStudy;
use crate::study::fields::Check;
use crate::study::shape::Shape;
use crate::study::support::Support;
use crate::study::{Predict, Where};

/// Draws times rows that are written at most.
const MOST_NUMBERS: usize = 10_000_000;

/// One prediction to make.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    pub places: Places,
    pub which: Which,
    pub wanted: Wanted,
}

/// Reads them all.
///
/// # Arguments
/// * `groups` - names of the groups
///
/// # Returns
/// With what was noticed in the files.
///
/// # Errors
/// Places that do not suit the density.
pub fn tables(
    study: &DensityStudy,
    named: Named<'_>,
    groups: &[String],
) -> Result<(Vec<Table>, Vec<String>), Problems> {
    let check = Check::new(&study.written.source);
    let files = Files::new(&check, &study.written.folder, &study.written.shown);
    let of = |predict: &Predict| table(&files, (study, named, groups), predict);
    let found: Vec<Table> = study.predict.iter().filter_map(of).collect();
    let warnings = files.warnings();
    check.finish().or(())?;
    Ok((found, warnings))
}

fn table(
    files: &Files<'_>,
    (study, named, groups): (&DensityStudy, Named<'_>, &[String]),
    predict: &Predict,
) -> Option<Table> {
    let check = files.check;
    let quantiles = (!predict.quantiles.is_empty()).then_some(&predict.quantile_span);
    let mut opened = None;
    let places = match &predict.place {
        Where::Grid { axes, aggregate } => {
            let support = Support::of_grid(axes, *aggregate, &predict.name.span);
            suits(check, named, &support, quantiles);
            let mut places = Places::grid(axes, *aggregate, None);
            without_table(files, &predict.beside, &mut places)?;
            places
        }
        Where::File {
            file: Some(file),
            support,
        } => {
            let support = planar(support);
            suits(check, named, &support, quantiles);
            let table = opened.insert(files.table(file)?);
            let add = |places: &mut Places| with_table(files, table, &predict.beside, places);
            read_places(files, (table, file), &support, add)?
        }
        Where::File {
            file: None,
            support,
        } => {
            let support = planar(support);
            suits(check, named, &support, quantiles);
            let shapes = shapes(files, &support, None, false)?;
            let mut places = Places::from_columns(&support, Vec::new(), shapes, None);
            without_table(files, &predict.beside, &mut places)?;
            places
        }
        // Refused with the keys.
        Where::Rows { .. } => return None,
    };
    let table = opened.as_ref().filter(|_| places.shapes.is_none());
    let which = which(check, named, groups, predict.output.as_ref(), table)?;
    let which = match which {
        Which::OfRow(rows) => Which::OfRow(repeated(&rows, predict.quantiles.len())),
        other => other,
    };
    let chances = Chances {
        above: predict.above.clone(),
        draws: predict.draws.as_ref().map_or(0, |draws| draws.value),
        ..Chances::default()
    };
    let places = with_quantiles(places, &predict.quantiles);
    if chances.draws.saturating_mul(places.len()) > MOST_NUMBERS {
        let span = predict
            .draws
            .as_ref()
            .map_or(&predict.name.span, |d| &d.span);
        let message = format!("draws of {} rows are too many to write", places.len());
        check.refuse(span, message, "ask for fewer draws, or fewer places");
        return None;
    }
    if let Some(name) = clash(&places, &chances, named.group) {
        let message = format!("the table of this prediction would have two columns named `{name}`");
        check.refuse(
            &predict.name.span,
            message,
            "leave it out of `keep`, or rename it",
        );
        return None;
    }
    Some(Table {
        name: predict.name.value.clone(),
        places,
        which,
        wanted: Wanted {
            level: predict.level,
            chances,
            seed: study.args.seed,
        },
    })
}

/// A name that would head two columns, with that of the groups before all.
pub fn clash(places: &Places, chances: &Chances, group: Option<&str>) -> Option<String> {
    let header = prediction_csv::header(places, &chances.all_columns());
    let own = group.filter(|group| header.iter().any(|name| name == group));
    own.map(str::to_owned)
        .or_else(|| prediction_csv::clash(places, chances))
}

/// Each number as often as there are quantiles.
pub fn repeated(rows: &[usize], times: usize) -> Vec<usize> {
    let of = |row: &usize| std::iter::repeat_n(*row, times.max(1));
    rows.iter().flat_map(of).collect()
}

/// The coordinates of regions are those of the columns.
pub fn planar(support: &Support) -> Support {
    let mut out = support.clone();
    if let Some(Shape::Region(region)) = &mut out.shape {
        region.planar = true;
    }
    out
}
