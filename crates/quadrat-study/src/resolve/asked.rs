//! A prediction that was asked for, at places that were read.

use quadrat::model::Limits;

use super::behind::RowsAsked;
use super::meet::MeetAsked;
use super::observed::Observed;
use crate::answer::{Chances, Wanted};
use crate::places::Places;
use crate::prediction_csv;
use crate::study::{LEVEL, Predict, Scale, Study};

/// One prediction to make.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// Where.
    pub places: Places,
    /// What for.
    pub scale: Scale,
    /// Probability of the interval.
    pub level: f64,
    /// Which `[[predict]]` it is, or is a part of.
    pub of: usize,
    /// Whether it is truncated at zero.
    pub non_negative: bool,
    /// Which probabilities besides.
    pub chances: Chances,
    /// The table that it is about, where that matters or is the only kind.
    pub table: Option<usize>,
    /// The name of that table, where tables differ.
    pub like: Option<String>,
    /// Between which numbers that table reports, where its reports are asked for.
    pub limits: Option<Limits>,
    /// The observed rows that are asked for, if they are.
    pub rows: Option<RowsAsked>,
    /// The totals that it meets, if it meets some.
    pub meet: Option<MeetAsked>,
    /// A name of its own for files and figures: with the output, where there are several.
    pub id: String,
}

impl Asked {
    /// What a `[[predict]]` asks for at places, of no table in particular.
    pub(super) fn of(
        (study, of, predict): (&Study, usize, &Predict),
        places: Places,
        chances: Chances,
    ) -> Self {
        Self {
            name: predict.name.value.clone(),
            id: predict.name.value.clone(),
            places,
            scale: predict.scale,
            level: predict.level.unwrap_or(LEVEL),
            of,
            non_negative: study.is_truncated(predict),
            chances,
            table: None,
            like: None,
            limits: None,
            rows: None,
            meet: None,
        }
    }

    /// What is wanted at the places.
    pub fn wanted(&self) -> Wanted {
        Wanted {
            scale: self.scale,
            level: self.level,
            non_negative: self.non_negative,
            chances: self.chances.clone(),
            table: self.table,
            limits: self.limits,
        }
    }

    /// The file of its table, which outputs of one prediction share.
    pub fn table_file(&self) -> String {
        format!("{}.csv", self.name)
    }

    /// The file of its map, where it is of regions.
    pub fn map_file(&self) -> Option<String> {
        let is_map = prediction_csv::has_regions(&self.places);
        is_map.then(|| format!("{}.geojson", self.id))
    }

    /// Its name for people.
    pub fn title(&self) -> String {
        match &self.places.output {
            None => self.name.clone(),
            Some(output) => format!("{}: {output}", self.name),
        }
    }
}

/// The table that a prediction is about: where it had none to choose, the first that does more
/// than bound the values.
pub(super) fn reporting<'a>(tables: &'a [Observed], asked: &Asked) -> Option<&'a Observed> {
    let output = asked.places.output.as_deref();
    let own = |t: &&Observed| t.says.is_report() && t.places.output.as_deref() == output;
    let chosen = asked.table.and_then(|table| tables.get(table));
    chosen.or_else(|| tables.iter().find(own))
}
