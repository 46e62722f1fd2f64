//! A checked study with its tables read: everything that can be refused without computing is refused here.

mod bags;
mod degrees;
mod files;
mod inputs;
mod join;
mod observed;
mod read;
mod regions;
mod reports;
mod rows;
mod scales;

use std::sync::Arc;

use crate::diagnostic::Problems;
use crate::engine::Wanted;
use crate::geographic::Geographic;
use crate::places::Places;
use crate::study::fields::Check;
use crate::study::support::{Extent, Support};
use crate::study::{NonNegative, Predict, Scale, Study, Where};
use degrees::degrees;
pub use files::Files;
pub use inputs::together;
use inputs::{Inputs, dims, usable};
pub use observed::Observed;
use read::observed;
pub use read::{read_places, shapes};
use rows::too_many_rows;
use scales::{behind_a_link, new_rows_have_noise};

/// The most rows exact inference on a dense matrix takes: 20,000 rows are 3.2 GB for each matrix.
pub const DENSE_ROWS: usize = 20_000;

/// What constraints cost (study `binned-privacy-ages`).
const TOO_NARROW: &str = "constraints make intervals too narrow: on histograms, 95 % intervals held about three quarters of the truth; `non_negative = \"truncate\"` held more than 90 %";

/// A study whose tables were read and agree with it.
#[derive(Debug)]
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
    /// Whether it is truncated at zero.
    pub non_negative: bool,
}

impl Asked {
    /// What is wanted at the places.
    pub fn wanted(&self) -> Wanted {
        Wanted {
            scale: self.scale,
            level: self.level,
            non_negative: self.non_negative,
        }
    }
}

/// Reads the tables of a study and checks everything against everything.
pub fn resolve(study: Study) -> Result<Resolved, Problems> {
    let check = Check::new(&study.source);
    let mut files = Files::new(&check, &study.folder, &study.shown);
    let geographic = degrees::pair(&files, &study);
    files.geographic.clone_from(&geographic);
    let (dims, all_known) = dims(&study, &check);
    let inputs = Inputs {
        dims: &dims,
        all_known,
        geographic: geographic.as_deref(),
    };
    let mut warnings = Vec::new();
    let mut tables = Vec::new();
    for observe in &study.observe {
        usable(&check, &inputs, &observe.support, &mut warnings);
        if let Some(table) = observed(&files, observe, study.link(), &mut warnings) {
            tables.push(table);
        }
    }
    let predictions = study
        .predict
        .iter()
        .filter_map(|p| asked(&files, &inputs, (&study, p), &mut warnings))
        .collect();
    if tables.len() == study.observe.len() {
        too_many_rows(&check, &study, &tables);
        new_rows_have_noise(&check, &study, &tables);
    }
    behind_a_link(&check, &study);
    if study.non_negative() == Some(NonNegative::Constrain) {
        warnings.push(TOO_NARROW.to_owned());
    }
    warnings.extend(files.warnings());
    let problems = check.finish();
    problems.or(())?;
    for table in &mut tables {
        keep_dims(&mut table.places, &dims);
    }
    reports::soften(&mut tables);
    warnings.dedup();
    Ok(Resolved {
        study,
        tables,
        predictions,
        geographic,
        warnings,
    })
}

fn asked(
    files: &Files<'_>,
    inputs: &Inputs<'_>,
    (study, predict): (&Study, &Predict),
    warnings: &mut Vec<String>,
) -> Option<Asked> {
    let check = files.check;
    let places = match &predict.place {
        Where::Grid { axes, aggregate } => {
            let support = Support {
                shape: None,
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
            let places = Places::grid(axes, *aggregate, files.geographic.clone());
            if let Some((lon, lat)) = places.pair() {
                let ((a, b), (c, d)) = (ends(&axes[lon].1), ends(&axes[lat].1));
                if let Err((fact, which)) = degrees(a, c).and_then(|()| degrees(b, d)) {
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
            read_places(files, (&table, file), support)?
        }
        Where::File {
            file: None,
            support,
        } => {
            usable(check, inputs, support, warnings);
            let shapes = shapes(files, support, None, false)?;
            Places::from_columns(support, Vec::new(), shapes, files.geographic.clone())
        }
    };
    if let Some(name) = crate::prediction_csv::property_clash(&places) {
        let span = &predict.name.span;
        let message = format!(
            "the features have a property `{name}` already, which would be that of the prediction"
        );
        check.refuse(span, message, "rename or remove that property in the file");
    }
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
        non_negative: study.is_truncated(predict),
    })
}

fn ends(axis: &crate::grid::Axis) -> (f64, f64) {
    (axis.from, axis.to)
}

/// Drops dimensions that the model does not use.
fn keep_dims(places: &mut Places, dims: &[String]) {
    places.dims.retain(|dim| dims.contains(&dim.name));
}
