//! The density of one column.

use std::sync::Arc;

use quadrat::density::Estimate;
use serde_json::Value;

use super::answers::Answers;
use super::asked::Of;
use super::common::own_table;
use super::rows::Rows;
use super::said;
use crate::columns::Table;
use crate::diagnostic::Problems;
use crate::study::density::Density;

/// The density of one column.
pub struct Line {
    pub args: Arc<Density>,
    pub rows: Arc<Rows>,
    pub estimate: Estimate,
}

impl Answers for Line {
    fn title(&self) -> String {
        format!("Density of {}", self.rows.names[0])
    }

    fn parts(&self) -> Vec<(String, Of<'_>)> {
        vec![(String::new(), Of::Line(&self.estimate))]
    }

    /// One row per cell: its place, the density, its band, and draws.
    fn table(&self) -> Result<Table, Problems> {
        let (args, estimate) = (&self.args, &self.estimate);
        let draws = args
            .draws
            .map(|n| estimate.draws(usize::from(n), args.seed));
        let count = draws.as_ref().map_or(0, quadrat::linalg::Mat::ncols);
        let mut out = own_table(None, &self.rows.names, count);
        for (j, place) in estimate.places().iter().enumerate() {
            let numbers = [
                *place,
                estimate.density()[j],
                estimate.lower()[j],
                estimate.upper()[j],
            ];
            let drawn = draws
                .iter()
                .flat_map(|d| (0..count).map(move |k| d[(j, k)]));
            out.push(None, numbers.into_iter().chain(drawn));
        }
        Ok(out)
    }

    fn sentences(&self) -> Vec<String> {
        said::sentences(&self.args, &self.rows, &self.estimate)
    }

    fn warnings(&self) -> Vec<String> {
        said::warnings(&self.rows, &self.estimate)
    }

    fn json(&self) -> Value {
        said::json(&self.args, &self.rows, &self.estimate)
    }
}
