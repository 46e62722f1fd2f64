//! A checked study with its tables read: everything that can be refused without computing is refused here.

mod inputs;
mod read;
mod rows;

use crate::diagnostic::Problems;
use crate::places::Places;
use crate::study::fields::Check;
use crate::study::support::{Extent, Support};
use crate::study::{Predict, Scale, Study, Where};
use crate::table::Table;
use inputs::{Inputs, dims, usable};
pub use read::read_places;
use read::{observed, open};
use rows::{new_rows_have_noise, too_many_rows};

/// The most rows exact inference on a dense matrix takes: 20,000 rows are 3.2 GB for each matrix.
pub const DENSE_ROWS: usize = 20_000;

/// A study whose tables were read and agree with it.
#[derive(Debug)]
pub struct Resolved {
    /// The study.
    pub study: Study,
    /// The tables, in order.
    pub tables: Vec<Observed>,
    /// The predictions, in order.
    pub predictions: Vec<Asked>,
    /// What people should know.
    pub warnings: Vec<String>,
}

/// One table of observations.
#[derive(Debug)]
pub struct Observed {
    /// The table, for finding rows again.
    pub table: Table,
    /// Where its rows looked.
    pub places: Places,
    /// What they reported.
    pub values: Vec<f64>,
    /// Known variances.
    pub known: Option<Vec<f64>>,
    /// Whether a variance is learned.
    pub learned: bool,
    /// Whether the learned one is that of the first table.
    pub share_noise: bool,
    /// The header of the values.
    pub value_name: String,
    /// Row of the table for each row kept; empty when all were.
    pub kept: Vec<usize>,
}

/// One prediction to make.
#[derive(Debug)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// Where.
    pub places: Places,
    /// What for.
    pub scale: Scale,
    /// Probability of the interval.
    pub level: f64,
}

impl Observed {
    /// Where a kept row stands: "ages.csv:7".
    pub fn address(&self, row: usize) -> String {
        self.table
            .row_address(self.kept.get(row).copied().unwrap_or(row))
    }
}

/// Reads the tables of a study and checks everything against everything.
pub fn resolve(study: Study) -> Result<Resolved, Problems> {
    let check = Check::new(&study.source);
    let (dims, all_known) = dims(&study, &check);
    let inputs = Inputs {
        dims: &dims,
        all_known,
    };
    let mut warnings = Vec::new();
    let mut tables = Vec::new();
    for observe in &study.observe {
        usable(&check, &inputs, &observe.support, &mut warnings);
        if let Some(table) = observed(&check, &study, observe, &mut warnings) {
            tables.push(table);
        }
    }
    let predictions = study
        .predict
        .iter()
        .filter_map(|p| asked(&check, &study, &inputs, p, &mut warnings))
        .collect();
    if tables.len() == study.observe.len() {
        too_many_rows(&check, &study, &tables);
        new_rows_have_noise(&check, &study, &tables);
    }
    let problems = check.finish();
    problems.or(())?;
    for table in &mut tables {
        keep_dims(&mut table.places, &dims);
    }
    warnings.dedup();
    Ok(Resolved {
        study,
        tables,
        predictions,
        warnings,
    })
}

fn asked(
    check: &Check<'_>,
    study: &Study,
    inputs: &Inputs<'_>,
    predict: &Predict,
    warnings: &mut Vec<String>,
) -> Option<Asked> {
    let places = match &predict.place {
        Where::Grid { axes, aggregate } => {
            let support = Support {
                dims: axes
                    .iter()
                    .map(|(name, axis)| crate::study::support::Dim {
                        name: name.clone(),
                        extent: if axis.cells {
                            Extent::Edges(name.clone(), name.clone())
                        } else {
                            Extent::Point
                        },
                    })
                    .collect(),
                aggregate: *aggregate,
                span: axes
                    .first()
                    .map_or(predict.name.span.clone(), |(name, _)| name.span.clone()),
            };
            usable(check, inputs, &support, warnings);
            Places::grid(axes, *aggregate)
        }
        Where::File { file, support } => {
            usable(check, inputs, support, warnings);
            let table = open(check, study, file)?;
            read_places(check, &table, support)?
        }
    };
    if let Some(name) = crate::prediction_csv::clash(&places) {
        check.refuse(
            &predict.name.span,
            format!("the table of this prediction would have two columns named `{name}`"),
            "rename that column in the tables and in the study",
        );
    }
    Some(Asked {
        name: predict.name.value.clone(),
        places,
        scale: predict.scale,
        level: predict.level,
    })
}

/// Drops dimensions that the model does not use.
fn keep_dims(places: &mut Places, dims: &[String]) {
    places.dims.retain(|dim| dims.contains(&dim.name));
}
