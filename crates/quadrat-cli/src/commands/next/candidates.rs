//! Where measurements can be made.

use std::sync::Arc;

use anyhow::Result;
use quadrat::model::Observations;
use quadrat_study::codes::Codes;
use quadrat_study::diagnostic::{Problem, Problems};
use quadrat_study::engine::Posterior;
use quadrat_study::geographic::Geographic;
use quadrat_study::grid::Axis;
use quadrat_study::places::Places;
use quadrat_study::study::fields::Spanned;
use quadrat_study::suggest;

use super::super::looks::{self, Asked};
use super::said::COLUMNS;
use crate::args::Next;
use crate::terminal::warn;

/// The word for a grid over the data.
const GRID: &str = "grid";
/// Steps of a grid along each input, by how many inputs there are.
const STEPS: [usize; 3] = [200, 40, 12];

/// The candidates of a table, over the inputs of the model; nothing where a grid is asked for.
pub fn listed(
    args: &Next,
    dims: &[String],
    known: (Option<Arc<Geographic>>, Codes),
) -> Result<Option<Places>> {
    if args.candidates.as_os_str() == GRID {
        return Ok(None);
    }
    let asked = Asked {
        model: &args.study,
        file: &args.candidates,
        words: ["next", "--candidates"],
        looks: &args.looks,
    };
    let (places, _) = looks::places(&asked, dims, known, &COLUMNS)?;
    // Of the points of bags no other column comes back.
    if args.looks.bag.is_empty() {
        left_behind(args, dims)?;
    }
    Ok(Some(places))
}

/// Warns of columns that do not come back, since the choice has columns of these names. A table of
/// candidates that is a choice of before is known by having all of them.
fn left_behind(args: &Next, dims: &[String]) -> Result<(), Problems> {
    let table = looks::table(&args.candidates)?;
    let headers = table.headers();
    let is_known = |name: &&&str| headers.iter().any(|header| header == **name);
    let own: Vec<&&str> = COLUMNS.iter().filter(is_known).collect();
    let is_input = |name: &&&str| dims.iter().any(|dim| dim == **name);
    let lost: Vec<&str> = own
        .iter()
        .filter(|name| !is_input(name))
        .map(|n| **n)
        .collect();
    if own.len() < COLUMNS.len() && !lost.is_empty() && !args.quiet {
        warn(&format!(
            "{} of {} will not be in the choice, which has columns of its own by {}: give them other names to find them there",
            suggest::list(&lost),
            table.name(),
            if lost.len() == 1 {
                "this name"
            } else {
                "these names"
            }
        ));
    }
    Ok(())
}

/// A grid of points from the lowest to the highest coordinate of all rows.
pub fn grid(
    args: &Next,
    posterior: &Posterior,
    geographic: Option<&Geographic>,
) -> Result<Places, Problems> {
    let refuse = |message: &str, remedy: &str| Err(Problem::new(message).remedy(remedy).into());
    let looks = &args.looks;
    if !looks.boxes.is_empty() || !looks.region.is_empty() || !looks.bag.is_empty() {
        return refuse(
            "`--candidates grid` has points alone",
            "leave out --box, --region and --bag, or give a table of candidates",
        );
    }
    if geographic.is_some() {
        return refuse(
            "`--candidates grid` has no longitude and latitude",
            "give a table of candidates",
        );
    }
    let dims = posterior.dims();
    if let Some(name) = posterior.kernel().labels().first() {
        let message = format!("`--candidates grid` runs over numbers, and `{name}` holds labels");
        return refuse(&message, "give a table of candidates");
    }
    let Some(&steps) = STEPS.get(dims.len().wrapping_sub(1)) else {
        return refuse(
            "`--candidates grid` is for one to three inputs",
            "give a table of candidates",
        );
    };
    let mut axes = Vec::with_capacity(dims.len());
    for dim in dims {
        let (lower, upper) = range(posterior.observations(), dim);
        let step = (upper - lower) / steps as f64;
        let axis = Axis::new(lower, upper, step, false).map_err(|(fact, remedy)| {
            Problem::new(format!("the grid of `{dim}`: {fact}")).remedy(remedy)
        })?;
        let name = Spanned {
            value: dim.clone(),
            span: 0..0,
        };
        axes.push((name, axis));
    }
    Ok(Places::grid(&axes, None, None))
}

/// From the lowest to the highest coordinate of all rows along an input.
fn range(tables: &[Observations], dim: &str) -> (f64, f64) {
    let mut all = (f64::INFINITY, f64::NEG_INFINITY);
    for table in tables {
        let supports = table.supports();
        if let Some(d) = supports.dims().iter().position(|own| own == dim) {
            let (lower, upper) = supports.range(d);
            all = (all.0.min(lower), all.1.max(upper));
        }
    }
    all
}
