//! Counts in bands told in single years, or other steps; rates of events in bands too.

mod along;
mod around;
mod configured;
mod edges;
pub mod found;
pub mod group;
mod inclusive;
mod refused;
pub mod rows;
pub mod said;
pub mod study;
pub mod table;
mod whole;

use crate::diagnostic::{Problem, Problems};
use crate::study::ungroup::Ungroup;
use group::Group;
use rows::Rows;

/// The most numbers that are told.
const MOST_NUMBERS: usize = 20_000_000;
/// The most steps that a population can have.
const MOST_STEPS: usize = 600;
/// Ages that an open band may reach.
const OLDEST: f64 = 110.0;

/// Refuses more numbers than a table can hold, before anything is computed.
pub fn bounded(args: &Ungroup, rows: &Rows) -> Result<(), Problems> {
    let steps = rows.groups.iter().map(|group| steps(args, group)).max();
    let steps = steps.unwrap_or(0);
    let draws = 5 + usize::from(args.draws.unwrap_or(0));
    let numbers = rows.groups.len() * steps * draws;
    if numbers <= MOST_NUMBERS {
        return Ok(());
    }
    let message = format!(
        "{} populations with {draws} numbers for each step may be {numbers} numbers, and at most {MOST_NUMBERS} are written",
        rows.groups.len()
    );
    let remedy = "ask for fewer --draws, for --edges, or divide the table";
    Err(Problem::new(message).remedy(remedy).into())
}

/// About how many steps a population will have.
fn steps(args: &Ungroup, group: &Group) -> usize {
    if !args.edges.is_empty() {
        return args.edges.len() - 1;
    }
    if args.log && args.step.is_none() {
        return 5 * group.rows.len();
    }
    let finite = || {
        group
            .lower
            .iter()
            .chain(&group.upper)
            .filter(|x| x.is_finite())
    };
    let most = finite().copied().fold(f64::NEG_INFINITY, f64::max);
    let first = finite().copied().fold(f64::INFINITY, f64::min);
    let last = args.last.unwrap_or(most.max(OLDEST));
    let count = (last - first) / args.step.unwrap_or(1.0);
    match count.is_finite() {
        true => (count.max(1.0) as usize).min(MOST_STEPS),
        false => MOST_STEPS,
    }
}
