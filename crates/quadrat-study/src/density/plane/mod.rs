//! The density of two columns.

pub mod said;

use std::sync::Arc;

use quadrat::density::Estimate2d;
use quadrat::progress::Progress;
use serde_json::Value;

use super::answers::Answers;
use super::asked::Of;
use super::common::refused;
use super::rows::Rows;
use super::table::{Cells, table};
use crate::columns::Table;
use crate::diagnostic::{Problem, Problems};
use crate::study::density::Density;

/// Cells along each axis unless other numbers are asked for.
const CELLS: usize = 60;

/// The density of two columns.
pub struct Plane {
    pub args: Arc<Density>,
    pub rows: Arc<Rows>,
    pub estimate: Estimate2d,
}

impl Plane {
    /// Estimates it.
    pub fn new(
        args: &Arc<Density>,
        rows: &Arc<Rows>,
        progress: &dyn Progress,
    ) -> Result<Self, Problems> {
        let estimate = estimate(args, rows, progress)?;
        Ok(Self {
            args: Arc::clone(args),
            rows: Arc::clone(rows),
            estimate,
        })
    }
}

impl Answers for Plane {
    fn title(&self) -> String {
        let names = &self.rows.names;
        format!("Density of {} and {}", names[0], names[1])
    }

    fn parts(&self) -> Vec<(String, Of<'_>)> {
        vec![(String::new(), Of::Plane(&self.estimate))]
    }

    fn table(&self) -> Result<Table, Problems> {
        let cells = Cells::of(&self.estimate);
        table(&self.args, &self.rows.names, cells)
    }

    fn sentences(&self) -> Vec<String> {
        said::sentences(&self.args, &self.rows, &self.estimate)
    }

    fn warnings(&self) -> Vec<String> {
        said::warnings(&self.rows, self.estimate.warnings())
    }

    fn json(&self) -> Value {
        said::json(&self.args, &self.rows, &self.estimate)
    }
}

/// What is said of each of two axes, in their order.
fn of_axes<T: Copy>(flag: &str, given: &[T], none: T) -> Result<[T; 2], Problems> {
    match given {
        [] => Ok([none; 2]),
        [one, other] => Ok([*one, *other]),
        _ => {
            let message = format!("{flag} is given {} times for two columns", given.len());
            let remedy = format!(
                "give {flag} twice, in the order of the columns; `-inf,inf` says nothing of one"
            );
            Err(Problem::new(message).remedy(remedy).into())
        }
    }
}

fn estimate(args: &Density, rows: &Rows, progress: &dyn Progress) -> Result<Estimate2d, Problems> {
    let open = (f64::NEG_INFINITY, f64::INFINITY);
    let [x, y] = of_axes("--bounds", &args.bounds, open)?;
    let range = of_axes("--range", &args.range, open)?;
    of_axes("--within", &args.within, open)?;
    let is_said = |range: (f64, f64)| (range != open).then_some(range);
    let [m, n] = args.grid.unwrap_or([CELLS; 2]);
    rows.plane()?
        .cells(m, n)
        .level(args.level)
        .log(args.log, args.log)
        .seed(args.seed)
        .bounds(x, y)
        .range(is_said(range[0]), is_said(range[1]))
        .correct(args.correct)
        .integrate(args.integrate)
        .progress(progress)
        .estimate()
        .map_err(|error| refused(rows, &error))
}
