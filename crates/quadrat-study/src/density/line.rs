//! The density of one column.

use quadrat::density::Estimate;
use serde_json::Value;

use super::answers::Answers;
use super::asked::Of;
use super::common::{OWN, quoted};
use super::rows::Rows;
use super::said;
use crate::answer::draw_name;
use crate::diagnostic::Problems;
use crate::numbers::exact;
use crate::study::density::Density;

/// The density of one column.
pub struct Line<'a> {
    pub args: &'a Density,
    pub rows: &'a Rows,
    pub estimate: Estimate,
}

impl Answers for Line<'_> {
    fn title(&self) -> String {
        format!("Density of {}", self.rows.names[0])
    }

    fn parts(&self) -> Vec<(String, Of<'_>)> {
        vec![(String::new(), Of::Line(&self.estimate))]
    }

    fn csv(&self) -> Result<String, Problems> {
        Ok(csv(self.args, self.rows, &self.estimate))
    }

    fn sentences(&self) -> Vec<String> {
        said::sentences(self.args, self.rows, &self.estimate)
    }

    fn warnings(&self) -> Vec<String> {
        said::warnings(self.rows, &self.estimate)
    }

    fn json(&self) -> Value {
        said::json(self.args, self.rows, &self.estimate)
    }
}

/// One row per cell: its place, the density, its band, and draws.
fn csv(args: &Density, rows: &Rows, estimate: &Estimate) -> String {
    let draws = args
        .draws
        .map(|n| estimate.draws(usize::from(n), args.seed));
    let count = draws.as_ref().map_or(0, quadrat::linalg::Mat::ncols);
    let mut out = format!("{},{}", quoted(&rows.names[0]), OWN.join(","));
    (1..=count).for_each(|k| out.push_str(&format!(",{}", draw_name(k))));
    out.push('\n');
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
        let cells: Vec<String> = numbers.into_iter().chain(drawn).map(exact).collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}
