//! The density of a column at every place of another, on the terminal and as figures.

pub mod figure;

use quadrat_study::density::given::said::{Said, warnings_of};
use quadrat_study::diagnostic::Paint;
use quadrat_study::numbers::{count, percent};

use super::plane::picture::{REGIONS, shaded};

/// At every place the smallest regions of the values that hold given shares of the probability.
fn picture(said: &Said) -> String {
    let estimate = &said.estimate;
    let (n, edges) = (estimate.shape()[1], estimate.edges(0));
    // Of each cell: the first region that it belongs to.
    let regions: Vec<Vec<usize>> = estimate
        .masses()
        .chunks(n)
        .zip(estimate.density().chunks(n))
        .map(|(mass, density)| {
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|a, b| density[*b].total_cmp(&density[*a]));
            let (mut sum, mut out) = (0.0, vec![REGIONS.len(); n]);
            for j in order {
                let region = REGIONS.iter().position(|(level, _)| sum < *level);
                out[j] = region.unwrap_or(REGIONS.len());
                sum += mass[j];
            }
            out
        })
        .collect();
    let ends = [(edges[0], edges[edges.len() - 1]), said.seen()];
    shaded(ends, |x, y| {
        let region = regions[estimate.slice(x)?][estimate.cell(x, y)? % n];
        (region < REGIONS.len()).then_some(region)
    })
}

/// Lines of cells as a table for a terminal.
pub fn aligned(table: &[Vec<String>]) -> String {
    let mut out = String::new();
    let columns = table[0].len();
    let wide = |column: usize| table.iter().map(|line| line[column].chars().count()).max();
    let wide: Vec<usize> = (0..columns)
        .map(|column| wide(column).unwrap_or(0))
        .collect();
    for line in table {
        let padded = line.iter().zip(&wide).map(|(cell, wide)| {
            let gap = " ".repeat(wide - cell.chars().count());
            format!("{cell}{gap}")
        });
        out.push_str(padded.collect::<Vec<String>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// The summary for a terminal.
pub fn summary(said: &Said, paint: Paint) -> String {
    let [given, value] = said.names();
    let mut out = format!(
        "{} of `{value}` (up) given `{given}` (across), {} band\n\n",
        count(said.rows.len(), "row"),
        percent(said.estimate.level())
    );
    out.push_str(&picture(said));
    let regions = REGIONS.map(|(level, fill)| format!("{fill} {}", percent(level)));
    out.push_str(&format!(
        "at each {given} the smallest regions that hold {} of the probability\n\n",
        regions.join(", ")
    ));
    out.push_str(&aligned(&said.table()));
    for warning in warnings_of(said) {
        out.push_str(&format!("{}: {warning}\n", paint.yellow("warning")));
    }
    out
}
