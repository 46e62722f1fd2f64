//! The density of a column at every place of another.

pub mod said;

use std::sync::Arc;

use quadrat::density::Conditional;
use quadrat::progress::Progress;
use serde_json::Value;

use said::Said;

use super::answers::Answers;
use super::asked::Of;
use super::common::refused;
use super::rows::Rows;
use super::table::{Cells, table};
use crate::columns::Table;
use crate::diagnostic::{Problem, Problems};
use crate::study::density::Density;

/// Estimates what is asked for.
pub fn estimated(
    args: &Arc<Density>,
    rows: &Arc<Rows>,
    progress: &dyn Progress,
) -> Result<Said, Problems> {
    once(args)?;
    let estimate = builder(args, rows)?.progress(progress).estimate();
    let estimate = estimate.map_err(|error| refused(rows, &error))?;
    Ok(Said::new(Arc::clone(args), Arc::clone(rows), estimate))
}

impl Answers for Said {
    fn title(&self) -> String {
        let names = &self.rows.names;
        format!("Density of {} given {}", names[1], names[0])
    }

    fn parts(&self) -> Vec<(String, Of<'_>)> {
        vec![(String::new(), Of::Given(&self.estimate))]
    }

    fn table(&self) -> Result<Table, Problems> {
        let cells = Cells::given(&self.estimate);
        table(&self.args, &self.rows.names, cells)
    }

    fn sentences(&self) -> Vec<String> {
        said::sentences(self)
    }

    fn warnings(&self) -> Vec<String> {
        said::warnings_of(self)
    }

    fn json(&self) -> Value {
        said::json(self)
    }
}

/// Refuses what is said twice: there is one density at each place.
pub fn once(args: &Density) -> Result<(), Problems> {
    let given = [
        ("--bounds", args.bounds.len()),
        ("--range", args.range.len()),
        ("--within", args.within.len()),
    ];
    let Some((flag, n)) = given.into_iter().find(|(_, n)| *n > 1) else {
        return Ok(());
    };
    let message = format!("{flag} is given {n} times");
    let remedy = format!("give {flag} once: with --given it speaks of the values of --column");
    Err(Problem::new(message).remedy(remedy).into())
}

/// The builder with what is said of it.
pub fn builder<'a>(args: &Density, rows: &'a Rows) -> Result<Conditional<'a>, Problems> {
    let mut builder = rows
        .conditional()?
        .level(args.level)
        .log(false, args.log)
        .seed(args.seed)
        .correct(args.correct)
        .integrate(args.integrate);
    if let Some([slices, cells]) = args.grid {
        builder = builder.cells(slices, cells);
    }
    if let Some(&(lower, upper)) = args.bounds.first() {
        builder = builder.bounds(lower, upper);
    }
    if let Some(&(lower, upper)) = args.range.first() {
        builder = builder.range(lower, upper);
    }
    Ok(builder)
}
