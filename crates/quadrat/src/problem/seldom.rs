//! The level of an output without events.

use super::observations::Observations;
use super::outputs::output_of;
use super::pooled::is_pooled;
use crate::kernel::Kernel;
use crate::likelihood::local::Belief;

/// The level, as it may be thought beforehand, of an output of which no row has an event, or every
/// trial succeeds; of several tables the farthest.
pub(crate) fn level(kernel: &Kernel, tables: &[Observations], output: usize) -> Option<Belief> {
    let is_own = |table: &&Observations| {
        let set = table.supports();
        !set.is_empty() && output_of(kernel.output_column(), set, 0) == output
    };
    let own: Option<Vec<Belief>> = tables.iter().filter(is_own).map(of_table).collect();
    own?.into_iter()
        .max_by(|a, b| a.mean.abs().total_cmp(&b.mean.abs()))
}

fn of_table(table: &Observations) -> Option<Belief> {
    let set = table.supports();
    let has_sizes = is_pooled(table);
    let size = |row: usize| match has_sizes {
        true => set.size(row).abs(),
        false => 1.0,
    };
    let weight = |row: usize| size(row) * table.times(row);
    let weights: Vec<f64> = (0..set.len()).map(weight).collect();
    table.likelihood().local().seldom(&weights)
}
